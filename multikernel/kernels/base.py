"""The kernel interface and its algebra: sums, products, powers and positive multiples of kernels."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from multikernel._validation import all_finite, check_number, check_positive_integer
from multikernel.kernels._rows import Pair, Rows, row_blocks


def checked(default: Any, check: Callable[..., Any], **bounds: Any) -> Any:
    """A parameter of a kernel; other values than the default go through ``check(name, value, **bounds)``."""
    return dataclasses.field(default=default, metadata={"check": partial(check, **bounds)})


class Kernel(ABC):
    """A similarity k(x, z) of two rows: an immutable description that can be called.

    ``kernel.fit(X)`` returns a new kernel whose data-dependent parameters are numbers; ``kernel(X, Z)`` is
    the Gram matrix; ``kernel.diag(X)`` its diagonal, without the matrix. Kernels combine: ``a + b``,
    ``a * b``, ``a ** 2``, ``0.5 * a``.

    A new kernel is a frozen dataclass with two methods: `_fill` writes the Gram matrix of a `Pair` into an
    array, `_diagonal` returns k(x, x) for each of the `Rows`. Its parameters may be `checked`.
    """

    __array_ufunc__ = None  # np.float64(2) * kernel must call our __rmul__
    _is_bounded = False  # whether values are finite whatever the rows
    _accepts_missing = False  # whether rows may hold missing entries, which the kernel handles itself
    _reads_numbers = True  # whether rows are numbers, which can be standardised
    _reads_tables = True  # whether rows are those of a table of numbers or categories, not single objects
    _reads_categories = False  # whether columns may be categories
    _reads_strings = False  # whether rows may be strings
    _standardizes = False  # whether views standardise its columns unless told otherwise: any numbers will do
    _is_composite = False  # whether it is made of kernels that share the products of a `Pair`

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            if "check" in field.metadata and value is not field.default:
                value = field.metadata["check"](f"{type(self).__name__} {field.name}", value)
                object.__setattr__(self, field.name, value)

    @property
    def is_psd(self) -> bool:
        """Whether every Gram matrix is positive semidefinite."""
        return True

    @property
    def is_fitted(self) -> bool:
        """Whether every parameter is a number, so that the kernel can be called."""
        return True

    def fit(self, X: Any) -> Kernel:
        """Resolve data-dependent parameters on the training rows.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_samples, n_features)

        Returns
        -------
        Kernel
            A new kernel; this one is unchanged.
        """
        return self._resolve(as_rows(X))

    def __call__(self, X: Any, Z: Any = None) -> np.ndarray:
        """Gram matrix of the rows of `X` and those of `Z` (default: `X` itself).

        Returns
        -------
        ndarray of shape (n, n_z), float64
        """
        left = as_rows(X)
        right = left if Z is None or Z is X else as_rows(Z, "Z")
        pair = Pair(left, right, keep=self._is_composite)
        out = np.empty(pair.shape)
        self.evaluate(pair, out)
        return out

    def diag(self, X: Any) -> np.ndarray:
        """k(x, x) for every row, computed without the Gram matrix; shape (n_samples,)."""
        return self.evaluate_diagonal(as_rows(X))

    def evaluate(self, pair: Pair, out: np.ndarray) -> None:
        """Write the Gram matrix of `pair` into `out` (float64 or float32); refuse what is not finite."""
        self._require_fitted()
        with np.errstate(all="ignore"):
            self._fill(pair, out)
            if not self._is_bounded and not all_finite(out):
                raise ValueError(self._overflow_message(pair.left, out.dtype))

    def evaluate_diagonal(self, rows: Rows) -> np.ndarray:
        """k(x, x) for every row of `rows`; shape (n_samples,)."""
        self._require_fitted()
        with np.errstate(all="ignore"):
            diagonal = self._diagonal(rows)
        if not all_finite(diagonal):
            raise ValueError(self._overflow_message(rows, diagonal.dtype))
        return diagonal

    def _resolve(self, rows: Rows) -> Kernel:
        return self

    def _written_from(self, rows: Rows) -> str:
        """What `together` writes the Gram of training rows from; empty where it cannot.

        "products": values that `_map` makes of x · z. "sqeuclidean", "cityblock": exp(−gamma · distance),
        gamma being its `_coefficient`.
        """
        return ""

    @abstractmethod
    def _fill(self, pair: Pair, out: np.ndarray) -> None:
        """Write the Gram matrix into `out`, symmetric bit by bit when ``pair.symmetric``."""

    @abstractmethod
    def _diagonal(self, rows: Rows) -> np.ndarray:
        """k(x, x) for every row."""

    def _require_fitted(self) -> None:
        if not self.is_fitted:
            raise ValueError(
                f"{self!r} has parameters that depend on the data. Call kernel.fit(X_train) first and use "
                "the kernel it returns."
            )

    def _overflow_message(self, rows: Rows, dtype: Any) -> str:
        return (
            f"{self!r} is not finite in {np.dtype(dtype).name} on {rows.label}: some value overflows. "
            "Rescale the columns (for example to unit variance), or use smaller kernel parameters."
        )

    # --- parameters ------------------------------------------------------------------------------

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name; with `deep`, those of the parts of a sum or product by position, 0__gamma."""
        found = {
            field.name: getattr(self, field.name)
            for field in dataclasses.fields(self)  # type: ignore[arg-type]
            if field.init
        }
        for position, (_, part) in enumerate(self._named_parts() if deep else ()):
            found |= {f"{position}__{path}": value for path, value in part.get_params().items()}
        return found

    def set_params(self, **changes: Any) -> Kernel:
        """A new kernel with other parameters; this one is unchanged.

        Examples
        --------
        >>> from multikernel.kernels import Gaussian, Linear
        >>> (Gaussian() + Linear()).set_params(**{"0__gamma": 0.5})
        Gaussian(gamma=0.5) + Linear()
        """
        known, own = self.get_params(), {}
        of_parts: dict[str, dict[str, Any]] = {}
        for path, value in changes.items():
            if path not in known:
                raise ValueError(
                    f"Invalid parameter {path!r} for kernel {self!r}. Valid parameters are: "
                    f"{', '.join(sorted(known)) or 'none'}."
                )
            head, _, rest = path.partition("__")
            if rest:
                of_parts.setdefault(head, {})[rest] = value
            else:
                own[path] = value
        parts = self._named_parts()
        for position, inner in of_parts.items():
            name, part = parts[int(position)]
            own[name] = own.get(name, part).set_params(**inner)
        return self._with(own)

    def _named_parts(self) -> list[tuple[str, Kernel]]:
        """The kernels that this one is made of, in order, with the parameters that hold them."""
        own = self.get_params(deep=False)
        return [(name, value) for name, value in own.items() if isinstance(value, Kernel)]

    def _with(self, own: dict[str, Any]) -> Kernel:
        """The kernel with some other parameters."""
        return type(self)(**(self.get_params(deep=False) | own))

    def __sklearn_clone__(self) -> Kernel:
        return self  # immutable

    # --- algebra ---------------------------------------------------------------------------------

    def __add__(self, other: Any) -> Kernel:
        if not isinstance(other, Kernel):
            raise TypeError(
                f"only kernels add to a kernel; got {other!r}. Scalars multiply: 2.0 * kernel. "
                "A constant is Polynomial's coef0; a function becomes a kernel by FunctionKernel(f)."
            )
        return Sum(self, other)

    def __radd__(self, other: Any) -> Kernel:
        return self.__add__(other)

    def __mul__(self, other: Any) -> Kernel:
        return Product(self, other) if isinstance(other, Kernel) else Scaled(self, other)

    def explicit_features(self, values: np.ndarray, most: int) -> np.ndarray | None:
        """Z (n, r) with k(x, z) = Z(x) · Z(z) for a table of numbers; None for more than `most` columns.

        None also for kernels without such features. The parameters must be numbers.
        """
        return None

    def __rmul__(self, other: Any) -> Kernel:
        return Scaled(self, other)

    def __pow__(self, exponent: Any) -> Kernel:
        return Power(self, exponent)

    def __repr__(self) -> str:
        given = [
            (field.name, getattr(self, field.name))
            for field in dataclasses.fields(self)  # type: ignore[arg-type]
            if field.repr and not _is_default(field, getattr(self, field.name))
        ]
        shown = [repr(value) if isinstance(value, Kernel) else f"{name}={value!r}" for name, value in given]
        return f"{type(self).__name__}({', '.join(shown)})"


def _is_default(field: dataclasses.Field[Any], value: Any) -> bool:
    return value is field.default or (isinstance(value, (int, float, str)) and value == field.default)


def as_rows(X: Any, label: str = "X") -> Rows:
    """Wrap `X` unless it is wrapped already."""
    return X if isinstance(X, Rows) else Rows(X, label)


class _Composite(Kernel):
    """A kernel made of kernels; its parts share the products of a `Pair`."""

    _is_composite = True

    @property
    def _parts(self) -> tuple[Kernel, ...]:
        raise NotImplementedError

    @property
    def is_psd(self) -> bool:
        return all(part.is_psd for part in self._parts)

    @property
    def is_fitted(self) -> bool:
        return all(part.is_fitted for part in self._parts)

    @property
    def _accepts_missing(self) -> bool:  # type: ignore[override]
        return all(part._accepts_missing for part in self._parts)

    @property
    def _reads_numbers(self) -> bool:  # type: ignore[override]
        return all(part._reads_numbers for part in self._parts)

    @property
    def _reads_tables(self) -> bool:  # type: ignore[override]
        return all(part._reads_tables for part in self._parts)

    @property
    def _reads_categories(self) -> bool:  # type: ignore[override]
        return all(part._reads_categories for part in self._parts)

    @property
    def _reads_strings(self) -> bool:  # type: ignore[override]
        return all(part._reads_strings for part in self._parts)

    @property
    def _standardizes(self) -> bool:  # type: ignore[override]
        return all(part._standardizes for part in self._parts)


@dataclass(frozen=True, repr=False)
class _Binary(_Composite):
    left: Kernel
    right: Kernel

    def __post_init__(self) -> None:
        _require_kernels(self)

    @property
    def _parts(self) -> tuple[Kernel, ...]:
        return self.left, self.right

    def _resolve(self, rows: Rows) -> Kernel:
        return type(self)(self.left._resolve(rows), self.right._resolve(rows))

    def _fill_both(self, pair: Pair, out: np.ndarray) -> np.ndarray:
        self.left._fill(pair, out)
        other = np.empty_like(out, subok=False)
        self.right._fill(pair, other)
        return other


@dataclass(frozen=True, repr=False)
class Sum(_Binary):
    """k(x, z) = left(x, z) + right(x, z).

    Examples
    --------
    >>> from multikernel.kernels import Linear, Gaussian
    >>> kernel = Linear() + Gaussian(gamma=1.0)
    >>> kernel([[1.0], [2.0]]).diagonal().tolist()
    [2.0, 5.0]
    """

    def _fill(self, pair: Pair, out: np.ndarray) -> None:
        out += self._fill_both(pair, out)

    def _diagonal(self, rows: Rows) -> np.ndarray:
        return self.left._diagonal(rows) + self.right._diagonal(rows)

    def explicit_features(self, values: np.ndarray, most: int) -> np.ndarray | None:
        left, right = (part.explicit_features(values, most) for part in (self.left, self.right))
        if left is None or right is None or left.shape[1] + right.shape[1] > most:
            return None
        return np.hstack([left, right])

    def __repr__(self) -> str:
        return f"{self.left!r} + {self.right!r}"


@dataclass(frozen=True, repr=False)
class Product(_Binary):
    """k(x, z) = left(x, z) · right(x, z)."""

    def _fill(self, pair: Pair, out: np.ndarray) -> None:
        out *= self._fill_both(pair, out)

    def _diagonal(self, rows: Rows) -> np.ndarray:
        return self.left._diagonal(rows) * self.right._diagonal(rows)

    def __repr__(self) -> str:
        return f"{_in_product(self.left)} * {_in_product(self.right)}"


@dataclass(frozen=True, repr=False)
class _Unary(_Composite):
    base: Kernel

    @property
    def _parts(self) -> tuple[Kernel, ...]:
        return (self.base,)

    def _resolve(self, rows: Rows) -> Kernel:
        return dataclasses.replace(self, base=self.base._resolve(rows))

    @property
    def _is_composite(self) -> bool:  # type: ignore[override]
        return self.base._is_composite


@dataclass(frozen=True, repr=False)
class Scaled(_Unary):
    """k(x, z) = factor · base(x, z), factor > 0."""

    factor: float

    def __post_init__(self) -> None:
        _require_kernels(self)
        factor = self.factor
        if isinstance(factor, bool) or not isinstance(factor, (int, float, np.integer, np.floating)):
            raise TypeError(f"a kernel multiplies with a kernel or a positive number; got {factor!r}.")
        object.__setattr__(self, "factor", check_number("the factor of a kernel", factor, above=0.0))

    def explicit_features(self, values: np.ndarray, most: int) -> np.ndarray | None:
        Z = self.base.explicit_features(values, most)
        return None if Z is None else np.sqrt(self.factor) * Z

    def _fill(self, pair: Pair, out: np.ndarray) -> None:
        self.base._fill(pair, out)
        out *= self.factor

    def _diagonal(self, rows: Rows) -> np.ndarray:
        return self.factor * self.base._diagonal(rows)

    def __repr__(self) -> str:
        return f"{self.factor!r} * {_in_product(self.base)}"


@dataclass(frozen=True, repr=False)
class Power(_Unary):
    """k(x, z) = base(x, z) ** exponent, exponent a positive integer."""

    exponent: int

    def __post_init__(self) -> None:
        _require_kernels(self)
        exponent = check_positive_integer("the exponent of a kernel", self.exponent)
        object.__setattr__(self, "exponent", exponent)

    def _fill(self, pair: Pair, out: np.ndarray) -> None:
        self.base._fill(pair, out)
        for block in row_blocks(*out.shape):
            raise_to(out[block], self.exponent)

    def _diagonal(self, rows: Rows) -> np.ndarray:
        return self.base._diagonal(rows) ** self.exponent

    def __repr__(self) -> str:
        base = f"({self.base!r})" if isinstance(self.base, _Composite) else repr(self.base)
        return f"{base} ** {self.exponent}"


def _require_kernels(composite: _Composite) -> None:
    for part in composite._parts:
        if not isinstance(part, Kernel):
            raise TypeError(
                f"{type(composite).__name__} is made of kernels, as Gaussian(); got {type(part).__name__}."
            )


def _in_product(kernel: Kernel) -> str:
    return f"({kernel!r})" if isinstance(kernel, Sum) else repr(kernel)


def raise_to(values: np.ndarray, exponent: int) -> None:
    """values **= exponent in place, by repeated squaring: many times faster than pow."""
    base = values.copy() if exponent & (exponent - 1) else values
    for bit in bin(exponent)[3:]:
        np.square(values, out=values)
        if bit == "1":
            values *= base

"""Kernels that are functions of a distance between two rows."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import scipy.sparse

from multikernel._numba import kept_njit, smaller
from multikernel._validation import RowError, all_finite, check_choice, check_number
from multikernel.kernels._rows import (
    Pair,
    Rows,
    TileBuffers,
    direct_distances,
    row_blocks,
    scaled,
    write_tile,
)
from multikernel.kernels.base import Kernel, checked
from multikernel.kernels.dot import bounded_inverse

_ESTIMATES = ("median", "nearest")
_SMALLEST = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True, repr=False)
class Gaussian(Kernel):
    """k(x, z) = exp(−gamma ‖x − z‖²).

    Give at most one of `gamma`, `s` and `sigma`; without any, ``gamma="median"``.

    Parameters
    ----------
    gamma : float, "median" or "nearest", default=None
        ``"median"``: 1 / (scale² · median squared distance between two training rows), over the pairs of
        at most 512 evenly spaced rows; ``"nearest"``: 1 / (scale² · mean squared distance to the nearest
        other training row), the mean over at most 512 evenly spaced rows, the nearest among all rows.
    s : float, default=None
        The width in exp(−‖x − z‖² / s²).
    sigma : float, default=None
        The standard deviation in exp(−‖x − z‖² / (2 sigma²)). In multikernel 0.1 it was the variance, so that
        giving it warns in this release; `gamma` and `s` are as they were.
    scale : float, default=1.0
        Multiplies an estimated width, so that several Gaussians can stand around it.

    Examples
    --------
    >>> Gaussian(s=2.0)([[0.0], [2.0]]).round(4)
    array([[1.    , 0.3679],
           [0.3679, 1.    ]])
    >>> Gaussian(scale=2.0).fit([[0.0], [2.0]])
    Gaussian(gamma=0.0625)

    ``Gaussian(gamma=g)(X)`` is scikit-learn's ``rbf_kernel(X, gamma=g)``.
    """

    gamma: float | str | None = None
    s: float | None = None
    sigma: float | None = None
    scale: float = checked(1.0, check_number, above=0.0)
    _is_bounded = True
    _standardizes = True

    def __post_init__(self) -> None:
        given = [name for name in ("gamma", "s", "sigma") if getattr(self, name) is not None]
        if len(given) > 1:
            raise ValueError(f"Gaussian takes one of gamma, s and sigma; got {' and '.join(given)}.")
        super().__post_init__()
        if not given:
            object.__setattr__(self, "gamma", "median")
        elif isinstance(self.gamma, str):
            check_choice("Gaussian gamma, where it is not a number,", self.gamma, _ESTIMATES)
        else:
            width = check_number(f"Gaussian {given[0]}", getattr(self, given[0]), above=0.0)
            object.__setattr__(self, given[0], width)
        if self.sigma is not None:
            warnings.warn(
                f"sigma is now the standard deviation: Gaussian(sigma={self.sigma!r}) is exp(−‖x − z‖² / "
                f"(2 sigma²)), and was exp(−‖x − z‖² / (2 sigma)) in multikernel 0.1; the equal gamma is "
                f"{self._coefficient!r} now, and was {bounded_inverse(2.0 * self.sigma)!r}. Give gamma "
                "instead; the next release takes sigma without this warning.",
                FutureWarning,
                stacklevel=3,
            )
        if self.is_fitted and self.scale != 1.0:
            raise ValueError(
                "Gaussian scale multiplies an estimated width; give it with gamma='median' or "
                f"gamma='nearest', not with {given[0]}={getattr(self, given[0])!r}."
            )

    @property
    def is_fitted(self) -> bool:
        return not isinstance(self.gamma, str)

    def _with(self, own: dict[str, Any]) -> Kernel:
        """A width replaces the one before, however that was given."""
        if not own.keys() & {"gamma", "s", "sigma"}:
            return super()._with(own)
        scale = self.scale if isinstance(own.get("gamma"), str) else 1.0
        return Gaussian(**({"scale": scale} | own))

    @property
    def _coefficient(self) -> float:
        """gamma, from whichever width was given."""
        width, share = (self.s, 1.0) if self.sigma is None else (self.sigma, 0.5)
        if width is None:
            return float(self.gamma)  # type: ignore[arg-type]
        return _within_range(share / width / width) if width > _SMALLEST else 1.0 / _SMALLEST

    def _resolve(self, rows: Rows) -> Kernel:
        if self.is_fitted:
            return self
        with np.errstate(all="ignore"):
            square = rows.median_sq_distance if self.gamma == "median" else rows.nearest_sq_distance
        return Gaussian(gamma=_within_range(bounded_inverse(square) / self.scale / self.scale))

    def _fill(self, pair: Pair, out: np.ndarray) -> None:
        gamma = self._coefficient
        centred = pair.expansion(gamma)
        if centred is None:
            root = float(np.sqrt(gamma))
            left = scaled(pair.tables[0], root)
            right = left if pair.symmetric else scaled(pair.tables[1], root)
            direct_distances("sqeuclidean", left, right, out)
            _exp_of_negative(out, 1.0)
            if not all_finite(out):
                raise ValueError(self._overflow_message(pair.left, out.dtype))
        else:
            self._fill_by_expansion(pair, out, gamma, centred)
        if pair.symmetric:
            np.fill_diagonal(out, 1.0)

    def _written_from(self, rows: Rows) -> str:
        if (
            type(self)._fill is not Gaussian._fill
            or Pair(rows, rows).expansion(self._coefficient) is not False
        ):
            return ""
        return "sqeuclidean"

    def _fill_by_expansion(self, pair: Pair, out: np.ndarray, gamma: float, centred: bool) -> None:
        left, right = (gamma * norms for norms in pair.norms(centred))
        buffers = TileBuffers(2)
        for rows, columns, products in pair.dot(centred):
            squares, exponents = buffers.shaped(products.shape)
            # ‖x‖² + ‖z‖² first: addition commutes, so the result does not depend on the order of x and z
            np.add(left[rows, None], right[columns], out=squares)
            np.multiply(products, 2.0 * gamma, out=exponents)
            exponents -= squares
            np.minimum(exponents, 0.0, out=exponents)
            np.exp(exponents, out=exponents)
            write_tile(out, rows, columns, exponents, pair.symmetric)

    def _diagonal(self, rows: Rows) -> np.ndarray:
        return np.ones(rows.values.shape[0])


def _check_width(name: str, gamma: Any) -> float | str:
    if isinstance(gamma, str) and gamma != "median":
        raise ValueError(f"{name} must be a positive number or 'median'; got {gamma!r}.")
    return gamma if isinstance(gamma, str) else check_number(name, gamma, above=0.0)


@dataclass(frozen=True, repr=False)
class _DistanceKernel(Kernel):
    """k(x, z) = exp(−gamma · distance), with a distance of `direct_distances` that grows as the rows."""

    gamma: float | str = checked("median", _check_width)
    scale: float = checked(1.0, check_number, above=0.0)
    _distance: ClassVar[str]  # a kind of `direct_distances`
    _is_bounded = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.is_fitted and self.scale != 1.0:
            raise ValueError(
                f"{type(self).__name__} scale multiplies an estimated width; give it with gamma='median', "
                f"not with gamma={self.gamma!r}."
            )

    @property
    def is_fitted(self) -> bool:
        return not isinstance(self.gamma, str)

    def _with(self, own: dict[str, Any]) -> Kernel:
        """A number as gamma takes the place of an estimate and its scale."""
        if "gamma" in own and not isinstance(own["gamma"], str):
            own = {"scale": 1.0} | own
        return super()._with(own)

    def _resolve(self, rows: Rows) -> Kernel:
        if self.is_fitted:
            return self
        self._check_rows(rows)
        with np.errstate(all="ignore"):
            typical = rows.median_distance(self._distance)
        gamma = self._n_terms(rows) * bounded_inverse(typical) / self.scale
        return replace(self, gamma=_within_range(gamma), scale=1.0)

    def _n_terms(self, rows: Rows) -> int:
        """Into how many parts the distance is divided: one, or one for each column."""
        return 1

    def _check_rows(self, rows: Rows) -> None:
        """Refuse rows that the distance does not suit."""

    def _fill(self, pair: Pair, out: np.ndarray) -> None:
        self._check_rows(pair.right)
        self._check_rows(pair.left)
        pair.write_distances(self._distance, out)
        _exp_of_negative(out, float(self.gamma))
        if pair.symmetric:
            np.fill_diagonal(out, 1.0)

    def _diagonal(self, rows: Rows) -> np.ndarray:
        self._check_rows(rows)
        return np.ones(rows.values.shape[0])

    @property
    def _coefficient(self) -> float:
        return float(self.gamma)

    def _written_from(self, rows: Rows) -> str:
        is_plain = type(self)._fill is _DistanceKernel._fill and not scipy.sparse.issparse(rows.values)
        return "cityblock" if is_plain and self._distance == "cityblock" else ""


@dataclass(frozen=True, repr=False)
class Laplacian(_DistanceKernel):
    """k(x, z) = exp(−gamma Σ |x_j − z_j|).

    Parameters
    ----------
    gamma : float or "median", default="median"
        ``"median"``: 1 / (scale · median distance Σ |x_j − z_j| between two training rows), over the pairs of
        at most 512 evenly spaced rows.
    scale : float, default=1.0
        Multiplies an estimated width, so that several kernels can stand around it.

    Examples
    --------
    >>> Laplacian(gamma=0.5)([[0.0], [2.0]]).round(4)
    array([[1.    , 0.3679],
           [0.3679, 1.    ]])
    >>> Laplacian().fit([[0.0], [2.0]])
    Laplacian(gamma=0.5)

    ``Laplacian(gamma=g)(X)`` is scikit-learn's ``laplacian_kernel(X, gamma=g)``.
    """

    _distance = "cityblock"
    _standardizes = True


@dataclass(frozen=True, repr=False)
class AdditiveLaplacian(_DistanceKernel):
    """k(x, z) = (1 / d) Σ exp(−gamma |x_j − z_j|), the mean of one Laplacian kernel for each of d columns.

    Its functions are sums of functions of one column each, as those of a generalized additive model.

    Parameters
    ----------
    gamma : float or "median", default="median"
        ``"median"``: d / (scale · median distance Σ |x_j − z_j| between two training rows), over the pairs of
        at most 512 evenly spaced rows.
    scale : float, default=1.0
        Multiplies an estimated width, so that several kernels can stand around it.

    Examples
    --------
    >>> AdditiveLaplacian(gamma=0.5)([[0.0, 1.0], [2.0, 1.0]]).round(4)
    array([[1.    , 0.6839],
           [0.6839, 1.    ]])
    >>> AdditiveLaplacian().fit([[0.0, 1.0], [2.0, 1.0]])
    AdditiveLaplacian(gamma=1.0)
    """

    _distance = "cityblock"
    _standardizes = True

    def _n_terms(self, rows: Rows) -> int:
        return int(rows.values.shape[1])

    def _fill(self, pair: Pair, out: np.ndarray) -> None:
        tables = [table.toarray() if scipy.sparse.issparse(table) else table for table in pair.tables]
        left, right = tables
        gamma = float(self.gamma)
        low, high = (side(np.concatenate([table.ravel() for table in tables])) for side in (np.min, np.max))
        if gamma * (high - low) > _LARGEST_EXPONENT:
            _additive_directly(left, right, gamma, np.asarray(out))
        else:  # exp(−|x − z|) is the smaller one of exp(x) / exp(z) and exp(z) / exp(x)
            middle = 0.5 * low + 0.5 * high
            up, columns = np.exp(gamma * (left - middle)), np.exp(gamma * (right.T - middle))
            _additive(up, 1.0 / up, columns, 1.0 / columns, pair.symmetric, np.asarray(out))
        if pair.symmetric:
            np.fill_diagonal(out, 1.0)


_LARGEST_EXPONENT = 600.0  # between two rows: half of it on either side does not overflow


@kept_njit(error_model="numpy", fastmath={"nnan", "nsz", "contract"})
def _additive(up, down, right_up, right_down, symmetric, out):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Mean of the smaller ratios; the right tables are transposed, as for `_dense_cityblock`."""
    d, n = right_up.shape
    total = np.empty(256)
    for first in range(0, n, 256):
        last = min(first + 256, n)
        for i in range(min(last, up.shape[0]) if symmetric else up.shape[0]):
            begin = max(first, i) if symmetric else first
            total[: last - begin] = 0.0
            for k in range(d):
                above, below, z_above, z_below = up[i, k], down[i, k], right_up[k], right_down[k]
                for j in range(begin, last):
                    total[j - begin] += smaller(above * z_below[j], below * z_above[j])
            for j in range(begin, last):
                out[i, j] = total[j - begin] / d
                if symmetric:
                    out[j, i] = total[j - begin] / d


def _additive_directly(left: np.ndarray, right: np.ndarray, gamma: float, out: np.ndarray) -> None:
    for block in row_blocks(*out.shape):
        total = np.zeros(out[block].shape)
        for k in range(left.shape[1]):
            total += np.exp(-gamma * np.abs(np.subtract.outer(left[block, k], right[:, k])))
        out[block] = total / left.shape[1]


@dataclass(frozen=True, repr=False)
class Chi2(_DistanceKernel):
    """k(x, z) = exp(−gamma Σ (x_j − z_j)² / (x_j + z_j)), for non-negative rows such as histograms.

    Parameters
    ----------
    gamma : float or "median", default="median"
        ``"median"``: 1 / (scale · median distance Σ (x_j − z_j)² / (x_j + z_j) between two training rows),
        over the pairs of at most 512 evenly spaced rows.
    scale : float, default=1.0
        Multiplies an estimated width, so that several kernels can stand around it.

    Examples
    --------
    >>> Chi2(gamma=1.0)([[1.0, 0.0], [0.0, 1.0]]).round(4)
    array([[1.    , 0.1353],
           [0.1353, 1.    ]])
    >>> Chi2(scale=2.0).fit([[1.0, 0.0], [0.0, 1.0]])
    Chi2(gamma=0.25)
    """

    _distance = "chi2"

    def _check_rows(self, rows: Rows) -> None:
        require_non_negative(rows, "Chi2")


def _exp_of_negative(distances: np.ndarray, gamma: float) -> None:
    for block in row_blocks(*distances.shape):
        values = distances[block]
        values *= -gamma
        np.exp(values, out=values)


def require_non_negative(rows: Rows, reader: str) -> None:
    """Refuse a table with an entry below 0; `reader` is what the message calls the kernel."""
    values: Any = rows.values.data if rows.is_sparse else rows.values
    if values.size and values.min() < 0.0:
        lowest = rows.values.min(axis=1).toarray().ravel() if rows.is_sparse else rows.values.min(axis=1)
        row = int(np.flatnonzero(lowest < 0.0)[0])
        line = rows.values[[row]]
        column = int(np.flatnonzero((line.toarray() if rows.is_sparse else line) < 0.0)[0])
        raise RowError(
            f"{reader} needs non-negative features; {rows.label} holds {rows.values[row, column]:g} at row",
            row,
            f", column {column}. Shift or clip the column, or use another kernel.",
        )


def _within_range(gamma: float) -> float:
    return min(max(gamma, _SMALLEST), float(np.finfo(np.float64).max))

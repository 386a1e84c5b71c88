"""Kernels that are functions of the dot product of two rows."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement
from math import comb, factorial, prod
from typing import Any

import numpy as np

from multikernel._validation import check_number, check_positive_integer
from multikernel.kernels._rows import Pair, Rows, TileBuffers, product_tiles, squared_norms, write_tile
from multikernel.kernels.base import Kernel, checked, raise_to

_LARGEST = float(np.finfo(np.float64).max)


def bounded_inverse(value: float) -> float:
    """1 / value, kept finite; 1 for zero."""
    return min(1.0 / value, _LARGEST) if value > 0.0 else 1.0


class _DotKernel(Kernel):
    """k(x, z) = f(x · z), with f applied tile by tile."""

    _standardizes = True

    @abstractmethod
    def _map(self, products: np.ndarray) -> None:
        """Apply f in place."""

    def _written_from(self, rows: Rows) -> str:
        return "products" if type(self)._fill is _DotKernel._fill else ""

    def _fill(self, pair: Pair, out: np.ndarray) -> None:
        buffers = TileBuffers(1)
        half = pair.symmetric and not pair.keep  # what is kept is copied faster than mirrored
        for rows, columns, products in pair.dot(half=half):
            (values,) = buffers.shaped(products.shape)
            np.copyto(values, products)
            self._map(values)
            write_tile(out, rows, columns, values, half)

    def _diagonal(self, rows: Rows) -> np.ndarray:
        values = rows.sq_norms.copy()
        self._map(values)
        return values


def _check_gamma(name: str, gamma: Any) -> float | str:
    if isinstance(gamma, str) and gamma != "scale":
        raise ValueError(f"{name} must be a positive number or 'scale'; got {gamma!r}.")
    return gamma if isinstance(gamma, str) else check_number(name, gamma, above=0.0)


class _ScaledDotKernel(_DotKernel):
    """k(x, z) = f(gamma x · z), with gamma a number or "scale"."""

    gamma: float | str

    @property
    def is_fitted(self) -> bool:
        return self.gamma != "scale"

    def _resolve(self, rows: Rows) -> Kernel:
        return self if self.is_fitted else replace(self, gamma=bounded_inverse(rows.mean_sq_norm))  # type: ignore[type-var]


@dataclass(frozen=True, repr=False)
class Linear(_DotKernel):
    """k(x, z) = x · z.

    Examples
    --------
    >>> Linear()([[1.0, 2.0], [0.0, 1.0]])
    array([[5., 2.],
           [2., 1.]])
    """

    def _map(self, products: np.ndarray) -> None:
        pass

    def explicit_features(self, values: np.ndarray, most: int) -> np.ndarray | None:
        return np.array(values, float) if values.shape[1] <= most else None


@dataclass(frozen=True, repr=False)
class Polynomial(_ScaledDotKernel):
    """k(x, z) = (gamma x · z + coef0) ** degree.

    Parameters
    ----------
    degree : int, default=2
    gamma : float or "scale", default=1.0
        ``"scale"`` is 1 / (mean squared norm of the training rows).
    coef0 : float, default=1.0
        At least 0; with 0 the polynomial is homogeneous.

    Examples
    --------
    >>> Polynomial(degree=2)([[1.0], [2.0]])
    array([[ 4.,  9.],
           [ 9., 25.]])
    """

    degree: int = checked(2, check_positive_integer)
    gamma: float | str = checked(1.0, _check_gamma)
    coef0: float = checked(1.0, check_number, at_least=0.0)

    def _map(self, products: np.ndarray) -> None:
        products *= self.gamma
        products += self.coef0
        raise_to(products, self.degree)

    def explicit_features(self, values: np.ndarray, most: int) -> np.ndarray | None:
        """All monomials of the columns and the constant, in the order of combinations with replacement.

        A monomial with the exponents p_1, p_2, … has the coefficient √(degree! / (p_1! p_2! …)).
        """
        with_constant = self.coef0 > 0.0
        n_variables = values.shape[1] + with_constant
        if comb(n_variables + self.degree - 1, self.degree) > most:
            return None
        variables = np.sqrt(float(self.gamma)) * np.asarray(values, float)
        if with_constant:
            variables = np.column_stack([variables, np.full(len(values), np.sqrt(self.coef0))])
        chosen = list(combinations_with_replacement(range(n_variables), self.degree))
        Z = np.empty((len(values), len(chosen)))
        for column, factors in enumerate(chosen):
            repeats = prod(factorial(factors.count(variable)) for variable in set(factors))
            Z[:, column] = np.sqrt(factorial(self.degree) / repeats) * variables[:, factors].prod(axis=1)
        return Z


@dataclass(frozen=True, repr=False)
class Sigmoid(_ScaledDotKernel):
    """k(x, z) = tanh(gamma x · z + coef0), in general **not** positive semidefinite (``is_psd`` is False).

    Parameters
    ----------
    gamma : float or "scale", default=1.0
        ``"scale"`` is 1 / (mean squared norm of the training rows).
    coef0 : float, default=0.0

    Examples
    --------
    >>> Sigmoid().is_psd, (Sigmoid() + Linear()).is_psd
    (False, False)
    """

    gamma: float | str = checked(1.0, _check_gamma)
    coef0: float = checked(0.0, check_number)
    is_psd = False

    def _map(self, products: np.ndarray) -> None:
        products *= self.gamma
        products += self.coef0
        np.tanh(products, out=products)


@dataclass(frozen=True, repr=False)
class Cosine(Kernel):
    """k(x, z) = x · z / (‖x‖ ‖z‖); zero when either row is zero.

    Examples
    --------
    >>> Cosine()([[2.0, 0.0], [0.0, 0.0], [3.0, 0.0]])
    array([[1., 0., 1.],
           [0., 0., 0.],
           [1., 0., 1.]])
    """

    _is_bounded = True
    _standardizes = True

    def _fill(self, pair: Pair, out: np.ndarray) -> None:
        left = _unit_rows(pair.left)
        right = left if pair.symmetric else _unit_rows(pair.right)
        _ = pair.tables  # refuses tables with different columns
        for rows, columns, products in product_tiles(left, right, half=pair.symmetric):
            write_tile(out, rows, columns, np.clip(products, -1.0, 1.0), pair.symmetric)
        if pair.symmetric:
            np.fill_diagonal(out, self._diagonal(pair.left))

    def _diagonal(self, rows: Rows) -> np.ndarray:
        return (rows.row_peaks > 0.0).astype(np.float64)


def _unit_rows(rows: Rows) -> Any:
    """Rows divided by their norms, each first by its largest entry so that no square overflows."""
    unit = _divide_rows(rows.values, rows.row_peaks)
    return _divide_rows(unit, np.sqrt(squared_norms(unit)))


def _divide_rows(table: Any, sizes: np.ndarray) -> Any:
    divisors = np.where(sizes > 0.0, sizes, 1.0)
    if isinstance(table, np.ndarray):
        return table / divisors[:, None]
    result = table.copy()
    result.data = table.data / np.repeat(divisors, np.diff(table.indptr))
    return result

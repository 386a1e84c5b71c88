"""Kernels that the caller brings: a precomputed Gram matrix, a function of two sets of rows, a similarity.

A similarity becomes a kernel by what it says of the training rows: the empirical kernel map.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from multikernel._validation import RowError, check_gram, check_real_matrix, check_square
from multikernel.kernels._rows import Pair, Rows, product_tiles, row_blocks, write_tile
from multikernel.kernels.base import Kernel, _Unary
from multikernel.rows.tables import take_rows

_DIAGONAL_BLOCK = 16


@dataclass(frozen=True, repr=False, eq=False)
class Precomputed(Kernel):
    """k(i, j) = matrix[i, j]: rows are positions into a precomputed Gram matrix.

    `X` is one column of integer positions, so that cross-validation, which takes rows of `X`, takes the right
    rows and columns of the matrix.

    Parameters
    ----------
    matrix : array-like of shape (N, N)
        Symmetric and finite. It is not copied.

    Examples
    --------
    >>> kernel = Precomputed([[2.0, 1.0], [1.0, 3.0]])
    >>> kernel([[1], [0]], [[1]])
    array([[3.],
           [1.]])
    """

    matrix: np.ndarray = field(repr=False)
    _reads_numbers = False
    _reads_tables = False

    def __post_init__(self) -> None:
        matrix = check_square(self.matrix, "Precomputed matrix").view()
        check_gram(matrix, "the Precomputed matrix")
        matrix.flags.writeable = False
        object.__setattr__(self, "matrix", matrix)

    def __repr__(self) -> str:
        return f"Precomputed(<{len(self.matrix)} x {len(self.matrix)} matrix>)"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Precomputed) and np.array_equal(self.matrix, other.matrix)

    def __hash__(self) -> int:
        return hash((Precomputed, self.matrix.shape, float(self.matrix[0, -1])))

    def __deepcopy__(self, memo: dict[int, Any]) -> Precomputed:
        return self  # immutable, and large

    def _positions(self, rows: Rows) -> np.ndarray:
        raw = np.asarray(rows.raw)
        values = raw.ravel()
        requirement = f"Precomputed needs one column of integer positions; {rows.label}"
        if raw.ndim > 2 or (raw.ndim == 2 and raw.shape[1] != 1):
            raise ValueError(f"{requirement} has shape {raw.shape}. Name the column that holds them.")
        try:
            positions = values.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{requirement} holds {values[0]!r}.") from error
        wrong = ~((positions == np.floor(positions)) & (positions >= 0) & (positions < len(self.matrix)))
        if wrong.any():
            row = int(np.flatnonzero(wrong)[0])
            raise RowError(
                f"{requirement} holds {values[row]!r} at row",
                row,
                f". Positions run from 0 to {len(self.matrix) - 1}.",
            )
        return positions.astype(np.intp)

    def _fill(self, pair: Pair, out: np.ndarray) -> None:
        left, right = pair.both(self._positions)
        for block in row_blocks(*pair.shape):
            out[block] = self.matrix[np.ix_(left[block], right)]

    def _diagonal(self, rows: Rows) -> np.ndarray:
        return self.matrix.diagonal()[self._positions(rows)].astype(np.float64)


@dataclass(frozen=True, repr=False)
class FunctionKernel(Kernel):
    """k from a function: ``func(X, Z)`` returns the Gram matrix of shape (n_samples, n_z) of two sets of
    rows.

    The function gets the rows of its columns as they were given (array, sparse matrix, DataFrame or list), so
    they may be strings, graphs or anything it understands. Integers of less than 64 bits are given as 64
    bits: sums of products do not overflow.

    Parameters
    ----------
    func : callable
    diag_func : callable, default=None
        ``diag_func(X)`` returns k(x, x), shape (n_samples,). Without it, `func` is called on small blocks of
        rows.
    psd : bool, default=True
        Whether the function promises positive semidefinite matrices.

    Examples
    --------
    >>> kernel = FunctionKernel(lambda X, Z: 1.0 * (X == Z.T))
    >>> kernel(np.array([[1], [2]]))
    array([[1., 0.],
           [0., 1.]])
    """

    func: Callable[[Any, Any], Any]
    diag_func: Callable[[Any], Any] | None = None
    psd: bool = True

    def __post_init__(self) -> None:
        if not callable(self.func):
            raise TypeError(f"FunctionKernel needs a function f(X, Z); got {self.func!r}.")

    @property
    def is_psd(self) -> bool:
        return self.psd

    @property
    def name(self) -> str:
        """The function's name, for messages and views."""
        name = getattr(self.func, "__name__", type(self.func).__name__)
        return "function" if name == "<lambda>" else str(name)

    def __deepcopy__(self, memo: dict[int, Any]) -> FunctionKernel:
        return FunctionKernel(copy.deepcopy(self.func, memo), copy.deepcopy(self.diag_func, memo), self.psd)

    def _call(self, left: Any, right: Any, shape: tuple[int, int]) -> np.ndarray:
        K = check_real_matrix(self.func(left, right), f"what the kernel function {self.name!r} returned")
        if K.shape != shape:
            raise ValueError(
                f"the kernel function {self.name!r} must return shape {shape} for {shape[0]} and {shape[1]} "
                f"rows; it returned shape {K.shape}."
            )
        return K

    def _fill(self, pair: Pair, out: np.ndarray) -> None:
        # the function's own warnings are its author's, as NumPy gives them by default
        with np.errstate(all="warn", under="ignore"):
            out[...] = self._call(_widened(pair.left.raw), _widened(pair.right.raw), pair.shape)

    def _diagonal(self, rows: Rows) -> np.ndarray:
        n = len(rows)
        if self.diag_func is not None:
            diagonal = np.asarray(self.diag_func(_widened(rows.raw)), dtype=np.float64)
            if diagonal.shape != (n,):
                raise ValueError(
                    f"diag_func of {self.name!r} must return shape ({n},), not {diagonal.shape}."
                )
            return diagonal
        diagonal = np.empty(n)
        for start in range(0, n, _DIAGONAL_BLOCK):
            block = slice(start, min(start + _DIAGONAL_BLOCK, n))
            part = _widened(take_rows(rows.raw, block))
            size = block.stop - start
            diagonal[block] = self._call(part, part, (size, size)).diagonal()
        return diagonal


def _widened(rows: Any) -> Any:
    """The rows, with integers of less than 64 bits as int64."""
    if isinstance(rows, pd.DataFrame):
        short = [name for name, dtype in rows.dtypes.items() if _is_short(dtype)]
        return rows.astype(dict.fromkeys(short, np.int64)) if short and rows.columns.is_unique else rows
    return rows.astype(np.int64) if _is_short(getattr(rows, "dtype", None)) else rows


def _is_short(dtype: Any) -> bool:
    return isinstance(dtype, np.dtype) and dtype.kind in "iu" and dtype.itemsize < 8


def as_kernel(kernel: Any) -> Kernel:
    """Return a kernel as it is, and a bare function ``f(X, Z)`` as a `FunctionKernel`."""
    if isinstance(kernel, Kernel):
        return kernel
    if isinstance(kernel, type) and issubclass(kernel, Kernel):
        name = kernel.__name__
        raise TypeError(f"a kernel must be an instance; got the class {name}. Write {name}().")
    if callable(kernel):
        return FunctionKernel(kernel)
    raise TypeError(f"a kernel must be a Kernel or a function f(X, Z); got {kernel!r}.")


@dataclass(frozen=True, repr=False)
class EmpiricalMap(_Unary):
    """k(x, z) = Σ_i base(x, t_i) base(z, t_i), over the training rows t_1, …, t_n.

    Two rows are alike if they are similar to the same training rows. Positive semidefinite whatever the base,
    which may be any function f(X, Z) of two sets of rows.

    Parameters
    ----------
    base : Kernel or callable

    Attributes
    ----------
    rows : Rows or None
        The training rows, of a fitted kernel.

    Examples
    --------
    >>> def distance(X, Z):
    ...     return np.abs(np.subtract.outer(np.ravel(X), np.ravel(Z)))
    >>> kernel = EmpiricalMap(distance).fit([[0.0], [1.0], [3.0]])
    >>> kernel([[0.0], [2.0]])
    array([[10.,  5.],
           [ 5.,  6.]])

    Notes
    -----
    A new row is compared with all training rows, also by a model that keeps few of them. Similarities of the
    training rows are kept as long as the model is in memory, n² numbers; a model that was loaded computes
    them again at its first prediction, for the training rows that it keeps.

    References
    ----------
    K. Tsuda (1999). Support vector classifier with asymmetric kernel functions. European Symposium on
    Artificial Neural Networks, 183–188.

    L. Liao and W. S. Noble (2003). Combining pairwise sequence similarity and support vector machines for
    detecting remote protein evolutionary and structural relationships. Journal of Computational Biology 10,
    857–868.
    """

    rows: Rows | None = field(default=None, init=False, repr=False)
    is_psd = True
    _is_composite = False  # the products that kernels share are none of this one

    def __post_init__(self) -> None:
        object.__setattr__(self, "base", as_kernel(self.base))

    @property
    def is_fitted(self) -> bool:
        return self.rows is not None and self.base.is_fitted

    def _resolve(self, rows: Rows) -> Kernel:
        fitted = EmpiricalMap(self.base._resolve(rows))
        object.__setattr__(fitted, "rows", rows)
        return fitted

    def _similarities(self, rows: Rows) -> np.ndarray:
        """base(x, t) of every row with every training row, kept with the rows."""
        return rows.derived_rows("similarities", self, lambda: self._compare(rows))

    def _compare(self, rows: Rows) -> np.ndarray:
        assert self.rows is not None
        pair = Pair(rows, self.rows, keep=self.base._is_composite)
        similarities = np.empty(pair.shape)
        self.base.evaluate(pair, similarities)
        return similarities

    def _fill(self, pair: Pair, out: np.ndarray) -> None:
        left, right = pair.both(self._similarities)
        for rows, columns, products in product_tiles(left, right, half=pair.symmetric):
            write_tile(out, rows, columns, products, pair.symmetric)

    def _diagonal(self, rows: Rows) -> np.ndarray:
        similarities = self._similarities(rows)
        return np.einsum("ij,ij->i", similarities, similarities)

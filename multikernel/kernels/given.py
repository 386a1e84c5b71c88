"""Kernels that the caller brings: a ready-made Gram matrix, or a function of two sets of rows."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from multikernel._validation import RowError, check_gram, check_real_matrix, check_square
from multikernel.kernels._rows import Pair, Rows, row_blocks
from multikernel.kernels.base import Kernel
from multikernel.rows.tables import take_rows

_DIAGONAL_BLOCK = 16


@dataclass(frozen=True, repr=False, eq=False)
class Precomputed(Kernel):
    """k(i, j) = matrix[i, j]: rows are positions into a ready-made Gram matrix.

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
        right = self._positions(pair.right)
        left = right if pair.symmetric else self._positions(pair.left)
        for block in row_blocks(*pair.shape):
            out[block] = self.matrix[np.ix_(left[block], right)]

    def _diagonal(self, rows: Rows) -> np.ndarray:
        return self.matrix.diagonal()[self._positions(rows)].astype(np.float64)


@dataclass(frozen=True, repr=False)
class FunctionKernel(Kernel):
    """k from a function: ``func(X, Z)`` returns the Gram matrix (n, n_z) of two sets of rows.

    The function gets the rows of its columns as they were given (array, sparse matrix, DataFrame or list), so
    they may be strings, graphs or anything it understands.

    Parameters
    ----------
    func : callable
    diag_func : callable, optional
        ``diag_func(X)`` returns k(x, x), shape (n,). Without it, `func` is called on small blocks of rows.
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
            out[...] = self._call(pair.left.raw, pair.right.raw, pair.shape)

    def _diagonal(self, rows: Rows) -> np.ndarray:
        n = len(rows)
        if self.diag_func is not None:
            diagonal = np.asarray(self.diag_func(rows.raw), dtype=np.float64)
            if diagonal.shape != (n,):
                raise ValueError(
                    f"diag_func of {self.name!r} must return shape ({n},), not {diagonal.shape}."
                )
            return diagonal
        diagonal = np.empty(n)
        for start in range(0, n, _DIAGONAL_BLOCK):
            block = slice(start, min(start + _DIAGONAL_BLOCK, n))
            part = take_rows(rows.raw, block)
            size = block.stop - start
            diagonal[block] = self._call(part, part, (size, size)).diagonal()
        return diagonal


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

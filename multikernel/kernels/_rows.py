"""The rows a kernel compares, and what kernels on the same rows can share.

`Rows` is one side of a Gram matrix: the rows as they were given and, for the kernels that ask, as a checked
numeric table with its norms and typical distances. `Pair` is two sides, with their dot products, which all
dot-product and Gaussian kernels on the same columns share.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse

from multikernel._validation import check_numeric_table
from multikernel.kernels._distances import direct_distances
from multikernel.kernels._tiles import Tile, product_tiles
from multikernel.rows.tables import count_rows, take_rows

# ‖x‖² + ‖z‖² − 2 x·z loses about eps · gamma · max‖x‖² in the exponent: 1e-11 at this bound.
_EXPANSION_LIMIT = 1e4
_SAMPLE_ROWS = 512
_BLOCK_ELEMENTS = 1 << 15


def row_blocks(n_rows: int, n_columns: int, elements: int = _BLOCK_ELEMENTS) -> Iterator[slice]:
    """Slices of rows that hold about `elements` entries each, so that a block stays in the cache."""
    step = max(1, elements // max(1, n_columns))
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))


class BlockBuffers:
    """Two scratch arrays for `row_blocks`, allocated once: a fresh one for each block costs page faults."""

    def __init__(self, n_rows: int, n_columns: int) -> None:
        rows = next(row_blocks(n_rows, n_columns))
        self._memory = np.empty((2, (rows.stop - rows.start) * n_columns))

    def pair(self, block: slice, n_columns: int) -> tuple[np.ndarray, np.ndarray]:
        """Both arrays, shaped for the rows of `block` and `n_columns` columns."""
        n_rows = block.stop - block.start
        first, second = (memory[: n_rows * n_columns].reshape(n_rows, n_columns) for memory in self._memory)
        return first, second


class Rows:
    """Rows as given (`raw`) and, on demand, as numbers (`values`).

    Parameters
    ----------
    raw : array-like, sparse matrix, DataFrame or sequence of objects
    label : str
        What error messages call these rows.
    one_column : bool
        Whether 1-D numeric data is one column.
    """

    def __init__(self, raw: Any, label: str = "X", one_column: bool = False) -> None:
        self.raw = raw
        self.label = label
        self.one_column = one_column

    def __len__(self) -> int:
        return count_rows(self.raw)

    def __getstate__(self) -> dict[str, Any]:
        return {"raw": self.raw, "label": self.label, "one_column": self.one_column}  # the rest is derived

    def take(self, positions: np.ndarray) -> Rows:
        """The rows at `positions`, copied, with what `derived_rows` keeps of them."""
        taken = Rows(take_rows(self.raw, positions), self.label, self.one_column)
        for what, (key, table) in self._derived_rows.items():
            taken._derived_rows[what] = (key, table[positions])
        return taken

    @cached_property
    def _derived(self) -> dict[str, tuple[Hashable, Any]]:
        return {}

    def derived(self, what: str, key: Hashable, make: Callable[[], Any]) -> Any:
        """What `make` returns for these rows, kept until the same is asked for with another key.

        Parameters
        ----------
        what : str
            The kind of thing, of which one is kept.
        key : hashable
            All that it depends on beside the rows.
        make : callable
        """
        kept = self._derived.get(what)
        if kept is None or kept[0] != key:
            kept = self._derived[what] = (key, make())
        return kept[1]

    @cached_property
    def _derived_rows(self) -> dict[str, tuple[Hashable, np.ndarray]]:
        return {}

    def derived_rows(self, what: str, key: Hashable, make: Callable[[], np.ndarray]) -> np.ndarray:
        """Like `derived`, for an array with one entry for each row, which rows that are taken keep."""
        kept = self._derived_rows.get(what)
        if kept is None or kept[0] != key:
            kept = self._derived_rows[what] = (key, make())
        return kept[1]

    @cached_property
    def values(self) -> Any:
        """Finite float64 table (n, d): C-contiguous ndarray or canonical CSR."""
        return check_numeric_table(self.raw, self.label, one_column=self.one_column)

    @property
    def is_sparse(self) -> bool:
        return bool(scipy.sparse.issparse(self.values))

    @cached_property
    def peak(self) -> float:
        """Largest absolute entry."""
        return float(self.row_peaks.max())

    @cached_property
    def row_peaks(self) -> np.ndarray:
        """Largest absolute entry of each row, shape (n,)."""
        if self.is_sparse:
            return np.asarray(abs(self.values).max(axis=1).toarray(), dtype=np.float64).ravel()
        return np.maximum(self.values.max(axis=1), -self.values.min(axis=1))

    @cached_property
    def sq_norms(self) -> np.ndarray:
        """‖x_i‖², shape (n,)."""
        return squared_norms(self.values)

    @cached_property
    def scaled_norms(self) -> np.ndarray:
        """‖x_i‖ / peak, shape (n,): neither overflows nor underflows."""
        return np.sqrt(squared_norms(scaled(self.values, 1.0 / self.peak if self.peak else 1.0)))

    @cached_property
    def mean_sq_norm(self) -> float:
        """Mean of ‖x_i‖²."""
        return float(np.mean(self.scaled_norms**2)) * self.peak * self.peak

    @cached_property
    def median_sq_distance(self) -> float:
        """Median squared distance between two rows, over at most 512 evenly spaced rows; 0 if all agree."""
        sample = self._sample()
        table = self._unit_values()[sample]
        pairs = _sample_distances(table, table)[np.triu_indices(len(sample), k=1)]
        if pairs.size == 0 or pairs.max() == 0.0:
            return 0.0
        median = float(np.median(pairs))
        if median == 0.0:  # most rows are duplicates: take the others
            median = float(pairs[pairs > 0].mean())
        return median * self.peak * self.peak

    @cached_property
    def nearest_sq_distance(self) -> float:
        """Mean over at most 512 evenly spaced rows of the squared distance to the nearest of all others."""
        if len(self) == 1:
            return 0.0
        sample = self._sample()
        table = self._unit_values()
        nearest = np.empty(len(sample))
        for block in row_blocks(len(sample), len(self), elements=1 << 20):
            distances = _sample_distances(table[sample[block]], table)
            distances[np.arange(len(distances)), sample[block]] = np.inf
            nearest[block] = distances.min(axis=1)
        mean = float(nearest.mean()) * self.peak * self.peak
        return mean if mean > 0.0 else self.median_sq_distance

    def _sample(self) -> np.ndarray:
        return np.unique(np.linspace(0, len(self) - 1, min(len(self), _SAMPLE_ROWS)).astype(np.intp))

    def _unit_values(self) -> Any:
        return scaled(self.values, 1.0 / self.peak if self.peak else 1.0)


class Pair:
    """Left rows against right rows, with the products that several kernels share.

    Parameters
    ----------
    left, right : Rows
        The same object twice for a training Gram.
    keep : bool
        Whether dot products are kept for the next kernel, as a matrix. If not, they are computed for some
        rows at a time.
    """

    def __init__(self, left: Rows, right: Rows, keep: bool = False) -> None:
        self.left = left
        self.right = right
        self.keep = keep
        self.symmetric = left is right
        self._kept: tuple[bool, np.ndarray] | None = None

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.left), len(self.right)

    @cached_property
    def tables(self) -> tuple[Any, Any]:
        """Both numeric tables, with equally many columns."""
        left, right = self.left.values, self.right.values
        if left.shape[1] != right.shape[1]:
            raise ValueError(
                f"{self.left.label} has {left.shape[1]} columns, but {self.right.label} has "
                f"{right.shape[1]}; a kernel compares rows with the same columns."
            )
        return left, right

    @cached_property
    def centred_tables(self) -> tuple[Any, Any]:
        """Both tables minus the mean row of the right one (dense only)."""
        left, right = self.tables
        centre = right.mean(axis=0)
        centred = right - centre
        return (centred if self.symmetric else left - centre), centred

    def dot(self, centred: bool = False, half: bool = True) -> Iterator[Tile]:
        """x_i · z_j as float64, tile by tile; with `half` only the upper half of a training Gram."""
        left, right = self.centred_tables if centred else self.tables
        if self.keep and (self._kept is None or self._kept[0] != centred):
            self._kept = None
            products = np.empty(self.shape)
            dot_products(left, right, products)
            self._kept = (centred, products)
        whole = None if self._kept is None else self._kept[1]
        return product_tiles(left, right, whole, half=half and self.symmetric)

    def norms(self, centred: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """Squared norms of the left and of the right rows."""
        return self._centred_norms if centred else (self.left.sq_norms, self.right.sq_norms)

    @cached_property
    def _centred_norms(self) -> tuple[np.ndarray, np.ndarray]:
        left, right = self.centred_tables
        norms = squared_norms(right)
        return (norms if self.symmetric else squared_norms(left)), norms

    def expansion(self, gamma: float) -> bool | None:
        """Whether gamma ‖x − z‖² may come from dot products: plain (False), centred (True), or not (None)."""
        left, right = self.tables
        if _is_safe(gamma, self.norms()):
            return False
        if scipy.sparse.issparse(left) or scipy.sparse.issparse(right):
            return None
        return True if _is_safe(gamma, self.norms(centred=True)) else None


def _is_safe(gamma: float, norms: tuple[np.ndarray, np.ndarray]) -> bool:
    peak = max(float(norms[0].max()), float(norms[1].max()))
    return gamma * peak <= _EXPANSION_LIMIT  # false too where a norm overflows


def dot_products(left: Any, right: Any, out: np.ndarray) -> None:
    """Write left @ right.T into the float64 array `out`; exactly symmetric when both are one object."""
    if not (scipy.sparse.issparse(left) or scipy.sparse.issparse(right)):
        np.matmul(left, right.T, out=out)  # BLAS syrk when both are the same array
        return
    transposed = right.T.tocsr() if scipy.sparse.issparse(right) else np.ascontiguousarray(right.T)
    for block in row_blocks(out.shape[0], out.shape[1], 1 << 18):
        product = left[block] @ transposed
        out[block] = product.toarray() if scipy.sparse.issparse(product) else product


def squared_norms(table: Any) -> np.ndarray:
    """Squared Euclidean norm of each row."""
    if scipy.sparse.issparse(table):
        return np.asarray(table.multiply(table).sum(axis=1), dtype=np.float64).ravel()
    return np.einsum("ij,ij->i", table, table)


def scaled(table: Any, factor: float) -> Any:
    """The table times a number, as a new table."""
    if scipy.sparse.issparse(table):
        result = table.copy()
        result.data = result.data * factor
        return result
    return table * factor


def _sample_distances(left: Any, right: Any) -> np.ndarray:
    """Squared distances between rows with entries of at most 1; taken directly where they are tiny."""
    if not scipy.sparse.issparse(left):
        centre = right.mean(axis=0)
        left, right = left - centre, right - centre
    squares = np.empty((left.shape[0], right.shape[0]))
    dot_products(left, right, squares)
    squares *= -2.0
    squares += squared_norms(left)[:, None]
    squares += squared_norms(right)
    if np.median(squares) < 1e-8 * max(squared_norms(left).max(), squared_norms(right).max()):
        direct_distances("sqeuclidean", left, right, squares)
    return np.maximum(squares, 0.0, out=squares)

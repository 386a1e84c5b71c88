"""The rows a kernel compares, their products and distances, and what kernels on the same rows can share.

`Rows` is one side of a Gram matrix: the rows as they were given and, for the kernels that ask, as a checked
numeric table with its norms and typical distances. `Pair` is two sides, with their dot products, which all
dot-product and Gaussian kernels on the same columns share.

Gram matrices are written tile by tile, from products of which a matrix need not exist. Entries below the
diagonal of a training Gram are mirror images. Written row by row, each would touch a page of its own; written
by tiles, some hundred of them share one, which is what a matrix in a file needs.

Distances are taken difference by difference: exact where expansions into dot products would cancel. Dense
tables go through SciPy (L1 and chi-squared: compiled loops); sparse ones through a compiled merge of the
sorted column indices of two rows, which never builds a dense table.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from functools import cached_property, lru_cache
from typing import Any, TypeVar

import numpy as np
import scipy.sparse
from scipy.spatial.distance import cdist

from multikernel._numba import kept_njit, read_only
from multikernel._validation import check_numeric_table
from multikernel.rows.tables import count_rows, take_rows

# ‖x‖² + ‖z‖² − 2 x·z loses about eps · gamma · max‖x‖² in the exponent: 1e-11 at this bound.
_EXPANSION_LIMIT = 1e4
_SAMPLE_ROWS = 512
_BLOCK_ELEMENTS = 1 << 15
_TILE = (128, 256)
_TILE_ELEMENTS = 128 * 256
_DISTANCE_ROWS = 256
_COLUMNS = 128  # of both tables, while all rows of a tile read them
_KINDS = {"sqeuclidean": 0, "cityblock": 1, "chi2": 2}

Tile = tuple[slice, slice, np.ndarray]
T = TypeVar("T")


def row_blocks(n_rows: int, n_columns: int, elements: int = _BLOCK_ELEMENTS) -> Iterator[slice]:
    """Slices of rows that hold about `elements` entries each, so that a block stays in the cache."""
    step = max(1, elements // max(1, n_columns))
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))


class Rows:
    """Rows as given (`raw`) and, on demand, as numbers (`values`).

    `label` is what error messages call them; `one_column` says whether 1-D numeric data is one column.
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

        The key is all that it depends on beside the rows.
        """
        return _kept(self._derived, what, key, make)

    @cached_property
    def _derived_rows(self) -> dict[str, tuple[Hashable, np.ndarray]]:
        return {}

    def derived_rows(self, what: str, key: Hashable, make: Callable[[], np.ndarray]) -> np.ndarray:
        """Like `derived`, for an array with one entry for each row, which rows that are taken keep."""
        return _kept(self._derived_rows, what, key, make)

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
        return np.sqrt(squared_norms(self._unit_values()))

    @cached_property
    def mean_sq_norm(self) -> float:
        """Mean of ‖x_i‖²."""
        return float(np.mean(self.scaled_norms**2)) * self.peak * self.peak

    @cached_property
    def median_sq_distance(self) -> float:
        """Median squared distance between two rows, over at most 512 evenly spaced rows; 0 if all agree."""
        table = self._unit_values()[self._sample()]
        return _median_of_pairs(_sample_distances(table, table)) * self.peak * self.peak

    def median_distance(self, kind: str) -> float:
        """Median of a distance of `direct_distances` that grows as the rows, "cityblock" or "chi2".

        Over the pairs of at most 512 evenly spaced rows; 0 if all agree.
        """

        def measure() -> float:
            table = self._unit_values()[self._sample()]
            distances = np.empty((table.shape[0], table.shape[0]))
            direct_distances(kind, table, table, distances)
            return _median_of_pairs(distances) * self.peak

        return float(self.derived(f"median {kind}", None, measure))

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


def _median_of_pairs(distances: np.ndarray) -> float:
    """Median over the pairs of different rows; their mean without zeros where most rows are duplicates."""
    pairs = distances[~np.tri(len(distances), dtype=bool)]
    if pairs.size == 0 or pairs.max() == 0.0:
        return 0.0
    median = _median(pairs)
    return median if median > 0.0 else float(pairs[pairs > 0].mean())


def _median(values: np.ndarray) -> float:
    """The median, of many numbers found among those between two quantiles of a few of them."""
    if values.size < 1000:
        return float(np.median(values))
    few = np.sort(values[:: values.size // 500])
    low, high = few[int(0.4 * few.size)], few[int(0.6 * few.size)]
    middle = values[(values >= low) & (values <= high)]
    place = values.size // 2 - int(np.count_nonzero(values < low))
    if not 0 < place < middle.size:
        return float(np.median(values))
    middle.partition([place - 1, place])
    return float(middle[place] if values.size % 2 else 0.5 * (middle[place - 1] + middle[place]))


def _kept(store: dict[str, tuple[Hashable, T]], what: str, key: Hashable, make: Callable[[], T]) -> T:
    found = store.get(what)
    if found is None or found[0] != key:
        found = store[what] = (key, make())
    return found[1]


class Pair:
    """Left rows against right rows, the same object twice for a training Gram, with products to share.

    With `keep`, dot products are kept for the next kernel, as a matrix. If not, they are computed for some
    rows at a time. So are distances between two tables; of a table with itself `together` shares those of
    Laplacians.
    """

    def __init__(self, left: Rows, right: Rows, keep: bool = False) -> None:
        self.left = left
        self.right = right
        self.keep = keep
        self.symmetric = left is right
        self._kept: tuple[bool, np.ndarray] | None = None
        self._distances: tuple[str, np.ndarray] | None = None

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.left), len(self.right)

    @cached_property
    def tables(self) -> tuple[Any, Any]:
        """Both numeric tables, with equally many columns."""
        left, right = self.left.values, self.right.values
        same_width((left.shape[1], self.left.label), (right.shape[1], self.right.label))
        return left, right

    def both(self, read: Callable[[Rows], T]) -> tuple[T, T]:
        """What `read` returns for the left and for the right rows; for one object where they are the same."""
        right = read(self.right)
        return (right if self.symmetric else read(self.left)), right

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

    def write_distances(self, kind: str, out: np.ndarray) -> None:
        """Write the distances of a kind of `direct_distances` into `out`."""
        if not self.keep or self.symmetric:
            direct_distances(kind, *self.tables, out)
            return
        if self._distances is None or self._distances[0] != kind:
            self._distances = None
            distances = np.empty(self.shape)
            direct_distances(kind, *self.tables, distances)
            self._distances = (kind, distances)
        np.copyto(out, self._distances[1], casting="same_kind")

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


def same_width(left: tuple[int, str], right: tuple[int, str]) -> None:
    """Refuse tables with different numbers of columns; each is given by its number and its label."""
    if left[0] != right[0]:
        raise ValueError(
            f"{left[1]} has {left[0]} columns, but {right[1]} has {right[0]}; a kernel compares rows with "
            "the same columns."
        )


def _is_safe(gamma: float, norms: tuple[np.ndarray, np.ndarray]) -> bool:
    peak = max(float(norms[0].max()), float(norms[1].max()))
    return gamma * peak <= _EXPANSION_LIMIT  # false too where a norm overflows


def dot_products(left: Any, right: Any, out: np.ndarray) -> None:
    """Write left @ right.T into the float64 array `out`; exactly symmetric when both are one object."""
    if not (scipy.sparse.issparse(left) or scipy.sparse.issparse(right)):
        np.matmul(left, right.T, out=out)  # BLAS syrk when both are the same array
        return
    transposed = _transposed(left, right)
    for block in row_blocks(out.shape[0], out.shape[1], 1 << 18):
        out[block] = _products(left[block], transposed)


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
    tiny = 1e-8 * max(squared_norms(left).max(), squared_norms(right).max())
    if 2 * np.count_nonzero(squares < tiny) > squares.size:
        direct_distances("sqeuclidean", left, right, squares)
    return np.maximum(squares, 0.0, out=squares)


# --- tiles -------------------------------------------------------------------------------------


class TileBuffers:
    """Scratch arrays for a tile, allocated once: fresh ones for each tile cost page faults."""

    def __init__(self, count: int) -> None:
        self._memory = np.empty((count, _TILE_ELEMENTS))

    def shaped(self, shape: tuple[int, ...]) -> list[np.ndarray]:
        """The arrays, each of the shape of a tile."""
        size = shape[0] * shape[1]
        if size > self._memory.shape[1]:
            self._memory = np.empty((len(self._memory), size))
        return [memory[:size].reshape(shape) for memory in self._memory]


def product_tiles(
    left: Any, right: Any, whole: np.ndarray | None = None, *, half: bool = False
) -> Iterator[Tile]:
    """Rows, columns and products x_i · z_j of tiles that fit in the cache.

    Products that are there already, as `whole`, come in whole rows, in which memory is read fastest. Others
    are computed for some rows at a time. `half`: of a table with itself, what is right of the diagonal.
    """
    n_columns = right.shape[0]
    if whole is None:
        strips, width = product_strips(left, right, half=half), _TILE[1]
    else:
        strips, width = _strips_of(whole, half), n_columns
    for rows, first, products in strips:
        for begin in range(first, n_columns, width):
            columns = slice(begin, min(begin + width, n_columns))
            yield rows, columns, products[:, columns.start - first : columns.stop - first]


def product_strips(left: Any, right: Any, *, half: bool = False) -> Iterator[tuple[slice, int, np.ndarray]]:
    """Rows, the first column, and products x_i · z_j of these rows from it on, C-contiguous.

    `half`: of a table with itself, from the diagonal on; the square there is symmetric bit by bit.
    """
    transposed = _transposed(left, right)
    for start in range(0, left.shape[0], _TILE[0]):
        rows = slice(start, min(start + _TILE[0], left.shape[0]))
        first = start if half else 0
        products = _products(left[rows], transposed, first)
        if half:
            mirror(products[:, : len(products)])
        yield rows, first, products


def _strips_of(whole: np.ndarray, half: bool) -> Iterator[tuple[slice, int, np.ndarray]]:
    """The same of products that are there already."""
    height = max(1, _TILE_ELEMENTS // whole.shape[1])
    for start in range(0, whole.shape[0], height):
        rows, first = slice(start, min(start + height, whole.shape[0])), start if half else 0
        yield rows, first, whole[rows, first:]


def _transposed(left: Any, right: Any) -> Any:
    if scipy.sparse.issparse(right):
        return right.T.tocsr()
    return np.ascontiguousarray(right.T) if scipy.sparse.issparse(left) else right.T


def _products(left: Any, transposed: Any, first: int = 0) -> np.ndarray:
    """With the columns from `first` on, C-contiguous."""
    if isinstance(left, np.ndarray) and isinstance(transposed, np.ndarray):
        return left @ transposed[:, first:]
    product = left @ transposed  # columns of a sparse matrix are slow to take
    dense = np.asarray(product.toarray() if scipy.sparse.issparse(product) else product)
    return np.ascontiguousarray(dense[:, first:])


def mirror(corner: np.ndarray) -> None:
    """The upper half of a square decides: BLAS may round x · z and z · x differently."""
    np.copyto(corner, corner.T.copy(), where=_below_diagonal(len(corner)))


@lru_cache(maxsize=4)  # all tiles but the last have one size
def _below_diagonal(n: int) -> np.ndarray:
    return np.tri(n, k=-1, dtype=bool)


def write_tile(out: np.ndarray, rows: slice, columns: slice, values: np.ndarray, half: bool) -> None:
    """Write a tile into `out`; with `half` its mirror image below the diagonal too."""
    out[rows, columns] = values
    below = slice(max(columns.start, rows.stop), columns.stop)
    if half and below.start < below.stop:
        out[below, rows] = values[:, below.start - columns.start :].T


# --- distances ---------------------------------------------------------------------------------


def direct_distances(kind: str, left: Any, right: Any, out: np.ndarray) -> None:
    """Write the distances between all rows of `left` and of `right`, arrays or canonical CSR, into `out`.

    Kinds: "sqeuclidean", Σ (x − z)²; "cityblock", Σ |x − z|; "chi2", Σ (x − z)² / (x + z) with 0 / 0 = 0;
    "hamming", the share of columns that differ (of dense tables).
    """
    symmetric = left is right
    if scipy.sparse.issparse(left) or scipy.sparse.issparse(right):
        a = scipy.sparse.csr_matrix(left)
        b = a if symmetric else scipy.sparse.csr_matrix(right)
        _sparse_distances(
            _KINDS[kind], symmetric, a.indptr, a.indices, a.data, b.indptr, b.indices, b.data, np.asarray(out)
        )
    elif kind == "chi2":
        _dense_chi2(left, right, symmetric, np.asarray(out))
    elif kind == "cityblock":
        _dense_cityblock(left, right, symmetric, np.asarray(out))
    else:
        for start in range(0, len(left), _DISTANCE_ROWS):
            rows = slice(start, start + _DISTANCE_ROWS)
            out[rows] = cdist(left[rows], right, kind)


@kept_njit(error_model="numpy")
def _term(kind, x, z):  # type: ignore[no-untyped-def]  # pragma: no cover
    """One coordinate's share of the distance."""
    gap = abs(x - z)
    if kind == 1:
        return gap
    if kind == 0:
        return gap * gap
    half = 0.5 * x + 0.5 * z  # halves: the sum of very large entries stays finite
    return 0.5 * gap * (gap / half) if half > 0.0 else 0.0


@kept_njit(error_model="numpy", fastmath={"reassoc", "nsz", "contract"})
def _dense_chi2(left, right, symmetric, out):  # type: ignore[no-untyped-def]  # pragma: no cover
    for i in range(left.shape[0]):
        x = left[i]
        for j in range(i if symmetric else 0, right.shape[0]):
            z = right[j]
            total = 0.0
            for k in range(len(x)):
                half = 0.5 * x[k] + 0.5 * z[k]
                gap = x[k] - z[k]
                # where both are 0 the gap is too; dividing by 1 there keeps the loop free of branches
                total += 0.5 * gap * (gap / (half if half > 0.0 else 1.0))
            out[i, j] = total
            if symmetric:
                out[j, i] = total


def _dense_cityblock(left: np.ndarray, right: np.ndarray, symmetric: bool, out: np.ndarray) -> None:
    columns, buffers = np.ascontiguousarray(right.T), TileBuffers(1)
    for rows, band in tiles(len(left), len(right), symmetric):
        (distances,) = buffers.shaped((rows.stop - rows.start, band.stop - band.start))
        cityblock_tile(read_only(left[rows]), read_only(columns), band.start, distances)
        write_tile(out, rows, band, distances, symmetric)


def tiles(n_left: int, n_right: int, half: bool) -> Iterator[tuple[slice, slice]]:
    """Rows and columns of the tiles of a matrix; with `half`, of those that cover its upper half."""
    for top in range(0, n_left, _TILE[0]):
        rows = slice(top, min(top + _TILE[0], n_left))
        for first in range(top if half else 0, n_right, _TILE[1]):
            yield rows, slice(first, min(first + _TILE[1], n_right))


@kept_njit(error_model="numpy", fastmath={"nnan", "nsz", "contract"}, nogil=True)
def cityblock_tile(left, columns, first, out):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Write Σ |x − z| of the rows of `left` and those of a transposed table from `first` on into a tile.

    The sums of a row grow side by side, four columns of the tables at a time, and some columns for all rows
    of the tile, so that both are in the cache. The order of the terms does not depend on the tile.
    """
    d, last = columns.shape[0], first + out.shape[1]
    out[:] = 0.0
    for begin in range(0, d, _COLUMNS):
        end = min(begin + _COLUMNS, d)
        whole = end - (end - begin) % 4
        for i in range(out.shape[0]):
            x, total = left[i], out[i]
            for k in range(begin, whole, 4):
                a, b = columns[k, first:last], columns[k + 1, first:last]
                c, e = columns[k + 2, first:last], columns[k + 3, first:last]
                xa, xb, xc, xe = x[k], x[k + 1], x[k + 2], x[k + 3]
                for j in range(total.size):
                    total[j] += (abs(xa - a[j]) + abs(xb - b[j])) + (abs(xc - c[j]) + abs(xe - e[j]))
            for k in range(whole, end):
                z, xk = columns[k, first:last], x[k]
                for j in range(total.size):
                    total[j] += abs(xk - z[j])


@kept_njit(error_model="numpy")
def _sparse_distances(  # type: ignore[no-untyped-def]  # pragma: no cover
    kind, symmetric, a_start, a_column, a_value, b_start, b_column, b_value, out
):
    for i in range(len(a_start) - 1):
        for j in range(i if symmetric else 0, len(b_start) - 1):
            p, p_end = a_start[i], a_start[i + 1]
            q, q_end = b_start[j], b_start[j + 1]
            total = 0.0
            while p < p_end and q < q_end:
                if a_column[p] == b_column[q]:
                    total += _term(kind, a_value[p], b_value[q])
                    p += 1
                    q += 1
                elif a_column[p] < b_column[q]:
                    total += _term(kind, a_value[p], 0.0)
                    p += 1
                else:
                    total += _term(kind, 0.0, b_value[q])
                    q += 1
            while p < p_end:
                total += _term(kind, a_value[p], 0.0)
                p += 1
            while q < q_end:
                total += _term(kind, 0.0, b_value[q])
                q += 1
            out[i, j] = total
            if symmetric:
                out[j, i] = total

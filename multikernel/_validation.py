"""Every check of numbers, tables and Gram matrices, with its wording, once.

Errors are ``ValueError`` or ``TypeError``; each names what was required, what was given and the remedy.
Nothing here modifies its input.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse
import scipy.sparse.linalg
from numba import njit

PSD_CHOICES = ("error", "clip", "shift")

_FULL_CHECK_FLOPS = 6e7
_N_BLOCKS = 2
_BLOCK_SIZE = 64
# Above this size the exact smallest eigenvalue costs more than the message is worth.
_EXACT_EIGENVALUE_MAX_N = 1000


# --- scalars and choices -------------------------------------------------------------------------


def check_choice(name: str, value: Any, choices: Sequence[str]) -> str:
    """Return `value` if it is one of `choices`, else say which there are."""
    if not isinstance(value, str) or value not in choices:
        listed = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name} must be one of {listed}; got {value!r}.")
    return value


def check_number(
    name: str, value: Any, *, above: float | None = None, at_least: float | None = None
) -> float:
    """Return `value` as a finite float, optionally bounded from below."""
    is_number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if not is_number:
        raise TypeError(f"{name} must be a number; got {value!r}.")
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"{name} must be finite; got {value!r}.")
    if above is not None and not number > above:
        raise ValueError(f"{name} must be greater than {above:g}; got {value!r}.")
    if at_least is not None and not number >= at_least:
        raise ValueError(f"{name} must be at least {at_least:g}; got {value!r}.")
    return number


def check_positive_integer(name: str, value: Any) -> int:
    """Return `value` as an int of at least 1."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{name} must be a positive integer; got {value!r}.")
    if value < 1:
        raise ValueError(f"{name} must be a positive integer; got {value!r}.")
    return int(value)


def check_float_dtype(dtype: Any) -> np.dtype[Any]:
    """Return the NumPy dtype if it is float32 or float64."""
    try:
        resolved = np.dtype(dtype)
    except TypeError as error:
        raise TypeError(f"dtype must be 'float64' or 'float32'; got {dtype!r}.") from error
    if dtype is None or resolved not in (np.dtype(np.float64), np.dtype(np.float32)):
        raise ValueError(f"dtype must be 'float64' or 'float32'; got {dtype!r}.")
    return resolved


# --- feature tables ------------------------------------------------------------------------------


def is_frame(X: Any) -> bool:
    """Whether `X` is a pandas DataFrame (told by its methods, so that pandas need not be imported)."""
    return hasattr(X, "iloc") and hasattr(X, "columns")


def check_numeric_table(X: Any, label: str = "X", *, one_column: bool = False) -> Any:
    """Return `X` as a finite float64 table: a C-contiguous array or a canonical CSR matrix.

    Parameters
    ----------
    X : array-like, sparse matrix or DataFrame of shape (n, d)
    label : str
        What the messages call the table, e.g. ``"view 'tap'"``.
    one_column : bool, default=False
        Whether a 1-D `X` is one column.

    Returns
    -------
    ndarray or csr_matrix of shape (n, d)
        `X` itself, without a copy, where it already is such a table.
    """
    if scipy.sparse.issparse(X):
        return _check_sparse(X, label)
    names = list(X.columns) if is_frame(X) else None
    values = _to_float(X, label, names)
    if values.ndim == 1 and one_column:
        values = values.reshape(-1, 1)
    _check_table_shape(values.shape, label)
    if not all_finite(values):
        row, column = np.argwhere(~np.isfinite(values))[0]
        _raise_not_finite(label, values[row, column], int(row), int(column), names)
    return np.ascontiguousarray(values)


def _to_float(X: Any, label: str, names: list[Any] | None) -> np.ndarray:
    if names is not None:
        columns = [
            _column_to_float(X.iloc[:, j], label, f"column {j} ({names[j]!r})") for j in range(len(names))
        ]
        return np.column_stack(columns) if columns else np.empty((len(X), 0))
    try:
        values = np.asarray(X)
    except ValueError as error:
        raise ValueError(f"{label} must be a table with rows of equal length; NumPy says: {error}") from error
    if values.dtype.kind in "fiub":
        return values.astype(np.float64, copy=False)
    if values.dtype.kind != "O":
        raise ValueError(
            f"{label} must be numeric; got dtype {values.dtype}. Encode its columns as numbers first."
        )
    if values.ndim != 2:
        return _column_to_float(values, label, "its values")
    columns = [_column_to_float(values[:, j], label, f"column {j}") for j in range(values.shape[1])]
    return np.column_stack(columns) if columns else np.empty(values.shape)


def _column_to_float(column: Any, label: str, place: str) -> np.ndarray:
    remedy = "Encode it as numbers, or give the view a kernel that understands it."
    if getattr(getattr(column, "dtype", None), "kind", "O") in "fiub" and not hasattr(column, "to_numpy"):
        return np.asarray(column, dtype=np.float64)
    try:
        if hasattr(column, "to_numpy"):
            # pandas' missing values become NaN, which the finiteness check then reports with its place
            values = column.to_numpy(dtype=np.float64, na_value=np.nan)
        else:
            values = np.asarray(column, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{label} must be numeric, but {place} is not ({error}). {remedy}") from error
    return values


def _check_sparse(X: Any, label: str) -> scipy.sparse.csr_matrix:
    if X.ndim == 2:
        _check_table_shape(X.shape, label)
    if X.ndim != 2 or X.dtype.kind not in "fiub":
        raise ValueError(f"{label} must be a numeric 2-D sparse matrix; got {X.ndim}-D {X.dtype}.")
    table = scipy.sparse.csr_matrix(X, dtype=np.float64)
    if not table.has_canonical_format:
        table = table.copy()  # the arrays may be the caller's
        table.sum_duplicates()
    if not all_finite(table.data):
        entries = table.tocoo()
        first = int(np.flatnonzero(~np.isfinite(entries.data))[0])
        _raise_not_finite(label, entries.data[first], int(entries.row[first]), int(entries.col[first]), None)
    return table


def _check_table_shape(shape: tuple[int, ...], label: str) -> None:
    if len(shape) != 2:
        raise ValueError(
            f"{label} must be a table of shape (n_samples, n_features); got shape {shape}. "
            "Reshape a single feature with X.reshape(-1, 1)."
        )
    if shape[0] < 1:
        raise ValueError(f"{label} must hold at least one sample; got 0 sample(s) (shape={shape}).")
    if shape[1] < 1:
        raise ValueError(f"{label} must hold at least one feature; got 0 feature(s) (shape={shape}).")


def all_finite(values: np.ndarray) -> bool:
    """Whether every entry is finite: min and max carry NaN and infinity without a temporary array."""
    return values.size == 0 or bool(np.isfinite(values.min()) and np.isfinite(values.max()))


def _raise_not_finite(label: str, value: Any, row: int, column: int, names: list[Any] | None) -> None:
    what = "NaN" if np.isnan(value) else "infinity"
    name = f" ({names[column]!r})" if names is not None else ""
    raise ValueError(
        f"{label} holds {what} at row {row}, column {column}{name}. "
        "Features must be finite: impute or drop what is missing."
    )


# --- Gram matrices -------------------------------------------------------------------------------


class GramFacts(NamedTuple):
    """What one pass over a Gram matrix tells."""

    degenerate: str  # "", "all zero" or "constant"
    breaks_schwarz: bool  # a negative diagonal, or some |K_ij| > sqrt(K_ii K_jj): proof of indefiniteness


def check_square(K: Any, label: str) -> np.ndarray:
    """Return `K` as a float array of shape (n, n), n ≥ 1, without a copy where it is one."""
    K = check_real_matrix(K, label)
    if K.ndim != 2 or K.shape[0] != K.shape[1]:
        raise ValueError(f"{label} must be a square Gram matrix; got shape {K.shape}.")
    if K.shape[0] == 0:
        raise ValueError(f"{label} must hold at least one sample; got shape {K.shape}.")
    return K


def check_real_matrix(K: Any, label: str, dtype: Any = np.float64) -> np.ndarray:
    """Return `K` as a float32 or float64 ndarray; other numeric types become `dtype`."""
    if scipy.sparse.issparse(K):
        K = K.toarray()
    try:
        array = np.asarray(K)
        if array.dtype not in (np.float32, np.float64):
            if array.dtype.kind not in "fiubO":
                raise TypeError(f"dtype {array.dtype}")
            array = array.astype(dtype)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{label} must be a numeric array; got {type(K).__name__} ({error}).") from error
    return array


def check_gram(K: np.ndarray, label: str) -> GramFacts:
    """Require a finite, symmetric K (n, n), float32 or float64; report the rest. A sound K is read once."""
    K = np.asarray(K)
    tolerance, flat = (1e-5, 1e-6) if K.dtype == np.float32 else (1e-8, 1e-12)
    diagonal = K.diagonal().astype(np.float64)
    if all_finite(diagonal) and diagonal.min() >= 0.0 and diagonal.max() > 0.0 and K.flags.c_contiguous:
        largest = float(diagonal.max())
        bounds = np.sqrt(diagonal) * (1.0 + tolerance)
        asymmetry, excess = _probe(K, _directions(len(K)), bounds)
        # a constant matrix has a constant first row; NaN fails every comparison
        varies = len(K) == 1 or float(np.ptp(K[0]) + np.ptp(diagonal)) > 10.0 * flat * largest
        if asymmetry <= tolerance * largest and excess <= 0.0 and varies:
            return GramFacts("", False)
    return _examine_gram(K, label, tolerance, flat)


@functools.lru_cache(maxsize=8)
def _directions(n: int) -> np.ndarray:
    """A fixed random vector with entries of size about 1."""
    rng = np.random.default_rng(0)
    return rng.choice([-1.0, 1.0], n) * rng.uniform(0.75, 1.25, n)


@njit(cache=True, fastmath={"nsz", "reassoc", "contract"})
def _probe(K, v, bounds):  # type: ignore[no-untyped-def]  # pragma: no cover
    """The largest |(Kv − K'v)_i| and Σ max(|K_ij| − b_i b_j, 0), in one read of K from front to back.

    An asymmetric entry shows in the first unless it is below the rounding of the sums, which is far below
    what is tolerated. NaN and infinity spoil the sums, and so are found too.
    """
    n = K.shape[0]
    across = np.zeros(n)
    along = np.empty(n)
    excess = 0.0
    for i in range(n):
        row = K[i]
        factor = v[i]
        bound = bounds[i]
        total = 0.0
        for j in range(n):
            entry = np.float64(row[j])
            total += entry * v[j]
            across[j] += factor * entry
            over = abs(entry) - bound * bounds[j]
            excess += over + abs(over)
        along[i] = total
    worst = 0.0
    for i in range(n):
        gap = abs(along[i] - across[i])
        if not gap <= worst:
            worst = gap
    return worst, excess


def _examine_gram(K: np.ndarray, label: str, tolerance: float, flat: float) -> GramFacts:
    """The exact verdict on a matrix that the quick pass found suspicious."""
    if not all_finite(K):
        raise_non_finite_gram(K, label)
    lowest, highest = float(K.min()), float(K.max())
    largest = max(abs(lowest), abs(highest))
    gap, place = _worst_asymmetry(K)
    if gap > tolerance * largest:
        raise ValueError(
            f"kernels must be symmetric; {label} differs from its transpose by {gap:.1e} at {place}. "
            "Symmetrise it with (K + K.T) / 2."
        )
    if largest == 0.0:
        return GramFacts("all zero", False)
    constant = len(K) > 1 and highest - lowest <= flat * largest
    return GramFacts("constant" if constant else "", _breaks_schwarz(K, tolerance, largest))


def _spread(values: np.ndarray) -> float:
    return float(values.max()) - float(values.min())  # Python's floats overflow without a warning


def _worst_asymmetry(K: np.ndarray) -> tuple[float, tuple[int, int]]:
    worst, place = 0.0, (0, 0)
    for i in range(len(K)):
        gaps = np.abs(K[i] / 2.0 - K[:, i] / 2.0)  # halves: the difference of very large entries stays finite
        j = int(gaps.argmax())
        if gaps[j] > worst:
            worst, place = float(gaps[j]), (i, j)
    return 2.0 * worst, place


def _breaks_schwarz(K: np.ndarray, tolerance: float, largest: float) -> bool:
    diagonal = K.diagonal().astype(np.float64)
    if diagonal.min() < -tolerance * largest:
        return True
    bounds = np.sqrt(np.maximum(diagonal, 0.0)) * (1.0 + tolerance)
    slack = 1e-2 * tolerance * largest
    return any(
        bool(np.any(np.abs(row) > bound * bounds + slack)) for row, bound in zip(K, bounds, strict=True)
    )


def raise_non_finite_gram(K: np.ndarray, label: str) -> None:
    """Name the first entry of `K` that is NaN or infinite."""
    i, j = next(
        (int(i), int(np.flatnonzero(~np.isfinite(row))[0])) for i, row in enumerate(K) if not all_finite(row)
    )
    what = "NaN" if np.isnan(K[i, j]) else "infinity"
    raise ValueError(
        f"kernels must be finite; {label} holds {what} at ({i}, {j}). "
        "Look for missing or very large values in what it was computed from."
    )


def raise_degenerate(label: str, degenerate: str) -> None:
    """Refuse an all-zero or constant Gram matrix."""
    raise ValueError(
        f"{label} is {degenerate} on the training rows, so it cannot tell samples apart. "
        "Remove it, or change its columns or its parameters."
    )


# --- positive semidefiniteness -------------------------------------------------------------------


def smallest_eigenvalue(K: Any) -> float:
    """Smallest eigenvalue of a symmetric matrix.

    Examples
    --------
    >>> round(smallest_eigenvalue([[1.0, 2.0], [2.0, 1.0]]), 12)
    -1.0
    """
    K = check_square(K, "K").astype(np.float64)
    if not all_finite(K):
        raise_non_finite_gram(K, "K")
    return float(scipy.linalg.eigvalsh(K, subset_by_index=[0, 0], overwrite_a=True)[0])


def can_check_fully(n: int, n_kernels: int) -> bool:
    """Whether Cholesky factors of all kernels cost little enough (about 6e7 operations)."""
    return n_kernels * n**3 / 3 <= _FULL_CHECK_FLOPS


def is_indefinite(K: np.ndarray, *, full: bool) -> bool:
    """Whether `K` is provably indefinite.

    The whole matrix is factored when `full`; else a few principal blocks drawn with a fixed seed are: by
    interlacing, an indefinite block proves an indefinite matrix, while definite blocks prove nothing.
    """
    n = len(K)
    if full or n <= _BLOCK_SIZE:
        return not _has_cholesky(K)
    jitter = _jitter(K)
    return any(not _block_is_definite(K, chosen, jitter) for chosen in _blocks(n))


@functools.lru_cache(maxsize=8)
def _blocks(n: int) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    return [np.sort(rng.choice(n, _BLOCK_SIZE, replace=False)) for _ in range(_N_BLOCKS)]


def _jitter(K: np.ndarray) -> float:
    """What is added to a diagonal of mean 1 before it is factored: the rounding of a singular kernel."""
    return 1e-5 if K.dtype == np.float32 else 1e-8


@njit(cache=True, fastmath={"nsz", "reassoc", "contract"})
def _block_is_definite(K, chosen, jitter):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Whether the principal block, scaled to mean diagonal 1 and with jitter, has a Cholesky factor."""
    k = chosen.size
    scale = 0.0
    for a in range(k):
        scale += K[chosen[a], chosen[a]] / k
    if not scale > 0.0:
        return scale == 0.0
    L = np.empty((k, k))
    for a in range(k):
        row = K[chosen[a]]
        for b in range(a + 1):
            total = row[chosen[b]] / scale
            if a == b:
                total += jitter
            for c in range(b):
                total -= L[a, c] * L[b, c]
            if a == b:
                if not total > 0.0:
                    return False
                L[a, a] = np.sqrt(total)
            else:
                L[a, b] = total / L[b, b]
    return True


def _has_cholesky(K: np.ndarray) -> bool:
    shifted = K.astype(np.float64)
    mean_diagonal = float(np.mean(shifted.diagonal()))
    if mean_diagonal <= 0.0:
        return bool(mean_diagonal == 0.0 and not shifted.any())
    shifted /= mean_diagonal  # very large or very small kernels neither overflow nor underflow
    shifted[np.diag_indices(len(K))] += _jitter(K)
    return int(scipy.linalg.lapack.dpotrf(shifted, overwrite_a=1, clean=0)[1]) == 0


def raise_indefinite(K: np.ndarray, label: str) -> None:
    """Refuse an indefinite Gram matrix, with its smallest eigenvalue (to two digits for a large one)."""
    if len(K) <= _EXACT_EIGENVALUE_MAX_N:
        lowest = smallest_eigenvalue(K)
    else:
        start = np.random.default_rng(0).standard_normal(len(K)).astype(K.dtype)
        values = scipy.sparse.linalg.eigsh(K, 1, which="SA", tol=1e-3, v0=start, return_eigenvectors=False)
        lowest = float(values[0])
    raise ValueError(
        f"kernels must be positive semidefinite; {label} has smallest eigenvalue {lowest:.3g}. "
        'Repair it with psd="clip" (drop the negative part) or psd="shift" (add a multiple of I).'
    )

"""Checks of Gram matrices, with their wording: finite, symmetric, positive semidefinite, not constant.

A sound stack is read once: the checks may not cost more than the learning.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse
import scipy.sparse.linalg

from .._numba import kept_njit, larger, read_only
from .tables import all_finite

PSD_CHOICES = ("error", "clip", "shift")

_FULL_CHECK_FLOPS = 6e7
_N_BLOCKS = 2
_BLOCK_SIZE = 64
_IN_CACHE = 750  # rows: three vectors of this length leave half of a first cache of 32 KiB
# Above this size the exact smallest eigenvalue costs more than the message is worth.
_EXACT_EIGENVALUE_MAX_N = 1000


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
    tolerance, flat = (1e-5, 1e-6) if K.dtype == np.float32 else (1e-8, 1e-12)
    if K.flags.c_contiguous:
        asymmetry, excess, lowest, largest, spread = _probe(read_only(K), _directions(len(K)))
        # a constant matrix has a constant first row; NaN fails every comparison
        varies = len(K) == 1 or spread + (largest - lowest) > 10.0 * flat * largest
        bounded = lowest >= 0.0 and 0.0 < largest < np.inf and excess <= (1.0 + tolerance) ** 2
        if bounded and asymmetry <= tolerance * largest and varies:
            return GramFacts("", False)
    return _examine_gram(read_only(K), label, tolerance, flat)


@functools.lru_cache(maxsize=8)
def _directions(n: int) -> np.ndarray:
    """A fixed random vector with entries of size about 1."""
    rng = np.random.default_rng(0)
    return rng.choice([-1.0, 1.0], n) * rng.uniform(0.75, 1.25, n)


@kept_njit(fastmath={"nsz", "reassoc", "contract"})
def _probe(K, v):  # type: ignore[no-untyped-def]  # pragma: no cover
    """What one read of K from front to back tells.

    The largest |(Kv − K'v)_i|, the largest |K_ij| / sqrt(K_ii K_jj), the least and the largest K_ii, and the
    spread of the first row. An asymmetric entry shows in the first unless it is below the rounding of the
    sums, which is far below what is tolerated. NaN and infinity spoil the sums (which is why they may not be
    assumed away here), and so are found too. Row by row, so the memory is read fastest; four rows at a time
    where the vectors that all rows need leave the fastest cache.
    """
    n = K.shape[0]
    lowest = largest = np.float64(K[0, 0])
    for i in range(1, n):
        entry = np.float64(K[i, i])
        lowest, largest = min(lowest, entry), max(largest, entry)
    inverse = np.empty(n)  # of the roots of the diagonal; where that is 0, an entry that is not is far above
    least = 1e-100 * np.sqrt(max(largest, 1e-300))
    for i in range(n):
        inverse[i] = 1.0 / max(np.sqrt(max(np.float64(K[i, i]), 0.0)), least)
    across, along, excess = np.zeros(n), np.empty(n), 0.0
    by_four = n - n % 4 if n > _IN_CACHE else 0
    for i in range(0, by_four, 4):
        a, b, c, d = K[i], K[i + 1], K[i + 2], K[i + 3]
        va, vb, vc, vd = v[i], v[i + 1], v[i + 2], v[i + 3]
        ra, rb, rc, rd = inverse[i], inverse[i + 1], inverse[i + 2], inverse[i + 3]
        ta = tb = tc = td = most = 0.0
        for j in range(n):
            x, y, z, w = np.float64(a[j]), np.float64(b[j]), np.float64(c[j]), np.float64(d[j])
            factor = v[j]
            ta += x * factor
            tb += y * factor
            tc += z * factor
            td += w * factor
            across[j] += (va * x + vb * y) + (vc * z + vd * w)
            first, last = larger(abs(x) * ra, abs(y) * rb), larger(abs(z) * rc, abs(w) * rd)
            most = larger(larger(first, last) * inverse[j], most)
        along[i], along[i + 1], along[i + 2], along[i + 3] = ta, tb, tc, td
        excess = larger(most, excess)
    for i in range(by_four, n):
        row, factor, total, most = K[i], v[i], 0.0, 0.0
        for j in range(n):
            entry = np.float64(row[j])
            total += entry * v[j]
            across[j] += factor * entry
            most = larger(abs(entry) * inverse[j], most)
        along[i] = total
        excess = larger(most * inverse[i], excess)
    worst = spread = 0.0
    for i in range(n):
        gap = abs(along[i] - across[i])
        if not np.isfinite(gap):
            return np.inf, excess, lowest, largest, spread
        worst = max(worst, gap)
        spread = max(spread, abs(np.float64(K[0, i]) - np.float64(K[0, 0])))
    return worst, excess, lowest, largest, spread


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
        "Look for missing or very large values in what it was computed from. Samples whose whole row and "
        "column are NaN are accepted by MKLClassifier, MKLRegressor, MKLRidge, MKLSurvival and MKLOneClass "
        "with KernelBank(kernels, missing='complete')."
    )


def raise_degenerate(label: str, degenerate: str, rows: str = "training rows") -> None:
    """Refuse an all-zero or constant Gram matrix."""
    raise ValueError(
        f"{label} is {degenerate} on the {rows}, so it cannot distinguish samples. "
        "Remove it, or change its columns or its parameters."
    )


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
    K = read_only(K)
    return any(not _block_is_definite(K, chosen) for chosen in _blocks(n))


@functools.lru_cache(maxsize=8)
def _blocks(n: int) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    return [np.sort(rng.choice(n, _BLOCK_SIZE, replace=False)) for _ in range(_N_BLOCKS)]


def _jitter(K: np.ndarray) -> float:
    """What is added to a diagonal of mean 1 before it is factored: the rounding of a singular kernel."""
    return 1e-5 if K.dtype == np.float32 else 1e-8


def _block_is_definite(K: np.ndarray, chosen: np.ndarray) -> bool:
    """Whether the principal block, scaled to mean diagonal 1 and with jitter, has a Cholesky factor."""
    block = np.empty((chosen.size, chosen.size))
    scale = _gather_scaled(K, chosen, _jitter(K), block)
    if not scale > 0.0:
        return bool(scale == 0.0)
    return int(scipy.linalg.lapack.dpotrf(block.T, overwrite_a=1, clean=0)[1]) == 0


@kept_njit(fastmath={"nsz", "reassoc", "contract"})
def _gather_scaled(K, chosen, jitter, out):  # type: ignore[no-untyped-def]  # pragma: no cover
    """The block over its mean diagonal, which is returned, with jitter; nothing unless that is positive."""
    k = chosen.size
    scale = 0.0
    for a in range(k):
        scale += K[chosen[a], chosen[a]] / k
    if not scale > 0.0:
        return scale
    for a in range(k):
        row = K[chosen[a]]
        for b in range(a + 1):
            out[a, b] = row[chosen[b]] / scale
        out[a, a] += jitter
    return scale


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
    rounding = ""
    if -lowest < 1e-5 * float(np.mean(K.diagonal())):
        rounding = "That small, it may be the rounding of single precision: compute the kernel in float64. "
    raise ValueError(
        f"kernels must be positive semidefinite; {label} has smallest eigenvalue {lowest:.3g}. {rounding}"
        'Repair it with KernelBank(kernels, psd="clip") (drop the negative part) or psd="shift" (add a '
        "multiple of I)."
    )

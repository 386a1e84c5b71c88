"""Distances taken difference by difference: exact where expansions into dot products would cancel.

Dense tables go through SciPy (chi-squared: a compiled loop); sparse ones through a compiled merge of the
sorted column indices of two rows, which never builds a dense table.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
from scipy.spatial.distance import cdist

from .._numba import kept_njit

_KINDS = {"sqeuclidean": 0, "cityblock": 1, "chi2": 2}
_BLOCK_ROWS = 256


def direct_distances(kind: str, left: Any, right: Any, out: np.ndarray) -> None:
    """Write the distances between all rows of `left` and of `right` into `out` (n, n_z).

    Parameters
    ----------
    kind : {"sqeuclidean", "cityblock", "chi2", "hamming"}
        Σ (x − z)², Σ |x − z|, Σ (x − z)² / (x + z) with 0 / 0 = 0, or the share of columns that differ (of
        dense tables).
    left, right : ndarray or csr_matrix
        Float64 tables with equally many columns; CSR in canonical format.
    out : ndarray of shape (n, n_z), float64 or float32
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
    else:
        for start in range(0, len(left), _BLOCK_ROWS):
            rows = slice(start, start + _BLOCK_ROWS)
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

"""Stacks of Gram matrices for callers who bring their own: kernels last in shape, kernels first in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from multikernel._validation import check_float_dtype, check_real_matrix


def stack_kernels(kernels: Any, dtype: Any = None) -> np.ndarray:
    """Stack Gram matrices for ``kernels="precomputed"``.

    Parameters
    ----------
    kernels : sequence or dict of arrays of shape (n, k)
        Training Grams (k = n) or test rows against the training points.
    dtype : "float64", "float32" or None
        None keeps float32 if every matrix is float32, else takes float64.

    Returns
    -------
    ndarray of shape (n, k, m)
        A view on memory that holds one kernel after the other, so that estimators need no copy.

    Examples
    --------
    >>> stack = stack_kernels({"one": [[1.0, 0.0], [0.0, 1.0]], "two": [[2.0, 1.0], [1.0, 2.0]]})
    >>> stack.shape, stack[:, :, 1].tolist()
    ((2, 2, 2), [[2.0, 1.0], [1.0, 2.0]])
    """
    if isinstance(kernels, Mapping):
        named = [(f"kernel {name!r}", K) for name, K in kernels.items()]
    elif isinstance(kernels, (Sequence, np.ndarray)) and not isinstance(kernels, (str, bytes)):
        named = [(f"kernel {position}", K) for position, K in enumerate(kernels)]
    else:
        raise TypeError(f"kernels must be a list or a dict of matrices; got {type(kernels).__name__}.")
    if not named:
        raise ValueError("kernels must hold at least one matrix; got none.")
    matrices = [check_real_matrix(K, label) for label, K in named]
    for (label, _), K in zip(named, matrices, strict=True):
        if K.ndim != 2 or K.shape != matrices[0].shape:
            raise ValueError(
                f"every kernel must be a matrix of the same shape; {label} has shape {K.shape}, "
                f"{named[0][0]} has shape {matrices[0].shape}."
            )
    single = all(K.dtype == np.float32 for K in matrices)
    resolved = (
        check_float_dtype(dtype) if dtype is not None else np.dtype(np.float32 if single else np.float64)
    )
    Ks = np.empty((len(matrices), *matrices[0].shape), dtype=resolved)
    for target, K in zip(Ks, matrices, strict=True):
        target[...] = K
    return np.moveaxis(Ks, 0, 2)


def combine_kernels(kernels: Any, weights: Any) -> np.ndarray:
    """Weighted sum Σ_m weights[m] · K_m.

    Parameters
    ----------
    kernels : ndarray of shape (n, k, m), or sequence or dict of m arrays of shape (n, k)
    weights : array-like of shape (m,)

    Returns
    -------
    ndarray of shape (n, k), float64

    Examples
    --------
    >>> combine_kernels([np.eye(2), np.ones((2, 2))], [1.0, 0.5])
    array([[1.5, 0.5],
           [0.5, 1.5]])
    """
    is_stack = isinstance(kernels, np.ndarray) and kernels.ndim == 3
    Ks = np.moveaxis(check_real_matrix(kernels if is_stack else stack_kernels(kernels), "kernels"), 2, 0)
    values = check_real_matrix(weights, "weights").astype(np.float64)
    if values.shape != (len(Ks),):
        raise ValueError(
            f"weights must have one entry for each of the {len(Ks)} kernels; got shape {values.shape}."
        )
    if not np.isfinite(values).all():
        raise ValueError(f"weights must be finite; got {values.tolist()}.")
    total = np.zeros(Ks.shape[1:])
    with np.errstate(all="ignore"):
        for weight, K in zip(values, Ks, strict=True):
            if weight != 0.0:
                total += weight * K
    return total

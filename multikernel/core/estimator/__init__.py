"""The base of every estimator on kernels, and of those that learn global kernel weights.

:class:`KernelEstimator` (``base``) has what all estimators share: input checks, the kernels of the samples,
predictions by batches, warnings. :class:`BaseMKL` (``global_weights``) adds the steps of a fit with one set
of weights for each machine: validate, build the kernels, solve, store.
"""

from .base import STORAGE, KernelEstimator, on_rows, worst_status
from .global_weights import BaseMKL, Solved, kernel_factors, refusing_overflow, require_finite

__all__ = [
    "STORAGE",
    "BaseMKL",
    "KernelEstimator",
    "Solved",
    "kernel_factors",
    "on_rows",
    "refusing_overflow",
    "require_finite",
    "worst_status",
]

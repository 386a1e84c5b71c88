"""What every rule returns."""

from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True, eq=False)
class KernelWeights:
    """Learned kernel weights with their certificate; NumPy takes it for the array of the weights.

    Attributes
    ----------
    weights : ndarray of shape (n_kernels,), or (n_components,) for spectral weights
    objective : float
        The optimised value.
    upper_bound : float
        No weights of the same kind have a larger one.
    gap : float
        (upper_bound − objective) / upper_bound.
    alignment_train : float
        Alignment of the labelled block of the learned matrix with the labels.
    smallest_eigenvalue : float or None
        Of the learned matrix over all samples, where weights may be negative.
    vectors : ndarray of shape (n, n_components) or None
        For spectral weights: the eigenvectors V, the learned matrix being V diag(weights) Vᵀ.
    n_iter : int
    status : str
        ``"optimal"``, or why the method ended before.

    Examples
    --------
    >>> learned = KernelWeights(np.array([0.5, 0.25]), 1.0, 1.0, 0.0, 0.7)
    >>> 4.0 * np.asarray(learned)
    array([2., 1.])
    """

    weights: Array
    objective: float
    upper_bound: float
    gap: float
    alignment_train: float
    smallest_eigenvalue: float | None = None
    vectors: Array | None = None
    n_iter: int = 0
    status: str = "optimal"

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.array(self.weights, dtype=dtype, copy=copy)

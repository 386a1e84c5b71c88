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
        The optimum is not above it. Where the objective is minimised it is the objective itself.
    gap : float
        (upper_bound − lower_bound) / upper_bound.
    alignment_train : float or None
        Alignment of the labelled block of the learned matrix with the labels, for weights by alignment.
    smallest_eigenvalue : float or None
        Of the learned matrix over all samples, where weights may be negative.
    vectors : ndarray of shape (n, n_components) or None
        For spectral weights: the eigenvectors V, the learned matrix being V diag(weights) Vᵀ.
    n_iter : int
    status : str
        ``"optimal"``, or why the method ended before.
    lower_bound : float or None
        The optimum is not below it. Where the objective is maximised it is the objective itself.
    reg : float or None
        The regularisation of discriminant analysis, given or learned.

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
    alignment_train: float | None = None
    smallest_eigenvalue: float | None = None
    vectors: Array | None = None
    n_iter: int = 0
    status: str = "optimal"
    lower_bound: float | None = None
    reg: float | None = None

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.array(self.weights, dtype=dtype, copy=copy)

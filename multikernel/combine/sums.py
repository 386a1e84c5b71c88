"""The weighted sum of kernels, for solvers that treat any combination alike.

K_η = Σ_m η_m K_m,      ∂⟨G, K_η⟩/∂η_m = ⟨G, K_m⟩
"""

from typing import Any

import numpy as np

from .stack_sums import quadratic_sums, weighted_sum

Array = np.ndarray[Any, np.dtype[Any]]


class WeightedSum:
    """K_η of the training samples, to be asked for many η; the counterpart of ``PowerProduct``.

    Parameters
    ----------
    Ks : array (m, n, n), symmetric; never modified and never copied

    Examples
    --------
    >>> total = WeightedSum(np.stack([np.eye(2), np.ones((2, 2))]))
    >>> total.matrix(np.array([2.0, 1.0])).tolist()
    [[3.0, 1.0], [1.0, 3.0]]
    >>> total.forms(np.eye(2), np.array([[1.0, 3.0]])).tolist()
    [10.0, 16.0]
    """

    def __init__(self, Ks: Array) -> None:
        self.Ks = Ks

    def matrix(self, eta: Array) -> Array:
        """K_η (n, n), in double precision."""
        return weighted_sum(self.Ks, np.asarray(eta, float))

    def forms(self, K: Array, duals: Array) -> Array:
        """Σ_t β_t'K_mβ_t for each m, from duals (n_machines, n), shape (m,); K_η itself is not needed."""
        return quadratic_sums(self.Ks, duals.T)

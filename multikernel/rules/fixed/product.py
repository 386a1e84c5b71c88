"""The elementwise product."""

from collections.abc import Iterable

import numpy as np

from ..._typing import Array
from ..learner import About, Learned, WeightLearner
from ..targets import TASKS, Targets


class ProductRule(WeightLearner):
    """K = K_1 ∘ K_2 ∘ … ∘ K_P, entry by entry: two samples are alike if they are so in every kernel.

    ``kernel_weights_`` are the exponents, all 1. Kernels of unit diagonal keep it.

    Examples
    --------
    >>> K, L = np.array([[1.0, 0.5], [0.5, 1.0]]), np.array([[1.0, 0.2], [0.2, 1.0]])
    >>> ProductRule().fit_combine([K, L])
    array([[1. , 0.1],
           [0.1, 1. ]])
    """

    learns_from = TASKS
    is_linear = False
    about = About(
        family="fixed",
        problem="K = ∘ K_m (entry by entry)",
        solver="none",
        cost="one read of the stack, P n²",
        use="Views that must all agree; few kernels, of unit diagonal.",
        reference="Ben-Hur & Noble 2005",
    )

    def _learn(self, Ks: Array, targets: Targets) -> Learned:
        return Learned(np.ones(len(Ks)))

    def combine_rows(self, kernels: Iterable[tuple[int, Array]]) -> Array:
        """The product of the kernels; what overflows is refused."""
        total: Array | None = None
        with np.errstate(over="ignore", invalid="ignore"):
            for _, K in kernels:
                total = np.array(K, np.float64) if total is None else np.multiply(total, K, out=total)
        assert total is not None, "no kernel is active"
        if not np.isfinite(total).all():
            raise ValueError(
                "the product of the kernels overflows. Give the views transforms='unit_diagonal'."
            )
        return total

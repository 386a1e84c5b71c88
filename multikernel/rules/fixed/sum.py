"""The plain sum."""

import numpy as np

from ..._typing import Array
from ..learner import About, Learned, WeightLearner
from ..targets import TASKS, Targets


class SumRule(WeightLearner):
    """K = Σ_m K_m: every kernel as it is.

    Examples
    --------
    >>> SumRule().fit([np.eye(2), 3 * np.eye(2)]).kernel_weights_
    array([1., 1.])
    """

    learns_from = TASKS
    about = About(
        family="fixed",
        problem="K = Σ K_m",
        solver="none",
        cost="one read of the stack, P n²",
        use="The rule to beat. Kernels of one scale, most of them useful.",
        reference="Pavlidis et al. 2001",
    )

    def _learn(self, Ks: Array, targets: Targets) -> Learned:
        return Learned(np.ones(len(Ks)))

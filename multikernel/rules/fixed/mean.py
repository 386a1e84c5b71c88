"""The mean of the kernels, each brought to the same scale."""

import numpy as np

from ..._typing import Array
from ..._validation import check_choice
from ...core.stack.sums import kernel_scales, variance_scales
from ..learner import About, Learned, WeightLearner
from ..targets import TASKS, Targets

NORMALISATIONS = ("trace", "variance", "none")


class MeanRule(WeightLearner):
    """K = (1/P) Σ_m K_m / s_m: the mean of the kernels, each at its scale s_m.

    Parameters
    ----------
    normalise : {"trace", "variance", "none"}
        s_m is the mean of the diagonal; the mean squared distance from the centre of the samples in the
        kernel's feature space, tr(HK_mH)/n; or 1. For cosines (a unit diagonal for each sample) give the
        views ``transforms="unit_diagonal"``.

    Examples
    --------
    >>> MeanRule().fit([np.eye(2), 4 * np.eye(2)]).kernel_weights_
    array([0.5  , 0.125])
    """

    learns_from = TASKS
    about = About(
        family="fixed",
        problem="K = (1/P) Σ K_m / s_m, s_m = tr K_m / n",
        solver="none",
        cost="one read of the stack, P n²",
        use="Kernels of different scales, few samples, or no time: often as good as learned weights.",
        reference="Pavlidis et al. 2001; Lanckriet et al. 2004",
    )

    def __init__(self, normalise: str = "trace") -> None:
        self.normalise = normalise

    def _learn(self, Ks: Array, targets: Targets) -> Learned:
        check_choice("normalise", self.normalise, NORMALISATIONS)
        if self.normalise == "none":
            return Learned(np.full(len(Ks), 1.0 / len(Ks)))
        scales = kernel_scales if self.normalise == "trace" else variance_scales
        return Learned(1.0 / (len(Ks) * scales(Ks, self.view_names_)))

"""The one kernel that does best by cross-validation."""

from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score, r2_score

from .._machines import default_machine
from .._scales import kernel_scales
from ..heuristic._single_kernels import HeldOut
from ..learner import About, Learned, WeightLearner
from ..targets import Targets

Array = np.ndarray[Any, np.dtype[Any]]

_ROUNDING = 1e-12


class BestSingle(WeightLearner):
    """K = K_b,  b = argmax_m s_m: the kernel of the best cross-validated score s_m under a machine.

    s_m is the accuracy for classes and R² for values, of the predictions of all folds together; of equals the
    first is taken. Each kernel is scaled to a mean diagonal of 1 before the machine sees it.

    Parameters
    ----------
    machine : classifier or regressor on a precomputed kernel, optional
        Default ``SVC(kernel="precomputed")`` or ``KernelRidge(kernel="precomputed")``. To be chosen for the
        machine that is used in the end, give both the same. It sees classes as 0 … k−1.
    cv : int, splitter or list of splits
        An int: so many folds, the same in every call, stratified for classes and no more than the smallest
        class has samples, shuffled for values.

    Attributes
    ----------
    kernel_weights_ : array (n_kernels,), 1 for the chosen kernel and 0 for all others
    scores_ : array (n_kernels,), s
    objective_ : float, the largest of them

    Examples
    --------
    >>> y = np.array([1, 1, 1, 1, -1, -1, -1, -1])
    >>> learner = BestSingle(cv=2).fit([np.eye(8), 2.0 + np.outer(y, y)], y)
    >>> learner.kernel_weights_, learner.scores_
    (array([0., 1.]), array([0.5, 1. ]))
    """

    about = About(
        family="fixed",
        problem="K = K_b, b = argmax_m of the cross-validated score of K_m",
        solver="every kernel is tried, which is exact",
        cost="P cv fits of the machine; one kernel of n² at a time",
        use="The other rule to beat; one kernel is cheap to predict with, and easy to explain.",
        reference="Gönen & Alpaydın 2011",
    )

    def __init__(self, machine: Any = None, cv: Any = 5) -> None:
        self.machine = machine
        self.cv = cv

    def _learn(self, Ks: Array, targets: Targets) -> Learned:
        machine = default_machine(targets.task) if self.machine is None else self.machine
        held_out = HeldOut(machine, self.cv, targets)
        measure = accuracy_score if targets.task == "classes" else r2_score
        predicted = map(held_out.predict, Ks, kernel_scales(Ks, self.view_names_))
        self.scores_ = np.array([measure(held_out.truth, each) for each in predicted])
        best = self.scores_.max()
        weights = np.zeros(len(Ks))
        weights[np.flatnonzero(self.scores_ >= best - _ROUNDING)[0]] = 1.0
        return Learned(weights, float(best))

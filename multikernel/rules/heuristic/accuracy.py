"""Weights by how often each kernel alone is right (Tanabe, Ho, Nguyen & Kawasaki)."""

from typing import Any

import numpy as np

from ..._typing import Array
from ..._validation import check_number
from ...core.stack.sums import kernel_scales
from ..learner import About, Learned, WeightLearner
from ..targets import Targets
from ._single_kernels import HeldOut, shares_of


class AccuracyRule(WeightLearner):
    """η_m = (acc_m − δ) / Σ_h (acc_h − δ),   K = Σ_m η_m K_m / s_m

    acc_m: the share of held-out samples that a machine on kernel m alone gets right; δ: a threshold;
    s_m: the mean diagonal of K_m, so that every machine sees a kernel of mean diagonal 1.

    The rule is defined for δ ≤ min_m acc_m. Beyond that, as our extension, kernels at or below δ get weight
    0; if all are, the weights are equal, with a warning.

    Parameters
    ----------
    threshold : float in [0, 1), optional
        δ; default: the share of the largest class, which is what a guess achieves.
    machine : classifier on a precomputed kernel, optional
        Default ``SVC(kernel="precomputed")``.
    cv : int, splitter or iterable of splits
        A number: stratified folds without shuffling, at most as many as the smallest class has samples.
    normalise : bool
        False: s_m = 1 in K; the machines see scaled kernels all the same.

    Attributes
    ----------
    kernel_weights_ : array (n_kernels,), η_m / s_m, of the kernels as they are
    kernel_shares_ : array (n_kernels,), the parts of tr K: η_m, unless ``normalise=False``
    accuracies_ : array (n_kernels,), acc_m
    threshold_ : float, δ

    Examples
    --------
    >>> x, y = np.array([-2.0, -1.0, -1.5, 1.0, 2.0, 1.5]), np.array([0, 0, 0, 1, 1, 1])
    >>> learner = AccuracyRule(cv=3).fit({"x": np.outer(x, x), "same": np.eye(6)}, y)
    >>> float(learner.accuracies_[0]), learner.kernel_shares_
    (1.0, array([1., 0.]))
    """

    learns_from = ("classes",)
    about = About(
        family="heuristic",
        problem="η_m s_m ∝ acc_m − δ, acc_m the cross-validated accuracy, s_m the mean diagonal of K_m",
        solver="none: P × folds machines",
        cost="P × folds fits of the machine, n² to n³ each; one fold of one kernel in memory",
        use="A quick rule for classes where a machine on one kernel is cheap.",
        reference="Tanabe, Ho, Nguyen & Kawasaki 2008",
    )

    def __init__(
        self, threshold: float | None = None, machine: Any = None, cv: Any = 5, *, normalise: bool = True
    ) -> None:
        self.threshold = threshold
        self.machine = machine
        self.cv = cv
        self.normalise = normalise

    def _learn(self, Ks: Array, targets: Targets) -> Learned:
        self.threshold_ = self._level(targets)
        scales = kernel_scales(Ks, self.view_names_)
        held_out = HeldOut(self.machine, self.cv, targets)
        right = [held_out.predict(K, s) == held_out.truth for K, s in zip(Ks, scales, strict=True)]
        self.accuracies_ = np.mean(right, axis=1)
        shares = shares_of(
            self.accuracies_ - self.threshold_, f"is right more often than {self.threshold_:.3g}"
        )
        return Learned(shares / scales if self.normalise else shares)

    def _level(self, targets: Targets) -> float:
        if self.threshold is None:
            return float(np.bincount(targets.codes).max()) / targets.n
        level = check_number("threshold", self.threshold, at_least=0.0)
        if not level < 1.0:
            raise ValueError(f"threshold must be below 1, as accuracies are; got {self.threshold!r}.")
        return level

"""Regularised kernel discriminant analysis of any number of classes (Ye, Chen & Ji)."""

from typing import Any

import numpy as np

from ..._typing import Array
from ..._validation import check_choice
from ...discriminant.solver.learn import DiscriminantProblem
from ...discriminant.solver.problem import FORMULATIONS, check_reg
from ..discriminants import solve_discriminant
from ..learner import About, Learned, WeightLearner
from ..targets import Targets


class DiscriminantMKL(WeightLearner):
    """Weights by which regularised kernel discriminant analysis separates any number of classes best.

    min_{η ≥ 0, Σ η_m r_m = 1}  λ tr E'(λI + Σ_m η_m HK_mH)⁻¹E,     r_m = tr HK_mH

    with H = I − 11'/n. E has a column √(n/n_c) (e_c − n_c/n) for each class c of n_c samples with indicator
    e_c, or for two classes the one column of 1/n₊ on the second class and −1/n₋ on the first.
    :class:`multikernel.KernelDiscriminantClassifier` learns the same weights and classifies by them.

    Parameters
    ----------
    reg : float or "learn"
        λ, beside a kernel whose centred trace is 1; "learn" finds it together with the weights.
    formulation : {"exact", "approximate"}
        "approximate": the single matrix inequality of the paper, for three classes or more.

    Attributes
    ----------
    kernel_weights_ : array (n_kernels,)
    reg_ : float, λ used or learned
    objective_ : float, with the factor λ where it is given, without it where it is learned
    dual_gap_ : float, relative: no weights have an objective below (1 − dual_gap_) objective_

    Examples
    --------
    >>> x, z = np.array([-1.2, 0.9, -0.8, 1.1]), np.array([1.0, 0.2, -1.0, -1.0])
    >>> learner = DiscriminantMKL(reg=0.1).fit([np.outer(x, x), np.outer(z, z)], ["no", "yes", "no", "yes"])
    >>> learner.kernel_weights_.round(3), learner.reg_
    (array([0.239, 0.007]), 0.1)
    """

    learns_from = ("classes",)
    about = About(
        family="discriminant",
        problem="min λ tr E'(λI + HK_ηH)⁻¹E, tr HK_ηH = 1, η ≥ 0",
        solver="Newton over the simplex, duality gap",
        cost="n³ + P n² for each of some 10 iterations; a float32 stack is copied",
        use="Any number of classes, and a regularisation that can be learned with the weights.",
        reference="Ye, Chen & Ji 2007",
    )
    reg_: float

    def __init__(self, reg: Any = 1e-4, formulation: str = "exact") -> None:
        self.reg = reg
        self.formulation = formulation

    def _learn(self, Ks: Array, targets: Targets) -> Learned:
        reg = check_reg(self.reg)
        check_choice("formulation", self.formulation, FORMULATIONS)
        stack = np.ascontiguousarray(Ks, float)
        found = solve_discriminant(
            DiscriminantProblem(stack, targets.codes, reg, self.formulation), self.view_names_
        )
        self.reg_ = found.reg
        return Learned.of(found, found.weights, n_iter=max(1, found.n_iter))

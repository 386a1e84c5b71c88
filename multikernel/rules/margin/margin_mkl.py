"""The largest margin over the weights of an lp ball (Kloft et al.), and what all learners by margin share.

p = 1 is SimpleMKL's problem.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..._typing import Array
from ..._validation import check_number
from ...core.svm.losses import Loss
from ...core.weights.learn import learn_weights
from ...core.weights.loop import SolveResult
from ..learner import About, Learned, WeightLearner
from ..solver.level import LevelResult
from ..targets import TASKS, Targets


class MarginLearner(WeightLearner):
    """A learner that asks a margin machine, or one for each class or output with common weights.

    Attributes
    ----------
    dual_coef_ : array (n_machines, n), label × dual: they prove the lower bound
    """

    learns_from: ClassVar[tuple[str, ...]] = TASKS
    C: float
    epsilon: float
    nu: float = 0.5

    def _losses(self, targets: Targets) -> list[Loss]:
        """Hinge for classes, ε-insensitive for values, one-class for nothing."""
        C = check_number("C", self.C, above=0.0)
        epsilon = check_number("epsilon", self.epsilon, at_least=0.0)
        nu = check_number("nu", self.nu, above=0.0)
        if nu > 1.0:
            raise ValueError(f"nu must be at most 1: it is a share of the samples; got {nu!r}.")
        return targets.losses(C, epsilon=epsilon, nu=nu)

    def _told(self, found: LevelResult | SolveResult) -> Learned:
        """The weights with the primal value, which no weights can beat by more than the gap."""
        self.dual_coef_ = found.duals
        value = found.upper_bound if isinstance(found, SolveResult) else found.objective
        return Learned.of(found, found.weights, objective=value)


@dataclass(eq=False, repr=False)
class MarginMKL(MarginLearner):
    """Multiple kernel learning: the weights at which a support vector machine has the least value.

    min_{η ≥ 0, ‖d² ∘ η‖_p ≤ 1}  J(η),      J(η) = min_{w, b}  ½ Σ_m ‖w_m‖²/η_m + C Σ_i ξ_i

    with the slacks ξ of the hinge (classes; the weights are common to all one-vs-rest machines), of the
    ε-insensitive loss (values), or the one-class machine (nothing). p = 1 gives sparse weights and is the
    problem of Lanckriet et al., Bach et al. and SimpleMKL; p = ∞ is the plain sum.

    Parameters
    ----------
    C : float
        Price of the slacks, for the kernels as they are: of kernels scaled by s it is C/s.
    norm : float ≥ 1 or infinity
        The p of the set of weights.
    costs : array (n_kernels,), optional
        The positive d_m, 1 each by default.
    epsilon : float
        Half the width of the tube, for values.
    nu : float in (0, 1]
        The largest share of samples outside, for nothing.
    tol : float
        Relative duality gap to reach.
    max_iter : int

    Attributes
    ----------
    objective_ : float, J at the weights
    dual_gap_ : float, relative: no weights have J below objective_ − dual_gap_ · |objective_|
        For nothing J may be 0 (linear kernels of centred data): |objective_| then counts as at least a
        thousandth of tr(K)/(2n²), K the smallest kernel.
    dual_coef_ : array (n_machines, n), label × dual

    Examples
    --------
    >>> y = np.array([-1, -1, 1, 1])
    >>> x, z = np.array([-1.2, -0.8, 0.9, 1.1]), np.array([1.0, -1.0, 1.0, -1.0])
    >>> MarginMKL(C=0.1).fit([np.outer(x, x), np.outer(z, z)], y).kernel_weights_
    array([1., 0.])
    """

    about = About(
        family="margin",
        problem="min J(η), η ≥ 0, ‖η‖_p ≤ 1, J the value of an SVM",
        solver="Newton's steps over warm-started SMO, duality gap",
        cost="some ten machines, reads of the active kernels; memory n²",
        use="The standard: sparse weights at p = 1, all kernels at p = 2.",
        reference="Lanckriet et al. 2004; Rakotomamonjy et al. 2008; Kloft et al. 2011",
    )

    C: float = 1.0
    norm: float = 1.0
    costs: Any = None
    epsilon: float = 0.1
    nu: float = 0.5
    tol: float = 1e-3
    max_iter: int = 300

    def _learn(self, Ks: Array, targets: Targets) -> Learned:
        norm = np.inf if self.norm == np.inf else check_number("norm", self.norm, at_least=1.0)
        costs = None if self.costs is None else positive_costs(self.costs, len(Ks), "kernels")
        options = self._options()
        return self._told(learn_weights(Ks, self._losses(targets), norm=norm, costs=costs, options=options))


def positive_costs(costs: Any, size: int, what: str) -> Array:
    """One positive cost for each kernel or group."""
    try:
        numbers = np.asarray(costs, float)
    except (TypeError, ValueError):
        numbers = np.empty(0)
    if numbers.shape != (size,) or not (np.isfinite(numbers).all() and (numbers > 0.0).all()):
        raise ValueError(f"costs must be {size} positive numbers, one for each of the {what}; got {costs!r}.")
    return numbers

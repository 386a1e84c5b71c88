"""What the learners by margin share: their machines, their numerics, and how they tell what was found."""

from typing import ClassVar

from ..._validation import check_number
from ...core.svm.losses import Loss
from ...core.svm.result import SolveResult
from ..learner import Learned, WeightLearner
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

"""What the ridge learners share: the weights lie in a ball, and its centre and size are parameters."""

from typing import Any

import numpy as np

from ..._typing import Array
from ..._validation import check_number
from ...core.optim.weight_sets import PositiveBall
from ...core.stack.sums import kernel_scales
from ..learner import WeightLearner
from ..solver.ridge_ball import RidgeValue
from ..targets import Targets, unit_ideal


class BallRidge(WeightLearner):
    """Kernel ridge regression with weights η ≥ 0, ‖η − η₀‖ ≤ Λ."""

    alpha: float
    center: Any
    radius: float
    normalise: bool

    def _value(self, Ks: Array, targets: Targets, degree: int = 1) -> RidgeValue:
        alpha = check_number("alpha", self.alpha, above=0.0)
        scales = kernel_scales(Ks, self.view_names_) if self.normalise else np.ones(len(Ks))
        return RidgeValue(Ks, unit_ideal(targets), alpha, scales, degree)

    def _ball(self, m: int) -> PositiveBall:
        radius = check_number("radius", self.radius, above=0.0)
        try:
            center = np.asarray(0.0 if self.center is None else self.center, dtype=float)
        except (TypeError, ValueError) as error:
            raise TypeError(f"center must be a number or a list of numbers; got {self.center!r}.") from error
        if center.shape not in ((), (m,)):
            raise ValueError(f"center must be a number, or one for each of {m} kernels; got {center.size}.")
        if not (np.isfinite(center) & (center >= 0.0)).all():
            raise ValueError(f"center must be finite and not negative; got {self.center!r}.")
        return PositiveBall(np.full(m, center), radius)

"""Classes that spread little along the line through their centres (Nguyen & Ho)."""

from ..._typing import Array
from ...core.optim.loop import Status
from ...core.stack.sums import kernel_scales
from ..learner import About, Learned, TwoClassLearner
from ..solver.line_spread import line_spread, minimise_spread

_CERTIFIED = 1e-5  # where a class can be made not to spread at all, the optimum is not met to rounding


class FeatureSpaceMeasure(TwoClassLearner):
    """min (s₊ + s₋) / ‖m₊ − m₋‖   over K = Σ_m η_m K_m / t_m,  η ≥ 0,  Σ_m η_m = 1

    m±: the centres of the two classes in the feature space of K; s±: the standard deviation, over the members
    of a class (divisor n± − 1), of their places on the line through the centres; t_m: the mean diagonal of
    K_m. This is our reading of the measure: s± along that line, not in all directions.

    The measure is quasi-convex in η, a convex function over a linear one, so that its least value on the
    simplex is found, with a bound. In the feature space of the identity the classes do not spread along that
    line at all: leave kernels near it, such as very narrow Gaussians, out. More than two classes: the mean of
    the weights of each class against the rest.

    Attributes
    ----------
    kernel_weights_ : array (n_kernels,), in the units of the kernels: η_m / t_m
    objective_ : float, the measure; of more than two classes, the sum
    dual_gap_ : float
        Relative: no weights have a measure below objective_ (1 − dual_gap_); where the measure comes to a
        millionth of that of single kernels, it is that part.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 1.0], [1.0, -1.0], [5.0, -1.0], [6.0, 1.0]])
    >>> learner = FeatureSpaceMeasure().fit([np.outer(x, x) for x in X.T + [[0.0], [0.1]]], [0, 0, 1, 1])
    >>> learner.kernel_shares_.round(3), round(learner.objective_, 3)
    (array([1., 0.]), 0.283)
    """

    about = About(
        family="similarity",
        problem="min (s₊ + s₋) / ‖m₊ − m₋‖ of the classes along the line of their centres, η on the simplex",
        solver="some tens of quadratic programs of P variables, duality gap",
        cost="one read of the stack, P n²",
        use="Two classes, each in one cloud; reads the stack once, even for many kernels.",
        reference="Nguyen & Ho 2008",
    )

    def _learn_two(self, Ks: Array, signs: Array) -> Learned:
        scales = kernel_scales(Ks, self.view_names_)
        found = minimise_spread(line_spread(Ks, signs, scales))
        status = Status.OPTIMAL if found.gap <= _CERTIFIED else Status.STALLED
        return Learned(
            found.weights / scales, objective=found.value, gap=found.gap, n_iter=found.n_iter, status=status
        )

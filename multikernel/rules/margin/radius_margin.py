"""The margin in units of the radius: weights whose kernel has the samples in the unit ball."""

from dataclasses import dataclass

import numpy as np

from ..._typing import Array
from ..._validation import check_number
from ...core.optim.loop import Status
from ...core.svm.losses import HardMargin, Loss, SquaredHinge
from ..learner import About, Learned
from ..solver.level import learn_in_gauge
from ..solver.radius import SquaredRadius
from ..targets import Targets
from .margin_mkl import MarginLearner


@dataclass(eq=False, repr=False)
class RadiusMargin(MarginLearner):
    """The least value of a machine among kernels whose samples lie in a ball of radius 1.

    min_{η ≥ 0}  J(η)   subject to   R²(η) = max_{b ≥ 0, Σb = 1}  Σ_m η_m (b'diag K_m − b'K_mb) ≤ 1

    J is the value ½‖w‖² + (C/2) Σ ξ² of the squared hinge (classes; common weights for all one-vs-rest
    machines), ½/γ² of the hard margin γ at C = ∞, or the value of the ε-insensitive machine (values). R is
    the radius of the smallest ball around the samples. Both are convex in η, so that the minimum is global;
    with the hard margin it is half the least R²/γ², the quantity of bounds of the error. The formulation is
    ours; the idea to learn kernels by the ratio of radius and margin is that of the works below. Of a kernel
    scaled by s the weight is divided by s, and C stays the same: R² ≤ 1 sets the scale.

    Parameters
    ----------
    C : float or infinity
        Price of the slacks.
    epsilon : float
        Half the width of the tube, for values.
    tol : float
        Relative duality gap to reach.
    max_iter : int

    Attributes
    ----------
    objective_ : float, J at the weights
    dual_gap_ : float, relative: no weights have J below objective_ · (1 − dual_gap_)
    dual_coef_ : array (n_machines, n), label × dual
    ball_ : array (n,), b. With r_m = b'diag K_m − b'K_mb and q_m = Σ β'K_mβ, the lower bound is
        S(β) − ½ max_m q_m / r_m, S(β) the linear part of the machines' dual

    References
    ----------
    I. Lauriola, M. Polato, F. Aiolli (2017). Radius-margin ratio optimization for dot-product boolean kernel
    learning. ICANN.
    H. Do, A. Kalousis, A. Woznica, M. Hilario (2009). Margin and radius based multiple kernel learning. ECML.

    Examples
    --------
    >>> y = np.array([-1, -1, 1, 1])
    >>> x, z = np.array([-1.0, -2.0, 1.0, 2.0]), np.array([-1.0, -1.0, 1.0, 1.0])
    >>> learner = RadiusMargin(C=np.inf).fit([np.outer(x, x), 4 * np.outer(z, z)], y)
    >>> learner.kernel_weights_.round(3), round(learner.objective_, 3)
    (array([0.  , 0.25]), 0.5)
    """

    learns_from = ("classes", "values")
    about = About(
        family="margin",
        problem="min J(η), R²(η) ≤ 1: the least ratio of squared radius and margin",
        solver="level method with cuts of the radius, duality gap",
        cost="some tens of machines and balls, reads of the stack; memory n²",
        use="Kernels of any scale without a choice of how to normalise them.",
        reference="our formulation; idea of Do et al. 2009, Lauriola et al. 2017",
    )

    C: float = 1.0
    epsilon: float = 0.1
    tol: float = 1e-4
    max_iter: int = 300

    def _losses(self, targets: Targets) -> list[Loss]:
        if targets.task == "values":
            C, epsilon = (
                check_number("C", self.C, above=0.0),
                check_number("epsilon", self.epsilon, at_least=0.0),
            )
            return targets.losses(C, epsilon=epsilon)
        if isinstance(self.C, float | np.floating) and np.isposinf(self.C):
            return [HardMargin(signs) for signs in targets.signs]
        C = check_number("C", self.C, above=0.0)
        return [SquaredHinge(signs, C) for signs in targets.signs]

    def _learn(self, Ks: Array, targets: Targets) -> Learned:
        options = self._options()
        radius = SquaredRadius(Ks, tol=0.01 * options.tol)
        found = learn_in_gauge(Ks, self._losses(targets), radius, options)
        if found.status == Status.INSEPARABLE:
            raise ValueError(
                "RadiusMargin(C=inf) needs classes that the kernels together separate; they do not. Use a "
                "finite C."
            )
        shares = found.prices
        shares[: len(Ks)] += found.excess  # the first rows are those of the kernels alone
        self.ball_ = shares @ np.array(radius.balls) / max(float(shares.sum()), 1e-300)
        return self._told(found)

"""The combination nearest to the ideal kernel (He, Chang & Xie)."""

from dataclasses import dataclass, replace

import numpy as np

from ..._typing import Array
from ...core.alignment import StackAlignment, align_stack
from ...core.optim.loop import Status
from ...core.optim.simplex import minimize_step
from ...core.stack.sums import kernel_scales
from ..learner import About, Learned, WeightLearner
from ..targets import Targets, unit_ideal

_CERTIFIED = 1e-8


@dataclass(eq=False, repr=False)
class IdealDistance(WeightLearner):
    """min ‖Σ_m η_m K_m / s_m − TT'‖²,   η ≥ 0,  Σ_m η_m = 1   (Frobenius norm)

    TT' is the ideal kernel: yy' for two classes and for values, and 1 within, −1/(k−1) between k classes. A
    distance depends on the units of both. By default every kernel, and TT', is brought to trace n: s_m is the
    mean diagonal of K_m, and the weights depend neither on the scale of a kernel nor on that of the values.

    Parameters
    ----------
    normalise : bool
        False: s_m = 1, and TT' of values in their own units.

    Attributes
    ----------
    kernel_weights_ : array (n_kernels,), in the units of the kernels: η_m / s_m
    objective_ : float, the squared distance
    dual_gap_ : float
        No weights have a squared distance below objective_ by more than dual_gap_ × (objective_ + ‖TT'‖²).

    Examples
    --------
    >>> y = np.array([1, 1, -1, -1])
    >>> learner = IdealDistance().fit([np.outer(y, y) + 4 * np.eye(4), 2 * np.eye(4)], y)
    >>> learner.kernel_shares_, round(learner.objective_, 6)
    (array([1., 0.]), 7.68)
    """

    about = About(
        family="similarity",
        problem="min ‖K_η − TT'‖², η on the simplex",
        solver="active sets on a quadratic program of P variables, duality gap",
        cost="one read of the stack, P² n²",
        use="Sparse weights without a machine; of kernels that all decay fast, it takes the least of them.",
        reference="He, Chang & Xie 2008",
    )

    normalise: bool = True

    def _learn(self, Ks: Array, targets: Targets) -> Learned:
        T = unit_ideal(targets)
        T = T if self.normalise else targets.ideal
        scales = kernel_scales(Ks, self.view_names_) if self.normalise else np.ones(len(Ks))
        table = align_stack(Ks, T)
        shares, value, gap = _nearest(replace(table, norms=table.norms / scales))
        status = Status.OPTIMAL if gap <= _CERTIFIED else Status.STALLED
        return Learned(shares / scales, objective=value, gap=gap, status=status)


def _nearest(table: StackAlignment) -> tuple[Array, float, float]:
    """η on the simplex, its squared distance, and the duality gap, in units of ‖TT'‖."""
    norms, m = table.norms / table.target_norm, table.norms.size
    S, q = table.pairs * np.outer(norms, norms), table.target * norms
    start = np.full(m, 1.0 / m)
    eta = minimize_step(S, S @ start - q, start)
    slope = S @ eta - q
    value = float(eta @ S @ eta - 2.0 * q @ eta) + 1.0
    gap = 2.0 * max(float(slope @ eta - slope.min()), 0.0) / (max(value, 0.0) + 1.0)
    return eta, max(value, 0.0) * table.target_norm**2, gap

"""The largest margin with a logarithmic penalty: sparser than the norm (Subrahmanya & Shin)."""

from typing import Any

import numpy as np

from ..._validation import check_number
from ...solvers.log_penalty import learn_log_penalty
from ..learner import About, Learned
from ..targets import Targets
from ._base import MarginLearner

Array = np.ndarray[Any, np.dtype[Any]]


class LogPenaltyMKL(MarginLearner):
    """Multiple kernel learning with a penalty that grows like a logarithm of the norm of each part.

    min_{w, b}  ½ (Σ_m h(‖w_m‖))² + C Σ_i ξ_i,      h(t) = e log(1 + t/e)

    Each h is bounded by its tangent, which leaves :class:`MarginMKL` with costs that fall in ‖w_m‖; so it is
    solved again and again, the value never rises, and large parts are punished less than by the norm. The
    square is our form of the penalty, so that e → ∞ is MarginMKL. Not convex: the start is MarginMKL, and the
    result is a stationary point.

    Parameters
    ----------
    C : float
        Price of the slacks, for the kernels as they are.
    scale : float
        e in units of Σ_m ‖w_m‖ of MarginMKL; the smaller, the sparser.
    epsilon : float
        Half the width of the tube, for values.
    tol : float
        For the gap.
    max_iter : int
        Convex problems to solve.

    Attributes
    ----------
    kernel_weights_ : array (n_kernels,), the machine found is that of C on this kernel
    objective_ : float, the value
    dual_gap_ : float, stationarity: the value less a lower bound of the convex function that bounds it from
        above and touches it, relative
    scale_ : float, e
    part_norms_ : array (n_kernels,), ‖w_m‖

    References
    ----------
    N. Subrahmanya, Y. C. Shin (2010). Sparse multiple kernel learning for signal processing applications.
    IEEE Transactions on Pattern Analysis and Machine Intelligence 32.

    Examples
    --------
    >>> y = np.array([-1, -1, 1, 1])
    >>> x, z = np.array([-1.2, -0.8, 0.9, 1.1]), np.array([1.0, -1.0, 1.0, -1.0])
    >>> LogPenaltyMKL(C=1.0).fit([np.outer(x, x), np.outer(z, z)], y).part_norms_.round(2)
    array([1.18, 0.  ])
    """

    learns_from = ("classes", "values")  # a one-class machine would be unbounded
    about = About(
        family="margin",
        problem="min ½ (Σ e log(1 + ‖w_m‖/e))² + C Σ ξ; not convex",
        solver="MarginMKL with costs from tangents, again and again; stationarity",
        cost="some times that of MarginMKL",
        use="As few kernels as possible.",
        reference="Subrahmanya & Shin 2010 (squared form ours)",
    )

    def __init__(
        self,
        C: float = 1.0,
        scale: float = 0.1,
        epsilon: float = 0.1,
        tol: float = 1e-4,
        max_iter: int = 100,
    ) -> None:
        self.C = C
        self.scale = scale
        self.epsilon = epsilon
        self.tol = tol
        self.max_iter = max_iter

    def _learn(self, Ks: Array, targets: Targets) -> Learned:
        scale = check_number("scale", self.scale, above=0.0)
        found = learn_log_penalty(Ks, self._losses(targets), scale, self._options())
        self.scale_, self.part_norms_, self.dual_coef_ = found.scale, found.norms, found.duals
        status = str(found.status)
        return Learned(found.weights, found.objective, found.gap, found.n_iter, status, found.history)

"""The largest margin with weights between 0 and 1 of a given sum (Xu et al.)."""

from dataclasses import dataclass

from ..._typing import Array
from ..._validation import check_number
from ...core.optim.weight_sets import CappedSum
from ..learner import About, Learned
from ..solver.level import learn_in_gauge
from ..targets import Targets
from .margin_mkl import MarginLearner


@dataclass(eq=False, repr=False)
class CappedMKL(MarginLearner):
    """Selection of B kernels, relaxed: no weight is above 1.

    min_{0 ≤ η ≤ 1, Σ η = B}  J(η),      J(η) = min_{w, b}  ½ Σ_m ‖w_m‖²/η_m + C Σ_i ξ_i
    = max_{β, λ, d ≥ 0}  S(β) − ½ (Bλ + Σ_m d_m)   subject to   q_m(β) = Σ β'K_mβ ≤ λ + d_m

    with S(β) the linear part of the dual of the machines (the paper states twice this dual).

    Parameters
    ----------
    total : float, optional
        B, above 0 and at most the number of kernels; half of that by default, at least 1.
    C : float
        Price of the slacks, for the kernels as they are.
    epsilon, nu
        Of values and of nothing, as for :class:`MarginMKL`.
    tol : float
        Relative duality gap to reach.
    max_iter : int

    Attributes
    ----------
    objective_ : float, J at the weights
    dual_gap_ : float, relative: no weights have J below objective_ − dual_gap_ · |objective_|
        (for nothing as for :class:`MarginMKL`, where J is 0)
    dual_coef_ : array (n_machines, n), label × dual

    References
    ----------
    Z. Xu, R. Jin, J. Ye, M. Lyu, I. King (2009). Non-monotonic feature selection. ICML.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.array([-1, -1, 1, 1])
    >>> x, z = np.array([-1.2, -0.8, 0.9, 1.1]), np.array([1.0, -1.0, 1.0, -1.0])
    >>> Ks = [np.outer(x, x), np.outer(z, z), np.outer(y, y)]
    >>> CappedMKL(total=2.0).fit(Ks, y).kernel_weights_.round(1)
    array([0.9, 0.1, 1. ])
    """

    about = About(
        family="margin",
        problem="min J(η), 0 ≤ η ≤ 1, Σ η = B",
        solver="level method, duality gap",
        cost="some tens of machines, reads of the stack; memory n²",
        use="About B of the kernels, or features, are to be chosen.",
        reference="Xu et al. 2009 (feature selection)",
    )

    total: float | None = None
    C: float = 1.0
    epsilon: float = 0.1
    nu: float = 0.5
    tol: float = 1e-4
    max_iter: int = 300

    def _learn(self, Ks: Array, targets: Targets) -> Learned:
        P = len(Ks)
        total = max(0.5 * P, 1.0) if self.total is None else check_number("total", self.total, above=0.0)
        if total > P:
            raise ValueError(f"total must be at most the number of kernels, {P}; got {self.total!r}.")
        found = learn_in_gauge(Ks, self._losses(targets), CappedSum(P, total), self._options())
        learned = self._told(found)
        missing = total - float(learned.weights.sum())  # of kernels that make no difference
        if missing > 0.0:
            room = 1.0 - learned.weights
            learned.weights[:] += missing * room / max(float(room.sum()), missing)
        return learned

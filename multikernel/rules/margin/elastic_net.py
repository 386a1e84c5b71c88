"""The largest margin with weights drawn towards the mean of the kernels (Longworth & Gales)."""

from dataclasses import dataclass

import numpy as np

from ..._typing import Array
from ..._validation import check_number
from ...core.optim.weight_sets import CappedSum
from ..learner import About, Learned
from ..solver.level import Pull, learn_in_gauge
from ..targets import Targets
from .margin_mkl import MarginLearner


@dataclass(eq=False, repr=False)
class ElasticNetMKL(MarginLearner):
    """Multiple kernel learning with a penalty on the distance from equal weights.

    min_{η ≥ 0, Σ η = 1}  J(η) + λ Σ_m (η_m − 1/P)²,      J(η) = min_{w, b}  ½ Σ_m ‖w_m‖²/η_m + C Σ_i ξ_i

    λ = 0 is :class:`MarginMKL` of norm 1, λ → ∞ the mean of the kernels.

    Parameters
    ----------
    C : float
        Price of the slacks, for the kernels as they are.
    reg : float ≥ 0
        λ, in the units of J, whose size at C is at most C × the number of samples.
    epsilon, nu
        Of values and of nothing, as for :class:`MarginMKL`.
    tol : float
        Relative duality gap to reach.
    max_iter : int

    Attributes
    ----------
    objective_ : float, J and penalty at the weights
    dual_gap_ : float, relative: no weights have a value below objective_ − dual_gap_ · |objective_|
        (for nothing as for :class:`MarginMKL`, where J is 0)
    dual_coef_ : array (n_machines, n), label × dual

    References
    ----------
    C. Longworth, M. Gales (2009). Combining derivative and parametric kernels for speaker verification. IEEE
    Transactions on Audio, Speech, and Language Processing 17.

    Examples
    --------
    >>> y = np.array([-1, -1, 1, 1])
    >>> x, z = np.array([-1.2, -0.8, 0.9, 1.1]), np.array([1.0, -1.0, 1.0, -1.0])
    >>> Ks = [np.outer(x, x), np.outer(z, z)]
    >>> ElasticNetMKL(C=0.1, reg=0.1).fit(Ks, y).kernel_weights_.round(1)
    array([0.7, 0.3])
    """

    about = About(
        family="margin",
        problem="min J(η) + λ Σ (η_m − 1/P)² on the simplex",
        solver="level method, duality gap",
        cost="some tens of machines, reads of the stack; memory n²",
        use="Margins that would drop kernels that ought to stay.",
        reference="Longworth & Gales 2008, 2009",
    )

    C: float = 1.0
    reg: float = 1.0
    epsilon: float = 0.1
    nu: float = 0.5
    tol: float = 1e-4
    max_iter: int = 300

    def _learn(self, Ks: Array, targets: Targets) -> Learned:
        reg = check_number("reg", self.reg, at_least=0.0)
        pull = Pull(reg, np.full(len(Ks), 1.0 / len(Ks))) if reg > 0.0 else None
        return self._told(
            learn_in_gauge(Ks, self._losses(targets), CappedSum(len(Ks)), self._options(), pull=pull)
        )

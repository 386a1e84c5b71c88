"""The largest margin with a lower bound on every weight (De Bie et al.)."""

from dataclasses import dataclass

from ..._typing import Array
from ..._validation import check_number
from ...core.optim.weight_sets import CappedSum
from ..learner import About, Learned
from ..solver.level import learn_in_gauge
from ..targets import Targets
from .margin_mkl import MarginLearner


@dataclass(eq=False, repr=False)
class LowerBoundedMKL(MarginLearner):
    """Multiple kernel learning in which no kernel is left out.

    min_{η ≥ η_min, Σ η = 1}  J(η),      J(η) = min_{w, b}  ½ Σ_m ‖w_m‖²/η_m + C Σ_i ξ_i

    The paper has the one-class machine (fit without y), where this is the dual of
    min_α  η_min Σ_m α'K_mα + (1 − P η_min) max_m α'K_mα,  Σα = 1, 0 ≤ α ≤ 1/(νn).

    Parameters
    ----------
    lowest : float in [0, 1)
        η_min in units of 1/P: 0 is :class:`MarginMKL` of norm 1, at 1 all weights would be equal.
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
    T. De Bie, L.-C. Tranchevent, L. van Oeffelen, Y. Moreau (2007). Kernel-based data fusion for gene
    prioritization. Bioinformatics 23.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([1.0, 1.0, 1.0, 3.0])
    >>> LowerBoundedMKL(lowest=0.5).fit([np.outer(x, x), np.eye(4)]).kernel_weights_.round(3)
    array([0.75, 0.25])
    """

    about = About(
        family="margin",
        problem="min J(η), η ≥ η_min, Σ η = 1",
        solver="level method, duality gap",
        cost="some tens of machines, reads of the stack; memory n²",
        use="One class, or few samples: every source keeps its say.",
        reference="De Bie et al. 2007",
    )

    lowest: float = 0.5
    C: float = 1.0
    epsilon: float = 0.1
    nu: float = 0.5
    tol: float = 1e-4
    max_iter: int = 300

    def _learn(self, Ks: Array, targets: Targets) -> Learned:
        lowest = check_number("lowest", self.lowest, at_least=0.0)
        if lowest >= 1.0:
            raise ValueError(
                f"lowest must be below 1; got {self.lowest!r}. Use MeanRule() for equal weights."
            )
        gauge, floor = CappedSum(len(Ks), 1.0 - lowest), lowest / len(Ks)
        return self._told(learn_in_gauge(Ks, self._losses(targets), gauge, self._options(), floor=floor))

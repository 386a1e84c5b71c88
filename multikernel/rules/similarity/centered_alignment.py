"""Centred alignment, of each kernel for itself or of their sum (Cortes, Mohri & Rostamizadeh)."""

from dataclasses import dataclass

import numpy as np

from ..._typing import Array
from ..._validation import check_choice
from ...core.alignment import align_by_least_squares, align_stack
from ..learner import About, Learned, WeightLearner
from ..targets import Targets, unit_ideal

METHODS = ("joint", "independent")


@dataclass(eq=False, repr=False)
class CenteredAlignment(WeightLearner):
    """Weights by the centred alignment with the ideal kernel TT': the cosine of their angle.

    joint        max_{η ≥ 0}  A(Σ η_m K_m, TT'),  at ‖Σ η_m HK_mH‖ = 1
    independent  η_m ∝ max(A(K_m, TT'), 0) / ‖HK_mH‖,  Σ_m η_m ‖HK_mH‖ = 1

    with A(K, L) = ⟨HKH, HLH⟩ / (‖HKH‖ ‖HLH‖), H = I − 11'/n. TT' is yy' for two classes and for values, and
    1 within, −1/(k−1) between k classes.

    Parameters
    ----------
    method : {"joint", "independent"}

    Attributes
    ----------
    alignments_ : array (n_kernels,), A of each kernel
    objective_ : float, A of the combination ("joint") or nan
    dual_gap_ : float, relative: no weights have an alignment above objective_ / (1 − dual_gap_)

    Examples
    --------
    >>> y = np.array([1, 1, 1, -1])
    >>> learner = CenteredAlignment().fit([5.0 + np.outer(y, y), np.eye(4)], y)
    >>> learner.kernel_weights_.round(6), round(learner.objective_, 6)
    (array([0.333333, 0.      ]), 1.0)
    """

    about = About(
        family="similarity",
        problem="max A(HK_ηH, TT'), η ≥ 0 (joint); η_m ∝ A_m (independent)",
        solver="nonnegative least squares of P variables, duality gap; closed form",
        cost="two reads of the stack, P² n²",
        use="The first to try: quick, no machine and no parameter, any task.",
        reference="Cortes, Mohri & Rostamizadeh 2010, 2012",
    )

    method: str = "joint"

    def _learn(self, Ks: Array, targets: Targets) -> Learned:
        check_choice("method", self.method, METHODS)
        table = align_stack(Ks, unit_ideal(targets), centered=True)
        self.alignments_ = table.target
        if self.method == "independent" or not table.target.max() > 0.0:
            shares = np.maximum(table.target, 0.0)
            return Learned(shares / max(shares.sum(), 1e-300) / table.norms)
        found = align_by_least_squares(table, rank=len(Ks))
        size = float(np.sqrt(found.w @ table.pairs @ found.w))
        value = float(table.target @ found.w) / size
        gap = max(1.0 - value / found.upper, 0.0)
        return Learned(found.w / (size * table.norms), objective=value, gap=gap)

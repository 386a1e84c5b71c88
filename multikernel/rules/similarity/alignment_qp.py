"""Alignment with a penalty on the weights, by a quadratic program (Kandola, Shawe-Taylor & Cristianini)."""

from dataclasses import dataclass, replace

import numpy as np

from ..._typing import Array
from ..._validation import check_number
from ...core.alignment import align_by_least_squares, align_stack
from ..learner import About, Learned, WeightLearner
from ..targets import Targets, unit_ideal


@dataclass(eq=False, repr=False)
class AlignmentQP(WeightLearner):
    """max_{η ≥ 0}  q'η − η'(S + λI)η,   K = Σ_m η_m K_m / ‖K_m‖

    q_m = ⟨K_m, TT'⟩ / (‖K_m‖ ‖TT'‖) and S_ml = ⟨K_m, K_l⟩ / (‖K_m‖ ‖K_l‖): kernels and the ideal kernel TT'
    are at Frobenius norm 1, so that all are cosines and λ has no unit. At λ = 0 the weights are those of best
    alignment, at large λ they are in proportion to the alignments of the single kernels. TT' is yy' for two
    classes and for values, and 1 within, −1/(k−1) between k classes.

    Parameters
    ----------
    reg : float ≥ 0
        λ.
    centered : bool
        Whether kernels and TT' are centred before they are compared; False is the form of the paper.

    Attributes
    ----------
    kernel_weights_ : array (n_kernels,), in the units of the kernels: η_m / ‖K_m‖
    alignments_ : array (n_kernels,), q
    objective_ : float, the value of the program
    dual_gap_ : float, relative: no weights have a value above objective_ / (1 − dual_gap_)

    Examples
    --------
    >>> y = np.array([1, 1, -1, -1])
    >>> learner = AlignmentQP(reg=1.0).fit([np.outer(y, y), np.eye(4)], y)
    >>> (learner.kernel_weights_ * [4.0, 2.0]).round(4), round(learner.objective_, 4)
    (array([0.2333, 0.0667]), 0.1333)
    """

    about = About(
        family="similarity",
        problem="max q'η − η'(S + λI)η, η ≥ 0, of cosines q between kernels and TT', S between kernels",
        solver="nonnegative least squares of P variables, duality gap",
        cost="one read of the stack (two if centred), P² n²",
        use="Like CenteredAlignment, with weights shared among kernels that are alike.",
        reference="Kandola, Shawe-Taylor & Cristianini 2002",
    )

    reg: float = 0.1
    centered: bool = False

    def _learn(self, Ks: Array, targets: Targets) -> Learned:
        reg = check_number("reg", self.reg, at_least=0.0)
        table = align_stack(Ks, unit_ideal(targets), centered=bool(self.centered))
        self.alignments_ = table.target
        if not table.target.max() > 0.0:
            return Learned(np.zeros(len(Ks)))
        unit = max(1.0, reg)  # of η: the program of a large λ is as well scaled as that of a small one
        pairs = (table.pairs + reg * np.eye(len(Ks))) / unit
        found = align_by_least_squares(replace(table, target=0.5 * table.target, pairs=pairs), rank=len(Ks))
        value = float(table.target @ found.w - found.w @ pairs @ found.w)
        upper = found.upper**2  # 2Au ≥ q: q'η − η'Aη ≤ 2u'Aη − η'Aη ≤ u'Au
        gap = max(1.0 - value / upper, 0.0)
        return Learned(found.w / (unit * table.norms), objective=value / unit, gap=gap)

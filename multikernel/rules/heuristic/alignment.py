"""Weights by the alignment of each kernel (Qiu & Lane)."""

from ..._typing import Array
from ...core.alignment.measure import align_stack
from ...core.stack.sums import kernel_scales
from ..learner import About, Learned, WeightLearner
from ..targets import Targets, unit_ideal
from ._single_kernels import shares_of


class AlignmentRule(WeightLearner):
    """η_m = A_m / Σ_h A_h,   K = Σ_m η_m K_m / s_m

    A_m = ⟨K_m, TT'⟩ / (‖K_m‖ ‖TT'‖), the alignment with the ideal kernel: yy' for two classes and for
    values, 1 within and −1/(k−1) between k classes. s_m: the mean diagonal of K_m. If no A_m is positive,
    the weights are equal, with a warning. (:class:`CenteredAlignment` with ``"independent"`` is the same
    idea, centred, and with kernels of Frobenius norm 1.)

    Parameters
    ----------
    centered : bool
        Whether kernels and TT' are centred before they are compared.
    normalise : bool
        False: s_m = 1 in K.

    Attributes
    ----------
    kernel_weights_ : array (n_kernels,), η_m / s_m, of the kernels as they are
    kernel_shares_ : array (n_kernels,), the parts of tr K: η_m, unless ``normalise=False``
    alignments_ : array (n_kernels,), A_m

    Examples
    --------
    >>> y = np.array([1, 1, -1, -1])
    >>> learner = AlignmentRule().fit([np.outer(y, y), np.eye(4)], y)
    >>> learner.alignments_, learner.kernel_weights_.round(3)
    (array([1. , 0.5]), array([0.667, 0.333]))
    """

    about = About(
        family="heuristic",
        problem="η_m s_m ∝ A(K_m, TT'), s_m the mean diagonal of K_m",
        solver="closed form",
        cost="one read of the stack (two if centred), P² n²",
        use="No machine and no parameter; every kernel keeps some weight.",
        reference="Qiu & Lane 2009",
    )

    def __init__(self, centered: bool = False, *, normalise: bool = True) -> None:
        self.centered = centered
        self.normalise = normalise

    def _learn(self, Ks: Array, targets: Targets) -> Learned:
        scales = kernel_scales(Ks, self.view_names_)
        self.alignments_ = align_stack(Ks, unit_ideal(targets), centered=bool(self.centered)).target
        shares = shares_of(self.alignments_, "is aligned with the targets")
        return Learned(shares / scales if self.normalise else shares)

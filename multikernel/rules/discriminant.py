"""Weights by discriminant analysis: classes that lie far apart, beside the scatter of their samples.

The solvers are those of :mod:`multikernel.discriminant`; where they fail, a kernel that is to blame is named.
"""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from .._typing import Array
from .._validation import check_number, is_indefinite, raise_indefinite, warn_caller
from ..core.optim.simplex import StartError
from ..core.scatter import SingularScatterError
from ..core.stack.sums import kernel_scales, variance_scales
from ..discriminant.solver.fisher import HeterogeneousFisher, learn_fisher
from ..discriminant.solver.kim import learn_kim
from ..discriminant.solver.learn import DiscriminantProblem, learn_discriminant
from ..discriminant.solver.problem import check_reg, strongest_kernel
from .learner import About, Learned, TwoClassLearner, WeightLearner
from .targets import Targets


@dataclass(eq=False, repr=False)
class DiscriminantMKL(WeightLearner):
    """Weights by which regularised kernel discriminant analysis separates any number of classes best.

    min_{η ≥ 0, Σ η_m r_m = 1}  λ tr E'(λI + Σ_m η_m HK_mH)⁻¹E,     r_m = tr HK_mH

    with H = I − 11'/n. E has a column √(n/n_c) (e_c − n_c/n) for each class c of n_c samples with indicator
    e_c, or for two classes the one column of 1/n₊ on the second class and −1/n₋ on the first.
    :class:`multikernel.discriminant.KernelDiscriminantClassifier` learns the same weights and
    classifies by them.

    Parameters
    ----------
    reg : float or "learn", default=1e-4
        λ, beside a kernel whose centred trace is 1; "learn" finds it together with the weights.
    max_time : float, default=None
        Maximum time of the fit in seconds; None for no limit.

    Attributes
    ----------
    kernel_weights_ : array of shape (n_kernels,)
    reg_ : float, λ used or learned
    objective_ : float, with the factor λ where it is given, without it where it is learned
    dual_gap_ : float, relative: no weights have an objective below (1 − dual_gap_) objective_

    Examples
    --------
    >>> x, z = np.array([-1.2, 0.9, -0.8, 1.1]), np.array([1.0, 0.2, -1.0, -1.0])
    >>> learner = DiscriminantMKL(reg=0.1).fit([np.outer(x, x), np.outer(z, z)], ["no", "yes", "no", "yes"])
    >>> learner.kernel_weights_.round(3), learner.reg_
    (array([0.239, 0.007]), 0.1)
    """

    learns_from = ("classification",)
    about = About(
        family="discriminant",
        problem="min λ tr E'(λI + HK_ηH)⁻¹E, tr HK_ηH = 1, η ≥ 0",
        solver="Newton's method on the simplex, duality gap",
        cost="n³ + P n² for each of about 10 iterations; a float32 stack is copied",
        use="Any number of classes; the regularization can be learned with the weights.",
        reference="Ye, Chen & Ji 2007",
    )

    reg: Any = 1e-4
    _: KW_ONLY
    max_time: float | None = None

    def _learn(self, Ks: Array, targets: Targets) -> Learned:
        reg = check_reg(self.reg)
        stack = np.ascontiguousarray(Ks, float)
        try:
            found = learn_discriminant(DiscriminantProblem(stack, targets.codes, reg))
        except SingularScatterError:
            _blame_indefinite(self.view_names_, stack)
            raise
        if found.suspicious:
            _blame_indefinite(self.view_names_, stack)
        self.reg_, weights = found.reg, found.weights
        if not np.isfinite(found.reg):
            weights = strongest_kernel(stack, targets.codes)
            warn_caller(
                'reg="learn" found no kernel that separates the classes better than the identity: the '
                "learned regularisation is infinite. The weights are those of "
                f"{self.view_names_[weights.argmax()]!r} alone. Check that the labels have to do with the "
                "samples, or give a reg."
            )
        return Learned.of(found, weights, n_iter=max(1, found.n_iter))


@dataclass(eq=False, repr=False)
class KimDiscriminant(TwoClassLearner):
    """Weights of the largest regularised Fisher ratio between two classes.

    max_{θ ≥ 0, Σ θ = 1}  d'(S₊ + S₋ + λI)⁻¹d     in the feature space of Σ_m θ_m K_m / s_m

    with d the difference of the means of the classes and S₊, S₋ their covariances.

    Parameters
    ----------
    reg : float, default=1e-4
        λ > 0, in the units of the scaled kernels.
    weighted : bool, default=False
        Whether each covariance counts in proportion to the size of its class, (n₊S₊ + n₋S₋)/n, as Ye, Chen &
        Ji (2007) state the criterion. With ``normalize=True`` the weights are then those of
        :class:`DiscriminantMKL` with the same ``reg``. If not, the classes count alike, whatever their size.
    normalize : bool, default=True
        Whether s_m is the mean squared distance from the centre of all samples, tr(HK_mH) / n, so that the
        scales of the kernels do not matter. If not, s_m = 1, and a kernel of larger entries has a larger
        ratio at the same λ.
    max_time : float, default=None
        Maximum time of the fit in seconds; None for no limit.

    Attributes
    ----------
    kernel_weights_ : array of shape (n_kernels,)
        Θ_m / s_m; for more than two classes see :class:`TwoClassLearner`.
    objective_ : float, the ratio
    dual_gap_ : float, relative: no weights have a ratio above objective_ / (1 − dual_gap_)

    Examples
    --------
    >>> x, z = np.array([-1.2, 0.9, -0.8, 1.1]), np.array([1.0, 0.2, -1.0, -1.0])
    >>> learner = KimDiscriminant(reg=0.1).fit([np.outer(x, x), np.outer(z, z)], ["no", "yes", "no", "yes"])
    >>> learner.kernel_shares_.round(3), round(learner.objective_, 1)
    (array([0.917, 0.083]), 29.1)
    >>> weighted = learner.set_params(weighted=True).fit([np.outer(x, x), np.outer(z, z)], [0, 1, 0, 1])
    >>> weighted.kernel_shares_.round(3)  # those of DiscriminantMKL
    array([0.978, 0.022])
    """

    about = About(
        family="discriminant",
        problem="max d'(S₊ + S₋ + λI)⁻¹d, η in the simplex",
        solver="Newton's method on the simplex, duality gap",
        cost="n³ + P n² for each of about 10 iterations; a float32 stack is copied",
        use="Two classes, for a discriminant or a nearest-mean classifier.",
        reference="Kim, Magnani & Boyd 2006",
    )

    reg: float = 1e-4
    _: KW_ONLY
    weighted: bool = False
    normalize: bool = True
    max_time: float | None = None

    def _learn_two(self, Ks: Array, signs: Array) -> Learned:
        reg = check_number("reg", self.reg, above=0.0)
        scales = variance_scales(Ks, self.view_names_) if self.normalize else np.ones(len(Ks))
        stack = np.ascontiguousarray(Ks, float)
        try:
            found = learn_kim(stack, (signs > 0).astype(int), reg, scales=scales, weighted=self.weighted)
        except StartError:
            _blame_indefinite(self.view_names_, stack)
            raise ValueError(
                f"the within-class scatter is singular with reg={reg:.1e}, to rounding. Raise reg."
            ) from None
        if not found.objective > 0.0:
            raise ValueError(
                "Kim's weights need a kernel that tells the means of the two classes apart; for these "
                "kernels the means are equal. Use kernels that are related to these labels."
            )
        return Learned.of(found, found.weights / scales, n_iter=max(1, found.n_iter))


@dataclass(eq=False, repr=False)
class FungDiscriminant(TwoClassLearner):
    """Kernel Fisher discriminant of heterogeneous kernels, learned by least squares.

    min_{u, b, η ≥ 0}  ν/2 ‖t − Σ_m η_m K_m u / s_m − b‖² + ½ u'u + ½ η'η

    with t_i = ± n / (2 n_c) for a sample of a class of n_c and s_m = tr K_m / n, so that the scales of the
    kernels do not matter. For given η the best u is the direction of the kernel Fisher discriminant with the
    regulariser u'u / ν. This is our reading of the paper: its value is convex in u, b and in η, not in both.

    Parameters
    ----------
    reg : float, default=1.0
        1/ν > 0. Smaller: the classes are fitted more closely, with more of the finer kernels.
    tol : float, default=1e-3
        Stationarity to reach.
    max_iter : int, default=300
        Turns of the alternation and Newton's steps, each with one system of n equations.
    max_time : float, default=None
        Maximum time of the fit in seconds; None for no limit.

    Attributes
    ----------
    kernel_weights_ : array of shape (n_kernels,)
        Η_m / s_m; for more than two classes see :class:`TwoClassLearner`.
    objective_ : float
    dual_gap_ : float
        Stationarity: the larger of ‖∂u‖ / ‖u‖ and ‖η − (η − ∂η)₊‖ / ‖η‖, ∂ the gradient.

    Examples
    --------
    >>> y = np.array([1, 1, 1, -1])
    >>> learner = FungDiscriminant().fit([np.outer(y, y), np.eye(4)], y)
    >>> learner.kernel_shares_.round(2)
    array([0.8, 0.2])
    """

    certificate = "stationarity"
    about = About(
        family="discriminant",
        problem="min ν/2 ‖t − K_η u − b‖² + ½ u'u + ½ η'η, η ≥ 0",
        solver="alternates n equations and P nonnegative weights, then Newton's method; stationarity",
        cost="n³ + P n² for each of about 10 iterations; memory 2 n²",
        use="A discriminant on many kernels, where none should be dropped.",
        reference="Fung, Dundar, Bi & Rao 2004",
    )

    reg: float = 1.0
    _: KW_ONLY
    tol: float = 1e-3
    max_iter: int = 300
    max_time: float | None = None

    def _learn(self, Ks: Array, targets: Targets) -> Learned:
        learned = super()._learn(Ks, targets)
        if not learned.weights.any():
            raise ValueError(
                f"reg={self.reg:g} is so large that all kernel weights are zero. Lower reg, or use "
                f"kernels that are related to these classes."
            )
        return learned

    def _learn_two(self, Ks: Array, signs: Array) -> Learned:
        nu = 1.0 / check_number("reg", self.reg, above=0.0)
        scales = kernel_scales(Ks, self.view_names_)
        found = learn_fisher(HeterogeneousFisher(Ks, signs, nu, scales), self._options())
        return Learned.of(found, found.weights / scales, n_iter=max(1, found.n_iter))


def _blame_indefinite(names: Sequence[str], Ks: Array) -> None:
    """Raise for the first kernel that is indefinite: of large kernels only parts were looked at before."""
    for name, K in zip(names, Ks, strict=True):
        if is_indefinite(K, full=True):
            raise_indefinite(K, f"kernel {name!r}")

"""Weights by the likeness of the kernels to the targets."""

from dataclasses import dataclass, replace

import numpy as np

from .._typing import Array
from .._validation import check_choice, check_flag, check_number
from ..core.alignment import StackAlignment, align_by_least_squares, align_stack, alignment_slope
from ..core.optim.loop import Options, Status
from ..core.optim.simplex import minimize_step
from ..core.optim.weight_sets import Orthant, Simplex
from ..core.stack.sums import kernel_scales
from .learner import COMBINATIONS, About, Learned, SumOrProductLearner, TwoClassLearner, WeightLearner
from .solver.descent import ProjectedResult, minimise_projected
from .solver.divergence import GaussianDivergence, minimise_divergence
from .solver.line_spread import line_spread, minimise_spread
from .solver.products import PowerProduct, divisible_product
from .targets import Targets, unit_ideal

METHODS = ("joint", "independent")
_BEYOND = 1e-3  # of tol: the bound may be farther than the slope tells, and steps are cheap
_STARTS = (0.1, 1.0, 10.0)  # exponents, as parts of those at which usual entries are 1/e
_CERTIFIED = 1e-8
FORMS = ("convex", "dc")
_MET = 1e-5  # where a class can be made not to spread at all, the optimum is not met to rounding


@dataclass(eq=False, repr=False)
class CenteredAlignment(WeightLearner):
    """Weights by the centred alignment with the ideal kernel TT': the cosine of their angle.

    joint        max_{η ≥ 0}  A(Σ η_m K_m, TT'),  at ‖Σ η_m HK_mH‖ = 1
    independent  η_m ∝ max(A(K_m, TT'), 0) / ‖HK_mH‖,  Σ_m η_m ‖HK_mH‖ = 1

    with A(K, L) = ⟨HKH, HLH⟩ / (‖HKH‖ ‖HLH‖), H = I − 11'/n. TT' is yy' for two classes and for values, and
    1 within, −1/(k−1) between k classes.

    Parameters
    ----------
    method : {"joint", "independent"}, default="joint"

    Attributes
    ----------
    alignments_ : array of shape (n_kernels,)
        A of each kernel.
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
        cost="two passes over the stack, P² n²",
        use="The first rule to try: fast, any task, no inner model and no parameters.",
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


@dataclass(eq=False, repr=False)
class AlignmentQP(WeightLearner):
    """max_{η ≥ 0}  q'η − η'(S + λI)η,   K = Σ_m η_m K_m / ‖K_m‖

    q_m = ⟨K_m, TT'⟩ / (‖K_m‖ ‖TT'‖) and S_ml = ⟨K_m, K_l⟩ / (‖K_m‖ ‖K_l‖): kernels and the ideal kernel TT'
    are at Frobenius norm 1, so that all are cosines and λ has no unit. At λ = 0 the weights are those of best
    alignment, at large λ they are in proportion to the alignments of the single kernels. TT' is yy' for two
    classes and for values, and 1 within, −1/(k−1) between k classes.

    Parameters
    ----------
    reg : float ≥ 0, default=0.1
        λ.
    centered : bool, default=False
        Whether kernels and TT' are centred before they are compared; False is the form of the paper.
    normalize : bool, default=True
        Whether kernels and TT' are at norm 1. False is the form of the paper, K = Σ_m η_m K_m with
        q_m = ⟨K_m, TT'⟩ and S_ml = ⟨K_m, K_l⟩: λ then has the unit of a squared kernel, and of kernels of
        different scales it shrinks the weights of the small ones. At λ = 0 both give the same kernel, but
        for its scale.

    Attributes
    ----------
    kernel_weights_ : array of shape (n_kernels,)
        In the units of the kernels: η_m / ‖K_m‖ (η_m if not normalized).
    alignments_ : array of shape (n_kernels,)
        The cosines between each kernel and TT'.
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
        cost="one pass over the stack (two if centered), P² n²",
        use="Like CenteredAlignment, with weight shared among similar kernels.",
        reference="Kandola, Shawe-Taylor & Cristianini 2002",
    )

    reg: float = 0.1
    centered: bool = False
    normalize: bool = True

    def _learn(self, Ks: Array, targets: Targets) -> Learned:
        reg = check_number("reg", self.reg, at_least=0.0)
        table = align_stack(Ks, unit_ideal(targets), centered=bool(self.centered))
        self.alignments_ = table.target
        if not table.target.max() > 0.0:
            return Learned(np.zeros(len(Ks)))
        # In w_m = η_m ‖K_m‖ both forms have the cosines; λ and the size of TT' are those of the form.
        if check_flag("normalize", self.normalize):
            ridge, size = np.full(len(Ks), reg), 1.0
        else:
            ridge, size = reg / table.norms / table.norms, table.target_norm
        scales = np.sqrt(
            1.0 + ridge
        )  # of w: the program of a large λ is as well scaled as that of a small one
        q, pairs = table.target / scales, table.pairs / np.outer(scales, scales)
        np.fill_diagonal(pairs, 1.0)
        found = align_by_least_squares(replace(table, target=0.5 * q, pairs=pairs), rank=len(Ks))
        value = float(q @ found.w - found.w @ pairs @ found.w)
        upper = found.upper**2  # 2Au ≥ q: q'η − η'Aη ≤ 2u'Aη − η'Aη ≤ u'Au
        gap = max(1.0 - value / upper, 0.0)
        return Learned(size * found.w / (scales * table.norms), objective=size * size * value, gap=gap)


@dataclass(eq=False, repr=False)
class GradientAlignment(SumOrProductLearner):
    """Weights or exponents η ≥ 0 by ascent of the alignment with the ideal kernel TT' along its gradient.

        max_{η ≥ 0}  A(K_η, TT') = ⟨K_η, TT'⟩ / (‖K_η‖ ‖TT'‖)

        sum        K_η = Σ_m η_m K_m / ‖K_m‖,  Σ η_m = 1
        product    K_η = ∘_m (K_m / s_m)^{η_m}   (entry by entry), s_m the mean of K_m's diagonal

    TT' is yy' for two classes and for values, and 1 within, −1/(k−1) between k classes; K_η and TT' are
    centred first if asked for. With one Gaussian for each feature the product is exp(−Σ_j η_j (x_j − z_j)²),
    and η_j the width of feature j. The sum has one optimum, that of :class:`CenteredAlignment`, which is
    quicker; the product has several stationary points, and ends in one.

    Parameters
    ----------
    combination : {"sum", "product"}, default="sum"
        "product" needs kernels with entries above 0 only all whose powers are positive semidefinite, such as
        Gaussian and Laplacian kernels; it keeps their logarithms, half of the size of the stack.
    centered : bool, default=False
        Whether to centre; False is the form of the paper. A centred alignment does not see that a kernel is
        nearly constant: a product may then end there, at exponents near 0, and be of little use to an SVM.
    tol : float, default=1e-3
        On ``dual_gap_``.
    max_iter : int, default=300
    max_time : float, default=None
        Maximum time of the fit in seconds; None for no limit.

    Attributes
    ----------
    kernel_weights_ : array of shape (n_kernels,)
        "sum": in the units of the kernels, with Σ_m η_m ‖K_m‖ = 1 (centred norms if centred); "product": the
        exponents.
    objective_ : float, A
    dual_gap_ : float
        "sum": no weights have an alignment above objective_ / (1 − dual_gap_). "product": how far η is from
        stationary, relative to A.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> Ks = [np.exp(-np.subtract.outer(x, x) ** 2) for x in X.T]
    >>> learner = GradientAlignment("product").fit(Ks, X[:, 0] > 0.2)
    >>> learner.kernel_shares_.round(1), learner.status_
    (array([1., 0., 0.]), 'optimal')
    """

    about = About(
        family="similarity",
        problem="max A(K_η, TT'), η ≥ 0, K_η = Σ η_m K_m or ∘ K_m^{η_m}",
        solver="spectral projected gradient; bound of the optimum (sum) or stationarity (product)",
        cost="sum: two passes over the stack, P² n²; product: tens of steps of P n², P n²/2 numbers kept",
        use="Product: learns widths of features, without an inner model. Sum: CenteredAlignment is faster.",
        reference="Igel, Glasmachers, Mersch, Pfeifer & Meinicke 2007",
    )

    combination: str = "sum"
    centered: bool = False
    tol: float = 1e-3
    max_iter: int = 300
    max_time: float | None = None

    def _learn(self, Ks: Array, targets: Targets) -> Learned:
        check_choice("combination", self.combination, COMBINATIONS)
        options = self._options()
        T, self._scales = unit_ideal(targets), kernel_scales(Ks, self.view_names_)
        if self.combination == "product":
            product = divisible_product(Ks, self.view_names_, self._scales)
            return ascend_product(product, T, options, centered=bool(self.centered))
        table = align_stack(Ks, T, centered=bool(self.centered))
        if not table.target.max() > 0.0:
            return Learned(np.zeros(len(Ks)))
        return ascend_sum(table, options)


def ascend_sum(table: StackAlignment, options: Options) -> Learned:
    """Weights w / ‖K_m‖ where A is largest, w in the simplex: there A is quasi-concave, and stationary once.

    Some kernel must have a positive alignment.

    Examples
    --------
    >>> y = np.array([1.0, -1.0])
    >>> found = ascend_sum(align_stack(np.stack([np.eye(2), np.outer(y, y)]), y), Options(tol=1e-9))
    >>> found.weights.round(6).tolist(), round(found.objective, 6)
    ([0.0, 0.5], 1.0)
    """
    m = table.target.size
    unit = replace(table, norms=np.ones(m))

    def evaluate(w: Array) -> tuple[float, Array]:
        value, gradient = unit.value_and_gradient(w)
        return -value, -gradient

    inner = replace(options, tol=_BEYOND * options.tol)
    found = minimise_projected(evaluate, Simplex(), np.full(m, 1.0 / m), inner)
    w = found.point
    bound = table.dual_factor(w) * float(np.sqrt(w @ table.pairs @ w))
    gap = max(1.0 + found.objective / bound, 0.0) if bound > 0.0 else 0.0
    return _learned(found, w * (1.0 / table.norms), gap, options.tol)


def ascend_product(product: PowerProduct, T: Array, options: Options, *, centered: bool) -> Learned:
    """Exponents η ≥ 0 where A(∘ K_m^{η_m}, TT') is stationary.

    η_m is measured by u_m, the usual size of log K_m: x_m = η_m u_m. The ascent starts from the best of
    three, x_m = 0.1, 1 and 10 for all. The gap is that of x (:mod:`multikernel.rules.solver.descent`).
    """
    units = product.typical()

    def evaluate(x: Array) -> tuple[float, Array]:
        K = product.matrix(x / units)
        value, slope = alignment_slope(K, T, centered=centered)
        return -value, -product.slopes(K, slope) / units

    starts = [np.full(units.size, level / units.size) for level in _STARTS]
    values = [evaluate(start)[0] for start in starts]
    if not np.isfinite(values).any():
        raise ValueError("the product of the kernels is constant. Give kernels that differ between samples.")
    found = minimise_projected(evaluate, Orthant(), starts[int(np.nanargmin(values))], options)
    return _learned(found, found.point / units, found.gap, options.tol)


def _learned(found: ProjectedResult, weights: Array, gap: float, tol: float) -> Learned:
    """What the descent of −A found, as an ascent of A."""
    stopped = Status.STALLED if found.status == Status.OPTIMAL else found.status
    history = [{**entry, "objective": -entry["objective"]} for entry in found.history]
    status = Status.OPTIMAL if gap <= tol else stopped
    return Learned.of(found, weights, objective=-found.objective, gap=gap, status=status, history=history)


@dataclass(eq=False, repr=False)
class IdealDistance(WeightLearner):
    """min ‖Σ_m η_m K_m / s_m − TT'‖²,   η ≥ 0,  Σ_m η_m = 1   (Frobenius norm)

    TT' is the ideal kernel: yy' for two classes and for values, and 1 within, −1/(k−1) between k classes. A
    distance depends on the units of both. By default every kernel, and TT', is brought to trace n: s_m is the
    mean diagonal of K_m, and the weights depend neither on the scale of a kernel nor on that of the values.

    Parameters
    ----------
    normalize : bool, default=True
        False: s_m = 1, and TT' of values in their own units.

    Attributes
    ----------
    kernel_weights_ : array of shape (n_kernels,)
        In the units of the kernels: η_m / s_m.
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
        cost="one pass over the stack, P² n²",
        use="Sparse weights without an inner model; of fast-decaying kernels, it chooses the smallest.",
        reference="He, Chang & Xie 2008",
    )

    normalize: bool = True

    def _learn(self, Ks: Array, targets: Targets) -> Learned:
        T = unit_ideal(targets)
        T = T if self.normalize else targets.ideal
        scales = kernel_scales(Ks, self.view_names_) if self.normalize else np.ones(len(Ks))
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


@dataclass(eq=False, repr=False)
class KLDivergence(WeightLearner):
    """Least divergence between the Gaussians N(0, K_η) and N(0, K_y), η ≥ 0, Σ_m η_m = 1.

        convex   D(K_η ‖ K_y) = ½ [tr(K_y⁻¹K_η) − log det K_η + log det K_y − n]
        dc       D(K_y ‖ K_η) = ½ [tr(K_η⁻¹K_y) + log det K_η − log det K_y − n]

    K_η = λI + Σ_m η_m K_m / s_m, s_m the mean diagonal of K_m; K_y = λI + TT', with TT' of trace n: yy' for
    two classes, 1 within and −1/(k−1) between k classes, products of the values less their mean.

    The first is convex. The second is the difference of two convex functions: its concave part is replaced by
    the plane that touches it wherever the whole is not convex, again and again, and no step rises.

    Parameters
    ----------
    method : {"convex", "dc"}, default="convex"
    reg : float > 0, default=0.1
        λ, beside kernels of mean diagonal 1.
    tol : float, default=1e-3
        On ``dual_gap_``.
    max_iter : int, default=300
        Steps, each with the curvature of all pairs of kernels.
    max_time : float, default=None
        Maximum time of the fit in seconds; None for no limit.

    Attributes
    ----------
    kernel_weights_ : array of shape (n_kernels,)
        In the units of the kernels: η_m / s_m.
    objective_ : float, the divergence
    dual_gap_ : float
        convex: no weights have a divergence below objective_ by more than dual_gap_ × (objective_ + n/2).
        dc: how far η is from stationary, in the same units.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.array([1, 1, -1, -1])
    >>> learner = KLDivergence().fit([np.outer(y, y), np.eye(4)], y)
    >>> learner.kernel_weights_.round(3), round(learner.objective_, 3)
    (array([1., 0.]), 0.0)
    """

    about = About(
        family="similarity",
        problem="min KL(N(0, K_η), N(0, K_y)), or with the two exchanged; η on the simplex, λI added to both",
        solver="Newton's method on the simplex; Frank & Wolfe's bound (convex) or stationarity (dc)",
        cost="about ten steps of P n³ + P² n²",
        use="Up to a few thousand samples; classification or regression.",
        reference="Ying, Huang & Campbell 2009",
    )

    method: str = "convex"
    reg: float = 0.1
    tol: float = 1e-3
    max_iter: int = 300
    max_time: float | None = None

    @property
    def certificate(self) -> str:  # type: ignore[override]
        """What ``dual_gap_`` certifies."""
        return "stationarity" if self.method == "dc" else "optimality"

    def _learn(self, Ks: Array, targets: Targets) -> Learned:
        check_choice("method", self.method, FORMS)
        reg, options = check_number("reg", self.reg, above=0.0), self._options()
        scales = kernel_scales(Ks, self.view_names_)
        divergence = GaussianDivergence(Ks, scales, unit_ideal(targets), reg)
        found = minimise_divergence(divergence, options, towards=self.method == "convex")
        at, half = found.evaluation, 0.5 * targets.n
        history = [
            {"iteration": e["iteration"], "objective": e["objective"] - half, "gap": e["gap"]}
            for e in found.history
        ]
        return Learned.of(found, found.point / scales, objective=at.divergence, history=history)


class FeatureSpaceMeasure(TwoClassLearner):
    """min (s₊ + s₋) / ‖m₊ − m₋‖   over K = Σ_m η_m K_m / t_m,  η ≥ 0,  Σ_m η_m = 1

    m±: the centres of the two classes in the feature space of K; s±: the standard deviation, over the members
    of a class (divisor n± − 1), of their places on the line through the centres; t_m: the mean diagonal of
    K_m. This is our reading of the measure: s± along that line, not in all directions.

    The measure is quasi-convex in η, a convex function over a linear one, so that its least value on the
    simplex is found, with a bound. In the feature space of the identity the classes do not spread along that
    line at all: leave kernels near it, such as very narrow Gaussians, out. More than two classes: the mean of
    the weights of each class against the rest.

    Attributes
    ----------
    kernel_weights_ : array of shape (n_kernels,)
        In the units of the kernels: η_m / t_m.
    objective_ : float, the measure; of more than two classes, the sum
    dual_gap_ : float
        Relative: no weights have a measure below objective_ (1 − dual_gap_); where the measure comes to a
        millionth of that of single kernels, it is that part.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0, 1.0], [1.0, -1.0], [5.0, -1.0], [6.0, 1.0]])
    >>> learner = FeatureSpaceMeasure().fit([np.outer(x, x) for x in X.T + [[0.0], [0.1]]], [0, 0, 1, 1])
    >>> learner.kernel_shares_.round(3), round(learner.objective_, 3)
    (array([1., 0.]), 0.283)
    """

    about = About(
        family="similarity",
        problem="min (s₊ + s₋) / ‖m₊ − m₋‖ of the classes along the line of their centers, η on the simplex",
        solver="tens of quadratic programs of P variables, duality gap",
        cost="one pass over the stack, P n²",
        use="Two classes, each in one cluster; fast even for many kernels.",
        reference="Nguyen & Ho 2008",
    )

    def _learn_two(self, Ks: Array, signs: Array) -> Learned:
        scales = kernel_scales(Ks, self.view_names_)
        found = minimise_spread(line_spread(Ks, signs, scales))
        status = Status.OPTIMAL if found.gap <= _MET else Status.STALLED
        return Learned(
            found.weights / scales, objective=found.value, gap=found.gap, n_iter=found.n_iter, status=status
        )

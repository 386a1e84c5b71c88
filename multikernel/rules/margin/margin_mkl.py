"""Weights by the margin of a machine: the lp ball (Kloft et al.), EasyMKL, and a logarithmic penalty."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..._typing import Array
from ..._validation import check_number
from ...core.optim.loop import Recorder, Status, relative_gap
from ...core.stack.sums import kernel_scales, mean_diagonals, quadratic_sums, weighted_sum
from ...core.svm.losses import Loss, SquaredHinge, value_floor
from ...core.weights.learn import learn_weights
from ...core.weights.loop import SolveResult
from ..learner import About, Learned, TwoClassLearner, WeightLearner
from ..solver.level import LevelResult
from ..targets import TASKS, Targets


class MarginLearner(WeightLearner):
    """A learner that asks a margin machine, or one for each class or output with common weights.

    Attributes
    ----------
    dual_coef_ : array (n_machines, n), label × dual: they prove the lower bound
    """

    learns_from: ClassVar[tuple[str, ...]] = TASKS
    C: float
    epsilon: float
    nu: float = 0.5

    def _losses(self, targets: Targets) -> list[Loss]:
        """Hinge for classes, ε-insensitive for values, one-class for nothing."""
        C = check_number("C", self.C, above=0.0)
        epsilon = check_number("epsilon", self.epsilon, at_least=0.0)
        nu = check_number("nu", self.nu, above=0.0)
        if nu > 1.0:
            raise ValueError(f"nu must be at most 1: it is a share of the samples; got {nu!r}.")
        return targets.losses(C, epsilon=epsilon, nu=nu)

    def _told(self, found: LevelResult | SolveResult) -> Learned:
        """The weights with the primal value, which no weights can beat by more than the gap."""
        self.dual_coef_ = found.duals
        value = found.upper_bound if isinstance(found, SolveResult) else found.objective
        return Learned.of(found, found.weights, objective=value)


@dataclass(eq=False, repr=False)
class MarginMKL(MarginLearner):
    """Multiple kernel learning: the weights at which an SVM has the least value.

    min_{η ≥ 0, ‖d² ∘ η‖_p ≤ 1}  J(η),      J(η) = min_{w, b}  ½ Σ_m ‖w_m‖²/η_m + C Σ_i ξ_i

    with the slacks ξ of the hinge (classification; the weights are common to all one-vs-rest classifiers), of
    the ε-insensitive loss (regression), or the one-class SVM (unsupervised). p = 1 gives sparse weights and
    is the problem of Lanckriet et al., Bach et al. and SimpleMKL; p = ∞ is the plain sum.

    Parameters
    ----------
    C : float, default=1.0
        Penalty on the slack variables, for the kernels as given: kernels scaled by s need C/s.
    norm : float ≥ 1 or infinity, default=1.0
        The p of the set of weights.
    costs : array of shape (n_kernels,), default=None
        The positive d_m, 1 each by default.
    epsilon : float, default=0.1
        Half the width of the tube, for values.
    nu : float in (0, 1], default=0.5
        The largest share of samples outside, for nothing.
    tol : float, default=1e-3
        Relative duality gap to reach.
    max_iter : int, default=300
    max_time : float, default=None
        Maximum time of the fit in seconds; None for no limit.

    Attributes
    ----------
    objective_ : float, J at the weights
    dual_gap_ : float, relative: no weights have J below objective_ − dual_gap_ · |objective_|
        For nothing J may be 0 (linear kernels of centred data): |objective_| then counts as at least a
        thousandth of tr(K)/(2n²), K the smallest kernel.
    dual_coef_ : array of shape (n_machines, n_samples)
        Label × dual.

    Examples
    --------
    >>> y = np.array([-1, -1, 1, 1])
    >>> x, z = np.array([-1.2, -0.8, 0.9, 1.1]), np.array([1.0, -1.0, 1.0, -1.0])
    >>> MarginMKL(C=0.1).fit([np.outer(x, x), np.outer(z, z)], y).kernel_weights_
    array([1., 0.])
    """

    about = About(
        family="margin",
        problem="min J(η), η ≥ 0, ‖η‖_p ≤ 1, J the value of an SVM",
        solver="Newton's method on the weights, warm-started SMO, duality gap",
        cost="about ten SVM fits, passes over the active kernels; memory n²",
        use="The standard method: sparse weights at p = 1, all kernels at p = 2.",
        reference="Lanckriet et al. 2004; Rakotomamonjy et al. 2008; Kloft et al. 2011",
    )

    C: float = 1.0
    norm: float = 1.0
    costs: Any = None
    epsilon: float = 0.1
    nu: float = 0.5
    tol: float = 1e-3
    max_iter: int = 300
    max_time: float | None = None

    def _learn(self, Ks: Array, targets: Targets) -> Learned:
        norm = np.inf if self.norm == np.inf else check_number("norm", self.norm, at_least=1.0)
        costs = None if self.costs is None else positive_costs(self.costs, len(Ks), "kernels")
        options = self._options()
        return self._told(learn_weights(Ks, self._losses(targets), norm=norm, costs=costs, options=options))


def positive_costs(costs: Any, size: int, what: str) -> Array:
    """One positive cost for each kernel or group."""
    try:
        numbers = np.asarray(costs, float)
    except (TypeError, ValueError, OverflowError):
        numbers = np.empty(0)
    if numbers.shape != (size,) or not (np.isfinite(numbers).all() and (numbers > 0.0).all()):
        raise ValueError(f"costs must be {size} positive numbers, one for each of the {what}; got {costs!r}.")
    return numbers


@dataclass(eq=False, repr=False)
class EasyMKL(TwoClassLearner):
    """Weights by the distance that each kernel puts between two points of the classes' hulls.

    min_{γ ∈ Γ}  (1 − Λ) γ'Y(Σ_m K̂_m)Yγ + Λ‖γ‖²,      η_m ∝ γ'YK̂_mYγ,  Σ η = 1,      K = Σ_m η_m K̂_m

    with K̂_m = K_m n / tr K_m, Y = diag(y), and Γ: γ ≥ 0 of sum 1 in each class. This is the hard margin at
    Λ → 0 and the distance of the class means at Λ = 1; between, it is the squared hinge of C = (1 − Λ)/Λ.
    More than two classes: the mean over each against the rest.

    Parameters
    ----------
    reg : float in (0, 1], default=0.1
        Λ.
    tol : float, default=1e-3
        Relative duality gap to reach.
    max_iter : int, default=300
    max_time : float, default=None
        Maximum time of the fit in seconds; None for no limit.

    Attributes
    ----------
    kernel_weights_ : array of shape (n_kernels,)
        Η_m n / tr K_m, for the kernels as they are.
    objective_ : float, the minimum
    dual_gap_ : float, relative: no γ has a value below objective_ · (1 − dual_gap_)
    points_ : array of shape (n_machines, n_samples)
        Γ.

    Examples
    --------
    >>> y = np.array([-1, -1, 1, 1])
    >>> x, z = np.array([-1.0, -2.0, 1.0, 2.0]), np.array([1.0, -1.0, 1.0, -1.0])
    >>> EasyMKL().fit([np.outer(x, x), 10 * np.outer(z, z)], y).kernel_weights_.round(3)
    array([0.4, 0. ])

    References
    ----------
    F. Aiolli, M. Donini (2015). EasyMKL: a scalable multiple kernel learning algorithm. Neurocomputing 169.
    """

    about = About(
        family="margin",
        problem="min (1−Λ) γ'YK_ΣYγ + Λ‖γ‖² over the hulls; η_m ∝ γ'YK_mYγ",
        solver="one squared-hinge SVM by SMO, duality gap; then closed form",
        cost="one SVM fit, two passes over the stack, P n²; memory n²",
        use="Very many kernels, most of them weak: costs one SVM fit.",
        reference="Aiolli & Donini 2015",
    )

    reg: float = 0.1
    tol: float = 1e-3
    max_iter: int = 300
    max_time: float | None = None

    def _learn(self, Ks: Array, targets: Any) -> Learned:
        self.points_ = np.empty((0, targets.n))
        return super()._learn(Ks, targets)

    def _learn_two(self, Ks: Array, signs: Array) -> Learned:
        reg = check_number("reg", self.reg, above=0.0)
        if reg > 1.0:
            raise ValueError(f"reg must be at most 1; got {self.reg!r}.")
        options, sizes = self._options(), kernel_scales(Ks, self.view_names_)
        beta = signs / np.where(signs > 0.0, np.sum(signs > 0.0), np.sum(signs < 0.0))
        upper, n_iter, status = np.inf, 1, Status.OPTIMAL
        if reg < 1.0:
            loss = SquaredHinge(signs, (1.0 - reg) / reg)
            found = learn_weights(weighted_sum(Ks, 1.0 / sizes)[None], [loss], options=options)
            beta = found.duals[0] * (2.0 / np.abs(found.duals).sum())
            upper, n_iter, status = found.upper_bound, found.n_iter, found.status
        self.points_ = np.vstack([self.points_, np.abs(beta)])
        forms = quadratic_sums(Ks, beta[:, None]) / sizes
        value = (1.0 - reg) * float(forms.sum()) + reg * float(beta @ beta)
        # the machine's value is 2 (1 − Λ) / minimum
        gap = 1.0 - 2.0 * (1.0 - reg) / (upper * value) if reg < 1.0 else 0.0
        weights = forms / max(float(forms.sum()), 1e-300) / sizes
        return Learned(weights, objective=value, gap=max(gap, 0.0), n_iter=n_iter, status=status)


@dataclass(eq=False, repr=False)
class LogPenaltyMKL(MarginLearner):
    """Multiple kernel learning with a penalty that grows like a logarithm of the share of each kernel.

    min_{w, b}  ½ G² + C Σ_i ξ_i,      G = T Σ_m φ(‖w_m‖/T),   T = Σ_m ‖w_m‖,
    φ(s) = log(1 + s/e) / log(1 + 1/e)

    G is T where one kernel does everything and larger where several do; e → ∞ is :class:`MarginMKL`. G is
    bounded by its tangent, which leaves MarginMKL with costs that fall in ‖w_m‖; so it is solved again and
    again, the value never rises, and kernels of small share go. Not convex: the start is MarginMKL, and the
    result is a stationary point. The logarithm of the norms is that of the paper; that it is taken of their
    shares, so that the scale of the kernels and C keep their meaning, is our form.

    Parameters
    ----------
    C : float, default=1.0
        Penalty on the slack variables, for the kernels as given.
    share : float, default=0.1
        e, the share beyond which a kernel costs little more; the smaller, the sparser.
    epsilon : float >= 0 or "auto", default=0.1
        Of values and of nothing, as for :class:`MarginMKL`.
    nu : float in (0, 1], default=0.5
        Of values and of nothing, as for :class:`MarginMKL`.
    tol : float, default=1e-3
        For the gap.
    max_iter : int, default=300
        Convex problems to solve.
    max_time : float, default=None
        Maximum time of the fit in seconds; None for no limit.

    Attributes
    ----------
    kernel_weights_ : array of shape (n_kernels,)
        The SVM found is that of C on this kernel.
    objective_ : float, the value
    dual_gap_ : float, stationarity: the value less a lower bound of the convex function that bounds it from
        above and touches it, relative
    part_norms_ : array of shape (n_kernels,)
        ‖w_m‖.

    Examples
    --------
    >>> y = np.array([-1, -1, 1, 1])
    >>> x, z = np.array([-1.2, -0.8, 0.9, 1.1]), np.array([1.0, -1.0, 1.0, -1.0])
    >>> LogPenaltyMKL(C=1.0).fit([np.outer(x, x), np.outer(z, z)], y).part_norms_.round(2)
    array([1.18, 0.  ])

    References
    ----------
    N. Subrahmanya, Y. C. Shin (2010). Sparse multiple kernel learning for signal processing applications.
    IEEE Transactions on Pattern Analysis and Machine Intelligence 32.
    """

    certificate = "stationarity"
    about = About(
        family="margin",
        problem="min ½ (T Σ log(1 + ‖w_m‖/eT))² + C Σ ξ, T = Σ ‖w_m‖; not convex",
        solver="repeated MarginMKL with costs from tangents; stationarity",
        cost="several fits of MarginMKL",
        use="As few kernels as possible.",
        reference="Subrahmanya & Shin 2010 (form of the penalty ours)",
    )

    C: float = 1.0
    share: float = 0.1
    epsilon: float = 0.1
    nu: float = 0.5
    tol: float = 1e-3
    max_iter: int = 300
    max_time: float | None = None

    def _learn(self, Ks: Array, targets: Targets) -> Learned:
        share = check_number("share", self.share, above=0.0)
        losses, options = self._losses(targets), self._options()
        inner = replace(options, tol=0.1 * options.tol, max_iter=300)
        here = _point(Ks, learn_weights(Ks, losses, options=inner))
        floor = value_floor(losses, mean_diagonals(Ks))
        record, gap = Recorder(options.tol), np.inf
        for iteration in range(options.max_iter):
            value = _value(here, share)
            _, costs = share_penalty(here.norms, share)
            there = _point(Ks, learn_weights(Ks, losses, costs=costs, options=inner, start=here.found))
            gap = max(relative_gap(value, there.found.lower_bound, floor), 0.0)
            if record.note({"iteration": iteration + 1, "objective": value, "gap": gap}):
                break
            if _value(there, share) >= value:
                record.stop(Status.STALLED)  # the inner solver is not precise enough
                break
            here = there
        self.part_norms_, self.dual_coef_ = here.norms, here.found.duals
        return Learned(here.found.weights, objective=_value(here, share), gap=gap, **record.outcome)


def share_penalty(norms: Array, e: float) -> tuple[float, Array]:
    """G and its gradient; at 0, that of equal shares.

    G is concave and of degree one, so that it is below its tangent d't, d = ∇G, at every t, and the value is
    at most ½ (Σ_m d_m ‖w_m‖)² + risk, with equality at the point itself: MarginMKL with the costs d_m.

    Examples
    --------
    >>> value, slopes = share_penalty(np.array([2.0, 0.0]), 0.1)
    >>> round(value, 9), slopes.round(3).tolist()
    (2.0, [1.0, 4.791])
    """
    total = float(norms.sum())
    shares = norms / total if total > 0.0 else np.full(norms.size, 1.0 / norms.size)
    unit = np.log1p(1.0 / e)
    parts = np.log1p(shares / e) / unit
    slopes = 1.0 / ((e + shares) * unit)
    return total * float(parts.sum()), slopes + float(parts.sum() - slopes @ shares)


class _Point(NamedTuple):
    """A solution, the norms of its parts and its risk."""

    found: SolveResult
    norms: Array
    risk: float


def _point(Ks: Array, found: SolveResult) -> _Point:
    q = np.maximum(quadratic_sums(Ks, np.ascontiguousarray(found.duals.T)), 0.0)
    return _Point(found, found.weights * np.sqrt(q), found.upper_bound - 0.5 * float(found.weights @ q))


def _value(point: _Point, e: float) -> float:
    return 0.5 * share_penalty(point.norms, e)[0] ** 2 + point.risk

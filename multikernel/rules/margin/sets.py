"""Weights by the margin of a machine over other sets than the lp ball, all by the level method."""

from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from ..._typing import Array
from ..._validation import check_number
from ...core.optim.loop import Status
from ...core.optim.weight_sets import CappedSum, MixedNorm
from ...core.stack.sums import kernel_scales
from ...core.svm.losses import HardMargin, Loss, SquaredHinge
from ..learner import About, Learned, WeightLearner
from ..solver.level import LevelMethod, Pull
from ..solver.radius import SquaredRadius
from ..solver.radius_ratio import minimise_ratio
from ..targets import Targets
from .margin_mkl import MarginLearner, positive_costs


def _inseparable(learner: WeightLearner) -> str:
    return (
        f"{type(learner).__name__}(C=inf) needs classes that the kernels together separate; they do not. Use "
        "a finite C."
    )


@dataclass(eq=False, repr=False)
class CappedMKL(MarginLearner):
    """Selection of B kernels, relaxed: no weight is above 1.

    min_{0 ≤ η ≤ 1, Σ η = B}  J(η),      J(η) = min_{w, b}  ½ Σ_m ‖w_m‖²/η_m + C Σ_i ξ_i
    = max_{β, λ, d ≥ 0}  S(β) − ½ (Bλ + Σ_m d_m)   subject to   q_m(β) = Σ β'K_mβ ≤ λ + d_m

    with S(β) the linear part of the dual of the SVMs (the paper states twice this dual).

    Parameters
    ----------
    total : float, default=None
        B, above 0 and at most the number of kernels; half of that by default, at least 1.
    C : float, default=1.0
        Penalty on the slack variables, for the kernels as given.
    epsilon : float >= 0 or "auto", default=0.1
        Of values and of nothing, as for :class:`MarginMKL`.
    nu : float in (0, 1], default=0.5
        Of values and of nothing, as for :class:`MarginMKL`.
    tol : float, default=1e-3
        Relative duality gap to reach.
    max_iter : int, default=300
    max_time : float, default=None
        Maximum time of the fit in seconds; None for no limit.

    Attributes
    ----------
    objective_ : float, J at the weights
    dual_gap_ : float, relative: no weights have J below objective_ − dual_gap_ · |objective_|
        (for nothing as for :class:`MarginMKL`, where J is 0)
    dual_coef_ : array of shape (n_machines, n_samples)
        Label × dual.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.array([-1, -1, 1, 1])
    >>> x, z = np.array([-1.2, -0.8, 0.9, 1.1]), np.array([1.0, -1.0, 1.0, -1.0])
    >>> Ks = [np.outer(x, x), np.outer(z, z), np.outer(y, y)]
    >>> CappedMKL(total=2.0).fit(Ks, y).kernel_weights_.round(1)
    array([0.9, 0.1, 1. ])

    References
    ----------
    Z. Xu, R. Jin, J. Ye, M. Lyu, I. King (2009). Non-monotonic feature selection. ICML.
    """

    about = About(
        family="margin",
        problem="min J(η), 0 ≤ η ≤ 1, Σ η = B",
        solver="level method, duality gap",
        cost="tens of SVM fits, passes over the stack; memory n²",
        use="To choose about B of the kernels or features.",
        reference="Xu et al. 2009 (feature selection)",
    )

    total: float | None = None
    C: float = 1.0
    epsilon: float = 0.1
    nu: float = 0.5
    tol: float = 1e-3
    max_iter: int = 300
    max_time: float | None = None

    def _learn(self, Ks: Array, targets: Targets) -> Learned:
        P = len(Ks)
        total = max(0.5 * P, 1.0) if self.total is None else check_number("total", self.total, above=0.0)
        if total > P:
            raise ValueError(f"total must be at most the number of kernels, {P}; got {self.total!r}.")
        found = LevelMethod(Ks, self._losses(targets), CappedSum(P, total), self._options()).run()
        learned = self._told(found)
        missing = total - float(learned.weights.sum())  # of kernels that make no difference
        if missing > 0.0:
            room = 1.0 - learned.weights
            learned.weights[:] += missing * room / max(float(room.sum()), missing)
        return learned


@dataclass(eq=False, repr=False)
class LowerBoundedMKL(MarginLearner):
    """Multiple kernel learning in which no kernel is left out.

    min_{η ≥ η_min, Σ η = 1}  J(η),      J(η) = min_{w, b}  ½ Σ_m ‖w_m‖²/η_m + C Σ_i ξ_i

    The paper has the one-class SVM (fit without y), where this is the dual of
    min_α  η_min Σ_m α'K_mα + (1 − P η_min) max_m α'K_mα,  Σα = 1, 0 ≤ α ≤ 1/(νn).

    Parameters
    ----------
    lowest : float in [0, 1), default=0.5
        η_min in units of 1/P: 0 is :class:`MarginMKL` of norm 1, at 1 all weights would be equal.
    C : float, default=1.0
        Penalty on the slack variables, for the kernels as given.
    epsilon : float >= 0 or "auto", default=0.1
        Of values and of nothing, as for :class:`MarginMKL`.
    nu : float in (0, 1], default=0.5
        Of values and of nothing, as for :class:`MarginMKL`.
    tol : float, default=1e-3
        Relative duality gap to reach.
    max_iter : int, default=300
    max_time : float, default=None
        Maximum time of the fit in seconds; None for no limit.

    Attributes
    ----------
    objective_ : float, J at the weights
    dual_gap_ : float, relative: no weights have J below objective_ − dual_gap_ · |objective_|
        (for nothing as for :class:`MarginMKL`, where J is 0)
    dual_coef_ : array of shape (n_machines, n_samples)
        Label × dual.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.array([1.0, 1.0, 1.0, 3.0])
    >>> LowerBoundedMKL(lowest=0.5).fit([np.outer(x, x), np.eye(4)]).kernel_weights_.round(3)
    array([0.75, 0.25])

    References
    ----------
    T. De Bie, L.-C. Tranchevent, L. van Oeffelen, Y. Moreau (2007). Kernel-based data fusion for gene
    prioritization. Bioinformatics 23.
    """

    about = About(
        family="margin",
        problem="min J(η), η ≥ η_min, Σ η = 1",
        solver="level method, duality gap",
        cost="tens of SVM fits, passes over the stack; memory n²",
        use="One class, or few samples: every kernel keeps a minimum weight.",
        reference="De Bie et al. 2007",
    )

    lowest: float = 0.5
    C: float = 1.0
    epsilon: float = 0.1
    nu: float = 0.5
    tol: float = 1e-3
    max_iter: int = 300
    max_time: float | None = None

    def _learn(self, Ks: Array, targets: Targets) -> Learned:
        lowest = check_number("lowest", self.lowest, at_least=0.0)
        if lowest >= 1.0:
            raise ValueError(
                f"lowest must be below 1; got {self.lowest!r}. Use MeanRule() for equal weights."
            )
        gauge, floor = CappedSum(len(Ks), 1.0 - lowest), lowest / len(Ks)
        return self._told(LevelMethod(Ks, self._losses(targets), gauge, self._options(), floor=floor).run())


@dataclass(eq=False, repr=False)
class ElasticNetMKL(MarginLearner):
    """Multiple kernel learning with a penalty on the distance from equal weights.

    min_{η ≥ 0, Σ η = 1}  J(η) + λ Σ_m (η_m − 1/P)²,      J(η) = min_{w, b}  ½ Σ_m ‖w_m‖²/η_m + C Σ_i ξ_i

    λ = 0 is :class:`MarginMKL` of norm 1, λ → ∞ the mean of the kernels.

    Parameters
    ----------
    C : float, default=1.0
        Penalty on the slack variables, for the kernels as given.
    reg : float ≥ 0, default=1.0
        λ, in the units of J, whose size at C is at most C × the number of samples.
    epsilon : float >= 0 or "auto", default=0.1
        Of values and of nothing, as for :class:`MarginMKL`.
    nu : float in (0, 1], default=0.5
        Of values and of nothing, as for :class:`MarginMKL`.
    tol : float, default=1e-3
        Relative duality gap to reach.
    max_iter : int, default=300
    max_time : float, default=None
        Maximum time of the fit in seconds; None for no limit.

    Attributes
    ----------
    objective_ : float, J and penalty at the weights
    dual_gap_ : float, relative: no weights have a value below objective_ − dual_gap_ · |objective_|
        (for nothing as for :class:`MarginMKL`, where J is 0)
    dual_coef_ : array of shape (n_machines, n_samples)
        Label × dual.

    Examples
    --------
    >>> y = np.array([-1, -1, 1, 1])
    >>> x, z = np.array([-1.2, -0.8, 0.9, 1.1]), np.array([1.0, -1.0, 1.0, -1.0])
    >>> Ks = [np.outer(x, x), np.outer(z, z)]
    >>> ElasticNetMKL(C=0.1, reg=0.1).fit(Ks, y).kernel_weights_.round(1)
    array([0.7, 0.3])

    References
    ----------
    C. Longworth, M. Gales (2009). Combining derivative and parametric kernels for speaker verification. IEEE
    Transactions on Audio, Speech, and Language Processing 17.
    """

    about = About(
        family="margin",
        problem="min J(η) + λ Σ (η_m − 1/P)² on the simplex",
        solver="level method, duality gap",
        cost="tens of SVM fits, passes over the stack; memory n²",
        use="Where MarginMKL drops kernels that should keep weight.",
        reference="Longworth & Gales 2008, 2009",
    )

    C: float = 1.0
    reg: float = 1.0
    epsilon: float = 0.1
    nu: float = 0.5
    tol: float = 1e-3
    max_iter: int = 300
    max_time: float | None = None

    def _learn(self, Ks: Array, targets: Targets) -> Learned:
        reg = check_number("reg", self.reg, at_least=0.0)
        pull = Pull(reg, np.full(len(Ks), 1.0 / len(Ks))) if reg > 0.0 else None
        return self._told(
            LevelMethod(Ks, self._losses(targets), CappedSum(len(Ks)), self._options(), pull=pull).run()
        )


@dataclass(eq=False, repr=False)
class GroupMKL(MarginLearner):
    """Composite kernel learning: sparse over groups of kernels, less so (or not) within them.

    min_{w, b}  ½ (Σ_l d_l (Σ_{m ∈ l} ‖w_m‖^s)^{r/s})^{2/r} + C Σ_i ξ_i
    = min_{η ≥ 0}  J(η)   subject to   Σ_l (d_l^{2/r} ‖η_l‖_{s/(2−s)})^{r/(2−r)} ≤ 1

    for groups l of kernels, 1 ≤ r, s ≤ 2, and J(η) = min ½ Σ_m ‖w_m‖²/η_m + C Σ_i ξ_i. r = 1 leaves groups
    out, s = 1 kernels within a group; r = 2 or s = 2 treats them alike. r = s = 1 is :class:`MarginMKL`, and
    so is r = s with its norm p = r/(2 − r). Our reading of the exponents of the paper: with K = Σ_l σ_l^p
    Σ_{m ∈ l} σ_m^q K_m and Σ_l d_l σ_l ≤ 1, Σ_{m ∈ l} σ_m ≤ 1, they are r = 2/(p + 1), s = 2/(q + 1), and our
    d_l is its d_l to the power 1 − r/2.

    Parameters
    ----------
    groups : list of lists of numbers or names of kernels, default=None
        Each kernel once; default: each is a group.
    C : float, default=1.0
        Penalty on the slack variables, for the kernels as given.
    inner : float in [1, 2], default=1.3333333333333333
        s and r.
    outer : float in [1, 2], default=1.0
        s and r.
    costs : array of shape (n_groups,), default=None
        The positive d_l, 1 each by default.
    epsilon : float >= 0 or "auto", default=0.1
        Of values and of nothing, as for :class:`MarginMKL`.
    nu : float in (0, 1], default=0.5
        Of values and of nothing, as for :class:`MarginMKL`.
    tol : float, default=1e-3
        Relative duality gap to reach.
    max_iter : int, default=300
    max_time : float, default=None
        Maximum time of the fit in seconds; None for no limit.

    Attributes
    ----------
    groups_ : int array of shape (n_kernels,)
        The group of each kernel.
    objective_ : float, J at the weights
    dual_gap_ : float, relative: no weights have J below objective_ − dual_gap_ · |objective_|
        (for nothing as for :class:`MarginMKL`, where J is 0)
    dual_coef_ : array of shape (n_machines, n_samples)
        Label × dual.

    Examples
    --------
    >>> y = np.array([-1, -1, 1, 1])
    >>> x, z = np.array([-1.2, -0.8, 0.9, 1.1]), np.array([1.0, -1.0, 1.0, -1.0])
    >>> Ks = {"x": np.outer(x, x), "noisy x": np.outer(x + 0.3 * z, x + 0.3 * z), "z": np.outer(z, z)}
    >>> GroupMKL([["x", "noisy x"], ["z"]], C=0.1).fit(Ks, y).kernel_weights_.round(2)
    array([0.71, 0.71, 0.  ])

    References
    ----------
    M. Szafranski, Y. Grandvalet, A. Rakotomamonjy (2008). Composite kernel learning. ICML.
    """

    about = About(
        family="margin",
        problem="min J(η), mixed norm of η over groups of kernels ≤ 1",
        solver="level method with cuts of the norm, duality gap",
        cost="tens of SVM fits, passes over the stack; memory n²",
        use="Kernels in groups, such as several widths of one view.",
        reference="Szafranski, Grandvalet & Rakotomamonjy 2008",
    )

    groups: Sequence[Sequence[Any]] | None = None
    C: float = 1.0
    _: KW_ONLY
    inner: float = 4.0 / 3.0
    outer: float = 1.0
    costs: Any = None
    epsilon: float = 0.1
    nu: float = 0.5
    tol: float = 1e-3
    max_iter: int = 300
    max_time: float | None = None

    def _learn(self, Ks: Array, targets: Targets) -> Learned:
        inner, outer = _exponent("inner", self.inner), _exponent("outer", self.outer)
        self.groups_ = group_codes(self.groups, self.view_names_)
        size = int(self.groups_.max()) + 1
        costs = np.ones(size) if self.costs is None else positive_costs(self.costs, size, "groups")
        costs = costs ** (2.0 / check_number("outer", self.outer))
        options, losses = self._options(), self._losses(targets)
        if np.isinf(inner):  # one weight for each group
            gauge = MixedNorm(np.arange(size), 1.0, outer, costs)
            return self._told(LevelMethod(Ks, losses, gauge, options, ties=self.groups_).run())
        gauge = MixedNorm(self.groups_, inner, outer, costs)
        return self._told(LevelMethod(Ks, losses, gauge, options).run())


def _exponent(name: str, value: Any) -> float:
    """The exponent of the weights, p/(2 − p), for one of the norms of w."""
    p = check_number(name, value, at_least=1.0)
    if p > 2.0:
        raise ValueError(f"{name} must be between 1 and 2; got {value!r}.")
    return p / (2.0 - p) if p < 2.0 else np.inf


def group_codes(groups: Sequence[Sequence[Any]] | None, names: Sequence[str]) -> Array:
    """The group of each kernel, from lists of their numbers or names; None: each is its own.

    Examples
    --------
    >>> group_codes([["a", "c"], [1]], ["a", "b", "c"]).tolist()
    [0, 1, 0]
    """
    if groups is None:
        return np.arange(len(names))
    listed = isinstance(groups, Iterable) and not isinstance(groups, str)
    if not (listed and all(isinstance(group, Iterable) and not isinstance(group, str) for group in groups)):
        raise TypeError(f"groups must be lists of names or numbers of kernels; got {groups!r}.")
    codes = np.full(len(names), -1)
    for l, group in enumerate(groups):
        for kernel in group:
            m = _number(kernel, names)
            if codes[m] >= 0:
                raise ValueError(f"groups must hold each kernel once; {kernel!r} is there twice.")
            codes[m] = l
    if (codes < 0).any():
        left = [name for name, code in zip(names, codes, strict=True) if code < 0]
        raise ValueError(f"groups must hold each of the {len(names)} kernels; left out: {left}.")
    if len(np.unique(codes)) < len(groups):
        raise ValueError("groups must not be empty: leave empty ones out.")
    return codes


def _number(kernel: Any, names: Sequence[str]) -> int:
    if isinstance(kernel, str):
        if kernel in names:
            return list(names).index(kernel)
    elif isinstance(kernel, int | np.integer) and 0 <= kernel < len(names):
        return int(kernel)
    raise ValueError(f"groups must hold names or numbers of kernels, {list(names)}; got {kernel!r}.")


@dataclass(eq=False, repr=False)
class RadiusMargin(MarginLearner):
    """The least value of an SVM among kernels whose samples lie in a ball of radius 1.

    min_{η ≥ 0}  J(η)   subject to   R²(η) = max_{b ≥ 0, Σb = 1}  Σ_m η_m (b'diag K_m − b'K_mb) ≤ 1

    J is the value ½‖w‖² + (C/2) Σ ξ² of the squared hinge (classes; common weights for all one-vs-rest
    SVMs), ½/γ² of the hard margin γ at C = ∞, or the value of the ε-insensitive SVM (regression). R is
    the radius of the smallest ball around the samples. Both are convex in η, so that the minimum is global;
    with the hard margin it is half the least R²/γ², the quantity of bounds of the error. The formulation is
    ours; the idea to learn kernels by the ratio of radius and margin is that of the works below. Of a kernel
    scaled by s the weight is divided by s, and C stays the same: R² ≤ 1 sets the scale.

    Parameters
    ----------
    C : float or infinity, default=1.0
        Penalty on the slack variables.
    epsilon : float, default=0.1
        Half the width of the tube, for values.
    tol : float, default=1e-3
        Relative duality gap to reach.
    max_iter : int, default=300
    max_time : float, default=None
        Maximum time of the fit in seconds; None for no limit.

    Attributes
    ----------
    objective_ : float, J at the weights
    dual_gap_ : float, relative: no weights have J below objective_ · (1 − dual_gap_)
    dual_coef_ : array of shape (n_machines, n_samples)
        Label × dual.
    ball_ : array of shape (n_samples,)
        B. With r_m = b'diag K_m − b'K_mb and q_m = Σ β'K_mβ, the lower bound is.
        S(β) − ½ max_m q_m / r_m, S(β) the linear part of the SVMs' dual

    Examples
    --------
    >>> y = np.array([-1, -1, 1, 1])
    >>> x, z = np.array([-1.0, -2.0, 1.0, 2.0]), np.array([-1.0, -1.0, 1.0, 1.0])
    >>> learner = RadiusMargin(C=np.inf).fit([np.outer(x, x), 4 * np.outer(z, z)], y)
    >>> learner.kernel_weights_.round(3), round(learner.objective_, 3)
    (array([0.  , 0.25]), 0.5)

    References
    ----------
    I. Lauriola, M. Polato, F. Aiolli (2017). Radius-margin ratio optimization for dot-product boolean kernel
    learning. ICANN.
    H. Do, A. Kalousis, A. Woznica, M. Hilario (2009). Margin and radius based multiple kernel learning. ECML.
    """

    learns_from = ("classification", "regression")
    about = About(
        family="margin",
        problem="min J(η), R²(η) ≤ 1: the least ratio of squared radius and margin",
        solver="level method with cuts of the radius, duality gap",
        cost="tens of SVM and smallest-ball fits, passes over the stack; memory n²",
        use="Kernels of any scale, without choosing a normalization.",
        reference="our formulation; idea of Do et al. 2009, Lauriola et al. 2017",
    )

    C: float = 1.0
    epsilon: float = 0.1
    tol: float = 1e-3
    max_iter: int = 300
    max_time: float | None = None

    def _losses(self, targets: Targets) -> list[Loss]:
        if targets.task == "regression":
            C = check_number("C", self.C, above=0.0)
            return targets.losses(C, epsilon=check_number("epsilon", self.epsilon, at_least=0.0))
        return _margins(targets, self.C)

    def _learn(self, Ks: Array, targets: Targets) -> Learned:
        options = self._options()
        radius = SquaredRadius(Ks, tol=0.01 * options.tol)
        found = LevelMethod(Ks, self._losses(targets), radius, options).run()
        if found.status == Status.INSEPARABLE:
            raise ValueError(_inseparable(self))
        shares = found.prices
        shares[: len(Ks)] += found.excess  # the first rows are those of the kernels alone
        self.ball_ = shares @ np.array(radius.balls) / max(float(shares.sum()), 1e-300)
        return self._told(found)


def _margins(targets: Targets, C: Any) -> list[Loss]:
    """The squared hinge of each machine, or the hard margin at an infinite C."""
    if isinstance(C, float | np.floating) and np.isposinf(C):
        return [HardMargin(signs) for signs in targets.signs]
    price = check_number("C", C, above=0.0)
    return [SquaredHinge(signs, price) for signs in targets.signs]


@dataclass(eq=False, repr=False)
class RadiusMarginProduct(MarginLearner):
    """Weights by descent of squared radius times squared norm, a bound of the leave-one-out error.

    min_{η ≥ 0, Σ_m η_m s_m = 1}  R²(η) ‖w(η)‖²,      s_m = tr K_m / n

    R is the radius of the smallest ball around the samples, and ‖w‖ the norm of the hard-margin SVM
    (1/margin), both in the feature space of K_η + I/C: with I/C in the kernel, the squared hinge is a hard
    margin. Of more than two classes the squared norms of the one-vs-rest SVMs are added. The weights go
    down from equal ones along the derivatives of radius and margin, ∂‖w‖²/∂η_m = −β'K_mβ and ∂R²/∂η_m =
    b'diag K_m − b'K_mb. The problem is not convex; this is a stationary point. :class:`RadiusMargin` is a
    convex problem with a certificate, and has the same optimum at C = ∞, where the scale of η does not
    matter.

    Parameters
    ----------
    C : float or infinity, default=1.0
        Penalty on the squared slacks, for kernels of mean diagonal 1.
    tol : float, default=1e-3
        Stationarity to reach.
    max_iter : int, default=300
    max_time : float, default=None
        Maximum time of the fit in seconds; None for no limit.

    Attributes
    ----------
    objective_ : float, R²‖w‖² at the weights
    dual_gap_ : float
        Stationarity: how much the tangent of the objective falls over the set of weights, relative to it.
    dual_coef_ : array of shape (n_machines, n_samples)
        Label × dual.
    ball_ : array of shape (n_samples,)
        B: the center of the ball is Σ_i b_i φ(x_i).

    Examples
    --------
    >>> y = np.array([-1, -1, 1, 1])
    >>> x, z = np.array([-1.0, -2.0, 1.0, 2.0]), np.array([-1.0, -1.0, 1.0, 1.0])
    >>> learner = RadiusMarginProduct(C=np.inf).fit([np.outer(x, x), 4 * np.outer(z, z)], y)
    >>> learner.kernel_weights_.round(3), round(learner.objective_, 3)
    (array([0.  , 0.25]), 1.0)

    References
    ----------
    O. Chapelle, V. Vapnik, O. Bousquet, S. Mukherjee (2002). Choosing multiple parameters for support vector
    machines. Machine Learning 46.
    """

    learns_from = ("classification",)
    certificate = "stationarity"
    about = About(
        family="margin",
        problem="min R²(η) ‖w(η)‖², both of K_η + I/C, η ≥ 0, Σ η_m tr K_m / n = 1",
        solver="projected gradient on radius and margin, stationarity (not convex)",
        cost="tens of SVM and smallest-ball fits, P n² each; memory n²",
        use="To compare with the literature; RadiusMargin is the convex problem.",
        reference="Chapelle, Vapnik, Bousquet & Mukherjee 2002",
    )

    C: float = 1.0
    tol: float = 1e-3
    max_iter: int = 300
    max_time: float | None = None

    def _learn(self, Ks: Array, targets: Targets) -> Learned:
        losses, options = _margins(targets, self.C), self._options()
        ridge = 0.0 if np.isposinf(self.C) else 1.0 / self.C
        units = 1.0 / kernel_scales(Ks, self.view_names_)
        found, point = minimise_ratio(Ks, losses, ridge, units, options)
        if found.status == Status.INSEPARABLE:
            raise ValueError(_inseparable(self))
        self.dual_coef_, self.ball_ = point.duals, point.center
        return Learned.of(found, found.point * units, n_iter=max(1, found.n_iter))

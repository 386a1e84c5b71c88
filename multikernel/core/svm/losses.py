"""The losses of the kernel machines: their dual problem and the primal bound that certifies it.

Every machine of the library, with one fixed kernel K, is

    max_β  y'β − ε‖β‖₁ − ½ β'(K + diag(shift))β   subject to   lower ≤ β ≤ upper,  Σβ = total

(β is label × dual for a classifier). A loss object states these data, and gives an upper bound of the
optimal value from any scores f = Kβ: the primal value ½ s²‖w‖² + risk(s f), with the best scale s near 1
and the best intercept. Dual and primal value meet at the optimum; their difference is the certificate.

===================  ==========================================  =================================
loss                 risk(f) = min over the intercept b          dual
===================  ==========================================  =================================
Hinge                Σ C_i [1 − y_i(f_i + b)]₊                   0 ≤ y_i β_i ≤ C_i
SquaredHinge         Σ (C_i/2) [1 − y_i(f_i + b)]₊²              0 ≤ y_i β_i, shift = 1/C_i
HardMargin           0 if some b gives y_i(f_i + b) ≥ 1          0 ≤ y_i β_i
EpsilonInsensitive   Σ C_i [|y_i − f_i − b| − ε]₊                −C_i ≤ β_i ≤ C_i
OneClass             Σ C_i [ρ − f_i]₊ − ρ, b = −ρ                0 ≤ β_i ≤ C_i, Σβ = 1
SquaredError         Σ (y_i − f_i − b)² / (2 ridge_i)            β free, shift = ridge_i
===================  ==========================================  =================================

The primal value of the hinge is needed often, and must cost next to nothing: its order statistics are
compiled.

**Joint hinge** (:class:`JointHinge`): the loss of all classes in one machine, whose dual has one column for
each class; of Weston & Watkins (1999) where every reward is 2.

    Σ_i C_i Σ_{l ≠ y_i} [R_il − (f_i^{y_i} − f_i^l)]₊,     f^l = w_l'φ + b_l

Its dual variables α_il are 0 ≤ α_il ≤ C_i, in the form B_il = [l = y_i] Σ_k α_ik − α_il that the scores
have: f^l(x) = Σ_i B_il k(x_i, x) + b_l. See :mod:`multikernel.core.svm.joint.solver` for the problem.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np

from ..._numba import compiled, larger, smaller
from ..._typing import Array

_LEAST_KERNEL = 1e-8
_LEAST_SHARE = 1e-3  # of its natural size: one-class values below it count as 0
_SCALES = 1.0 + 10.0 ** np.arange(-7.0, 0.0)
_NO_SCALES = np.empty(0)
REWARD = 2.0


# ---------------------------------------------------------------------- compiled order statistics
@compiled
def _select(values: Array, k: int) -> float:
    """The k-th smallest of ``values``, which are reordered so that smaller ones stand before it."""
    low = 0
    high = values.size - 1
    while low < high:
        middle = (low + high) >> 1
        if values[middle] < values[low]:
            values[middle], values[low] = values[low], values[middle]
        if values[high] < values[low]:
            values[high], values[low] = values[low], values[high]
        if values[high] < values[middle]:
            values[high], values[middle] = values[middle], values[high]
        pivot = values[middle]
        i = low
        j = high
        while i <= j:
            while values[i] < pivot:
                i += 1
            while pivot < values[j]:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if k <= j:
            high = j
        elif k >= i:
            low = i
        else:
            break
    return values[k]


@compiled
def _hinge_risk(y: Array, scores: Array, scale: float, C: float, n_positive: int, scratch: Array) -> Any:
    """C Σ [1 − y(s f + b)]₊ at the best b, which lies between two order statistics of y − s f."""
    n = y.size
    for t in range(n):
        scratch[t] = y[t] - scale * scores[t]
    k = n_positive
    if k == 0 or k == n:
        b = _select(scratch, max(k - 1, 0))
    else:
        below = _select(scratch, k - 1)
        above = 1e300
        for t in range(k, n):
            above = smaller(scratch[t], above)
        b = 0.5 * (below + above)
    total = 0.0
    for t in range(n):
        total += larger(1.0 - y[t] * (scale * scores[t] + b), 0.0)
    return C * total, b


@compiled
def hinge_bound(y: Array, scores: Array, norm2: float, C: float, n_positive: int, scales: Array) -> Any:
    """The least primal value over growing scales (it is convex), the value at scale 1, and its intercept."""
    scratch = np.empty(y.size)
    risk, intercept = _hinge_risk(y, scores, 1.0, C, n_positive, scratch)
    plain = 0.5 * norm2 + risk
    best = plain
    for k in range(scales.size):
        value = 0.5 * scales[k] * scales[k] * norm2
        if value < best:
            value += _hinge_risk(y, scores, scales[k], C, n_positive, scratch)[0]
        if value >= best:
            break
        best = value
    return best, plain, intercept


# ---------------------------------------------------------------------- losses
class Bound(NamedTuple):
    """The best primal value found over scalings of the scores, and the one of the scores as they are.

    The first steers a solver, the second certifies the predictor f + intercept.
    """

    value: float
    plain: float
    intercept: float


def _weighted_quantile(points: Array, weights: Array, level: float) -> float:
    """The minimiser of a convex piecewise linear function that gains slope ``weights[i]`` at ``points[i]``.

    ``level`` is minus the slope at −∞: the middle of the interval where the slope is zero is returned.
    """
    order = np.argsort(points, kind="stable")
    slope = np.cumsum(weights[order]) - level
    tolerance = 1e-12 * max(level, 1e-300)
    k = min(int(np.searchsorted(slope, -tolerance)), points.size - 1)
    if abs(slope[k]) <= tolerance and k + 1 < points.size:
        return float(0.5 * (points[order[k]] + points[order[k + 1]]))
    return float(points[order[k]])


@dataclass(frozen=True)
class Loss(ABC):
    """Data of one dual problem; see the module's table. Arrays have one entry for each sample."""

    target: Array

    epsilon = 0.0
    total = 0.0
    has_intercept = True

    @property
    @abstractmethod
    def lower(self) -> Array:
        """Lower bounds of β."""

    @property
    @abstractmethod
    def upper(self) -> Array:
        """Upper bounds of β."""

    @property
    def shift(self) -> Array:
        """What the dual adds to the kernel's diagonal."""
        return np.zeros(self.target.size)

    @property
    def start(self) -> Array:
        """A feasible β."""
        return np.zeros(self.target.size)

    @abstractmethod
    def risk(self, scores: Array) -> tuple[float, float]:
        """The loss of the scores with the best intercept, and that intercept."""

    @abstractmethod
    def restrict(self, index: Array, factor: float) -> "Loss":
        """The same loss on some of the samples, each counted ``factor`` times."""

    @abstractmethod
    def rescaled(self, kernel_scale: float, target_scale: float) -> "Loss":
        """The loss for K/kernel_scale and y/target_scale; β becomes β · kernel_scale / target_scale."""

    @property
    def identity(self) -> Array:
        """The diagonal kernel whose weight is learned with C."""
        raise TypeError(f"a learned C needs the hard margin as its loss; got {type(self).__name__}.")

    def with_ridge(self, ridge: float) -> "Loss":
        """The loss that this one becomes when ``ridge`` times that kernel is part of the sum."""
        raise TypeError(
            f"a learned multiple of the identity needs the hard margin; got {type(self).__name__}."
        )

    def least_size(self, mean_diagonal: float) -> float:
        """What a gap is at least relative to, at this mean diagonal of K: 0 where values tell it."""
        return 0.0

    def bound(self, scores: Array, norm2: float) -> Bound:
        """½ s² norm2 + risk(s · scores) at s = 1, and the least of it over a few larger s (convex in s)."""
        risk, intercept = self.risk(scores)
        plain = best = 0.5 * norm2 + risk
        for scale in _SCALES:
            value = 0.5 * scale * scale * norm2
            if value < best:
                value += self.risk(scale * scores)[0]
            if value >= best:
                break
            best = value
        return Bound(best, plain, intercept)

    def plain_bound(self, scores: Array, norm2: float) -> Bound:
        """The bound of the scores as they are, for which no scale is tried."""
        risk, intercept = self.risk(scores)
        value = 0.5 * norm2 + risk
        return Bound(value, value, intercept)


def _per_sample(value: Array | float, target: Array) -> Array:
    """One number for each sample, from one for all or one for each."""
    return np.broadcast_to(np.asarray(value, float), target.shape)


@dataclass(frozen=True)
class _PricedLoss(Loss):
    """A loss with a penalty on the margin violations of each sample (or one for all)."""

    C: Array | float

    @cached_property
    def _C(self) -> Array:
        return _per_sample(self.C, self.target)

    def restrict(self, index: Array, factor: float) -> Self:
        return replace(self, target=self.target[index], C=self._C[index] * factor)

    def rescaled(self, kernel_scale: float, target_scale: float) -> Self:
        return replace(self, C=self._C * kernel_scale)


class _Unbounded(Loss):
    """The duals of ±1 have no bound but their sign."""

    @property
    def lower(self) -> Array:
        return np.where(self.target > 0, 0.0, -np.inf)

    @property
    def upper(self) -> Array:
        return np.where(self.target > 0, np.inf, 0.0)


@dataclass(frozen=True)
class Hinge(_PricedLoss):
    """The 1-norm soft margin; ``target`` holds ±1, ``C`` one bound for each sample (or one for all)."""

    @property
    def lower(self) -> Array:
        return np.where(self.target > 0, 0.0, -self._C)

    @property
    def upper(self) -> Array:
        return np.where(self.target > 0, self._C, 0.0)

    @cached_property
    def _n_positive(self) -> int:
        return int(np.count_nonzero(self.target > 0))

    @cached_property
    def _common_C(self) -> float | None:
        """C if it is the same for all samples: the bound is then found much faster."""
        return float(self._C[0]) if np.ptp(self._C) == 0.0 else None

    def risk(self, scores: Array) -> tuple[float, float]:
        y = self.target
        b = _weighted_quantile(y - scores, self._C, float(self._C[y > 0].sum()))
        slack = np.maximum(1.0 - y * (scores + b), 0.0)
        return float(self._C @ slack), b

    def bound(self, scores: Array, norm2: float) -> Bound:
        if self._common_C is None:
            return super().bound(scores, norm2)
        return self._bound_at(scores, norm2, self._common_C, _SCALES)

    def plain_bound(self, scores: Array, norm2: float) -> Bound:
        if self._common_C is None:
            return super().plain_bound(scores, norm2)
        return self._bound_at(scores, norm2, self._common_C, _NO_SCALES)

    def _bound_at(self, scores: Array, norm2: float, C: float, scales: Array) -> Bound:
        if not np.isfinite(scores).all():  # kernels out of range: order statistics are not safe from NaN
            return Bound(np.inf, np.inf, 0.0)
        return Bound(*hinge_bound(self.target, scores, norm2, C, self._n_positive, scales))


@dataclass(frozen=True)
class HardMargin(_Unbounded):
    """No slack at all; bounded only when the kernel separates the classes.

    ``weights`` count where a learned multiple of the identity makes it a squared hinge.
    """

    weights: Array | float = 1.0

    @property
    def identity(self) -> Array:
        return 1.0 / _per_sample(self.weights, self.target)

    def half_width(self, scores: Array) -> tuple[float, float]:
        """Half the distance between the classes' scores (negative if they overlap), and the middle."""
        low = float(scores[self.target > 0].min())
        high = float(scores[self.target < 0].max())
        return 0.5 * (low - high), 0.5 * (low + high)

    def risk(self, scores: Array) -> tuple[float, float]:
        half, middle = self.half_width(scores)
        return (0.0 if half >= 1.0 else np.inf), -middle

    def bound(self, scores: Array, norm2: float) -> Bound:
        """The norm of the scores scaled to the margin 1; the intercept belongs to the scaled scores."""
        half, middle = self.half_width(scores)
        if half <= 0.0:
            return Bound(np.inf, np.inf, -middle)
        value = 0.5 * norm2 / (half * half)
        return Bound(value, value, -middle / half)

    def restrict(self, index: Array, factor: float) -> "HardMargin":
        return HardMargin(self.target[index], _per_sample(self.weights, self.target)[index] * factor)

    def rescaled(self, kernel_scale: float, target_scale: float) -> "HardMargin":
        return self

    def with_ridge(self, ridge: float) -> Loss:
        """With ridge × diag(1/weights) in its kernel, it is a squared hinge with C = weights / ridge."""
        price = _per_sample(self.weights, self.target) / ridge if ridge > 0.0 else np.inf
        return SquaredHinge(self.target, price) if np.all(np.isfinite(price)) else self


@dataclass(frozen=True)
class SquaredHinge(_Unbounded, _PricedLoss):
    """The 2-norm soft margin; ``C`` one number for each sample (or one for all)."""

    @property
    def shift(self) -> Array:
        return 1.0 / self._C

    def risk(self, scores: Array) -> tuple[float, float]:
        """Newton on the derivative in b, which is increasing and piecewise linear: exact after few steps."""
        y, C = self.target, self._C
        points = y - scores
        low, high = float(points.min()), float(points.max())
        rounding = 1e-15 * max(abs(low), abs(high), 1.0)  # of 1 − y(scores + b): no b is better known
        b = 0.5 * (low + high)
        for _ in range(100):
            slack = np.maximum(1.0 - y * (scores + b), 0.0)
            slope = -float((C * y) @ slack)
            if slope == 0.0:
                break
            low, high = (b, high) if slope < 0 else (low, b)
            curvature = float(C[slack > 0].sum())
            step = b - slope / curvature if curvature > 0 else 0.5 * (low + high)
            if abs(step - b) <= rounding:
                break
            new = step if low < step < high else 0.5 * (low + high)  # an end of the bracket would cycle
            if abs(new - b) <= rounding:
                break
            b = new
        slack = np.maximum(1.0 - y * (scores + b), 0.0)
        return 0.5 * float(C @ (slack * slack)), b


@dataclass(frozen=True)
class EpsilonInsensitive(_PricedLoss):
    """Support vector regression: errors below ``epsilon`` are free, beyond it they cost ``C`` each."""

    epsilon: float = 0.1

    @property
    def lower(self) -> Array:
        return -self._C

    @property
    def upper(self) -> Array:
        return self._C.copy()

    def risk(self, scores: Array) -> tuple[float, float]:
        residual = self.target - scores
        points = np.concatenate([residual - self.epsilon, residual + self.epsilon])
        b = _weighted_quantile(points, np.concatenate([self._C, self._C]), float(self._C.sum()))
        excess = np.maximum(np.abs(residual - b) - self.epsilon, 0.0)
        return float(self._C @ excess), b

    def rescaled(self, kernel_scale: float, target_scale: float) -> "EpsilonInsensitive":
        return EpsilonInsensitive(
            self.target / target_scale, self._C * (kernel_scale / target_scale), self.epsilon / target_scale
        )


@dataclass(frozen=True)
class OneClass(_PricedLoss):
    """Support estimation: ``target`` is zero, ``C`` the bounds 1/(ν n) times the sample's weight."""

    total = 1.0

    @property
    def lower(self) -> Array:
        return np.zeros(self.target.size)

    @property
    def upper(self) -> Array:
        return self._C.copy()

    @property
    def start(self) -> Array:
        """All samples at the same share of their bound: feasible, and no sample is preferred."""
        share = self._C / self._C.sum()
        return np.minimum(share, self._C)

    def least_size(self, mean_diagonal: float) -> float:
        """A thousandth of the value of n orthogonal samples, tr(K)/(2n²).

        Where the origin is among the samples, as for linear kernels of centred data, the optimum is 0, and
        nothing but rounding is small beside it.
        """
        return _LEAST_SHARE * 0.5 * mean_diagonal / self.target.size

    def risk(self, scores: Array) -> tuple[float, float]:
        rho = _weighted_quantile(scores, self._C, 1.0)
        return float(self._C @ np.maximum(rho - scores, 0.0)) - rho, -rho

    def restrict(self, index: Array, factor: float) -> "OneClass":
        C = self._C[index]
        return OneClass(self.target[index], C * max(factor, 1.0 / float(C.sum())))

    def rescaled(self, kernel_scale: float, target_scale: float) -> "OneClass":
        return self


@dataclass(frozen=True)
class SquaredError(Loss):
    """Kernel ridge regression: ``ridge`` is alpha divided by the sample's weight."""

    ridge: Array | float
    has_intercept: bool = True

    @cached_property
    def _ridge(self) -> Array:
        return _per_sample(self.ridge, self.target)

    @property
    def lower(self) -> Array:
        return np.full(self.target.size, -np.inf)

    @property
    def upper(self) -> Array:
        return np.full(self.target.size, np.inf)

    @property
    def shift(self) -> Array:
        return self._ridge.copy()

    def risk(self, scores: Array) -> tuple[float, float]:
        precision = 1.0 / self._ridge
        residual = self.target - scores
        b = float(precision @ residual / precision.sum()) if self.has_intercept else 0.0
        return 0.5 * float(precision @ (residual - b) ** 2), b

    def restrict(self, index: Array, factor: float) -> "SquaredError":
        return SquaredError(self.target[index], self._ridge[index] / factor, self.has_intercept)

    def rescaled(self, kernel_scale: float, target_scale: float) -> "SquaredError":
        return SquaredError(self.target / target_scale, self._ridge / kernel_scale, self.has_intercept)


def value_floor(losses: Sequence[Any], mean_diagonals: Array) -> float:
    """The size below which the sum of the machines' values counts as 0, by the smallest of their kernels.

    ``mean_diagonals`` are those of the kernels at their largest weights; none counts as less than a share of
    the largest that rounding leaves.
    """
    present = mean_diagonals[mean_diagonals > 0.0]
    size = max(float(present.min()), _LEAST_KERNEL * float(present.max())) if present.size else 0.0
    return sum(loss.least_size(size) for loss in losses if isinstance(loss, Loss))


# ---------------------------------------------------------------------- joint hinge
@dataclass(frozen=True)
class JointHinge:
    """The loss of all classes in one machine."""

    codes: Array  # (n,), the class of each sample, 0 to n_classes − 1
    n_classes: int  # at least 2
    C: Array | float  # penalty on the margin violations of each sample, or one for all
    # (n, n_classes), the margins R_il asked for, 2 by default; those of the own classes are not read
    rewards: Array | None = None

    total = 0.0

    @property
    def shift(self) -> Array:
        """What the dual adds to the kernel's diagonal: nothing."""
        return np.zeros(self.codes.size)

    @property
    def identity(self) -> Array:
        """There is no learned C."""
        raise TypeError("a learned C needs the hard margin as its loss; got JointHinge.")

    @cached_property
    def upper(self) -> Array:
        """The bounds C_i."""
        return np.array(np.broadcast_to(np.asarray(self.C, float), self.codes.shape))

    @cached_property
    def margins(self) -> Array:
        """R with 0 for the samples' own classes."""
        asked = np.full((self.codes.size, self.n_classes), REWARD) if self.rewards is None else self.rewards
        R = np.array(asked, float)
        R[np.arange(self.codes.size), self.codes] = 0.0
        return R

    def restrict(self, index: Array, factor: float) -> "JointHinge":
        """The same loss on some of the samples, each counted ``factor`` times."""
        rewards = None if self.rewards is None else self.rewards[index]
        return type(self)(self.codes[index], self.n_classes, self.upper[index] * factor, rewards)

    def rescaled(self, kernel_scale: float, target_scale: float) -> "JointHinge":
        """The loss for K/kernel_scale, whose B is B · kernel_scale; classes have no scale."""
        return type(self)(self.codes, self.n_classes, self.upper * kernel_scale, self.rewards)


@dataclass(frozen=True)
class WorstHinge(JointHinge):
    """The loss of Crammer & Singer: of each sample, only the class that violates its margin most counts.

    There are no intercepts, and Σ_l α_il ≤ C_i instead of α_il ≤ C_i.
    """

"""The judge: value, lower bound and duality gap of an MKL solution, recomputed from its numbers alone.

The problem, for kernels K_m, labels y_i = ±1 and weights mu on the simplex, is

    min_mu max_alpha  sum_i alpha_i − ½ sum_m mu_m q_m(alpha),    q_m = (y∘alpha)' K_m (y∘alpha),

over 0 ≤ alpha_i ≤ C with sum_i y_i alpha_i = 0. For any feasible pair (mu, alpha)

* the primal value P of the predictor s·f + b, f = sum_m mu_m K_m (y∘alpha), is an upper bound:
  P = min over s, b of ½ s² (y∘alpha)'f + C sum_i max(0, 1 − y_i (s f_i + b));
* L = max over 0 ≤ c ≤ C / max alpha of c·sum alpha − ½ c² max_m q_m is a lower bound.

Every contestant, ours included, is judged by (P − L) / |P|; what it says of itself is not looked at.
Only NumPy is used here, so that no solver's code can take part in its own judgement.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]

#: How far duals and weights may leave their sets, relative to the size of the set: rounding, no more.
FEASIBILITY_TOL = 1e-9

_GOLDEN = (5.0**0.5 - 1.0) / 2.0
_SCALE_RANGE = (0.5, 1.5)
_SCALE_STEPS = 40


class InfeasibleError(ValueError):
    """The duals or the weights are not in their set, so that they certify nothing."""


@dataclass(frozen=True)
class Verdict:
    """What the judge found.

    Attributes
    ----------
    primal : float
        Upper bound P on the optimal value.
    lower : float
        Lower bound L on the optimal value.
    dual : float
        The SVM dual value at the given weights, sum alpha − ½ sum_m mu_m q_m.
    gap : float
        (P − L) / |P|.
    """

    primal: float
    lower: float
    dual: float
    gap: float


def best_bias(f: FloatArray, y: FloatArray) -> float:
    """argmin_b sum_i max(0, 1 − y_i (f_i + b)), an order statistic of y − f.

    Passing the breakpoint y_i − f_i from the left raises the slope by one, from −n_positive at the far
    left; the slope is therefore zero between the n_positive-th breakpoint and the next.
    """
    breakpoints = np.sort(y - f)
    n_positive = int(np.count_nonzero(y > 0))
    if n_positive == 0:
        return float(breakpoints[0])
    if n_positive == y.size:
        return float(breakpoints[-1])
    return float(0.5 * (breakpoints[n_positive - 1] + breakpoints[n_positive]))


def hinge_sum(f: FloatArray, y: FloatArray) -> float:
    """min_b sum_i max(0, 1 − y_i (f_i + b))."""
    return float(np.maximum(0.0, 1.0 - y * (f + best_bias(f, y))).sum())


def primal_value(f: FloatArray, norm2: float, y: FloatArray, C: float, *, scale: bool = True) -> float:
    """P = min_{s, b} ½ s² norm2 + C sum_i max(0, 1 − y_i (s f_i + b)); s = 1 alone without `scale`.

    Any s gives an upper bound; the best is found by golden section, P being convex in s.
    """

    def value(s: float) -> float:
        return float(0.5 * s * s * norm2 + C * hinge_sum(s * f, y))

    best = value(1.0)
    if not scale:
        return best
    low, high = _SCALE_RANGE
    inner, outer = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    p_inner, p_outer = value(inner), value(outer)
    for _ in range(_SCALE_STEPS):
        best = min(best, p_inner, p_outer)
        if p_inner <= p_outer:
            high, outer, p_outer = outer, inner, p_inner
            inner = high - _GOLDEN * (high - low)
            p_inner = value(inner)
        else:
            low, inner, p_inner = inner, outer, p_outer
            outer = low + _GOLDEN * (high - low)
            p_outer = value(outer)
    return best


def lower_bound(alpha: FloatArray, q: FloatArray, C: float) -> float:
    """L = max_c c·sum alpha − ½ c² max_m q_m over 0 ≤ c ≤ C / max alpha: scaling a dual costs nothing."""
    largest, total, q_max = float(alpha.max()), float(alpha.sum()), float(q.max())
    if largest <= 0.0:
        return 0.0
    c = C / largest
    if q_max > 0.0:
        c = min(c, total / q_max)
    return c * total - 0.5 * c * c * q_max


def check_duals(alpha: FloatArray, y: FloatArray, C: float) -> None:
    """Raise InfeasibleError unless 0 ≤ alpha ≤ C and sum y·alpha = 0, to rounding."""
    outside = max(float(-alpha.min()), float(alpha.max()) - C)
    if not outside <= FEASIBILITY_TOL * C:
        raise InfeasibleError(
            f"duals must lie in [0, C={C:g}]; one is outside by {outside:.3e}. Clip them and restore the sum."
        )
    imbalance = abs(float(y @ alpha))
    if not imbalance <= FEASIBILITY_TOL * max(C, float(alpha.sum())):
        raise InfeasibleError(f"sum of y * alpha must be 0, is {imbalance:.3e}. Restore the sum.")


def check_weights(weights: FloatArray) -> None:
    """Raise InfeasibleError unless the weights are on the simplex, to rounding."""
    if not float(weights.min()) >= -FEASIBILITY_TOL:
        raise InfeasibleError(f"weights must be nonnegative; the smallest is {weights.min():.3e}. Clip them.")
    if not abs(float(weights.sum()) - 1.0) <= FEASIBILITY_TOL:
        raise InfeasibleError(f"weights must sum to 1, they sum to {weights.sum():.12g}. Divide by the sum.")


def images_of(kernels: NDArray[np.floating], beta: FloatArray) -> FloatArray:
    """K_m beta for every kernel, (m, n), in float64 whatever the kernels are stored in."""
    images = np.empty((kernels.shape[0], beta.size))
    for index, kernel in enumerate(kernels):
        images[index] = np.asarray(kernel, dtype=np.float64) @ beta
    return images


def judge(
    kernels: NDArray[np.floating],
    y: ArrayLike,
    C: float,
    weights: ArrayLike,
    alpha: ArrayLike,
    *,
    scale: bool = True,
) -> Verdict:
    """Judge weights and duals on the problem (kernels, y, C).

    Parameters
    ----------
    kernels : ndarray of shape (m, n, n)
    y : array of shape (n,), of −1 and +1
    C : float, positive and finite
    weights : array of shape (m,), on the simplex
    alpha : array of shape (n,), the duals, unsigned
    scale : bool
        Whether the upper bound may scale the predictor; it is valid, and smaller, with it.

    Returns
    -------
    Verdict

    Raises
    ------
    InfeasibleError
        If the duals leave the box or do not balance, or the weights leave the simplex.
    ValueError
        If shapes or labels do not fit, or a number is not finite.
    """
    y, weights, alpha = (np.asarray(v, dtype=np.float64) for v in (y, weights, alpha))
    m, n = kernels.shape[0], y.size
    if kernels.shape != (m, n, n) or weights.shape != (m,) or alpha.shape != (n,):
        raise ValueError(
            f"shapes must be (m, n, n), (n,), (m,), (n,); given {kernels.shape}, {y.shape}, "
            f"{weights.shape}, {alpha.shape}"
        )
    if not np.all(np.abs(y) == 1.0):
        raise ValueError("labels must be -1 and +1")
    if not (np.isfinite(weights).all() and np.isfinite(alpha).all() and 0.0 < C < np.inf):
        raise ValueError("weights, duals and C must be finite, C positive")
    check_duals(alpha, y, C)
    check_weights(weights)
    beta = y * alpha
    images = images_of(kernels, beta)
    q = images @ beta
    mixed = float(weights @ q)
    primal = primal_value(weights @ images, mixed, y, C, scale=scale)
    lower = lower_bound(alpha, q, C)
    return Verdict(primal, lower, float(alpha.sum()) - 0.5 * mixed, (primal - lower) / abs(primal))

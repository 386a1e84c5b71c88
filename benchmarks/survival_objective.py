"""The judge of survival models: value, lower bound and gap, from weights, duals and kernels alone.

Weights μ and coefficients β give the scores f = Σ_m μ_m K_m β (+ b for the regression), and

    P = ½ Σ_m μ_m β'K_mβ + C L(f)

is an upper bound of the optimum over all weights with ‖μ‖_p ≤ 1. For Cox's partial likelihood and the ranking
γ = −C ∇L(f), and for the regression γ = β, is dual feasible, with the value

    C L(f) + γ'f − ½ max_μ Σ_m μ_m γ'K_mγ        (regression: Σ y γ − ε |γ| in the place of the first two)

as a lower bound. The losses are written out sample by sample and pair by pair; what a contestant says of
itself is not looked at. Only NumPy is used here.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchmarks.objective import InfeasibleError, Verdict

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

_ROUNDING = 1e-9


def cox(f: FloatArray, event: BoolArray, time: FloatArray) -> tuple[float, FloatArray]:
    """Minus the log of the partial likelihood (Breslow's ties), and its gradient."""
    value, gradient = 0.0, np.zeros_like(f)
    for i in np.flatnonzero(event):
        at_risk = time >= time[i]
        top = f[at_risk].max()
        shares = np.where(at_risk, np.exp(np.minimum(f - top, 0.0)), 0.0)
        value += np.log(shares.sum()) + top - f[i]
        gradient += shares / shares.sum()
        gradient[i] -= 1.0
    return value, gradient


def ranking(f: FloatArray, event: BoolArray, time: FloatArray) -> tuple[float, FloatArray]:
    """n times the mean of ½ [1 − (f_i − f_j)]₊² over the comparable pairs, and its gradient."""
    later = (time[:, None] < time) | ((time[:, None] == time) & ~event)
    i, j = np.nonzero(event[:, None] & later)
    short = np.maximum(1.0 - f[i] + f[j], 0.0)
    n = f.size
    gradient = np.bincount(j, short, n) - np.bincount(i, short, n)
    return n / i.size * 0.5 * float(short @ short), n / i.size * gradient


def regression(f: FloatArray, event: BoolArray, time: FloatArray, epsilon: float) -> float:
    """Errors of minus the log time beyond ε; of censored samples only risks that are too high."""
    errors = f + np.log(time)
    return float(np.maximum(np.where(event, np.abs(errors), errors) - epsilon, 0.0).sum())


def judge_survival(
    loss: str,
    Ks: FloatArray,
    event: BoolArray,
    time: FloatArray,
    mu: FloatArray,
    beta: FloatArray,
    *,
    C: float,
    norm: float = 1.0,
    intercept: float = 0.0,
    epsilon: float = 0.1,
) -> Verdict:
    """Primal value, lower bound and gap of weights and coefficients."""
    if mu.min() < 0.0 or np.linalg.norm(mu, norm) > 1.0 + _ROUNDING:
        raise InfeasibleError("the weights are not in their set.")
    f = np.tensordot(mu, Ks @ beta, 1)
    half = 0.5 * float(mu @ [beta @ K @ beta for K in Ks])
    if loss == "regression":
        bound = C * (1.0 + _ROUNDING)
        inside = (beta <= np.where(event, bound, _ROUNDING * C)) & (beta >= -bound)
        if not inside.all() or abs(beta.sum()) > _ROUNDING * max(np.abs(beta).sum(), 1e-300):
            raise InfeasibleError("the duals are not within their bounds, or do not balance.")
        risk, dual = C * regression(f + intercept, event, time, epsilon), beta
        linear = float(-np.log(time) @ beta - epsilon * np.abs(beta).sum())
    else:
        value, gradient = (cox if loss == "cox" else ranking)(f, event, time)
        risk, dual = C * value, -C * gradient
        linear = risk + float(dual @ f)
    q = np.array([dual @ K @ dual for K in Ks])
    conjugate = np.inf if norm == 1.0 else 1.0 if np.isinf(norm) else norm / (norm - 1.0)
    primal, lower = half + risk, linear - 0.5 * float(np.linalg.norm(q, conjugate))
    return Verdict(primal, lower, linear - 0.5 * float(mu @ q), (primal - lower) / abs(primal))

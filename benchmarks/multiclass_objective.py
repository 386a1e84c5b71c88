"""The judge of joint machines of several classes: dual and primal value, from duals and intercepts alone.

Duals 0 ≤ α_il ≤ C (n, n_classes), zero for the samples' own classes, give B_il = [l = y_i] Σ_m α_im − α_il,
which must balance, Σ_i B_il = 0 for every class l. With intercepts b and f = KB + b

    dual    2 Σ_il α_il − ½ tr B'KB,
    primal  ½ tr B'KB + C Σ_i Σ_{l ≠ y_i} [2 − f_i^{y_i} + f_i^l]₊

enclose the optimal value of the machine on K. Where the weights μ of several kernels are learned, the primal
value at K = Σ_m μ_m K_m, μ on the simplex, is an upper bound of the best value of any weights, and

    max over 0 ≤ c ≤ C / max α of  2c Σα − ½ c² max_m tr B'K_mB

is a lower bound. What a contestant says of itself is not looked at. Only NumPy is used here.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchmarks.localized_objective import MachineVerdict, check_bounds, machine_verdict
from benchmarks.objective import InfeasibleError, Verdict, check_weights, lower_bound

FloatArray = NDArray[np.float64]


def judge_joint(
    K: FloatArray, codes: NDArray[np.int64], alpha: FloatArray, intercepts: FloatArray, C: float
) -> MachineVerdict:
    """Judge α (n, n_classes) and the intercepts of a joint machine on the kernel K.

    Raises
    ------
    InfeasibleError
        If a dual is off its bounds, or they do not balance, to rounding.
    ValueError
        If shapes do not fit or a number is not finite.
    """
    if K.shape != (codes.size, codes.size):
        raise ValueError(f"K must fit n={codes.size} samples; given {K.shape}")
    B = _coefficients(codes, alpha, intercepts, C)
    image = K @ B
    norm = float((B * image).sum())
    primal = 0.5 * norm + C * _loss(image + intercepts, codes)
    return machine_verdict(2.0 * float(alpha.sum()) - 0.5 * norm, primal, B)


def judge_joint_weights(
    kernels: FloatArray,
    codes: NDArray[np.int64],
    weights: FloatArray,
    alpha: FloatArray,
    intercepts: FloatArray,
    C: float,
) -> Verdict:
    """Judge weights (m,) on the simplex, duals and intercepts; refuses as :func:`judge_joint` does."""
    n = codes.size
    if kernels.shape[1:] != (n, n) or weights.shape != kernels.shape[:1]:
        raise ValueError(f"kernels and weights must fit n={n}; given {kernels.shape} and {weights.shape}")
    if not np.isfinite(weights).all():
        raise ValueError("weights must be finite")
    check_weights(weights)
    B = _coefficients(codes, alpha, intercepts, C)
    found = judge_joint(np.tensordot(weights, kernels, 1), codes, alpha, intercepts, C)
    q = np.array([float((B * (K @ B)).sum()) for K in kernels])
    lower = lower_bound(2.0 * alpha.ravel(), q, 2.0 * C)
    return Verdict(found.primal, lower, found.value, (found.primal - lower) / abs(found.primal))


def _coefficients(
    codes: NDArray[np.int64], alpha: FloatArray, intercepts: FloatArray, C: float
) -> FloatArray:
    """B of feasible duals."""
    n, n_classes = codes.size, intercepts.size
    if alpha.shape != (n, n_classes):
        raise ValueError(f"duals must fit n={n} samples of {n_classes} classes; given {alpha.shape}")
    if not (np.isfinite(alpha).all() and np.isfinite(intercepts).all()):
        raise ValueError("duals and intercepts must be finite")
    own = np.eye(n_classes, dtype=bool)[codes]
    if alpha[own].any():
        raise InfeasibleError("the duals of the samples' own classes must be 0.")
    check_bounds(alpha, C)
    return np.where(own, alpha.sum(axis=1, keepdims=True), -alpha)


def _loss(f: FloatArray, codes: NDArray[np.int64]) -> float:
    """Σ_i Σ_{l ≠ y_i} [2 − f_i^{y_i} + f_i^l]₊."""
    own = np.eye(f.shape[1], dtype=bool)[codes]
    return float(np.maximum(2.0 - f[own][:, None] + f, 0.0)[~own].sum())

"""The judge of gates: dual and primal value of the machine on the gated kernel, from gate and duals alone.

Parameters V (P, D + 1) of a gate, biases last, give activations a_m(x) = v_m'x + v_m0 and values η_m(x), by
the softmax or the logistic function of each. The kernel is K_η = Σ_m (η_m η_m') ∘ K_m; signed duals β, with
0 ≤ y_i β_i ≤ C and Σβ = 0, and an intercept b give

    dual    Σ_i |β_i| − ½ β'K_η β,
    primal  ½ β'K_η β + C Σ_i [1 − y_i (K_η β + b)_i]₊,

which enclose J, the optimal value of the machine at this gate. Where J is small the gate is good in the sense
of the descent; whether another start would end lower nobody certifies.

What a contestant says of itself is not looked at. Only NumPy is used here.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.objective import InfeasibleError

FloatArray = NDArray[np.float64]

_ROUNDING = 1e-9


@dataclass(frozen=True)
class MachineVerdict:
    """What the judge found.

    Attributes
    ----------
    value : float
        The dual value, never above J.
    primal : float
        The primal value, never below J.
    gap : float
        (primal − value) / primal.
    imbalance : float
        |Σβ|, the largest of the classes, relative to Σ|β|.
    support : int
        Samples with a dual other than 0.
    """

    value: float
    primal: float
    gap: float
    imbalance: float
    support: int


def gate_values(V: FloatArray, features: FloatArray, gating: str) -> FloatArray:
    """η (n, P)."""
    activations = features @ V[:, :-1].T + V[:, -1]
    if gating == "softmax":
        powers = np.exp(activations - activations.max(axis=1, keepdims=True))
        return np.asarray(powers / powers.sum(axis=1, keepdims=True))
    if gating == "sigmoid":
        return np.asarray(0.5 * (1.0 + np.tanh(0.5 * activations)))
    raise ValueError(f"gating must be 'softmax' or 'sigmoid'; given {gating!r}")


def gated_kernel(kernels: FloatArray, sources: NDArray[np.intp], eta: FloatArray) -> FloatArray:
    """K_η, gate by gate."""
    total = np.zeros(kernels.shape[1:])
    for m, source in enumerate(sources):
        total += np.outer(eta[:, m], eta[:, m]) * kernels[source]
    return total


def judge_machine(
    K: FloatArray, y: FloatArray, beta: FloatArray, intercept: float, C: float
) -> MachineVerdict:
    """Judge signed duals (n,) and the intercept of a binary machine on the kernel K.

    Raises
    ------
    InfeasibleError
        If a dual is off its bounds, or they do not balance, to rounding.
    ValueError
        If shapes do not fit or a number is not finite.
    """
    if K.shape != (y.size, y.size) or beta.shape != y.shape:
        raise ValueError(f"K and duals must fit n={y.size} labels; given {K.shape} and {beta.shape}")
    if not (np.isfinite(beta).all() and np.isfinite(intercept)):
        raise ValueError("duals and intercept must be finite")
    check_bounds(y * beta, C)
    image = K @ beta
    norm = float(beta @ image)
    loss = np.maximum(1.0 - y * (image + intercept), 0.0)
    return machine_verdict(
        float(np.abs(beta).sum()) - 0.5 * norm, 0.5 * norm + C * float(loss.sum()), beta[:, None]
    )


def check_bounds(duals: FloatArray, C: float) -> None:
    """Raise InfeasibleError unless the duals are within 0 and C, to rounding."""
    least, most = float(duals.min()), float(duals.max())
    if least < -_ROUNDING * C or most > C * (1.0 + _ROUNDING):
        raise InfeasibleError(f"duals must lie in 0 .. {C:g}; they reach from {least:.3e} to {most:.12g}.")


def machine_verdict(value: float, primal: float, B: FloatArray) -> MachineVerdict:
    """The verdict on signed duals B (n, n_outputs); raises InfeasibleError unless they balance."""
    imbalance = float(np.abs(B.sum(axis=0)).max()) / max(float(np.abs(B).sum()), 1e-300)
    if not imbalance <= _ROUNDING:
        raise InfeasibleError(f"duals must balance; they miss by {imbalance:.3e} of their sum.")
    support = int(np.count_nonzero(B.any(axis=1)))
    return MachineVerdict(value, primal, (primal - value) / primal, imbalance, support)

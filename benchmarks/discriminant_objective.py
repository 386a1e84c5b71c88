"""The judge of kernels for discriminant analysis: value and lower bound, from the weights and λ alone.

For centred kernels G~_i = P K_i P, P = I − 11'/n, with traces r_i, weights θ ≥ 0 with θ'r = 1, and the
columns of the classes H (for two classes the one column a, 1/n₊ and −1/n₋), the published objectives are

    λ tr H'M⁻¹H,  M = λI + Σ θ_i G~_i                          for a given λ,
      tr H'M⁻¹H,  M = (λI + Σ θ_i G~_i) / (1 + nλ), trace 1    where λ is learned too.

* Above: tr H'M⁻¹H = 2 tr B'H − tr B'MB + tr R'M⁻¹R with R = H − MB, whatever B is. With B from a linear
  solver the last term is rounding, and ‖R‖² over the least eigenvalue of M is paid for it.
* Below: any B without mean gives (tr B'H)² / (λ‖B‖² + max_i tr B'A_iB), A_i = G~_i / r_i. Where λ is learned
  the first term is left out and A_0 = I/n is one more of the A_i.

What a contestant says of itself is not looked at. Only NumPy is used here.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from benchmarks.objective import InfeasibleError, check_weights

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class DiscriminantVerdict:
    """What the judge found.

    Attributes
    ----------
    value : float
        The objective at the weights, from above.
    width : float
        What was paid for the rounding of the linear solver, relative.
    lower : float
        Lower bound of the optimum.
    gap : float
        (value − lower) / value.
    """

    value: float
    width: float
    lower: float
    gap: float


def columns_of_classes(codes: NDArray[np.int64]) -> FloatArray:
    """H: the contrast of the means (n, 1) for two classes, √(n/n_c) P e_c (n, k) for more."""
    n, sizes = codes.size, np.bincount(codes)
    indicators = (codes[:, None] == np.arange(sizes.size)).astype(np.float64)
    if sizes.size == 2:
        return indicators @ np.array([[-1.0 / sizes[0]], [1.0 / sizes[1]]])
    return (indicators - sizes / n) * np.sqrt(n / sizes)


def centred(kernels: FloatArray) -> FloatArray:
    """P K_i P for every kernel."""
    rows = kernels - kernels.mean(axis=1, keepdims=True)
    return rows - rows.mean(axis=2, keepdims=True)


def _checked_shares(weights: FloatArray, traces: FloatArray, reg: float, learned: bool) -> FloatArray:
    """η_i = θ_i r_i, or InfeasibleError if θ or λ are not in their sets."""
    if not reg >= 0.0 or (not learned and not 0.0 < reg < np.inf):
        raise InfeasibleError(
            f"λ must be {'nonnegative' if learned else 'positive and finite'}; it is {reg:g}."
        )
    shares = weights * traces
    check_weights(shares)
    return shares


def _members(centred_kernels: FloatArray, traces: FloatArray, learned: bool) -> FloatArray:
    """A_i, unit trace each; a kernel that is constant has none and stands for nothing."""
    scales = np.divide(1.0, traces, out=np.zeros_like(traces), where=traces > 0.0)
    members = centred_kernels * scales[:, None, None]
    n = members.shape[1]
    return np.concatenate([np.eye(n)[None] / n, members]) if learned else members


def judge_discriminant(
    kernels: FloatArray, codes: ArrayLike, weights: ArrayLike, reg: float, *, learned: bool
) -> DiscriminantVerdict:
    """Judge weights, and λ where it is learned.

    Parameters
    ----------
    kernels : array (m, n, n), symmetric positive semidefinite, not centred
    codes : array (n,) of int, the classes 0 … k−1, all of them present
    weights : array (m,), θ
    reg : float, λ; infinity, where it is learned, says that the identity has all of the trace
    learned : bool

    Raises
    ------
    InfeasibleError
        If θ has negative entries or θ'r is not 1, to rounding; if λ is not in its set; if M is singular.
    ValueError
        If shapes or classes do not fit, or a number is not finite.
    """
    codes, weights = np.asarray(codes), np.asarray(weights, dtype=np.float64)
    m, n = len(kernels), codes.size
    if kernels.shape != (m, n, n) or weights.shape != (m,):
        raise ValueError(
            f"shapes must be (m, n, n), (n,), (m,); given {kernels.shape}, {codes.shape}, {weights.shape}"
        )
    if codes.dtype.kind not in "iu" or codes.min() != 0 or np.bincount(codes).size < 2:
        raise ValueError("codes must be integers from 0, two classes or more")
    if np.bincount(codes).min() == 0 or not np.isfinite(weights).all():
        raise ValueError("every class must have a point, and weights must be finite")
    G = centred(kernels)
    traces = np.trace(G, axis1=1, axis2=2)
    shares = _checked_shares(weights, traces, reg, learned)
    ridge = reg
    if learned:
        kept = 1.0 / (1.0 + n * reg)
        shares, ridge = np.append(1.0 - kept, kept * shares), 0.0
    members = _members(G, traces, learned)
    verdict = _bounds(members, shares, ridge, columns_of_classes(codes))
    factor = 1.0 if learned else reg
    value, lower = factor * verdict[0], factor * verdict[2]
    return DiscriminantVerdict(value, verdict[1], lower, (value - lower) / value)


def _bounds(
    members: FloatArray, shares: FloatArray, ridge: float, H: FloatArray
) -> tuple[float, float, float]:
    """tr H'M⁻¹H from above, what was paid for rounding, and the lower bound of its minimum."""
    n = len(H)
    M = np.tensordot(shares, members, axes=1)
    M += ridge * np.eye(n) + 1.0 / n**2  # along 1, where neither H nor a centred kernel has anything
    least = float(np.linalg.eigvalsh(M)[0])
    if not least > 0.0:
        raise InfeasibleError(f"M must be positive definite; its least eigenvalue is {least:.3e}.")
    B = np.linalg.solve(M, H)
    B += np.linalg.solve(M, H - M @ B)
    B -= B.mean(axis=0)
    residual = H - M @ B
    linear = float((B * H).sum())
    paid = float((residual**2).sum()) / least
    above = 2.0 * linear - float((B * (M @ B)).sum()) + paid
    forms = np.einsum("nq,inq->i", B, members @ B)
    below = linear**2 / (ridge * float((B**2).sum()) + float(forms.max()))
    return above, paid / above, below

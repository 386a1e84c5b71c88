"""The judge of learned kernel matrices: ω at the weights, a lower bound from the duals, nothing on trust.

    ω = min_μ  max_{0 ≤ a ≤ C, y'a = 0}  2e'a − a'G(K(μ))a,     Σ_i μ_i r_i = c,  r_i = trace K_i,

where G(K) = [y_j y_k K_jk] over the labelled points, and either μ ≥ 0 or K(μ) ⪰ 0 over all points.

* Above: the inner maximum at the given weights, by a machine that no contestant uses: libsvm to 1e-10, whose
  kernels are single precision, then the free duals from their linear equations in double. The primal and the
  dual value of that machine (``objective.py``, twice) enclose it.
* Below: for duals a with q_i = a'G(K_i)a it is 2e'a − max_μ μ'q. Over nonnegative weights the maximum is
  c max q_i / r_i. Over K(μ) ⪰ 0 it is bounded by cuts u'K(μ)u ≥ 0: with nonnegative multipliers λ_k of the
  cuts, any θ and ρ_i = q_i + Σ_k λ_k u_k'K_i u_k − θ r_i,

      μ'q ≤ cθ + ρ'μ ≤ cθ + c √(ρ'S⁻¹ρ),     S_ij = ⟨K_i, K_j⟩,   because ‖K(μ)‖_F ≤ trace K(μ) = c,

  whatever program λ and θ come from.

Weights of an interior point method that miss their set are moved into it first, by the least share of equal
weights, and the share is reported.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linprog

from benchmarks.objective import check_duals, images_of, primal_value
from benchmarks.solvers.svc import duals_of, solve_svc
from judges.programs.answers import make_feasible

FloatArray = NDArray[np.float64]

MACHINE_TOL = 1e-10
_BOUND_MARGIN = 1e-6  # duals this near a bound, as a share of C, are at it
_RANGE_TOLERANCE = 1e-10
_CUT_TOLERANCE = 1e-10  # relative to the bound: when the cuts are enough
_CUT_ROUNDS = 60
_CUTS_A_ROUND = 8
_LP_TOLERANCE = 1e-10


@dataclass(frozen=True)
class MatrixVerdict:
    """What the judge found.

    Attributes
    ----------
    value : float
        ω at the weights, from above.
    width : float
        How far the two bounds of that inner maximum are apart, relative.
    lower : float
        Lower bound of the optimum, from the duals.
    gap : float
        (value − lower) / |value|.
    moved : float
        The share of equal weights that was needed to make the weights feasible.
    least_eigenvalue : float
        Of K(μ) over all points after that, relative to the largest.
    """

    value: float
    width: float
    lower: float
    gap: float
    moved: float
    least_eigenvalue: float


def _polished(kernel: FloatArray, y: FloatArray, C: float, alpha: FloatArray) -> FloatArray:
    """The duals with those strictly between 0 and C solved for; as they were if that leaves the box.

    For free i the optimum has Σ_j K_ij β_j + b = y_i, and Σ β = 0.
    """
    free = (alpha > _BOUND_MARGIN * C) & (alpha < (1.0 - _BOUND_MARGIN) * C)
    at_bound = np.where(alpha >= (1.0 - _BOUND_MARGIN) * C, C * y, 0.0)
    count = int(np.count_nonzero(free))
    system = np.ones((count + 1, count + 1))
    system[:count, :count] = kernel[np.ix_(free, free)]
    system[count, count] = 0.0
    side = np.append((y - kernel @ at_bound)[free], -at_bound.sum())
    polished = at_bound
    polished[free] = np.linalg.lstsq(system, side, rcond=None)[0][:count]
    inside = np.all((y * polished >= 0.0) & (y * polished <= C))
    return y * polished if inside else alpha


def inner_maximum(kernel: FloatArray, y: FloatArray, C: float) -> tuple[float, float]:
    """Lower and upper bound of max_a 2e'a − a'G(kernel)a, by libsvm's duals in double precision."""
    found = duals_of(solve_svc(kernel, y, C, MACHINE_TOL), y)
    alpha = make_feasible(_polished(kernel, y, C, found), y, C)
    beta = y * alpha
    image = kernel @ beta
    norm2 = float(beta @ image)
    lower = 2.0 * float(alpha.sum()) - norm2
    return lower, max(lower, 2.0 * primal_value(image, norm2, y, C))


def feasible_weights(
    kernels: FloatArray, weights: ArrayLike, trace: float, *, free: bool
) -> tuple[FloatArray, float]:
    """Weights of the given trace with K(μ) ⪰ 0 (free) or μ ≥ 0, and the share of equal weights mixed in."""
    traces = np.trace(kernels, axis1=1, axis2=2)
    mu = np.asarray(weights, dtype=np.float64)
    mu = mu * (trace / float(traces @ mu))
    equal = trace / (len(kernels) * traces)
    if not free:
        shortfall = float(np.max(-mu / equal, initial=0.0))
    else:
        eigenvalues, vectors = np.linalg.eigh(np.tensordot(equal, kernels, axes=1))
        kept = eigenvalues > _RANGE_TOLERANCE * eigenvalues[-1]
        whitening = vectors[:, kept] / np.sqrt(eigenvalues[kept])
        whitened = whitening.T @ np.tensordot(mu, kernels, axes=1) @ whitening
        shortfall = max(0.0, -float(np.linalg.eigvalsh(whitened)[0]))
    share = shortfall / (1.0 + shortfall)
    return (1.0 - share) * mu + share * equal, share


def _cut_rows(kernels: FloatArray, vectors: FloatArray) -> FloatArray:
    """u'K_i u for every column u of `vectors`, (n_vectors, m)."""
    return np.stack([np.einsum("nk,nk->k", kernel @ vectors, vectors) for kernel in kernels], axis=1)


def _bound_by_cuts(
    q: FloatArray, traces: FloatArray, trace: float, rows: FloatArray, gram: FloatArray
) -> tuple[float, FloatArray]:
    """A bound of μ'q over the cuts, paid up for what the linear program misses, and its μ."""
    size = max(float(np.abs(q / traces).max()), np.finfo(float).tiny)
    norms = np.abs(rows).max(axis=1)
    found = linprog(
        -q / (size * traces),  # in units of μ_i r_i / c
        A_ub=-rows / (norms[:, None] * traces),
        b_ub=np.zeros(len(rows)),
        A_eq=np.ones((1, q.size)),
        b_eq=[1.0],
        bounds=(None, None),
        method="highs-ds",
        options={"primal_feasibility_tolerance": _LP_TOLERANCE, "dual_feasibility_tolerance": _LP_TOLERANCE},
    )
    if found.x is None:
        return np.inf, trace / (q.size * traces)
    multipliers = np.maximum(-found.ineqlin.marginals, 0.0) * size / norms
    residual = q + multipliers @ rows
    theta = float((traces @ np.linalg.solve(gram, residual)) / (traces @ np.linalg.solve(gram, traces)))
    residual = residual - theta * traces
    price = float(np.sqrt(max(float(residual @ np.linalg.solve(gram, residual)), 0.0)))
    return trace * (theta + price), found.x * trace / traces


def largest_form(kernels: FloatArray, q: FloatArray, trace: float, weights: FloatArray) -> float:
    """An upper bound of max μ'q over trace K(μ) = trace, K(μ) ⪰ 0; `weights` only say where to cut first."""
    traces = np.trace(kernels, axis1=1, axis2=2)
    flat = kernels.reshape(len(kernels), -1)
    gram = flat @ flat.T
    rows = _cut_rows(kernels, np.linalg.eigh(np.tensordot(weights, kernels, axes=1))[1])
    best = np.inf
    for _ in range(_CUT_ROUNDS):
        bound, mu = _bound_by_cuts(q, traces, trace, rows, gram)
        best = min(best, bound)
        inside, _ = feasible_weights(kernels, mu, trace, free=True)
        if best - float(q @ inside) <= _CUT_TOLERANCE * abs(best):
            break
        fresh = []
        for at in (mu, inside):  # beyond the set, and where the way there leaves it
            vectors = np.linalg.eigh(np.tensordot(at, kernels, axes=1))[1]
            fresh.append(_cut_rows(kernels, vectors[:, :_CUTS_A_ROUND]))
        rows = np.vstack([rows, *fresh])
    return best


def lower_bound_of_duals(
    kernels: FloatArray, y: FloatArray, C: float, trace: float, alpha: FloatArray, around: FloatArray | None
) -> float:
    """2e'a − max μ'q at the best multiple of the duals.

    `around` are weights near which to cut if their signs are free; None if they are nonnegative.
    """
    check_duals(alpha, y, C)
    if not alpha.max() > 0.0:
        return 0.0
    N = y.size
    beta = y * alpha
    q = images_of(kernels[:, :N, :N], beta) @ beta
    if around is None:
        form = trace * float((q / np.trace(kernels, axis1=1, axis2=2)).max())
    else:
        form = largest_form(kernels, q, trace, around)
    total, longest = float(alpha.sum()), C / float(alpha.max())
    scale = min(longest, total / form) if form > 0.0 else longest
    return 2.0 * scale * total - scale**2 * form


def judge_matrix(
    kernels: FloatArray, y: ArrayLike, C: float, weights: ArrayLike, alpha: ArrayLike, *, free: bool
) -> MatrixVerdict:
    """Judge weights and duals of the program at the trace c = Σ r_i.

    Parameters
    ----------
    kernels : array (m, n, n), symmetric positive semidefinite, the labelled points first
    y : array (N,) of −1 and +1, N ≤ n
    C : float, positive and finite
    weights : array (m,), μ
    alpha : array (N,), the duals, unsigned
    free : bool
        Whether weights may have any sign as long as K(μ) ⪰ 0; otherwise they are nonnegative.

    Raises
    ------
    ValueError
        If shapes or labels do not fit, a number is not finite, or the trace of K(μ) is not positive.
    """
    y, weights, alpha = (np.asarray(v, dtype=np.float64) for v in (y, weights, alpha))
    m, n, N = len(kernels), kernels.shape[-1], y.size
    if kernels.shape != (m, n, n) or n < N or weights.shape != (m,) or alpha.shape != (N,):
        raise ValueError(
            f"shapes must be (m, n, n), (N,), (m,), (N,) with N ≤ n; given {kernels.shape}, {y.shape}, "
            f"{weights.shape}, {alpha.shape}"
        )
    if not np.all(np.abs(y) == 1.0):
        raise ValueError("labels must be -1 and +1")
    if not (np.isfinite(weights).all() and np.isfinite(alpha).all() and 0.0 < C < np.inf):
        raise ValueError("weights, duals and C must be finite, C positive")
    traces = np.trace(kernels, axis1=1, axis2=2)
    if not float(traces @ weights) > 0.0:
        raise ValueError(f"the trace of K(μ) must be positive, is {float(traces @ weights):.3e}")
    trace = float(traces.sum())
    mu, moved = feasible_weights(kernels, weights, trace, free=free)
    learned = np.tensordot(mu, kernels, axes=1)
    eigenvalues = np.linalg.eigvalsh(learned)
    below, value = inner_maximum(np.ascontiguousarray(learned[:N, :N]), y, C)
    duals = make_feasible(alpha, y, C)
    lower = lower_bound_of_duals(kernels, y, C, trace, duals, mu if free else None)
    return MatrixVerdict(
        value=value,
        width=(value - below) / abs(value),
        lower=lower,
        gap=(value - lower) / abs(value),
        moved=moved,
        least_eigenvalue=float(eigenvalues[0] / eigenvalues[-1]),
    )

"""Directions in the feature space of several kernels, and the kernel weights (after Lin et al., 2009).

For weights β ≥ 0, K_β = Σ_m β_m K_m / s_m, scatters S_b and S_w in its feature space (see ``directions``),

    F(β) = λ_1 + … + λ_q of  S_b v = λ (S_w + ε I) v,   ε = reg · tr S_w

is to be as large as possible. Directions are v_p = Σ_i α_ip φ(x_i); with A = (α_1 … α_q) and the Laplacians
L = D − W of the two graphs, F(β) is the largest value over A of

    g(β, A) = tr[W(β)⁻¹ B(β)],   B(β) = A'K_β L_b K_β A,   W(β) = A'K_β L_w K_β A + ε(β) A'K_β A

Both are quadratic in β (ε(β) = reg Σ_m β_m tr(L_w K_m) / s_m), so that g does not change with its length;
β has sum 1. Two steps take turns, neither of which lowers F:

- the directions for given β, a generalized eigenproblem;
- for given directions, projected gradient steps on β, which read products (q, q) of pairs of kernels only.
  While F rises, up to eight times the change that they find is made.

Where K_β is singular, A is not unique. The one that says how F changes with β satisfies, with f = K_β α,
ε α = L_b f / λ − L_w f. With it, ∂F/∂β_m is the slope of g, and, as β'∇F = 0, the relative certificate is

    max_m ∂F/∂β_m / F ≤ tol,

which is 0 at a stationary point. F is not concave: another start may end elsewhere. Slopes tell nothing of a
direction that is absent, because the kernels with weight do not have it: steps that would lose one are
shortened, so that all that the mean kernel has stay.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..._typing import Array
from ...core.optim.loop import Options, Recorder, Result, Status, backtrack
from ...core.optim.simplex import project_onto_simplex
from ...core.stack.sums import weighted_sum
from .directions import Directions, apply_laplacian, coordinates_of, find_directions

_NOTHING = 1e-10  # share of the largest eigenvalue below which a direction keeps nothing apart
_SINGULAR = 1e-12  # smallest eigenvalue of W, scaled to a diagonal of 1
_INNER_STEPS = 200
_INNER_SHARE = 0.1  # of the certificate, at which the steps for given directions end
_TRIALS = 40
_LONGEST = 8.0  # a step of the weights, longer than that for given directions while F rises


@dataclass(frozen=True)
class ReductionResult(Result):
    """Weights and directions."""

    weights: Array  # β (m,), of sum 1
    directions: Directions  # in the coordinates below
    coordinates: Array  # (n, r), of the samples in the feature space of the learned kernel
    to_similarities: Array  # (n, r): coordinates are K times these


class ScatterProblem:
    """A stack of kernels (m, n, n), which is never modified, its scales s (m,), and the two graphs (n, n)."""

    def __init__(self, Ks: Array, scales: Array, between: Array, within: Array, reg: float) -> None:
        self.Ks, self.scales, self.reg = np.asarray(Ks), scales, reg
        self.between, self.within = between, within
        traces = [_laplacian_trace(within, np.asarray(K, np.float64)) for K in self.Ks]
        self.traces = np.array(traces) / scales  # tr(L_w K_m) / s_m

    def solve(self, n_components: int, options: Options) -> ReductionResult:
        """Weights that are stationary, from equal ones."""
        record = Recorder.of(options)
        beta = np.full(len(self.Ks), 1.0 / len(self.Ks))
        here, reach = self.at(beta, n_components), 0.5
        while True:
            gap = here.gap
            entry = {"iteration": len(record.history), "objective": here.value, "gap": gap}
            if record.note(entry):
                break
            step = here.products.ascend(beta, _INNER_SHARE * gap) - beta
            reach = min(2.0 * reach, _LONGEST)
            proposed, there = self._longer(beta, step, reach, n_components)
            if reach > 1.0 and not there.is_above(here):
                reach = 1.0
                proposed, there = self._longer(beta, step, reach, n_components)
            if not there.is_above(here):  # rounding is left
                record.stop(Status.STALLED)
                break
            beta, here = proposed, there
        return ReductionResult(
            beta, here.directions, here.coordinates, here.to_similarities,
            objective=here.value, gap=here.gap, **record.outcome,
        )  # fmt: skip

    def _longer(self, beta: Array, step: Array, reach: float, n_components: int) -> tuple[Array, "_Point"]:
        point = project_onto_simplex(beta + reach * step)
        return point, self.at(point, n_components)

    def at(self, beta: Array, n_components: int) -> "_Point":
        """The directions for given weights, and how F changes with these."""
        K = weighted_sum(self.Ks, beta / self.scales)
        K -= K.mean(axis=0)
        K -= K.mean(axis=1)[:, None]
        G, to_similarities = coordinates_of(0.5 * (K + K.T))
        found = find_directions(G, self.between, self.within, self.reg, n_components)
        kept = found.eigenvalues > _NOTHING * max(float(found.eigenvalues[0]), 0.0)
        f, eigenvalues = (G @ found.coefficients)[:, kept], found.eigenvalues[kept]
        epsilon = self.reg * float(self.traces @ beta)
        alpha = apply_laplacian(self.between, f) / eigenvalues - apply_laplacian(self.within, f)
        products = self._products(alpha / epsilon)
        value = float(found.eigenvalues.sum())
        slopes, n_kept = products.slopes(beta), int(np.count_nonzero(kept))
        return _Point(value, slopes, n_kept, products, found, G, to_similarities)

    def _products(self, alpha: Array) -> "_Products":
        F = np.array([np.asarray(K, np.float64) @ alpha for K in self.Ks]) / self.scales[:, None, None]
        L_b = np.array([apply_laplacian(self.between, f) for f in F])
        L_w = np.array([apply_laplacian(self.within, f) for f in F])
        B, W = (np.einsum("mip,lir->mlpr", F, LF, optimize=True) for LF in (L_b, L_w))
        C = np.einsum("ip,mir->mpr", alpha, F)
        W += 0.5 * self.reg * np.multiply.outer(self.traces, C)
        W += 0.5 * self.reg * np.einsum("l,mpr->mlpr", self.traces, C)
        return _Products(_symmetric(B), _symmetric(W))


@dataclass(frozen=True)
class _Products:
    """B and W of pairs of kernels (m, m, q, q), for given directions: g(β) = tr[W(β)⁻¹ B(β)]."""

    B: Array
    W: Array

    def value(self, beta: Array) -> float:
        """g(β); -inf where W is singular, as β leaves no kernel that has one of the directions."""
        B, W = (np.einsum("m,l,mlpr->pr", beta, beta, T, optimize=True) for T in (self.B, self.W))
        sizes = np.sqrt(np.maximum(np.diagonal(W), 0.0))
        if not sizes.all() or np.linalg.eigvalsh(W / np.outer(sizes, sizes))[0] < _SINGULAR:
            return -np.inf
        return float(np.trace(np.linalg.solve(W, B)))

    def slopes(self, beta: Array) -> Array:
        """∂g/∂β (m,)."""
        if not self.B.size:
            return np.zeros(beta.size)
        dB, dW = (2.0 * np.einsum("l,mlpr->mpr", beta, T) for T in (self.B, self.W))
        B, W = (0.5 * np.einsum("m,mpr->pr", beta, T) for T in (dB, dW))
        inverse = np.linalg.inv(W)
        by_w = inverse @ B @ inverse
        return np.einsum("pr,mrp->m", inverse, dB) - np.einsum("pr,mrp->m", by_w, dW)

    def ascend(self, beta: Array, tol: float) -> Array:
        """Projected gradient steps, none of which lowers g, until its certificate is at most tol."""
        value, slopes = self.value(beta), self.slopes(beta)
        length = 1.0 / max(float(np.abs(slopes).max()), 1e-300)
        for _ in range(_INNER_STEPS):
            if slopes.max() <= tol * max(value, 1e-300):
                break
            step = backtrack(lambda s: self._try(beta, value, slopes, s), _TRIALS, first=length)  # noqa: B023
            if step is None:
                break
            change, turn = step.point - beta, slopes - self.slopes(step.point)
            curvature = float(change @ turn)
            square = float(change @ change)
            beta, value, slopes = step.point, step.value, slopes - turn
            length = square / curvature if curvature > 1e-12 * square else 4.0 * length
        return beta

    def _try(self, beta: Array, value: float, slopes: Array, length: float) -> "_Step | None":
        point = project_onto_simplex(beta + length * slopes)
        reached = self.value(point)
        rise = 1e-4 * float(slopes @ (point - beta))
        return _Step(point, reached) if rise > 0.0 and reached >= value + rise else None


class _Step(NamedTuple):
    point: Array
    value: float


@dataclass(frozen=True)
class _Point:
    """Weights with their directions: F, ∂F/∂β, and what the next step reads."""

    value: float
    slopes: Array
    n_kept: int  # directions that keep something apart
    products: _Products
    directions: Directions
    coordinates: Array
    to_similarities: Array

    @property
    def gap(self) -> float:
        return max(float(self.slopes.max()), 0.0) / max(abs(self.value), 1e-300)

    def is_above(self, other: "_Point") -> bool:
        """Whether F is larger, and no direction is lost: slopes do not tell what it would bring back."""
        return self.value > other.value and self.n_kept >= other.n_kept


def _symmetric(T: Array) -> Array:
    """T_mlpr, averaged with the pair of kernels exchanged."""
    return np.asarray(0.5 * (T + T.transpose(1, 0, 3, 2)))


def _laplacian_trace(weights: Array, K: Array) -> float:
    """tr((D − W) K)."""
    return float(weights.sum(axis=1) @ np.diagonal(K) - np.vdot(weights, K))

"""Spectral relaxations of multiple kernel k-means: an embedding H (n, k) with H'H = I instead of clusters.

With K_γ = Σ_p γ_p² K_p / s_p, kernels centered, and γ on the simplex:

    SimpleMKKM   min_γ max_H tr(H'K_γ H)                                            (Liu, 2023)
    MR           min_γ min_H tr(K_γ (I − HH')) + (λ/2) γ'Mγ                         (Liu et al., 2016)
    absent rows  the same, also over the unknown entries of K_p ⪰ 0                 (Liu et al., 2017)

**SimpleMKKM** is convex in γ: f(γ) = max_H tr(H'K_γ H), the sum of the k largest eigenvalues, is a maximum of
the convex quadratics Σ_p γ_p² a_p(H), a_p(H) = tr(H'K_p H)/s_p. Every Z = Σ_t w_t H_t H_t' with w on the
simplex gives a lower bound of the optimal value,

    min_γ Σ_p γ_p² a_p(Z) = 1 / Σ_p (1/a_p(Z)),   attained at γ_p ∝ 1/a_p(Z).

Each iteration finds the w of the best bound for the H_t found so far (a smooth convex problem of few
variables), takes its γ, and adds the H of that γ. The gap (f(γ) − bound) / f(γ) certifies γ.

**MR**: H are the k leading eigenvectors of K_γ for given γ, and γ solves the quadratic program
½ γ'(2 diag(z) + λM) γ, z_p = tr(K_p (I − HH'))/s_p, for given H. M_pq = n cos(K_p, K_q) ≥ 0 keeps kernels
that are alike from being chosen together. Neither step raises the objective, which is not convex; the
gap is that of a linear model over the simplex, g'γ − min g for the gradient g, relative to the objective.

**Absent rows**: with Q = I − HH', o the samples that have view p and m those that lack it, tr(K_p Q) is least
over K_p ⪰ 0 with the given block K_oo at K_om = −K_oo Q_om Q_mm⁻¹, K_mm = Q_mm⁻¹ Q_mo K_oo Q_om Q_mm⁻¹.
"""

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from ..._typing import Array
from ...core.optim.loop import Options, Recorder, Result, relative_gap
from ...core.optim.simplex import minimise_over_simplex, minimize_step
from ...core.stack.sums import weighted_sum

_TINY = 1e-12  # of n: what a kernel has in an embedding at least
_RIDGE = 1e-10  # on Q_mm, which may be singular
_INNER = Options(tol=1e-6, max_iter=100)
_MAX_CUTS = 60


@dataclass(frozen=True)
class RelaxedResult(Result):
    """Weights γ (m,) of sum 1, the leading eigenvectors H (n, k) of K_γ, and their eigenvalues (k,)."""

    gamma: Array
    H: Array
    eigenvalues: Array


class Embedding:
    """The kernels (m, n, n), which are not modified, and their scales s (m,).

    ``centered``: whether they are already.
    """

    def __init__(self, Ks: Array, scales: Array, k: int, *, centered: bool = False) -> None:
        self.Ks, self.scales, self.k, self.centered = np.asarray(Ks), scales, k, centered
        self.n = self.Ks.shape[1]

    def at(self, gamma: Array) -> tuple[Array, Array]:
        """The k leading eigenvalues of K_γ, largest first, and their vectors H (n, k)."""
        K = weighted_sum(self.Ks, gamma**2 / self.scales)
        return leading(K if self.centered else center(K), self.k)

    def parts(self, H: Array) -> Array:
        """a_p(H) (m,)."""
        H = H if self.centered else H - H.mean(axis=0)
        sums = [np.vdot(H, np.asarray(K, np.float64) @ H) for K in self.Ks]
        return np.maximum(np.array(sums) / self.scales, 0.0)

    def traces(self) -> Array:
        """tr K_p / s_p (m,), of the centered kernels."""
        lost = 0.0 if self.centered else self.Ks.mean(axis=(1, 2), dtype=np.float64) * self.n
        return np.asarray((np.einsum("mii->m", self.Ks, dtype=np.float64) - lost) / self.scales)

    def cosines(self) -> Array:
        """M_pq = n cos(K_p, K_q), of the centered kernels (m, m)."""
        rows = [np.asarray(K, np.float64) for K in self.Ks]
        if not self.centered:
            rows = [center(K.copy()) for K in rows]
        norms = np.array([np.linalg.norm(K) for K in rows])
        products = np.array([[np.vdot(K, L) for L in rows] for K in rows])
        return np.asarray(self.n * products / np.outer(norms, norms))


def center(K: Array) -> Array:
    """HKH, H = I − 11'/n, in place.

    Examples
    --------
    >>> center(np.array([[4.0, 2.0], [2.0, 2.0]]))
    array([[ 0.5, -0.5],
           [-0.5,  0.5]])
    """
    means = K.mean(axis=0)
    K -= means
    K -= (means - means.mean())[:, None]
    return K


def leading(K: Array, k: int) -> tuple[Array, Array]:
    """The k largest eigenvalues, largest first, and their vectors."""
    n = len(K)
    values, vectors = scipy.linalg.eigh(K, subset_by_index=[n - k, n - 1], check_finite=False)
    if values.size < k:  # a search by index may lose some of those that are equal
        values, vectors = scipy.linalg.eigh(K, driver="evd", check_finite=False)
    return values[: -k - 1 : -1], vectors[:, : -k - 1 : -1]


# ---------------------------------------------------------------------- SimpleMKKM
@dataclass(frozen=True)
class _Harmonic:
    """φ(w) = Σ_p 1/ā_p, ā = A'w, at a point of the simplex; A (t, m)."""

    A: Array
    w: Array

    @property
    def mean(self) -> Array:
        return np.asarray(self.w @ self.A)

    @property
    def value(self) -> float:
        return float(np.sum(1.0 / self.mean))

    @property
    def gradient(self) -> Array:
        return np.asarray(-self.A @ self.mean**-2)

    @property
    def hessian(self) -> Array:
        return np.asarray(2.0 * (self.A * self.mean**-3) @ self.A.T)

    @property
    def gap(self) -> float:
        g = self.gradient
        return float(g @ self.w - g.min()) / self.value


def solve_simple(problem: Embedding, options: Options) -> RelaxedResult:
    """SimpleMKKM, from equal weights."""
    m = len(problem.Ks)
    record = Recorder.of(options)
    gamma, cuts, w = np.full(m, 1.0 / m), np.zeros((0, m)), np.zeros(0)
    best, lower = (np.inf, gamma, np.zeros((problem.n, 0)), np.zeros(0)), 0.0
    while True:
        values, H = problem.at(gamma)
        value = float(values.sum())
        if value < best[0]:
            best = (value, gamma, H, values)
        cuts = np.vstack([cuts, np.maximum(problem.parts(H), _TINY * problem.n)])
        w = np.append(0.5 * w, 1.0 if not w.size else 0.5)
        w = _best_mixture(cuts, w)
        mean = w @ cuts
        lower = max(lower, 1.0 / float(np.sum(1.0 / mean)))
        entry = {"iteration": len(record.history), "objective": best[0], "lower_bound": lower}
        if record.note(entry | {"gap": relative_gap(best[0], lower)}):
            break
        gamma = (1.0 / mean) / np.sum(1.0 / mean)
        if len(cuts) > _MAX_CUTS:  # those of no weight are found again where they are needed
            cuts, w = cuts[w > 1e-6], w[w > 1e-6]
    value, gamma, H, values = best
    gap = relative_gap(value, lower)
    return RelaxedResult(gamma, H, values, objective=value, gap=gap, **record.outcome)


def _best_mixture(cuts: Array, w: Array) -> Array:
    """The w on the simplex whose mixture of the cuts (t, m) gives the largest lower bound."""
    start = np.maximum(w, 1e-9)
    return minimise_over_simplex(lambda w: _Harmonic(cuts, w), start / start.sum(), _INNER).point


# ---------------------------------------------------------------------- matrix-induced regularization
def solve_regularized(
    problem: Embedding, reg: float, options: Options, present: Array | None = None
) -> RelaxedResult:
    """Weights and embedding in turn, from equal weights; with ``present`` (n, m), rows of views as well.

    The kernels of absent rows are then completed in place: ``problem`` has a copy of its own.
    """
    m = len(problem.Ks)
    M = reg * problem.cosines()
    record = Recorder.of(options)
    gamma = np.full(m, 1.0 / m)
    while True:
        values, H = problem.at(gamma)
        if present is not None:
            impute(problem.Ks, H, present)
        z = np.maximum(problem.traces() - problem.parts(H), _TINY * problem.n)
        quadratic = 2.0 * np.diag(z) + M
        gradient = quadratic @ gamma
        value = 0.5 * float(gamma @ gradient)
        gap = float(gradient @ gamma - gradient.min()) / value
        entry = {"iteration": len(record.history), "objective": value, "gap": gap}
        if record.note(entry, reached=gap <= options.tol and _settled(record.history, options.tol)):
            break
        gamma = minimize_step(quadratic, gradient, gamma)
        gamma = np.maximum(gamma, 0.0) / np.maximum(gamma, 0.0).sum()
    return RelaxedResult(gamma, H, values, objective=value, gap=gap, **record.outcome)


def _settled(history: list[dict[str, float]], tol: float) -> bool:
    """Whether the last two objectives differ by at most tol; a first one has none before it."""
    if len(history) < 2:
        return len(history) == 1 and history[0]["gap"] <= 1e-12
    last, before = history[-1]["objective"], history[-2]["objective"]
    return before - last <= tol * abs(before)


def impute(Ks: Array, H: Array, present: Array) -> None:
    """The absent rows of each kernel (m, n, n) that make tr(K_p (I − HH')) least, in place."""
    for p in range(len(Ks)):
        o, absent = np.flatnonzero(present[:, p]), np.flatnonzero(~present[:, p])
        if not absent.size:
            continue
        Q_mm = np.eye(absent.size) - H[absent] @ H[absent].T
        Q_mm[np.diag_indices_from(Q_mm)] += _RIDGE
        B = np.linalg.solve(Q_mm, H[absent] @ H[o].T)  # −Q_mm⁻¹ Q_mo
        K_mo = B @ Ks[p][np.ix_(o, o)]
        Ks[p][np.ix_(absent, o)] = K_mo
        Ks[p][np.ix_(o, absent)] = K_mo.T
        Ks[p][np.ix_(absent, absent)] = K_mo @ B.T


def centered_where_present(Ks: Array, scales: Array, present: Array) -> Array:
    """A copy of the scaled kernels, each centered on the samples that have it, 0 elsewhere."""
    out = np.zeros(Ks.shape)
    for p, K in enumerate(Ks):
        o = np.ix_(*(np.flatnonzero(present[:, p]),) * 2)
        out[p][o] = center(np.array(K[o], np.float64)) / scales[p]
    return out

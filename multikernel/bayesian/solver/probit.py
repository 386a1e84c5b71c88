"""Multinomial probit regression on a convex combination of kernels, by variational Bayes.

For n samples, P kernels K_m (each divided by the mean s_m of its diagonal), L classes and weights β of the
kernels on the unit simplex, with Φ = (K^β, 1), K^β = Σ_m β_m K_m:

    λ_li ~ Gamma(prior)      w_li ~ N(0, 1/λ_li)      weights of the samples, and of the intercept
    f_l  ~ N(Φ w_l, I)       y_i = argmax_l f_li

The posterior is approximated by q(w) q(λ) q(f), and β is a point: the one of largest evidence bound, which
under a uniform Dirichlet prior is its most probable value. Each is set to what maximizes the bound with the
others as they are. With bars for means and S = Σ_l V_l:

    q(w_l)   normal       V_l = (diag(λ̄_l) + Φ'Φ)⁻¹,  w̄_l = V_l Φ'f̄_l
    q(λ)                  shape + ½, rate + ½ E w²
    q(f_i)   truncated    N(Φ_i w̄, I) within the region where the own class is largest
    β                     with q(w): maximizes, over the simplex,
                          Σ_l log N(f̄_l; 0, C_l),   C_l = I + Φ diag(λ̄_l)⁻¹ Φ'

The last has the slope Σ_l (f̄_l − Φw̄_l)'K_m w̄_l − tr(K_m (K^β S + 1 cov(w, b)')) in β_m. A step goes to the
best point of a model of second order, whose curvature is the average information Σ_l ½ (D_m a)'C_l⁻¹(D_p a),
a = f̄_l − Φw̄_l and D_m a = ∂C_l/∂β_m a = K_m w̄_l + K^β diag(λ̄_l)⁻¹ K_m a. It is shortened until the bound
rises. So β and w move together: one after the other they converge slowly. The bound, which never falls:

    Σ_i log Z_i + ½ Σ (f̄ − center)² − ½ E Σ (f̄ − Φw)² + E log p(w | λ) + H(w) − KL(λ)
"""

import copy
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cholesky
from scipy.linalg.lapack import dpotri, dtrtri
from scipy.special import log_ndtr

from ..._typing import Array
from ...core.optim.loop import Options, Recorder, Result, backtrack, is_over
from ...core.optim.simplex import minimize_step
from .learn import ROUNDS, Extrapolation, remaining_rise
from .posterior import Gamma, Pair, ScaledStack, broad
from .truncated import truncate_classes

_SHORTENINGS = 8  # of a step of β
_NODES = np.arange(-9.0, 9.01, 0.1)


@dataclass(frozen=True, eq=False)
class ProbitResult(Result):
    """What predictions need; ``objective`` is the bound, ``gap`` how much further it would rise."""

    weights: Array  # (n_kernels,), β, for kernels divided by the mean of their diagonals
    scales: Array  # (n_kernels,), one over the mean of each diagonal
    coefficients: Array  # (n_classes, n), mean of w
    intercepts: Array  # (n_classes,)
    halves: Array  # (n_classes, n + 1, n + 1), A with A'A = V_l, lower


@dataclass
class ProbitPosterior:
    """The factors of q, and β."""

    beta: Array  # (n_kernels,)
    K: Array  # (n, n), K^β
    square: Array  # (n + 1, n + 1), Φ'Φ
    w: Array  # (L, n + 1), mean; the intercept comes last
    variance: Array  # (L, n + 1), diagonals of V
    logdet: Array  # (L,), log det V
    covariances: list[Array]  # V of each class, (n + 1, n + 1)
    sample: Gamma  # (L, n + 1)
    f: Array  # (L, n), mean of the outputs
    center: Array  # (L, n), of the normals that are truncated
    log_mass: float  # Σ_i log Z_i there

    @property
    def spread(self) -> Array:
        """S (n + 1, n + 1)."""
        return np.asarray(sum(self.covariances))

    @property
    def scores(self) -> Array:
        """Φ w̄ (L, n)."""
        return np.asarray(self.w[:, :-1] @ self.K + self.w[:, -1:])


class ProbitModel:
    """Kernels, labels and prior; `sweep` updates every factor, `bound` is the evidence bound."""

    def __init__(self, stack: ScaledStack, codes: Array, prior: Pair) -> None:
        self.stack, self.codes, self.prior = stack, codes, prior
        self.n_classes = int(codes.max()) + 1

    def start(self, beta: Array) -> ProbitPosterior:
        """Outputs of samples without a kernel, precisions at their prior."""
        n, L = self.stack.n, self.n_classes
        first = truncate_classes(np.zeros((L, n)), self.codes, 0.0)
        empty = np.zeros((L, n + 1))
        q = ProbitPosterior(
            beta=beta,
            K=np.empty((n, n)),
            square=np.empty((n + 1, n + 1)),
            w=empty,
            variance=empty.copy(),
            logdet=np.zeros(L),
            covariances=[],
            sample=broad(self.prior, (L, n + 1)),
            f=first.mean,
            center=np.zeros((L, n)),
            log_mass=float(first.log_mass.sum()),
        )
        self._combine(q, beta)
        return q

    def sweep(self, q: ProbitPosterior) -> None:
        """Update every factor, and β, once."""
        self.update_w(q)
        self.update_beta(q)
        self.update_f(q)
        self.update_sample(q)

    # ------------------------------------------------------------------ the updates
    def _combine(self, q: ProbitPosterior, beta: Array) -> None:
        q.beta, q.K = beta, self.stack.total(beta)
        q.square = np.empty_like(q.square)
        q.square[:-1, :-1] = q.K @ q.K
        q.square[-1, :-1] = q.square[:-1, -1] = q.K.sum(axis=0)
        q.square[-1, -1] = self.stack.n

    def update_w(self, q: ProbitPosterior) -> None:
        """q(w), one class after the other."""
        q.w, q.variance = np.empty_like(q.w), np.empty_like(q.variance)
        q.logdet, q.covariances = np.empty_like(q.logdet), []
        mirrored = self.n_classes == 2  # of two classes, one is the other with its sign changed
        for l, f in enumerate(q.f[:1] if mirrored else q.f):
            root = self.root(q, l)
            q.logdet[l] = -2.0 * np.log(np.diagonal(root)).sum()
            V = _inverse(root)
            q.w[l] = V @ np.append(q.K @ f, f.sum())
            q.variance[l] = np.diagonal(V)
            q.covariances.append(V)
        if mirrored:
            q.w[1], q.variance[1], q.logdet[1] = -q.w[0], q.variance[0], q.logdet[0]
            q.covariances *= 2

    def root(self, q: ProbitPosterior, output: int) -> Array:
        """Of the inverse of V, lower."""
        precision = q.square.copy()
        precision.flat[:: len(precision) + 1] += q.sample.mean[output]
        return np.asarray(cholesky(precision, lower=True, overwrite_a=True))

    def update_sample(self, q: ProbitPosterior) -> None:
        """q(λ)."""
        q.sample = broad(self.prior, q.w.shape).after(1.0, q.w**2 + q.variance)

    def update_f(self, q: ProbitPosterior) -> None:
        """q(f)."""
        q.center = q.scores
        found = truncate_classes(q.center, self.codes, 0.0)
        q.f, q.log_mass = found.mean, float(found.log_mass.sum())

    def update_beta(self, q: ProbitPosterior) -> None:
        """β and q(w) together, by a Newton step that is shortened until the bound rises."""
        if len(q.beta) == 1:
            return
        H, slope = self.weights_model(q)
        move = minimize_step(H, slope, q.beta) - q.beta
        best = self.bound(q)

        def attempt(length: float) -> ProbitPosterior | None:
            if is_over():  # an attempt takes as long as the rest of a sweep
                return None
            there, beta = copy.copy(q), np.maximum(q.beta + length * move, 0.0)
            self._combine(there, beta / beta.sum())
            self.update_w(there)
            return there if self.bound(there) > best else None

        found = backtrack(attempt, _SHORTENINGS) if slope @ move < 0.0 else None
        if found is not None:
            vars(q).update(vars(found))

    def weights_model(self, q: ProbitPosterior) -> tuple[Array, Array]:
        """Curvature (average information) and slope in β of minus the bound, with q(w) at its best."""
        L, own = self.n_classes, q.w[:, :-1]
        left = q.f - q.scores
        said, told = self.stack.apply(own), self.stack.apply(left)  # (L, P, n)
        bent = q.K @ q.spread[:-1, :-1] + q.spread[-1, :-1]
        slope = self.stack.inner(bent) - np.einsum("lmi,li->m", said, left)
        curvature = np.zeros((len(q.beta), len(q.beta)))
        Phi = np.column_stack([q.K, np.ones(self.stack.n)])
        for l in range(L):
            D = said[l] + (told[l] / q.sample.mean[l, :-1]) @ q.K
            inside = D @ Phi
            curvature += 0.5 * (D @ D.T - inside @ q.covariances[l] @ inside.T)
        return curvature, slope

    # ------------------------------------------------------------------ the bound
    def bound(self, q: ProbitPosterior) -> float:
        """The evidence bound of any q and β, in nats."""
        squares = q.w**2 + q.variance
        left = q.f - q.scores
        misfit = float(np.sum(left**2) + np.vdot(q.square, q.spread))
        value = q.log_mass + 0.5 * float(np.sum((q.f - q.center) ** 2)) - 0.5 * misfit
        value += 0.5 * float(np.sum(q.sample.mean_log - q.sample.mean * squares))
        value += 0.5 * float(q.logdet.sum()) + 0.5 * q.w.size
        return value - q.sample.divergence(broad(self.prior, q.w.shape))

    # ------------------------------------------------------------------ extrapolation
    @staticmethod
    def coordinates(q: ProbitPosterior) -> Array:
        """All that a sweep reads, as one vector."""
        return np.concatenate([np.log(q.sample.rate).ravel(), q.f.ravel(), q.beta])

    @staticmethod
    def units(q: ProbitPosterior) -> Array:
        """What departures of these are measured in."""
        of_rates = q.sample.shape.ravel() ** -0.5
        return np.concatenate([of_rates, np.ones(q.f.size), np.full(q.beta.size, 1.0 / q.f.size**0.5)])

    def placed(self, q: ProbitPosterior, x: Array) -> ProbitPosterior:
        """A copy of q with x in it, β brought back to the simplex; the next sweep leaves q alone."""
        rates, f, beta = np.split(x, np.cumsum([q.sample.rate.size, q.f.size]))
        there = copy.copy(q)
        there.sample = Gamma(q.sample.shape, np.exp(rates).reshape(q.sample.rate.shape))
        there.f = f.reshape(q.f.shape)
        beta = np.maximum(beta, 0.0)
        if not np.array_equal(beta, q.beta):
            self._combine(there, beta / beta.sum())
        return there


def learn_probit(
    Ks: Array, codes: Array, prior: Pair, options: Options, start: Array | None = None
) -> ProbitResult:
    """Learn the posterior and the kernel weights.

    Parameters
    ----------
    Ks : array (n_kernels, n, n), positive semidefinite; not modified
    codes : array (n,) of 0 … n_classes − 1
    prior : (shape, rate) of the Gamma prior of the precisions
    options : Options, of which ``tol``, ``max_iter`` and ``callback`` are read
    start : array (n_kernels,), first kernel weights; default 1 / n_kernels

    Examples
    --------
    >>> x = np.linspace(-1.0, 1.0, 20)
    >>> Ks = np.stack([np.outer(x, x), np.eye(20)])
    >>> learn_probit(Ks, (x > 0).astype(int), (1.0, 1.0), Options(tol=1e-4)).weights.round(2).tolist()
    [1.0, 0.0]
    """
    model = ProbitModel(ScaledStack(Ks), codes, prior)
    q = model.start(np.full(len(Ks), 1.0 / len(Ks)) if start is None else start)
    record = Recorder.of(options)
    model.sweep(q)
    bounds, at, ahead = [model.bound(q)], model.coordinates(q), Extrapolation()
    gap = np.inf
    for iteration in range(1, options.max_iter + 1):
        there, value = _swept(model, q, at, plain=ahead.is_empty)
        if value < bounds[-1] and not ahead.is_empty:
            at = model.coordinates(q)
            ahead.forget()
        else:
            q = there
            bounds.append(value)
            ahead.add(at, model.coordinates(q))
            at = ahead.next(model.units(q))
        gap = remaining_rise(bounds) / len(codes)
        entry = {"iteration": iteration, "objective": bounds[-1], "gap": gap}
        entry["n_active"] = float(np.count_nonzero(q.beta))
        if record.note(entry, reached=gap <= options.tol and len(bounds) > ROUNDS):
            break
    return _result(model, q, gap, record)


def _inverse(root: Array) -> Array:
    """Of root root', for a lower root, which is overwritten."""
    V, _ = dpotri(root.T, lower=0, overwrite_c=1)  # in the memory that LAPACK reads without a copy
    above = np.triu(V, 1)
    above += above.T
    above.flat[:: len(V) + 1] = np.diagonal(V)
    return above


def _swept(model: ProbitModel, q: ProbitPosterior, x: Array, plain: bool) -> tuple[ProbitPosterior, float]:
    """The posterior and bound after a sweep; -inf where an extrapolation has led out of the numbers."""
    with np.errstate() if plain else np.errstate(all="ignore"):
        try:
            there = model.placed(q, x)
            model.sweep(there)
            value = model.bound(there)
        except (np.linalg.LinAlgError, ValueError):  # not positive definite, not finite
            if plain:
                raise
            return q, -np.inf
    return there, value if np.isfinite(value) else -np.inf


def _result(model: ProbitModel, q: ProbitPosterior, gap: float, record: Recorder) -> ProbitResult:
    model.update_w(q)  # of the newest precisions and outputs; it cannot lower the bound
    halves = [np.tril(dtrtri(model.root(q, l), lower=1)[0]) for l in range(model.n_classes)]
    return ProbitResult(
        objective=model.bound(q),
        gap=gap,
        weights=q.beta,
        scales=model.stack.scales,
        coefficients=q.w[:, :-1],
        intercepts=q.w[:, -1],
        halves=np.array(halves),
        **record.outcome,
    )


def class_probabilities(mean: Array, variance: Array) -> Array:
    """P(f_c is the largest) for independent f_c ~ N(mean, variance), of shape (n_samples, n_classes).

    Examples
    --------
    >>> class_probabilities(np.zeros((1, 3)), np.array([[1.0, 1.0, 1.0]])).round(6).tolist()
    [[0.333333, 0.333333, 0.333333]]
    """
    std = np.sqrt(variance)
    heights = np.exp(-0.5 * _NODES**2)
    found = np.empty_like(mean)
    for c in range(mean.shape[1]):
        at = mean[:, c, None] + std[:, c, None] * _NODES
        logs = np.zeros_like(at)
        for other in range(mean.shape[1]):
            if other != c:
                logs += log_ndtr((at - mean[:, other, None]) / std[:, other, None])
        found[:, c] = np.exp(logs) @ heights
    found = np.maximum(found, np.finfo(float).tiny)
    return found / found.sum(axis=1, keepdims=True)

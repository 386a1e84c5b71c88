"""The hierarchical model of Bayesian efficient multiple kernel learning, and its factorised posterior.

For n samples, P kernels K_m (each divided by the mean s_m of its diagonal) and L outputs (one for two
classes and for regression, else one for each class):

    λ_li ~ Gamma(sample)       a_li ~ N(0, 1/λ_li)             weights of the samples
    g_lm ~ N(K_m a_l, σ² I)                                    what kernel m says of output l, (n,)
    ω_m  ~ Gamma(kernel)       e_m  ~ N(0, 1/ω_m)              weights of the kernels, the same for all l
    γ_l  ~ Gamma(intercept)    b_l  ~ N(0, 1/γ_l)
    f_l  ~ N(Σ_m e_m g_lm + b_l, 1/ε)

Two classes: ε = 1, t f > ν for labels t = ±1. More: ε = 1, f_y > f_c + ν for each other class c.
Regression: f is the given y, and ε ~ Gamma(noise). All Gammas are by shape and rate.

The posterior is approximated by q(λ) q(a) q(G) q(γ) q(ω) q(b, e) q(ε) q(f), and each factor in its turn is
set to what maximises the evidence bound E_q log p − E_q log q with the others as they are. With bars for
means, M = E ee', and gg' summed over what is not written:

    q(a_l)   normal        Σ_a,l = (diag(λ̄_l) + Σ_m K_m² / σ²)^-1,    ā_l = Σ_a,l Σ_m K_m ḡ_lm / σ²
    q(G)     normal        Σ_g = (I / σ² + ε̄ M)^-1 for each l and i,
                           ḡ_li = Σ_g ((K_m ā_l)_i / σ² + ε̄ (f̄_li ē − E e b_l))
    q(b, e)  normal        precision [[diag(γ̄) + ε̄ n I, ε̄ Σ_i ḡ_li'], [·, diag(ω̄) + ε̄ Σ_li E g_li g_li']],
                           mean = its inverse times ε̄ (Σ_i f̄_li, Σ_li ḡ_li f̄_li)
    q(λ), q(ω), q(γ)       shape + ½, rate + ½ E(a², e², b²)
    q(ε)                   shape + Ln/2, rate + ½ Σ_li E(y_li − e'g_li − b_l)²
    q(f)     truncated     N(ē'ḡ_li + b̄_l, 1) within the region of the label

Σ_g is one (P, P) matrix, and of Σ_a,l only its diagonal, log-determinant and tr(Σ_m K_m² Σ_a,l) are kept:
no matrix is larger than (n, n) or (P + L, P + L).

The evidence bound, which no update can lower, term by term:

    E log p(a | λ) + H(a) − KL(λ)        and the same for (b, e) with γ and ω
    E log p(G | a) + H(G)                with Σ E(g − K_m a)² = Σ‖ḡ_lm − K_m ā_l‖² + Ln tr Σ_g
                                                                + Σ_l tr(Σ_m K_m² Σ_a,l)
    classes:     Σ_i log Z_i + ½ Σ (f̄ − center)² − ½ misfit
    regression:  ½ Ln (E log ε − log 2π) − ½ ε̄ misfit − KL(ε)
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.linalg.lapack import dtrtri
from scipy.special import digamma, gammaln

from ..._typing import Array
from .truncated import Truncated

Pair = tuple[float, float]
_LOG_2PI = float(np.log(2.0 * np.pi))


@dataclass(frozen=True)
class Priors:
    """(shape, rate) of the Gamma priors of the precisions, and σ."""

    sample: Pair = (1.0, 1.0)
    kernel: Pair = (1.0, 1.0)
    intercept: Pair = (1.0, 1.0)
    noise: Pair = (1.0, 1.0)
    spread: float = 0.1  # how far what a kernel says may be from its part K_m a


@dataclass(frozen=True, eq=False)
class Gamma:
    """Independent Gamma(shape, rate) for each entry: mean shape / rate.

    Examples
    --------
    >>> prior = Gamma(np.ones(2), np.ones(2))
    >>> posterior = prior.after(1.0, np.array([0.0, 4.0]))
    >>> posterior.mean.tolist(), round(float(prior.divergence(prior)), 12)
    ([1.5, 0.5], 0.0)
    """

    shape: Array
    rate: Array  # of the same shape

    @property
    def mean(self) -> Array:
        """E x."""
        return np.asarray(self.shape / self.rate)

    @property
    def mean_log(self) -> Array:
        """E log x."""
        return np.asarray(digamma(self.shape) - np.log(self.rate))

    def after(self, count: float, squares: Array) -> "Gamma":
        """The posterior of the precision of `count` centred normals, whose expected squares sum to this."""
        return Gamma(self.shape + 0.5 * count, self.rate + 0.5 * squares)

    def divergence(self, prior: "Gamma") -> float:
        """KL(self ‖ prior), summed over the entries; not negative."""
        each = (
            (self.shape - prior.shape) * digamma(self.shape)
            - gammaln(self.shape)
            + gammaln(prior.shape)
            + prior.shape * np.log(self.rate / prior.rate)
            + self.shape * (prior.rate / self.rate - 1.0)
        )
        return float(np.sum(each))


def broad(parameters: tuple[float, float], shape: tuple[int, ...]) -> Gamma:
    """The same prior (shape, rate) for each of some entries."""
    return Gamma(np.full(shape, parameters[0]), np.full(shape, parameters[1]))


class ScaledStack:
    """The kernels, each divided by the mean of its diagonal; the stack itself is neither copied nor changed.

    Attributes
    ----------
    scales : array (n_kernels,), one over the mean of each diagonal
    squares : array (n, n), Σ_m K_m²

    Examples
    --------
    >>> stack = ScaledStack(np.stack([2.0 * np.eye(2), np.ones((2, 2))]))
    >>> stack.scales.tolist(), stack.squares.tolist()
    ([0.5, 1.0], [[3.0, 2.0], [2.0, 3.0]])
    """

    def __init__(self, Ks: Array) -> None:
        self.Ks = Ks
        self.n_kernels, self.n = Ks.shape[:2]
        self.scales = np.array([1.0 / float(np.diagonal(K).mean(dtype=np.float64)) for K in Ks])
        self.squares = np.zeros((self.n, self.n))
        for K in self.each():
            self.squares += K @ K

    def each(self) -> Iterator[Array]:
        for scale, K in zip(self.scales, self.Ks, strict=True):
            yield np.multiply(K, scale, dtype=np.float64)

    def total(self, weights: Array) -> Array:
        """Σ_m weights_m K_m, (n, n)."""
        total = np.zeros((self.n, self.n))
        for weight, scale, K in zip(weights, self.scales, self.Ks, strict=True):
            if weight != 0.0:
                total += np.multiply(K, weight * scale, dtype=np.float64)
        return total

    def inner(self, A: Array) -> Array:
        """tr(K_m A) for each kernel."""
        return self.scales * np.array([float(np.vdot(K, A)) for K in self.Ks])

    def apply(self, a: Array) -> Array:
        """K_m a_l for each output and kernel: (L, n) to (L, n_kernels, n)."""
        return np.stack([a @ K for K in self.each()], axis=1)

    def adjoint(self, g: Array) -> Array:
        """Σ_m K_m g_lm: (L, n_kernels, n) to (L, n)."""
        total = np.zeros((g.shape[0], self.n))
        for m, K in enumerate(self.each()):
            total += g[:, m] @ K
        return total


@dataclass
class Posterior:
    """The factors of q."""

    a: Array  # (L, n), mean
    a_variance: Array  # (L, n), diagonal of Σ_a
    a_logdet: Array  # (L,), log det Σ_a
    a_trace: Array  # (L,), tr(Σ_m K_m² Σ_a)
    part: Array  # (L, n_kernels, n), K_m ā_l
    g: Array  # (L, n_kernels, n)
    g_cov: Array  # (n_kernels, n_kernels)
    w: Array  # (L + n_kernels,), mean of (b, e)
    w_cov: Array  # its covariance
    sample: Gamma  # (L, n)
    kernel: Gamma  # (n_kernels,)
    intercept: Gamma  # (L,)
    noise: Gamma | None  # () of a regression, None where ε = 1
    f: Array  # (L, n), mean of the outputs
    center: Array  # (L, n), of the normals that are truncated
    log_mass: float  # Σ_i log Z_i there

    @property
    def n_outputs(self) -> int:
        """L."""
        return len(self.f)

    @property
    def e(self) -> Array:
        """Mean of the kernel weights (n_kernels,)."""
        return self.w[self.n_outputs :]

    @property
    def b(self) -> Array:
        """Mean of the intercepts (L,)."""
        return self.w[: self.n_outputs]

    @property
    def w_square(self) -> Array:
        """E ww' of w = (b, e)."""
        return np.outer(self.w, self.w) + self.w_cov

    @property
    def precision(self) -> float:
        """E ε."""
        return 1.0 if self.noise is None else float(self.noise.mean)

    @property
    def g_square(self) -> Array:
        """Σ_li E g_li g_li' (n_kernels, n_kernels)."""
        spread = self.f.size * self.g_cov
        return np.asarray(np.einsum("lmi,lpi->mp", self.g, self.g, optimize=True) + spread)

    def output_means(self) -> Array:
        """ē'ḡ_li + b̄_l (L, n)."""
        return np.asarray(np.einsum("m,lmi->li", self.e, self.g) + self.b[:, None])

    def misfit(self) -> float:
        """Σ_li (f̄_li² − 2 f̄_li (ē'ḡ_li + b̄_l) + E(e'g_li + b_l)²): E of the squares, without Var f."""
        L, n = self.f.shape
        second = self.w_square
        crossed = np.einsum("lm,lmi->", second[:L, L:], self.g)
        square = np.vdot(second[L:, L:], self.g_square) + 2.0 * crossed + n * np.trace(second[:L, :L])
        return float(np.vdot(self.f, self.f) - 2.0 * np.vdot(self.f, self.output_means()) + square)


def first_posterior(f: Array, n_kernels: int, priors: Priors, regression: bool, weights: Array) -> Posterior:
    """The start: every kernel says f (L, n), and has a given weight (n_kernels,); the rest is at its prior.

    With ``regression`` f is given and its noise to be learned.
    """
    L, n = f.shape
    g = np.repeat(f[:, None, :], n_kernels, axis=1)
    return Posterior(
        a=np.zeros((L, n)),
        a_variance=np.ones((L, n)),
        a_logdet=np.zeros(L),
        a_trace=np.zeros(L),
        part=np.zeros_like(g),
        g=g,
        g_cov=np.zeros((n_kernels, n_kernels)),
        w=np.concatenate([np.zeros(L), weights]),
        w_cov=np.zeros((L + n_kernels, L + n_kernels)),
        sample=broad(priors.sample, (L, n)),
        kernel=broad(priors.kernel, (n_kernels,)),
        intercept=broad(priors.intercept, (L,)),
        noise=broad(priors.noise, ()) if regression else None,
        f=f,
        center=np.zeros((L, n)),
        log_mass=0.0,
    )


class Model:
    """Kernels, targets and priors; `sweep` updates every factor once, `bound` is the evidence bound.

    Parameters
    ----------
    stack : ScaledStack
    priors : Priors
    truncate : callable or None
        Centers (L, n) to the truncated normals of the labels; None for a regression.
    """

    def __init__(
        self, stack: ScaledStack, priors: Priors, truncate: Callable[[Array], Truncated] | None
    ) -> None:
        self.stack, self.priors, self.truncate = stack, priors, truncate
        self.tightness = priors.spread**-2.0

    @property
    def updates(self) -> dict[str, Callable[[Posterior], None]]:
        """The updates in their order, by the factor that each sets."""
        last = {"f": self.update_f} if self.truncate is not None else {"noise": self.update_noise}
        return {
            "a": self.update_a,
            "g": self.update_g,
            "kernel": self.update_kernel,
            "intercept": self.update_intercept,
            "w": self.update_w,
            **last,
            "sample": self.update_sample,
        }

    def sweep(self, q: Posterior) -> None:
        """Update every factor once, in place."""
        for update in self.updates.values():
            update(q)

    # ------------------------------------------------------------------ weights of the samples
    def update_sample(self, q: Posterior) -> None:
        """q(λ)."""
        q.sample = broad(self.priors.sample, q.a.shape).after(1.0, q.a**2 + q.a_variance)

    def a_precision(self, q: Posterior, output: int) -> Array:
        """The inverse of Σ_a of one output (n, n)."""
        precision = self.tightness * self.stack.squares
        precision.flat[:: self.stack.n + 1] += q.sample.mean[output]
        return precision

    def update_a(self, q: Posterior) -> None:
        """q(a), one output after the other."""
        pulls = self.tightness * self.stack.adjoint(q.g)
        for l, pull in enumerate(pulls):
            factor, _ = cho_factor(self.a_precision(q, l), lower=True, overwrite_a=True)
            q.a[l] = cho_solve((factor, True), pull)
            q.a_logdet[l] = -2.0 * np.log(np.diagonal(factor)).sum()
            inverse, _ = dtrtri(factor, lower=1)
            q.a_variance[l] = np.square(np.tril(inverse)).sum(axis=0)
            shrunk = float(q.sample.mean[l] @ q.a_variance[l])
            q.a_trace[l] = (self.stack.n - shrunk) / self.tightness
        q.part = self.stack.apply(q.a)

    # ------------------------------------------------------------------ what the kernels say
    def update_g(self, q: Posterior) -> None:
        """q(G)."""
        L, second = q.n_outputs, q.w_square
        precision = q.precision * second[L:, L:]
        precision.flat[:: precision.shape[0] + 1] += self.tightness
        q.g_cov = np.linalg.inv(precision)
        q.g_cov = 0.5 * (q.g_cov + q.g_cov.T)
        told = q.f[:, None, :] * q.e[None, :, None] - second[:L, L:, None]
        q.g = np.einsum("mp,lpi->lmi", q.g_cov, self.tightness * q.part + q.precision * told, optimize=True)

    def departure(self, q: Posterior) -> float:
        """Σ E(g − K_m a)²."""
        off = q.g - q.part
        return float(np.vdot(off, off) + q.f.size * np.trace(q.g_cov) + q.a_trace.sum())

    # ------------------------------------------------------------------ weights of the kernels
    def update_kernel(self, q: Posterior) -> None:
        """q(ω)."""
        squares = np.diagonal(q.w_square)[q.n_outputs :]
        q.kernel = broad(self.priors.kernel, squares.shape).after(1.0, squares)

    def update_intercept(self, q: Posterior) -> None:
        """q(γ)."""
        squares = np.diagonal(q.w_square)[: q.n_outputs]
        q.intercept = broad(self.priors.intercept, squares.shape).after(1.0, squares)

    def update_w(self, q: Posterior) -> None:
        """q(b, e)."""
        L, n = q.f.shape
        precision = np.diag(np.concatenate([np.full(L, float(n)), np.zeros(len(q.e))]))
        precision[:L, L:] = q.g.sum(axis=2)
        precision[L:, :L] = precision[:L, L:].T
        precision[L:, L:] = q.g_square
        precision *= q.precision
        precision.flat[:: len(q.w) + 1] += np.concatenate([q.intercept.mean, q.kernel.mean])
        pull = np.concatenate([q.f.sum(axis=1), np.einsum("lmi,li->m", q.g, q.f)])
        factor = cho_factor(precision, lower=True)
        q.w = cho_solve(factor, q.precision * pull)
        q.w_cov = cho_solve(factor, np.eye(len(q.w)))
        q.w_cov = 0.5 * (q.w_cov + q.w_cov.T)

    # ------------------------------------------------------------------ outputs
    def update_noise(self, q: Posterior) -> None:
        """q(ε)."""
        q.noise = broad(self.priors.noise, ()).after(float(q.f.size), np.asarray(q.misfit()))

    def update_f(self, q: Posterior) -> None:
        """q(f)."""
        assert self.truncate is not None
        q.center = q.output_means()
        found = self.truncate(q.center)
        q.f, q.log_mass = found.mean, float(found.log_mass.sum())

    # ------------------------------------------------------------------ the bound
    def bound(self, q: Posterior) -> float:
        """The evidence bound of any q, in nats."""
        return self._of_samples(q) + self._of_parts(q) + self._of_weights(q) + self._of_outputs(q)

    def _of_samples(self, q: Posterior) -> float:
        value = _precisions(q.sample, q.a**2 + q.a_variance) + 0.5 * q.a_logdet.sum() + 0.5 * q.a.size
        return float(value) - q.sample.divergence(broad(self.priors.sample, q.a.shape))

    def _of_parts(self, q: Posterior) -> float:
        """E log p(G | a) + H(G); the log 2π of both cancel."""
        noise = 0.5 * q.g.size * np.log(self.tightness) - 0.5 * self.tightness * self.departure(q)
        return float(noise + 0.5 * q.f.size * np.linalg.slogdet(q.g_cov)[1] + 0.5 * q.g.size)

    def _of_weights(self, q: Posterior) -> float:
        L, squares = q.n_outputs, np.diagonal(q.w_square)
        value = _precisions(q.intercept, squares[:L]) + _precisions(q.kernel, squares[L:])
        value += 0.5 * np.linalg.slogdet(q.w_cov)[1] + 0.5 * len(q.w)
        value -= q.intercept.divergence(broad(self.priors.intercept, (L,)))
        return float(value - q.kernel.divergence(broad(self.priors.kernel, q.e.shape)))

    def _of_outputs(self, q: Posterior) -> float:
        if q.noise is None:
            return q.log_mass + 0.5 * float(np.sum((q.f - q.center) ** 2)) - 0.5 * q.misfit()
        known = 0.5 * q.f.size * (float(q.noise.mean_log) - _LOG_2PI)
        return known - 0.5 * q.precision * q.misfit() - q.noise.divergence(broad(self.priors.noise, ()))


def _precisions(gamma: Gamma, squares: Array) -> float:
    """E log N(0, 1/λ) without its −½ log 2π, which the entropy of the normal cancels."""
    return 0.5 * float(np.sum(gamma.mean_log - gamma.mean * squares))

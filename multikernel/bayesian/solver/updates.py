"""The update of each factor, and the evidence bound that none of them can lower.

Formulas are in :mod:`multikernel.bayesian.solver.posterior`. The bound, term by term:

    E log p(a | λ) + H(a) − KL(λ)        and the same for (b, e) with γ and ω
    E log p(G | a) + H(G)                with Σ E(g − K_m a)² = Σ‖ḡ_lm − K_m ā_l‖² + Ln tr Σ_g
                                                                + Σ_l tr(Σ_m K_m² Σ_a,l)
    classes:     Σ_i log Z_i + ½ Σ (f̄ − center)² − ½ misfit
    regression:  ½ Ln (E log ε − log 2π) − ½ ε̄ misfit − KL(ε)
"""

from collections.abc import Callable

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.linalg.lapack import dtrtri

from ..._typing import Array
from .posterior import Gamma, Posterior, Priors, ScaledStack, broad
from .truncated import Truncated, truncate_binary, truncate_classes

_LOG_2PI = float(np.log(2.0 * np.pi))


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


def truncation(codes: Array, n_classes: int, margin: float) -> Callable[[Array], Truncated]:
    """The truncation by labels 0 … n_classes − 1."""
    if n_classes > 2:
        return lambda center: truncate_classes(center, codes, margin)
    signs = np.where(codes == 1, 1.0, -1.0)

    def truncate(center: Array) -> Truncated:
        found = truncate_binary(center[0], signs, margin)
        return Truncated(found.log_mass, found.mean[None])

    return truncate

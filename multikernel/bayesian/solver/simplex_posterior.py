"""The posterior of kernel weights on the simplex under a Gaussian process: its mode, mean and covariance.

    t_c ~ N(μ_c 1, K_η + σ²I),  K_η = Σ_m η_m s_m K_m
    η ~ Dirichlet(α, …, α),  σ² = 10⁻⁶ + e^x,  x ~ N(log 0.1, 2²)

for k targets t_c, each with its own flat mean μ_c, which is integrated out: with H = I − 11'/n, centred t and
A = HK_ηH + σ²I, up to a constant

    log p(η, σ² | T) = −½ Σ_c t_c'A⁻¹t_c − ½ k (log |A| − log σ²) + (α − 1) Σ_m log η_m + log p(x)
    ∂/∂η_m           = ½ s_m ⟨K_m, BB' − k (A⁻¹ − 11'/(nσ²))⟩ + (α − 1) / η_m,          B = A⁻¹T

s_m brings the mean diagonal of HK_mH to 1. The density is looked at in z, with η = softmax(Uz), U an
orthonormal basis of the vectors of sum 0, and in x where σ² is learned; there it has a factor Π η_m
more, so that α in place of α − 1 stands above and the mode lies inside.

The mode is found by BFGS and Newton's method; its certificate is Newton's decrement ½ g'(−∇²)⁻¹g, in nats.
Mean and covariance are those of weighted draws: Student's t about the mode with the curvature there, in pairs
mirrored at it, weighted by density over proposal (importance sampling), which tends to the true posterior as
draws are added, where that has one mode. The effective number of draws says how well the two agree.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from scipy.linalg import helmert
from scipy.linalg.lapack import dpotri, dpotrs, dtrtrs
from scipy.optimize import minimize
from scipy.special import softmax

from ..._typing import Array
from ...core.optim import loop
from ...core.optim.loop import Result, Status, reason_to_stop

NOISE_CENTER, NOISE_WIDTH = float(np.log(0.1)), 2.0
_FLOOR = 1e-6  # of σ²: without one, targets that a kernel explains exactly have a density without bound
_CEILING = 50.0
_FREEDOM = 5.0  # of Student's t
_APART = 1e-4  # of the differences that give the curvature
_NEWTON = 10


class SimplexDensity:
    """log p of z (and of x, last, where noise is None), up to a constant, with its gradient.

    Parameters
    ----------
    Ks : array (n_kernels, n, n); neither copied nor modified
    T : array (n, n_targets); centred and scaled here, and reduced to as many columns as its rank
    concentration : float, α
    noise : float or None, σ² in units of the variance of the targets

    Attributes
    ----------
    scales : array (n_kernels,), s
    size : int, the length of z
    """

    def __init__(self, Ks: Array, T: Array, concentration: float, noise: float | None) -> None:
        self.Ks, self.concentration, self.noise = Ks, concentration, noise
        P, self.n = len(Ks), Ks.shape[1]
        self.scales = np.array([self.n / _centred_trace(K) for K in Ks])
        self.T = _principal(T)
        self.basis = helmert(P).T  # of the vectors of sum 0, orthonormal (P, P − 1)
        self.size = P - 1 + (noise is None)

    def shares(self, z: Array) -> Array:
        """η."""
        return np.asarray(softmax(self.basis @ z[: len(self.Ks) - 1]))

    def variance(self, z: Array) -> float:
        """σ²."""
        return _FLOOR + float(np.exp(min(z[-1], _CEILING))) if self.noise is None else self.noise

    def value(self, z: Array) -> float:
        """log p(z | T)."""
        factor = self._factor(z)
        B = dtrtrs(factor, self.T, lower=1)[0]
        logdet = 2.0 * np.log(np.diagonal(factor)).sum() - np.log(self.variance(z))
        return float(-0.5 * np.vdot(B, B) - 0.5 * self.T.shape[1] * logdet) + self._log_prior(z)

    def gradient(self, z: Array) -> Array:
        """Its gradient in z."""
        eta, variance, k = self.shares(z), self.variance(z), self.T.shape[1]
        factor = self._factor(z)
        B = dpotrs(factor, self.T, lower=1)[0]
        inverse, _ = dpotri(factor, lower=1)
        inverse = np.tril(inverse) + np.tril(inverse, -1).T
        slopes = B @ B.T - k * (inverse - 1.0 / (self.n * variance))
        pull = 0.5 * self.scales * np.array([np.vdot(K, slopes) for K in self.Ks])
        pull = eta * (pull - eta @ pull) + self.concentration * (1.0 - len(eta) * eta)
        out = self.basis.T @ pull
        if self.noise is not None:
            return np.asarray(out)
        own = 0.5 * (variance - _FLOOR) * (np.vdot(B, B) - k * (np.trace(inverse) - 1.0 / variance))
        return np.append(out, own - (z[-1] - NOISE_CENTER) / NOISE_WIDTH**2)

    def _log_prior(self, z: Array) -> float:
        raised = self.basis @ z[: len(self.Ks) - 1]
        top = raised.max()
        logs = raised - top - np.log(np.exp(raised - top).sum())
        value = self.concentration * float(logs.sum())
        return value if self.noise is not None else value - 0.5 * ((z[-1] - NOISE_CENTER) / NOISE_WIDTH) ** 2

    def _factor(self, z: Array) -> Array:
        """The lower Cholesky factor of A."""
        K = np.zeros((self.n, self.n))
        for weight, single in zip(self.shares(z) * self.scales, self.Ks, strict=True):
            K += weight * single
        means = K.mean(axis=0)
        K += means.mean() - means[:, None] - means[None, :]
        K.flat[:: self.n + 1] += self.variance(z)
        return np.linalg.cholesky(K)


@dataclass(frozen=True, eq=False)
class SimplexPosterior(Result):
    """What is known of the weights.

    ``objective``: log density at the mode; ``gap``: Newton's decrement there, in nats.
    """

    mean: Array  # (n_kernels,), of η; sum 1
    covariance: Array  # (n_kernels, n_kernels)
    mode: Array  # (n_kernels,), η at the mode of the density of z
    noise: float  # posterior mean of σ²
    effective: float  # effective number of draws


def simplex_posterior(
    density: SimplexDensity, n_draws: int = 256, tol: float = 1e-6, max_iter: int = 100, seed: int = 0
) -> SimplexPosterior:
    """The mode, to Newton's decrement `tol` in nats, and the mean and covariance of weighted draws about it.

    Examples
    --------
    >>> y = np.array([1.0, 1.0, -1.0, -1.0])
    >>> density = SimplexDensity(np.stack([np.outer(y, y), np.eye(4)]), y[:, None], 1.0, 0.1)
    >>> found = simplex_posterior(density)
    >>> bool(found.mean[0] > 0.6), round(float(found.mean.sum()), 9)
    (True, 1.0)
    """
    pace = _Pace()
    z, value, inverse, gap, n_iter = _climb(density, tol, max_iter, pace)
    draws, logs = _draw(density, z, inverse, n_draws, seed, pace)
    why = pace.ended or (Status.STALLED if n_iter < max_iter else Status.MAX_ITER)
    shares = np.array([density.shares(draw) for draw in draws])
    weights = softmax(logs)
    mean = weights @ shares
    off = shares - mean
    return SimplexPosterior(
        mean=mean,
        covariance=(off * weights[:, None]).T @ off,
        mode=density.shares(z),
        noise=float(weights @ [density.variance(draw) for draw in draws]),
        objective=value,
        gap=gap,
        effective=float(1.0 / np.sum(weights**2)),
        n_iter=n_iter,
        status=Status.OPTIMAL if gap <= tol and len(draws) >= n_draws else why,
    )


class _OverError(Exception):
    """The time of the fit is over."""


class _Pace:
    """How long evaluations of each kind took, and why the fit ends: none is begun that would end too late."""

    def __init__(self) -> None:
        self.took: dict[str, float] = {}
        self.ended: Status | None = None

    def is_over(self, kind: str, count: int = 1) -> bool:
        """Whether this many more evaluations of a kind would end too late."""
        self.ended = self.ended or reason_to_stop(count * self.took.get(kind, 0.0))
        return self.ended is not None

    @contextmanager
    def measured(self, kind: str) -> Iterator[None]:
        """The block is one evaluation."""
        begun = loop.clock()
        yield
        self.took[kind] = loop.clock() - begun


class _Climb:
    """−log density for the search: it remembers the best point, and ends before a step once time is over.

    The best point is one whose slope is known too, so that nothing is left to compute in the end.
    """

    def __init__(self, density: SimplexDensity, z: Array, pace: _Pace) -> None:
        self.density, self.pace = density, pace
        self.best, self.lowest, self.steepness = z, np.inf, np.zeros_like(z)
        self._newest, self._value = z, np.inf

    def value(self, z: Array) -> float:
        self._go_on("value")
        with self.pace.measured("value"):
            self._newest, self._value = z.copy(), -self.density.value(z)
        return self._value

    def slope(self, z: Array) -> Array:
        self._go_on("slope")
        with self.pace.measured("slope"):
            slope = -self.density.gradient(z)
        if self._value < self.lowest and np.array_equal(z, self._newest):
            self.best, self.lowest, self.steepness = self._newest, self._value, slope
        return slope

    def curvature(self, z: Array) -> Array:
        """∇² by differences of the gradient (size, size)."""
        steps = _APART * np.eye(z.size)
        rows = np.array([(self.slope(z + step) - self.slope(z - step)) / (2.0 * _APART) for step in steps])
        return 0.5 * (rows + rows.T)

    def _go_on(self, kind: str) -> None:
        if self.lowest < np.inf and self.pace.is_over(kind):
            raise _OverError


def _climb(
    density: SimplexDensity, tol: float, max_iter: int, pace: _Pace
) -> tuple[Array, float, Array, float, int]:
    """The mode, the log density there, the inverse of its curvature, Newton's decrement, steps."""
    z = np.zeros(density.size)
    if density.noise is None:
        z[-1] = NOISE_CENTER
    if z.size == 0:
        return z, density.value(z), np.zeros((0, 0)), 0.0, 0
    climb, n_iter = _Climb(density, z, pace), 1
    try:
        settings = {"maxiter": max_iter, "gtol": 1e-4}
        found = minimize(climb.value, z, jac=climb.slope, method="BFGS", options=settings)
        z, n_iter = found.x, max(int(found.nit), 1)
        for _ in range(_NEWTON):
            inverse = _inverse(climb.curvature(z))
            g = climb.slope(z)
            gap = 0.5 * float(g @ inverse @ g)
            there = z - inverse @ g
            if gap <= tol or n_iter >= max_iter or not climb.value(there) < climb.value(z):
                break
            z, n_iter = there, n_iter + 1
        value = -climb.value(z)
    except _OverError:  # the curvature is not known: that of a flat density stands for it
        z, value, g = climb.best, -climb.lowest, climb.steepness
        inverse = _inverse(np.zeros((density.size, density.size)))
        gap = 0.5 * float(g @ inverse @ g)
    return z, value, inverse, gap, n_iter


def _inverse(curvature: Array) -> Array:
    """Of the curvature, whose directions that rise or are flat count as of a tenth of a nat."""
    sizes, axes = np.linalg.eigh(curvature)
    return np.asarray((axes / np.maximum(np.abs(sizes), 0.1)) @ axes.T)


def _draw(
    density: SimplexDensity, z: Array, inverse: Array, n_draws: int, seed: int, pace: _Pace
) -> tuple[Array, Array]:
    """Draws (n_draws, size) in mirrored pairs, and the log of density over proposal; no time: z alone."""
    pairs, d = (n_draws + 1) // 2, z.size
    rng = np.random.default_rng(seed)
    tails = np.sqrt(_FREEDOM / rng.chisquare(_FREEDOM, pairs))
    steps = rng.normal(size=(pairs, d)) * tails[:, None]
    steps = np.concatenate([steps, -steps])
    sizes, axes = np.linalg.eigh(inverse)
    draws = z + (steps * np.sqrt(sizes)) @ axes.T
    proposal = -0.5 * (_FREEDOM + d) * np.log1p(np.sum(steps**2, axis=1) / _FREEDOM)
    logs = np.empty(2 * pairs)
    for pair in range(pairs):
        if pace.is_over("value", 2):
            kept = np.r_[:pair, pairs : pairs + pair]
            return (draws[kept], logs[kept] - proposal[kept]) if pair else (z[None], np.zeros(1))
        for k in (pair, pairs + pair):
            with pace.measured("value"):
                logs[k] = density.value(draws[k])
    return draws, logs - proposal


def _principal(T: Array) -> Array:
    """Centred targets of mean square 1 in their principal axes: no column is a sum of others."""
    centred = T - T.mean(axis=0)
    U, sizes, _ = np.linalg.svd(centred, full_matrices=False)
    kept = sizes > 1e-9 * max(float(sizes.max(initial=0.0)), np.finfo(float).tiny)
    scores = U[:, kept] * sizes[kept]
    return np.asarray(scores / np.sqrt(np.mean(scores**2))) if kept.any() else np.zeros((len(T), 0))


def _centred_trace(K: Array) -> float:
    return float(np.trace(K, dtype=np.float64) - K.sum(dtype=np.float64) / len(K))

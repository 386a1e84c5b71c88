"""The ascent of the evidence bound: sweeps over the factors, each from where the last ones lead.

Coordinate ascent creeps, because the means of a, G and e hang together. The next sweep therefore starts at an
extrapolation of the newest ones (`Extrapolation`); where the bound is lower after it, that sweep is thrown
away and a plain one follows. The bound never falls.

The certificate is an estimate of how much further the bound would rise, in nats a sample, from how its rises
shrink (`remaining_rise`). No rise means a stationary point; it does not bound the distance to the best
factorised posterior, as the problem is not concave, and weights on their way to zero creep longer than their
rises tell.

The extrapolation is Anderson's. A sweep is a map x → F(x) of the rates of q(λ), the means of G and (b, e),
the covariance of (b, e), and the means of f or the rate of q(ε); everything else follows from these. From the
newest x_k and their F(x_k),

    next x = F(x_k) − Σ_j c_j (F(x_{j+1}) − F(x_j)),    c = argmin ‖ r_k − Σ_j c_j (r_{j+1} − r_j) ‖,

with r = F(x) − x measured in units of the posterior's deviations. Near a stationary point, where F is all but
linear, this finds the slow directions and runs along them to their end. Rates and the covariance are by
logarithms (of the diagonal of its Cholesky factor, whose rows are divided by it): any x is a posterior.
"""

import copy
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from ..._typing import Array
from ...core.optim.loop import Options, Recorder, Result
from .posterior import Gamma, Model, Posterior, Priors, ScaledStack, first_posterior
from .truncated import Truncated, truncate_binary, truncate_classes

_WINDOW = 10  # sweeps whose rises are compared
ROUNDS = 2 * _WINDOW  # bounds without which rises are not compared
_SLOWEST = 0.99
_MEMORY = 20  # sweeps that are extrapolated
_RIDGE = 1e-10


@dataclass(frozen=True, eq=False)
class BayesianResult(Result):
    """The posterior, as far as predictions need it.

    ``objective``: the evidence bound; ``gap``: how much further it would rise, see `remaining_rise`.
    """

    weights: Array  # (n_kernels,), mean of e, for kernels divided by the mean of their diagonals
    weights_cov: Array  # (n_outputs + n_kernels, n_outputs + n_kernels), covariance of (b, e)
    intercepts: Array  # (n_outputs,), mean of b
    coefficients: Array  # (n_outputs, n), mean of a
    coefficients_cov: Array  # (n, n), Σ_a, the mean over the outputs
    scales: Array  # (n_kernels,), one over the mean of each diagonal
    spread: float  # σ², the variance of g about K_m a
    noise: float  # 1 / E ε


@dataclass(frozen=True, eq=False)
class Outputs:
    """What the outputs f are known by."""

    first: Array  # (n_outputs, n), where they start; in a regression, their values
    truncate: Callable[[Array], Truncated] | None = None  # by their centers; None for a regression


def class_outputs(codes: Array, n_classes: int, margin: float) -> Outputs:
    """Outputs of labels 0 … n_classes − 1: one for two classes, else one for each."""
    signs = np.where(codes == 1, 1.0, -1.0)

    def truncate(center: Array) -> Truncated:
        if n_classes > 2:
            return truncate_classes(center, codes, margin)
        found = truncate_binary(center[0], signs, margin)
        return Truncated(found.log_mass, found.mean[None])

    return Outputs(truncate(np.zeros((1 if n_classes == 2 else n_classes, codes.size))).mean, truncate)


def learn_bayesian(
    Ks: Array, outputs: Outputs, priors: Priors, options: Options, start: Array | None = None
) -> BayesianResult:
    """Learn the posterior.

    Parameters
    ----------
    Ks : array (n_kernels, n, n), positive semidefinite; not modified
    outputs : Outputs
    priors : Priors
    options : Options, of which ``tol``, ``max_iter`` and ``callback`` are read
    start : array (n_kernels,), first means of the kernel weights; default 1 / n_kernels

    Examples
    --------
    >>> x = np.linspace(-1.0, 1.0, 20)
    >>> Ks = np.stack([np.outer(x, x), np.eye(20)])
    >>> found = learn_bayesian(Ks, Outputs(x[None]), Priors(), Options())
    >>> bool(found.weights[0] > 2.0 * found.weights[1])
    True
    """
    n_kernels = len(Ks)
    first = np.full(n_kernels, 1.0 / n_kernels) if start is None else start
    model = Model(ScaledStack(Ks), priors, outputs.truncate)
    q = first_posterior(outputs.first, n_kernels, priors, outputs.truncate is None, first)
    try:
        return _Ascent(model, options).run(q)
    except LinAlgError as error:
        raise ValueError(
            "the posterior of the samples' weights is too narrow for floating point; raise spread, or the "
            "rates of the priors."
        ) from error


class _Ascent:
    def __init__(self, model: Model, options: Options) -> None:
        self.model, self.options = model, options
        self.record = Recorder.of(options)

    def run(self, q: Posterior) -> BayesianResult:
        self.model.sweep(q)
        bounds, start, ahead = [self.model.bound(q)], coordinates(q), Extrapolation()
        gap = np.inf
        for iteration in range(1, self.options.max_iter + 1):
            there, value = self._swept(q, start, plain=ahead.is_empty)
            if value < bounds[-1] and not ahead.is_empty:
                start = coordinates(q)
                ahead.forget()
            else:
                q = there
                bounds.append(value)
                ahead.add(start, coordinates(q))
                start = ahead.next(coordinate_units(q))
            gap = remaining_rise(bounds) / self.model.stack.n
            reached = gap <= self.options.tol and len(bounds) > ROUNDS
            if self.record.note(self._entry(iteration, bounds[-1], gap, q), reached=reached):
                break
        return self._result(q, gap)

    def _swept(self, q: Posterior, start: Array, plain: bool) -> tuple[Posterior, float]:
        """The posterior and bound after a sweep; -inf where an extrapolation has led out of the numbers."""
        with np.errstate() if plain else np.errstate(all="ignore"):
            there = placed(q, start)
            try:
                self.model.sweep(there)
                value = self.model.bound(there)
            except (LinAlgError, ValueError):  # not positive definite, not finite
                if plain:
                    raise
                value = -np.inf
        return there, value if np.isfinite(value) else -np.inf

    def _entry(self, iteration: int, value: float, gap: float, q: Posterior) -> dict[str, float]:
        deviations = np.sqrt(np.diagonal(q.w_cov)[q.n_outputs :])
        n_active = float(np.count_nonzero(np.abs(q.e) > deviations))
        return {"iteration": iteration, "objective": value, "gap": gap, "n_active": n_active}

    def _result(self, q: Posterior, gap: float) -> BayesianResult:
        n = self.model.stack.n
        covariance = np.zeros((n, n))
        for l in range(q.n_outputs):
            covariance += cho_solve(cho_factor(self.model.a_precision(q, l)), np.eye(n)) / q.n_outputs
        return BayesianResult(
            weights=q.e.copy(),
            weights_cov=q.w_cov,
            intercepts=q.b.copy(),
            coefficients=q.a,
            coefficients_cov=covariance,
            scales=self.model.stack.scales,
            spread=1.0 / self.model.tightness,
            noise=1.0 / q.precision,
            objective=self.model.bound(q),
            gap=gap,
            **self.record.outcome,
        )


def remaining_rise(bounds: list[float]) -> float:
    """How much further the bound will rise, in nats, if its rises, one a sweep, go on to shrink as they did.

    Rises over the last sweeps R and over as many before them, R': R / (1 − ρ) with ρ = R / R', which counts
    R itself too, and with ρ no less than ½: rather too much than too little.
    """
    window = min(_WINDOW, (len(bounds) - 1) // 2)
    if window == 0:
        return abs(bounds[-1] - bounds[0])
    last, before = bounds[-1] - bounds[-1 - window], bounds[-1 - window] - bounds[-1 - 2 * window]
    ratio = last / before if before > 0.0 else 0.0
    return max(last, 0.0) / (1.0 - min(max(ratio, 0.5), _SLOWEST))


# ------------------------------------------------------------------ extrapolation
class Extrapolation:
    """The newest sweeps, and where they lead."""

    def __init__(self) -> None:
        self._starts: list[Array] = []
        self._ends: list[Array] = []

    @property
    def is_empty(self) -> bool:
        """Whether the next sweep starts where the last ended."""
        return len(self._ends) < 2

    def forget(self) -> None:
        """Begin anew, from the newest sweep."""
        self._starts, self._ends = self._starts[-1:], self._ends[-1:]

    def add(self, start: Array, end: Array) -> None:
        """Note one sweep from x to F(x)."""
        self._starts = [*self._starts, start][-_MEMORY - 1 :]
        self._ends = [*self._ends, end][-_MEMORY - 1 :]

    def next(self, units: Array) -> Array:
        """Where to sweep from next, departures in `units`; the newest end while there is nothing to go by."""
        if self.is_empty:
            return self._ends[-1]
        ends = np.diff(np.stack(self._ends), axis=0)
        departures = (np.stack(self._ends) - np.stack(self._starts)) / units
        changes = np.diff(departures, axis=0)
        normal = changes @ changes.T
        normal.flat[:: len(normal) + 1] += _RIDGE * np.trace(normal) + np.finfo(float).tiny
        return np.asarray(self._ends[-1] - np.linalg.solve(normal, changes @ departures[-1]) @ ends)


def coordinates(q: Posterior) -> Array:
    """x, all that a sweep reads, as one vector."""
    factor = np.linalg.cholesky(q.w_cov)
    sizes = np.diagonal(factor)
    lower = (factor / sizes[:, None])[np.tril_indices(len(sizes), -1)]
    last = q.f.ravel() if q.noise is None else np.log(q.noise.rate).ravel()
    return np.concatenate([np.log(q.sample.rate).ravel(), q.g.ravel(), q.w, np.log(sizes), lower, last])


def coordinate_units(q: Posterior) -> Array:
    """Deviations of what x holds the means of; for logarithms, those of their precisions."""
    size = len(q.w)
    of_g = np.broadcast_to(np.sqrt(np.diagonal(q.g_cov))[None, :, None], q.g.shape)
    of_cov = np.ones(size * (size + 1) // 2)
    last = np.ones(q.f.size) if q.noise is None else q.noise.shape.ravel() ** -0.5
    of_rates, of_w = q.sample.shape.ravel() ** -0.5, np.sqrt(np.diagonal(q.w_cov))
    return np.concatenate([of_rates, of_g.ravel(), of_w, of_cov, last])


def placed(q: Posterior, x: Array) -> Posterior:
    """A copy of q with x in it; the next sweep sets the rest, and leaves q alone."""
    size = len(q.w)
    lengths = [q.sample.rate.size, q.g.size, size, size, size * (size - 1) // 2]
    rates, g, w, sizes, lower, last = np.split(x, np.cumsum(lengths))
    there = copy.copy(q)
    there.a, there.a_variance = q.a.copy(), q.a_variance.copy()  # arrays that a sweep writes into
    there.a_logdet, there.a_trace = q.a_logdet.copy(), q.a_trace.copy()
    there.sample = Gamma(q.sample.shape, np.exp(rates).reshape(q.sample.rate.shape))
    there.g, there.w = g.reshape(q.g.shape), w
    factor = np.eye(size)
    factor[np.tril_indices(size, -1)] = lower
    factor *= np.exp(sizes)[:, None]
    there.w_cov = factor @ factor.T
    if q.noise is None:
        there.f = last.reshape(q.f.shape)
    else:
        there.noise = Gamma(q.noise.shape, np.exp(last).reshape(q.noise.rate.shape))
    return there

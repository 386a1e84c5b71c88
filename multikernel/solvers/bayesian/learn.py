"""The ascent of the evidence bound: sweeps over the factors, each from where the last ones lead.

Coordinate ascent creeps, because the means of a, G and e hang together. The next sweep therefore starts at
an extrapolation of the newest ones (:mod:`multikernel.solvers.bayesian.extrapolation`); where the bound is
lower after it, that sweep is thrown away and a plain one follows. The bound never falls.

The certificate is an estimate of how much further the bound would rise, in nats a sample, from how its rises
shrink (`remaining_rise`). No rise means a stationary point; it does not bound the distance to the best
factorised posterior, as the problem is not concave, and weights on their way to zero creep longer than
their rises tell.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from ...core.optim.loop import Options, Recorder, Result
from .extrapolation import Extrapolation, coordinate_units, coordinates, placed
from .posterior import Posterior, Priors, ScaledStack, first_posterior
from .truncated import Truncated
from .updates import Model, truncation

Array = np.ndarray[Any, np.dtype[Any]]

_WINDOW = 10  # sweeps whose rises are compared
_SLOWEST = 0.99


@dataclass(frozen=True, eq=False)
class BayesianResult(Result):
    """The posterior, as far as predictions need it.

    Attributes
    ----------
    weights : array (n_kernels,), mean of e, for kernels divided by the mean of their diagonals
    weights_cov : array (n_outputs + n_kernels, n_outputs + n_kernels), covariance of (b, e)
    intercepts : array (n_outputs,), mean of b
    coefficients : array (n_outputs, n), mean of a
    coefficients_cov : array (n, n), Σ_a, the mean over the outputs
    scales : array (n_kernels,), one over the mean of each diagonal
    spread : float, σ², the variance of g about K_m a
    noise : float, 1 / E ε
    objective : float, the evidence bound
    gap : float, how much further it would rise, in nats a sample; see `remaining_rise`
    n_iter : int
    status : Status
    history : list of dict with iteration, objective, gap, n_active
    """

    weights: Array
    weights_cov: Array
    intercepts: Array
    coefficients: Array
    coefficients_cov: Array
    scales: Array
    spread: float
    noise: float


@dataclass(frozen=True, eq=False)
class Outputs:
    """What the outputs f are known by.

    Attributes
    ----------
    first : array (n_outputs, n), where they start; in a regression, their values
    truncate : callable, centers to truncated normals; None for a regression
    """

    first: Array
    truncate: Callable[[Array], Truncated] | None = None


def class_outputs(codes: Array, n_classes: int, margin: float) -> Outputs:
    """Outputs of labels 0 … n_classes − 1: one for two classes, else one for each."""
    truncate = truncation(codes, n_classes, margin)
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
            reached = gap <= self.options.tol and len(bounds) > 2 * _WINDOW
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
    """How much further the bound will rise, in nats, if its rises go on to shrink as they did.

    Rises over the last sweeps R and over as many before them, R': R / (1 − ρ) with ρ = R / R', which counts
    R itself too, and with ρ no less than ½: rather too much than too little.

    Parameters
    ----------
    bounds : list of float, after each sweep

    Examples
    --------
    >>> remaining_rise([-(0.9**k) for k in range(50)]) > 0.9**49
    True
    """
    window = min(_WINDOW, (len(bounds) - 1) // 2)
    if window == 0:
        return abs(bounds[-1] - bounds[0])
    last, before = bounds[-1] - bounds[-1 - window], bounds[-1 - window] - bounds[-1 - 2 * window]
    ratio = last / before if before > 0.0 else 0.0
    return max(last, 0.0) / (1.0 - min(max(ratio, 0.5), _SLOWEST))

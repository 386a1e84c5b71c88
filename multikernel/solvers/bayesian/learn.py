"""The ascent of the evidence bound: sweeps over the factors, each followed by a step further the same way.

Coordinate ascent creeps, because the means of a, G and e hang together. After each sweep these means are
moved on along what the sweep changed; the point is kept if the bound is higher there. The bound never falls.

The certificate is the rise of the bound in the last sweep, relative to its value. A sweep sets every factor
to its maximiser with the others fixed, so that no rise means a stationary point; it does not bound the
distance to the best factorised posterior, as the problem is not concave.
"""

import copy
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from ..options import Options
from ..result import Status
from .posterior import Posterior, Priors, ScaledStack, first_posterior
from .truncated import Truncated
from .updates import Model, truncation

Array = np.ndarray[Any, np.dtype[Any]]

_LONGER, _SHORTER, _SHORTEST = 1.5, 0.5, 0.5


@dataclass(frozen=True, eq=False)
class BayesianResult:
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
    gap : float, its relative rise in the last sweep
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
    objective: float
    gap: float
    n_iter: int
    status: Status
    history: list[dict[str, float]] = field(default_factory=list)


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
        self.history: list[dict[str, float]] = []

    def run(self, q: Posterior) -> BayesianResult:
        self.model.sweep(q)
        value, step, status = self.model.bound(q), 1.0, Status.MAX_ITER
        for iteration in range(1, self.options.max_iter + 1):
            before, old = value, _means(q)
            self.model.sweep(q)
            value = self.model.bound(q)
            gap = abs(value - before) / max(abs(value), np.finfo(float).tiny)
            stopped = self._note(iteration, value, gap, q)
            if gap <= self.options.tol:
                status = Status.OPTIMAL
                break
            if stopped:
                status = Status.INTERRUPTED
            if stopped or iteration == self.options.max_iter:
                break
            further = self._further(q, old, step)
            there = self.model.bound(further)
            step = step * _LONGER if there > value else max(step * _SHORTER, _SHORTEST)
            q, value = (further, there) if there > value else (q, value)
        return self._result(q, gap, status)

    def _further(self, q: Posterior, old: tuple[Array, ...], step: float) -> Posterior:
        """Means of a, G and (b, e) further along what the last sweep changed; q itself stays."""
        there = copy.copy(q)
        a, part, g, w = old
        there.a, there.part = q.a + step * (q.a - a), q.part + step * (q.part - part)
        there.g, there.w = q.g + step * (q.g - g), q.w + step * (q.w - w)
        there.a_variance = q.a_variance.copy()  # arrays that the next sweep writes into
        there.a_logdet, there.a_trace = q.a_logdet.copy(), q.a_trace.copy()
        (self.model.update_noise if self.model.truncate is None else self.model.update_f)(there)
        return there

    def _note(self, iteration: int, value: float, gap: float, q: Posterior) -> bool:
        deviations = np.sqrt(np.diagonal(q.w_cov)[q.n_outputs :])
        n_active = float(np.count_nonzero(np.abs(q.e) > deviations))
        entry = {"iteration": iteration, "objective": value, "gap": gap, "n_active": n_active}
        self.history.append(entry)
        return bool(self.options.callback and self.options.callback(entry))

    def _result(self, q: Posterior, gap: float, status: Status) -> BayesianResult:
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
            n_iter=len(self.history),
            status=status,
            history=self.history,
        )


def _means(q: Posterior) -> tuple[Array, ...]:
    return q.a.copy(), q.part, q.g, q.w

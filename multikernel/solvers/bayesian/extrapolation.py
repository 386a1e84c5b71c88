"""A step beyond the sweeps: Anderson's extrapolation of the numbers that a sweep starts from.

A sweep is a map x → F(x) of the rates of q(λ), the means of G and (b, e), the covariance of (b, e), and the
means of f or the rate of q(ε); everything else follows from these. From the newest x_k and their F(x_k),

    next x = F(x_k) − Σ_j c_j (F(x_{j+1}) − F(x_j)),    c = argmin ‖ r_k − Σ_j c_j (r_{j+1} − r_j) ‖,

with r = F(x) − x measured in units of the posterior's deviations. Near a stationary point, where F is all but
linear, this finds the slow directions and runs along them to their end. Rates and the covariance are by
logarithms (of the diagonal of its Cholesky factor, whose rows are divided by it): any x is a posterior.
"""

import copy
from typing import Any

import numpy as np

from .gamma import Gamma
from .posterior import Posterior

Array = np.ndarray[Any, np.dtype[Any]]

_MEMORY = 20
_RIDGE = 1e-10


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
        """Where to sweep from next; the newest end while there is nothing to go by.

        Parameters
        ----------
        units : array like x, in which departures are measured
        """
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

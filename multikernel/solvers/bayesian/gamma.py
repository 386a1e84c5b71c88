"""Gamma distributions over precisions, by shape and rate, and their divergence from a prior."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import digamma, gammaln

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True, eq=False)
class Gamma:
    """Independent Gamma(shape, rate) for each entry: mean shape / rate.

    Attributes
    ----------
    shape, rate : arrays of one shape

    Examples
    --------
    >>> prior = Gamma(np.ones(2), np.ones(2))
    >>> posterior = prior.after(1.0, np.array([0.0, 4.0]))
    >>> posterior.mean.tolist(), round(float(prior.divergence(prior)), 12)
    ([1.5, 0.5], 0.0)
    """

    shape: Array
    rate: Array

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

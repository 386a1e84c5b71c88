r"""The baseline hazard of Cox's model, by Breslow's estimator, and the curves of new samples.

    H(t | x) = H_0(t) exp f(x),   H_0(t) = Σ_{t_i ≤ t} d_i / Σ_{j at risk at t_i} w_j exp f_j

A step function that jumps at the times with events; with Efron's ties the denominators are Efron's. Sums are
kept as logarithms, so that H_0(t) exp f does not overflow where H_0 and f are both far from 0.
"""

from dataclasses import dataclass

import numpy as np

from ..._typing import Array
from .cox import CoxLoss


@dataclass(frozen=True)
class Baseline:
    """Log cumulative hazards (n_strata, n_times) at the times with events of all strata, in rising order."""

    times: Array  # (n_times,)
    logs: Array  # (n_strata, n_times), −inf before the first event of a stratum

    def at(self, times: Array, strata: Array, risk: Array) -> Array:
        """H(t | x) of samples with given strata and risk scores, (n_samples, n_times)."""
        places = np.searchsorted(self.times, times, side="right")
        padded = np.concatenate([np.full((len(self.logs), 1), -np.inf), self.logs], axis=1)
        with np.errstate(over="ignore"):
            return np.exp(padded[strata][:, places] + risk[:, None])


def breslow(loss: CoxLoss, risk: Array, n_strata: int) -> Baseline:
    """The baseline of the risk scores of the training samples.

    Examples
    --------
    >>> loss = CoxLoss(np.array([1.0, 2.0, 3.0]), np.array([True, True, False]), 1.0)
    >>> baseline = breslow(loss, np.zeros(3), 1)
    >>> baseline.times.tolist(), np.exp(baseline.logs).round(3).tolist()
    ([1.0, 2.0], [[0.333, 0.833]])
    """
    codes, at, jumps = loss.hazard_jumps(risk)
    times = np.unique(at)
    logs = np.full((n_strata, times.size), -np.inf)
    logs[codes, np.searchsorted(times, at)] = jumps
    return Baseline(times, np.logaddexp.accumulate(logs, axis=1))

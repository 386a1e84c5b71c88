"""The free duals of the joint multiclass machine: which classes they turn samples to, and their system.

A free α_il turns sample i from class l to its own: its turn is e_{y_i} − e_l. Directions of free duals keep
Σ_i B_il = 0 where turns'δ = 0.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

Array = np.ndarray[Any, np.dtype[Any]]


class FreeDuals(NamedTuple):
    """The free α: their samples, other classes and own classes; each (n_free,)."""

    samples: Array
    others: Array
    own: Array

    @property
    def turns(self) -> Array:
        """The classes that each gives to and takes from, (n_free, n_classes at least)."""
        n_classes = int(max(self.others.max(initial=0), self.own.max(initial=0))) + 1
        turns = np.zeros((self.samples.size, n_classes))
        each = np.arange(self.samples.size)
        turns[each, self.own] = 1.0
        turns[each, self.others] = -1.0
        return turns

    def turned(self, F: Array) -> Array:
        """F[…, own class, sample] − F[…, other class, sample], the derivative in each free α."""
        return np.asarray(F[..., self.own, self.samples] - F[..., self.others, self.samples])


def invert_on_balanced(H: Array, right: Array, turns: Array) -> Array:
    """P right, P the inverse of H on {turns'δ = 0}; a slight ridge makes a singular H definite."""
    ridge = 1e-10 * (float(np.abs(np.diagonal(H)).mean()) or 1.0)
    while True:
        ridged = H + ridge * np.eye(H.shape[0])
        try:
            factor = cho_factor(ridged, check_finite=False, overwrite_a=True)
            break
        except LinAlgError:
            ridge *= 100.0
    n_sides = right.shape[1]
    solved = cho_solve(factor, np.column_stack([right, turns]), check_finite=False)
    multipliers = np.linalg.lstsq(turns.T @ solved[:, n_sides:], turns.T @ solved[:, :n_sides])[0]
    balanced = solved[:, :n_sides] - solved[:, n_sides:] @ multipliers
    return np.asarray(balanced - turns @ np.linalg.lstsq(turns, balanced)[0])

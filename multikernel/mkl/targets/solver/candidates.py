"""Sets of kernel weights to choose from: corners, the mean, and draws from Dirichlet distributions."""

import numpy as np

from ...._typing import Array

_CONCENTRATIONS = (1.0, 0.1)  # draws of each in turn: from all of the simplex, and near its faces


def draw_candidates(n_kernels: int, count: int, rng: np.random.RandomState, path: Array) -> Array:
    """Candidates (n_candidates, n_kernels) on the simplex: equal weights, corners, a path, draws.

    Draws fill what is left of ``count``; the first ones are there in any case.

    Examples
    --------
    >>> draw_candidates(2, 3, np.random.RandomState(0), np.zeros((0, 2))).tolist()
    [[0.5, 0.5], [1.0, 0.0], [0.0, 1.0]]
    """
    if n_kernels == 1:
        return np.ones((1, 1))
    fixed = np.vstack([np.full(n_kernels, 1.0 / n_kernels), np.eye(n_kernels), path])
    left = max(count - len(fixed), 0)
    draws = [rng.dirichlet(np.full(n_kernels, _CONCENTRATIONS[k % 2])) for k in range(left)]
    found = np.vstack([fixed, *draws]) if draws else fixed
    with np.errstate(invalid="ignore"):  # a draw of many tiny numbers may have underflowed
        found = found / found.sum(axis=1, keepdims=True)
    return np.asarray(np.where(np.isfinite(found), found, 1.0 / n_kernels))

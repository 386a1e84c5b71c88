"""Complexity of a family of kernel matrices: how well its members fit random signs.

    C(𝒦) = E max_{K ∈ 𝒦} s'Ks,    s uniform over {−1, +1}^N

where N counts all points, training and test. A member Σ_j μ_j K_j of trace c has weights w_j = μ_j r_j / c
with Σ w = 1 and r_j = tr K_j, so that everything follows from the ratios

    q_j(s) = s'K_j s / r_j,    s'K(μ)s = c Σ_j w_j q_j(s),    E q_j = 1.

Nonnegative weights put all on the best kernel: C = c E max_j q_j, between c and c · min(m, N max_j λ_j / r_j)
with λ_j the largest eigenvalue of K_j. Rank-one matrices v_j v_j' of orthonormal vectors have r_j = λ_j = 1.
The expectation is a mean over draws of s.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.linalg

Array = np.ndarray[Any, np.dtype[Any]]

_BLOCK = 256  # draws at a time: 2 · 256 · N numbers of work space, besides one kernel in double precision


def stack_ratios(Ks: Array, n_draws: int, rng: np.random.Generator) -> Array:
    """q_j(s) = s'K_j s / tr K_j for random signs s, with two matrix products for each kernel and block.

    Parameters
    ----------
    Ks : array (m, N, N), symmetric, positive traces
    n_draws : int
    rng : Generator
        The first draws do not depend on how many follow.

    Returns
    -------
    array (n_draws, m)
    """
    traces = np.array([np.trace(K, dtype=float) for K in Ks])
    ratios = np.empty((n_draws, len(Ks)))
    for block, S in _sign_blocks(Ks.shape[1], n_draws, rng):
        for j, K in enumerate(Ks):
            ratios[block, j] = np.einsum("bi,bi->b", S @ K, S)
    return ratios / traces


def vector_ratios(V: Array, n_draws: int, rng: np.random.Generator) -> Array:
    """q_j(s) = (v_j's)² of the rank-one matrices of orthonormal columns, for random signs s.

    Parameters
    ----------
    V : array (N, m), orthonormal columns
    n_draws : int
    rng : Generator

    Returns
    -------
    array (n_draws, m)
    """
    ratios = np.empty((n_draws, V.shape[1]))
    for block, S in _sign_blocks(V.shape[0], n_draws, rng):
        np.square(S @ V, out=ratios[block])
    return ratios


def _sign_blocks(n_points: int, n_draws: int, rng: np.random.Generator) -> Iterator[tuple[slice, Array]]:
    for start in range(0, n_draws, _BLOCK):
        stop = min(start + _BLOCK, n_draws)
        yield slice(start, stop), rng.choice([-1.0, 1.0], size=(stop - start, n_points))


def nonnegative_limit(Ks: Array) -> float:
    """min(m, N max_j λ_j / r_j): what E max_j q_j cannot exceed (by their sum, and by their range)."""
    n_points = Ks.shape[1]
    shares = []
    last = [n_points - 1, n_points - 1]
    for K in Ks:
        top = scipy.linalg.eigh(np.asarray(K, float), eigvals_only=True, subset_by_index=last)
        shares.append(float(top[0]) / float(np.trace(K, dtype=float)))
    return min(float(len(Ks)), n_points * max(shares))


def mean_with_error(values: Array) -> tuple[float, float]:
    """The mean of independent draws and its standard error."""
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(values.size))

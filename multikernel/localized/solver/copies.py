"""Where sigmoid gates over copies of a kernel set out: along the directions in which J falls fastest.

Gates of copies that are alike stay alike: J has no slope that distinguishes them. Its curvature does. Move
the gates of copies 1 … c of kernel K from η = ½ by s_m δ_i, with Σ_m s_m = 0 and Σ_m s_m² = 1. The kernel
changes by δ_i δ_j K_ij, with nothing of first order, and J, by Danskin's theorem, by

    −½ δ' M δ,        M = Σ_r (β_r β_r') ∘ K ⪰ 0,

where β are the duals at the start. With δ = ¼ Z w for gating features Z = [X, 1], J falls fastest along the
leading eigenvectors w_k of Z'MZ. Copy m sets out from Σ_k s_mk w_k, where the columns of s are orthogonal and
sum to zero: w_1 tells the first two copies apart, w_2 the third from both, and so on.
"""

from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import eigh

from ..._typing import Array

if TYPE_CHECKING:
    from .learn import GatedObjective

_ACTIVATION = 1.0  # standard deviation of v_m'x + v_m0 of the leading direction


def part_copies(objective: "GatedObjective", start: Array) -> Array:
    """The start (P, D + 1) with the gates of copies distinguished; one solve of the machines, at η = ½."""
    objective.machines.reset()
    objective.value(np.zeros(start.size))
    parted = start.copy()
    for source in np.unique(objective.sources):
        own = np.flatnonzero(objective.sources == source)
        if own.size > 1:
            parted[own] += _directions(objective, int(source), own.size)
    return parted


def _directions(objective: "GatedObjective", source: int, n_copies: int) -> Array:
    """Parameters (n_copies, D + 1) that sum to zero."""
    Z = np.column_stack([objective.X, np.ones(len(objective.X))])
    curvature = _curvature(objective.Ks[source], objective.machines.coefficients, Z)
    size = Z.shape[1]
    n_directions = min(n_copies - 1, size)
    values, vectors = eigh(curvature, subset_by_index=[size - n_directions, size - 1])
    leading = vectors[:, ::-1].T
    largest = leading[range(n_directions), np.abs(leading).argmax(axis=1)]
    leading = leading * np.sign(largest)[:, None]  # eigenvectors have no sign of their own
    spread = float(np.sqrt(np.mean((Z @ leading[0]) ** 2)))
    if not values[-1] > 0.0 or spread == 0.0:  # no support sample: nothing to go by
        return np.zeros((n_copies, size))
    leading = leading[np.arange(n_copies - 1) % n_directions]  # few features: directions serve again
    return np.asarray(_ACTIVATION / spread * _contrasts(n_copies) @ leading)


def _curvature(K: Array, B: Array, Z: Array) -> Array:
    """Z'MZ (D + 1, D + 1); only support rows are read."""
    rows = np.flatnonzero(B.any(axis=1))
    M = (B[rows] @ B[rows].T) * np.asarray(K[np.ix_(rows, rows)], float)
    return np.asarray(Z[rows].T @ M @ Z[rows])


def _contrasts(n: int) -> Array:
    """Orthogonal columns (n, n − 1) that sum to zero: in column k, row k + 1 against those before it.

    Examples
    --------
    >>> _contrasts(3).tolist()
    [[-1.0, -0.5], [1.0, -0.5], [0.0, 1.0]]
    """
    contrasts = np.zeros((n, n - 1))
    for k in range(n - 1):
        contrasts[: k + 1, k] = -1.0 / (k + 1)
        contrasts[k + 1, k] = 1.0
    return contrasts

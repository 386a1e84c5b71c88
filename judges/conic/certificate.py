"""What duals prove: a lower bound of the optimum over all feasible weights.

    min_w max_β' ≥ 2y'β − τβ'β − max_w Σ w_i β'K_iβ      for every β in the box with Σβ = 0

Over nonnegative weights the last maximum is the largest β'K_iβ. Where K(w) ⪰ 0 is asked for instead, it is at
most θ if some Z ⪰ 0 has β'K_iβ + tr(ZK_i) = θ for every member (and β'β ≤ θ for the identity, whose weight is
nonnegative). A Z that misses the equations by little is corrected: by the combination D = Σ c_j K_j that
solves them, and by a multiple of the identity, which adds the same to all, that makes it semidefinite again.
"""

from typing import Any

import numpy as np

from multikernel.core.optim.weight_sets import Spectrahedron

from .machine import Problem

Array = np.ndarray[Any, np.dtype[Any]]


def lower_bound(problem: Problem, beta: Array, cone: Spectrahedron | None, Z: Array | None) -> float:
    """A value that no feasible weights go below; β must keep its bounds and its balance.

    Parameters
    ----------
    problem : Problem
    beta : array (N,)
    cone : Spectrahedron, optional
    Z : array (p, p), symmetric, about positive semidefinite and about right
        Read only with a cone.
    """
    q = beta @ problem.family.products(beta)
    reward = 2.0 * float(problem.y @ beta) - float(problem.shift @ (beta * beta))
    if cone is None or Z is None:
        return reward - float(q.max())
    theta = _largest_sum(cone, q[: cone.n_members], Z)
    return reward - max(theta, *q[cone.n_members :], -np.inf)


def _largest_sum(cone: Spectrahedron, q: Array, Z: Array) -> float:
    """A bound of Σ w_i q_i over the spectrahedron."""
    flat = cone.Ks.reshape(q.size, -1)
    gram = flat @ flat.T
    ones = np.ones(q.size)
    to_ones, to_sums = np.linalg.lstsq(gram, np.column_stack([ones, q + cone.traces(Z)]), rcond=1e-14)[0].T
    theta = float(ones @ to_sums) / float(ones @ to_ones)
    corrected = Z + cone.combine(theta * to_ones - to_sums)
    corrected.flat[:: cone.size + 1] += max(0.0, -float(np.linalg.eigvalsh(corrected)[0]))
    return float((q + cone.traces(corrected)).max())

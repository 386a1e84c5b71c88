"""Multiple kernel learning by a general conic solver, written plainly from the dual: an independent judge."""

import cvxpy as cp
import numpy as np

from judges.optimum import conic_optimum


def _root(K):
    """A factor R with K = R R'."""
    values, vectors = np.linalg.eigh(0.5 * (K + K.T))
    return vectors * np.sqrt(np.maximum(values, 0.0))


def optimal_value(Ks, tasks, norm=1.0, identity=False):
    """max over β of Σ reward − ½ ‖q(β)‖_{p*} − ½ Σ shift β², by Clarabel.

    ``tasks`` is a list of dicts with target, lower, upper, epsilon, shift, total (None: no constraint).
    """
    n = Ks.shape[1]
    roots = [_root(K) for K in Ks] + ([np.eye(n)] if identity else [])
    betas, constraints, reward = [], [], 0
    quadratic = [0] * len(roots)
    for task in tasks:
        beta = cp.Variable(n)
        betas.append(beta)
        finite = np.isfinite(task["upper"])
        constraints += [beta[np.flatnonzero(finite)] <= task["upper"][finite]] if finite.any() else []
        finite = np.isfinite(task["lower"])
        constraints += [beta[np.flatnonzero(finite)] >= task["lower"][finite]] if finite.any() else []
        if task["total"] is not None:
            constraints.append(cp.sum(beta) == task["total"])
        reward += task["target"] @ beta - task["epsilon"] * cp.norm1(beta)
        reward -= 0.5 * cp.sum_squares(cp.multiply(np.sqrt(task["shift"]), beta))
        for m, root in enumerate(roots):
            quadratic[m] += cp.sum_squares(root.T @ beta)
    q = cp.hstack(quadratic)
    if norm == 1.0:
        penalty = cp.max(q)
    elif np.isinf(norm):
        penalty = cp.sum(q)
    else:
        penalty = cp.norm(q, norm / (norm - 1.0))
    problem = cp.Problem(cp.Maximize(reward - 0.5 * penalty), constraints)
    return conic_optimum(problem)

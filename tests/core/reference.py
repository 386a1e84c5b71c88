"""Multiple kernel learning by a general conic solver, written plainly from the dual: an independent judge."""

import cvxpy as cp
import numpy as np

from judges.optimum import conic_optimum


def _root(K):
    """A factor R with K = R R'."""
    values, vectors = np.linalg.eigh(0.5 * (K + K.T))
    return vectors * np.sqrt(np.maximum(values, 0.0))


def _penalty(quadratic, norm):
    """‖q‖_{p*}, the support of the weights with ‖μ‖_p ≤ 1."""
    q = cp.hstack(quadratic)
    if norm == 1.0:
        return cp.max(q)
    return cp.sum(q) if np.isinf(norm) else cp.norm(q, norm / (norm - 1.0))


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
    problem = cp.Problem(cp.Maximize(reward - 0.5 * _penalty(quadratic, norm)), constraints)
    return conic_optimum(problem)


def joint_optimal_value(Ks, codes, C, R, norm=1.0, costs=None):
    """max over α of Σ Rα − ½ ‖(tr B'K_mB / d_m²)_m‖_{p*} of the joint machine, by Clarabel."""
    n, n_classes = R.shape
    costs = np.ones(len(Ks)) if costs is None else costs
    own = np.eye(n_classes)[codes]
    alpha = cp.Variable((n, n_classes), nonneg=True)
    B = cp.multiply(own, cp.sum(alpha, axis=1, keepdims=True) @ np.ones((1, n_classes))) - alpha
    q = [cp.sum_squares((_root(K) / d).T @ B) for K, d in zip(Ks, costs, strict=True)]
    reward = cp.sum(cp.multiply(np.where(own, 0.0, R), alpha))
    constraints = [alpha <= np.broadcast_to(C, n)[:, None] * (1.0 - own), cp.sum(B, axis=0) == 0]
    return conic_optimum(cp.Problem(cp.Maximize(reward - 0.5 * _penalty(q, norm)), constraints))

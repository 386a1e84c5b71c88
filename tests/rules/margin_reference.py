"""The judge of the learners by margin: each dual written down from its formula, for a conic solver."""

import cvxpy as cp
import numpy as np

from judges.optimum import conic_optimum
from tests.core.problems import Task, gaussian

C_OF_TESTS = 2.0
EPSILON, NU = 0.2, 0.4


def make_problem(n=24, seed=0, n_kernels=4):
    """Kernels of some scales, and two classes that the first kernels know something of."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    kernels = [
        gaussian(X, 0.2),
        2.0 * X[:, :2] @ X[:, :2].T,
        gaussian(X[:, 2:], 1.0),
        0.5 * (1.0 + X[:, 1:3] @ X[:, 1:3].T) ** 2,
        gaussian(X, 2.0),
    ]
    y = np.where(X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * rng.normal(size=n) > 0, 1, -1)
    y[:3] = [1, 1, -1]
    return X, np.stack(kernels[:n_kernels]), y


def targets_of(task, n=24, seed=0):
    """(what fit is given as y, the tasks of the judge)."""
    X, _, y = make_problem(n, seed)
    if task == "classes":
        return y, [Task("hinge", y.astype(float), C_OF_TESTS)]
    if task == "three":
        codes = np.where(X[:, 0] > 0.5, 2, np.where(y > 0, 1, 0))
        return codes, [Task("hinge", np.where(codes == c, 1.0, -1.0), C_OF_TESTS) for c in range(3)]
    if task == "values":
        values = np.sin(X[:, 0]) + 0.3 * X[:, 1]
        return values, [Task("svr", values, C_OF_TESTS, EPSILON)]
    return None, [Task("one_class", np.zeros(n), 1.0 / (NU * n))]


def roots_of(Ks):
    """Factors R_m with K_m = R_m R_m'."""
    roots = []
    for K in np.asarray(Ks, float):
        values, vectors = np.linalg.eigh(0.5 * (K + K.T))
        roots.append(vectors * np.sqrt(np.maximum(values, 0.0)))
    return roots


def dual_program(Ks, tasks, penalty):
    """max Σ S(β) − penalty(parts, conditions), where parts[m] are the R_m'β whose squares sum to q_m."""
    roots = roots_of(Ks)
    parts, conditions, reward = [[] for _ in roots], [], 0
    for task in tasks:
        lower, upper = task.box
        beta = cp.Variable(task.target.size)
        for bound, sign in ((upper, 1.0), (lower, -1.0)):
            finite = np.flatnonzero(np.isfinite(bound))
            if finite.size:
                conditions.append(sign * beta[finite] <= sign * bound[finite])
        conditions.append(cp.sum(beta) == task.total)
        reward += task.target @ beta - task.epsilon * cp.norm1(beta)
        reward -= 0.5 * cp.sum_squares(cp.multiply(np.sqrt(task.shift), beta))
        for m, root in enumerate(roots):
            parts[m].append(root.T @ beta)
    problem = cp.Problem(cp.Maximize(reward - penalty([cp.hstack(p) for p in parts], conditions)), conditions)
    return conic_optimum(problem)


def forms(parts):
    """q, from the parts."""
    return cp.hstack([cp.sum_squares(part) for part in parts])


def rewards_and_forms(Ks, tasks, duals):
    """Σ S(β) and q of duals, which have to be feasible: the lower bound needs no more."""
    reward, q = 0.0, np.zeros(len(Ks))
    for task, beta in zip(tasks, duals, strict=True):
        task.require_feasible(beta, rtol=1e-9)
        reward += task.reward(beta) - 0.5 * task.shift @ beta**2
        q += np.array([beta @ (K @ beta) for K in np.asarray(Ks, float)])
    return reward, q


def least_value(Ks, tasks, weights):
    """J(η) for given weights, by the conic solver."""
    return dual_program(Ks, tasks, lambda parts, conditions: 0.5 * (weights @ forms(parts)))

"""Problems of localized kernels, and the judge: everything is written down again from the formulas."""

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from multikernel.core.svm.losses import EpsilonInsensitive, Hinge, OneClass
from multikernel.localized.solver.machines import BinaryMachines, JointMachines
from tests.core.problems import gaussian

MACHINES = ("hinge", "svr", "one_class", "ovr", "ovo", "joint", "crammer_singer")
GATES = ("softmax", "sigmoid", "gaussian")


@dataclass
class Problem:
    """Raw features, a stack of kernels of which the first is positive definite, and targets of every kind."""

    X: np.ndarray
    Ks: np.ndarray
    signs: np.ndarray
    response: np.ndarray
    codes: np.ndarray
    C: np.ndarray


def make_problem(n, D=2, m=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, D))
    Ks = np.stack([gaussian(X, 1.0), X @ X.T, (1.0 + X @ X.T) ** 2, gaussian(X, 0.1)])[:m]
    noise = 0.5 * rng.normal(size=n)
    codes = rng.permutation(np.arange(n) % 3)
    signs = np.where(X[:, 0] + noise > 0, 1.0, -1.0)
    signs[:2] = 1.0, -1.0
    return Problem(X, Ks, signs, np.sin(2.0 * X[:, 0]) + noise, codes, rng.uniform(0.5, 2.0, size=n))


def tasks(codes, kind):
    """The samples and the signs of each machine, for every class or pair of classes."""
    classes = range(codes.max() + 1)
    if kind == "ovr":
        return [(np.arange(codes.size), np.where(codes == k, 1.0, -1.0)) for k in classes]
    pairs = [(np.flatnonzero((codes == k) | (codes == l)), k) for k, l in combinations(classes, 2)]
    return [(own, np.where(codes[own] == k, 1.0, -1.0)) for own, k in pairs]


def make_machines(kind, problem, tol):
    """The machines of one kind on a problem, with a bound of its own for every sample."""
    codes, C = problem.codes, problem.C
    if kind == "hinge":
        return BinaryMachines([Hinge(problem.signs, C)], tol=tol)
    if kind == "svr":
        return BinaryMachines([EpsilonInsensitive(problem.response, C, 0.1)], tol=tol)
    if kind == "one_class":
        return BinaryMachines([OneClass(np.zeros(C.size), C / (0.4 * C.sum()))], tol=tol)
    if kind in ("joint", "crammer_singer"):
        return JointMachines(codes, 3, C, tol=tol, worst_only=kind != "joint")
    rows, signs = zip(*tasks(codes, kind), strict=True)
    losses = [Hinge(y, C[own]) for own, y in zip(rows, signs, strict=True)]
    return BinaryMachines(losses, None if kind == "ovr" else rows, n=codes.size, tol=tol)


def dual_and_primal(kind, problem, K, B, b):
    """Dual value of B, and primal value of the scores KB + b, of each machine."""
    codes, C = problem.codes, problem.C
    f = K @ B + b
    norms = 0.5 * np.einsum("ik,ij,jk->k", B, K, B)
    if kind == "hinge":
        return [hinge_values(problem.signs, C, B[:, 0], f[:, 0], norms[0])]
    if kind == "svr":
        return [svr_values(problem.response, C, 0.1, B[:, 0], f[:, 0], norms[0])]
    if kind == "one_class":
        return [one_class_values(C / (0.4 * C.sum()), b[0], f[:, 0], norms[0])]
    if kind in ("joint", "crammer_singer"):
        return [joint_values(codes, C, B, f, norms.sum(), np.sum if kind == "joint" else np.max)]
    return [
        hinge_values(y, C[own], B[own, k], f[own, k], norms[k])
        for k, (own, y) in enumerate(tasks(codes, kind))
    ]


def hinge_values(y, C, beta, f, norm):
    """Dual and primal value; ``f`` are the scores with the intercept, ``norm`` is ½‖w‖²."""
    return np.abs(beta).sum() - norm, norm + C @ np.maximum(1.0 - y * f, 0.0)


def svr_values(y, C, epsilon, beta, f, norm):
    loss = C @ np.maximum(np.abs(y - f) - epsilon, 0.0)
    return y @ beta - epsilon * np.abs(beta).sum() - norm, norm + loss


def one_class_values(bounds, b, f, norm):
    return -norm, norm + b + bounds @ np.maximum(-f, 0.0)


def joint_values(codes, C, B, f, norm, together):
    """Σ R α = 2 Σ_i Σ_{l ≠ y_i} α_il = 2 Σ_i B_{i, y_i}."""
    rows = np.arange(codes.size)
    slack = np.maximum(2.0 - (f[rows, codes][:, None] - f), 0.0)
    slack[rows, codes] = 0.0
    return 2.0 * B[rows, codes].sum() - norm, norm + C @ together(slack, axis=1)


def rows_of(codes):
    """Where the own class of each sample stands."""
    return np.arange(codes.size), codes


def largest_gap(pairs):
    return max((primal - dual) / abs(primal) for dual, primal in pairs)


def is_feasible(kind, problem, B, rounding=1e-10):
    """Whether the coefficients obey the bounds and sums of their machines."""
    codes, C = problem.codes, problem.C
    sums = [] if kind == "crammer_singer" else [B.sum(axis=0) - (kind == "one_class")]
    if kind == "hinge":
        shares = [B[:, 0] * problem.signs / C]
    elif kind == "svr":
        shares = [np.abs(B[:, 0]) / C]
    elif kind == "one_class":
        shares = [B[:, 0] * 0.4 * C.sum() / C]
    elif kind == "joint":
        shares = [np.where(codes[:, None] == np.arange(3), 0.0, -B) / C[:, None]]
        sums.append(B.sum(axis=1))
    elif kind == "crammer_singer":
        shares = [np.where(codes[:, None] == np.arange(3), 0.0, -B) / C[:, None], B[rows_of(codes)] / C]
        sums.append(B.sum(axis=1))
    else:
        shares = [B[own, k] * y / C[own] for k, (own, y) in enumerate(tasks(codes, kind))]
        sums.extend(np.delete(B[:, k], own) for k, (own, _) in enumerate(tasks(codes, kind)))
    within = all(share.min() >= -rounding and share.max() <= 1.0 + rounding for share in shares)
    return within and np.abs(np.concatenate(sums)).max() <= rounding


def differences(function, point, step=1e-5):
    """Central differences, entry by entry."""
    slopes = np.empty(point.size)
    for k in range(point.size):
        move = np.zeros(point.size)
        move[k] = step
        slopes[k] = (function(point + move) - function(point - move)) / (2.0 * step)
    return slopes

"""Problems of localized kernels, and the judge: everything is written down again from the formulas."""

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from multikernel.core.svm.losses import EpsilonInsensitive, Hinge, OneClass
from multikernel.localized.solver.machines import BinaryMachines, JointMachines
from tests.core.problems import gaussian

MACHINES = ("hinge", "svr", "one_class", "ovr", "ovo", "joint")
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


def make_machines(kind, problem, tol):
    """The machines of one kind on a problem, with a bound of its own for every sample."""
    codes, C = problem.codes, problem.C
    if kind == "hinge":
        return BinaryMachines([Hinge(problem.signs, C)], tol=tol)
    if kind == "svr":
        return BinaryMachines([EpsilonInsensitive(problem.response, C, 0.1)], tol=tol)
    if kind == "one_class":
        return BinaryMachines([OneClass(np.zeros(C.size), C / (0.4 * C.sum()))], tol=tol)
    if kind == "ovr":
        return BinaryMachines([Hinge(np.where(codes == k, 1.0, -1.0), C) for k in range(3)], tol=tol)
    if kind == "ovo":
        pairs = list(combinations(range(3), 2))
        rows = [np.flatnonzero((codes == k) | (codes == l)) for k, l in pairs]
        losses = [
            Hinge(np.where(codes[own] == l, 1.0, -1.0), C[own])
            for own, (_, l) in zip(rows, pairs, strict=True)
        ]
        return BinaryMachines(losses, rows, n=codes.size, tol=tol)
    return JointMachines(codes, 3, C, tol=tol)


def dual_and_primal(kind, problem, K, B, b):
    """Dual value of B, and primal value of the scores KB + b, of each machine."""
    codes, C = problem.codes, problem.C
    f = K @ B + b
    norms = 0.5 * np.einsum("ik,ij,jk->k", B, K, B)
    if kind == "hinge":
        return [_hinge(problem.signs, C, B[:, 0], f[:, 0], norms[0])]
    if kind == "svr":
        y = problem.response
        loss = C @ np.maximum(np.abs(y - f[:, 0]) - 0.1, 0.0)
        return [(y @ B[:, 0] - 0.1 * np.abs(B).sum() - norms[0], norms[0] + loss)]
    if kind == "one_class":
        bounds = C / (0.4 * C.sum())
        return [(-norms[0], norms[0] + b[0] + bounds @ np.maximum(-f[:, 0], 0.0))]
    if kind == "ovr":
        return [_hinge(np.where(codes == k, 1.0, -1.0), C, B[:, k], f[:, k], norms[k]) for k in range(3)]
    if kind == "ovo":
        values = []
        for place, (k, l) in enumerate(combinations(range(3), 2)):
            own = np.flatnonzero((codes == k) | (codes == l))
            y = np.where(codes[own] == l, 1.0, -1.0)
            values.append(_hinge(y, C[own], B[own, place], f[own, place], norms[place]))
        return values
    return [_joint(codes, C, B, f, norms.sum())]


def _hinge(y, C, beta, f, norm):
    return np.abs(beta).sum() - norm, norm + C @ np.maximum(1.0 - y * f, 0.0)


def _joint(codes, C, B, f, norm):
    """Σ R α = 2 Σ_i Σ_{l ≠ y_i} α_il = 2 Σ_i B_{i, y_i}."""
    rows = np.arange(codes.size)
    slack = np.maximum(2.0 - (f[rows, codes][:, None] - f), 0.0)
    slack[rows, codes] = 0.0
    return 2.0 * B[rows, codes].sum() - norm, norm + C @ slack.sum(axis=1)


def is_feasible(kind, problem, B, rounding=1e-10):
    """Whether the coefficients obey the bounds and sums of their machines."""
    codes, C = problem.codes, problem.C
    sums = B.sum(axis=0) - (kind == "one_class")
    if np.abs(sums).max() > rounding:
        return False
    if kind == "hinge":
        share = B[:, 0] * problem.signs / C
    elif kind == "svr":
        share = np.abs(B[:, 0]) / C
    elif kind == "one_class":
        share = B[:, 0] * 0.4 * C.sum() / C
    elif kind == "ovr":
        share = B * np.where(codes[:, None] == np.arange(3), 1.0, -1.0) / C[:, None]
    elif kind == "ovo":
        share = np.column_stack(
            [
                B[:, place] * ((codes == l) * 1.0 - (codes == k)) / C
                for place, (k, l) in enumerate(combinations(range(3), 2))
            ]
        )
    else:
        own = codes[:, None] == np.arange(3)
        share = np.where(own, 0.0, -B) / C[:, None]
        if np.abs(B.sum(axis=1)).max() > rounding:
            return False
    return share.min() >= -rounding and share.max() <= 1.0 + rounding

"""Problems for the solvers of the projection, and everything about them written down again from the formulas.

Only ``Problem.projection`` calls the library: it makes the object under test. The matrix of the dual is
filled entry by entry from its definition, values are computed from it alone, and cvxpy is given the primal
problem in the kernels' own feature spaces.
"""

from dataclasses import dataclass

import cvxpy as cp
import numpy as np
import pytest

from judges.optimum import conic_optimum
from multikernel.nonstationary.solver.mixtures import Mixtures
from multikernel.nonstationary.solver.projection import Projection

MODES = ("qp", "full", "hard")
EACH_MODE = pytest.mark.parametrize("mode", MODES)


@dataclass(frozen=True)
class Problem:
    """``Ks`` (n_kernels, n, n); ``y`` ±1; ``kernels`` and ``q`` of the positive and the negative class."""

    Ks: np.ndarray
    y: np.ndarray
    kernels: tuple[list[int], list[int]]
    q: tuple[np.ndarray, np.ndarray]
    C: np.ndarray
    margins: np.ndarray
    mode: str

    @property
    def rows(self):
        return np.flatnonzero(self.y > 0), np.flatnonzero(self.y < 0)

    @property
    def projection(self):
        """The library's object."""
        kernels = np.array(self.kernels[0]), np.array(self.kernels[1])
        mixtures = Mixtures(self.Ks, kernels, self.rows, self.C, self.margins, self.mode)
        return Projection(mixtures, self.q)

    def with_posteriors(self, q):
        return Problem(self.Ks, self.y, self.kernels, q, self.C, self.margins, self.mode)


def make_kernels(n, seed, unit=True):
    """Labels ±1 of overlapping classes; a linear, a quadratic and two Gaussian kernels."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.45, 1.0, -1.0)
    y[:4] = [1.0, -1.0, 1.0, -1.0]
    X = rng.normal(size=(n, 3))
    X[:, 0] += 0.8 * y
    squares = ((X[:, None] - X) ** 2).sum(axis=-1)
    Ks = np.stack([X @ X.T, (1.0 + X @ X.T) ** 2, np.exp(-squares / 2.0), np.exp(-squares / 0.5)])
    if unit:
        norms = np.sqrt(np.einsum("mtt->mt", Ks))
        Ks = Ks / norms[:, :, None] / norms[:, None, :]
    return Ks, y


def shifted_margins(y, kernels, mode, margin=1.0):
    """γ: in mode "qp" the logarithm of the number of components of the other class is added."""
    if mode != "qp":
        return np.full(y.size, margin)
    return margin + np.log(np.where(y > 0, len(kernels[1]), len(kernels[0])))


def make_problem(*, n=24, kernels=((0, 1), (0, 1, 2)), C=1.0, mode="qp", unit=True, spread=False, seed=0):
    """Random posteriors, 0 or 1 in mode "hard"; bounds that differ by sample where they are ``spread``."""
    rng = np.random.default_rng([seed, 1])
    Ks, y = make_kernels(n, seed, unit)
    kernels = list(kernels[0]), list(kernels[1])
    q = []
    for side, sign in enumerate((1.0, -1.0)):
        size, count = len(kernels[side]), int((y == sign).sum())
        shares = rng.dirichlet(np.full(size, 0.7), count)
        q.append(np.eye(size)[shares.argmax(axis=1)] if mode == "hard" else shares)
    bounds = C * (rng.uniform(0.3, 2.0, n) if spread else np.ones(n))
    return Problem(Ks, y, kernels, (q[0], q[1]), bounds, shifted_margins(y, kernels, mode), mode)


def uniform(problem):
    """Uniform posteriors."""
    return tuple(np.full(part.shape, 1.0 / part.shape[1]) for part in problem.q)


def entropies(problem):
    if problem.mode == "hard":
        return tuple(np.zeros(len(part)) for part in problem.q)
    return tuple(
        -np.where(part > 0, part * np.log(np.maximum(part, 1e-300)), 0.0).sum(1) for part in problem.q
    )


def dual_matrices(problem):
    """H, f and A, one entry at a time, variables (t, r) of the positive samples first."""
    Ks, (own_p, own_n), q = problem.Ks, problem.kernels, problem.q
    M, N = len(own_p), len(own_n)
    places = [(+1, i, t, r) for i, t in enumerate(problem.rows[0]) for r in range(N)]
    places += [(-1, i, t, r) for i, t in enumerate(problem.rows[1]) for r in range(M)]
    entropy = entropies(problem)
    H, f, A = np.zeros((len(places),) * 2), np.zeros(len(places)), np.zeros((M + N, len(places)))
    for a, (sign, i, t, r) in enumerate(places):
        own, other, qi = (own_p, own_n, q[0][i]) if sign > 0 else (own_n, own_p, q[1][i])
        f[a] = problem.margins[t] - entropy[sign < 0][i]
        f[a] += 0.5 * sum(qi[j] * Ks[own[j], t, t] for j in range(len(own))) - 0.5 * Ks[other[r], t, t]
        A[:M, a] = qi if sign > 0 else -np.eye(M)[r]
        A[M:, a] = np.eye(N)[r] if sign > 0 else -qi
        for b, (sign_b, k, s, c) in enumerate(places):
            if sign == sign_b:
                qk = q[0][k] if sign > 0 else q[1][k]
                H[a, b] = sum(qi[j] * qk[j] * Ks[own[j], t, s] for j in range(len(own)))
                H[a, b] += Ks[other[r], t, s] if r == c else 0.0
            else:
                qk = q[1][k] if sign > 0 else q[0][k]
                H[a, b] = -qi[c] * Ks[own[c], t, s] - qk[r] * Ks[other[r], t, s]
    return H, f, A


def stacked(duals):
    """The duals of both classes as one vector."""
    return np.concatenate([duals[0].ravel(), duals[1].ravel()])


def dual_value(problem, duals):
    """J of the duals, from the matrices."""
    H, f, _ = dual_matrices(problem)
    u = stacked(duals)
    value = f @ u - 0.5 * u @ H @ u
    if problem.mode == "full":
        for part in duals:
            shares = np.maximum(part, 1e-300) / np.maximum(part.sum(axis=1, keepdims=True), 1e-300)
            value -= (part * np.log(shares)).sum()
    return float(value)


def primal_by_cvxpy(problem):
    """The optimal value of the primal problem in the kernels' feature spaces."""
    features = [_feature_space(K) for K in problem.Ks]
    norm, scores = 0.0, []
    for side in (0, 1):
        columns = []
        for kernel in problem.kernels[side]:
            phi = features[kernel]
            w, offset = cp.Variable(phi.shape[1]), cp.Variable()
            norm = norm + 0.5 * cp.sum_squares(w)
            columns.append(phi @ w + offset - 0.5 * np.diag(problem.Ks[kernel]))
        scores.append(columns)
    price, constraints = 0.0, []
    for side, rows in enumerate(problem.rows):
        slack = cp.Variable(rows.size, nonneg=True)
        price = price + problem.C[rows] @ slack
        own = sum(
            cp.multiply(share, column[rows])
            for share, column in zip(problem.q[side].T, scores[side], strict=True)
        )
        room = own + entropies(problem)[side] - problem.margins[rows] + slack
        other = [column[rows] for column in scores[1 - side]]
        if problem.mode == "full":
            constraints.append(cp.log_sum_exp(cp.vstack(other), axis=0) <= room)
        else:
            constraints += [column <= room for column in other]
    program = cp.Problem(cp.Minimize(norm + price), constraints)
    return conic_optimum(program)


def _feature_space(K):
    values, vectors = np.linalg.eigh(K)
    kept = values > 1e-13 * values[-1]
    return vectors[:, kept] * np.sqrt(values[kept])

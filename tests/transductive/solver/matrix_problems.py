"""Kernel matrix learning: problems, their optimum by general conic solvers, and the judge of a result.

All is written from the formulas of the papers, in their units: members as given, trace c, and

    ω = min_μ  max_{0 ≤ a ≤ C, y'a = 0}  2e'a − a'(G(K(μ)) + τI)a.

Only :meth:`Case.problem` and :func:`learn` touch the library, to make and solve the object under test.
"""

from dataclasses import dataclass, replace

import cvxpy as cp
import numpy as np
import pytest
from sklearn.svm import SVC

from judges.optimum import conic_optimum
from judges.programs.kernel_matrix_published import cone_program, matrix_inequality
from multikernel.core.optim.loop import Options, Status
from multikernel.core.svm.losses import HardMargin, Hinge, SquaredHinge
from multikernel.transductive.solver.kernel_matrix import MatrixProblem, learn_kernel_matrix
from multikernel.transductive.solver.limits import WeightLimits
from tests.core.problems import Task, gaussian

PAPER = {"hard": "HM", "soft1": "SM1", "soft2": "SM2", "soft2 learned": "SM2C"}  # and the paper's names
CRITERIA = tuple(PAPER)
WEIGHTS = ("free", "nonnegative", "spectral")
everywhere = pytest.mark.parametrize(("criterion", "weights"), [(c, w) for c in CRITERIA for w in WEIGHTS])


@dataclass(frozen=True)
class Case:
    """One problem; ``members`` is a stack, or orthonormal columns for "spectral"."""

    members: np.ndarray
    y: np.ndarray
    criterion: str
    weights: str
    C: float = 1.0
    trace: float | None = None
    limits: tuple | None = None  # (rows, lower, upper) on the weights

    def problem(self):
        """The library's object."""
        loss = {
            "hard": lambda: HardMargin(self.y),
            "soft1": lambda: Hinge(self.y, self.C),
            "soft2": lambda: SquaredHinge(self.y, self.C),
            "soft2 learned": lambda: HardMargin(self.y),
        }[self.criterion]()
        return MatrixProblem(self.members, loss, self.weights, self.c, self.learned, self._limits())

    def _limits(self):
        return None if self.limits is None else WeightLimits(*map(np.asarray, self.limits))

    def but(self, **changes):
        return replace(self, **changes)

    @property
    def learned(self):
        return self.criterion == "soft2 learned"

    @property
    def stack(self):
        """The members as matrices over all points."""
        if self.weights == "spectral":
            return np.stack([np.outer(v, v) for v in self.members.T])
        return np.asarray(self.members, float)

    @property
    def n(self):
        return self.stack.shape[1]

    @property
    def r(self):
        return np.trace(self.stack, axis1=1, axis2=2)

    @property
    def c(self):
        """The trace: by default that of the paper."""
        default = self.n if self.weights == "spectral" else self.r.sum()
        return float(default + self.n * self.learned) if self.trace is None else self.trace

    @property
    def tau(self):
        return 1.0 / self.C if self.criterion == "soft2" else 0.0

    @property
    def bound(self):
        return self.C if self.criterion == "soft1" else np.inf


def learn(case, tol=1e-8, **options):
    """The library's result."""
    return learn_kernel_matrix(case.problem(), options=Options(tol=tol, max_iter=100, **options))


def optimal(case, tol=1e-8):
    """The library's result, which must say that it is optimal."""
    result = learn(case, tol)
    assert result.status == Status.OPTIMAL and result.gap <= tol
    return result


def unit_diagonal(K):
    d = np.sqrt(np.diagonal(K))
    return K / np.outer(d, d)


def make_points(criterion, n, N, seed):
    """Normal rows and noisy labels; for a hard margin with so many columns that kernels separate them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, N if criterion == "hard" else 2))
    y = np.where(X[:N, 0] + X[:N, 1] ** 2 + 0.2 * rng.normal(size=N) > 0.6, 1.0, -1.0)
    y[:2] = [1.0, -1.0]
    return X, y


def make_case(criterion, weights, n=18, N=14, C=1.0, seed=0):
    """Gaussian, linear and quadratic kernels of three sizes; or the leading eigenvectors of a kernel."""
    X, y = make_points(criterion, n, N, seed)
    if weights == "spectral":
        _, V = np.linalg.eigh(gaussian(X, 0.5) + 0.1 * X @ X.T)
        V = V[:, ::-1][:, : N if criterion == "hard" else N // 2]
        return Case(np.ascontiguousarray(V), y, criterion, weights, C)
    Ks = [gaussian(X, 0.5), unit_diagonal(X @ X.T), unit_diagonal((1.0 + X @ X.T) ** 2)]
    return Case(np.array([2.0, 0.05, 30.0])[:, None, None] * np.stack(Ks), y, criterion, weights, C)


# --------------------------------------------------------------------------- the optimum, by conic solvers


def reference_optimum(case):
    """ω, by the semidefinite program (free) or the quadratically constrained one.

    In weights of members with the trace n: with u = c/n this is the problem of trace n with C' = uC and
    τ' = τ/u, whose value is uω.
    """
    u, scaled = case.c / case.n, case.stack * (case.n / case.r)[:, None, None]
    problem = scaled, case.y, PAPER[case.criterion], u * case.C, float(case.n)
    if case.limits is not None:
        stated = matrix_inequality(*problem, basis=common_range(scaled[~left_out(case)]))
        more = limits_on_shares(case, stated.mu)
        return conic_optimum(cp.Problem(stated.program.objective, stated.program.constraints + more)) / u
    if case.weights == "free":
        return conic_optimum(matrix_inequality(*problem, basis=common_range(scaled)).program) / u
    return conic_optimum(cone_program(*problem).program) / u


def left_out(case):
    """Which members must not take part: without them in its range the matrix inequality has an interior."""
    rows, lower, upper = map(np.asarray, case.limits)
    alone = (np.count_nonzero(rows, axis=1) == 1) & (lower == 0.0) & (upper == 0.0)
    return (rows[alone] != 0.0).any(axis=0)


def limits_on_shares(case, shares):
    """The further constraints of a case on the members' parts of the trace, μ_i r_i / c; signs among them."""
    constraints = [] if case.weights == "free" else [shares >= 0]
    if case.limits is not None:
        rows, lower, upper = map(np.asarray, case.limits)
        values = (rows * (case.c / case.r)) @ shares
        constraints += [values[i] <= upper[i] for i in np.flatnonzero(np.isfinite(upper))]
        constraints += [values[i] >= lower[i] for i in np.flatnonzero(np.isfinite(lower))]
    return constraints


def common_range(Ks):
    """An orthonormal basis of the sum of the members' ranges."""
    values, vectors = np.linalg.eigh(sum(K / np.trace(K) for K in Ks))
    return vectors[:, values > 1e-9 * values[-1]]


def _semidefinite(matrix):
    return matrix >= 0 if matrix.shape == (1, 1) else matrix >> 0


def largest_form(case, q, of_identity=0.0):
    """max_w w'q over the weights with r'w = c: over the spectrahedron, or the largest c q_i / r_i.

    Under further constraints the identity of a learned C has its part of the trace here too.
    """
    if case.weights != "free" and case.limits is None:
        return case.c * float((q / case.r).max())
    mu = cp.Variable(len(case.stack))
    U = common_range(case.stack)
    scaled = case.stack / case.r[:, None, None]  # so that the solver sees weights of order one
    on_range = sum(mu[i] * (U.T @ K @ U) for i, K in enumerate(scaled))
    rest = cp.Variable(nonneg=True) if case.learned and case.limits is not None else 0.0
    constraints = [cp.sum(mu) + rest == 1, _semidefinite(on_range), *limits_on_shares(case, mu)]
    size = float(np.abs(q / case.r).max())
    own = rest * (of_identity / case.n / size)
    return case.c * size * conic_optimum(cp.Problem(cp.Maximize(mu @ (q / case.r / size) + own), constraints))


# --------------------------------------------------------------------------- the judge


def kernel(case, weights):
    """K(μ) over all points."""
    return np.einsum("i,iab->ab", weights, case.stack)


def feasible_duals(case, dual):
    a = case.y * dual
    assert (a >= 0).all() and (a <= case.bound * (1 + 1e-12)).all()
    assert abs(dual.sum()) <= 1e-9 * np.abs(dual).sum()
    return a


def machine(case, ridge):
    """The fixed-kernel machine that remains when the weights are known."""
    if case.criterion == "soft1":
        return Task("hinge", case.y, case.C)
    if case.criterion == "soft2":
        return Task("squared_hinge", case.y, case.C)
    return Task("squared_hinge", case.y, 1.0 / ridge) if ridge > 0 else Task("hard_margin", case.y)


def judge(case, result):
    """(upper, lower) bounds of ω from the weights and the duals of a result alone.

    Above: the primal value of scikit-learn's machine with the learned kernel. Below: the reward of the duals
    less the largest form over the set of weights, by a conic solver where that is a spectrahedron.
    """
    weights, ridge = result.weights, result.ridge
    np.testing.assert_allclose(case.r @ weights + case.n * ridge, case.c, rtol=1e-7)
    K = kernel(case, weights)
    values = np.linalg.eigvalsh(K)
    assert values[0] >= -1e-8 * values[-1], "the learned matrix must be positive semidefinite on all points"
    if case.weights != "free":
        assert (weights >= 0).all()
    N = case.y.size
    task = machine(case, ridge)
    shift = task.shift[0] if task.kind == "squared_hinge" else 0.0
    C = case.C if case.criterion == "soft1" else 1e9
    svc = SVC(C=C, kernel="precomputed", tol=1e-9).fit(K[:N, :N] + shift * np.eye(N), case.y)
    beta = np.zeros(N)
    beta[svc.support_] = svc.dual_coef_[0]
    scores = K[:N, :N] @ beta
    upper = 2.0 * task.primal(scores, float(beta @ scores))
    a = feasible_duals(case, result.dual)
    q = np.array([result.dual @ K[:N, :N] @ result.dual for K in case.stack])
    form = largest_form(case, q, float(a @ a))
    if case.learned and case.limits is None:
        form = max(form, case.c / case.n * float(a @ a))
    return upper, 2.0 * a.sum() - case.tau * float(a @ a) - form

"""The machine of Crammer & Singer against cvxpy on its definition, alone and with learned weights."""

import cvxpy as cp
import numpy as np
import pytest
from sklearn.svm import SVC

from multikernel.core.optim.loop import Options, Status
from multikernel.core.svm.joint.worst import WorstSolver, _project, free_pairs, invert_free, move_free
from multikernel.core.svm.losses import WorstHinge
from multikernel.core.weights.learn import learn_weights


def make(n=36, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % n_classes
    X = rng.normal(size=(n, 3)) + np.eye(n_classes, 3)[codes]
    squares = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    return np.stack([X @ X.T, np.exp(-0.5 * squares), (1.0 + X @ X.T) ** 2 / 10.0]), codes, rng


def root(K):
    values, vectors = np.linalg.eigh(K)
    return vectors * np.sqrt(np.maximum(values, 0.0))


def primal(scores, codes, C, R):
    """Σ C_i max_l [R_il − (f_i^y − f_i^l)], as written."""
    own = scores[np.arange(codes.size), codes]
    R = R.copy()
    R[np.arange(codes.size), codes] = 0.0
    return float(np.sum(C * (R - own[:, None] + scores).max(axis=1)))


def solve_by_cvxpy(Ks, codes, n_classes, C, R):
    """min over w of ½ (Σ_m ‖w_m‖)² + Σ C_i ξ_i: one kernel is the machine itself, several are MKL."""
    Zs = [root(K) for K in Ks]
    W = [cp.Variable((Z.shape[1], n_classes)) for Z in Zs]
    f = sum(Z @ w for Z, w in zip(Zs, W, strict=True))
    slack = cp.Variable(codes.size, nonneg=True)
    constraints = []
    for i, own in enumerate(codes):
        constraints += [f[i, own] - f[i, l] >= R[i, l] - slack[i] for l in range(n_classes) if l != own]
    cost = 0.5 * cp.square(sum(cp.norm(w, "fro") for w in W)) + C @ slack
    problem = cp.Problem(cp.Minimize(cost), constraints)
    return problem.solve(solver=cp.CLARABEL, tol_gap_rel=1e-9, tol_gap_abs=1e-9)


def solve(K, codes, n_classes, C, tol=1e-8, rewards=None, max_steps=10**6):
    loss = WorstHinge(codes, n_classes, C, rewards)
    solver = WorstSolver(K, loss, np.zeros((n_classes, codes.size)))
    return solver, *solver.solve(tol, max_steps), loss


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("kernel", [0, 1, 2])
@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_the_value_is_that_of_the_definition(C, kernel, n_classes):
    Ks, codes, rng = make(40, n_classes, seed=kernel)
    prices, R = C * rng.uniform(0.5, 2.0, 40), rng.uniform(0.5, 2.0, (40, n_classes))
    solver, values, status, _ = solve(Ks[kernel], codes, n_classes, prices, rewards=R)
    assert status == Status.OPTIMAL
    expected = solve_by_cvxpy(Ks[[kernel]], codes, n_classes, prices, R)
    assert values.dual == pytest.approx(expected, rel=1e-6) and values.dual <= expected * (1.0 + 1e-7)
    # the certificate, from the duals and the kernel alone
    B = solver.coefficients
    F = Ks[kernel] @ B
    alpha = np.where(np.arange(n_classes) == codes[:, None], 0.0, -B)
    assert (alpha >= 0.0).all() and (alpha.sum(axis=1) <= prices * (1.0 + 1e-12)).all()
    np.testing.assert_allclose(B.sum(axis=1), 0.0, atol=1e-12 * C)
    half = 0.5 * float(np.vdot(B, F))
    assert values.primal == pytest.approx(half + primal(F, codes, prices, R), rel=1e-9)
    assert values.dual == pytest.approx(float(np.vdot(R, alpha)) - half, rel=1e-9)
    assert values.primal - values.dual <= 1e-8 * values.primal


def test_two_classes_are_the_svm_without_an_intercept():
    Ks, codes, _ = make(30, 2)
    K = Ks[1]
    solver, values, _, _ = solve(K, codes, 2, 3.0)
    alpha = -solver.coefficients[np.arange(30), 1 - codes]
    y = 2.0 * codes - 1.0
    a = cp.Variable(30)
    dual = cp.Problem(
        cp.Maximize(cp.sum(a) - 0.5 * cp.sum_squares(root(K).T @ cp.multiply(y, a))), [a >= 0, a <= 3.0]
    )
    assert values.dual == pytest.approx(2.0 * dual.solve(solver=cp.CLARABEL), rel=1e-6)
    np.testing.assert_allclose(alpha, a.value, atol=1e-4)


@pytest.mark.parametrize("n_classes", [3, 4])
def test_weights_are_those_of_the_definition(n_classes):
    Ks, codes, _ = make(36, n_classes)
    loss = WorstHinge(codes, n_classes, 1.0)
    found = learn_weights(Ks, [loss], options=Options(tol=1e-6))
    expected = solve_by_cvxpy(Ks, codes, n_classes, np.ones(36), np.full((36, n_classes), 2.0))
    assert found.status == Status.OPTIMAL
    assert found.lower_bound <= expected * (1.0 + 1e-6) and found.upper_bound >= expected * (1.0 - 1e-6)
    assert found.objective == pytest.approx(expected, rel=1e-5)
    assert not found.intercepts.any()
    # the gap from outside: μ = 1 on the simplex bounds the value by the largest q
    B = found.duals.T
    q = np.array([float(np.vdot(B, K @ B)) for K in Ks])
    alpha = np.where(np.arange(n_classes) == codes[:, None], 0.0, -B)
    assert (alpha.sum(axis=1) <= 1.0 + 1e-9).all() and (alpha >= -1e-12).all()
    lower = 2.0 * float(alpha.sum()) - 0.5 * float(q.max())
    K = np.tensordot(found.weights, Ks, 1)
    upper = 0.5 * float(np.vdot(B, K @ B)) + primal(K @ B, codes, np.ones(36), np.full((36, n_classes), 2.0))
    assert (upper - lower) / upper <= 1.1e-6
    assert found.weights.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("C", [1e4, 1e7])
def test_kernels_of_low_rank_with_a_large_C_are_certified(C):
    Ks, codes, _ = make(90, 3)
    _, values, status, _ = solve(Ks[0], codes, 3, C, tol=1e-4)
    assert status == Status.OPTIMAL and values.difference <= 1e-4 * values.primal


def test_points_without_room_and_kernels_of_zero():
    Ks, codes, _ = make(12, 3)
    prices = np.where(np.arange(12) < 3, 0.0, 1.0)
    solver, values, status, _ = solve(Ks[1], codes, 3, prices)
    assert status == Status.OPTIMAL and not solver.coefficients[:3].any()
    _, kept, _, _ = solve(Ks[1][3:, 3:].copy(), codes[3:], 3, np.ones(9))
    assert values.dual == pytest.approx(kept.dual, rel=1e-7)
    _, nothing, status, _ = solve(np.zeros((12, 12)), codes, 3, 1.0)
    assert status == Status.OPTIMAL and nothing.primal == pytest.approx(24.0)


def test_few_steps_end_with_a_gap():
    Ks, codes, _ = make(60, 3)
    solver, values, status, _ = solve(Ks[1], codes, 3, 10.0, max_steps=5)
    assert status == Status.MAX_ITER and solver.n_steps == 5 and values.difference > 0.0


def test_projection_on_the_simplex():
    rng = np.random.default_rng(0)
    for n in (2, 3, 7):
        target, out = 3.0 * rng.normal(size=n), np.empty(n)
        _project(target, 2.0, out)
        x = cp.Variable(n)
        cp.Problem(cp.Minimize(cp.sum_squares(x - target)), [x >= 0, cp.sum(x) == 2.0]).solve(cp.CLARABEL)
        np.testing.assert_allclose(out, x.value, atol=1e-6)


def test_free_duals_answer_to_the_weights_as_differences_say():
    Ks, codes, _ = make(24, 3)
    mu, step = np.array([0.5, 1.0, 0.7]), 1e-5

    def alpha_at(weights):
        solver, _, _, _ = solve(np.tensordot(weights, Ks, 1), codes, 3, 0.7, tol=1e-12)
        return solver.whole.T, solver.coefficients

    whole, B = alpha_at(mu)
    free = free_pairs(whole)
    F = np.stack([(K @ B).T for K in Ks])
    answer = -invert_free(np.tensordot(mu, Ks, 1), free, free.turned(F).T)
    for m in range(3):
        moved = [alpha_at(mu + sign * step * np.eye(3)[m])[0] for sign in (1.0, -1.0)]
        slope = (moved[0] - moved[1])[free.others, free.samples] / (2.0 * step)
        np.testing.assert_allclose(answer[:, m], slope, rtol=2e-3, atol=2e-3 * np.abs(slope).max())


def test_a_step_ends_at_the_first_bound():
    whole = np.array([[0.5, 1.0], [0.3, 0.0], [0.2, 0.0]])
    free = free_pairs(whole)
    assert free.samples.tolist() == [0, 0] and free.others.tolist() == [1, 2] and free.own.tolist() == [0, 0]
    moved, length = move_free(whole, free, np.array([-0.6, 0.1]))
    assert length == pytest.approx(0.5) and moved[1, 0] == 0.0
    np.testing.assert_allclose(moved.sum(axis=0), whole.sum(axis=0))


def test_margins_without_intercept_match_scikit_learn():
    """Two far classes around the origin of a linear kernel: SVC's intercept is 0 by symmetry."""
    x = np.array([-2.0, -1.0, 1.0, 2.0])[:, None]
    codes = np.array([0, 0, 1, 1])
    solver, _, _, _ = solve(x @ x.T, codes, 2, 10.0)
    reference = SVC(kernel="linear", C=10.0).fit(x, codes)
    scores = x @ x.T @ solver.coefficients
    np.testing.assert_allclose(0.5 * (scores[:, 1] - scores[:, 0]), reference.decision_function(x), atol=1e-4)

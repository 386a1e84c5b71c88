"""Newton's equations of the joint machine by conjugate gradients: against dense ones, cvxpy and SMO."""

import numpy as np
import pytest

from multikernel.core.optim.loop import Options, Status
from multikernel.core.optim.weight_sets import LpBall
from multikernel.core.stack.low_rank import Kernels, pivoted_factor
from multikernel.core.svm.barrier import make_task
from multikernel.core.svm.interior_point import InteriorPoint
from multikernel.core.svm.joint import newton
from multikernel.core.svm.losses import JointHinge
from multikernel.core.weights import second
from multikernel.core.weights.learn import learn_weights

cvxpy = pytest.importorskip("cvxpy")


def make_problem(n, n_classes, C, seed=0):
    """A linear, a wide and a narrow Gaussian kernel, and classes with some noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    target = X[:, 0] + X[:, 1] ** 2 + 0.3 * rng.normal(size=n)
    codes = np.digitize(target, np.quantile(target, np.linspace(0.0, 1.0, n_classes + 1)[1:-1]))
    squares = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    Ks = np.stack([X @ X.T, np.exp(-squares / 20.0), np.exp(-squares / 2.0)])
    return np.ascontiguousarray(Ks), JointHinge(codes, n_classes, C)


def few(monkeypatch, pairs=20, pivots=10):
    """So few pairs and pivots that conjugate gradients have to work."""
    monkeypatch.setattr(newton, "_MOST_PAIRS", pairs)
    monkeypatch.setattr(newton, "_MOST_PIVOTS", pivots)


@pytest.mark.parametrize("pairs, pivots", ((10**6, 10), (20, 10), (60, 25), (0, 0)))
@pytest.mark.parametrize("low", (True, False))
@pytest.mark.parametrize("dense", (True, False))
def test_solves_what_a_dense_factorization_solves(monkeypatch, pairs, pivots, low, dense):
    few(monkeypatch, pairs, pivots)
    monkeypatch.setattr(newton, "_RESIDUAL", 1e-11)
    monkeypatch.setattr(newton, "_MOST_STEPS", 500)
    Ks, loss = make_problem(50, 4, 1.0)
    task, rng = make_task(loss), np.random.default_rng(1)
    R = Ks[1] + Ks[2] if dense else None
    Q = np.linalg.qr(rng.normal(size=(50, 3)))[0] if low else np.zeros((50, 0))
    G = np.tril(rng.normal(size=(3, 3))) + 3.0 * np.eye(3) if low else np.zeros((0, 0))
    D = 10.0 ** rng.uniform(-4.0, 2.0, size=150)
    D[7] = np.inf
    r, mismatch = rng.normal(size=(150, 2)), rng.normal(size=(Q.shape[1], 3))
    x, e = newton.PairSystem(R, task, Q, G, D).solve(r, mismatch)
    T = np.zeros((150, 50, 3))
    T[np.arange(150), task.sample] = task.turn
    T = T.reshape(150, -1)
    moves = np.arange(150) != 7
    assert not x[7].any()
    left = D[moves, None] * x[moves] + (T @ np.kron(Q, np.eye(3)) @ e)[moves]
    if R is not None:
        left += (T @ np.kron(R, np.eye(3)) @ T.T @ x)[moves]
    np.testing.assert_allclose(left, r[moves], atol=1e-7)
    expected = np.kron(G @ G.T @ Q.T, np.eye(3)) @ T.T @ x - (G @ mismatch).reshape(-1, 1)
    np.testing.assert_allclose(e, expected, atol=1e-7)


@pytest.mark.parametrize("C", (0.1, 10.0, 1e4))
@pytest.mark.parametrize("p", (1.0, 2.0))
def test_against_cvxpy(monkeypatch, C, p):
    few(monkeypatch)
    Ks, loss = make_problem(40, 3, C)
    kernels = Kernels(Ks, np.ones(3), {0: pivoted_factor(Ks[0])})
    found = InteriorPoint(kernels, [loss], LpBall(p)).run(1e-7)
    alpha, own = cvxpy.Variable((40, 3), nonneg=True), np.eye(3)[loss.codes]
    B = cvxpy.multiply(own, cvxpy.sum(alpha, axis=1, keepdims=True) @ np.ones((1, 3))) - alpha
    roots = [np.linalg.cholesky(K + 1e-11 * np.trace(K) * np.eye(40)) for K in Ks]
    norms = cvxpy.hstack([cvxpy.sum_squares(root.T @ B) for root in roots])
    value = 2.0 * cvxpy.sum(alpha) - 0.5 * (cvxpy.max(norms) if p == 1.0 else cvxpy.norm(norms, 2))
    rules = [alpha <= C, cvxpy.multiply(alpha, own) == 0.0, cvxpy.sum(B, axis=0) == 0.0]
    best = cvxpy.Problem(cvxpy.Maximize(value), rules).solve(solver="CLARABEL")
    assert found.gap <= 1e-6
    assert found.upper == pytest.approx(best, rel=1e-5)


@pytest.mark.parametrize("C", (1.0, 1e3))
def test_few_pairs_lead_where_all_do(monkeypatch, C):
    Ks, loss = make_problem(150, 4, C, seed=3)
    kernels = Kernels(Ks, np.ones(3), {0: pivoted_factor(Ks[0])})
    monkeypatch.setattr(newton, "_MOST_PAIRS", 10**6)
    every = InteriorPoint(kernels, [loss], LpBall(1.0)).run(1e-6)
    few(monkeypatch, 100, 40)
    some = InteriorPoint(kernels, [loss], LpBall(1.0)).run(1e-6)
    assert max(every.gap, some.gap) <= 1e-6
    assert some.upper == pytest.approx(every.upper, rel=3e-6)
    np.testing.assert_allclose(some.mu, every.mu, atol=1e-3)


def test_more_coordinates_than_a_dense_factorization_takes(monkeypatch):
    """SMO gets no work, so that everything is left to the interior-point method."""
    Ks, loss = make_problem(850, 6, 100.0, seed=4)
    assert loss.codes.size * 5 > second.MOST_DENSE
    monkeypatch.setattr(second, "allowed_work", lambda stack, losses: 0.0)
    result = learn_weights(Ks, [loss], options=Options(tol=1e-3, coarse=False))
    assert result.status == Status.OPTIMAL and result.gap <= 1e-3
    alpha = np.maximum(-result.duals, 0.0)
    assert (alpha <= 100.0 * (1 + 1e-9)).all()
    np.testing.assert_allclose(result.duals.sum(axis=0), 0.0, atol=1e-6)
    np.testing.assert_allclose(result.duals.sum(axis=1), 0.0, atol=1e-6)
    q = [float(np.vdot(result.duals, result.duals @ K)) for K in Ks]
    f = result.duals @ np.tensordot(result.weights, Ks, 1) + result.intercepts[:, None]
    short = 2.0 - f[loss.codes, np.arange(850)] + f
    short[loss.codes, np.arange(850)] = 0.0
    upper = 0.5 * float(result.weights @ q) + 100.0 * float(np.maximum(short, 0.0).sum())
    lower = 2.0 * float(alpha.sum()) - 0.5 * max(q)
    assert -1e-8 <= (upper - lower) / upper <= 1.05e-3


def test_pivots_end_where_the_rank_does():
    Z = np.random.default_rng(0).normal(size=(30, 4))
    assert newton.greedy_pivots(Z @ Z.T, 20).size == 4
    assert newton.greedy_pivots(np.zeros((5, 5)), 3).size == 0

"""The interior-point method: against cvxpy, against SMO, and where nothing else works."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from multikernel.core.optim.loop import Options, Status
from multikernel.core.optim.weight_sets import LpBall
from multikernel.core.stack.low_rank import Kernels, features, pivoted_factor
from multikernel.core.svm.barrier import class_basis
from multikernel.core.svm.interior_point import InteriorPoint
from multikernel.core.svm.losses import (
    EpsilonInsensitive,
    Hinge,
    JointHinge,
    OneClass,
    SquaredError,
    SquaredHinge,
)
from multikernel.core.weights import second
from multikernel.core.weights.learn import learn_weights

cvxpy = pytest.importorskip("cvxpy")
N = 40
KINDS = ("hinge", "squared_hinge", "epsilon", "one_class", "ridge", "joint")


def make_table(n=N, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    target = X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.5 * rng.normal(size=n)
    return X, target


def make_kernels(X):
    squares = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    return np.stack([X @ X.T, (X @ X.T + 1.0) ** 2 / 4.0, np.exp(-squares / 2.0)])


def make_loss(kind, target, C=2.0):
    y = np.where(target > np.median(target), 1.0, -1.0)
    return {
        "hinge": lambda: Hinge(y, C),
        "squared_hinge": lambda: SquaredHinge(y, C),
        "epsilon": lambda: EpsilonInsensitive(target, C, 0.1),
        "one_class": lambda: OneClass(np.zeros(target.size), 1.0 / (0.3 * target.size)),
        "ridge": lambda: SquaredError(target, 1.0 / C),
        "joint": lambda: JointHinge(np.digitize(target, np.quantile(target, [0.3, 0.6])), 3, C),
    }[kind]()


def solve(Ks, losses, p=1.0, low=(), tol=1e-9):
    factors = {m: pivoted_factor(Ks[m]) for m in low}
    kernels = Kernels(Ks, np.ones(len(Ks)), factors)
    return InteriorPoint(kernels, losses, LpBall(p), least_size=1e-9).run(tol)


def dual_optimum(Ks, loss, p):
    """The optimal value by cvxpy: maximize the dual over β, with the support function of the weights."""
    n = Ks.shape[1]
    roots = [np.linalg.cholesky(K + 1e-11 * np.trace(K) / n * np.eye(n)) for K in Ks]
    if isinstance(loss, JointHinge):
        k = loss.n_classes
        alpha = cvxpy.Variable((n, k), nonneg=True)
        own = np.eye(k)[loss.codes]
        B = cvxpy.multiply(own, cvxpy.sum(alpha, axis=1, keepdims=True) @ np.ones((1, k))) - alpha
        reward = cvxpy.sum(cvxpy.multiply(loss.margins, alpha))
        constraints = [
            alpha <= np.broadcast_to(loss.upper[:, None], (n, k)), cvxpy.multiply(alpha, own) == 0.0,
            cvxpy.sum(B, axis=0) == 0.0,
        ]  # fmt: skip
        q = [cvxpy.sum_squares(root.T @ B) for root in roots]
    else:
        beta = cvxpy.Variable(n)
        reward = loss.target @ beta - loss.epsilon * cvxpy.norm1(beta)
        reward -= 0.5 * cvxpy.sum(cvxpy.multiply(loss.shift, cvxpy.square(beta)))
        bounds = [(loss.lower, 1.0), (loss.upper, -1.0)]
        constraints = [cvxpy.sum(beta) == loss.total]
        for bound, sign in bounds:
            finite = np.flatnonzero(np.isfinite(bound))
            if finite.size:
                constraints.append(sign * (beta[finite] - bound[finite]) >= 0.0)
        q = [cvxpy.sum_squares(root.T @ beta) for root in roots]
    t = cvxpy.Variable(len(Ks), nonneg=True)
    conjugate = np.inf if p == 1.0 else (1.0 if np.isinf(p) else p / (p - 1.0))
    program = cvxpy.Problem(
        cvxpy.Maximize(reward - 0.5 * cvxpy.pnorm(t, conjugate)),
        [*constraints, *(q[m] <= t[m] for m in range(len(Ks)))],
    )
    program.solve(solver="CLARABEL")
    return program.value


# ---------------------------------------------------------------------- against another solver
@pytest.mark.parametrize("p", (1.0, 1.5, 2.0, np.inf))
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("low", [(), (0, 1)], ids=["dense", "factors"])
def test_the_value_is_that_of_cvxpy(kind, p, low):
    X, target = make_table()
    Ks, loss = make_kernels(X), make_loss(kind, target)
    found = solve(Ks, [loss], p, low)
    assert found.gap <= 1e-8
    assert found.upper == pytest.approx(dual_optimum(Ks, loss, p), rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_the_bounds_are_those_of_the_definition(kind):
    """Recomputed from weights, duals and functions: nothing of the method is used."""
    X, target = make_table(seed=3)
    Ks, loss = make_kernels(X), make_loss(kind, target)
    found = solve(Ks, [loss], 1.0, (0,), tol=1e-4)
    K = np.tensordot(found.mu, Ks, 1)
    beta = found.betas[0]
    q = np.einsum("nd,mnk,kd->m", beta, Ks, beta)
    assert abs(found.mu.sum() - 1.0) < 1e-6 and (found.mu >= 0.0).all()
    if isinstance(loss, JointHinge):
        basis = class_basis(3)
        B = beta @ basis.T
        alpha = np.maximum(-B, 0.0)
        assert (alpha <= loss.upper[:, None] * (1 + 1e-9)).all() and np.abs(B.sum(axis=0)).max() < 1e-8
        reward, shifted = float((loss.margins * alpha).sum()), 0.0
        f = (K @ beta + found.intercepts[0]) @ basis.T
        short = loss.margins - (f[np.arange(N), loss.codes][:, None] - f)
        short[np.arange(N), loss.codes] = 0.0
        risk = float(loss.upper @ np.maximum(short, 0.0).sum(axis=1))
    else:
        flat = beta[:, 0]
        assert (flat >= loss.lower - 1e-9).all() and (flat <= loss.upper + 1e-9).all()
        assert flat.sum() == pytest.approx(loss.total, abs=1e-9)
        reward = float(loss.target @ flat) - loss.epsilon * float(np.abs(flat).sum())
        shifted, risk = float(loss.shift @ flat**2), loss.risk((K @ beta)[:, 0])[0]
    lower = reward - 0.5 * (q.max() + shifted)
    assert lower == pytest.approx(found.lower, rel=1e-9)
    upper = 0.5 * float(np.vdot(beta, K @ beta)) + risk
    assert upper - lower <= 1.5e-4 * abs(upper) + 1e-9


@settings(max_examples=25, deadline=None)
@given(
    st.sampled_from(KINDS), st.sampled_from([1.0, 1.5, 2.0]), st.integers(6, 40), st.integers(0, 10**6),
    st.sampled_from([1e-3, 1.0, 1e3]), st.booleans(),
)  # fmt: skip
def test_every_problem_ends_certified(kind, p, n, seed, C, low):
    X, target = make_table(n, 3, seed)
    found = solve(make_kernels(X), [make_loss(kind, target, C)], p, (0, 1) if low else (), tol=1e-6)
    assert -1e-7 <= found.gap <= 1e-5


def test_tasks_share_their_weights():
    X, target = make_table(seed=5)
    Ks = make_kernels(X)
    losses = [make_loss("hinge", target), make_loss("hinge", -target + X[:, 2])]
    found = solve(Ks, losses, 1.0, (1,))
    by_smo = learn_weights(np.ascontiguousarray(Ks), losses, options=Options(tol=1e-8))
    assert found.upper == pytest.approx(by_smo.upper_bound, rel=1e-6)
    np.testing.assert_allclose(found.mu, by_smo.weights, atol=1e-3)


def test_fixed_parts_of_the_weights_count():
    X, target = make_table(seed=6)
    Ks, loss = make_kernels(X), make_loss("hinge", target)
    floor = np.array([0.3, 0.0, 0.0])
    kernels = Kernels(Ks, np.ones(3), {0: pivoted_factor(Ks[0])})
    found = InteriorPoint(kernels, [loss], LpBall(1.0), floor).run(1e-8)
    joined = np.stack([0.3 * Ks[0] + K for K in Ks])
    assert found.upper == pytest.approx(dual_optimum(joined, loss, 1.0), rel=1e-5)


# ---------------------------------------------------------------------- where nothing else works
def raw_table(n=300, seed=0):
    """Columns of very different sizes, as tables have them."""
    rng = np.random.default_rng(seed)
    X = rng.gamma(2.0, 1.0, size=(n, 6)) * np.array([1.0, 30.0, 20.0, 80.0, 0.3, 500.0])
    return X, X[:, 1] + X[:, 3] / 3.0 + 20.0 * rng.normal(size=n)


def raw_kernels(X):
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    squares = ((Z[:, None] - Z[None]) ** 2).sum(axis=2)
    return {
        "linear": X @ X.T,
        "quadratic": (X @ X.T + 1.0) ** 2,
        "cubic": (X @ X.T + 1.0) ** 3,
        "gaussian": np.exp(-squares / 6.0),
    }


def judged_gap(Ks, loss, result, p):
    """The gap of a result; factors stand for the kernels that predict by them."""
    q, scores, norm2 = [], np.zeros(Ks.shape[1]), 0.0
    beta = result.duals[0]
    for m, K in enumerate(Ks):
        part = result.factors.get(m)
        if part is None:
            scores += result.weights[m] * K @ beta
            q.append(float(beta @ K @ beta))
            norm2 += result.weights[m] * q[m]
        else:
            L = features(K[:, part.factor.pivots], part.factor.root)
            np.testing.assert_allclose(L @ L.T, K, atol=1e-10 * K.max())
            scores += L @ part.coef[0]
            q.append(float(((L.T @ beta) ** 2).sum()))
            norm2 += float(part.coef[0] @ part.coef[0]) / result.weights[m]
    reward = float(loss.target @ beta) - loss.epsilon * float(np.abs(beta).sum())
    support = np.max(q) if p == 1.0 else (np.sum(q) if np.isinf(p) else np.linalg.norm(q, p / (p - 1.0)))
    lower = reward - 0.5 * (support + float(loss.shift @ beta**2))
    upper = 0.5 * norm2 + loss.risk(scores)[0]
    return (upper - lower) / abs(upper)


@pytest.mark.parametrize("C", (1.0, 1e3, 1e6))
@pytest.mark.parametrize("p", (1.0, 2.0, np.inf))
@pytest.mark.parametrize("kind", ("hinge", "squared_hinge", "epsilon"))
@pytest.mark.parametrize("names", (("quadratic",), ("cubic",), ("linear", "quadratic", "gaussian")))
def test_raw_kernels_are_solved_and_certified_from_outside(names, kind, p, C):
    X, target = raw_table()
    kernels = raw_kernels(X)
    Ks = np.ascontiguousarray(np.stack([kernels[name] for name in names]))
    loss = make_loss(kind, target, C)
    result = learn_weights(Ks, [loss], norm=p, options=Options(tol=1e-3))
    assert result.status == Status.OPTIMAL
    assert -1e-6 <= judged_gap(Ks, loss, result, p) <= 1.1e-3


@pytest.mark.parametrize("names", (("quadratic",), ("linear", "quadratic")))
def test_many_rows_need_kernels_of_low_rank_only(monkeypatch, names):
    monkeypatch.setattr(second, "MOST_DENSE", 100)  # as if 300 rows were too many for a dense factorization
    X, target = raw_table()
    Ks = np.ascontiguousarray(np.stack([raw_kernels(X)[name] for name in names]))
    loss = make_loss("hinge", target, 1e3)
    result = learn_weights(Ks, [loss], options=Options(tol=1e-3))
    assert result.status == Status.OPTIMAL and result.factors
    assert -1e-6 <= judged_gap(Ks, loss, result, 1.0) <= 1.1e-3


def test_many_rows_and_a_kernel_of_full_rank_stay_with_smo(monkeypatch):
    monkeypatch.setattr(second, "MOST_DENSE", 100)
    X, target = raw_table()
    kernels = raw_kernels(X / X.std(axis=0))
    Ks = np.ascontiguousarray(np.stack([kernels["linear"], kernels["gaussian"]]))
    loss = make_loss("hinge", target, 1.0)
    monkeypatch.setattr(second, "solve", None)
    result = learn_weights(Ks, [loss], options=Options(tol=1e-3))
    assert result.status == Status.OPTIMAL and not result.factors
    assert -1e-6 <= judged_gap(Ks, loss, result, 1.0) <= 1.1e-3


def test_an_indefinite_kernel_has_no_factor_and_is_still_found_out():
    X, target = raw_table(n=60)
    K = raw_kernels(X)["quadratic"]
    K = K - 1e-3 * np.trace(K) * np.eye(60) / 60
    result = learn_weights(np.ascontiguousarray(K[None]), [make_loss("hinge", target, 1e3)])
    assert result.suspicious or result.status == Status.INDEFINITE


@pytest.mark.parametrize("rank", (0, 1, 7))
def test_factors_are_those_of_the_kernel(rank):
    rng = np.random.default_rng(rank)
    Z = rng.normal(size=(30, rank)) * 10.0 ** -np.arange(rank)
    factor = pivoted_factor(Z @ Z.T)
    assert factor.pivots.size == rank
    np.testing.assert_allclose(factor.L @ factor.L.T, Z @ Z.T, atol=1e-12)
    np.testing.assert_array_equal(features((Z @ Z.T)[:, factor.pivots], factor.root), factor.L)


def steps_of(Ks, loss):
    """The number of steps to a gap of 1e-5, on the sum of the kernels."""
    kernels, gaps = Kernels(Ks, np.ones(len(Ks)), {}), []
    found = InteriorPoint(kernels, [loss], LpBall(np.inf)).run(1e-5, lambda best: bool(gaps.append(best.gap)))
    assert found.gap <= 1e-5
    return len(gaps)


def test_a_bound_that_no_dual_variable_reaches_costs_few_steps_for_each_power_of_ten():
    X, target = make_table()
    few, many = (steps_of(make_kernels(X)[2:], make_loss("hinge", target, C)) for C in (1e3, 1e12))
    assert many <= few + 24  # each step takes a constant factor of the duals: 1e9 is some 20 steps

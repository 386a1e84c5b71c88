"""Smooth losses in the interior-point method, against scikit-learn, cvxpy and finite differences."""

from dataclasses import dataclass, replace

import cvxpy as cp
import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from multikernel.core.optim.loop import Options, Status
from multikernel.core.svm import interior_point
from multikernel.core.svm.smooth import DenseCurvature, Logistic, SmoothLoss
from multikernel.core.weights.learn import learn_weights

TOL = 1e-7


@dataclass(frozen=True)
class PartialLikelihood(SmoothLoss):
    """C Σ_events [log Σ_{j still at risk} exp u_j − u_i]: a loss that is no sum over the samples."""

    times: np.ndarray
    events: np.ndarray
    C: float
    has_intercept = False

    @property
    def n(self):
        return self.times.size

    @property
    def largest_dual(self):
        return self.C * float(np.count_nonzero(self.events))

    def _shares(self, u):
        """p (n_events, n), the softmax of the scores over the risk set of each event."""
        at_risk = self.times[None] >= self.times[self.events, None]
        weights = np.where(at_risk, np.exp(u - u.max()), 0.0)
        return weights / weights.sum(axis=1, keepdims=True)

    def value(self, u):
        at_risk = self.times[None] >= self.times[self.events, None]
        logs = np.log(np.where(at_risk, np.exp(u - u.max()), 0.0).sum(axis=1)) + u.max()
        return self.C * float((logs - u[self.events]).sum())

    def gradient(self, u):
        return self.C * (self._shares(u).sum(axis=0) - self.events)

    def curvature(self, u):
        p = self._shares(u)
        sizes, vectors = np.linalg.eigh(self.C * (np.diag(p.sum(axis=0)) - p.T @ p))
        return DenseCurvature(vectors * np.sqrt(np.maximum(sizes, 0.0)))

    def rescaled(self, kernel_scale, target_scale):
        return replace(self, C=self.C * kernel_scale)


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(40, 5))
    y = np.where(X[:, 0] + 0.7 * X[:, 3] + 0.6 * rng.normal(size=40) > 0.2, 1.0, -1.0)
    times = np.round(rng.exponential(np.exp(-X[:, 0] + 0.5 * X[:, 4])), 2) + 0.01
    return X, y, times, rng.random(40) < 0.7


def views(X):
    """Three groups of columns, whose explicit features are the columns."""
    return [X[:, :2], X[:, 2:4], X[:, 4:]]


def stack(X):
    return np.stack([Z @ Z.T for Z in views(X)])


def losses(problem, C):
    _, y, times, events = problem
    return {"logistic": Logistic(y, C), "partial likelihood": PartialLikelihood(times, events, C)}


@pytest.mark.parametrize("name", ["logistic", "partial likelihood"])
def test_derivatives_are_those_of_the_value(problem, name):
    loss = losses(problem, 2.5)[name]
    u = np.random.default_rng(0).normal(size=loss.n)
    step, axes = 1e-5, np.eye(loss.n)
    slopes = [(loss.value(u + step * e) - loss.value(u - step * e)) / (2 * step) for e in axes]
    np.testing.assert_allclose(loss.gradient(u), slopes, atol=1e-8)
    bends = [(loss.gradient(u + step * e) - loss.gradient(u - step * e)) / (2 * step) for e in axes]
    np.testing.assert_allclose(loss.curvature(u).product(axes), bends, atol=1e-8)


@pytest.mark.parametrize("scores", [0.0, 30.0, -900.0])
def test_best_intercept_balances_the_slopes(problem, scores):
    loss = Logistic(problem[1], np.linspace(0.1, 5.0, 40))
    u = scores + np.random.default_rng(1).normal(size=40)
    slopes = loss.gradient(u + loss.best_intercept(u))
    assert abs(slopes.sum()) <= 1e-12 * np.abs(slopes).sum()


def outside_bounds(Ks, loss, result, norm):
    """Both bounds from weights, coefficients and intercept alone, at the scores of the result."""
    forms = np.array([result.duals[0] @ K @ result.duals[0] for K in Ks])
    f = np.einsum("m,mij,j->i", result.weights, Ks, result.duals[0])
    u = f + result.intercepts[0]
    upper = 0.5 * result.weights @ forms + loss.value(u)
    dual = -loss.gradient(u)
    if loss.has_intercept:
        assert abs(dual.sum()) <= 1e-9 * np.abs(dual).sum()
    q = np.array([dual @ K @ dual for K in Ks])
    support = q.sum() if np.isinf(norm) else np.linalg.norm(q, np.inf if norm == 1 else norm / (norm - 1))
    return upper, loss.value(u) + dual @ u - 0.5 * support


@pytest.mark.parametrize("name", ["logistic", "partial likelihood"])
@pytest.mark.parametrize("norm", [1.0, 1.5, 2.0, np.inf])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_certificate_holds_from_outside(problem, name, norm, C):
    Ks = stack(problem[0])
    distances = np.square(problem[0][:, None] - problem[0][None]).sum(axis=2)
    Ks = np.concatenate([Ks, np.exp(-0.2 * distances)[None]])  # one of full rank
    loss = losses(problem, C)[name]
    result = learn_weights(Ks, [loss], norm=norm, options=Options(tol=TOL))
    assert result.status == Status.OPTIMAL and not result.factors
    upper, lower = outside_bounds(Ks, loss, result, norm)
    assert upper == pytest.approx(result.upper_bound, rel=1e-9)
    assert -1e-9 * upper <= upper - lower <= 1.01 * TOL * upper
    if np.isfinite(norm):
        assert np.linalg.norm(result.weights, norm) == pytest.approx(1.0)


def test_one_linear_kernel_is_logistic_regression(problem):
    X, y, *_ = problem
    result = learn_weights((X @ X.T)[None], [Logistic(y, 0.7)], options=Options(tol=1e-10))
    peer = LogisticRegression(C=0.7, tol=1e-10, max_iter=10**4).fit(X, y)
    np.testing.assert_allclose(X.T @ result.duals[0], peer.coef_[0], atol=1e-5)
    assert result.intercepts[0] == pytest.approx(peer.intercept_[0], abs=1e-5)


@pytest.mark.parametrize("name", ["logistic", "partial likelihood"])
@pytest.mark.parametrize("norm", [1.0, 2.0])
def test_value_and_weights_are_those_of_the_definition(problem, name, norm):
    X, y, times, events = problem
    C = 1.3
    parts = [cp.Variable(Z.shape[1]) for Z in views(X)]
    f = sum(Z @ w for Z, w in zip(views(X), parts, strict=True))
    if name == "logistic":
        risk = C * cp.sum(cp.logistic(cp.multiply(-y, f + cp.Variable())))
    else:
        risk = C * sum(
            cp.log_sum_exp(f[np.flatnonzero(times >= times[i])]) - f[i] for i in np.flatnonzero(events)
        )
    r = 2 * norm / (norm + 1.0)  # min over the weights of Σ ‖w_m‖²/μ_m
    sizes = cp.hstack([cp.norm(w) for w in parts])
    value = cp.Problem(cp.Minimize(0.5 * cp.square(cp.pnorm(sizes, r)) + risk)).solve(solver="CLARABEL")
    result = learn_weights(stack(X), [losses(problem, C)[name]], norm=norm, options=Options(tol=1e-9))
    assert result.upper_bound == pytest.approx(value, rel=1e-6)
    norms = np.array([np.linalg.norm(w.value) for w in parts])
    expected = norms ** (2.0 / (norm + 1.0))
    expected /= np.linalg.norm(expected, norm)
    np.testing.assert_allclose(result.weights, expected, atol=2e-4)


def test_functions_beyond_precision_are_held_by_factors():
    """A raw cubic kernel and C = 1e4: dual variables cannot hold the function, factors do."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(150, 3)) * [1.0, 20.0, 300.0]
    y = np.where(X[:, 0] + X[:, 1] / 20.0 + rng.normal(size=150) > 0.0, 1.0, -1.0)
    K = (1.0 + X @ X.T) ** 3
    result = learn_weights(K[None], [Logistic(y, 1e4)], options=Options(tol=1e-3))
    assert result.status == Status.OPTIMAL
    part = result.factors[0]
    u = part.factor.L @ part.coef[0] + result.intercepts[0]
    dual = -Logistic(y, 1e4).gradient(u)
    upper = 0.5 * part.coef[0] @ part.coef[0] + Logistic(y, 1e4).value(u)
    lower = Logistic(y, 1e4).value(u) + dual @ u - 0.5 * np.sum((part.factor.L.T @ dual) ** 2)
    assert upper - lower <= 1.01e-3 * upper


def test_several_tasks_share_their_weights(problem):
    X, y, *_ = problem
    other = np.where(X[:, 4] > 0.0, 1.0, -1.0)
    tasks = [Logistic(y, 1.0), Logistic(other, 1.0)]
    together = learn_weights(stack(X), tasks, norm=2.0, options=Options(tol=TOL))
    values = [
        learn_weights(
            np.tensordot(together.weights, stack(X), 1)[None], [task], norm=np.inf, options=Options(tol=TOL)
        ).objective
        for task in tasks
    ]
    assert together.objective == pytest.approx(sum(values), rel=1e-6)


@pytest.mark.parametrize("name", ["logistic", "partial likelihood"])
def test_many_samples_are_solved_by_conjugate_gradients(problem, name, monkeypatch):
    X = problem[0]
    Ks = np.stack([np.exp(-width * np.square(X[:, None] - X[None]).sum(axis=2)) for width in (0.1, 1.0)])
    loss = losses(problem, 2.0)[name]
    expected = learn_weights(Ks, [loss], options=Options(tol=TOL))
    monkeypatch.setattr(interior_point, "MOST_DENSE", 30)
    found = learn_weights(Ks, [loss], options=Options(tol=TOL))
    assert found.status == Status.OPTIMAL and found.n_iter <= expected.n_iter + 5
    assert found.upper_bound == pytest.approx(expected.upper_bound, rel=2 * TOL)
    upper, lower = outside_bounds(Ks, loss, found, 1.0)
    assert upper - lower <= 1.01 * TOL * upper

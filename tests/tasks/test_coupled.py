"""Weights of several tasks: against cvxpy on the definition, and certificates recomputed from the duals."""

import cvxpy as cp
import numpy as np
import pytest

from multikernel.core.optim.loop import Options
from multikernel.core.svm.losses import EpsilonInsensitive, Hinge, SquaredError, SquaredHinge
from multikernel.core.weights.learn import learn_weights
from multikernel.tasks.solver.coupled import TaskProblem, best_weights, learn_task_weights, mixed_norm

M, C = 4, 2.0
SIZES = (14, 18, 22)


def make_tasks(kind, seed=0):
    rng = np.random.default_rng(seed)
    Ks, targets = [], []
    for t, n in enumerate(SIZES):
        X = rng.normal(size=(M, n, 2))
        K = np.exp(-((X[:, :, None] - X[:, None]) ** 2).sum(axis=3) / 2.0)
        score = X[0, :, 0] + X[1 + t % 2, :, 1] + 0.2 * rng.normal(size=n)
        Ks.append(K)
        targets.append(score if kind in ("squared", "epsilon") else np.where(score > 0.0, 1.0, -1.0))
    return Ks, targets


def losses_of(kind, y):
    prices = np.full(y.size, C)
    return {
        "hinge": lambda: [Hinge(y, prices)],
        "squared hinge": lambda: [SquaredHinge(y, prices)],
        "squared": lambda: [SquaredError(y, 1.0 / prices, True)],
        "epsilon": lambda: [EpsilonInsensitive(y, prices, 0.1)],
    }[kind]()


def risk(kind, y, scores):
    if kind == "hinge":
        return C * cp.sum(cp.pos(1 - cp.multiply(y, scores)))
    if kind == "squared hinge":
        return 0.5 * C * cp.sum_squares(cp.pos(1 - cp.multiply(y, scores)))
    if kind == "squared":
        return 0.5 * C * cp.sum_squares(y - scores)
    return C * cp.sum(cp.pos(cp.abs(y - scores) - 0.1))


def by_definition(kind, Ks, targets, p, q, costs):
    """The optimal value and weights of the problem, written out with explicit features."""
    T = len(Ks)
    nu = cp.Variable((T, M), nonneg=True)
    value = 0
    for t, (K, y) in enumerate(zip(Ks, targets, strict=True)):
        scores = cp.Variable()
        total = scores * np.ones(y.size)
        for m in range(M):
            Z = np.linalg.cholesky(K[m] / costs[m] ** 2 + 1e-9 * np.eye(y.size))
            v = cp.Variable(y.size)
            total = total + Z @ v
            value += 0.5 * cp.quad_over_lin(v, nu[t, m])
        value += risk(kind, y, total)
    inner = [cp.norm(nu[:, m], np.inf if np.isinf(q) else q) for m in range(M)]
    radius = 1.0 if np.isinf(q) else T ** (1.0 / q)
    problem = cp.Problem(cp.Minimize(value), [cp.norm(cp.hstack(inner), p) <= radius])
    problem.solve(solver=cp.CLARABEL)
    return problem.value, nu.value


@pytest.mark.parametrize(
    ("kind", "p", "q"),
    [
        ("hinge", 1.0, 2.0),
        ("hinge", 1.0, 1.0),
        ("hinge", 2.0, np.inf),
        ("squared hinge", 1.0, np.inf),
        ("squared", 1.0, 2.0),
        ("squared", 2.0, 3.0),
        ("epsilon", 1.0, 2.0),
        ("epsilon", np.inf, 2.0),
    ],
)
def test_value_and_weights_are_those_of_the_definition(kind, p, q):
    Ks, targets = make_tasks(kind)
    costs = np.array([1.0, 1.2, 0.9, 1.0])
    problems = [TaskProblem(K, losses_of(kind, y)) for K, y in zip(Ks, targets, strict=True)]
    found = learn_task_weights(
        problems, sharing=q, norm=p, costs=costs, options=Options(tol=1e-5, max_iter=1000)
    )
    value, weights = by_definition(kind, Ks, targets, p, q, costs)
    assert found[0].status == "optimal" and 0.0 <= found[0].gap <= 1e-5
    assert found[0].upper_bound == pytest.approx(value, rel=3e-5)
    learned = np.array([result.weights for result in found]) * costs**2
    assert learned == pytest.approx(weights, abs=0.02)


@pytest.mark.parametrize(("p", "q"), [(1.0, 1.0), (1.0, 2.0), (2.0, 3.0), (1.0, np.inf), (np.inf, 2.0)])
def test_the_certificate_holds_when_it_is_computed_from_outside(p, q):
    Ks, targets = make_tasks("hinge", seed=1)
    problems = [TaskProblem(K, losses_of("hinge", y)) for K, y in zip(Ks, targets, strict=True)]
    found = learn_task_weights(problems, sharing=q, norm=p, options=Options(tol=1e-3))
    upper = rewards = 0.0
    forms = np.empty((len(Ks), M))
    for t, (K, y, result) in enumerate(zip(Ks, targets, found, strict=True)):
        beta = result.duals[0]
        assert abs(beta.sum()) < 1e-9 and (y * beta >= -1e-12).all() and (y * beta <= C + 1e-12).all()
        forms[t] = [beta @ K_m @ beta for K_m in K]
        scores = np.tensordot(result.weights, K, 1) @ beta
        margins = y * (scores + result.intercepts[0])
        upper += 0.5 * beta @ scores + C * np.maximum(1.0 - margins, 0.0).sum()
        rewards += y @ beta
    radius = 1.0 if np.isinf(q) else len(Ks) ** (1.0 / q)
    dual = {1.0: np.inf, np.inf: 1.0}
    dual_q, dual_p = (dual.get(e) or e / (e - 1.0) for e in (q, p))
    inner = np.linalg.norm(forms, dual_q, axis=0)
    lower = rewards - 0.5 * radius * np.linalg.norm(inner, dual_p)
    assert upper == pytest.approx(found[0].upper_bound, rel=1e-6)
    assert lower <= found[0].lower_bound * (1 + 1e-9)  # that of the last duals, or of better ones before
    assert (upper - lower) / upper <= 3e-3


def test_equal_tasks_are_one_task():
    Ks, targets = make_tasks("hinge", seed=2)
    alone = learn_weights(Ks[0], losses_of("hinge", targets[0]), options=Options(tol=1e-6))
    for q in (1.0, 2.0, np.inf):
        problems = [TaskProblem(Ks[0], losses_of("hinge", targets[0]))] * 3
        found = learn_task_weights(problems, sharing=q, options=Options(tol=1e-6, max_iter=1000))
        assert found[0].upper_bound == pytest.approx(3.0 * alone.upper_bound, rel=1e-5)
        assert np.array([r.weights for r in found]) == pytest.approx(np.tile(alone.weights, (3, 1)), abs=5e-3)


@pytest.mark.parametrize(("p", "q"), [(1.0, 1.0), (1.0, 2.0), (2.0, 1.5), (3.0, np.inf), (np.inf, 2.0)])
def test_the_closed_form_is_the_minimum(p, q):
    rng = np.random.default_rng(3)
    norms = rng.uniform(0.1, 3.0, size=(3, 5))
    best = best_weights(norms, p, q)
    radius = 1.0 if np.isinf(q) else 3 ** (1.0 / q)
    assert mixed_norm(best, q, p) == pytest.approx(radius)
    for _ in range(200):
        other = best * np.exp(0.3 * rng.normal(size=best.shape))
        other *= radius / mixed_norm(other, q, p)
        assert (norms / best).sum() <= (norms / other).sum() * (1 + 1e-12)


def test_kernels_without_weight_have_none():
    Ks, targets = make_tasks("hinge", seed=4)
    Ks = [np.concatenate([K, 1e-3 * K[:2]]) for K in Ks]
    problems = [TaskProblem(K, losses_of("hinge", y)) for K, y in zip(Ks, targets, strict=True)]
    found = learn_task_weights(problems, options=Options(tol=1e-3))
    assert all((result.weights[M:] == 0.0).all() for result in found)
    assert found[0].history[-1]["n_active"] == np.count_nonzero(found[0].weights) <= M

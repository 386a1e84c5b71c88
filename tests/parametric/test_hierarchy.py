"""Hierarchical kernel learning against cvxpy on all sets, its norm written out; its bound by brute force."""

from itertools import combinations

import cvxpy as cp
import numpy as np
import pytest

from multikernel.core.optim.loop import Options, Status
from multikernel.core.svm.losses import EpsilonInsensitive, Hinge, SquaredError, SquaredHinge
from multikernel.core.weights.learn import learn_weights
from multikernel.parametric.solver import hierarchy
from multikernel.parametric.solver.hierarchy import Hierarchy, learn_hierarchy, sources

N = 24


def make_problem(seed=0, n_variables=4, degree=3, growth=1.5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, n_variables))
    H = np.eye(N) - 1.0 / N
    Ks = []
    for x in X.T:
        K = H @ np.exp(-((x[:, None] - x) ** 2)) @ H
        Ks.append(N * K / np.trace(K))
    values = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=N)
    return Hierarchy(np.array(Ks), degree, growth), values - np.median(values), np.linspace(0.5, 2.0, N)


def all_sets(problem):
    p = len(problem.Ks)
    return [node for size in range(1, problem.degree + 1) for node in combinations(range(p), size)]


def product(problem, node):
    K = np.ones((N, N))
    for i in node:
        K = K * problem.Ks[i]
    return K


def root(K):
    sizes, vectors = np.linalg.eigh(K)
    kept = sizes > 1e-9 * sizes[-1]
    return vectors[:, kept] * np.sqrt(sizes[kept])


def the_loss(name, y, prices):
    signs = np.sign(y)
    return {
        "squared": SquaredError(y, 1.0 / prices),
        "hinge": Hinge(signs, prices),
        "squared_hinge": SquaredHinge(signs, prices),
        "epsilon": EpsilonInsensitive(y, prices, 0.1),
    }[name]


def value_of_all_sets(problem, name, y, prices):
    """The problem as stated: a function of each set, a norm for each set with those that contain it."""
    nodes = all_sets(problem)
    roots = [root(product(problem, node)) for node in nodes]
    parts = [cp.Variable(Z.shape[1]) for Z in roots]
    b = cp.Variable()
    scores = sum(Z @ part for Z, part in zip(roots, parts, strict=True)) + b
    norm = sum(
        problem.growth ** (len(v) - 1)
        * cp.norm(cp.hstack([part for w, part in zip(nodes, parts, strict=True) if set(v) <= set(w)]))
        for v in nodes
    )
    signs = np.sign(y)
    losses = {
        "squared": 0.5 * cp.sum(cp.multiply(prices, cp.square(y - scores))),
        "hinge": prices @ cp.pos(1 - cp.multiply(signs, scores)),
        "squared_hinge": 0.5 * prices @ cp.square(cp.pos(1 - cp.multiply(signs, scores))),
        "epsilon": prices @ cp.pos(cp.abs(y - scores) - 0.1),
    }
    statement = cp.Problem(cp.Minimize(0.5 * cp.square(norm) + losses[name]))
    statement.solve(solver=cp.CLARABEL, tol_gap_rel=1e-7, tol_gap_abs=1e-7, tol_feas=1e-7)
    assert statement.status == "optimal"
    return statement.value


@pytest.mark.parametrize(
    ("name", "degree", "growth"),
    [
        ("squared", 2, 1.5),
        ("hinge", 3, 2.0),
        *(
            pytest.param(*case, marks=pytest.mark.thorough)
            for case in [
                ("squared", 4, 1.0),
                ("squared_hinge", 3, 1.2),
                ("epsilon", 2, 2.0),
                ("hinge", 1, 2.0),
            ]
        ),
    ],
)
def test_the_value_is_that_of_all_sets_with_the_norm_written_out(name, degree, growth):
    problem, y, prices = make_problem(degree=degree, growth=growth)
    result, nodes = learn_hierarchy(problem, [the_loss(name, y, prices)], Options(tol=1e-4))
    assert result.status == Status.OPTIMAL and result.gap <= 1e-4
    value = value_of_all_sets(problem, name, y, prices)
    assert result.lower_bound <= value * (1 + 1e-6)
    assert value <= result.upper_bound * (1 + 1e-6)
    assert all(len(node) <= degree for node in nodes)


def test_the_lower_bound_holds_for_all_sets():
    """Ω of the duals is a linear program over second-order cones: the bound is no better than that."""
    problem, y, prices = make_problem(seed=1, growth=1.0)
    for tol, rounds in ((1e-3, 100), (1e-9, 1)):
        options = Options(tol=tol, max_iter=rounds)
        result, _ = learn_hierarchy(problem, [SquaredError(y, 1.0 / prices)], options)
        beta = result.duals[0]
        nodes = all_sets(problem)
        sizes = np.sqrt([max(beta @ product(problem, node) @ beta, 0.0) for node in nodes])
        a = cp.Variable(len(nodes), nonneg=True)
        norm = sum(
            problem.growth ** (len(v) - 1)
            * cp.norm(cp.hstack([a[k] for k, w in enumerate(nodes) if set(v) <= set(w)]))
            for v in nodes
        )
        statement = cp.Problem(cp.Maximize(sizes @ a), [norm <= 1])
        statement.solve(solver=cp.CLARABEL)
        lower = y @ beta - 0.5 * (statement.value**2 + beta @ (beta / prices))
        assert result.lower_bound <= lower + 1e-6 * abs(lower)


@pytest.mark.parametrize("degree", [1, 2, 3, 5])
def test_bounds_of_sources_are_sums_over_all_that_contain_them(degree):
    problem, y, _ = make_problem(n_variables=5, degree=degree, growth=1.7)
    W = np.outer(y, y)
    nodes = all_sets(problem)
    for t in [node for node in nodes if len(node) <= 2]:
        own, bound = problem.forms_of(t, W)
        total = 0.0
        for w in nodes:
            if set(t) <= set(w):
                between = [v for v in nodes if set(t) <= set(v) <= set(w)]
                total += y @ product(problem, w) @ y / sum(1.7 ** (len(v) - 1) for v in between) ** 2
        assert bound == pytest.approx(total, rel=1e-10)
        assert own == pytest.approx(y @ product(problem, t) @ y / 1.7 ** (2 * len(t) - 2), rel=1e-10)


@pytest.mark.parametrize("degree", [1, 2, 3, 4])
def test_bounds_of_many_sources_are_those_of_each(degree):
    problem, y, _ = make_problem(n_variables=5, degree=degree, growth=1.7)
    nodes = [node for node in all_sets(problem) if len(node) <= 3]
    W = np.outer(y, y)
    forms, bounds = problem.bounds_of(nodes, W)
    each = np.array([problem.forms_of(node, W) for node in nodes])
    np.testing.assert_allclose(forms, each[:, 0], rtol=1e-10)
    np.testing.assert_allclose(bounds, each[:, 1], rtol=1e-10)


def test_sources_that_are_not_reached_in_time_bound_nothing(monkeypatch):
    problem, y, prices = make_problem(n_variables=5, degree=2, growth=1.7)
    monkeypatch.setattr(hierarchy, "is_over", lambda: True)
    result, _ = learn_hierarchy(problem, [SquaredError(y, 1.0 / prices)], Options(tol=1e-6, max_iter=1))
    assert result.lower_bound == 0.0 and result.gap == pytest.approx(1.0)


def test_sources_are_the_sets_whose_parts_are_active():
    rng = np.random.default_rng(0)
    every = [node for size in range(1, 5) for node in combinations(range(5), size)]
    for _ in range(20):
        top = [every[k] for k in rng.integers(len(every), size=3)]
        active = [node for node in every if any(set(node) <= set(big) for big in top)]
        expected = {
            node
            for node in every
            if node not in active
            and all(part in active for size in range(1, len(node)) for part in combinations(node, size))
        }
        assert set(sources(active, 5, 4)) == expected


def test_single_variables_are_learned_as_by_the_weight_learner():
    problem, y, prices = make_problem(degree=1)
    loss = SquaredHinge(np.sign(y), prices)
    result, _ = learn_hierarchy(problem, [loss], Options(tol=1e-6))
    plain = learn_weights(problem.Ks, [loss], options=Options(tol=1e-6))
    assert result.lower_bound <= plain.upper_bound and plain.lower_bound <= result.upper_bound


def test_an_interaction_weighs_no_more_than_its_parts():
    problem, y, prices = make_problem(seed=2, degree=4, growth=1.0)
    losses = [SquaredError(y, 1.0 / prices), SquaredError(y[::-1].copy(), 1.0 / prices)]
    result, nodes = learn_hierarchy(problem, losses, Options(tol=1e-3))
    weights = dict(zip(nodes, result.weights, strict=True))
    assert result.status == Status.OPTIMAL and max(map(len, nodes)) >= 2
    for node in nodes:
        for part in combinations(node, len(node) - 1):
            assert not part or weights[node] <= weights[part] * (1 + 1e-12)


def test_no_more_sets_come_in_than_there_is_memory_for(monkeypatch):
    problem, y, prices = make_problem(n_variables=8, degree=3, growth=1.0)
    options, losses = Options(tol=1e-6, max_iter=40), [SquaredError(y, 0.01 / prices)]
    _, free = learn_hierarchy(problem, losses, options)
    monkeypatch.setattr(hierarchy, "available_memory", lambda: 20 * 8 * N * N)
    result, nodes = learn_hierarchy(problem, losses, options)
    assert len(nodes) <= 16 < len(free)
    assert result.status == Status.MAX_COLUMNS and result.gap > options.tol
    assert result.lower_bound <= result.objective

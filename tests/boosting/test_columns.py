"""Machines over columns of kernels: against the whole program in cvxpy, and greedy boosting written out."""

from itertools import product

import cvxpy as cp
import numpy as np
import pytest

from judges.optimum import conic_optimum
from multikernel.boosting.solver.columns import ChosenColumns, Columns, boost_columns
from multikernel.boosting.solver.generation import LinearMaster, QuadraticMaster, balanced, generate_columns
from multikernel.boosting.solver.path import ColumnPath, Quadratic, Slopes
from multikernel.core.optim.loop import Options, Status
from multikernel.core.svm.losses import EpsilonInsensitive, Hinge


def make(n=25, seed=0):
    """Three kernels, the last one indefinite, with ±1 and with values."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    squares = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    Ks = np.array([np.exp(-0.3 * squares), X @ X.T, np.tanh(1.0 + X @ X.T)])
    y = np.where(X[:, 0] ** 2 + X[:, 1] + 0.5 * rng.normal(size=n) > 0.7, 1.0, -1.0)
    return Ks, y, np.sin(2 * X[:, 0]) + X[:, 2] + 0.1 * rng.normal(size=n)


def all_columns(Ks, normalise):
    H = np.concatenate(list(Ks), axis=1).astype(float)
    return H / np.sqrt((H**2).mean(axis=0)) if normalise else H


def whole_program(H, loss, penalty):
    a, b = cp.Variable(H.shape[1]), cp.Variable()
    f = H @ a + b
    if isinstance(loss, Hinge):
        errors = cp.pos(1 - cp.multiply(loss.target, f))
    else:
        errors = cp.pos(cp.abs(loss.target - f) - loss.epsilon)
    size = cp.norm1(a) if penalty == "l1" else 0.5 * cp.sum_squares(a)
    problem = cp.Problem(cp.Minimize(size + cp.sum(cp.multiply(loss.C, errors))))
    return conic_optimum(problem)


def value_of(found, Ks, loss, penalty, normalise):
    """The value of a result, from its coefficients alone."""
    H = np.concatenate(list(Ks), axis=1)[:, found.numbers]
    a = found.coefficients * (np.sqrt((H**2).mean(axis=0)) if normalise else 1.0)
    f = H @ found.coefficients + found.intercept
    if isinstance(loss, Hinge):
        errors = np.maximum(1 - loss.target * f, 0.0)
    else:
        errors = np.maximum(np.abs(loss.target - f) - loss.epsilon, 0.0)
    return (np.abs(a).sum() if penalty == "l1" else 0.5 * a @ a) + (loss.C * errors).sum()


def loss_of(kind, y, values, prices):
    return Hinge(y, prices) if kind == "hinge" else EpsilonInsensitive(values, prices, 0.1)


CASES = list(enumerate(product(("l1", "l2"), (True, False), ("hinge", "epsilon"))))


@pytest.mark.parametrize(("seed", "case"), CASES)
def test_generation_solves_the_whole_program(seed, case):
    penalty, normalise, kind = case
    Ks, y, values = make(seed=seed)
    loss = loss_of(kind, y, values, np.random.default_rng(seed).uniform(0.2, 2.0, y.size))
    found = generate_columns(Columns(Ks, normalise), loss, penalty, options=Options(tol=1e-7))
    optimum = whole_program(all_columns(Ks, normalise), loss, penalty)
    assert found.status == Status.OPTIMAL
    assert found.objective == pytest.approx(optimum, rel=1e-6)
    assert value_of(found, Ks, loss, penalty, normalise) == pytest.approx(found.objective, rel=1e-9)
    assert found.lower_bound <= optimum * (1 + 1e-7)
    assert found.gap == pytest.approx((found.objective - found.lower_bound) / found.objective, abs=1e-12)
    assert all(np.diff([entry["objective"] for entry in found.history]) <= 1e-9 * optimum)


@pytest.mark.parametrize("penalty", ["l1", "l2"])
def test_every_bound_on_the_way_holds(penalty):
    Ks, y, _ = make(seed=3)
    loss = Hinge(y, 1.0)
    found = generate_columns(Columns(Ks, True), loss, penalty, options=Options(tol=1e-8))
    assert len(found.history) > 3
    for entry in found.history:
        assert entry["lower_bound"] <= found.objective * (1 + 1e-7)
        assert entry["objective"] >= found.lower_bound * (1 - 1e-7)
    short = generate_columns(Columns(Ks, True), loss, penalty, options=Options(tol=1e-8, max_iter=3))
    assert short.status == Status.MAX_ITER and short.n_iter == 3
    assert short.lower_bound <= found.objective <= short.objective


@pytest.mark.parametrize("kind", ["hinge", "epsilon"])
@pytest.mark.parametrize("master", [LinearMaster, QuadraticMaster])
def test_any_feasible_dual_bounds_the_whole_program(master, kind):
    Ks, y, values = make(15, seed=4)
    loss = loss_of(kind, y, values, 0.7)
    H = all_columns(Ks, True)
    optimum = whole_program(H, loss, "l1" if master is LinearMaster else "l2")
    rng = np.random.default_rng(0)
    bounds = []
    for _ in range(50):
        beta = balanced(loss.target * rng.uniform(-0.2, 1.5, y.size), loss)
        assert abs(beta.sum()) < 1e-12
        assert (beta >= loss.lower).all() and (beta <= loss.upper).all()
        bounds.append(master(loss).lower_bound(beta, H.T @ beta))
    assert 0.0 < max(bounds) <= optimum * (1 + 1e-9)


def test_few_columns_under_the_l1_penalty():
    Ks, y, _ = make(60, seed=1)
    found = generate_columns(Columns(Ks, True), Hinge(y, 0.1), "l1", options=Options(tol=1e-6))
    assert 0 < found.numbers.size < 20
    none = generate_columns(Columns(Ks, True), Hinge(y, 1e-4), "l1", options=Options(tol=1e-6))
    assert none.numbers.size == 0 and none.status == Status.OPTIMAL
    assert none.objective == pytest.approx(2e-4 * min((y > 0).sum(), (y < 0).sum()))


@pytest.mark.parametrize("penalty", ["l1", "l2"])
def test_a_limit_of_columns_is_kept_and_the_gap_says_what_is_lost(penalty):
    Ks, y, _ = make(40, seed=2)
    whole = generate_columns(Columns(Ks, True), Hinge(y, 1.0), penalty, options=Options(tol=1e-7))
    values = []
    for limit in (1, 2, 4):
        part = generate_columns(
            Columns(Ks, True), Hinge(y, 1.0), penalty, max_columns=limit, options=Options(tol=1e-7)
        )
        assert part.status == Status.MAX_COLUMNS and 0 < part.numbers.size <= limit
        assert part.objective >= whole.objective and part.lower_bound <= whole.objective
        values.append(part.objective)
    assert values[0] > values[1] > values[2]


def test_columns_without_a_coefficient_make_room():
    Ks, y, _ = make(60, seed=2)
    loss, options = Hinge(y, 0.3), Options(tol=1e-7)
    free = generate_columns(Columns(Ks, True), loss, "l1", options=options)
    limit = free.numbers.size + 1  # about what the optimum needs: the others have to go on the way
    found = generate_columns(Columns(Ks, True), loss, "l1", max_columns=limit, options=options)
    assert found.status == Status.OPTIMAL
    assert found.objective == pytest.approx(free.objective, rel=1e-6)


def plain_mark(H, y, c, rounds):
    """Greedy boosting with ridge regression, written out with dense algebra."""
    chosen, objective = [], []
    a, b = np.empty(0), c @ y / c.sum()
    derivatives = []
    for _ in range(rounds + 1):
        residual = y - b - H[:, chosen] @ a
        objective.append(0.5 * a @ a + 0.5 * (c * residual**2).sum())
        g = np.abs(H.T @ (c * residual))
        g[chosen] = 0.0
        derivatives.append(g.max())
        if len(chosen) == rounds:
            break
        chosen.append(int(g.argmax()))
        A = np.column_stack([H[:, chosen], np.ones(y.size)])
        ridge = np.diag([1.0] * len(chosen) + [0.0])
        solution = np.linalg.solve(A.T @ (c[:, None] * A) + ridge, A.T @ (c * y))
        a, b = solution[:-1], solution[-1]
    return chosen, a, b, objective, derivatives


@pytest.mark.parametrize("normalise", [True, False])
@pytest.mark.parametrize("kind", ["classification", "regression"])
def test_mark_is_greedy_boosting(kind, normalise):
    Ks, y, values = make(30, seed=5)
    y = y if kind == "classification" else 40.0 + values
    c = np.random.default_rng(1).uniform(0.2, 2.0, y.size)
    H = all_columns(Ks, normalise)
    chosen, a, b, objective, derivatives = plain_mark(H, y, c, 12)
    found = boost_columns(Columns(Ks, normalise), y, c, max_columns=12, options=Options())
    assert found.numbers.tolist() == chosen and found.status == Status.MAX_COLUMNS
    sizes = np.sqrt((np.concatenate(list(Ks), axis=1) ** 2).mean(axis=0))[chosen]
    np.testing.assert_allclose(found.coefficients * (sizes if normalise else 1.0), a, rtol=1e-8)
    np.testing.assert_allclose(found.sizes, np.abs(found.coefficients) * sizes, rtol=1e-12)
    assert found.intercept == pytest.approx(b, rel=1e-9)
    np.testing.assert_allclose([entry["objective"] for entry in found.history], objective, rtol=1e-9)
    assert found.gap == pytest.approx(derivatives[-1] / derivatives[0], rel=1e-7)
    assert all(np.diff(objective) < 0)


def test_mark_ends_where_no_derivative_is_left():
    Ks, y, _ = make(20, seed=6)
    found = boost_columns(Columns(Ks, True), y, np.full(20, 0.01), options=Options(tol=0.3))
    assert found.status == Status.OPTIMAL and found.gap <= 0.3 and 0 < found.numbers.size < 15
    constant = boost_columns(Columns(Ks, True), np.full(20, 0.1), np.ones(20), options=Options())
    assert constant.numbers.size == 0 and constant.intercept == pytest.approx(0.1)


@pytest.mark.parametrize("scale", [1e-6, 1e6])
@pytest.mark.parametrize("penalty", ["l1", "l2", "mark"])
def test_scales(penalty, scale):
    """Normalised columns know no scale; others give the same machine at a price that goes with them."""
    Ks, _, y = make(20, seed=7)
    power = 1 if penalty == "l1" else 2

    def solve(Ks, y, C, normalise, epsilon=0.1):
        columns = Columns(Ks, normalise)
        if penalty == "mark":
            return boost_columns(columns, y, np.full(y.size, C), max_columns=8, options=Options())
        loss = EpsilonInsensitive(y, C, epsilon)
        return generate_columns(columns, loss, penalty, options=Options(tol=1e-7))

    for normalise in (True, False):
        one = solve(Ks, y, 1.0, normalise)
        C = 1.0 if normalise else scale**-power
        other = solve(scale * Ks, y, C, normalise)
        factor = 1.0 if normalise else scale**-power
        assert other.objective == pytest.approx(factor * one.objective, rel=1e-6)
        assert other.status == one.status
    grows = {"l1": 1.0, "l2": 1.0 / scale, "mark": 1.0}[penalty]
    values = solve(Ks, y / scale, grows, True, 0.1 / scale)
    one = solve(Ks, y, 1.0, True)
    fall = scale if penalty == "l1" else scale**2
    assert values.objective * fall == pytest.approx(one.objective, rel=1e-6)
    assert values.intercept * scale == pytest.approx(one.intercept, rel=1e-3, abs=1e-3)


def test_columns_that_are_rounding_are_left_out():
    K = np.array([[1.0, 0.5, 1e-17], [0.5, 1.0, 0.0], [1e-17, 0.0, 0.0]])
    columns = Columns(K[None], normalize=True)
    assert columns.prices(np.array([1.0, 0.0, 0.0]))[2] == 0.0
    assert (columns.take(np.array([2])) == 0.0).all()
    np.testing.assert_allclose((columns.take(np.array([0, 1])) ** 2).mean(axis=0), 1.0)


def test_single_precision_and_untouched_input():
    Ks, y, _ = make(20, seed=9)
    single = Ks.astype(np.float32)
    single.flags.writeable = False
    one = generate_columns(Columns(Ks, True), Hinge(y, 1.0), "l1", options=Options())
    other = generate_columns(Columns(single, True), Hinge(y, 1.0), "l1", options=Options())
    assert other.objective == pytest.approx(one.objective, rel=1e-4)


def test_a_callback_stops():
    Ks, y, _ = make(30, seed=0)
    options = Options(tol=1e-9, callback=lambda entry: entry["iteration"] >= 2)
    for found in (
        generate_columns(Columns(Ks, True), Hinge(y, 1.0), "l1", options=options),
        boost_columns(Columns(Ks, True), y, np.ones(30), options=options),
    ):
        assert found.status == Status.INTERRUPTED and found.history[-1]["iteration"] == 2


@pytest.mark.parametrize("kind", ["hinge", "epsilon"])
@pytest.mark.parametrize("C", [1.0, 1e4])
def test_columns_of_very_different_size(kind, C):
    """What a large kernel gives nearly for nothing must not drown the others, nor any price be too high."""
    Ks, y, values = make(30, seed=1)
    Ks = Ks * np.array([1.0, 200.0, 1.0])[:, None, None]
    loss = loss_of(kind, y, values, C * np.random.default_rng(0).uniform(0.1, 10.0, y.size))
    for penalty in ("l1", "l2"):
        found = generate_columns(Columns(Ks, False), loss, penalty, options=Options(tol=1e-6))
        assert found.status == Status.OPTIMAL and found.gap <= 1e-6
        assert value_of(found, Ks, loss, penalty, False) == pytest.approx(found.objective, rel=1e-6)
        optimum = whole_program(all_columns(Ks, False), loss, penalty)
        assert found.objective == pytest.approx(optimum, rel=1e-5)


def test_equal_columns_are_used_once():
    """The optimum is not unique: a vertex is wanted, not the middle."""
    x = np.linspace(-1.0, 1.0, 30)
    y = np.where(x > 0.1, 1.0, -1.0)
    Ks = np.array([np.outer(x, x), np.outer(x, x)])
    found = generate_columns(Columns(Ks, True), Hinge(y, 1.0), "l1", options=Options())
    assert found.status == Status.OPTIMAL and found.numbers.size == 1


def test_a_path_that_leads_nowhere_gives_way_to_generation(monkeypatch):
    Ks, y, _ = make(seed=3)
    best = generate_columns(Columns(Ks, True), Hinge(y, 1.0), "l1", options=Options(tol=1e-7))
    monkeypatch.setattr("multikernel.boosting.solver.path._MAX_STEPS", 3)
    found = generate_columns(Columns(Ks, True), Hinge(y, 1.0), "l1", options=Options(tol=1e-7))
    assert found.status == Status.OPTIMAL and found.objective == pytest.approx(best.objective, rel=1e-6)
    rest = generate_columns(Columns(Ks, True), Hinge(y, 1.0), "l2", options=Options(tol=1e-7))
    assert rest.status == Status.STALLED and rest.gap > 1e-7


@pytest.mark.parametrize("term", [Slopes, Quadratic])
@pytest.mark.parametrize("seed", [4, 5])
def test_the_path_keeps_to_the_constraints(term, seed):
    """And comes near the end even where rounding leaves its matrix indefinite."""
    Ks, y, values = make(seed=seed)
    columns = Columns(Ks, True)
    for loss in (Hinge(y, 0.3), EpsilonInsensitive(values, 0.3, 0.1)):
        path = ColumnPath(loss, term(columns)).steps()
        points = []
        while not points or points[-1].gap > (1e-8 if term is Slopes else 1e-11):
            points.append(next(path))
        for point in points:
            assert abs(point.beta.sum()) < 1e-12
            assert (point.beta >= loss.lower).all() and (point.beta <= loss.upper).all()
            if term is Slopes:
                assert np.abs(columns.prices(point.beta)).max() < 1.0
        if term is Quadratic:
            np.testing.assert_allclose(points[-1].a, columns.prices(points[-1].beta), atol=1e-10)


def test_all_columns_and_some_have_the_same_operations():
    Ks, _, values = make(12, seed=6)
    d = np.random.default_rng(0).uniform(size=36)
    for normalise in (True, False):
        columns = Columns(Ks, normalise)
        some = ChosenColumns(columns.take(np.arange(36)))
        np.testing.assert_allclose(columns.prices(values), some.prices(values), atol=1e-12)
        np.testing.assert_allclose(columns.scores(d), some.scores(d), atol=1e-12)
        np.testing.assert_allclose(columns.gram(d), some.gram(d), atol=1e-12)
        np.testing.assert_allclose(columns.gram(), some.gram(), atol=1e-12)

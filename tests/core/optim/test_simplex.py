"""Over the simplex: the step of a quadratic model, and Newton's method on functions of known minimisers."""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from multikernel.core.optim.loop import Options, Status
from multikernel.core.optim.simplex import minimise_over_simplex, minimize_model, minimize_step


def problem(m, rank, seed, sparse):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(m, rank))
    x = rng.dirichlet(np.ones(m))
    if sparse and m > 1:
        x[rng.permutation(m)[: m // 2]] = 0.0
        x /= x.sum()
    return root @ root.T, rng.normal(size=m), x


@given(st.integers(1, 12), st.integers(1, 12), st.integers(0, 10**6), st.booleans())
def test_optimality(m, rank, seed, sparse):
    H, g, x = problem(m, rank, seed, sparse)
    z = minimize_step(H, g, x)
    assert z.min() >= 0.0 and z.sum() == pytest.approx(1.0, abs=1e-14)
    slope = g + H @ (z - x)
    size = np.abs(g).max() + np.abs(H).max()
    assert slope @ z - slope.min() <= 1e-9 * size


@pytest.mark.parametrize("seed", range(5))
def test_a_matrix_that_is_larger_than_the_slope_by_eight_digits(seed):
    """Along one direction; the others have to be as exact as without it."""
    H, g, x = problem(6, 6, seed, sparse=False)
    steep = np.random.default_rng(seed).normal(size=6)
    steep -= steep.mean()
    z = minimize_step(H + 1e8 * np.outer(steep, steep), g, x)
    assert abs(steep @ (z - x)) <= 1e-7
    slope = g + H @ (z - x)
    free = np.flatnonzero(z)
    frame = np.column_stack([np.ones(free.size), steep[free]])
    left = slope[free] - frame @ np.linalg.lstsq(frame, slope[free], rcond=None)[0]
    np.testing.assert_allclose(left, 0.0, atol=1e-6)


def test_a_matrix_that_is_larger_by_twelve_digits_where_it_does_not_matter():
    """Two members are tied; what makes the program definite must not move the others."""
    H = np.diag([0.0, 0.0, 1.0, 2.0, 3.0])
    steep = np.array([1.0, -1.0, 0.0, 0.0, 0.0])
    g, x = np.array([0.0, 0.0, 0.1, -0.1, 0.05]), np.full(5, 0.2)
    z = minimize_step(H + 1e12 * np.outer(steep, steep), g, x)
    slope = g + H @ (z - x)
    np.testing.assert_allclose(slope, slope[0], atol=1e-5)
    np.testing.assert_allclose(z[0], z[1], rtol=1e-10)


def test_nothing_is_modified_and_members_at_zero_may_come_in():
    x, g = np.array([1.0, 0.0, 0.0]), np.array([0.0, -1.0, 5.0])
    before = x.copy()
    np.testing.assert_allclose(minimize_step(np.eye(3), g, x), [0.5, 0.5, 0.0], atol=1e-12)
    np.testing.assert_array_equal(x, before)


def test_arrays_of_any_layout():
    H, g, x = problem(5, 5, 0, sparse=False)
    expected = minimize_step(H, g, x)
    for array in (H, g, x):
        array.flags.writeable = False
    np.testing.assert_array_equal(minimize_step(np.asfortranarray(H), np.repeat(g, 2)[::2], x), expected)


@pytest.mark.parametrize("find", [minimize_step, lambda H, g, x: minimize_model(x, -2.0 * g, H, 1.0)])
def test_equal_columns_share_the_weight_of_one(find):
    H, g, x = problem(5, 5, 0, sparse=False)
    alone = find(H, g, x)
    for copies in (2, 3, 4):
        twice = np.repeat(np.arange(5), copies)
        found = find(H[np.ix_(twice, twice)], g[twice], x[twice] / copies)
        np.testing.assert_allclose(found.reshape(5, copies).sum(axis=1), alone, atol=1e-4)


# ---------------------------------------------------------------------- model of the optimal value
@pytest.mark.parametrize("p", [1.0, 1.3, 2.0])
@pytest.mark.parametrize(("m", "ridge"), [(1, 1.0), (6, 1e-3), (6, 1e3), (50, 1.0)])
def test_the_least_of_the_model_against_a_general_optimiser(m, ridge, p):
    """J = ½ c'(ridge I + Σ μ_m K_m)⁻¹ c; with a large ridge it is nearly linear, its model quadratic."""
    rng = np.random.default_rng(m)
    theta, c = rng.dirichlet(np.full(m, 5.0)), rng.normal(size=12)
    features = rng.normal(size=(m, 12, 3))
    K = features @ features.transpose(0, 2, 1)
    mu = theta ** (1 / p)
    M = ridge * np.eye(12) + np.tensordot(mu, K, 1)
    P = K @ np.linalg.solve(M, c)
    q, H = P @ np.linalg.solve(M, c), P @ np.linalg.solve(M, P.T)
    homogeneous = 0.5 * mu @ H @ mu

    def model(x):
        d = np.maximum(x, 0.0) ** (1 / p) - mu
        if homogeneous <= 0.05 * abs(q @ mu):
            return -0.5 * q @ d + 0.5 * d @ H @ d
        part = -0.5 * H @ mu  # the slope of the homogeneous part, whose Hessian is H
        phi = 1 - part @ d / homogeneous + (part @ d / homogeneous) ** 2 - 0.5 * d @ H @ d / homogeneous
        return (-0.5 * q - part) @ d + homogeneous / phi - homogeneous if phi > 0.0 else np.inf

    found = minimize_model(theta, q, H, p)
    assert found.min() >= 0.0 and found.sum() == pytest.approx(1.0, abs=1e-12)
    scale = abs(model(found)) + 1e-12 * abs(q).max()
    general = minimize(
        lambda x: min(model(x) / scale, 1e3), theta, method="SLSQP", bounds=[(0, 1)] * m,
        constraints={"type": "eq", "fun": lambda x: x.sum() - 1}, options={"maxiter": 500, "ftol": 1e-12},
    )  # fmt: skip
    assert model(found) <= model(general.x) + 1e-6 * scale and model(found) <= 0.0


# ---------------------------------------------------------------------- Newton's method
OPTIONS = Options(tol=1e-10, max_iter=100)


@dataclass(frozen=True)
class Point:
    value: float
    gradient: np.ndarray
    hessian: np.ndarray
    gap: float


def linear_gap(x, value, gradient):
    """A convex function lies above its tangent: the least of that over the simplex."""
    return float(gradient @ x - gradient.min()) / max(abs(value), 1e-300)


def inverse_quadratic(A, c):
    """c'(I/10 + Σ x_i A_i)⁻¹c, a function of the kind that the solver is for."""

    def evaluate(x):
        M = np.eye(len(c)) / 10 + np.tensordot(x, A, 1)
        b = np.linalg.solve(M, c)
        products = A @ b
        gradient = -products @ b
        hessian = 2 * products @ np.linalg.solve(M, products.T)
        value = float(c @ b)
        return Point(value, gradient, hessian, linear_gap(x, value, gradient))

    return evaluate


def random_function(m, n, seed):
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(m, n, 2))
    return inverse_quadratic(features @ features.transpose(0, 2, 1), rng.normal(size=n))


@pytest.mark.parametrize("m", [1, 2, 5, 30])
@pytest.mark.parametrize("seed", range(2))
def test_against_a_general_optimiser(m, seed):
    evaluate = random_function(m, 8, seed)
    found = minimise_over_simplex(evaluate, np.full(m, 1 / m), OPTIONS)
    assert found.status == Status.OPTIMAL
    assert found.evaluation.gap <= 1e-10
    assert found.point.min() >= 0.0
    assert found.point.sum() == pytest.approx(1.0)
    general = minimize(
        lambda x: evaluate(x).value,
        np.full(m, 1 / m),
        jac=lambda x: evaluate(x).gradient,
        bounds=[(0, 1)] * m,
        constraints={"type": "eq", "fun": lambda x: x.sum() - 1, "jac": np.ones_like},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    assert found.evaluation.value <= general.fun * (1 + 1e-9)
    assert found.evaluation.value == pytest.approx(general.fun, rel=1e-6)
    values = np.array([entry["objective"] for entry in found.history])
    assert (np.diff(values) <= 1e-13 * values[0]).all()
    assert found.history[-1]["gap"] == found.evaluation.gap
    assert [entry["iteration"] for entry in found.history] == list(range(found.n_iter + 1))
    best = found.evaluation.value * (1 + 1e-12)
    assert all(entry["lower_bound"] <= best for entry in found.history)


def test_a_step_that_does_not_lower_the_value_is_shortened():
    """√(1 + (40 x)²) about its kink: its full Newton steps overshoot ever further."""

    def evaluate(x):
        t = 40.0 * (x[0] - 0.45)
        value = np.sqrt(1.0 + t * t)
        gradient = np.array([40.0 * t / value, 0.0])
        hessian = np.diag([1600.0 / value**3, 0.0])
        return Point(value, gradient, hessian, linear_gap(x, value, gradient))

    found = minimise_over_simplex(evaluate, np.array([0.9, 0.1]), OPTIONS)
    assert found.status == Status.OPTIMAL
    assert found.point[0] == pytest.approx(0.45, abs=1e-6)
    assert (np.diff([entry["objective"] for entry in found.history]) <= 1e-13).all()


def test_a_point_where_the_function_fails_shortens_the_step():
    plain = random_function(4, 8, 2)
    best = minimise_over_simplex(plain, np.full(4, 0.25), OPTIONS).evaluation.value
    refused = []

    def evaluate(x):
        if len(refused) < 3 and not np.allclose(x, 0.25):
            refused.append(x)
            return None
        return plain(x)

    found = minimise_over_simplex(evaluate, np.full(4, 0.25), OPTIONS)
    assert len(refused) == 3
    assert found.evaluation.value == pytest.approx(best, rel=1e-9)


def test_how_it_can_end():
    evaluate = random_function(6, 8, 3)
    start = np.full(6, 1 / 6)
    assert minimise_over_simplex(evaluate, start, Options(tol=1e-10, max_iter=1)).status == Status.MAX_ITER
    seen = []

    def callback(entry):
        seen.append(entry)
        return len(seen) == 2

    stopped = minimise_over_simplex(evaluate, start, Options(tol=1e-10, callback=callback))
    assert stopped.status == Status.INTERRUPTED
    assert len(stopped.history) == 2
    assert minimise_over_simplex(evaluate, start, Options(tol=1e-30)).status == Status.STALLED
    with pytest.raises(ValueError, match="finite at the start"):
        minimise_over_simplex(lambda x: None, start, OPTIONS)
    np.testing.assert_array_equal(start, 1 / 6)


def test_the_minimiser_of_the_callers_model_is_tried_as_it_is():
    """Bit by bit: what the caller knows of it holds for the point that is tried."""
    goal, tried = np.array([1e-12, 0.7, 0.3 - 1e-12]), []

    @dataclass
    class Distance:
        point: np.ndarray

        hessian = 2.0 * np.eye(3)

        @property
        def value(self):
            return 1.0 + float(np.sum((self.point - goal) ** 2))

        gap = property(lambda self: self.value - 1.0)
        gradient = property(lambda self: 2.0 * (self.point - goal))

    def evaluate(point):
        tried.append(point.copy())
        return Distance(point)

    minimise_over_simplex(evaluate, np.full(3, 1.0 / 3.0), Options(tol=1e-12), lambda *_: goal)
    assert tried[1].tolist() == goal.tolist()

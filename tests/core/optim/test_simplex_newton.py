"""Newton's method over the simplex on functions whose minimisers are known."""

from dataclasses import dataclass

import numpy as np
import pytest
from scipy.optimize import minimize

from multikernel.core.optim.loop import Options, Status
from multikernel.core.optim.simplex import minimise_over_simplex

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

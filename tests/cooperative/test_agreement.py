"""Views that are drawn to agree: the solver against the definition, a general solver and differences."""

import cvxpy as cp
import numpy as np
import pytest

from multikernel.cooperative.solver.agreement import Views, fit_functions, learn_functions
from multikernel.core.optim.loop import Options
from multikernel.core.svm.losses import SquaredHinge

N, C = 14, 2.0
EXACT = Options(tol=1e-12)


def kernel(rng, rank):
    Z = rng.normal(size=(N, rank))
    return Z @ Z.T / 4.0


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    Ks = np.stack([kernel(rng, rank) for rank in (2, 5, 20)])
    return Ks, rng.normal(size=N), rng.uniform(0.5, 2.0, N), np.array([0.5, 1.0, 3.0])


def solve(name, views, y):
    if name == "squared":
        return fit_functions(views, y, 1e-3)
    return learn_functions(views, [SquaredHinge(np.sign(y), C * views.weights)], EXACT)


def definition(name, problem, rho, a, b):
    """The value of the problem by its definition, pair by pair."""
    Ks, y, weights, alphas = problem
    f = np.stack([K @ part for K, part in zip(Ks, a, strict=True)])
    norms = sum(alpha * part @ K @ part for alpha, K, part in zip(alphas, Ks, a, strict=True))
    apart = sum(weights @ (f[m] - f[j]) ** 2 for m in range(3) for j in range(m))
    scores = f.sum(axis=0) + b
    errors = y - scores if name == "squared" else np.maximum(1.0 - np.sign(y) * scores, 0.0) * np.sqrt(C)
    return 0.5 * (norms + rho * apart + weights @ errors**2)


def by_cvxpy(name, problem, rho):
    Ks, y, weights, alphas = problem
    own = [cp.Variable(N) for _ in Ks]
    values, vectors = np.linalg.eigh(Ks)
    f = [(V * np.sqrt(np.maximum(v, 0.0))) @ u for v, V, u in zip(values, vectors, own, strict=True)]
    scores = sum(f) + cp.Variable()
    errors = y - scores if name == "squared" else np.sqrt(C) * cp.pos(1 - cp.multiply(np.sign(y), scores))
    apart = [cp.square(f[m] - f[j]) for m in range(3) for j in range(m)]
    norms = sum(alpha * cp.sum_squares(u) for alpha, u in zip(alphas, own, strict=True))
    value = 0.5 * (norms + weights @ (rho * sum(apart) + cp.square(errors)))
    program = cp.Problem(cp.Minimize(value))
    program.solve(solver="CLARABEL")
    return program.value, np.stack([part.value for part in f])


@pytest.mark.parametrize("name", ["squared", "hinge"])
@pytest.mark.parametrize("rho", [0.0, 0.3, 5.0, 1e4])
def test_the_definition_by_a_general_solver(problem, name, rho):
    Ks, y, weights, alphas = problem
    views = Views(Ks, alphas, rho, weights)
    result = solve(name, views, y)
    value, f = by_cvxpy(name, problem, rho)
    assert result.objective == pytest.approx(value, rel=1e-7)
    assert views.values(result.coefficients)[0] == pytest.approx(f, abs=1e-4)
    at = definition(name, problem, rho, result.coefficients[0], result.intercepts[0])
    assert at == pytest.approx(result.objective, rel=1e-10)


@pytest.mark.parametrize("name", ["squared", "hinge"])
@pytest.mark.parametrize("rho", [0.0, 2.0, 1e6])
def test_the_certificate_from_outside(problem, name, rho):
    """Stationary in each function, and bounded by the dual value that the definition gives."""
    Ks, y, weights, alphas = problem
    views = Views(Ks, alphas, rho, weights)
    result = solve(name, views, y)
    assert result.status == "optimal" and result.gap <= 1e-8
    a, b, beta = result.coefficients[0], result.intercepts[0], result.duals[0]
    f = views.values(result.coefficients)[0]
    scores = f.sum(axis=0) + b
    slopes = y - scores if name == "squared" else C * np.sign(y) * np.maximum(1 - np.sign(y) * scores, 0)
    assert weights * slopes == pytest.approx(beta, abs=1e-5)
    assert beta.sum() == pytest.approx(0.0, abs=1e-8)
    pull = beta - rho * weights * (3.0 * f - f.sum(axis=0))
    scale = np.abs(beta).max() + rho * np.abs(f).max()
    assert alphas[:, None] * a / scale == pytest.approx(pull / scale, abs=1e-8)
    # −½ β'Hβ + reward − ½ Σ β² / (w C), with β'Hβ from the functions that β alone makes
    reward, price = (y @ beta, 1.0) if name == "squared" else (np.abs(beta).sum(), C)
    lower = reward - 0.5 * beta @ views.kernel() @ beta - 0.5 * np.sum(beta**2 / (weights * price))
    assert result.lower_bound == pytest.approx(lower, rel=1e-8)


def test_the_gradient_by_differences(problem):
    """The value by its definition changes in no direction, measured by its change at the origin."""
    Ks, y, weights, alphas = problem
    views = Views(Ks, alphas, 0.7, weights)
    result = solve("hinge", views, y)
    rng, h = np.random.default_rng(1), 1e-6  # the loss has kinks in its slope
    best = (result.coefficients[0], result.intercepts[0])
    origin = (np.zeros_like(best[0]), 0.0)
    for _ in range(5):
        da, db = rng.normal(size=best[0].shape), rng.normal()

        def ends(at, da=da, db=db):
            return [definition("hinge", problem, 0.7, at[0] + s * da, at[1] + s * db) for s in (h, -h)]

        slopes = [abs(np.subtract(*ends(at))) / (2 * h) for at in (best, origin)]
        assert slopes[0] < 1e-5 * slopes[1]
        assert min(ends((best[0] + da, best[1] + db))) > result.objective


def test_the_values_agree_in_the_limit(problem):
    Ks, y, weights, alphas = problem
    spreads = []
    for rho in (1.0, 1e2, 1e4, 1e6):
        views = Views(Ks + np.eye(N), alphas, rho, weights)
        result = solve("squared", views, y)
        spreads.append(np.ptp(views.values(result.coefficients)[0], axis=0).max())
    assert (np.diff(spreads) < 0.0).all() and spreads[-1] < 1e-5
    limit = 9.0 * np.linalg.inv(
        sum(a * np.linalg.inv(K) for a, K in zip(alphas, Ks + np.eye(N), strict=True))
    )
    assert views.kernel() == pytest.approx(limit, abs=1e-4)


def test_one_view_has_nothing_to_agree_with(problem):
    Ks, y, weights, alphas = problem
    first = solve("squared", Views(Ks[:1], alphas[:1], 5.0, weights), y)
    second = solve("squared", Views(Ks[:1], alphas[:1], 0.0, weights), y)
    assert first.coefficients == pytest.approx(second.coefficients)

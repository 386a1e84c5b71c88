"""Ridge regression on a kernel that moves: solutions, bounds, factors that are kept, leave-one-out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from multikernel.core.stack.sums import GatedStack
from multikernel.localized.solver.gates import GATES
from multikernel.localized.solver.learn import GatedObjective
from multikernel.localized.solver.least_squares import RidgeMachines, held_out_residuals
from tests.localized.solver.gated_problems import differences


def problem(n=15, r=2, seed=0):
    """A stack of two kernels, outputs, and alpha divided by weights."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    Ks = np.stack([X @ X.T, np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=2))])
    return Ks, X, rng.normal(size=(n, r)), 0.3 / rng.uniform(0.5, 2.0, size=n)


def solved_plainly(K, y, ridge, intercept):
    """Coefficients and intercepts from the linear system with a border of ones."""
    n = len(K)
    if not intercept:
        return np.linalg.solve(K + np.diag(ridge), y), np.zeros(y.shape[1])
    system = np.block([[K + np.diag(ridge), np.ones((n, 1))], [np.ones((1, n)), 0.0]])
    found = np.linalg.solve(system, np.vstack([y, np.zeros((1, y.shape[1]))]))
    return found[:n], found[n]


def primal_value(K, y, ridge, beta, intercepts):
    """½ ‖f‖² + ½ Σ (y − f − b)² / D, from the definition."""
    residual = y - K @ beta - intercepts
    return 0.5 * np.sum(beta * (K @ beta)) + 0.5 * np.sum(residual**2 / ridge[:, None])


@given(
    sizes=st.tuples(st.integers(3, 20), st.integers(1, 3)),
    intercept=st.booleans(),
    seed=st.integers(0, 2**31),
)
def test_the_solution_is_that_of_the_linear_system(sizes, intercept, seed):
    Ks, _, y, ridge = problem(*sizes, seed)
    K = Ks.sum(axis=0)
    machines = RidgeMachines(y, ridge, intercept, tol=1e-12)
    solved = machines.solve(K)
    beta, intercepts = solved_plainly(K, y, ridge, intercept)
    size = np.abs(beta).max()
    np.testing.assert_allclose(machines.coefficients, beta, atol=1e-8 * size)
    np.testing.assert_allclose(machines.intercepts, intercepts, atol=1e-7 * (1.0 + np.abs(intercepts).max()))
    assert solved.value == pytest.approx(primal_value(K, y, ridge, beta, intercepts), rel=1e-9)
    assert abs(solved.gap) <= 1e-12


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("ridge", [1e-6, 0.1, 1e4])
def test_kernels_of_low_rank_are_solved_by_their_features(intercept, ridge):
    """The same values, coefficients and diagonal as by the kernel, without a factor of its size."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(150, 2)), rng.normal(size=(150, 2))
    stack = GatedStack((X @ X.T)[None], np.zeros(2, int))
    stack.set_gates(rng.uniform(size=(150, 2)))
    D = ridge * rng.uniform(0.5, 2.0, 150)
    found, plain = (RidgeMachines(y, D, intercept, tol=1e-8) for _ in range(2))
    values = [found.solve(stack).value, plain.solve(stack.whole()).value]
    assert values[0] == pytest.approx(values[1], rel=1e-7)
    assert (found.n_factorizations, plain.n_factorizations) == (0, 1)
    beta, intercepts = solved_plainly(stack.whole(), y, D, intercept)
    np.testing.assert_allclose(found.coefficients, beta, atol=1e-7 * np.abs(beta).max())
    np.testing.assert_allclose(found.intercepts, intercepts, atol=1e-6 * (1.0 + np.abs(intercepts).max()))
    np.testing.assert_allclose(found.inverse_diagonal(), plain.inverse_diagonal(), rtol=1e-5)


@given(step=st.floats(0.0, 3.0), intercept=st.booleans(), seed=st.integers(0, 2**31))
def test_a_factor_of_another_kernel_gives_bounds_that_hold(step, intercept, seed):
    Ks, _, y, ridge = problem(18, 2, seed)
    machines = RidgeMachines(y, ridge, intercept, tol=1e-6)
    machines.most_steps = 5
    machines.solve(Ks[1])
    K = Ks[1] + step * Ks[0]
    solved = machines.solve(K)
    beta, intercepts = solved_plainly(K, y, ridge, intercept)
    optimum = primal_value(K, y, ridge, beta, intercepts)
    assert solved.gap <= 1e-6
    assert optimum * (1 - 1e-6) - 1e-12 <= solved.value <= optimum * (1 + 1e-12) + 1e-12
    upper = primal_value(K, y, ridge, machines.coefficients, machines.intercepts)
    assert upper >= optimum * (1 - 1e-12)
    assert solved.gap == pytest.approx((upper - solved.value) / upper, abs=1e-9)
    if intercept:
        np.testing.assert_allclose(machines.coefficients.sum(axis=0), 0.0, atol=1e-9 * np.abs(beta).sum())


def test_a_factor_is_kept_while_the_kernel_moves_little():
    Ks, _, y, ridge = problem(60, 1)
    machines = RidgeMachines(y, ridge, tol=1e-4)
    machines.most_steps = 10
    for step in np.linspace(1.0, 1.3, 10):
        machines.solve(Ks[1] + step * Ks[0])
    assert machines.n_factorizations == 1 and machines.n_steps < 10 * machines.most_steps
    far = RidgeMachines(y, ridge, tol=1e-10)
    far.solve(Ks[1])
    far.most_steps = 2
    far.solve(100.0 * Ks[0] + np.diag(np.arange(60.0)))
    assert far.n_factorizations == 2


@pytest.mark.parametrize(
    ("shape", "most"), [((1000, 1), 12), ((600, 1), 0), ((2400, 10), 9), ((1200, 10), 0)]
)
def test_steps_are_allowed_where_they_are_cheaper_than_a_factor(shape, most):
    assert RidgeMachines(np.ones(shape), np.ones(shape[0])).most_steps == most


def test_a_value_above_the_ceiling_is_given_up():
    Ks, _, y, ridge = problem(40, 1)
    machines = RidgeMachines(y, ridge, tol=1e-12)
    machines.most_steps = 10
    machines.solve(Ks[1])
    K = Ks[0]
    beta, intercepts = solved_plainly(K, y, ridge, True)
    optimum = primal_value(K, y, ridge, beta, intercepts)
    steps = machines.n_steps
    given_up = machines.solve(K, 0.5 * optimum)
    assert 0.5 * optimum < given_up.value <= optimum * (1 + 1e-12)
    assert machines.n_steps - steps < 5 and machines.n_factorizations == 1


def test_a_kernel_that_cannot_be_factored_has_no_value():
    Ks, _, y, ridge = problem(20, 1)
    machines = RidgeMachines(y, ridge)
    assert machines.solve(-50.0 * Ks[0]).value == np.inf and machines.suspicious
    assert not machines.coefficients.any()


@given(gate=st.sampled_from(sorted(GATES)), intercept=st.booleans(), seed=st.integers(0, 2**31))
def test_the_gradient_of_the_gate_is_that_of_the_objective(gate, intercept, seed):
    Ks, X, y, ridge = problem(12, 2, seed)
    machines = RidgeMachines(y, ridge, intercept, tol=1e-13)
    objective = GatedObjective(Ks, [0, 1, 1], X, GATES[gate], machines, 0.2)
    theta = np.random.default_rng(seed).normal(size=(3, 3)) + [0.0, 0.0, 2.0]
    value = objective.value(theta.ravel())
    gradient = objective.gradient()

    def plainly(entries):
        """The gate by its formula is tested elsewhere; the machines here are those of a linear system."""
        V = entries.reshape(3, 3)
        eta = GATES[gate].values(V, X)
        K = sum(np.outer(own, own) * Ks[k] for own, k in zip(eta.T, [0, 1, 1], strict=True))
        found = solved_plainly(K, y, ridge, intercept)
        return primal_value(K, y, ridge, *found) + 0.1 * np.sum(V[:, :-1] ** 2)

    assert value == pytest.approx(plainly(theta.ravel()), rel=1e-9)
    expected = differences(plainly, theta.ravel())
    np.testing.assert_allclose(gradient, expected, atol=2e-6 * max(1.0, np.abs(expected).max()))


# --- leave-one-out -----------------------------------------------------------------------------------------


@given(intercept=st.booleans(), seed=st.integers(0, 2**31))
def test_leaving_out_is_fitting_without(intercept, seed):
    """Also a part of the weight of a sample, as when one of several equal rows is left out."""
    rng = np.random.default_rng(seed)
    Ks, _, y, _ = problem(12, 2, seed)
    K, alpha = Ks.sum(axis=0), 0.4
    total = rng.uniform(0.5, 3.0, size=12)
    own = np.where(np.arange(12) % 2 == 0, total, rng.uniform(0.1, 0.9, size=12) * total)
    machines = RidgeMachines(y, alpha / total, intercept, tol=1e-13)
    machines.solve(K)
    beta = machines.coefficients.copy()
    found = held_out_residuals(beta, machines.inverse_diagonal(), alpha, total, own)
    for i in range(12):
        weights = total.copy()
        weights[i] -= own[i]
        kept = np.flatnonzero(weights > 0.0)
        solution, b = solved_plainly(K[np.ix_(kept, kept)], y[kept], alpha / weights[kept], intercept)
        np.testing.assert_allclose(found[i], y[i] - K[i, kept] @ solution - b, rtol=1e-6, atol=1e-8)

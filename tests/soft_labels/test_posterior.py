"""The hinge of soft labels: the primal and the dual of the paper, and the plain machine of hard labels."""

import cvxpy as cp
import numpy as np
import pytest

from benchmarks.fixed_kernel import solve_machine
from judges.optimum import conic_optimum
from multikernel.core.optim.loop import Options, Status
from multikernel.core.weights.learn import learn_weights
from multikernel.soft_labels.solver import PosteriorHinge
from tests.core.problems import gaussian


def root(K):
    values, vectors = np.linalg.eigh(K)
    return vectors * np.sqrt(np.maximum(values, 0.0))


def primal_of_the_paper(K, soft, C):
    """min ½‖w‖² + Σ C_i ξ_i with ŷ_i f_i ≥ ŷ_i²(1 − ξ_i), ξ ≥ 0; the value and the bias."""
    w, b, slack = cp.Variable(len(K)), cp.Variable(), cp.Variable(len(K), nonneg=True)
    f = root(K) @ w + b
    reached = cp.multiply(soft, f) >= cp.multiply(soft**2, 1.0 - slack)
    problem = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w) + C @ slack), [reached])
    return conic_optimum(problem), float(b.value)


def dual_of_the_paper(K, soft, C):
    """max Σ ŷ_i² α_i − ½ Σ α_i α_j ŷ_i ŷ_j k_ij with Σ α_i ŷ_i = 0, 0 ≤ α_i ŷ_i² ≤ C_i."""
    alpha = cp.Variable(len(K), nonneg=True)
    coefficients = cp.multiply(soft, alpha)
    value = soft**2 @ alpha - 0.5 * cp.sum_squares(root(K).T @ coefficients)
    constraints = [cp.sum(coefficients) == 0, cp.multiply(soft**2, alpha) <= C]
    return conic_optimum(cp.Problem(cp.Maximize(value), constraints))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_the_machine_of_the_paper(seed, weighted):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(30, 2))
    soft = np.tanh(2.0 * points[:, 0] + rng.normal(size=30))
    C = rng.uniform(0.2, 4.0, size=30) if weighted else np.full(30, 2.0)
    K = gaussian(points, 1.0)
    result = solve_machine(K, PosteriorHinge(soft, C), tol=1e-9)
    value, bias = primal_of_the_paper(K, soft, C)
    assert result.status == Status.OPTIMAL
    np.testing.assert_allclose(result.objective, value, rtol=1e-7)
    np.testing.assert_allclose(result.objective, dual_of_the_paper(K, soft, C), rtol=1e-7)
    np.testing.assert_allclose(result.intercept, bias, atol=1e-5)


def test_the_learned_weights_of_several_kernels_are_the_worst_case_of_the_paper():
    """The value over the simplex is least there: no step towards one of the kernels lowers it."""
    rng = np.random.default_rng(3)
    points = rng.normal(size=(25, 3))
    soft = np.tanh(points[:, 0] + points[:, 1] ** 2 - 0.7 + 0.5 * rng.normal(size=25))
    Ks = np.stack([gaussian(points, 0.5), points @ points.T, (points[:, :2] @ points[:, :2].T + 1.0) ** 2])
    C = np.ones(25)
    result = learn_weights(Ks, [PosteriorHinge(soft, C)], options=Options(tol=1e-9))
    learned = np.tensordot(result.weights, Ks, axes=1)
    np.testing.assert_allclose(result.objective, primal_of_the_paper(learned, soft, C)[0], rtol=1e-7)
    assert (result.weights > 0.0).sum() >= 2
    for m in range(3):
        for share in (0.02, 1.0):
            nearby = (1.0 - share) * learned + share * Ks[m]
            assert dual_of_the_paper(nearby, soft, C) >= result.objective * (1.0 - 1e-8)


def test_a_doubtful_sample_has_the_smaller_margin_and_the_larger_price():
    """Two points at ±1 on a line: the doubtful one has to reach 0.2 only, at five times the price."""
    K = np.array([[1.0, -1.0], [-1.0, 1.0]])
    result = solve_machine(K, PosteriorHinge(np.array([1.0, -0.2]), 10.0), tol=1e-12)
    np.testing.assert_allclose(result.dual, [0.3, -0.3], rtol=1e-9)  # w + b = 1 and −w + b = −0.2
    np.testing.assert_allclose(result.intercept, 0.4, rtol=1e-9)
    cheap = solve_machine(K, PosteriorHinge(np.array([1.0, -0.2]), 0.1), tol=1e-12)
    np.testing.assert_allclose(cheap.dual, [0.1, -0.1], rtol=1e-9)  # the certain one meets its bound first

"""Determinant maximization: completed kernels and learned precisions against cvxpy, and their bounds."""

import cvxpy as cp
import numpy as np
import pytest
from scipy.stats import multivariate_normal

from judges.optimum import conic_optimum
from multikernel.transductive import complete_kernel, learn_precision


def partial_kernel(n=9, missing=0.4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    K = np.exp(-0.3 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    hidden = np.triu(rng.random((n, n)) < missing, 1)
    K[hidden | hidden.T] = np.nan
    return K


def symmetric(n, seed):
    S = np.random.default_rng(seed).normal(size=(n, n))
    return S + S.T


def stated(K, S):
    """The program as section 7 states it, over the missing entries."""
    n, known = len(K), ~np.isnan(K)
    V = cp.Variable((n, n), symmetric=True)
    fixed = [V[i, j] == K[i, j] for i in range(n) for j in range(i, n) if known[i, j]]
    return cp.Problem(cp.Minimize(cp.trace(S @ V) - cp.log_det(V)), fixed), V


# ---------------------------------------------------------------------- completion
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("with_cost", [False, True])
def test_the_completion_is_that_of_the_program(with_cost, seed):
    K = partial_kernel(seed=seed)
    S = symmetric(9, seed) if with_cost else np.zeros((9, 9))
    found = complete_kernel(K, cost=S if with_cost else None)
    program, _ = stated(K, S)
    assert found.status == "optimal" and found.gap <= 1e-8
    assert found.objective == pytest.approx(conic_optimum(program, 1e-9, 1e-6), abs=2e-6)
    known = ~np.isnan(K)
    np.testing.assert_array_equal(found.kernel[known], K[known])
    np.testing.assert_allclose(np.linalg.inv(found.kernel)[~known], S[~known], atol=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_the_bound_holds_and_is_recomputed_from_the_kernel_alone(seed):
    """W = K⁻¹ with S at missing entries is a dual point; no other completion is below its value."""
    K = partial_kernel(n=12, seed=seed)
    S, missing = symmetric(12, seed), np.isnan(K)
    found = complete_kernel(K, cost=S)

    def value(kernel):
        return np.trace(S @ kernel) - np.linalg.slogdet(kernel)[1]

    W = np.where(missing, S, np.linalg.inv(found.kernel))
    assert np.linalg.eigvalsh(W)[0] > 0.0
    bound = ((S - W) * np.where(missing, 0.0, K)).sum() + np.linalg.slogdet(W)[1] + 12
    assert found.objective == pytest.approx(value(found.kernel), rel=1e-12)
    assert found.objective - bound <= 1e-7 * max(1.0, abs(found.objective))
    assert found.lower_bound <= found.objective + 1e-12 * abs(found.objective)
    rng = np.random.default_rng(seed)
    for _ in range(50):
        other = found.kernel + np.where(missing, symmetric(12, int(rng.integers(1000))) * 0.01, 0.0)
        if np.linalg.eigvalsh(other)[0] > 0.0:
            assert value(other) >= found.lower_bound


def test_labels_draw_the_points_of_a_class_together():
    K = partial_kernel(n=10, seed=3)
    y = np.array(["a", "b"] * 4)
    signs = np.append(np.array([-1.0, 1.0] * 4), [0.0, 0.0])
    aligned = [signs @ complete_kernel(K, y, strength=rho).kernel @ signs for rho in (0.0, 0.5, 2.0, 10.0)]
    assert (np.diff(aligned) > 1e-3).all()
    same = complete_kernel(K, cost=-2.0 * np.outer(signs, signs) / 8).kernel
    np.testing.assert_allclose(complete_kernel(K, y, strength=2.0).kernel, same, atol=1e-12)
    np.testing.assert_allclose(
        complete_kernel(K).kernel, complete_kernel(K, y, strength=0.0).kernel, atol=1e-12
    )


@pytest.mark.parametrize("negative", [1, 2, 3])
@pytest.mark.parametrize("size", [0.6, 0.8, 0.82, 0.95])
def test_contradictions_are_those_of_a_semidefinite_program(size, negative):
    """A cycle of five similarities, an odd number of them negative: there is none above cos 36° = 0.809."""
    K = np.full((5, 5), np.nan)
    np.fill_diagonal(K, 1.0)
    for i in range(5):
        K[i, (i + 1) % 5] = K[(i + 1) % 5, i] = size * (-1.0 if i < negative else 1.0)
    V, depth = cp.Variable((5, 5), symmetric=True), cp.Variable()
    known = ~np.isnan(K)
    fixed = [V[i, j] == K[i, j] for i in range(5) for j in range(i, 5) if known[i, j]]
    room = conic_optimum(cp.Problem(cp.Maximize(depth), [*fixed, V >> depth * np.eye(5)]))
    assert (room > 1e-3) == (size < 0.809 or negative == 2) and abs(room) > 1e-3
    if room > 0.0:
        assert np.linalg.eigvalsh(complete_kernel(K).kernel)[0] > 0.0
    else:
        with pytest.raises(ValueError, match="no positive definite matrix has the known entries"):
            complete_kernel(K)


def test_a_whole_matrix_stays_and_nothing_given_is_changed():
    K = partial_kernel(missing=0.0)
    np.testing.assert_array_equal(complete_kernel(K).kernel, K)
    K = partial_kernel()
    before = K.copy()
    complete_kernel(K, [0, 1])
    np.testing.assert_array_equal(K, before)


@pytest.mark.parametrize(
    ("change", "settings", "message"),
    [
        ({(0, 0): np.nan}, {}, r"diagonal of K must be known; entry \(0, 0\)"),
        ({(0, 1): np.nan, (1, 0): 0.3}, {}, r"K must be symmetric; entry \(0, 1\) is nan"),
        ({}, {"cost": np.eye(3)}, r"cost must be a finite symmetric matrix \(9, 9\)"),
        ({}, {"cost": np.eye(9), "y": [0, 1]}, "give either cost or y"),
        ({}, {"y": [0, 1, 2]}, "each class against the rest"),
        ({}, {"y": [0, 1] * 5}, "at most one label for each of the 9"),
        ({}, {"strength": -1.0}, "strength must be"),
        ({}, {"tol": 0.0}, "tol must be"),
    ],
)
def test_bad_input_of_a_completion_is_refused(change, settings, message):
    K = partial_kernel()
    for place, value in change.items():
        K[place] = value
    with pytest.raises(ValueError, match=message):
        complete_kernel(K, **settings)


# ---------------------------------------------------------------------- precision
def precisions(n=10, seed=0):
    rng = np.random.default_rng(seed)
    low = [rng.normal(size=(n, n // 2)) for _ in range(3)]
    return [A @ A.T * scale for A, scale in zip(low, (1.0, 1e3, 1e-3), strict=True)] + [np.eye(n)]


def entropy(Rs, nu, Y):
    """½ log det K + ½ tr(y'K⁻¹y) as −log of the density of y under the prior, without its constant."""
    K = np.linalg.inv(np.tensordot(nu, np.stack(Rs), 1))
    density = sum(multivariate_normal(cov=K, allow_singular=True).logpdf(y) for y in Y.T)
    return -density - 0.5 * Y.size * np.log(2 * np.pi)


@pytest.mark.parametrize("columns", [1, 3])
@pytest.mark.parametrize("seed", [0, 1])
def test_the_precision_is_that_of_the_program(columns, seed):
    Rs, Y = precisions(seed=seed), np.random.default_rng(seed).normal(size=(10, columns))
    found = learn_precision(Rs, Y)
    assert found.status == "optimal" and (found.weights >= 0.0).all()
    assert found.objective == pytest.approx(entropy(Rs, found.weights, Y), rel=1e-7)
    traces = np.array([np.trace(R) for R in Rs])
    nu = cp.Variable(4, nonneg=True)
    R = sum(nu[i] * Rs[i] / traces[i] for i in range(4))
    linear = sum(nu[i] * float(np.vdot(Y, Rs[i] @ Y)) / traces[i] for i in range(4))
    program = cp.Problem(cp.Minimize(0.5 * linear - 0.5 * columns * cp.log_det(R)))
    assert found.objective == pytest.approx(conic_optimum(program, 1e-9, 1e-6), abs=1e-5)


@pytest.mark.parametrize("seed", range(4))
def test_the_bound_of_a_precision_is_recomputed_from_the_kernel_alone(seed):
    Rs, y = precisions(n=14, seed=seed), np.random.default_rng(seed).normal(size=14)
    found = learn_precision(Rs, y)
    q = np.array([y @ R @ y for R in Rs])
    W = found.kernel * min(q / [np.trace(found.kernel @ R) for R in Rs])
    assert all(np.trace(W @ R) <= t * (1 + 1e-9) for R, t in zip(Rs, q, strict=True))
    bound = 0.5 * np.linalg.slogdet(W)[1] + 7.0
    assert found.objective - bound <= 1e-4 * max(1.0, abs(found.objective))
    assert found.objective - found.lower_bound <= 1e-8 * max(1.0, abs(found.objective))
    assert found.weights @ q == pytest.approx(14.0, rel=1e-3)
    rng = np.random.default_rng(seed)
    for _ in range(30):
        nu = rng.exponential(size=4) * np.maximum(found.weights, 1e-3 * 14.0 / q)
        assert entropy(Rs, nu, y[:, None]) >= found.lower_bound - 1e-9


def test_the_criterion_is_convex_in_the_precision_and_not_in_the_kernel():
    Rs, y = precisions(seed=2), np.random.default_rng(5).normal(size=(10, 1))
    rng = np.random.default_rng(0)
    bends = []
    for _ in range(200):
        one, two = (rng.exponential(size=4) / [10.0, 1e4, 1e-2, 1.0] for _ in range(2))
        middle, ends = entropy(Rs, 0.5 * (one + two), y), [entropy(Rs, nu, y) for nu in (one, two)]
        assert middle <= 0.5 * sum(ends) + 1e-9
        Ks = [np.linalg.inv(np.tensordot(nu, np.stack(Rs), 1)) for nu in (one, two)]
        bends.append(entropy([np.linalg.inv(0.5 * (Ks[0] + Ks[1]))], [1.0], y) - 0.5 * sum(ends))
    assert max(bends) > 1e-3


def test_forms_of_input_are_the_same():
    Rs, y = precisions(), np.arange(10.0)
    one = learn_precision(Rs, y)
    for same in (np.stack(Rs, axis=2), dict(zip("abcd", Rs, strict=True))):
        np.testing.assert_array_equal(learn_precision(same, y).weights, one.weights)


@pytest.mark.parametrize(
    ("given", "y", "message"),
    [
        ([], np.ones(10), "precisions must be matrices"),
        ([-np.eye(10)], np.ones(10), "precision 0 must be positive semidefinite"),
        ([np.ones((10, 10))], np.ones(10), "sum of the precisions must be positive definite"),
        ([np.eye(10)], np.ones(9), r"for each of the 10 points; got shape \(9,\)"),
        ([np.eye(10)], np.zeros(10), "not all zero, .*; got zeros only"),
        ([np.eye(10)], np.r_[np.ones(9), np.inf], "a finite number, .*; got inf"),
        ([np.ones((2, 3))], np.ones(2), "square"),
        ([np.eye(10), np.eye(9)], np.ones(10), r"one size, \(10, 10\) here; precision 1 has shape \(9, 9\)"),
    ],
)
def test_bad_input_of_a_precision_is_refused(given, y, message):
    with pytest.raises(ValueError, match=message):
        learn_precision(given, y)

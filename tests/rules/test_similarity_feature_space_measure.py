"""The feature space measure: against its definition in a feature space, cvxpy, and its bound."""

import cvxpy as cp
import numpy as np
import pytest

from multikernel.rules import FeatureSpaceMeasure
from multikernel.rules.solver.line_spread import LineSpread, Programs, line_spread, minimise_spread
from tests.rules.similarity_problems import normalised, problem


def measure(K, signs):
    """By coordinates: samples as points, their centres, and the line through them."""
    values, vectors = np.linalg.eigh(K)
    points = vectors * np.sqrt(np.maximum(values, 0.0))
    up, down = points[signs > 0], points[signs < 0]
    line = up.mean(axis=0) - down.mean(axis=0)
    distance = np.linalg.norm(line)
    spreads = [np.std(part @ line / distance, ddof=1) for part in (up, down)]
    return sum(spreads) / distance


def signs_of(y):
    return np.where(y == 1, 1.0, -1.0)


@pytest.mark.parametrize("seed", range(4))
def test_no_combination_spreads_less(seed):
    kernels, y = problem(seed, m=4 + seed)
    learner = FeatureSpaceMeasure().fit(kernels, y)
    signs = signs_of(y)
    assert learner.objective_ == pytest.approx(measure(learner.combine(kernels), signs), rel=1e-7)
    Ks = normalised(kernels)
    a = np.where(signs > 0, 1.0 / (signs > 0).sum(), -1.0 / (signs < 0).sum())
    V = np.stack([K @ a for K in Ks], axis=1)
    eta = cp.Variable(len(kernels), nonneg=True)
    spreads = [
        cp.norm((V[part] - V[part].mean(axis=0)) @ eta) / np.sqrt(part.sum() - 1)
        for part in (signs > 0, signs < 0)
    ]
    best = cp.Problem(cp.Minimize(sum(spreads)), [(a @ V) @ eta == 1.0]).solve(solver="CLARABEL")
    assert learner.objective_ == pytest.approx(best, rel=1e-6)
    assert learner.dual_gap_ < 1e-9 and learner.status_ == "optimal"


def gap_of(learner, kernels, y):
    """From Σ A_c'u_c ≥ bound d with ‖u_c‖ = 1: no weights have a measure below the bound."""
    scales = np.array([np.diagonal(K).mean() for K in kernels])
    eta = learner.kernel_weights_ * scales
    spread = line_spread(normalised(kernels), signs_of(y), np.ones(scales.size))
    roots = np.sqrt(spread.covariances @ eta @ eta)
    slope = sum(M @ eta / root for M, root in zip(spread.covariances, roots, strict=True))
    return 1.0 - (slope / spread.distances).min() / learner.objective_


def test_the_gap_bounds_what_is_left():
    kernels, y = problem(5)
    learner = FeatureSpaceMeasure().fit(kernels, y)
    assert learner.kernel_weights_ @ [np.diagonal(K).mean() for K in kernels] == pytest.approx(1.0)
    assert gap_of(learner, kernels, y) == pytest.approx(learner.dual_gap_, abs=1e-10)


def test_the_bound_holds_at_any_weights():
    kernels, y = problem(5)
    spread = line_spread(normalised(kernels), signs_of(y), np.ones(len(kernels)))
    found = minimise_spread(spread)
    programs = Programs(spread.covariances / np.outer(spread.distances, spread.distances))
    rng = np.random.default_rng(0)
    bounds = [programs.bound(rng.dirichlet(np.ones(len(kernels))), rng.random()) for _ in range(50)]
    assert max(bounds) < found.value
    x = found.weights * spread.distances / (found.weights @ spread.distances)
    first, second = programs.spreads(x)
    assert first + second == pytest.approx(found.value)
    assert programs.bound(x, first / (first + second)) == pytest.approx(found.value, rel=1e-9)


def test_classes_that_do_not_spread():
    kernels, y = problem(9)
    signs = signs_of(y)
    learner = FeatureSpaceMeasure().fit([kernels[0], np.outer(signs, signs), kernels[1]], y)
    assert learner.objective_ == pytest.approx(0.0, abs=1e-6) and learner.status_ == "optimal"
    np.testing.assert_allclose(learner.kernel_shares_, [0.0, 1.0, 0.0], atol=1e-5)
    learner = FeatureSpaceMeasure().fit([np.eye(y.size), np.outer(signs, signs)], y)  # neither spreads
    assert learner.objective_ == pytest.approx(0.0, abs=1e-7) and learner.status_ == "optimal"


def test_a_class_of_one():
    x = np.array([3.0, 0.0, 1.0, 2.0])
    learner = FeatureSpaceMeasure().fit([np.outer(x, x)], [1, 0, 0, 0])
    assert learner.objective_ == pytest.approx(np.std([0, 1, 2], ddof=1) / 2.0)


def test_kernels_in_which_the_centres_coincide_get_nothing():
    x, z = np.array([1.0, -1.0, 1.0, -1.0]), np.array([1.0, 1.1, -1.0, -0.9])
    learner = FeatureSpaceMeasure().fit([np.outer(x, x), np.outer(z, z)], [1, 1, 0, 0])
    assert learner.kernel_shares_.tolist() == [0.0, 1.0]
    with pytest.raises(ValueError, match="gives no kernel any weight"):
        FeatureSpaceMeasure().fit([np.outer(x, x)], [1, 1, 0, 0])


def test_one_class_may_stop_spreading_before_the_other():
    """The optimum is where the first form vanishes: the sum has a kink there."""
    forms = np.stack([np.array([[4.0, -2.0], [-2.0, 1.0]]), 0.01 * np.eye(2)])
    found = minimise_spread(LineSpread(forms, np.ones(2)))
    np.testing.assert_allclose(found.weights, [1 / 3, 2 / 3], rtol=1e-6)
    assert found.value == pytest.approx(0.1 * np.sqrt(5.0) / 3.0, rel=1e-7)


@pytest.mark.parametrize("seed", range(4))
def test_few_samples_and_many_kernels(seed):
    """Each class lies in few dimensions: combinations in which it does not spread are at hand."""
    kernels, _ = problem(seed, n=9, m=7)
    y = np.arange(9) % 3 == 0
    spread = line_spread(normalised(kernels), np.where(y, 1.0, -1.0), np.ones(7))
    found = minimise_spread(spread)
    eta = cp.Variable(7, nonneg=True)
    forms = [np.linalg.eigh(M) for M in spread.covariances]
    roots = [(vectors * np.sqrt(np.maximum(values, 0.0))).T for values, vectors in forms]
    objective = cp.Minimize(sum(cp.norm(root @ eta) for root in roots))
    best = cp.Problem(objective, [spread.distances @ eta == 1.0]).solve(solver="CLARABEL")
    assert found.value == pytest.approx(best, rel=1e-5, abs=1e-6)
    assert found.gap < 1e-5

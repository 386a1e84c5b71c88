"""Learned weights of both sides: brute force, cvxpy for one side, derivatives, certificate, statuses."""

from itertools import pairwise

import cvxpy as cp
import numpy as np
import pytest
import scipy.optimize
import scipy.special

from multikernel.core.optim.loop import Status
from multikernel.pairs.solver.ridge import Cells
from multikernel.pairs.solver.weights import PairProblem, _Search, fit_pairs


def kernels(n, count, seed):
    """Kernels of mean diagonal one, of different ranks."""
    rng = np.random.default_rng(seed)
    made = []
    for m in range(count):
        Z = rng.normal(size=(n, 2 + 2 * m))
        K = Z @ Z.T
        made.append(K / K.diagonal().mean())
    return np.array(made)


def problem(share=1.1, n_left=8, n_right=6, alpha=0.3, tied=False, weighted=False):
    rng = np.random.default_rng(0)
    left, right = kernels(n_left, 3, 1), None if tied else kernels(n_right, 2, 2)
    observed = rng.random((n_left, n_left if tied else n_right)) < share
    if tied:
        observed |= observed.T
    places = np.argwhere(observed)
    Y = left[0] @ rng.normal(size=observed.shape) @ (left[0] if tied else right[1])
    Y += 0.3 * rng.normal(size=Y.shape)
    Y = Y + Y.T if tied else Y
    weights = 1.0 + (places.sum(axis=1) % 3 if weighted else np.zeros(len(places)))
    return PairProblem(
        Cells(places[:, 0], places[:, 1], Y[observed], weights, observed.shape), left, right, alpha
    )


def explicit_value(given, mu, nu):
    """α y'(G + α W⁻¹)⁻¹ y by the Gram matrix of the pairs."""
    cells = given.cells
    place = cells.rows * cells.shape[1] + cells.columns
    left = np.tensordot(mu, given.left, axes=1)
    right = np.tensordot(nu, given.kernels("right"), axes=1)
    A = np.kron(left, right)[np.ix_(place, place)] + given.alpha * np.diag(1.0 / cells.weights)
    return float(given.alpha * cells.values @ np.linalg.solve(A, cells.values))


@pytest.mark.parametrize(("share", "weighted"), [(1.1, False), (1.1, True), (0.7, False), (0.3, True)])
def test_no_weights_nearby_are_better_and_the_certificate_is_recomputed(share, weighted):
    given = problem(share, weighted=weighted)
    found = fit_pairs(given, 1e-8, 1000, learn=True)
    assert found.status == Status.OPTIMAL and found.gap <= 1e-8
    value = explicit_value(given, found.left, found.right)
    assert found.solution.objective == pytest.approx(value, rel=1e-7)
    B = given.cells.scatter(found.solution.beta)
    left, right = found.machine.left.K, found.machine.right.K
    for Ks, weights, inner in (
        (given.left, found.left, B @ right @ B.T),
        (given.right, found.right, B.T @ left @ B),
    ):
        assert weights.min() >= 0.0 and weights.sum() == pytest.approx(1.0)
        norms = np.array([np.sum(K * inner) for K in Ks])
        bound = given.alpha * (norms.max() - weights @ norms) / value
        assert bound <= found.gap + 1e-12
    rng = np.random.default_rng(3)
    for mu, nu in zip(rng.dirichlet(np.ones(3), 40), rng.dirichlet(np.ones(2), 40), strict=True):
        assert explicit_value(given, mu, found.right) >= value * (1 - 1e-8)
        assert explicit_value(given, found.left, nu) >= value * (1 - 1e-8)


def test_weights_of_one_side_are_those_of_a_convex_program():
    given = problem(0.8)
    given = PairProblem(given.cells, given.left, given.right[:1], given.alpha)
    found = fit_pairs(given, 1e-9, 1000, learn=True)
    cells = given.cells
    place = cells.rows * cells.shape[1] + cells.columns
    Gs = [np.kron(K, given.right[0])[np.ix_(place, place)] for K in given.left]
    # min over μ = max over β of α (2y'β − α‖β‖² − max_m β'G_mβ)
    beta, top = cp.Variable(cells.values.size), cp.Variable()
    bounds = [cp.quad_form(beta, cp.psd_wrap(G)) <= top for G in Gs]
    dual = 2 * cells.values @ beta - given.alpha * cp.sum_squares(beta) - top
    best = given.alpha * cp.Problem(cp.Maximize(dual), bounds).solve(solver=cp.CLARABEL)
    assert found.solution.objective == pytest.approx(best, rel=1e-6)


def test_against_brute_force_over_both_sides():
    given = problem(0.8)

    def value(parameters):
        mu, nu = scipy.special.softmax(parameters[:3]), scipy.special.softmax(parameters[3:])
        return explicit_value(given, mu, nu)

    starts = np.random.default_rng(0).normal(size=(3, 5))
    best = min(
        scipy.optimize.minimize(value, start, method="Nelder-Mead", options={"maxiter": 800}).fun
        for start in starts
    )
    found = fit_pairs(given, 1e-8, 1000, learn=True)
    assert found.solution.objective <= best * (1 + 1e-6)


@pytest.mark.parametrize("share", [1.1, 0.7, 0.25])
def test_one_set_of_objects_has_one_set_of_weights(share):
    given = problem(share, tied=True)
    found = fit_pairs(given, 1e-8, 1000, learn=True)
    assert found.status == Status.OPTIMAL and np.array_equal(found.left, found.right)
    value = explicit_value(given, found.left, found.left)
    assert found.solution.objective == pytest.approx(value, rel=1e-7)
    for target in np.eye(3):
        for step in (1e-4, 1e-2):
            mu = (1 - step) * found.left + step * target
            assert explicit_value(given, mu, mu) >= value * (1 - 1e-7)


@pytest.mark.parametrize("tied", [False, True])
def test_derivatives_against_differences(tied):
    given = problem(1.1, tied=tied)
    search = _Search(given, 1e-14, 1000)
    here = search.here
    mu, nu = here.weights["left"], here.weights["right"]

    def value(point):
        return explicit_value(given, point, point if tied else nu)

    h = 1e-5
    slopes = [(value(mu + h * e) - value(mu - h * e)) / (2 * h) for e in np.eye(3)]
    np.testing.assert_allclose(here.gradient, slopes, rtol=1e-6)
    if not tied:  # of tied weights the curvature is a part of it
        rows = [
            (search._at(here, "left", mu + h * e).gradient - search._at(here, "left", mu - h * e).gradient)
            / (2 * h)
            for e in np.eye(3)
        ]
        np.testing.assert_allclose(here.hessian, rows, rtol=1e-4)
    assert np.linalg.eigvalsh(here.hessian).min() >= -1e-9 * np.abs(here.hessian).max()


def test_equal_weights_and_single_kernels():
    given = problem(0.7)
    plain = fit_pairs(given, 1e-10, 1000, learn=False)
    assert plain.left.tolist() == [1 / 3] * 3 and plain.right.tolist() == [0.5] * 2
    assert plain.gap <= 1e-10 and plain.history == []
    value = explicit_value(given, plain.left, plain.right)
    assert plain.solution.objective == pytest.approx(value, rel=1e-9)
    single = PairProblem(given.cells, given.left[:1], given.right[:1], given.alpha)
    learned = fit_pairs(single, 1e-8, 1000, learn=True)
    assert learned.n_iter == 0 and learned.left.tolist() == learned.right.tolist() == [1.0]


def test_an_early_end_is_said():
    found = fit_pairs(problem(0.7, alpha=1e-3), 1e-10, 1, learn=True)
    assert found.status == Status.MAX_ITER and found.gap > 1e-10 and found.n_iter == 1
    values = [entry["objective"] for entry in fit_pairs(problem(), 1e-8, 99, learn=True).history]
    assert all(later <= earlier for earlier, later in pairwise(values))

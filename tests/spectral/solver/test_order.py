"""Weights in the order of the eigenvalues, against the programs that define them."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from multikernel.spectral.solver.kernel import (
    JointSpectrum,
    SpectralRule,
    alignment_weights,
    learn_spectral_weights,
    spectrum_of,
    target_norm,
    target_products,
)
from multikernel.spectral.solver.leave_one_out import squares_without_each
from multikernel.spectral.solver.separability import (
    Tradeoff,
    falling,
    scatters,
    separability_objective,
    separability_weights,
)


def make_problem(seed, n=24, l=14, p=8):
    """A kernel matrix of rank p and the classes of its first points."""
    rng = np.random.default_rng(seed)
    codes = rng.permutation(np.arange(l) % 3)
    Z = rng.normal(size=(n, p)) * np.linspace(2.0, 0.3, p)
    Z[:l] += 0.7 * rng.normal(size=(3, p))[codes]
    return Z @ Z.T, codes


def ordered_program(h, budget, chains):
    """argmin Σ h μ² over μ ≥ 0 of a given sum that do not rise along each chain, by cvxpy."""
    mu = cp.Variable(len(h), nonneg=True)
    order = [mu[r] >= mu[r + 1] for r in range(len(h) - 1) if chains[r] == chains[r + 1]]
    cp.Problem(cp.Minimize(cp.sum(cp.multiply(h, mu**2))), [cp.sum(mu) == budget, *order]).solve(
        solver=cp.CLARABEL, tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12
    )
    return mu.value


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("order", ["decreasing", "improved"])
def test_ordered_separability_solves_its_quadratic_program(seed, order):
    K, codes = make_problem(seed)
    spectrum = spectrum_of(K)
    found = learn_spectral_weights(
        spectrum, codes, SpectralRule(tradeoff=Tradeoff(1.5, relative=True), order=order)
    )
    f, g = scatters(spectrum.vectors[: codes.size], codes)
    h = found.alpha * g - f
    assert (h > 0.0).all()
    chains = spectrum.chains(order)
    expected = ordered_program(h, spectrum.budget, chains)
    np.testing.assert_allclose(found.weights, expected, atol=1e-5 * expected.max())
    assert found.weights.sum() == pytest.approx(spectrum.budget)
    start = int(order == "improved")
    assert (np.diff(found.weights[start:]) <= 1e-12).all()
    free = learn_spectral_weights(spectrum, codes, SpectralRule(tradeoff=Tradeoff(1.5, relative=True)))
    assert (np.diff(free.weights[start:]) > 0.0).any()  # the order binds
    assert found.objective < free.objective < 0.0


@given(st.integers(0, 10**6), st.integers(1, 9))
def test_ordered_weights_are_certified_by_their_multipliers(seed, p):
    """KKT of the program: 2 h_r μ_r = t + y_r − y_{r−1} with y ≥ 0, and y_r (μ_r − μ_{r+1}) = 0."""
    f, g = np.random.default_rng(seed).uniform(0.01, 1.0, (2, p))
    found = separability_weights(f, g, Tradeoff(1.2, relative=True), 3.0, 10, np.zeros(p, int))
    mu, h = found.weights, found.alpha * g - f
    t = 2.0 * (h @ mu**2) / mu.sum()
    y = np.cumsum(2.0 * h * mu - t)
    scale = np.abs(h * mu).max() * p
    assert mu.sum() == pytest.approx(3.0)
    assert (mu > 0.0).all() and (np.diff(mu) <= 1e-12 * mu.max()).all()
    assert y[-1] == pytest.approx(0.0, abs=1e-9 * scale)
    assert (y[:-1] >= -1e-9 * scale).all()
    assert (np.abs(y[:-1] * np.diff(mu)) <= 1e-9 * scale * mu.max()).all()
    assert separability_objective(mu, f, g, float(found.alpha)) == pytest.approx(-0.5 * t * 3.0)


def test_absent_eigenvectors_bind_no_other():
    f, g = np.array([0.2, 0.0, 0.1, 0.3]), np.array([1.0, 0.0, 0.5, 0.9])
    found = separability_weights(f, g, Tradeoff(10.0), 1.0, 10, np.zeros(4, int))
    kept = np.array([0, 2, 3])
    expected = separability_weights(f[kept], g[kept], Tradeoff(10.0), 1.0, 10, np.zeros(3, int))
    assert found.weights[1] == 0.0
    np.testing.assert_allclose(found.weights[kept], expected.weights)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("order", ["decreasing", "improved"])
@pytest.mark.parametrize("several", [False, True])
def test_ordered_alignment_is_best_of_all_ordered_weights(seed, order, several):
    K, codes = make_problem(seed)
    spectrum = spectrum_of(K)
    if several:
        spectrum = JointSpectrum((spectrum, spectrum_of(make_problem(seed + 100)[0])))
    V = spectrum.vectors[: codes.size]
    q, norm, chains = target_products(V, codes, 3), target_norm(codes, 3), spectrum.chains(order)
    w = alignment_weights(V, q, norm, "nnls", len(K), spaces=spectrum.spaces, chains=chains)
    free = cp.Variable(q.size, nonneg=True)
    pairs = [r for r in range(q.size - 1) if chains[r] == chains[r + 1]]
    S = (V.T @ V) ** 2
    # A(w) does not depend on the scale of w: q'w = 1, and w'Sw the smallest
    problem = cp.Problem(
        cp.Minimize(cp.quad_form(free, cp.psd_wrap(S))),
        [q @ free == 1.0, *(free[r] >= free[r + 1] for r in pairs)],
    )
    problem.solve(solver=cp.CLARABEL)
    value = (q @ w) / np.sqrt(w @ S @ w)
    assert value == pytest.approx(1.0 / np.sqrt(problem.value), rel=1e-6)
    assert (w >= 0.0).all() and all(w[r] >= w[r + 1] - 1e-12 * w.max() for r in pairs)


def test_the_closed_alignment_in_order_is_the_nearest_ordered_one():
    K, codes = make_problem(3)
    spectrum = spectrum_of(K)
    V = spectrum.vectors[: codes.size]
    q, chains = target_products(V, codes, 3), spectrum.chains("decreasing")
    w = alignment_weights(V, q, target_norm(codes, 3), "closed", len(K), chains=chains)
    near = cp.Variable(q.size)
    cp.Problem(cp.Minimize(cp.sum_squares(near - q)), [near[:-1] >= near[1:]]).solve(solver=cp.CLARABEL)
    np.testing.assert_allclose(w, near.value, atol=1e-5 * q.max())
    assert not np.allclose(w, q)


@pytest.mark.parametrize(
    "rule", [SpectralRule(order="decreasing"), SpectralRule("alignment", order="improved")]
)
def test_leaving_one_out_keeps_the_order(rule):
    K, codes = make_problem(5)
    spectrum = spectrum_of(K)
    squares = squares_without_each(spectrum, codes, rule)
    for i in (0, 6, 13):
        order = np.append(np.delete(np.arange(len(K)), i), i)
        moved = spectrum.at(order)
        expected = learn_spectral_weights(moved, np.delete(codes, i), rule).weights ** 2
        np.testing.assert_allclose(squares[i] / squares[i].sum(), expected / expected.sum(), rtol=1e-8)


def test_falling_leaves_falling_values_as_they_are():
    values = np.array([[5.0, 4.0, 4.0, 9.0], [1.0, 2.0, 3.0, 0.0]])
    np.testing.assert_allclose(
        falling(values, np.array([0, 0, 0, 1])), [[5.0, 4.0, 4.0, 9.0], [2.0, 2.0, 2.0, 0.0]]
    )
    np.testing.assert_array_equal(values[1], [1.0, 2.0, 3.0, 0.0])

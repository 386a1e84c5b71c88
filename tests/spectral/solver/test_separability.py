"""Scatters along eigenvectors and the weights of best separability, against their definitions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from multikernel.spectral.solver.separability import (
    Tradeoff,
    scatters,
    scatters_without_each,
    separability_objective,
    separability_ratio,
    separability_weights,
)


def make_rows(seed, l=14, p=5, k=4):
    """Labelled rows of eigenvectors; the last class has one point, the one before two."""
    rng = np.random.default_rng(seed)
    codes = np.append(rng.permutation(np.arange(l - 3) % (k - 2)), [k - 2, k - 2, k - 1])
    V = rng.normal(size=(l, p)) * rng.uniform(0.1, 1.0, p) + rng.normal(size=p)
    return V + 0.5 * rng.normal(size=(k, p))[codes], codes


def trace_scatters(K, codes):
    """Traces of the scatters in the feature space of K, by double sums over its entries."""
    l = len(K)
    between = within = 0.0
    for c in set(codes.tolist()):
        block = K[np.ix_(codes == c, codes == c)]
        between += block.sum() / len(block) / l
        within += np.trace(block) / l - block.sum() / len(block) / l
    return between - K.sum() / l**2, within


def closed_form(f, g, alpha, budget):
    d = f - alpha * g
    return budget / d / (1.0 / d).sum()


# --- scatters ------------------------------------------------------------------------------------------


@given(st.integers(0, 10**6))
def test_scatters_are_those_of_the_feature_space(seed):
    V, codes = make_rows(seed)
    mu = np.random.default_rng(seed + 1).uniform(0.1, 2.0, V.shape[1])
    between, within = trace_scatters((V * mu**2) @ V.T, codes)
    f, g = scatters(V, codes)
    assert mu**2 @ f == pytest.approx(between, rel=1e-9)
    assert mu**2 @ g == pytest.approx(within, rel=1e-9)
    assert separability_ratio(mu, f, g) == pytest.approx(between / within, rel=1e-9)
    assert separability_objective(mu, f, g, 7.0) == pytest.approx(between - 7.0 * within, rel=1e-8)
    assert separability_objective(mu, f, g, np.inf) == pytest.approx(-within, rel=1e-9)


def test_the_ratio_without_scatter_inside_the_classes_is_infinite():
    assert separability_ratio(np.ones(2), np.ones(2), np.zeros(2)) == np.inf


@given(st.integers(0, 10**6))
def test_scatters_without_each_are_those_of_the_others(seed):
    V, codes = make_rows(seed)
    f, g = scatters_without_each(V, codes)
    for i in range(len(V)):
        others = np.arange(len(V)) != i
        expected_f, expected_g = scatters(V[others], codes[others])
        np.testing.assert_allclose(f[i], expected_f, rtol=1e-9, atol=1e-14)
        np.testing.assert_allclose(g[i], expected_g, rtol=1e-9, atol=1e-14)


def test_scatters_keep_their_digits_far_from_zero():
    V, codes = make_rows(0)
    far = scatters(V + 1e6, codes), scatters_without_each(V + 1e6, codes)
    near = scatters(V, codes), scatters_without_each(V, codes)
    for got, expected in zip(far, near, strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-8)


# --- the maximiser ---------------------------------------------------------------------------------------


@given(st.integers(0, 10**6), st.floats(1.01, 100.0))
def test_above_alpha_star_no_other_weights_are_better(seed, kappa):
    rng = np.random.default_rng(seed)
    f, g = rng.uniform(0.01, 1.0, (2, 6))
    found = separability_weights(f, g, Tradeoff(kappa, relative=True), 3.0, 10)
    alpha = kappa * (f / g).max()
    assert found.alpha == pytest.approx(alpha)
    assert found.alpha_star == pytest.approx((f / g).max())
    mu = found.weights
    assert mu.sum() == pytest.approx(3.0)
    assert (mu > 0.0).all() and not found.held.any() and found.present.all()
    best = separability_objective(mu, f, g, alpha)
    for size in (1e-3, 1.0, 100.0):
        change = rng.normal(size=6) * size
        assert separability_objective(mu + change - change.mean(), f, g, alpha) < best


@given(st.integers(0, 10**6))
def test_below_two_ratios_the_closed_form_is_no_maximum(seed):
    f, g = np.random.default_rng(seed).uniform(0.01, 1.0, (2, 6))
    first, second = np.argsort(f / g)[::-1][:2]
    alpha = 0.99 * (f / g)[second]
    direction = np.zeros(6)
    direction[[first, second]] = 1.0, -1.0  # two positive d: it goes up for ever
    mu = closed_form(f, g, alpha, 3.0)
    values = [separability_objective(mu + t * direction, f, g, alpha) for t in (0.0, 10.0, 1000.0)]
    assert values[0] < values[1] < values[2]
    found = separability_weights(f, g, Tradeoff(alpha), 3.0, 10)
    assert alpha <= found.enough == pytest.approx((f / g).max())
    assert found.held[[first, second]].all()


def test_just_below_alpha_star_one_eigenvector_takes_more_than_all():
    f, g = np.array([5.0, 1.0, 0.5]), np.array([1.0, 1.0, 1.0])
    alpha = 4.99
    mu = closed_form(f, g, alpha, 1.0)
    assert mu[0] > 1.0 and (mu[1:] < 0.0).all()
    basis = np.linalg.svd(np.ones((1, 3)))[2][1:]  # of the directions of sum zero
    assert np.linalg.eigvalsh(basis @ np.diag(f - alpha * g) @ basis.T).max() < 0.0
    assert float(separability_weights(f, g, Tradeoff(alpha), 1.0, 3).enough) == 5.0


@given(st.integers(0, 10**6), st.floats(1.01, 1e6))
def test_fractional_programming_leaves_the_range_of_maximisers(seed, kappa):
    f, g = np.random.default_rng(seed).uniform(0.01, 1.0, (2, 6))
    found = separability_weights(f, g, Tradeoff(kappa, relative=True), 3.0, 10)
    ratio = separability_ratio(found.weights, f, g)
    assert ratio <= found.alpha_star
    assert separability_weights(f, g, Tradeoff(ratio), 3.0, 10).held.any()


def test_ten_thousand_is_as_good_as_infinity():
    f, g = np.random.default_rng(0).uniform(0.1, 1.0, (2, 8))
    large = separability_weights(f, g, Tradeoff(1e4), 3.0, 10).weights
    infinite = separability_weights(f, g, Tradeoff(np.inf), 3.0, 10).weights
    np.testing.assert_allclose(infinite, 3.0 / g / (1.0 / g).sum(), rtol=1e-12)
    np.testing.assert_allclose(large, infinite, rtol=2e-3)
    assert np.abs(large / infinite - 1.0).max() > 1e-6  # f still counts, if little


# --- guards -----------------------------------------------------------------------------------------------


def test_an_eigenvector_that_the_labelled_points_do_not_see_has_no_weight():
    f, g = np.array([0.1, 2e-9, 0.2]), np.array([0.1, 0.0, 0.4])
    found = separability_weights(f, g, Tradeoff(1e4), 1.0, 100)
    assert found.present.tolist() == [True, False, True]
    assert not found.held.any() and found.alpha_star == 1.0
    np.testing.assert_allclose(found.weights[[0, 2]], closed_form(f[[0, 2]], g[[0, 2]], 1e4, 1.0))
    assert found.weights[1] == 0.0
    assert separability_weights(f, g, Tradeoff(1e4), 1.0, 1000).present.all()  # 1e-6 / n is smaller there


def test_an_eigenvector_without_scatter_inside_the_classes_is_held():
    f, g = np.array([0.5, 0.1, 0.2]), np.array([1e-6, 0.1, 0.4])
    found = separability_weights(f, g, Tradeoff(1e4), 1.0, 10)
    assert found.held.tolist() == [True, False, False]
    assert found.weights[0] / found.weights[1] == pytest.approx(1000.0)
    assert found.weights[1] / found.weights[2] == pytest.approx((0.2 - 4000.0) / (0.1 - 1000.0))
    assert found.alpha_star == pytest.approx(5e5) and found.enough == pytest.approx(1.0)


@pytest.mark.parametrize(
    "alpha", [Tradeoff(1e4), Tradeoff(np.inf), Tradeoff(1.5, True), Tradeoff(np.inf, True)]
)
def test_where_no_class_scatters_all_weights_are_equal(alpha):
    found = separability_weights(np.array([0.5, 0.1]), np.zeros(2), alpha, 1.0, 10)
    assert found.held.all() and found.alpha_star == np.inf
    assert found.weights.tolist() == [0.5, 0.5]


def test_rounding_is_no_scatter():
    f = np.array([0.5, 0.1])
    exact = separability_weights(f, np.array([0.0, 0.1]), Tradeoff(np.inf), 1.0, 10)
    rounded = separability_weights(f, np.array([1e-16, 0.1]), Tradeoff(np.inf), 1.0, 10)
    np.testing.assert_array_equal(exact.weights, rounded.weights)


def test_one_class_alone_is_brought_together():
    found = separability_weights(np.zeros(2), np.array([1.0, 3.0]), Tradeoff(1.5, True), 4.0, 10)
    np.testing.assert_allclose(found.weights, [3.0, 1.0])


def test_nothing_present_is_no_weight_and_no_warning():
    found = separability_weights(np.zeros(2), np.zeros(2), Tradeoff(1e4), 1.0, 10)
    assert not found.present.any() and not found.weights.any()


@pytest.mark.parametrize("alpha", [Tradeoff(1e4), Tradeoff(2.0), Tradeoff(1.5, True), Tradeoff(np.inf, True)])
def test_many_problems_at_once_are_each_by_itself(alpha):
    rng = np.random.default_rng(3)
    f, g = rng.uniform(0.01, 1.0, (2, 7, 4))
    f[0, 1], g[0, 1] = 0.0, 0.0
    g[1, 2] = 0.0
    every = separability_weights(f, g, alpha, 2.0, 10)
    for i in range(7):
        one = separability_weights(f[i], g[i], alpha, 2.0, 10)
        for name in ("weights", "alpha", "alpha_star", "enough", "present", "held"):
            np.testing.assert_array_equal(getattr(every, name)[i], getattr(one, name))


def test_an_alpha_relative_to_a_huge_one_counts_from_ten_thousand():
    assert Tradeoff(2.0, relative=True).alpha(np.array([0.0, 3.0, 1e7])).tolist() == [2.0, 6.0, 2e4]
    assert Tradeoff(2.0).alpha(np.array([0.0, 3.0])).tolist() == [2.0, 2.0]

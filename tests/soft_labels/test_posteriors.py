"""Posteriors from nearby samples, against scikit-learn's neighbours and densities and against plain loops."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from sklearn.neighbors import KernelDensity, KNeighborsClassifier, NearestNeighbors

from multikernel.soft_labels import solver as posteriors
from multikernel.soft_labels.solver import (
    KernelDistances,
    TableDistances,
    mean_nearest_distance,
    neighbour_posteriors,
    parzen_posteriors,
)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
CODES = RNG.integers(0, 3, size=60)
CODES[:3] = [0, 1, 2]


def random_points(seed, n, grid):
    rng = np.random.default_rng(seed)
    table = rng.integers(0, 3, size=(n, 2)).astype(float) if grid else rng.normal(size=(n, 2))
    return table, rng.integers(0, 3, size=n), rng.uniform(0.1, 3.0, size=n)


@pytest.mark.parametrize("k", [1, 2, 9, 60])
def test_neighbours_without_ties_are_those_of_scikit_learn(k):
    found = neighbour_posteriors(TableDistances(X), CODES, 3, k)
    peer = KNeighborsClassifier(k).fit(X, CODES)
    np.testing.assert_allclose(found, peer.predict_proba(X), atol=1e-12)


@given(st.integers(0, 10**6), st.integers(1, 14), st.integers(1, 16), st.booleans())
def test_the_places_of_neighbours_by_the_definition(seed, n, k, grid):
    """Each sample counts with its whole weight or not at all, but those as far away as the last share."""
    table, codes, weights = random_points(seed, n, grid)
    found = neighbour_posteriors(TableDistances(table), codes, 3, k, weights)
    for i in range(n):
        squares = np.round(((table - table[i]) ** 2).sum(axis=1), 12)
        left, votes = min(k, weights.sum()), np.zeros(3)
        for square in np.unique(squares):
            ring = np.flatnonzero(squares == square)
            share = min(1.0, left / weights[ring].sum())
            np.add.at(votes, codes[ring], share * weights[ring])
            left -= share * weights[ring].sum()
        np.testing.assert_allclose(found[i], votes / votes.sum(), atol=1e-12)


@given(st.integers(0, 10**6), st.integers(2, 14), st.booleans())
def test_neither_the_order_of_the_samples_nor_the_unit_of_their_weights_matters(seed, n, grid):
    table, codes, weights = random_points(seed, n, grid)
    order = np.random.default_rng(seed).permutation(n)
    for find, size, more in ((neighbour_posteriors, 4, 28), (parzen_posteriors, 0.8, 0.8)):
        first = find(TableDistances(table), codes, 3, size, weights)
        again = find(TableDistances(table[order]), codes[order], 3, more, 7.0 * weights[order])
        np.testing.assert_allclose(again, first[order], atol=1e-12)
        np.testing.assert_allclose(first.sum(axis=1), 1.0, rtol=1e-12)


@given(st.integers(0, 10**6), st.integers(2, 12), st.integers(1, 9), st.booleans())
def test_a_weight_of_two_is_a_repeated_sample(seed, n, k, grid):
    table, codes, _ = random_points(seed, n, grid)
    counts = np.random.default_rng(seed).integers(1, 4, size=n)
    rows = np.repeat(np.arange(n), counts)
    for find in (neighbour_posteriors, parzen_posteriors):
        merged = find(TableDistances(table), codes, 3, k, counts.astype(float))
        repeated = find(TableDistances(table[rows]), codes[rows], 3, k)
        np.testing.assert_allclose(repeated, merged[rows], atol=1e-12)


def test_equal_samples_have_equal_posteriors_however_many():
    table = np.zeros((12, 1))
    codes = np.repeat([0, 1], [3, 9])
    found = neighbour_posteriors(TableDistances(table), codes, 2, 5)
    np.testing.assert_allclose(found, np.tile([0.25, 0.75], (12, 1)), rtol=1e-12)


def test_distances_that_differ_by_rounding_are_ties():
    table = np.array([[0.0, 0.0], [0.1, 0.0], [-0.1 * (1.0 + 1e-13), 0.0], [0.0, 0.1 * (1.0 + 2e-13)]])
    for k, share in ((2, 1.0 / 3.0), (3, 2.0 / 3.0)):
        found = neighbour_posteriors(TableDistances(table), np.arange(4), 4, k)
        np.testing.assert_allclose(found[0], np.array([1.0, share, share, share]) / k, rtol=1e-12)


@pytest.mark.parametrize("width", [0.3, 2.0])
def test_windows_are_densities_times_frequencies(width):
    weights = RNG.uniform(0.5, 2.0, size=60)
    found = parzen_posteriors(TableDistances(X), CODES, 3, width, weights)
    joint = np.empty((60, 3))
    for c, own in enumerate(np.eye(3, dtype=bool)[CODES].T):
        # exp(-d²/s²) is a normal density of standard deviation s/√2
        density = KernelDensity(bandwidth=width / np.sqrt(2.0)).fit(X[own], sample_weight=weights[own])
        joint[:, c] = weights[own].sum() * np.exp(density.score_samples(X))
    np.testing.assert_allclose(found, joint / joint.sum(axis=1, keepdims=True), rtol=1e-9)


@pytest.mark.parametrize("width", [1e-200, 1e-160])
def test_narrow_windows_hold_the_sample_alone(width):
    found = parzen_posteriors(TableDistances(X), CODES, 3, width)
    np.testing.assert_array_equal(found, np.eye(3)[CODES])


def test_the_mean_distance_to_the_nearest_other_sample():
    lengths, _ = NearestNeighbors(n_neighbors=2).fit(X).kneighbors(X)
    np.testing.assert_allclose(mean_nearest_distance(TableDistances(X)), lengths[:, 1].mean(), rtol=1e-12)
    twice = np.vstack([X[:2], X[:2]])  # the nearest is at no distance: the mean of the others
    np.testing.assert_allclose(
        mean_nearest_distance(TableDistances(twice)), np.linalg.norm(X[0] - X[1]), rtol=1e-12
    )
    assert mean_nearest_distance(TableDistances(np.ones((4, 2)))) == 1.0
    assert mean_nearest_distance(TableDistances(np.ones((1, 2)))) == 1.0


@pytest.mark.parametrize("make", [np.asarray, scipy.sparse.csr_matrix])
def test_blocks_of_rows_change_nothing(make, monkeypatch):
    whole = TableDistances(X)
    expected = neighbour_posteriors(whole, CODES, 3), parzen_posteriors(whole, CODES, 3, 0.7)
    nearest = mean_nearest_distance(whole)
    monkeypatch.setattr(posteriors, "_BLOCK_ELEMENTS", 7 * 60)
    parts = TableDistances(make(X))
    np.testing.assert_allclose(neighbour_posteriors(parts, CODES, 3), expected[0], rtol=1e-12)
    np.testing.assert_allclose(parzen_posteriors(parts, CODES, 3, 0.7), expected[1], rtol=1e-9)
    np.testing.assert_allclose(mean_nearest_distance(parts), nearest, rtol=1e-12)


def test_distances_of_many_columns_are_exact_near_and_far():
    rng = np.random.default_rng(1)
    table = rng.normal(size=(40, 50)) + 3.0
    table[20:] = table[:20] + 10.0 ** rng.uniform(-9, 0, size=(20, 1)) * rng.normal(size=(20, 50))
    table[20] = table[0]
    plain = np.array([[((x - z) ** 2).sum() for z in table] for x in table])
    for rows in (slice(0, 40), slice(17, 23)):
        found = TableDistances(table).block(rows)
        np.testing.assert_allclose(found, plain[rows], rtol=1e-9, atol=0.0)


def test_distances_in_the_feature_space_of_the_mean_kernel():
    linear, quadratic = X @ X.T, (X @ X.T + 1.0) ** 2
    plain = np.zeros((60, 60))
    for K in (linear, quadratic):
        for i in range(60):
            for j in range(60):
                plain[i, j] += (K[i, i] + K[j, j] - 2.0 * K[i, j]) / np.trace(K) * 60.0
    found = KernelDistances(np.stack([1e6 * linear, 1e-6 * quadratic])).block(slice(0, 60))
    np.testing.assert_allclose(found, plain, rtol=1e-9, atol=1e-12)
    assert (np.diagonal(found) == 0.0).all()
    part = KernelDistances(np.stack([linear, quadratic])).block(slice(5, 9))
    np.testing.assert_allclose(part, plain[5:9], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_equal_samples_are_at_no_distance_in_a_kernel(dtype):
    table = np.vstack([X, X]) + 100.0
    K = (table @ table.T).astype(dtype)
    K[:60, 60:] *= 1.0 - 2.0 * np.finfo(dtype).eps  # products of another order
    squares = KernelDistances(K[None]).block(slice(0, 60))
    assert (np.diagonal(squares[:, 60:]) == 0.0).all()
    assert (squares >= 0.0).all()

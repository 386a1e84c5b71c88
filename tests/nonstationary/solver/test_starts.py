"""Where the outer loop begins: uniform where the kernels differ, drawn where one repeats."""

import numpy as np
import pytest

from multikernel.nonstationary.solver.learn import draw_starts, has_twins, n_starts
from multikernel.nonstationary.solver.mixtures import Mixtures


def make_mixtures(Ks, kernels, n=12):
    rows = np.arange(0, n, 2), np.arange(1, n, 2)
    pair = np.array(kernels[0]), np.array(kernels[1])
    return Mixtures(np.asarray(Ks), pair, rows, np.ones(n), np.ones(n))


def three_kernels(n=12):
    X = np.random.default_rng(0).normal(size=(n, 3))
    return np.stack([X @ X.T, np.eye(n), X[:, :1] @ X[:, :1].T])


@pytest.mark.parametrize(
    ("kernels", "twins"),
    [
        (([0, 1, 2], [0, 1, 2]), False),
        (([0], [0]), False),
        (([0, 1, 0], [0, 1]), True),
        (([0, 1], [2, 1, 2]), True),
    ],
)
def test_a_kernel_that_repeats_within_a_class(kernels, twins):
    mixtures = make_mixtures(three_kernels(), kernels)
    assert has_twins(mixtures) is twins
    assert n_starts(mixtures) == (8 if twins else 1)


def test_kernels_are_compared_by_their_values():
    Ks = three_kernels()
    assert has_twins(make_mixtures([Ks[0], Ks[0] * (1.0 + 1e-13)], ([0, 1], [0])))
    assert not has_twins(make_mixtures([Ks[0], 1.001 * Ks[0]], ([0, 1], [0])))
    other = Ks[0].copy()
    other[-1, -1] += 0.1  # the first row is the same
    assert not has_twins(make_mixtures([Ks[0], other], ([0, 1], [0])))


def is_uniform(q):
    return all(np.array_equal(part, np.full(part.shape, 1.0 / part.shape[1])) for part in q)


def is_assigned(q):
    return all(set(np.unique(part)) <= {0.0, 1.0} for part in q)


def test_starts_where_kernels_differ():
    mixtures = make_mixtures(three_kernels(), ([0, 1, 2], [0, 1]))
    starts = draw_starts(mixtures, 5, np.random.default_rng(0))
    assert len(starts) == 5 and is_uniform(starts[0])
    assert all(is_assigned(start) for start in starts[1:])
    for positive, negative in starts:
        assert positive.shape == (6, 3) and negative.shape == (6, 2)
        np.testing.assert_allclose(positive.sum(axis=1), 1.0)
        np.testing.assert_allclose(negative.sum(axis=1), 1.0)
    assert not np.array_equal(starts[2][0], starts[4][0])
    again = draw_starts(mixtures, 5, np.random.default_rng(0))
    assert all(np.array_equal(a[s], b[s]) for a, b in zip(starts, again, strict=True) for s in (0, 1))


def test_starts_where_a_kernel_repeats_are_random_and_clustered_by_turns():
    rng = np.random.default_rng(0)
    n = 40
    side = (np.arange(n) // 2) % 2  # two groups in each class, far apart
    X = rng.normal(size=(n, 2)) + np.where(side, 20.0, -20.0)[:, None]
    mixtures = make_mixtures([X @ X.T], ([0, 0], [0, 0]), n)
    starts = draw_starts(mixtures, 8, np.random.default_rng(1))
    assert [is_uniform(start) for start in starts] == [False] * 7 + [True]  # equal twins are the last resort
    starts = starts[:7]
    for number, start in enumerate(starts):
        assert is_assigned(start)
        for part, rows in zip(start, mixtures.rows, strict=True):
            split = part[side[rows] == 1, 0].mean(), part[side[rows] == 0, 0].mean()
            if number % 2:  # k-means finds the groups
                assert sorted(split) == [0.0, 1.0]
            else:
                assert min(split) > 0.0 and max(split) < 1.0
    assert len(draw_starts(mixtures, 1, np.random.default_rng(1))) == 1


def test_clusters_are_a_fixed_point_of_k_means_in_feature_space():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(30, 2))
    mixtures = make_mixtures([X @ X.T, X @ X.T], ([0, 1, 0], [0, 1]), 30)
    for positive, negative in draw_starts(mixtures, 8, np.random.default_rng(2))[1::2]:
        for members, rows in ((positive, mixtures.rows[0]), (negative, mixtures.rows[1])):
            means = (members.T @ X[rows]) / np.maximum(members.sum(axis=0), 1.0)[:, None]
            distances = ((X[rows][:, None] - means) ** 2).sum(axis=2)
            used = np.flatnonzero(members.any(axis=0))
            np.testing.assert_array_equal(used[distances[:, used].argmin(axis=1)], members.argmax(axis=1))


def test_more_components_than_samples():
    mixtures = make_mixtures(three_kernels(4)[:, :4, :4], ([0] * 5, [0, 1]), 4)
    for positive, negative in draw_starts(mixtures, 4, np.random.default_rng(0)):
        assert positive.shape == (2, 5) and negative.shape == (2, 2)
        np.testing.assert_allclose(positive.sum(axis=1), 1.0)

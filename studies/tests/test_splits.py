"""Random splits: every class on either side, nothing twice, and the same for the same generator."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from studies.splits import draw_balanced_order, draw_order

SIZES = st.lists(st.integers(2, 9), min_size=2, max_size=4)


def labels(sizes, seed):
    return np.random.default_rng(seed).permutation(np.repeat(np.arange(len(sizes)), sizes))


@given(sizes=SIZES, seed=st.integers(0, 9), data=st.data())
def test_a_split_has_every_class_in_both_parts_and_no_point_twice(sizes, seed, data):
    y = labels(sizes, seed)
    n = data.draw(st.integers(2 * len(sizes), len(y)))
    n_train = data.draw(st.integers(len(sizes), n - len(sizes)))
    order = draw_order(y, n_train, np.random.default_rng(seed), n)
    assert len(set(order.tolist())) == len(order) == n
    assert set(y[order[:n_train]]) == set(y[order[n_train:]]) == set(range(len(sizes)))
    np.testing.assert_array_equal(order, draw_order(y, n_train, np.random.default_rng(seed), n))


def test_a_split_of_all_points_is_a_permutation_and_random():
    y = labels([30, 30], 0)
    rng = np.random.default_rng(0)
    first, second = draw_order(y, 40, rng), draw_order(y, 40, rng)
    np.testing.assert_array_equal(np.sort(first), np.arange(60))
    assert (first != second).any()


@given(sizes=SIZES, seed=st.integers(0, 9), share=st.sampled_from([0.5, 0.6, 0.8]))
def test_a_balanced_split_has_its_share_of_every_class(sizes, seed, share):
    y = labels(sizes, seed)
    order, n_train = draw_balanced_order(y, share, np.random.default_rng(seed), per_class=5)
    drawn = [min(size, 5) for size in sizes]
    assert len(set(order.tolist())) == len(order) == sum(drawn)
    expected = [round(share * size) for size in drawn]
    assert np.bincount(y[order[:n_train]], minlength=len(sizes)).tolist() == expected
    assert np.bincount(y[order[n_train:]], minlength=len(sizes)).tolist() == [
        size - training for size, training in zip(drawn, expected, strict=True)
    ]


def test_a_balanced_split_draws_its_points_at_random_and_may_take_all():
    y = labels([20, 20], 1)
    rng = np.random.default_rng(1)
    first, _ = draw_balanced_order(y, 0.6, rng, per_class=10)
    second, _ = draw_balanced_order(y, 0.6, rng, per_class=10)
    assert set(first.tolist()) != set(second.tolist())
    whole, n_train = draw_balanced_order(y, 0.6, rng)
    np.testing.assert_array_equal(np.sort(whole), np.arange(40))
    assert n_train == 24

"""Several samples of one patient: taken for independent they make tests too sure, by groups they do not."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from scipy.stats import binom

from multikernel import MKLClassifier, MKLRegressor, View
from multikernel.inspection import enriched_sets, feature_importance, select_views, view_shapley
from multikernel.inspection.explaining.permutation import _permuted_sparse, within
from multikernel.inspection.explaining.stability import half_groups
from multikernel.inspection.explaining.view_tests import Permutations, within_groups
from multikernel.inspection.repeated import (
    exchanged,
    group_numbers,
    is_constant,
    of_groups,
    rows_of_other_groups,
)
from multikernel.kernels import Gaussian, Linear

GROUPS = np.repeat(np.arange(16), 3)
MOST = binom.ppf(0.999, 100, 0.1) / 100  # rejections at 10 % that a test with this size has by chance


def patients(rng, groups=GROUPS, width=2):
    """Columns that samples of a patient have nearly in common."""
    return rng.normal(size=(groups.max() + 1, width))[groups] + 0.1 * rng.normal(size=(groups.size, width))


def rejections(make, n=100):
    """How often p is at most 10 %, without and with the groups, where views and target are independent."""
    found = np.array([make(np.random.default_rng(seed)) for seed in range(n)])
    return (found <= 0.1).mean(axis=0)


# ---------------------------------------------------------------------- what is exchanged
def test_whole_groups_take_the_target_of_another_group():
    rng, sizes = np.random.RandomState(0), np.repeat([0, 1, 2, 3], [1, 2, 3, 4])
    y = np.array(["a", "b", "c", "d"])[sizes]
    assert is_constant(y, sizes) and not is_constant(np.arange(10), sizes)
    counts = dict.fromkeys("abcd", 0)
    for _ in range(400):
        permuted = y[exchanged(sizes, 10, rng, whole=True)]
        assert is_constant(permuted, sizes) and set(permuted) == set("abcd")
        counts[permuted[0]] += 1
    assert min(counts.values()) > 60


def test_within_groups_all_orders_are_as_likely():
    rng, numbers = np.random.RandomState(0), np.array([1, 0, 1, 1, 0])
    drawn = [tuple(exchanged(numbers, 5, rng, whole=False)) for _ in range(1200)]
    assert all((numbers[list(rows)] == numbers).all() for rows in drawn)
    counts = {rows: drawn.count(rows) for rows in set(drawn)}
    assert len(counts) == 12 and min(counts.values()) > 60  # 3! × 2!
    batches = np.concatenate(list(Permutations(5, 1199, 0, numbers)))
    assert (numbers[batches] == numbers).all() and len(np.unique(batches, axis=0)) == 12
    assert batches[0].tolist() == [0, 1, 2, 3, 4]


def test_kernels_of_groups_are_those_of_means():
    rng = np.random.default_rng(0)
    X, numbers = rng.normal(size=(7, 3)), np.array([0, 0, 1, 2, 2, 2, 1])
    means = np.array([X[numbers == g].mean(axis=0) for g in range(3)])
    Ks, y = of_groups((X @ X.T)[None], np.array(list("aabcccb")), numbers)
    np.testing.assert_allclose(Ks[0], means @ means.T)
    assert y.tolist() == ["a", "b", "c"]
    centered = within_groups(X, numbers)
    np.testing.assert_allclose(centered, X - means[numbers])


def test_halves_hold_whole_groups():
    numbers = np.repeat(np.arange(5), [1, 2, 3, 1, 2])
    halves = half_groups(numbers, 10, np.random.RandomState(0))
    for first, second in zip(halves[::2], halves[1::2], strict=True):
        one, other = set(numbers[first]), set(numbers[second])
        assert len(one) == len(other) == 2 and not one & other


def test_rows_of_other_groups_come_from_one_group():
    numbers = np.array([0, 1, 0, 1, 2, 2, 2])
    for seed in range(10):
        rows = rows_of_other_groups(numbers, np.random.RandomState(seed))
        sources = [set(numbers[rows[numbers == g]]) for g in range(3)]
        assert sorted(g for source in sources for g in source) == [0, 1, 2]
    table = np.arange(14.0).reshape(7, 2)
    order = np.array([4, 0, 5, 2, 1, 3, 1])
    found = _permuted_sparse(csr_matrix(table), {1: order}).toarray()
    np.testing.assert_array_equal(found, np.c_[table[:, 0], table[order, 1]])
    has = np.array([True, False, True, True, True, True, True])
    assert within(order, has).tolist() == [4, 1, 5, 2, 4, 3, 6]


# ---------------------------------------------------------------------- error rates
@pytest.mark.parametrize("method", ["marginal", "conditional"])
def test_views_of_patients_do_not_matter_by_themselves(method):
    def p_values(rng):
        X, y = np.hstack([patients(rng), patients(rng)]), rng.permutation(np.arange(16) % 2)[GROUPS]
        views = [View("a", Gaussian(), [0, 1]), View("b", Gaussian(), [2, 3])]
        options = {"method": method, "n_permutations": 99, "random_state": 0}
        found = [select_views(views, X, y, groups=groups, **options) for groups in (None, GROUPS)]
        return [each.table.loc["a", "p_value"] for each in found]

    without, grouped = rejections(p_values)
    assert without > 2 * MOST and grouped <= MOST


def test_targets_that_differ_within_patients_are_permuted_within_them():
    def p_values(rng):
        X, level = patients(rng), rng.normal(size=16)[GROUPS]
        y = level + rng.normal(size=GROUPS.size)
        options = {"n_permutations": 99, "random_state": 0}
        found = [
            select_views([View("a", Gaussian(), [0, 1])], X, y, groups=groups, **options)
            for groups in (None, GROUPS)
        ]
        return [each.table.loc["a", "p_value"] for each in found]

    without, grouped = rejections(p_values)
    assert without > 1.5 * MOST and grouped <= MOST


def test_what_differs_within_patients_is_found():
    rng = np.random.default_rng(0)
    X = np.hstack([patients(rng), rng.normal(size=(48, 2))])
    y = 3.0 * rng.normal(size=16)[GROUPS] + 2.0 * X[:, 2]
    views = [View("patient", Gaussian(), [0, 1]), View("sample", Gaussian(), [2, 3])]
    found = select_views(views, X, y, groups=GROUPS, random_state=0)
    assert "sample" in found.selected
    stable = {"method": "stability", "max_false": 2.0, "n_pairs": 10}
    assert set(select_views(views, X, y, groups=GROUPS, **stable).to_frame()["share"]) <= set(
        np.arange(21) / 20
    )


def test_sets_that_tell_patients_apart_carry_weight_by_chance():
    def p_values(rng):
        X, y = np.hstack([patients(rng), rng.normal(size=(48, 2))]), rng.normal(size=16)[GROUPS]
        views = [View("a", Linear(), [0, 1]), View("b", Linear(), [2, 3])]
        options = {"values": [1.0], "n_permutations": 19, "random_state": 0}
        found = [
            enriched_sets(MKLRegressor(views), X, y, groups=groups, **options) for groups in (None, GROUPS)
        ]
        return [each.table.loc["a", "p_value"] for each in found]

    without, grouped = rejections(p_values, 40)
    most = binom.ppf(0.999, 40, 0.1) / 40
    assert without > most and grouped <= most


def test_folds_of_view_shapley_keep_patients_together():
    rng = np.random.default_rng(0)
    gains = []
    for _ in range(5):
        X, y = patients(rng, width=4), rng.permutation(np.arange(16) % 2)[GROUPS]
        views = [View("a", Gaussian(), [0, 1]), View("b", Gaussian(), [2, 3])]
        model = MKLClassifier(views, C=10.0).fit(X, y)
        options = {"method": "refit", "random_state": 0}
        found = [view_shapley(model, X, y, sample_groups=groups, **options) for groups in (None, GROUPS)]
        gains.append([each.score - each.score_without for each in found])
    without, grouped = np.mean(gains, axis=0)
    assert without > 0.2 and grouped < 0.1  # the labels are drawn at random


def test_importance_of_a_column_of_patients_has_a_wider_interval():
    """The target is drawn at random: intervals cover 0 for the column, about as often as they say."""
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(20), 5)
    x = rng.normal(size=(60, 1))
    model = MKLRegressor([View("a", Linear(), [0])]).fit(x, x[:, 0] + 0.1 * rng.normal(size=60))
    covered = []
    for seed in range(80):
        X, y = rng.normal(size=(20, 1))[groups], rng.normal(size=20)[groups]
        options = {"method": "permutation", "n_repeats": 10, "level": 0.9, "random_state": seed}
        found = [
            feature_importance(model, X, y, scoring="neg_mean_squared_error", sample_groups=each, **options)
            for each in (None, groups)
        ]
        covered.append([float(each.table["low"].iloc[0]) <= 0.0 for each in found])
    without, grouped = 1.0 - np.mean(covered, axis=0)
    most = binom.ppf(0.999, 80, 0.05) / 80
    assert without > most and grouped <= most


def test_folds_of_importance_keep_patients_together():
    rng = np.random.default_rng(0)
    X, y = patients(rng), rng.permutation(np.arange(16) % 2)[GROUPS]
    model = MKLClassifier([View("a", Gaussian(), [0, 1])], C=10.0).fit(X, y)
    scores = [
        feature_importance(model, X, y, cv=4, sample_groups=groups, random_state=0).score
        for groups in (None, GROUPS)
    ]
    assert scores[0] > scores[1] + 0.2


# ---------------------------------------------------------------------- what is refused
def test_groups_are_checked():
    assert group_numbers(None, 3) is None
    with pytest.raises(ValueError, match="one entry for each of the 3 samples; got 2"):
        group_numbers([1, 2], 3)
    with pytest.raises(ValueError, match="groups must be two at least; got one"):
        group_numbers([1, 1, 1], 3)
    rng = np.random.default_rng(0)
    X, y = patients(rng), np.arange(16)[GROUPS] % 2
    model = MKLClassifier([View("a", Gaussian(), [0, 1])]).fit(X, y)
    rows = np.arange(48)
    with pytest.raises(ValueError, match="keep the samples of each group together"):
        view_shapley(model, X, y, method="refit", cv=[(rows[:25], rows[25:])], sample_groups=GROUPS)

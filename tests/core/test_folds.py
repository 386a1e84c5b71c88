"""One rule for folds: stratified for classes, no more than the data can bear, the same for the same seed."""

import numpy as np
import pytest
from sklearn.model_selection import GroupKFold, KFold, RepeatedKFold, RepeatedStratifiedKFold, StratifiedKFold

from multikernel.core.folds import EventKFold, list_splits, make_folds
from multikernel.core.survival_targets import as_survival

y = np.repeat(["a", "b", "c"], [9, 4, 7])
rows = np.arange(20)


def same(found, expected):
    expected = list(expected)
    assert len(found) == len(expected)
    for ours, theirs in zip(found, expected, strict=True):
        for mine, other in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(mine, other)


def test_a_number_means_the_folds_of_scikit_learn():
    same(make_folds(y, 3, classifier=True, shuffle=False), StratifiedKFold(3).split(rows, y))
    shuffled = StratifiedKFold(3, shuffle=True, random_state=5)
    same(make_folds(y, 3, classifier=True, random_state=5), shuffled.split(rows, y))
    same(make_folds(y, 3, classifier=False), KFold(3, shuffle=True, random_state=0).split(rows))


def test_repetitions_are_those_of_scikit_learn():
    for kind, classifier in ((RepeatedStratifiedKFold, True), (RepeatedKFold, False)):
        expected = kind(n_splits=2, n_repeats=5, random_state=3).split(rows, y)
        same(make_folds(y, 2, classifier=classifier, random_state=3, n_repeats=5), expected)


@pytest.mark.parametrize(("labels", "n_folds"), [(y, 4), ([0, 0, 1, 1, 1], 2)])
def test_there_are_no_more_folds_than_the_smallest_class_has_samples(labels, n_folds):
    for found in (make_folds(labels, 5, classifier=True), list_splits(5, np.asarray(labels), labels)):
        assert len(found) == n_folds
        for train, test in found:
            assert set(np.unique(np.asarray(labels)[test])) == set(np.unique(labels))
            assert np.intersect1d(train, test).size == 0


def test_folds_of_values_hold_two_samples_where_they_can():
    for n, n_folds in ((2, 2), (3, 2), (5, 2), (7, 3), (20, 5)):
        assert len(make_folds(np.arange(float(n)), 5, classifier=False)) == n_folds


def test_what_is_too_small_is_named():
    few = r"tuning needs at least 2 samples of each class; class 'b' has 1\. Add"
    with pytest.raises(ValueError, match=few):
        make_folds(["a", "a", "b"], 2, classifier=True, needs="tuning needs")
    with pytest.raises(ValueError, match="cross-validation needs at least 2 samples; got 1"):
        make_folds([1.0], 2, classifier=False)
    with pytest.raises(ValueError, match="cv must be at least 2 folds; got 1"):
        make_folds(y, 1, classifier=True)


def test_splitters_and_lists_are_taken_as_they_are():
    same(list_splits(KFold(4), rows, y), KFold(4).split(rows))
    mask = rows < 5
    same(list_splits([(~mask, mask)], rows, y), [(rows[5:], rows[:5])])
    same(list_splits(None, rows, y, random_state=1), make_folds(y, 5, classifier=True, random_state=1))
    with pytest.raises(ValueError, match="needs the groups of the samples"):
        list_splits(GroupKFold(2), rows, y)
    with pytest.raises(ValueError, match="cv must hold at least one split"):
        list_splits([], rows, y)


# --- folds of censored times --------------------------------------------------------------------------------


def survival(n_events, n_censored):
    event = np.random.default_rng(0).permutation(np.repeat([True, False], [n_events, n_censored]))
    return as_survival((event, np.arange(1.0, event.size + 1)))


@pytest.mark.parametrize(
    ("n_events", "n_censored", "n_folds"), [(10, 40, 5), (3, 40, 3), (12, 0, 5), (12, 2, 5)]
)
def test_folds_of_censored_times_have_events_in_all_parts(n_events, n_censored, n_folds):
    y = survival(n_events, n_censored)
    for splits in (
        list_splits(5, np.zeros((len(y), 1)), y),
        list(EventKFold(5).split(None, y.to_structured())),
    ):
        assert len(splits) == n_folds
        counts = [y[test].n_events for _, test in splits]
        assert min(counts) >= 1
        assert sum(counts) == n_events
        if n_censored >= n_folds:
            assert max(counts) - min(counts) <= 1
        np.testing.assert_array_equal(
            np.sort(np.concatenate([test for _, test in splits])), np.arange(len(y))
        )


def test_one_event_is_too_few():
    with pytest.raises(
        ValueError, match="cross-validation needs at least 2 samples with an event; got 1 among 9"
    ):
        make_folds(survival(1, 8), 5, classifier=False)


def test_a_splitter_of_scikit_learn_gets_rows_of_the_target():
    y = survival(6, 6)
    same(list_splits(KFold(3), np.zeros((12, 1)), y), KFold(3).split(np.zeros(12)))


def test_the_splitter_says_how_many_folds_it_makes():
    y = survival(3, 9).to_structured()
    folds = EventKFold(5, n_repeats=2, random_state=1)
    assert (folds.get_n_splits(), folds.get_n_splits(y, y), len(list(folds.split(y, y)))) == (10, 6, 6)
    first, second = (np.concatenate([test for _, test in list(folds.split(y, y))[i : i + 3]]) for i in (0, 3))
    assert first.tolist() != second.tolist()
    assert repr(EventKFold(3)) == "EventKFold(n_splits=3, n_repeats=1, shuffle=True, random_state=None)"
    with pytest.raises(ValueError, match="n_repeats must be 1 where shuffle=False"):
        list(EventKFold(2, n_repeats=2, shuffle=False).split(y, y))


def test_long_splits_are_not_printed_as_a_whole():
    with pytest.raises(ValueError, match="cv must be a number of folds") as caught:
        list_splits([(np.arange(150), np.arange(150, 300))] * 9, np.zeros((200, 1)), np.arange(200.0))
    assert len(str(caught.value)) < 1000

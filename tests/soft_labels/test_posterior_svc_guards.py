"""What would make soft labels meaningless is put right, refused or warned of: none of it is silent."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

from multikernel import PosteriorSVC
from tests.mkl.data import make_binary, make_three
from tests.soft_labels.test_posterior_svc import certain, doubtful
from tests.soft_labels.test_posterior_svc_input import ONE
from tests.test_bad_input import refuses


# ---------------------------------------------------------------------- the scale of weights
@pytest.mark.parametrize("scale", [1e-320, 1 / 60, 0.3, 2.5, 1e307 / 3])
def test_equal_weights_of_any_scale_leave_the_neighbours_as_they_are(scale):
    X, y = make_three(60)
    X[1], y[1] = X[0], y[0]  # repeated rows count twice, with weights and without
    w = np.full(60, scale)
    w[5] = 0.0
    plain = PosteriorSVC(ONE).fit(X, y, sample_weight=(w > 0).astype(float))
    model = PosteriorSVC(ONE, C=min(1.0 / scale, 1e300)).fit(X, y, sample_weight=w)
    np.testing.assert_allclose(model.posteriors_, plain.posteriors_, rtol=1e-9)


def test_the_scale_of_unequal_weights_means_nothing_to_the_neighbours():
    X, y = make_three(60)
    w = np.random.default_rng(0).uniform(0.2, 1.8, size=60)
    first, second = (PosteriorSVC(ONE, C=1.0 / c).fit(X, y, sample_weight=c * w) for c in (1e-3, 700.0))
    np.testing.assert_allclose(first.posteriors_, second.posteriors_, rtol=1e-9)
    reach = 9.0 * w.mean()  # of weight, which nine samples have on average
    Z = StandardScaler().fit_transform(X[:, :2])
    order = np.argsort(np.linalg.norm(Z - Z[17], axis=1))
    taken = np.clip(reach - np.concatenate([[0.0], np.cumsum(w[order])[:-1]]), 0.0, w[order])
    np.testing.assert_allclose(first.posteriors_[17], taken @ certain(y)[order] / reach, rtol=1e-9)


def test_whole_weights_are_repetitions_and_those_that_drown_all_neighbours_are_warned_of():
    X, y = make_three(60)
    Z = StandardScaler().fit_transform(X[:, :2])
    peer = KNeighborsClassifier(5).fit(Z, y)
    model = PosteriorSVC(ONE, n_neighbors=10).fit(X, y, sample_weight=np.full(60, 2))
    np.testing.assert_allclose(model.posteriors_, peer.predict_proba(Z), rtol=1e-12)
    with pytest.warns(UserWarning, match="counts as 50 neighbours.*n_neighbors=9.*Divide sample_weight"):
        PosteriorSVC(ONE).fit(X, y, sample_weight=np.full(60, 50))
    PosteriorSVC(ONE, n_neighbors=1).fit(X, y)  # asked for


# ---------------------------------------------------------------------- labels that say nothing
@pytest.mark.parametrize("make", [make_binary, make_three])
def test_classes_as_likely_as_one_another_everywhere(make):
    X, y = make(60)
    even = np.full((60, np.unique(y).size), 1.0 / np.unique(y).size)
    for probabilities in (even, even + 4e-4 * (certain(y) - even)):
        with refuses("every sample is undecided", "width", "MKLClassifier"):
            PosteriorSVC(ONE).fit(X, y, probabilities=probabilities)
    rows = np.concatenate([np.flatnonzero(y == label)[:15] for label in np.unique(y)])
    with refuses("every sample is undecided"):
        PosteriorSVC(ONE, posterior="parzen", width=1e300).fit(X[rows], y[rows])


def test_a_few_samples_at_even_odds_of_three_classes_are_kept():
    X, y = make_three(60)
    P = certain(y)
    P[:50] = 1 / 3
    assert PosteriorSVC(ONE).fit(X, y, probabilities=P).undecided_.size == 0


# ---------------------------------------------------------------------- the order of the columns
@pytest.mark.parametrize("make", [make_binary, make_three])
def test_columns_named_by_the_classes_are_put_in_order(make):
    X, y = make(60)
    P = doubtful(y)
    frame = pd.DataFrame(P, columns=np.unique(y))
    for columns in (frame.columns, frame.columns[::-1], np.roll(frame.columns, 1)):
        model = PosteriorSVC(ONE).fit(X, y, probabilities=frame[columns])
        np.testing.assert_allclose(model.posteriors_, P, rtol=1e-12)
    unnamed = PosteriorSVC(ONE).fit(X, y, probabilities=pd.DataFrame(P))
    np.testing.assert_allclose(unnamed.posteriors_, P, rtol=1e-12)


def test_labels_that_are_numbers_name_columns_too():
    X, y = make_three(60)
    codes = np.unique(y, return_inverse=True)[1]
    P = doubtful(codes)
    model = PosteriorSVC(ONE).fit(X, codes, probabilities=pd.DataFrame(P)[[2, 0, 1]])
    np.testing.assert_allclose(model.posteriors_, P, rtol=1e-12)


@pytest.mark.parametrize("columns", [["a", "b", "d"], ["a", "b", "b"], [1, 2, 3]])
def test_columns_with_other_names(columns):
    X, y = make_three(60)
    with refuses("the classes as its columns", "['a', 'b', 'c']", str(columns), "Rename"):
        PosteriorSVC(ONE).fit(X, y, probabilities=pd.DataFrame(doubtful(y), columns=columns))


@pytest.mark.parametrize("make", [make_binary, make_three])
def test_probabilities_that_contradict_most_labels(make):
    X, y = make(60)
    message = r"take 60 of 60 samples for another class.*order than that of classes_, \['.*DataFrame"
    with pytest.warns(UserWarning, match=message):
        PosteriorSVC(ONE).fit(X, y, probabilities=np.roll(certain(y), 1, axis=1))
    some = certain(y)
    some[:30] = np.roll(some[:30], 1, axis=1)
    assert PosteriorSVC(ONE).fit(X, y, probabilities=some).relabelled_.size == 30  # no more than half
    with pytest.warns(UserWarning, match="take 30 of 59 samples"):
        PosteriorSVC(ONE).fit(X, y, sample_weight=np.arange(60) < 59, probabilities=some)


# ---------------------------------------------------------------------- folds
def test_folds_that_lack_a_class():
    X, y = make_three(60)
    rows = np.argsort(y)
    with refuses("training part of cv has no sample of class 'a'", "StratifiedKFold", "cv=None"):
        PosteriorSVC(ONE, posterior=LogisticRegression(), cv=KFold(3)).fit(X[rows], y[rows])
    counted = y != "a"
    counted[np.flatnonzero(y == "a")[0]] = True  # the others of its class have no weight
    with refuses("no sample of class 'a'"):
        PosteriorSVC(ONE, posterior=LogisticRegression(), cv=3).fit(X, y, sample_weight=counted)


@pytest.mark.parametrize("splitter", [GroupKFold(3), StratifiedGroupKFold(3)])
def test_folds_by_groups_are_passed_as_a_list(splitter):
    X, y = make_three(60)
    groups = np.random.default_rng(0).integers(0, 12, size=60)
    logistic = LogisticRegression()
    with refuses(type(splitter).__name__, "needs the groups", "list(cv.split(X, y, groups))"):
        PosteriorSVC(ONE, posterior=logistic, cv=splitter).fit(X, y)
    folds = list(splitter.split(X, y, groups))
    model = PosteriorSVC(ONE, posterior=logistic, cv=folds).fit(X, y)
    for train, test in folds:
        peer = LogisticRegression().fit(X[train], y[train])
        np.testing.assert_allclose(model.posteriors_[test], peer.predict_proba(X[test]), rtol=1e-9)


# ---------------------------------------------------------------------- parameters
@pytest.mark.parametrize("weight", [0, -1.0, np.nan])
@pytest.mark.parametrize("make", [make_binary, make_three])
def test_classes_without_weight(make, weight):
    X, y = make(60)
    label = np.unique(y).tolist()[1]
    with refuses(f"class {label!r} has no sample with a positive weight"):
        PosteriorSVC(ONE, class_weight={label: weight}).fit(X, y)


def test_class_weights_beyond_floating_point():
    X, y = make_three(60)
    with refuses("too large for floating point"):
        PosteriorSVC(ONE, class_weight={"a": 1e10}).fit(X, y, sample_weight=np.full(60, 1e300))


def test_widths_that_are_none():
    X, y = make_binary(60)
    with refuses("width", '"auto"', "must be a number", "array([1., 2.])", error=TypeError):
        PosteriorSVC(ONE, posterior="parzen", width=np.array([1.0, 2.0])).fit(X, y)


@pytest.mark.parametrize("kind", [str, "S", object, complex])
def test_text_that_reads_like_numbers_is_no_probability(kind):
    X, y = make_binary(60)
    P = certain(y)
    table = P.astype(str).astype(object) if kind is object else P.astype(kind)
    with refuses("probabilities must be a table of numbers", error=TypeError):
        PosteriorSVC(ONE).fit(X, y, probabilities=table)


@pytest.mark.parametrize("kind", [object, bool, int])
def test_numbers_of_any_type_are_probabilities(kind):
    X, y = make_binary(60)
    model = PosteriorSVC(ONE).fit(X, y, probabilities=certain(y).astype(kind))
    np.testing.assert_array_equal(model.posteriors_, certain(y))

"""Where soft labels come from, what `fit` takes, and what it puts right, warns of or refuses."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    StratifiedGroupKFold,
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from multikernel import MKLClassifier
from multikernel.kernels import Gaussian, Linear
from multikernel.soft_labels import PosteriorSVC
from multikernel.views import KernelWarning
from tests.mkl.data import VIEWS, make_binary, make_three, plain_kernels
from tests.raw import raw
from tests.soft_labels.test_posterior_svc import certain, doubtful
from tests.test_bad_input import refuses

ONE = [VIEWS[0]]


# ---------------------------------------------------------------------- neighbours and windows
def test_neighbours_are_sought_in_the_standardised_columns_that_the_kernels_read():
    X, y = make_three(60)
    X = X * [1.0, 100.0, 1.0, 1.0] + [0.0, 5.0, 0.0, 0.0]
    model = PosteriorSVC(raw([("two", Gaussian(), [0, 1]), ("again", Linear(), [1])]), n_neighbors=7)
    with pytest.warns(KernelWarning, match="of different scale"):
        model.fit(X, y)
    seen = StandardScaler().fit_transform(X[:, :2])
    peer = KNeighborsClassifier(7).fit(seen, y)
    np.testing.assert_allclose(model.posteriors_, peer.predict_proba(seen), atol=1e-12)


def test_neighbours_of_ready_made_kernels_are_sought_in_their_feature_space():
    X, y = make_three(60)
    K = plain_kernels(X, X) * [1.0, 1000.0, 1.0]
    sizes = np.einsum("iim->m", K) / 60
    M = (K / sizes).sum(axis=2)
    squares = np.maximum(np.diagonal(M)[:, None] + np.diagonal(M) - 2.0 * M, 0.0)
    peer = KNeighborsClassifier(9, metric="precomputed").fit(np.sqrt(squares), y)
    with pytest.warns(KernelWarning, match="of different scale"):
        model = PosteriorSVC("precomputed").fit(K, y)
    np.testing.assert_allclose(model.posteriors_, peer.predict_proba(np.sqrt(squares)), atol=1e-12)


def test_windows_have_the_mean_distance_to_the_nearest_as_their_width():
    X, y = make_binary(50)
    Z = StandardScaler().fit_transform(X[:, :2])
    lengths = np.linalg.norm(Z[:, None] - Z[None], axis=2)
    width = np.where(np.eye(50) > 0, np.inf, lengths).min(axis=1).mean()
    near = np.exp(-((lengths / width) ** 2)) @ certain(y)
    expected = near / near.sum(axis=1, keepdims=True)
    model = PosteriorSVC(ONE, posterior="parzen").fit(X, y)
    np.testing.assert_allclose(model.posteriors_, expected, rtol=1e-9, atol=1e-12)
    wide = PosteriorSVC(ONE, posterior="parzen", gamma=1 / (2.0 * width) ** 2).fit(X, y)
    assert wide.posteriors_.max(axis=1).mean() < expected.max(axis=1).mean()


def test_a_small_class_is_given_the_chance_of_a_majority():
    X = np.concatenate([np.linspace(0.0, 1.0, 20), [4.0, 4.1, 4.3]])[:, None]
    y = np.repeat(["many", "few"], [20, 3])
    model = PosteriorSVC(raw([Gaussian()])).fit(X, y)
    peer = KNeighborsClassifier(5).fit(X, y)  # three of five are a majority, of nine they are none
    np.testing.assert_allclose(model.posteriors_, peer.predict_proba(X), rtol=1e-12)
    same = PosteriorSVC(raw([Gaussian()]), n_neighbors=1000).fit(X, y)
    np.testing.assert_array_equal(same.posteriors_, model.posteriors_)
    assert model.predict([[4.2], [0.5]]).tolist() == ["few", "many"]


def test_a_class_outvoted_everywhere_is_an_error():
    y = np.where(np.arange(30) % 6 == 3, "lonely", "crowd")
    with refuses("no sample is assigned to class 'lonely'", "to 'crowd'", "n_neighbors", "MKLClassifier"):
        PosteriorSVC(raw([Gaussian()])).fit(np.arange(30.0)[:, None], y)


def test_text_that_only_a_kernel_understands_is_compared_by_the_kernel():
    X, y = make_binary(40)
    frame = pd.DataFrame({"x": X[:, 0], "z": X[:, 1], "word": np.where(X[:, 2] > 0, "aab", "bba")})

    def letters(left, right):
        def counts(words):
            return np.array([[Counter(word)[letter] for letter in "ab"] for word in words], float)

        return counts(left) @ counts(right).T

    views = raw([("numbers", Gaussian(gamma=0.5), ["x", "z"]), ("words", letters, "word")])
    model = PosteriorSVC(views).fit(frame, y)
    kernels = np.stack([plain_kernels(X, X)[:, :, 0], letters(frame["word"], frame["word"])], axis=2)
    same = PosteriorSVC("precomputed").fit(kernels, y)
    np.testing.assert_allclose(model.posteriors_, same.posteriors_, atol=1e-9)


# ---------------------------------------------------------------------- classifiers
@pytest.mark.parametrize("make", [make_binary, make_three])
def test_a_classifier_is_asked_about_samples_that_it_has_not_seen(make):
    X, y = make(60)
    logistic = LogisticRegression()
    for cv, folds in ((None, StratifiedKFold(5, shuffle=True, random_state=0)), (3, 3)):
        model = PosteriorSVC(ONE, posterior=logistic, cv=cv).fit(X, y)
        expected = cross_val_predict(logistic, X, y, cv=folds, method="predict_proba")
        np.testing.assert_allclose(model.posteriors_, expected, rtol=1e-9)
    assert not hasattr(logistic, "coef_")


class Shuffled(ClassifierMixin, BaseEstimator):
    """A classifier whose classes are in another order."""

    def fit(self, X, y):
        self.inner_ = LogisticRegression().fit(X, y)
        self.classes_ = self.inner_.classes_[::-1]
        return self

    def predict_proba(self, X):
        return self.inner_.predict_proba(X)[:, ::-1]


def test_the_columns_of_a_classifier_are_put_in_order():
    models = [
        PosteriorSVC(ONE, posterior=kind()).fit(*make_three(60)) for kind in (Shuffled, LogisticRegression)
    ]
    np.testing.assert_allclose(*(model.posteriors_ for model in models), rtol=1e-9)


def test_weights_reach_the_classifier_and_weightless_samples_do_not():
    X, y = make_binary(60)
    w = np.random.default_rng(0).integers(0, 3, size=60).astype(float)
    folds = list(KFold(4).split(X))
    model = PosteriorSVC(ONE, posterior=LogisticRegression(), cv=folds, tol=1e-6).fit(X, y, sample_weight=w)
    neighbours = PosteriorSVC(ONE, posterior=KNeighborsClassifier(1), cv=folds)  # takes no weights
    neighbours.fit(X, y, sample_weight=w)
    for train, test in folds:
        peer = LogisticRegression().fit(X[train], y[train], sample_weight=w[train])
        np.testing.assert_allclose(model.posteriors_[test], peer.predict_proba(X[test]), rtol=1e-4)
        train = train[w[train] > 0]
        peer = KNeighborsClassifier(1).fit(X[train], y[train])
        np.testing.assert_array_equal(neighbours.posteriors_[test], peer.predict_proba(X[test]))
    by_default = PosteriorSVC(ONE, posterior=LogisticRegression()).fit(X, y, sample_weight=w)
    assert np.isnan(by_default.posteriors_[w == 0]).all()
    assert np.isfinite(by_default.posteriors_[w > 0]).all()


def test_a_classifier_of_kernels_gets_kernels():
    X, y = make_binary(60)
    K = plain_kernels(X, X)
    inner = MKLClassifier("precomputed", probability=True)
    model = PosteriorSVC("precomputed", posterior=inner, cv=3).fit(K, y)
    expected = cross_val_predict(inner, K, y, cv=3, method="predict_proba")
    np.testing.assert_allclose(model.posteriors_, expected, rtol=1e-9)
    with refuses("LogisticRegression reads features", "precomputed kernels", "probabilities=", "knn"):
        PosteriorSVC("precomputed", posterior=LogisticRegression()).fit(K, y)


# ---------------------------------------------------------------------- what fit takes
def test_given_probabilities_are_sliced_by_cross_validation_and_routed_when_asked_for():
    X, y = make_binary(60)
    P = doubtful(y)
    folds = StratifiedKFold(3)
    search = GridSearchCV(PosteriorSVC(ONE), {"C": [0.1, 10.0]}, cv=folds).fit(X, y, probabilities=P)
    by_hand = [
        PosteriorSVC(ONE, C=10.0).fit(X[a], y[a], probabilities=P[a]).score(X[b], y[b])
        for a, b in folds.split(X, y)
    ]
    scores = [search.cv_results_[f"split{k}_test_score"][1] for k in range(3)]
    assert scores == by_hand
    found = cross_val_score(PosteriorSVC(ONE, C=10.0), X, y, cv=folds, params={"probabilities": P})
    assert found.tolist() == by_hand
    with sklearn.config_context(enable_metadata_routing=True):
        model = PosteriorSVC(ONE).set_fit_request(probabilities=True)
        search = GridSearchCV(model, {"C": [0.1, 10.0]}, cv=3).fit(X, y, probabilities=P)
        np.testing.assert_allclose(search.best_estimator_.posteriors_, P, rtol=1e-12)


@pytest.mark.parametrize("ready_made", [False, True])
@pytest.mark.parametrize("posterior", ["knn", "parzen"])
@pytest.mark.parametrize("make", [make_binary, make_three])
def test_a_weight_is_a_repeated_row(make, posterior, ready_made):
    """Ready-made kernels keep repeated rows apart, so that these count by themselves."""
    X, y = make(50)
    w = np.random.default_rng(0).integers(0, 4, size=50)
    rows = np.repeat(np.arange(50), w)
    model, twice = PosteriorSVC(VIEWS, posterior=posterior, tol=1e-7), X[rows]
    if ready_made:
        X = plain_kernels(X, X)[:, :, :1]
        twice = X[np.ix_(rows, rows)]
        # the mean distance to the nearest would count the repeated rows' zeros
        model.set_params(kernels="precomputed", gamma=4.0)
    weighted, repeated = clone(model).fit(X, y, sample_weight=w), clone(model).fit(twice, y[rows])
    np.testing.assert_allclose(weighted.posteriors_[rows], repeated.posteriors_, atol=1e-12)
    np.testing.assert_allclose(weighted.objective_, repeated.objective_, rtol=1e-6)
    assert np.isnan(weighted.posteriors_[w == 0]).all()
    assert set(rows[repeated.relabelled_]) == set(weighted.relabelled_)


def test_given_probabilities_are_not_modified():
    X, y = make_three(40)
    P = doubtful(y)
    PosteriorSVC(VIEWS).fit(X, y, probabilities=P).posteriors_[:] = -1.0
    np.testing.assert_array_equal(P, doubtful(y))


@pytest.mark.parametrize("make", [make_binary, make_three])
def test_calibrated_probabilities_slice_the_given_ones(make):
    X, y = make(60)
    P = doubtful(y)
    model = PosteriorSVC(ONE, probability=True).fit(X, y, probabilities=P)
    found = model.predict_proba(X)
    np.testing.assert_allclose(found.sum(axis=1), 1.0, rtol=1e-12)
    assert (model.classes_[found.argmax(axis=1)] == y).mean() > 0.8


# ---------------------------------------------------------------------- refusals
EXACT, NUMBERS = certain(make_binary(40)[1]), ["probabilities must be a table of numbers"]
BAD = [
    (EXACT.astype(str), NUMBERS), (EXACT.astype("S"), NUMBERS), (EXACT.astype(complex), NUMBERS),
    (EXACT.astype(str).astype(object), NUMBERS),
    (np.full((40, 3), 1 / 3), ["row for each of the 40 samples", "2 classes", "['no', 'yes']", "(40, 3)"]),
    (np.full((39, 2), 0.5), ["probabilities must have a row for each", "(39, 2)"]),
    (np.full(40, 0.5), ["probabilities must have a row for each", "(40,)"]),
    (np.full((40, 2), 0.4), ["rows of sum 1", "row 0 is [0.4, 0.4]", "Divide each row by its sum"]),
    (np.tile([1.5, -0.5], (40, 1)), ["at least 0", "row 0 is [1.5, -0.5]"]),
    (np.full((40, 2), np.nan), ["at least 0", "row 0 is [nan, nan]", "impute or drop"]),
    (np.full((40, 2), np.inf), ["at least 0", "row 0 is [inf, inf]"]),
    (np.full((40, 2), 0.5), ["every sample is undecided", "MKLClassifier"]),
    (np.tile([0.9, 0.1], (40, 1)), ["no sample is assigned to class 'yes'", "'no'", "order of classes_"]),
]  # fmt: skip


@pytest.mark.parametrize(("probabilities", "parts"), BAD)
def test_bad_probabilities(probabilities, parts):
    with refuses(*parts, error=TypeError if parts is NUMBERS else ValueError):
        PosteriorSVC(ONE).fit(*make_binary(40), probabilities=probabilities)


@pytest.mark.parametrize(
    ("parameters", "error", "parts"),
    [
        ({"C": np.inf}, ValueError, ["C must be finite; got inf", "a large C", "MKLClassifier"]),
        ({"C": "learn"}, TypeError, ["C must be a number", "'learn'"]),
        ({"posterior": None}, TypeError, ["posterior must be", "predict_proba", "None"]),
        ({"posterior": LinearSVC()}, TypeError, ["predict_proba", "LinearSVC", "probability=True"]),
        ({"posterior": SVC()}, TypeError, ["predict_proba", "SVC()"]),
        (
            {"posterior": "parzen", "gamma": np.array([1.0, 2.0])},
            TypeError,
            ["gamma", '"auto"', "must be a number", "array([1., 2.])"],
        ),
        (
            {"posterior": LogisticRegression(), "cv": [(range(20), range(20, 30))]},
            ValueError,
            ["cv must put every sample"],
        ),
    ],
)
def test_bad_parameters(parameters, error, parts):
    with refuses(*parts, error=error):
        PosteriorSVC(ONE, **parameters).fit(*make_binary(40))


def test_prices_beyond_floating_point():
    X, y = make_binary(40)
    with refuses("C times the weight of a sample is too large", "1e+150", "1e+300", "Lower C"):
        PosteriorSVC(ONE, C=1e150).fit(X, y, sample_weight=np.full(40, 1e300))
    with refuses("too large for floating point"):
        PosteriorSVC(ONE, class_weight={"yes": 1e10}).fit(X, y, sample_weight=np.full(40, 1e300))


def test_a_class_of_one_sample_has_no_folds():
    X, y = make_binary(40)
    y[y == "yes"] = "no"
    y[3] = "yes"
    with refuses("at least 2 samples of each class", "'yes' has 1", "knn"):
        PosteriorSVC(ONE, posterior=LogisticRegression()).fit(X, y)


def test_a_class_that_no_sample_is_taken_for_is_never_predicted():
    X, y = make_three(60)
    P = doubtful(y)
    P[:, 1] = np.minimum(P[:, 1], 0.9 * np.maximum(P[:, 0], P[:, 2]))
    P /= P.sum(axis=1, keepdims=True)
    with pytest.warns(UserWarning, match="no sample is assigned to class 'b', which will never be predicted"):
        model = PosteriorSVC(VIEWS).fit(X, y, probabilities=P)
    far = np.random.default_rng(0).normal(size=(500, 4)) * 10.0
    assert set(model.predict(np.vstack([X, far]))) == {"a", "c"}


# ---------------------------------------------------------------------- the scale of weights
@pytest.mark.parametrize("scale", [1e-300, 1 / 60, 0.3, 2.5, 1e307 / 3])
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
        with refuses("every sample is undecided", "gamma", "MKLClassifier"):
            PosteriorSVC(ONE).fit(X, y, probabilities=probabilities)
    rows = np.concatenate([np.flatnonzero(y == label)[:15] for label in np.unique(y)])
    with refuses("every sample is undecided"):
        PosteriorSVC(ONE, posterior="parzen", gamma=1e-300).fit(X[rows], y[rows])


def test_a_few_samples_at_even_odds_of_three_classes_are_kept():
    X, y = make_three(60)
    P = certain(y)
    P[:50] = 1 / 3
    assert PosteriorSVC(ONE).fit(X, y, probabilities=P).undecided_.size == 0


# ---------------------------------------------------------------------- the order of the columns
@pytest.mark.parametrize("make", [make_binary, make_three])
def test_columns_named_by_the_classes_are_put_in_order(make):
    """Columns without names are in order; labels that are numbers name columns too."""
    X, y = make(60)
    classes, codes = np.unique(y, return_inverse=True)
    P = doubtful(y)
    named, numbered = pd.DataFrame(P, columns=classes), pd.DataFrame(P)
    cases = [(y, named[columns]) for columns in (classes, classes[::-1], np.roll(classes, 1))]
    cases += [(y, numbered), (codes, numbered[np.roll(numbered.columns, 1)]), (y, (1.0 + 5e-4) * P)]
    for labels, probabilities in cases:  # the last have sums of one but for rounding
        model = PosteriorSVC(ONE).fit(X, labels, probabilities=probabilities)
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
    words = [f"class {label!r} has no sample with a positive weight"]
    with refuses(*(words if weight == 0 else ["class_weight must be finite", f"class {label!r}"])):
        PosteriorSVC(ONE, class_weight={label: weight}).fit(X, y)


@pytest.mark.parametrize("kind", [object, bool, int])
def test_numbers_of_any_type_are_probabilities(kind):
    model = PosteriorSVC(ONE).fit(*make_binary(40), probabilities=EXACT.astype(kind))
    np.testing.assert_array_equal(model.posteriors_, EXACT)

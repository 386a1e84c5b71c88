"""Direct discriminant analysis as a transformer and as a classifier."""

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from multikernel import KDDAClassifier
from multikernel.kernels import Gaussian, Linear
from tests.mkl.data import make_binary, make_three
from tests.test_bad_input import refuses


def wine():
    X, y = load_wine(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    labelled = np.arange(len(X)) % 5 == 0
    return X[labelled], y[labelled], X[~labelled], y[~labelled]


def test_scatters_of_the_embedding_add_up_to_the_identity():
    X, y, _, _ = wine()
    model = KDDAClassifier().fit(X, y)
    Z = model.embedding_
    assert Z.shape == (36, 2) == model.transform(X).shape and model.projection_.shape == (36, 2)
    np.testing.assert_allclose(model.transform(X), Z, atol=1e-9)
    np.testing.assert_allclose(np.cov(Z.T, bias=True), np.eye(2), atol=1e-9)  # S_b + S_w is all scatter
    between = np.cov(np.array([Z[y == c].mean(axis=0) for c in y]).T, bias=True)
    np.testing.assert_allclose(between, np.diag(between.diagonal()), atol=1e-9)


def test_two_classes_project_on_the_difference_of_their_means():
    X, y = make_binary(60)
    model = KDDAClassifier(Linear()).fit(X, y)
    direction = X[y == "yes"].mean(axis=0) - X[y == "no"].mean(axis=0)
    scores = X @ direction
    scores = scores / scores.std()
    np.testing.assert_allclose(model.embedding_[:, 0] - model.embedding_[:, 0].mean(), scores - scores.mean())


@pytest.mark.parametrize("k", [1, 3, 5])
def test_classes_are_those_of_the_neighbours_among_the_directions(k):
    X, y = make_three(120)
    model = KDDAClassifier(Gaussian(gamma=0.3), n_neighbors=k, reg=0.5).fit(X[:70], y[:70])
    Z = model.transform(X[70:])
    order = np.argsort(((Z[:, None] - model.embedding_[None]) ** 2).sum(axis=2), axis=1)[:, :k]
    for votes, answer in zip(y[:70][order], model.predict(X[70:]), strict=True):
        counts = {c: (votes == c).sum() for c in votes}
        assert answer == next(c for c in votes if counts[c] == max(counts.values()))


def test_components_are_the_first_and_no_more_than_there_are_classes_allow():
    X, y = make_three(60)
    every = KDDAClassifier().fit(X, y).transform(X)
    first = KDDAClassifier(n_components=1).fit(X, y).transform(X)
    np.testing.assert_allclose(first, every[:, :1])
    with refuses("n_components must be at most one less than the number of classes", "3 for 3 classes"):
        KDDAClassifier(n_components=3).fit(X, y)
    with refuses("n_components must be a positive integer"):
        KDDAClassifier(n_components=0).fit(X, y)
    flat = KDDAClassifier(Linear()).fit(X[:, :1], y)  # one dimension has one direction, whatever is allowed
    assert flat.transform(X[:, :1]).shape == (60, 1) and flat.get_feature_names_out().tolist() == [
        "kddaclassifier0"
    ]


def test_a_transformer_in_a_pipeline_with_names():
    X, y, X_new, y_new = wine()
    model = make_pipeline(KDDAClassifier(), KNeighborsClassifier(1)).fit(X, y)
    assert model.score(X_new, y_new) == KDDAClassifier().fit(X, y).score(X_new, y_new) > 0.9
    frame = KDDAClassifier().set_output(transform="pandas").fit(X, y).transform(X_new)
    assert list(frame.columns) == ["kddaclassifier0", "kddaclassifier1"]


def test_a_small_regularisation_scales_the_directions_as_linear_discriminant_analysis_does():
    # few dimensions: the means span them all, and without `reg` the whitening is that of LDA
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    X = rng.normal(size=(90, 2)) * [1.0, 3.0] + np.array([[0.0, 0.0], [4.0, 1.0], [1.0, 6.0]])[y]
    Z = KDDAClassifier(Linear(), reg=1e-9).fit(X, y).embedding_
    lda = LinearDiscriminantAnalysis(solver="eigen").fit_transform(X, y)
    for z, l in zip(Z.T, lda.T, strict=True):
        assert abs(np.corrcoef(z, l)[0, 1]) == pytest.approx(1.0, abs=1e-6)
    inside = sum(np.cov(Z[y == c].T, bias=True) for c in range(3)) / 3.0
    np.testing.assert_allclose(inside, np.eye(2), atol=1e-6)


def test_classes_of_one_point_are_allowed():
    X, y = make_three(30)
    y = np.where(np.arange(30) == 4, "z", y)
    model = KDDAClassifier().fit(X, y)
    assert model.embedding_.shape == (30, 3) and model.predict(X[4:5]).tolist() == ["z"]
    assert KDDAClassifier().fit(X[:3], ["p", "q", "r"]).predict(X[:3]).tolist() == ["p", "q", "r"]


def test_equal_class_means_are_refused():
    X = np.array([[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]])
    with refuses("means of all classes agree", "no direction", "Gaussian"):
        KDDAClassifier(Linear()).fit(X, [0, 0, 1, 1])
    assert KDDAClassifier().fit(X, [0, 0, 1, 1]).score(X, [0, 0, 1, 1]) == 1.0

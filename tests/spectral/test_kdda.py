"""Direct discriminant analysis and nearest neighbours in the feature space of a kernel."""

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import KNeighborsClassifier

from multikernel.kernels import Gaussian, Linear, Polynomial
from multikernel.spectral import KDDAClassifier, KernelKNNClassifier
from tests.mkl.data import make_binary, make_three
from tests.spectral import wine
from tests.test_bad_input import refuses


def test_scatters_of_the_embedding_add_up_to_the_identity():
    X, y = (part[:36] for part in wine.load())
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


# --- nearest neighbours ------------------------------------------------------------------------------------


def quadratic_features(X):
    """Features whose inner product is (x · z + 1)²."""
    n, d = X.shape
    upper = np.triu_indices(d, 1)
    mixed = np.sqrt(2.0) * (X[:, :, None] * X[:, None])[:, upper[0], upper[1]]
    return np.column_stack([X**2, mixed, np.sqrt(2.0) * X, np.ones(n)])


@pytest.mark.parametrize("k", [1, 3, 9])
def test_neighbours_are_those_of_the_explicit_features(k):
    X, y = make_binary(150)
    F = quadratic_features(X)
    np.testing.assert_allclose(F @ F.T, (X @ X.T + 1.0) ** 2, atol=1e-10)
    expected = KNeighborsClassifier(k).fit(F[:90], y[:90]).predict(F[90:])
    model = KernelKNNClassifier(Polynomial(degree=2, gamma=1.0, coef0=1.0), n_neighbors=k).fit(X[:90], y[:90])
    np.testing.assert_array_equal(model.predict(X[90:]), expected)
    plain = KNeighborsClassifier(k).fit(X[:90], y[:90]).predict(X[90:])
    assert (expected != plain).any()  # other neighbours than those of the rows themselves
    for kernel in (Linear(), Gaussian(), Gaussian(gamma=0.1)):
        model = KernelKNNClassifier(kernel, n_neighbors=k).fit(X[:90], y[:90])
        np.testing.assert_array_equal(model.predict(X[90:]), plain)


def test_the_similarity_of_a_point_to_itself_is_not_asked_for():
    X, y = make_three(60)
    rows = X[40:] @ X[:40].T  # says nothing about ‖x‖
    model = KernelKNNClassifier("precomputed", n_neighbors=3).fit(X[:40] @ X[:40].T, y[:40])
    table = KernelKNNClassifier(Linear(), n_neighbors=3).fit(X[:40], y[:40])
    np.testing.assert_array_equal(model.predict(rows), table.predict(X[40:]))


def test_points_that_a_narrow_kernel_cannot_tell_apart_do_not_all_go_to_the_first_class():
    X, _ = make_binary(80)
    y = np.repeat([0, 1], 40)  # sorted by class, as data sets often are
    far = X[:20] + 100.0
    kernel = Gaussian(gamma=1e6)
    answers = []
    for seed in range(40):
        model = KernelKNNClassifier(kernel, n_neighbors=1, random_state=seed).fit(X, y)
        found = model.predict(far)
        assert (found == found[0]).all()  # all see the same distances
        np.testing.assert_array_equal(found, model.fit(X, y).predict(far))
        answers.append(int(found[0]))
    assert 10 <= sum(answers) <= 30
    default = KernelKNNClassifier(kernel).fit(X, y).predict(far)
    np.testing.assert_array_equal(default, KernelKNNClassifier(kernel).fit(X, y).predict(far))

"""Kernel nearest neighbours, against scikit-learn's on explicit features, and where distances tie."""

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

from multikernel import KernelKNNClassifier
from multikernel.kernels import Gaussian, Linear, Polynomial
from tests.mkl.data import make_binary, make_three


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


def test_one_neighbour_knows_the_training_points():
    X, y = make_three(60)
    assert KernelKNNClassifier().fit(X, y).score(X, y) == 1.0
    assert KernelKNNClassifier("precomputed").fit(X @ X.T, y).score(X @ X.T, y) == 1.0


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


def test_the_order_does_not_touch_what_is_not_tied():
    X, y = make_three(80)
    first = KernelKNNClassifier(n_neighbors=5, random_state=0).fit(X[:50], y[:50]).predict(X[50:])
    other = KernelKNNClassifier(n_neighbors=5, random_state=1).fit(X[:50], y[:50]).predict(X[50:])
    np.testing.assert_array_equal(first, other)


def test_tied_votes_go_to_the_nearer_class():
    X = np.array([[0.0], [1.0], [4.0], [9.0]])
    model = KernelKNNClassifier(Linear(), n_neighbors=2).fit(X, ["b", "a", "c", "c"])
    assert model.predict([[0.1], [0.9], [2.4], [2.6]]).tolist() == ["b", "a", "a", "c"]


def test_a_class_of_one_point_may_win():
    X = np.array([[0.0], [0.1], [5.0]])
    model = KernelKNNClassifier(Linear()).fit(X, [0, 0, 1])
    assert model.predict([[4.0], [0.0]]).tolist() == [1, 0]

"""Discriminant projections against explicit features, scikit-learn's LDA and the generalised eigenproblem."""

import numpy as np
import pytest
from scipy.linalg import eigh
from sklearn.datasets import load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from multikernel.core.scatter import class_columns
from multikernel.discriminant.solver.rkda import discriminant_projection


def standardised(load):
    X, y = load(return_X_y=True)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def scatters(X, y):
    """Between and total scatter, written out."""
    middle = X.mean(axis=0)
    between = sum(
        (y == c).sum() * np.outer(X[y == c].mean(axis=0) - middle, X[y == c].mean(axis=0) - middle)
        for c in np.unique(y)
    )
    return between, (X - middle).T @ (X - middle)


@pytest.mark.parametrize("reg", [1e-6, 1.0, 100.0])
def test_the_generalised_eigenproblem(reg):
    X, y = standardised(load_wine)
    found = discriminant_projection(X @ X.T, y, reg)
    between, total = scatters(X, y)
    values, _ = eigh(between, total + reg * np.eye(X.shape[1]))
    np.testing.assert_allclose(found.eigenvalues, values[::-1][:2], rtol=1e-6)
    W = X.T @ found.directions
    np.testing.assert_allclose(W.T @ (total + reg * np.eye(len(W))) @ W, np.eye(2), atol=1e-6)
    np.testing.assert_allclose(W.T @ between @ W, np.diag(found.eigenvalues), atol=1e-6)


def test_directions_of_lda():
    X, y = standardised(load_iris)
    found = discriminant_projection(X @ X.T, y, 1e-7)
    lda = LinearDiscriminantAnalysis(solver="eigen").fit(X, y)
    ours = X @ X.T @ found.directions - found.offset
    theirs = lda.transform(X)
    for j in range(2):
        assert abs(np.corrcoef(ours[:, j], theirs[:, j])[0, 1]) == pytest.approx(1.0, abs=1e-8)


@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_the_rule_is_that_of_the_nearest_centroid(load):
    X, y = standardised(load)
    K = np.exp(-0.1 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    found = discriminant_projection(K[::2, ::2], y[::2], 1e-2)
    coefficients, intercepts = found.rule()
    Z = K[1::2, ::2] @ found.directions - found.offset
    distances = ((Z[:, None] - found.centroids) ** 2).sum(axis=2)
    scores = K[1::2, ::2] @ coefficients + intercepts
    np.testing.assert_array_equal(scores.argmax(axis=1), distances.argmin(axis=1))
    np.testing.assert_allclose(scores, 0.5 * ((Z**2).sum(axis=1, keepdims=True) - distances), atol=1e-10)
    training = K[::2, ::2] @ found.directions - found.offset
    np.testing.assert_allclose(training.mean(axis=0), 0.0, atol=1e-10)
    for c in range(3):
        np.testing.assert_allclose(found.centroids[c], training[y[::2] == c].mean(axis=0), atol=1e-12)


def test_two_classes_have_one_score():
    X, y = standardised(load_iris)
    X, y = X[y > 0], y[y > 0] - 1
    found = discriminant_projection(X @ X.T, y, 0.1)
    coefficients, intercepts = found.rule()
    assert coefficients.shape == (100, 1)
    z = (X @ X.T @ found.directions - found.offset)[:, 0]
    nearer = np.abs(z - found.centroids[1, 0]) < np.abs(z - found.centroids[0, 0])
    np.testing.assert_array_equal((X @ X.T @ coefficients + intercepts)[:, 0] > 0, nearer)


def test_the_kernel_is_used_as_it_is():
    """A constant added to the kernel is centred away, and new points see the same projection."""
    X, y = standardised(load_iris)
    plain = discriminant_projection(X @ X.T, y, 0.1)
    moved = discriminant_projection(X @ X.T + 7.0, y, 0.1)
    np.testing.assert_allclose(np.abs(plain.centroids), np.abs(moved.centroids), atol=1e-8)
    np.testing.assert_allclose(plain.directions.sum(axis=0), 0.0, atol=1e-12)


def test_fewer_components():
    X, y = standardised(load_wine)
    both, one = (discriminant_projection(X @ X.T, y, 0.1, k) for k in (None, 1))
    assert one.directions.shape == (178, 1)
    np.testing.assert_allclose(one.directions[:, 0], both.directions[:, 0])
    assert discriminant_projection(X @ X.T, y, 0.1, 9).directions.shape == (178, 2)


def test_what_has_no_direction():
    x = np.array([0.0, 1.0, 0.0, 1.0])
    with pytest.raises(ValueError, match="class means coincide"):
        discriminant_projection(np.outer(x, x), np.array([0, 0, 1, 1]), 1e-3)
    with pytest.raises(ValueError, match="total scatter is singular"):
        discriminant_projection(np.outer(x, x), np.array([0, 1, 1, 1]), 1e-300)


def test_the_column_a_gives_the_same_direction():
    """Two classes: (λI + G~)⁻¹a and the direction that is found are parallel."""
    X, y = standardised(load_iris)
    X, y = X[y > 0], y[y > 0] - 1
    K = X @ X.T
    P = np.eye(100) - 0.01
    alpha = np.linalg.solve(0.1 * np.eye(100) + P @ K @ P, class_columns(y)[:, 1])
    direction = discriminant_projection(K, y, 0.1).directions[:, 0]
    assert abs(alpha @ direction) == pytest.approx(np.linalg.norm(alpha) * np.linalg.norm(direction))

"""LFDA: brute force from the definition, Fisher's analysis of scikit-learn, pipelines."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from multikernel import KernelBank, View
from multikernel.core.neighbors import affinities
from multikernel.kernels import Gaussian, Linear, Polynomial
from multikernel.reduction import LFDA

METRICS = ("weighted", "orthonormalized", "plain")


def make_data(seed=0, n=40, d=4, n_classes=3):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    X = rng.normal(size=(n, d)) * np.linspace(0.5, 2.0, d)
    X[:, 0] += 2.0 * y
    X[:, 1] += np.where(rng.random(n) < 0.5, 4.0, 0.0)  # two clusters in each class
    return X, y


def scatters(X, y, k=7):
    """S_b and S_w from the definition, pair by pair; k = None for affinities of 1."""
    n, d = X.shape
    S_b, S_w = np.zeros((d, d)), np.zeros((d, d))
    scale = np.empty(n)
    for i in range(n):
        own = np.flatnonzero(y == y[i])
        away = sorted(np.linalg.norm(X[i] - X[j]) for j in own if j != i)
        scale[i] = np.inf if k is None else away[min(k, len(away)) - 1]
    for i in range(n):
        for j in range(n):
            gap = X[i] - X[j]
            square = np.outer(gap, gap)
            n_c = np.count_nonzero(y == y[i])
            if y[i] != y[j]:
                S_b += 0.5 / n * square
            else:
                A = np.exp(-(gap @ gap) / (scale[i] * scale[j]))
                S_b += 0.5 * A * (1.0 / n - 1.0 / n_c) * square
                S_w += 0.5 * A / n_c * square
    return S_b, S_w


def gram_schmidt(V):
    found = []
    for v in V.T:
        for q in found:
            v = v - (q @ v) * q
        found.append(v / np.linalg.norm(v))
    return np.column_stack(found)


def in_metric(S_b, S_w, metric):
    """All eigenvectors from a dense nonsymmetric solver, largest eigenvalue first."""
    values, vectors = scipy.linalg.eig(np.linalg.solve(S_w, S_b))
    assert np.abs(values.imag).max() < 1e-8
    order = np.argsort(-values.real)
    values, V = values.real[order], vectors.real[:, order]
    V = V / np.sqrt(np.einsum("ij,ik,kj->j", V, S_w, V))
    if metric == "weighted":
        return values, V * np.sqrt(np.maximum(values, 0.0))
    return values, gram_schmidt(V) if metric == "orthonormalized" else V


def assert_same_directions(found, expected, atol=1e-6):
    np.testing.assert_allclose(np.abs(found), np.abs(expected), atol=atol * np.abs(expected).max())
    signs = np.sign((found * expected).sum(axis=0))
    np.testing.assert_allclose(found, expected * signs, atol=atol * np.abs(expected).max())


# ---------------------------------------------------------------------- the definition
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("k", [1, 7, 100, None])
def test_directions_are_those_of_the_definition(metric, k):
    X, y = make_data()
    S_b, S_w = scatters(X, y, k)
    values, expected = in_metric(S_b, S_w, metric)
    count = (
        2 if k is None else 4
    )  # the others of Fisher have an eigenvalue of 0, and no direction of their own
    values, expected = values[:count], expected[:, :count]
    model = LFDA(n_components=count, n_neighbors=k, metric=metric).fit(X, y)
    np.testing.assert_allclose(model.eigenvalues_, values, rtol=1e-8)
    assert_same_directions(model.projection_, expected)
    np.testing.assert_allclose(model.transform(X), X @ model.projection_)
    assert model.reg_ == 0.0


@given(st.integers(0, 10**6), st.integers(2, 4), st.integers(2, 4))
def test_the_leading_directions_have_the_largest_trace_ratio(seed, d, n_classes):
    X, y = make_data(seed, 36, d, n_classes)
    S_b, S_w = scatters(X, y)
    T = LFDA(n_components=d - 1, metric="plain").fit(X, y).projection_

    def ratio(T):
        return np.trace(np.linalg.solve(T.T @ S_w @ T, T.T @ S_b @ T))

    best = ratio(T)
    rng = np.random.default_rng(seed)
    for size in (1e-2, 1.0, 100.0):
        assert ratio(T + size * rng.normal(size=T.shape) * np.abs(T).max()) <= best + 1e-9 * abs(best)


@pytest.mark.parametrize("reg", [1e-3, 0.3])
@pytest.mark.parametrize("metric", METRICS)
def test_kernel_directions_solve_the_problem_in_the_feature_space(reg, metric):
    """The monomials of degree 2 are coordinates of the feature space: the linear problem among them."""
    X, y = make_data(1, 50, 3)
    monomials = np.column_stack(
        [np.ones(50), *(np.sqrt(2.0) * x for x in X.T), *(x * x for x in X.T)]
        + [np.sqrt(2.0) * X[:, i] * X[:, j] for i in range(3) for j in range(i)]
    )
    S_b, S_w = scatters(monomials, y)
    values, V = in_metric(S_b, S_w + reg * np.trace(S_w) * np.eye(10), metric)
    model = LFDA(Polynomial(2), n_components=3, reg=reg, metric=metric).fit(X, y)
    np.testing.assert_allclose(model.eigenvalues_, values[:3], rtol=1e-6)
    new = make_data(2, 9, 3)[0]
    new_monomials = np.column_stack(
        [np.ones(9), *(np.sqrt(2.0) * x for x in new.T), *(x * x for x in new.T)]
        + [np.sqrt(2.0) * new[:, i] * new[:, j] for i in range(3) for j in range(i)]
    )
    assert_same_directions(model.transform(new), new_monomials @ V[:, :3], atol=1e-5)


def test_a_gaussian_solves_the_generalized_problem_of_the_samples():
    """K L_b K a = λ (K L_w K + ε K) a with Laplacians written out; ε = reg tr S_w."""
    X, y = make_data(3, 30)
    K = Gaussian(0.1)(X)
    squares = 2.0 - 2.0 * K
    n = len(y)
    W_b, W_w = np.full((n, n), 1.0 / n), np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            own = np.flatnonzero(y == y[i])
            if y[i] == y[j]:
                s_i, s_j = (np.sqrt(np.sort(squares[r, own])[7]) for r in (i, j))
                A = np.exp(-squares[i, j] / (s_i * s_j))
                W_b[i, j], W_w[i, j] = A * (1 / n - 1 / own.size), A / own.size
    L_b, L_w = (np.diag(W.sum(axis=1)) - W for W in (W_b, W_w))
    epsilon = 1e-3 * np.trace(K @ L_w)
    values = scipy.linalg.eig(K @ L_b @ K, K @ L_w @ K + epsilon * K, right=False)
    model = LFDA(Gaussian(0.1)).fit(X, y)
    assert model.reg_ == 1e-3 and model.projection_.shape == (30, 3)
    np.testing.assert_allclose(model.eigenvalues_, np.sort(values.real)[::-1][:3], rtol=1e-5)
    for value, a in zip(model.eigenvalues_, model.projection_.T, strict=True):
        residual = K @ L_b @ K @ a - value * (K @ L_w @ K + epsilon * K) @ a
        assert np.linalg.norm(residual) <= 1e-7 * np.linalg.norm(K @ L_b @ K @ a)
    precomputed = LFDA("precomputed").fit(K, y)
    np.testing.assert_allclose(precomputed.eigenvalues_, model.eigenvalues_, rtol=1e-8)
    new = make_data(4, 6)[0]
    assert_same_directions(precomputed.transform(Gaussian(0.1)(new, X)), model.transform(new))


def test_without_neighbors_it_is_the_analysis_of_fisher():
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    fisher = LinearDiscriminantAnalysis(solver="eigen").fit(X, y)
    model = LFDA(n_components=2, n_neighbors=None, metric="plain").fit(X, y)
    expected = fisher.scalings_[:, :2]
    assert_same_directions(
        model.projection_ / np.linalg.norm(model.projection_, axis=0),
        expected / np.linalg.norm(expected, axis=0),
        atol=1e-8,
    )
    assert np.abs(LFDA(n_neighbors=None).fit(X, y).eigenvalues_[2:]).max() < 1e-10  # two for three classes


# ---------------------------------------------------------------------- one method in several forms
def test_a_linear_kernel_in_any_form_is_the_linear_method():
    X, y = make_data(5)
    for reg in (0.0, 0.1):
        options = {"n_components": 3, "reg": reg}
        plain = LFDA(**options).fit(X, y)
        new = make_data(6, 7)[0]
        stack, rows = X @ X.T, new @ X.T
        others = [
            LFDA("precomputed", **options).fit(stack, y).transform(rows),
            LFDA(Linear(), **options).fit(scipy.sparse.csr_matrix(X), y).transform(new),
            LFDA("auto", **options).fit(X, y).transform(scipy.sparse.csr_matrix(new)),
            LFDA(lambda A, B: A @ B.T, **options).fit(X, y).transform(new),
        ]
        for other in others:
            assert_same_directions(other, plain.transform(new))


def test_more_columns_than_samples():
    rng = np.random.default_rng(0)
    y = np.arange(20) % 2
    X = rng.normal(size=(20, 60)) + y[:, None]
    with pytest.raises(ValueError, match=r"local scatter inside the classes is singular.*reg=1e-3.*PCA"):
        LFDA(reg=0.0).fit(X, y)
    automatic, chosen = LFDA(n_components=2).fit(X, y), LFDA(n_components=2, reg=1e-3).fit(X, y)
    assert automatic.reg_ == 1e-3
    np.testing.assert_array_equal(automatic.projection_, chosen.projection_)
    S_b, S_w = scatters(X, y)
    values, V = in_metric(S_b, S_w + 1e-2 * np.trace(S_w) * np.eye(60), "weighted")
    model = LFDA(n_components=2, reg=1e-2).fit(X, y)
    np.testing.assert_allclose(model.eigenvalues_, values[:2], rtol=1e-8)
    new = rng.normal(size=(5, 60))
    assert_same_directions(model.transform(new), new @ V[:, :2])


def test_columns_of_a_view_standardized():
    X, y = load_wine(return_X_y=True)
    inside = LFDA(View("some", Linear(), [0, 5, 6], standardize=True)).fit(X, y)
    before = LFDA().fit(StandardScaler().fit_transform(X[:, [0, 5, 6]]), y)
    np.testing.assert_allclose(inside.eigenvalues_, before.eigenvalues_, rtol=1e-8)
    np.testing.assert_allclose(inside.projection_, before.projection_, rtol=1e-6)
    both = LFDA(KernelBank("linear", standardize=True)).fit(X, y)
    scaled = StandardScaler().fit_transform(X)
    np.testing.assert_allclose(both.transform(X), LFDA().fit(scaled, y).transform(scaled), atol=1e-8)


def test_repeated_samples_have_the_affinities_of_the_limit():
    places = np.array([0.0, 0.0, 0.0, 1.0, 3.0])
    squares = (places[:, None] - places) ** 2
    for size in (1e-6, 1e-7):
        nearly = places + size * np.arange(5)
        limit = affinities((nearly[:, None] - nearly) ** 2, 2)
        found = affinities(squares, 2)
        np.testing.assert_allclose(found[3:, 3:], limit[3:, 3:], atol=1e-5)
        np.testing.assert_allclose(found[:3, 3:], limit[:3, 3:], atol=1e-5)
        assert np.array_equal(found[:3, :3], np.ones((3, 3)))
    X, y = make_data(7, 30)
    with pytest.raises(ValueError, match="singular"):  # near samples of one class are one point
        LFDA(reg=0.1).fit(np.repeat(X, 9, axis=0), np.repeat(y, 9))


# ---------------------------------------------------------------------- as a step
def test_it_stands_in_a_pipeline_and_a_search():
    X, y = load_iris(return_X_y=True)
    merged = np.where(y == 1, "versicolor", "others")
    pipe = make_pipeline(StandardScaler(), LFDA(), SVC(kernel="linear"))
    grid = {"lfda__n_components": [1, 2], "lfda__kernels": ["linear", "gaussian"]}
    search = GridSearchCV(pipe, grid, cv=3).fit(X, merged)
    assert search.best_score_ > 0.9
    lfda = search.best_estimator_["lfda"]
    assert list(lfda.get_feature_names_out()) == [f"lfda{i}" for i in range(lfda.n_components)]
    assert lfda.fit_transform(X, merged).shape == (150, lfda.n_components)


def test_it_keeps_clusters_of_one_class_apart_where_fisher_does_not():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 0, 1], 40)
    X = rng.normal(size=(120, 2)) * [0.5, 3.0]
    X[:40, 0] -= 4.0
    X[40:80, 0] += 4.0  # the other class lies between two clusters of one
    sharp = LFDA(n_components=1, metric="orthonormalized").fit(X, y).projection_[:, 0]
    fisher = LFDA(n_components=1, metric="orthonormalized", n_neighbors=None).fit(X, y).projection_[:, 0]
    assert abs(sharp[0]) > 0.99 > 0.5 > abs(fisher[0])


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"n_components": 5}, "n_components must be at most the number of directions, 4; got 5"),
        ({"metric": "euclidean"}, "metric must be one of"),
        ({"reg": -1.0}, "reg must be"),
        ({"n_neighbors": 0}, "n_neighbors must be a positive integer"),
    ],
)
def test_settings_that_are_refused(params, words):
    X, y = make_data()
    with pytest.raises(ValueError, match=words):
        LFDA(**params).fit(X, y)


def test_a_linear_model_keeps_no_training_rows():
    X, y = make_data(n=200)
    model = LFDA().fit(X, y)
    assert model._bank.views_[0].rows.values.shape == (1, 4)
    assert model.projection_.shape == (4, 4)

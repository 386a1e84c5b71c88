"""MKLDR: LFDA with one kernel, graphs written pair by pair, finite differences, other solvers, pipelines."""

import warnings

import numpy as np
import pytest
import scipy.linalg
import scipy.optimize
from sklearn.datasets import load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from multikernel import KernelBank, View, stack_kernels
from multikernel.kernels import Gaussian, Linear, Polynomial
from multikernel.reduction import LFDA, MKLDR
from multikernel.reduction.solver.graphs import graph_pair

CRITERIA = ("lda", "lfda", "mfa", "laplacian")
REG = 1e-2


def problem(seed=0, n=36):
    """Gram matrices of two informative views and one of noise, and labels."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    A = rng.normal(size=(n, 3)) + 1.5 * np.eye(3)[y]
    B = rng.normal(size=(n, 2)) + 2.0 * (y == 1)[:, None]
    N = rng.normal(size=(n, 2))
    Ks = {
        "a": Gaussian(0.2)(A, A),
        "b": Linear()(B, B),
        "noise": Gaussian(0.5)(N, N),
        "c": Polynomial(2)(A, A),
    }
    return Ks, y


def fit(Ks, y, **options):
    options = {"reg": REG, "tol": 1e-6, "max_iter": 500} | options
    return MKLDR("precomputed", **options).fit(Ks, y)


def variance(K):
    return np.trace(K) / len(K) - K.mean()


def value(Ks, shares, between, within, q, reg=REG):
    """F(β) by a route of its own: scatters in the coordinates of a Cholesky factor, all eigenvalues."""
    K = sum(b * K / variance(K) for b, K in zip(shares, Ks.values(), strict=True))
    n = len(K)
    G = np.linalg.cholesky(K + 1e-11 * np.trace(K) / n * np.eye(n))
    S = []
    for W in (between, within):
        S.append(sum(0.5 * W[i, j] * np.outer(G[i] - G[j], G[i] - G[j]) for i in range(n) for j in range(n)))
    S_b, S_w = S
    values = scipy.linalg.eigvals(np.linalg.solve(S_w + reg * np.trace(S_w) * np.eye(n), S_b)).real
    return np.sort(values)[::-1][:q].sum()


def mean_squares(Ks):
    K = sum(K / variance(K) for K in Ks.values()) / len(Ks)
    return np.diag(K)[:, None] + np.diag(K) - 2.0 * K


def graphs(criterion, Ks, y, k=7):
    """The two graphs, pair by pair from their definitions."""
    D, n = mean_squares(Ks), len(y)
    own = [np.array([j for j in range(n) if j != i and (y[j] == y[i])]) for i in range(n)]
    rest = [np.array([j for j in range(n) if j != i]) for i in range(n)]

    def nearest(i, among):
        return set(sorted(among, key=lambda j: D[i, j])[:k])

    def scale(i, among):
        return np.sqrt(sorted(D[i, j] for j in among)[min(k, len(among)) - 1])

    between, within = np.zeros((n, n)), np.zeros((n, n))
    sizes = np.bincount(y)
    for i in range(n):
        for j in range(n):
            alike, n_c = y[i] == y[j], sizes[y[i]]
            if criterion in ("lda", "lfda"):
                A = 1.0
                if criterion == "lfda" and alike:
                    A = np.exp(-D[i, j] / (scale(i, own[i]) * scale(j, own[j])))
                within[i, j] = A / n_c if alike else 0.0
                between[i, j] = A * (1 / n - 1 / n_c) if alike else 1 / n
            elif criterion == "mfa":
                within[i, j] = alike and (j in nearest(i, own[i]) or i in nearest(j, own[j]))
            elif i != j and (j in nearest(i, rest[i]) or i in nearest(j, rest[j])):
                within[i, j] = np.exp(-D[i, j] / (scale(i, rest[i]) * scale(j, rest[j])))
    if criterion == "mfa":
        for c in range(3):
            pairs = [(i, j) for i in range(n) for j in range(n) if y[i] == c != y[j]]
            for i, j in sorted(pairs, key=lambda pair: D[pair])[: k * sizes[c]]:
                between[i, j] = between[j, i] = 1.0
    if criterion == "laplacian":
        d = within.sum(axis=1)
        between = np.outer(d, d) / d.sum()
    return between, within


@pytest.mark.parametrize("criterion", CRITERIA)
def test_graphs_are_those_of_the_definition(criterion):
    Ks, y = problem()
    found = graph_pair(criterion, mean_squares(Ks), None if criterion == "laplacian" else y, 7)
    for got, expected in zip(found, graphs(criterion, Ks, y), strict=True):
        np.testing.assert_allclose(got, expected, atol=1e-12)


@pytest.mark.parametrize("criterion", ["lda", "lfda"])
@pytest.mark.parametrize("metric", ["weighted", "orthonormalized", "plain"])
def test_one_kernel_is_kernel_lfda(criterion, metric):
    X, y = load_iris(return_X_y=True)
    own, new = X[::2], X[1::2]
    k = 7 if criterion == "lfda" else None
    options = {"n_components": 2, "reg": REG, "metric": metric}
    ours = MKLDR(View("x", Gaussian(0.3), standardize=False), criterion=criterion, **options).fit(own, y[::2])
    theirs = LFDA(Gaussian(0.3), n_neighbors=k, **options).fit(own, y[::2])
    np.testing.assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-7)
    expected, got = theirs.transform(new), ours.transform(new)
    expected, got = expected - expected.mean(axis=0), got - got.mean(axis=0)
    if metric == "orthonormalized":  # of length 1 in the feature space of the scaled kernel
        expected = expected / np.sqrt(variance(Gaussian(0.3)(own, own)))
    np.testing.assert_allclose(np.abs(got), np.abs(expected), atol=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("q", [1, 2])
def test_objective_and_certificate_from_outside(criterion, q):
    """F and its slopes at the learned weights, by a solver of its own and central differences."""
    Ks, y = problem()
    model = fit(Ks, y, criterion=criterion, n_components=q)
    between, within = graphs(criterion, Ks, y)

    def F(shares):
        return value(Ks, shares, between, within, q)

    at = model.kernel_shares_
    assert model.objective_ == pytest.approx(F(at), rel=1e-5)
    assert model.objective_ == pytest.approx(model.eigenvalues_.sum())
    h = 1e-4
    slopes = [(F(at + h * e) - F(at)) / h for e in np.eye(len(at))]  # weights of 0 have one side
    assert max(slopes) / F(at) < 2e-3
    assert model.status_ == "optimal" and model.dual_gap_ <= 1e-6
    for m in np.flatnonzero(at > 1e-3):
        assert abs(slopes[m]) / F(at) < 2e-3  # stationary in every kernel with weight


@pytest.mark.parametrize("criterion", CRITERIA)
def test_no_worse_than_another_optimizer(criterion):
    """SLSQP from the same start, on F by a route of its own, finds nothing better on these problems."""
    Ks, y = problem(1, n=24)
    model = fit(Ks, y, criterion=criterion, n_components=2)
    between, within = graphs(criterion, Ks, y)
    start = np.full(4, 0.25)
    other = scipy.optimize.minimize(
        lambda b: -value(Ks, np.maximum(b, 0.0), between, within, 2),
        start,
        method="SLSQP",
        bounds=[(0.0, 1.0)] * 4,
        constraints={"type": "eq", "fun": lambda b: b.sum() - 1.0},
        options={"maxiter": 60, "ftol": 1e-8},
    )
    assert model.objective_ >= -other.fun * (1 - 1e-4)
    assert model.objective_ > value(Ks, start, between, within, 2) * (1 + 1e-3)


@pytest.mark.parametrize("seed", range(4))
def test_the_objective_never_falls(seed):
    Ks, y = problem(seed)
    values = [entry["objective"] for entry in fit(Ks, y, criterion="lfda").history_]
    assert len(values) > 2 and np.all(np.diff(values) > 0.0)


def test_the_noise_gets_no_weight_and_scales_do_not_matter():
    Ks, y = problem(n=60)
    model = fit(Ks, y, reg=0.1)
    frame = model.weights_frame()
    assert frame.loc["noise", "share"] < 0.05 < frame.loc["a", "share"]
    scaled = fit({name: 1e3 * K + (5.0 if name == "b" else 0.0) for name, K in Ks.items()}, y, reg=0.1)
    np.testing.assert_allclose(scaled.kernel_shares_, model.kernel_shares_, atol=1e-5)
    np.testing.assert_allclose(scaled.objective_, model.objective_, rtol=1e-6)


def test_training_rows_are_projected_as_they_were_learned():
    """Coordinates of the training samples have the scatters that the eigenproblem says."""
    Ks, y = problem()
    model = fit(Ks, y, criterion="lfda", metric="plain", n_components=2)
    Z = model.transform(stack_kernels(Ks))
    between, _ = graphs("lfda", Ks, y)
    S_b = 0.5 * sum(
        between[i, j] * np.outer(Z[i] - Z[j], Z[i] - Z[j]) for i in range(len(Z)) for j in range(len(Z))
    )
    np.testing.assert_allclose(S_b, np.diag(model.eigenvalues_), atol=1e-6 * model.eigenvalues_[0])


def test_in_a_pipeline_and_a_grid_search():
    X, y = load_wine(return_X_y=True)
    views = [View("all", Gaussian()), View("first", Linear(), range(6))]
    pipe = make_pipeline(MKLDR(views), KNeighborsClassifier())
    grid = {"mkldr__criterion": ["lda", "mfa"], "mkldr__reg": [1e-2, 1e-1]}
    search = GridSearchCV(pipe, grid, cv=3).fit(X, y)
    assert search.best_score_ > 0.95
    names = search.best_estimator_[:-1].get_feature_names_out()
    assert names.tolist()[:2] == ["mkldr0", "mkldr1"]


def test_a_pair_of_graphs_of_ones_own():
    Ks, y = problem()
    between, within = graphs("lda", Ks, y)
    seen = []

    def own(squares, labels):
        seen.append((squares.shape, labels))
        return within, between

    ours = fit(Ks, y, criterion=own, n_components=2)
    np.testing.assert_allclose(ours.eigenvalues_, fit(Ks, y, n_components=2).eigenvalues_, rtol=1e-5)
    assert seen == [((36, 36), y)] or (seen[0][0] == (36, 36) and seen[0][1] is y)
    with pytest.raises(ValueError, match="criterion must return two symmetric arrays"):
        fit(Ks, y, criterion=lambda squares, labels: (within[:3], between))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"criterion": "pca"}, "criterion"),
        ({"reg": 0.0}, "reg must be"),
        ({"n_components": 36}, "n_components must be less than the number of samples, 36"),
        ({"metric": "long"}, "metric"),
        ({"criterion": lambda D, y: (np.zeros_like(D), D)}, "no pair of samples to hold together"),
    ],
)
def test_refusals(options, message):
    Ks, y = problem()
    with pytest.raises(ValueError, match=message):
        fit(Ks, y, **options)


def test_few_updates_are_told_and_storage_is_refused():
    Ks, y = problem()
    with pytest.warns(ConvergenceWarning, match="MKLDR did not reach tol"):
        assert fit(Ks, y, max_iter=1, tol=1e-9).status_ == "max_iter"
    with pytest.raises(ValueError, match="MKLDR does not support missing='mean'"):
        MKLDR(KernelBank([Linear(), Gaussian()], missing="mean")).fit(np.eye(6), np.arange(6) % 2)


def test_more_components_than_keep_anything_apart():
    """Two classes have one direction of linear discriminant analysis; others have an eigenvalue of 0."""
    Ks, y = problem()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = fit(Ks, y > 0, n_components=3)
    assert np.abs(model.eigenvalues_[1:]).max() < 1e-8 * model.eigenvalues_[0]
    np.testing.assert_allclose(model.objective_, fit(Ks, y > 0).objective_, rtol=1e-4)


@pytest.mark.parametrize("criterion", ["lda", "laplacian"])
def test_samples_to_hold_together_that_do_not_differ(criterion):
    n_repeats = 1 if criterion == "lda" else 10
    X, y = np.repeat(np.eye(2), n_repeats, axis=0), np.repeat([0, 1], n_repeats)
    with pytest.raises(
        ValueError, match=f"criterion '{criterion}': the samples to hold together do not differ"
    ):
        MKLDR(Gaussian(), criterion=criterion, n_components=1).fit(X, y)


@pytest.mark.parametrize(
    ("criterion", "message"),
    [
        (lambda D, y: D, r"shape \(36, 36\), the pairs to hold together first; got ndarray\.$"),
        (lambda D, y: (D * np.nan, D), r"got one with NaN or infinity\.$"),
        (lambda D, y: (np.triu(D), D), r"got one that is not symmetric\.$"),
        (lambda D, y: (-D, D), "criterion '<lambda>': the samples .* or negative weights"),
    ],
)
def test_what_a_callable_returned_is_named(criterion, message):
    Ks, y = problem()
    with pytest.raises(ValueError, match=message):
        fit(Ks, y, criterion=criterion)


@pytest.mark.parametrize("seed", [0, 1, 4, 6])
@pytest.mark.parametrize("criterion", ["lda", "lfda", "mfa"])
def test_views_of_one_column_keep_their_directions(criterion, seed):
    """Each kernel has rank one: with the weight on one of them, all directions but one would be lost."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, 40)
    X = rng.normal(size=(40, 4))
    X[:, 0] += 3.0 * y
    views = [(f"v{k}", Linear(), [k]) for k in range(4)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = MKLDR(views, criterion=criterion, reg=0.1).fit(X, y)

    def value(shares):
        Z = (X - X.mean(axis=0)) / X.std(axis=0)
        G = Z * np.sqrt(shares)
        squares = ((Z[:, None] - Z) ** 2).sum(axis=2) / 4
        between, within = (
            G.T @ (np.diag(W.sum(axis=0)) - W) @ G for W in graph_pair(criterion, squares, y, 7)
        )
        ridge = 0.1 * np.trace(within) * np.eye(4)
        roots = scipy.linalg.eigh(between, within + ridge, eigvals_only=True)
        return np.sort(roots)[::-1][: 2 if criterion == "lda" else 3].sum()

    own = value(model.kernel_shares_)
    assert own == pytest.approx(model.objective_, rel=1e-6)
    rises = [
        (value(model.kernel_shares_ + t * (e - model.kernel_shares_)) - own) / t / own
        for e in np.eye(4)
        for t in (1e-4, 1e-6)
    ]
    assert max(rises) < model.dual_gap_ + 1e-4

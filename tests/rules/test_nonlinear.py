"""Nonlinear rules: sums and products by cvxpy and differences; two kernels, clusters, samples by hand."""

import warnings

import cvxpy as cp
import numpy as np
import pytest
from sklearn.svm import SVC

from multikernel import CombinedKernelClassifier, CombinedKernelRegressor
from multikernel.core.svm.losses import SquaredHinge
from multikernel.kernels import Gaussian, Linear, Polynomial
from multikernel.rules import ClusterWeights, FunctionalForm, GeneralMKL, InstanceWeights
from multikernel.rules.solver.local_weights import Groups, LocalWeights
from multikernel.rules.solver.margin_value import MarginValue
from multikernel.rules.solver.products import PowerProduct, WeightedSum
from multikernel.rules.targets import class_targets, value_targets
from multikernel.views import per_feature


def columns(seed=0, n=30, d=4):
    """Linear kernels and Gaussians of each column; two classes by the first two."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = np.where(X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.2 * rng.normal(size=n) > 0.3, 1, 0)
    linear = [np.outer(x, x) for x in X.T]
    return X, y, linear, gaussians(X)


def gaussians(X):
    return [np.exp(-(np.subtract.outer(x, x) ** 2)) for x in X.T]


def conic_value(Ks, targets, penalty, reg, C):
    """The dual: the smallest over η ≥ 0 is taken by hand, −½q_m η_m + r(η) for each kernel."""
    value, constraints, forms = 0.0, [], [0.0] * len(Ks)
    roots = [np.linalg.cholesky(K + 1e-11 * np.eye(len(K))) for K in Ks]
    for loss in targets:
        beta = cp.Variable(loss.target.size)
        value += loss.target @ beta - loss.epsilon * cp.norm1(beta)
        constraints += [cp.sum(beta) == 0, beta >= loss.lower, beta <= loss.upper]
        forms = [q + cp.sum_squares(root.T @ beta) for q, root in zip(forms, roots, strict=True)]
    if penalty == "l1":
        constraints += [0.5 * q <= reg for q in forms]
    else:
        q = cp.Variable(len(Ks))
        value -= cp.sum_squares(q) / (8.0 * reg)
        constraints += [form <= q[m] for m, form in enumerate(forms)]
    return cp.Problem(cp.Maximize(value), constraints).solve(solver="CLARABEL")


@pytest.mark.parametrize(
    ("seed", "penalty", "reg", "C"),
    [(0, "l1", 0.7, 1.0), (1, "l2", 0.7, 10.0), (2, "l1", 3.0, 10.0), (3, "l2", 0.1, 1.0)],
)
def test_the_sum_is_optimal(seed, penalty, reg, C):
    _, y, linear, gaussian = columns(seed)
    Ks = linear + gaussian
    learner = GeneralMKL(C, penalty=penalty, reg=reg, tol=1e-7).fit(Ks, y)
    expected = conic_value(Ks, class_targets(y).losses(C), penalty, reg, C)
    assert learner.objective_ == pytest.approx(expected, rel=1e-7)
    assert learner.dual_gap_ <= 2e-7
    assert learner.status_ == "optimal"
    assert (learner.kernel_weights_ >= 0).all()


def test_the_sum_of_values_and_of_many_classes():
    X, _, linear, gaussian = columns(4)
    Ks = linear[:2] + gaussian[:2]
    values = np.column_stack([X[:, 0] ** 2, X[:, 1]])
    learner = GeneralMKL(2.0, reg=0.5, epsilon=0.05, tol=1e-7).fit(Ks, values)
    expected = conic_value(Ks, value_targets(values).losses(2.0, epsilon=0.05), "l1", 0.5, 2.0)
    assert learner.objective_ == pytest.approx(expected, rel=1e-7)
    codes = np.digitize(X[:, 0], [-0.5, 0.5])
    learner = GeneralMKL(2.0, reg=0.5, tol=1e-7).fit(Ks, codes)
    expected = conic_value(Ks, class_targets(codes).losses(2.0), "l1", 0.5, 2.0)
    assert learner.objective_ == pytest.approx(expected, rel=1e-7)


def value_at(Ks, y, eta, combination, penalty, reg, C):
    product = combination == "product"
    K = PowerProduct(np.stack(Ks)).matrix(eta) if product else WeightedSum(np.stack(Ks)).matrix(eta)
    price = eta.sum() if penalty == "l1" else 0.5 * eta @ eta
    return MarginValue(class_targets(y).losses(C), tol=1e-11)(K).value + reg * price


@pytest.mark.parametrize("penalty", ["l1", "l2"])
def test_a_product_is_stationary(penalty):
    _, y, _, Ks = columns(5, n=40)
    learner = GeneralMKL(2.0, "product", penalty, reg=1.0, tol=1e-6).fit(Ks, y)
    eta = learner.kernel_weights_

    def value(e):
        return value_at(Ks, y, e, "product", penalty, 1.0, 2.0)

    assert learner.objective_ == pytest.approx(value(eta), rel=1e-8)
    h = 1e-4
    for m, unit in enumerate(np.eye(len(Ks))):
        up = (value(eta + h * unit) - value(eta)) / h
        assert up >= -1e-2
        if eta[m] > 1e-3:
            assert (value(eta + h * unit) - value(eta - h * unit)) / (2 * h) == pytest.approx(0.0, abs=1e-2)
    assert value(eta) < value(np.full(len(Ks), eta.mean())) - 1.0


def test_features_that_do_not_matter_have_no_width():
    X, y, _, _ = columns(2, n=60, d=6)
    learner = GeneralMKL(combination="product", reg=30.0)
    model = CombinedKernelClassifier(per_feature(6), learner).fit(X, y)
    assert model.kernel_weights_[:2].min() > 0.05
    assert (model.kernel_weights_[2:] == 0.0).all()
    widths = model.kernel_weights_
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    new = Z[:5] + 0.1
    expected = np.exp(-((new[:, None] - Z[None]) ** 2 @ widths))
    np.testing.assert_allclose(model.combined_kernel(X[:5] + 0.1 * X.std(axis=0)), expected, rtol=1e-10)


def test_values_by_a_product():
    X, _, _, _ = columns(7, n=50)
    y = np.sin(2.0 * X[:, 1])
    learner = GeneralMKL(10.0, "product", reg=3.0)
    model = CombinedKernelRegressor(per_feature(4), learner).fit(X, y)
    assert model.kernel_weights_.argmax() == 1
    assert model.kernel_weights_[[0, 2, 3]].max() < 0.05 * model.kernel_weights_[1]


def test_what_cannot_be_done_is_said():
    X, y, linear, gaussian = columns(10)
    with pytest.raises(ValueError, match=r"reg=1000000\.0 all kernel weights are zero"):
        GeneralMKL(reg=1e6).fit(gaussian, y)
    with pytest.raises(ValueError, match=r"kernel 'a' has -.* Gaussian or Laplacian"):
        GeneralMKL(combination="product").fit({"a": linear[0]}, y)
    positive = np.abs(X)
    cubic = Polynomial(3, gamma=1.0, coef0=0.1)(positive)
    with pytest.raises(ValueError, match="some of kernel 'cubic' are not"):
        GeneralMKL(combination="product").fit({"fine": gaussian[0], "cubic": cubic}, y)


def test_values_within_the_tube_are_worth_no_kernel():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for y in (np.linspace(-1e-3, 1e-3, 6), np.ones(6)):
            with pytest.raises(ValueError, match="all kernel weights are zero"):
                GeneralMKL().fit([np.eye(6), np.ones((6, 6)) + np.eye(6)], y, task="regression")


def test_views_of_features():
    views = per_feature(["a", 3], Linear(), standardize=False)
    assert [(view.columns, view.kernel) for view in views] == [(["a"], Linear()), ([3], Linear())]
    assert per_feature(1)[0].kernel == Gaussian(gamma=1.0) and per_feature(1)[0].standardize


def two_kernels(seed=0, n=20, n_new=6, classes=2):
    """Two kernels of n training and some new samples, each training kernel of mean diagonal 1."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n + n_new, 3))
    stack = [X @ X.T, np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2))]
    stack = [K / np.diagonal(K)[:n].mean() for K in stack]
    y = np.digitize(X[:n, 0], np.quantile(X[:n, 0], np.arange(1, classes) / classes))
    return [K[:n, :n] for K in stack], [K[n:, :n] for K in stack], y


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("form", ["difference", "absolute"])
def test_forms_that_know_the_classes(form, classes):
    Ks, new, y = two_kernels(classes=classes)
    tau = 3.0
    learner = FunctionalForm(form, tau)
    K = learner.fit_combine(Ks, y)
    expected = np.empty_like(K)
    for i in range(len(y)):
        for j in range(len(y)):
            sign = 1.0 if y[i] == y[j] else -1.0 / (classes - 1)
            d = Ks[0][i, j] - Ks[1][i, j]
            expected[i, j] = 0.5 * (Ks[0] + Ks[1])[i, j] + tau * sign * (abs(d) if form == "absolute" else d)
    lowest = np.linalg.eigvalsh(expected)[0]
    assert learner.shift_ == pytest.approx(max(0.0, -lowest), abs=1e-10)
    assert lowest < 0  # there was something to raise
    np.testing.assert_allclose(K, expected + learner.shift_ * np.eye(len(y)), atol=1e-12)
    np.testing.assert_allclose(learner.combine(np.stack(new, axis=2)), 0.5 * (new[0] + new[1]), atol=1e-14)


def test_product():
    Ks, new, y = two_kernels()
    learner = FunctionalForm("product", 0.7)
    D = Ks[0] - Ks[1]
    np.testing.assert_allclose(
        learner.fit_combine(Ks, y), 0.5 * (Ks[0] + Ks[1]) + 0.7 * D @ D / len(y), atol=1e-12
    )
    assert learner.shift_ == 0.0
    expected = 0.5 * (new[0] + new[1]) + 0.7 * (new[0] - new[1]) @ D / len(y)
    np.testing.assert_allclose(learner.combine(np.stack(new, axis=2)), expected, atol=1e-12)


@pytest.mark.parametrize("form", ["difference", "absolute"])
def test_the_mean_kernel_tells_the_class_that_is_decided_with_more_confidence(form):
    Ks, new, y = two_kernels(3, n=40, n_new=30)
    signs = np.where(y == 1, 1.0, -1.0)
    learner = FunctionalForm(form, 0.8)
    machine = SVC(kernel="precomputed", C=3.0).fit(learner.fit_combine(Ks, y), y)
    d = new[0] - new[1]
    d = np.abs(d) if form == "absolute" else d
    mean = 0.5 * (new[0] + new[1])
    scores = {s: machine.decision_function(mean + 0.8 * s * signs * d) for s in (1, -1)}
    most_confident = np.where(scores[1] >= -scores[-1], 1, 0)
    assert 0 < most_confident.sum() < most_confident.size
    np.testing.assert_array_equal(machine.predict(learner.combine(np.stack(new, axis=2))), most_confident)


def test_three_kernels_are_refused():
    Ks, _, y = two_kernels()
    with pytest.raises(ValueError, match=r"combines two kernels; got 3\. Choose two"):
        FunctionalForm().fit([*Ks, Ks[0]], y)


def two_sides(seed=0, n=40):
    """Where the third column is positive, the first tells the classes, else the second."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    X[:, 2] += np.where(X[:, 2] > 0, 3.0, -3.0)
    side = (X[:, 2] > 0).astype(int)
    y = (np.where(side == 1, X[:, 0], X[:, 1]) > 0).astype(int)
    return X, y, side, [np.outer(x, x) for x in X.T]


def plain_kernel(Ks, w, v=None):
    """Σ_m w_im v_jm K_m(i, j) / s_m with s_m = 1."""
    v = w if v is None else v
    return sum(np.outer(w[:, m], v[:, m]) * K for m, K in enumerate(Ks))


@pytest.mark.parametrize("reg", [0.0, 2.0])
def test_value_and_gradient(reg):
    _, y, side, Ks = two_sides(n=20)
    Ks = np.stack([K / np.diagonal(K).mean() for K in Ks])
    signs = np.where(y == 1, 1.0, -1.0)
    rng = np.random.default_rng(1)
    of = np.arange(20) // 2
    W = rng.dirichlet(np.ones(3), size=10)
    problem = LocalWeights(Ks, [SquaredHinge(signs, 2.0)], Groups(of, side, reg), tol=1e-12)
    value, gradient = problem(W)
    w = W[of]
    away = w - np.stack([w[side == s].mean(axis=0) for s in side])
    expected = MarginValue([SquaredHinge(signs, 2.0)], 1e-12)(plain_kernel(Ks, w)).value
    assert value == pytest.approx(expected + 0.5 * reg * (away**2).sum(), rel=1e-10)
    h = 1e-6
    for k, m in [(0, 0), (3, 1), (9, 2), (5, 0)]:
        step = np.zeros_like(W)
        step[k, m] = h
        slope = (problem(W + step)[0] - problem(W - step)[0]) / (2 * h)
        assert gradient[k, m] == pytest.approx(slope, rel=1e-4, abs=1e-6)


def test_clusters_have_the_kernel_that_tells_their_classes():
    _, y, side, Ks = two_sides(n=60)
    learner = ClusterWeights(C=10.0, labels=side)
    K = learner.fit_combine(Ks, y)
    assert learner.cluster_weights_.argmax(axis=1).tolist() == [1, 0]
    np.testing.assert_allclose(learner.cluster_weights_.sum(axis=1), 1.0)
    scales = [np.diagonal(K).mean() for K in Ks]
    w = learner.cluster_weights_[side]
    np.testing.assert_allclose(K, plain_kernel([K / s for K, s in zip(Ks, scales, strict=True)], w))
    np.testing.assert_allclose(learner.kernel_weights_, w.mean(axis=0))
    assert learner.dual_gap_ <= 1e-3


def test_the_end_is_stationary():
    _, y, side, Ks = two_sides(3, n=30)
    learner = ClusterWeights(labels=side, tol=1e-6).fit(Ks, y)
    signs = np.where(y == 1, 1.0, -1.0)
    groups = Groups(side, np.zeros(30, int))
    value, G = LocalWeights(np.stack(Ks), [SquaredHinge(signs, 1.0)], groups, 1e-10)(learner.cluster_weights_)
    assert learner.objective_ == pytest.approx(value, rel=1e-6)
    gap = ((G * learner.cluster_weights_).sum() - G.min(axis=1).sum()) / value
    assert gap == pytest.approx(learner.dual_gap_, abs=1e-5)
    assert gap <= 1e-5


def test_found_clusters_and_new_samples():
    X, y, _, Ks = two_sides(n=50)
    Ks = [K + 0.0 for K in Ks[:2]] + [40.0 * np.exp(-(np.subtract.outer(X[:, 2], X[:, 2]) ** 2) / 20.0)]
    train, new = np.arange(40), np.arange(40, 50)
    fit = [K[np.ix_(train, train)] for K in Ks]
    rows = [K[np.ix_(new, train)] for K in Ks]
    learner = ClusterWeights(2).fit(fit, y[:40])
    scales = [np.diagonal(K).mean() for K in fit]
    mean = sum(K / s for K, s in zip(Ks, scales, strict=True)) / 3
    distances = []
    for c in range(2):
        members = train[learner.clusters_ == c]
        norm = mean[np.ix_(members, members)].mean()
        distances.append(np.diagonal(mean)[new] - 2 * mean[np.ix_(new, members)].mean(axis=1) + norm)
    w_new = learner.cluster_weights_[np.argmin(distances, axis=0)]
    w = learner.cluster_weights_[learner.clusters_]
    expected = plain_kernel([K / s for K, s in zip(rows, scales, strict=True)], w_new, w)
    np.testing.assert_allclose(learner.combine(np.stack(rows, axis=2)), expected, rtol=1e-10)


def test_weights_of_samples():
    _, y, side, Ks = two_sides(n=40)
    learner = InstanceWeights(C=3.0, reg=1.0).fit(Ks, y)
    w = learner.instance_weights_
    assert w.shape == (40, 3)
    np.testing.assert_allclose(w.sum(axis=1), 1.0)
    assert w[side == 1, 0].mean() > w[side == 0, 0].mean() + 0.1
    rows = np.stack([K[:3] for K in Ks], axis=2)
    scales = np.array([np.diagonal(K).mean() for K in Ks])
    mean = sum(K / s for K, s in zip(Ks, scales, strict=True)) / 3
    distances = np.diagonal(mean)[:3, None] + np.diagonal(mean) - 2 * mean[:3]
    nearest = np.argsort(distances, axis=1, kind="stable")[:, :5]
    expected = plain_kernel([K[:3] / s for K, s in zip(Ks, scales, strict=True)], w[nearest].mean(axis=1), w)
    np.testing.assert_allclose(learner.combine(rows), expected, rtol=1e-10)


def test_a_high_price_holds_samples_together():
    _, y, _, Ks = two_sides(5, n=30)
    loose = InstanceWeights(reg=0.1).fit(Ks, y).instance_weights_
    tight = InstanceWeights(reg=1e3).fit(Ks, y).instance_weights_
    assert np.abs(tight - tight.mean(axis=0)).max() < 0.01 < np.abs(loose - loose.mean(axis=0)).max()


@pytest.mark.parametrize("learner", [ClusterWeights(tol=1e-6), InstanceWeights(reg=30.0)])
def test_tasks(learner):
    X, _, _, Ks = two_sides(6, n=24)
    assert learner.fit(Ks, X[:, 0]).kernel_weights_.argmax() == 0
    assert learner.fit(Ks, np.digitize(X[:, 0], [-0.5, 0.5])).kernel_weights_.argmax() == 0


def test_clusters_that_cannot_be():
    _, y, _, Ks = two_sides(n=12)
    with pytest.raises(ValueError, match="n_clusters must be at most the number of samples, 12; got 13"):
        ClusterWeights(13).fit(Ks, y)
    with pytest.raises(ValueError, match="labels must hold a cluster for each of the 12"):
        ClusterWeights(labels=[0, 1]).fit(Ks, y)

"""The spectral kernel classifier with several kernels, with factors of low rank, in order, and by folds."""

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC

from multikernel import KernelBank, load_model, save_model
from multikernel.kernels import Gaussian, Linear, Polynomial
from multikernel.spectral import SpectralKernelClassifier
from multikernel.spectral.choices import KAPPAS
from multikernel.spectral.solver.kernel import (
    JointSpectrum,
    SpectralModel,
    SpectralRule,
    learn_spectral_weights,
    spectrum_of,
)
from multikernel.spectral.solver.separability import Tradeoff
from multikernel.views import View
from tests.spectral import wine
from tests.test_bad_input import refuses

KERNELS = [
    View("narrow", Gaussian(gamma=0.3)),
    View("wide", Gaussian(gamma=0.02)),
    View("straight", Linear()),
]


@pytest.fixture(scope="module")
def data():
    """Wine, columns of variance one, labelled points first: X, y, X_unlabeled, their classes."""
    X, y, X_new, y_new = wine.raw()
    points = np.concatenate([X, X_new])
    points = (points - points.mean(axis=0)) / points.std(axis=0)
    return points[: len(X)], y, points[len(X) :], y_new


def grams(A, B):
    squares = ((A[:, None] - B[None]) ** 2).sum(axis=2)
    return [np.exp(-0.3 * squares), np.exp(-0.02 * squares), A @ B.T]


# --- several kernels -----------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["separability", "alignment"])
@pytest.mark.parametrize("center", [False, True])
def test_several_kernels_are_learned_side_by_side(data, method, center):
    X, y, X_new, y_new = data
    model = SpectralKernelClassifier(KERNELS, method=method, center=center).fit(X, y, X_new)
    points = np.concatenate([X, X_new])
    joint = JointSpectrum(tuple(spectrum_of(K, center=center) for K in grams(points, points)))
    joint = joint.above(0.1 if center else 0.01)
    rule = SpectralRule(method, Tradeoff(1e4), "closed" if method == "separability" else "nnls")
    expected = SpectralModel(joint, learn_spectral_weights(joint, y, rule), len(X))
    np.testing.assert_allclose(model.kernel_, expected.kernel(), atol=1e-6 * np.abs(expected.kernel()).max())
    assert model.view_names_ == ["narrow", "wide", "straight"]
    np.testing.assert_array_equal(model.component_views_, joint.kernels)
    traces = [
        model.spectral_weights_[joint.kernels == m] @ model.spectral_weights_[joint.kernels == m]
        for m in range(3)
    ]
    np.testing.assert_allclose(model.view_shares_, np.array(traces) / np.sum(traces))
    np.testing.assert_array_equal(model.predict(X_new), model.transduction_)
    assert np.mean(model.transduction_ == y_new) > 0.85
    Z = model.transform(points)
    np.testing.assert_allclose(Z @ Z.T, model.kernel_, atol=1e-6 * np.abs(model.kernel_).max())


def test_precomputed_stacks_and_dicts_are_the_kernels_they_were_made_of(data):
    X, y, X_new, _ = data
    points = np.concatenate([X, X_new])
    table = SpectralKernelClassifier(KERNELS).fit(X, y, X_new)
    stack = np.stack(grams(points, points), axis=2)
    before = stack.copy()
    ready = SpectralKernelClassifier("precomputed").fit(stack[:36], y, stack[36:])
    np.testing.assert_array_equal(stack, before)
    np.testing.assert_allclose(ready.kernel_, table.kernel_, atol=1e-6 * np.abs(table.kernel_).max())
    np.testing.assert_array_equal(ready.predict(stack[40:60]), table.predict(points[40:60]))
    named = dict(zip("abc", grams(points[:36], points), strict=True))
    rest = dict(zip("cab", [grams(points[36:], points)[i] for i in (2, 0, 1)], strict=True))
    by_name = SpectralKernelClassifier("precomputed").fit(named, y, rest)
    np.testing.assert_allclose(by_name.kernel_, ready.kernel_, atol=1e-9 * np.abs(ready.kernel_).max())
    assert by_name.view_names_ == ["a", "b", "c"]


def test_kernels_of_a_list_are_standardised_where_asked(data):
    X, y, X_new, _ = wine.raw()
    asked = SpectralKernelClassifier(KERNELS, standardize=True).fit(X, y, X_new)
    scaled = SpectralKernelClassifier(KERNELS).fit(*data[:3])
    np.testing.assert_allclose(asked.eigenvalues_, scaled.eigenvalues_, rtol=1e-8)


def test_a_model_of_several_kernels_is_saved_and_loaded(data, tmp_path):
    X, y, X_new, _ = data
    for kernels in (KERNELS, KernelBank(Gaussian(gamma=0.05), rank=40)):
        model = SpectralKernelClassifier(kernels, order="improved").fit(X, y, X_new)
        save_model(model, tmp_path / "model.mkl")
        again = load_model(tmp_path / "model.mkl")
        np.testing.assert_array_equal(again.predict(X_new), model.predict(X_new))
        np.testing.assert_array_equal(again.transform(X), model.transform(X))


# --- factors ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("center", [False, True])
def test_factors_of_full_rank_give_the_kernel_itself(data, center):
    X, y, X_new, _ = data
    kernel = Gaussian(gamma=0.05)
    whole = SpectralKernelClassifier(kernel, center=center).fit(X, y, X_new)
    low = SpectralKernelClassifier(KernelBank(kernel, rank=178), center=center).fit(X, y, X_new)
    np.testing.assert_allclose(low.eigenvalues_, whole.eigenvalues_, rtol=1e-6)
    np.testing.assert_allclose(low.kernel_, whole.kernel_, atol=1e-5 * np.abs(whole.kernel_).max())
    np.testing.assert_array_equal(low.transduction_, whole.transduction_)
    np.testing.assert_array_equal(low.predict(X_new), low.transduction_)


def test_few_landmarks_are_near_and_widths_are_chosen_with_them(data):
    X, y, X_new, y_new = data
    bank = KernelBank("gaussian", rank=60)
    model = SpectralKernelClassifier(bank, standardize=False).fit(X, y, X_new)
    assert len(model.loo_scores_) == 10 and np.mean(model.transduction_ == y_new) > 0.85
    np.testing.assert_array_equal(model.predict(X_new), model.transduction_)
    several = SpectralKernelClassifier(KernelBank(KERNELS, rank=60)).fit(X, y, X_new)
    assert several.view_names_ == ["narrow", "wide", "straight"]
    np.testing.assert_array_equal(several.predict(X_new), several.transduction_)
    with refuses("conformal", "factors of low rank"):
        SpectralKernelClassifier(KernelBank(Gaussian(gamma=0.1), rank=20), method="conformal").fit(X, y)


def test_more_than_ten_thousand_points_make_no_square_matrix():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, 12_000)
    X = 2.5 * np.eye(3)[codes] + rng.normal(size=(12_000, 3))
    model = SpectralKernelClassifier(gamma="mean", n_neighbors=5).fit(X[:300], codes[:300], X[300:])
    assert model._from_factors and model.eigenvectors_.shape[0] == 12_000
    assert np.mean(model.transduction_ == codes[300:]) > 0.8


# --- order and folds -------------------------------------------------------------------------------------


def test_the_order_of_weights_is_kept(data):
    X, y, X_new, _ = data
    ordered = SpectralKernelClassifier(Gaussian(gamma=0.05), order="decreasing").fit(X, y, X_new)
    free = SpectralKernelClassifier(Gaussian(gamma=0.05)).fit(X, y, X_new)
    assert (np.diff(ordered.spectral_weights_) <= 1e-12).all()
    assert (np.diff(free.spectral_weights_) > 0.0).any()
    assert ordered.objective_ < free.objective_
    several = SpectralKernelClassifier(KERNELS, order="decreasing").fit(X, y, X_new)
    for m in range(3):
        assert (np.diff(several.spectral_weights_[several.component_views_ == m]) <= 1e-12).all()


@pytest.mark.parametrize("classifier", ["svm", "knn", SVC(kernel="precomputed", C=3.0)])
def test_alpha_is_chosen_by_folds_with_the_classifier_itself(data, classifier):
    X, y, X_new, _ = data
    kernel = Gaussian(gamma=0.05)
    folds = list(StratifiedKFold(4, shuffle=True, random_state=1).split(X, y))
    model = SpectralKernelClassifier(kernel, reg="cv", cv=folds, classifier=classifier).fit(X, y, X_new)
    scores = []
    for kappa in KAPPAS:
        shares = []
        for train, test in folds:
            rest = np.concatenate([X[test], X_new])
            fold = SpectralKernelClassifier(kernel, reg=("relative", kappa), classifier=classifier)
            fold.fit(X[train], y[train], rest)
            shares.append(np.mean(fold.transduction_[: test.size] == y[test]))
        scores.append(np.mean(shares))
    np.testing.assert_allclose(model.loo_scores_["score"], scores)
    best = KAPPAS[int(np.argmax(scores))]
    chosen = SpectralKernelClassifier(kernel, reg=("relative", best), classifier=classifier).fit(X, y, X_new)
    np.testing.assert_allclose(model.spectral_weights_, chosen.spectral_weights_)


def test_all_that_is_chosen_is_chosen_by_the_same_judge(data):
    X, y, X_new, _ = data
    model = SpectralKernelClassifier(reg="cv", classifier="svm", cv=3).fit(X, y, X_new)
    assert len(model.loo_scores_) == 10 * len(KAPPAS)
    again = SpectralKernelClassifier(gamma="cv", reg=("relative", "cv"), classifier="svm", cv=3).fit(
        X, y, X_new
    )
    np.testing.assert_array_equal(again.loo_scores_["score"], model.loo_scores_["score"])
    conformal = SpectralKernelClassifier(gamma="cv", method="conformal", cv=3).fit(X, y, X_new)
    assert len(conformal.loo_scores_) == 10 and conformal.loo_scores_["score"].max() > 0.8
    few, names = [0, 15, 30, 31], np.array(["low", "mid", "high"])
    with refuses("at least 2 samples of each class; class 'low' has 1"):
        SpectralKernelClassifier(Polynomial(2), reg="cv").fit(X[few], names[y[few]], X_new)
    lopsided = [(np.flatnonzero(y != 0), np.flatnonzero(y == 0))]
    with refuses("labelled points of all 3 classes", "stratified"):
        SpectralKernelClassifier(reg="cv", cv=lopsided).fit(X, y, X_new)

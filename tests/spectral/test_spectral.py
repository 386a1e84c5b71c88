"""The spectral kernel classifier: what it learns, new points, the choice by leave-one-out, classifiers."""

import numpy as np
import pytest
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from multikernel.kernels import Gaussian
from multikernel.spectral import ConformalKernel, KDDAClassifier, SpectralKernelClassifier
from multikernel.spectral.solver.kernel import SpectralRule, spectrum_of
from multikernel.spectral.solver.leave_one_out import kernel_leave_one_out_score, leave_one_out_score
from multikernel.spectral.solver.separability import Tradeoff
from tests.mkl.data import make_three
from tests.spectral import wine
from tests.spectral.wine import SQUARE, fitted

WIDTHS = [wine.MEAN_SQUARE, 1e-4, 1e-3, 1e-2, 1e-1, 1.0, 5.0, 10.0, 100.0, 1000.0]
CRITERIA = [
    ("separability", None),
    ("alignment", "closed"),
    ("alignment", "nnls"),
    ("conformal", "gradient"),
    ("conformal", "eig"),
]


@pytest.fixture(scope="module")
def data():
    """Wine as it comes, labelled points first: X, y, X_unlabeled, their classes."""
    return wine.raw()


# --- fixtures ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("classifier", "n_neighbors", "plain", "centred"),
    [("knn", 1, 0.9507, 0.9577), ("knn", 3, 0.9225, 0.9789), ("svm", 1, 0.9296, 0.9648)],
)
def test_wine(data, classifier, n_neighbors, plain, centred):
    _, _, X_new, y_new = data
    for center, accuracy, first in ((False, plain, 22.64679), (True, centred, 8.527616)):
        model = fitted(center=center, classifier=classifier, n_neighbors=n_neighbors)
        assert np.mean(model.transduction_ == y_new) == pytest.approx(accuracy, abs=5e-5)
        assert model.spectral_weights_[0] == pytest.approx(first, abs=1e-5)
        assert model.eig_tol_ == (0.1 if center else 0.01)
        assert len(model.loo_scores_) == 0 and np.isnan(model.gamma_)
        np.testing.assert_allclose(model.predict(X_new), model.transduction_)


def test_the_default_chooses_the_width_by_leave_one_out(data):
    X, y, X_new, y_new = data
    model = SpectralKernelClassifier().fit(X, y, X_new)
    K_of = {width: wine.gaussian(*2 * [wine.load()[0]], width) for width in WIDTHS[1:]}
    K_of[WIDTHS[0]] = wine.problem()[0]
    codes = wine.problem()[1]
    scores = [leave_one_out_score(spectrum_of(K_of[w]).above(0.01), codes, SpectralRule()) for w in WIDTHS]
    table = model.loo_scores_
    np.testing.assert_allclose(1.0 / table["gamma"], WIDTHS, rtol=1e-9)
    wide = np.array(WIDTHS) >= 1.0  # a narrow Gaussian is the identity, and its eigenvectors are any
    np.testing.assert_array_equal(table["score"][wide], np.array(scores)[wide])
    assert (table["reg"] == 1e4).all() and table["kappa"].isna().all()
    assert model.gamma_ == table["gamma"][int(np.argmax(scores))] == pytest.approx(1.0 / wine.MEAN_SQUARE)
    assert model.base_kernel_ == Gaussian(gamma=model.gamma_)
    assert model.reg_star_ == pytest.approx(6.504845, abs=1e-6) and model.reg_ == 1e4
    assert np.mean(model.transduction_ == y_new) == pytest.approx(0.9507, abs=5e-5)


def test_the_mean_squared_distance_or_a_number_as_the_width(data):
    X, y, X_new, _ = data
    fixed = fitted()
    for gamma in ("mean", fixed.base_kernel_.gamma):
        model = SpectralKernelClassifier(gamma=gamma).fit(X, y, X_new)
        assert model.gamma_ == pytest.approx(1.0 / wine.MEAN_SQUARE) and len(model.loo_scores_) == 0
        np.testing.assert_allclose(model.kernel_, fixed.kernel_, atol=1e-9)
    far = SpectralKernelClassifier(gamma="mean", standardize=False).fit(X + 1e8, y, X_new + 1e8)
    near = SpectralKernelClassifier(gamma="mean", standardize=False).fit(X, y, X_new)
    assert far.gamma_ == pytest.approx(near.gamma_, rel=1e-6)


def test_a_width_that_is_not_the_first_is_used_for_new_points_too():
    X, y = make_three(60)
    model = SpectralKernelClassifier(eig_tol=0.003, random_state=3).fit(X[:40], y[:40])
    assert model.gamma_ != model.loo_scores_["gamma"][0]
    same = SpectralKernelClassifier(Gaussian(gamma=model.gamma_), standardize=True, eig_tol=0.003)
    same.fit(X[:40], y[:40])
    # eigenvectors have no sign
    np.testing.assert_allclose(np.abs(model.transform(X)), np.abs(same.transform(X)), atol=1e-12)
    assert model.base_kernel_ == same.base_kernel_


# --- what is learned ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize(("criterion", "method"), CRITERIA)
def test_attributes_agree_with_one_another(criterion, method, center):
    model = fitted(method=criterion, solver=method, center=center)
    K, codes, _ = wine.problem()
    learned, n = model.kernel_, len(K)
    V = model.eigenvectors_
    np.testing.assert_allclose(V.T @ V, np.eye(V.shape[1]), atol=1e-10)
    assert learned.shape == (n, n) and model.transduction_.shape == (142,)
    if criterion == "conformal":
        H = np.eye(n) - 1.0 / n
        base = H @ K @ H if center else K
        np.testing.assert_allclose(learned, np.outer(model.factors_, model.factors_) * base, atol=1e-9)
        np.testing.assert_allclose((V * model.eigenvalues_) @ V.T, learned, atol=1e-8)
        assert not hasattr(model, "spectral_weights_") and model.cores_.size == 12
    else:
        mu = model.spectral_weights_
        np.testing.assert_allclose((V * mu**2) @ V.T, learned, atol=1e-10)
        np.testing.assert_allclose(model.eigenvalues_, spectrum_of(K, center=center).values[: mu.size])
        assert hasattr(model, "reg_") == (criterion == "separability")
        total = mu.sum() if criterion == "separability" else (mu**2).sum()
        H = np.eye(n) - 1.0 / n
        trace = np.trace(H @ K @ H) if center else np.trace(K)
        budget = np.sqrt(model.eigenvalues_).sum() if criterion == "separability" else trace
        assert total == pytest.approx(budget)
    votes = [kernel_nearest(learned, i, codes) for i in range(36, n)]
    np.testing.assert_array_equal(model.transduction_, model.classes_[votes])


def kernel_nearest(K, i, codes):
    """The class of the labelled point that is nearest to point i."""
    l = codes.size
    return codes[np.argmin(K[i, i] + K.diagonal()[:l] - 2.0 * K[i, :l])]


@pytest.mark.parametrize(("criterion", "method"), CRITERIA)
def test_the_extension_is_exact_at_the_fitted_points(data, criterion, method):
    X, _, X_new, _ = data
    for center in (False, True):
        model = fitted(method=criterion, solver=method, center=center)
        points = np.concatenate([X, X_new])
        Z = model.transform(points)
        weights = np.sqrt(model.eigenvalues_) if criterion == "conformal" else model.spectral_weights_
        scale = 1.0 if criterion == "conformal" else np.maximum(weights, 1.0)
        tolerance = 1e-6 if criterion == "conformal" else 1e-12  # all eigenvalues, those near zero too
        np.testing.assert_allclose(Z / scale, model.eigenvectors_ * weights / scale, atol=tolerance)
        np.testing.assert_array_equal(model.predict(X_new), model.transduction_)
        np.testing.assert_allclose(model._learned_rows(points), model.kernel_[:, :36], atol=1e-9)


def test_new_points_go_through_the_scaling_of_the_fitted_ones(data):
    X, y, X_new, _ = data
    model = SpectralKernelClassifier(method="separability").fit(X, y)
    scaled = StandardScaler().fit(X)
    square = 2.0 * 13 * 36 / 35
    assert 1.0 / model.loo_scores_["gamma"][0] == pytest.approx(square)
    K = wine.gaussian(scaled.transform(X), scaled.transform(X), 1.0 / model.gamma_)
    rows = wine.gaussian(scaled.transform(X_new), scaled.transform(X), 1.0 / model.gamma_)
    spectrum = spectrum_of(K).above(0.01)
    expected = np.abs(rows @ spectrum.vectors / spectrum.values * model.spectral_weights_)
    np.testing.assert_allclose(np.abs(model.transform(X_new)), expected, atol=1e-9)
    assert model.transduction_.shape == (0,) and model.transduction_.dtype == y.dtype


def test_unlabelled_points_take_part(data):
    X, y, X_new, _ = data
    with_them = SpectralKernelClassifier(SQUARE, standardize=False).fit(X, y, X_new)
    without = SpectralKernelClassifier(SQUARE, standardize=False).fit(X, y)
    assert with_them.eigenvectors_.shape[0] == 178 and without.eigenvectors_.shape[0] == 36
    assert with_them.kernel_.shape == (178, 178)
    empty = SpectralKernelClassifier(SQUARE, standardize=False).fit(X, y, X_new[:0])
    np.testing.assert_array_equal(empty.kernel_, without.kernel_)


# --- reg, eig_tol ----------------------------------------------------------------------------------------


def test_relative_reg():
    model = fitted(reg=("relative", 1.5))
    assert model.reg_ == pytest.approx(1.5 * 6.504845469520146) and len(model.loo_scores_) == 0
    np.testing.assert_allclose(fitted(reg=model.reg_).spectral_weights_, model.spectral_weights_)
    assert model.separability_ > fitted().separability_
    infinite, limit = fitted(reg=np.inf), fitted(reg=("relative", np.inf))
    np.testing.assert_array_equal(limit.spectral_weights_, infinite.spectral_weights_)
    assert infinite.reg_ == limit.reg_ == np.inf and infinite.objective_ < 0.0


def test_eig_tol_and_kappa_by_leave_one_out(data):
    X, y, X_new, _ = data
    model = fitted(eig_tol="loo", reg=("relative", "loo"), n_neighbors=3)
    table = model.loo_scores_
    assert table["eig_tol"].tolist() == np.repeat([0.3, 0.1, 0.03, 0.01], 5).tolist()
    assert table["kappa"].tolist() == [1.25, 1.5, 2.0, 10.0, np.inf] * 4
    whole, codes = spectrum_of(wine.problem()[0]), wine.problem()[1]
    for _, row in table.iterrows():
        rule = SpectralRule(tradeoff=Tradeoff(row["kappa"], relative=True))
        assert row["score"] == leave_one_out_score(whole.above(row["eig_tol"]), codes, rule, n_neighbors=3)
    best = table.loc[table["score"].idxmax()]  # the first of the best
    assert (model.eig_tol_, model.reg_) == (best["eig_tol"], best["reg"])
    assert model.spectral_weights_.size == best["n_components"]
    aligned = SpectralKernelClassifier(method="alignment", eig_tol="loo", reg=("relative", "loo"))
    assert len(aligned.fit(X, y, X_new).loo_scores_) == 40  # kappa means nothing there


def test_the_width_of_a_conformal_kernel_is_chosen_too(data):
    X, y, X_new, _ = data
    model = SpectralKernelClassifier(method="conformal", eig_tol="loo").fit(X, y, X_new)
    assert len(model.loo_scores_) == 10 and model.loo_scores_["eig_tol"].isna().all()
    assert model.loo_scores_["score"].max() == kernel_leave_one_out_score(model.kernel_[:36, :36], y)


# --- the classifier ----------------------------------------------------------------------------------------


def test_a_conformal_kernel_is_that_of_its_own_estimator(data):
    X, y, X_new, _ = data
    X, X_new = StandardScaler().fit(X).transform(X), StandardScaler().fit(X).transform(X_new)
    for method in ("gradient", "eig"):
        model = SpectralKernelClassifier(SQUARE, method="conformal", solver=method, random_state=4)
        model.fit(X, y)
        other = ConformalKernel(SQUARE, solver=method, random_state=4).fit(X, y)
        np.testing.assert_allclose(model.kernel_, other.kernel_)
        np.testing.assert_allclose(model._learned_rows(X_new), other.transform(X_new))
        assert model.objective_ == pytest.approx(other.objective_)
        np.testing.assert_array_equal(model.cores_, other.cores_)
        np.testing.assert_allclose(model.coefficients_, other.coefficients_)


def test_discriminant_analysis_on_the_learned_kernel(data):
    model = fitted(classifier="kdda", n_neighbors=3)
    K = model.kernel_
    other = KDDAClassifier("precomputed", n_neighbors=3).fit(K[:36, :36], data[1])
    np.testing.assert_array_equal(model.transduction_, other.predict(K[36:, :36]))
    assert not hasattr(model, "decision_function") and not hasattr(model, "predict_proba")


def test_a_machine_on_the_learned_kernel(data):
    X, y, X_new, _ = data
    model = fitted(classifier="svm", C=3.0)
    Z, Z_new = model.transform(X), model.transform(X_new)
    other = SVC(kernel="linear", C=3.0).fit(Z, y)
    np.testing.assert_allclose(model.decision_function(X_new), other.decision_function(Z_new), atol=1e-2)
    assert not hasattr(model, "predict_proba") and model.classifier_.C == 3.0
    given = SVC(kernel="precomputed", C=3.0)
    mine = fitted(classifier=given)
    np.testing.assert_array_equal(mine.decision_function(X_new), model.decision_function(X_new))
    np.testing.assert_array_equal(mine.transduction_, model.transduction_)
    assert mine.classifier_ is not given and not hasattr(given, "classes_")


class Shares(SVC):
    """A machine with probabilities, of a kind."""

    def predict_proba(self, X):
        return np.eye(self.classes_.size)[np.searchsorted(self.classes_, self.predict(X))]


def test_any_classifier_that_takes_a_precomputed_kernel(data):
    X, y, X_new, y_new = data
    several = OneVsRestClassifier(SVC(kernel="precomputed"))
    model = SpectralKernelClassifier(classifier=several).fit(X, y, X_new)
    assert model.score(X_new, y_new) > 0.9
    shares = SpectralKernelClassifier(classifier=Shares(kernel="precomputed")).fit(X, y, X_new)
    np.testing.assert_array_equal(shares.predict_proba(X_new).argmax(axis=1), shares.transduction_)
    names = np.array(["red", "rosé", "white"])
    named = SpectralKernelClassifier(classifier=several).fit(X, names[y], X_new)
    np.testing.assert_array_equal(named.transduction_, names[model.transduction_])

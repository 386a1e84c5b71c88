"""Kernels as tables have them, neither standardized nor normalized: fits end, certified, and predict."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning

from judges.margin_gap import judge_model, monomials
from multikernel import (
    KernelBank,
    MKLClassifier,
    MKLOneClass,
    MKLRegressor,
    MKLRidge,
    View,
    load_model,
    save_model,
)
from multikernel.kernels import Gaussian, Linear, Polynomial
from multikernel.views import KernelWarning

pytestmark = pytest.mark.filterwarnings("ignore::multikernel.views.KernelWarning")
SCALES = np.array([1.0, 30.0, 20.0, 80.0, 0.3, 500.0])


def raw_table(n=150, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.gamma(2.0, 1.0, size=(n, SCALES.size)) * SCALES
    return X, X[:, 1] + X[:, 3] / 3.0 + 20.0 * rng.normal(size=n)


def bank(*kernels):
    views = [View(f"view {m}", kernel) for m, kernel in enumerate(kernels)]
    return KernelBank(views, standardize=False, normalize=None)


MODELS = {
    "hinge": lambda kernels: MKLClassifier(kernels, C=100.0),
    "squared_hinge": lambda kernels: MKLClassifier(kernels, C=1e4, loss="squared_hinge", norm=2.0),
    "shared": lambda kernels: MKLClassifier(kernels, C=10.0, multiclass="shared"),
    "joint": lambda kernels: MKLClassifier(kernels, C=10.0, multiclass="joint"),
    "ovr": lambda kernels: MKLClassifier(kernels, C=1e4),
    "epsilon": lambda kernels: MKLRegressor(kernels, C=100.0),
    "ridge": lambda kernels: MKLRidge(kernels, alpha=1e-3),
    "one_class": lambda kernels: MKLOneClass(kernels, nu=0.2),
}


def targets(kind, values):
    if kind in ("epsilon", "ridge"):
        return values
    cuts = np.quantile(values, [0.3, 0.6]) if kind in ("shared", "joint", "ovr") else [np.median(values)]
    return None if kind == "one_class" else np.digitize(values, cuts)


def explicit(X, kernels):
    """The features of each kernel, made without the package."""

    def of(m):
        if isinstance(kernels[m], Gaussian):
            return None
        return X if isinstance(kernels[m], Linear) else monomials(X, kernels[m].degree)

    return of


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize(
    "kernels",
    [(Polynomial(degree=2),), (Linear(), Polynomial(degree=3), Gaussian(gamma=1e-4))],
    ids=["quadratic", "mixed"],
)
def test_raw_kernels_are_fitted_certified_from_outside_and_predict(kind, kernels):
    X, values = raw_table()
    y, model = targets(kind, values), MODELS[kind](bank(*kernels))
    model.fit(X) if y is None else model.fit(X, y)
    assert model.status_ == "optimal" and model.dual_gap_ <= model.tol
    scores = (model.predict if kind in ("epsilon", "ridge") else model.decision_function)(X)
    grams = [kernel(X) for kernel in kernels]
    verdict = judge_model(model, grams, y, predicted=scores, explicit=explicit(X, kernels))
    assert -1e-6 <= verdict.gap <= 1.05 * model.tol
    assert_allclose(
        model.contributions(X).sum(axis=-1).reshape(len(X), -1), verdict.scores - model.intercept_, atol=1e-6
    )


def test_a_model_by_factors_is_saved_and_restored(tmp_path):
    X, values = raw_table()
    model = MKLClassifier(bank(Polynomial(degree=3), Gaussian(gamma=1e-4)), C=1e3).fit(
        X, targets("ovr", values)
    )
    assert model.kernel_factors_ and all(factor.root is None for factor in model.kernel_factors_)
    save_model(model, tmp_path / "model.mk")
    restored = load_model(tmp_path / "model.mk")
    assert_array_equal(restored.decision_function(X), model.decision_function(X))
    assert_array_equal(restored.kernel_factors_[0].coef, model.kernel_factors_[0].coef)


def test_precomputed_kernels_predict_by_their_values_at_pivots():
    X, values = raw_table()
    y, kernel = targets("hinge", values), Polynomial(degree=2)
    K = kernel(X)[:, :, None]
    model = MKLClassifier("precomputed", C=100.0).fit(K, y)
    assert model.status_ == "optimal" and model.kernel_factors_[0].root is not None
    verdict = judge_model(model, [K[:, :, 0]], y)
    assert -1e-6 <= verdict.gap <= 1.05e-3
    assert_allclose(model.decision_function(K), verdict.scores[:, 0], atol=1e-6)
    by_table = MKLClassifier(bank(kernel), C=100.0).fit(X, y)
    new, value = raw_table(seed=1)
    truth = (value > np.median(values)).astype(int)
    ours, theirs = model.predict(kernel(new, X)[:, :, None]), by_table.predict(new)
    assert abs((ours == truth).mean() - (theirs == truth).mean()) < 0.05


def test_equal_rows_and_weights_of_samples_count_as_repetitions():
    X, values = raw_table(60)
    y = targets("hinge", values)
    repeated = MKLClassifier(bank(Polynomial(degree=2)), C=10.0).fit(
        np.vstack([X, X[:20]]), np.append(y, y[:20])
    )
    weighted = MKLClassifier(bank(Polynomial(degree=2)), C=10.0).fit(X, y, 1.0 + (np.arange(60) < 20))
    assert repeated.kernel_factors_
    assert_allclose(repeated.decision_function(X), weighted.decision_function(X), atol=1e-2)


@pytest.mark.parametrize(
    "kernel",
    [
        Linear(),
        Polynomial(degree=2),
        Polynomial(degree=3, gamma=0.5, coef0=0.0),
        2.0 * Polynomial(degree=2, coef0=3.0),
        Linear() + Polynomial(degree=2),
    ],
)
def test_explicit_features_are_those_of_the_kernel(kernel):
    X = np.random.default_rng(0).normal(size=(12, 4))
    Z = kernel.explicit_features(X, 1000)
    assert_allclose(Z @ Z.T, kernel(X), rtol=1e-12, atol=1e-12)
    assert kernel.explicit_features(X, Z.shape[1] - 1) is None
    assert Gaussian(gamma=1.0).explicit_features(X, 1000) is None
    assert (Linear() + Gaussian(gamma=1.0)).explicit_features(X, 1000) is None


def test_what_a_prediction_costs_counts_the_pivots():
    X, values = raw_table()
    model = MKLClassifier("precomputed", C=100.0).fit(
        Polynomial(degree=2)(X)[:, :, None], targets("hinge", values)
    )
    assert model.total_cost_ == model.kernel_factors_[0].support.size


def far_apart(n=90, factor=1e8):
    """A Gaussian kernel and a narrower one of full rank with large values, precomputed, and two classes."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n, 6))
    y = (X[:, 0] * X[:, 1] + np.sin(2.0 * X[:, 2]) + 0.3 * rng.normal(size=n) > 0.0).astype(int)
    grams = [Gaussian(gamma=0.02)(X), factor * Gaussian(gamma=0.3)(X)]
    return grams, y


def test_a_huge_kernel_of_full_rank_predicts_by_its_factor():
    grams, y = far_apart()
    model = MKLClassifier("precomputed", C=1e6, norm=1.5).fit(np.stack(grams, axis=-1), y)
    assert model.status_ == "optimal"
    verdict = judge_model(model, grams, y)
    assert abs(verdict.gap) <= 1.05 * model.tol


def test_what_double_precision_does_not_hold_names_the_kernel_and_the_remedy():
    X, values = raw_table(n=120)
    y = targets("hinge", values)
    kernels = bank(Gaussian(gamma=1e-5), Polynomial(degree=3))
    X = 1e3 * X
    with pytest.warns(ConvergenceWarning, match=r"Kernel 'view 1' is too large.*normalize=\"trace\""):
        model = MKLClassifier(kernels, C=1e12, tol=1e-9).fit(X, y)
    assert model.status_ == "stalled"
    flipped = np.where(np.random.default_rng(0).random(y.size) < 0.2, 1 - y, y)
    with pytest.warns(ConvergenceWarning, match=r"Kernel 'kernel-0' is too large.*Divide it by"):
        MKLClassifier("precomputed", C=1e12, tol=1e-9).fit(Polynomial(degree=3)(X)[..., None], flipped)


def huge_table(n=200):
    """Ages, incomes, balances and timestamps: products of columns leave double precision."""
    rng = np.random.default_rng(0)
    columns = rng.integers(18, 90, n), rng.lognormal(11, 1, n), rng.normal(0, 5e6, n)
    return np.column_stack([*columns, 1.6e9 + rng.integers(0, 10**7, n)])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("settings", [{}, {"loss": "squared_hinge"}, {"multiclass": "joint"}], ids=repr)
def test_a_fit_that_stalls_is_no_worse_than_a_constant(settings):
    X = huge_table()
    score = (X[:, 0] - 50) / 20 + np.log(X[:, 1]) - 11 + X[:, 2] / 5e6
    y = np.digitize(score, [-1.0, 1.0]) if "multiclass" in settings else score > 0
    kernels = bank(Linear(), Polynomial(), Polynomial(degree=3) + Gaussian(), Gaussian())
    model = MKLClassifier(kernels, **settings).fit(X, y)
    assert model.status_ == "stalled" and model.dual_gap_ <= 1.0 == model.history_[-1]["gap"]
    scores = model.decision_function(X)
    if "multiclass" not in settings:
        slack = np.maximum(1.0 - np.where(y, 1.0, -1.0) * scores, 0.0)
        assert (slack ** (2 if settings else 1)).sum() <= len(X)  # of the function 0


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kind", [MKLRidge, MKLRegressor])
def test_a_fit_that_stalls_keeps_the_best_function_that_was_seen(kind):
    X = huge_table()
    model = kind(bank(Polynomial())).fit(X, 1000.0 * X[:, 0])
    assert model.dual_gap_ <= 1.0 and model.score(X, 1000.0 * X[:, 0]) > 0.99


def test_the_remedy_of_ridge_names_its_own_parameter():
    X = huge_table()
    with pytest.warns(ConvergenceWarning, match="too large for this alpha: .* raise alpha"):
        MKLRidge(bank(Polynomial(degree=3)), alpha=1e-6).fit(X, X[:, 0])


def test_the_remedy_for_different_scales_silences_the_warning():
    X = huge_table()
    views = [
        View(name, kernel, standardize=False, normalize="variance")
        for name, kernel in (("line", Linear()), ("bell", Gaussian()))
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("error", KernelWarning)
        MKLClassifier(views).fit(X, X[:, 0] > 50)
    with pytest.warns(KernelWarning, match="of different scale"):
        MKLClassifier(bank(Linear(), Gaussian())).fit(X, X[:, 0] > 50)

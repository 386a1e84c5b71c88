"""Estimators of views that agree: their limits, weights of samples, search, files, refusals."""

import numpy as np
import pandas as pd
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV

from multikernel import MKLClassifier, load_model, save_model
from multikernel.cooperative import CooperativeClassifier, CooperativeRidge
from multikernel.kernels import Gaussian, Linear
from multikernel.views import View

RAW = [
    View("rna", Linear(), ["a", "b"], standardize=False, normalize=None),
    View("protein", Gaussian(0.3), ["c", "d"], standardize=False, normalize=None),
]
ALPHAS = {"rna": 0.5, "protein": 2.0}


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    factor = rng.normal(size=60)
    X = pd.DataFrame(factor[:, None] + rng.normal(size=(60, 4)), columns=list("abcd"))
    return X, factor


def grams(X):
    return RAW[0].kernel(X[["a", "b"]].to_numpy()), RAW[1].kernel(X[["c", "d"]].to_numpy())


def labels(y):
    return np.where(y > 0.0, "sick", "well")


def test_without_agreement_it_is_ridge_on_the_weighted_sum(data):
    X, y = data
    model = CooperativeRidge(RAW, alpha=ALPHAS, rho=0.0).fit(X, y)
    K = grams(X)[0] / 0.5 + grams(X)[1] / 2.0
    H = np.eye(60) - 1.0 / 60  # an intercept without penalty: centered kernel and values
    rival = KernelRidge(alpha=1.0, kernel="precomputed").fit(H @ K @ H, y - y.mean())
    assert model.predict(X) == pytest.approx(rival.predict(H @ K @ H) + y.mean(), abs=1e-8)
    assert model.dual_gap_ < 1e-10 and model.status_ == "optimal"


def test_without_agreement_it_is_the_machine_on_the_sum(data):
    X, y = data[0], labels(data[1])
    model = CooperativeClassifier(RAW, C=0.3, rho=0.0, tol=1e-9).fit(X, y)
    rival = MKLClassifier(RAW, C=0.3, loss="squared_hinge", norm=np.inf, tol=1e-9).fit(X, y)
    assert model.decision_function(X) == pytest.approx(rival.decision_function(X), abs=1e-5)


def test_at_one_the_views_are_fitted_apart(data):
    """Late fusion: the mean of ridge regressions with half of alpha, each with one view."""
    X, y = data
    model = CooperativeRidge(RAW, alpha=ALPHAS, rho=1.0).fit(X, y)
    rest = y - model.intercept_
    apart = [
        KernelRidge(alpha=alpha / 2.0, kernel="precomputed").fit(K, rest).predict(K)
        for alpha, K in zip(ALPHAS.values(), grams(X), strict=True)
    ]
    assert model.contributions(X) == pytest.approx(np.column_stack(apart) / 2.0, abs=1e-8)


def test_more_agreement_draws_the_views_together(data):
    X, y = data
    models = [CooperativeRidge(RAW, rho=rho).fit(X, y) for rho in (0.0, 1.0, 10.0, 1e3)]
    apart = [np.mean(np.diff(model.contributions(X), axis=1) ** 2) for model in models]
    assert (np.diff(apart) < 0.0).all()
    total = models[2].contributions(X).sum(axis=1) + models[2].intercept_
    assert total == pytest.approx(models[2].predict(X))


@pytest.mark.parametrize("rho", [0.0, 2.0])
def test_weights_of_samples_count_repetitions(data, rho):
    X, y = data
    counts = np.random.default_rng(1).integers(0, 3, 60)
    again = X.loc[X.index.repeat(counts)], np.repeat(y, counts)
    weighted = CooperativeRidge(RAW, rho=rho).fit(X, y, counts).predict(X)
    assert weighted == pytest.approx(CooperativeRidge(RAW, rho=rho).fit(*again).predict(X), abs=1e-7)
    exact = CooperativeClassifier(RAW, rho=rho, tol=1e-10)
    weighted = exact.fit(X, labels(y), counts).decision_function(X)
    repeated = exact.fit(again[0], labels(again[1])).decision_function(X)
    assert weighted == pytest.approx(repeated, abs=1e-4)


def test_three_classes(data):
    X, y = data[0], np.digitize(data[1], [-0.5, 0.5])
    model = CooperativeClassifier(RAW, rho=1.0).fit(X, y)
    assert model.decision_function(X).shape == (60, 3) and model.contributions(X).shape == (60, 3, 2)
    assert model.dual_coef_.shape == (3, 2, 60) and model.score(X, y) > 0.5
    second = CooperativeClassifier(RAW, rho=1.0).fit(X, y == 1)
    assert model.decision_function(X)[:, 1] == pytest.approx(second.decision_function(X), abs=0.05)


def test_search_and_files(data, tmp_path):
    X, y = data
    before = X.copy()
    grid = {"rho": [0.0, 1.0, 5.0], "alpha": [0.1, 1.0]}
    model = GridSearchCV(CooperativeRidge(RAW), grid, cv=3).fit(X, y).best_estimator_
    save_model(model, tmp_path / "model.mk")
    assert (load_model(tmp_path / "model.mk").predict(X) == model.predict(X)).all()
    pd.testing.assert_frame_equal(X, before)


def test_small_and_constant_data():
    assert CooperativeRidge([Linear(), Linear()]).fit([[0.0], [1.0]], [2.0, 2.0]).predict([[5.0]]) == 2.0
    model = CooperativeClassifier([Linear(), Gaussian(1.0)]).fit([[0.0], [1.0]], ["a", "b"])
    assert model.predict([[0.0], [1.0]]).tolist() == ["a", "b"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rho": -1.0}, "rho must be at least 0; got -1.0"),
        ({"alpha": {"rna": 0.0}}, "alpha must be positive and finite for each view; view 'rna' has 0.0"),
        ({"alpha": {"dna": 1.0}}, "unknown views"),
        ({"alpha": [1.0]}, "one number for each of the 2 kernels"),
    ],
)
def test_parameters_that_cannot_be_are_refused(data, changes, message):
    with pytest.raises(ValueError, match=message):
        CooperativeRidge(RAW, **changes).fit(*data)


def test_sizes_that_do_not_fit_are_refused(data, monkeypatch):
    monkeypatch.setattr("multikernel.cooperative.estimators.available_memory", lambda: 1000)
    with pytest.raises(ValueError, match="60 samples needs about"):
        CooperativeRidge(RAW).fit(*data)


def test_indefinite_kernels_are_named():
    K = np.diag([1.0, 1.0, 1.0, -5.0])
    with pytest.raises(ValueError, match="'bad'"):
        CooperativeRidge("precomputed", rho=1.0).fit({"good": np.eye(4), "bad": K}, np.arange(4.0))


def test_numbers_that_floating_point_does_not_hold_are_refused(data):
    with pytest.raises(
        ValueError, match=r"too large for floating point.*A smaller rho helps, too; it is 1e\+12"
    ):
        CooperativeRidge(RAW, alpha=1e-6, rho=1e12).fit(*data)

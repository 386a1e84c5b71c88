"""Regression and novelty detection on projection kernels; what all three refuse; scikit-learn's checks."""

import re

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.svm import OneClassSVM

from multikernel import LocalizedMKLClassifier, LocalizedMKLRegressor
from multikernel.localized import (
    ProjectionKernelClassifier,
    ProjectionKernelOneClass,
    ProjectionKernelRegressor,
)
from multikernel.localized.solver import machines
from tests.localized.localized_reference import projected_kernel
from tests.localized.solver.gated_problems import one_class_values, svr_values

ALL = [ProjectionKernelClassifier, ProjectionKernelRegressor, ProjectionKernelOneClass]


def ridge_function(n=120, d=5, seed=0):
    X = np.random.default_rng(seed).normal(size=(n, d))
    return X, np.sin(X[:, 0] + X[:, 1]) + 4.0


# --- regression --------------------------------------------------------------------------------------------


def test_regression_finds_the_direction_that_matters():
    X, y = ridge_function()
    model = ProjectionKernelRegressor(n_components=1, kernels="gaussian", C=10.0, projection_norm="unit").fit(
        X, y
    )
    W = model.projections_[0, :, 0] / model.scale_
    assert abs(W @ [1, 1, 0, 0, 0]) / np.linalg.norm(W) / np.sqrt(2) > 0.99
    assert cross_val_score(model, X, y, cv=3).mean() > 0.9


def test_regression_is_certified_at_the_learned_kernel():
    X, y = ridge_function(80)
    C, epsilon = 2.0, 0.05
    model = ProjectionKernelRegressor(n_components=2, kernels="gaussian", C=C, epsilon=epsilon).fit(X, y)
    beta = np.zeros(len(X))
    beta[model.support_] = model.dual_coef_[0]
    K = projected_kernel(model, X, X)
    scores = K @ beta
    np.testing.assert_allclose(model.predict(X), scores + model.intercept_[0], atol=1e-9)
    dual, primal = svr_values(y, np.full(80, C), epsilon, beta, model.predict(X), 0.5 * beta @ scores)
    assert abs(beta.sum()) < 1e-9 and np.abs(beta).max() <= C * (1 + 1e-12)
    assert model.objective_ == pytest.approx(dual, rel=1e-7)
    assert model.dual_gap_ == pytest.approx((primal - dual) / primal, abs=1e-9)
    assert model.dual_gap_ <= 1e-4


def test_two_slopes_need_two_regions():
    """|x| of a hidden direction: one linear projection cannot, two can; each piece has its own intercept."""
    X = np.random.default_rng(0).normal(size=(150, 3))
    y = np.abs(X @ [1.0, 1.0, 0.0]) + 1.0
    one = ProjectionKernelRegressor(n_regions=1, n_components=1, kernels="poly", degree=1, C=10.0)
    two = ProjectionKernelRegressor(n_regions=2, n_components=1, kernels="poly", degree=1, C=10.0)
    assert clone(one).fit(X, y).score(X, y) < 0.2
    assert two.fit(X, y).score(X, y) > 0.9
    assert two.transform(X).shape == (150, 2)


def test_a_constant_target_is_predicted_without_complaint():
    X = np.random.default_rng(0).normal(size=(20, 2))
    model = ProjectionKernelRegressor(n_regions=2, kernels="gaussian").fit(X, np.full(20, 3.0))
    np.testing.assert_allclose(model.predict(X), 3.0)
    assert model.support_.size == 0 and model.objective_ == 0.0


def test_weights_multiply_the_bounds_of_the_duals():
    X, y = ridge_function(60)
    weights = np.where(np.arange(60) % 2 == 0, 4.0, 1.0)
    machine = ProjectionKernelRegressor(n_components=1, n_screen=2, epsilon=0.0).fit(X, y, weights)
    detector = ProjectionKernelOneClass(n_components=1, n_screen=2, nu=0.3).fit(X, y, weights)
    for model, bounds in ((machine, weights), (detector, weights / (0.3 * weights.sum()))):
        used = np.abs(model.dual_coef_[0]) / bounds[model.support_]
        at_bound = np.isclose(used, 1.0, rtol=1e-12)
        assert used.max() <= 1.0 + 1e-12
        assert {1.0, 4.0} == set(weights[model.support_][at_bound])


# --- one class ---------------------------------------------------------------------------------------------


def test_one_class_finds_what_stays_constant():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 4))
    X[:, 3] = X[:, 0] - X[:, 1] + 0.05 * rng.normal(size=150)
    model = ProjectionKernelOneClass(n_components=1, nu=0.1, n_init=5).fit(X)
    W = model.projections_[0, :, 0] / model.scale_
    assert abs(W @ [1, -1, 0, -1]) / np.linalg.norm(W) / np.sqrt(3) > 0.99
    strange = X.copy()
    strange[:, 3] += 2.0
    assert (model.predict(X) == 1).mean() > 0.85
    assert (model.predict(strange) == -1).mean() > 0.95
    np.testing.assert_allclose(model.decision_function(X), model.score_samples(X) - model.offset_)


def test_one_class_is_certified_at_the_learned_kernel():
    X = np.random.default_rng(0).normal(size=(60, 3))
    nu = 0.3
    model = ProjectionKernelOneClass(n_components=2, nu=nu, n_screen=3).fit(X)
    K = projected_kernel(model, X, X)
    beta = np.zeros(60)
    beta[model.support_] = model.dual_coef_[0]
    assert beta.sum() == pytest.approx(1.0) and beta.min() >= 0.0 and beta.max() <= 1 / (nu * 60) + 1e-12
    f = K @ beta - model.offset_
    dual, primal = one_class_values(np.full(60, 1 / (nu * 60)), -model.offset_, f, 0.5 * beta @ K @ beta)
    assert model.objective_ == pytest.approx(dual, rel=1e-9)
    assert model.dual_gap_ == pytest.approx((primal - dual) / abs(primal), abs=1e-9)
    peer = OneClassSVM(kernel="precomputed", nu=nu, tol=1e-8).fit(K)
    np.testing.assert_allclose(
        peer.decision_function(K) / (nu * 60), model.decision_function(X), atol=1e-3 * np.abs(K @ beta).max()
    )


@pytest.mark.parametrize(("kernel", "end"), [("gaussian", "shrink"), ("poly", "grow without end")])
def test_one_class_without_unit_columns_warns_of_its_end(kernel, end):
    X = np.random.default_rng(0).normal(size=(40, 2))
    with pytest.warns(UserWarning) as caught:
        model = ProjectionKernelOneClass(projection_norm=None, kernels=kernel, n_screen=2, max_iter=15).fit(X)
    assert any(end in str(warning.message) for warning in caught)
    start, final = (model.history_[k]["projection_norm"] for k in (0, -1))
    assert final < 0.5 * start if end == "shrink" else final > 2.0 * start


def test_one_class_with_a_linear_kernel_warns_where_no_plane_helps():
    X = np.random.default_rng(0).normal(size=(60, 3))
    with pytest.warns(UserWarning, match="away from the origin"):
        ProjectionKernelOneClass(kernels="linear").fit(X)
    model = ProjectionKernelOneClass(kernels="linear", standardize=False, nu=0.2).fit(X + 5.0)
    assert model.objective_ < -1.0


def test_one_class_with_regions_warns_when_one_takes_all():
    X = np.random.default_rng(0).normal(size=(60, 2))
    X[:, 1] *= np.where(X[:, 0] > 0, 1.0, 0.2)
    with pytest.warns(UserWarning, match=r"collapsed onto 'region\d'.*n_regions=1"):
        model = ProjectionKernelOneClass(n_regions=2, n_components=1, gating="gaussian").fit(X)
    assert model.sample_kernel_weights(X).mean(axis=0).max() > 0.99


# --- all three ---------------------------------------------------------------------------------------------

X3 = np.random.default_rng(0).normal(size=(30, 3))
Y3 = np.arange(30) % 2

BAD_PARAMETERS = [
    ({"kernels": "rbf"}, ValueError, r"kernel.*'gaussian'"),
    ({"gamma": "auto"}, ValueError, r'gamma must be a positive number or "scale"'),
    ({"projection_norm": "l2"}, ValueError, r'projection_norm must be None or "unit"'),
    ({"projection_norm": np.empty(0)}, ValueError, r'projection_norm must be None or "unit"'),
    ({"projection_norm": "unit", "projection_reg": 1.0}, ValueError, "no effect.*projection_norm=None"),
]


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize(("settings", "error", "message"), BAD_PARAMETERS)
def test_bad_parameters_are_named(kind, settings, error, message):
    with pytest.raises(error, match=message):
        kind(**settings).fit(X3, Y3)


@pytest.mark.parametrize("kind", [*ALL[:2], LocalizedMKLClassifier, LocalizedMKLRegressor])
def test_a_price_without_end_is_refused_with_the_remedy(kind):
    with pytest.raises(ValueError, match=r"C must be finite; got inf\..*no exact fit.*such as 1e3"):
        kind(C=np.inf).fit(X3, Y3)


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("gamma", [1e308, 1e-300])
@pytest.mark.filterwarnings("ignore:the projections of")  # which tell nothing at such widths
def test_extreme_widths_do_no_harm(kind, gamma):
    model = kind(kernels="gaussian", gamma=gamma, n_screen=1, tol=0.1).fit(X3, np.arange(30) % 3)
    assert np.isfinite(model.predict(X3)).all()


@pytest.mark.filterwarnings("ignore:the projections of")  # which were never learned
def test_targets_that_are_mostly_the_largest_still_give_starts():
    y = np.where(np.arange(30) < 5, 0.0, 1.0)
    model = ProjectionKernelRegressor(n_components=1, n_screen=1, callback=lambda entry: True)
    W = model.fit(X3, y).projections_[0, :, 0]
    x = (X3 - model.mean_) / model.scale_
    known = np.array([x[a] - x[b] for a in range(30) for b in range(30) if y[a] != y[b]])
    known /= np.linalg.norm(known, axis=1)[:, None]
    assert np.abs(known - W).max(axis=1).min() < 1e-12


@pytest.mark.parametrize("kind", ALL)
def test_more_components_than_columns_are_allowed(kind):
    model = kind(n_regions=2, n_components=5, n_screen=2, tol=0.1).fit(X3, Y3)
    assert model.projections_.shape == (2, 3, 5)
    assert model.transform(X3).shape == (30, 10)


# --- units -------------------------------------------------------------------------------------------------

LINE = (X3[:, 0] > 0.2).astype(int)


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("kernel", ["linear", "poly", "gaussian"])
def test_units_that_overflow_are_refused_with_the_remedy(kind, kernel):
    """Without a warning of NumPy: warnings are errors here."""
    with pytest.raises(ValueError, match=r"overflows.*standardize=True"):
        kind(kernels=kernel, standardize=False, tol=0.5).fit(1e200 * X3, LINE)


@pytest.mark.parametrize("kind", ALL)
def test_standardised_columns_may_have_any_unit(kind):
    units = np.ldexp(1.0, [600, -600, 1000])  # which keep the digits, and the order of the samples
    plain, scaled = (
        kind(n_regions=2, n_components=1, n_screen=2, tol=0.5).fit(X3 * u, LINE) for u in (1.0, units)
    )
    np.testing.assert_allclose(
        scaled.sample_kernel_weights(X3 * units), plain.sample_kernel_weights(X3), rtol=1e-9
    )
    np.testing.assert_allclose(scaled.predict(X3 * units), plain.predict(X3), rtol=1e-9)


@pytest.mark.parametrize("kind", ALL[:2])
@pytest.mark.parametrize("unit", [1e-20, 1e-200])
def test_a_plateau_of_tiny_units_names_the_remedy(kind, unit):
    with pytest.warns(UserWarning, match=r"plateau.*own units: standardize=True"):
        kind(standardize=False).fit(unit * X3, LINE)


def test_machines_that_crawl_in_huge_units_name_the_remedy(monkeypatch):
    monkeypatch.setattr(machines, "most_steps", lambda n: 20)
    with pytest.warns(UserWarning, match=r"all the steps.*own units: standardize=True"):
        ProjectionKernelClassifier(standardize=False, tol=0.5, n_screen=1).fit(1e20 * X3, Y3)


@pytest.mark.parametrize("standardize", [True, False])
def test_columns_that_are_constant_are_told(standardize):
    with pytest.warns(UserWarning, match=r"plateau.*No column of X varies\.$"):
        ProjectionKernelClassifier(standardize=standardize).fit(np.full((30, 2), 5.0), LINE)


@pytest.mark.parametrize("unit", [1e150, 1e200, 1e250])
def test_targets_of_any_size(unit):
    with pytest.warns(UserWarning, match=r"plateau.*Raise C, which is in the units of the targets"):
        model = ProjectionKernelRegressor(n_screen=1).fit(X3, unit * X3[:, 0])
    assert np.isfinite(model.predict(X3)).all()


@pytest.mark.parametrize(
    ("model", "y", "of_what", "unit"),
    [
        (
            ProjectionKernelClassifier(C=1e-6),
            X3[:, 0] > np.median(X3[:, 0]),
            "'True': decision values",
            "margin",
        ),
        (
            ProjectionKernelRegressor(C=1e-4),
            10.0 * X3[:, 0],
            "the targets: predictions",
            "standard deviation",
        ),
    ],
    ids=["classes", "values"],
)
def test_a_plateau_says_how_flat_it_is(model, y, of_what, unit):
    """A tiny C: scores differ by little, but they do, and tell the classes."""
    with pytest.warns(UserWarning, match=f"next to nothing of {of_what} differ by") as told:
        model.fit(X3, y)
    if unit == "margin":
        share = np.ptp(model.decision_function(X3))
        assert model.score(X3, y) > 0.9
    else:
        share = np.ptp(model.predict(X3)) / y.std()
    assert 0.0 < share < 0.05
    assert re.search(f"no more than {share:.2g} of (the|their) {unit}", str(told[0].message))

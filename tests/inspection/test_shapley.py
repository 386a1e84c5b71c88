"""Shapley values of views against their definition by all orders, written out plainly."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from multikernel import KernelBank, MKLClassifier, MKLRidge, View
from multikernel.inspection import NotAdditive, ViewShapley, view_shapley
from multikernel.inspection.explaining import shapley as module
from multikernel.kernels import Gaussian, Linear
from multikernel.localized import LocalizedMKLClassifier

VIEWS = [View(f"v{k}", Linear(), [k]) for k in range(4)]


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4))
    y = X[:, 0] + 0.7 * X[:, 1] + 0.5 * X[:, 2] > 0.2
    return X, y


def by_orders(value, n):
    """The mean gain of each player over all orders."""
    orders = list(permutations(range(n)))
    total = np.zeros(n)
    for order in orders:
        for place, k in enumerate(order):
            total[k] += value(frozenset(order[: place + 1])) - value(frozenset(order[:place]))
    return total / len(orders)


def test_values_of_functions_are_those_of_all_orders(problem):
    X, y = problem
    model = MKLClassifier(VIEWS, norm=2).fit(X[:60], y[:60])
    parts = model.contributions(X[60:])

    def value(views):
        kept = [m in views for m in range(4)]
        scores = np.where(kept, parts, np.median(parts, axis=0)).sum(axis=1) + model.intercept_[0]
        return np.mean((scores > 0) == y[60:])

    found = view_shapley(model, X[60:], y[60:])
    np.testing.assert_allclose(found.to_frame()["shapley"], by_orders(value, 4), atol=1e-12)
    assert (found.to_frame()["std_error"] == 0.0).all() and found.n_permutations is None
    assert found.score == model.score(X[60:], y[60:])
    np.testing.assert_allclose(found.to_frame()["shapley"].sum(), found.score - found.score_without)
    everything = frozenset(range(4))
    np.testing.assert_allclose(
        found.to_frame()["beside_others"], [value(everything) - value(everything - {k}) for k in range(4)]
    )
    np.testing.assert_allclose(
        found.to_frame()["alone"], [value(frozenset({k})) - value(frozenset()) for k in range(4)]
    )


def plain_views():
    return KernelBank([Linear(), Gaussian(0.1), Gaussian(2.0)], standardize=False, normalize=None)


@pytest.mark.parametrize("method", ["refit", "weights"])
def test_values_of_fits_are_those_of_all_orders(problem, method):
    X, y = problem
    folds = list(StratifiedKFold(2).split(X, y))
    model = MKLClassifier(plain_views(), norm=2, C=0.7, tol=1e-6).fit(X, y)
    Ks = [X @ X.T, *(np.exp(-g * ((X[:, None] - X) ** 2).sum(axis=2)) for g in (0.1, 2.0))]
    known = {}

    def value(views):
        if views not in known:
            known[views] = np.mean([fold_value(sorted(views), *fold) for fold in folds])
        return known[views]

    def fold_value(views, train, test):
        if not views:
            return np.mean(y[test] == (np.mean(y[train]) > 0.5))
        stack = np.stack([Ks[m] for m in views], axis=2)
        if method == "weights":
            stack = (stack @ model.kernel_weights_[views])[:, :, None]
        fresh = MKLClassifier("precomputed", norm=2, C=0.7, tol=1e-6)
        fresh.fit(stack[np.ix_(train, train)], y[train])
        return fresh.score(stack[np.ix_(test, train)], y[test])

    found = view_shapley(model, X, y, method=method, cv=folds)
    np.testing.assert_allclose(found.to_frame()["shapley"], by_orders(value, 3), atol=1e-12)
    assert found.fold_values.shape == (3, 2)
    np.testing.assert_allclose(found.to_frame()["std"], found.fold_values.std(axis=1, ddof=1))


def test_sampled_values_are_near_the_exact_ones_and_sum_to_the_gain(problem):
    X, y = problem
    model = MKLClassifier(VIEWS, norm=2).fit(X[:60], y[:60])
    exact = view_shapley(model, X[60:], y[60:]).to_frame()["shapley"]
    found = view_shapley(model, X[60:], y[60:], n_permutations=40, random_state=0)
    table = found.to_frame()
    assert found.n_permutations == 40
    np.testing.assert_allclose(table["shapley"].sum(), found.score - found.score_without)
    assert (np.abs(table["shapley"] - exact) <= 3.5 * table["std_error"] + 1e-12).all()
    again = view_shapley(model, X[60:], y[60:], n_permutations=40, random_state=0)
    pd.testing.assert_frame_equal(again.to_frame(), table)


def test_many_views_are_sampled_by_default(problem, monkeypatch):
    X, y = problem
    monkeypatch.setattr(module, "MOST_EXACT", 3)
    model = MKLClassifier(VIEWS, norm=2).fit(X[:60], y[:60])
    assert view_shapley(model, X[60:], y[60:], random_state=0).n_permutations == 100


def test_the_standard_error_is_that_of_sampling(problem):
    X, y = problem
    model = MKLClassifier(VIEWS, norm=2).fit(X[:60], y[:60])
    runs = [
        view_shapley(model, X[60:], y[60:], n_permutations=20, random_state=seed).to_frame()
        for seed in range(60)
    ]
    spread = np.std([run["shapley"] for run in runs], axis=0)
    stated = np.mean([run["std_error"] for run in runs], axis=0)
    np.testing.assert_allclose(spread, stated, rtol=0.35, atol=1e-4)


def test_groups_come_in_together(problem):
    X, y = problem
    model = MKLClassifier(VIEWS, norm=2).fit(X[:60], y[:60])
    found = view_shapley(model, X[60:], y[60:], groups={"both": ["v0", "v3"]}).to_frame()
    assert list(found.index) == ["both", "v1", "v2"]
    parts = model.contributions(X[60:])
    sets = [(0, 3), (1,), (2,)]

    def value(players):
        kept = [m in {v for k in players for v in sets[k]} for m in range(4)]
        scores = np.where(kept, parts, np.median(parts, axis=0)).sum(axis=1) + model.intercept_[0]
        return np.mean((scores > 0) == y[60:])

    np.testing.assert_allclose(found["shapley"], by_orders(value, 3), atol=1e-12)


def test_classes_regression_pipelines_local_models_and_tables(problem):
    X, y = problem
    three = np.digitize(X[:, 0], [-0.5, 0.5])
    several = MKLClassifier(VIEWS, norm=2).fit(X[:60], three[:60])
    found = view_shapley(several, X[60:], three[60:])
    assert found.to_frame()["shapley"].idxmax() == "v0"
    np.testing.assert_allclose(found.to_frame()["shapley"].sum(), found.score - found.score_without)
    ridge = MKLRidge(VIEWS).fit(X, X[:, 0])
    assert "R²" in view_shapley(ridge, X, X[:, 0], method="refit", cv=2).answer
    piped = make_pipeline(StandardScaler(), MKLClassifier(VIEWS, norm=2)).fit(X[:60], y[:60])
    for method in ("functions", "refit", "weights"):
        found = view_shapley(piped, X[60:], y[60:], method=method, cv=2)
        np.testing.assert_allclose(found.to_frame()["shapley"].sum(), found.score - found.score_without)
    local = LocalizedMKLClassifier(VIEWS[:2], gating_reg=0.1).fit(X[:60], y[:60])
    found = view_shapley(local, X[60:], y[60:])
    assert found.score == local.score(X[60:], y[60:])
    local_refits = view_shapley(local, X, y, method="refit", cv=2)
    np.testing.assert_allclose(
        local_refits.to_frame()["shapley"].sum(), local_refits.score - local_refits.score_without
    )
    ids = pd.Index([f"s{k}" for k in range(120)])
    tables = {"a": pd.DataFrame(X[:, :2], ids), "b": pd.DataFrame(X[:, 2:], ids)}
    model = MKLClassifier({"a": Gaussian(), "b": Gaussian()}, norm=2).fit(tables, y)
    for method in ("functions", "refit", "weights"):
        found = view_shapley(model, tables, y, method=method, cv=2)
        assert list(found.to_frame().index) == ["a", "b"]


def test_models_on_factors_and_samples_that_lack_views_are_refitted_view_by_view(problem):
    X, y = problem
    low = MKLClassifier(KernelBank(VIEWS, gram="low_rank"), norm=2).fit(X, y)
    found = view_shapley(low, X, y, method="refit", cv=2)
    np.testing.assert_allclose(found.to_frame()["shapley"].sum(), found.score - found.score_without)
    with pytest.raises(ValueError, match="low-rank factors"):
        view_shapley(low, X, y, method="weights", cv=2)
    assert view_shapley(low, X, y).score == low.score(X, y)


def test_precomputed_kernels_and_costs(problem):
    X, y = problem
    stack = KernelBank(VIEWS).fit_transform(X)
    model = MKLClassifier("precomputed", norm=2, costs=[1.0, 2.0, 3.0, 1.0]).fit(stack, y)
    for method in ("functions", "refit"):
        found = view_shapley(model, stack, y, method=method, cv=2)
        assert list(found.to_frame().index) == [f"v{k}" for k in range(4)]
        np.testing.assert_allclose(found.to_frame()["shapley"].sum(), found.score - found.score_without)


def test_what_it_says_and_what_it_refuses(problem):
    X, y = problem
    model = MKLClassifier(VIEWS, norm=2).fit(X[:60], y[:60])
    found = view_shapley(model, X[60:], y[60:], scoring="roc_auc")
    assert isinstance(found, ViewShapley) and "roc auc" in found.answer
    assert found.to_dict()["rows"][0]["view"] == "v0"
    assert "v0" in str(found) and "<table" in found._repr_html_()
    with pytest.raises(ValueError, match="method"):
        view_shapley(model, X, y, method="fixed")
    with pytest.raises(ValueError, match="is none of the views"):
        view_shapley(model, X, y, groups={"a": ["v9"]})
    with pytest.raises(ValueError, match="in two groups"):
        view_shapley(model, X, y, groups={"a": ["v0"], "b": ["v0"]})
    with pytest.raises(ValueError, match="one view at least"):
        view_shapley(model, X, y, groups={"a": []})
    with pytest.raises(TypeError, match="fitted estimator"):
        view_shapley("model", X, y)
    with pytest.raises(ValueError, match="n_permutations"):
        view_shapley(model, X, y, n_permutations=0)
    from multikernel.rules import CombinedKernelClassifier

    combined = CombinedKernelClassifier(VIEWS).fit(X, y)
    with pytest.raises(NotAdditive, match="refit"):
        view_shapley(combined, X, y)


def test_views_that_harm_are_said_to_lower_the_score(problem):
    X, y = problem
    model = MKLClassifier(VIEWS, norm=2).fit(X[:60], y[:60])
    found = view_shapley(model, X[60:], ~y[60:])
    assert found.score < found.score_without
    loss = found.score_without - found.score
    assert found.answer.startswith(f"All views together lower accuracy by {loss:.3f}, from")
    assert "Of this loss, " in found.answer

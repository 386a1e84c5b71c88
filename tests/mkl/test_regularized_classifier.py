"""Regularised MKL: every point measured is a plain classifier, cross-validated; the best one is the model."""

import copy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import accuracy_score, log_loss
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.svm import SVC

from multikernel import MKLClassifier, View
from multikernel.kernels import Gaussian, Linear, Polynomial
from multikernel.mkl.regularized.classifier import RegularizedMKLClassifier
from multikernel.mkl.regularized.search import (
    FoldClassifier,
    FoldModel,
    count_large_eigenvalues,
    eigenvalue_costs,
)
from multikernel.views import MultiTable
from tests.mkl.data import VIEWS, make_binary, make_table, make_three, plain_kernels

# Widths that depend on the data: a fold that saw its validation part would have others.
LEARNED = [
    ("line", Linear(), [0, 1, 2]),
    ("signal", Gaussian(), [0, 1]),
    View("all", Polynomial(2), standardize=True, transforms="unit_diagonal"),
]
FOLDS = StratifiedKFold(3, shuffle=True, random_state=1)
NEW = make_table(25, seed=99)
FINE = {"tol": 1e-6, "max_iter": 2000}


def regularized(views=LEARNED, **params):
    return RegularizedMKLClassifier(views, **{"cv": FOLDS, "max_steps": 1, **FINE, **params})


def quickly(views=LEARNED, **params):
    """For what does not depend on how exact a machine is."""
    return regularized(views, **{"tol": 1e-2, **params})


def fold_scores(model):
    n_folds = sum(key.startswith("split") for key in model.cv_results_)
    return np.column_stack([model.cv_results_[f"split{k}_test_score"] for k in range(n_folds)])


def assert_same_search(a, b):
    assert a.cv_results_["params"] == b.cv_results_["params"]
    np.testing.assert_array_equal(fold_scores(a), fold_scores(b))
    np.testing.assert_array_equal(a.kernel_weights_, b.kernel_weights_)


# ---------------------------------------------------------------------- a point is a plain classifier
@pytest.mark.parametrize(
    ("multiclass", "scoring"),
    [
        ("binary", "roc_auc"),
        ("ovr", None),
        ("ovo", "balanced_accuracy"),
        ("shared", "f1_macro"),
        ("joint", None),
    ],
)
def test_a_point_is_the_cross_validation_of_the_classifier_with_those_costs(multiclass, scoring):
    X, y = make_binary(60) if multiclass == "binary" else make_three(60)
    strategy = "ovr" if multiclass == "binary" else multiclass
    model = regularized(multiclass=strategy, scoring=scoring).fit(X, y)
    assert model.surface_.n_design_ == 6 <= len(model.cv_results_["params"]) <= 7
    for costs, found in zip(model.cv_results_["params"], fold_scores(model), strict=True):
        assert costs["line"] == 1.0
        plain = MKLClassifier(LEARNED, costs=costs, multiclass=strategy, **FINE)
        expected = cross_val_score(plain, X, y, cv=FOLDS, scoring=scoring)
        np.testing.assert_allclose(found, expected, atol=1e-6 if scoring == "roc_auc" else 1e-12)
    np.testing.assert_allclose(1 - model.surface_.values_, fold_scores(model).mean(axis=1))


def test_the_bound_is_in_powers_of_ten():
    X, y = make_binary(40)
    model = regularized(bound=0.4, max_steps=8, cv=2).fit(X, y)
    logs = np.log10([list(p.values()) for p in model.cv_results_["params"]])
    assert np.abs(logs).max() <= 0.4 + 1e-9
    np.testing.assert_allclose(np.abs(logs[1]).max(), 0.3)
    assert model.surface_.tol * 0.4 == pytest.approx(0.01)


@pytest.mark.parametrize("search", ["response_surface", "eigenvalue", "weights"])
def test_the_model_is_the_best_measured_point_fitted_on_all_samples(search):
    X, y = make_binary(60, seed=3)
    model = regularized(method=search).fit(X, y)
    results = model.cv_results_
    best = results["mean_test_score"].max()
    assert model.best_score_ == pytest.approx(best, abs=1e-9)
    assert results["rank_test_score"][results["mean_test_score"].argmax()] == 1
    np.testing.assert_allclose(results["mean_test_score"], fold_scores(model).mean(axis=1))
    np.testing.assert_allclose(results["std_test_score"], fold_scores(model).std(axis=1))
    if search == "weights":
        plain = MKLClassifier(LEARNED, norm=np.inf, costs=model.kernel_weights_**-0.5, **FINE)
        assert model.costs_.tolist() == [1.0, 1.0, 1.0] == model.weights_frame()["cost"].tolist()
    else:
        plain = MKLClassifier(LEARNED, costs=model.costs_, **FINE)
        np.testing.assert_allclose((model.costs_**2 * model.kernel_weights_).sum(), 1.0)
        assert model.weights_frame()["cost"].tolist() == model.costs_.tolist()
    if search == "response_surface":
        chosen = results["params"][model.surface_.best_index_]
        assert model.costs_.tolist() == [chosen[name] for name in model.view_names_]
        assert model.surface_.best_point_ == pytest.approx({k: v for k, v in chosen.items() if k != "line"})
    np.testing.assert_allclose(model.decision_function(NEW), plain.fit(X, y).decision_function(NEW))
    n_active = np.count_nonzero(model.kernel_weights_ > 0.01 * model.kernel_weights_.sum())
    assert model.total_cost_ == pytest.approx(model.support_.size * n_active / 3)  # kernels cost the same
    assert model.n_solves_ == 3 * len(results["params"]) + 1


# ---------------------------------------------------------------------- eigenvalues, fixed weights


@given(st.integers(0, 1000), st.floats(1e-3, 1e3))
def test_large_eigenvalues_are_counted_whatever_the_lengths_of_samples(seed, size):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(9, 4))
    A[: seed % 9] = 0.0  # samples without length count for nothing, and a count is at least one
    K, lengths = A @ A.T, size * rng.uniform(0.1, 10.0, 9)
    present = np.diag(K) > 0.0
    unit = K[np.ix_(present, present)] / np.sqrt(np.outer(np.diag(K)[present], np.diag(K)[present]))
    expected = max(1, sum(np.linalg.svd(unit, compute_uv=False) > 0.5))
    assert count_large_eigenvalues(K[None] * np.outer(lengths, lengths)).tolist() == [expected]


def counts_of(X):
    return count_large_eigenvalues(np.moveaxis(plain_kernels(X, X), 2, 0))


def test_the_eigenvalue_heuristic_takes_the_best_exponent_of_ratios_of_counts():
    X, y = make_binary(60, seed=1)
    model = regularized(VIEWS, method="eigenvalue").fit(X, y)
    exponents = [p["exponent"] for p in model.cv_results_["params"]]
    np.testing.assert_allclose(exponents, np.arange(11) / 10)
    counts = counts_of(X)
    assert counts.max() > 2 * counts.min()
    np.testing.assert_allclose(model.costs_, (counts / counts[0]) ** model.exponent_)
    for k, (train, test) in enumerate(FOLDS.split(X, y)):
        own = counts_of(X[train])
        for exponent, found in zip(exponents, fold_scores(model)[:, k], strict=True):
            plain = MKLClassifier(VIEWS, costs=(own / own[0]) ** exponent, **FINE).fit(X[train], y[train])
            assert found == pytest.approx(plain.score(X[test], y[test]))
    scores = model.cv_results_["mean_test_score"]
    best = np.flatnonzero(scores >= scores.max() - 1e-9)
    assert best.size > 1 and model.exponent_ == exponents[best[0]] > 0.0
    assert model.surface_ is None


def test_fixed_weights_are_plain_support_vector_machines():
    X, y = make_binary(60)
    model = regularized(VIEWS, method="weights", C=2.0, tol=1e-9).fit(X, y)
    Ks = plain_kernels(X, X)
    for weights, found in zip(model.cv_results_["params"], fold_scores(model), strict=True):
        mixed = Ks @ np.array(list(weights.values()))
        assert sum(weights.values()) == pytest.approx(1.0)
        svc = SVC(kernel="precomputed", C=2.0, tol=1e-8)
        np.testing.assert_allclose(found, cross_val_score(svc, mixed, y, cv=FOLDS), atol=1e-12)
    assert model.cv_results_["params"][0] == pytest.approx({"signal": 1 / 3, "line": 1 / 3, "noise": 1 / 3})
    chosen = np.array(list(model.cv_results_["params"][model.surface_.best_index_].values()))
    np.testing.assert_allclose(model.kernel_weights_, chosen)
    svc = SVC(kernel="precomputed", C=2.0, tol=1e-8).fit(Ks @ chosen, y)
    expected = svc.decision_function(plain_kernels(NEW, X) @ chosen)
    np.testing.assert_allclose(model.decision_function(NEW), expected, atol=1e-4)


def test_printed_costs_are_ours_at_another_C():
    """d_m = e_m^γ at C is (e_m / e_1)^γ at C / e_1^(2γ): the same functions, other weights."""
    X, y = make_binary(60, seed=1)
    counts = counts_of(X)
    assert counts[0] > 1
    for exponent in (0.3, 1.0):
        printed = MKLClassifier(VIEWS, C=50.0, costs=eigenvalue_costs(counts, exponent, False), **FINE)
        ours = MKLClassifier(
            VIEWS, C=50.0 / counts[0] ** (2 * exponent), costs=eigenvalue_costs(counts, exponent), **FINE
        )
        expected = ours.fit(X, y).decision_function(NEW)
        np.testing.assert_allclose(printed.fit(X, y).decision_function(NEW), expected, atol=1e-4)


def test_the_eigenvalue_heuristic_with_costs_as_printed():
    X, y = make_binary(60, seed=1)
    model = regularized(VIEWS, method="eigenvalue", relative=False, C=50.0).fit(X, y)
    np.testing.assert_allclose(model.costs_, counts_of(X) ** model.exponent_)
    for k, (train, test) in enumerate(FOLDS.split(X, y)):
        costs = counts_of(X[train]) ** 0.5
        plain = MKLClassifier(VIEWS, C=50.0, costs=costs, **FINE).fit(X[train], y[train])
        assert fold_scores(model)[5, k] == pytest.approx(plain.score(X[test], y[test]))


# ---------------------------------------------------------------------- C, planes, the end, fewer samples
@pytest.mark.parametrize(("search", "multiclass"), [("response_surface", "ovr"), ("weights", "joint")])
def test_C_is_one_more_factor(search, multiclass):
    X, y = make_three(60)
    options = {"method": search, "multiclass": multiclass, "C": 3.0, "scoring": "balanced_accuracy"}
    model = regularized(search_C=True, max_steps=2, **options).fit(X, y)
    assert model.surface_.names == ["signal", "all", "C"] and model.surface_.n_design_ == 10
    assert model.surface_.bounds["C"] == pytest.approx((0.3, 30.0))
    params = model.cv_results_["params"]
    assert len({point["C"] for point in params}) >= 3
    for point, found in zip(params, fold_scores(model), strict=True):
        values = np.array([point[name] for name in model.view_names_])
        fixed = {"norm": np.inf, "costs": values**-0.5} if search == "weights" else {"costs": values}
        if search == "weights":
            assert values.sum() == pytest.approx(1.0)
        plain = MKLClassifier(LEARNED, C=point["C"], multiclass=multiclass, **fixed, **FINE)
        expected = cross_val_score(plain, X, y, cv=FOLDS, scoring="balanced_accuracy")
        np.testing.assert_allclose(found, expected, atol=1e-12)
    chosen = params[model.surface_.best_index_]
    assert model.C_.tolist() == [chosen["C"]] * model.C_.size
    assert model.estimator_.get_params()["C"] == chosen["C"] and model.C == 3.0
    fixed = {"norm": np.inf, "costs": model.kernel_weights_**-0.5} if search == "weights" else {}
    plain = MKLClassifier(
        LEARNED, C=chosen["C"], multiclass=multiclass, **{"costs": model.costs_, **fixed}, **FINE
    )
    np.testing.assert_allclose(
        model.decision_function(NEW), plain.fit(X, y).decision_function(NEW), atol=1e-4
    )


def test_C_alone_can_be_searched():
    X, y = make_binary(40)
    model = quickly(Gaussian(), search_C=True, max_steps=0).fit(X, y)
    assert [list(point) for point in model.cv_results_["params"]] == [["gaussian", "C"]] * 3
    assert model.costs_.tolist() == [1.0]


def test_a_view_called_C_is_in_the_way_of_C():
    X, y = make_binary(40)
    views = [("line", Linear()), ("C", Gaussian())]
    assert len(quickly(views, max_steps=0).fit(X, y).cv_results_["params"]) == 3
    with pytest.raises(ValueError, match="one of the views has that name"):
        quickly(views, search_C=True).fit(X, y)
    with pytest.raises(ValueError, match="search_C=True needs a response surface"):
        quickly(search_C=True, method="eigenvalue").fit(X, y)


@pytest.mark.filterwarnings("ignore:the model memorizes its training samples:multikernel.views.KernelWarning")
def test_a_plane_asks_for_as_many_points_as_there_are_kernels():
    X, y = make_binary(60)
    views = [(f"width {g}", Gaussian(g)) for g in np.logspace(-3, 0, 8)]
    model = quickly(views, degree=1, max_steps=4).fit(X, y)
    assert model.surface_.n_design_ == 8 and len(model.cv_results_["params"]) <= 12
    assert model.best_score_ == model.cv_results_["mean_test_score"].max()


def test_the_last_point_is_what_the_paper_returns():
    X, y = make_binary(60, seed=2)
    model = regularized(rule="last", max_steps=3, scoring="balanced_accuracy").fit(X, y)
    params, chosen = model.cv_results_["params"], model.surface_.chosen_index_
    assert model.costs_.tolist() == list(params[chosen].values())
    assert model.best_score_ == model.cv_results_["mean_test_score"][chosen]
    plain = MKLClassifier(LEARNED, costs=model.costs_, **FINE).fit(X, y)
    np.testing.assert_allclose(model.decision_function(NEW), plain.decision_function(NEW))


@pytest.mark.parametrize(("max_samples", "most"), [(0.5, 40), (15, 15), (1000, 80)])
def test_points_are_measured_on_fewer_training_samples(max_samples, most, monkeypatch):
    X, y = make_three(120)
    seen = []

    class Recorded(FoldClassifier):
        def open(self, X, y, sample_weight, train, test):
            seen.append((train, test))
            return super().open(X, y, sample_weight, train, test)

    monkeypatch.setattr(RegularizedMKLClassifier, "_fold", Recorded)
    model = regularized(max_samples=max_samples, max_steps=0).fit(X, y)
    costs = model.cv_results_["params"][3]
    for (train, test), (all_of_fold, expected) in zip(seen, FOLDS.split(X, y), strict=True):
        assert np.isin(train, all_of_fold).all() and abs(train.size - most) <= 2
        np.testing.assert_array_equal(test, expected)
        counts, all_counts = (np.unique(y[rows], return_counts=True)[1] for rows in (train, all_of_fold))
        np.testing.assert_allclose(counts / train.size, all_counts / all_of_fold.size, atol=0.06)
    for (train, test), found in zip(seen, fold_scores(model)[3], strict=True):
        plain = MKLClassifier(LEARNED, costs=costs, **FINE).fit(X[train], y[train])
        assert found == pytest.approx(plain.score(X[test], y[test]))
    plain = MKLClassifier(LEARNED, costs=model.costs_, **FINE).fit(X, y)  # the last model has all samples
    np.testing.assert_allclose(model.decision_function(NEW), plain.decision_function(NEW))


# ---------------------------------------------------------------------- the same whatever the way
def test_threads_and_generators_change_nothing():
    X, y = make_three(72)
    for seed in (5, np.random.RandomState(3)):
        fits = [
            regularized(cv=3, tol=1e-3, random_state=copy.deepcopy(seed), n_jobs=n_jobs).fit(X, y)
            for n_jobs in (1, 3)
        ]
        assert_same_search(*fits)
    other = regularized(cv=3, tol=1e-3, random_state=6, max_steps=0).fit(X, y)
    assert (fold_scores(other)[:6] != fold_scores(fits[0])[:6]).any()  # seeds choose the folds


def test_warm_starts_change_no_score(monkeypatch):
    X, y = make_three(60)
    warm = regularized(C=10.0).fit(X, y)
    monkeypatch.setattr(FoldModel, "_nearest", lambda self, place: None)
    cold = regularized(C=10.0).fit(X, y)
    assert warm.cv_results_["params"] == cold.cv_results_["params"]
    np.testing.assert_array_equal(fold_scores(warm), fold_scores(cold))


# ---------------------------------------------------------------------- weights, scores, folds
@pytest.mark.parametrize("views", [VIEWS, "precomputed"])
def test_weights_count_in_training_and_in_validation(views):
    X, y = make_binary(60)
    weights = np.random.default_rng(0).integers(0, 4, 60).astype(float)
    data = plain_kernels(X, X) if views == "precomputed" else X
    model = regularized(views, class_weight="balanced").fit(data, y, weights)
    for point, found in zip(model.cv_results_["params"], fold_scores(model), strict=True):
        plain = MKLClassifier(VIEWS, costs=list(point.values()), class_weight="balanced", **FINE)
        for k, (train, test) in enumerate(FOLDS.split(X, y)):
            plain.fit(X[train], y[train], weights[train])
            assert found[k] == pytest.approx(plain.score(X[test], y[test], weights[test]))


@pytest.mark.filterwarnings("ignore:the model memorizes its training samples:multikernel.views.KernelWarning")
def test_a_row_that_is_repeated_in_its_fold_is_a_row_of_twice_the_weight():
    X, y = make_binary(50)
    times = np.random.default_rng(1).integers(0, 3, 50)
    fold_of = np.empty(50, int)
    for k, (_, test) in enumerate(FOLDS.split(X, y)):
        fold_of[test] = k

    def splits(folds):
        return [(np.flatnonzero(folds != k), np.flatnonzero(folds == k)) for k in range(3)]

    weighted = regularized(cv=splits(fold_of)).fit(X, y, times.astype(float))
    repeated = regularized(cv=splits(np.repeat(fold_of, times)))
    repeated.fit(np.repeat(X, times, axis=0), np.repeat(y, times), np.ones(times.sum()))
    assert weighted.cv_results_["params"] == repeated.cv_results_["params"]
    np.testing.assert_allclose(fold_scores(weighted), fold_scores(repeated))
    np.testing.assert_allclose(weighted.decision_function(NEW), repeated.decision_function(NEW), atol=1e-3)


@pytest.mark.parametrize("multiclass", ["ovr", "ovo"])
@pytest.mark.parametrize("views", [LEARNED, "precomputed"])
def test_a_function_that_scores_may_predict_for_any_samples(views, multiclass):
    X, y = make_three(60)
    data = plain_kernels(X, X) if views == "precomputed" else X
    weights = np.random.default_rng(0).integers(0, 3, 60).astype(float)  # some are zero

    def scorer(model, X, y, sample_weight=None):
        some = slice(None, None, 2)
        shifted = model.predict(X + 0.4)
        own, copied = model.decision_function(X), model.decision_function(X.copy())
        np.testing.assert_allclose(own, copied, atol=1e-9)
        np.testing.assert_allclose(model.decision_function(X[some]), own[some], atol=1e-9)
        parts = model.contributions(X)
        assert parts.shape == (len(X), 3, 3) and model.dual_coef_.shape == (3, model.support_.size)
        return accuracy_score(y, shifted) + model.support_.size + model.kernel_weights_[1]

    model = regularized(views, scoring=scorer, max_steps=0, multiclass=multiclass).fit(data, y, weights)
    splits = list(FOLDS.split(X, y))
    for point in (0, 3):  # the model of every point, not that of the first or last
        costs = list(model.cv_results_["params"][point].values())
        for (train, test), found in zip(splits, fold_scores(model)[point], strict=True):
            plain = MKLClassifier(views, costs=costs, multiclass=multiclass, **FINE)
            own = np.ix_(train, train) if views == "precomputed" else train
            new = np.ix_(test, train) if views == "precomputed" else test
            plain.fit(data[own], y[train], weights[train])
            right = accuracy_score(y[test], plain.predict(data[new] + 0.4))
            expected = right + plain.support_.size + plain.kernel_weights_[1]
            assert found == pytest.approx(expected, abs=1e-3)


def test_a_function_that_scores_cannot_change_the_validation_samples():
    X, y = make_binary(40)

    def scorer(model, X, y):
        X += 1.0
        return accuracy_score(y, model.predict(X))

    with pytest.raises(ValueError, match="read-only"):
        quickly(VIEWS, scoring=scorer).fit(X, y)


@pytest.mark.parametrize(
    ("scoring", "probability"),
    [("neg_log_loss", True), (lambda model, X, y: log_loss(y, model.predict_proba(X)), False)],
    ids=["name", "own"],
)
def test_scores_of_probabilities_are_refused_with_what_can_be_done(scoring, probability):
    X, y = make_binary(40)
    with pytest.raises(ValueError, match=r"scoring needs probabilities.*folds.*roc_auc.*GridSearchCV"):
        quickly(VIEWS, scoring=scoring, probability=probability).fit(X, y)


@pytest.mark.parametrize("search", ["response_surface", "eigenvalue"])
def test_means_that_differ_by_rounding_are_equally_good(search):
    X, y = make_binary(60)
    calls = iter(range(1000))

    def scorer(model, X, y):  # the same scores in another order: their sum is rounded otherwise
        point, fold = divmod(next(calls), 3)
        return (0.2, 0.3, 0.1)[(point + fold) % 3]

    model = quickly(VIEWS, method=search, scoring=scorer, max_steps=0).fit(X, y)
    assert np.ptp(model.cv_results_["mean_test_score"]) > 0.0
    assert model.costs_.tolist() == [1.0, 1.0, 1.0]


def test_a_list_of_splits_and_classes_that_a_fold_lacks():
    X, y = make_three(60)
    order = np.argsort(y, kind="stable")
    splits = [(order[:45], order[45:]), (order[15:], order[:15])]
    model = regularized(cv=splits, max_steps=0).fit(X, y)
    for k, (train, test) in enumerate(splits):
        plain = MKLClassifier(LEARNED, **FINE).fit(X[train], y[train])
        assert fold_scores(model)[0, k] == pytest.approx(plain.score(X[test], y[test]))


@pytest.mark.filterwarnings("ignore:the model memorizes its training samples:multikernel.views.KernelWarning")
@pytest.mark.parametrize("search", ["response_surface", "eigenvalue", "weights"])
def test_automatic_kernels_may_differ_from_fold_to_fold(search, monkeypatch):
    names = []

    class Recorded(FoldClassifier):
        def open(self, *fold):
            super().open(*fold)
            names.append(self.model.view_names_)
            return self

    values = np.linspace(0.5, 3.0, 30)
    y = (np.abs(values - 2.0) < 0.5).astype(int)
    tables = {"values": values[:, None], "rare": (np.arange(30) == 7).astype(float)[:, None]}
    X = MultiTable(tables)  # without the one, the kernels of the second table are constant
    monkeypatch.setattr(RegularizedMKLClassifier, "_fold", Recorded)
    model = RegularizedMKLClassifier(method=search, cv=2, max_steps=0).fit(X, y)
    assert sorted(map(len, names)) == [6, 12] and len(model.view_names_) == 12
    assert model.score(X, y) > 0.9


# ---------------------------------------------------------------------- manners
def test_one_kernel_leaves_nothing_to_search():
    X, y = make_binary(40)
    model = RegularizedMKLClassifier(Gaussian(), cv=50).fit(X, y)
    assert (model.costs_.tolist(), model.surface_, model.cv_results_, model.n_solves_) == ([1.0], None, {}, 1)
    assert np.isnan(model.best_score_)
    expected = MKLClassifier(Gaussian()).fit(X, y).decision_function(NEW)
    np.testing.assert_array_equal(model.decision_function(NEW), expected)


@pytest.mark.parametrize("search", ["response_surface", "eigenvalue", "weights"])
def test_the_callback_sees_each_point_and_may_end_the_search(search):
    X, y = make_binary(40)
    seen = []
    model = quickly(method=search, callback=seen.append, max_steps=1).fit(X, y)
    assert [e["params"] for e in seen] == model.cv_results_["params"]
    np.testing.assert_allclose([e["score"] for e in seen], model.cv_results_["mean_test_score"])
    assert seen[-1]["best_score"] == pytest.approx(model.best_score_)
    assert [e["evaluation"] for e in seen] == list(range(1, len(seen) + 1))
    short = quickly(method=search, callback=lambda e: e["evaluation"] == 2).fit(X, y)
    assert len(short.cv_results_["params"]) == 2
    assert short.predict(NEW).shape == (25,)


def test_machines_that_stop_early_are_counted_in_one_warning():
    X, y = make_binary(60)
    with pytest.warns(ConvergenceWarning) as caught:
        regularized(max_iter=1, max_steps=0, C=100.0, tol=1e-9).fit(X, y)
    words = [str(w.message) for w in caught]
    assert len(words) == 2
    assert "18 of the 18 solutions of the search did not reach tol=1e-09" in words[0]
    assert words[1].startswith("RegularizedMKLClassifier did not reach tol=1e-09")


def test_probabilities_are_calibrated_at_the_costs_found():
    X, y = make_three(72)
    model = regularized(probability=True, max_steps=0, tol=1e-4).fit(X, y)
    plain = MKLClassifier(LEARNED, costs=model.costs_, probability=True, tol=1e-4, max_iter=2000).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(NEW), plain.predict_proba(NEW))
    assert not hasattr(quickly(max_steps=0).fit(X, y), "predict_proba")


def test_a_second_fit_forgets_the_first():
    X, y = make_binary(40)
    model = quickly(method="eigenvalue").fit(X, y)
    model.set_params(method="response_surface", max_steps=0).fit(X, y)
    assert model.exponent_ is None and model.surface_ is not None
    assert len(model.cv_results_["params"]) == 6


def test_a_fit_that_fails_leaves_the_model_as_it_was():
    X, y = make_binary(40)
    model = quickly(max_steps=0).fit(X, y)
    kept = dict(vars(model))

    def fail(entry):
        raise RuntimeError("enough")

    for changes in ({"callback": fail}, {"callback": None, "scoring": lambda model, X, y: np.nan}):
        model.set_params(**changes)
        with pytest.raises((RuntimeError, ValueError), match=r"enough|finite"):
            model.fit(X[::-1, :3], y)
        for name in kept.keys() - model.get_params():
            assert vars(model)[name] is kept[name]


@pytest.mark.parametrize(
    ("params", "error", "words"),
    [
        ({"method": "grid"}, ValueError, "method must be one of"),
        ({"delta": 2.0}, ValueError, "delta must be at most bound=1"),
        ({"delta": -0.1}, ValueError, "delta must be greater than 0"),
        ({"bound": 0.0}, ValueError, "bound must be greater than 0"),
        ({"max_steps": -1}, ValueError, "max_steps must be a positive integer"),
        ({"degree": 3}, ValueError, "degree must be 1, a plane, or 2, a quadratic; got 3"),
        ({"rule": "first"}, ValueError, "rule must be one of"),
        ({"max_samples": 1.5}, ValueError, "max_samples, a share, must be above 0 and at most 1"),
        ({"max_samples": 0}, ValueError, "max_samples must be a positive integer"),
        ({"cv": 1}, ValueError, "cv must be at least 2 folds"),
        ({"scoring": ["accuracy", "roc_auc"]}, TypeError, "scoring must be one score"),
        ({"bound": 400}, ValueError, "bound must lie between 1e-06 and 10; got 400"),
        ({"bound": 1e-9, "delta": 1e-9}, ValueError, "bound must lie between"),
        ({"cv": []}, ValueError, "cv must hold at least one split"),
        (
            {"scoring": lambda model, X, y: np.nan},
            ValueError,
            "scoring must give a finite score for every fold; got nan",
        ),
        ({"scoring": lambda model, X, y: {"a": 1}}, TypeError, "scoring must give one number; got {'a': 1}"),
        ({"C": "learn"}, ValueError, 'C="learn" needs loss="squared_hinge"'),
        ({"callback": 3}, TypeError, "callback must be a function"),
    ],
)
def test_parameters_that_make_no_search_are_refused(params, error, words):
    X, y = make_binary(40)
    with pytest.raises(error, match=words):
        quickly(**params).fit(X, y)


def test_a_fold_that_cannot_be_trained_is_named():
    X, y = make_binary(40)
    yes = np.flatnonzero(y == "yes")
    splits = [(np.arange(40)[::2], np.arange(40)[1::2]), (yes[:5], yes[5:])]
    with pytest.raises(
        ValueError, match="fold 1 of cv cannot be used: a classifier needs samples of at least 2"
    ):
        quickly(cv=splits).fit(X, y)

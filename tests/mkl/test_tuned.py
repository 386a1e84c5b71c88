"""MKLClassifierCV, MKLRegressorCV, MKLRidgeCV: the grid, the halving, what is learned from the folds."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, make_classification, make_friedman1
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, log_loss, make_scorer
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, LeaveOneOut, StratifiedKFold

from multikernel import (
    KernelBank,
    MKLClassifier,
    MKLClassifierCV,
    MKLRegressor,
    MKLRegressorCV,
    MKLRidge,
    MKLRidgeCV,
    View,
    load_model,
    save_model,
)
from multikernel.core.search.grid import loo_residuals
from multikernel.kernels import Gaussian, Linear
from tests.refusals import refuses

BANK = [Linear(), Gaussian(0.05), Gaussian(0.5), ("first", Gaussian(1.0), [0])]
CS, NORMS = [0.1, 1.0, 100.0], [1.0, 2.0, np.inf]
FOLDS = StratifiedKFold(3, shuffle=True, random_state=0)


def classes(n=90, seed=0, **more):
    settings = {"n_features": 6, "n_informative": 3, "flip_y": 0.15, "random_state": seed} | more
    return make_classification(n, **settings)


def values(n=80, seed=0):
    return make_friedman1(n, n_features=6, noise=1.0, random_state=seed)


def stack(X, bank=BANK):
    return KernelBank(bank).fit_transform(X)


def assert_same_search(ours, theirs, atol=0.0):
    assert ours.cv_results_["params"] == theirs.cv_results_["params"]
    for name, expected in theirs.cv_results_.items():
        if name.endswith("test_score"):
            np.testing.assert_allclose(ours.cv_results_[name], expected, rtol=0, atol=atol, err_msg=name)
        if name.startswith("param_"):
            assert ours.cv_results_[name].tolist() == expected.tolist()
    assert ours.best_index_ == theirs.best_index_ and ours.best_params_ == theirs.best_params_
    assert ours.best_score_ == pytest.approx(theirs.best_score_, abs=atol)


# --- the same as GridSearchCV ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "parameters"),
    [
        (classes(), {}),
        (classes(), {"loss": "squared_hinge", "class_weight": "balanced", "scoring": "accuracy"}),
        (classes(), {"scoring": "roc_auc", "costs": [1.0, 2.0, 1.0, 3.0]}),
        (load_iris(return_X_y=True), {"multiclass": "ovo", "scoring": "balanced_accuracy"}),
        (load_iris(return_X_y=True), {"multiclass": "shared"}),
        (load_iris(return_X_y=True), {"multiclass": "joint", "tol": 1e-2}),
    ],
    ids=lambda given: "" if isinstance(given, tuple) else "-".join(map(str, given)) or "plain",
)
def test_without_halving_it_is_the_grid_search_of_the_classifier(data, parameters):
    X, y = data
    Ks = stack(X)
    own = {"probability": False, "halving": False, "cv": FOLDS} | parameters
    ours = MKLClassifierCV("precomputed", Cs=CS, norms=NORMS, **own).fit(Ks, y)
    machine = {name: value for name, value in parameters.items() if name != "scoring"}
    theirs = GridSearchCV(
        MKLClassifier("precomputed", **machine),
        {"C": CS, "norm": NORMS},
        cv=FOLDS,
        scoring=parameters.get("scoring"),
    ).fit(Ks, y)
    assert_same_search(ours, theirs)
    assert (ours.C_, ours.norm_) == (theirs.best_params_["C"], theirs.best_params_["norm"])
    np.testing.assert_array_equal(ours.decision_function(Ks), theirs.decision_function(Ks))
    assert not np.isnan(ours.out_of_fold_).any()


def test_without_halving_it_is_the_grid_search_of_the_regressors():
    X, y = values()
    Ks, cv = stack(X), KFold(3, shuffle=True, random_state=1)
    ours = MKLRegressorCV("precomputed", Cs=CS, norms=NORMS, cv=cv, halving=False, epsilon=0.5).fit(Ks, y)
    machine = MKLRegressor("precomputed", epsilon=0.5)
    assert_same_search(ours, GridSearchCV(machine, {"C": CS, "norm": NORMS}, cv=cv).fit(Ks, y), 1e-10)
    outputs = np.column_stack([y, y**2])
    ours = MKLRidgeCV("precomputed", alphas=CS, norms=NORMS, cv=cv, halving=False).fit(Ks, outputs)
    theirs = GridSearchCV(MKLRidge("precomputed"), {"alpha": CS, "norm": NORMS}, cv=cv).fit(Ks, outputs)
    assert_same_search(ours, theirs, 1e-10)
    assert ours.alpha_ == theirs.best_params_["alpha"]
    np.testing.assert_allclose(ours.predict(Ks), theirs.predict(Ks), rtol=0, atol=1e-10)


def test_out_of_fold_answers_are_those_of_the_folds():
    X, y = classes()
    Ks = stack(X)
    model = MKLClassifierCV("precomputed", Cs=CS, norms=NORMS, cv=FOLDS, halving=False).fit(Ks, y)
    for train, test in FOLDS.split(X, y):
        machine = MKLClassifier("precomputed", C=model.C_, norm=model.norm_)
        machine.fit(Ks[np.ix_(train, train)], y[train])
        expected = machine.decision_function(Ks[np.ix_(test, train)])
        np.testing.assert_allclose(model.out_of_fold_[test], expected, rtol=0, atol=1e-12)


def test_the_last_model_is_the_machine_at_the_values_chosen():
    X, y = classes()
    model = MKLClassifierCV(BANK, Cs=CS, norms=NORMS, cv=3).fit(X, y)
    plain = MKLClassifier(BANK, C=model.C_, norm=model.norm_).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), plain.decision_function(X), rtol=0, atol=1e-9)
    np.testing.assert_allclose(model.kernel_weights_, plain.kernel_weights_, rtol=0, atol=1e-9)
    assert model.status_ == "optimal" and model.dual_gap_ <= 1e-3
    np.testing.assert_allclose(
        model.contributions(X).sum(axis=1) + model.intercept_, model.decision_function(X), atol=1e-9
    )


# --- halving -----------------------------------------------------------------------------------------------


def test_halving_leaves_candidates_out_for_good():
    X, y = classes(150)
    model = MKLClassifierCV(BANK, norms=[1.0, 2.0, np.inf], cv=5).fit(X, y)
    scores = np.column_stack([model.cv_results_[f"split{k}_test_score"] for k in range(5)])
    known = np.isfinite(scores)
    assert known[:, 0].all() and not known.all()
    assert (known[:, :-1] | ~known[:, 1:]).all()  # who is left out does not come back
    counts = known.sum(axis=0)
    assert (np.diff(counts) <= 0).all() and counts[-1] >= 3
    finished = known.all(axis=1)
    ranks = model.cv_results_["rank_test_score"]
    assert ranks[finished].max() < ranks[~finished].min()
    assert finished[model.best_index_] and ranks[model.best_index_] == 1
    means = [row[np.isfinite(row)].mean() for row in scores]
    np.testing.assert_allclose(model.cv_results_["mean_test_score"], means, rtol=0, atol=1e-15)


def test_rough_warm_fits_score_as_cold_exact_ones():
    X, y = classes(150)
    parameters = {"Cs": [0.1, 1.0, 10.0, 1e3, 1e5], "norms": NORMS, "cv": FOLDS, "scoring": "roc_auc"}
    rough = MKLClassifierCV(BANK, **parameters).fit(X, y).cv_results_
    exact = MKLClassifierCV(BANK, halving=False, tol=1e-6, **parameters).fit(X, y).cv_results_
    for k in range(3):
        name = f"split{k}_test_score"
        known = np.isfinite(rough[name])
        np.testing.assert_allclose(rough[name][known], exact[name][known], rtol=0, atol=0.02)


def test_a_larger_c_with_slack_bounds_is_a_copy():
    X, y = load_iris(return_X_y=True)
    X, y = X[:100], y[:100]  # separable
    model = MKLClassifierCV([Gaussian(0.1), Gaussian(1.0)], norms=[1.0, 2.0], cv=3).fit(X, y)
    assert model.n_solves_ < np.isfinite(model.cv_results_["split0_test_score"]).sum()
    assert model.C_ <= 1.0  # of equally good ones the first


def _shortfall(seed, **parameters):
    """How far the mean of the winner is from the best mean, in standard errors of the best."""
    rng = np.random.default_rng(seed)
    n, flip = int(rng.integers(80, 200)), float(rng.choice([0.02, 0.1, 0.25]))
    X, y = classes(n, seed, flip_y=flip, class_sep=float(rng.choice([0.5, 1.0])))
    Ks = stack(X)
    common = {"norms": [1.0, 1.5, 2.0, np.inf], "cv": 5, "probability": False, **parameters}
    chosen = MKLClassifierCV("precomputed", refit=False, **common).fit(Ks, y).best_index_
    full = MKLClassifierCV("precomputed", halving=False, refit=False, tol=1e-2, **common).fit(Ks, y)
    scores = np.column_stack([full.cv_results_[f"split{k}_test_score"] for k in range(5)])
    means = scores.mean(axis=1)
    error = scores[means.argmax()].std(ddof=1) / np.sqrt(5)
    return (means.max() - means[chosen]) / max(error, 1e-12)


def test_halving_finds_a_candidate_within_one_standard_error():
    assert np.mean([_shortfall(seed, Cs=[0.01, 1.0, 100.0]) <= 1.0 + 1e-9 for seed in range(5)]) >= 0.8


@pytest.mark.thorough
def test_halving_finds_a_candidate_within_one_standard_error_on_a_hundred_problems():
    assert np.mean([_shortfall(seed) <= 1.0 + 1e-9 for seed in range(100)]) >= 0.95


# --- the choice --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "seed", "is_first"),
    [
        (classes(60), 1, False),
        (classes(60, 1), 3, False),
        (classes(90, 2), 0, False),
        (classes(60), 2, True),
        (load_iris(return_X_y=True), 3, True),
    ],
)
def test_of_equally_good_candidates_the_smallest_log_loss_wins(data, seed, is_first):
    X, y = data
    Cs, common = [0.1, 0.3, 1.0, 3.0, 10.0], {"cv": 4, "random_state": seed}
    model = MKLClassifierCV(BANK, Cs=Cs, norms=[1.0, 2.0], **common).fit(X, y)
    found = model.cv_results_
    means = np.where(np.isfinite(found["split3_test_score"]), found["mean_test_score"], 0.0)
    equal = np.flatnonzero(means > means.max() - 1e-9)
    losses = []
    for k in equal:
        own = {"Cs": [found["param_C"][k]], "norms": [found["param_norm"][k]]}
        alone = MKLClassifierCV(BANK, **own, **common).fit(X, y)
        losses.append(log_loss(y, alone._calibration.predict_proba(alone.out_of_fold_)))
    assert equal.size > 1
    assert model.best_index_ == equal[np.argmin(losses)]
    assert bool(model.best_index_ == equal[0]) is is_first


def test_a_tie_of_folds_without_some_class_goes_to_the_first():
    X, y = classes(60)
    y = np.where(np.arange(60) < 3, 2, y)
    folds = [(np.arange(3, 60), np.arange(3)), (np.arange(40), np.arange(40, 60))]
    common = {"norms": [2.0], "cv": folds, "probability": False}
    model = MKLClassifierCV(BANK, Cs=[1e-4, 1e-3], **common).fit(X, y)
    assert np.ptp(model.cv_results_["mean_test_score"]) == 0.0
    assert model.best_index_ == 0


def test_the_one_standard_error_rule_takes_the_smallest_penalty_near_the_best():
    X, y = classes(150)
    common = {"Cs": [0.01, 0.1, 1.0, 10.0], "norms": [1.0, 2.0], "cv": 5, "halving": False}
    model = MKLClassifierCV(BANK, rule="one_se", **common).fit(X, y)
    found = model.cv_results_
    scores = np.column_stack([found[f"split{k}_test_score"] for k in range(5)])
    best = found["mean_test_score"].argmax()
    least = found["mean_test_score"][best] - scores[best].std(ddof=1) / np.sqrt(5)
    near = [
        p["C"] for p, mean in zip(found["params"], found["mean_test_score"], strict=True) if mean >= least
    ]
    assert min(near) == model.C_ and MKLClassifierCV(BANK, **common).fit(X, y).C_ >= model.C_
    X, y = values()
    common = {"alphas": [0.1, 1.0, 10.0, 100.0], "norms": [2.0]}
    rough, best = (MKLRidgeCV(BANK, rule=rule, **common).fit(X, y) for rule in ("one_se", "best"))
    errors = (y - best.out_of_fold_) ** 2
    least = best.best_score_ - errors.std() / np.sqrt(y.size)
    assert rough.alpha_ == max(
        a
        for a, mean in zip(common["alphas"], best.cv_results_["mean_test_score"], strict=True)
        if mean >= least
    )


def test_groups_are_kept_together():
    X, y = classes(90)
    groups = np.arange(90) // 6
    common = {"Cs": CS, "norms": [1.0, 2.0], "halving": False}
    model = MKLClassifierCV(BANK, cv=GroupKFold(3), **common).fit(X, y, groups=groups)
    listed = list(GroupKFold(3).split(X, y, groups))
    assert_same_search(model, MKLClassifierCV(BANK, cv=listed, **common).fit(X, y))
    with refuses("cv", "needs the groups"):
        MKLClassifierCV(BANK, cv=GroupKFold(3)).fit(X, y)
    for cls in (MKLClassifierCV, MKLRegressorCV, MKLRidgeCV):
        with refuses("groups", "GroupKFold"):
            cls(BANK).fit(X, y, groups=groups)


@pytest.mark.filterwarnings("ignore::multikernel.views.KernelWarning")  # few samples, noisy labels
def test_weights_count_in_fits_and_in_scores():
    X, y = classes(60)
    rng = np.random.default_rng(0)
    weights = rng.integers(1, 4, size=60).astype(float)
    folds = list(StratifiedKFold(3).split(X, y))
    model = MKLClassifierCV(BANK, Cs=CS, norms=[1.0, 2.0], cv=folds, halving=False, tol=1e-6)
    weighted = model.fit(X, y, sample_weight=weights)
    for k, (train, test) in enumerate(folds):
        machine = MKLClassifier("precomputed", C=1.0, norm=2.0, tol=1e-6)
        Ks = stack(X)
        machine.fit(Ks[np.ix_(train, train)], y[train], sample_weight=weights[train])
        score = machine.score(Ks[np.ix_(test, train)], y[test], sample_weight=weights[test])
        found = weighted.cv_results_[f"split{k}_test_score"][
            weighted.cv_results_["params"].index({"C": 1.0, "norm": 2.0})
        ]
        assert found == pytest.approx(score, abs=1e-12)


def test_weights_are_repetitions_where_the_folds_are_the_same():
    X, y = values(60)
    weights = np.random.default_rng(1).integers(1, 4, size=60)
    repeated = np.repeat(np.arange(60), weights)
    folds = list(KFold(3).split(X))
    again = [tuple(np.flatnonzero(np.isin(repeated, rows)) for rows in fold) for fold in folds]
    model = MKLRidgeCV(BANK, alphas=CS, cv=again).fit(X[repeated], y[repeated])
    once = MKLRidgeCV(BANK, alphas=CS, cv=folds).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(
        model.cv_results_["mean_test_score"], once.cv_results_["mean_test_score"], rtol=1e-6
    )


def flags(n, seed=1):
    """Few distinct rows with labels that differ: what is best of a row is known from the others like it."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, size=(n, 3)).astype(float)
    return X, (X[:, 0] + (X[:, 1] == X[:, 2]) + 0.6 * rng.normal(size=n) > 1).astype(int)


def test_rows_that_are_repeated_with_other_labels_are_in_every_fold():
    (X, y), (X_new, y_new) = flags(400), flags(2000, seed=2)
    model = MKLClassifierCV(random_state=0).fit(X, y)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    same = MKLClassifierCV(random_state=0, cv=folds).fit(X, y)
    assert model.best_score_ == same.best_score_ > 0.65 and model.best_params_ == same.best_params_
    assert model.score(X_new, y_new) > 0.7
    assert log_loss(y_new, model.predict_proba(X_new)) < 0.6  # 0.69 knows nothing


def test_leave_one_out_leaves_one_of_equal_rows_out():
    X, y = values(20)
    rows = np.repeat(np.arange(20), [1, 2, 3, 1] * 5)
    Ks, y = stack(X)[np.ix_(rows, rows)], np.round(y[rows])
    weights = np.random.default_rng(0).uniform(0.5, 2.0, size=rows.size)
    model = MKLRidgeCV("precomputed", alphas=[0.3], norms=[np.inf]).fit(Ks, y, sample_weight=weights)
    table = MKLRidgeCV(BANK, alphas=[0.3], norms=[np.inf]).fit(X[rows], y, sample_weight=weights)
    for i, (train, test) in enumerate(LeaveOneOut().split(y)):
        machine = MKLRidge("precomputed", alpha=0.3, norm=np.inf)
        machine.fit(Ks[np.ix_(train, train)], y[train], sample_weight=weights[train])
        assert model.out_of_fold_[i] == pytest.approx(machine.predict(Ks[np.ix_(test, train)])[0], abs=1e-8)
    assert np.isfinite(table.out_of_fold_).all()


def test_intervals_of_values_that_repeat_are_as_wide_as_they_have_to_be():
    rng = np.random.default_rng(0)
    X = rng.integers(1, 6, size=(400, 2)).astype(float)
    y = X.sum(axis=1) + rng.integers(-1, 2, size=400)
    for model in (MKLRidgeCV(), MKLRegressorCV(random_state=0)):
        model.fit(X[:200], y[:200])
        low, high = model.predict_interval(X[200:], coverage=0.9).T
        assert np.mean((low <= y[200:]) & (y[200:] <= high)) > 0.8 and np.mean(high - low) < 3.2
        assert model.best_score_ > (0.3 if isinstance(model, MKLRegressorCV) else -1.2)


def test_the_default_score_counts_classes_by_their_weights():
    X, y = classes(90, weights=[0.8])
    common = {"Cs": CS, "norms": [1.0], "cv": FOLDS, "class_weight": {0: 1.0, 1: 5.0}, "halving": False}
    model = MKLClassifierCV(BANK, **common).fit(X, y)
    plain = MKLClassifierCV(BANK, scoring="accuracy", **common).fit(X, y)
    k, (_, test) = 0, next(iter(FOLDS.split(X, y)))
    assert model.cv_results_["split0_test_score"][k] != plain.cv_results_["split0_test_score"][k]
    share = test[y[test] == 1].size * 5.0 / (test[y[test] == 1].size * 5.0 + test[y[test] == 0].size)
    assert 0.5 < share < 1.0


def test_normalizations_are_candidates_too():
    X, y = classes()
    choices = ["trace", "variance", None]
    model = MKLClassifierCV(BANK, Cs=[1.0], norms=[1.0], normalizations=choices, cv=3, halving=False).fit(
        X, y
    )
    assert [params["normalize"] for params in model.cv_results_["params"]] == choices
    for place, choice in enumerate(choices):
        bank = KernelBank(BANK, normalize=choice)
        alone = MKLClassifierCV(bank, Cs=[1.0], norms=[1.0], cv=3, halving=False).fit(X, y)
        assert alone.best_score_ == pytest.approx(model.cv_results_["mean_test_score"][place], abs=1e-12)
    chosen = KernelBank(BANK, normalize=model.best_params_["normalize"])
    expected = MKLClassifier(chosen, C=1.0).fit(X, y).decision_function(X)
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-9)


def test_threads_change_nothing():
    X, y = load_iris(return_X_y=True)
    one, two = (MKLClassifierCV(BANK, Cs=CS, cv=3, n_jobs=jobs).fit(X, y) for jobs in (1, 2))
    np.testing.assert_array_equal(one.cv_results_["mean_test_score"], two.cv_results_["mean_test_score"])
    np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))


# --- what is learned from the folds ------------------------------------------------------------------------


def test_probabilities_are_calibrated_on_the_out_of_fold_scores():
    X, y = classes(400, flip_y=0.3)
    model = MKLClassifierCV(BANK, Cs=CS, norms=[1.0, 2.0]).fit(X[:200], y[:200])
    found = log_loss(y[200:], model.predict_proba(X[200:]))
    judge = LogisticRegression(C=1e6).fit(model.out_of_fold_[:, None], y[:200])
    expected = log_loss(y[200:], judge.predict_proba(model.decision_function(X[200:])[:, None]))
    assert found < expected + 0.02 and found < log_loss(y[200:], np.full(200, 0.5))
    np.testing.assert_array_equal(model.classes_[model.predict_proba(X).argmax(axis=1)], model.predict(X))
    balanced = MKLClassifierCV(BANK, Cs=[1.0], norms=[1.0], class_weight={0: 1.0, 1: 20.0}).fit(
        X[:200], y[:200]
    )
    assert abs(balanced.predict_proba(X[200:])[:, 1].mean() - y[200:].mean()) < 0.1  # the offset undoes it


def test_probabilities_have_to_be_asked_for():
    X, y = classes()
    assert not hasattr(MKLClassifierCV(BANK, probability=False), "predict_proba")
    y = np.where(np.arange(90) < 30, 2, y)
    ordered = list(KFold(3).split(X))  # the first fold is trained without class 2
    settings = {"Cs": [1.0], "norms": [1.0], "cv": ordered}
    with refuses("probability=True", "stratified folds", "probability=False"):
        MKLClassifierCV(BANK, **settings).fit(X, y)
    model = MKLClassifierCV(BANK, probability=False, **settings).fit(X, y)
    assert model.cv_results_["split0_test_score"][0] == 0.0 and np.isnan(model.out_of_fold_[:30]).all()


def test_leave_one_out_is_a_fit_without_each_sample():
    X, y = values(40)
    Ks = stack(X)
    weights = np.random.default_rng(0).uniform(0.5, 2.0, size=40)
    for intercept in (True, False):
        settings = {"alpha": 0.3, "norm": np.inf, "fit_intercept": intercept}
        model = MKLRidgeCV("precomputed", alphas=[0.3], norms=[np.inf], fit_intercept=intercept)
        model.fit(Ks, y, sample_weight=weights)
        for i, (train, test) in enumerate(LeaveOneOut().split(X)):
            machine = MKLRidge("precomputed", **settings).fit(
                Ks[np.ix_(train, train)], y[train], sample_weight=weights[train]
            )
            assert model.out_of_fold_[i] == pytest.approx(
                machine.predict(Ks[np.ix_(test, train)])[0], abs=1e-8
            )
        error = np.average((y - model.out_of_fold_) ** 2, weights=weights)
        assert model.best_score_ == pytest.approx(-error)


def test_leave_one_out_at_learned_weights():
    X, y = values(40)
    Ks = stack(X)
    model = MKLRidgeCV("precomputed", alphas=[1.0], norms=[1.0], tol=1e-6, halving=False).fit(Ks, y)
    mu = MKLRidge("precomputed", alpha=1.0, norm=1.0, tol=1e-6).fit(Ks, y).kernel_weights_
    residuals = loo_residuals(Ks @ mu, np.ones(40), y[None], True)[0]
    np.testing.assert_allclose(y - model.out_of_fold_, residuals, atol=1e-9)
    scored = MKLRidgeCV("precomputed", alphas=[0.1, 1.0], norms=[1.0], scoring="r2").fit(Ks, y)
    expected = 1.0 - np.sum((y - scored.out_of_fold_) ** 2) / np.sum((y - y.mean()) ** 2)
    assert scored.best_score_ == pytest.approx(expected)


@pytest.mark.parametrize("cls", [MKLRegressorCV, MKLRidgeCV])
def test_intervals_hold_what_they_promise(cls):
    """The mean over training sets of the share of new values that they hold."""
    shares = {0.5: [], 0.9: []}
    grid = {"alphas": [0.1, 1.0]} if cls is MKLRidgeCV else {"Cs": [1.0, 10.0], "epsilon": 0.3, "cv": 4}
    for seed in range(12):
        X, y = values(360, seed)
        model = cls([Linear(), Gaussian(0.3)], norms=[2.0], **grid).fit(X[:60], y[:60])
        for coverage, found in shares.items():
            low, high = model.predict_interval(X[60:], coverage).T
            found.append(np.mean((low <= y[60:]) & (y[60:] <= high)))
    assert 0.45 < np.mean(shares[0.5]) < 0.6
    assert 0.87 < np.mean(shares[0.9]) < 0.95


def test_intervals_of_several_outputs_and_their_limits():
    X, y = values(30)
    model = MKLRidgeCV([Linear()], alphas=[1.0], norms=[1.0]).fit(X, np.column_stack([y, 10.0 * y]))
    intervals = model.predict_interval(X, 0.8)
    assert intervals.shape == (30, 2, 2)
    widths = np.diff(intervals, axis=2)[0, :, 0]
    assert widths[1] == pytest.approx(10.0 * widths[0])
    residuals = np.sort(np.abs(y - model.out_of_fold_[:, 0]))
    assert widths[0] == pytest.approx(2.0 * residuals[int(np.ceil(31 * 0.8)) - 1])
    with refuses("coverage", "at most n / (n + 1)", "0.99"):
        model.predict_interval(X, 0.99)
    with refuses("coverage", "share between 0 and 1", "90"):
        model.predict_interval(X, 90)
    with refuses("coverage", "greater than 0"):
        model.predict_interval(X, 0.0)


# --- limits, storage, refusals -----------------------------------------------------------------------------


def test_a_callback_sees_candidates_and_ends_the_search():
    X, y = classes()
    seen = []
    model = MKLClassifierCV(BANK, Cs=CS, norms=[1.0, 2.0], cv=3, callback=lambda entry: seen.append(entry))
    model.fit(X, y)
    assert len(seen) == np.isfinite([model.cv_results_[f"split{k}_test_score"] for k in range(3)]).sum()
    assert seen[0].keys() == {"evaluation", "params", "score", "best_score"}
    for cls in (MKLClassifierCV, MKLRidgeCV):
        stopped = cls(BANK, norms=[1.0, 2.0], callback=lambda entry: entry["evaluation"] == 2).fit(X, y)
        assert stopped.status_ == "interrupted" and stopped.estimator_.status_ == "optimal"
        assert stopped.predict(X).shape == (90,)


def test_time_for_the_last_model_is_left(monkeypatch):
    from multikernel.core.optim import loop

    now = [0.0]
    monkeypatch.setattr(loop, "clock", lambda: now[0])

    def pass_time(entry):
        now[0] += 81.0 * (entry["evaluation"] == 4)

    X, y = classes()
    model = MKLClassifierCV(BANK, max_time=100.0, callback=pass_time, norms=[1.0, 2.0])
    with pytest.warns(ConvergenceWarning, match="max_time=100 seconds ended the search"):
        model.fit(X, y)
    assert model.status_ == "max_time" and model.estimator_.status_ == "optimal"
    scores = np.column_stack([model.cv_results_[f"split{k}_test_score"] for k in range(5)])
    assert np.isnan(scores[:, 1:]).all()


def test_saved_models_answer_the_same(tmp_path):
    X, y = classes()
    target = values(90)[1]
    for model, rows in [
        (MKLClassifierCV(BANK, Cs=CS, norms=NORMS).fit(X, y), y),
        (MKLRegressorCV(BANK, Cs=CS, norms=NORMS).fit(X, target), target),
        (MKLRidgeCV(BANK, alphas=CS, norms=NORMS).fit(X, target), target),
    ]:
        save_model(model, tmp_path / "model.mk")
        for other in (load_model(tmp_path / "model.mk"), pickle.loads(pickle.dumps(model))):
            np.testing.assert_array_equal(other.predict(X), model.predict(X))
            method = "predict_proba" if hasattr(model, "predict_proba") else "predict_interval"
            np.testing.assert_array_equal(getattr(other, method)(X), getattr(model, method)(X))
            assert other.best_params_ == model.best_params_ and other.score(X, rows) == model.score(X, rows)


def test_the_one_standard_error_rule_sees_candidates_that_halving_would_leave_out():
    X, y = values(120)
    common = {"norms": [1.0, 2.0], "rule": "one_se", "random_state": 0}
    fast, slow = (MKLRegressorCV(BANK, halving=halving, **common).fit(X, y) for halving in (True, False))
    assert fast.C_ == slow.C_
    with refuses("one_se", "standard error"):
        MKLRidgeCV(BANK, rule="one_se", scoring="r2").fit(X, y)
    with refuses("one_se", "standard error"):
        MKLRegressorCV(BANK, rule="one_se", cv=[(np.arange(60), np.arange(60, 120))]).fit(X, y)


def test_a_model_of_an_earlier_fit_is_forgotten_without_refit():
    X, y = values(40)
    model = MKLRidgeCV(BANK).fit(X, y)
    model.set_params(refit=False).fit(X, y)
    assert not hasattr(model, "kernel_weights_")
    for ask in (model.predict, model.predict_interval, lambda X: model.weights_frame()):
        with pytest.raises(NotFittedError, match="refit=False"):
            ask(X)


def test_functions_that_score_take_weights_where_there_are_some():
    X, y = values(40)
    with pytest.raises(TypeError, match=r"sample_weight.*make_scorer"):
        MKLRidgeCV(BANK, cv=3, scoring=lambda e, X, y: 0.0).fit(X, y, sample_weight=np.ones(40))


def test_without_a_last_model_there_are_no_predictions():
    X, y = classes()
    model = MKLClassifierCV(BANK, Cs=CS, norms=[1.0], refit=False).fit(X, y)
    assert model.C_ in CS and not hasattr(model, "estimator_")
    with pytest.raises(NotFittedError, match="refit=False"):
        model.predict(X)


def test_kept_views_keep_their_weight():
    X, y = classes()
    bank = [View("kept", Gaussian(5.0), [0], keep=0.3), View("all", Gaussian(0.1))]
    model = MKLClassifierCV(bank, Cs=[1.0], norms=[1.0], cv=3).fit(X, y)
    assert model.kept_views_ == ["kept"] and model.kernel_weights_[0] >= 0.3 - 1e-9
    with refuses("kept views", "norm below 1"):
        MKLClassifierCV([View("a", Linear(), keep=0.6), View("b", Linear(), keep=0.6)], cv=3).fit(X, y)


def test_large_kernels_predict_by_factors_on_folds_too():
    rng = np.random.default_rng(0)
    table = 100.0 * rng.normal(size=(80, 5))
    y = (table[:, 0] * table[:, 1] + 2000.0 * rng.normal(size=80) > 0).astype(int)
    Ks = np.stack([table @ table.T, 1e-3 * (table @ table.T + 1.0) ** 2], axis=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        ours = MKLClassifierCV("precomputed", Cs=[1e6], norms=[1.0], cv=FOLDS, halving=False).fit(Ks, y)
        machine = MKLClassifier("precomputed", C=1e6)
        theirs = GridSearchCV(machine, {"C": [1e6], "norm": [1.0]}, cv=FOLDS).fit(Ks, y)
    assert theirs.best_estimator_.kernel_factors_
    assert_same_search(ours, theirs, 1e-12)


@pytest.mark.parametrize(
    ("parameters", "parts"),
    [
        ({"Cs": []}, ["Cs", "at least one value", "empty"]),
        ({"Cs": 1.0}, ["Cs", "list of values", "1.0", "in a list"]),
        ({"Cs": [1.0, -1.0]}, ["Cs", "greater than 0", "-1.0"]),
        ({"Cs": [1.0, np.inf]}, ["Cs", "finite", "inf"]),
        ({"Cs": [1.0, 1]}, ["Cs", "different values"]),
        ({"norms": [0.5]}, ["norm", "at least 1", "0.5"]),
        ({"rule": "worst"}, ["rule", "best", "one_se", "worst"]),
        ({"scoring": ["accuracy", "roc_auc"]}, ["scoring", "one score"]),
        ({"scoring": "neg_log_loss"}, ["scoring", "probabilities", "roc_auc"]),
        ({"normalizations": ["unit"]}, ["normalizations", "trace", "unit"]),
        ({"loss": "logistic"}, ["loss", "hinge", "logistic"]),
        ({"cv": 1}, ["cv", "at least 2"]),
        ({"multiclass": "joint", "loss": "squared_hinge"}, ["joint", "hinge"]),
    ],
    ids=str,
)
def test_parameters_that_are_refused(parameters, parts):
    X, y = classes(30)
    with refuses(*parts, error=(ValueError, TypeError)):
        MKLClassifierCV(BANK, **parameters).fit(X, y)


def test_other_refusals():
    X, y = classes(40)
    with refuses("normalizations", "precomputed", "unit_trace"):
        MKLClassifierCV("precomputed", normalizations=["trace"]).fit(stack(X), y)
    with refuses("scoring", "validation samples", "GridSearchCV"):
        MKLClassifierCV(BANK, scoring=lambda model, X, y: model.predict(X.copy()).mean()).fit(X, y)
    with refuses("fold 0 of cv", "2 classes"):
        MKLClassifierCV(BANK, cv=[(np.flatnonzero(y == 0), np.flatnonzero(y == 1))]).fit(X, y)
    with refuses("leave-one-out", "1 sample"):
        MKLRidgeCV("precomputed").fit(np.ones((1, 1, 2)), y[:1])


def test_a_scorer_may_read_the_table():
    X, y = load_breast_cancer(return_X_y=True)
    X, y = X[:120], y[:120]
    seen = []

    def scoring(model, table, labels):
        seen.append(table.shape)
        return accuracy_score(labels, model.predict(table))

    settings = {"Cs": [1.0], "norms": [1.0], "cv": FOLDS}
    own = MKLClassifierCV(scoring=scoring, **settings).fit(X, y)
    assert seen == [(40, 30)] * 3
    assert (
        own.best_score_
        == MKLClassifierCV(scoring=make_scorer(accuracy_score), **settings).fit(X, y).best_score_
    )

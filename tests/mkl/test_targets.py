"""Kernel weights for each of many targets: leave-one-out, folds, convex problems, gaps in Y, R² by view."""

import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, TimeSeriesSplit, cross_val_score

from multikernel import KernelBank, MKLRidge, MKLRidgeCV, View, load_model, save_model
from multikernel.kernels import Linear
from multikernel.mkl.targets.solver.basis import make_basis
from multikernel.mkl.targets.solver.search import Criterion, search

N, T = 40, 7
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 6))
TRUTH = np.zeros((6, T))
for _t in range(T):
    TRUTH[2 * (_t % 3) : 2 * (_t % 3) + 2, _t] = 1.0, -1.0
Y = X @ TRUTH + 0.5 * RNG.normal(size=(N, T)) + 3.0
VIEWS = [("a", Linear(), [0, 1]), ("b", Linear(), [2, 3]), ("c", Linear(), [4, 5])]
GRAMS = np.stack([X[:, 2 * m : 2 * m + 2] @ X[:, 2 * m : 2 * m + 2].T for m in range(3)])
STACK = np.moveaxis(GRAMS, 0, 2)
ALPHAS = (0.1, 1.0, 10.0)


def ridge_predictions(K, y, weights, alpha, intercept, train, test):
    """Weighted kernel ridge regression written out: learned from `train`, asked at `test`."""
    inverse = np.linalg.inv(K[np.ix_(train, train)] + alpha * np.diag(1.0 / weights[train]))
    ones = np.ones(train.size)
    b = (ones @ inverse @ y[train]) / (ones @ inverse @ ones) if intercept else 0.0
    return K[np.ix_(test, train)] @ inverse @ (y[train] - b) + b


def error_table(Ks, y, weights, candidates, intercept, folds):
    """Mean squared errors of all candidates and alphas by brute force (n_candidates, n_alphas)."""
    table = np.zeros((len(candidates), len(ALPHAS)))
    parts = [np.array([i]) for i in range(y.size)] if folds is None else folds
    for c, mu in enumerate(candidates):
        K = np.tensordot(mu, Ks, 1)
        for a, alpha in enumerate(ALPHAS):
            sums = []
            for test in parts:
                train = np.setdiff1d(np.arange(y.size), test)
                errors = y[test] - ridge_predictions(K, y, weights, alpha, intercept, train, test)
                sums.append((weights[test] @ errors**2, weights[test].sum()))
            sums = np.array(sums)
            means = sums[:, 0] / sums[:, 1]
            table[c, a] = sums[:, 0].sum() / weights.sum() if folds is None else means.mean()
    return table


# ---------------------------------------------------------------------- closed forms
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("rank", ["low", "full"])
@pytest.mark.parametrize("folds", [None, [np.arange(0, 5), np.arange(5, 14)]], ids=["loo", "folds"])
def test_closed_forms_are_fits_without_the_samples(intercept, weighted, rank, folds):
    rng = np.random.default_rng(1)
    n = 14
    tables = [rng.normal(size=(n, 2 if rank == "low" else 20)) for _ in range(2)]
    Ks, targets = np.stack([A @ A.T for A in tables]), rng.normal(size=(n, 2))
    weights = rng.uniform(0.5, 2.0, n) if weighted else np.ones(n)
    candidates = np.array([[0.5, 0.5], [1.0, 0.0], [0.2, 0.8]])
    basis = make_basis(Ks, targets, weights, intercept)
    assert (basis.columns is None) == (rank == "full")
    found = search(basis, candidates, np.array(ALPHAS), Criterion(folds, screen=False), lambda *_: False)
    for t in range(2):
        table = error_table(Ks, targets[:, t], weights, candidates, intercept, folds)
        np.testing.assert_allclose(found.table[:, t], table.min(axis=1), rtol=1e-9)
        c, a = np.unravel_index(table.argmin(), table.shape)
        assert (found.candidates[t], found.alphas[t]) == (c, a)


def test_the_choice_of_each_target_is_that_of_brute_force():
    candidates = np.vstack([np.eye(3), [[0.4, 0.3, 0.3]]])
    model = MKLRidgeCV(
        "precomputed", targets="each", candidates=candidates, alphas=ALPHAS, halving=False
    ).fit(STACK, Y)
    for t in range(T):
        table = error_table(GRAMS, Y[:, t], np.ones(N), candidates, True, None)
        c, a = np.unravel_index(table.argmin(), table.shape)
        assert (model.best_index_[t], model.alpha_[t]) == (c, ALPHAS[a])
        assert model.best_score_[t] == pytest.approx(-table.min(), rel=1e-9)
        K = np.tensordot(candidates[c], GRAMS, 1)
        everyone = np.arange(N)
        expected = ridge_predictions(K, Y[:, t], np.ones(N), ALPHAS[a], True, everyone, everyone)
        np.testing.assert_allclose(model.predict(STACK)[:, t], expected, atol=1e-9)
    left_out = [
        ridge_predictions(
            np.tensordot(model.candidates_[model.best_index_[0]], GRAMS, 1), Y[:, 0], np.ones(N),
            model.alpha_[0], True, np.delete(everyone, i), np.array([i]),
        )[0]
        for i in everyone
    ]  # fmt: skip
    np.testing.assert_allclose(model.out_of_fold_[:, 0], left_out, atol=1e-9)
    np.testing.assert_allclose(model.machine_weights_, model.candidates_[model.best_index_])


def test_screening_loses_little_and_the_final_choice_is_exact():
    exact = MKLRidgeCV(VIEWS, targets="each", halving=False, random_state=0).fit(X, Y)
    screened = MKLRidgeCV(VIEWS, targets="each", random_state=0).fit(X, Y)
    assert (screened.best_score_ <= exact.best_score_ + 1e-12).all()
    assert (screened.best_score_ >= 1.05 * exact.best_score_).all()
    residuals = Y - screened.out_of_fold_
    np.testing.assert_allclose(-screened.best_score_, (residuals**2).mean(axis=0))
    assert np.isnan(screened.candidate_scores_).any()


def test_float32_chooses_as_double_precision():
    double, single = (
        MKLRidgeCV(KernelBank(VIEWS, dtype=dtype), targets="each", alphas=ALPHAS, candidates=20).fit(X, Y)
        for dtype in ("float64", "float32")
    )
    np.testing.assert_allclose(single.best_score_, double.best_score_, rtol=1e-4)
    np.testing.assert_allclose(single.predict(X), double.predict(X), atol=5e-2)


def test_units_of_targets_do_not_matter():
    settings = {"targets": "each", "candidates": 10, "alphas": ALPHAS}
    for dtype, rtol in (("float64", 1e-7), ("float32", 1e-3)):
        bank = KernelBank(VIEWS, dtype=dtype)
        plain = MKLRidgeCV(bank, **settings).fit(X, Y)
        large = MKLRidgeCV(bank, **settings).fit(X, 1e30 * Y)
        np.testing.assert_array_equal(large.alpha_, plain.alpha_)
        np.testing.assert_allclose(large.best_score_, 1e60 * plain.best_score_, rtol=rtol)
        np.testing.assert_allclose(large.predict(X), 1e30 * plain.predict(X), rtol=rtol, atol=1e27)
        moved = MKLRidgeCV(bank, **settings).fit(X, Y + 1e6)
        np.testing.assert_allclose(moved.best_score_, plain.best_score_, rtol=1e-3)


def test_rows_that_are_repeated_are_left_out_one_at_a_time():
    repeated = np.r_[np.arange(N), np.arange(10)]
    candidates = np.array([[0.4, 0.3, 0.3], [0.8, 0.1, 0.1]])
    settings = dict(targets="each", candidates=candidates, alphas=ALPHAS, halving=False)
    bank = KernelBank(VIEWS, standardize=False, normalize=None)
    merged = MKLRidgeCV(bank, **settings).fit(X[repeated], Y[repeated])
    stack = STACK[np.ix_(repeated, repeated)]
    plain = MKLRidgeCV("precomputed", **settings).fit(stack, Y[repeated])  # nothing is merged here
    np.testing.assert_allclose(merged.best_score_, plain.best_score_)
    np.testing.assert_allclose(merged.out_of_fold_, plain.out_of_fold_, atol=1e-9)
    assert merged.dual_coef_.shape == (T, repeated.size)


@pytest.mark.parametrize("weights", [None, np.linspace(0.5, 2.0, N)])
def test_folds_are_those_of_the_splitter(weights):
    candidates = np.array([[0.4, 0.3, 0.3], [1.0, 0.0, 0.0]])
    groups = np.arange(N) // 4
    for cv, given in ((KFold(4), None), (GroupKFold(3), groups)):
        model = MKLRidgeCV("precomputed", targets="each", candidates=candidates, alphas=ALPHAS, cv=cv)
        model.fit(STACK, Y, sample_weight=weights, groups=given)
        folds = [test for _, test in cv.split(X, Y, given)]
        v = np.ones(N) if weights is None else weights
        for t in range(2):
            table = error_table(GRAMS, Y[:, t], v, candidates, True, folds)
            np.testing.assert_allclose(-model.candidate_scores_[:, t], table.min(axis=1), rtol=1e-8)
        assert model.n_splits_ == len(folds)


# ---------------------------------------------------------------------- the convex problem of each target
@pytest.mark.parametrize("norm", [1.0, 2.0])
def test_each_target_is_a_fit_by_itself(norm):
    model = MKLRidge(VIEWS, targets="each", norm=norm, tol=1e-6, costs=[1.0, 2.0, 1.0]).fit(X, Y)
    values = []
    for t in range(T):
        alone = MKLRidge(VIEWS, norm=norm, tol=1e-6, costs=[1.0, 2.0, 1.0]).fit(X, Y[:, t])
        values.append(alone.objective_)
        np.testing.assert_allclose(model.machine_weights_[t], alone.kernel_weights_, atol=5e-3)
        np.testing.assert_allclose(model.predict(X)[:, t], alone.predict(X), atol=5e-3)
    assert model.objective_ == pytest.approx(sum(values), rel=1e-5)
    assert model.target_gaps_.max() <= 1e-6 and model.dual_gap_ == model.target_gaps_.max()


def test_each_target_may_use_few_kernels():
    model = MKLRidge(VIEWS, targets="each", max_kernels=1).fit(X, Y[:, :3])
    assert ((model.machine_weights_ > 0.0).sum(axis=1) == 1).all()
    for t in range(3):
        alone = MKLRidge(VIEWS, max_kernels=1).fit(X, Y[:, t])
        np.testing.assert_allclose(model.machine_weights_[t], alone.kernel_weights_, atol=1e-9)


def test_gaps_of_targets_are_certificates():
    """Recomputed from weights, duals and kernels alone: the value, and the bound that the duals give."""
    alphas = np.linspace(0.5, 3.0, T)
    model = MKLRidge("precomputed", targets="each", alpha=alphas).fit(STACK, Y)
    total = 0.0
    for t in range(T):
        beta, mu, alpha = model.dual_coef_[t], model.machine_weights_[t], alphas[t]
        quadratic = np.array([beta @ K @ beta for K in GRAMS])
        residual = Y[:, t] - model.predict(STACK)[:, t]
        primal = 0.5 * residual @ residual / alpha + 0.5 * mu @ quadratic
        dual = beta @ Y[:, t] - 0.5 * alpha * beta @ beta - 0.5 * quadratic.max()
        assert abs(beta.sum()) < 1e-9
        assert (primal - dual) / primal <= model.target_gaps_[t] + 1e-9 <= model.tol + 1e-9
        total += alpha * primal
    assert model.objective_ == pytest.approx(total, rel=1e-3)


def test_refinement_is_taken_where_its_error_is_smaller():
    settings = dict(targets="each", candidates=np.eye(3), alphas=ALPHAS, halving=False)
    rough, fine = (MKLRidgeCV(VIEWS, refine=refine, **settings).fit(X, Y) for refine in (False, True))
    assert (fine.best_score_ >= rough.best_score_ - 1e-12).all()
    np.testing.assert_array_equal(fine.alpha_, rough.alpha_)
    assert fine.refined_.any() and not rough.refined_.any()
    convex = MKLRidge(VIEWS, targets="each", alpha=rough.alpha_).fit(X, Y)
    np.testing.assert_allclose(
        fine.machine_weights_[fine.refined_], convex.machine_weights_[fine.refined_], atol=0.02
    )
    assert fine.target_gaps_[fine.refined_].max() <= fine.tol


# ---------------------------------------------------------------------- gaps in targets
def with_gaps():
    frame = pd.DataFrame(Y, columns=[f"t{k}" for k in range(T)])
    frame.iloc[:5, 0] = np.nan
    frame.iloc[10:25, 3:5] = np.nan
    return frame


@pytest.mark.parametrize("estimator", [MKLRidge, MKLRidgeCV])
def test_targets_are_learned_from_where_they_are_observed(estimator):
    gaps = with_gaps()
    more = {} if estimator is MKLRidge else {"candidates": np.eye(3), "alphas": ALPHAS}
    model = estimator("precomputed", targets="each", **more).fit(STACK, gaps)
    assert model.target_names_ == list(gaps.columns)
    for t in (0, 3, 4, 5):
        rows = np.flatnonzero(gaps.iloc[:, t].notna())
        alone = estimator("precomputed", targets="each", **more).fit(STACK[np.ix_(rows, rows)], Y[rows, t])
        np.testing.assert_allclose(
            model.predict(STACK)[:, t], alone.predict(STACK[:, rows]), atol=2e-3 if not more else 1e-9
        )
        assert not model.dual_coef_[t][gaps.iloc[:, t].isna()].any()
    if more:
        np.testing.assert_array_equal(np.isnan(model.out_of_fold_), gaps.isna())
        with pytest.raises(ValueError, match="observed on the same samples"):
            MKLRidgeCV(VIEWS, targets="each", candidates=2).fit(
                X, gaps.where(np.arange(N)[:, None] % T != np.arange(T))
            ).predict_interval(X)


# ---------------------------------------------------------------------- R² by view
@pytest.mark.parametrize("weights", [None, np.linspace(0.2, 2.0, N)])
@pytest.mark.parametrize("targets", ["each", "shared"])
def test_parts_of_views_sum_up_to_r2(weights, targets):
    model = MKLRidge(VIEWS, targets=targets, alpha=2.0).fit(X[:30], Y[:30])
    parts = model.score_by_view(X, Y, weights)
    assert list(parts.columns) == ["a", "b", "c", "offset", "total"]
    whole = r2_score(Y, model.predict(X), sample_weight=weights, multioutput="raw_values")
    np.testing.assert_allclose(parts["total"], whole, atol=1e-12)
    np.testing.assert_allclose(parts.iloc[:, :4].sum(axis=1), whole, atol=1e-12)
    np.testing.assert_allclose(model.score_by_view(X[:30], Y[:30])["offset"], 0.0, atol=1e-12)
    contributions = model.contributions(X)
    assert contributions.shape == (N, T, 3)
    v = np.ones(N) if weights is None else weights
    c = contributions[:, 0] - np.average(contributions[:, 0], axis=0, weights=v)
    y = Y[:, 0] - np.average(Y[:, 0], weights=v)
    by_hand = (v[:, None] * c * (2 * y - c.sum(axis=1))[:, None]).sum(axis=0) / (v @ y**2)
    np.testing.assert_allclose(parts.iloc[0, :3].astype(float), by_hand, atol=1e-12)


def test_parts_where_targets_are_not_observed_or_constant():
    model = MKLRidgeCV(VIEWS, targets="each", candidates=5).fit(X, Y)
    gaps = with_gaps()
    parts = model.score_by_view(X, gaps)
    known = gaps["t3"].notna()
    expected = r2_score(Y[known, 3], model.predict(X)[known, 3])
    assert parts.loc["t3", "total"] == pytest.approx(expected)
    assert parts.index.name == "target"
    for constant in (2.0, 1.0, 0.1, np.nan):
        gaps["t1"] = constant
        assert model.score_by_view(X, gaps).loc["t1"].isna().all()
    with pytest.raises(ValueError, match=r"y must have the 7 target\(s\) of fit; got 2"):
        model.score_by_view(X, Y[:, :2])
    with pytest.raises(ValueError, match="same number of samples"):
        model.score_by_view(X, Y[1:])
    one = MKLRidge(VIEWS).fit(X, Y[:, 0])
    assert one.score_by_view(X, Y[:, 0])["total"].iloc[0] == pytest.approx(one.score(X, Y[:, 0]))


@pytest.mark.parametrize("make", [MKLRidge, MKLRidgeCV])
@pytest.mark.parametrize("weights", [None, np.linspace(0.2, 2.0, N)])
def test_targets_are_scored_where_they_were_observed(make, weights):
    model, gaps = make(VIEWS, targets="each").fit(X, Y), with_gaps()
    gaps.iloc[:, 0] = 4.0
    gaps.iloc[1:, 1] = np.nan  # one value has no R²
    known, predicted = gaps.notna().to_numpy(), model.predict(X)
    v = np.ones(N) if weights is None else weights
    expected = [
        r2_score(gaps.iloc[known[:, t], t], predicted[known[:, t], t], sample_weight=v[known[:, t]])
        for t in range(T)
        if t != 1
    ]
    assert model.score(X, gaps, weights) == pytest.approx(np.mean(expected))
    assert model.score(X, Y, weights) == pytest.approx(r2_score(Y, predicted, sample_weight=weights))
    assert np.isfinite(cross_val_score(clone(model), X, with_gaps(), cv=3)).all()
    with pytest.raises(ValueError, match="observed on at least 2 samples; y has none"):
        model.score(X, gaps * np.nan)
    with pytest.raises(ValueError, match=r"the 7 target\(s\) of fit; got 2"):
        model.score(X, gaps.iloc[:, 1:3])


# ---------------------------------------------------------------------- bad input
def constant():
    frame = pd.DataFrame(Y, columns=[f"t{k}" for k in range(T)])
    frame["t2"] = 5.0
    return frame


def once():
    values = Y.copy()
    values[1:, 4] = np.nan
    return values


@pytest.mark.parametrize("estimator", [MKLRidge, MKLRidgeCV])
@pytest.mark.parametrize(
    ("y", "words"),
    [
        (constant(), "target 't2' is 5 wherever it is observed"),
        (once(), "at least 2 samples; target '4' is observed on 1"),
        (np.full((N, 2), np.nan), "target '0' is observed on 0 .and 1 more targets"),
        (Y[:-1], "same number of samples; got 40 and 39"),
        (np.where(Y > 3.0, np.inf, Y), "infinity"),
        (np.r_[np.nan, Y[1:, 0]], "NaN"),
        (pd.DataFrame(Y[:, :2], columns=["u", "u"]), "distinct; 'u' is there twice"),
        (Y * 1e200, "target '0' go up to .*e.200. Rescale it"),
    ],
)
def test_targets_that_are_refused_by_name(estimator, y, words):
    with pytest.raises(ValueError, match=words):
        estimator(VIEWS, targets="each").fit(X, y)


def test_settings_that_are_refused():
    def refused(words, estimator=MKLRidgeCV, y=Y, **settings):
        with pytest.raises(ValueError, match=words):
            estimator(VIEWS, **({"targets": "each"} | settings)).fit(X, y)

    refused("targets must be one of", targets="all")
    refused("does not read norms", norms=(1.0,))
    refused("does not read scoring", scoring="r2")
    refused("does not read rule", rule="one_se")
    refused(r"shape \(n_candidates, 3\)", candidates=np.ones((2, 2)))
    refused("nonnegative and finite", candidates=-np.eye(3))
    refused("nonnegative and finite", candidates=np.zeros((1, 3)))
    refused("trains on all samples outside", cv=TimeSeriesSplit(3))
    refused("one number for each of the 7 targets", MKLRidge, alpha=[1.0, 2.0])
    refused("alpha must be greater than 0", MKLRidge, alpha=[1.0] * 6 + [0.0])
    with pytest.raises(TypeError, match="alpha must be a number"):
        MKLRidge(VIEWS, alpha=[1.0] * T).fit(X, Y)
    with pytest.raises(ValueError, match="needs a Gram stack"):
        MKLRidge(KernelBank(VIEWS, gram="low_rank"), targets="each").fit(X, Y)
    with pytest.raises(ValueError, match="groups need a cv"):
        MKLRidgeCV(VIEWS, targets="each").fit(X, Y, groups=np.arange(N))
    gaps = Y.copy()
    gaps[10:, 2] = np.nan
    refused("target '2' is observed on 0 outside of fold 0", y=gaps, cv=KFold(4))


# ---------------------------------------------------------------------- conventions
def test_kept_views_have_their_weight():
    views = [View("a", Linear(), [0, 1], keep=0.2), *VIEWS[1:]]
    model = MKLRidgeCV(views, targets="each", candidates=8, alphas=ALPHAS).fit(X, Y)
    assert model.machine_weights_[:, 0].min() >= 0.2 - 1e-12
    np.testing.assert_allclose(model.machine_weights_.sum(axis=1), 1.0)
    assert MKLRidge(views, targets="each").fit(X, Y).machine_weights_[:, 0].min() >= 0.2 - 1e-12
    with pytest.raises(ValueError, match="keep of view 'a'"):
        MKLRidgeCV(views, targets="each", candidates=np.eye(3)).fit(X, Y)


def test_conventions_of_scikit_learn(tmp_path):
    model = MKLRidgeCV(VIEWS, targets="each", candidates=8, alphas=ALPHAS)
    frame = pd.DataFrame(Y, columns=[f"t{k}" for k in range(T)])
    fitted = clone(model).fit(X, frame)
    assert fitted.predict(X).shape == (N, T)
    one = clone(model).fit(X, Y[:, 0])
    assert one.predict(X).shape == (N,) and one.out_of_fold_.shape == (N,)
    assert fitted.weights_frame().shape == (3, 2 + T)
    assert cross_val_score(model, X, Y, cv=3).min() > 0.5
    grid = GridSearchCV(MKLRidge(VIEWS, targets="each"), {"alpha": [0.1, 10.0]}, cv=3).fit(X, Y)
    assert grid.best_params_ == {"alpha": 0.1}
    save_model(fitted, tmp_path / "model.mk")
    again = load_model(tmp_path / "model.mk")
    np.testing.assert_array_equal(again.predict(X), fitted.predict(X))
    np.testing.assert_array_equal(again.score_by_view(X, Y), fitted.score_by_view(X, Y))
    assert again.target_names_ == list(frame.columns)
    assert fitted.predict_interval(X, coverage=0.8).shape == (N, T, 2)
    chosen = clone(model).set_params(refit=False).fit(X, Y)
    np.testing.assert_array_equal(chosen.alpha_, fitted.alpha_)
    shared = fitted.set_params(targets="shared").fit(X, Y)
    assert not hasattr(shared, "candidates_") and isinstance(shared.alpha_, float)


def test_a_search_that_is_stopped_has_a_model_for_each_target():
    seen = []
    model = MKLRidgeCV(VIEWS, targets="each", callback=lambda entry: seen.append(entry) or len(seen) == 3)
    model.fit(X, Y)
    assert model.status_ == "interrupted" and model.n_solves_ == 3
    assert seen[-1]["best_score"] >= seen[0]["best_score"]
    assert np.isfinite(model.predict(X)).all()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        late = MKLRidgeCV(VIEWS, targets="each", max_time=1e-6).fit(X, with_gaps())
    assert MKLRidge(VIEWS, targets="each", callback=lambda entry: True).fit(X, Y).status_ == "interrupted"
    with pytest.warns(ConvergenceWarning, match="time is over"):
        early = MKLRidge(VIEWS, targets="each", max_time=1e-9, tol=1e-9).fit(X, Y)
    assert early.status_ == "max_time" and np.isfinite(early.predict(X)).all()
    assert any("max_time" in str(warning.message) for warning in caught)
    assert late.status_ == "max_time" and np.isfinite(late.predict(X)).all()


def test_two_samples_and_one_view():
    model = MKLRidgeCV(VIEWS[:1], targets="each").fit(X[:2], Y[:2])
    assert len(model.candidates_) == 1
    np.testing.assert_allclose(model.out_of_fold_, Y[[1, 0]], atol=1e-9)
    assert MKLRidge(VIEWS[:1], targets="each").fit(X[:2], Y[:2]).predict(X).shape == (N, T)


# ---------------------------------------------------------------------- a peer
def test_folds_and_choices_are_those_of_himalaya():
    """Scores of all sets of weights, the choice and the predictions of tests/golden/make_himalaya.py."""
    golden = json.loads((Path(__file__).parents[1] / "golden" / "himalaya.json").read_text(encoding="utf-8"))
    stack, targets = np.moveaxis(np.array(golden["kernels"]), 0, 2), np.array(golden["targets"])
    model = MKLRidgeCV(
        "precomputed", targets="each", candidates=golden["candidates"], alphas=golden["alphas"],
        cv=KFold(golden["n_folds"]), fit_intercept=False,
    ).fit(stack, targets)  # fmt: skip
    np.testing.assert_allclose(model.candidate_scores_, golden["scores"], rtol=1e-6)
    theirs = np.array(golden["weights_over_alpha"])
    np.testing.assert_allclose(model.machine_weights_ / model.alpha_[:, None], theirs, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(model.predict(stack), golden["predictions"], atol=1e-6)

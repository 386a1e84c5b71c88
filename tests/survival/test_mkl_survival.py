"""MKLSurvival against cvxpy on the definitions, scikit-survival, and bad input."""

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sksurv.linear_model import CoxPHSurvivalAnalysis
from sksurv.svm import FastKernelSurvivalSVM, FastSurvivalSVM
from sksurv.util import Surv

from multikernel import KernelBank, load_model, save_model
from multikernel.core.folds import EventKFold
from multikernel.core.svm import interior_point
from multikernel.kernels import Gaussian, Linear
from multikernel.survival import MKLSurvival, MKLSurvivalCV
from tests.survival.problems import (
    comparable_pairs,
    linear_stack,
    partial_likelihood,
    ranking,
    regression,
    risk_sets,
    sample,
    views,
)

LOSSES = ["cox", "ranking", "regression"]
VIEWS = [("a", Linear(), [0, 1]), ("b", Linear(), [2, 3]), ("c", Linear(), [4, 5])]
RAW = KernelBank(VIEWS, standardize=False, normalize=None)
SHARP = {"tol": 1e-8}


def precomputed(X):
    return np.moveaxis(linear_stack(X), 0, 2)


def fitted(loss="cox", *, n=40, ties=False, entry=False, **parameters):
    X, event, time, start = sample(n, ties=ties, entry=entry)
    y = (event, time) if start is None else (event, time, start)
    return MKLSurvival("precomputed", loss=loss, **parameters).fit(precomputed(X), y)


def risk_of(loss, f, event, time, entry=None, ties="breslow"):
    """The loss as a cvxpy expression of the scores."""
    if loss == "cox":
        total = 0
        for dead, at_risk in risk_sets(event, time, entry):
            shares = np.arange(dead.size) / dead.size if ties == "efron" else np.zeros(dead.size)
            for share in shares:
                logs = np.where(np.isin(at_risk, dead), np.log1p(-share), 0.0)
                total += cp.log_sum_exp(f[at_risk] + logs)
            total -= cp.sum(f[dead])
        return total
    if loss == "ranking":
        i, j = comparable_pairs(event, time).T
        return event.size / i.size * 0.5 * cp.sum_squares(cp.pos(1.0 - f[i] + f[j]))
    residual = f + cp.Variable() + np.log(time)
    return cp.sum(cp.pos(cp.abs(residual[event]) - 0.1)) + cp.sum(cp.pos(residual[~event] - 0.1))


@pytest.mark.parametrize("norm", [1.0, 2.0])
@pytest.mark.parametrize(
    ("loss", "options"),
    [
        ("cox", {}),
        ("cox", {"ties": "efron"}),
        ("cox", {"entry": True}),
        ("ranking", {}),
        ("regression", {}),
    ],
)
def test_value_and_weights_are_those_of_the_definition(loss, options, norm):
    entry, ties = options.get("entry", False), options.get("ties", "breslow")
    X, event, time, start = sample(ties=True, entry=entry)
    parts = [cp.Variable(Z.shape[1]) for Z in views(X)]
    f = sum(Z @ w for Z, w in zip(views(X), parts, strict=True))
    r = 2 * norm / (norm + 1.0)
    sizes = cp.hstack([cp.norm(w) for w in parts])
    total = 0.5 * cp.square(cp.pnorm(sizes, r)) + 0.3 * risk_of(loss, f, event, time, start, ties)
    value = cp.Problem(cp.Minimize(total)).solve(solver="CLARABEL")
    y = (event, time) if start is None else (event, time, start)
    model = MKLSurvival("precomputed", loss=loss, C=0.3, norm=norm, ties=ties, **SHARP).fit(precomputed(X), y)
    assert model.status_ == "optimal" and model.objective_ == pytest.approx(value, rel=2e-6)
    norms = np.array([np.linalg.norm(w.value) for w in parts])
    expected = norms ** (2.0 / (norm + 1.0))
    np.testing.assert_allclose(model.kernel_weights_, expected / np.linalg.norm(expected, norm), atol=1e-3)


@pytest.mark.parametrize("ties", ["breslow", "efron"])
def test_one_linear_kernel_is_ridge_cox(ties):
    X, event, time, _ = sample(120, ties=True)
    model = MKLSurvival("precomputed", C=0.5, ties=ties, tol=1e-10).fit((X @ X.T)[:, :, None], (event, time))
    peer = CoxPHSurvivalAnalysis(alpha=2.0, ties=ties, tol=1e-12, n_iter=200)
    peer.fit(X, Surv.from_arrays(event, time))
    coef = X[model.support_].T @ model.dual_coef_[0]
    np.testing.assert_allclose(coef, peer.coef_, atol=1e-5)


def test_survival_functions_are_those_of_ridge_cox():
    X, event, time, _ = sample(120, ties=True)
    model = MKLSurvival("precomputed", C=0.5, tol=1e-10).fit((X @ X.T)[:, :, None], (event, time))
    peer = CoxPHSurvivalAnalysis(alpha=2.0, tol=1e-12, n_iter=200).fit(X, Surv.from_arrays(event, time))
    new = np.random.default_rng(7).normal(size=(5, 6))
    at = np.quantile(time, [0.1, 0.5, 0.9])
    K = (new @ X.T)[:, :, None]
    expected = np.array([curve(at) for curve in peer.predict_survival_function(new)])
    np.testing.assert_allclose(model.predict_survival_function(K, at), expected, atol=1e-5)
    hazards = np.array([curve(at) for curve in peer.predict_cumulative_hazard_function(new)])
    np.testing.assert_allclose(model.predict_cumulative_hazard(K, at), hazards, rtol=1e-4)
    assert (np.diff(model.predict_cumulative_hazard(K), axis=1) > 0.0).all()
    assert (model.predict_cumulative_hazard(K, [0.0]) == 0.0).all()


@pytest.mark.parametrize("kind", ["linear", "kernel"])
def test_ranking_is_the_survival_svm(kind):
    """Without ties in time, of which the peer leaves out pairs of an event and a censored sample."""
    X, event, time, _ = sample(60)
    K = X @ X.T if kind == "linear" else np.exp(-0.1 * np.square(X[:, None] - X[None]).sum(axis=2))
    alpha = 0.7 * event.size / len(comparable_pairs(event, time))
    y = Surv.from_arrays(event, time)
    options = {"alpha": alpha, "rank_ratio": 1.0, "tol": 1e-12, "max_iter": 500}
    model = MKLSurvival("precomputed", loss="ranking", C=0.7, tol=1e-9).fit(K[:, :, None], y)
    if kind == "linear":
        expected = X @ FastSurvivalSVM(**options).fit(X, y).coef_
    else:
        expected = FastKernelSurvivalSVM(kernel="precomputed", **options).fit(K, y).predict(K)
    scores = model.predict(K[:, :, None])
    expected = expected if scores @ (expected - expected.mean()) > 0.0 else -expected
    np.testing.assert_allclose(scores - scores.mean(), expected - expected.mean(), atol=2e-4)


@pytest.mark.parametrize("norm", [1.0, 2.0, np.inf])
@pytest.mark.parametrize("loss", LOSSES)
def test_certificate_holds_from_outside(loss, norm):
    """Both bounds from weights, dual coefficients and kernels alone."""
    X, event, time, _ = sample(ties=True)
    Ks = linear_stack(X)
    model = fitted(loss, ties=True, norm=norm, C=2.0, tol=1e-6)
    beta = np.zeros(40)
    beta[model.support_] = model.dual_coef_[0]
    f = np.einsum("m,mij,j->i", model.kernel_weights_, Ks, beta)
    half = 0.5 * model.kernel_weights_ @ [beta @ K @ beta for K in Ks]
    if loss == "cox":
        upper = half + 2.0 * partial_likelihood(f, event, time)
    elif loss == "ranking":
        upper = half + 2.0 * ranking(f, event, time)
    else:
        upper = half + 2.0 * regression(f + model.intercept_[0], event, time, 0.1)
    assert model.objective_ <= upper * (1.0 + 1e-9)
    assert upper - model.objective_ <= 2e-6 * abs(upper)
    if loss == "regression":
        assert abs(beta.sum()) < 1e-9
        assert (beta <= np.where(event, 2.0, 0.0)).all() and (beta >= -2.0).all()


@pytest.mark.parametrize("loss", LOSSES)
def test_targets_in_any_form_give_the_same_model(loss):
    X, event, time, _ = sample()
    model = MKLSurvival(VIEWS, loss=loss)
    expected = model.fit(X, (event, time)).predict(X)
    frame = pd.DataFrame({"died": event, "months": time})
    for y in (Surv.from_arrays(event, time), frame, {"event": event.astype(int), "time": time}):
        np.testing.assert_array_equal(clone(model).fit(X, y).predict(X), expected)
    assert 0.6 < model.score(X, frame) <= 1.0


def test_contributions_sum_to_the_risk():
    X, event, time, _ = sample()
    for loss in LOSSES:
        model = MKLSurvival(VIEWS, loss=loss, norm=2.0).fit(X, (event, time))
        parts = model.contributions(X)
        assert parts.shape == (40, 3)
        np.testing.assert_allclose(parts.sum(axis=1) + model.intercept_[0], model.predict(X), atol=1e-10)
    assert model.weights_frame()["weight"].tolist() == model.kernel_weights_.tolist()


@pytest.mark.parametrize("loss", LOSSES)
def test_weights_are_repetitions(loss):
    X, event, time, _ = sample(ties=True)
    counts = np.random.default_rng(5).integers(0, 3, size=40)
    rows = np.repeat(np.arange(40), counts)
    model = MKLSurvival(RAW, loss=loss, tol=1e-9)
    weighted = clone(model).fit(X, (event, time), sample_weight=counts)
    repeated = clone(model).fit(X[rows], (event[rows], time[rows]))
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), atol=1e-6)
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-9)


def test_strata_have_baselines_of_their_own():
    X, event, time, _ = sample(120)
    strata = np.where(np.arange(120) % 2, "men", "women")
    model = MKLSurvival(RAW, C=0.5, norm=np.inf, tol=1e-9).fit(X, (event, time), strata=strata)
    f = model.predict(X)
    value = partial_likelihood(f, event, time, stratum=(strata == "men").astype(int))
    Ks, beta = linear_stack(X), np.zeros(120)
    beta[model.support_] = model.dual_coef_[0]
    assert model.objective_ == pytest.approx(0.5 * beta @ Ks.sum(axis=0) @ beta + 0.5 * value, rel=1e-7)
    assert model.strata_.tolist() == ["men", "women"] and model.baseline_hazard_.shape[0] == 2
    men = strata == "men"
    at = np.unique(time[event & men])
    jumps = [(event & men & (time == t)).sum() / np.exp(f[men & (time >= t)]).sum() for t in at]
    found = model.predict_cumulative_hazard(X[:1], at, strata=["men"])
    np.testing.assert_allclose(found[0], np.exp(f[0]) * np.cumsum(jumps), rtol=1e-9)
    with pytest.raises(ValueError, match="pass that of each sample"):
        model.predict_survival_function(X)
    with pytest.raises(ValueError, match="'child' was not seen in fit"):
        model.predict_survival_function(X[:1], strata=["child"])


def test_entry_times_leave_samples_out_of_earlier_risk_sets():
    X, event, time, start = sample(60, entry=True)
    model = MKLSurvival(RAW, C=0.5, norm=np.inf, tol=1e-9).fit(
        X, {"event": event, "time": time, "entry": start}
    )
    f, beta = model.predict(X), np.zeros(60)
    beta[model.support_] = model.dual_coef_[0]
    value = 0.5 * beta @ linear_stack(X).sum(axis=0) @ beta
    value += 0.5 * partial_likelihood(f, event, time, entry=start)
    assert model.objective_ == pytest.approx(value, rel=1e-7)
    jumps = [
        (event & (time == t)).sum() / np.exp(f[(start < t) & (time >= t)]).sum() for t in model.event_times_
    ]
    np.testing.assert_allclose(model.baseline_hazard_[0], np.cumsum(jumps), rtol=1e-9)


def test_bands_hold_the_curve():
    X, event, time, _ = sample(60)
    model = MKLSurvival(VIEWS).fit(X, (event, time))
    options = {"times": [0.3, 0.8], "n_bootstraps": 15, "random_state": 0}
    bands = model.predict_survival_bands(X[:4], X, (event, time), **options)
    again = model.predict_survival_bands(X[:4], X, (event, time), **options)
    np.testing.assert_array_equal(bands, again)
    assert bands.shape == (4, 2, 2) and (bands[..., 0] < bands[..., 1]).all()
    wide = model.predict_survival_bands(X[:4], X, (event, time), confidence=0.5, **options)
    assert (wide[..., 0] >= bands[..., 0]).all() and (wide[..., 1] <= bands[..., 1]).all()


def test_scores_by_folds_and_grids():
    X, event, time, _ = sample(60)
    y = Surv.from_arrays(event, time)
    folds = EventKFold(3)
    scores = cross_val_score(MKLSurvival(VIEWS), X, y, cv=folds)
    assert scores.shape == (3,) and scores.mean() > 0.6
    search = GridSearchCV(MKLSurvival(VIEWS), {"C": [0.01, 1.0], "loss": LOSSES}, cv=folds).fit(X, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_saved_models_are_the_same(tmp_path):
    X, event, time, _ = sample()
    strata = np.arange(40) % 2
    model = MKLSurvival([Linear(), Gaussian()]).fit(X, (event, time), strata=strata)
    save_model(model, tmp_path / "model.mk")
    loaded = load_model(tmp_path / "model.mk")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    first, second = (m.predict_survival_function(X, strata=strata) for m in (model, loaded))
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("missing", ["renormalize", "absent", "mean", "complete"])
@pytest.mark.parametrize("loss", LOSSES)
def test_samples_may_lack_views(loss, missing):
    X, event, time, _ = sample(60)
    X[:20, :2] = np.nan
    X[30:40, 4:] = np.nan
    model = MKLSurvival(KernelBank(VIEWS, missing=missing), loss=loss, norm=2.0).fit(X, (event, time))
    assert model.missing_ == missing and np.isfinite(model.predict(X)).all()
    if loss == "cox":
        risk = np.exp(model.predict(X))
        jumps = [(event & (time == t)).sum() / risk[time >= t].sum() for t in model.event_times_]
        np.testing.assert_allclose(model.baseline_hazard_[0], np.cumsum(jumps), rtol=1e-6)
    assert model.score(X, (event, time)) > 0.6


def test_costs_and_kept_views():
    X, event, time, _ = sample(60)
    plain = MKLSurvival(VIEWS, norm=2.0).fit(X, (event, time))
    dear = MKLSurvival(VIEWS, norm=2.0, costs={"a": 10.0}).fit(X, (event, time))
    assert dear.kernel_weights_[0] < 0.2 * plain.kernel_weights_[0]


# ---------------------------------------------------------------------- bad input
def test_bad_times():
    X, event, time, _ = sample()
    model = MKLSurvival(VIEWS).fit(X, (event, time))
    assert model.predict_survival_function(X[:2], 1.0).shape == (2, 1)
    with pytest.raises(ValueError, match="finite"):
        model.predict_survival_function(X, [np.nan])
    with pytest.raises(ValueError, match="times must be numeric"):
        model.predict_survival_function(X, ["soon"])


@pytest.mark.parametrize("loss", LOSSES)
def test_few_samples(loss):
    X, y = np.array([[0.0], [1.0]]), ([True, False], [1.0, 2.0])
    model = MKLSurvival([Linear()], loss=loss).fit(X, y)
    assert model.predict(X)[0] >= model.predict(X)[1] and model.status_ == "optimal"
    one_event = MKLSurvival([Linear()], loss=loss).fit([[0.0], [1.0], [2.0]], ([0, 1, 0], [3.0, 1.0, 2.0]))
    assert one_event.n_events_ == 1


@pytest.mark.parametrize("loss", LOSSES)
def test_heavy_ties(loss):
    X, event, time, _ = sample(60)
    time = np.ceil(time)
    for ties in ("breslow", "efron"):
        model = MKLSurvival(VIEWS, loss=loss, ties=ties, tol=1e-6).fit(X, (event, time))
        assert model.status_ == "optimal" and model.dual_gap_ <= 1e-6


@pytest.mark.parametrize("loss", LOSSES)
def test_order_of_samples_does_not_matter(loss):
    X, event, time, _ = sample(ties=True)
    order = np.random.default_rng(0).permutation(40)
    first = MKLSurvival(VIEWS, loss=loss).fit(X, (event, time)).predict(X)
    second = MKLSurvival(VIEWS, loss=loss).fit(X[order], (event[order], time[order])).predict(X)
    np.testing.assert_allclose(first, second, atol=1e-9)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (([0, 0, 0, 0], [1.0, 2.0, 3.0, 4.0]), "all 4 samples of y are censored"),
        (([1, 0, 1, 0], [1.0, 2.0, -3.0, 4.0]), "row 2 has -3"),
        (([1, 0, 1, 0], [1.0, np.nan, 3.0, 4.0]), "row 1 has nan"),
        (([1, 0, 1, 0], [0.0, 2.0, 3.0, 4.0]), "time 0 in row 0"),
        (([1, 0], [1.0, 2.0]), "same number of samples; got 4 and 2"),
        (
            ([0, 0, 0, 1], [1.0, 2.0, 3.0, 4.0]),
            "event at which other samples of the same stratum are at risk",
        ),
        (np.arange(4.0), "must hold an event and a time"),
        (None, "requires y to be passed"),
    ],
)
def test_bad_targets(y, message):
    with pytest.raises(ValueError, match=message):
        MKLSurvival([Linear()]).fit(np.eye(4), y)


def test_events_that_nobody_else_is_at_risk_of():
    y = {"event": [1, 1, 0, 1], "time": [1.0, 2.0, 3.0, 4.0]}
    model = MKLSurvival([Gaussian()])
    with pytest.raises(ValueError, match="Use more samples, or fewer strata"):
        model.fit(np.eye(4)[:, :2], y, strata=["p", "q", "r", "s"])
    with pytest.raises(ValueError, match="other samples of the same stratum"):
        model.fit(np.eye(4)[:, :2], {**y, "entry": [0.0, 1.0, 2.0, 3.0]})
    with pytest.raises(ValueError, match="other samples of the same stratum"):
        model.fit(np.eye(4)[:, :2], y, sample_weight=[0.0, 0.0, 0.0, 1.0])
    assert model.fit(np.eye(4)[:, :2], ([0, 0, 1, 1], [1.0, 2.0, 4.0, 4.0])).n_events_ == 2
    assert model.fit(np.eye(4)[:, :2], {**y, "entry": [0.0, 1.0, 1.5, 3.0]}).n_events_ == 3


def test_stratified_splitters_take_the_events():
    X, event, time, _ = sample(40)
    search = MKLSurvivalCV(VIEWS, Cs=[0.1, 1.0], norms=[1.0], cv=StratifiedKFold(3))
    ours = clone(search).set_params(cv=list(StratifiedKFold(3).split(X, event)))
    same = [model.fit(X, (event, time)).best_score_ for model in (search, ours)]
    assert same[0] == same[1]


def test_time_zero():
    y = ([1, 0, 1, 0], [1.0, 0.0, 3.0, 4.0])
    for loss in ("cox", "ranking"):
        assert MKLSurvival([Gaussian()], loss=loss).fit(np.eye(4)[:, :2], y).n_events_ == 2
    with pytest.raises(ValueError, match="positive times; y has time 0 in row 1"):
        MKLSurvival([Linear()], loss="regression").fit(np.eye(4), y)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"loss": "hinge"}, "loss must be one of"),
        ({"ties": "exact"}, "ties must be one of"),
        ({"C": 0.0}, "C must be greater than 0"),
        ({"epsilon": -1.0}, "epsilon must be at least 0"),
        ({"norm": 0.5}, "norm must be at least 1"),
    ],
)
def test_bad_parameters(parameters, message):
    X, event, time, _ = sample()
    with pytest.raises(ValueError, match=message):
        MKLSurvival(VIEWS, **parameters).fit(X, (event, time))


def test_what_needs_cox():
    X, event, time, start = sample(entry=True)
    model = MKLSurvival(VIEWS, loss="ranking")
    with pytest.raises(ValueError, match='entry times need loss="cox"'):
        model.fit(X, (event, time, start))
    with pytest.raises(ValueError, match='strata need loss="cox"'):
        model.fit(X, (event, time), strata=np.zeros(40))
    assert not hasattr(model.fit(X, (event, time)), "predict_survival_function")
    model = MKLSurvival(VIEWS).fit(X, (event, time))
    assert not hasattr(model.set_params(loss="ranking").fit(X, (event, time)), "event_times_")
    pairless = ([True, True], [2.0, 2.0])
    with pytest.raises(ValueError, match="a pair of samples that can be compared"):
        MKLSurvival([Linear()], loss="ranking").fit([[0.0], [1.0]], pairless)


def test_limits():
    X, event, time, _ = sample(60)
    model = MKLSurvival(VIEWS, tol=1e-12, max_iter=2)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        model.fit(X, (event, time))
    assert model.status_ == "max_iter" and len(model.history_) == model.n_iter_
    seen = []
    model = MKLSurvival(VIEWS, tol=1e-12, callback=lambda entry: seen.append(entry) or len(seen) == 3)
    assert model.fit(X, (event, time)).status_ == "interrupted" and len(seen) == 3


# ---------------------------------------------------------------------- penalty and norm by cross-validation
GRID = {"Cs": [0.01, 0.3], "norms": [1.0, np.inf], "cv": 3}


@pytest.mark.parametrize("loss", LOSSES)
def test_without_halving_it_is_a_grid_search(loss):
    X, event, time, _ = sample(60, ties=True)
    K, y = precomputed(X), Surv.from_arrays(event, time)
    folds = list(EventKFold(3).split(K, y))
    model = MKLSurvivalCV("precomputed", loss=loss, halving=False, **(GRID | {"cv": folds})).fit(K, y)
    grid = {"C": GRID["Cs"], "norm": GRID["norms"]}
    search = GridSearchCV(MKLSurvival("precomputed", loss=loss), grid, cv=folds).fit(K, y)
    expected = search.cv_results_["mean_test_score"]
    np.testing.assert_allclose(model.cv_results_["mean_test_score"], expected, atol=1e-12)
    assert model.best_params_ == search.best_params_


@pytest.mark.parametrize("loss", LOSSES)
def test_the_last_model_of_a_search(loss):
    X, event, time, _ = sample(60)
    model = MKLSurvivalCV(VIEWS, loss=loss, **GRID).fit(X, (event, time))
    again = MKLSurvival(VIEWS, loss=loss, C=model.C_, norm=model.norm_).fit(X, (event, time))
    np.testing.assert_allclose(model.predict(X), again.predict(X), atol=1e-12)
    assert model.score(X, (event, time)) == again.score(X, (event, time))
    assert np.isfinite(model.out_of_fold_).all() and model.best_score_ > 0.6
    if loss == "cox":
        curves = [m.predict_survival_function(X, [0.5]) for m in (model, again)]
        np.testing.assert_array_equal(*curves)
    else:
        assert not hasattr(model, "predict_survival_function")


def test_folds_of_a_search_share_the_events():
    X, event, time, _ = sample(60)
    few = np.zeros(60, bool)
    few[np.argsort(time)[:4]] = True
    model = MKLSurvivalCV(VIEWS, Cs=[0.1], norms=[1.0, 2.0]).fit(X, (few, time))
    assert model.n_splits_ == 4
    with pytest.raises(ValueError, match="at least 2 samples with an event"):
        MKLSurvivalCV(VIEWS).fit(X, (np.arange(60) == np.argmin(time), time))
    weights = np.where(np.arange(60) < 50, 1.0, 0.0)
    weighted = MKLSurvivalCV(VIEWS, **GRID).fit(X, (event, time), sample_weight=weights)
    assert np.isnan(weighted.out_of_fold_[50:]).all()


def test_saved_searches_are_the_same(tmp_path):
    X, event, time, _ = sample(60)
    model = MKLSurvivalCV(VIEWS, **GRID).fit(X, (event, time))
    save_model(model, tmp_path / "model.mk")
    loaded = load_model(tmp_path / "model.mk")
    np.testing.assert_array_equal(loaded.predict_survival_function(X), model.predict_survival_function(X))


@pytest.mark.parametrize("C", [1e-6, 1e2, 1e4])
@pytest.mark.parametrize("loss", LOSSES)
def test_small_and_large_penalties(loss, C):
    """A ranking of large C leaves conjugate gradients too many steps: its Hessian is then factorized."""
    X, event, time, _ = sample(100)
    model = MKLSurvival([*VIEWS, ("d", Gaussian(), [0, 1, 2])], loss=loss, C=C).fit(X, (event, time))
    assert model.status_ == "optimal" and model.dual_gap_ <= 1e-3


def test_ranking_by_conjugate_gradients_and_by_factors_are_the_same(monkeypatch):
    X, event, time, _ = sample(100)
    models = []
    for share in (1, 10**6):  # all products that it takes, or none
        monkeypatch.setattr(interior_point, "_FEWER", share)
        models.append(MKLSurvival([*VIEWS, Gaussian()], loss="ranking", tol=1e-8).fit(X, (event, time)))
    np.testing.assert_allclose(models[0].predict(X), models[1].predict(X), atol=1e-4)
    assert models[0].objective_ == pytest.approx(models[1].objective_, rel=1e-7)

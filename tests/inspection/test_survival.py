"""Scores and curves of censored times: scikit-survival is the judge, on data with and without ties."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm
from sksurv import metrics
from sksurv.compare import compare_survival
from sksurv.datasets import load_gbsg2, load_veterans_lung_cancer
from sksurv.nonparametric import CensoringDistributionEstimator, kaplan_meier_estimator
from sksurv.util import Surv

from multikernel.core.concordance import concordance_index, concordance_influence
from multikernel.core.survival_targets import as_survival
from multikernel.inspection import (
    brier_curve,
    concordance_index_ipcw,
    concordance_interval,
    concordance_test,
    cumulative_dynamic_auc,
    integrated_brier_score,
    kaplan_meier,
    logrank_test,
    risk_groups,
    survival_calibration,
)


def draw(seed, n=80, *, ties=True):
    """Censored times, and risks that say something of them."""
    rng = np.random.default_rng(seed)
    life, censoring = rng.exponential(size=n), rng.exponential(1.5, size=n)
    time = np.minimum(life, censoring)
    risk = -np.log(life) + rng.normal(size=n)
    if ties:
        time, risk = np.ceil(4.0 * time), np.round(risk, 1)
    return Surv.from_arrays(life <= censoring, time), risk


seeds = st.integers(0, 10**6)


# ---------------------------------------------------------------------- curves
@given(seeds, st.booleans())
def test_kaplan_meier_and_its_band(seed, ties):
    y, _ = draw(seed, ties=ties)
    times, survival, (low, high) = kaplan_meier_estimator(
        y["event"], y["time"], conf_type="log-log", conf_level=0.9
    )
    curve = kaplan_meier(y, level=0.1)
    np.testing.assert_array_equal(curve.times, times)
    for found, expected in ((curve.survival, survival), (curve.low, low), (curve.high, high)):
        np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_kaplan_meier_with_entry_times(seed):
    y, _ = draw(seed)
    entry = np.floor(y["time"] * np.random.default_rng(seed).random(80) * 0.99)
    times, survival = kaplan_meier_estimator(y["event"], y["time"], entry)
    curve = kaplan_meier((y["event"], y["time"], entry))
    np.testing.assert_allclose(curve.at(times[times <= y["time"].max()]), survival, atol=1e-12)


def test_a_curve_between_and_after_its_steps():
    curve = kaplan_meier(([1, 0, 1, 0], [1.0, 2.0, 3.0, 4.0]))
    np.testing.assert_allclose(curve.at([0.0, 0.9, 1.0, 2.5, 3.0, 4.0]), [1, 1, 0.75, 0.75, 0.375, 0.375])
    assert np.isnan(curve.at(4.1))
    assert curve.number_at_risk([0.0, 1.0, 1.5, 4.0, 5.0]).tolist() == [4, 4, 3, 1, 0]
    assert (curve.median, np.isnan(kaplan_meier(([1, 0, 0], [1, 2, 3])).median)) == (3.0, True)
    low, high = curve.band_at([0.5, 3.0])
    assert low[0] == high[0] == 1.0
    assert 0.0 < low[1] < 0.375 < high[1] < 1.0


def test_all_censored_and_one_sample():
    assert kaplan_meier(([0, 0], [1.0, 2.0])).survival.tolist() == [1.0, 1.0]
    assert kaplan_meier(([1], [1.0])).survival.tolist() == [0.0]


@given(seeds, st.integers(2, 4))
def test_log_rank(seed, n_groups):
    y, risk = draw(seed)
    groups = np.floor(n_groups * norm.cdf(risk)).astype(int)
    if np.unique(groups).size < 2:
        return
    statistic, pvalue, table, _ = compare_survival(y, groups, return_stats=True)
    found = logrank_test(y, groups)
    np.testing.assert_allclose([found.statistic, found.pvalue], [statistic, pvalue], rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(found.table["expected"], table["expected"])
    np.testing.assert_array_equal(found.table["events"], table["observed"])
    assert found.df == np.unique(groups).size - 1


def test_groups_that_cannot_be_told_apart():
    found = logrank_test(([1, 0, 1], [1.0, 2.0, 3.0]), ["a", "b", "a"])
    assert 0.0 <= found.pvalue <= 1.0
    assert logrank_test(([0, 0, 0], [1.0, 2.0, 3.0]), [0, 1, 1]).pvalue == 1.0
    for groups, words in (
        (["a"] * 3, "two at least"),
        ([1, 2], "each of the 3 samples"),
        ([1, 2, None], "entry 2"),
    ):
        with pytest.raises(ValueError, match=words):
            logrank_test(([1, 0, 1], [1.0, 2.0, 3.0]), groups)


def test_risk_groups():
    risk = np.arange(9.0)
    assert [str(g).split()[0] for g in risk_groups(risk, 3)] == ["low"] * 3 + ["medium"] * 3 + ["high"] * 3
    assert list(risk_groups([5.0, 0.0], reference=risk)) == ["high risk", "low risk"]
    assert len(set(risk_groups(np.zeros(5)))) == 1
    assert risk_groups(risk, 5).categories[0] == "risk 1 of 5"
    table = logrank_test((np.ones(9, bool), risk + 1.0), risk_groups(-risk, 3)).table
    assert list(table.index) == ["low risk", "medium risk", "high risk"]
    with pytest.raises(ValueError, match="from 2 to 5; got 9"):
        risk_groups(risk, 9)


# ---------------------------------------------------------------------- scores by inverse probability weights
@given(seeds, st.booleans())
def test_uno_and_auc_and_brier(seed, ties):
    y_train, _ = draw(seed, 120, ties=ties)
    y, risk = draw(seed + 1, ties=ties)
    last = min(y_train["time"].max(), y["time"].max())
    times = np.quantile(y["time"], [0.2, 0.35, 0.5])
    times = np.unique(times[(times < last) & (times > y["time"].min())])
    if not times.size or not (y["event"] & (y["time"] <= times[0])).any():
        return
    tau = times[-1]
    expected = metrics.concordance_index_ipcw(y_train, y, risk, tau=tau)[0]
    assert concordance_index_ipcw(y_train, y, risk, tau=tau) == pytest.approx(expected, abs=1e-12)

    inside = y["time"] < y_train["time"].max()  # for others scikit-survival has no weights
    auc, mean = metrics.cumulative_dynamic_auc(y_train, y[inside], risk[inside], times)
    found = cumulative_dynamic_auc(y_train, y[inside], risk[inside], times)
    np.testing.assert_allclose(found.auc, auc, atol=1e-12)
    assert found.mean == pytest.approx(mean, abs=1e-12)

    survival = np.exp(-np.outer(np.exp(risk[inside]), times))
    _, brier = metrics.brier_score(y_train, y[inside], survival, times)
    curve = brier_curve(y_train, y[inside], survival, times)
    np.testing.assert_allclose(curve.score, brier, atol=1e-12)
    if times.size > 1:
        integrated = metrics.integrated_brier_score(y_train, y[inside], survival, times)
        assert curve.integrated == pytest.approx(integrated, abs=1e-12)
        assert integrated_brier_score(y_train, y[inside], survival, times) == curve.integrated


@pytest.mark.parametrize("load", [load_veterans_lung_cancer, load_gbsg2])
def test_real_patients(load):
    X, y = load()
    numbers = X.select_dtypes("number")
    risk = ((numbers - numbers.mean()) / numbers.std()).sum(axis=1).to_numpy()
    event, time = y.dtype.names
    tau = float(np.quantile(y[time], 0.8))
    assert concordance_index(y, risk) == metrics.concordance_index_censored(y[event], y[time], risk)[0]
    assert concordance_index_ipcw(y, y, risk, tau=tau) == pytest.approx(
        metrics.concordance_index_ipcw(y, y, risk, tau=tau)[0], abs=1e-12
    )
    np.testing.assert_allclose(kaplan_meier(y).survival, kaplan_meier_estimator(y[event], y[time])[1])
    found = logrank_test(y, X.iloc[:, 0].astype(str).to_numpy())
    assert found.statistic == pytest.approx(compare_survival(y, X.iloc[:, 0].astype(str).to_numpy())[0])


def test_an_auc_with_a_risk_for_each_time():
    y, risk = draw(3, ties=False)
    times = np.quantile(y["time"], [0.3, 0.5])
    both = np.column_stack([risk, -risk])
    inside = y["time"] < y["time"].max()
    expected, _ = metrics.cumulative_dynamic_auc(y, y[inside], both[inside], times)
    np.testing.assert_allclose(cumulative_dynamic_auc(y, y[inside], both[inside], times).auc, expected)


def test_the_reference_of_the_brier_score_is_kaplan_meier():
    y, _ = draw(4, ties=False)
    times = np.quantile(y["time"], [0.2, 0.4, 0.6])
    plain = np.tile(kaplan_meier(y).at(times), (len(y), 1))
    curve = brier_curve(y, y, plain, times)
    np.testing.assert_array_equal(curve.score, curve.reference)
    assert curve.explained == 0.0
    frame = pd.DataFrame(plain, columns=times)
    np.testing.assert_array_equal(brier_curve(y, y, frame, times).score, curve.score)
    one = brier_curve(y, y, plain[:, 0], times[0])
    assert one.integrated == pytest.approx(curve.score[0], abs=1e-15)


def test_uno_does_not_depend_on_the_censoring():
    """The same lives, censored more and less: Harrell's C moves, Uno's stays (n large)."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=20000)
    life = rng.exponential(size=20000) ** 0.5 * np.exp(-x * (rng.random(20000) < 0.5))
    found = []
    for scale in (0.4, 4.0):
        censoring = rng.exponential(scale, size=20000)
        y = (life <= censoring, np.minimum(life, censoring))
        found.append((concordance_index(y, x), concordance_index_ipcw(y, y, x, tau=1.0)))
    uncensored = (np.ones(20000, bool), life)
    truth = concordance_index_ipcw(uncensored, uncensored, x, tau=1.0)
    uno = [u for _, u in found]
    assert max(abs(u - truth) for u in uno) < 0.01
    assert abs(found[0][0] - truth) > 0.01


REFUSED = [
    (lambda y, r: concordance_index_ipcw(y[:9], y, r), "not before their last censoring.* Pass tau"),
    (lambda y, r: cumulative_dynamic_auc(y, y, r, [2.0, 1.0]), "times must be increasing"),
    (lambda y, r: cumulative_dynamic_auc(y, y, r, [1e-9]), "has no event until then"),
    (
        lambda y, r: cumulative_dynamic_auc(y, y, r, [1e9]),
        "Choose times before that|no sample that is observed",
    ),
    (
        lambda y, r: cumulative_dynamic_auc(y, y, np.zeros((80, 3)), [1.0]),
        "one column for each of the 1 times",
    ),
    (lambda y, r: brier_curve(y, y, r, [1.0]), "must hold probabilities from 0 to 1; row"),
    (lambda y, r: brier_curve(y, y, np.full((80, 1), np.nan), [1.0]), "row 0, column 0 is nan"),
    (lambda y, r: brier_curve(y, y, np.full((80, 2), 0.5), [1.0]), "a row for each of the 80 samples"),
    (lambda y, r: brier_curve(y, y, np.full((80, 1), 0.5), [1e9]), "Choose times before that"),
    (lambda y, r: concordance_index_ipcw((y["event"], y["time"], y["time"] / 2), y, r), "entry times"),
    (lambda y, r: concordance_index_ipcw(y, (y["event"], y["time"], y["time"] / 2), r), "entry times"),
    (lambda y, r: survival_calibration(y, np.full(80, 0.5), 1e9), "time must be at most"),
    (lambda y, r: survival_calibration(y, r, 1.0), "Risk scores are no probabilities"),
    (lambda y, r: survival_calibration(y, np.full(80, 0.5), -1.0), "time must be greater than 0"),
]


@pytest.mark.parametrize(("call", "words"), REFUSED)
def test_what_cannot_be_scored_is_said(call, words):
    y, risk = draw(0, ties=False)
    with pytest.raises(ValueError, match=words):
        call(y, risk)


def test_the_censoring_curve_is_that_of_scikit_survival():
    from multikernel.inspection.survival.scores import Censoring

    for seed in range(5):
        y, _ = draw(seed)
        expected = CensoringDistributionEstimator().fit(y)
        inner = np.unique(y["time"])[:-1]
        np.testing.assert_allclose(Censoring(y).at(inner, ""), expected.predict_proba(inner), atol=1e-14)


# ---------------------------------------------------------------------- calibration
def test_calibration_of_the_truth_and_of_optimists():
    rng = np.random.default_rng(5)
    rate = np.exp(rng.normal(size=20000))
    life, censoring = rng.exponential(1.0 / rate), rng.exponential(2.0, size=20000)
    y = (life <= censoring, np.minimum(life, censoring))
    table = survival_calibration(y, np.exp(-0.7 * rate), 0.7)
    assert (len(table), table.attrs["time"], table["n"].sum()) == (5, 0.7, 20000)
    np.testing.assert_allclose(table["predicted"], table["observed"], atol=0.02)
    assert table["predicted"].is_monotonic_increasing
    optimists = survival_calibration(y, np.exp(-0.3 * rate), 0.7)
    assert (optimists["high"] < optimists["predicted"]).all()


def test_equal_predictions_are_one_group():
    table = survival_calibration(([1, 0, 1], [1.0, 2.0, 3.0]), [0.5, 0.5, 0.5], 1.5)
    assert table[["n", "events"]].to_numpy().tolist() == [[3, 1]]
    assert table["observed"][0] == pytest.approx(2.0 / 3.0)


# ---------------------------------------------------------------------- intervals
@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("with_entry", [False, True])
def test_the_influence_is_the_derivative(ties, with_entry):
    y, risk = draw(7, 30, ties=ties)
    rng = np.random.default_rng(7)
    entry = np.floor(8.0 * y["time"] * rng.random(30)) / 8.0 * 0.99 if with_entry else None
    target = as_survival((y["event"], y["time"]) if entry is None else (y["event"], y["time"], entry))
    w, h = rng.uniform(0.5, 1.5, 30), 1e-5
    index, influence = concordance_influence(target, risk, w)
    assert index == pytest.approx(concordance_index(target, risk, sample_weight=w), abs=1e-14)
    for i in range(30):
        up, down = w.copy(), w.copy()
        up[i], down[i] = w[i] * (1.0 + h), w[i] * (1.0 - h)
        both = [concordance_index(target, risk, sample_weight=weights) for weights in (up, down)]
        assert influence[i] == pytest.approx((both[0] - both[1]) / (2.0 * h), abs=1e-9)
    assert influence.sum() == pytest.approx(0.0, abs=1e-12)  # C does not depend on the scale of the weights


def test_the_interval_covers():
    """Of 300 samples of 60 patients each, about 95 % of the intervals hold the true C."""
    rng = np.random.default_rng(1)

    def patients(n):
        x = rng.normal(size=n)
        life, censoring = rng.exponential(np.exp(-x)), rng.exponential(2.0, size=n)
        return (life <= censoring, np.minimum(life, censoring)), x

    truth = concordance_index(*patients(200_000))
    intervals = [concordance_interval(*patients(60)) for _ in range(300)]
    covered = np.mean([found.low <= truth <= found.high for found in intervals])
    assert 0.92 <= covered <= 0.985
    spread = np.std([found.index for found in intervals])
    assert np.mean([found.sd for found in intervals]) == pytest.approx(spread, rel=0.1)


def test_a_perfect_order_has_no_interval():
    found = concordance_interval((np.ones(9, bool), np.arange(1.0, 10.0)), -np.arange(9.0))
    assert (found.index, found.sd, np.isnan(found.low), np.isnan(found.high)) == (1.0, 0.0, True, True)


def test_the_test_of_two_scores():
    rng = np.random.default_rng(2)
    pvalues = []
    for _ in range(300):
        x = rng.normal(size=100)
        life, censoring = rng.exponential(np.exp(-x)), rng.exponential(2.0, size=100)
        y = (life <= censoring, np.minimum(life, censoring))
        found = concordance_test(y, x + rng.normal(size=100), x + rng.normal(size=100))
        assert found.low <= found.difference <= found.high
        pvalues.append(found.pvalue)
    assert 0.02 <= np.mean(np.array(pvalues) < 0.05) <= 0.085
    same = concordance_test(y, x, 2.0 * x + 1.0)
    assert (same.difference, same.pvalue, np.isnan(same.statistic)) == (0.0, 1.0, True)
    assert concordance_test(y, x, -x).pvalue < 1e-6

"""Tests of a difference with an interval, against the formulas and by simulation."""

import numpy as np
import pytest
from scipy.stats import norm, ttest_1samp
from scipy.stats import t as student

from benchmarks.verdicts import (
    BETTER,
    CONFIRMING,
    EQUAL,
    HALVES,
    ORACLE,
    RULE,
    TENTHS,
    best_power,
    outcomes,
    rates,
    rates_of_designs,
)
from multikernel.inspection import corrected_t_test, repeated_cv_test
from multikernel.inspection.statistics.interval_tests import holm_tests
from multikernel.inspection.statistics.paired_tests import EQUAL as SAME
from multikernel.inspection.statistics.paired_tests import LOSS, TIE, WIN

RNG = np.random.default_rng(0)


def drawn(n_repetitions=5, n=80, lead=0.1):
    noise = RNG.normal(size=n) + RNG.normal(scale=0.3, size=(n_repetitions, n))
    return noise + lead, noise - RNG.normal(scale=0.5, size=(n_repetitions, n))


def test_it_is_the_formula():
    a, b = drawn()
    found = repeated_cv_test(a, b, level=0.1)
    d = (a - b).mean(axis=0)
    refits = (a - b).var(axis=0, ddof=1).mean() / 80
    error = np.sqrt(d.var(ddof=1) / 80 + 1.25 * refits)
    assert found.difference == pytest.approx(d.mean())
    assert found.statistic == pytest.approx(d.mean() / error)
    assert found.pvalue == pytest.approx(2 * student.sf(abs(d.mean() / error), 79))
    assert found.low == pytest.approx(d.mean() + student.ppf(0.05, 79) * error)
    assert found.high == pytest.approx(d.mean() - student.ppf(0.05, 79) * error)


def test_one_repetition_has_more_of_the_variance_of_the_samples():
    a, b = (scores[:1] for scores in drawn())
    error = np.sqrt(1.8 * (a - b).var(ddof=1) / 80)
    found = repeated_cv_test(a, b)
    assert found.statistic == pytest.approx((a - b).mean() / error)
    assert found.high - found.low == pytest.approx(2 * student.isf(0.025, 79) * error)


@pytest.mark.parametrize("n_folds", [2, 5, 10])
def test_the_share_of_the_test_part_enlarges_the_variance_of_refits(n_folds):
    a, b = drawn()
    d, ratio = (a - b).mean(axis=0), n_folds - 1
    refits = (a - b).var(axis=0, ddof=1).mean() / 80
    found = repeated_cv_test(a, b, test_size=1.0 / n_folds)
    error = np.sqrt(d.var(ddof=1) / 80 + 1.25 * ratio**0.75 * refits)
    assert found.statistic == pytest.approx(d.mean() / error)
    one = repeated_cv_test(a[:1], b[:1], test_size=1.0 / n_folds)
    error = np.sqrt(1.8 * ratio**0.13 * (a - b)[0].var(ddof=1) / 80)
    assert one.statistic == pytest.approx((a - b)[0].mean() / error)


def test_tests_of_a_comparison_know_the_share_of_the_test_part():
    a, b = drawn(n=60)
    folds = {name: scores.reshape(5, 10, 6).mean(axis=2) for name, scores in {"a": a, "b": b}.items()}
    [row] = holm_tests(folds, [("a", "b")], 0.05, {"a": a, "b": b}, test_size=0.1).to_dict("records")
    assert row["p"] == pytest.approx(repeated_cv_test(a, b, test_size=0.1).pvalue)
    assert row["p"] > repeated_cv_test(a, b).pvalue


def test_repetitions_that_agree_leave_the_paired_t_test():
    a, b = (scores[:1].repeat(5, axis=0) for scores in drawn())
    found, known = repeated_cv_test(a, b), ttest_1samp((a - b)[0], 0.0)
    assert found.pvalue == pytest.approx(known.pvalue, rel=1e-6)
    interval = known.confidence_interval(0.95)
    np.testing.assert_allclose([found.low, found.high], [interval.low, interval.high], rtol=1e-6)


def test_groups_of_equal_rows_are_single_samples():
    a, b = (scores[:1].repeat(4, axis=0) for scores in drawn(n=30))
    rows = np.repeat(np.arange(30), 3)
    found = repeated_cv_test(a[:, rows], b[:, rows], groups=rows)
    once = repeated_cv_test(a, b)
    assert found.pvalue == pytest.approx(once.pvalue) and found.low == pytest.approx(once.low)
    assert repeated_cv_test(a[:, rows], b[:, rows]).pvalue < found.pvalue  # as if there were 90


def test_the_corrected_t_test_is_the_formula():
    a, b = RNG.random((2, 10)), RNG.random((2, 10))
    found = corrected_t_test(a, b, test_size=0.1)
    d = (a - b).ravel()
    error = np.sqrt((1 / 20 + 1 / 9) * d.var(ddof=1))
    assert found.statistic == pytest.approx(d.mean() / error)
    assert found.pvalue == pytest.approx(2 * student.sf(abs(d.mean() / error), 19))
    assert found.high - found.low == pytest.approx(2 * student.isf(0.025, 19) * error)


def test_the_other_side_is_mirrored():
    a, b = drawn()
    for one, other in (
        (repeated_cv_test(a, b), repeated_cv_test(b, a)),
        (corrected_t_test(a, b, test_size=0.5), corrected_t_test(b, a, test_size=0.5)),
    ):
        assert (one.low, one.high, one.difference) == pytest.approx(
            (-other.high, -other.low, -other.difference)
        )
        assert one.pvalue == pytest.approx(other.pvalue)


def test_without_difference_or_spread():
    same = np.ones((5, 10))
    nothing = repeated_cv_test(same, same)
    assert np.isnan(nothing.statistic) and (nothing.pvalue, nothing.low, nothing.high) == (1.0, 0.0, 0.0)
    all_better = repeated_cv_test(same, 0.0 * same)
    assert (all_better.pvalue, all_better.low, all_better.high) == (0.0, 1.0, 1.0)
    rounded = corrected_t_test([0.9, 0.8, 0.7], [0.8, 0.7, 0.6], test_size=0.3)
    assert rounded.pvalue == 0.0 and rounded.difference == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("test", "message"),
    [
        (lambda: repeated_cv_test(np.ones((5, 1))), "one repetition and 2 samples at least; got .5, 1."),
        (lambda: repeated_cv_test(np.ones(9)), "a must have 2 dimensions"),
        (lambda: repeated_cv_test(np.ones((5, 9)), np.ones((5, 8))), "paired"),
        (lambda: repeated_cv_test(np.full((5, 9), np.nan)), r"a must be finite; the entry at \(0, 0\)"),
        (lambda: repeated_cv_test(np.ones((5, 9)), groups=[1] * 8), "one entry for each sample, 9; got 8"),
        (lambda: repeated_cv_test(np.ones((5, 9)), groups=[1] * 9), "groups must be two at least"),
        (lambda: corrected_t_test([1.0], test_size=0.1), "two folds at least; got 1"),
        (lambda: corrected_t_test([1.0, 2.0], test_size=1.0), "test_size must be less than 1"),
        (lambda: repeated_cv_test(np.ones((5, 9)), test_size=1.0), "test_size must be less than 1"),
        (lambda: corrected_t_test([1.0, 2.0], test_size=0.0), "test_size must be greater than 0"),
        (lambda: corrected_t_test([1.0, 2.0], test_size=0.5, level=2.0), "level must be less than 1"),
    ],
)
def test_what_cannot_be_tested_is_named(test, message):
    with pytest.raises(ValueError, match=message):
        test()


# ---------------------------------------------------------------------- verdicts
def test_verdicts_follow_interval_and_p():
    n = 4000
    base = (RNG.random((5, n)) < 0.8).astype(float)
    worse = np.where(np.arange(n) % 12 == 0, 0.0, base)
    close = base.copy()
    close[:, :4] = 1.0 - close[:, :4]
    samples = {"model": base, "worse": worse, "close": close}
    folds = {name: scores.reshape(5, 2, n // 2).mean(axis=2) for name, scores in samples.items()}
    pairs = [("model", "worse"), ("worse", "model"), ("model", "close")]
    tests = holm_tests(folds, pairs, 0.05, samples)
    assert tests["verdict"].tolist() == [WIN, LOSS, SAME]
    np.testing.assert_allclose(
        tests["difference"],
        [base.mean() - samples[other].mean() for other in ("worse", "worse", "close")] * np.array([1, -1, 1]),
        atol=1e-12,
    )
    assert (tests["low"] <= tests["difference"]).all() and (tests["high"] >= tests["difference"]).all()
    strict = holm_tests(folds, pairs, 0.05, samples, equivalence=0.0)
    assert strict["verdict"].tolist() == [WIN, LOSS, TIE]


def test_without_scores_of_samples_folds_decide():
    folds = {"a": RNG.normal(0.9, 0.01, (5, 2)), "b": RNG.normal(0.8, 0.01, (5, 2))}
    [row] = holm_tests(folds, [("a", "b")], 0.05).to_dict("records")
    found = corrected_t_test(folds["a"], folds["b"], test_size=0.5)
    assert row["p"] == found.pvalue and row["low"] == pytest.approx(found.low) and row["verdict"] == WIN
    part = holm_tests(folds, [("a", "b")], 0.05, {"a": np.ones((5, 10))})  # of one model alone
    assert part["p"][0] == found.pvalue


@pytest.mark.parametrize("problem", EQUAL[4:6] + EQUAL[7:], ids=lambda problem: problem.name)
def test_the_level_is_kept(problem):
    """Of 200 comparisons of equal models; three standard errors above 6 % are a fault."""
    found = rates(problem, 200, seed=3)
    assert found["samples"] <= 0.06 + 3.0 * np.sqrt(0.06 * 0.94 / 200)
    assert found["corrected"] <= 0.06


def test_eight_points_are_seen():
    found = rates(BETTER[0], 200, seed=3)
    assert found["samples"] > max(found["corrected"], found["F"]) and found["samples"] > 0.7


@pytest.mark.parametrize("problem", [EQUAL[7], EQUAL[9], CONFIRMING[1]], ids=lambda problem: problem.name)
def test_the_level_is_kept_by_ten_folds(problem):
    """With the factor of two folds the rule would reject too often here, 10 % and more."""
    found = rates_of_designs(problem, TENTHS, 100, seed=3)
    for design in TENTHS:
        assert found[design][RULE] <= 0.06 + 3.0 * np.sqrt(0.06 * 0.94 / 100)


def test_no_test_is_better_than_the_likelihood_ratio():
    """The best power of a table of outcomes: against McNemar's test and against all orders of outcomes."""
    rng = np.random.default_rng(0)
    first, second, n = 0.21, 0.13, 300
    drawn = rng.multinomial(n, [first, second, 1.0 - first - second], size=4000)
    z = (drawn[:, 0] - drawn[:, 1]) / np.sqrt(np.maximum(drawn[:, 0] + drawn[:, 1], 1))
    mcnemar = float(np.mean(np.abs(z) > norm.isf(0.03)))
    best = best_power(first, second, n)
    assert mcnemar <= best + 0.02 and best <= mcnemar + 0.04
    # n = 2: outcomes A, B; with equal chances of 1/4 each; all of the size goes to two that differ most
    assert best_power(0.5, 0.0, 2, level=0.125) == pytest.approx(0.25)
    assert best_power(0.2, 0.2, 50) == pytest.approx(0.06)


def test_the_oracle_sees_more_than_the_rule_and_both_less_than_asked():
    """8 points of models on other columns: no test of ten folds of 300 samples has a power of 80 %."""
    found = rates_of_designs(BETTER[1], [HALVES], 200, seed=3)[HALVES]
    assert found[RULE] <= found[ORACLE] + 0.05 < 0.9
    assert best_power(*outcomes(BETTER[1], 50), 300) < 0.8

"""Paired tests: plain computations, laws, edges; Holm's p-values; wins, ties and losses counted by hand."""

import itertools
import math
from statistics import NormalDist

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.integrate import quad
from scipy.stats import f as f_distribution
from scipy.stats import wilcoxon

from multikernel.inspection import PairedTest, f_test_5x2cv, holm, wilcoxon_signed_rank, win_tie_loss
from multikernel.inspection.statistics.paired_tests import paired_f_tests, signed_rank_tests

EXACT = {"method": "exact"}
P = np.array([[0.01, 0.02], [0.03, -0.01], [0.02, 0.02], [0.0, 0.04], [0.01, 0.03]])


def plain_statistic(p):
    above = sum(float(x) ** 2 for x in np.ravel(p))
    below = 0.0
    for first, second in p:
        mean = (first + second) / 2.0
        below += (first - mean) ** 2 + (second - mean) ** 2
    return above / (2.0 * below)


@given(arrays(float, (5, 2), elements=st.floats(-1.0, 1.0)))
def test_it_is_the_ratio_and_neither_sign_nor_scale_nor_order_matter(p):
    p = np.round(p, 3)
    if np.all(p[:, 0] == p[:, 1]):
        p[0] = 0.5, -0.25
    found = f_test_5x2cv(p)
    assert found.statistic == pytest.approx(plain_statistic(p), rel=1e-9)
    density = quad(lambda x: f_distribution.pdf(x, 10, 5), 0.0, min(found.statistic, 1e4), limit=200)[0]
    assert found.pvalue == pytest.approx(1.0 - density, abs=1e-5)
    for other in (-p, 1e3 * p, p[::-1], p[:, ::-1], 1e-200 * p, 1e200 * p):
        assert f_test_5x2cv(other).statistic == pytest.approx(found.statistic, rel=1e-9)


scores_in_thousands = arrays(int, (5, 2), elements=st.integers(0, 1000))


@given(scores_in_thousands, scores_in_thousands, st.booleans())
def test_rounding_makes_no_difference_and_no_spread(a, b, level):
    if level:  # the same difference in both folds of every repetition, or none at all
        b = a - (a[:, :1] - b[:, :1])
    found, exact = f_test_5x2cv(a / 1000, b / 1000), f_test_5x2cv(a - b)
    assert found.statistic == pytest.approx(exact.statistic, rel=1e-9, nan_ok=True)
    assert found.pvalue == pytest.approx(exact.pvalue, rel=1e-9)


EQUAL, CONSTANT = np.arange(10.0).reshape(5, 2), np.repeat([[1.0], [2.0], [-3.0], [0.0], [0.5]], 2, axis=1)


@pytest.mark.parametrize(
    ("a", "b", "statistic", "pvalue"),
    [
        (np.zeros((5, 2)), None, math.nan, 1.0),
        (EQUAL, EQUAL, math.nan, 1.0),
        (np.nextafter(np.full((5, 2), 0.7), 1.0), np.full((5, 2), 0.7), math.nan, 1.0),
        (np.full((5, 2), 0.7, np.float32), np.full((5, 2), np.nextafter(np.float32(0.7), 1)), math.nan, 1.0),
        (np.full((5, 2), 0.7, np.float32), np.full((5, 2), np.float32(0.69999)), math.inf, 0.0),
        (np.full((5, 2), 0.01), None, math.inf, 0.0),
        (CONSTANT, None, math.inf, 0.0),
    ],
)
def test_no_difference_and_no_spread_are_edges(a, b, statistic, pvalue):
    found = f_test_5x2cv(a, b)
    assert found.statistic == pytest.approx(statistic, nan_ok=True) and found.pvalue == pvalue


def test_the_level_and_the_size_for_independent_differences():
    """f = (1 + F(5, 5)) / 2 exactly, hence a size of 1.75 % at the level of 5 %."""
    critical = f_distribution.isf(0.05, 10, 5)
    rng = np.random.default_rng(0)
    rejected = np.mean([f_test_5x2cv(rng.normal(size=(5, 2))).significant() for _ in range(4000)])
    exact = f_distribution.sf(2.0 * critical - 1.0, 5, 5)
    assert exact == pytest.approx(0.0175, abs=1e-4)
    assert rejected == pytest.approx(exact, abs=3.0 * math.sqrt(exact / 4000))
    found = PairedTest(4.735, 0.05)
    assert found.significant() and found.significant(0.1) and not found.significant(0.049)


# --- Wilcoxon's signed rank test ---------------------------------------------------------------------------


def plain_rank_sums(p):
    """Ranks by counting: one more than what is smaller, and half of the others that are equal."""
    p = [float(x) for x in p]
    if p.count(0.0) % 2:
        p.remove(0.0)
    above = below = 0.0
    for x in p:
        smaller = sum(abs(other) < abs(x) for other in p)
        equal = sum(abs(other) == abs(x) for other in p)
        rank = smaller + (equal + 1) / 2.0
        above += rank if x > 0.0 else rank / 2.0 if x == 0.0 else 0.0
        below += rank if x < 0.0 else rank / 2.0 if x == 0.0 else 0.0
    return above, below, len(p)


differences = arrays(float, st.integers(1, 30), elements=st.integers(-4, 4))


@given(differences)
def test_signed_ranks_are_those_of_a_plain_count(p):
    kept = p.copy()
    found = wilcoxon_signed_rank(p)
    np.testing.assert_array_equal(p, kept)
    if not p.any():
        assert math.isnan(found.statistic) and math.isnan(found.z) and found.pvalue == 1.0
        return
    above, below, M = plain_rank_sums(p)
    assert (found.rank_sum_positive, found.rank_sum_negative, found.n) == (above, below, M)
    assert above + below == M * (M + 1) / 2
    z = (min(above, below) - M * (M + 1) / 4) / math.sqrt(M * (M + 1) * (2 * M + 1) / 24)
    assert found.z == pytest.approx(z, abs=1e-12) and found.z <= 0.0
    assert found.pvalue == pytest.approx(2.0 * NormalDist().cdf(z), abs=1e-12)


@given(differences, st.sampled_from(["demsar", "wilcox", "pratt", "zsplit"]))
def test_neither_side_nor_scale_nor_order_matter(p, method):
    found = wilcoxon_signed_rank(p, method=method)
    for other in (-p, 1e-3 * p, p[::-1], 1e200 * p):
        again = wilcoxon_signed_rank(other, method=method)
        assert again.pvalue == pytest.approx(found.pvalue, abs=1e-12)
    if p.any():
        mirrored = wilcoxon_signed_rank(-p, method=method)
        assert mirrored.rank_sum_positive == found.rank_sum_negative
        assert mirrored.rank_sum_negative == found.rank_sum_positive
        assert 0.0 <= found.pvalue <= 1.0


@given(differences, st.sampled_from(["wilcox", "pratt", "zsplit"]))
def test_the_variants_are_scipys(p, method):
    if not p.any():
        p[0] = 1.0
    found = wilcoxon_signed_rank(p, method=method)
    theirs = wilcoxon(p, zero_method=method, correction=False, method="approx")
    assert found.statistic == theirs.statistic
    assert found.pvalue == pytest.approx(theirs.pvalue, abs=1e-14)
    assert found.z == pytest.approx(-abs(theirs.zstatistic), abs=1e-14) and found.z <= 0.0
    assert found.n == (np.count_nonzero(p) if method == "wilcox" else p.size)


@given(st.lists(st.integers(1, 10**6), min_size=1, max_size=7, unique=True), st.data())
def test_the_exact_test_counts_all_signs(sizes, data):
    signs = data.draw(st.lists(st.sampled_from([-1, 1]), min_size=len(sizes), max_size=len(sizes)))
    found = wilcoxon_signed_rank([s * x for s, x in zip(signs, sizes, strict=True)], method="exact")
    ranks = range(1, len(sizes) + 1)
    total = sum(ranks)
    smaller = 0
    for choice in itertools.product([0, 1], repeat=len(sizes)):
        above = sum(rank for rank, chosen in zip(ranks, choice, strict=True) if chosen)
        smaller += min(above, total - above) <= found.statistic
    assert found.pvalue == pytest.approx(smaller / 2 ** len(sizes), abs=1e-12)
    assert math.isnan(found.z)


def test_two_vectors_are_their_differences_and_rounding_breaks_no_tie():
    a, b = [0.9, 0.8, 0.7, 0.1 + 0.2, 0.95], [0.8, 0.7, 0.8, 0.3, 0.5]
    found = wilcoxon_signed_rank(a, b)
    assert found == wilcoxon_signed_rank([1, 1, -1, 0, 4])
    assert (found.rank_sum_positive, found.rank_sum_negative, found.n) == (8.0, 2.0, 4)
    single = wilcoxon_signed_rank(np.float32(a), np.float32(b))
    assert single == found
    # the differences of large scores that are not rounding stay
    assert wilcoxon_signed_rank([1e9, 2.0], [1e9 - 1e-3, 1.0]).statistic == 0.0
    assert wilcoxon_signed_rank([1e9, 2.0], [1e9 + 1e-3, 1.0]).statistic == 1.0


# --- Holm's p-values --------------------------------------------------------------------------------------


def rejected(pvalues, level):
    """Holm's procedure: reject from the smallest on, until one is above level / (number of those left)."""
    out = np.zeros(len(pvalues), bool)
    for step, i in enumerate(np.argsort(pvalues)):
        if pvalues[i] > level / (len(pvalues) - step):
            break
        out[i] = True
    return out


@pytest.mark.parametrize("k", [1, 2, 5, 9])
def test_a_test_is_rejected_where_the_procedure_rejects_it(k):
    rng = np.random.default_rng(k)
    for _ in range(50):
        pvalues = rng.random(k) ** 3
        for level in (0.01, 0.05, 0.3):
            assert ((holm(pvalues) <= level) == rejected(pvalues, level)).all()


def test_adjusted_values_are_no_smaller_keep_the_order_and_stay_below_one():
    pvalues = np.array([0.6, 0.0, 0.02, 0.6, 1.0])
    found = holm(pvalues)
    np.testing.assert_allclose(found, [1.0, 0.0, 0.08, 1.0, 1.0])
    assert holm([]).size == 0 and holm([0.3]).tolist() == [0.3]
    assert pvalues.tolist() == [0.6, 0.0, 0.02, 0.6, 1.0]


# --- wins, ties and losses --------------------------------------------------------------------------------

NOISE = np.random.default_rng(0).normal(scale=0.01, size=(5, 2))
OTHER = np.random.default_rng(1).normal(scale=0.01, size=(5, 2))
BASE = 0.7 + NOISE
# two clear wins, a clear loss, a small lead that is no win, scores that are the same in another order
GAINS = {"won": 0.1, "won too": 0.2, "lost": -0.1, "near": 0.001}
SCORES = {
    "ours": {name: BASE + gain + OTHER for name, gain in GAINS.items()} | {"equal": BASE[:, ::-1]},
    "theirs": dict.fromkeys([*GAINS, "equal"], BASE),
}


def test_the_counts_are_those_made_by_hand():
    row = win_tie_loss(SCORES).loc[("ours", "theirs")]
    assert row[["wins", "ties", "losses"]].tolist() == [2, 2, 1]
    near = (BASE + 0.001 + OTHER).mean() > BASE.mean()
    assert row[["higher", "equal", "lower"]].tolist() == [2 + near, 1, 2 - near]
    means = [[SCORES[name][s].mean() for s in [*GAINS, "equal"]] for name in ("ours", "theirs")]
    expected = wilcoxon_signed_rank(*means)
    assert row["pvalue"] == expected.pvalue
    assert row["verdict"] == "tie"
    tests = paired_f_tests(SCORES)
    assert tests["verdict"].tolist() == ["win", "win", "loss", "tie", "tie"]
    for test in tests.itertuples():
        a, b = SCORES["ours"][test.dataset], SCORES["theirs"][test.dataset]
        found = f_test_5x2cv(a, b)
        assert (test.statistic, test.pvalue) == (found.statistic, found.pvalue)
        assert (test.mean, test.rival_mean) == (a.mean(), b.mean())
        assert test.difference == pytest.approx(a.mean() - b.mean(), abs=1e-12)
    assert tests.loc[4, "difference"] == 0.0


def test_wilcoxons_verdict_follows_the_larger_rank_sum():
    scores = {
        "up": {f"d{i}": BASE + 0.01 * i for i in range(1, 9)},
        "down": {f"d{i}": BASE - 0.01 * i for i in range(1, 9)},
    }
    for names, verdict in ((("up", "down"), "win"), (("down", "up"), "loss")):
        table = win_tie_loss({name: scores[name] for name in names})
        assert table.loc[names, "verdict"] == verdict
        tests = paired_f_tests({name: scores[name] for name in names})
        found = signed_rank_tests(tests, 0.05, "demsar").loc[names]
        assert (found["statistic"], found["verdict"]) == (0.0, verdict)
        assert found["pvalue"] == table.loc[names, "pvalue"] == pytest.approx(0.0117, abs=1e-4)
        exact = signed_rank_tests(tests, 0.05, "exact").loc[names]
        assert exact["pvalue"] == pytest.approx(2 / 2**8)


def test_equal_differences_on_several_data_sets_tie_in_spite_of_rounding():
    shifts = [0.0, 10.0, 25.0]  # large beside the differences, so that rounding shows
    scores = {
        "a": {f"d{i}": BASE + shift + 0.01 for i, shift in enumerate(shifts)},
        "b": {f"d{i}": BASE + shift for i, shift in enumerate(shifts)},
    }
    assert signed_rank_tests(paired_f_tests(scores), 0.05, "demsar").loc[("a", "b"), "statistic"] == 0.0
    scores["a"]["d2"] = BASE + 25.0 - 0.01
    found = signed_rank_tests(paired_f_tests(scores), 0.05, "demsar")
    assert found.loc[("a", "b"), "statistic"] == 2.0  # of three equal ranks


@given(arrays(float, (3, 4, 5, 2), elements=st.integers(0, 5)), st.sampled_from([0.05, 0.2]))
def test_a_pair_seen_from_the_other_side_is_mirrored(values, level):
    names, sets = ["a", "b", "c"], ["w", "x", "y", "z"]
    scores = {n: dict(zip(sets, of_sets, strict=True)) for n, of_sets in zip(names, values, strict=True)}
    ours = win_tie_loss(scores, level=level)
    mirrored = win_tie_loss(dict(reversed(scores.items())), level=level)
    assert ours.index.tolist() == [("a", "b"), ("a", "c"), ("b", "c")]
    for a, b in ours.index:
        one, other = ours.loc[(a, b)], mirrored.loc[(b, a)]
        assert one[["wins", "ties", "losses"]].tolist() == other[["losses", "ties", "wins"]].tolist()
        assert one[["higher", "equal", "lower"]].tolist() == other[["lower", "equal", "higher"]].tolist()
        assert one[["wins", "ties", "losses"]].sum() == one[["higher", "equal", "lower"]].sum() == 4
        assert one["pvalue"] == other["pvalue"]
        assert {one["verdict"], other["verdict"]} in ({"tie"}, {"win", "loss"})
    against = win_tie_loss(scores, reference="c", level=level)
    pd.testing.assert_frame_equal(against, ours.loc[[("a", "c"), ("b", "c")]])


def test_a_difference_without_a_direction_is_a_tie():
    opposed = np.repeat([[0.1], [-0.1], [0.2], [-0.2], [0.0]], 2, axis=1)
    scores = {"a": {"d": BASE + opposed}, "b": {"d": BASE}}
    tests = paired_f_tests(scores)
    assert tests.loc[0, "pvalue"] < 1e-6
    assert tests.loc[0, "verdict"] == "tie"


# --- errors ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("test", "arguments", "options", "message"),
    [
        (f_test_5x2cv, (np.zeros(10),), {}, r"a must hold .* shape \(5, 2\).*; got shape \(10,\)"),
        (f_test_5x2cv, (P, np.zeros((5, 1))), {}, r"b must hold .*got shape \(5, 1\)"),
        (f_test_5x2cv, (P, np.where(P == 0.0, np.nan, P)), {}, "b must be .*; repetition 3, fold 0 is nan"),
        (f_test_5x2cv, ("scores",), {}, "a must be a numeric array"),
        (PairedTest(4.7, 0.05).significant, (0.0,), {}, "level must be greater than 0"),
        (PairedTest(4.7, 0.05).significant, (1.0,), {}, "level must be less than 1"),
        (wilcoxon_signed_rank, (P,), {}, r"a must hold one score for each data set.*got shape \(5, 2\)"),
        (wilcoxon_signed_rank, ([],), {}, r"n at least 1; got shape \(0,\)"),
        (wilcoxon_signed_rank, ([1.0, 2.0], [1.0]), {}, "must be paired.*got 2 and 1 scores"),
        (wilcoxon_signed_rank, ([1.0, 2.0], [1.0, math.inf]), {}, "b must be finite; entry 1 is inf"),
        (wilcoxon_signed_rank, ([1.0],), {"method": "normal"}, "one of 'demsar', .*'exact'; got 'normal'"),
        (wilcoxon_signed_rank, (np.arange(1.0, 27.0),), EXACT, "at most 25 differences; got 26"),
        (wilcoxon_signed_rank, ([1.0, 0.0, 2.0],), EXACT, "1 of 3 differences are zero"),
        (wilcoxon_signed_rank, ([1.0, -1.0, 2.0],), EXACT, "some differences are of equal size"),
        *((holm, (bad,), {}, "numbers from 0 to 1") for bad in ([0.5, 1.2], [-0.1], [math.nan], 0.5, ["a"])),
        (holm, ([[0.1], 0.2],), {}, "numbers from 0 to 1"),
        (win_tie_loss, ({"a": {"d": BASE}},), {}, r"two or more estimators.*got 1 estimator\(s\)"),
        (win_tie_loss, ([BASE, BASE],), {}, "got list"),
        (win_tie_loss, ({"a": {}, "b": {}},), {}, "one data set at least; estimator 'a' has none"),
        (win_tie_loss, ({"a": {"d": BASE}, "b": {"e": BASE}},), {}, "'b' and 'a' do not share 'd'"),
        (win_tie_loss, ({"a": {"d": P}, "b": {"d": P[:4]}},), {}, r"\['b'\]\['d'\] .*got shape \(4, 2\)"),
        (win_tie_loss, (SCORES,), {"reference": "mine"}, "models, 'ours', 'theirs'; got 'mine'"),
        (win_tie_loss, (SCORES,), {"level": 5}, "level must be less than 1; got 5"),
        (win_tie_loss, (SCORES,), {"method": "t"}, "method must be one of"),
    ],
)
def test_what_cannot_be_tested_is_named(test, arguments, options, message):
    with pytest.raises(ValueError, match=message):
        test(*arguments, **options)

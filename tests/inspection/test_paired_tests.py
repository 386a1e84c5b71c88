"""Paired tests: the values of the specification, plain computations, edges, sizes by simulation."""

import itertools
import math
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.integrate import quad
from scipy.stats import f as f_distribution
from scipy.stats import wilcoxon

from multikernel import inspection
from multikernel.inspection.paired_tests import PairedTest, f_test_5x2cv, wilcoxon_signed_rank

P = np.array([[0.01, 0.02], [0.03, -0.01], [0.02, 0.02], [0.0, 0.04], [0.01, 0.03]])


def plain_statistic(p):
    above = sum(float(x) ** 2 for x in np.ravel(p))
    below = 0.0
    for first, second in p:
        mean = (first + second) / 2.0
        below += (first - mean) ** 2 + (second - mean) ** 2
    return above / (2.0 * below)


def test_the_value_of_the_specification():
    found = f_test_5x2cv(P)
    assert found.statistic == pytest.approx(1.324324, abs=1e-6)
    assert found.pvalue == pytest.approx(0.398619, abs=1e-6)
    assert inspection.f_test_5x2cv is f_test_5x2cv


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


@given(
    arrays(float, (5, 2), elements=st.integers(0, 100)), arrays(float, (5, 2), elements=st.integers(0, 100))
)
def test_two_sets_of_scores_are_their_differences(a, b):
    kept = a.copy(), b.copy()
    found, expected = f_test_5x2cv(a, b), f_test_5x2cv(a - b)
    assert found == expected or (math.isnan(found.statistic) and math.isnan(expected.statistic))
    np.testing.assert_array_equal(a, kept[0])
    np.testing.assert_array_equal(b, kept[1])


scores_in_thousands = arrays(int, (5, 2), elements=st.integers(0, 1000))


@given(scores_in_thousands, scores_in_thousands, st.booleans())
def test_rounding_makes_no_difference_and_no_spread(a, b, level):
    if level:  # the same difference in both folds of every repetition, or none at all
        b = a - (a[:, :1] - b[:, :1])
    found, exact = f_test_5x2cv(a / 1000, b / 1000), f_test_5x2cv(a - b)
    assert found.statistic == pytest.approx(exact.statistic, rel=1e-9, nan_ok=True)
    assert found.pvalue == pytest.approx(exact.pvalue, rel=1e-9)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_scores_that_are_equal_but_for_rounding_do_not_differ(dtype):
    b = np.full((5, 2), 0.7, dtype)
    a = np.nextafter(b, dtype(1.0))
    found = f_test_5x2cv(a, b)
    assert math.isnan(found.statistic) and found.pvalue == 1.0
    assert f_test_5x2cv(a, b - dtype(1e-5)).pvalue == 0.0


def test_without_any_difference_there_is_nothing_to_test():
    scores = np.arange(10.0).reshape(5, 2)
    for found in (f_test_5x2cv(np.zeros((5, 2))), f_test_5x2cv(scores, scores)):
        assert math.isnan(found.statistic) and found.pvalue == 1.0


def test_differences_without_spread_are_certain():
    assert f_test_5x2cv(np.full((5, 2), 0.01)) == PairedTest(math.inf, 0.0)
    assert f_test_5x2cv(np.repeat([[1.0], [2.0], [-3.0], [0.0], [0.5]], 2, axis=1)).pvalue == 0.0


def test_the_critical_value_and_the_size_for_independent_differences():
    """f = (1 + F(5, 5)) / 2 exactly, hence a size of 1.75 % at the level of 5 %."""
    critical = f_distribution.isf(0.05, 10, 5)
    assert critical == pytest.approx(4.735, abs=1e-3)
    rng = np.random.default_rng(0)
    rejected = np.mean([f_test_5x2cv(rng.normal(size=(5, 2))).pvalue <= 0.05 for _ in range(4000)])
    exact = f_distribution.sf(2.0 * critical - 1.0, 5, 5)
    assert exact == pytest.approx(0.0175, abs=1e-4)
    assert rejected == pytest.approx(exact, abs=3.0 * math.sqrt(exact / 4000))


@pytest.mark.parametrize(("correlation", "size"), [(0.1, 0.028), (0.2, 0.043)])
def test_the_size_for_correlated_differences(correlation, size):
    rng = np.random.default_rng(1)
    common, own = rng.normal(size=(4000, 1, 1)), rng.normal(size=(4000, 5, 2))
    draws = math.sqrt(correlation) * common + math.sqrt(1.0 - correlation) * own
    rejected = np.mean([f_test_5x2cv(p).significant() for p in draws])
    assert rejected == pytest.approx(size, abs=3.0 * math.sqrt(size / 4000))


def test_significant_compares_with_the_level():
    found = PairedTest(4.735, 0.05)
    assert found.significant() and found.significant(0.1) and not found.significant(0.049)
    for level in (0.0, 1.0, -0.1):
        with pytest.raises(ValueError, match="level must be"):
            found.significant(level)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.zeros(10),), r"a must hold .* shape \(5, 2\).*; got shape \(10,\)"),
        ((np.zeros((2, 5)),), r"got shape \(2, 5\)"),
        ((P, np.zeros((5, 1))), r"b must hold .*got shape \(5, 1\)"),
        ((P, np.where(P == 0.0, np.nan, P)), "b must be finite; repetition 3, fold 0 is nan"),
        (("scores",), "a must be a numeric array"),
    ],
)
def test_bad_scores_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        f_test_5x2cv(*arguments)


# --- Wilcoxon's signed rank test ---------------------------------------------------------------------------

W = [0.1, 0.2, -0.05, 0.3, 0.0, 0.4, 0.12, -0.01, 0.2]


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


def test_the_value_of_the_specification_for_signed_ranks():
    found = wilcoxon_signed_rank(W)
    assert (found.rank_sum_positive, found.rank_sum_negative, found.n) == (33.0, 3.0, 8)
    assert found.statistic == 3.0
    assert found.z == pytest.approx(-2.100420, abs=1e-6)
    assert found.pvalue == pytest.approx(0.035692, abs=1e-6)
    assert found.significant() and not found.significant(0.035)
    assert inspection.wilcoxon_signed_rank is wilcoxon_signed_rank


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


def test_the_variants_differ_from_each_other_where_there_are_zeros_and_ties():
    found = {m: wilcoxon_signed_rank(W, method=m).pvalue for m in ("demsar", "wilcox", "pratt", "zsplit")}
    assert len({round(p, 5) for p in found.values()}) == 4


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


def test_the_size_of_the_signed_rank_test():
    """Of all signs of continuous differences the tests refuse what they should; T decides, once for each."""
    ranks = np.arange(1, 13)
    signs = np.array(list(itertools.product([-1, 1], repeat=12)))
    above = (signs > 0) @ ranks
    T = np.minimum(above, 78 - above)
    sizes = np.sort(np.abs(np.random.default_rng(2).normal(size=12)))
    values, first, counts = np.unique(T, return_index=True, return_counts=True)
    exact, normal = 0, 0
    for t, row, count in zip(values, first, counts, strict=True):
        found = wilcoxon_signed_rank(signs[row] * sizes, method="exact")
        assert found.statistic == t
        exact += count * found.significant()
        normal += count * wilcoxon_signed_rank(signs[row] * sizes).significant()
    # of the 4096 signs of 12 differences 174 have T ≤ 13, p = 4.2 %, and 214 have T ≤ 14, z = -1.96128
    assert (exact, normal) == (174, 214)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((np.zeros((5, 2)),), {}, r"a must hold one score for each data set.*got shape \(5, 2\)"),
        (([],), {}, r"n at least 1; got shape \(0,\)"),
        (([1.0, 2.0], [1.0]), {}, "must be paired.*got 2 and 1 scores"),
        (([1.0, 2.0], [1.0, math.inf]), {}, "b must be finite; entry 1 is inf"),
        (([1.0], None), {"method": "normal"}, "method must be one of 'demsar', .*'exact'; got 'normal'"),
        ((np.arange(1.0, 27.0),), {"method": "exact"}, "at most 25 differences; got 26"),
        (([1.0, 0.0, 2.0],), {"method": "exact"}, "1 of 3 differences are zero"),
        (([0.0],), {"method": "exact"}, "1 of 1 differences are zero"),
        (([1.0, -1.0, 2.0],), {"method": "exact"}, "some differences are of equal size"),
    ],
)
def test_bad_differences_are_named(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        wilcoxon_signed_rank(*arguments, **options)

"""The 5×2 cv F test: the value of the specification, a plain computation, edges, its size by simulation."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.integrate import quad
from scipy.stats import f as f_distribution

from multikernel import stats
from multikernel.selection import PairedTest, f_test_5x2cv

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
    assert stats.f_test_5x2cv is f_test_5x2cv


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

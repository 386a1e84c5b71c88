"""Wins, ties and losses: counted by hand, mirrored, and against each test taken alone."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from multikernel import inspection
from multikernel.inspection.paired_tests import (
    f_test_5x2cv,
    paired_f_tests,
    signed_rank_tests,
    wilcoxon_signed_rank,
    win_tie_loss,
)

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
    assert inspection.win_tie_loss is win_tie_loss


def test_each_test_is_the_f_test_of_its_pair():
    tests = paired_f_tests(SCORES)
    assert tests["dataset"].tolist() == [*GAINS, "equal"]
    assert tests["verdict"].tolist() == ["win", "win", "loss", "tie", "tie"]
    for test in tests.itertuples():
        a, b = SCORES["ours"][test.dataset], SCORES["theirs"][test.dataset]
        found = f_test_5x2cv(a, b)
        assert (test.statistic, test.pvalue) == (found.statistic, found.pvalue)
        assert test.difference == pytest.approx(a.mean() - b.mean(), abs=1e-12)
        assert (test.mean, test.rival_mean) == (a.mean(), b.mean())
    assert tests.loc[4, "difference"] == 0.0


def test_wilcoxons_verdict_follows_the_larger_rank_sum():
    scores = {
        "up": {f"d{i}": BASE + 0.01 * i for i in range(1, 9)},
        "down": {f"d{i}": BASE - 0.01 * i for i in range(1, 9)},
    }
    for names, verdict in ((("up", "down"), "win"), (("down", "up"), "loss")):
        table = win_tie_loss({name: scores[name] for name in names})
        assert table.loc[names, "verdict"] == verdict
        found = signed_rank_tests({name: scores[name] for name in names}).loc[names]
        assert (found["statistic"], found["verdict"]) == (0.0, verdict)
        assert found["pvalue"] == table.loc[names, "pvalue"] == pytest.approx(0.0117, abs=1e-4)
        exact = signed_rank_tests({name: scores[name] for name in names}, method="exact").loc[names]
        assert exact["pvalue"] == pytest.approx(2 / 2**8)


def test_equal_differences_on_several_data_sets_tie_in_spite_of_rounding():
    shifts = [0.0, 10.0, 25.0]  # large beside the differences, so that rounding shows
    scores = {
        "a": {f"d{i}": BASE + shift + 0.01 for i, shift in enumerate(shifts)},
        "b": {f"d{i}": BASE + shift for i, shift in enumerate(shifts)},
    }
    assert signed_rank_tests(scores).loc[("a", "b"), "statistic"] == 0.0
    scores["a"]["d2"] = BASE + 25.0 - 0.01
    assert signed_rank_tests(scores).loc[("a", "b"), "statistic"] == 2.0  # of three equal ranks


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


def test_the_level_decides():
    scores = {"a": {"d": BASE + 0.01 + OTHER}, "b": {"d": BASE}}
    pvalue = paired_f_tests(scores).loc[0, "pvalue"]
    assert 0.01 < pvalue < 0.9
    assert win_tie_loss(scores, level=pvalue + 1e-6)[["wins", "ties"]].to_numpy().tolist() == [[1, 0]]
    assert win_tie_loss(scores, level=pvalue - 1e-6)[["wins", "ties"]].to_numpy().tolist() == [[0, 1]]


@pytest.mark.parametrize(
    ("scores", "options", "message"),
    [
        ({"a": {"d": BASE}}, {}, r"two or more estimators.*got 1 estimator\(s\)"),
        ([BASE, BASE], {}, "got list"),
        ({"a": {}, "b": {}}, {}, "one data set at least; estimator 'a' has none"),
        ({"a": {"d": BASE}, "b": {"d": BASE, "e": BASE}}, {}, "'b' and 'a' do not share 'e'"),
        (
            {"a": {"d": BASE}, "b": {"d": BASE[:4]}},
            {},
            r"scores\['b'\]\['d'\] must hold .*got shape \(4, 2\)",
        ),
        (SCORES, {"reference": "mine"}, "one of the estimators, 'ours', 'theirs'; got 'mine'"),
        (SCORES, {"level": 5}, "level must be less than 1; got 5"),
        (SCORES, {"method": "t"}, "method must be one of"),
    ],
)
def test_bad_scores_are_named(scores, options, message):
    with pytest.raises(ValueError, match=message):
        win_tie_loss(scores, **options)

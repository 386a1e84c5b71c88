"""The object that a comparison gives: its numbers, and what is bold in its table."""

import re

import numpy as np
import pandas as pd
import pytest

from multikernel.inspection import (
    Comparison,
    corrected_t_test,
    f_test_5x2cv,
    wilcoxon_signed_rank,
    win_tie_loss,
)
from tests.inspection.toys import scores_frame

NOISE = np.random.default_rng(0).normal(scale=0.01, size=(3, 5, 2))
NAMES = ["poor", "good", "better"]
# on 'heart' both beat the poor one; on 'sonar' the first beats all; on 'iris' nobody beats anybody
MEANS = {"heart": [0.7, 0.8, 0.8], "sonar": [0.9, 0.5, 0.6], "iris": [0.9, 0.9, 0.9]}


def frame(means=MEANS, names=NAMES):
    tables = [
        scores_frame({names[k]: mean + NOISE[k] for k, mean in enumerate(of_set)}, dataset)
        for dataset, of_set in means.items()
    ]
    return pd.concat(tables, ignore_index=True)


def cells(text):
    """The table of a Markdown text by row and column."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    assert len({len(line) for line in lines}) == 1
    rows = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
    return {row[0]: dict(zip(rows[0][1:], row[1:], strict=True)) for row in rows[2:]}


def test_the_numbers_are_means_and_deviations_of_the_ten_folds():
    shuffled = frame().sample(frac=1.0, random_state=0)
    found = Comparison(frame())
    table = found.means()
    assert table.index.tolist() == list(MEANS)
    for dataset in MEANS:
        for k, name in enumerate(NAMES):
            scores = MEANS[dataset][k] + NOISE[k]
            np.testing.assert_allclose(found.folds(name, dataset), scores)
            np.testing.assert_array_equal(
                Comparison(shuffled).folds(name, dataset), found.folds(name, dataset)
            )
            spread = np.sqrt(((scores - scores.mean()) ** 2).sum() / 9.0)
            assert table.loc[dataset, (name, "mean")] == pytest.approx(scores.mean())
            assert table.loc[dataset, (name, "sd")] == pytest.approx(spread)


def test_the_tests_are_those_of_the_functions():
    found = Comparison(frame(), reference="good", level=1e-9)
    scores = {name: {dataset: found.folds(name, dataset) for dataset in MEANS} for name in NAMES}
    pd.testing.assert_frame_equal(found.win_tie_loss(), win_tie_loss(scores, reference="good", level=1e-9))
    pd.testing.assert_frame_equal(
        found.win_tie_loss("wilcox"), win_tie_loss(scores, reference="good", level=1e-9, method="wilcox")
    )
    assert (found.win_tie_loss()["wins"] == 0).all()  # at that level, though not at 0.05
    assert Comparison(frame(), reference="good").win_tie_loss()["wins"].sum() > 0
    for row in found.tests.itertuples():
        assert (row.rival, row.verdict) == ("good", "tie")
        ours, theirs = (scores[name][row.dataset] for name in (row.estimator, "good"))
        assert row.p == corrected_t_test(ours, theirs, test_size=0.5).pvalue
        assert f_test_5x2cv(ours, theirs).statistic == row.F
    means = found.means().xs("mean", axis=1, level=1)
    for method in ("demsar", "wilcox"):
        expected = wilcoxon_signed_rank(means["poor"], means["good"], method=method)
        row = found.wilcoxon(method).loc[("poor", "good")]
        assert (row["statistic"], row["pvalue"]) == (expected.statistic, expected.pvalue)
    assert len(Comparison(frame()).tests) == 9
    assert len(Comparison(frame()).wilcoxon()) == 3


def test_without_a_reference_bold_is_better_than_one_and_worse_than_none():
    text = str(Comparison(frame()))
    table = cells(text)
    assert {(row, name) for row in MEANS for name in NAMES if table[row][name].startswith("**")} == {
        ("heart", "good"),
        ("heart", "better"),
        ("sonar", "poor"),
    }
    assert table["heart"]["good"] == f"**{0.8 + NOISE[1].mean():.3f} ± {NOISE[1].std(ddof=1):.3f}**"
    # of two rivals on three data sets; on 'sonar' the second loses to both others
    assert table["wins–ties–losses"] == {"poor": "2–2–2", "good": "1–3–2", "better": "2–3–1"}
    assert "Wilcoxon's p" not in table
    assert (
        "better than at least one other and worse than none by the 5×2 cv F test at the level of 0.05" in text
    )


def test_with_a_reference_bold_is_better_than_that():
    text = Comparison(frame(), reference="poor", scoring="accuracy").to_markdown(digits=1)
    table = cells(text)
    assert {(row, name) for row in MEANS for name in NAMES if "**" in table[row][name]} == {
        ("heart", "good"),
        ("heart", "better"),
    }
    assert table["sonar"]["better"] == "0.6 ± 0.0"
    assert table["wins–ties–losses"] == {"poor": "", "good": "1–1–1", "better": "1–1–1"}
    pvalue = Comparison(frame(), reference="poor").wilcoxon().loc[("good", "poor"), "pvalue"]
    assert table["Wilcoxon's p"]["good"] == f"{pvalue:.3f}"
    assert text.splitlines()[-1] == (
        "Mean ± standard deviation of accuracy over 5×2 folds; **bold**: better than poor by the 5×2 cv F "
        "test at the level of 0.05."
    )


def test_a_name_of_two_lines_stands_on_one():
    means = {"heart\ndisease": MEANS["heart"], "iris": MEANS["iris"]}
    found = Comparison(frame(means, ["poor\r\none", "good", "better"]), reference="poor\r\none")
    table = cells(str(found))
    assert list(table) == ["heart disease", "iris", "wins–ties–losses", "Wilcoxon's p"]
    assert list(table["iris"]) == ["poor one", "good", "better"]
    assert str(found).splitlines()[-1].startswith("Mean ±") and "better than poor one by" in str(found)
    assert found.datasets[0] == "heart\ndisease"


def test_the_level_decides_what_is_bold():
    means = {"heart": [0.7, 0.715, 0.7], "iris": [0.9, 0.9, 0.9]}
    pvalue = f_test_5x2cv(0.715 + NOISE[1], 0.7 + NOISE[0]).pvalue
    assert 1e-4 < pvalue < 0.9
    for level, bold in ((pvalue * 1.001, True), (pvalue * 0.999, False)):
        table = cells(str(Comparison(frame(means), reference="poor", level=level)))
        assert table["heart"]["good"].startswith("**") is bold


def test_notebooks_show_bold_and_escape_names():
    odd = frame().replace({"heart": "<heart|1>"})
    found = Comparison(odd, reference="poor")
    page = found._repr_html_()
    assert "&lt;heart|1&gt;" in page and "<heart" not in page
    assert page.count("<b>") == page.count("</b>") == 2
    bold = {text.split(" ±")[0] for text in re.findall(r"<b>(.*?)</b>", page)}
    assert bold == {f"{0.8 + NOISE[k].mean():.3f}" for k in (1, 2)}
    assert page.count("<tr>") == 6 and page.startswith("<p>poor has the best mean")
    assert cells(str(found))[r"\<heart\|1\>"]["good"].startswith("**")
    assert repr(found) == str(found)


def test_intervals_are_printed_as_they_are_and_links_are_not():
    rows = frame()
    found = str(Comparison(rows[rows["dataset"] == "heart"], reference="poor"))
    assert re.search(r"[^\\]\[[-+]\d\.\d{3}, [-+]\d\.\d{3}\], p = ", found)
    assert r"\[1, 2\](http" in str(Comparison(frame().replace({"heart": "[1, 2](http://a)"})))


def test_the_frame_that_was_passed_is_not_changed():
    given = frame().assign(seconds=1.0)
    given.index = given.index + 7
    kept = given.copy()
    found = Comparison(given)
    found.scores.loc[0, "score"] = 0.0
    found.folds("poor", "heart")[0, 0] = 0.0
    pd.testing.assert_frame_equal(given, kept)
    assert found.scores["seconds"].tolist() == [1.0] * 90
    assert found.folds("poor", "heart")[0, 0] == 0.7 + NOISE[0, 0, 0]


@pytest.mark.parametrize(
    ("scores", "options", "message"),
    [
        (frame().drop(columns="fold"), {}, "must have the columns dataset, .*; fold is missing"),
        (frame().iloc[1:], {}, r"'poor' on 'heart' has 9 rows and none for \(0, 0\)"),
        (pd.concat([frame(), frame().iloc[:1]]), {}, r"'poor' on 'heart' has 11 rows\."),
        (frame(), {"reference": "worst"}, "one of the models, 'poor', 'good', 'better'; got 'worst'"),
        (frame(), {"level": 0}, "level must be greater than 0"),
    ],
)
def test_bad_frames_are_named(scores, options, message):
    with pytest.raises(ValueError, match=message):
        Comparison(scores, **options)


def test_unknown_names_are_named():
    with pytest.raises(ValueError, match=r"scores of 'poor', 'good', 'better' on .*got 'best' on 'heart'"):
        Comparison(frame()).folds("best", "heart")

"""Means, standard errors and their differences against plain NumPy; the page and the narrow tables."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from studies import run_table
from studies.compare import agreement, compare, comparison_row, estimate
from studies.render import (
    agreement_text,
    markdown_text,
    narrow_tables,
    quantity_cells,
    remarks,
    section_cells,
)
from studies.tests import toy

SAMPLES = hnp.arrays(
    np.float64, st.tuples(st.integers(2, 9), st.integers(1, 3)), elements=st.floats(-1e3, 1e3)
)


@given(values=SAMPLES, n_published=st.integers(1, 50))
def test_errors_of_vectors_are_those_of_their_entries(values, n_published):
    published = np.arange(values.shape[1], dtype=float)
    result = compare(values, published, n_published)
    for j, column in enumerate(values.T):
        variance = sum((x - sum(column) / len(column)) ** 2 for x in column) / (len(column) - 1)
        assert result["mean"][j] == pytest.approx(sum(column) / len(column), abs=1e-9)
        assert result["se"][j] == pytest.approx((variance / len(column)) ** 0.5, abs=1e-9)
        assert result["difference"][j] == pytest.approx(result["mean"][j] - published[j], abs=1e-9)
        expected = (variance / len(column) + variance / n_published) ** 0.5
        assert result["se_difference"][j] == pytest.approx(expected, abs=1e-9)


def test_what_cannot_be_said_is_none():
    assert estimate([]) == {"n": 0, "mean": None, "se": None}
    assert estimate([2.0]) == {"n": 1, "mean": 2.0, "se": None}
    assert compare([2.0], 1.0, 30)["se_difference"] is None
    assert compare([2.0], 1.0, 30)["difference"] == 1.0
    assert compare([], 1.0)["difference"] is None
    assert compare([1.0, 3.0])["published"] is None
    assert compare([1.0, 3.0], 1.0)["se_difference"] == compare([1.0, 3.0], 1.0)["se"]  # an exact figure


def test_differences_beyond_two_standard_errors_are_counted_and_marked():
    values = [9.0, 11.0]  # mean 10, s.e. 1; the s.e. of a difference to an exact figure is the same
    rows = [
        comparison_row(
            "s", {"a": str(published)}, {"x": compare(values, published), "y": compare(values, 0.0)}
        )
        for published in (8.1, 7.9, 12.1)
    ]
    rows.append(comparison_row("s", {"a": "alone"}, {"x": compare([3.0], 0.0)}))
    rows.append(comparison_row("s", {"a": "vector"}, {"x": compare([values, values], [0.0, 0.0])}))
    rows.append(comparison_row("other", {"a": "b"}, {"x": compare(values, 10.0)}))
    rows.append(comparison_row("nothing published", {"a": "b"}, {"x": compare(values)}))
    found = agreement(rows, ["x"])
    assert found == [
        {"section": "s", "compared": 3, "beyond": 2, "doubtful": 0, "doubtful_beyond": 0},
        {"section": "other", "compared": 1, "beyond": 0, "doubtful": 0, "doubtful_beyond": 0},
    ]
    expected = (
        "Differences to published figures beyond two standard errors (marked †): s: 2 of 3; other: 0 of 1."
    )
    assert agreement_text({"agreement": found}) == expected
    assert agreement_text({"agreement": []}) == ""
    summary = {"rows": rows, "quantities": [{"key": "x", "label": "x", "digits": 1, "difference": True}]}
    assert [row[-1] for row in section_cells(summary, "s")[1]][:3] == [
        "+1.9 (1.0)",
        "+2.1 (1.0) †",
        "-2.1 (1.0) †",
    ]


@pytest.fixture
def summary():
    return {
        "study": "toy",
        "citation": "A. Toy (1900).",
        "table": "1",
        "title": "A toy",
        "splits": 2,
        "protocol": ["Draw."],
        "notes": ["A note."],
        "quantities": [
            {"key": "x", "label": "x", "digits": 2, "difference": True},
            {"key": "v", "label": "pair", "digits": 1, "difference": False},
            {"key": "none", "label": "nothing", "digits": 1, "difference": True},
        ],
        "agreement": [],
        "rows": [
            {
                "section": "a",
                "labels": {"who": "one|two"},
                "values": {"x": compare([9.0, 12.0], 10.0, 30), "v": compare([[-0.01, 7e7], [-0.01, 7e7]])},
                "remark": "",
            },
            {
                "section": "a",
                "labels": {"who": "other"},
                "values": {"x": compare([])},
                "remark": "seen, once",
            },
        ],
    }


def test_a_page_of_some_of_the_splits_says_of_how_many(summary):
    said = "So far 2 of 30 splits are done; `python -m studies toy --table 1` computes those that are left.\n"
    assert f"--splits 2`. {said}" in markdown_text(summary | {"published_splits": 30})
    assert "So far" not in markdown_text(summary | {"published_splits": 2})


def test_the_page_has_paper_ours_and_difference(summary):
    page = markdown_text(summary).splitlines()
    assert page[0] == "# A toy"
    assert "Made by `python -m studies toy --table 1 --splits 2`." in page
    assert "| who | x, paper | x, ours (s.e.) | difference (s.e.) | pair | remark |" in page
    assert "| one∣two | 10.00 | 10.50 (1.50) | +0.50 (1.55) | 0.0 / 7.0e+07 |  |" in page
    assert "| other | – | – | – | – | seen, once |" in page
    assert "- A note." in page
    assert "![" not in "".join(page)
    assert "![A toy](table1.png)" in markdown_text(summary, has_figure=True)


def test_narrow_tables_leave_out_rows_without_a_value(summary):
    head, rows = quantity_cells(summary, "a", summary["quantities"][0])
    assert head == ["who", "paper", "ours (s.e.)", "difference (s.e.)"]
    assert rows == [["one|two", "10.00", "10.50 (1.50)", "+0.50 (1.55)"]]
    assert quantity_cells(summary, "a", summary["quantities"][2])[1] == []
    assert [title for title, _, _ in narrow_tables(summary, "a")] == ["a: x", "a: pair"]
    assert remarks(summary, "a") == ["other: seen, once"]


def test_without_published_figures_one_table_is_enough(summary):
    summary["rows"][0]["values"]["x"]["published"] = None
    ((title, head, rows),) = narrow_tables(summary, "a")
    assert title == "a"
    assert head == ["who", "x (s.e.)", "difference (s.e.)", "pair", "remark"]
    assert rows[0][1] == "10.50 (1.50)"


def test_sections_are_apart(summary):
    summary["rows"][1]["section"] = "b"
    assert [len(section_cells(summary, section)[1]) for section in ("a", "b")] == [1, 1]
    assert section_cells(summary, "b") == (["who", "remark"], [["other", "seen, once"]])


def test_a_figure_is_drawn_beside_the_page(tmp_path):
    study = toy.make_study(figure=lambda summary, path: path.write_text(f"{summary['title']} {path.suffix}"))
    run_table(study, study.table("1"), folder=tmp_path, splits=1)
    assert (tmp_path / "table1.png").read_text() == "A toy .png"
    assert "![A toy](table1.png)" in (tmp_path / "table1.md").read_text(encoding="utf-8")

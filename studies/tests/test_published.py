"""Printed numbers: digits, ±, places; how they are compared, counted once, doubted and stood in for."""

from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest

from studies import Claim, DataFile, Published, Study, Table, count_and_sum, run_table
from studies.compare import agreement, cell_counts, compare, comparison_row
from studies.render import agreement_text, doubts, markdown_text, section_cells, stand_ins
from studies.study_page import read_summaries, study_overview
from studies.tests import toy

OURS = [9.0, 11.0, 10.0, 14.0]  # mean 11, variance 14/3


def test_all_printed_digits_survive():
    cell = Published("13.5015", "0.120", "table 2, ionosphere")
    assert (float(cell), cell.digits, str(cell)) == (13.5015, 4, "13.5015 ± 0.120")
    assert cell.half_unit == pytest.approx(5e-5)
    assert Published("7e7", place="C").half_unit == pytest.approx(5e6)
    assert Published("84.60").decimal == Decimal("84.60")


@pytest.mark.parametrize("value", ["", "eighty", "nan", 84.6, "84,6"])
def test_what_is_no_printed_number_is_refused(value):
    with pytest.raises(ValueError, match=r"value must be the number as it is printed, .* \(table 1\); got"):
        Published(value, place="table 1")


def test_a_negative_plus_minus_is_refused():
    with pytest.raises(ValueError, match="plus_minus must not be negative"):
        Published("1.0", "-0.1")


def test_cells_are_counted_and_summed_with_all_digits_and_none_twice():
    cells = [Published("0.1", "0.01", "a"), Published("0.2", place="b"), Published("-0.30", "0.2", "c")]
    assert count_and_sum(cells) == (3, Decimal("0.00"), Decimal("0.21"))
    with pytest.raises(ValueError, match=r"place of its own; got these more than once: \['b'\]"):
        count_and_sum([*cells, Published("0.2", place="b")])
    with pytest.raises(ValueError, match="place of its own"):
        count_and_sum([Published("0.2")])


def test_the_error_of_a_difference_takes_the_printed_spread():
    variance = np.var(OURS, ddof=1)
    found = compare(OURS, Published("10.0", "3.0", "x"), 25)
    assert found["se_difference"] == pytest.approx(np.sqrt(variance / 4 + 9.0 / 25))
    of_mean = compare(OURS, Published("10.0", "3.0", "x", spread="se"), 25)
    assert of_mean["se_difference"] == pytest.approx(np.sqrt(variance / 4 + 9.0))
    alone = compare(OURS, Published("10.0", place="x"), 25)
    assert alone["se_difference"] == pytest.approx(np.sqrt(variance / 4 + variance / 25))
    assert (found["printed"], found["place"], found["doubt"]) == ("10.0 ± 3.0", "x", "")
    with pytest.raises(ValueError, match=r"published_splits must be given .* \(x\)"):
        compare(OURS, Published("10.0", "3.0", "x"))


def test_entries_of_a_vector_are_cells_of_their_own():
    pairs = np.column_stack([OURS, OURS])
    cells = [Published("11.0", "1.0", "first"), Published("90.0", place="second", doubt="smudged.")]
    found = compare(pairs, cells, 30)
    assert found["se_difference"][0] == pytest.approx(compare(OURS, cells[0], 30)["se_difference"])
    assert found["se_difference"][1] == pytest.approx(compare(OURS, cells[1], 30)["se_difference"])
    row = comparison_row("s", {"a": "b"}, {"x": found})
    (count,) = agreement([row], ["x"])
    assert count == {"section": "s", "compared": 1, "beyond": 0, "doubtful": 1, "doubtful_beyond": 1}
    summary = {
        "rows": [row],
        "quantities": [{"key": "x", "label": "x", "digits": 1, "difference": True}],
        "agreement": [count],
    }
    assert section_cells(summary, "s")[1] == [["b", "11.0 ± 1.0 / 90.0 ‡", "11.0 / 11.0", "0.0 / -79.0 †"]]
    other = summary | {"rows": [row | {"stand_in": "Made-up data."}]}
    assert section_cells(other, "s")[1][0][-1] == "0.0 / -79.0"  # not of the data of the printed number
    assert doubts(summary, "s") == ["second: smudged."]
    assert "counted apart: s: 1 of 1" in agreement_text(summary)


def test_a_cell_is_counted_once_and_a_stand_in_never():
    value = compare(OURS, Published("50.0", place="cell"), 30)
    rows = [
        comparison_row("s", {"a": "as printed"}, {"x": value}),
        comparison_row("s", {"a": "variant"}, {"x": value}, counts=False),
        comparison_row("other", {"a": "b"}, {"x": value}, stand_in="Made-up data."),
    ]
    only = [{"section": "s", "compared": 1, "beyond": 1, "doubtful": 0, "doubtful_beyond": 0}]
    assert agreement(rows, ["x"]) == only
    with pytest.raises(ValueError, match=r"'cell' stands in two rows that count.*counts=False"):
        agreement([rows[0], rows[0]], ["x"])


def test_every_published_cell_is_accounted_for():
    def row(place, values, **options):
        return comparison_row(
            "s", {"a": place}, {"x": compare(values, Published("11", place=place), 30)}, **options
        )

    rows = [
        row("sound", OURS),
        row("sound", OURS, counts=False),
        row("single", [11.0]),
        row("elsewhere", OURS, stand_in="Made-up data."),
        row("elsewhere", OURS, stand_in="Made-up data."),
    ]
    expected = {
        "published": 7,
        "compared": 1,
        "beyond": 0,
        "doubtful": 0,
        "stand_in": 1,
        "single": 1,
        "absent": 4,
    }
    assert cell_counts(rows, ["x"], 7) == expected
    assert cell_counts(rows, ["x"])["absent"] == 0


def test_the_page_says_first_what_stands_in():
    summary = {
        "study": "toy", "citation": "A. Toy.", "table": "1", "title": "A toy", "splits": 1, "protocol": [],
        "notes": [], "quantities": [], "agreement": [], "cpu_seconds": 125,
        "rows": [
            comparison_row("s", {"a": "b"}, {}),
            comparison_row("other", {"a": "b"}, {}, stand_in="Made-up data."),
        ],
    }  # fmt: skip
    assert stand_ins(summary) == ["other: Made-up data."]
    page = markdown_text(summary)
    assert page.index("**Stand-in.** other: Made-up data.") < page.index("## s")
    assert "in 2 min of processor time." in page
    assert stand_ins(summary | {"stand_in": "Made-up data."}) == ["Made-up data."]


# --- the page of a study -----------------------------------------------------------------------------------


def judge(summaries):
    beyond = summaries["table1"]["cells"]["beyond"]
    yield Claim("The mean is 10.", "not reproduced" if beyond else "reproduced", f"{beyond} cells beyond.")
    yield Claim("All is well.", "cannot be tested", f"{len(summaries['own-more']['rows'])} rows | of ours.")


def make_study(**options):
    own = toy.make_table(kind="own")
    return Study(
        "toy",
        "A. Toy (1900).",
        {"1": toy.make_table(**options)},
        own={"more": Table(**{**own.__dict__, "name": "more", "title": "more draws"})},
        title="Toy (1900)",
        notes=("Toys are toys.",),
        claims=lambda summaries: list(judge(summaries)),
        data=(DataFile("toys", "The real toys.", {"X": "(n, d)"}),),
    )


def test_a_study_that_judges_parts_does_not_wait_for_the_rest(tmp_path):
    def judge_parts(summaries):
        return [Claim("The first is there.", "reproduced", ", ".join(summaries))]

    waiting = make_study()
    study = replace(waiting, claims=judge_parts, judges_parts=True)
    run_table(study, study.table("1"), folder=tmp_path, splits=20)
    page = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert "| The first is there. | reproduced | table1 |" in page
    assert page.endswith("What needs them is not judged yet: own-more must be computed first.\n")
    assert study_overview(waiting, {"table1": {}})["claims"] == []


def test_the_page_of_a_study_ends_with_the_claims_once_all_is_computed(tmp_path):
    study = make_study(cells=[Published("10.0", place=f"cell {k}") for k in range(5)])
    run_table(study, study.table("1"), folder=tmp_path, splits=20)
    page = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert page.endswith("Not judged yet: own-more must be computed first.\n")
    assert "| [table 1](table1.md) | A toy | 5 | 2 | 0 | 0 | 0 | 0 | 3 |" in page
    run_table(study, study.find("own", "more"), folder=tmp_path, splits=20)
    page = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert page.endswith("| All is well. | cannot be tested | 2 rows ∣ of ours. |\n")
    assert "| The mean is 10. | reproduced | 0 cells beyond. |" in page
    assert "- [more](own-more.md): more draws" in page
    assert "`toys.npz`" in page
    assert "- Toys are toys." in page
    assert list(read_summaries(study, tmp_path)) == ["table1", "own-more"]
    own = (tmp_path / "own-more.md").read_text(encoding="utf-8")
    assert own.startswith("# An experiment of our own: more draws\n")
    assert "--own more" in own


def test_nothing_published_is_a_dash(tmp_path):
    def rows(results):
        return [comparison_row("s", {"who": "toy"}, {"x": compare([1.0, 2.0])})]

    study = make_study()
    table = replace(study.table("1"), rows=rows)
    run_table(replace(study, tables={"1": table}), table, folder=tmp_path, splits=1)
    page = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert "| [table 1](table1.md) | A toy | – | – | – | – | – | – | – |" in page


def test_a_study_without_a_title_keeps_its_page(tmp_path):
    study = toy.make_study()
    (tmp_path / "README.md").write_text("Mine.")
    run_table(study, study.table("1"), folder=tmp_path, splits=1)
    assert (tmp_path / "README.md").read_text() == "Mine."
    assert not (tmp_path / "study.json").exists()


def test_a_table_that_stands_in_counts_nothing(tmp_path):
    study = make_study(stand_in="Made-up data.")
    summary = run_table(study, study.table("1"), folder=tmp_path, splits=3)
    assert summary["agreement"] == []
    assert (summary["cells"]["compared"], summary["cells"]["stand_in"]) == (0, 2)
    assert "- [table 1](table1.md): Made-up data." in (tmp_path / "README.md").read_text(encoding="utf-8")


def test_an_own_experiment_counts_nothing_and_has_no_published_cells(tmp_path):
    study = make_study()
    summary = run_table(study, study.find("own", "more"), folder=tmp_path, splits=3)
    assert summary["agreement"] == []
    with pytest.raises(ValueError, match="our own and must have no published cells"):
        toy.make_table(kind="own", cells=[Published("1")])


def test_a_verdict_is_one_of_three():
    with pytest.raises(ValueError, match="reproduced, not reproduced, cannot be tested; got 'perhaps'"):
        Claim("It works.", "perhaps", "")

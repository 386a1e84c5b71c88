"""The counts of what is reproduced: of a study made by hand, and of the pages of the repository."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from studies import Published, Quantity, Study, Table, list_studies, run_table
from studies.__main__ import app
from studies.compare import compare, comparison_row
from studies.counts import (
    ABSENT,
    FEWER,
    PARTLY,
    PROTOCOL,
    STAND_IN,
    UNEXPLAINED,
    count_errata,
    count_study,
    entry_state,
    errata_of,
)
from studies.study_page import read_summaries
from studies.tests import toy

ROOT = Path(__file__).parents[2]
CELLS = [Published(text, place=f"table 1, {text}") for text in ("1.0", "5.0", "9.0", "2.0")]
CELLS[3] = replace(CELLS[3], doubt="Smudged.")


def rows(results):
    """Ours is 1.0 ± 0.1: one number within two s.e., two beyond, one doubtful."""
    return [
        comparison_row("a", {"who": str(cell)}, {"x": compare([0.9, 1.0, 1.1], cell, 30)}) for cell in CELLS
    ]


def make_study(**options):
    table = Table("1", "A toy", 1, 2, toy.make_table().units, rows, (Quantity("x", "x", 2),), cells=CELLS)
    return Study(
        "toy", "A. Toy (1900).", {"1": replace(table, **options)}, title="Toy, Tuy & Tay (1900)",
        reasons={r"table 1, 9": "Upside down."},
    )  # fmt: skip


def counted(folder, splits=2, **options):
    study = make_study(**options)
    run_table(study, study.table("1"), folder=folder, splits=splits)
    return count_study(study, read_summaries(study, folder))


def test_numbers_are_counted_once_and_those_beyond_have_their_reason(tmp_path):
    counts = counted(tmp_path)
    assert counts["cells"] == {
        "published": 4, "compared": 3, "within": 1, "beyond": 2, "doubtful": 1, "single": 0, "stand_in": 0,
        "absent": 0,
    }  # fmt: skip
    assert [(cell["place"], cell["reason"]) for cell in counts["beyond"]] == [
        ("table 1, 5.0", UNEXPLAINED),
        ("table 1, 9.0", "Upside down."),
    ]
    page = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert "| Upside down. | 1 | 1 in table 1 |" in page and f"| {UNEXPLAINED} | 1 | 1 in table 1 |" in page


def test_a_table_is_by_the_protocol_on_a_part_of_the_splits_by_stand_in_or_absent(tmp_path):
    def state(**options):
        found = counted(tmp_path, **options)["entries"]
        return {name: entries for name, entries in found.items() if entries}

    assert state() == {PROTOCOL: ["table 1"]}
    assert state(splits=1) == {FEWER: ["table 1 (1 of 2)"]}
    assert state(stand_in="Other toys.") == {STAND_IN: ["table 1"]}
    assert entry_state({"stand_in": "", "rows": [{}, {"stand_in": "Here."}]}) == PARTLY
    assert entry_state({"stand_in": "", "rows": [{"stand_in": "Here."}]}) == STAND_IN
    missing = count_study(make_study(), {})
    assert missing["entries"][ABSENT] == ["table 1"]
    assert missing["cells"]["absent"] == missing["cells"]["published"] == 4


def test_errata_are_headings_that_do_not_begin_with_not(tmp_path):
    page = tmp_path / "errata.md"
    page.write_text("# E\n## Toy et al. 1900\n### A\n### Not printed: B\n### Nothing\n## Toy 1901\n### C\n")
    errata = count_errata(page)
    assert errata == {"Toy et al. 1900": 2, "Toy 1901": 1}
    assert errata_of(make_study(), errata) == 2


def test_the_command_counts_what_the_pages_of_the_repository_say():
    result = CliRunner().invoke(app, ["--counts"])
    assert result.exit_code == 0
    errata = count_errata(ROOT / "docs" / "errata.md")
    for study in (study for study in list_studies() if study.title):
        assert errata_of(study, errata) > 0
        folder, entries = ROOT / "docs" / "reproduce" / study.name, study.entries()
        published = [entry for entry in entries if entry.kind != "own"]
        paths = [folder / f"{entry.stem}.json" for entry in published]
        pages = [json.loads(path.read_text("utf-8")) for path in paths if path.is_file()]
        missing = [entry for entry, path in zip(published, paths, strict=True) if not path.is_file()]
        waiting = sum(len(entry.cells) for entry in missing)  # for computing, or for data of the user
        cells = count_study(study, read_summaries(study, ROOT / "docs" / "reproduce" / study.name))["cells"]
        for key, more in (("published", waiting), ("beyond", 0), ("absent", waiting)):
            assert cells[key] == sum(page["cells"][key] for page in pages) + more
        assert f"{study.title}\n  tables and figures: {len(published)}\n" in result.stdout
        assert f"  published numbers: {cells['published']}\n" in result.stdout


@pytest.mark.parametrize("beside", [("--table", "1"), ("--all",)])
def test_counting_stands_alone(beside):
    refused = CliRunner(env={"COLUMNS": "200", "NO_COLOR": "1"}).invoke(app, ["--counts", *beside])
    assert refused.exit_code == 2
    assert "--counts must stand without" in refused.stderr


@pytest.mark.parametrize("study", [pytest.param(s, id=s.name) for s in list_studies() if s.reasons])
def test_every_reason_is_of_a_number_that_is_beyond(study):
    found = count_study(study, read_summaries(study, ROOT / "docs" / "reproduce" / study.name))["beyond"]
    assert set(study.reasons.values()) <= {cell["reason"] for cell in found}

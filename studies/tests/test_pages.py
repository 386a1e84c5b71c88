"""The pages of the repository: each is of an entry of the registry, and is what its results say."""

import json
from pathlib import Path

import pytest

from studies import list_studies
from studies.render import markdown_text
from studies.study_page import read_summaries, study_overview, study_text

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "reproduce"
STUDIES = [pytest.param(study, id=study.name) for study in list_studies()]


def names_in(folder, pattern):
    return {path.stem for path in folder.glob(pattern)}


@pytest.mark.parametrize("study", STUDIES)
def test_pages_and_results_are_of_entries_that_exist(study):
    stems = {entry.stem for entry in study.entries()}
    pages = names_in(PAGES / study.name, "*.json") - {"study"}
    assert pages <= stems
    assert names_in(PAGES / study.name, "*.md") - {"README"} == pages
    assert names_in(PAGES / study.name, "*.png") <= pages
    assert names_in(ROOT / "studies" / study.name / "results", "*.jsonl") <= stems


@pytest.mark.parametrize("study", STUDIES)
def test_every_page_is_what_its_summary_says(study):
    for path in (PAGES / study.name).glob("*.md"):
        if path.stem != "README":
            summary = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
            page = markdown_text(summary, path.with_suffix(".png").exists())
            assert path.read_text(encoding="utf-8") == page, path.name


@pytest.mark.parametrize("study", [param for param in STUDIES if param.values[0].title])
def test_the_page_of_a_study_and_its_claims_are_those_of_its_summaries(study):
    folder = PAGES / study.name
    summaries = read_summaries(study, folder)
    overview = study_overview(study, summaries)
    assert json.loads((folder / "study.json").read_text(encoding="utf-8")) == overview
    assert (folder / "README.md").read_text(encoding="utf-8") == study_text(study, summaries, overview)

"""The map of the survey names what the package has, and tells of the rest why it is left out."""

import re

import pytest

from tests import survey_map
from tests.methods_page import LEFT_OUT
from tests.public import exported


@pytest.mark.parametrize("entry", survey_map.ENTRIES, ids=lambda entry: entry[1])
def test_a_method_is_in_the_package_or_left_out_with_a_reason(entry):
    _, papers, classes = entry
    names = survey_map.class_names(entry)
    assert set(names) <= set(exported())
    if not classes:
        author = re.split(r" et al\.| &", papers)[0]
        year = re.search(r"\d{4}", papers)[0]
        assert any(row[0].startswith(author) and row[0].endswith(year) for row in LEFT_OUT)


def test_what_is_left_out_is_on_the_map():
    papers = " ".join(entry[1] for entry in survey_map.ENTRIES if not entry[2])
    for row in LEFT_OUT:
        author, year = re.match(r"(\w+).* (\d{4})$", row[0]).groups()
        assert re.search(rf"{author}[^;]*{year}", papers)


def test_figures_are_those_of_the_runs(tmp_path, monkeypatch):
    accuracy = tmp_path / "accuracy.jsonl"
    lines = [
        {"method": "tuned", "set": "a", "seed": 0, "accuracy": 0.90},
        {"method": "tuned", "set": "b", "seed": 0, "accuracy": 0.80},
        {"method": "easy_mkl", "set": "a", "seed": 0, "accuracy": 0.85},
        {"method": "easy_mkl", "set": "b", "seed": 0, "refused": "two classes"},
    ]
    accuracy.write_text("".join(survey_map.json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    times = tmp_path / "times.md"
    times.write_text("| `easy_mkl` | classification | 0.040 | **51.5** | optimal |\n", encoding="utf-8")
    monkeypatch.setattr(survey_map, "ACCURACY", accuracy)
    monkeypatch.setattr(survey_map, "TIMES", times)
    assert survey_map.differences() == pytest.approx({"tuned": 0.0, "easy_mkl": -5.0})
    assert survey_map.fits() == {"easy_mkl": 51.5}

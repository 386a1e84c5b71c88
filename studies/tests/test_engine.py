"""The engine: every unit once, whatever stops the run; and the same result in whatever order."""

import json
from dataclasses import replace
from types import FunctionType

import numpy as np
import pytest

from studies import Unit, run_table
from studies.tests import toy


@pytest.fixture(autouse=True)
def fresh_toy(monkeypatch):
    monkeypatch.setattr(toy, "INTERRUPT_AT", [])
    monkeypatch.setattr(toy, "COMPUTED", [])


def run(folder, splits=4, jobs=1, progress=None, **options):
    study = toy.make_study(**options)
    return run_table(study, study.table("1"), folder=folder, splits=splits, jobs=jobs, progress=progress)


def lines(folder):
    return (folder / "table1.jsonl").read_text(encoding="utf-8").splitlines()


# --- stop and go on ----------------------------------------------------------------------------------------


def test_a_run_that_was_interrupted_goes_on_and_ends_as_one_that_was_not(tmp_path):
    whole = run(tmp_path / "whole")
    toy.COMPUTED.clear()
    toy.INTERRUPT_AT.append("aa/3")
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "parts")
    assert toy.COMPUTED == ["aa/0", "aa/1", "aa/2"]
    assert len(lines(tmp_path / "parts")) == 3
    assert not (tmp_path / "parts" / "table1.md").exists()
    toy.INTERRUPT_AT.clear()
    resumed = run(tmp_path / "parts")
    assert toy.COMPUTED == ["aa/0", "aa/1", "aa/2", "aa/3", "b/0", "b/1", "b/2", "b/3"]  # none of them twice
    assert resumed == whole
    for name in ("table1.md", "table1.json"):
        assert (tmp_path / "parts" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_a_line_that_was_torn_is_computed_again(tmp_path):
    whole = run(tmp_path)
    path = tmp_path / "table1.jsonl"
    content = path.read_bytes()
    for torn in (content[:-1], content[:-20], content + b'{"key": "aa/0", "fing'):
        path.write_bytes(torn)
        assert run(tmp_path) == whole
        assert [json.loads(line)["key"] for line in lines(tmp_path)] == toy.COMPUTED[:8]


def test_a_damaged_line_in_the_middle_is_an_error_that_names_it(tmp_path):
    run(tmp_path)
    kept = lines(tmp_path)
    kept[2] = kept[2][:-5]
    (tmp_path / "table1.jsonl").write_text("\n".join(kept) + "\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"line 3 of .*table1\.jsonl.*Remove that line"):
        run(tmp_path)


def test_more_splits_add_only_those(tmp_path):
    run(tmp_path, splits=2)
    toy.COMPUTED.clear()
    assert run(tmp_path, splits=3)["rows"][0]["values"]["x"]["n"] == 3
    assert toy.COMPUTED == ["aa/2", "b/2"]
    toy.COMPUTED.clear()
    assert run(tmp_path, splits=2)["rows"][0]["values"]["x"]["n"] == 2
    assert toy.COMPUTED == []


def test_a_unit_of_two_tables_is_computed_once(tmp_path):
    study = toy.make_study()
    study = replace(study, tables={**study.tables, "2": replace(study.table("1"), name="2")})
    first = run_table(study, study.table("1"), folder=tmp_path, splits=2)
    toy.COMPUTED.clear()
    second = run_table(study, study.table("2"), folder=tmp_path, splits=3)
    assert toy.COMPUTED == ["aa/2", "b/2"]
    assert (tmp_path / "table2.jsonl").read_text().startswith((tmp_path / "table1.jsonl").read_text())
    assert run_table(study, study.table("1"), folder=tmp_path, splits=3)["rows"] == second["rows"]
    assert run_table(study, study.table("1"), folder=tmp_path, splits=2) == first
    toy.COMPUTED.clear()
    other = replace(study.table("2"), name="3", version=9)  # another protocol takes nothing
    run_table(replace(study, tables={**study.tables, "3": other}), other, folder=tmp_path, splits=1)
    assert toy.COMPUTED == ["aa/0", "b/0"]


# --- protocol ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("changed", [{"version": 2}, {"function": toy.draw_slowly}])
def test_a_changed_protocol_uses_no_old_result(tmp_path, changed):
    run(tmp_path, splits=1)
    toy.COMPUTED.clear()
    run(tmp_path, splits=1, **changed)
    assert toy.COMPUTED == ["aa/0", "b/0"]
    toy.COMPUTED.clear()
    run(tmp_path, splits=1)  # the old results are still there
    assert toy.COMPUTED == []


def test_a_fingerprint_depends_on_all_that_the_result_depends_on():
    unit = Unit("k", toy.draw, {"group": "a", "split": 1}, ("sonar",))
    base = unit.fingerprint(1, {"sonar": "s"})
    assert base == Unit("other key", toy.draw, {"split": 1, "group": "a"}, ("sonar",)).fingerprint(
        1, {"sonar": "s", "unused": "u"}
    )
    others = [
        unit.fingerprint(2, {"sonar": "s"}),
        unit.fingerprint(1, {"sonar": "changed"}),
        Unit("k", toy.draw, {"group": "a", "split": 2}, ("sonar",)).fingerprint(1, {"sonar": "s"}),
        Unit("k", toy.draw_slowly, {"group": "a", "split": 1}, ("sonar",)).fingerprint(1, {"sonar": "s"}),
    ]
    assert len({base, *others}) == 5


def test_a_fingerprint_does_not_depend_on_the_module_of_the_function():
    unit = Unit("k", toy.draw, {"split": 1})
    moved = FunctionType(toy.draw.__code__, {}, "draw")
    moved.__module__, moved.__qualname__ = "elsewhere", "draw"
    assert Unit("k", moved, {"split": 1}).fingerprint(1, {}) == unit.fingerprint(1, {})


def test_keys_must_differ(tmp_path):
    table = toy.make_table()
    doubled = type(table)(**(vars(table) | {"units": lambda splits: [*table.units(splits), *table.units(1)]}))
    study = type(toy.make_study())("toy", "", {"1": doubled})
    with pytest.raises(ValueError, match="keys of units must differ; 6 units have 4 keys"):
        run_table(study, doubled, folder=tmp_path, splits=2)


# --- jobs, progress, errors --------------------------------------------------------------------------------


def test_two_jobs_give_what_one_gives(tmp_path):
    assert run(tmp_path / "two", jobs=2) == run(tmp_path / "one", jobs=1)
    for name in ("table1.md", "table1.json"):
        assert (tmp_path / "two" / name).read_bytes() == (tmp_path / "one" / name).read_bytes()
    assert len(lines(tmp_path / "two")) == 8


def test_progress_begins_with_what_is_stored(tmp_path):
    run(tmp_path, splits=1)
    seen = []
    run(tmp_path, splits=2, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(2, 4), (3, 4), (4, 4)]


def test_a_unit_that_fails_is_named(tmp_path):
    with pytest.raises(ValueError, match="do not please") as caught:
        run(tmp_path, function=toy.refuse)
    assert caught.value.__notes__ == ["(unit aa/0)"]


@pytest.mark.parametrize("wrong", [{"splits": 0}, {"jobs": 0}])
def test_splits_and_jobs_are_positive(tmp_path, wrong):
    with pytest.raises(ValueError, match=f"{next(iter(wrong))} must be a positive integer"):
        run(tmp_path, **wrong)


# --- the summary -------------------------------------------------------------------------------------------


def test_the_summary_has_our_mean_beside_the_published_one(tmp_path):
    summary = run(tmp_path, splits=5)
    drawn = np.array([np.random.default_rng([2, split]).normal(10.0) for split in range(5)])
    value = summary["rows"][0]["values"]["x"]
    assert value["n"] == 5
    assert value["published"] == 10.0
    assert value["mean"] == pytest.approx(drawn.mean())
    spread = np.sqrt(((drawn - drawn.mean()) ** 2).sum() / 4)
    assert value["se"] == pytest.approx(spread / np.sqrt(5))
    assert value["difference"] == pytest.approx(drawn.mean() - 10.0)
    assert value["se_difference"] == pytest.approx(np.sqrt(spread**2 / 5 + spread**2 / 30))
    assert json.loads((tmp_path / "table1.json").read_text(encoding="utf-8")) == summary


def test_a_figure_is_kept_apart_from_the_table_of_the_same_name(tmp_path):
    study = toy.make_study_with_figure()
    table = run_table(study, study.table("1"), folder=tmp_path, splits=1)
    kept = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert set(kept) == {"table1.json", "table1.jsonl", "table1.md"}
    figure = run_table(study, study.figure("1"), folder=tmp_path, splits=2)
    assert {path.name: path.read_bytes() for path in tmp_path.glob("table1.*")} == kept
    assert {path.name for path in tmp_path.glob("figure1.*")} == {
        "figure1.json",
        "figure1.jsonl",
        "figure1.md",
        "figure1.png",
    }
    assert (table["table"], figure["figure"]) == ("1", "1")
    assert "figure" not in table
    assert "table" not in figure
    page = (tmp_path / "figure1.md").read_text(encoding="utf-8")
    assert "Made by `python -m studies toy --figure 1 --splits 2`." in page
    assert "![A toy](figure1.png)" in page


def test_a_figure_must_have_a_picture_and_a_name_that_is_known():
    with pytest.raises(ValueError, match="figure '1' must have a function that draws it"):
        toy.make_table(kind="figure")
    with pytest.raises(ValueError, match="has no figure '2'; it has the tables 1 and the figures 1"):
        toy.make_study_with_figure().figure("2")
    with pytest.raises(ValueError, match="study 'toy' has no figure '1'; it has the tables 1 and no figures"):
        toy.make_study().figure("1")

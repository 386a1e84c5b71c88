"""``python -m studies``: what it prints and where, exit codes, and errors without tracebacks."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
import sklearn.datasets
from typer.testing import CliRunner

from studies import Study, Unit, list_studies, registry, run_table
from studies import __main__ as command
from studies.__main__ import app
from studies.tests import toy

ROOT = Path(__file__).parents[2]


@pytest.fixture
def toy_study(monkeypatch):
    monkeypatch.setattr(toy, "INTERRUPT_AT", [])
    monkeypatch.setattr(registry, "_STUDIES", {"toy": toy.make_study()})


def lacking_units(splits):
    return [Unit("a", toy.draw, {"group": "a", "split": 0}, ("nobody has it",))]


LACKING = Study("lacking", "L. (1901).", {"1": replace(toy.make_table(), units=lacking_units)})


def into(folder):
    return ("--out", folder, "--results", folder)


def call(*arguments):
    # wide enough that rich breaks no line that a test looks for
    result = CliRunner(env={"COLUMNS": "200", "NO_COLOR": "1"}).invoke(app, list(map(str, arguments)))
    if result.exception is not None:
        assert isinstance(result.exception, SystemExit), result.exception
    assert "Traceback" not in result.output
    return result


def test_without_arguments_all_tables_and_figures_are_listed():
    run = subprocess.run(
        [sys.executable, "-m", "studies"], cwd=ROOT, capture_output=True, encoding="utf-8", check=True
    )
    for study in list_studies():
        assert f"{study.name}: {study.citation}\n" in run.stdout
        for entry in study.entries():
            assert f"  --{entry.kind} {entry.name} " in run.stdout
            assert f" {entry.title}\n" in run.stdout


def test_the_help_names_the_options():
    described = call("--help").stdout
    for option in (
        "--table",
        "--figure",
        "--splits",
        "--jobs",
        "--scheduler",
        "--data",
        "--out",
        "--results",
        "--json",
        "--counts",
    ):
        assert option in described


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nobody1999", "--table", 1), "one of toy; got 'nobody1999'"),
        (("--table", 1), "study must be one of toy; got none"),
        (("toy", "--table", 7), "study 'toy' has no table '7'; it has the tables 1 and no figures"),
        (("toy",), "must be given; got none. Study 'toy' has the tables 1 and no figures"),
        (("toy", "--table", 1, "--figure", 1), "got --table 1 and --figure 1"),
        (("toy", "--figure", 1), "study 'toy' has no figure '1'; it has the tables 1 and no figures"),
        (("toy", "--table", 1, "--splits", 0), "--splits"),
        (("toy", "--table", 1, "--jobs", "many"), "--jobs"),
    ],
)
def test_what_is_not_understood_has_exit_code_2(toy_study, tmp_path, monkeypatch, arguments, said):
    monkeypatch.chdir(tmp_path)
    result = call(*arguments)
    assert result.exit_code == 2
    assert said in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_table_is_shown_and_written_where_the_pages_and_the_results_are(toy_study, tmp_path, monkeypatch):
    monkeypatch.setattr(command, "ROOT", tmp_path)
    result = call("toy", "--table", 1, "--splits", 3)
    assert result.exit_code == 0
    for text in (
        "aa: x",
        "paper",
        "ours (s.e.)",
        "difference (s.e.)",
        "10.00",
        "toy: never seen",
        "beyond two standard errors",
        "- A note.",
    ):
        assert text in result.stdout
    assert "Processor time: 0 s\n" in result.stdout
    assert "table1.md, .json\n" in result.stdout
    files = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()}
    pages = {f"docs/reproduce/toy/table1{suffix}" for suffix in (".md", ".json")}
    assert files == pages | {"studies/toy/results/table1.jsonl"}


def test_a_figure_is_shown_and_written_with_its_picture(monkeypatch, tmp_path):
    monkeypatch.setattr(registry, "_STUDIES", {"toy": toy.make_study_with_figure()})
    result = call("toy", "--figure", 1, "--splits", 2, *into(tmp_path))
    assert result.exit_code == 0
    assert f"Written: {tmp_path / 'figure1'}.md, .json, .png" in result.stdout
    names = ["figure1.json", "figure1.jsonl", "figure1.md", "figure1.png"]
    assert sorted(path.name for path in tmp_path.iterdir()) == names


def test_all_tables_are_computed_and_their_time_is_said(monkeypatch, tmp_path):
    studies = {"toy": toy.make_study_with_figure(), "lacking": LACKING}
    monkeypatch.setattr(registry, "_STUDIES", studies)
    monkeypatch.setattr(command, "ROOT", tmp_path)
    result = call("--all", "--splits", 2)
    assert result.exit_code == 0
    pages = tmp_path / "docs" / "reproduce" / "toy"
    for name in ("table", "figure"):
        assert f"toy --{name} 1: {pages / name}1.md, 0 s\n" in result.stdout
    assert "Not computed: lacking --table 1: data set 'nobody has it' is in none of" in result.stdout
    assert result.stdout.endswith("Processor time of all: 0 s\n")
    assert "toy" not in call("lacking", "--all").stdout
    refused = call("toy", "--all", "--table", 1)
    assert refused.exit_code == 2
    assert "--all must stand without --table, --figure, --own, --json; got --table too" in refused.stderr


def test_json_is_all_that_is_printed_when_it_is_asked_for(toy_study, tmp_path):
    result = call("toy", "--table", 1, "--splits", 3, *into(tmp_path / "out"), "--json")
    assert result.exit_code == 0
    printed = json.loads(result.stdout)
    assert printed == json.loads((tmp_path / "out" / "table1.json").read_text(encoding="utf-8"))
    assert printed["rows"][0]["values"]["x"]["n"] == 3


def test_an_interrupt_says_how_to_go_on(toy_study, tmp_path):
    toy.INTERRUPT_AT.append("b/1")
    arguments = ("toy", "--table", 1, "--splits", 2, *into(tmp_path))
    result = call(*arguments)
    assert result.exit_code == 130
    assert "3 of 4 pieces are kept" in result.stderr
    assert "same command again" in result.stderr
    toy.INTERRUPT_AT.clear()
    assert call(*arguments).exit_code == 0


def test_a_refusal_names_the_unit_without_a_traceback(monkeypatch, tmp_path):
    monkeypatch.setattr(registry, "_STUDIES", {"toy": toy.make_study(function=toy.refuse)})
    result = call("toy", "--table", 1, "--splits", 1, *into(tmp_path))
    assert result.exit_code == 1
    assert "Error: the data do not please. (unit aa/0)" in result.stderr


def test_missing_data_are_a_clear_error(data_folder, monkeypatch, tmp_path):
    def refuse(*args, **kwargs):
        raise OSError("no network in the tests")

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", refuse)
    data_folder()
    result = call("lanckriet2004", "--table", 1, "--splits", 1, *into(tmp_path / "out"))
    assert result.exit_code == 1
    assert "OpenML, where it is data set" in result.stderr
    assert "set MULTIKERNEL_DATA to a folder with a manifest.json" in result.stderr


_TOY_COMMAND = """
from studies import registry
from studies.__main__ import main
from studies.tests import toy

registry._STUDIES = {"toy": toy.make_study(function=toy.draw_slowly)}
main()
"""


def test_ctrl_c_with_two_processes_loses_nothing(tmp_path):
    """A real signal to a real group of processes, as a terminal sends it."""
    splits = 200
    arguments = [
        "toy",
        "--table",
        "1",
        "--splits",
        str(splits),
        "--jobs",
        "2",
        *map(str, into(tmp_path)),
    ]
    process = subprocess.Popen(
        [sys.executable, "-c", _TOY_COMMAND, *arguments],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # A runner in the background may ignore the signal, and its children would inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    path = tmp_path / "table1.jsonl"
    while process.poll() is None and not (path.exists() and path.read_bytes().count(b"\n") >= 3):
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGINT)
    stderr = process.communicate()[1]
    assert process.returncode == 130, stderr
    assert f"of {2 * splits} pieces are kept" in stderr
    assert "Traceback" not in stderr
    kept = [json.loads(line)["key"] for line in path.read_text(encoding="utf-8").splitlines()]
    assert 3 <= len(kept) < 2 * splits
    study = toy.make_study(function=toy.draw_slowly)
    seen = []
    run_table(
        study,
        study.table("1"),
        folder=tmp_path,
        splits=3,
        progress=lambda done, total: seen.append(done),
    )
    assert seen[0] == len({f"{group}/{split}" for group in ("aa", "b") for split in range(3)} & set(kept))
    assert seen[0] > 0


def test_a_table_on_a_cluster_is_the_same(client, toy_study, tmp_path):
    arguments = ("toy", "--table", 1, "--splits", 3)
    assert call(*arguments, *into(tmp_path / "here")).exit_code == 0
    there = call(*arguments, *into(tmp_path / "there"), "--scheduler", client.scheduler.address)
    assert there.exit_code == 0
    written = [(tmp_path / place / "table1.json").read_bytes() for place in ("here", "there")]
    assert written[0] == written[1]

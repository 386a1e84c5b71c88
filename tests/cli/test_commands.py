"""The command line: what it prints and where, exit codes, and errors without tracebacks."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import sklearn.datasets
from typer.testing import CliRunner

import multikernel
from multikernel.cli import app
from multikernel.reproduce import registry, run_table
from tests.reproduce import toy

ROOT = Path(__file__).parents[2]


@pytest.fixture
def toy_study(monkeypatch):
    monkeypatch.setattr(toy, "INTERRUPT_AT", [])
    monkeypatch.setattr(registry, "_STUDIES", {"toy": toy.make_study()})


@pytest.fixture
def data(monkeypatch, tmp_path):
    """One sound data set, no cache, no network."""
    folder = tmp_path / "data"
    folder.mkdir()
    np.savez(folder / "tiny.npz", X=np.eye(2), y=np.array([0, 1]))
    entry = {
        "file": "tiny.npz",
        "sha256": hashlib.sha256((folder / "tiny.npz").read_bytes()).hexdigest(),
        "arrays": {"X": {"shape": [2, 2], "dtype": "float64"}, "y": {"shape": [2], "dtype": "int64"}},
        "n": 2,
        "d": 2,
        "target": "y: 0=no, 1=yes",
    }
    (folder / "manifest.json").write_text(json.dumps({"format": 1, "datasets": {"tiny": entry}}))

    def refuse(*args, **kwargs):
        raise OSError("no network in the tests")

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", refuse)
    monkeypatch.setenv("MULTIKERNEL_DATA", str(folder))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return folder


def call(*arguments):
    # wide enough that rich breaks no line that a test looks for
    result = CliRunner(env={"COLUMNS": "200", "NO_COLOR": "1"}).invoke(app, list(map(str, arguments)))
    if result.exception is not None:
        assert isinstance(result.exception, SystemExit), result.exception
    assert "Traceback" not in result.output
    return result


# --- the whole ---------------------------------------------------------------------------------------------


def test_the_version():
    result = call("--version")
    assert result.exit_code == 0
    assert result.stdout == f"multikernel {multikernel.__version__}\n"


def test_help_names_the_commands():
    result = call("--help")
    assert result.exit_code == 0
    for command in ("reproduce", "data"):
        assert command in result.stdout
    described = " ".join(call("reproduce", "--help").stdout.replace("│", " ").split())
    for text in ("lanckriet2004: 1, 2, 3", "ye2007: 1, 2, figure 1", "--table", "--figure"):
        assert text in described


def test_an_unknown_command_is_misuse():
    assert call("nonsense").exit_code == 2


# --- reproduce ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nobody1999", "--table", 1), "one of toy; got 'nobody1999'"),
        (("toy", "--table", 7), "has the tables 1; got '7'"),
        (("toy",), "exactly one of --table and --figure must be given; got neither"),
        (("toy", "--table", 1, "--figure", 1), "got --table 1 and --figure 1"),
        (("toy", "--figure", 1), "study 'toy' has no figures; got '1'"),
        (("toy", "--table", 1, "--splits", 0), "--splits"),
        (("toy", "--table", 1, "--jobs", "many"), "--jobs"),
    ],
)
def test_what_is_not_understood_has_exit_code_2(toy_study, tmp_path, monkeypatch, arguments, said):
    monkeypatch.chdir(tmp_path)
    result = call("reproduce", *arguments)
    assert result.exit_code == 2
    assert said in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_table_is_shown_and_written_under_the_current_folder(toy_study, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = call("reproduce", "toy", "--table", 1, "--splits", 3)
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
    assert "table1.md, .json, .jsonl\n" in result.stdout
    folder = tmp_path / "reproduce" / "toy"
    assert sorted(path.name for path in folder.iterdir()) == ["table1.json", "table1.jsonl", "table1.md"]


def test_a_figure_is_shown_and_written_with_its_picture(monkeypatch, tmp_path):
    monkeypatch.setattr(registry, "_STUDIES", {"toy": toy.make_study_with_figure()})
    result = call("reproduce", "toy", "--figure", 1, "--splits", 2, "--out", tmp_path)
    assert result.exit_code == 0
    assert f"Written: {tmp_path / 'figure1'}.md, .json, .jsonl, .png" in result.stdout
    names = ["figure1.json", "figure1.jsonl", "figure1.md", "figure1.png"]
    assert sorted(path.name for path in tmp_path.iterdir()) == names


def test_json_is_all_that_is_printed_when_it_is_asked_for(toy_study, tmp_path):
    result = call("reproduce", "toy", "--table", 1, "--splits", 3, "--out", tmp_path / "out", "--json")
    assert result.exit_code == 0
    printed = json.loads(result.stdout)
    assert printed == json.loads((tmp_path / "out" / "table1.json").read_text(encoding="utf-8"))
    assert printed["rows"][0]["values"]["x"]["n"] == 3


def test_an_interrupt_says_how_to_go_on(toy_study, tmp_path):
    toy.INTERRUPT_AT.append("b/1")
    arguments = ("reproduce", "toy", "--table", 1, "--splits", 2, "--out", tmp_path)
    result = call(*arguments)
    assert result.exit_code == 130
    assert "3 of 4 pieces are kept" in result.stderr
    assert "same command again" in result.stderr
    toy.INTERRUPT_AT.clear()
    assert call(*arguments).exit_code == 0


def test_a_refusal_names_the_unit_without_a_traceback(monkeypatch, tmp_path):
    monkeypatch.setattr(registry, "_STUDIES", {"toy": toy.make_study(function=toy.refuse)})
    result = call("reproduce", "toy", "--table", 1, "--splits", 1, "--out", tmp_path)
    assert result.exit_code == 1
    assert "Error: the data do not please. (unit aa/0)" in result.stderr


def test_missing_data_are_a_clear_error(data, tmp_path):
    result = call("reproduce", "lanckriet2004", "--table", 1, "--splits", 1, "--out", tmp_path / "out")
    assert result.exit_code == 1
    assert "OpenML cannot be asked" in result.stderr
    assert "Set MULTIKERNEL_DATA to a folder with a manifest.json" in result.stderr


_TOY_COMMAND = """
from multikernel.cli import main
from multikernel.reproduce import registry
from tests.reproduce import toy

registry._STUDIES = {"toy": toy.make_study(function=toy.draw_slowly)}
main()
"""


@pytest.mark.thorough
def test_ctrl_c_with_two_processes_loses_nothing(tmp_path):
    """A real signal to a real group of processes, as a terminal sends it."""
    splits = 200
    arguments = [
        "reproduce",
        "toy",
        "--table",
        "1",
        "--splits",
        str(splits),
        "--jobs",
        "2",
        "--out",
        str(tmp_path),
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


# --- data --------------------------------------------------------------------------------------------------


def test_data_are_listed_shown_and_checked(data):
    listed = call("data", "list")
    assert listed.exit_code == 0
    assert "tiny" in listed.stdout
    assert "OpenML" in listed.stdout
    shown = call("data", "show", "tiny")
    assert shown.exit_code == 0
    for text in ("tiny: n=2, d=2", "y: 0=no, 1=yes", "(2, 2)", "float64"):
        assert text in shown.stdout
    for arguments in (("tiny",), ()):
        checked = call("data", "check", *arguments)
        assert checked.exit_code == 0
        assert "tiny: sound, sha256" in checked.stdout


def test_data_that_are_missing_or_damaged_are_errors(data):
    missing = call("data", "show", "nothing")
    assert missing.exit_code == 1
    assert "'nothing' is in none of the folders" in missing.stderr
    with (data / "tiny.npz").open("ab") as file:
        file.write(b"x")
    damaged = call("data", "check")
    assert damaged.exit_code == 1
    assert "does not match its checksum" in damaged.stderr
    assert damaged.stdout == ""
    told = call("data", "check", "--json", "tiny", "nothing")
    assert told.exit_code == 1
    assert [(report["name"], report["sound"]) for report in json.loads(told.stdout)] == [
        ("tiny", False),
        ("nothing", False),
    ]


def test_data_as_json(data):
    rows = {row["name"]: row for row in json.loads(call("data", "list", "--json").stdout)}
    assert rows["sonar"]["n"] is None  # nobody knows before it is fetched
    absent = call("data", "check", "sonar")
    assert absent.exit_code == 1 and "comes from OpenML and is not on disk" in absent.stderr
    assert (rows["tiny"]["n"], rows["tiny"]["source"], rows["tiny"]["where"]) == (2, "folder", str(data))
    assert rows["digits"]["views"] == 5
    listed = json.loads(call("data", "list", "--json", "--views").stdout)
    assert [row["name"] for row in listed] == ["digits"]
    assert call("data", "list", "--task", "guess").exit_code == 2
    shown = json.loads(call("data", "show", "digits", "--json").stdout)
    assert shown["views"]["orientations"] == 32
    assert shown["arrays"]["y"] == {"shape": [1797], "dtype": "int64"}
    checked = json.loads(call("data", "check", "--json").stdout)
    assert [(report["name"], report["sound"]) for report in checked] == [("tiny", True)]


def test_the_list_of_data_is_readable_on_80_columns(data):
    printed = CliRunner(env={"COLUMNS": "80", "NO_COLOR": "1"}).invoke(app, ["data", "list"]).stdout
    assert "breast_cancer_wisconsin" in printed
    assert "…" not in printed
    assert max(map(len, printed.splitlines())) <= 80

"""The command line: what it prints and where, exit codes, and errors without tracebacks."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import multikernel
from multikernel.cli import app
from tests.cli.running import call
from tests.datasets.folders import cut_off, write_folder


@pytest.fixture
def data(monkeypatch, tmp_path):
    """One sound data set, no cache, no network."""
    folder = write_folder(tmp_path / "data", {"tiny": {"X": np.eye(2), "y": np.array([0, 1])}}, n=2)
    monkeypatch.setenv("MULTIKERNEL_DATA", str(folder))
    cut_off(monkeypatch, tmp_path)
    return folder


# --- the whole ---------------------------------------------------------------------------------------------


def test_the_version():
    result = call("--version")
    assert result.stdout == f"multikernel {multikernel.__version__}\n"


def test_help_names_the_commands():
    result = call("--help")
    for command in ("fit", "predict", "report", "compare", "doctor", "data", "warmup"):
        assert command in result.stdout


def test_an_unknown_command_is_misuse():
    for command in ("nonsense", "reproduce"):  # the studies are no part of the package
        call(command, code=2)


# --- data --------------------------------------------------------------------------------------------------


def test_data_are_listed_shown_and_checked(data):
    listed = call("data", "list")
    assert "tiny" in listed.stdout
    assert "OpenML" in listed.stdout
    shown = call("data", "show", "tiny")
    for text in ("tiny: n=2, d=2", "y: 0=no, 1=yes", "(2, 2)", "float64"):
        assert text in shown.stdout
    for arguments in (("tiny",), ()):
        checked = call("data", "check", *arguments)
        assert "tiny: sound, sha256" in checked.stdout


def test_data_that_are_missing_or_damaged_are_errors(data):
    missing = call("data", "show", "nothing", code=1)
    assert "'nothing' is in none of the folders" in missing.stderr
    with (data / "tiny.npz").open("ab") as file:
        file.write(b"x")
    damaged = call("data", "check", code=1)
    assert "does not match its checksum" in damaged.stderr
    assert damaged.stdout == ""
    told = call("data", "check", "--json", "tiny", "nothing", code=1)
    assert [(report["name"], report["sound"]) for report in json.loads(told.stdout)] == [
        ("tiny", False),
        ("nothing", False),
    ]


def test_data_as_json(data):
    rows = {row["name"]: row for row in json.loads(call("data", "list", "--json").stdout)}
    assert (rows["sonar"]["n"], rows["sonar"]["source"]) == (208, "OpenML")
    absent = call("data", "check", "sonar", code=1)
    assert "comes from OpenML and is not on disk" in absent.stderr
    assert (rows["tiny"]["n"], rows["tiny"]["source"], rows["tiny"]["where"]) == (2, "folder", str(data))
    assert rows["digits"]["views"] == 5
    listed = json.loads(call("data", "list", "--json", "--views").stdout)
    assert [row["name"] for row in listed] == ["digits"]
    call("data", "list", "--task", "guess", code=2)
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

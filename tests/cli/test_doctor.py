"""multikernel doctor: what it prints, as text and as JSON, and its exit codes."""

import json

import numpy as np
import pytest

from multikernel.views import memory
from tests.cli.running import call
from tests.doctor.told import clean_table


def doctor(*arguments, code=0):
    return call("doctor", *arguments, code=code)


@pytest.fixture
def table():
    X, y = clean_table()
    return X.assign(y=y)


def written(frame, tmp_path):
    path = tmp_path / "table.csv"
    frame.to_csv(path, index=False)
    return path


def test_a_healthy_table(table, tmp_path):
    result = doctor(written(table, tmp_path), "--target", "y")
    assert "60 rows, 3 columns, 6 kernels: no error, no warning, no note" in result.stdout
    assert "gaussian-0.5" in result.stdout
    assert "6 kernels of 60 × 60" in result.stdout
    warned = doctor(written(table.assign(id=range(60)), tmp_path), "--target", "y")
    # only errors refuse
    assert "warning column 'id'" in warned.stdout


def test_text_that_a_fit_would_refuse_is_told(table, tmp_path):
    path = written(table.assign(sex=["f", "m"] * 30), tmp_path)
    told = "`multikernel fit` needs numbers, not text or dates (sex)"
    assert told in doctor(path, "--target", "y").stdout
    assert told not in doctor(path, "--target", "y", "--one-hot", "sex").stdout
    assert "hold numbers" in call("fit", path, "--target", "y", "--out", tmp_path / "m", code=1).stderr


def test_what_fits_where_memory_is_scarce(table, tmp_path, monkeypatch):
    path = written(table, tmp_path)
    assert "Kernel representations" not in doctor(path, "--target", "y").stdout
    monkeypatch.setattr(memory, "available_memory", lambda: 190_000)
    result = doctor(
        path, "--target", "y", "--kernels", "gaussian, linear, gaussian(scale=2), gaussian(scale=3)"
    )
    rows = [line.split("│")[1:6] for line in result.stdout.splitlines() if "float" in line and "│" in line]
    shown = [[cell.strip() for cell in row] for row in rows]
    assert ["memmap", "float32", "92.8 KiB", "56.2 KiB", "yes"] in shown
    assert shown[:2] == [
        ["dense (auto)", "float64", "174.4 KiB", "", "yes"],
        ["dense", "float32", "101.2 KiB", "", "yes"],
    ]


def test_errors_have_exit_code_1_and_are_escaped(table, tmp_path):
    table["[red]x[/]"] = "[b]text[/]"
    table.loc[3, "y"] = None
    result = doctor(written(table, tmp_path), "--target", "y", "--kernels", "gaussian", code=1)
    assert "error column '[red]x[/]': it holds text of 1 kinds ('[b]text[/]')." in result.stdout
    assert "1 of 60 rows (2 %) have none, the first is row 3" in result.stdout
    assert "--one-hot '[red]x[/]', or --ignore '[red]x[/]'" in result.stdout  # its own options, no Python
    assert "X = " not in result.stdout
    doctor(written(table, tmp_path), "--target", "y", "--ignore", "[red]x[/]", code=1)
    healthy = table.dropna()
    healthy["[red]x[/]"] = ["p", "q", "p"] * 19 + ["q", "p"]
    for option in ("--ignore", "--one-hot"):
        doctor(written(healthy, tmp_path), "--target", "y", option, "[red]x[/]")


def test_json_is_all_that_is_printed(table, tmp_path):
    result = doctor(
        written(table.assign(leak=table["y"] == "yes"), tmp_path), "--target", "y", "--json", code=1
    )
    found = json.loads(result.stdout)
    assert found["ok"] is False
    assert found["findings"][0]["subject"] == "column 'leak'"
    assert found["task"] == "classification"
    assert [column["name"] for column in found["columns"]] == ["a", "b", "c", "leak"]


def test_views_kernels_and_options(table, tmp_path):
    path = written(table, tmp_path)
    views = tmp_path / "views.toml"
    views.write_text('[[view]]\nname = "first"\ncolumns = ["a", "b"]\nkernel = "linear"\n')
    found = json.loads(doctor(path, "--target", "y", "--views", views, "--json").stdout)
    assert [kernel["name"] for kernel in found["kernels"]] == ["first"]
    found = json.loads(
        doctor(
            path, "--target", "y", "--kernels", "linear, gaussian(gamma=1e9)", "--max-samples", 40, "--json"
        ).stdout
    )
    assert [kernel["name"] for kernel in found["kernels"]] == ["linear", "gaussian"]
    assert found["n_examined"] == 40
    assert "nearly the identity" in json.dumps(found)


def test_precomputed_kernels_of_an_archive(tmp_path):
    A = np.random.default_rng(1).standard_normal((30, 4))
    skewed = A @ A.T
    skewed[0, 1] += 1.0
    np.savez(tmp_path / "k.npz", kernel_good=A @ A.T + np.eye(30), K_skewed=skewed, y=np.repeat([0, 1], 15))
    result = doctor(tmp_path / "k.npz", "--target", "y", code=1)
    assert "error kernel 'skewed': not symmetric" in result.stdout
    assert "Symmetrise it in the file: K = (K + K.T) / 2" in result.stdout
    stack = np.stack([A @ A.T, np.eye(30) + A[:, :2] @ A[:, :2].T], axis=2)
    np.savez(tmp_path / "stack.npz", K=stack, kernel_names=np.array(["one", "two"]))
    found = json.loads(doctor(tmp_path / "stack.npz", "--json").stdout)
    assert [kernel["name"] for kernel in found["kernels"]] == ["one", "two"]
    missing = doctor(tmp_path / "k.npz", "--target", "z", code=1)
    assert "k.npz has no array 'z'" in missing.stderr


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("table.csv", "", "table.csv"),
        ("table.npz", "no archive", "must be an .npz file"),
        ("table.docx", "x", "must end with one of"),
    ],
)
def test_what_cannot_be_read_is_a_plain_error(tmp_path, name, content, said):
    (tmp_path / name).write_text(content)
    result = doctor(tmp_path / name, code=1)
    assert said in result.stderr
    assert result.stdout == ""


def test_misuse(table, tmp_path):
    path = written(table, tmp_path)
    wrong = doctor(path, "--target", "yy", code=1)
    assert "has no column 'yy'. Did you mean 'y'?" in wrong.stderr
    doctor(path, "--task", "guess", code=2)
    doctor(tmp_path / "nowhere.csv", code=1)
    doctor(code=2)
    assert "Exit code 0" in doctor("--help").stdout

"""Files that a user brings, and results that can be shown without the data."""

from dataclasses import replace

import numpy as np
import pytest
import sklearn.datasets

from multikernel.datasets import dataset_fingerprint
from studies import DataFile, Study, Table, Unit, registry, run_table
from studies.compare import compare_each, comparison_row
from studies.data import VARIABLE, data_help, has_data, load_data
from studies.study import Quantity
from studies.tests.test_command import call, into


@pytest.fixture
def user_folder(tmp_path, monkeypatch):
    folder = tmp_path / "mine"
    folder.mkdir()
    np.savez(folder / "toys.npz", X=np.full((3, 2), 7.0), y=np.arange(3))
    monkeypatch.setenv(VARIABLE, "")  # put back at the end of the test
    return folder


def total(dataset, split=0):
    return {"x": float(np.sum(load_data(dataset).X))}


STUDY = Study(
    "toy",
    "A. Toy (1900).",
    {
        "1": Table(
            "1",
            "A toy",
            1,
            1,
            lambda splits: [Unit("toys", total, {"dataset": "toys"}, ("toys",))],
            lambda results: [comparison_row("s", {"a": "b"}, compare_each([r for _, r in results]))],
            (Quantity("x", "x", 1),),
        )
    },
    data=(DataFile("toys", "The real toys.", {"X": "(n, d), a column for each measure"}),),
)


def test_a_file_of_the_user_goes_first(user_folder, data_folder, monkeypatch):
    data_folder(toys={"X": np.ones((3, 2)), "y": np.arange(3)})
    assert load_data("toys").X.sum() == 6.0
    monkeypatch.setenv(VARIABLE, str(user_folder))
    assert load_data("toys").X.sum() == 42.0
    assert has_data("toys")
    assert not has_data("dolls")


def test_the_command_reads_the_folder_and_explains_it(user_folder, data_folder, monkeypatch, tmp_path):
    data_folder()
    monkeypatch.setattr(registry, "_STUDIES", {"toy": STUDY})
    refused = call("toy", "--table", 1, *into(tmp_path / "out"))
    assert refused.exit_code == 1
    assert "data set 'toys' is in none of the folders" in refused.stderr
    assert "42.0" in call("toy", "--table", 1, "--data", user_folder, *into(tmp_path / "out")).stdout
    told = call("toy", "--data", "help")
    assert "toys.npz: The real toys.\n  X: (n, d), a column for each measure" in told.stdout
    nowhere = call("toy", "--table", 1, "--data", tmp_path / "nowhere")
    assert nowhere.exit_code == 2
    assert "--data must be a folder" in nowhere.stderr
    assert "lists no files" in data_help(Study("toy", ""))


def test_a_damaged_file_is_named(user_folder, monkeypatch):
    monkeypatch.setenv(VARIABLE, str(user_folder))
    (user_folder / "toys.npz").write_bytes(b"no archive")
    with pytest.raises(ValueError, match=r"data set 'toys': .*toys\.npz must be an \.npz file"):
        load_data("toys")


def test_stored_results_are_shown_without_the_data(data_folder, tmp_path, monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    data_folder(toys={"X": np.ones((3, 2)), "y": np.arange(3)})
    first = run_table(STUDY, STUDY.table("1"), folder=tmp_path / "out")
    assert dataset_fingerprint("toys") in (tmp_path / "out" / "data.json").read_text(encoding="utf-8")
    data_folder()
    assert run_table(STUDY, STUDY.table("1"), folder=tmp_path / "out") == first
    with pytest.raises(ValueError, match="data set 'toys' is in none of the folders"):
        run_table(STUDY, STUDY.table("1"), folder=tmp_path / "elsewhere")


def test_sets_that_could_be_fetched_need_no_network_while_all_is_stored(data_folder, tmp_path, monkeypatch):
    def refuse(*args, **kwargs):
        raise OSError("no network in the tests")

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", refuse)
    monkeypatch.delenv(VARIABLE, raising=False)
    data_folder(sonar={"X": np.ones((3, 2)), "y": np.arange(3)})

    def units(splits):
        return [Unit(f"{k}", total, {"dataset": "sonar", "split": k}, ("sonar",)) for k in range(splits)]

    table = replace(STUDY.table("1"), units=units)
    first = run_table(STUDY, table, folder=tmp_path / "out", splits=2)
    data_folder()
    assert run_table(STUDY, table, folder=tmp_path / "out", splits=2) == first
    with pytest.raises(ValueError, match="OpenML, where it is data set 40"):  # what is new needs the data
        run_table(STUDY, table, folder=tmp_path / "out", splits=3)


def test_other_data_are_computed_anew(data_folder, user_folder, tmp_path, monkeypatch):
    data_folder(toys={"X": np.ones((3, 2)), "y": np.arange(3)})
    before = run_table(STUDY, STUDY.table("1"), folder=tmp_path / "out")
    kept = (tmp_path / "out" / "data.json").read_bytes()
    monkeypatch.setenv(VARIABLE, str(user_folder))
    after = run_table(STUDY, STUDY.table("1"), folder=tmp_path / "out")
    assert [s["rows"][0]["values"]["x"]["mean"] for s in (before, after)] == [6.0, 42.0]
    assert (tmp_path / "out" / "data.json").read_bytes() == kept  # the user's file is not ours

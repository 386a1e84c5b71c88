"""Data sets by name: where they are looked for, what is checked, and what is said when it fails."""

import hashlib
import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import sklearn.datasets
from sklearn.utils import Bunch

from multikernel.datasets import (
    check_dataset,
    dataset_fingerprint,
    list_datasets,
    load_dataset,
    load_digits_views,
)
from multikernel.datasets.openml import OPENML
from multikernel.datasets.shipped import SHIPPED
from tests.datasets.folders import cut_off, write_folder
from tests.datasets.openml_stand_in import OpenMLStandIn
from tests.shared_data import needs_shared_data, shared_data_folder


def change_manifest(folder, **fields):
    """Other fields in the entry of the set "tiny"."""
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["datasets"]["tiny"] |= fields
    path.write_text(json.dumps(manifest))


TINY = {"X": np.arange(6.0).reshape(3, 2), "y": np.array([0, 1, 0])}


@pytest.fixture(autouse=True)
def no_data_and_no_network(monkeypatch, tmp_path):
    """Every test starts without data, without a cache and without a network."""
    monkeypatch.delenv("MULTIKERNEL_DATA", raising=False)
    cut_off(monkeypatch, tmp_path)


@pytest.fixture
def load(monkeypatch, tmp_path):
    """Load a set of these arrays."""

    def load(**arrays):
        monkeypatch.setenv("MULTIKERNEL_DATA", str(write_folder(tmp_path / "d", {"made": arrays})))
        return load_dataset("made")

    return load


@pytest.fixture
def folder(monkeypatch, tmp_path):
    monkeypatch.setenv("MULTIKERNEL_DATA", str(tmp_path / "data"))
    return write_folder(tmp_path / "data", {"tiny": TINY}, licence="free", source=["somewhere", "else"])


# --- what is loaded ----------------------------------------------------------------------------------------


def test_a_table_is_loaded_with_its_labels_and_its_description(folder):
    data = load_dataset("tiny")
    np.testing.assert_array_equal(data.X, TINY["X"])
    np.testing.assert_array_equal(data.y, TINY["y"])
    assert set(data.arrays) == {"X", "y"}
    assert data.views == {}
    assert data.sha256 == hashlib.sha256((folder / "tiny.npz").read_bytes()).hexdigest()
    assert data.description.splitlines() == [
        "tiny: n=3, d=2",
        "target: y: 0=no, 1=yes",
        "source: somewhere; else",
        "licence: free",
    ]


def test_views_sparse_tables_and_several_labels_have_their_places(load):
    X = scipy.sparse.random(4, 5, density=0.4, format="csr", random_state=0)
    arrays = {
        "csr_data": X.data,
        "csr_indices": X.indices,
        "csr_indptr": X.indptr,
        "csr_shape": np.array(X.shape),
        "Y": np.eye(4, 2, dtype=np.uint8),
        "view_a": np.ones((4, 2)),
        "view_b": np.zeros((4, 3)),
    }
    data = load(**arrays)
    np.testing.assert_array_equal(data.X.toarray(), X.toarray())
    np.testing.assert_array_equal(data.y, arrays["Y"])
    assert {name: view.shape for name, view in data.views.items()} == {"a": (4, 2), "b": (4, 3)}


def test_a_set_of_views_is_one_table_with_the_columns_of_each(load):
    arrays = {
        "y": np.array([0, 1, 0]),
        "view_a": np.arange(6, dtype=np.int16).reshape(3, 2),
        "view_b": np.ones((3, 2)),
        "names_a": np.array(["left", "right"]),
        "names_b": np.array(["same", "same"]),
    }
    data = load(**arrays)
    assert data.view_columns == {"a": ["a:left", "a:right"], "b": ["b:0", "b:1"]}
    np.testing.assert_array_equal(data.X[data.view_columns["a"]], arrays["view_a"])
    assert data.X.shape == (3, 4)
    assert "views: a (2), b (2)" in data.description


def test_precomputed_kernels_have_their_names(load):
    data = load(K_one=np.eye(2), K_two=np.ones((3, 3)), Y=np.eye(2))
    assert data.X is None
    assert {name: K.shape for name, K in data.kernels.items()} == {"one": (2, 2), "two": (3, 3)}


def test_the_digits_are_there_always():
    data, digits = load_dataset("digits"), load_digits_views()
    assert list(data.view_columns) == list(digits.view_columns)
    assert data.view_columns["row_profile"][0] == "row_profile:r0"
    np.testing.assert_array_equal(data.X, digits.X)
    assert data.sha256 == dataset_fingerprint("digits") == load_dataset("digits").sha256
    assert list_datasets().loc["digits", ["n", "d"]].tolist() == list(data.X.shape)
    assert {name: table.shape[1] for name, table in data.views.items()} == data.fields["views"]


def test_the_named_folder_comes_before_the_cache(monkeypatch, tmp_path, folder):
    other = {"X": np.zeros((1, 1)), "y": np.array([1])}
    write_folder(tmp_path / "cache" / "multikernel", {"tiny": other, "cached": other})
    np.testing.assert_array_equal(load_dataset("tiny").X, TINY["X"])
    assert load_dataset("cached").X.shape == (1, 1)
    monkeypatch.delenv("MULTIKERNEL_DATA")
    assert load_dataset("tiny").X.shape == (1, 1)


def test_the_list_has_every_set_with_its_size_and_its_place(folder):
    table = list_datasets()
    assert table.index.is_monotonic_increasing
    assert table.loc["tiny", ["n", "d", "views", "where"]].tolist() == [3, 2, 0, str(folder)]
    assert table.loc["sonar", "where"] == "OpenML"
    assert table.loc[["tiny", "sonar", "digits"], "source"].tolist() == ["folder", "OpenML", "scikit-learn"]
    assert list_datasets(on_disk=True).index.tolist() == ["tiny"]


def test_the_list_is_filtered_by_views_and_task(monkeypatch, tmp_path):
    sets = {
        "numbers": {"X": np.ones((3, 2)), "y": np.array([0.5, 1.5, 2.0])},
        "several": {"X": np.ones((3, 2)), "Y": np.eye(3, dtype=np.uint8)},
        "graphs": {"edges": np.ones((3, 2))},
        "patients": {"X": np.ones((3, 2)), "time": np.ones(3), "event": np.array([True, False, True])},
    }
    monkeypatch.setenv("MULTIKERNEL_DATA", str(write_folder(tmp_path / "d", sets)))
    assert list_datasets(task="regression", on_disk=True).index.tolist() == ["numbers"]
    assert list_datasets(task="regression").index.tolist() == ["boston", "concrete", "numbers"]
    assert list_datasets(task="multilabel").index.tolist() == ["several"]
    assert list_datasets(task="survival").index.tolist() == ["patients"]
    assert list_datasets(views=True).index.tolist() == ["digits"]
    assert list_datasets().loc["graphs", "task"] == ""
    with pytest.raises(ValueError, match="task must be one of"):
        list_datasets(task="unsupervised")


# --- checks ------------------------------------------------------------------------------------------------


def test_a_damaged_file_is_refused_with_both_sums(folder):
    path = folder / "tiny.npz"
    promised = hashlib.sha256(path.read_bytes()).hexdigest()
    path.write_bytes(path.read_bytes() + b"x")
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    for load in (load_dataset, check_dataset):
        with pytest.raises(ValueError, match="checksum") as caught:
            load("tiny")
        for part in (str(path), promised, found):
            assert part in str(caught.value)


def test_a_file_that_is_listed_but_missing_is_named(folder):
    (folder / "tiny.npz").unlink()
    with pytest.raises(ValueError, match=r"tiny\.npz is missing"):
        load_dataset("tiny")


def test_pickles_are_never_read(load):
    with pytest.raises(ValueError, match=r"plain arrays.*allow_pickle=False"):
        load(X=np.array([{"a": 1}, None], dtype=object))


def test_a_file_that_is_no_archive_is_refused(folder):
    path = folder / "tiny.npz"
    path.write_bytes(b"not an archive")
    change_manifest(folder, sha256=hashlib.sha256(b"not an archive").hexdigest())
    with pytest.raises(ValueError, match="plain arrays"):
        load_dataset("tiny")


def test_a_sound_set_passes_the_check_and_a_wrong_promise_does_not(folder):
    arrays = check_dataset("tiny")["arrays"]
    assert arrays["X"] == {"shape": [3, 2], "dtype": "float64"}
    for promise, message in (
        (arrays | {"X": {"shape": [3, 4], "dtype": "float64"}}, r"array 'X'.*\[3, 4\].*\[3, 2\]"),
        (arrays | {"X": {"shape": [3, 2], "dtype": "float32"}}, r"array 'X'.*float32.*float64"),
        ({"y": arrays["y"]}, r"array 'X'.*absent"),
    ):
        change_manifest(folder, arrays=promise)
        with pytest.raises(ValueError, match=message):
            check_dataset("tiny")


def test_the_fingerprint_is_the_promised_sum(folder):
    assert dataset_fingerprint("tiny") == load_dataset("tiny").sha256
    assert dataset_fingerprint("sonar") == "openml:40"
    with pytest.raises(ValueError, match="none of the folders"):
        dataset_fingerprint("nothing")


@pytest.mark.parametrize("file", ["../tiny.npz", "/etc/passwd", "", 3])
def test_a_file_outside_the_folder_is_refused(folder, file):
    change_manifest(folder, file=file)
    with pytest.raises(ValueError, match="'file' must be the name of a file"):
        load_dataset("tiny")


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"format": 2, "datasets": {}}', '{"format": 1, "datasets": [1]}']
)
def test_a_manifest_of_another_form_is_refused(folder, text):
    (folder / "manifest.json").write_text(text)
    with pytest.raises(ValueError, match=r"manifest\.json must"):
        list_datasets()


# --- what is missing ---------------------------------------------------------------------------------------


def test_without_any_folder_the_message_says_what_to_set(tmp_path):
    with pytest.raises(ValueError, match=r"none of the folders.*Set MULTIKERNEL_DATA") as caught:
        load_dataset("mfeat")
    assert str(tmp_path / "cache" / "multikernel") in str(caught.value)
    with pytest.raises(
        ValueError, match=r"OpenML, .*cannot be asked: no network in the tests\..*MULTIKERNEL_DATA"
    ):
        load_dataset("sonar")


def test_a_variable_that_names_no_folder_is_an_error(monkeypatch, tmp_path):
    monkeypatch.setenv("MULTIKERNEL_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(ValueError, match=r"MULTIKERNEL_DATA must name a folder.*nowhere"):
        load_dataset("sonar")


def test_a_name_must_be_a_string():
    with pytest.raises(TypeError, match="name must be"):
        load_dataset(3)


# --- OpenML: a stand-in of its server on this machine ------------------------------------------------------


@pytest.fixture
def openml(monkeypatch):
    """A server that answers as OpenML does: data id to (name, targets' column, table); what it was asked."""
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", sklearn.datasets._openml.fetch_openml)
    with OpenMLStandIn() as server:
        monkeypatch.setattr(sklearn.datasets._openml, "urlopen", server.open)
        yield server


def rows_of(source):
    """A table of the size and the classes that a source must have."""
    rng = np.random.default_rng(0)
    n, d = source.shape
    table = pd.DataFrame(rng.normal(size=(n, d)).round(2), columns=[f"c{j}" for j in range(d)])
    labels = source.classes or rng.normal(size=n).round(2)
    return table.assign(target=[labels[i % len(labels)] for i in range(n)])


@pytest.mark.parametrize("name", sorted(OPENML))
def test_every_set_of_openml_is_asked_for_by_its_number_and_coded_as_said(openml, monkeypatch, name):
    source = OPENML[name]
    small = replace(source, shape=(3 * max(len(source.classes), 2), 2))
    monkeypatch.setitem(OPENML, name, small)
    table = rows_of(small)
    column = "target" if source.target == "default-target" else source.target
    openml.offer(source.data_id, source.name, table.rename(columns={"target": column}), column)
    data = load_dataset(name)
    np.testing.assert_array_equal(data.X, table.drop(columns="target"))
    if source.classes:
        assert [source.classes[code] for code in data.y] == list(table["target"])
        assert data.arrays["class_names"].tolist() == list(source.classes)
    else:
        np.testing.assert_array_equal(data.y, table["target"].astype(float))
    assert data.sha256 == dataset_fingerprint(name) == f"openml:{source.data_id}"
    assert openml.asked[0].endswith(f"/data/{source.data_id}")


@pytest.fixture
def sonar(openml, monkeypatch):
    """OpenML has a sonar of three rows, one of them with a gap."""
    monkeypatch.setitem(OPENML, "sonar", replace(OPENML["sonar"], shape=(2, 2)))
    table = pd.DataFrame({"a": [1.0, np.nan, 3.0], "b": [4.0, 5.0, 6.0], "Class": ["Mine", "Mine", "Rock"]})

    def offer(**changed):
        openml.offer(40, changed.pop("name", "sonar"), table.assign(**changed), "Class")
        return openml.asked

    offer()
    return offer


def test_openml_is_asked_last_and_rows_with_a_gap_are_left_out(sonar):
    data = load_dataset("sonar")
    np.testing.assert_array_equal(data.X, [[1.0, 4.0], [3.0, 6.0]])
    np.testing.assert_array_equal(data.y, [1, 0])


def test_what_was_fetched_is_kept_and_checked_from_then_on(sonar, openml, tmp_path):
    first = load_dataset("sonar")
    n_asked = len(openml.asked)
    second = load_dataset("sonar")
    assert len(openml.asked) == n_asked > 0
    assert first.sha256 == second.sha256 == dataset_fingerprint("sonar") == "openml:40"
    for key in ("X", "y", "class_names", "feature_names"):
        np.testing.assert_array_equal(first.arrays[key], second.arrays[key])
    assert list_datasets().loc["sonar", ["n", "source"]].tolist() == [2, "cache"]
    assert check_dataset("sonar")["arrays"]["X"]["shape"] == [2, 2]
    path = tmp_path / "cache" / "multikernel" / "sonar.npz"
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(ValueError, match=r"sonar\.npz does not match its checksum.*Delete the file"):
        load_dataset("sonar")
    path.unlink()
    np.testing.assert_array_equal(load_dataset("sonar").X, first.X)
    load_dataset("digits")
    assert path.is_file()


def test_a_cache_that_cannot_be_written_is_no_reason_to_refuse(monkeypatch, tmp_path):
    def fetch(**options):
        data = pd.DataFrame({"a": [1.0, 3.0], "b": [4.0, 6.0]})
        return Bunch(data=data, target=pd.Series(["Mine", "Rock"]), details={"name": "sonar"})

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch)
    monkeypatch.setitem(OPENML, "sonar", replace(OPENML["sonar"], shape=(2, 2)))
    (tmp_path / "cache").write_text("a file where the folder should be")
    assert load_dataset("sonar").X.shape == (2, 2)


def test_an_interrupted_write_leaves_the_cache_as_it_was(sonar, monkeypatch, tmp_path):
    def stop(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(np, "savez_compressed", stop)
    with pytest.raises(KeyboardInterrupt):
        load_dataset("sonar")
    assert list((tmp_path / "cache" / "multikernel").glob("*.*")) == []


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"Class": ["Mine", "Cat", "Rock"]}, "must have the classes Rock, Mine; got Cat, Mine, Rock"),
        ({"Class": "Mine"}, "must have the classes Rock, Mine; got Mine"),
        ({"name": "radar"}, "must have the name 'sonar'; got 'radar'"),
        ({"a": 1.0}, "must have 2 rows without a missing value and 2 columns; got 3 and 2"),
        ({"c": 1.0}, "must have 2 rows without a missing value and 2 columns; got 2 and 3"),
    ],
)
def test_another_set_than_expected_is_refused(sonar, changed, said):
    sonar(**changed)
    with pytest.raises(ValueError, match=rf"data set 'sonar': OpenML's data set 40 {said}.*folder"):
        load_dataset("sonar")


def test_a_set_that_openml_does_not_have_any_more_is_an_error_that_names_it(openml):
    with pytest.raises(ValueError, match=r"data set 'sonar' .*OpenML, where it is data set 40 \(sonar\)"):
        load_dataset("sonar")


# --- sets that need nothing --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SHIPPED)
def test_what_is_shipped_needs_no_folder_and_no_network(name):
    data = load_dataset(name)
    row = list_datasets().loc[name]
    assert (row["n"], row["d"]) == data.X.shape
    assert row["classes"] == len(np.unique(data.y))
    assert data.sha256 == dataset_fingerprint(name)


def test_the_monks_points_are_all_points_and_228_of_them_are_positive():
    data = load_dataset("monks3")
    assert len(np.unique(data.X, axis=0)) == 432
    assert data.y.sum() == 228
    assert data.arrays["X_onehot"].sum(axis=1).tolist() == [6.0] * 432


@needs_shared_data
@pytest.mark.parametrize("name", sorted(set(SHIPPED) - {"digits"}))
def test_what_is_shipped_is_what_the_folder_has(name, monkeypatch):
    shipped = load_dataset(name)
    monkeypatch.setenv("MULTIKERNEL_DATA", str(shared_data_folder()))
    kept = load_dataset(name)
    for key in ("X", "y", *(["X_onehot"] if name == "monks3" else [])):
        np.testing.assert_array_equal(shipped.arrays[key], kept.arrays[key])


@needs_shared_data
def test_openml_sets_have_the_size_and_the_classes_of_the_folder(monkeypatch):
    monkeypatch.setenv("MULTIKERNEL_DATA", str(shared_data_folder()))
    listed = list_datasets(on_disk=True)
    for name in listed.index.intersection(list(OPENML)):
        source = OPENML[name]
        assert (*source.shape, len(source.classes)) == tuple(listed.loc[name, ["n", "d", "classes"]]), name


# --- the data sets of this project -------------------------------------------------------------------------


@needs_shared_data
def test_every_set_of_the_manifest_is_described(monkeypatch):
    """By the manifest alone: the files are read where a test needs one."""
    folder = shared_data_folder()
    monkeypatch.setenv("MULTIKERNEL_DATA", str(folder))
    table = list_datasets(on_disk=True)
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["datasets"]
    assert set(table.index) == set(manifest)
    for name, fields in manifest.items():
        assert (folder / fields["file"]).is_file(), name
        assert fields["target"], name
        assert len(fields["sha256"]) == 64, name
        assert table.loc[name, "n"] > 0, name
        assert table.loc[name, "task"] in ("classification", "regression", "multilabel", "survival"), name
        widths = {
            key.removeprefix("view_"): a["shape"][1] for key, a in fields["arrays"].items() if "view_" in key
        }
        assert widths == (fields.get("views") or {}), name


@needs_shared_data
def test_a_real_set_of_views(monkeypatch):
    monkeypatch.setenv("MULTIKERNEL_DATA", str(shared_data_folder()))
    data = load_dataset("nutrimouse")
    assert {name: len(columns) for name, columns in data.view_columns.items()} == {"gene": 120, "lipid": 21}
    np.testing.assert_array_equal(data.X[data.view_columns["lipid"]], data.views["lipid"])
    assert data.X.shape == (40, 141)


@needs_shared_data
@pytest.mark.parametrize("name", ["graphs_mutag", "graphs_enzymes"])
def test_sets_of_graphs_are_cut_into_graphs(name, monkeypatch):
    monkeypatch.setenv("MULTIKERNEL_DATA", str(shared_data_folder()))
    data = load_dataset(name)
    owner, edges, graphs = data.arrays["graph_id"], data.arrays["edges"], data.graphs
    assert len(graphs) == len(data.y)
    for number in (0, 7, len(graphs) - 1):
        nodes, own = np.flatnonzero(owner == number), np.flatnonzero(owner[edges[:, 0]] == number)
        found, labels, marks = graphs[number]
        assert np.array_equal(nodes[found], edges[own])  # nodes of a graph stand together
        assert np.array_equal(labels, data.arrays["node_label"][nodes])
        assert (
            marks is None
            if name == "graphs_enzymes"
            else np.array_equal(marks, data.arrays["edge_label"][own])
        )
    assert sum(len(found) for found, _, _ in graphs) == len(edges)

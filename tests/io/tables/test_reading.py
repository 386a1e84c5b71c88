"""Tables from files: what is read, what is left out with a note, and what is refused with its place."""

import gzip
import sys

import numpy as np
import pandas as pd
import pytest

from multikernel.io.tables import encode_columns, find_categories, read_table

TEXT = "id,width,height,kind\nq1,1,2.5,a\n\nq2,3,4,b\n"
GZIPPED = gzip.compress(TEXT.encode(), mtime=0)


def put(folder, name, content):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.csv", TEXT),
        ("t.csv", "\ufeff" + TEXT),
        ("t.tsv", TEXT.replace(",", "\t")),
        ("T.CSV.GZ", GZIPPED),
        ("t.csv", TEXT.replace(",", ";").replace("2.5", "2,5")),
        ("t.csv", TEXT.replace("width", " width ")),
    ],
)
def test_text_tables(tmp_path, name, content):
    data = read_table(put(tmp_path, name, content), "kind", ignore=["id"])
    assert (data.kind, data.name, data.target) == ("table", name, "kind")
    assert data.columns == ["width", "height"]
    assert data.X.to_numpy().tolist() == [[1.0, 2.5], [3.0, 4.0]]
    assert data.y.tolist() == ["a", "b"]
    assert data.place(1) == "line 4"


def test_row_numbers_without_a_name_are_left_out(tmp_path):
    frame = pd.DataFrame({"x": [1.0, 2.0], "y": [0, 1]})
    frame.to_csv(tmp_path / "t.csv")
    data = read_table(tmp_path / "t.csv", "y")
    assert data.columns == ["x"] and data.y.tolist() == [0, 1]
    assert "read as row numbers" in data.notes[0]


def test_views_in_column_names(tmp_path):
    data = read_table(put(tmp_path, "t.csv", "g:a,g:b,l:a,y\n1,2,3,4\n"), "y")
    assert data.view_columns == {"g": ["g:a", "g:b"], "l": ["l:a"]}
    assert read_table(put(tmp_path, "t.csv", "g:a,age,y\n1,2,3\n"), "y").view_columns == {}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "t.csv must begin with a line of column names; the file is empty"),
        ("x,y\n", "rows below its header"),
        ("x,y\n1,2\n1\n", "must have 2 values.* line 3 has 1"),
        ("x,y\n1,2,3\n", "line 2 has 3"),
        ("x,x,y\n1,2,3\n", "'x' occurs 2 times"),
        ("x,,y\n1,2,3\n", "column 2 has none"),
        ("1,2,3\n1,2,3\n", "holds numbers only"),
        ("x,y\n1,2\n3,\n5,\n", "missing in line 3, and 1 more"),
        ("x,yy\n1,2\n", "t.csv has no column 'y'. Did you mean 'yy'"),
        ("y\n1\n", "features and a target"),
        (b"x,y\n1,\xe9\n", "UTF-8 text; byte 6 is not.*latin1"),
        ("x,y\n1,2\n".encode("utf-16"), "iconv -f utf16"),
        (("t.csv.gz", b"no"), "compressed by gzip"),
        (("t.csv.gz", GZIPPED[:-9]), "compressed by gzip"),
        (("t.parquet", b"no"), "whole Parquet file"),
        (("t.npz", b"no"), "no archive of NumPy"),
        (("t.xlsx", b"no"), "must end with one of .csv"),
    ],
)
def test_what_is_wrong_with_a_file_is_named(tmp_path, content, said):
    name, content = content if isinstance(content, tuple) else ("t.csv", content)
    with pytest.raises(ValueError, match=said):
        read_table(put(tmp_path, name, content), "y")
    with pytest.raises(ValueError, match="does not exist"):
        read_table(tmp_path / "none.csv")


def test_parquet(tmp_path, monkeypatch):
    path = tmp_path / "t.parquet"
    frame = pd.DataFrame({"x": [1.0, 2.0], "y": pd.array([3, 4], dtype="Int64")}, index=["p", "q"])
    frame.to_parquet(path)
    data = read_table(path, "y")
    assert data.columns == ["x"] and data.y.tolist() == [3, 4] and data.y.dtype == np.int64
    assert data.place(1) == "row 1 (counted from 0)"
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ValueError, match=r"multikernel\[parquet\]"):
        read_table(path, "y")


# --- npz ---------------------------------------------------------------------------------------------------


def npz(folder, **arrays):
    np.savez(folder / "t.npz", **arrays)
    return folder / "t.npz"


def test_an_array_with_names_and_classes(tmp_path):
    X = np.arange(6.0).reshape(3, 2)
    path = npz(tmp_path, X=X, feature_names=["p", "q"], y=[1, 0, 1], class_names=["no", "yes"])
    data = read_table(path, "y", ignore=["q"])
    assert data.columns == ["p"] and data.y.tolist() == ["yes", "no", "yes"]
    assert read_table(path).y is None


def test_views_of_arrays(tmp_path):
    path = npz(tmp_path, view_g=np.ones((2, 2)), view_l=np.zeros((2, 1)), names_l=["w"], y=[0.5, 1.5])
    data = read_table(path, "y")
    assert data.view_columns == {"g": ["g:0", "g:1"], "l": ["l:w"]}
    assert data.X.to_numpy().tolist() == [[1, 1, 0], [1, 1, 0]]


def test_precomputed_kernels(tmp_path):
    one, two = np.eye(2), np.ones((2, 2))
    named = read_table(npz(tmp_path, kernel_p=one, kernel_q=two, y=[0, 1]), "y")
    assert (named.kind, named.kernel_names, named.columns) == ("precomputed", ["p", "q"], [])
    stack = read_table(npz(tmp_path, K=np.stack([one, two], axis=2), kernel_names=["p", "q"], y=[0, 1]), "y")
    assert stack.kernel_names == ["p", "q"]
    np.testing.assert_array_equal(stack.X, named.X)
    assert read_table(npz(tmp_path, K=one)).kernel_names == ["kernel-0"]


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        ({"X": np.ones((2, 1))}, "no array 'y'.* it has X"),
        ({"X": np.ones((2, 1)), "y": [0, 1, 2]}, "one target for each of the 2 rows; got 3"),
        ({"X": np.ones((2, 1)), "y": [0, np.nan]}, "NaN in row 1"),
        ({"X": np.ones(2), "y": [0, 1]}, r"X must be a table \(n, d\)"),
        ({"X": np.ones((2, 1)), "y": [0, 1], "feature_names": ["a", "b"]}, "must hold 1 names; got 2"),
        ({"view_a": np.ones((2, 1)), "view_b": np.ones((3, 1)), "y": [0, 1]}, "equally many rows.*b 3"),
        ({"K": np.ones((2, 2, 2, 2)), "y": [0, 1]}, "K must hold kernels"),
        ({"kernel_a": np.eye(2), "kernel_b": np.eye(3), "y": [0, 1]}, "same shape"),
        ({"kernel_a": np.eye(2), "K": np.eye(2), "y": [0, 1]}, "not in both"),
        ({"Z": np.ones(2), "y": [0, 1]}, "must hold a table X, views"),
        ({"X": np.array([[{}]], dtype=object), "y": [0]}, "without arrays of objects"),
    ],
)
def test_what_is_wrong_with_arrays_is_named(tmp_path, arrays, said):
    with pytest.raises(ValueError, match=said):
        read_table(npz(tmp_path, **arrays), "y")


# --- columns of names --------------------------------------------------------------------------------------


def test_names_become_columns_of_zero_and_one(tmp_path):
    train = read_table(put(tmp_path, "t.csv", "x,c,y\n1,red,0\n2,blue,1\n"), "y")
    categories = find_categories(train, ["c"])
    assert categories == {"c": ["blue", "red"]}
    coded = encode_columns(train, categories)
    assert coded.columns == ["x", "c=blue", "c=red"]
    assert coded.X.to_numpy().tolist() == [[1, 0, 1], [2, 1, 0]]
    new = encode_columns(read_table(put(tmp_path, "n.csv", "x,c\n1,red\n2,green\n")), categories)
    assert new.X.to_numpy().tolist() == [[1, 0, 1], [2, 0, 0]]
    assert "'green'" in new.notes[0]
    with pytest.raises(ValueError, match=r"'c' of e.csv is empty.* in line 3"):
        encode_columns(read_table(put(tmp_path, "e.csv", "x,c\n1,red\n2,\n")), categories)


def test_names_are_read_as_they_are_written_whatever_the_other_rows_hold(tmp_path):
    train = read_table(put(tmp_path, "t.csv", "x,c,y\n1,01,0\n2,02,1\n"), "y", names=["c"])
    categories = find_categories(train, ["c"])
    assert categories == {"c": ["01", "02"]}
    new = read_table(put(tmp_path, "n.csv", "x,c\n1,01\n2,AA\n"), names=["c"])
    coded = encode_columns(new, categories)
    assert coded.X.to_numpy().tolist() == [[1, 1, 0], [2, 0, 0]]
    assert "('AA') in 1 of 2 rows: line 3" in coded.notes[0]
    strange = read_table(put(tmp_path, "s.csv", "x,c\n1,1\n2,2\n"), names=["c"])
    with pytest.raises(
        ValueError, match=r"values that training had \('01', '02'\).*none of them, but '1', '2'"
    ):
        encode_columns(strange, categories)
    double = read_table(put(tmp_path, "d.csv", "c=01,c,y\n1,01,0\n2,02,1\n"), "y", names=["c"])
    with pytest.raises(ValueError, match=r"'c=01' of d.csv, which is there already"):
        find_categories(double, ["c"])


@pytest.mark.parametrize(
    ("written", "values", "labels"),
    [
        (["001", "002"], [1, 2], ["001", "002"]),
        (["TRUE", "FALSE"], [True, False], ["TRUE", "FALSE"]),
        (["1", "2"], [1, 2], None),
        (["+1", "-1"], [1, -1], None),
        (["1.50", "2.25"], [1.5, 2.25], None),
        ([" u", "v"], ["u", "v"], None),
    ],
)
def test_labels_stay_as_they_are_written(tmp_path, written, values, labels):
    lines = "".join(f"1,{label}\n" for label in written)
    data = read_table(put(tmp_path, "t.csv", f"x,y\n{lines}"), "y")
    assert data.y.tolist() == values
    assert data.target_as("classification").tolist() == (values if labels is None else labels)
    assert any("blanks" in note for note in data.notes) == (written[0] == " u")
    if labels == ["001", "002"]:
        assert data.target_as("regression").tolist() == [1.0, 2.0]


def test_na_is_missing_unless_it_is_a_name(tmp_path):
    place = put(tmp_path, "t.csv", "x,c,y\n1,NA,None\n2,u,NA\n")
    with pytest.raises(ValueError, match=r"missing in line 2, and 1 more.*'None' is the name.*--keep-na"):
        read_table(place, "y")
    data = read_table(place, "y", names=["c"], keep_na=True)
    assert data.y.tolist() == ["None", "NA"] and find_categories(data, ["c"]) == {"c": ["NA", "u"]}
    with pytest.raises(ValueError, match="missing in line 2"):
        read_table(put(tmp_path, "e.csv", "x,y\n1,\n2,NA\n"), "y", keep_na=True)


def test_the_target_of_an_archive_is_no_feature(tmp_path):
    X, b = np.arange(8.0).reshape(4, 2), np.arange(4.0)[:, None]
    np.savez(tmp_path / "v.npz", view_a=X, view_b=b)
    data = read_table(tmp_path / "v.npz", "view_b")
    assert list(data.view_columns) == ["a"] and data.y.tolist() == b.ravel().tolist()
    np.savez(tmp_path / "x.npz", X=b)
    with pytest.raises(ValueError, match="beside its target; it has nothing"):
        read_table(tmp_path / "x.npz", "X")


def test_a_quoted_name_may_hold_a_comma_and_a_typo_by_case_is_seen(tmp_path):
    place = put(tmp_path, "t.csv", '"a, b";Kind\n1;2\n')
    assert read_table(place).columns == ["a, b", "Kind"]
    with pytest.raises(ValueError, match="Did you mean 'Kind'"):
        read_table(place, "KIND")

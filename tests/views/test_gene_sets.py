"""Gene sets: GMT files that are none, genes among columns, views and what is said of the sets."""

import copy
import pickle

import numpy as np
import pandas as pd
import polars
import pyarrow
import pytest
from sklearn.base import clone

from multikernel import MKLClassifier, View, load_model, save_model
from multikernel.kernels import Gaussian, Linear
from multikernel.views import as_views, gene_sets, read_gmt, views_from_gene_sets
from multikernel.views.tables import MultiTable
from tests.shared_data import needs_shared_data, shared_data_folder

COLUMNS = ["TP53", "ATM", "CDK1", "ACTB", "GAPDH"]
SETS = {"repair": ["TP53", "ATM", "BRCA9"], "cycle": ["cdk1", "TP53"], "other": ["XYZ"]}


def write(folder, text):
    path = folder / "sets.gmt"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


# --- GMT ---------------------------------------------------------------------------------------------------


def test_a_file_is_read_in_its_order(tmp_path):
    text = "\ufeffB set\thttp://x\tg1\tg2\tg1\t\r\n\r\nA\t\tg3\n"
    assert list(read_gmt(write(tmp_path, text)).items()) == [("B set", ["g1", "g2"]), ("A", ["g3"])]
    assert read_gmt(str(write(tmp_path, "A\tx\tg3"))) == {"A": ["g3"]}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("A\tx\tg\nB,x,g\n", r"sets\.gmt, line 2: .* got no tab in 'B,x,g'\. A GMT file has a line"),
        ("A\tx\n", r"sets\.gmt, line 1: a set must have a gene at least; 'A' has none.*remove the line"),
        ("A\tx\t \t\n", r"line 1: a set must have a gene at least"),
        ("A\tx\tg\n\nA\tx\th\n", r"line 3: .* occur once; 'A' is that of line 1 too\. Rename or remove"),
        ("\tx\tg\n", r"line 1: a set must have a name before the first tab"),
        ("\n \n", r"sets\.gmt must hold a gene set at least; it is empty"),
        (b"A\tx\tg\nB\tx\0\tg", r"line 2: .* text in UTF-8; got binary data\. Unpack it"),
        (b"\x1f\x8b\x08\x00abc", r"line 1: .* got binary data"),
        (b"A\tx\tg\n\n\xff\xfe\tx", r"line 3: .* got binary data"),
    ],
)
def test_what_is_no_gmt_is_refused_by_file_and_line(tmp_path, text, message):
    with pytest.raises(ValueError, match=message):
        read_gmt(write(tmp_path, text))


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"none\.gmt does not exist .*Check the path"):
        read_gmt(tmp_path / "none.gmt")
    with pytest.raises(FileNotFoundError, match="is a folder"):
        views_from_gene_sets(COLUMNS, tmp_path)


# --- views and report --------------------------------------------------------------------------------------


def test_a_view_for_each_set_and_one_for_the_rest(tmp_path):
    views = views_from_gene_sets(COLUMNS, SETS, min_genes=2)
    assert views == [
        View("repair", Gaussian(), ["TP53", "ATM"]),
        View("cycle", Gaussian(), ["TP53", "CDK1"]),
        View("rest", Gaussian(), ["ACTB", "GAPDH"]),
    ]
    lines = "".join(f"{name}\t-\t" + "\t".join(genes) + "\n" for name, genes in SETS.items())
    assert views_from_gene_sets(COLUMNS, write(tmp_path, lines), min_genes=2) == views
    assert as_views(views) == views


def test_the_report_has_a_row_for_each_set():
    views = views_from_gene_sets(COLUMNS, SETS | {"again": ["ATM", "TP53"]}, min_genes=2)
    report = views.report
    assert report.index.tolist() == ["repair", "cycle", "other", "again"]
    assert report["genes"].tolist() == [3, 2, 1, 2]
    assert report["matched"].tolist() == [2, 2, 0, 2]
    np.testing.assert_allclose(report["share"], [2 / 3, 1, 0, 1])
    assert report["kept"].tolist() == [True, True, False, True]
    assert report["reason"].tolist() == ["", "", "fewer than min_genes=2", ""]
    assert report["same_as"].tolist() == ["", "", "", "repair"]
    assert report["missing"].tolist() == [["BRCA9"], [], ["XYZ"], []]
    assert views.missing_genes == ["BRCA9", "XYZ"]
    assert views.columns_in_no_set == ["ACTB", "GAPDH"]
    assert views.summary == (
        "3 of 4 gene sets are views. 1 has fewer than min_genes=2 columns and is left out. Sets with the "
        "same columns as an earlier one: 1. Genes of the sets that no column has: 2 (BRCA9, XYZ). Columns in "
        "a set: 3 of 5. Columns of no other view, in the view 'rest': 2."
    )
    assert str(views) == views.summary
    assert repr(views) == "GeneSetViews of 4 views: 'repair', 'cycle', 'again', 'rest'"


def test_columns_of_a_set_that_is_left_out_go_to_the_rest():
    views = views_from_gene_sets(COLUMNS, SETS | {"big": COLUMNS[:4]}, min_genes=2, max_genes=3)
    assert views.report.loc["big", "reason"] == "more than max_genes=3"
    assert views[-1].columns == ["ACTB", "GAPDH"]
    assert views.columns_in_no_set == ["GAPDH"]
    assert len(views_from_gene_sets(COLUMNS, {"big": COLUMNS[:4]}, max_genes=4, min_genes=4, rest=False)) == 1


def test_the_rest_may_be_named_or_left_out():
    assert [view.name for view in views_from_gene_sets(COLUMNS, SETS, min_genes=2, rest=False)] == [
        "repair",
        "cycle",
    ]
    assert views_from_gene_sets(COLUMNS, SETS, min_genes=2, rest="others")[-1].name == "others"
    whole = views_from_gene_sets(COLUMNS, {"all": COLUMNS})
    assert [view.name for view in whole] == ["all"]
    assert "no other view" not in whole.summary
    with pytest.raises(ValueError, match=r"a gene set is named 'rest' too.*rest='other columns'"):
        views_from_gene_sets(COLUMNS, {"rest": ["TP53"]}, min_genes=1)
    with pytest.raises(TypeError, match="rest must be True, False or the name"):
        views_from_gene_sets(COLUMNS, SETS, min_genes=1, rest=None)


def test_sets_are_chosen_by_name_in_the_order_asked_for():
    views = views_from_gene_sets(COLUMNS, SETS, min_genes=2, sets=["cycle", "repair"], rest=False)
    assert [view.name for view in views] == ["cycle", "repair"]
    assert views.report.index.tolist() == ["cycle", "repair"]
    assert len(views_from_gene_sets(COLUMNS, SETS, min_genes=2, sets="cycle", rest=False)) == 1
    with pytest.raises(ValueError, match=r"no gene set 'REPAIRS' among the 3 given\. Did you mean 'repair'"):
        views_from_gene_sets(COLUMNS, SETS, sets=["cycle", "REPAIRS"])
    with pytest.raises(
        ValueError, match=r"no gene set 'qqqq' .*The first are \['repair', 'cycle', 'other'\]"
    ):
        views_from_gene_sets(COLUMNS, SETS, sets=["qqqq"])
    with pytest.raises(ValueError, match="sets must name a gene set"):
        views_from_gene_sets(COLUMNS, SETS, sets=[])


def test_kernel_and_other_parameters_are_those_of_every_view():
    views = views_from_gene_sets(COLUMNS, SETS, Linear(), min_genes=2, standardize=True, transforms="center")
    assert all(view.kernel == Linear() and view.standardize and len(view.transforms) == 1 for view in views)
    with pytest.raises(TypeError, match=r"no parameter 'standardise', nor has View.*standardize"):
        views_from_gene_sets(COLUMNS, SETS, standardise=True)


def test_views_by_position():
    views = views_from_gene_sets(np.array(COLUMNS), SETS, min_genes=2, by="position")
    assert [view.columns for view in views] == [[0, 1], [0, 2], [3, 4]]
    with pytest.raises(ValueError, match="by must be"):
        views_from_gene_sets(COLUMNS, SETS, by="place")


def test_the_table_is_passed_on_only_if_given(monkeypatch):
    made = []

    def note(table="not given", **given):
        made.append(table)
        return View(**given)

    monkeypatch.setattr(gene_sets, "View", note)
    monkeypatch.setattr(gene_sets, "fields", lambda _: ())
    views_from_gene_sets(COLUMNS, SETS, min_genes=2)
    views_from_gene_sets(COLUMNS, SETS, min_genes=2, table="rna")
    assert made == ["not given"] * 3 + ["rna"] * 3


# --- columns -----------------------------------------------------------------------------------------------

VALUES = {name: [0.0] for name in COLUMNS}
FRAME = pd.DataFrame(np.zeros((2, 5)), columns=COLUMNS)


@pytest.mark.parametrize(
    "columns",
    [
        FRAME,
        FRAME.columns,
        tuple(COLUMNS),
        polars.DataFrame(VALUES),
        polars.LazyFrame(VALUES),
        pyarrow.table(VALUES),
    ],
    ids=lambda columns: f"{type(columns).__module__.split('.')[0]}-{type(columns).__name__}",
)
def test_columns_are_names_or_a_frame(columns):
    expected = views_from_gene_sets(COLUMNS, SETS, min_genes=2)
    assert views_from_gene_sets(columns, SETS, min_genes=2) == expected


def test_columns_of_one_of_several_tables():
    X = MultiTable({"rna": FRAME, "clinic": pd.DataFrame({"age": [1, 2]})})
    with pytest.raises(ValueError, match=r"table must name the table.*\['rna', 'clinic'\].*table='rna'"):
        views_from_gene_sets(X, SETS)
    with pytest.raises(KeyError, match="no table 'rns'"):
        views_from_gene_sets(X, SETS, table="rns")


@pytest.mark.parametrize(
    ("columns", "error", "message"),
    [
        ("TP53", TypeError, "columns must be the names .* got 'TP53'"),
        (np.zeros((3, 2)), TypeError, r"got shape \(3, 2\).*by='position'"),
        (["TP53", 7157], TypeError, r"names of genes as texts; got 7157, of type int\. .*astype\(str\)"),
        (["TP53", "ATM", "TP53"], ValueError, "distinct; 'TP53' occurs 2 times"),
        ([], ValueError, "one column at least"),
    ],
)
def test_columns_that_name_nothing(columns, error, message):
    with pytest.raises(error, match=message):
        views_from_gene_sets(columns, SETS)


# --- matching ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("gene", "columns", "found"),
    [
        ("TP53", ["tp53", "TP53"], "TP53"),  # exact before all
        ("Tp53", ["TP53", "ATM"], "TP53"),
        ("ENSG00000141510", ["ENSG00000141510.17", "x"], "ENSG00000141510.17"),
        ("ENSG00000141510.3", ["ENSG00000141510", "x"], "ENSG00000141510"),
        ("ensmusg00000059552.5", ["ENSMUSG00000059552.14", "x"], "ENSMUSG00000059552.14"),
        ("ENSG00000141510.2", ["ENSG00000141510.1", "ENSG00000141510.2"], "ENSG00000141510.2"),
        ("RP11-34P13.7", ["RP11-34P13.8", "RP11-34P13"], None),  # no Ensembl identifier
        ("ENSG00000228572.7_PAR_Y", ["ENSG00000228572", "x"], None),  # the copy on another chromosome
    ],
)
def test_a_gene_is_found(gene, columns, found):
    views = views_from_gene_sets([*columns, "sure"], {"set": [gene, "sure"]}, min_genes=1, rest=False)
    assert views[0].columns == ([found] if found else []) + ["sure"]


@pytest.mark.parametrize(
    ("gene", "columns"),
    [("Tp53", ["TP53", "tp53"]), ("ENSG00000141510", ["ENSG00000141510.1", "ENSG00000141510.2"])],
)
def test_a_gene_that_may_be_two_columns_is_an_error_that_names_both(gene, columns):
    with pytest.raises(
        ValueError, match=f"set 'a'.*'{gene}' may be '{columns[0]}' or '{columns[1]}'. Rename"
    ):
        views_from_gene_sets(columns, {"a": [gene]}, min_genes=1)


def test_two_spellings_of_a_gene_are_one_column():
    views = views_from_gene_sets(COLUMNS, {"a": ["TP53", "tp53"]}, min_genes=1)
    assert views[0].columns == ["TP53"]
    assert views.report.loc["a", ["matched", "share"]].tolist() == [1, 1.0]


# --- refused -----------------------------------------------------------------------------------------------


def test_no_set_left_shows_both_kinds_of_identifiers():
    with pytest.raises(
        ValueError,
        match=r"min_genes=5 columns to become a view; none of the 3 has\. They have 0 to 2, most of all "
        r"'cycle'.*columns are such as \['TP53'.*genes such as \['TP53', 'ATM', 'BRCA9'.*lower min_genes\.",
    ):
        views_from_gene_sets(COLUMNS, SETS)
    with pytest.raises(ValueError, match=r"at most max_genes=1 .*raise max_genes"):
        views_from_gene_sets(COLUMNS, {"a": COLUMNS}, min_genes=1, max_genes=1)


@pytest.mark.parametrize(
    ("sets", "error", "message"),
    [
        ({}, ValueError, "empty dict"),
        ([["TP53"]], TypeError, "path of a GMT file, or a dict.*got list"),
        ({"a": "TP53"}, TypeError, "set 'a' must be a list .* got 'TP53'"),
        ({"a": []}, TypeError, r"one at least.* got \[\]"),
        ({"a": ["TP53", 7]}, TypeError, "each a text; got 7"),
        ({1: ["TP53"]}, TypeError, "name of a gene set must be a text that is not empty; got 1"),
    ],
)
def test_sets_that_are_none(sets, error, message):
    with pytest.raises(error, match=message):
        views_from_gene_sets(COLUMNS, sets)


@pytest.mark.parametrize(
    ("limits", "message"),
    [({"min_genes": 0}, "min_genes"), ({"max_genes": 2.5}, "max_genes"), ({"max_genes": 4}, "max_genes=4")],
)
def test_limits_that_are_none(limits, message):
    with pytest.raises((TypeError, ValueError), match=message):
        views_from_gene_sets(COLUMNS, SETS, **limits)


def test_nothing_that_is_given_is_changed():
    sets, columns, options = copy.deepcopy(SETS), list(COLUMNS), {"transforms": ["center"]}
    views = views_from_gene_sets(columns, sets, min_genes=2, **options)
    views[0].columns.append("new")
    assert (sets, columns, options) == (SETS, COLUMNS, {"transforms": ["center"]})


# --- models ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def fitted():
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(40, 5)), columns=COLUMNS)
    y = np.where(X["ATM"] > 0, "yes", "no")
    views = views_from_gene_sets(X, SETS, min_genes=2)
    return X, clone(MKLClassifier(views)).fit(X, y)


def test_a_model_takes_the_views_as_they_are(fitted):
    X, model = fitted
    assert model.view_names_ == ["repair", "cycle", "rest"]
    assert model.kernels.report.shape == (3, 7)  # through clone
    assert model.kernel_weights_[0] > 0.5
    copied = pickle.loads(pickle.dumps(model))
    assert copied.kernels.summary == model.kernels.summary
    np.testing.assert_array_equal(copied.predict(X), model.predict(X))


def test_a_saved_model_has_the_views_as_a_list(fitted, tmp_path):
    X, model = fitted
    save_model(model, tmp_path / "model.mk")
    loaded = load_model(tmp_path / "model.mk")
    assert type(loaded.kernels) is list
    assert loaded.kernels == model.kernels
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))


@needs_shared_data
@pytest.mark.parametrize(
    ("file", "min_genes", "n_views"), [("hallmark", 5, 50), ("pid", 5, 166), ("pid", 1, 196)]
)
def test_real_sets(file, min_genes, n_views):
    folder = shared_data_folder()
    names = np.load(folder / "expression_with_gene_symbols.npz")["feature_names"]
    views = views_from_gene_sets(names, folder / "genesets" / f"{file}.gmt", min_genes=min_genes, rest=False)
    assert len(views) == n_views
    assert min(len(view.columns) for view in views) >= min_genes

"""Tables aligned by the ids of their samples."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from multikernel.views import join_views
from tests.refusals import refused

GENES = pd.DataFrame({"tp53": [0.1, 0.7, 0.4], "kras": [1.0, 2.0, 3.0]}, index=["ann", "bob", "cyd"])
CLINIC = pd.DataFrame({"age": [60, 71, 44]}, index=["cyd", "ann", "dan"])
Y = pd.Series({"dan": 0, "cyd": 1, "ann": 0})


def test_an_inner_join_keeps_what_all_tables_have():
    X, y = join_views({"genes": GENES, "clinic": CLINIC}, Y)
    assert list(X.ids) == ["ann", "cyd"] and y.tolist() == [0, 1]
    assert X["genes"]["tp53"].tolist() == [0.1, 0.4] and X["clinic"]["age"].tolist() == [71, 60]
    assert not X.has_gaps
    expected = pd.DataFrame({"samples": [3, 3], "kept": [2, 2], "lacks": [0, 0]}, index=["genes", "clinic"])
    pd.testing.assert_frame_equal(X.counts, expected)
    assert "genes: 2 columns; 2 of its 3 samples, 1 left out" in repr(X)


def test_an_outer_join_keeps_what_some_table_has():
    X, y = join_views({"genes": GENES, "clinic": CLINIC}, Y, how="outer")
    assert list(X.ids) == ["ann", "cyd", "dan"] and y.tolist() == [0, 1, 0]  # bob has no target
    assert X.has_gaps and X.counts["lacks"].tolist() == [1, 0]
    assert X.present["genes"].tolist() == [True, True, False]
    assert X["genes"].loc["dan"].isna().all()
    every = join_views([GENES, CLINIC], how="outer")
    assert list(every.ids) == ["ann", "bob", "cyd", "dan"] and every.names == ["table-0", "table-1"]
    assert X[[0, 1]].has_gaps  # the join is remembered


@pytest.mark.parametrize(
    "kind", [pd.DataFrame, lambda frame: pl.from_pandas(frame)], ids=["pandas", "polars"]
)
def test_ids_may_be_a_column(kind):
    genes = kind(GENES.reset_index(names="sample"))
    clinic = kind(CLINIC.reset_index(names="sample"))
    targets = kind(Y.rename("y").to_frame().reset_index(names="sample"))
    X, y = join_views({"genes": genes, "clinic": clinic}, targets, on="sample")
    assert list(X.ids) == ["ann", "cyd"] and y.tolist() == [0, 1]
    assert list(X["genes"].columns) == ["tp53", "kras"]  # the ids are no feature


def test_targets_without_ids_go_with_tables_in_the_same_order():
    X, y = join_views({"a": GENES, "b": GENES * 2}, [1, 0, 1])
    assert y.tolist() == [1, 0, 1] and list(y.index) == list(X.ids)
    _, named = join_views({"a": GENES, "b": GENES}, {"cyd": "x", "ann": "y"})
    assert named.tolist() == ["y", "x"]


def test_nothing_of_the_caller_is_changed():
    genes, clinic, y = GENES.copy(), CLINIC.copy(), Y.copy()
    X, _ = join_views({"genes": GENES, "clinic": CLINIC}, Y, how="outer")
    X["genes"].iloc[:, 0] = 9.0
    pd.testing.assert_frame_equal(GENES, genes)
    pd.testing.assert_frame_equal(CLINIC, clinic)
    pd.testing.assert_series_equal(Y, y)


TWICE = pd.concat([GENES, GENES.iloc[:1]])
NAMELESS = GENES.set_axis(["ann", None, "cyd"])
FAR = CLINIC.set_axis(["x1", "x2", "x3"])
test_tables_that_cannot_be_joined_are_refused = refused(
    (lambda: join_views({"genes": TWICE}), "table 'genes' has the id 'ann' 2 times; ids must be unique"),
    (lambda: join_views({"genes": NAMELESS}), "table 'genes' has a missing id in row 1"),
    (lambda: join_views({"a": GENES, "b": FAR}), r"no sample in common; .*a: \['ann', .*b: \['x1'"),
    (
        lambda: join_views({"a": GENES}, on="id"),
        r"table 'a' has no column 'id'; its first columns are \['tp53'",
    ),
    (lambda: join_views({"a": GENES.to_numpy()}), TypeError, "table 'a' must be a frame, .* got ndarray"),
    (lambda: join_views({"a": GENES}, pd.Series({"zoe": 1, "ann": 0})), "y names 1 samples .* such as 'zoe'"),
    (lambda: join_views({"a": GENES, "b": CLINIC}, [1, 0, 1]), "y has no ids, .* Give a Series"),
    (lambda: join_views({"a": GENES}, GENES), r"y must have one column of targets .*\['tp53', 'kras'\]"),
    (lambda: join_views({"a": GENES}, Y, how="left"), "how must be one of 'inner', 'outer'; got 'left'"),
    (lambda: join_views([GENES, None]), TypeError, "table 'table-1' is None. Leave it out"),
    (lambda: join_views({1: GENES}), TypeError, r"non-empty string; got 1. Use str\(\)"),
    (lambda: join_views({}), "at least one table; got none"),
    (lambda: join_views(3), TypeError, "tables must be a dict or a list of tables; got int"),
    (lambda: join_views({"a": GENES}, pd.Series([1, 2], index=["ann", "ann"])), "y has the id 'ann' 2 times"),
)


def test_dtypes_survive():
    mixed = pd.DataFrame({"k": pd.Categorical(["a", "b", "a"]), "n": [1, 2, 3]}, index=GENES.index)
    X = join_views({"mixed": mixed, "genes": GENES})
    assert isinstance(X["mixed"]["k"].dtype, pd.CategoricalDtype) and X["mixed"]["n"].dtype.kind == "i"
    assert np.asarray(X["genes"]).dtype == np.float64


def test_long_ids_of_other_libraries_stay_apart():
    ids = [2**60 + k for k in range(4)]
    one = pl.DataFrame({"id": ids, "v": [0.1, 0.2, 0.3, 0.4]})
    two = pd.DataFrame({"id": ids[::-1], "w": [4, 3, 2, 1]})
    y = pl.DataFrame({"id": ids, "y": [0.0, 1.0, 0.0, 1.0]})
    X, targets = join_views({"one": one, "two": two}, y, on="id")
    assert list(X.ids) == ids and X["two"]["w"].tolist() == [1, 2, 3, 4]
    assert targets.tolist() == [0.0, 1.0, 0.0, 1.0] and targets.index.equals(X.ids)


def test_targets_keep_their_name():
    tables = {"genes": GENES, "clinic": CLINIC}
    assert join_views(tables, Y)[1].name is None and join_views(tables, Y.rename("ill"))[1].name == "ill"


def test_ids_of_several_levels_are_refused():
    levels = GENES.set_axis(pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)]))
    with pytest.raises(ValueError, match=r"table 'genes' has ids of 2 levels.*Join the levels"):
        join_views({"genes": levels, "clinic": levels})

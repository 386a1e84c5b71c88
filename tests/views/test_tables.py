"""Several tables as one X: what it holds, how it is sliced, and what is refused."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.model_selection import KFold, train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.utils import _safe_indexing

from multikernel.views import MultiTable
from multikernel.views.tables import absent_rows, as_table, as_tables, is_tables
from tests.refusals import refused

RNG = np.random.default_rng(0)
IDS = [f"s{i}" for i in range(6)]
ARRAY = RNG.normal(size=(6, 3))
FRAME = pd.DataFrame({"age": range(6), "grade": list("aabbcc")}, index=IDS)
SPARSE = scipy.sparse.csr_matrix(np.eye(6))
X = MultiTable({"genes": ARRAY, "clinic": FRAME, "words": SPARSE})


def test_it_has_the_tables_by_name_and_a_shape():
    assert X.names == ["genes", "clinic", "words"]
    assert X.shape == (6, 3 + 2 + 6) and len(X) == 6 and X.ndim == 2
    assert list(X.ids) == IDS
    assert X["clinic"] is FRAME
    assert repr(X).splitlines() == [
        "MultiTable of 6 samples:",
        "  genes: 3 columns",
        "  clinic: 2 columns",
        "  words: 6 columns",
    ]


@pytest.mark.parametrize(
    "rows",
    [[4, 0], np.array([4, 0]), slice(1, 4), slice(None, None, -2), np.arange(6) % 2 == 0, 3, np.int64(3)],
    ids=repr,
)
def test_rows_are_taken_from_every_table(rows):
    positions = np.atleast_1d(np.arange(6)[rows])
    part = X[rows]
    assert part.shape == (len(positions), X.shape[1])
    np.testing.assert_array_equal(part["genes"], ARRAY[positions])
    pd.testing.assert_frame_equal(part["clinic"], FRAME.iloc[positions])
    np.testing.assert_array_equal(part["words"].toarray(), np.eye(6)[positions])
    assert list(part.ids) == [IDS[p] for p in positions]


def test_scikit_learn_slices_it():
    for train, test in KFold(3).split(X):
        np.testing.assert_array_equal(_safe_indexing(X, test)["genes"], ARRAY[test])
        assert len(_safe_indexing(X, train)) == 4
    one, other, y_one, _ = train_test_split(X, np.arange(6), test_size=2, random_state=0)
    np.testing.assert_array_equal(one["genes"], ARRAY[y_one])
    assert len(other) == 2


def test_it_is_pickled_whole():
    again = pickle.loads(pickle.dumps(X))
    assert again.names == X.names and list(again.ids) == IDS
    np.testing.assert_array_equal(again["genes"], ARRAY)


def test_the_tables_of_the_caller_are_not_changed():
    genes, clinic = ARRAY.copy(), FRAME.copy()
    both = MultiTable({"genes": ARRAY, "clinic": FRAME})
    both[[0, 1]]["genes"][:] = 0.0
    np.testing.assert_array_equal(ARRAY, genes)
    pd.testing.assert_frame_equal(FRAME, clinic)


def test_dicts_and_lists_of_tables_are_several_tables():
    assert is_tables({"a": ARRAY}) and is_tables([ARRAY, FRAME]) and is_tables(X)
    assert as_tables([ARRAY, FRAME]).names == ["table-0", "table-1"]
    assert as_tables({"a": pd.Series([1.0, 2.0], name="v")})["a"].shape == (2, 1)
    assert is_tables([ARRAY, None]) and not is_tables([None, None])  # refused in the words of tables
    for one in (ARRAY, FRAME, SPARSE, SPARSE.todok(), [[1.0, 2.0]], ["ACGT", "AC"], []):
        assert not is_tables(one)
    assert as_table(X) is X


def test_which_samples_have_which_table():
    genes = ARRAY.copy()
    genes[2] = np.nan
    genes[3, 0] = np.nan
    has = MultiTable({"genes": genes, "clinic": FRAME}).present
    assert has["genes"].tolist() == [True, True, False, True, True, True]
    assert has["clinic"].all() and list(has.index) == IDS
    assert absent_rows(["ACGT", None]).tolist() == [False, True]


def test_equal_rows_are_found_over_all_tables():
    doubled = MultiTable({"genes": ARRAY[[0, 0, 1, 0]], "size": np.array([[1.0], [1.0], [1.0], [2.0]])})
    codes = doubled.distinct_codes()
    assert (codes[0] == codes[1]).all() and (codes[0] != codes[2]).any() and (codes[0] != codes[3]).any()
    assert X.distinct_codes() is None  # texts: their rows count as distinct


DOUBLED = pd.DataFrame(np.zeros((6, 4)), columns=["tp53", "tp53", "kras", "kras"])
GRAM = pd.DataFrame(ARRAY @ ARRAY.T, index=IDS, columns=IDS)
SHIFTED = FRAME.set_axis([*IDS[1:], IDS[0]])
test_what_is_no_set_of_tables_is_refused = refused(
    ({}, "at least one table; got none"),
    (3, TypeError, "must be a dict or a list of tables; got int"),
    ({1: ARRAY}, TypeError, "name of a table must be a non-empty string; got 1"),
    ([ARRAY, None], TypeError, 'table \'table-1\' is None. .*how="outer".*missing="renormalize"'),
    ({"a": ARRAY, "b": None}, TypeError, "table 'b' is None. Leave it out"),
    ({"a": DOUBLED, "b": ARRAY}, "table 'a' has several columns of one name, such as 'tp53', 'kras'; make"),
    ({"a": GRAM, "b": GRAM.iloc[::-1, ::-1]}, r"row 0 is 's0'.*K.loc\[ids, ids\].*=\"precomputed\""),
    ({"a": 3.0}, TypeError, "table 'a' must be a frame, an array .*; got float"),
    ({"a": np.zeros((2, 2, 2))}, TypeError, "table 'a' must be a frame"),
    ({"a": ARRAY, "b": ARRAY[:4]}, r"'a' has 6 rows, 'b' has 4 rows. Align them with join_views"),
    (
        {"a": FRAME, "b": SHIFTED},
        r"'a' and 'b' have other samples in the same rows: row 0 is 's0'.*join_views",
    ),
    by=MultiTable,
)


def test_mistakes_in_use_are_named():
    with pytest.raises(KeyError, match="no table 'protein'; the tables are"):
        X["protein"]
    with pytest.raises(TypeError, match="indexed by rows or by the name of a table; got columns"):
        X[:, 0]
    with pytest.raises(ValueError, match="ids must name each of the 6 samples once; got 2 ids"):
        MultiTable({"a": ARRAY}, ids=["x", "y"])


def test_a_table_without_columns_is_refused_by_name():
    with pytest.raises(ValueError, match=r"table 'clinic' has no columns\. Leave it out"):
        MultiTable({"genes": ARRAY, "clinic": FRAME[[]]})


def test_steps_that_want_an_array_are_told_what_to_do():
    with pytest.raises(ValueError, match=r"is no array.*Treat each table, such as X\['genes'\], before"):
        StandardScaler().fit(X)

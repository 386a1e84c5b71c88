"""Column selection, on every kind of table and with every kind of mistake."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from multikernel.rows import count_rows
from multikernel.views.columns import resolve_columns
from multikernel.views.tables import as_table, n_columns
from tests.refusals import refused

VALUES = np.arange(12.0).reshape(3, 4)
FRAME = pd.DataFrame(VALUES, columns=["age", "height", "weight", "sex"])
TABLES = {"array": VALUES, "sparse": scipy.sparse.csr_matrix(VALUES), "frame": FRAME}


def _dense(table):
    return table.toarray() if scipy.sparse.issparse(table) else np.asarray(table)


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
@pytest.mark.parametrize(
    ("columns", "positions"),
    [
        (None, [0, 1, 2, 3]),
        ([2, 0], [2, 0]),
        ([-1], [3]),
        (slice(1, 3), [1, 2]),
        (slice(None, None, 2), [0, 2]),
        ([True, False, False, True], [0, 3]),
        (np.array([False, True, False, False]), [1]),
        (np.array([1, 3]), [1, 3]),
        (range(2), [0, 1]),
        (lambda X: [X.shape[1] - 1], [3]),
    ],
)
def test_positions_masks_slices_and_functions(table, columns, positions):
    selection = resolve_columns(table, columns, "view 'v'")
    np.testing.assert_array_equal(_dense(selection.take(table, "view 'v'")), VALUES[:, positions])


@pytest.mark.parametrize(
    ("columns", "positions"),
    [
        (["weight", "age"], [2, 0]),
        (slice("height", "sex"), [1, 2, 3]),
        (slice(None, "height"), [0, 1]),
        (slice("weight", None), [2, 3]),
        (lambda X: [name for name in X.columns if "eight" in name], [1, 2]),
        (pd.Index(["sex"]), [3]),
    ],
)
def test_names(columns, positions):
    selection = resolve_columns(FRAME, columns, "view 'v'")
    np.testing.assert_array_equal(selection.take(FRAME, "view 'v'"), VALUES[:, positions])
    shuffled = FRAME[["sex", "weight", "height", "age"]]
    np.testing.assert_array_equal(selection.take(shuffled, "view 'v'"), VALUES[:, positions])
    np.testing.assert_array_equal(selection.take(VALUES, "view 'v'"), VALUES[:, positions])


@pytest.mark.parametrize("columns", ["height", 1, np.int64(-3)])
def test_one_column_alone_is_one_dimensional(columns):
    selection = resolve_columns(FRAME, columns, "view 'v'")
    assert selection.scalar
    np.testing.assert_array_equal(selection.take(FRAME, "view 'v'"), VALUES[:, 1])
    np.testing.assert_array_equal(selection.take(FRAME[["height"]], "view 'v'"), VALUES[:, 1])


test_mistakes_are_named = refused(
    ((FRAME, "heigth"), "view 'v' asks for the unknown column 'heigth'. Did you mean 'height'"),
    ((FRAME, ["zzz"]), r"unknown column 'zzz'. X has \['age', 'height', 'weight', 'sex'\]"),
    ((FRAME, slice("age", "nope")), "unknown column 'nope'"),
    ((VALUES, "age"), "column 'age' by name, but X is no DataFrame"),
    ((VALUES, 4), r"asks for column 4, but X has 4 columns \(0 to 3\)"),
    ((VALUES, [0, -5]), "asks for column -5, but X has 4 columns"),
    ((VALUES, []), r"view 'v' selects no column with columns=\[\]; X has 4 columns"),
    ((VALUES, slice(4, None)), "selects no column"),
    ((VALUES, [False] * 4), "selects no column"),
    ((VALUES, [True, False]), "a column mask must have length 4; got length 2"),
    ((VALUES, np.array(1.0)), TypeError, "columns must be a name, a position"),
    ((VALUES, 1.5), TypeError, "columns must be a name, a position.*; got 1.5"),
    ((VALUES, [0, 1.5]), TypeError, "a column must be a name or a position; got 1.5"),
    ((["a", "b"], [0]), r"asks for columns \[0\], but X is not a table with columns"),
    ((pd.DataFrame(VALUES, columns=list("abab")), "a"), "'a', which X holds 2 times"),
    by=lambda given: resolve_columns(*given, "view 'v'"),
)


def test_a_column_that_is_gone_at_prediction_is_named():
    selection = resolve_columns(FRAME, ["age"], "view 'v'")
    with pytest.raises(ValueError, match="view 'v' asks for the unknown column 'age'"):
        selection.take(FRAME.drop(columns="age"), "view 'v'")


def test_tables_from_lists():
    assert as_table([[1, 2], [3, 4]]).shape == (2, 2)
    assert as_table(["ab", "c"]) == ["ab", "c"]
    assert as_table([[1], [1, 2]]) == [[1], [1, 2]]
    assert as_table(FRAME) is FRAME
    assert count_rows(["a", "b"]) == 2 and n_columns(["a", "b"]) is None
    for wrong in (None, "text", 3, {1, 2}):
        with pytest.raises(
            TypeError, match="X must be an array, a sparse matrix, a DataFrame, a dict of tables or a list of"
        ):
            as_table(wrong)
    with pytest.raises(ValueError, match="got a single number"):
        count_rows(np.array(3.0))

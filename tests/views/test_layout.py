"""Columns of fit found again at prediction."""

import numpy as np
import pandas as pd
import pytest

from multikernel.kernels import Linear
from multikernel.views import MultiTable, View, as_views
from multikernel.views.layout import align, layout_of
from tests.refusals import refused

FRAME = pd.DataFrame(np.arange(12.0).reshape(3, 4), columns=list("abcd"))
TWO = [View("x", Linear(), ["a", "c"]), View("y", Linear(), ["c", "d"])]
TABLES = MultiTable({"left": FRAME, "right": FRAME.to_numpy(), "unread": FRAME})
PLACED = [View("l", Linear(), ["b"], table="left"), View("r", Linear(), table="right")]


def test_columns_that_are_read_are_found_in_any_order_among_others():
    layout = layout_of(FRAME, TWO)
    assert layout == {"columns": list("abcd"), "width": 4, "read": ["a", "c", "d"]}
    shuffled = FRAME[["d", "c", "a"]].assign(extra=1.0)
    aligned = align(shuffled, layout, "Model")
    assert list(aligned.columns) == list("abcd") and aligned["b"].isna().all()
    pd.testing.assert_frame_equal(aligned[["a", "c", "d"]], FRAME[["a", "c", "d"]])
    assert align(FRAME, layout, "Model") is FRAME
    array = FRAME.to_numpy()
    assert align(array, layout, "Model") is array


def test_where_all_columns_are_read_scikit_learn_checks_them():
    assert layout_of(FRAME, as_views([Linear()])) is None
    assert layout_of(FRAME, [View("x", Linear(), list("abcd"))]) is None
    assert layout_of(FRAME.to_numpy(), TWO[:0]) is None


def test_tables_are_found_by_name():
    layout = layout_of(TABLES, PLACED)
    assert list(layout["tables"]) == ["left", "right"]
    new = MultiTable({"other": FRAME, "right": FRAME.to_numpy(), "left": FRAME[["d", "b"]]}, ids=list("xyz"))
    aligned = align(new, layout, "Model")
    assert aligned.names == ["left", "right"] and list(aligned.ids) == list("xyz")
    assert aligned["left"]["b"].tolist() == FRAME["b"].tolist()


def test_a_table_may_be_absent_where_samples_may_lack_views():
    layout = layout_of(TABLES, PLACED)
    aligned = align(MultiTable({"right": FRAME.to_numpy()}), layout, "Model", may_lack_tables=True)
    assert not aligned.present["left"].any() and aligned.present["right"].all()
    other = align(MultiTable({"left": FRAME}), layout, "Model", may_lack_tables=True)
    assert other["right"].shape == (3, 4) and not other.present["right"].any()


LAYOUT, SEVERAL = layout_of(FRAME, TWO), layout_of(TABLES, PLACED)
DOUBLED = pd.DataFrame(np.zeros((3, 4)), columns=list("acdd"))
test_what_does_not_fit_is_named = refused(
    (lambda: align(FRAME[["a", "b"]], LAYOUT, "Model"), r"X lacks 2 columns that Model .* \['c', 'd'\]"),
    (lambda: align(DOUBLED, LAYOUT, "Model"), "several columns of one name"),
    (lambda: align(TABLES, LAYOUT, "Model"), "fitted on one table; got several: "),
    (lambda: align(TABLES, None, "Model"), "fitted on one table; got several: "),
    (lambda: align(FRAME, SEVERAL, "Model"), r"fitted on the tables \['left', 'right'\]; got DataFrame"),
    (lambda: align(MultiTable({"left": FRAME}), SEVERAL, "Model"), "the table 'right', which is not there"),
    (
        lambda: align(MultiTable([FRAME, FRAME]), SEVERAL, "Model", may_lack_tables=True),
        r"on a dict of the tables \['left', 'right'\]; got a list of 2 .*names of fit: {'left': ..., 'right'",
    ),
    (
        lambda: align(TABLES, layout_of(MultiTable([FRAME, FRAME]), as_views(Linear())), "Model"),
        r"on a list of tables; got a dict of the tables \['left', .*Pass a list, in the order of fit",
    ),
    (
        lambda: align(MultiTable({"0": FRAME}), SEVERAL, "Model", may_lack_tables=True),
        r"on the tables \['left', 'right'\]; none of them is among \['0'\]. Pass a dict",
    ),
    (
        lambda: align(MultiTable({"left": FRAME, "right": np.zeros((3, 2))}), SEVERAL, "Model"),
        "table 'right' has 2 columns, but Model is expecting 4 columns there",
    ),
)


def test_a_view_of_a_table_needs_several_tables():
    with pytest.raises(ValueError, match="view 'l' reads the table 'left', but X is one table"):
        layout_of(FRAME, PLACED)

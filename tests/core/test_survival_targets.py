"""Targets of survival models: every form that people have, and what each wrong one is told."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import BaseEstimator
from sklearn.utils import _safe_indexing

from multikernel.core.survival_targets import SurvivalTarget, as_survival, check_survival
from multikernel.views import join_views

EVENT = np.array([True, False, True, True])
TIME = np.array([5.0, 8.0, 2.0, 1.0])
STRUCTURED = np.array(list(zip(EVENT, TIME, strict=True)), dtype=[("cens", "?"), ("survived", "<f8")])


class Model(BaseEstimator):
    _precomputed = False


FORMS = {
    "structured": STRUCTURED,
    "structured, the other way round": STRUCTURED[["survived", "cens"]],
    "record array": STRUCTURED.view(np.recarray),
    "frame": pd.DataFrame({"Event": EVENT, "Time": TIME}),
    "usual names": pd.DataFrame({"OS.time": TIME, "died": EVENT.astype(int)}),
    "frame told by types": pd.DataFrame({"how long": TIME, "seen": EVENT}),
    "nullable": pd.DataFrame({"event": pd.array(EVENT, dtype="boolean"), "time": pd.array(TIME, "Float64")}),
    "polars": pl.DataFrame({"event": EVENT, "time": TIME}),
    "arrow": pa.table({"status": EVENT.astype(int), "months": TIME}),
    "dict": {"time": TIME.tolist(), "event": EVENT.astype(float)},
    "tuple": (EVENT, TIME),
    "list of lists": [EVENT.tolist(), TIME.astype(int).tolist()],
    "two columns": np.column_stack([EVENT, TIME]),
    "two columns, time first": np.column_stack([TIME, EVENT]),
    "pairs": [(1, 5.0), (0, 8.0), (1, 2.0), (1, 1.0)],
    "objects": np.array([[True, 5.0], [False, 8.0], [True, 2.0], [True, 1.0]], dtype=object),
    "checked": SurvivalTarget(EVENT, TIME),
}


@pytest.mark.parametrize("y", FORMS.values(), ids=FORMS)
def test_every_form_says_the_same(y):
    target = as_survival(y)
    np.testing.assert_array_equal(target.event, EVENT)
    np.testing.assert_array_equal(target.time, TIME)
    assert (target.event.dtype, target.time.dtype, target.entry) == (bool, np.float64, None)


def test_columns_are_named_where_they_have_no_usual_names():
    y = pd.DataFrame({"a": TIME, "b": EVENT.astype(int), "c": TIME - 0.5}, index=list("wxyz"))
    target = as_survival(y, event="b", time="a", entry="c")
    np.testing.assert_array_equal(target.entry, TIME - 0.5)
    assert target.index.tolist() == list("wxyz")
    with pytest.raises(ValueError, match=r"no column 'd' for the event; it has \['a', 'b', 'c'\]"):
        as_survival(y, event="d")
    with pytest.raises(ValueError, match="a tuple of columns has no names; got time='a'"):
        as_survival((EVENT, TIME), time="a")


def test_entry_times():
    for y in ((EVENT, TIME, TIME / 2), {"event": EVENT, "start": TIME / 2, "stop": TIME}):
        np.testing.assert_array_equal(as_survival(y).entry, TIME / 2)
    with pytest.raises(ValueError, match="row 1 has entry 8 and time 8"):
        as_survival((EVENT, TIME, [1.0, 8.0, 1.0, 0.0]))


def test_rows_and_files():
    y = as_survival({"event": EVENT, "time": TIME, "entry": TIME / 2})
    part = y[np.array([2, 0])]
    assert (part.event.tolist(), part.time.tolist(), part.entry.tolist()) == ([True, True], [2, 5], [1, 2.5])
    assert (len(y[EVENT]), len(y[1]), len(y[1:]), y.n_events) == (3, 1, 3, 3)
    again = as_survival(pickle.loads(pickle.dumps(y)).to_structured())
    np.testing.assert_array_equal(again.entry, y.entry)
    np.testing.assert_array_equal(_safe_indexing(y.to_structured(), [1])["time"], [8.0])


def test_nothing_that_was_passed_changes_with_the_target():
    event, time = EVENT.copy(), TIME.copy()
    target = as_survival((event, time))
    target.event[0], target.time[0] = False, 99.0
    assert event[0] and time[0] == 5.0


REFUSED = {
    "one column": (TIME, "must hold an event and a time for each sample; got an array of shape"),
    "three columns": (np.ones((4, 3)), "got an array of shape \\(4, 3\\).* DataFrame or dict"),
    "text": ("event", "must hold an event and a time"),
    "both 0 and 1": (np.array([[0, 1], [1, 1]]), "both columns hold nothing but 0 and 1"),
    "no 0 and 1": (np.array([[2.0, 3.0], [4.0, 5.0]]), "no column holds nothing but 0 and 1"),
    "swapped": ((TIME, EVENT), "appear to be swapped"),
    "swapped names": ({"event": TIME, "time": EVENT.astype(int)}, "appear to be swapped"),
    "lengths": ((EVENT, TIME[:3]), "got 4 of event, 3 of time"),
    "empty": (([], []), "at least one sample"),
    "R's status": ((EVENT + 1, TIME), "entry 0 is 2. If 2 means the event, as in R, pass event == 2"),
    "words": (
        (["dead", "alive", "dead", "dead"], TIME),
        r"'dead'. Compare it with the value of the event \(it holds 'dead', 'alive'\)",
    ),
    "event missing": (([1, None, 1, 1], TIME), "must not be missing; entry 1 is None"),
    "event NaN": (([1, np.nan, 1, 1], TIME), "must not be missing; entry 1 is nan"),
    "event NA": ((pd.array([True, None], "boolean"), [1, 2]), "entry 1 is <NA>"),
    "NaN": ((EVENT, [1, np.nan, 2, np.nan]), r"must be finite; row 1 has nan \(also rows 3\)"),
    "infinity": ((EVENT, [1, np.inf, 2, 3]), "must be finite; row 1 has inf"),
    "masked": ((np.ma.array(EVENT, mask=[0, 1, 0, 0]), TIME), "must not be missing; entry 1 is None"),
    "masked time": ((EVENT, np.ma.array(TIME, mask=[0, 1, 0, 0])), "must be finite; row 1 has nan"),
    "numbers for columns": ({"event": 1, "time": 2.0}, "the event of y must be a column"),
    "negative": ((EVENT, [1, 2, -3, 4]), "must not be negative; row 2 has -3"),
    "text times": ((EVENT, ["a", "b", "c", "d"]), "the time of y must be numbers"),
    "no event": (pd.DataFrame({"time": TIME, "x": TIME}), "do not say which is the event"),
    "more columns": ({"event": EVENT, "time": TIME, "age": TIME}, r"got the columns \['age'\] too"),
    "two times": ({"event": EVENT, "days": TIME, "months": TIME}, r"\['days', 'months'\] of y may all"),
    "same name": (pd.DataFrame([[1, 2.0]], columns=["time", "time"]), "distinct names; got 'time' twice"),
    "other samples": (
        (pd.Series(EVENT, index=list("abcd")), pd.Series(TIME, index=list("abdc"))),
        "row 2 is 'c' of event and 'd' of time",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("y", "words"), REFUSED.values(), ids=REFUSED)
def test_what_is_not_understood_is_said(y, words):
    with pytest.raises(ValueError, match=words):
        as_survival(y)


def test_durations_and_dates_are_converted_by_the_caller():
    for times in (TIME.astype("timedelta64[D]"), np.array(["2020-01-01"] * 4, "datetime64[D]")):
        with pytest.raises(TypeError, match="Convert durations by time"):
            as_survival((EVENT, times))


def test_a_fit_needs_events_after_time_zero():
    X = np.zeros((4, 1))
    assert check_survival(Model(), X, STRUCTURED).n_events == 3
    for y, words in (
        (None, "requires y to be passed"),
        (STRUCTURED[:3], "got 4 and 3"),
        ((np.zeros(4), TIME), "all 4 samples of y are censored"),
        ((EVENT, [0.0, 0.0, 1.0, 0.0]), r"events after time 0; y has time 0 in row 0 \(also rows 3\)"),
    ):
        with pytest.raises(ValueError, match=words):
            check_survival(Model(), X, y)
    censored_at_zero = (EVENT, [1.0, 0.0, 1.0, 1.0])
    assert len(check_survival(Model(), X, censored_at_zero)) == 4
    with pytest.raises(ValueError, match="needs positive times; y has time 0 in row 1"):
        check_survival(Model(), X, censored_at_zero, positive=True)


def test_a_fit_refuses_the_target_of_other_samples():
    table = pd.DataFrame({"x": TIME}, index=list("abcd"))
    joined = join_views({"one": table, "two": table})
    y = pd.DataFrame({"event": EVENT, "time": TIME}, index=list("abdc"))
    with pytest.raises(ValueError, match="row 2 is 'c' in X and 'd' in y"):
        check_survival(Model(), joined, y)
    assert len(check_survival(Model(), joined, y.loc[list("abcd")])) == 4

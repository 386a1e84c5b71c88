"""The doctor on censored times."""

import numpy as np
import pandas as pd
import pytest

from multikernel.datasets import make_survival_views
from multikernel.doctor import diagnose
from multikernel.kernels import Linear
from tests.doctor.told import find, told

DATA = make_survival_views(120, n_views=2, n_informative=1, n_columns=2, random_state=0)
X, Y = DATA.X, DATA.y


def changed(**fields):
    y = Y.copy()
    for name, values in fields.items():
        y[name] = values
    return y


FORMS = [
    Y,
    pd.DataFrame(Y),
    {"status": Y["event"].astype(int), "months": Y["time"]},
    (Y["event"], Y["time"]),
]


@pytest.mark.parametrize("y", FORMS)
def test_censored_times_are_told_by_their_form(y):
    found = diagnose(X, y, [Linear()])
    assert (found.task, found.ok) == ("survival", True)
    finding = find(found, "note", "target")
    assert "84 of 120 rows (70 %) have the event" in finding.what
    assert "EventKFold" in finding.remedy


@pytest.mark.parametrize(
    ("y", "level", "said"),
    [
        (changed(event=False), "error", "all 120 rows are censored"),
        (changed(event=True), "note", "no row is censored"),
        (changed(event=np.arange(120) < 20), "warning", "20 of 120 rows (17 %) have the event: what can be"),
        (changed(event=np.arange(120) < 4), "warning", "too few for folds with two each"),
        (changed(time=np.ceil(3.0 * Y["time"])), "note", "share their time with another"),
        (changed(time=np.sort(Y["time"])), "warning", "rows are sorted by time"),
        (changed(time=-Y["time"]), "error", "the time of y must not be negative; row 0 has"),
        (
            changed(time=np.where(np.arange(120) == 7, np.nan, Y["time"])),
            "error",
            "must be finite; row 7 has nan",
        ),
        (changed(time=np.where(Y["event"], Y["time"], 0.0)), "note", "36 rows are censored at time 0"),
        (changed(time=np.where(Y["event"], 0.0, Y["time"])), "error", "84 events are at time 0"),
        ({"event": Y["event"] + 1, "time": Y["time"]}, "error", "the event of y must be True or False"),
        (Y[:60], "error", "an event and a time for each of the 120 rows; it has 60"),
    ],
)
def test_what_is_wrong_with_censored_times(y, level, said):
    hits = [f for f in diagnose(X, y, [Linear()]).findings if f.subject == "target" and said in f.what]
    assert [f.level for f in hits] == [level]
    assert hits[0].remedy


def test_a_table_that_is_no_survival_target_can_be_said_to_be_one():
    y = pd.DataFrame({"seen": Y["event"], "how long": Y["time"]})
    assert diagnose(X, y, [Linear()], task="survival").task == "survival"
    assert ("note", "target") in told(
        X, np.column_stack([Y["time"], X.iloc[:, 0]]), [Linear()]
    )  # two numbers


def test_columns_that_give_time_or_event_away():
    leaky = X.assign(follow_up=2.0 * Y["time"], cause=np.where(Y["event"], 1.0, 0.0))
    found = told(leaky, Y, [Linear()])
    assert {("error", "column 'follow_up'"), ("error", "column 'cause'")} <= found
    assert not [subject for level, subject in told(X, Y, [Linear()]) if level == "error"]


def test_kernels_of_the_time_are_told():
    time = Y["time"] - Y["time"].mean()
    K = {"good": X.to_numpy() @ X.to_numpy().T, "time": np.outer(time, time)}
    assert ("warning", "kernel 'time'") in told(K, Y, "precomputed")

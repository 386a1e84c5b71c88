"""The record of a loop: every reason to stop, and which of several counts; backtracking."""

import numpy as np
import pytest

from multikernel.core.optim.loop import Options, Recorder, Result, Status, armijo, backtrack


def entry(iteration, gap):
    return {"iteration": iteration, "objective": 1.0, "gap": gap}


@pytest.mark.parametrize(
    ("gap", "answer", "iteration", "status"),
    [
        (0.05, None, 1, Status.OPTIMAL),
        (0.05, True, 3, Status.OPTIMAL),  # reached, interrupted and out of iterations: reached counts
        (0.5, True, 3, Status.INTERRUPTED),
        (0.5, False, 3, Status.MAX_ITER),
        (float("nan"), None, 1, None),
        (0.5, None, 2, None),
    ],
)
def test_why_a_loop_stops(gap, answer, iteration, status):
    record = Recorder.of(Options(tol=0.1, max_iter=3, callback=lambda entry: answer))
    assert record.note(entry(iteration, gap)) is (status is not None)
    assert record.ended is (status is not None)
    assert record.status == (status or Status.MAX_ITER)


def test_the_callback_sees_every_entry_of_the_history():
    seen = []
    record = Recorder(0.1, callback=seen.append)
    entries = [entry(i, gap) for i, gap in enumerate([1.0, 0.5, 0.1])]
    assert [record.note(e) for e in entries] == [False, False, True]
    assert seen == record.history == entries
    assert record.outcome == {"n_iter": 2, "status": Status.OPTIMAL, "history": entries}


def test_what_the_callback_does_to_its_entry_changes_nothing():
    record = Recorder(0.1, callback=lambda entry: entry.update(gap=0.0))
    assert not record.note(entry(0, 1.0)) and record.history == [entry(0, 1.0)]


def test_a_solver_may_judge_for_itself_and_stop_for_reasons_of_its_own():
    record = Recorder(0.1)
    assert not record.note(entry(0, 0.0), reached=False)
    assert not record.note({"iteration": 10**9, "objective": 1.0}, reached=False)  # it counts for itself
    assert record.stop(Status.STALLED) and record.status == Status.STALLED
    assert Recorder().note({"iteration": 0}, reached=True)


def test_without_entries_there_was_no_iteration_and_without_a_certificate_there_is_no_gap():
    assert Recorder().outcome == {"n_iter": 0, "status": Status.MAX_ITER, "history": []}
    result = Result(objective=1.0, n_iter=2, status=Status.OPTIMAL)
    assert result.gap != result.gap and result.history == []


def test_lengths_shrink_until_one_is_accepted():
    tried = []

    def attempt(length):
        tried.append(length)
        return "there" if length <= 0.2 else None

    assert backtrack(attempt, 10, first=2.0, shrink=0.4) == "there"
    np.testing.assert_allclose(tried, [2.0, 0.8, 0.32, 0.128])
    tried.clear()
    assert backtrack(tried.append, 3) is None  # none is accepted after the last trial
    assert tried == [1.0, 0.5, 0.25]
    assert backtrack(lambda length: 0.0, 3) == 0.0  # zero is a success


@pytest.mark.parametrize(("curvature", "accepted"), [(1.0, 1.0), (1.99, 1.0), (2.1, 0.5)])
def test_armijo_on_a_parabola(curvature, accepted):
    """F(t) = −t + curvature t²/2 falls enough up to nearly 2 / curvature."""
    value = lambda t: -t + 0.5 * curvature * t * t  # noqa: E731
    assert backtrack(lambda t: t if value(t) <= armijo(0.0, t, -1.0) else None, 10) == accepted

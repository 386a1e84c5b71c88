"""Where the convergence plot puts its points: in order, inside its frame, on a logarithmic scale."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from multikernel.report.drawings.convergence import convergence_plot

gaps = st.lists(st.floats(0, 1e6) | st.none(), min_size=1, max_size=40)
tolerances = st.none() | st.floats(1e-12, 1)


def steps(values):
    return [{"machine": 0, "iteration": i, "gap": gap} for i, gap in enumerate(values)]


@given(gaps, tolerances)
def test_everything_is_inside_the_frame(values, tol):
    plot = convergence_plot(steps(values), tol)
    if all(gap is None for gap in values):
        assert plot is None
        return
    frame = plot["frame"]
    heights = [item["y"] for item in plot["points"] + plot["y_ticks"]]
    heights += [plot["tol_y"]] if tol is not None else []
    assert all(frame["top"] <= y <= frame["bottom"] for y in heights)
    assert all(frame["left"] <= item["x"] <= frame["right"] for item in plot["points"] + plot["x_ticks"])
    assert len(plot["points"]) == sum(gap is not None for gap in values)
    assert len(plot["x_ticks"]) <= 9
    assert len(plot["y_ticks"]) <= 9


@given(gaps)
def test_a_smaller_gap_never_stands_higher(values):
    plot = convergence_plot(steps(values), tol=None)
    points = [] if plot is None else plot["points"]
    for a in points:
        for b in points:
            assert a["gap"] >= b["gap"] or a["y"] >= b["y"]


def test_equal_ratios_are_equal_distances():
    plot = convergence_plot(steps([1.0, 0.1, 0.01, 0.001]), tol=0.01)
    heights = [point["y"] for point in plot["points"]]
    drops = [lower - upper for upper, lower in pairwise(heights)]
    assert drops == pytest.approx([drops[0]] * 3, abs=0.2)
    assert drops[0] > 0
    assert plot["tol_y"] == heights[2]


def test_the_line_goes_through_the_points():
    plot = convergence_plot(steps([0.5, None, 0.0]), tol=1e-3)
    assert plot["lines"] == [" ".join(f"{point['x']},{point['y']}" for point in plot["points"])]
    assert [point["gap"] for point in plot["points"]] == [0.5, 0.0]
    assert plot["points"][-1]["y"] == plot["frame"]["bottom"]


def test_each_machine_has_a_line_of_its_own():
    history = [{**step, "machine": machine} for machine in (0, 1, 2) for step in steps([1.0, 0.1, 0.01])]
    plot = convergence_plot(history, tol=0.01)
    assert len(plot["points"]) == 9
    assert plot["lines"] == [convergence_plot(steps([1.0, 0.1, 0.01]), tol=0.01)["lines"][0]] * 3


def test_iterations_that_are_floats_have_whole_ticks():
    steps = [{"machine": 0, "iteration": float(i), "gap": 0.1 / (i + 1)} for i in range(3)]
    assert [tick["label"] for tick in convergence_plot(steps, None)["x_ticks"]] == ["0", "1", "2"]

"""Where pictures put their marks: inside their frames, in the right order, on one scale."""

import base64
import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from multikernel.report import drawings
from multikernel.report.drawings.axes import Plane, extent, round_ticks
from multikernel.report.drawings.heat_maps import png_uri
from multikernel.report.drawings.marks import group_marks, level
from tests.report.evaluations import evaluation

numbers = st.floats(-1e9, 1e9)


@given(st.lists(numbers | st.none(), max_size=8))
def test_ticks_and_values_are_within_the_axis(values):
    low, high = extent(values, margin=0.04)
    assert low < high
    plane = Plane((low, high), (low, high))
    drawn = plane.describe()
    places = [plane.place_x(value) for value in values if value is not None]
    places += [tick["x"] for tick in drawn["x_ticks"]]
    assert all(drawn["frame"]["left"] - 0.1 <= x <= drawn["frame"]["right"] + 0.1 for x in places)
    assert 1 <= len(drawn["y_ticks"]) <= 6


def test_ticks_are_round():
    assert round_ticks(0.13, 0.91) == [0.2, 0.4, 0.6, 0.8]
    assert round_ticks(-150, 150, most=4) == [-100.0, 0.0, 100.0]


def test_up_is_more():
    plane = Plane((0.0, 1.0), (0.0, 1.0))
    assert plane.place_y(1.0) < plane.place_y(0.0)
    assert plane.place_x(1.0) > plane.place_x(0.0)


def test_groups_differ_in_colour_or_shape():
    marks = group_marks([str(i) for i in range(64)])
    assert len({(mark["colour"], mark["shape"]) for mark in marks.values()}) == 64


def test_levels_rise_with_the_value():
    levels = [level(i / 20, 0.0, 1.0) for i in range(21)]
    assert levels == sorted(levels) and set(levels) == set(range(7))
    assert level(None, 0.0, 1.0) == level(0.3, 1.0, 1.0) == 0


def test_strips_share_one_scale():
    rows = evaluation()["stability"]["rows"]
    strips = drawings.stability_strips(rows)
    assert strips["low"] == "0%" and strips["high"] == "58%"
    first, second = strips["rows"][:2]
    assert first["dots"] == sorted(first["dots"]) and len(first["dots"]) == 5
    assert first["range"] == [first["dots"][0], first["dots"][-1]]
    assert first["own"] == first["mean"]  # the share of the model itself
    assert second["range"][1] < first["range"][0] < first["mean"] < first["range"][1] == 96.0


def test_bars_begin_at_zero_and_tell_chance_from_effect():
    strips = drawings.difference_strips([0.2, -0.1, None, 0.05], [True, True, False, False])
    bars = [row["bar"] for row in strips["rows"]]
    assert bars[2] is None
    assert [bar["tone"] for bar in bars if bar] == ["positive", "negative", "even"]
    assert bars[0]["x"] == 50.0 and bars[1]["x"] + bars[1]["width"] == 50.0
    assert bars[0]["width"] == pytest.approx(2 * bars[1]["width"])
    assert drawings.difference_strips([0.0, None], [True, True]) is None


def test_the_spread_of_a_difference_is_at_the_end_of_its_bar():
    first, second = drawings.difference_strips([0.2, -0.1], [True, True], [0.05, None])["rows"]
    middle = first["bar"]["x"] + first["bar"]["width"]
    assert first["range"][0] < middle < first["range"][1] == 96.0
    assert second["range"] == []


def test_a_curve_has_the_colour_of_its_class():
    curves = evaluation()["held_out"]["roc"]["curves"]
    plot = drawings.roc_plot(curves[1:], ["cat", "dog", "fox"])
    assert [curve["colour"] for curve in plot["curves"]] == [1, 2]
    assert plot["curves"][0]["points"].split()[0] == f"{plot['frame']['left']},{plot['frame']['bottom']}"
    assert drawings.roc_plot([]) is None


def test_empty_bins_are_not_drawn():
    bins = [{"predicted": None, "observed": None, "n": 0}, {"predicted": 0.9, "observed": 0.8, "n": 9}]
    plot = drawings.calibration_plot(bins)
    assert [point["n"] for point in plot["points"]] == [9]
    assert drawings.calibration_plot(bins[:1]) is None


def test_residuals_have_one_scale_for_both_axes():
    plot = drawings.residuals_plot(
        [{"observed": 0.0, "predicted": 10.0}, {"observed": 10.0, "predicted": 0.0}]
    )
    first, second = plot["points"]
    assert first["x"] < second["x"] and first["y"] < second["y"]
    assert [tick["label"] for tick in plot["x_ticks"]] == ["0", "2.5", "5", "7.5", "10"]


def test_points_of_the_embedding_are_marked_by_class_and_by_error():
    plot = drawings.embedding_plot(evaluation()["embedding"], ["cat", "dog", "fox"])
    assert [group["label"] for group in plot["groups"]] == ["cat", "dog", "fox"]
    assert [point["tone"] for point in plot["points"][:3]] == ["c0", "c1", "c2"]
    assert plot["n_wrong"] == 3
    assert plot["points"][9]["says"] == "row 9, class cat, predicted dog"


def test_points_of_a_regression_are_coloured_by_value():
    plot = drawings.embedding_plot(evaluation("values")["embedding"])
    tones = [point["tone"] for point in plot["points"]]
    assert tones[0] == "q0" and tones[-1] == "q6" and tones == sorted(tones)
    assert plot["groups"] == [] and plot["n_wrong"] == 0


def test_the_gate_is_on_one_scale_over_all_views():
    made = evaluation(gate=True)
    plot = drawings.gate_plot(made["gate"], made["embedding"])
    weights = [row["weights"] for row in made["gate"]["rows"]]
    assert plot["scale"] == {"low": 0.0, "high": max(map(max, weights))}
    means = [sum(view) for view in zip(*weights, strict=True)]
    assert plot["first"] == means.index(max(means))
    for point, row in zip(plot["points"], weights, strict=True):
        assert point["levels"] == [level(weight, 0.0, plot["scale"]["high"]) for weight in row]
    assert drawings.gate_plot(made["gate"], None) is None
    assert drawings.gate_plot(made["gate"], {"points": [{"row": 999, "x": 0.0, "y": 0.0}]}) is None


def test_a_heat_map_is_a_sound_png():
    data = base64.b64decode(png_uri([[0, 64, 127], [127, 64, 0]]).removeprefix("data:image/png;base64,"))
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    chunks, rest = {}, data[8:]
    while rest:
        size, kind = struct.unpack(">I4s", rest[:8])
        assert struct.unpack(">I", rest[8 + size : 12 + size])[0] == zlib.crc32(rest[4 : 8 + size])
        chunks[kind], rest = rest[8 : 8 + size], rest[12 + size :]
    assert struct.unpack(">II", chunks[b"IHDR"][:8]) == (3, 2)
    assert zlib.decompress(chunks[b"IDAT"]) == bytes([0, 0, 64, 127, 0, 127, 64, 0])
    assert len(chunks[b"PLTE"]) == 3 * 128


def test_one_outlier_does_not_take_all_colours():
    values = [[0.01 * (i // 5 == j // 5) for j in range(10)] for i in range(10)]
    values[9][9] = 1.0
    kernel = {"name": "k", "share": None, "low": 0.0, "high": 1.0, "values": values}
    uri = drawings.draw_heat_maps({"groups": [], "maps": [kernel]})["maps"][0]["uri"]
    blocks = [[127 * (i // 5 == j // 5) for j in range(10)] for i in range(10)]
    assert uri == png_uri(blocks)


def test_heat_maps_know_their_groups():
    drawn = drawings.draw_heat_maps(evaluation()["heat_maps"], ["cat", "dog", "fox"])
    assert [(group["label"], group["start"], group["width"]) for group in drawn["groups"]] == [
        ("cat", 0.0, 33.33),
        ("dog", 33.33, 33.33),
        ("fox", 66.67, 33.33),
    ]
    assert [kernel["name"] for kernel in drawn["maps"]] == ["learned kernel", "sound", "image", "text"]
    # values of 1 and 0.25 on a scale from 0 to 2
    assert (drawn["maps"][0]["within"], drawn["maps"][0]["between"]) == (2.0, 0.5)
    assert drawings.draw_heat_maps({"groups": [], "maps": []}) is None

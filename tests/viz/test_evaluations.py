"""Pictures of an evaluation: what is drawn are its numbers; what is missing is named with its reason."""

import copy

import numpy as np
import pytest
from matplotlib.figure import Figure

from multikernel import viz
from tests.viz.data import CLASSES, VIEWS, assert_beside, legend_names, make_evaluation, notes, row_names

EVALUATION = make_evaluation()
VALUES = make_evaluation("regression")
OWN = ("stability", "without_view", "baselines", "embedding", "gate")
PARTS = {name: getattr(viz, name) for name in OWN} | {"heat_maps": viz.heat_map}
HELD_OUT = ("confusion", "roc", "calibration", "residuals")
PARTS |= {f"held_out.{name}": getattr(viz, name) for name in HELD_OUT}


@pytest.mark.parametrize("path", PARTS)
def test_every_picture_leaves_what_it_is_given_as_it_was(ax, path):
    evaluation = VALUES if path.endswith("residuals") else EVALUATION
    before = copy.deepcopy(evaluation)
    assert PARTS[path](evaluation, ax=ax) is ax
    assert evaluation == before
    assert ax.get_title()
    assert ax.get_xlabel()
    ax.figure.draw_without_rendering()  # whatever the names


@pytest.mark.parametrize("path", PARTS)
def test_a_part_that_is_missing_is_named_with_its_reason(ax, path):
    first, last = path.split(".")[0], path.split(".")[-1]
    evaluation = {**EVALUATION, first: None, "omitted": [{"part": first, "why": "the model has none."}]}
    with pytest.raises(ValueError, match=rf"no {last.replace('_', ' ')}: the model has none\."):
        PARTS[path](evaluation, ax=ax)


REASONS = ("calibration: no probabilities.", "ROC: no scores.")
SCORELESS = {
    **EVALUATION,
    "omitted": [{"part": "held_out", "why": why} for why in REASONS],
    "held_out": {"roc": None},
}


@pytest.mark.parametrize(
    ("draw", "evaluation", "message"),
    [
        (viz.without_view, {**EVALUATION, "without_view": None}, r"no without view\. Ask for .*parts=\['wit"),
        (viz.residuals, EVALUATION, "that is for regression; the task of this model is classification"),
        (viz.roc, SCORELESS, r"no roc: ROC: no scores\. W"),
        (viz.stability, [], "got list"),
    ],
)
def test_what_is_not_there_is_told_apart(ax, draw, evaluation, message):
    with pytest.raises((TypeError, ValueError), match=message):
        draw(evaluation, ax=ax)


# ---------------------------------------------------------------------- views
def test_stability(ax):
    viz.stability(EVALUATION, ax=ax)
    rows = {row["view"]: row for row in EVALUATION["stability"]["rows"]}
    assert row_names(ax) == VIEWS  # by mean
    whole, thick, fits, own = ax.lines[:4]
    row = rows[VIEWS[0]]
    np.testing.assert_allclose(whole.get_xdata(), [100 * row["low"], 100 * row["high"]])
    np.testing.assert_allclose(
        thick.get_xdata(), [100 * (row["mean"] - row["sd"]), 100 * (row["mean"] + row["sd"])]
    )
    np.testing.assert_allclose(fits.get_xdata(), 100 * np.array(row["values"]))
    assert own.get_xdata() == [54.0]
    assert notes(ax) == [f"used in {part}% of fits" for part in (100, 100, 80)]
    assert legend_names(ax) == ["a fit", "mean ± sd", "lowest to highest", "the model"]


def test_without_view(ax):
    viz.without_view(EVALUATION, ax=ax)
    assert row_names(ax) == VIEWS
    assert [bar.get_width() for bar in ax.patches] == pytest.approx([0.05, 0.01, -0.03])
    assert [bar.get_hatch() for bar in ax.patches] == [None, None, "///"]
    assert notes(ax) == ["p = 0.01", "p = 0.21", ""]
    assert not ax.containers[3:]  # the spread of a score is not that of a difference
    assert ax.get_xlabel() == "loss of accuracy\nwith all views it is 0.9 ± 0.01"
    few = viz.without_view(EVALUATION, most=2, ax=Figure().subplots())
    assert row_names(few) == [VIEWS[0], VIEWS[2]]  # those of largest effect


def test_the_spread_of_a_loss_is_that_of_the_differences(ax):
    part = EVALUATION["without_view"]
    rows = [{**row, "difference_sd": 0.01 * (k + 1)} for k, row in enumerate(part["rows"])]
    viz.without_view({**EVALUATION, "without_view": {**part, "rows": rows}}, ax=ax)
    bars = [box for box in ax.containers if hasattr(box, "has_xerr")]
    ends = [bar.lines[2][0].get_paths()[0].vertices[:, 0] for bar in bars]
    np.testing.assert_allclose(ends, [[0.02, 0.08], [-0.01, 0.03], [-0.04, -0.02]], atol=1e-12)
    assert ax.get_xlabel().startswith("loss of accuracy, ± standard deviation of the loss over the folds\n")


def test_baselines(ax):
    viz.baselines(EVALUATION, ax=ax)
    assert row_names(ax) == ["learned", "best single view", "plain sum", "tuned $RBF_1$"]
    told = [
        "",
        "learning is better, p = 0.004",
        "no difference shown, p = 0.4",
        "learning is worse, p = 0.0002",
    ]
    assert notes(ax) == told
    marks = [container.lines[0] for container in ax.containers]
    assert [mark.get_xdata()[0] for mark in marks] == [0.9, 0.85, 0.89, 0.93]
    assert len({mark.get_marker() for mark in marks}) == 4  # told apart without colours
    assert 0.9 in [line.get_xdata()[0] for line in ax.lines if line.get_linestyle() == "--"]
    assert ax.get_title() == "Yes"


# ---------------------------------------------------------------------- held out
def test_confusion(ax):
    viz.confusion(EVALUATION, ax=ax)
    assert notes(ax) == ["9", "0", "1", "9"]
    shares = ax.images[0].get_array().data
    np.testing.assert_allclose(shares.sum(axis=1), 100.0)
    np.testing.assert_allclose(shares[1], [10.0, 90.0])
    assert row_names(ax) == CLASSES
    assert [tick.get_text() for tick in ax.get_xticklabels()] == CLASSES
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("predicted class", "true class")


def test_roc(ax):
    viz.roc(EVALUATION, ax=ax)
    assert ax.lines[0].get_xydata().tolist() == [[0.0, 0.0], [0.1, 0.7], [0.3, 0.9], [1.0, 1.0]]
    areas = zip(CLASSES, ("0.950", "0.930"), strict=True)
    assert legend_names(ax) == [*(f"{label}: area {area}" for label, area in areas), "chance: area 0.5"]
    curve = EVALUATION["held_out"]["roc"]["curves"][0]
    curves = [{**curve, "label": f"class {number}"} for number in range(12)]
    many = {**EVALUATION, "held_out": {"roc": {"curves": curves}}}
    other = viz.roc(many, ax=Figure().subplots())
    styles = {(line.get_color(), str(line._dash_pattern)) for line in other.lines[:12]}
    assert len(styles) == 12  # told apart, all of them
    assert legend_names(other)[9:] == ["class 9: area 0.950", "… 2 more classes", "chance: area 0.5"]
    assert_beside(other)


def test_calibration(ax):
    viz.calibration(EVALUATION, ax=ax)
    bins = EVALUATION["held_out"]["calibration"]["bins"]
    np.testing.assert_allclose(
        ax.collections[0].get_offsets(), [[b["predicted"], b["observed"]] for b in bins]
    )
    assert np.argsort(ax.collections[0].get_sizes()).tolist() == [0, 1, 2, 3, 4]  # as many as are in them
    assert notes(ax) == [str(b["n"]) for b in bins]
    assert legend_names(ax)[0].endswith("Brier score 0.08")


def test_residuals(ax):
    viz.residuals(VALUES, ax=ax)
    points = VALUES["held_out"]["residuals"]["points"]
    drawn = next(line for line in ax.lines if line.get_marker() == "o")
    np.testing.assert_allclose(
        drawn.get_xydata(), [[p["predicted"], p["observed"] - p["predicted"]] for p in points]
    )
    assert [line.get_ydata()[0] for line in ax.lines if line.get_linestyle() == "--"] == [-0.35, 0.35]
    assert "R² = 0.980" in legend_names(ax)[0]


# ---------------------------------------------------------------------- kernels
def test_heat_map(ax):
    viz.heat_map(EVALUATION, ax=ax)
    values = ax.images[0].get_array().data
    assert (values[0, 0], values[0, 9]) == (2.5, 0.5)  # in the units of the kernel
    assert values[0, 5] == pytest.approx(0.9)
    assert row_names(ax) == CLASSES
    np.testing.assert_allclose(ax.get_yticks(), [1.5, 6.5])  # in the middle of their blocks
    assert [line.get_ydata()[0] for line in ax.lines[:1]] == [3.5]
    assert ax.images[0].get_clim() == (pytest.approx(0.9), 2.5)
    other = viz.heat_map(EVALUATION, VIEWS[0], ax=Figure().subplots())
    assert other.get_title() == f"{VIEWS[0]} (60.0% of the weight)"
    with pytest.raises(ValueError, match=r"name must be one of .*got 'smell'"):
        viz.heat_map(EVALUATION, "smell", ax=ax)


def test_a_gram_of_the_users_own(ax):
    K = np.diag([1.0, 2.0, 3.0, 4.0])
    K[0, 2] = K[2, 0] = 0.5
    viz.kernel_matrix(K, [1, 0, 1, 0], ax=ax)
    order = [1, 3, 0, 2]
    np.testing.assert_array_equal(ax.images[0].get_array().data, K[np.ix_(order, order)])
    assert row_names(ax) == ["0", "1"]
    by_value = viz.kernel_matrix(K, [0.5, -1.0, 3.0, 0.2], ax=Figure().subplots())
    np.testing.assert_array_equal(by_value.images[0].get_array().data, K[np.ix_(order, order)])
    assert not row_names(by_value)
    outlier = np.eye(20)
    outlier[:10, :10] = outlier[10:, 10:] = 1.0
    outlier[19, 19] = 1e6
    drawn = viz.kernel_matrix(outlier, ax=Figure().subplots())
    assert drawn.images[0].get_clim() == (0.0, 1.0)  # one outlier does not take all the colours
    as_given = viz.kernel_matrix(K, ax=Figure().subplots())
    np.testing.assert_array_equal(as_given.images[0].get_array().data, K)


@pytest.mark.parametrize(
    ("K", "y", "message"),
    [
        (np.ones((2, 3)), None, r"square matrix.*\(2, 3\)"),
        (np.array([[1.0, np.nan], [0.0, 1.0]]), None, r"at \(0, 1\) is nan"),
        (np.eye(2), [1, 2, 3], "one label for each of the 2 samples"),
    ],
)
def test_what_is_no_gram_is_refused(ax, K, y, message):
    with pytest.raises(ValueError, match=message):
        viz.kernel_matrix(K, y, ax=ax)


# ---------------------------------------------------------------------- samples
def test_embedding_by_class_and_by_value(ax):
    viz.embedding(EVALUATION, ax=ax)
    points = EVALUATION["embedding"]["points"]
    for line, label in zip(ax.lines, CLASSES, strict=False):
        assert line.get_xydata().tolist() == [[p["x"], p["y"]] for p in points if p["label"] == label]
    assert ax.lines[0].get_marker() != ax.lines[1].get_marker()
    wrong = [[p["x"], p["y"]] for p in points if p["predicted"] != p["label"]]
    assert wrong
    assert ax.lines[2].get_xydata().tolist() == wrong
    assert legend_names(ax) == [*CLASSES, f"wrong when held out ({len(wrong)})"]
    assert_beside(ax)
    assert ax.get_xlabel() == "component 1 (42% of the variance)"
    by_value = viz.embedding(VALUES, ax=Figure().subplots())
    assert by_value.collections[0].get_array().tolist() == [k / 4 for k in range(60)]


def test_the_gate_over_the_embedding(ax):
    viz.gate(EVALUATION, VIEWS[2], ax=ax)
    weights = {row["row"]: row["weights"][2] for row in EVALUATION["gate"]["rows"]}
    largest = max(max(row["weights"]) for row in EVALUATION["gate"]["rows"])
    points = EVALUATION["embedding"]["points"]
    for marks, label in zip(ax.collections, CLASSES, strict=True):
        own = [point for point in points if point["label"] == label]
        np.testing.assert_allclose(marks.get_offsets(), [[p["x"], p["y"]] for p in own])
        np.testing.assert_allclose(marks.get_array(), [weights[p["row"]] for p in own])
        assert marks.norm.vmin == 0.0
        assert marks.norm.vmax == largest  # the same for all classes and views
    assert ax.get_title() == f"Where does {VIEWS[2]} count?"
    with pytest.raises(ValueError, match="view must be one of"):
        viz.gate(EVALUATION, "smell", ax=ax)
    varies = np.array([row["weights"] for row in EVALUATION["gate"]["rows"]]).std(axis=0).argmax()
    assert VIEWS[varies] in viz.gate(EVALUATION, ax=Figure().subplots()).get_title()  # if none is named

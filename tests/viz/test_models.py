"""Pictures of models: what is drawn are their numbers, whatever their names."""

from functools import partial
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot
from matplotlib.figure import Figure
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from multikernel import MKLClassifier, MKLOneClass, MKLRegressor, viz
from multikernel.inspection import evaluate
from multikernel.kernels import Gaussian, Linear
from multikernel.rules import MeanRule
from tests.mkl.data import VIEWS, make_binary, make_regression, make_three
from tests.viz.data import assert_beside, legend_names, notes, row_names

NAMES = [r"$\no$", "_hidden", "100% \\frac", "line\nbreak\x00"]


@pytest.fixture(scope="module")
def binary():
    X, y = make_binary()
    return MKLClassifier(VIEWS, C=2.0).fit(X, y), X, y


@pytest.fixture(scope="module")
def three():
    X, y = make_three()
    return MKLClassifier(VIEWS, norm=2.0).fit(X, y), X, y


def model_of(weights, names=None, **more):
    names = [f"view {k}" for k in range(len(weights))] if names is None else names
    return SimpleNamespace(kernel_weights_=np.asarray(weights, float), view_names_=names, **more)


def widths(ax):
    return [bar.get_width() for bar in ax.patches]


# ---------------------------------------------------------------------- axes
def test_axes_given_are_the_axes_returned_and_no_figure_is_made(ax, binary):
    model, X, _ = binary
    before = pyplot.get_fignums()
    assert viz.weights(model, ax=ax) is ax
    assert viz.convergence(model, ax=Figure().subplots()).get_figure() is not ax.figure
    viz.contributions(model, X[:1], ax=Figure().subplots())
    assert pyplot.get_fignums() == before
    drawn = viz.weights(model)  # without axes, a figure of pyplot is made
    assert pyplot.get_fignums() == [*before, drawn.figure.number]
    pyplot.close(drawn.figure)
    with pytest.raises(TypeError, match="got Figure"):
        viz.weights(model, ax=drawn.figure)


BINARY = make_binary()


@pytest.mark.parametrize(
    ("draw", "arguments", "message"),
    [
        (viz.weights, (model_of([1.0, np.nan]),), "that of 'view 1' is not"),
        (viz.weights, (model_of([1.0], ["a", "b"]),), "one weight for each of the 2 views"),
        (viz.weights, (MKLClassifier(),), "Call its fit"),
        (partial(viz.weights, most=0), (model_of([1.0]),), "most must be a positive integer; got 0"),
        (viz.convergence, (MeanRule().fit([np.eye(3)]),), "solved in closed form"),
        (viz.contributions, (MeanRule(), np.eye(3)), "no method contributions"),
        (viz.decision_regions, (MeanRule().fit([np.eye(3)]), *BINARY), "two columns"),
        (
            viz.decision_regions,
            (MeanRule().fit([np.eye(3)]), BINARY[0][:, :2], BINARY[1][1:]),
            "one target f",
        ),
    ],
)
def test_what_cannot_be_drawn_is_refused(ax, draw, arguments, message):
    with pytest.raises(ValueError, match=message):
        draw(*arguments, ax=ax)


# ---------------------------------------------------------------------- weights
def test_bars_are_the_shares_heaviest_first(ax):
    viz.weights(model_of([1.0, 0.0, 3.0, -4.0], NAMES), ax=ax)
    assert widths(ax) == [-50.0, 37.5, 12.5, 0.0]
    assert notes(ax) == ["-50.0%", "37.5%", "12.5%", "0"]
    assert row_names(ax) == ["line break\N{REPLACEMENT CHARACTER}", "100% \\frac", r"$\no$", "_hidden"]
    assert [bar.get_hatch() for bar in ax.patches] == ["///", None, None, None]
    assert ax.get_ylim()[0] > ax.get_ylim()[1]  # the first on top
    ax.figure.draw_without_rendering()  # no name is taken for a formula
    told = viz.weights(model_of([1.0, 1.0], kernel_shares_=np.array([0.2, 0.8])), ax=Figure().subplots())
    assert widths(told) == [80.0, 20.0]  # shares that a model says itself


def test_of_many_views_the_last_row_tells_the_rest(ax):
    weights = np.arange(50.0, 0.0, -1.0)
    viz.weights(model_of(weights), ax=ax)
    assert row_names(ax)[:2] == ["view 0", "view 1"]
    assert len(ax.patches) == 30
    assert row_names(ax)[-1] == "… 20 more"
    assert notes(ax)[-1] == f"{100 * weights[30:].sum() / weights.sum():.1f}% together"
    points = max(tick.label1.get_fontsize() for tick in ax.yaxis.get_major_ticks())
    assert 31 * points <= 72 * ax.get_position().height * ax.figure.get_figheight()  # one below the other


def test_machines_with_weights_of_their_own_have_marks(ax, three):
    model, _, _ = three
    viz.weights(model, ax=ax)
    shares = model.machine_weights_ / model.machine_weights_.sum(axis=1, keepdims=True)
    order = np.argsort(-model.kernel_weights_)
    marks = [line for line in ax.lines if line.get_linewidth() == 0]
    np.testing.assert_allclose([line.get_xdata() for line in marks], 100 * shares[:, order])
    assert legend_names(ax) == ["a", "b", "c"]
    assert len({line.get_marker() for line in marks}) == 3
    assert ax.get_xlim()[1] > 100 * shares.max()
    assert "mean" in ax.get_xlabel()


def test_a_known_spread_of_weights_is_drawn(ax):
    viz.weights(model_of([3.0, 1.0], kernel_weights_std_=np.array([0.4, 0.2])), ax=ax)
    (spread,) = ax.containers[-1].lines[2]
    np.testing.assert_allclose([path.vertices[:, 0] for path in spread.get_paths()], [[65, 85], [20, 30]])


def test_models_are_found_behind_pipelines_and_searches(ax, binary):
    model, X, _ = binary
    scaled = make_pipeline(StandardScaler().fit(X), model)
    search = SimpleNamespace(best_estimator_=scaled)
    viz.weights(search, ax=ax)
    assert widths(ax) == widths(viz.weights(model, ax=Figure().subplots()))
    assert viz.convergence(search, ax=Figure().subplots()).lines
    reasons = viz.contributions(scaled, X[:1], ax=Figure().subplots())
    assert widths(reasons)[-1] == pytest.approx(scaled.decision_function(X[:1])[0])


# ---------------------------------------------------------------------- convergence
def test_the_gap_of_each_step_and_the_one_asked_for(ax, binary):
    model, _, _ = binary
    viz.convergence(model, ax=ax)
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), [step["gap"] for step in model.history_])
    np.testing.assert_array_equal(ax.lines[0].get_xdata(), [step["iteration"] for step in model.history_])
    assert list(ax.lines[1].get_ydata()) == [model.tol, model.tol]
    assert legend_names(ax) == ["tol = 0.001"]
    assert ax.get_yscale() == "log"


def test_each_machine_has_its_line(ax, three):
    model, _, _ = three
    viz.convergence(model, ax=ax)
    lengths = np.bincount([step["machine"] for step in model.history_])
    assert [len(line.get_xdata()) for line in ax.lines[:3]] == lengths.tolist()
    assert legend_names(ax) == ["a", "b", "c", "tol = 0.001"]
    assert_beside(ax)


def test_a_gap_of_zero_stands_at_the_foot(ax):
    steps = [{"iteration": k, "gap": gap} for k, gap in enumerate([0.5, np.inf, 2e-3, 0.0], 1)]
    viz.convergence(SimpleNamespace(history_=steps), ax=ax)
    assert ax.lines[0].get_ydata().tolist() == [0.5, 2e-3, 1e-4]
    assert ax.lines[0].get_xdata().tolist() == [1.0, 3.0, 4.0]
    assert [text.get_text() for text in ax.texts] == ["0"]


def test_without_a_gap_the_objective_is_drawn(ax):
    viz.convergence(SimpleNamespace(history_=[{"objective": 3.0}, {"objective": 2.0}]), ax=ax)
    assert ax.lines[0].get_xydata().tolist() == [[1.0, 3.0], [2.0, 2.0]]
    assert (ax.get_yscale(), ax.get_ylabel()) == ("linear", "objective")


# ---------------------------------------------------------------------- contributions
def test_what_the_views_add_sums_up_to_the_score(ax, binary):
    model, X, _ = binary
    viz.contributions(model, X[:1], ax=ax)
    parts = dict(zip(row_names(ax), widths(ax), strict=True))
    np.testing.assert_allclose([parts[name] for name in model.view_names_], model.contributions(X[:1])[0])
    assert parts["intercept"] == model.intercept_[0]
    assert parts["sum"] == pytest.approx(model.decision_function(X[:1])[0])
    assert ax.get_xlabel() == "part of the score for yes"


@pytest.mark.parametrize("one_row", [lambda X: X[4], lambda X: list(X[4]), lambda X: pd.DataFrame(X).iloc[4]])
def test_one_row_needs_no_second_axis(ax, binary, one_row):
    model, X, _ = binary
    viz.contributions(model, one_row(X), ax=ax)
    assert widths(ax)[-1] == pytest.approx(model.decision_function(X[4:5])[0])
    assert "other views" not in row_names(ax)  # all are drawn


def test_several_samples_are_points(ax, binary):
    model, X, _ = binary
    viz.contributions(model, X, most=2, ax=ax)
    first = model.view_names_.index(row_names(ax)[0])
    np.testing.assert_allclose(ax.lines[0].get_xdata(), model.contributions(X)[:, first])
    np.testing.assert_allclose(ax.lines[1].get_xdata(), [model.contributions(X)[:, first].mean()])
    assert len(row_names(ax)) == 2


def test_of_several_machines_the_winner_or_the_one_named(ax, three):
    model, X, _ = three
    viz.contributions(model, X[:1], most=1, ax=ax)
    winner = model.predict(X[:1])[0]
    assert ax.get_xlabel() == f"part of the score for {winner}"
    assert row_names(ax)[1:] == ["other views", "intercept", "sum"]
    assert widths(ax)[-1] == pytest.approx(model.decision_function(X[:1]).max())
    named = viz.contributions(model, X, machine="b", ax=Figure().subplots())
    assert named.get_xlabel() == "part of the score for b"
    with pytest.raises(ValueError, match="choose one by machine="):
        viz.contributions(model, X, ax=ax)
    with pytest.raises(ValueError, match=r"one of \['a', 'b', 'c'\]; got 'd'"):
        viz.contributions(model, X, machine="d", ax=ax)


# ---------------------------------------------------------------------- the plane
@pytest.mark.parametrize(("make", "n_steps", "margin"), [(make_binary, 40, 0.2), (make_three, 25, 0.3)])
def test_regions_are_the_predictions(ax, make, n_steps, margin):
    X, y = make()
    frame = pd.DataFrame(X[:, :2], columns=[r"$\a_1$", "_b"])
    model = MKLClassifier([Linear(), Gaussian()], C=2.0).fit(frame, y)
    viz.decision_regions(model, frame, y, n_steps=n_steps, ax=ax)
    scores = model.decision_function(frame)
    ahead = np.abs(scores) if scores.ndim == 1 else np.ptp(np.sort(scores, axis=1)[:, -2:], axis=1)
    chosen = frame[ahead > margin]  # the grid is coarse
    fills = [fill for fill in ax.collections if fill.get_alpha() == 0.18]
    for fill, label, drawn in zip(fills, model.classes_, ax.lines, strict=True):
        inside = [fill.get_paths()[0].contains_point(point) for point in chosen.to_numpy()]
        np.testing.assert_array_equal(inside, model.predict(chosen) == label)
        np.testing.assert_array_equal(drawn.get_xydata(), X[y == label, :2])
    assert legend_names(ax) == model.classes_.tolist()
    assert (ax.get_xlabel(), ax.get_ylabel()) == (r"$\a_1$", "_b")
    ax.figure.draw_without_rendering()


def test_values_and_borders(ax):
    X, y = make_regression()
    model = MKLRegressor(C=2.0).fit(X[:, :2], y)
    viz.decision_regions(model, X[:, :2], y, n_steps=20, ax=ax)
    grid = ax.collections[0]
    corner = np.array([[axis.min() - 0.08 * np.ptp(axis) for axis in X[:, :2].T]])
    assert grid.get_array().shape == (20, 20)
    assert grid.get_array()[0, 0] == pytest.approx(model.predict(corner)[0])
    np.testing.assert_array_equal(ax.collections[1].get_array(), y)
    novelty = MKLOneClass(nu=0.3).fit(X[:, :2])
    other = viz.decision_regions(novelty, X[:, :2], n_steps=20, ax=Figure().subplots())
    is_own = novelty.predict(X[:, :2]) > 0
    np.testing.assert_array_equal(other.lines[0].get_xydata(), X[is_own, :2])
    np.testing.assert_array_equal(other.lines[1].get_xydata(), X[~is_own, :2])


def test_regions_of_what_is_no_estimator():
    with pytest.raises(TypeError, match="model must be a fitted estimator; got Gaussian"):
        viz.decision_regions(Gaussian(), np.zeros((4, 2)))
    with pytest.raises(TypeError, match="model must be a fitted estimator; got Gaussian"):
        evaluate(Gaussian(), np.zeros((4, 2)), [0, 1, 0, 1])

"""Pictures of censored times: their numbers, in every form, and nothing outside of them."""

import numpy as np
import pytest

from multikernel import viz
from multikernel.inspection import (
    brier_curve,
    cumulative_dynamic_auc,
    kaplan_meier,
    logrank_test,
    survival_calibration,
)
from tests.viz.data import legend_names, notes

RNG = np.random.default_rng(0)
LIFE, CENSORING = RNG.exponential(size=60), RNG.exponential(2.0, size=60)
Y = np.rec.fromarrays([LIFE <= CENSORING, np.minimum(LIFE, CENSORING)], names="event, time")
GROUP = np.where(np.median(LIFE) < LIFE, r"_old $\a$", "young")
CURVES = {name: kaplan_meier(Y[name == GROUP]) for name in np.unique(GROUP)}
TIMES = np.quantile(Y["time"], [0.2, 0.4, 0.6])
SURVIVAL = np.exp(-np.outer(1.0 / (LIFE + 0.5), TIMES))
BRIER, AUC = brier_curve(Y, Y, SURVIVAL, TIMES), cumulative_dynamic_auc(Y, Y, -LIFE, TIMES)
TABLE = survival_calibration(Y, SURVIVAL[:, 1], TIMES[1], n_groups=3)
KEYS = ("times", "survival", "low", "high", "at_risk", "events", "censored")
EVALUATION = {
    "omitted": [],
    "task": "survival",
    "held_out": {
        "groups": {
            "p": 0.02,
            "curves": [
                {"label": name, **{key: getattr(curve, key).tolist() for key in KEYS}}
                for name, curve in CURVES.items()
            ],
        },
        "survival_calibration": {"time": float(TIMES[1]), "rows": TABLE.to_dict(orient="records")},
        "brier": {key: np.asarray(value).tolist() for key, value in vars(BRIER).items()},
        "auc": {key: np.asarray(value).tolist() for key, value in vars(AUC).items()},
    },
}


@pytest.mark.parametrize("curves", [CURVES, EVALUATION])
def test_curves_of_groups(ax, curves):
    assert viz.kaplan_meier(curves, test=0.02, unit="years", ax=ax) is ax
    drawn = [line for line in ax.lines if line.get_drawstyle() == "steps-post"]
    for line, curve in zip(drawn, CURVES.values(), strict=True):
        np.testing.assert_allclose(line.get_xdata(), np.append(0.0, curve.times))
        np.testing.assert_allclose(line.get_ydata(), np.append(1.0, curve.survival))
    assert [name.split(":")[0] for name in legend_names(ax)] == list(CURVES)
    assert ax.get_title() == "Who lives longer? Log-rank test: p = 0.02"
    ax.figure.draw_without_rendering()
    ticks = [time for time in ax.get_xticks() if 0.0 <= time <= ax.get_xlim()[1]]
    rows = [curve.number_at_risk(ticks).tolist() for curve in CURVES.values()]
    assert notes(ax) == ["at risk", *(str(count) for row in rows for count in row)]


def test_one_curve_without_numbers(ax):
    viz.kaplan_meier(kaplan_meier(Y), at_risk=False, ax=ax)
    assert (ax.get_title(), notes(ax), ax.get_xlabel()) == ("Survival", [], "time")
    assert legend_names(ax) == [f"all samples: {Y['event'].sum()} events of 60"]


def test_the_p_value_of_a_test(ax):
    viz.kaplan_meier(CURVES, test=logrank_test(Y, GROUP), ax=ax)
    assert ax.get_title().endswith("p < 0.0001")


@pytest.mark.parametrize("table", [TABLE, EVALUATION])
def test_calibration(ax, table):
    assert viz.survival_calibration(table, unit="years", ax=ax) is ax
    assert ax.get_xlabel() == f"predicted survival at time {TIMES[1]:g} years"
    assert notes(ax) == [str(n) for n in TABLE["n"]]
    points = ax.containers[0].lines[0]
    np.testing.assert_allclose(points.get_xydata(), TABLE[["predicted", "observed"]])


@pytest.mark.parametrize("curves", [BRIER, {"the model": BRIER}, EVALUATION])
def test_the_brier_score(ax, curves):
    assert viz.brier_curve(curves, ax=ax) is ax
    np.testing.assert_allclose(ax.lines[0].get_xydata(), np.column_stack([TIMES, BRIER.score]))
    np.testing.assert_allclose(ax.lines[1].get_ydata(), BRIER.reference)
    names = [
        f"the model: mean {BRIER.integrated:.3f}",
        f"the same for all: mean {BRIER.integrated_reference:.3f}",
    ]
    assert legend_names(ax) == names


@pytest.mark.parametrize("curves", [AUC, {"the model": AUC}, EVALUATION])
def test_the_auc(ax, curves):
    assert viz.auc_curve(curves, ax=ax) is ax
    np.testing.assert_allclose(ax.lines[0].get_xydata(), np.column_stack([TIMES, AUC.auc]))
    assert legend_names(ax) == [f"the model: mean {AUC.mean:.3f}", "chance: 0.5"]


@pytest.mark.parametrize(
    ("draw", "words"),
    [
        (viz.kaplan_meier, "inspection.kaplan_meier.*got list"),
        (viz.survival_calibration, "survival_calibration.*got list"),
        (viz.brier_curve, "inspection.brier_curve.*got list"),
        (viz.auc_curve, "cumulative_dynamic_auc.*got list"),
    ],
)
def test_other_things_are_refused(ax, draw, words):
    with pytest.raises(TypeError, match=words):
        draw([1.0], ax=ax)


def test_a_curve_of_something_else_is_refused(ax):
    with pytest.raises(TypeError, match="a curve must have 'score'; got AucCurve without it"):
        viz.brier_curve(AUC, ax=ax)


@pytest.mark.parametrize("draw", [viz.kaplan_meier, viz.survival_calibration, viz.brier_curve, viz.auc_curve])
def test_a_part_that_is_missing_is_named(ax, draw):
    with pytest.raises(ValueError, match="this evaluation has no"):
        draw({**EVALUATION, "held_out": None}, ax=ax)

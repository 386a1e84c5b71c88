"""Table 2: several classes, λ learned with the kernel weights; the exact form and its approximation (37)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from studies.compare import compare
from studies.study import Quantity, Result, Table, Unit
from studies.ye2007.methods import fit_learned, warm_up
from studies.ye2007.published import MULTICLASS_ACCURACY, SPLITS
from studies.ye2007.rows import QUANTITIES, method_row
from studies.ye2007.setting import Setting, draw_split

FORMULATIONS = {"exact": "SDPθ,λ, exact", "approximate": "SDPθ,λ, approximate"}
PER_CLASS = 100
TRAIN_SHARE = 0.6
SETTINGS = (
    Setting("wine", "wine", TRAIN_SHARE, balanced=True),
    Setting("waveform", "waveform", TRAIN_SHARE, per_class=PER_CLASS, balanced=True),
    *(
        Setting(
            f"USPS{classes}",
            "usps",
            TRAIN_SHARE,
            scaling="none",
            classes=classes,
            per_class=PER_CLASS,
            balanced=True,
        )
        for classes in (3, 6, 8)
    ),
)


def compute_cell(setting: dict[str, Any], split: int, formulation: str) -> dict[str, Any]:
    """Return what one form learns on one split, and how well it classifies the test points.

    Parameters
    ----------
    setting : dict
        The arguments of a `Setting`.
    split : int
    formulation : {"exact", "approximate"}

    Returns
    -------
    dict
        See `fit_learned`.
    """
    points = draw_split(Setting(**setting), split)
    stacks = points.stacks()
    warm_up()
    return fit_learned(points, stacks, "learn", formulation)


def _units(splits: int) -> list[Unit]:
    return [
        Unit(
            f"{setting.label}/split={split:02d}/{formulation}",
            compute_cell,
            {"setting": setting.arguments(), "split": split, "formulation": formulation},
            (setting.dataset,),
        )
        for setting in SETTINGS
        for split in range(splits)
        for formulation in FORMULATIONS
    ]


def _rows(results: Sequence[tuple[Unit, Result]]) -> list[dict[str, Any]]:
    rows = []
    for setting in SETTINGS:
        found: dict[str, list[Result]] = {formulation: [] for formulation in FORMULATIONS}
        for unit, result in results:
            if unit.arguments["setting"] == setting.arguments():
                found[unit.arguments["formulation"]].append(result)
        # A published mean over splits of one sample differs from ours by the sample too: it counts as one.
        n_theirs = SPLITS if setting.per_class is None else 1
        published = MULTICLASS_ACCURACY[setting.label]
        rows += [
            method_row(setting.label, label, found[key], published, n_theirs)
            for key, label in FORMULATIONS.items()
            if found[key]
        ]
        pairs = zip(found["exact"], found["approximate"], strict=True)
        if changes := [other["accuracy"] - exact["accuracy"] for exact, other in pairs]:
            rows[-1]["values"]["change"] = compare(changes)
    return rows


TABLE = Table(
    name="2",
    title="Ye et al. (2007), table 2: several classes, kernel and regularisation learned together",
    version=1,
    splits=SPLITS,
    units=_units,
    rows=_rows,
    quantities=(
        *QUANTITIES,
        Quantity("change", "approximate minus exact, accuracy %", 2, difference=False),
    ),
    protocol=(
        f"Wine (all 178 points); waveform and USPS with {PER_CLASS} points of each class, drawn anew for "
        "each split. USPS3, USPS6 and USPS8 are the digits 0 to 2, 0 to 5 and 0 to 7 of the 9298 images; "
        "which digits, and which version of USPS, the publication has is not at hand.",
        "Random splits, 3:2 into training and test points within each class; that there are 30 is our "
        "choice.",
        "Wine and waveform are scaled to mean 0 and variance 1 by the training points; the grey values of "
        "USPS, from −1 to 1, are as they are. Ten Gaussian kernels exp(−‖x − z‖² / σ²) with σ evenly spaced "
        "in logarithm from 0.1 to 100; the nearest projected class mean.",
        "Exact: the problem with one matrix inequality for each class; approximate: the single inequality "
        "(37). λ is learned with the weights in both.",
        "Learning: seconds of one processor for the whole fit on given kernels.",
    ),
    notes=(
        "The publication's figures at hand are one accuracy for each set, not said for which of both forms: "
        "it stands beside both. Times are not at hand.",
        "The approximation (37) is another problem, with a value larger by a factor of 1.4 to 1.8 and other "
        "weights. Its accuracy is the same to within 0.2 points, and learning takes about three times as "
        "long here.",
        "USPS is 0.9 to 2.2 points below the publication with either form. The set of digits, their version "
        "and the scaling are guesses; the s.e. of these differences is large because a sample of 100 a class "
        "is compared with another one: the published mean counts as a single draw there, and for waveform.",
        "The learned λ is zero: the narrow Gaussians are nearly the identity, and preferred to it (see "
        "table 1).",
        "The s.e. of approximate minus exact is that of the difference on the same splits.",
    ),
)

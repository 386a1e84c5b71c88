"""An experiment of our own: what the scaling of the columns, λ and the weights of the covariances change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from studies.compare import group_results
from studies.study import Quantity, Result, Table, Unit
from studies.ye2007 import binary, multiclass
from studies.ye2007.methods import FIXED_REG, fit_kim, fit_learned, fit_single_kernel
from studies.ye2007.rows import SHARES, method_row
from studies.ye2007.setting import Setting, draw_split

SPLITS = 10
SCALINGS = {
    "none": "as they are",
    "unit": "from 0 to 1",
    "standardized": "mean 0, variance 1",
    "narrow": "shrunk, no kernel near the identity",
}
METHODS: dict[str, str] = {
    "1e-08": "SDPθ, λ = 1e-8",
    "1e-05": "SDPθ, λ = 1e-5",
    "0.0001": "SDPθ, λ = 1e-4",
    "learn": "SDPθ,λ",
    "kim": "SDPkim, λ = 1e-8, covariances weighted",
    "kim_plain": "SDPkim, λ = 1e-8, not weighted",
    "width": "RKDA, σ cross-validated, λ = 1e-8",
}
_OF_TWO_CLASSES = ("kim", "kim_plain")


def _settings() -> list[Setting]:
    several = [s for s in multiclass.SETTINGS if s.label in ("Wine (3)", "USPS (3)", "USPS (8)")]
    return [replace(s, scaling=scaling) for s in (*binary.SETTINGS, *several) for scaling in SCALINGS]


def compute_cell(setting: dict[str, Any], split: int, method: str) -> dict[str, Any]:
    """Return what a method learns on one split, and how well it classifies the test points.

    Parameters
    ----------
    setting : dict
        The arguments of a `Setting`.
    split : int
    method : str
        A key of `METHODS`.

    Returns
    -------
    dict
        What the method gave, see `methods`.
    """
    points = draw_split(Setting(**setting), split)
    stacks = points.stacks()
    if method in _OF_TWO_CLASSES:
        return fit_kim(points, stacks, FIXED_REG, weighted=method == "kim")
    if method == "width":
        return fit_single_kernel(points, stacks, split, (FIXED_REG,))
    return fit_learned(points, stacks, method if method == "learn" else float(method))


def _units(splits: int) -> list[Unit]:
    two = {setting.dataset for setting in binary.SETTINGS}
    return [
        Unit(
            f"{setting.label}/{setting.scaling}/split={split:02d}/{method}",
            compute_cell,
            {"setting": setting.arguments(), "split": split, "method": method},
            (setting.dataset,),
        )
        for split in range(splits)
        for setting in _settings()
        for method in METHODS
        if method not in _OF_TWO_CLASSES or setting.dataset in two
    ]


def _rows(results: Sequence[tuple[Unit, Result]]) -> list[dict[str, Any]]:
    groups = group_results(results, lambda given: (Setting(**given["setting"]), given["method"]))
    return [
        method_row(
            f"{setting.label}, columns {SCALINGS[setting.scaling]}",
            METHODS[method],
            groups[setting, method],
        )
        for setting in _settings()
        for method in METHODS
        if (setting, method) in groups
    ]


TABLE = Table(
    name="scaling",
    title="Beside Ye et al. (2007): scaling of the columns, λ, and weighted covariances",
    version=1,
    splits=SPLITS,
    units=_units,
    rows=_rows,
    quantities=(Quantity("accuracy", "accuracy %", 2, difference=False), SHARES),
    kind="own",
    protocol=(
        "The data, kernels and partitions of tables 1 and 2 (of USPS the first sample), the exact form, and "
        "the columns scaled in four ways by the training points: not at all; from 0 to 1; to mean 0 and "
        "variance 1; and standardized, then shrunk until the median distance is twice the smallest σ, so "
        "that no kernel is near the identity.",
        "SDPθ with three values of λ, which is damaged in the text of the paper; Kim's criterion with "
        "covariances weighted by the sizes of the classes (equation 3 of Ye et al.) and not weighted; RKDA "
        "with the width alone cross-validated and λ = 1e-8.",
    ),
    notes=(
        "Where a kernel is nearly the identity, λ does not matter, whatever it is: SDPθ and SDPθ,λ agree. "
        "Without such a kernel SDPθ loses 1 to 4 points on Heart, Cancer and Ionosphere, and learning λ wins "
        "them back, as the paper reports; on Sonar, Wine and USPS it makes no difference.",
        "Nothing here gives the published accuracies of SDPθ on USPS: 94.41, 87.14 and 78.35.",
        "Whether the covariances of Kim's criterion are weighted changes hardly anything on these data.",
        "RKDA with λ = 1e-8 and the width alone cross-validated has 77 to 79 % on Heart and 93 % on "
        "Ionosphere, near the published RKDA_CV, 76.54 and 93.62: the paper may have cross-validated the "
        "kernel only.",
    ),
)

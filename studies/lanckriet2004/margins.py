"""Tables 1 to 3: three kernels alone, their free-sign and their nonnegative combination, by four criteria."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from studies.compare import compare, comparison_row, convergence_remark, group_results
from studies.lanckriet2004.machine import CRITERIA, Task, fit_machine
from studies.lanckriet2004.published import SPLITS, margin_cell, table_cells
from studies.lanckriet2004.setting import (
    BREAST,
    HEART,
    IONOSPHERE,
    LABELS,
    SONAR,
    TWONORM,
    Setting,
    draw_split,
)
from studies.lanckriet2004.tuned import C_GRID, MARGINS, PARTITIONS, SIGMAS, tune_gaussian
from studies.points import three_kernels
from studies.study import Kind, Quantity, Result, Table, Unit

COLUMNS = {
    "K1": "K1, polynomial",
    "K2": "K2, Gaussian",
    "K3": "K3, linear",
    "free": "free sign (SDP)",
    "nonnegative": "nonneg. (QCQP)",
}
TUNED = "best c/v RBF"
_LEARNED = ("free", "nonnegative")
_WEIGHTS = {"K1": "mu1", "K2": "mu2", "K3": "mu3"}
SEPARABLE, NEGATIVE = "separable on", "a negative weight on"  # what remarks begin with
_LARGE_C = 1e4  # above it nothing is left for the identity, and C has no mean
_QUANTITIES = (
    Quantity("value", "margin or omega/2", 4),
    Quantity("accuracy", "TSA %", 1),
    Quantity("weights", "weights", 2),
    Quantity("C", "C", 4),
)


def compute_cell(setting: dict[str, Any], split: int, criterion: str) -> dict[str, Any]:
    """Return the machines of one criterion on one split: each kernel alone and both combinations.

    Parameters
    ----------
    setting : dict
        The arguments of a `Setting`.
    split : int
    criterion : str
        A key of `CRITERIA`.

    Returns
    -------
    dict
        Key of a column to what `fit_machine` returned.
    """
    chosen = Setting(**setting)
    points = draw_split(chosen, split)
    Ks = three_kernels(points.X, chosen.sigma)
    # The single kernels are given the trace of the combinations, so that their values can be compared.
    trace = sum(float(np.trace(K)) for K in Ks) + (len(points.y) if criterion == "SM2,C" else 0)
    banks = {"K1": Ks[:1], "K2": Ks[1:2], "K3": Ks[2:], "free": Ks, "nonnegative": Ks}
    return {
        column: fit_machine(
            Task(bank, points.y, points.n_train, trace),
            criterion,
            "free" if column == "free" else "nonnegative",
        )
        for column, bank in banks.items()
    }


def _units(settings: Sequence[Setting], kind: Kind) -> Callable[[int], list[Unit]]:
    def units(splits: int) -> list[Unit]:
        learned = [
            _unit(s, split, criterion) for s in settings for split in range(splits) for criterion in CRITERIA
        ]
        # Tuning does not look at sigma, the only thing that differs in the experiment of our own.
        margins = MARGINS if kind == "table" else ()
        return learned + [unit for margin in margins for unit in tuned_units(settings, splits, margin)]

    return units


def _unit(setting: Setting, split: int, criterion: str) -> Unit:
    return Unit(
        f"{setting.dataset}/sigma={setting.sigma:g}/split={split:02d}/{criterion}",
        compute_cell,
        {"setting": setting.arguments(), "split": split, "criterion": criterion},
        (setting.dataset,),
    )


def tuned_units(settings: Sequence[Setting], splits: int, margin: str) -> list[Unit]:
    """Return the units of the column "best c/v RBF".

    Parameters
    ----------
    settings : sequence of Setting
    splits : int
    margin : {"HM", "SM1", "SM2"}

    Returns
    -------
    list of Unit
    """
    return [
        Unit(
            f"{setting.dataset}/split={split:02d}/tuned {margin}",
            tune_gaussian,
            {"setting": setting.arguments(), "split": split, "margin": margin},
            (setting.dataset,),
        )
        for setting in settings
        for split in range(splits)
    ]


def _rows(results: Sequence[tuple[Unit, Result]]) -> list[dict[str, Any]]:
    groups = group_results(
        results, lambda given: (Setting(**given["setting"]), given.get("criterion"), given.get("margin"))
    )
    rows = []
    for setting in dict.fromkeys(setting for setting, _, _ in groups):
        for criterion in CRITERIA:
            group = groups[setting, criterion, None]
            rows += [
                _row(setting, criterion, column, [result[column] for result in group]) for column in COLUMNS
            ]
            # The 2-norm machine is tuned in the rows of SM2; those of SM2,C print its accuracy once more.
            margin = "SM2" if criterion == "SM2,C" else criterion
            if (setting, None, margin) in groups:
                rows.append(_tuned_row(setting, criterion, groups[setting, None, margin], len(group)))
    return rows


def _row(setting: Setting, criterion: str, column: str, machines: Sequence[Result]) -> dict[str, Any]:
    found = [machine for machine in machines if machine["separable"]]

    def theirs(quantity: str) -> Any:
        return margin_cell(setting.dataset, criterion, column, quantity)

    n_theirs = published_splits(setting)
    values = {
        "value": compare(
            [machine["value"] for machine in found],
            theirs("gamma" if criterion == "HM" else "omega"),
            n_theirs,
        ),
        "accuracy": compare([machine["accuracy"] for machine in found], theirs("TSA"), n_theirs),
    }
    if column in _LEARNED:
        weights = [theirs(quantity) for quantity in _WEIGHTS.values()]
        printed = None if weights[0] is None else weights
        values["weights"] = compare(rounded_weights(found), printed, n_theirs)
    elif criterion == "SM2,C":  # otherwise the trace alone gives a single kernel the weight 3
        own = theirs(_WEIGHTS[column])
        values["weights"] = compare([weight for (weight,) in rounded_weights(found)], own, n_theirs)
    if criterion == "SM2,C":
        has_mean = all(machine["ridge"] >= 1.0 / _LARGE_C for machine in found)
        prices = [1.0 / machine["ridge"] for machine in found] if has_mean else []
        values["C"] = compare(prices, theirs("C"), n_theirs)
    labels = {"criterion": criterion, "kernel": COLUMNS[column]}
    remark = _remark(criterion, column, machines)
    return comparison_row(LABELS[setting.dataset], labels, values, remark)


def _tuned_row(setting: Setting, criterion: str, results: Sequence[Result], splits: int) -> dict[str, Any]:
    printed = margin_cell(setting.dataset, criterion, "tuned", "TSA")
    accuracies = [result["accuracy"] for result in results]
    value = compare(accuracies, printed, published_splits(setting))
    is_repeated, is_whole = criterion == "SM2,C", len(results) == splits
    return comparison_row(
        LABELS[setting.dataset],
        {"criterion": criterion, "kernel": TUNED},
        # a few splits say nothing of the spread
        {"accuracy": value if is_whole else value | {"se_difference": None}},
        "the tuned 2-norm machine of SM2 once more" if is_repeated else fewer_remark(len(results), splits),
        counts=is_whole and not is_repeated,
    )


def fewer_remark(done: int, splits: int) -> str:
    """Return on how many of the published splits something was done; empty if on all that the rest was."""
    return f"{done} of {SPLITS} splits done, not counted" if done < splits else ""


def rounded_weights(machines: Sequence[Result]) -> list[list[float]]:
    """Return the weights of each machine to six digits, so that what is zero up to the tolerance is zero."""
    return [np.round(np.asarray(machine["weights"]), 6).tolist() for machine in machines]


def published_splits(setting: Setting) -> int:
    """Return over how many draws the published means are: one where its sample is unknown, else the splits.

    A published mean over splits of one sample differs from ours by the sample too.
    """
    return SPLITS if setting.sample is None else 1


def _remark(criterion: str, column: str, machines: Sequence[Result]) -> str:
    found = [machine for machine in machines if machine["separable"]]
    remarks = [convergence_remark(found)]
    if column == "free":
        n_negative = sum(min(weights) < 0.0 for weights in rounded_weights(found))
        remarks.insert(0, f"{NEGATIVE} {n_negative} of {len(found)} splits")
    if criterion == "SM2,C" and (n_large := sum(machine["ridge"] < 1.0 / _LARGE_C for machine in found)):
        remarks.insert(0, f"C above {_LARGE_C:g} on {n_large} of {len(found)} splits")
    if len(found) < len(machines):
        remarks.insert(0, f"{SEPARABLE} {len(found)} of {len(machines)} splits")
    return "; ".join(filter(None, remarks))


_PROTOCOL = (
    "Random partitions into 80% training and 20% test points, both classes in each part; the kernels are "
    "over the training and the test points together, and the test labels are never seen before the accuracy "
    "is counted.",
    "K1 = (1 + x·z)² and K3 = x·z, both scaled to a unit diagonal; K2 = exp(−‖x − z‖² / (2 sigma)) with the "
    "printed sigma.",
    "HM: hard margin; SM1: 1-norm soft margin, C = 1; SM2: 2-norm soft margin, C = 1; SM2,C: 2-norm soft "
    "margin with a learned C. The trace of every learned matrix is 3n, for SM2,C 4n (the identity counts as "
    "a kernel); single kernels are given the same trace.",
    "The value is the margin for HM and omega / 2 for the other criteria, which is what the tables print.",
    f"{TUNED}: an SVM with one Gaussian kernel whose sigma and C have the largest mean accuracy over "
    f"{PARTITIONS} random partitions of the training points (80% and 20%); of the hard margin sigma alone. "
    f"The paper does not say which values it tried: {len(SIGMAS)} of sigma, {SIGMAS[0]:g} to {SIGMAS[-1]:g}, "
    f"and {len(C_GRID)} of C, {C_GRID[0]:g} to {C_GRID[-1]:g}, equally spaced on the logarithmic scale.",
)
_SCALING = "The paper does not say how the columns were scaled, except that heart was normalised: {scaling}."
_ERROR_NOTE = (
    "No ± is printed. The s.e. of a difference takes the published mean of 30 splits to vary as ours does: "
    "it is ours times √(1 + splits / 30), and leaves out the rounding of the printed number. Weights have "
    "theirs in the JSON file."
)


def _table(name: str, settings: Sequence[Setting], notes: Sequence[str], kind: Kind = "table") -> Table:
    labels = ", ".join(LABELS[setting.dataset] for setting in settings)
    title = f"table {name}: {labels}" if kind == "table" else "sonar with sigma = 0.5 in place of 0.1"
    return Table(
        name=name,
        title=f"Lanckriet et al. (2004), {title}",
        version=2,
        splits=SPLITS,
        units=_units(settings, kind),
        rows=_rows,
        quantities=_QUANTITIES,
        protocol=_PROTOCOL,
        notes=(*notes, _ERROR_NOTE),
        kind=kind,
        cells=table_cells(name) if kind == "table" else (),
    )


TABLES = (
    _table(
        "1",
        (HEART, SONAR),
        (
            _SCALING.format(
                scaling="heart is standardised here and sonar is as it is, because so the margins of K1 and "
                "K3 come out as printed"
            ),
            "Sonar is printed with sigma = 0.1, which is used here and does not give the published figures "
            "of K2 and of the combinations, while K1 and K3, which have no sigma, agree. With sigma = 0.5 "
            "all agree: see our own page on it.",
            "The text at hand has no weights of SM2,C for heart. Its free-sign SM2,C cells of heart and "
            "sonar repeat the column beside them and are counted as doubtful: the paper reports a learned C "
            "for positive weights only.",
            "Heart, SM2,C: with sigma = 0.5 the Gaussian kernel of the standardised data is nearly the "
            "identity, so that its weight and 1/C can be exchanged at almost no cost; C and that weight are "
            "badly determined.",
        ),
    ),
    _table(
        "2",
        (BREAST, IONOSPHERE),
        (
            _SCALING.format(scaling="both are as they are here"),
            "Breast cancer has the 683 examples without missing values, as in the paper.",
            "Breast cancer, SM2, nonnegative: the printed 21.811 is less than the 25.267 of SM2,C, for whose "
            "program the solution of SM2 is feasible; it is counted as doubtful.",
            "Breast cancer, SM2,C: the printed C of 6.77e+7 and 1.48e+8 mean that no weight is left for the "
            "identity, as ours. The text at hand has no row of weights for it.",
            "Ionosphere, K3: the published accuracy of SM1, 83.1, stands beside 91.6 for SM2 with nearly "
            "the same machine.",
        ),
    ),
    _table(
        "3",
        (TWONORM,),
        (
            "The paper does not print the size of its sample of 2-norm. K2 tells it: with sigma = 0.1 it is "
            "the identity on these points, for which omega = 2 · 2 / (3 (1/n₊ + 1/n₋)), and the accuracy is "
            "the share of the larger class. The printed 43.509 and 55.4% give 330 points, 182 and 148 of the "
            "classes. Ours are drawn anew for each split from 7400 points of the same distribution, so that "
            "K2 agrees by construction and the other kernels do not.",
            "The published mean is over splits of one sample, so it counts as a single draw in the s.e. of a "
            "difference, ours times √(1 + splits): if anything too large.",
            "In SM2,C the weight of K2 and 1/C are interchangeable; these cells are counted as doubtful.",
        ),
    ),
)
OWN = _table(
    "sonar-width",
    (replace(SONAR, sigma=0.5),),
    (
        "The protocol of table 1 but for sigma, the width of K2; the published figures beside ours are those "
        "that table 1 prints for sigma = 0.1.",
    ),
    kind="own",
)

"""Tables 1 to 3: three kernels alone, their free-sign and their nonnegative combination, by four criteria."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from studies.compare import compare, comparison_row, convergence_remark, group_results
from studies.lanckriet2004.machine import CRITERIA, Task, fit_machine
from studies.lanckriet2004.published import SPLITS, published_cell
from studies.lanckriet2004.setting import (
    BREAST,
    HEART,
    IONOSPHERE,
    SONAR,
    SONAR_AS_PRINTED,
    TWONORM,
    Setting,
    draw_split,
)
from studies.points import three_kernels
from studies.study import Quantity, Result, Table, Unit

COLUMNS = {
    "K1": "K1, polynomial",
    "K2": "K2, Gaussian",
    "K3": "K3, linear",
    "free": "free sign (SDP)",
    "nonnegative": "nonneg. (QCQP)",
}
_LEARNED = ("free", "nonnegative")
# A larger C leaves nothing for the identity: the mean of C is taken over the other splits.
_LARGE_C = 1e4
_QUANTITIES = (
    Quantity("value", "margin or omega/2", 4),
    Quantity("accuracy", "TSA %", 1),
    Quantity("weights", "weights", 2, difference=False),
    Quantity("C", "C", 4, difference=False),
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


def _units(settings: Sequence[Setting]) -> Callable[[int], list[Unit]]:
    def units(splits: int) -> list[Unit]:
        return [
            Unit(
                f"{setting.dataset}/sigma={setting.sigma:g}/split={split:02d}/{criterion}",
                compute_cell,
                {"setting": setting.arguments(), "split": split, "criterion": criterion},
                (setting.dataset,),
            )
            for setting in settings
            for split in range(splits)
            for criterion in CRITERIA
        ]

    return units


def _rows(results: Sequence[tuple[Unit, Result]]) -> list[dict[str, Any]]:
    groups = group_results(results, lambda given: (Setting(**given["setting"]), given["criterion"]))
    return [
        _row(setting, criterion, column, [result[column] for result in group])
        for (setting, criterion), group in groups.items()
        for column in COLUMNS
    ]


def _row(setting: Setting, criterion: str, column: str, machines: Sequence[Result]) -> dict[str, Any]:
    found = [machine for machine in machines if machine["separable"]]
    theirs = published_cell(setting.dataset, criterion, column)
    # A published mean over splits of one sample differs from ours by the sample too: it counts as one draw.
    n_theirs = SPLITS if setting.sample is None else 1
    values = {
        key: compare([machine[key] for machine in found], theirs.get(key), n_theirs)
        for key in ("value", "accuracy", "weights")
        if key != "weights" or column in _LEARNED
    }
    if criterion == "SM2,C":
        prices = [1.0 / machine["ridge"] for machine in found if machine["ridge"] >= 1.0 / _LARGE_C]
        values["C"] = compare(prices, theirs.get("C"), n_theirs)
    labels = {"criterion": criterion, "kernel": COLUMNS[column]}
    return comparison_row(setting.label, labels, values, _remark(criterion, machines, found))


def _remark(criterion: str, machines: Sequence[Result], found: Sequence[Result]) -> str:
    remarks = []
    if len(found) < len(machines):
        remarks.append(f"separable on {len(found)} of {len(machines)} splits")
    if criterion == "SM2,C" and (n_large := sum(machine["ridge"] < 1.0 / _LARGE_C for machine in found)):
        remarks.append(f"C above {_LARGE_C:g} on {n_large} of {len(found)} splits")
    return "; ".join(filter(None, [*remarks, convergence_remark(found)]))


_PROTOCOL = (
    "Random splits into 80% training and 20% test points, both classes in each part; the kernels are over "
    "the training and the test points together, and the test labels are never seen before the accuracy is "
    "counted.",
    "K1 = (1 + x·z)² and K3 = x·z, both scaled to a unit diagonal; K2 = exp(−‖x − z‖² / (2 sigma)).",
    "HM: hard margin; SM1: 1-norm soft margin, C = 1; SM2: 2-norm soft margin, C = 1; SM2,C: 2-norm soft "
    "margin with a learned C. The trace of every learned matrix is 3n, for SM2,C 4n (the identity counts as "
    "a kernel); single kernels are given the same trace.",
    "The value is the margin for HM and omega / 2 for the other criteria.",
)
_SELECTED = (
    "The scaling of the columns was chosen by matching the published margins and omega ({scalings}), so the "
    "agreement is partly selected."
)
_ERROR_NOTE = (
    "The s.e. of a difference takes the published mean of 30 splits to vary as ours does: it is ours times "
    "√(1 + splits / 30). Weights have theirs in the JSON file."
)


def _table(name: str, settings: Sequence[Setting], scalings: str, notes: Sequence[str]) -> Table:
    labels = ", ".join(setting.label for setting in settings)
    return Table(
        name=name,
        title=f"Lanckriet et al. (2004), table {name}: {labels}",
        version=1,
        splits=SPLITS,
        units=_units(settings),
        rows=_rows,
        quantities=_QUANTITIES,
        protocol=_PROTOCOL,
        notes=(_SELECTED.format(scalings=scalings), _ERROR_NOTE, *notes),
    )


TABLES = (
    _table(
        "1",
        (HEART, SONAR, SONAR_AS_PRINTED),
        "heart standardised, sonar as it is with sigma = 0.5",
        (
            "Sonar is printed with sigma = 0.1, which does not give the published figures of K2; sigma = "
            "0.5 does. Both are shown.",
            "Sonar, SM2,C, free sign: the published 15.640 exceeds the published 15.219 of SM2, whose "
            "solution is feasible for SM2,C; it cannot be the optimum of that program.",
            "Heart, SM2,C: with sigma = 0.5 the Gaussian kernel of the standardised data is nearly the "
            "identity, so that its weight and 1/C can be exchanged at almost no cost; C and that weight are "
            "badly determined.",
        ),
    ),
    _table(
        "2",
        (BREAST, IONOSPHERE),
        "both as they are",
        (
            "Breast cancer, SM2, nonnegative: the published 21.811 is less than the published 25.267 of "
            "SM2,C, for whose program the solution of SM2 is feasible; one of the two cannot be an optimum.",
            "Breast cancer, SM2,C: the published C of 7e7 means that no weight is left for the identity, as "
            "ours.",
            "Ionosphere, K3: the published accuracy of SM1, 83.1, stands beside 91.6 for SM2 with nearly "
            "the same machine.",
        ),
    ),
    _table(
        "3",
        (TWONORM,),
        "as it is, 328 points",
        (
            "The published sample of 2-norm was not at hand, and the number of points, 328, was chosen by "
            "matching K2. Ours draws 328 of 7400 points anew for each split. The published mean is over "
            "splits of one sample, so it counts as a single draw in the s.e. of a difference, ours times "
            "√(1 + splits): if anything too large.",
            "The published omega of K3 and of the combinations is larger than ours, as for a sample whose "
            "classes are less easily told apart; the differences are within what one sample can make.",
            "K2 with sigma = 0.1 is the identity on these points: its accuracy is that of a coin, and in "
            "SM2,C its weight and 1/C are interchangeable.",
        ),
    ),
)

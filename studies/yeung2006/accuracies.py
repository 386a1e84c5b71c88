"""Tables 1 to 5: how well the unlabelled points of one data set are classified with each kernel.

One table for each data set; every classifier chooses the width of its kernel by leave-one-out. Beside them an
experiment of our own: the same with variants of the learned kernels.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from studies.compare import compare, comparison_row
from studies.study import Quantity, Result, Table, Unit
from studies.yeung2006.classifiers import classify, leave_one_out_errors
from studies.yeung2006.kernels import KERNELS, VARIANTS, LearnedKernel, learned_kernels
from studies.yeung2006.pages import NOTES, PROTOCOL, TITLES, VARIANT_NOTES, VARIANT_PROTOCOL
from studies.yeung2006.published import ACCURACIES, COLUMNS, LABELS, NUMBERS, TRIALS, published_accuracy
from studies.yeung2006.setting import PERCENT_LABELLED, Split, draw_split

_QUANTITIES = tuple(Quantity(column, f"{label}, %", 2) for column, label in LABELS.items())


def compute_split(dataset: str, percent: int, split: int, kernel: str) -> dict[str, Any]:
    """Return the accuracy of every classifier with one kernel on one split, and the width that it chose.

    Parameters
    ----------
    dataset : str
    percent : int
        How many of the points are labelled.
    split : int
    kernel : str
        A key of `KERNELS` or `VARIANTS`.

    Returns
    -------
    dict
        By classifier: ``accuracy`` on the unlabelled points in percent, ``chosen`` (the kernel) and
        ``errors`` (of leave-one-out with it).
    """
    return classify_unlabelled(draw_split(dataset, percent, split), kernel, COLUMNS)


def classify_unlabelled(points: Split, kernel: str, classifiers: Sequence[str]) -> dict[str, Any]:
    """Return what `compute_split` does, for points that are given."""
    labels, n = points.labels, points.n_labelled
    best: dict[str, tuple[int, LearnedKernel]] = {}
    limits = dict.fromkeys(classifiers, n + 1)
    for candidate in learned_kernels(kernel, points):
        for name, errors in leave_one_out_errors(candidate, labels, limits).items():
            best[name], limits[name] = (errors, candidate), errors
    found = {name: classify(name, c.K[:n, :n], labels, c.K[n:, :n]) for name, (_, c) in best.items()}
    return {
        "accuracy": {name: 100.0 * float(np.mean(found[name] == points.codes[n:])) for name in classifiers},
        "errors": {name: best[name][0] for name in classifiers},
        "chosen": {name: best[name][1].name for name in classifiers},
    }


def published_kernels(dataset: str) -> list[str]:
    """The rows that the table of a data set has: alignment only for two classes."""
    return [kernel for kernel in KERNELS if (dataset, 20, kernel, COLUMNS[0]) in ACCURACIES]


def _variants(dataset: str) -> list[str]:
    """Those of the rows that the table has; equal columns are those of Monks-3."""
    absent = {"separability_apart"} if dataset != "monks3" else set()
    rows = published_kernels(dataset)
    return [name for name in VARIANTS if name.partition("_")[0] in rows and name not in absent]


def _units(kernels: Mapping[str, Sequence[str]]) -> Callable[[int], list[Unit]]:
    """Kernels by data set to the units of a number of splits; all kernels of a split one after the other."""

    def units(splits: int) -> list[Unit]:
        return [
            Unit(
                f"{dataset}/labelled={percent}/split={split:02d}/{kernel}",
                compute_split,
                {"dataset": dataset, "percent": percent, "split": split, "kernel": kernel},
                (dataset,),
            )
            for dataset, names in kernels.items()
            for percent in PERCENT_LABELLED
            for split in range(splits)
            for kernel in names
        ]

    return units


def _groups(results: Sequence[tuple[Unit, Result]]) -> dict[tuple[str, int, str], list[Result]]:
    groups: dict[tuple[str, int, str], list[Result]] = {}
    for unit, result in results:
        place = unit.arguments["dataset"], unit.arguments["percent"], unit.arguments["kernel"]
        groups.setdefault(place, []).append(result)
    return groups


def _rows(results: Sequence[tuple[Unit, Result]]) -> list[dict[str, Any]]:
    return [
        comparison_row(
            f"{percent}% labelled",
            {"kernel": KERNELS[kernel]},
            _values(group, dataset, percent, kernel),
            _choices(group, COLUMNS),
        )
        for (dataset, percent, kernel), group in _groups(results).items()
    ]


def _variant_rows(results: Sequence[tuple[Unit, Result]]) -> list[dict[str, Any]]:
    return [
        comparison_row(
            f"{TITLES[dataset]}, {percent}% labelled",
            {"kernel": VARIANTS[kernel]},
            _values(group, dataset, percent, kernel.partition("_")[0]),
            _choices(group, COLUMNS),
            counts=False,
        )
        for (dataset, percent, kernel), group in _groups(results).items()
    ]


def _values(group: Sequence[Result], dataset: str, percent: int, kernel: str) -> dict[str, dict[str, Any]]:
    return {
        column: compare(
            [result["accuracy"][column] for result in group],
            published_accuracy(dataset, percent, kernel, column),
            TRIALS,
        )
        for column in COLUMNS
    }


def _choices(group: Sequence[Result], classifiers: Iterable[str]) -> str:
    """What leave-one-out chose most often, for each classifier in turn."""
    counts = [Counter(result["chosen"][key] for result in group) for key in classifiers]
    return "most often " + " / ".join(count.most_common(1)[0][0] for count in counts)


TABLES = tuple(
    Table(
        name=str(number),
        title=f"Yeung et al. (2006), table {number}: {TITLES[dataset]}",
        version=5,
        splits=TRIALS,
        units=_units({dataset: published_kernels(dataset)}),
        rows=_rows,
        quantities=_QUANTITIES,
        protocol=PROTOCOL[dataset],
        notes=NOTES[dataset],
        cells=[cell for (name, *_), cell in ACCURACIES.items() if name == dataset],
    )
    for dataset, number in NUMBERS.items()
)

OWN = Table(
    name="variants",
    title="Yeung et al. (2006): variants of the learned kernels on the data of tables 1 to 5",
    version=5,
    splits=TRIALS,
    units=_units({dataset: _variants(dataset) for dataset in NUMBERS}),
    rows=_variant_rows,
    quantities=_QUANTITIES,
    protocol=VARIANT_PROTOCOL,
    notes=VARIANT_NOTES,
    kind="own",
)

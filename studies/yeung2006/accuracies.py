"""Tables 1 to 5: how well the unlabelled points of one data set are classified with each kernel.

One table for each data set; every classifier chooses the width of its kernel by leave-one-out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from studies.compare import compare, comparison_row
from studies.study import Quantity, Result, Table, Unit
from studies.yeung2006.classifiers import DIRECT, classify, leave_one_out_errors
from studies.yeung2006.kernels import KERNELS, LearnedKernel, learned_kernels
from studies.yeung2006.pages import NOTES, PROTOCOL, SPLITS, TITLES
from studies.yeung2006.published import COLUMNS, published_accuracy
from studies.yeung2006.setting import PERCENT_LABELLED, draw_split

DATASETS = ("monks3", "ionosphere", "wdbc", "wine", "boston")
_THREE_CLASSES = ("wine", "boston")
_LABELS = {"nn1": "1-NN", "nn3": "3-NN", "svm100": "SVM, C = 100", "svm1000": "SVM, C = 1000"}
_GAIN = "Gain of separability over the Gaussian kernel"
_NOT_GIVEN = "paper: not given"


def compute_split(dataset: str, percent: int, split: int, kernel: str) -> dict[str, Any]:
    """Return the accuracy of every classifier with one kernel on one split, and the width that it chose.

    Parameters
    ----------
    dataset : str
    percent : int
        How many of the points are labelled.
    split : int
    kernel : str
        A key of `KERNELS`.

    Returns
    -------
    dict
        By classifier: ``accuracy`` on the unlabelled points in percent, ``chosen`` (the kernel) and
        ``errors`` (of leave-one-out with it).
    """
    points = draw_split(dataset, percent, split)
    labels = points.labels
    classifiers = (*COLUMNS, DIRECT) if kernel == "gaussian" else COLUMNS
    n = len(labels)
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


def _kernels(dataset: str) -> list[str]:
    """Alignment, as published, is for two classes; equal columns are those of Monks-3."""
    absent = {"alignment"} if dataset in _THREE_CLASSES else set()
    if dataset != "monks3":
        absent.add("separability_apart")
    return [kernel for kernel in KERNELS if kernel not in absent]


def _units(dataset: str) -> Callable[[int], list[Unit]]:
    def units(splits: int) -> list[Unit]:
        return [
            Unit(
                f"labelled={percent}/split={split:02d}/{kernel}",
                compute_split,
                {"dataset": dataset, "percent": percent, "split": split, "kernel": kernel},
                (dataset,),
            )
            for percent in PERCENT_LABELLED
            for split in range(splits)
            for kernel in _kernels(dataset)
        ]

    return units


def _rows(results: Sequence[tuple[Unit, Result]]) -> list[dict[str, Any]]:
    groups: dict[tuple[str, int], dict[str, list[Result]]] = {}
    for unit, result in results:
        place = unit.arguments["dataset"], unit.arguments["percent"]
        groups.setdefault(place, {}).setdefault(unit.arguments["kernel"], []).append(result)
    rows, gains = [], []
    for (dataset, percent), by_kernel in groups.items():
        for kernel, group in by_kernel.items():
            rows.append(_kernel_row(dataset, percent, kernel, group))
            if kernel.startswith("separability"):
                gains.append(_gain_row(dataset, percent, kernel, by_kernel))
        rows.append(_direct_row(percent, by_kernel["gaussian"]))
    return [*rows, *gains]


def _kernel_row(dataset: str, percent: int, kernel: str, group: Sequence[Result]) -> dict[str, Any]:
    values = {
        column: compare(
            [result["accuracy"][column] for result in group],
            published_accuracy(dataset, percent, kernel, column),
            SPLITS,
        )
        for column in COLUMNS
    }
    given = published_accuracy(dataset, percent, kernel, COLUMNS[0]) is not None
    remark = _choices(group, COLUMNS) if given else f"{_NOT_GIVEN}; {_choices(group, COLUMNS)}"
    return comparison_row(_section(percent), {"kernel": KERNELS[kernel]}, values, remark)


def _direct_row(percent: int, group: Sequence[Result]) -> dict[str, Any]:
    values = {COLUMNS[0]: compare([result["accuracy"][DIRECT] for result in group])}
    remark = f"{_NOT_GIVEN}; {_choices(group, [DIRECT])}"
    return comparison_row(_section(percent), {"kernel": "KDDA of the Gaussian"}, values, remark)


def _gain_row(
    dataset: str, percent: int, kernel: str, by_kernel: Mapping[str, Sequence[Result]]
) -> dict[str, Any]:
    """Differences on the same splits; of the publication, that of its two means."""
    values = {}
    for column in COLUMNS:
        pairs = zip(by_kernel[kernel], by_kernel["gaussian"], strict=True)
        gains = [learned["accuracy"][column] - plain["accuracy"][column] for learned, plain in pairs]
        theirs = published_accuracy(dataset, percent, kernel, column)
        plain_mean = published_accuracy(dataset, percent, "gaussian", column)
        published = None if theirs is None or plain_mean is None else round(theirs - plain_mean, 1)
        values[column] = compare(gains, published, SPLITS)
    return comparison_row(_GAIN, {"labelled": f"{percent}%", "kernel": KERNELS[kernel]}, values)


def _section(percent: int) -> str:
    return f"{percent}% labelled"


def _choices(group: Sequence[Result], classifiers: Iterable[str]) -> str:
    """What leave-one-out chose most often, for each classifier in turn."""
    counts = [Counter(result["chosen"][key] for result in group) for key in classifiers]
    return "most often " + " / ".join(count.most_common(1)[0][0] for count in counts)


TABLES = tuple(
    Table(
        name=str(number),
        title=f"Yeung et al. (2006), table {number}: {TITLES[dataset]}",
        version=3 if dataset == "monks3" else 2,  # 3: repeated eigenvalues, which the others have not
        splits=SPLITS,
        units=_units(dataset),
        rows=_rows,
        quantities=tuple(Quantity(column, f"{label}, %", 1) for column, label in _LABELS.items()),
        protocol=PROTOCOL[dataset],
        notes=NOTES[dataset],
    )
    for number, dataset in enumerate(DATASETS, start=1)
)

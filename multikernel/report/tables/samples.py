"""Tables of the data and of samples: who has what, kernels, the embedding, weights of each sample."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from operator import itemgetter
from statistics import fmean
from typing import Any

from multikernel.report.tables.base import (
    Columns,
    Table,
    have_ids,
    make_table,
    sentence,
    tell,
    three_decimals,
    which_sample,
)
from multikernel.report.words import format_cell


def data_table(data: Mapping[str, Any]) -> Table:
    """Who has what: the size of each view, and how many samples lack it."""
    columns: Columns = {
        "View": itemgetter("name"),
        "Columns": lambda row: "–" if row["columns"] is None else str(row["columns"]),
        "Samples": itemgetter("samples"),
        "Missing": itemgetter("missing"),
    }
    lacking = sum(pattern["samples"] for pattern in data["patterns"] if not all(pattern["present"]))
    said = "every sample has all of them" if not lacking else f"{lacking} samples lack some of them"
    return tell(f"{data['n_samples']} samples; {said}.", columns, data["views"])


def heat_maps_table(heat_maps: Mapping[str, Any]) -> Table:
    """How similar samples of one group and of two groups are to each kernel."""
    rows = [
        [
            kernel["name"],
            *map(format_cell, [*group_means(kernel, heat_maps["groups"]), kernel["low"], kernel["high"]]),
        ]
        for kernel in heat_maps["maps"]
    ]
    caption = "Mean similarity of samples of the same group and of two groups, and the whole range."
    return make_table(caption, ["Kernel", "Same group", "Two groups", "Least", "Greatest"], rows)


def group_means(
    kernel: Mapping[str, Any], groups: Sequence[Mapping[str, Any]]
) -> tuple[float | None, float | None]:
    """Return the mean similarity of samples within a group, and of samples of two groups.

    A block of the map belongs to the group that holds its middle.

    Examples
    --------
    >>> kernel = {"low": 0.0, "high": 2.0, "values": [[1.0, 0.0], [0.0, 1.0]]}
    >>> group_means(kernel, [{"label": "a", "start": 0, "stop": 5}, {"label": "b", "start": 5, "stop": 10}])
    (2.0, 0.0)
    """
    values, low, high = kernel["values"], kernel["low"] or 0.0, kernel["high"] or 0.0
    size = max((group["stop"] for group in groups), default=1) / max(len(values), 1)
    owner = [sum(group["start"] <= size * (i + 0.5) for group in groups) for i in range(len(values))]
    within: list[float] = []
    between: list[float] = []
    for i, row in enumerate(values):
        for j, value in enumerate(row):
            if value is not None:
                (within if owner[i] == owner[j] else between).append(low + (high - low) * value)
    return fmean(within) if within else None, fmean(between) if between else None


def embedding_table(embedding: Mapping[str, Any]) -> Table:
    """Where the samples of each class lie, or those of each quarter of the values."""
    points = [point for point in embedding["points"] if None not in (point["x"], point["y"])]
    rows = []
    for label, group in _groups(points).items():
        said = [point for point in group if None not in (point.get("label"), point.get("predicted"))]
        wrong = sum(str(point["predicted"]) != str(point["label"]) for point in said)
        centre = [format_cell(fmean(point[axis] for point in group)) for axis in ("x", "y")]
        rows.append([label, str(len(group)), *centre, str(wrong) if said else "–"])
    columns = ["Group", "Samples", "Mean of axis 1", "Mean of axis 2", "Predicted wrongly"]
    return make_table("Where the samples of each group lie.", columns, rows)


def gate_table(gate: Mapping[str, Any]) -> Table:
    """The weights of every sample."""
    rows = gate["rows"]
    kind = "label" if any(row.get("label") is not None for row in rows) else "value"
    known = [key for key in (kind, "predicted") if any(row.get(key) is not None for row in rows)]
    names = {"label": "Class", "value": "Value", "predicted": "Predicted"}
    ((head, which),) = which_sample(rows).items()
    cells = [
        [which(row), *(format_cell(row.get(key)) for key in known), *map(three_decimals, row["weights"])]
        for row in rows
    ]
    heads = [head, *(names[key] for key in known)]
    table = make_table(sentence(gate["what"]), heads, cells, given=gate["views"])
    for column, key in zip(table["columns"], ["row", *known], strict=False):
        named = key == "row" and have_ids(rows)
        column["number"] = not named and all(not isinstance(row.get(key), str) for row in rows)
    return table


def gate_means_table(gate: Mapping[str, Any]) -> Table:
    """The mean weights of the samples of each class, or of each quarter of the values."""
    rows = []
    for label, group in _groups(gate["rows"]).items():
        views = zip(*(row["weights"] for row in group), strict=True)
        means = [fmean(weight or 0.0 for weight in view) for view in views]
        rows.append([label, str(len(group)), *map(three_decimals, means)])
    return make_table(
        "Mean weights of the samples of each group.", ["Group", "Samples"], rows, given=gate["views"]
    )


def _groups(samples: Sequence[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    """Samples by class, in the order of appearance; by value, in four groups of one size; or all together."""
    groups: dict[str, list[Mapping[str, Any]]] = {}
    if samples and all(sample.get("value") is not None for sample in samples):
        ordered = sorted(samples, key=lambda sample: sample["value"])
        cuts = [len(ordered) * i // 4 for i in range(5)]
        for group in (ordered[a:b] for a, b in pairwise(cuts) if b > a):
            ends = f"{group[0]['value']:.4g} to {group[-1]['value']:.4g}"
            groups.setdefault(ends, []).extend(group)
        return groups
    for sample in samples:
        label = sample.get("label")
        groups.setdefault("all samples" if label is None else str(label), []).append(sample)
    return groups

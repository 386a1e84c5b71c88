"""Tables of held-out predictions."""

from collections.abc import Callable, Mapping
from operator import itemgetter
from typing import Any

from multikernel.report.tables.base import (
    MOST,
    Columns,
    Table,
    have_ids,
    make_table,
    sentence,
    tell,
    which_sample,
)
from multikernel.report.words import format_cell, format_difference, isolate

_MOST_CLASSES = 5  # of which the share that was found is told one by one


def confusion_table(confusion: Mapping[str, Any]) -> Table:
    """Number of samples of each class that were predicted as each class."""
    rows = [
        [label, *map(format_cell, counts)]
        for label, counts in zip(confusion["labels"], confusion["counts"], strict=True)
    ]
    caption = "Rows: the class observed. Columns: the class predicted."
    return make_table(caption, ["Observed"], rows, given=confusion["labels"])


def roc_table(roc: Mapping[str, Any]) -> Table:
    """The area under each curve."""
    rows = [[curve["label"], format_cell(curve["auc"])] for curve in roc["curves"]]
    return make_table("Area under each ROC curve: 1 is perfect, 0.5 is chance.", ["Class", "Area"], rows)


def calibration_table(calibration: Mapping[str, Any]) -> Table:
    """The bins of predicted probabilities."""
    rows = [[format_cell(row[key]) for key in ("predicted", "observed", "n")] for row in calibration["bins"]]
    caption = f"{sentence(calibration['how'])} Brier score: {format_cell(calibration['brier'])}."
    return make_table(caption, ["Mean predicted", "Observed", "Samples"], rows, words=0)


def residuals_table(residuals: Mapping[str, Any]) -> Table:
    """The samples that were missed most."""
    known = [point for point in residuals["points"] if None not in (point["observed"], point["predicted"])]
    # the points may be a part of the samples, "worst" is of all
    worst = residuals.get("worst") or known
    worst = sorted(worst, key=lambda point: -abs(point["observed"] - point["predicted"]))[:MOST]
    are_numbered = bool(worst) and all(point.get("row") is not None for point in worst)
    has_ids = have_ids(worst)
    columns: Columns = which_sample(worst) if are_numbered else {}
    columns |= {
        "Observed": lambda point: format_cell(point["observed"]),
        "Predicted": lambda point: format_cell(point["predicted"]),
        "Difference": lambda point: format_difference(point["observed"] - point["predicted"]),
    }
    samples = "all samples" if residuals.get("worst") else f"{len(known)} samples"
    numbered = ", by row of the data, from 0" if are_numbered and not has_ids else ""
    caption = f"The {len(worst)} largest misses of {samples}{numbered}."
    return tell(caption, columns, worst, words=int(has_ids))


def has_rows(part: Mapping[str, Any]) -> bool:
    """Whether there is something to show: no sample may be doubtful."""
    return bool(part.get("samples", True))


def doubtful_table(doubtful: Mapping[str, Any]) -> Table:
    """The samples that were predicted wrongly, and those whose prediction was uncertain."""
    samples = doubtful["samples"]
    columns: Columns = {
        **which_sample(samples),
        "Observed": itemgetter("observed"),
        "Predicted": itemgetter("predicted"),
        "Probability": lambda row: "–" if row["probability"] is None else format_cell(row["probability"]),
        "": lambda row: "wrong" if row["wrong"] else "uncertain",
    }
    found = doubtful["n_wrong"] + doubtful["n_uncertain"]
    shown = f" The first {len(samples)} are shown." if len(samples) < found else ""
    numbered = "" if have_ids(samples) else " Rows are counted from 0."
    caption = (
        f"{doubtful['n_wrong']} samples predicted wrongly when held out, the surest first; "
        f"{doubtful['n_uncertain']} predicted rightly, but with two classes nearly as probable."
        f"{shown}{numbered}"
    )
    table = tell(caption, columns, samples, words=3)
    table["columns"][0]["number"] = not have_ids(samples)
    table["columns"][-1]["number"] = False
    return table


def groups_table(groups: Mapping[str, Any]) -> Table:
    """The groups of risk of a survival model."""
    columns: Columns = {
        "Group": itemgetter("label"),
        "Samples": itemgetter("n"),
        "Events": itemgetter("n_events"),
        "Median survival": lambda row: "–" if row["median"] is None else format_cell(row["median"]),
    }
    caption = f"Groups of risk, {groups['how']}; log-rank test: p = {groups['p']:.2g}."
    return tell(caption, columns, groups["curves"])


def survival_calibration_table(calibration: Mapping[str, Any]) -> Table:
    """Predicted and observed survival at one time."""
    keys = ("predicted", "observed", "low", "high", "n", "events")
    rows = [
        ["–" if row[key] is None else format_cell(row[key]) for key in keys] for row in calibration["rows"]
    ]
    caption = f"Survival at time {format_cell(calibration['time'])}, in groups of similar predictions."
    return make_table(
        caption, ["Mean predicted", "Observed", "Low", "High", "Samples", "Events"], rows, words=0
    )


def over_time_table(brier: Mapping[str, Any]) -> Table:
    """The Brier score at each time."""
    columns = zip(brier["times"], brier["score"], brier["reference"], strict=True)
    caption = "Brier score of the predicted survival, and of one prediction that is the same for all samples."
    rows = [list(map(format_cell, row)) for row in columns]
    return make_table(caption, ["Time", "Brier score", "The same for all"], rows, words=0)


def auc_table(auc: Mapping[str, Any]) -> Table:
    """The area under the ROC curve at each time."""
    rows = [list(map(format_cell, row)) for row in zip(auc["times"], auc["auc"], strict=True)]
    caption = (
        "Area under the ROC curve of those who have had the event by a time, against those who have not."
    )
    return make_table(caption, ["Time", "AUC"], rows, words=0)


def held_out_figures(held_out: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What the score is to be compared with, of those that the evaluation tells: name and figure."""
    names = {"majority": "Always the most frequent class", "balanced_accuracy": "Balanced accuracy"}
    figures = [(name, held_out.get(key)) for key, name in names.items() if name.lower() != held_out["metric"]]
    told = [(name, format_cell(figure)) for name, figure in figures if figure is not None]
    return told + _of_classes(held_out) + _of_times(held_out)


def _of_classes(held_out: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The share of each class that was found: of two classes, sensitivity and specificity."""
    confusion = held_out.get("confusion")
    if not confusion or len(confusion["labels"]) > _MOST_CLASSES:
        return []
    return [
        (
            f"Predicted rightly of {isolate(label)}",
            f"{format_cell(row[i] / sum(row))} ({row[i]} of {sum(row)})",
        )
        for i, (label, row) in enumerate(zip(confusion["labels"], confusion["counts"], strict=True))
        if sum(row)
    ]


def _of_times(held_out: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What is said of a survival model beside its score."""
    found = []
    concordance, brier, auc = (held_out.get(key) for key in ("concordance", "brier", "auc"))
    groups = held_out.get("groups") if concordance else None
    if concordance and concordance["low"] is not None:
        interval = f"{format_cell(concordance['low'])} to {format_cell(concordance['high'])}"
        found.append(("95% interval of the C-index", interval))
    if held_out.get("n_events") is not None:
        found.append(("Events", str(held_out["n_events"])))
    if groups:
        found.append(("Log-rank test of the groups of risk", f"p = {groups['p']:.2g}"))
    if brier:
        other = format_cell(brier["integrated_reference"])
        found.append(("Mean Brier score", f"{format_cell(brier['integrated'])} (the same for all: {other})"))
    if auc:
        found.append(("Mean AUC over time", format_cell(auc["mean"])))
    return found


# The tables of held-out predictions, by the part of the evaluation that they show.
HELD_OUT: dict[str, Callable[[Any], Table]] = {
    "confusion": confusion_table,
    "roc": roc_table,
    "calibration": calibration_table,
    "residuals": residuals_table,
    "doubtful": doubtful_table,
    "groups": groups_table,
    "survival_calibration": survival_calibration_table,
    "brier": over_time_table,
    "auc": auc_table,
}

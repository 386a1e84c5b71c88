"""The tables of a report, as text in rows: the page, Markdown and the search field show the same."""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from operator import itemgetter
from statistics import fmean
from typing import Any

from multikernel.report.words import format_cell, format_difference, format_gap, format_p, format_share

Table = dict[str, Any]

_WORST = 10
# The head of a column, and what it tells of a row.
Columns = dict[str, Callable[[Any], Any]]


def make_table(
    caption: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    words: int = 1,
    given: Sequence[str] = (),
    note: str = "",
) -> Table:
    """Return a table whose first `words` columns are words and whose others are numbers.

    Names of further columns that come from the data are `given`; the `note` says how the figures were made.
    """
    heads = [{"name": name, "number": i >= words, "given": False} for i, name in enumerate(columns)]
    heads += [{"name": str(name), "number": True, "given": True} for name in given]
    cells = [list(map(str, row)) for row in rows]
    return {"caption": caption, "columns": heads, "rows": cells, "note": note, "marked": []}


def _tell(caption: str, columns: Columns, rows: Sequence[Any], **more: Any) -> Table:
    """A table that tells the same of each row."""
    return make_table(
        caption, list(columns), [[tell(row) for tell in columns.values()] for row in rows], **more
    )


def _its_sd(rows: Sequence[Mapping[str, Any]]) -> Columns:
    """The spread of the differences, where it is known, fold by fold; the model itself has none."""
    if all(row.get("difference_sd") is None for row in rows):
        return {}
    return {"Its SD": lambda row: _spread(row.get("difference_sd") if row.get("verdict", "tie") else None)}


def _its_interval(rows: Sequence[Mapping[str, Any]]) -> Columns:
    """The interval of each difference, where it is known."""
    if all(row.get("low") is None for row in rows):
        return {}
    return {
        "95% interval": lambda row: (
            "–"
            if row.get("low") is None
            else f"{format_difference(row['low'])} to {format_difference(row['high'])}"
        )
    }


def _spread(sd: float | None) -> str:
    return "–" if sd is None else f"±{format_cell(sd)}"


def stability_table(stability: Mapping[str, Any]) -> Table:
    """How much the share of each view varies between fits."""
    columns: Columns = {
        "View": itemgetter("view"),
        "This model": lambda row: format_share(row["share"]),
        "Mean": lambda row: format_share(row["mean"]),
        "SD": lambda row: "–" if row["sd"] is None else f"±{100 * row['sd']:.1f}%",
        "Range": lambda row: f"{format_share(row['low'])} to {format_share(row['high'])}",
        "Used in": lambda row: "–" if row["used"] is None else f"{100 * row['used']:.0f}%",
    }
    caption = "Share of the weight of each view: in this model, and over fits on parts of the data."
    return _tell(caption, columns, stability["rows"], note=sentence(stability["protocol"]))


def approximation_table(approximation: Sequence[Mapping[str, Any]]) -> Table:
    """How exactly factors stand for the kernels."""
    columns: Columns = {
        "View": itemgetter("view"),
        "Approximation": lambda row: row["approximation"].replace("_", " "),
        "Rank": itemgetter("rank"),
        "Trace error": lambda row: format_gap(row["trace_error"]),
    }
    caption = "Factors of each view: their columns, and what they leave out of the trace of its kernel."
    note = "The error is relative, over all rows of the fit; random features have none."
    return _tell(caption, columns, approximation, words=2, note=note)


def without_view_table(without: Mapping[str, Any]) -> Table:
    """What is lost when a view is left out."""
    columns: Columns = {
        "View": itemgetter("view"),
        "Effect": lambda row: format_difference(row["effect"]),
        **_its_sd(without["rows"]),
        "Score without": lambda row: format_cell(row["score"]),
        "SD": lambda row: _spread(row["sd"]),
        "p": lambda row: format_p(row["p"]),
    }
    caption = (
        f"{upper_first(without['metric'])} with all views: {format_cell(without['score'])}. The effect of a "
        "view is that minus the score without it."
    )
    note = sentence(without["protocol"]) if without["protocol"] else ""
    return _tell(caption, columns, without["rows"], note=note)


def baselines_table(baselines: Mapping[str, Any]) -> Table:
    """The learned kernel beside simpler ones."""
    columns: Columns = {
        "Model": itemgetter("name"),
        "Score": lambda row: format_cell(row["score"]),
        "SD": lambda row: _spread(row["sd"]),
        # the model itself has nothing to be compared with
        "Difference": lambda row: format_difference(row["difference"]) if row["verdict"] else "–",
        **_its_sd(baselines["rows"]),
        **_its_interval(baselines["rows"]),
        "p": lambda row: format_p(row["p"]),
        "Verdict": lambda row: row["verdict"] or "–",
    }
    caption = (
        f"{upper_first(baselines['metric'])} of each model. Difference: learned minus the other; the verdict "
        "is on the learned."
    )
    note = sentence(baselines["protocol"]) if baselines["protocol"] else ""
    table = _tell(caption, columns, baselines["rows"], note=note)
    table["columns"][-1]["number"] = False
    return table


def confusion_table(confusion: Mapping[str, Any]) -> Table:
    """How many of each class were taken for which."""
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
    worst = sorted(worst, key=lambda point: -abs(point["observed"] - point["predicted"]))[:_WORST]
    has_rows = bool(worst) and all(point.get("row") is not None for point in worst)
    has_ids = _have_ids(worst)
    columns: Columns = _which(worst) if has_rows else {}
    columns |= {
        "Observed": lambda point: format_cell(point["observed"]),
        "Predicted": lambda point: format_cell(point["predicted"]),
        "Difference": lambda point: format_difference(point["observed"] - point["predicted"]),
    }
    samples = "all samples" if residuals.get("worst") else f"{len(known)} samples"
    numbered = ", by row of the data, from 0" if has_rows and not has_ids else ""
    caption = f"The {len(worst)} largest misses of {samples}{numbered}."
    return _tell(caption, columns, worst, words=int(has_ids))


def _have_ids(samples: Sequence[Mapping[str, Any]]) -> bool:
    return bool(samples) and all(sample.get("id") is not None for sample in samples)


def _which(samples: Sequence[Mapping[str, Any]]) -> Columns:
    """The column that says which sample it is: by its id where all have one, else by its row."""
    return {"Sample": itemgetter("id")} if _have_ids(samples) else {"Row": itemgetter("row")}


def has_rows(part: Mapping[str, Any]) -> bool:
    """Whether there is something to show: no sample may be doubtful."""
    return bool(part.get("samples", True))


def doubtful_table(doubtful: Mapping[str, Any]) -> Table:
    """The samples that were predicted wrongly, and those whose prediction was uncertain."""
    samples = doubtful["samples"]
    columns: Columns = {
        **_which(samples),
        "Observed": itemgetter("observed"),
        "Predicted": itemgetter("predicted"),
        "Probability": lambda row: "–" if row["probability"] is None else format_cell(row["probability"]),
        "": lambda row: "wrong" if row["wrong"] else "uncertain",
    }
    found = doubtful["n_wrong"] + doubtful["n_uncertain"]
    shown = f" The first {len(samples)} are shown." if len(samples) < found else ""
    numbered = "" if _have_ids(samples) else " Rows are counted from 0."
    caption = (
        f"{doubtful['n_wrong']} samples predicted wrongly when held out, the surest first; "
        f"{doubtful['n_uncertain']} predicted rightly, but with two classes nearly as probable."
        f"{shown}{numbered}"
    )
    table = _tell(caption, columns, samples, words=3)
    table["columns"][0]["number"] = not _have_ids(samples)
    table["columns"][-1]["number"] = False
    return table


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
    return _tell(f"{data['n_samples']} samples; {said}.", columns, data["views"])


def groups_table(groups: Mapping[str, Any]) -> Table:
    """The groups of risk of a survival model."""
    columns: Columns = {
        "Group": itemgetter("label"),
        "Samples": itemgetter("n"),
        "Events": itemgetter("n_events"),
        "Median survival": lambda row: "–" if row["median"] is None else format_cell(row["median"]),
    }
    caption = f"Groups of risk, {groups['how']}; log-rank test: p = {groups['p']:.2g}."
    return _tell(caption, columns, groups["curves"])


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


# The tables of held-out predictions, by the part of the evaluation that they show.
HELD_OUT = {
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
    ((head, which),) = _which(rows).items()
    cells = [
        [which(row), *(format_cell(row.get(key)) for key in known), *map(_three_decimals, row["weights"])]
        for row in rows
    ]
    heads = [head, *(names[key] for key in known)]
    table = make_table(sentence(gate["what"]), heads, cells, given=gate["views"])
    for column, key in zip(table["columns"], ["row", *known], strict=False):
        named = key == "row" and _have_ids(rows)
        column["number"] = not named and all(not isinstance(row.get(key), str) for row in rows)
    return table


def gate_means_table(gate: Mapping[str, Any]) -> Table:
    """The mean weights of the samples of each class, or of each quarter of the values."""
    rows = []
    for label, group in _groups(gate["rows"]).items():
        views = zip(*(row["weights"] for row in group), strict=True)
        means = [fmean(weight or 0.0 for weight in view) for view in views]
        rows.append([label, str(len(group)), *map(_three_decimals, means)])
    return make_table(
        "Mean weights of the samples of each group.", ["Group", "Samples"], rows, given=gate["views"]
    )


def cohort_table(cohort: Mapping[str, Any]) -> Table:
    """The scores on an independent cohort, with their intervals, beside held-out scores."""
    columns: Columns = {
        "Score": lambda row: upper_first(row["metric"]),
        "Cohort": lambda row: format_cell(row["score"]),
        "95% interval": lambda row: (
            "–" if row["low"] is None else f"{format_cell(row['low'])} to {format_cell(row['high'])}"
        ),
        "Held out": lambda row: format_cell(row["held_out"]),
        "SD": lambda row: _spread(row["held_out_sd"]),
    }
    caption = f"{cohort['n_samples']} samples. Held out: mean and standard deviation over the folds."
    return _tell(caption, columns, cohort["rows"], note=sentence(cohort["protocol"]))


def overfitting_table(overfitting: Mapping[str, Any]) -> Table:
    """Scores on the samples that refits learned from, beside those on samples that they did not see."""
    columns: Columns = {
        "Score": lambda row: upper_first(row["metric"]),
        "Training": lambda row: format_cell(row["train"]),
        "Held out": lambda row: format_cell(row["score"]),
        "Difference": lambda row: format_difference(row["gap"]),
    }
    caption = "Mean scores over the folds."
    return _tell(caption, columns, overfitting["rows"], note=sentence(overfitting["protocol"]))


def learning_curve_table(curve: Mapping[str, Any]) -> Table:
    """Scores by the number of training samples."""
    columns: Columns = {
        "Training samples": lambda row: str(row["n_train"]),
        "Training": lambda row: format_cell(row["train"]),
        "Held out": lambda row: format_cell(row["score"]),
        "SD": lambda row: _spread(row["sd"]),
    }
    caption = f"{upper_first(curve['metric'])}, mean over the folds."
    return _tell(caption, columns, curve["rows"], words=0, note=sentence(curve["protocol"]))


def _most_wrong_table(why: Mapping[str, Any]) -> Table:
    """The most wrong samples: what adds most to the score of each, and the nearest training sample."""
    samples = why["rows"]
    named = _have_ids(samples)
    columns: Columns = {
        **_which(samples),
        "Observed": lambda row: format_cell(row["observed"]),
        "Predicted": lambda row: format_cell(row["predicted"]),
        "Error": lambda row: format_cell(row["error"]),
    }
    if any(row["steps"] for row in samples):
        columns["Adds most to it"] = _adds_most
    if any(row["nearest"] is not None for row in samples):
        columns["Nearest training sample"] = lambda row: "–" if row["nearest"] is None else row["nearest"]
    of_classes = isinstance(samples[0]["observed"], str)
    error = (
        "how far the score of the best wrong class is above that of the right one"
        if of_classes
        else "the absolute difference"
    )
    numbered = "" if named else " Rows are counted from 0."
    nearest = " Nearest by the learned kernel." if "Nearest training sample" in columns else ""
    most = (
        " Adds most to it: the view that moves the score farthest towards the prediction, or the intercept."
    )
    most = most if "Adds most to it" in columns else ""
    caption = f"The largest errors first. Error: {error}.{most}{nearest}{numbered}"
    table = _tell(caption, columns, samples, words=0)
    texts = {"Sample", "Adds most to it", "Nearest training sample"}
    texts |= {"Observed", "Predicted"} if of_classes else set()
    for column in table["columns"]:
        column["number"] = column["name"] not in texts
    return table


def _adds_most(sample: Mapping[str, Any]) -> str:
    """The view that moves the score most towards what was predicted."""
    steps = sample["steps"]
    if not steps:
        return "–"
    if isinstance(sample["predicted"], str):
        falls = sample["predicted"] != steps["machine"]  # of two classes, scores below 0 are the first
    else:
        falls = sample["predicted"] < sample["observed"]
    sign = -1.0 if falls else 1.0
    first = max(steps["rows"], key=lambda step: sign * (step["value"] or 0.0))
    if sign * (first["value"] or 0.0) <= 0.0:  # no view speaks for it
        return steps["start_name"]
    return f"{first['name']} {format_difference(first['value'])}"


def _steps_table(why: Mapping[str, Any]) -> Table:
    """What each view adds to the scores of the most wrong samples."""
    told = [sample["steps"] for sample in why["rows"] if sample["steps"]]
    rows = [
        [
            steps["id"],
            steps["machine"],
            *(format_cell(steps[key]) for key in ("start", "score")),
            *(format_difference(step["value"]) for step in steps["rows"]),
        ]
        for steps in told
    ]
    views = [step["name"] for step in told[0]["rows"]]
    caption = "The score is the intercept and what each view adds."
    return make_table(caption, ["Sample", "Score for", "Intercept", "Score"], rows, words=2, given=views)


def _shapley_table(why: Mapping[str, Any]) -> Table:
    """What each view is worth among the others."""
    shapley = why["shapley"]
    sampled = shapley["n_permutations"] is not None
    columns: Columns = {
        "View": itemgetter("view"),
        "Shapley value": lambda row: format_difference(row["shapley"]),
        **({"Standard error": lambda row: _spread(row["std_error"])} if sampled else {}),
        "Alone": lambda row: format_difference(row["alone"]),
        "Beside the others": lambda row: format_difference(row["beside_others"]),
    }
    caption = (
        f"Gain of {shapley['metric']} by each view: averaged over all orders in which views may come in, by "
        "the view alone, and beside all others. A view that is taken out adds its median to every score."
    )
    rows = sorted(shapley["rows"], key=lambda row: -(row["shapley"] or 0.0))
    return _tell(caption, columns, rows)


def _columns_table(why: Mapping[str, Any]) -> Table:
    """The first columns of each view."""
    part = why["columns"]
    columns: Columns = {
        "Column": itemgetter("feature"),
        "View": itemgetter("view"),
        "Importance": lambda row: format_cell(row["importance"]),
    }
    n_views = len({row["view"] for row in part["rows"]})
    some = f", of {n_views} of {part['n_views']} views" if n_views < part["n_views"] else " of each view"
    caption = f"The first columns{some}, of {part['n_features']} in all. Importance: {part['xlabel']}."
    return _tell(caption, columns, part["rows"], words=2)


# The tables of the reasons, and whether the evaluation has what they show.
_OF_WHY: dict[str, tuple[Callable[[Any], Table], Callable[[Any], Any]]] = {
    "samples": (_most_wrong_table, lambda why: why["rows"]),
    "steps": (_steps_table, lambda why: any(sample["steps"] for sample in why["rows"])),
    "shapley": (_shapley_table, itemgetter("shapley")),
    "columns": (_columns_table, itemgetter("columns")),
}


def why_tables(why: Mapping[str, Any]) -> dict[str, Table | None]:
    """The tables of the reasons, None for those that are not there."""
    return {key: make(why) if there(why) else None for key, (make, there) in _OF_WHY.items()}


def by_score(part: Mapping[str, Any], make: Callable[[Any], Table]) -> list[tuple[str, str, Table]]:
    """What a part says by further scores: the score, the answer and the table of each."""
    others = (part.get("by_score") or {}).values()
    return [(found["metric"], found["answer"], make({"protocol": "", **found})) for found in others]


# The table of each part of an evaluation but for held-out predictions, which have several.
OF_PARTS: dict[str, Callable[[Any], Table]] = {
    "data": data_table,
    "stability": stability_table,
    "without_view": without_view_table,
    "baselines": baselines_table,
    "cohort": cohort_table,
    "overfitting": overfitting_table,
    "learning_curve": learning_curve_table,
    "heat_maps": heat_maps_table,
    "embedding": embedding_table,
    "gate": gate_means_table,
}


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


def held_out_figures(held_out: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What the score is to be compared with, of those that the evaluation tells: name and figure."""
    names = {"majority": "Always the most frequent class", "balanced_accuracy": "Balanced accuracy"}
    figures = [(name, held_out.get(key)) for key, name in names.items()]
    return [(name, format_cell(figure)) for name, figure in figures if figure is not None] + _of_times(
        held_out
    )


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


def _three_decimals(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def upper_first(text: str) -> str:
    """Begin a sentence with a phrase."""
    return text[:1].upper() + text[1:]


def sentence(text: str) -> str:
    """End a phrase with one full stop."""
    return f"{text.rstrip('.')}."

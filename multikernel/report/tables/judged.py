"""Tables of the weights and of scores: stability, views left out, rivals, a cohort, learning curves."""

from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Any

from multikernel.report.tables.base import (
    Columns,
    Table,
    its_interval,
    its_sd,
    sentence,
    spread,
    tell,
)
from multikernel.report.words import (
    format_cell,
    format_difference,
    format_gap,
    format_p,
    format_share,
    upper_first,
)

# What a verdict is called where the reader may not know that a tie shows nothing.
_VERDICTS = {"tie": "not shown"}


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
    rows = sorted(stability["rows"], key=lambda row: -abs(row["mean"] or 0.0))
    return tell(caption, columns, rows, note=sentence(stability["protocol"]))


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
    return tell(caption, columns, approximation, words=2, note=note)


def without_view_table(without: Mapping[str, Any]) -> Table:
    """What is lost when a view is left out."""
    columns: Columns = {
        "View": itemgetter("view"),
        "Effect": lambda row: format_difference(row["effect"]),
        **its_sd(without["rows"]),
        "Score without": lambda row: format_cell(row["score"]),
        "SD": lambda row: spread(row["sd"]),
        "p": lambda row: format_p(row["p"]),
    }
    caption = (
        f"{upper_first(without['metric'])} with all views: {format_cell(without['score'])}. The effect of a "
        "view is that minus the score without it."
    )
    note = sentence(without["protocol"]) if without["protocol"] else ""
    rows = sorted(without["rows"], key=lambda row: -(row["effect"] or 0.0))
    return tell(caption, columns, rows, note=note)


def baselines_table(baselines: Mapping[str, Any]) -> Table:
    """The learned kernel beside simpler ones."""
    columns: Columns = {
        "Model": itemgetter("name"),
        "Score": lambda row: format_cell(row["score"]),
        "SD": lambda row: spread(row["sd"]),
        # the model itself has nothing to be compared with
        "Difference": lambda row: format_difference(row["difference"]) if row["verdict"] else "–",
        **its_sd(baselines["rows"]),
        **its_interval(baselines["rows"]),
        "p": lambda row: format_p(row["p"]),
        "Verdict": lambda row: _VERDICTS.get(row["verdict"], row["verdict"]) or "–",
    }
    caption = (
        f"{upper_first(baselines['metric'])} of each model. Difference: learned minus the other; the verdict "
        "is on the learned (not shown: the data show no difference)."
    )
    note = sentence(baselines["protocol"]) if baselines["protocol"] else ""
    table = tell(caption, columns, baselines["rows"], note=note)
    table["columns"][-1]["number"] = False
    return table


def cohort_table(cohort: Mapping[str, Any]) -> Table:
    """The scores on an independent cohort, with their intervals, beside held-out scores."""
    columns: Columns = {
        "Score": lambda row: upper_first(row["metric"]),
        "Cohort": lambda row: format_cell(row["score"]),
        "95% interval": lambda row: (
            "–" if row["low"] is None else f"{format_cell(row['low'])} to {format_cell(row['high'])}"
        ),
        "Held out": lambda row: format_cell(row["held_out"]),
        "SD": lambda row: spread(row["held_out_sd"]),
    }
    caption = f"{cohort['n_samples']} samples. Held out: mean and standard deviation over the folds."
    return tell(caption, columns, cohort["rows"], note=sentence(cohort["protocol"]))


def overfitting_table(overfitting: Mapping[str, Any]) -> Table:
    """Scores on the samples that refits learned from, beside those on samples that they did not see."""
    columns: Columns = {
        "Score": lambda row: upper_first(row["metric"]),
        "Training": lambda row: format_cell(row["train"]),
        "Held out": lambda row: format_cell(row["score"]),
        "Difference": lambda row: format_difference(row["gap"]),
    }
    caption = "Mean scores over the folds."
    return tell(caption, columns, overfitting["rows"], note=sentence(overfitting["protocol"]))


def learning_curve_table(curve: Mapping[str, Any]) -> Table:
    """Scores by the number of training samples."""
    columns: Columns = {
        "Training samples": lambda row: str(row["n_train"]),
        "Training": lambda row: format_cell(row["train"]),
        "Held out": lambda row: format_cell(row["score"]),
        "SD": lambda row: spread(row["sd"]),
    }
    caption = f"{upper_first(curve['metric'])}, mean over the folds."
    return tell(caption, columns, curve["rows"], words=0, note=sentence(curve["protocol"]))


def by_score(part: Mapping[str, Any], make: Callable[[Any], Table]) -> list[tuple[str, str, Table]]:
    """What a part says by further scores: the score, the answer and the table of each."""
    others = (part.get("by_score") or {}).values()
    return [(found["metric"], found["answer"], make({"protocol": "", **found})) for found in others]

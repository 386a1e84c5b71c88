"""Tables of the reasons: the most wrong samples, what views and columns are worth, which views matter."""

from collections.abc import Callable, Mapping
from operator import itemgetter
from typing import Any

from multikernel.report.tables.base import Columns, Table, have_ids, make_table, spread, tell, which_sample
from multikernel.report.words import format_cell, format_difference, format_p

_MOST_SAMPLES = 40  # in the table of contributions: those of the highest and of the lowest scores
_MOST_SETS = 25


def _most_wrong_table(why: Mapping[str, Any]) -> Table:
    """The most wrong samples: what adds most to the score of each, and the nearest training sample."""
    samples = why["rows"]
    named = have_ids(samples)
    columns: Columns = {
        **which_sample(samples),
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
    table = tell(caption, columns, samples, words=0)
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
        **({"Standard error": lambda row: spread(row["std_error"])} if sampled else {}),
        "Alone": lambda row: format_difference(row["alone"]),
        "Beside the others": lambda row: format_difference(row["beside_others"]),
    }
    caption = (
        f"Gain of {shapley['metric']} by each view: averaged over all orders in which views may come in, by "
        "the view alone, and beside all others. A view that is taken out adds its median to every score."
    )
    rows = sorted(shapley["rows"], key=lambda row: -(row["shapley"] or 0.0))
    return tell(caption, columns, rows)


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
    return tell(caption, columns, part["rows"], words=2)


def _contributions_table(why: Mapping[str, Any]) -> Table:
    """What each view adds to the scores of samples, the highest scores first."""
    part = why["contributions"]
    rows = part["rows"]
    some = ""
    if len(rows) > _MOST_SAMPLES:
        half = _MOST_SAMPLES // 2
        some = (
            f" The {half} of highest and the {half} of lowest score of {len(rows)} samples; all are in JSON."
        )
        rows = [*rows[:half], *rows[-half:]]
    ((head, which),) = which_sample(rows).items()
    cells = [
        [which(row), row["observed"], row["predicted"], row["score"], *map(format_difference, row["values"])]
        for row in rows
    ]
    cells = [[format_cell(cell) for cell in row] for row in cells]
    caption = f"What each view adds to the score for {part['machine']}.{some}"
    heads = [head, "Observed", "Predicted", "Score"]
    table = make_table(caption, heads, cells, words=1, given=part["views"])
    of_classes = isinstance(rows[0]["observed"], str)
    for column in table["columns"][1:3]:
        column["number"] = not of_classes
    return table


def _gates_table(why: Mapping[str, Any]) -> Table:
    """The weights that the gate gives to the views at the most wrong samples."""
    told = [sample["steps"] for sample in why["rows"] if sample["steps"] and sample["steps"].get("gates")]
    views = [gate["name"] for gate in told[0]["gates"]]
    rows = [[steps["id"], *(format_cell(gate["value"]) for gate in steps["gates"])] for steps in told]
    caption = (
        "The weight of each view at each of these samples, by the gate of the fitted model or of the refit."
    )
    return make_table(caption, ["Sample"], rows, given=views)


def _has_gates(why: Mapping[str, Any]) -> bool:
    return any(sample["steps"] and sample["steps"].get("gates") for sample in why["rows"])


# The tables of the reasons, and whether the evaluation has what they show.
_OF_WHY: dict[str, tuple[Callable[[Any], Table], Callable[[Any], Any]]] = {
    "samples": (_most_wrong_table, lambda why: why["rows"]),
    "steps": (_steps_table, lambda why: any(sample["steps"] for sample in why["rows"])),
    "gates": (_gates_table, _has_gates),
    "contributions": (_contributions_table, lambda why: why.get("contributions")),
    "shapley": (_shapley_table, itemgetter("shapley")),
    "columns": (_columns_table, itemgetter("columns")),
}


def why_tables(why: Mapping[str, Any]) -> dict[str, Table | None]:
    """The tables of the reasons, None for those that are not there."""
    return {key: make(why) if there(why) else None for key, (make, there) in _OF_WHY.items()}


# ------------------------------------------------------------------ which views matter
def selection_table(selection: Mapping[str, Any]) -> Table:
    """The evidence for each view, the clearest first."""
    by_share = selection["method"] == "stability"
    key = "share" if by_share else "p_value"
    rows = sorted(selection["rows"], key=lambda row: (row[key] or 0.0) * (-1.0 if by_share else 1.0))
    columns: Columns = {"View": itemgetter("view")}
    if by_share:
        columns["Share of half samples"] = lambda row: format_cell(row["share"])
    else:
        columns["Alignment"] = lambda row: format_cell(row["alignment"])
        columns["p"] = lambda row: format_p(row["p_value"])
        columns["Adjusted p"] = lambda row: format_p(row["q_value"])
    columns["Selected"] = lambda row: "yes" if row["selected"] else "no"
    table = tell(f"Null hypothesis: {selection['null']}.", columns, rows)
    table["columns"][-1]["number"] = False
    return table


def enrichment_table(enrichment: Mapping[str, Any]) -> Table:
    """Sets with the weight that they have, and that they would have by chance."""
    rows = enrichment["rows"][:_MOST_SETS]
    columns: Columns = {
        "Set": itemgetter("set"),
        "Share": lambda row: format_cell(row["share"]),
        "By chance": lambda row: format_cell(row["by_chance"]),
        "z": lambda row: "–" if row["z"] is None else f"{row['z']:.2f}".replace("-", "−"),
        "p": lambda row: format_p(row["p_value"]),
        "Adjusted p": lambda row: format_p(row["p_adjusted"]),
        "Beyond chance": lambda row: "yes" if row["enriched"] else "no",
    }
    values = ", ".join(f"{value:g}" for value in enrichment["values"])
    some = (
        f" The first {len(rows)} of {len(enrichment['rows'])} sets."
        if len(rows) < len(enrichment["rows"])
        else ""
    )
    caption = (
        f"Share of the weight, mean over {enrichment['parameter']} = {values}, beside that of "
        f"{enrichment['n_permutations']} permutations of the target.{some}"
    )
    note = "A test of weights and not of causes: sets that share columns can carry weight for each other."
    table = tell(caption, columns, rows, note=note)
    table["columns"][-1]["number"] = False
    return table


def cross_view_table(found: Mapping[str, Any]) -> Table:
    """The pairs of columns of different views that move together most."""
    columns: Columns = {
        "Column": itemgetter("feature"),
        "View": itemgetter("view"),
        "Other column": itemgetter("other_feature"),
        "Other view": itemgetter("other_view"),
        "Similarity": lambda row: format_difference(row["similarity"]),
    }
    share = sum(share or 0.0 for share in found["shares"])
    caption = (
        f"The closest pairs. Similarity in the first {len(found['shares'])} components of the learned kernel "
        f"({share:.0%} of its variance): 1, they rise together; −1, one falls as the other rises."
    )
    return tell(caption, columns, found["pairs"], words=4)

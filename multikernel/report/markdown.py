"""From the dictionary of `summarize` to Markdown."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

from multikernel.report import tables, words
from multikernel.report.summary import Summary

_MOST_ROWS = 50
_RESIDUAL_FIGURES = (("RMSE", "rmse"), ("MAE", "mae"), ("R²", "r2"))


def render_markdown(summary: Summary) -> str:
    """Render a summary as Markdown with tables, as GitHub and Pandoc read them.

    Parameters
    ----------
    summary : dict
        As `summarize` returns it.

    Returns
    -------
    str
        The text, ending in a newline.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from multikernel.report import summarize
    >>> model = SimpleNamespace(kernel_weights_=[0.2, 0.6], view_names_=["sound", "image"])
    >>> page = render_markdown(summarize(model, title="Two senses"))
    >>> print(page.partition("## Left out")[0])
    # Two senses
    <BLANKLINE>
    image carries most of the weight (75%). 2 of 2 views are used.
    <BLANKLINE>
    ## Weights
    <BLANKLINE>
    | view | weight | share |
    | --- | --- | --- |
    | sound | 0.2000 | 25.0% |
    | image | 0.6000 | 75.0% |
    <BLANKLINE>
    """
    words.require_summary(summary)
    parts = [f"# {escape_markdown(summary['title'])}", escape_markdown(words.headline(summary))]
    parts += _sections(summary, ("data",)) + _doctor(summary) + _weights(summary)
    parts += _sections(summary, ("stability", "without_view", "selection", "enrichment", "baselines"))
    parts += _by_score(summary)
    if baselines := words.part(summary, "baselines"):
        parts.append(_listed(f"{row['name']}: {row['what']}" for row in baselines["rows"]))
    if summary["comparison"]["rows"]:
        parts += ["## Comparison", _lines(**summary["comparison"])]
    parts += _held_out(summary) + _sections(summary, ("cohort", "overfitting", "learning_curve"))
    parts += _why(summary)
    parts += _sections(summary, ("cross_view", "heat_maps", "embedding", "gate")) + _gate(summary)
    steps = summary["convergence"]["history"]
    if steps:
        parts += ["## Convergence", _lines(list(steps[0]), [list(step.values()) for step in steps])]
    warned, notes = words.refit_warnings(summary)
    if warned:
        parts += ["## Warnings of refits", _listed(warned)]
    if omitted := words.left_out(summary):
        parts += ["## Left out", _listed(f"{row['part']}: {row['why']}" for row in omitted)]
    parts += [escape_markdown(note) for note in [*notes, *summary["notes"]]]
    return "\n\n".join(parts) + "\n"


def _doctor(summary: Summary) -> list[str]:
    """The findings of the doctor."""
    doctor = summary.get("doctor")
    if doctor is None:
        return []
    told = [f"{row['level']}: {row['subject']}: {row['what']} {row['remedy']}" for row in doctor["findings"]]
    more = doctor["n_findings"] - len(told)
    parts = ["## Data check", escape_markdown(words.upper_first(f"{doctor['headline']}."))]
    parts += [_listed(told)] if told else []
    return parts + ([f"{more} more findings are not shown."] if more else [])


def _weights(summary: Summary) -> list[str]:
    if not summary["weights"]:
        return []
    rows = [
        [words.view_label(row), words.format_weight(row["weight"]), words.format_share(row["share"])]
        for row in summary["weights"]
    ]
    parts = ["## Weights", _lines(["view", "weight", "share"], rows)]
    if approximation := summary.get("approximation"):
        parts += _table(tables.approximation_table(approximation))
    return parts


def _sections(summary: Summary, names: Iterable[str]) -> list[str]:
    """The headings, answers and tables of those parts of the evaluation that are there."""
    parts = []
    for name in names:
        if found := words.part(summary, name):
            answer = [escape_markdown(found["answer"])] if found.get("answer") else []
            parts += [f"## {words.PART_NAMES[name]}", *answer, *_table(tables.OF_PARTS[name](found))]
    return parts


def _by_score(summary: Summary) -> list[str]:
    """What comparisons say by further scores."""
    parts = []
    for name in ("without_view", "baselines"):
        found = words.part(summary, name)
        for metric, answer, table in tables.by_score(found, tables.OF_PARTS[name]) if found else []:
            heading = escape_markdown(f"{words.PART_NAMES[name]}, by {metric}")
            parts += [f"### {heading}", escape_markdown(answer), *_table(table)]
    return parts


def _held_out(summary: Summary) -> list[str]:
    held_out = words.part(summary, "held_out")
    if not held_out:
        return []
    figure = f"{words.upper_first(held_out['metric'])} {words.format_cell(held_out['score'])}"
    notes = [f"{name}: {figure}." for name, figure in tables.held_out_figures(held_out)]
    notes += [words.score_note(summary)]
    text = " ".join([tables.sentence(f"{figure}. {held_out['protocol']}"), *filter(None, notes)])
    parts = [f"## {words.PART_NAMES['held_out']}", escape_markdown(text)]
    if residuals := held_out["residuals"]:
        figures = [f"{name} {words.format_cell(residuals[key])}" for name, key in _RESIDUAL_FIGURES]
        parts.append(escape_markdown(", ".join(figures)))
    for key, make in tables.HELD_OUT.items():
        if held_out.get(key) and tables.has_rows(held_out[key]):
            parts += _table(make(held_out[key]))
    return parts


def _why(summary: Summary) -> list[str]:
    why = words.part(summary, "why")
    if not why:
        return []
    parts = [f"## {words.PART_NAMES['why']}", escape_markdown(f"{why['protocol']} {why['answer']}")]
    for table in tables.why_tables(why).values():
        parts += _table(table) if table else []
    return parts


def _gate(summary: Summary) -> list[str]:
    gate = words.part(summary, "gate")
    if not gate:
        return []
    whole = tables.gate_table(gate)
    n = len(whole["rows"])
    more = [f"The first {_MOST_ROWS} of {n} samples."] if n > _MOST_ROWS else []
    return _table(whole | {"rows": whole["rows"][:_MOST_ROWS]}) + more


def _listed(texts: Iterable[str]) -> str:
    return "\n".join(f"- {escape_markdown(text)}" for text in texts)


def _table(table: tables.Table) -> list[str]:
    return [
        escape_markdown(table["caption"]),
        _lines([column["name"] for column in table["columns"]], table["rows"]),
        *([escape_markdown(table["note"])] if table["note"] else []),
    ]


def _lines(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    lines = [[escape_markdown(words.format_cell(value)) for value in row] for row in [columns, *rows]]
    lines.insert(1, ["---"] * len(columns))
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def escape_markdown(text: str) -> str:
    """Keep names from becoming markup: no tags, no links, no emphasis, no table cells, no line breaks."""
    one_line = " ".join(text.split())
    without_tags = one_line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\`*\[\]|#~]|(?<!\w)_|_(?!\w))", r"\\\1", without_tags)

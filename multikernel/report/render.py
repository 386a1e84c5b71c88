"""From the dictionary of `summarize` to a page that stands alone, and to a file."""

import base64
import hashlib
import json
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from multikernel._files import checked_path, write_whole
from multikernel.report import tables, words
from multikernel.report.markdown import render_markdown
from multikernel.report.pictures import draw_pictures
from multikernel.report.summary import Summary

# Rows of a table that stand in the page itself; of longer ones the script shows as many at a time.
MOST_ROWS = 500
# Fewer sections than this are seen at a glance.
_CONTENTS_FROM = 5


def render_html(summary: Summary) -> str:
    """Render a summary as one HTML page that needs nothing else: no network, no font, no other file.

    Whatever comes from the data (names of views, of classes, of contenders) is escaped, and the page forbids
    its browser every request. Tables can be sorted and searched; without scripts, they are read as they are.

    Parameters
    ----------
    summary : dict
        As `summarize` returns it.

    Returns
    -------
    str
        The page.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from multikernel.report import summarize
    >>> model = SimpleNamespace(kernel_weights_=[1.0], view_names_=["<b>"])
    >>> "&lt;b&gt;" in render_html(summarize(model))
    True
    """
    words.require_summary(summary)
    environment = _environment()
    convergence = summary["convergence"]
    script = _source("script.js")
    sections = _sections(summary)
    warned, other_notes = words.refit_warnings(summary)
    return environment.get_template("page.html").render(
        summary=summary,
        heaviest_first=sorted(summary["weights"], key=lambda row: -abs(row["share"] or 0.0)),
        heaviest=max((abs(row["share"] or 0.0) for row in summary["weights"]), default=0.0),
        views_title=words.views_title(summary),
        converged=words.has_convergence(summary),
        findings=words.lead(summary),
        certificate=" ".join(words.certificate(summary)),
        optimal=convergence["certificate"] == "optimality",
        n_machines=len({step["machine"] for step in convergence["history"]}),
        pictures=draw_pictures(summary),
        evaluation={"omitted": [], "notes": []} | (summary.get("evaluation") or {}),
        left_out=words.left_out(summary),
        doctor=summary.get("doctor"),
        sections=sections if len(sections) >= _CONTENTS_FROM else [],
        styles=Markup(_source("styles.css")),
        script=Markup(script),
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        warnings=warned,
        eval_notes=other_notes,
        score_note=words.score_note(summary),
        most_rows=MOST_ROWS,
        part_names=words.PART_NAMES,
        **_tables(summary),
    )


def save_report(summary: Summary, path: str | Path) -> Path:
    """Write a summary to a file, in the format that its suffix names; folders are made as needed.

    The file is written whole or not at all.

    Parameters
    ----------
    summary : dict
        As `summarize` returns it.
    path : str or Path
        Ending in ``.html``, ``.md`` or ``.json``, in letters of any case.

    Returns
    -------
    Path
        The file that was written.
    """
    path = checked_path(path)
    text = find_renderer(path)(summary)
    # half a surrogate pair in a name has no bytes of its own
    write_whole(path, text.encode("utf-8", "replace"))
    return path


def find_renderer(path: str | Path) -> Callable[[Summary], str]:
    """Return the function that renders what the suffix of a file names.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    callable

    Raises
    ------
    ValueError
        If the suffix is none of ``.html``, ``.md`` and ``.json``.
    """
    renderers = {".html": render_html, ".md": render_markdown, ".json": _render_json}
    suffix = checked_path(path).suffix.lower()
    if suffix not in renderers:
        raise ValueError(
            f"path must end in one of {', '.join(renderers)}; got {Path(path).name!r}. "
            "Call it report.html, for example."
        )
    return renderers[suffix]


def _render_json(summary: Summary) -> str:
    words.require_summary(summary)
    return json.dumps(summary, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _sections(summary: Summary) -> list[dict[str, str]]:
    """What the page has, in its order: identifier and heading."""
    have = {name: bool(words.part(summary, name)) for name in words.PART_NAMES}
    listed = [
        ("data", words.PART_NAMES["data"], have["data"]),
        ("doctor", "Data check", summary.get("doctor") is not None),
        ("weights", words.views_title(summary), bool(words.views_title(summary))),
        ("selection", words.PART_NAMES["selection"], have["selection"]),
        ("enrichment", words.PART_NAMES["enrichment"], have["enrichment"]),
        ("baselines", words.PART_NAMES["baselines"], have["baselines"]),
        ("comparison", "Comparison", bool(summary["comparison"]["rows"])),
        ("held-out", words.PART_NAMES["held_out"], have["held_out"]),
        ("cohort", words.PART_NAMES["cohort"], have["cohort"]),
        ("overfitting", words.PART_NAMES["overfitting"], have["overfitting"]),
        ("learning-curve", words.PART_NAMES["learning_curve"], have["learning_curve"]),
        ("why", words.PART_NAMES["why"], have["why"]),
        ("cross-view", words.PART_NAMES["cross_view"], have["cross_view"]),
        ("kernels", words.PART_NAMES["heat_maps"], have["heat_maps"]),
        ("embedding", words.PART_NAMES["embedding"], have["embedding"]),
        ("gate", words.PART_NAMES["gate"], have["gate"]),
        ("convergence", "Convergence", words.has_convergence(summary)),
        ("warnings", "Warnings of refits", bool(words.refit_warnings(summary)[0])),
        ("omitted", "Left out", bool(words.left_out(summary))),
        ("model", "Model", True),
    ]
    return [{"id": identifier, "title": title} for identifier, title, there in listed if there]


def _tables(summary: Summary) -> dict[str, Any]:
    """The tables of the parts of the evaluation, None for those that are not there."""
    makers = tables.OF_PARTS | {"held_out": _held_out_tables, "why": tables.why_tables}
    made: dict[str, Any] = {
        name: make(found) if (found := words.part(summary, name)) else None for name, make in makers.items()
    }
    for name, contender in (("without_view", "without {view}"), ("baselines", "{name}")):
        if made[name]:  # rows are marked where a refit gave a warning
            names = [row[0] for row in made[name]["rows"]]
            made[name]["marked"] = [
                words.has_warned(summary, contender.format(view=own, name=own)) for own in names
            ]
    for name in ("without_view", "baselines"):
        found = words.part(summary, name)
        made[f"{name}_by_score"] = tables.by_score(found, tables.OF_PARTS[name]) if found else []
    if made["gate"]:
        made["gate"] = {"table": tables.gate_table(words.part(summary, "gate")), "means": made["gate"]}
    approximation = summary.get("approximation")
    made["approximation"] = tables.approximation_table(approximation) if approximation else None
    return {f"{name}_part": table for name, table in made.items()}


def _held_out_tables(held_out: Any) -> dict[str, Any]:
    made = {
        key: make(held_out[key]) if held_out.get(key) and tables.has_rows(held_out[key]) else None
        for key, make in tables.HELD_OUT.items()
    }
    counts = (held_out.get("confusion") or {"counts": []})["counts"]
    # how dark each cell of the confusion matrix is, in per cent: its part of the samples of its row
    shades = [[round(100 * count / (sum(row) or 1)) for count in row] for row in counts]
    return made | {"shades": shades, "figures": tables.held_out_figures(held_out)}


@lru_cache(maxsize=1)
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("multikernel.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "weight": words.format_weight,
        "share": words.format_share,
        "gap": words.format_gap,
        "cell": words.format_cell,
        "upper_first": words.upper_first,
        "sentence": tables.sentence,
    }
    return environment


@lru_cache(maxsize=2)
def _source(name: str) -> str:
    """Return a file that is no template: what it says is not from the data."""
    return (Path(__file__).parent / "templates" / name).read_text(encoding="utf-8")

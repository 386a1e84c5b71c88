"""From the dictionary of `summarize` to a page, to Markdown, to a file."""

import json
import re
from functools import lru_cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from multikernel.report.convergence import convergence_plot
from multikernel.report.summary import Summary

# What the gap of a model is the distance to, by what it certifies.
_REACH = {
    "optimality": "the best possible",
    "stationarity": "what a further turn could reach; the problem is not convex, and another start may end "
    "lower",
    "machine": "the best machines for the kernel that was learned; the kernel is where a descent ended, and "
    "another start may end lower",
}


def render_html(summary: Summary) -> str:
    """Render a summary as one HTML page that needs nothing else: no script, no font, no image file.

    Whatever comes from the data (names of views, of classes, of contenders) is escaped.

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
    convergence = summary["convergence"]
    return _page().render(
        summary=summary,
        heaviest_first=sorted(summary["weights"], key=lambda row: -abs(row["weight"] or 0.0)),
        heaviest=max((abs(row["weight"] or 0.0) for row in summary["weights"]), default=0.0),
        headline=headline(summary),
        optimal=convergence["certificate"] == "optimality",
        plot=convergence_plot(convergence["history"], convergence["tol"]),
    )


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
    >>> print(render_markdown(summarize(model, title="Two senses")))
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
    weights = [
        [row["view"], format_weight(row["weight"]), format_share(row["share"])] for row in summary["weights"]
    ]
    parts = [f"# {_escape_markdown(summary['title'])}", _escape_markdown(headline(summary))]
    parts += ["## Weights", _markdown_table(["view", "weight", "share"], weights)]
    if summary["comparison"]["rows"]:
        parts += ["## Comparison", _markdown_table(**summary["comparison"])]
    steps = summary["convergence"]["history"]
    if steps:
        parts += ["## Convergence", _markdown_table(list(steps[0]), [list(step.values()) for step in steps])]
    parts += [_escape_markdown(note) for note in summary["notes"]]
    return "\n\n".join(parts) + "\n"


def save_report(summary: Summary, path: str | Path) -> Path:
    """Write a summary to a file, in the format that its suffix names; folders are made as needed.

    Parameters
    ----------
    summary : dict
        As `summarize` returns it.
    path : str or Path
        Ending in ``.html``, ``.md`` or ``.json``.

    Returns
    -------
    Path
        The file that was written.
    """
    path = Path(path)
    renderers = {".html": render_html, ".md": render_markdown, ".json": _render_json}
    if path.suffix not in renderers:
        raise ValueError(
            f"path must end in one of {', '.join(renderers)}; got {path.name!r}. "
            "Call it report.html, for example."
        )
    text = renderers[path.suffix](summary)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def headline(summary: Summary) -> str:
    """Say in words which view counts most, how many are used, and how close to the optimum the model is."""
    weights, convergence = summary["weights"], summary["convergence"]
    top = max(weights, key=lambda row: abs(row["share"] or 0.0))
    n_used = sum((row["weight"] or 0.0) != 0 for row in weights)
    sentences = [f"{n_used} of {len(weights)} views {'is' if n_used == 1 else 'are'} used."]
    if n_used and sum(row["share"] == top["share"] for row in weights) == 1:
        most = "carries most of the weight" if abs(top["share"]) > 0.5 else "carries the largest weight"
        sentences.insert(0, f"{top['view']} {most} ({100 * top['share']:.0f}%).")
    if convergence["dual_gap"] is not None:
        reach = _REACH[convergence["certificate"]]
        sentences.append(
            f"The objective is within {format_gap(convergence['dual_gap'])} (relative) of {reach}."
        )
    if convergence["certified"] is False:
        sentences.append(f"That is more than the {format_gap(convergence['tol'])} asked for.")
    return " ".join(sentences)


def format_weight(weight: float | None) -> str:
    """Write a weight with four decimals, and an exact zero as 0, so that what is unused is seen at once."""
    if weight is None:
        return "–"
    return "0" if weight == 0 else f"{weight:.4f}"


def format_share(share: float | None) -> str:
    """Write a share as a percentage with one decimal."""
    return "–" if share is None else f"{100 * share:.1f}%"


def format_gap(gap: float | None) -> str:
    """Write a gap with two digits."""
    return "–" if gap is None else f"{gap:.1e}"


def format_cell(value: Any) -> str:
    """Write the cell of a table: text and whole numbers as they are, other numbers with four decimals."""
    if value is None:
        return "–"
    if not isinstance(value, float):
        return str(value)
    return f"{value:.4f}" if value == 0 or 1e-3 <= abs(value) < 1e6 else f"{value:.3e}"


@lru_cache(maxsize=1)
def _page() -> Template:
    environment = Environment(
        loader=PackageLoader("multikernel", "report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "weight": format_weight,
        "share": format_share,
        "gap": format_gap,
        "cell": format_cell,
    }
    return environment.get_template("page.html")


def _render_json(summary: Summary) -> str:
    return json.dumps(summary, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _markdown_table(columns: list[str], rows: list[list[Any]]) -> str:
    lines = [[_escape_markdown(format_cell(value)) for value in row] for row in [columns, *rows]]
    lines.insert(1, ["---"] * len(columns))
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _escape_markdown(text: str) -> str:
    """Keep names from becoming markup: no tags, no links, no emphasis, no table cells, no line breaks."""
    one_line = " ".join(text.split())
    without_tags = one_line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\`*\[\]|#~]|(?<!\w)_|_(?!\w))", r"\\\1", without_tags)

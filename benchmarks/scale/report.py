"""The page of scale: figures with their requirements, then everything measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.figures import Figure
from benchmarks.page import figure_lines, json_results, machine_line, runs_note
from benchmarks.scale.child import N_THREADS
from benchmarks.scale.plan import ScalePlan
from benchmarks.scale.sections import accuracy, cluster, disk, growth, peers
from benchmarks.store import Store
from multikernel._files import write_whole

SECTIONS: dict[str, Any] = {
    "growth": growth,
    "peers": peers,
    "accuracy": accuracy,
    "cluster": cluster,
    "disk": disk,
}


def markdown_page(store: Store, plan: ScalePlan, figures: list[Figure], described: dict[str, str]) -> str:
    """The whole page."""
    lines = ["# Benchmarks of scale", ""]
    if plan.name != "full":
        lines += [f"This is a {plan.name} run, on fewer and smaller cases than the requirements name.", ""]
    lines += [
        f"Wall-clock time on {N_THREADS} threads unless a table says otherwise, each measurement in a "
        "process of its own; every value and gap is recomputed by `scale/objective.py` from coefficients "
        f"alone. {runs_note(store)}",
        "",
        machine_line(described),
        "",
        *figure_lines(figures),
        "",
        "## Measurements",
        "",
    ]
    tables = [table for section in SECTIONS.values() for table in section.tables(store, plan)]
    return "\n".join(lines + [table.markdown() for table in tables if table.rows])


def write_results(store: Store, plan: ScalePlan, folder: Path, described: dict[str, str]) -> list[Figure]:
    """Write the page and the JSON into `folder`."""
    figures = [figure for section in SECTIONS.values() for figure in section.figures(store, plan)]
    write_whole(folder / "results.md", markdown_page(store, plan, figures, described).encode())
    write_whole(folder / "results.json", f"{json_results(store, plan.name, figures, described)}\n".encode())
    return figures

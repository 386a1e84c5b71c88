"""The parts that every page of results has: the table of figures, the runs it comes from, and its JSON."""

from __future__ import annotations

import json
from dataclasses import asdict

from benchmarks.figures import Figure, markdown_row
from benchmarks.store import Store


def figure_lines(figures: list[Figure]) -> list[str]:
    """The table of figures, one line each."""
    header = ["figure", "required", "measured", "outcome", "repeats"]
    rows = [[f.what, f.required, f.measured, f.outcome, f.repeats] for f in figures]
    return ["## Figures", "", *map(markdown_row, [header, ["---"] * len(header), *rows])]


def machine_line(described: dict[str, str]) -> str:
    """The machine and the versions, in one sentence."""
    return "Machine: " + "; ".join(f"{name} {value}" for name, value in described.items()) + "."


def runs_note(store: Store) -> str:
    """From how many runs the times are."""
    runs = sorted({record["run"] for record in store.records.values()})
    if len(runs) <= 1:
        return "All times are from one run."
    return f"The times are from {len(runs)} runs ({', '.join(runs)}): one was resumed, or parts redone."


def json_results(store: Store, plan_name: str, figures: list[Figure], described: dict[str, str]) -> str:
    """Figures and every raw time, for other programs."""
    return json.dumps(
        {
            "plan": plan_name,
            "machine": described,
            "figures": [asdict(figure) for figure in figures],
            "records": list(store.records.values()),
        },
        indent=1,
    )

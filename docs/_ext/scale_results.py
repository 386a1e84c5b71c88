"""What `make bench-scale` has measured, for the page on many rows: no number there is typed.

A comment ``<!-- scale: NAME -->`` on the page is replaced by the part of that name, made of
benchmarks/scale/results.json.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.scale import extrapolate  # noqa: E402

RESULTS = ROOT / "benchmarks" / "scale" / "results.json"
MARK = re.compile(r"<!-- scale: (\w+) -->")


def fill_in(text: str) -> str:
    """The page with its parts; without results, the sentence that says so."""
    if not RESULTS.exists():
        return MARK.sub("(There are no results yet: run `make bench-scale`.)", text)
    results = json.loads(RESULTS.read_text(encoding="utf-8"))
    return MARK.sub(lambda found: PARTS[found[1]](results), text)


def machine(results: dict[str, Any]) -> str:
    """The machine in half a sentence."""
    described = results["machine"]
    return f"{described['processor']}, {described['cores']} cores, {described['memory']} of memory"


def growth(results: dict[str, Any]) -> str:
    """Times, memory and gaps by the number of rows."""
    rows = []
    for record in results["records"]:
        if not record["key"].startswith("growth/"):
            continue
        _, loss, rank, dtype, n = record["key"].split("/")
        size = record["peak_fit"] - record["before"]
        rows.append(
            [loss.replace("_", " "), rank.removeprefix("rank"), dtype, spaced(int(n[1:]))]
            + [seconds(record[stage]["wall"]) for stage in ("factors", "solver", "fit")]
            + [f"{size / 1e9:.2f} GB", f"{record['judged_gap']:.0e}"]
        )
    rows.sort(key=lambda row: (int(row[1]), row[0], int(row[3].replace(" ", ""))))
    head = ["loss", "rank", "precision", "rows", "factors", "solver", "whole fit", "memory", "gap"]
    return extrapolate.table(head, rows)


def figures(prefix: str) -> Callable[[dict[str, Any]], str]:
    """The table of the figures that begin so."""

    def part(results: dict[str, Any]) -> str:
        chosen = [figure for figure in results["figures"] if figure["what"].startswith(prefix)]
        rows = [[f["what"], f["required"], f["measured"], outcome(f)] for f in chosen]
        return extrapolate.table(["figure", "required", "measured", "outcome"], rows)

    return part


def outcome(figure: dict[str, Any]) -> str:
    """Reached or missed, in a word."""
    return {True: "reached", False: "**missed**", None: "for the record"}[figure["reached"]]


def spaced(count: int) -> str:
    return f"{count:,}".replace(",", " ")


def seconds(spent: float) -> str:
    return f"{spent:.0f} s" if spent >= 10.0 else f"{spent:.1f} s"


PARTS: dict[str, Callable[[dict[str, Any]], str]] = {
    "machine": machine,
    "growth": growth,
    "exponents": figures("exponent"),
    "peers": figures("time of"),
    "accuracy": figures("accuracy"),
    "disk": figures("dense fit from disk"),
    "cluster": figures("objective on"),
    "extrapolation": extrapolate.markdown,
}

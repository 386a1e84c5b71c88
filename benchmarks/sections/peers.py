"""What sections against general solvers share: equal values, whose code it was, where the time goes."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.figures import Table, seconds
from benchmarks.store import Record


def difference(record: Record) -> float:
    """How far the judge's value of the peer's answer is from ours, relative; infinite if it has none."""
    if "verdict" not in record:
        return float("inf")
    ours = record["our_verdict"]["value"]
    return float(abs(record["verdict"]["value"] - ours) / abs(ours))


def provenance(records: Sequence[Record]) -> str:
    """Which code the times belong to: these sections may have been measured apart from the others."""
    codes = sorted({record["code"] for record in records if record["code"]})
    return f" Measured with the code of {' and '.join(codes)}." if codes else ""


def profile_table(title: str, record: Record, call: str = "solve to 1e-8") -> Table:
    """Own times of the functions of one call."""
    rows = [
        [f"`{place}`", str(calls), seconds(own), f"{100 * own / record['total']:.0f} %"]
        for own, calls, place in record["functions"]
    ]
    text = (
        f"Own time of the functions of one {call}, {seconds(record['total'])} under the profiler. "
        "Products of BLAS count for the function that calls them." + provenance([record])
    )
    return Table(title, text, ["function", "calls", "own", "share"], rows)

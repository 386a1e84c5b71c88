"""The first call in a fresh environment: is compilation announced, how long does it take, is it cached?"""

from __future__ import annotations

import tempfile

from benchmarks.children import run_child
from benchmarks.figures import Figure, Table, not_measured, seconds
from benchmarks.plan import Plan
from benchmarks.store import Record, Store

KEY = "first_call"
WHAT = "first call in a fresh environment"
REQUIRED = "compilation announced, and cached for the next process"
CACHED_FRACTION = 0.25  # a cached first fit may cost loading, not compiling


def _one_process(cache: str) -> Record:
    times, lines = run_child("first_call", NUMBA_CACHE_DIR=cache)
    announced = [line.strip() for line in lines if "compil" in line.lower()]
    return {"times": times, "announced": announced[:1]}


def measure_first_call() -> Record:
    """Two processes after each other on a numba cache that is empty at first."""
    with tempfile.TemporaryDirectory() as cache:
        return {"first": _one_process(cache), "next": _one_process(cache)}


def measure(store: Store, plan: Plan) -> None:
    """Take it once."""
    store.measure(KEY, measure_first_call)


def _wall(record: Record, process: str, step: str) -> float:
    return float(record[process]["times"][step]["wall"])


def figures(store: Store, plan: Plan) -> list[Figure]:
    """Announced and cached, or not."""
    record = store.get(KEY)
    if record is None:
        return [not_measured(WHAT, REQUIRED)]
    first, following = _wall(record, "first", "first fit"), _wall(record, "next", "first fit")
    announced = bool(record["first"]["announced"]) and not record["next"]["announced"]
    text = f"first fit {seconds(first)}, next process {seconds(following)}; " + (
        "announced once" if announced else "not announced as it should be"
    )
    reached = announced and following <= CACHED_FRACTION * first
    return [Figure(WHAT, REQUIRED, text, reached, "1")]


def tables(store: Store, plan: Plan) -> list[Table]:
    """Import, first and second fit in both processes."""
    record = store.get(KEY)
    if record is None:
        return []
    rows = [
        [title, *(seconds(_wall(record, process, step)) for step in ("import", "first fit", "second fit"))]
        + [(record[process]["announced"] or ["nothing"])[0]]
        for process, title in (("first", "empty cache"), ("next", "next process"))
    ]
    header = ["process", "import", "first fit", "second fit", "said about compiling"]
    text = "Wall-clock time on a problem of 40 points and 3 kernels: all of the first fit is compilation."
    return [Table("First call", text, header, rows)]

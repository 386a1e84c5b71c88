"""Dense fits with the stack of Gram matrices on disk, within a hard limit of memory."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial

from benchmarks.figures import Figure, Table, not_measured, seconds
from benchmarks.scale.child import run_task
from benchmarks.scale.plan import DiskFit, ScalePlan
from benchmarks.scale.words import gibibytes, grouped, provenance
from benchmarks.store import Record, Store

LIMIT = 6 * 10**9  # bytes


def measure(store: Store, plan: ScalePlan) -> None:
    """Every fit in a process that may not have more than the limit."""
    for fit in plan.disk:
        store.measure(fit.key, partial(run_task, "disk", **asdict(fit), limit=LIMIT, tol=plan.tol))


def figures(store: Store, plan: ScalePlan) -> list[Figure]:
    """Whether each fit came through with its certificate."""
    rows = []
    for fit in plan.disk:
        what = f"dense fit from disk within {LIMIT / 1e9:g} GB, {_name(fit)}"
        required = f"optimal, judged gap ≤ {plan.tol:g}"
        record = store.get(fit.key)
        if record is None:
            rows.append(not_measured(what, required))
            continue
        text = (
            f"{record['status']}, {record['judged_gap']:.1e} in {seconds(record['fit']['wall'])}, "
            f"{gibibytes(record['anonymous'])} of memory that is no file"
        )
        reached = record["status"] == "optimal" and record["judged_gap"] <= plan.tol
        rows.append(Figure(what, required, text, reached, "1"))
    return rows


def _name(fit: DiskFit) -> str:
    return f"{fit.loss}, {fit.kind}, {grouped(fit.n)} rows × {fit.n_kernels} kernels"


def _row(fit: DiskFit, r: Record) -> list[str]:
    times = [seconds(r["fit"]["wall"]), seconds(r["fit"]["cpu"])]
    memory = [gibibytes(r[name]) for name in ("stack", "before", "anonymous", "estimate")]
    read = f"{r['read'] / r['stack']:.1f}"
    counts = [str(r["n_iter"]), grouped(r["n_support"])]
    gaps = [f"{r[name]:.1e}" for name in ("gap", "judged_gap")]
    return [_name(fit), *times, *memory, read, *counts, *gaps, r["held_by"]]


def tables(store: Store, plan: ScalePlan) -> list[Table]:
    """One line a fit."""
    found = [(fit, store.get(fit.key)) for fit in plan.disk]
    records = [(fit, record) for fit, record in found if record is not None]
    header = [
        "loss, kernels from, size", "whole fit", "CPU time", "stack on disk", "memory before", "peak",
        "estimate", "stacks read", "iterations", "support rows", "gap", "judged gap", "held to the limit by",
    ]  # fmt: skip
    text = (
        f"Generated rows, Gaussians on views of 5 columns, float32, C = 1, tolerance {plan.tol:g}, in a "
        f"process with {LIMIT / 1e9:g} GB of memory. Memory before and at the peak is what is no file "
        "(RssAnon), the table included; cached pages of the file fill what is left of the limit. A "
        "ready-made stack is there before the clock starts." + provenance([r for _, r in records])
    )
    return [Table("Dense fits from disk", text, header, [_row(*pair) for pair in records])]

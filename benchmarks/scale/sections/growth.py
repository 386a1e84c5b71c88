"""How time and memory of a fit on factors grow with the number of rows."""

from __future__ import annotations

from functools import partial

from benchmarks.figures import Figure, Table, not_measured, seconds
from benchmarks.measuring import growth_exponent
from benchmarks.scale.child import run_task
from benchmarks.scale.plan import Fit, ScalePlan
from benchmarks.scale.words import gibibytes, grouped, provenance
from benchmarks.store import Record, Store

LARGEST_EXPONENT = 1.1


def measure(store: Store, plan: ScalePlan) -> None:
    """Take every fit, small ones first."""
    for fit in sorted((fit for series in plan.growth for fit in series), key=lambda fit: (fit.n, fit.rank)):
        take = partial(run_task, "growth", n=fit.n, rank=fit.rank, loss=fit.loss, dtype=fit.dtype)
        store.measure(fit.key, partial(take, tol=plan.tol))


def exponent(store: Store, series: tuple[Fit, ...], stage: str = "fit") -> float | None:
    """Of the wall-clock time of a stage; None until all sizes are measured."""
    records = [store.get(fit.key) for fit in series]
    if any(record is None for record in records):
        return None
    return growth_exponent([fit.n for fit in series], [record[stage]["wall"] for record in records if record])


def figures(store: Store, plan: ScalePlan) -> list[Figure]:
    """The exponent of each series, and the largest gap."""
    rows = []
    for series in plan.growth:
        first, required = series[0], f"≤ {LARGEST_EXPONENT:g}"
        what = f"exponent of time in n, {_name(first)}, n = {grouped(first.n)} to {grouped(series[-1].n)}"
        fitted = exponent(store, series)
        if fitted is None:
            rows.append(not_measured(what, required))
            continue
        reached = fitted <= LARGEST_EXPONENT
        rows.append(Figure(what, required, f"{fitted:.2f}", reached, f"1 × {len(series)} sizes"))
    return [*rows, _gap_figure(store, plan)]


def _gap_figure(store: Store, plan: ScalePlan) -> Figure:
    what, required = "largest gap of these fits, recomputed by the judge", f"≤ {plan.tol:g}"
    records = _records(store, plan)
    if not records:
        return not_measured(what, required)
    fit, worst = max(records, key=lambda pair: pair[1]["judged_gap"])
    text = f"{worst['judged_gap']:.1e} ({_name(fit)}, n = {grouped(fit.n)})"
    return Figure(what, required, text, worst["judged_gap"] <= plan.tol, f"1 × {len(records)} fits")


def _name(fit: Fit) -> str:
    return f"{fit.loss.replace('_', ' ')}, rank {fit.rank}, {fit.dtype}"


def _records(store: Store, plan: ScalePlan) -> list[tuple[Fit, Record]]:
    found = ((fit, store.get(fit.key)) for series in plan.growth for fit in series)
    return [(fit, record) for fit, record in found if record is not None]


def _row(fit: Fit, r: Record) -> list[str]:
    times = [seconds(r[stage]["wall"]) for stage in ("factors", "solver", "fit")]
    memory = [gibibytes(r["peak_fit"] - r["before"]), gibibytes(r["estimate"]), gibibytes(r["before"])]
    gaps = [f"{r['gap']:.1e}", f"{r['judged_gap']:.1e}"]
    counts = [str(r["n_iter"]), str(r["rounds"])]
    extra = [f"{r['trace_error']:.3f}", f"{100 * r['signal_weight']:.0f} %"]
    return [_name(fit), grouped(fit.n), *times, seconds(r["fit"]["cpu"]), *memory, *counts, *gaps, *extra]


def tables(store: Store, plan: ScalePlan) -> list[Table]:
    """One line a fit."""
    records = _records(store, plan)
    header = [
        "loss, rank, precision", "rows", "factors", "solver", "whole fit", "CPU time", "peak of the fit",
        "its estimate", "before the fit", "iterations", "map-reduces", "gap", "judged gap", "trace error",
        "weight of the informative views",
    ]  # fmt: skip
    text = (
        f"Generated rows, 10 views of 5 columns, C = 1, tolerance {plan.tol:g}; wall-clock times. The peak "
        "is the high-water mark of the resident set beyond what was resident before the fit, which includes "
        "the table itself. The trace error is that of the worst view." + provenance([r for _, r in records])
    )
    return [Table("Growth with the number of rows", text, header, [_row(*pair) for pair in records])]

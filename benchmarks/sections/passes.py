"""Ours to a gap of 1e-6 in passes over the stack, m = 100."""

from __future__ import annotations

from benchmarks.figures import Figure, Table, not_measured, seconds, worst_ratio
from benchmarks.measuring import median
from benchmarks.plan import Plan
from benchmarks.sections.grid import grid_records, take_grid
from benchmarks.store import Store

MOST_PASSES = 10.0

WHAT = "gap 1e-6 in passes over the stack, n ≥ 1000, m = 100"


def measure(store: Store, plan: Plan) -> None:
    """Take the cases with many kernels."""
    take_grid(store, plan.passes, plan.repeats)


def figures(store: Store, plan: Plan) -> list[Figure]:
    """The row of the passes."""
    records = grid_records(store, plan.passes)
    required = f"≤ {MOST_PASSES:g} passes"
    if not records:
        return [not_measured(WHAT, required)]
    ratios = [(case, median(r["times"]["ours"]) / median(r["times"]["pass"])) for case, r in records]
    text, reached, worst = worst_ratio(ratios, MOST_PASSES, at_most=True)
    return [Figure(WHAT, required, text, reached, f"{plan.repeats} × {len(records)} cases", worst)]


def tables(store: Store, plan: Plan) -> list[Table]:
    """One line a case."""
    rows = []
    for case, record in grid_records(store, plan.passes):
        ours, svc, one = (median(record["times"][name]) for name in ("ours", "svc", "pass"))
        bandwidth = 8.0 * case.m * case.n**2 / one / 2**30
        rows.append(
            [case.dataset, str(case.n), str(case.m), f"{case.C:g}", seconds(ours), seconds(one)]
            + [f"{ours / one:.1f}", f"{bandwidth:.1f} GiB/s", f"{ours / svc:.1f}"]
            + [str(record["found"]["n_solves"]), f"{record['found']['gap']:.1e}"]
        )
    header = ["data", "n", "m", "C", "ours, 1e-6", "one pass", "passes", "speed of a pass", "SVC solves"]
    text = "One pass is every kernel times one vector (BLAS, one thread): one read of the (m, n, n) stack."
    return [Table("In passes over the stack", text, [*header, "SVM solves", "gap"], rows)]

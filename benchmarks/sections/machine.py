"""Our SMO alone against scikit-learn's SVC, one kernel, equal tolerance."""

from __future__ import annotations

from benchmarks.figures import Figure, Table, not_measured, seconds, worst_ratio
from benchmarks.measuring import median
from benchmarks.plan import Plan
from benchmarks.sections.grid import grid_records, take_grid
from benchmarks.store import Store

LEAST_SPEEDUP = 2.0
OBJECTIVE_TOL = 1e-4  # what a tolerance of 1e-3 on the gradient leaves open in the value, and no more

WHAT = "our SMO against SVC, tol 1e-3"


def measure(store: Store, plan: Plan) -> None:
    """Take the cases of the floor, whose records hold both machines."""
    take_grid(store, plan.floor, plan.repeats)


def figures(store: Store, plan: Plan) -> list[Figure]:
    """Speed, and that nothing was bought with a worse value."""
    records = grid_records(store, plan.floor)
    required = f"≥ {LEAST_SPEEDUP:g} times faster"
    if not records:
        return [not_measured(WHAT, required)]
    ratios = [(case, median(r["times"]["svc"]) / median(r["times"]["smo"])) for case, r in records]
    text, reached, worst = worst_ratio(ratios, LEAST_SPEEDUP, at_most=False)
    short = [(case, 1.0 - r["found"]["smo"]["dual"] / r["found"]["svc"]["dual"]) for case, r in records]
    short_case, shortfall = max(short, key=lambda pair: pair[1])
    repeats = f"{plan.repeats} × {len(records)} cases"
    return [
        Figure(WHAT, required, text, reached, repeats, worst),
        Figure(
            "dual value of our SMO below SVC's, relative",
            f"≤ {OBJECTIVE_TOL:g}",
            f"at most {shortfall:.1e} ({short_case})",
            shortfall <= OBJECTIVE_TOL,
            f"{len(records)} cases",
        ),
    ]


def tables(store: Store, plan: Plan) -> list[Table]:
    """One line a case."""
    rows = []
    for case, record in grid_records(store, plan.floor):
        smo, svc = median(record["times"]["smo"]), median(record["times"]["svc"])
        found = record["found"]
        rows.append(
            [case.dataset, str(case.n), str(case.m), f"{case.C:g}", seconds(smo), seconds(svc)]
            + [f"{svc / smo:.2f}", f"{found['smo']['dual']:.6f}", f"{found['svc']['dual']:.6f}"]
            + [f"{found['smo']['gap']:.1e}", f"{found['svc']['gap']:.1e}"]
        )
    header = ["data", "n", "m", "C", "our SMO", "SVC", "times faster", "our dual value", "SVC's"]
    text = "Both at tolerance 1e-3 on the final kernel, from zero; values and gaps by the judge."
    return [Table("Our SMO against SVC", text, [*header, "our gap", "SVC's gap"], rows)]

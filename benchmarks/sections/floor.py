"""Ours to a gap of 1e-6 against one scikit-learn SVC solve at the final kernel, m ≤ 20."""

from __future__ import annotations

from benchmarks.figures import Figure, Table, bounds_text, not_measured, seconds, worst_ratio
from benchmarks.measuring import median
from benchmarks.plan import Case, Plan
from benchmarks.sections.grid import TIGHT_TOL, grid_records, take_grid
from benchmarks.store import Record, Store

# SVC solves, of the worst case and in the median
CONTESTANTS = {"solver": ("the solver", 5.0, 3.0), "ours": ("the estimator with its input checks", 6.0, 3.5)}
MOST_SOLVES = 10

WHAT = "gap 1e-6 in SVC solves, m ≤ 20"


def measure(store: Store, plan: Plan) -> None:
    """Take the cases of the floor."""
    take_grid(store, plan.floor, plan.repeats)


def _ratio(record: Record, contestant: str) -> float:
    return median(record["times"][contestant]) / median(record["times"]["svc"])


def solve_and_gap_figures(store: Store, cases: list[Case]) -> list[Figure]:
    """Number of SVM solves and the judge's gap over all the cases measured."""
    records = grid_records(store, cases)
    if not records:
        return [not_measured("SVM solves to 1e-6", f"≤ {MOST_SOLVES}")]
    most_case, most = max(records, key=lambda pair: pair[1]["found"]["n_solves"])
    wide_case, wide = max(records, key=lambda pair: pair[1]["found"]["gap"])
    solves, gap = most["found"]["n_solves"], wide["found"]["gap"]
    return [
        Figure(
            "SVM solves to 1e-6, all cases",
            f"≤ {MOST_SOLVES}",
            f"at most {solves} ({most_case})",
            solves <= MOST_SOLVES,
            f"{len(records)} cases",
            most_case,
        ),
        Figure(
            "gap found by the judge, all cases",
            "≤ 1e-6",
            f"at most {gap:.2e} ({wide_case})",
            gap <= TIGHT_TOL,
            f"{len(records)} cases",
        ),
    ]


def figures(store: Store, plan: Plan) -> list[Figure]:
    """The row of the floor."""
    records = grid_records(store, plan.floor)
    rows = []
    for contestant, (label, most, middle) in CONTESTANTS.items():
        required = bounds_text(most, middle, at_most=True)
        if not records:
            rows.append(not_measured(f"{WHAT}: {label}", required))
            continue
        ratios = [(case, _ratio(record, contestant)) for case, record in records]
        text, reached, worst = worst_ratio(ratios, most, at_most=True, middle_limit=middle)
        repeats = f"{plan.repeats} × {len(records)} cases"
        rows.append(Figure(f"{WHAT}: {label}", required, text, reached, repeats, worst))
    return rows


def tables(store: Store, plan: Plan) -> list[Table]:
    """One line a case."""
    rows = []
    for case, record in grid_records(store, plan.floor):
        ours, solver, svc, one = (median(record["times"][name]) for name in ("ours", "solver", "svc", "pass"))
        found = record["found"]
        rows.append(
            [case.dataset, str(case.n), str(case.m), f"{case.C:g}", seconds(ours), seconds(svc)]
            + [
                f"{solver / svc:.2f}",
                f"{ours / svc:.2f}",
                f"{ours / one:.1f}",
                str(found["n_solves"]),
                f"{found['gap']:.1e}",
            ]
            + [f"{found['n_active']}", f"{found['n_support']}"]
        )
    header = [
        "data",
        "n",
        "m",
        "C",
        "ours, 1e-6",
        "SVC",
        "SVC solves, solver",
        "SVC solves",
        "passes",
        "SVM solves",
        "gap",
    ]
    text = "Medians of CPU time; ours is the estimator with its input checks, SVC solves at the final kernel."
    return [Table("Against one SVC solve", text, [*header, "kernels used", "support"], rows)]

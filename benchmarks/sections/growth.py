"""How the time to a gap of 1e-6 grows with n and with m."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.figures import Figure, Table, not_measured, seconds
from benchmarks.measuring import growth_exponent, median
from benchmarks.plan import Case, Plan
from benchmarks.sections.grid import grid_records, take_grid
from benchmarks.store import Store

LARGEST_IN_N = 2.1
LARGEST_IN_M = 1.0


def measure(store: Store, plan: Plan) -> None:
    """Take the cases of both exponents, those shared with other sections once."""
    for C in plan.growth_C:
        take_grid(store, plan.growth_cases_n(C), plan.repeats)
        take_grid(store, plan.growth_cases_m(C), plan.repeats)


def exponent(store: Store, cases: list[Case], contestant: str, size: Callable[[Case], int]) -> float | None:
    """The fitted exponent of one contestant, None until every size is measured."""
    records = grid_records(store, cases)
    if len(records) < len(cases):
        return None
    times = [median(record["times"][contestant]) for _, record in records]
    return growth_exponent([size(case) for case, _ in records], times)


def _figure(store: Store, plan: Plan, letter: str, limit: float) -> Figure:
    select, size, sizes = _axis(plan, letter)
    what = f"exponent of time in {letter} ({'m' if letter == 'n' else 'n'} = {_fixed(plan, letter)})"
    required = f"≤ {limit:g}"
    fitted = {C: exponent(store, select(C), "ours", size) for C in plan.growth_C}
    known = {C: value for C, value in fitted.items() if value is not None}
    if len(known) < len(fitted):
        return not_measured(what, required)
    text = ", ".join(f"{value:.2f} at C = {C:g}" for C, value in known.items())
    repeats = f"{plan.repeats} × {len(sizes)} sizes"
    worst = max(known, key=lambda C: known[C])
    return Figure(what, required, text, max(known.values()) <= limit, repeats, select(worst)[-1])


def _fixed(plan: Plan, letter: str) -> int:
    return plan.growth_n_at_m if letter == "n" else plan.growth_m_at_n


def _axis(
    plan: Plan, letter: str
) -> tuple[Callable[[float], list[Case]], Callable[[Case], int], tuple[int, ...]]:
    if letter == "n":
        return plan.growth_cases_n, lambda case: case.n, plan.growth_n
    return plan.growth_cases_m, lambda case: case.m, plan.growth_m


def figures(store: Store, plan: Plan) -> list[Figure]:
    """The two exponents."""
    return [_figure(store, plan, "n", LARGEST_IN_N), _figure(store, plan, "m", LARGEST_IN_M)]


def tables(store: Store, plan: Plan) -> list[Table]:
    """The times behind the exponents."""
    made = []
    for letter in ("n", "m"):
        select, size, sizes = _axis(plan, letter)
        rows = []
        for C in plan.growth_C:
            for contestant in ("ours", "svc", "pass"):
                records = dict(grid_records(store, select(C)))
                cells = [
                    seconds(median(records[case]["times"][contestant])) if case in records else "–"
                    for case in select(C)
                ]
                fitted = exponent(store, select(C), contestant, size)
                rows.append([f"{C:g}", contestant, *cells, "–" if fitted is None else f"{fitted:.2f}"])
        header = ["C", "contestant", *(f"{letter} = {value}" for value in sizes), "exponent"]
        text = f"Data mc, gap 1e-6, the other size fixed at {_fixed(plan, letter)}."
        made.append(Table(f"Growth with {letter}", text, header, rows))
    return made

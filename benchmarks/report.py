"""The page of results: figures with their requirements, then what was measured, then where time goes."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from benchmarks.figures import Figure, Table, seconds
from benchmarks.page import figure_lines, json_results, machine_line, runs_note
from benchmarks.plan import Plan
from benchmarks.profiling import profile_case
from benchmarks.sections import (
    cvxopt_direct,
    discriminant,
    easymkl,
    first_call,
    floor,
    free_sign,
    from_features,
    growth,
    learners,
    localized,
    machine,
    memory,
    multiclass,
    nonnegative,
    nonstationary,
    passes,
    tuned,
)
from benchmarks.sections import qcqp as qcqp_section
from benchmarks.sections import simplemkl as simplemkl_section
from benchmarks.store import Store
from multikernel._files import write_whole


class Section(Protocol):
    """What a module of ``benchmarks.sections`` offers."""

    def measure(self, store: Store, plan: Plan) -> None:
        """Take what is not in the store."""

    def figures(self, store: Store, plan: Plan) -> list[Figure]:
        """Rows of the table of figures."""

    def tables(self, store: Store, plan: Plan) -> list[Table]:
        """Everything measured."""


SECTIONS: dict[str, Any] = {
    "floor": floor,
    "from_features": from_features,
    "tuned": tuned,
    "passes": passes,
    "growth": growth,
    "smo": machine,
    "easymkl": easymkl,
    "cvxopt": cvxopt_direct,
    "simplemkl": simplemkl_section,
    "qcqp": qcqp_section,
    "free_sign": free_sign,
    "nonnegative": nonnegative,
    "discriminant": discriminant,
    "nonstationary": nonstationary,
    "localized": localized,
    "multiclass": multiclass,
    "learners": learners,
    "memory": memory,
    "first_call": first_call,
}


def all_figures(store: Store, plan: Plan, names: Collection[str] = tuple(SECTIONS)) -> list[Figure]:
    """Every figure of the sections, in their order; solves and gaps are over all problems of the grid."""
    rows = []
    for name in (name for name in SECTIONS if name in names):
        rows += SECTIONS[name].figures(store, plan)
        if name == "passes":
            rows += floor.solve_and_gap_figures(store, _grid_cases(plan))
    return rows


def _grid_cases(plan: Plan) -> list[Any]:
    grown = [case for C in plan.growth_C for case in plan.growth_cases_n(C) + plan.growth_cases_m(C)]
    return list(dict.fromkeys([*plan.floor, *plan.passes, *grown]))


def take_profiles(store: Store, figures: list[Figure]) -> None:
    """Profile the worst case of every missed figure, once a case."""
    for figure in figures:
        if figure.reached is False and figure.case is not None:
            case = figure.case
            store.measure(f"profile/{case.key}", partial(profile_case, case))


def _profile_tables(store: Store, figures: list[Figure]) -> list[Table]:
    tables, seen = [], set()
    for figure in figures:
        record = store.get(f"profile/{figure.case.key}") if figure.case else None
        if figure.reached is not False or record is None or figure.case in seen:
            continue
        seen.add(figure.case)
        rows = [
            [f"`{place}`", str(calls), seconds(own), f"{100 * own / record['total']:.0f} %"]
            for own, calls, place in record["functions"]
        ]
        text = f"Own time of the functions of one fit to 1e-6, {seconds(record['total'])} under the profiler."
        tables.append(
            Table(f"Where the time goes: {figure.case}", text, ["function", "calls", "own", "share"], rows)
        )
    return tables


def _runs_note(store: Store) -> str:
    note, n_runs = runs_note(store), len({record["run"] for record in store.records.values()})
    if n_runs > 1 and any("code" in record for record in store.records.values()):
        note += (
            " Kernel matrices, discriminants, mixtures, gates, joint machines and weight learners were "
            "learners were measured apart, and name the commit."
        )
    return note


def markdown_page(store: Store, plan: Plan, figures: list[Figure], described: dict[str, str]) -> str:
    """The whole page."""
    lines = ["# Benchmarks", ""]
    if plan.name != "full":
        lines += [f"This is a {plan.name} run, on fewer and smaller cases than the requirements name.", ""]
    lines += [
        "CPU time, one thread, median of the repeats, contestants in turn; every value and gap is recomputed "
        f"by `objective.py` from weights and duals alone. {_runs_note(store)}",
        "",
        machine_line(described),
        "",
        *figure_lines(figures),
    ]
    lines += ["", "![Time against n](time_against_n.png)", "", "![Time against m](time_against_m.png)", ""]
    lines += ["## Measurements", ""]
    tables = [table for section in SECTIONS.values() for table in section.tables(store, plan)]
    lines += [table.markdown() for table in tables if table.rows]
    profiles = _profile_tables(store, figures)
    if profiles:
        lines += ["## Profiles of what was missed", "", *(table.markdown() for table in profiles)]
    return "\n".join(lines)


def write_results(store: Store, plan: Plan, folder: Path, described: dict[str, str]) -> list[Figure]:
    """Write the page and the JSON into `folder`."""
    figures = all_figures(store, plan)
    write_whole(folder / "results.md", markdown_page(store, plan, figures, described).encode())
    write_whole(folder / "results.json", f"{json_results(store, plan.name, figures, described)}\n".encode())
    return figures

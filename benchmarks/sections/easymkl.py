"""Ours to a gap of 1e-6 against MKLpy's EasyMKL, which solves one easier problem."""

from __future__ import annotations

from functools import partial

from benchmarks.datasets import kernel_bank
from benchmarks.figures import Figure, Table, not_measured, seconds, worst_ratio
from benchmarks.measuring import interleaved, median
from benchmarks.plan import Case, Plan
from benchmarks.sections.grid import TIGHT_TOL
from benchmarks.solvers.easymkl import as_tensors, combine_easymkl, fit_easymkl
from benchmarks.solvers.ours import fit_ours
from benchmarks.store import Record, Store

WHAT = {
    "fit": "against EasyMKL's fit (weights and its default machine)",
    "combine": "against EasyMKL's weights alone (no machine)",
}


def _key(case: Case) -> str:
    return f"easymkl/{case.key}"


def measure_case(case: Case, repeats: int) -> Record:
    """Times of ours, EasyMKL's fit and its weights alone."""
    kernels, y = kernel_bank(case.dataset, case.n, case.m)
    tensors = as_tensors(kernels)
    return {
        "times": interleaved(
            {
                "ours": lambda: fit_ours(kernels, y, case.C, TIGHT_TOL),
                "fit": lambda: fit_easymkl(tensors, y),
                "combine": lambda: combine_easymkl(tensors, y),
            },
            repeats,
        )
    }


def measure(store: Store, plan: Plan) -> None:
    """Take every case."""
    for case in plan.easymkl:
        store.measure(_key(case), partial(measure_case, case, plan.repeats))


def _records(store: Store, plan: Plan) -> list[tuple[Case, Record]]:
    found = ((case, store.get(_key(case))) for case in plan.easymkl)
    return [(case, record) for case, record in found if record is not None]


def figures(store: Store, plan: Plan) -> list[Figure]:
    """One row for each of the two things EasyMKL may be asked."""
    records = _records(store, plan)
    required = "not slower (≥ 1 times as fast)"
    if not records:
        return [not_measured(what, required) for what in WHAT.values()]
    rows = []
    for name, what in WHAT.items():
        ratios = [(case, median(r["times"][name]) / median(r["times"]["ours"])) for case, r in records]
        text, reached, worst = worst_ratio(ratios, 1.0, at_most=False)
        rows.append(Figure(what, required, text, reached, f"{plan.repeats} × {len(records)} cases", worst))
    return rows


def tables(store: Store, plan: Plan) -> list[Table]:
    """One line a case."""
    rows = []
    for case, record in _records(store, plan):
        ours, fit, combine = (median(record["times"][name]) for name in ("ours", "fit", "combine"))
        rows.append(
            [case.dataset, str(case.n), str(case.m), f"{case.C:g}", seconds(ours), seconds(fit)]
            + [f"{fit / ours:.2f}", seconds(combine), f"{combine / ours:.2f}"]
        )
    header = ["data", "n", "m", "C", "ours, 1e-6", "EasyMKL fit", "times faster", "its weights alone"]
    text = "EasyMKL has no C; its lambda is MKLpy's default. Its kernels are torch tensors beforehand."
    return [Table("Against EasyMKL", text, [*header, "times faster"], rows)]

"""Peak memory at fit, by the resident set of a process of its own: no allocation escapes it."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.children import run_child
from benchmarks.datasets import kernel_bank
from benchmarks.figures import Figure, Table, not_measured
from benchmarks.plan import Case, Plan
from benchmarks.store import Record, Store

MOST_STACKS = 1.3

WHAT = "peak memory at fit, stack included"


def _key(case: Case) -> str:
    return f"memory/{case.key}"


def measure_case(case: Case) -> Record:
    """Write the stack to a file and fit it in a fresh process, which reports its resident set."""
    kernels, y = kernel_bank(case.dataset, case.n, case.m)
    with tempfile.TemporaryDirectory() as folder:
        stack_file, label_file = Path(folder) / "stack.npy", Path(folder) / "labels.npy"
        np.save(stack_file, kernels)
        np.save(label_file, y)
        measured, _ = run_child("memory", str(stack_file), str(label_file), repr(case.C))
    return measured | {"stack": kernels.nbytes, "square": 8 * case.n**2}


def measure(store: Store, plan: Plan) -> None:
    """Take every case."""
    for case in plan.memory:
        store.measure(_key(case), partial(measure_case, case))


def _records(store: Store, plan: Plan) -> list[tuple[Case, Record]]:
    found = ((case, store.get(_key(case))) for case in plan.memory)
    return [(case, record) for case, record in found if record is not None]


def _stacks(record: Record) -> float:
    """The peak without one n × n, in stacks."""
    return (record["peak"] - record["baseline"] - record["square"]) / record["stack"]


def figures(store: Store, plan: Plan) -> list[Figure]:
    """The worst of the cases."""
    required = f"≤ {MOST_STACKS:g} stacks + one n × n"
    records = _records(store, plan)
    if not records:
        return [not_measured(WHAT, required)]
    case, record = max(records, key=lambda pair: _stacks(pair[1]))
    stacks = _stacks(record)
    text = f"{stacks:.2f} stacks + one n × n ({case})"
    return [Figure(WHAT, required, text, stacks <= MOST_STACKS, f"1 × {len(records)} cases", case)]


def tables(store: Store, plan: Plan) -> list[Table]:
    """One line a case."""
    rows = [
        [str(case), *(f"{r[name] / 2**20:.0f} MiB" for name in ("stack", "square", "baseline", "peak"))]
        + [f"{_stacks(r):.3f}"]
        for case, r in _records(store, plan)
    ]
    header = ["case", "stack", "n × n", "resident before the stack", "peak at fit", "stacks beyond one n × n"]
    text = (
        "High-water mark of the resident set (VmHWM) of a fresh process that has fitted a tiny problem "
        "first, less what was resident just before the stack was read. It includes the stack itself."
    )
    return [Table("Peak memory", text, header, rows)]

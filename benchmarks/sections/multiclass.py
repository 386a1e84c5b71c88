"""All classes in one machine: ours against Clarabel at about a thousand duals, and alone on many points.

The problems are in ``datasets/classes.py``. Both solve to the same tolerance, and the judge tells what they
reached. The machine with learned kernel weights stands against the same problem as a conic program, for the
record.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from statistics import median as middle
from typing import Any

import numpy as np

from benchmarks.datasets.classes import N_DIGITS, ClassTask, class_task
from benchmarks.figures import Figure, Table, not_measured, seconds
from benchmarks.measuring import code_version, cpu_seconds, median
from benchmarks.multiclass_objective import judge_joint, judge_joint_weights
from benchmarks.objective import InfeasibleError
from benchmarks.plan import Plan
from benchmarks.sections.peers import provenance
from benchmarks.solvers.joint import fit_joint, learn_joint, solve_joint
from benchmarks.store import Record, Store
from judges.programs import joint_clarabel
from multikernel.kernels import Gaussian

REQUIRED_DUALS, LEAST_RATIO = 1000, 20.0
REQUIRED_N, MOST_SECONDS = 2000, 10.0
DATASETS, TOLS, ALL_C = ("mc", "digits"), (1e-3, 1e-6), (0.1, 1.0, 10.0)
ALONE_CLASSES, ALONE_TOL = 10, 1e-3
WEIGHTS_C = (1.0, 10.0)
BANK = ("gaussian", "linear", "quadratic")


@dataclass(frozen=True)
class ClassCase:
    """Data, points, classes, kernel (or "bank"), C and tolerance."""

    dataset: str
    n: int
    n_classes: int
    kernel: str
    C: float
    tol: float

    @property
    def key(self) -> str:
        """Name of the case in the store."""
        size = f"n{self.n}/K{self.n_classes}"
        return f"multiclass/{self.dataset}/{size}/{self.kernel}/C{self.C:g}/tol{self.tol:g}"

    def task(self) -> ClassTask:
        """The problem."""
        return class_task(self.dataset, self.n, self.n_classes)

    def __str__(self) -> str:
        return f"{self.dataset}, n={self.n}, {self.n_classes} classes, C={self.C:g}"


def peer_cases(plan: Plan, kernel: str, tol: float) -> list[ClassCase]:
    """Where ours stands against Clarabel on one kernel."""
    return [
        ClassCase(dataset, n, n_classes, kernel, C, tol)
        for dataset in DATASETS
        for n, n_classes in plan.multiclass
        for C in ALL_C
    ]


def alone_cases(plan: Plan, kernel: str) -> list[ClassCase]:
    """Where ours runs alone; there are fewer digits than points asked for in a full run."""
    sizes = {"mc": plan.multiclass_alone, "digits": min(plan.multiclass_alone, N_DIGITS)}
    return [
        ClassCase(dataset, n, ALONE_CLASSES, kernel, C, ALONE_TOL)
        for dataset, n in sizes.items()
        for C in ALL_C
    ]


def weights_cases(plan: Plan) -> list[ClassCase]:
    """Where weights of kernels are learned."""
    n, n_classes = plan.multiclass_weights
    return [
        ClassCase(dataset, n, n_classes, "bank", C, tol)
        for dataset in DATASETS
        for C in WEIGHTS_C
        for tol in TOLS
    ]


# ---------------------------------------------------------------------- measuring
def verdict_of(task: ClassTask, case: ClassCase, answer: Any) -> Record:
    """The judge's word on one answer, or why it was refused."""
    try:
        if case.kernel == "bank":
            kernels = _bank(task)
            found = judge_joint_weights(
                kernels, task.codes, answer.weights, answer.alpha, answer.intercepts, case.C
            )
            return asdict(found) | {"value": found.dual, "weights": answer.weights.tolist()}
        K = task.kernels[case.kernel]
        return asdict(judge_joint(K, task.codes, answer.alpha, answer.intercepts, case.C))
    except InfeasibleError as refusal:
        return {"refused": str(refusal)}


def _bank(task: ClassTask) -> np.ndarray:
    return np.stack([task.kernels[name] for name in BANK])


def contestants(case: ClassCase) -> dict[str, Callable[[], Any]]:
    """Who solves a case that has a peer; Clarabel's sparse form only where the kernel has a low rank."""
    task = case.task()
    K = _bank(task) if case.kernel == "bank" else task.kernels[case.kernel]
    problem = (K, task.codes, task.n_classes, case.C, case.tol)
    if case.kernel == "bank":
        return {"ours": partial(learn_joint, *problem), "clarabel": joint_clarabel.prepare_weights(*problem)}
    calls = {"ours": partial(solve_joint, *problem), "clarabel": joint_clarabel.prepare(*problem)}
    if case.kernel == "linear":
        calls["factored"] = joint_clarabel.prepare_factored(*problem)
    return calls


def alone(case: ClassCase) -> dict[str, Callable[[], Any]]:
    """Our solver on the ready kernel; with the Gaussian also the estimator from points."""
    task = case.task()
    machine = partial(solve_joint, task.kernels[case.kernel], task.codes, task.n_classes, case.C, case.tol)
    if case.kernel != "gaussian":
        return {"ours": machine}
    kernel = Gaussian(gamma=task.gamma)
    whole = partial(fit_joint, task.points, task.codes, task.n_classes, kernel, case.C, case.tol)
    return {"ours": machine, "estimator": whole}


def measure_case(
    case: ClassCase, make: Callable[[ClassCase], Mapping[str, Callable[[], Any]]], plan: Plan
) -> Record:
    """All contestants in turn, after one solve of ours that is not timed."""
    calls, task = make(case), case.task()
    calls["ours"]()
    times: dict[str, list[float]] = {name: [] for name in calls}
    answers: dict[str, Any] = {}
    for _ in range(plan.repeats):
        for name, call in calls.items():
            spent, answers[name] = cpu_seconds(call)
            times[name].append(spent)
    verdicts = {
        name: verdict_of(task, case, answer) | {"status": answer.status} for name, answer in answers.items()
    }
    return {"code": code_version(), "verdict": verdicts} | times


def alone_key(case: ClassCase) -> str:
    """Name in the store of a case that has no peer."""
    return f"{case.key}/alone"


def measure(store: Store, plan: Plan) -> None:
    """Every case."""
    with_peer = [
        case for kernel in ("gaussian", "linear") for tol in TOLS for case in peer_cases(plan, kernel, tol)
    ]
    for case in (*with_peer, *weights_cases(plan)):
        store.measure(case.key, partial(measure_case, case, contestants, plan))
    for case in (*alone_cases(plan, "gaussian"), *alone_cases(plan, "linear")):
        store.measure(alone_key(case), partial(measure_case, case, alone, plan))


# ---------------------------------------------------------------------- figures
Found = list[tuple[ClassCase, Record]]


def found(store: Store, cases: Sequence[ClassCase], key: Callable[[ClassCase], str] | None = None) -> Found:
    """The cases that were measured."""
    pairs = [(case, store.get(case.key if key is None else key(case))) for case in cases]
    return [(case, record) for case, record in pairs if record is not None]


def ratio(case: ClassCase, record: Record, peer: str) -> float:
    """How many times faster than the peer; 0 unless the judge finds the gap that was asked for."""
    reached = record["verdict"]["ours"].get("gap", np.inf) <= 1.001 * case.tol
    return median(record[peer]) / median(record["ours"]) if reached else 0.0


def _repeats(records: Found) -> str:
    return str(min(len(record["ours"]) for _, record in records))


def speed_figure(store: Store, cases: Sequence[ClassCase], peer: str, what: str, *, required: bool) -> Figure:
    """The worst and the median ratio."""
    limit = f"≥ {LEAST_RATIO:g} times faster at about {REQUIRED_DUALS} duals" if required else "–"
    records = found(store, cases)
    if not records:
        return not_measured(what, limit)
    ratios = [ratio(case, record, peer) for case, record in records]
    worst = int(np.argmin(ratios))
    text = f"worst {ratios[worst]:.3g} ({records[worst][0]}), median {middle(ratios):.3g}"
    sized = all(abs(case.n * (case.n_classes - 1) - REQUIRED_DUALS) < 10 for case, _ in records)
    reached = None
    if required:
        count = sum(value >= LEAST_RATIO for value in ratios)
        text += f"; within in {count} of {len(ratios)} cases"
        reached = count == len(ratios) if sized else None
    return Figure(what, limit, text, reached, _repeats(records))


def gap_figure(store: Store, cases: Sequence[ClassCase], what: str) -> Figure:
    """What the judge finds of the gap asked for, ours and Clarabel's."""
    records = found(store, cases)
    if not records:
        return not_measured(what, "≤ 1")
    shares = {
        name: [record["verdict"][name].get("gap", np.inf) / case.tol for case, record in records]
        for name in ("ours", "clarabel")
    }
    worst = max(shares["ours"])
    text = f"at most {worst:.2g}; Clarabel's {min(shares['clarabel']):.1g} to {max(shares['clarabel']):.2g}"
    return Figure(what, "≤ 1", text, worst <= 1.001, _repeats(records))


def seconds_figure(store: Store, plan: Plan, kernel: str, name: str) -> Figure:
    """The longest solve, or fit, of many points in ten classes."""
    whole = {"ours": "solver", "estimator": "whole fit, from points"}[name]
    what = f"joint machine, n={plan.multiclass_alone}, {ALONE_CLASSES} classes, {kernel} kernel: {whole}"
    limit = f"≤ {MOST_SECONDS:g} s at n={REQUIRED_N}" if kernel == "gaussian" else "–"
    records = found(store, alone_cases(plan, kernel), alone_key)
    if not records:
        return not_measured(what, limit)
    times = [median(record[name]) if "gap" in record["verdict"][name] else np.inf for _, record in records]
    worst = int(np.argmax(times))
    text = f"{seconds(min(times))} to {seconds(times[worst])} ({records[worst][0]}), to {ALONE_TOL:g}"
    required = kernel == "gaussian" and plan.multiclass_alone == REQUIRED_N
    return Figure(what, limit, text, times[worst] <= MOST_SECONDS if required else None, _repeats(records))


def value_figure(store: Store, plan: Plan) -> Figure:
    """That the conic program and ours find the same optimum."""
    what = "joint machine with learned weights: value, Clarabel's against ours"
    cases = [case for case in weights_cases(plan) if case.tol == min(TOLS)]
    required = f"within {10 * min(TOLS):g}"
    records = found(store, cases)
    if not records:
        return not_measured(what, required)
    values = [
        [record["verdict"][name].get("value", np.nan) for name in ("ours", "clarabel")]
        for _, record in records
    ]
    far = max(abs(ours - theirs) / abs(ours) for ours, theirs in values)
    return Figure(what, required, f"at most {far:.1e}", far <= 10 * min(TOLS), _repeats(records))


def figures(store: Store, plan: Plan) -> list[Figure]:
    """Ratios, gaps, seconds, and the machine with learned weights."""
    rows = []
    for tol in TOLS:
        cases = peer_cases(plan, "gaussian", tol)
        what = f"joint machine, Gaussian kernel, to {tol:g}, against Clarabel (`faer`)"
        rows += [speed_figure(store, cases, "clarabel", what, required=True)]
        rows += [
            gap_figure(store, cases, f"joint machine, to {tol:g}: gap found by the judge, of that asked for")
        ]
    linear = [case for tol in TOLS for case in peer_cases(plan, "linear", tol)]
    for peer, form in (("clarabel", "as stated"), ("factored", "kernel factored")):
        what = f"joint machine, linear kernel, against Clarabel, {form}"
        rows += [speed_figure(store, linear, peer, what, required=False)]
    rows += [seconds_figure(store, plan, "gaussian", name) for name in ("ours", "estimator")]
    rows += [seconds_figure(store, plan, "linear", "ours")]
    n, n_classes = plan.multiclass_weights
    what = f"joint machine with learned weights of 3 kernels, n={n}, {n_classes} classes, against Clarabel"
    return [
        *rows,
        speed_figure(store, weights_cases(plan), "clarabel", what, required=False),
        value_figure(store, plan),
    ]


# ---------------------------------------------------------------------- tables
_TITLES = {
    "ours": "ours",
    "clarabel": "Clarabel",
    "factored": "Clarabel, kernel factored",
    "estimator": "ours, from points",
}
_HEADER = ["data", "n", "classes", "kernel", "C", "tolerance", "solver", "time", "it ended", "value", "gap"]


def _rows(records: Found) -> list[list[str]]:
    return [
        [case.dataset, str(case.n), str(case.n_classes), case.kernel, f"{case.C:g}", f"{case.tol:g}"]
        + [_TITLES[name], seconds(median(record[name])), verdict["status"]]
        + [f"{verdict.get('value', np.nan):.8g}", f"{verdict.get('gap', np.inf):.1e}"]
        for case, record in records
        for name, verdict in record["verdict"].items()
    ]


def tables(store: Store, plan: Plan) -> list[Table]:
    """One line a case and contestant."""
    kernels = ("gaussian", "linear")
    peers = found(store, [case for k in kernels for tol in TOLS for case in peer_cases(plan, k, tol)])
    many = found(store, [case for k in kernels for case in alone_cases(plan, k)], alone_key)
    learned = found(store, weights_cases(plan))
    told = "Value and gap are the judge's."
    parts = (
        ("All classes in one machine, against Clarabel", peers, ""),
        ("All classes in one machine, many points", many, ""),
        (
            "All classes in one machine, with learned weights",
            learned,
            f" The bank holds a {', a '.join(BANK)} kernel; the gap is to the best weights.",
        ),
    )
    return [
        Table(title, told + more + provenance([r for _, r in records]), _HEADER, _rows(records))
        for title, records, more in parts
    ]

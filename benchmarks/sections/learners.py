"""Weight learners: EasyMKL and the radius over the margin against MKLpy's, and what every learner costs.

The kernels have a mean diagonal of 1, so that both libraries are given the same problem. EasyMKL's is one
convex program: equal weights are asked for. MKLpy's GRAM descends for a number of steps; the judge says what
ratio of radius and margin each of the two reached, and so equal problems are compared at unequal quality:
that row is for the record.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from benchmarks.datasets import kernel_bank
from benchmarks.figures import Figure, Table, not_measured, seconds, worst_ratio
from benchmarks.learners_objective import easymkl_value, radius_over_margin
from benchmarks.measuring import code_version, cpu_seconds, interleaved, median
from benchmarks.plan import Case, Plan
from benchmarks.solvers.mklpy_learners import as_tensors, easymkl_weights, gram_weights
from benchmarks.solvers.svc import solve_svc
from benchmarks.store import Record, Store
from multikernel import rules as weights
from multikernel.rules import EasyMKL, RadiusMargin, WeightLearner
from multikernel.rules.targets import class_targets, no_targets, value_targets

BALANCE, TOL = 0.1, 1e-6
MOST_DIFFERENCE = 1e-3
ALONE = Case("mc", 500, 20, 1.0)
FASTER = "EasyMKL's weights (Λ = 0.1, ours to a gap of 1e-6) against MKLpy's"


def _shares(learner: WeightLearner, kernels: Any, y: Any) -> Any:
    """Weights of sum 1 for kernels of mean diagonal 1."""
    found = learner.fit_stack(kernels, class_targets((y > 0).astype(int))).kernel_weights_
    return found / found.sum()


def measure_easymkl(case: Case, repeats: int) -> Record:
    """Times of both, and how far their weights are apart."""
    kernels, y = kernel_bank(case.dataset, case.n, case.m)
    tensors = as_tensors(kernels)
    calls = {
        "ours": lambda: _shares(EasyMKL(BALANCE, tol=TOL), kernels, y),
        "mklpy": lambda: easymkl_weights(tensors, y, BALANCE),
    }
    difference = float(np.abs(calls["ours"]() - calls["mklpy"]()).max())
    least = easymkl_value(kernels, y, BALANCE)
    learner = EasyMKL(BALANCE, tol=TOL).fit_stack(kernels, class_targets((y > 0).astype(int)))
    return {
        "times": interleaved(calls, repeats),
        "difference": difference,
        "excess": learner.objective_ / least - 1.0,
        "code": code_version(),
    }


def measure_radius(case: Case) -> Record:
    """Time of both, and the ratio that the judge finds at their weights."""
    kernels, y = kernel_bank(case.dataset, case.n, case.m)
    ours_time, ours = cpu_seconds(lambda: _shares(RadiusMargin(C=np.inf, tol=1e-3), kernels, y))
    peer_time, peer = cpu_seconds(lambda: gram_weights(as_tensors(kernels), y))
    found = {"ours": radius_over_margin(kernels, y, ours), "mklpy": None}
    if peer is not None:
        found["mklpy"] = radius_over_margin(kernels, y, peer)
    return {"times": {"ours": ours_time, "mklpy": peer_time}, "ratios": found, "code": code_version()}


def measure_all() -> Record:
    """Every exported learner with its defaults on one stack, beside one SVC on the mean kernel."""
    kernels, y = kernel_bank(ALONE.dataset, ALONE.n, ALONE.m)
    tasks = {
        "classification": class_targets((y > 0).astype(int)),
        "regression": value_targets(y[:, None] + 0.0),
    }
    tasks["unsupervised"] = no_targets(y.size)
    svc = median([cpu_seconds(lambda: solve_svc(kernels.mean(axis=0), y, ALONE.C))[0] for _ in range(3)])
    rows = {}
    for name in weights.__all__:
        kind = getattr(weights, name)
        if not (isinstance(kind, type) and issubclass(kind, WeightLearner)) or "about" not in vars(kind):
            continue
        stack = kernels[:2] if name == "FunctionalForm" else kernels  # which combines two
        task = next(task for task in tasks if task in kind.learns_from)
        kind().fit_stack(stack, tasks[task])  # compiled by now
        taken, learner = cpu_seconds(partial(kind().fit_stack, stack, tasks[task]))
        rows[name] = {"seconds": taken, "gap": learner.dual_gap_, "status": learner.status_, "task": task}
    return {"svc": svc, "learners": rows, "code": code_version()}


def _cases(plan: Plan) -> list[Case]:
    return list(dict.fromkeys(Case(case.dataset, case.n, case.m, 1.0) for case in plan.easymkl))


def _small(plan: Plan) -> list[Case]:
    return [Case(case.dataset, 200, case.m, 1.0) for case in _cases(plan)]


def measure(store: Store, plan: Plan) -> None:
    """Take every case."""
    for case in _cases(plan):
        store.measure(f"learners/easymkl/{case.key}", partial(measure_easymkl, case, plan.repeats))
    for case in _small(plan):
        store.measure(f"learners/radius/{case.key}", partial(measure_radius, case))
    store.measure("learners/all", measure_all)


def figures(store: Store, plan: Plan) -> list[Figure]:
    """EasyMKL's speed at equal weights; the radius over the margin for the record."""
    found = [(case, store.get(f"learners/easymkl/{case.key}")) for case in _cases(plan)]
    records = [(case, record) for case, record in found if record is not None]
    if not records:
        return [not_measured(FASTER, "≥ 1 times as fast")]
    speed = [(case, median(r["times"]["mklpy"]) / median(r["times"]["ours"])) for case, r in records]
    text, reached, worst = worst_ratio(speed, 1.0, at_most=False)
    apart = max(r["difference"] for _, r in records)
    excess = max(abs(r["excess"]) for _, r in records)
    repeats = f"{plan.repeats} × {len(records)} cases"
    return [
        Figure(
            "our value of EasyMKL's program against the judge's, relative",
            "≤ 1e-5",
            f"{excess:.1e}",
            excess <= 1e-5,
            f"{len(records)} cases",
        ),
        Figure(FASTER, "≥ 1 times as fast", text, reached, repeats, worst),
        Figure(
            "largest difference of a weight between the two",
            f"≤ {MOST_DIFFERENCE:g}",
            f"{apart:.1e}",
            apart <= MOST_DIFFERENCE,
            f"{len(records)} cases",
        ),
    ]


def tables(store: Store, plan: Plan) -> list[Table]:
    """The radius over the margin, and every learner's time."""
    rows = []
    for case in _small(plan):
        record = store.get(f"learners/radius/{case.key}")
        if record is not None:
            times, ratios = record["times"], record["ratios"]
            rows.append(
                [case.dataset, str(case.n), str(case.m), seconds(times["ours"]), seconds(times["mklpy"])]
                + [f"{ratios['ours']:.4g}", "failed" if ratios["mklpy"] is None else f"{ratios['mklpy']:.4g}"]
            )
    header = ["data", "n", "m", "RadiusMargin(C=inf, tol=1e-3)", "MKLpy's GRAM", "our ratio", "its ratio"]
    text = "Squared radius over squared margin at the weights found, by the judge: less is better."
    found = [Table("Radius over margin", text, header, rows)]
    record = store.get("learners/all")
    if record is not None:
        lines = [
            [f"`{name}`", row["task"], seconds(row["seconds"]), f"{row['seconds'] / record['svc']:.2g}"]
            + [f"{row['gap']:.1e}", row["status"]]
            for name, row in sorted(record["learners"].items(), key=lambda pair: pair[1]["seconds"])
        ]
        text = f"Defaults, {ALONE}; one fit of SVC on the mean kernel takes {seconds(record['svc'])}."
        head = ["learner", "from", "time", "times one SVC", "certificate", "status"]
        found.append(Table("What a weight learner costs", text, head, lines))
    return found

"""Against linear machines and the group lasso on the same factors: times to the same objective."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from functools import partial
from itertools import groupby
from typing import Any

from benchmarks.figures import Figure, Table, not_measured, seconds
from benchmarks.scale.child import run_task
from benchmarks.scale.plan import Contest, ScalePlan
from benchmarks.scale.words import grouped, provenance
from benchmarks.store import Record, Store

TARGETS = (1e-2, 1e-3)  # how far above the best value a contestant may stop
LEAST_RATIO = 1.0

_LADDERS = {
    "ours": (1e-2, 1e-3, 1e-4, 1e-5),
    "linear_svc": (1e-1, 1e-2, 1e-3, 1e-4),
    "celer": (1e-2, 1e-4, 1e-6),
    "skglm": (1e-2, 1e-4, 1e-6),
    "sgd": (0.0,),
    "sgd averaged": (0.0,),
}
_APPROXIMATIONS = {"plain sum": "nystroem", "group lasso": "nystroem", "random features": "random_features"}
_NORMS = {"plain sum": "inf", "group lasso": "1", "random features": "1"}
_ALLOWANCE = 90.0  # seconds of a process for reading, a first call that compiles, and the judge
_FACTORS_OF = {"nystroem": "scikit-learn's Nystroem", "random_features": "random features in NumPy"}


def measure(store: Store, plan: ScalePlan) -> None:
    """Factors once for all contests of a size and kind, then one contestant after the other."""

    def made_of(contest: Contest) -> tuple[str, int]:
        return _APPROXIMATIONS[contest.kind], contest.n

    for (approximation, n), group in groupby(sorted(plan.contests, key=made_of), key=made_of):
        contests = list(group)
        if all(store.measured(f"{contest.key}/done") for contest in contests):
            continue
        with tempfile.TemporaryDirectory() as folder:
            record = run_task("factors", n=n, rank=plan.rank, approximation=approximation, folder=folder)
            store.measure(_factor_key(approximation, n), lambda record=record: record)
            for contest in contests:
                _measure_contest(store, plan, contest, folder, record["offsets"])
                store.measure(f"{contest.key}/done", dict)


def _factor_key(approximation: str, n: int) -> str:
    return f"peers/factors/{approximation}/n{n}"


def _measure_contest(
    store: Store, plan: ScalePlan, contest: Contest, folder: str, offsets: list[int]
) -> None:
    problem: dict[str, Any] = {
        "loss": contest.loss,
        "norm": _NORMS[contest.kind],
        "C": 1.0,
        "offsets": offsets,
        "targets": "values" if contest.kind == "group lasso" else "labels",
    }
    take = partial(_take, plan, folder, problem)
    for tol in _LADDERS["ours"]:
        ours = store.measure(f"{contest.key}/ours/{tol:g}", partial(take, "ours", tol, 0.0))
    problem["lam"] = ours["size"] / problem["C"]
    goal = ours["value"] * (1.0 + min(TARGETS))
    for name in contest.contestants:
        for tol in _LADDERS[name]:
            record = store.measure(f"{contest.key}/{name}/{tol:g}", partial(take, name, tol, goal))
            if "timed_out" in record or record.get("value", goal) <= goal:
                break


def _take(
    plan: ScalePlan, folder: str, problem: dict[str, Any], contestant: str, tol: float, goal: float
) -> Record:
    limit = plan.sgd_seconds if contestant.startswith("sgd") else plan.contest_seconds
    given = {"folder": folder, "problem": problem, "contestant": contestant, "tol": tol, "goal": goal}
    return run_task("contest", seconds=limit + _ALLOWANCE, limit=limit, **given) | {"limit": limit}


def runs(store: Store, contest: Contest, name: str) -> Iterator[Record]:
    """Every measured point of a contestant: time and value."""
    for tol in _LADDERS[name]:
        record = store.get(f"{contest.key}/{name}/{tol:g}")
        if record is not None and "timed_out" not in record:
            yield from record.get("path", [record])


def best_value(store: Store, contest: Contest) -> float:
    """The least value that any contestant reached."""
    names = ("ours", *contest.contestants)
    return min(run["value"] for name in names for run in runs(store, contest, name))


def run_to(store: Store, contest: Contest, name: str, target: float) -> Record | None:
    """The run of least wall-clock time that came so near to the best value; None if none did."""
    goal = best_value(store, contest) * (1.0 + target)
    near = [run for run in runs(store, contest, name) if run["value"] <= goal]
    return min(near, key=lambda run: run["wall"], default=None)


def figures(store: Store, plan: ScalePlan) -> list[Figure]:
    """The peer's time over ours, factors included, to within 0.1 % of the best value."""
    target = min(TARGETS)
    rows = []
    for contest in plan.contests:
        for name in contest.contestants:
            what = f"time of {name} / ours, {_name(contest)}, within {100 * target:g} % of the best value"
            required = f"≥ {LEAST_RATIO:g}"
            if store.get(f"{contest.key}/done") is None:
                rows.append(not_measured(what, required))
                continue
            text, ratio = _ratio(store, contest, name, target)
            rows.append(Figure(what, required, text, ratio >= LEAST_RATIO, "1"))
    return rows


def _ratio(store: Store, contest: Contest, name: str, target: float) -> tuple[str, float]:
    """In words and as a number; where the peer did not get there, what it used is a lower bound."""
    factors = store.get(_factor_key(_APPROXIMATIONS[contest.kind], contest.n))
    ours, peer = run_to(store, contest, "ours", target), run_to(store, contest, name, target)
    assert factors is not None and ours is not None
    whole = ours["wall"] + factors["ours"]["wall"]
    if peer is not None:
        ratio = (peer["wall"] + factors["peer"]["wall"]) / whole
        return f"{ratio:.2f} (solvers alone {peer['wall'] / ours['wall']:.2f})", ratio
    used = _used(store, contest, name)
    ratio = (used + factors["peer"]["wall"]) / whole
    return f"> {ratio:.2f} (not reached in {seconds(used)}, where ours takes {seconds(ours['wall'])})", ratio


def _used(store: Store, contest: Contest, name: str) -> float:
    """The longest that a contestant had."""
    records = [store.get(f"{contest.key}/{name}/{tol:g}") for tol in _LADDERS[name]]
    walls = [run["wall"] for run in runs(store, contest, name)]
    return max([*walls, *(r["limit"] for r in records if r is not None and "timed_out" in r)])


def _name(contest: Contest) -> str:
    return f"{contest.kind}, {contest.loss.replace('_', ' ')}, n = {grouped(contest.n)}"


def tables(store: Store, plan: ScalePlan) -> list[Table]:
    """Times to each target, and the stages that make factors."""
    done = [contest for contest in plan.contests if store.get(f"{contest.key}/done") is not None]
    return [_target_table(store, done), _factor_table(store, plan, done)] if done else []


def _target_table(store: Store, done: list[Contest]) -> Table:
    rows = []
    for contest in done:
        best = best_value(store, contest)
        for name in ("ours", *contest.contestants):
            found = list(runs(store, contest, name))
            cells = [run_to(store, contest, name, target) for target in TARGETS]
            nearest = f"{min(run['value'] for run in found) / best - 1.0:.1e}" if found else "–"
            longest = seconds(max(run["wall"] for run in found)) if found else "–"
            times = [_spent(cell) for cell in cells]
            rows.append([_name(contest), name, *times, nearest, longest])
    header = ["problem", "contestant", *(f"within {100 * target:g} %" for target in TARGETS)]
    records = [r for key, r in store.records.items() if key.startswith("peers/") and "n_threads" in r]
    text = (
        "Wall-clock and CPU time of the solver on the same factors until the judge finds the value within so "
        "much of the best that any contestant reached, over a ladder of tolerances; the last columns are the "
        "nearest that it came, and its longest run. The machines of scikit-learn and both peers run on one "
        "thread by nature." + provenance(records)
    )
    return Table("Time to the same objective", text, [*header, "nearest", "longest run"], rows)


def _spent(run: Record | None) -> str:
    return "not reached" if run is None else f"{seconds(run['wall'])} (CPU {seconds(run['cpu'])})"


def _factor_table(store: Store, plan: ScalePlan, done: list[Contest]) -> Table:
    rows = []
    for approximation, n in sorted({(_APPROXIMATIONS[c.kind], c.n) for c in done}):
        record = store.get(_factor_key(approximation, n))
        assert record is not None
        times = [seconds(record[who]["wall"]) for who in ("ours", "peer")]
        rows.append([approximation, grouped(n), *times, _FACTORS_OF[approximation]])
    text = (
        f"Wall-clock time of the factors of 10 views, {plan.rank} columns each. Ours includes the widths of "
        "the kernels and the trace errors, which the peer is not asked for."
    )
    return Table("Time of the factors", text, ["approximation", "rows", "ours", "peer", "peer is"], rows)

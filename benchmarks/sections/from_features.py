"""From a table of features: ours with seven kernels against `SVC().fit`, repeated and first in a process."""

from __future__ import annotations

from functools import partial

from benchmarks.children import run_child
from benchmarks.datasets.features import feature_table
from benchmarks.figures import Figure, Table, not_measured, seconds
from benchmarks.measuring import code_version, cpu_seconds, median
from benchmarks.plan import Plan
from benchmarks.solvers.features import STAGES, fit_features, fit_svc, stage_times
from benchmarks.store import Record, Store

SEEDS = range(5)
MOST_REPEATED, MOST_FIRST = 4.0, 10.0
REQUIRED_REPEATED, REQUIRED_FIRST = (500, 2000, 5000), (500, 2000)  # rows
_WHAT = "fit from features, seven kernels, in SVC fits"


def _key(n: int, seed: int) -> str:
    return f"from_features/n{n}/seed{seed}"


def measure_table(n: int, seed: int, repeats: int) -> Record:
    """One table: fits in turn in this process, the stages of one more, and first fits of two processes."""
    X, y = feature_table(n, seed)
    fit_features(X, y)
    times: dict[str, list[float]] = {"svc": [], "ours": []}
    for _ in range(repeats):
        times["svc"].append(cpu_seconds(partial(fit_svc, X, y))[0])
        times["ours"].append(cpu_seconds(partial(fit_features, X, y))[0])
    stages = stage_times(X, y)
    first = {how: run_child("from_features", str(n), str(seed), how)[0] for how in ("loaded", "cold")}
    return {"code": code_version(), "stages": stages, "first": first} | times


def measure(store: Store, plan: Plan) -> None:
    """Take every table."""
    for n in plan.from_features:
        for seed in SEEDS:
            store.measure(_key(n, seed), partial(measure_table, n, seed, plan.repeats))


def _records(store: Store, n: int) -> list[Record]:
    found = (store.get(_key(n, seed)) for seed in SEEDS)
    return [record for record in found if record is not None]


def _repeated(records: list[Record], name: str) -> float:
    """The median over the tables of the medians of the repeats."""
    return median([median(record[name]) for record in records])


def _first(records: list[Record], name: str, how: str = "loaded") -> float:
    return median([record["first"][how][name] for record in records])


def _figure(what: str, records: list[Record], ratio: float, most: float, is_required: bool) -> Figure:
    reached = ratio <= most if is_required else None
    return Figure(
        what, f"≤ {most:g}" if is_required else "–", f"{ratio:.2f}", reached, f"{len(records)} tables"
    )


def size_figures(store: Store, n: int) -> list[Figure]:
    """What is required of one size."""
    records = _records(store, n)
    repeated, first = f"{_WHAT}, n = {n}: repeated", f"{_WHAT}, n = {n}: first of a process"
    if not records:
        return [not_measured(repeated, f"≤ {MOST_REPEATED:g}"), not_measured(first, f"≤ {MOST_FIRST:g}")]
    ratios = [measured(records, "ours") / measured(records, "svc") for measured in (_repeated, _first)]
    return [
        _figure(repeated, records, ratios[0], MOST_REPEATED, n in REQUIRED_REPEATED),
        _figure(first, records, ratios[1], MOST_FIRST, n in REQUIRED_FIRST),
    ]


def figures(store: Store, plan: Plan) -> list[Figure]:
    """Two rows for each size."""
    return [figure for n in plan.from_features for figure in size_figures(store, n)]


def tables(store: Store, plan: Plan) -> list[Table]:
    """Times and stages, one line for each size."""
    measured = [(n, records) for n in plan.from_features if (records := _records(store, n))]
    rows, shares = [], []
    for n, records in measured:
        times = [_repeated(records, "svc"), _repeated(records, "ours")]
        for how in ("loaded", "cold"):
            times += [_first(records, "svc", how), _first(records, "ours", how)]
        ratios = [f"{ours / svc:.2f}" for svc, ours in zip(times[::2], times[1::2], strict=True)]
        rows.append([str(n), *map(seconds, times[:4]), seconds(times[5]), *ratios])
        spent = {stage: median([record["stages"][stage] for record in records]) for stage in STAGES}
        total = sum(spent.values())
        shares.append([str(n), *(f"{seconds(spent[s])} ({100 * spent[s] / total:.0f} %)" for s in STAGES)])
    header = ["n", "SVC", "ours", "SVC, first", "ours, first", "ours, first, loops not loaded"]
    header += ["SVC fits", "SVC fits, first", "SVC fits, loops not loaded"]
    text = (
        "Medians of CPU time over five tables of 20 standardized columns. The kernels are a linear, a "
        "quadratic and five Gaussian ones, as `datasets/features.py` names them; ours has its defaults "
        "otherwise, and so has SVC. A first fit touches memory that its process has not had before; the "
        "compiled loops were loaded by a tiny problem, or, in the columns that say so, were not."
    )
    stages = (
        "Medians of CPU time of one repeated fit. Distances: products of the rows and the median width; "
        "kernels: all else that fills the stack; checks: the input, the route, the memory, what is told of "
        "kernels."
    )
    return [
        Table("From features", text, header, rows),
        Table("From features: stages", stages, ["n", *STAGES], shares),
    ]

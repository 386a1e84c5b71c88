"""The same fit on two workers of a cluster on this machine, and the constants of the extrapolation."""

from __future__ import annotations

from functools import partial

from benchmarks.figures import Figure, Table, not_measured, seconds
from benchmarks.scale.child import run_task
from benchmarks.scale.plan import ScalePlan
from benchmarks.scale.words import gibibytes, grouped, provenance
from benchmarks.store import Record, Store

LARGEST_DIFFERENCE = 1e-6
LARGEST_RATIO = 1.3
N_WORKERS = 2
CONSTANT_DTYPE = "float32"
CONSTANT_LOSS = "squared_hinge"


def fit_key(loss: str) -> str:
    """The key of the fits with a loss."""
    return f"cluster/fit/{loss}"


def constants_key(rank: int) -> str:
    """The key of the constants at a rank."""
    return f"cluster/constants/rank{rank}"


def measure(store: Store, plan: ScalePlan) -> None:
    """Fits here and there; constants on one thread."""
    for loss, dtype in plan.cluster_fits:
        case = {
            "n_chunks": plan.cluster_chunks, "chunk_rows": plan.cluster_chunk_rows,
            "rank": plan.cluster_rank, "loss": loss, "dtype": dtype,
        }  # fmt: skip
        take = partial(run_task, "cluster", case=case, n_workers=N_WORKERS)
        store.measure(fit_key(loss), partial(take, round_chunks=list(plan.cluster_round_chunks)))
    for rank in plan.constant_ranks:
        take = partial(run_task, "constants", n_threads=1, n=plan.constant_rows, rank=rank)
        store.measure(constants_key(rank), partial(take, dtype=CONSTANT_DTYPE, loss=CONSTANT_LOSS))


def _records(store: Store, plan: ScalePlan) -> list[tuple[str, Record]]:
    found = ((loss, store.get(fit_key(loss))) for loss, _ in plan.cluster_fits)
    return [(loss, record) for loss, record in found if record is not None]


def _difference(record: Record) -> float:
    here, there = record["local"]["objective"], record["cluster"]["objective"]
    return abs(here - there) / abs(here)


def figures(store: Store, plan: ScalePlan) -> list[Figure]:
    """The difference of the objectives, and what the cluster costs."""
    same = "objective on two workers against one process, relative difference"
    ratio = "time on two workers of one thread / in one process of two threads"
    records = [record for _, record in _records(store, plan)]
    if not records:
        return [
            not_measured(same, f"≤ {LARGEST_DIFFERENCE:g}"),
            not_measured(ratio, f"≤ {LARGEST_RATIO:g}"),
        ]
    worst, count = max(map(_difference, records)), f"1 × {len(records)} losses"
    ratios = [record["cluster"]["fit"]["wall"] / record["local"]["fit"]["wall"] for record in records]
    return [
        Figure(same, f"≤ {LARGEST_DIFFERENCE:g}", f"{worst:.1e}", worst <= LARGEST_DIFFERENCE, count),
        Figure(
            ratio,
            f"≤ {LARGEST_RATIO:g}",
            ", ".join(f"{value:.2f}" for value in ratios),
            max(ratios) <= LARGEST_RATIO,
            count,
        ),
    ]


def tables(store: Store, plan: ScalePlan) -> list[Table]:
    """Fits, rounds that do nothing, and constants."""
    records = _records(store, plan)
    made = [_fit_table(plan, records), _round_table(records)] if records else []
    return [*made, *_constant_tables(store, plan)]


def _fit_table(plan: ScalePlan, records: list[tuple[str, Record]]) -> Table:
    rows = []
    for loss, record in records:
        for where in ("local", "cluster"):
            r = record[where]
            times = [seconds(r[stage]["wall"]) for stage in ("factors", "solver", "fit")]
            moved = gibibytes(r["bytes_moved"] / max(r["rounds"], 1))
            rows.append(
                [
                    f"{loss.replace('_', ' ')}, {record['dtype']}",
                    {"local": "one process", "cluster": "two workers"}[where],
                    *times,
                ]
                + [str(r["n_iter"]), str(r["rounds"]), moved, f"{r['objective']:.10g}"]
            )
    n = grouped(plan.cluster_chunks * plan.cluster_chunk_rows)
    text = (
        f"{n} rows in {plan.cluster_chunks} chunks, rank {plan.cluster_rank}; the bytes of a map-reduce are "
        "those of all chunks, both ways." + provenance([record for _, record in records])
    )
    header = ["loss, precision", "where", "factors", "solver", "whole fit", "iterations", "map-reduces"]
    return Table("On a cluster", text, [*header, "bytes of a map-reduce", "objective"], rows)


def _round_table(records: list[tuple[str, Record]]) -> Table:
    overhead = records[0][1]["overhead"]
    rows = [[chunks, seconds(spent)] for chunks, spent in overhead.items()]
    text = "Wall-clock time of one map-reduce over chunks of one number each: what the scheduler costs."
    return Table("Rounds that do nothing", text, ["chunks", "one round"], rows)


def _constant_tables(store: Store, plan: ScalePlan) -> list[Table]:
    found = [(rank, store.get(constants_key(rank))) for rank in plan.constant_ranks]
    rows = [
        [
            str(rank),
            str(r["columns"]),
            *(f"{r[f'{what}_rows']:.3g}" for what in ("factor", "gradient", "hessian")),
        ]
        + [gibibytes(r["gradient_back"]), gibibytes(r["hessian_back"])]
        for rank, r in found
        if r is not None
    ]
    text = (
        f"One core, {CONSTANT_DTYPE}, 10 views of 5 columns; rows a second of the factors, of one pass for "
        "value and gradient, and of one with the Hessian of all rows; and what a chunk sends back."
    )
    header = ["rank", "columns", "factors", "gradient", "Hessian", "back: gradient", "back: Hessian"]
    return [Table("Constants", text, header, rows)] if rows else []

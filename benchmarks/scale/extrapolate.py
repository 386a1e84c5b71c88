"""What a fit of 10⁹ rows on 100 machines would take, from the constants that `make bench-scale` has measured.

``python -m benchmarks.scale.extrapolate`` prints it as Markdown, of which the page of the guide is made. No
such fit was run: a model of four terms is filled with measured numbers. The standard library is enough.

    factors      rows / cores / (rows a second of one core)
    passes       map-reduces · rows / cores / (rows a second of one core, Hessian included)
    scheduler    map-reduces · (seconds of an empty round, a + b · chunks)
    network      map-reduces · (bytes that reach each machine / bandwidth + levels of the tree · latency)
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).with_name("results.json")

FAN_IN = 4  # of the tree in which chunks are summed
LOSS = "squared_hinge"


@dataclass(frozen=True)
class Cluster:
    """The machines that are assumed; a core is taken to be one of the machine that was measured."""

    machines: int = 100
    cores: int = 16
    bandwidth: float = 1.25e9  # bytes a second of each machine: 10 Gbit/s
    latency: float = 1e-3
    chunk_rows: int = 10**6


@dataclass(frozen=True)
class Constants:
    """What was measured: rows a second of one core, bytes of a chunk's answer, rounds, the scheduler."""

    rank: int
    columns: int
    factor_rows: float
    gradient_rows: float
    hessian_rows: float
    back: int
    out: int
    rounds: int
    n_iter: int
    round_base: float
    round_per_chunk: float


@dataclass(frozen=True)
class Estimate:
    """Seconds of each term of a fit, and the bytes of a round."""

    n: int
    cluster: Cluster
    constants: Constants
    factors: float
    passes: float
    scheduler: float
    network: float
    bytes_of_round: float
    bytes_of_factors: float

    @property
    def total(self) -> float:
        """Seconds of the fit."""
        return self.factors + self.passes + self.scheduler + self.network


def extrapolate(n: int, constants: Constants, cluster: Cluster) -> Estimate:
    """Fill the model; every map-reduce counts as one with the Hessian, and every sum crosses the network."""
    cores = cluster.machines * cluster.cores
    chunks = math.ceil(n / cluster.chunk_rows)
    moved = chunks * (constants.back + constants.out)
    levels = max(1, math.ceil(math.log(max(chunks, 2), FAN_IN)))
    arriving = moved * FAN_IN / (FAN_IN - 1) / cluster.machines
    return Estimate(
        n,
        cluster,
        constants,
        factors=n / cores / constants.factor_rows,
        passes=constants.rounds * n / cores / constants.hessian_rows,
        scheduler=constants.rounds * (constants.round_base + constants.round_per_chunk * chunks),
        network=constants.rounds * (arriving / cluster.bandwidth + levels * cluster.latency),
        bytes_of_round=moved,
        bytes_of_factors=4.0 * n * constants.columns,
    )


def read_constants(results: dict[str, Any], rank: int) -> Constants:
    """The constants of a rank; map-reduces and iterations are those of the largest fit at it."""
    records = {record["key"]: record for record in results["records"]}
    measured = records[f"cluster/constants/rank{rank}"]
    fits = [r for key, r in records.items() if key.startswith(f"growth/{LOSS}/rank{rank}/")]
    largest = max(fits, key=lambda record: int(record["key"].rpartition("/n")[2]))
    base, per_chunk = round_cost(records[f"cluster/fit/{LOSS}"]["overhead"])
    return Constants(
        rank,
        measured["columns"],
        measured["factor_rows"],
        measured["gradient_rows"],
        measured["hessian_rows"],
        measured["hessian_back"],
        measured["hessian_out"],
        largest["rounds"],
        largest["n_iter"],
        base,
        per_chunk,
    )


def round_cost(overhead: dict[str, float]) -> tuple[float, float]:
    """Seconds of an empty round: a + b · chunks by least squares, neither below zero."""
    chunks, spent = [float(key) for key in overhead], list(overhead.values())
    mean_chunks, mean_spent = sum(chunks) / len(chunks), sum(spent) / len(spent)
    spread = sum((c - mean_chunks) ** 2 for c in chunks)
    slope = sum((c - mean_chunks) * (s - mean_spent) for c, s in zip(chunks, spent, strict=True)) / spread
    slope = max(slope, 0.0)
    return max(mean_spent - slope * mean_chunks, 0.0), slope


def ranks_measured(results: dict[str, Any]) -> list[int]:
    """The ranks whose constants and whose fits there are."""
    keys = [record["key"] for record in results["records"]]
    ranks = [int(key.rpartition("rank")[2]) for key in keys if key.startswith("cluster/constants/rank")]
    return [rank for rank in ranks if any(key.startswith(f"growth/{LOSS}/rank{rank}/") for key in keys)]


# --- Markdown ----------------------------------------------------------------------------------------------


def markdown(results: dict[str, Any]) -> str:
    """The constants, the table of estimates, and how the model does where it can be checked."""
    ranks = ranks_measured(results)
    constants = [read_constants(results, rank) for rank in ranks]
    parts = [_constants_table(constants), _estimates_table(constants)]
    return "\n\n".join([*parts, *(_check(results, rank) for rank in ranks)])


def _constants_table(constants: list[Constants]) -> str:
    head = ["measured constant", *(f"rank {c.rank} ({c.columns} columns)" for c in constants)]
    lines = [
        ["factors, rows a second and core", *(_rate(c.factor_rows) for c in constants)],
        [
            "one pass for value and gradient, rows a second and core",
            *(_rate(c.gradient_rows) for c in constants),
        ],
        ["one pass with the Hessian, rows a second and core", *(_rate(c.hessian_rows) for c in constants)],
        ["a chunk's answer with the Hessian", *(_bytes(c.back) for c in constants)],
        ["map-reduces of a fit", *(str(c.rounds) for c in constants)],
        ["iterations of a fit", *(str(c.n_iter) for c in constants)],
        [
            "an empty round",
            *(f"{_seconds(c.round_base)} + {_seconds(c.round_per_chunk)} a chunk" for c in constants),
        ],
    ]
    return table(head, lines)


def _estimates_table(constants: list[Constants]) -> str:
    head = [
        "rows", "machines", "rank", "factors, GB a machine", "moved in a round", "map-reduces", "factors",
        "passes", "scheduler", "network", "in all",
    ]  # fmt: skip
    lines = []
    for c in constants:
        for n, machines in ((10**7, 1), (10**8, 10), (10**9, 100)):
            e = extrapolate(n, c, Cluster(machines=machines))
            memory = f"{e.bytes_of_factors / machines / 1e9:.0f}"
            terms = [_seconds(t) for t in (e.factors, e.passes, e.scheduler, e.network, e.total)]
            row = [_power(n), str(machines), str(c.rank), memory, _bytes(e.bytes_of_round), str(c.rounds)]
            lines.append([*row, *terms])
    return table(head, lines)


def _check(results: dict[str, Any], rank: int) -> str:
    """The fit on two workers that was measured, beside what the model says of it."""
    records = {record["key"]: record for record in results["records"]}
    record = records[f"cluster/fit/{LOSS}"]
    measured = record["cluster"]
    if record["rank"] != rank:
        return ""
    c = read_constants(results, rank)
    n = record["n_chunks"] * record["chunk_rows"]
    here = Cluster(record["n_workers"], 1, chunk_rows=record["chunk_rows"])
    own = Constants(**(vars(c) | {"rounds": measured["rounds"], "n_iter": measured["n_iter"]}))
    e = extrapolate(n, own, here)
    return (
        f"Where it can be checked, on {_rate(n)} rows and {record['n_workers']} workers of this machine, the "
        f"model says {_seconds(e.total)} and the fit took {_seconds(measured['fit']['wall'])}."
    )


def table(head: list[str], rows: list[list[str]]) -> str:
    """A Markdown table."""
    return "\n".join("| " + " | ".join(line) + " |" for line in [head, ["---"] * len(head), *rows])


def _rate(rows: float) -> str:
    return f"{rows:,.0f}".replace(",", " ")


def _power(n: int) -> str:
    return "10" + "".join("⁰¹²³⁴⁵⁶⁷⁸⁹"[int(digit)] for digit in str(round(math.log10(n))))


def _bytes(size: float) -> str:
    for unit, power in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= power:
            return f"{size / power:.3g} {unit}"
    return f"{size:.0f} bytes"


def _seconds(spent: float) -> str:
    if spent >= 120.0:
        return f"{spent / 60.0:.0f} min"
    return f"{spent:.3g} s" if spent >= 1.0 else f"{1e3 * spent:.3g} ms"


def main() -> None:
    """Print the Markdown."""
    print(markdown(json.loads(RESULTS.read_text(encoding="utf-8"))))


if __name__ == "__main__":
    main()

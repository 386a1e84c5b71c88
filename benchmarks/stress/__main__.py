"""``python -m benchmarks.stress``: random convex fits, each within a limit of CPU time and each judged.

What is measured is kept in --store, from where a run that was stopped goes on; fits of another version of the
package are not taken from there. ``--only NUMBER`` repeats one problem and prints what it found.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from queue import Queue

from benchmarks.measuring import code_version, describe_machine, package_version, restart_on_threads
from benchmarks.running import say
from benchmarks.store import Record, Store
from benchmarks.stress.fitting import LIMIT, ROOT, Worker, describe, serve
from benchmarks.stress.page import page, tables
from benchmarks.stress.problems import CATEGORIES, category_of, make_problem

PAGE = ROOT / "docs" / "benchmarks" / "stress.md"
STORE = ROOT / "build" / "stress.jsonl"


def parse_arguments(given: list[str] | None = None) -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.stress", description=__doc__)
    parser.add_argument("--problems", type=int, default=2000, help="numbers of problems, from 0")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--category", choices=tuple(CATEGORIES), help="only the problems of one category")
    parser.add_argument("--max-n", type=int, help="leave out problems with more samples")
    parser.add_argument("--minutes", type=float, help="stop after so many minutes")
    parser.add_argument("--jobs", type=int, default=1, help="processes that fit, one core each")
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds of CPU time of each fit")
    parser.add_argument("--only", type=int, metavar="NUMBER", help="fit one problem, and print its record")
    parser.add_argument("--store", type=Path, default=STORE, help="where each fit is kept")
    parser.add_argument("--out", type=Path, default=PAGE, help="where the page is written")
    parser.add_argument("--serve", type=float, metavar="SECONDS", help=argparse.SUPPRESS)
    return parser.parse_args(given)


def problems_of(asked: argparse.Namespace) -> Iterator[tuple[int, Record]]:
    """Numbers and descriptions of the problems asked for."""
    for number in range(asked.problems):
        if asked.category in (None, category_of(number)):
            described = describe(make_problem(asked.seed, number))
            if asked.max_n is None or described["n"] <= asked.max_n:
                yield number, described


def measure_all(asked: argparse.Namespace, version: str) -> list[Record]:
    """Fit what the store does not have yet; all that was asked for and is there then."""
    store = Store(asked.store, f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S}", resume=True)
    end = time.monotonic() + 60.0 * asked.minutes if asked.minutes else float("inf")
    workers = [Worker(asked.seed, asked.limit) for _ in range(asked.jobs)]
    idle: Queue[Worker] = Queue()
    for worker in workers:
        idle.put(worker)

    def fit(number: int) -> Record | None:
        if time.monotonic() > end:
            return None
        worker = idle.get()
        try:
            return worker.fit(number)
        finally:
            idle.put(worker)

    found = []
    try:
        with ThreadPoolExecutor(asked.jobs) as pool:
            waiting = []
            for number, described in problems_of(asked):
                key = f"{version}/{asked.limit:g}/{asked.seed}/{number}"
                future = None if store.measured(key) else pool.submit(fit, number)
                waiting.append((key, {"number": number, **described}, future))
            for key, described, future in waiting:
                fitted = {} if future is None else future.result()
                if fitted is None:
                    continue
                found.append(store.measure(key, lambda all_of_it=described | fitted: all_of_it))
                if future is not None:
                    say(line_of(found[-1]))
    finally:
        for worker in workers:
            worker.close()
    return found


def line_of(record: Record) -> str:
    """A record in one line."""
    gaps = " ".join("-" if record[key] is None else f"{record[key]:.1e}" for key in ("gap", "judged"))
    end = f"{record['outcome']} {gaps} {record['seconds']:.2f} s" + ("" if record["certified"] else " FAILED")
    return (
        f"{record['number']} {record['category']} n={record['n']} m={record['m']} {record['loss']} "
        f"C={record['C']:g} norm={record['norm']}: {end}"
    )


def main() -> None:
    """Fit, judge, keep, and write the page."""
    asked = parse_arguments()
    if asked.serve is not None:
        serve(asked.seed, asked.serve)
        return
    restart_on_threads(1, "benchmarks.stress")
    if asked.only is not None:
        worker = Worker(asked.seed, asked.limit)
        problem = describe(make_problem(asked.seed, asked.only))
        print(json.dumps({"number": asked.only, **problem, **worker.fit(asked.only)}, indent=1))
        worker.close()
        return
    records = measure_all(asked, package_version())
    if not records:
        raise SystemExit("no problem was fitted; ask for more by --problems, --max-n or --minutes.")
    choices = [f"--problems {asked.problems} --seed {asked.seed}"]
    choices += [f'--category "{asked.category}"'] if asked.category else []
    choices += [f"--max-n {asked.max_n}"] if asked.max_n else []
    choices += [f"--minutes {asked.minutes:g}"] if asked.minutes else []
    choices += [f"--jobs {asked.jobs}"] if asked.jobs > 1 else []
    about = {
        "command": f"`python -m benchmarks.stress {' '.join(choices)}`",
        "seed": str(asked.seed),
        "code": code_version() or "unknown",
    }
    asked.out.parent.mkdir(parents=True, exist_ok=True)
    asked.out.write_text(page(records, about | describe_machine(()), asked.limit), encoding="utf-8")
    print(tables(records))


if __name__ == "__main__":
    main()

"""``python -m benchmarks.attack --calls 40000 --seed 0``: hostile calls, and a table of what came of them."""

from __future__ import annotations

import argparse
import faulthandler
import json
import os
import resource
import selectors
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from multikernel._files import check_destination, write_whole

ROOT = Path(__file__).parents[2]
VERDICTS = ("result", "refused", "unhelpful", "foreign", "NaN", "changed", "memory", "hang", "crash")
FAULTS = ("foreign", "NaN", "changed", "hang", "crash")
_MEMORY = 6 * 2**30  # bytes of a process: what asks for more gets a MemoryError
_LAST_WORDS = 5.0  # seconds before the limit, when a process says where it hangs


def parse_arguments(words: Sequence[str] | None = None) -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.attack", description=__doc__)
    parser.add_argument("--calls", type=int, default=2000, help="how many calls")
    parser.add_argument("--seed", type=int, default=0, help="other seeds make other calls")
    parser.add_argument("--first", type=int, default=0, help="number of the first call")
    parser.add_argument("--batch", type=int, default=500, help="calls of one process")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds of one call, then it hangs")
    parser.add_argument(
        "--out", type=Path, help="file for all that is not a result or a refusal, as JSON lines"
    )
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args(words)


# --- the process that makes the calls -----------------------------------------------------------------------


def work(seed: int, first: int, calls: int, limit: float) -> None:
    """Make the calls; say on standard output which one begins, and what came of it."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what the calls print
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    from benchmarks.attack.calls import numbered_attack

    for number in range(first, first + calls):
        answers.write(f"{number}\n")
        faulthandler.dump_traceback_later(max(limit - _LAST_WORDS, 1.0))
        found = numbered_attack(seed, number)
        faulthandler.cancel_dump_traceback_later()
        answers.write(json.dumps(found) + "\n")


# --- the process that judges --------------------------------------------------------------------------------


def run(arguments: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """The records of all calls, in batches of a process each; a process that hangs or dies is replaced."""
    number, end = arguments.first, arguments.first + arguments.calls
    while number < end:
        for record in _batch(arguments, number, min(arguments.batch, end - number)):
            number = record["number"] + 1
            yield record


def _batch(arguments: argparse.Namespace, first: int, calls: int) -> Iterator[dict[str, Any]]:
    """The records of one process, as far as it comes."""
    words = ["--seed", arguments.seed, "--first", first, "--calls", calls, "--limit", arguments.limit]
    command = [sys.executable, "-m", "benchmarks.attack", "--worker", *map(str, words)]
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"MPLBACKEND": "agg"},
    )
    assert process.stdout is not None and process.stderr is not None
    number, told, said = first, b"", b""
    with process, selectors.DefaultSelector() as ready:
        ready.register(process.stdout, selectors.EVENT_READ)
        ready.register(process.stderr, selectors.EVENT_READ)
        while True:
            events = ready.select(timeout=arguments.limit + _LAST_WORDS)
            if not events:
                process.kill()
                yield _fault(number, "hang", said)
                return
            for key, _ in events:
                content = os.read(key.fd, 65536)
                if key.fileobj is process.stderr:
                    said = (said + content)[-4000:]
                    if not content:
                        ready.unregister(process.stderr)
                    continue
                *lines, told = (told + content).split(b"\n")
                for line in lines:
                    if line.startswith(b"{"):
                        yield json.loads(line)
                        number += 1
                    else:
                        number = int(line)
                if not content:
                    if process.wait() or number < first + calls:
                        yield _fault(number, "crash", said)
                    return


def _fault(number: int, verdict: str, said: bytes) -> dict[str, Any]:
    told = said.decode(errors="replace")[-1500:]
    return {"number": number, "kind": "?", "target": "?", "given": "", "verdict": verdict, "told": told}


def table(records: Sequence[dict[str, Any]]) -> str:
    """A Markdown table: kinds of calls by what came of them."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for record in records:
        counts[record["kind"]][record["verdict"]] += 1
        counts["all"][record["verdict"]] += 1
    lines = [f"| calls of | calls | {' | '.join(VERDICTS)} |", "|---|--:|" + "--:|" * len(VERDICTS)]
    for kind in sorted(counts, key=lambda kind: (kind == "all", kind)):
        cells = [str(counts[kind][verdict]) for verdict in VERDICTS]
        lines.append(f"| {kind} | {sum(counts[kind].values())} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> int:
    """Attack; the exit status is 1 if there is a fault."""
    arguments = parse_arguments()
    if arguments.worker:
        work(arguments.seed, arguments.first, arguments.calls, arguments.limit)
        return 0
    if arguments.out is not None:
        check_destination(arguments.out)
    records = []
    for record in run(arguments):
        records.append(record)
        if record["verdict"] in FAULTS:
            called = f"{record['target']}({record['given']})"
            print(f"{record['number']} {record['verdict']}: {called} {record['told']}", flush=True)
        if len(records) % 1000 == 0:
            print(f"{len(records)} calls", file=sys.stderr, flush=True)
    if arguments.out is not None:
        kept = [record for record in records if record["verdict"] not in ("result", "refused")]
        write_whole(arguments.out, "".join(json.dumps(record) + "\n" for record in kept).encode())
    print(table(records))
    return int(any(record["verdict"] in FAULTS for record in records))


if __name__ == "__main__":
    sys.exit(main())

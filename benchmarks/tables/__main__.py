"""``python -m benchmarks.tables``: accuracy on tables and on views, against tuned models of other kinds.

What is measured is kept in --store, from where a run that was stopped goes on. The page is written at the end
of each run, from all that is in the store; --page writes it and measures nothing.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.measuring import code_version, package_version, restart_on_threads
from benchmarks.running import say
from benchmarks.store import Record, Store
from benchmarks.tables.contestants import contestants_of
from benchmarks.tables.running import MINUTES, Work, plan, run
from benchmarks.tables.sets import ENTRIES, PARTS, REPEATS

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "benchmarks" / "tables.md"
STORE = ROOT / "benchmarks" / "tables" / "results.jsonl"


def listed(text: str) -> list[str]:
    """Names separated by commas."""
    return [name for name in text.split(",") if name]


def common_options(parser: argparse.ArgumentParser, repeats: int) -> None:
    """The options of both studies on the page."""
    parser.add_argument("--only", type=listed, default=[], metavar="SET,...", help="sets to measure")
    parser.add_argument("--contestants", type=listed, default=[], metavar="NAME,...", help="who is measured")
    parser.add_argument("--repeats", type=int, default=repeats, help="repetitions of two folds")
    parser.add_argument("--jobs", type=int, default=1, help="processes that fit, one thread each")
    parser.add_argument("--max-minutes", type=float, help="begin no fit after so many minutes")
    parser.add_argument("--limit", type=float, default=MINUTES, help="minutes that a fit may take")
    parser.add_argument(
        "--again",
        choices=("failed", "stale"),
        help="measure again: what has failed, or what another version of the package gave for ours",
    )
    parser.add_argument("--page", action="store_true", help="measure nothing, write the page")
    parser.add_argument("--store", type=Path, default=STORE, help="where each fit is kept")
    parser.add_argument("--out", type=Path, default=PAGE, help="where the page is written")


def parse_arguments(given: list[str] | None = None) -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tables", description=__doc__)
    common_options(parser, REPEATS)
    parser.add_argument("--parts", type=listed, default=list(PARTS), help=f"of {', '.join(PARTS)}")
    asked = parser.parse_args(given)
    refuse_unknown("--parts", asked.parts, PARTS)
    refuse_unknown("--only", asked.only, list(ENTRIES))
    known = [name for part in asked.parts for name in contestants_of(part)]
    refuse_unknown("--contestants", asked.contestants, known)
    return asked


def refuse_unknown(option: str, given: Sequence[str], known: Sequence[str]) -> None:
    """Names that nothing has end the program."""
    unknown = [name for name in given if name not in known]
    if unknown:
        raise SystemExit(f"{option} takes {', '.join(dict.fromkeys(known))}; given {', '.join(unknown)}.")


def open_store(path: Path) -> Store:
    """The rows that were measured until now."""
    return Store(path, f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S}", resume=True)


def is_pending(work: Work, record: Record | None, again: str | None, package: str) -> bool:
    """Whether a row has to be measured: it is not there, or is to be measured again."""
    if record is None:
        return True
    if again == "failed":
        return "failed" in record
    contestant = contestants_of(work.part)[work.contestant]
    changes = contestant.is_ours or contestant.of_package
    return again == "stale" and changes and record.get("package") != package


def measure_pending(works: Sequence[Work], store: Store, asked: argparse.Namespace) -> None:
    """Measure what is not there yet, as the options say."""
    about = {"commit": code_version(), "package": package_version()}
    waiting = [work for work in works if is_pending(work, store.get(work.key), asked.again, about["package"])]
    say(f"{len(waiting)} of {len(works)} fits are to be measured")
    try:
        run(waiting, store, about, jobs=asked.jobs, minutes=asked.max_minutes, limit=asked.limit)
    except KeyboardInterrupt:
        say("stopped; the next run goes on from here")


def finish(store: Store, out: Path) -> None:
    """Write the page, and say where."""
    from benchmarks.tables.page import write_page

    for path in write_page(store, out):
        say(f"wrote {path}")


def main() -> None:
    """Measure, keep, and write the page."""
    asked = parse_arguments()
    restart_on_threads(1, "benchmarks.tables")
    store = open_store(asked.store)
    if not asked.page:
        measure_pending(plan(asked.parts, asked.repeats, asked.only, asked.contestants), store, asked)
    finish(store, asked.out)


if __name__ == "__main__":
    main()

"""What every set of benchmarks does: read the command line, choose sections, measure them into a store."""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.store import Store


def parse_arguments(program: str, description: str | None) -> argparse.Namespace:
    """The options that all sets of benchmarks have."""
    parser = argparse.ArgumentParser(prog=f"python -m {program}", description=description)
    parser.add_argument("--quick", action="store_true", help="fewer, smaller cases; minutes (into quick/)")
    parser.add_argument("--only", default="", help="sections to measure, separated by commas")
    parser.add_argument("--resume", action="store_true", help="keep what earlier runs have measured")
    parser.add_argument("--report", action="store_true", help="measure nothing, write the page anew")
    return parser.parse_args()


def say(text: str) -> None:
    """Write a line with the time of day."""
    print(f"[{datetime.now(UTC):%H:%M:%S}] {text}", flush=True)


def choose_sections(only: str, sections: Mapping[str, Any]) -> list[str]:
    """The sections that ``--only`` names; all of them if it names none."""
    chosen = [name for name in only.split(",") if name] or list(sections)
    unknown = sorted(set(chosen) - set(sections))
    if unknown:
        raise SystemExit(f"--only takes {', '.join(sections)}; given {', '.join(unknown)}")
    return chosen


def open_store(arguments: argparse.Namespace, folder: Path) -> Store:
    """The store of a run; a full run that is not resumed starts from nothing."""
    store = Store(folder / "raw.jsonl", f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S}", resume=arguments.resume)
    if not (arguments.resume or arguments.report or arguments.only):
        store.forget()
    return store


def measure_sections(store: Store, plan: Any, sections: Mapping[str, Any], chosen: list[str]) -> None:
    """Measure the chosen sections, one after the other."""
    for name in chosen:
        say(f"measuring {name}")
        start = time.perf_counter()
        sections[name].measure(store, plan)
        say(f"{name} took {time.perf_counter() - start:.0f} s")

"""``python -m benchmarks``: measure the sections asked for, judge them, write page, JSON and plots."""

from __future__ import annotations

import argparse
import gc
import os
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.measuring import check_one_thread, describe_machine, one_thread_environment

HERE = Path(__file__).parent


def _restart_on_one_thread() -> None:
    """Libraries read these variables when they are loaded, so that they must stand before Python starts."""
    wanted = one_thread_environment()
    if any(os.environ.get(name) != value for name, value in wanted.items()):
        os.execve(sys.executable, [sys.executable, "-m", "benchmarks", *sys.argv[1:]], os.environ | wanted)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer, smaller cases; minutes (into quick/)")
    parser.add_argument("--only", default="", help="sections to measure, separated by commas")
    parser.add_argument("--resume", action="store_true", help="keep what earlier runs have measured")
    parser.add_argument("--report", action="store_true", help="measure nothing, write the page anew")
    return parser.parse_args()


def _say(text: str) -> None:
    print(f"[{datetime.now(UTC):%H:%M:%S}] {text}", flush=True)


def main() -> int:
    """Run; the exit status is 0 whether figures are reached or missed: the table says which."""
    arguments = _arguments()
    _restart_on_one_thread()
    from benchmarks.children.tiny import fit_tiny
    from benchmarks.plan import FULL, QUICK
    from benchmarks.plots import write_plots
    from benchmarks.report import SECTIONS, all_figures, take_profiles, write_results
    from benchmarks.store import Store

    gc.freeze()  # what is loaded by now stays: the collection before each time need not go through it
    chosen = [name for name in arguments.only.split(",") if name] or list(SECTIONS)
    unknown = sorted(set(chosen) - set(SECTIONS))
    if unknown:
        raise SystemExit(f"--only takes {', '.join(SECTIONS)}; given {', '.join(unknown)}")
    plan, folder = (QUICK, HERE / "quick") if arguments.quick else (FULL, HERE)
    keep = arguments.resume or arguments.report or bool(arguments.only)
    store = Store(folder / "raw.jsonl", f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S}", resume=arguments.resume)
    if not keep:
        store.forget()
    check_one_thread()
    if not arguments.report:
        fit_tiny()
        for name in chosen:
            _say(f"measuring {name}")
            start = time.perf_counter()
            SECTIONS[name].measure(store, plan)
            _say(f"{name} took {time.perf_counter() - start:.0f} s")
        take_profiles(store, all_figures(store, plan, chosen))
    described = describe_machine()
    for figure in write_results(store, plan, folder, described):
        _say(f"{figure.outcome.strip('*')}: {figure.what}: {figure.measured} (required {figure.required})")
    plots = write_plots(store, plan, folder)
    names = ", ".join(str(path.relative_to(HERE.parent)) for path in [folder / "results.md", *plots])
    _say(f"wrote {names}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

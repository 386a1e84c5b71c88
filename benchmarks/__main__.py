"""``python -m benchmarks``: measure the sections asked for, judge them, write page, JSON and plots."""

from __future__ import annotations

import gc
import sys
from pathlib import Path

from benchmarks.measuring import check_threads, describe_machine, restart_on_threads
from benchmarks.running import choose_sections, measure_sections, open_store, parse_arguments, say

HERE = Path(__file__).parent
PEERS = ("cvxpy", "clarabel", "cvxopt", "scs", "sdpa-python", "MKLpy", "torch")


def main() -> int:
    """Run; the exit status is 0 whether figures are reached or missed: the table says which."""
    arguments = parse_arguments("benchmarks", __doc__)
    restart_on_threads(1, "benchmarks")
    from benchmarks.children.tiny import fit_tiny
    from benchmarks.plan import FULL, QUICK
    from benchmarks.plots import write_plots
    from benchmarks.report import SECTIONS, all_figures, take_profiles, write_results

    gc.freeze()  # what is loaded by now stays: the collection before each time need not go through it
    chosen = choose_sections(arguments.only, SECTIONS)
    plan, folder = (QUICK, HERE / "quick") if arguments.quick else (FULL, HERE)
    store = open_store(arguments, folder)
    check_threads()
    if not arguments.report:
        fit_tiny()
        measure_sections(store, plan, SECTIONS, chosen)
        take_profiles(store, all_figures(store, plan, chosen))
    described = describe_machine(PEERS)
    for figure in write_results(store, plan, folder, described):
        say(f"{figure.outcome.strip('*')}: {figure.what}: {figure.measured} (required {figure.required})")
    plots = write_plots(store, plan, folder)
    names = ", ".join(str(path.relative_to(HERE.parent)) for path in [folder / "results.md", *plots])
    say(f"wrote {names}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

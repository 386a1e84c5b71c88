"""``python -m benchmarks.scale``: measure the sections asked for, judge them, write the page and its JSON."""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks.measuring import describe_machine, restart_on_threads
from benchmarks.running import choose_sections, measure_sections, open_store, parse_arguments, say
from benchmarks.scale.child import N_THREADS

HERE = Path(__file__).parent
PEERS = ("celer", "skglm", "dask", "distributed")


def main() -> int:
    """Run; the exit status is 0 whether figures are reached or missed: the table says which."""
    arguments = parse_arguments("benchmarks.scale", __doc__)
    restart_on_threads(N_THREADS, "benchmarks.scale")
    from benchmarks.scale.plan import FULL, QUICK
    from benchmarks.scale.report import SECTIONS, write_results

    chosen = choose_sections(arguments.only, SECTIONS)
    plan, folder = (QUICK, HERE / "quick") if arguments.quick else (FULL, HERE)
    store = open_store(arguments, folder)
    if not arguments.report:
        measure_sections(store, plan, SECTIONS, chosen)
    for figure in write_results(store, plan, folder, describe_machine(PEERS, N_THREADS)):
        say(f"{figure.outcome.strip('*')}: {figure.what}: {figure.measured} (required {figure.required})")
    say(f"wrote {(folder / 'results.md').relative_to(HERE.parents[1])}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

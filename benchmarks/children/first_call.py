"""Import the package and fit a tiny problem twice; print the wall-clock and CPU time of each step."""

from __future__ import annotations

import json
import logging
import time
import warnings


def main() -> None:
    """Every way in which the library may announce compilation is left open: logging, warnings, output."""
    logging.basicConfig(level=logging.INFO)
    warnings.simplefilter("always")
    times = {}
    start, start_cpu = time.perf_counter(), time.process_time()
    from benchmarks.children.tiny import fit_tiny

    for step in ("import", "first fit", "second fit"):
        if step != "import":
            fit_tiny()
        now, now_cpu = time.perf_counter(), time.process_time()
        times[step] = {"wall": now - start, "cpu": now_cpu - start_cpu}
        start, start_cpu = now, now_cpu
    print(json.dumps(times))


if __name__ == "__main__":
    main()

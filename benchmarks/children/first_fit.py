"""Make one of the fits of ``multikernel warmup`` twice; print the CPU time of the imports and of each fit."""

from __future__ import annotations

import json
import sys
import time
import warnings


def main() -> None:
    """The name of the fit is the argument."""
    warnings.simplefilter("ignore")
    start = time.process_time()  # from here on: what the interpreter itself needs is not counted
    from multikernel.cli.warmup import fits

    fit = fits(everything=True)[sys.argv[1]]
    times = [time.process_time() - start]
    for _ in range(2):
        start = time.process_time()
        fit()
        times.append(time.process_time() - start)
    print(json.dumps(dict(zip(("import", "first", "second"), times, strict=True))))


if __name__ == "__main__":
    main()

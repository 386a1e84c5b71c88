"""``python -m benchmarks.first_fit``: the CPU time of first fits, which compile, one row for each.

The first row begins with an empty cache, the others with what that first fit has left there: they say what
each further estimator or precision costs. Required: at most 8 s for the first fit beyond the imports, and at
most 8 s more for any other. ``--only NAME`` takes the rows whose names have these words.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.children import run_child
from multikernel.cli.warmup import fits

LIMIT = 8.0


def measure(name: str, cache: Path) -> dict[str, float]:
    """CPU seconds of the imports and of two fits in a process of their own."""
    times, _ = run_child("first_fit", name, NUMBA_CACHE_DIR=str(cache))
    return times


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; 1 if a fit takes longer than it may."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.first_fit", description=__doc__.split("\n")[0]
    )
    parser.add_argument("--only", default="", help="only fits whose names have these words")
    only = parser.parse_args(arguments).only
    usual, *others = fits(everything=True)
    print(f"{'import':>8} {'first fit':>9} {'second':>8} {'compiling':>9}  CPU seconds of")
    worst = 0.0
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder) / "base"
        for name in [usual, *(name for name in others if only in name)]:
            cache = base if name == usual else Path(shutil.copytree(base, Path(folder) / "more"))
            found = measure(name, cache)
            spent = found["first"] - found["second"]
            worst = max(worst, spent)
            print(
                f"{found['import']:8.2f} {found['first']:9.2f} {found['second']:8.3f} {spent:9.2f}  {name}",
                flush=True,
            )
            if cache != base:
                shutil.rmtree(cache)
    return int(worst > LIMIT)


if __name__ == "__main__":
    sys.exit(main())

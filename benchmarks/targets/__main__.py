"""Measure what is missing, and write the page: ``python -m benchmarks.targets``."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.measuring import restart_on_threads
from benchmarks.store import Store

from .page import write_page

RESULTS = Path(__file__).with_name("results.jsonl")
PARTS = ("brain", "side_effects", "scale", "speed")
SPLITS = 2


def units(part: str) -> Iterator[tuple[str, Callable[[], dict[str, Any]]]]:
    """Keys, and functions that measure."""
    from . import accuracy, scale, speed

    if part == "speed":
        for split in range(SPLITS):
            for number, name in enumerate(speed.FITS):
                for dtype in ("float32", "float64"):
                    yield (
                        f"speed:{split}:{number}:{dtype}",
                        lambda s=split, d=dtype, n=name: speed.measure(s, d, n),
                    )
    elif part == "scale":
        for dtype, counts in {"float32": scale.COUNTS, "float64": scale.COUNTS[-1:]}.items():
            for count in counts:
                yield f"scale:{dtype}:{count:05d}", lambda c=count, d=dtype: scale.measure(c, d)
    elif part == "side_effects":
        for fold in range(accuracy.N_FOLDS):
            for number, name in enumerate(accuracy.contestants(6)):
                yield (
                    f"side_effects:{number}:{fold}",
                    lambda n=name, f=fold: accuracy.side_effects_fold(n, f),
                )
    else:
        for draw in range(accuracy.N_DRAWS):
            for number, name in enumerate(accuracy.contestants(5)):
                yield f"brain:{number}:{draw}", lambda n=name, d=draw: accuracy.brain_draw(n, d)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=PARTS)
    parser.add_argument("--again", choices=PARTS)
    parser.add_argument("--page", action="store_true", help="write the page of what is there")
    asked = parser.parse_args()
    store = Store(RESULTS, "targets", resume=True)
    for part in () if asked.page else PARTS if asked.only is None else (asked.only,):
        for key, measure in units(part):
            if part == asked.again or not store.measured(key):
                store.write(key, measure())
                print(key, store.records[key], flush=True)
    write_page(store.records)


if __name__ == "__main__":
    restart_on_threads(1, "benchmarks.targets")
    main()

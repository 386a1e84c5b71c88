"""A study small enough to check by hand: each unit draws one number around the published mean."""

import time

import numpy as np

from studies import Quantity, Study, Table, Unit
from studies.compare import compare, comparison_row

PUBLISHED, PUBLISHED_SPLITS = 10.0, 30
# The key of the unit at which a run is interrupted, as if by Ctrl-C; computed keys in order.
INTERRUPT_AT: list[str] = []
COMPUTED: list[str] = []


def draw(group, split):
    """A pure function of its arguments (but for the interrupt)."""
    key = f"{group}/{split}"
    if key in INTERRUPT_AT:
        raise KeyboardInterrupt
    COMPUTED.append(key)
    return {"x": float(np.random.default_rng([len(group), split]).normal(PUBLISHED)), "vector": [split, 2.5]}


def draw_slowly(group, split):
    time.sleep(0.05)
    return draw(group, split)


def refuse(group, split):
    raise ValueError("the data do not please.")


def rows(results):
    groups = dict.fromkeys(unit.arguments["group"] for unit, _ in results)
    return [
        comparison_row(
            group,
            {"who": "toy"},
            {
                "x": compare(
                    [r["x"] for u, r in results if u.arguments["group"] == group], PUBLISHED, PUBLISHED_SPLITS
                ),
                "vector": compare([r["vector"] for u, r in results if u.arguments["group"] == group]),
            },
            remark="never seen" if group == "b" else "",
        )
        for group in groups
    ]


def make_table(function=draw, version=1, **options):
    def units(splits):
        return [
            Unit(f"{group}/{split}", function, {"group": group, "split": split})
            for group in ("aa", "b")
            for split in range(splits)
        ]

    quantities = (Quantity("x", "x", 2), Quantity("vector", "pair", 1, difference=False))
    return Table(
        "1", "A toy", version, PUBLISHED_SPLITS, units, rows, quantities, ("Draw.",), ("A note.",), **options
    )


def draw_nothing(summary, path):
    path.write_bytes(summary["title"].encode())


def make_study(**options):
    return Study("toy", "A. Toy (1900).", {"1": make_table(**options)})


def make_study_with_figure(**options):
    """A table 1 and a figure 1 that are not the same."""
    figure = make_table(version=2, figure=draw_nothing, kind="figure", **options)
    return Study("toy", "A. Toy (1900).", {"1": make_table(**options)}, {"1": figure})

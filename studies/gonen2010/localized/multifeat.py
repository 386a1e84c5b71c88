"""Tables 5.16 and 5.17 and figure 5.8: small and large digits of six representations (MULTIFEAT-SL)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np

from multikernel.kernels import Linear
from multikernel.views import View
from studies.data import load_data
from studies.gonen2010.localized.rows import (
    CURVE_QUANTITIES,
    PAIR_QUANTITIES,
    Results,
    Rows,
    Section,
    by_method,
    curve_rows,
    draw_curves,
    make_units,
    pair_rows,
    score_rows,
    weight_rows,
)
from studies.gonen2010.localized.setting import (
    ACCURACY,
    F_TESTS,
    SCALING,
    SPLITS_SAID,
    SUPPORT,
    THIRDS,
    Method,
    Pair,
    Problem,
    Sample,
    copies,
    draw_halves,
    global_method,
    local_method,
    run_method,
    side_by_side,
    unit_view,
)
from studies.gonen2010.published_localized import REPRESENTATIONS, cells_of
from studies.study import Quantity, Table, Unit

SPLITS, CURVE_SPLITS = 5, 2
COPIES = tuple(range(1, 9))


@lru_cache(maxsize=1)
def load_digits() -> Sample:
    """Return the digits 0 to 4 (+1) against 5 to 9 (−1), six representations side by side."""
    data = load_data("mfeat")
    assert data.y is not None
    return side_by_side({name: data.views[name] for name in REPRESENTATIONS}, np.where(data.y < 5, 1, -1))


def _view(name: str, sample: Sample) -> View:
    return unit_view(name, Linear(), sample.columns[name])


def _one(name: str, sample: Sample) -> list[View]:
    return [_view(name, sample)]


def _all(sample: Sample) -> list[View]:
    return [unit_view("all", Linear())]


def _each(sample: Sample) -> list[View]:
    return [_view(name, sample) for name in REPRESENTATIONS]


def _copies(count: int, sample: Sample) -> list[View]:
    return copies(_view("fac", sample), count)


def _methods() -> dict[str, Method]:
    single = {name: global_method(f"SVM ({name.upper()})", partial(_one, name)) for name in REPRESENTATIONS}
    curve = {
        f"copies-{count}": local_method(f"LMKL ({count} FAC and sigmoid)", partial(_copies, count), "sigmoid")
        for count in COPIES
    }
    return {
        **single,
        "all": global_method("SVM (ALL)", _all),
        "mkl": global_method("MKL", _each),
        "softmax": local_method("LMKL (softmax)", _each, "softmax"),
        "sigmoid": local_method("LMKL (sigmoid)", _each, "sigmoid"),
        "copies": local_method("LMKL (6 FAC and sigmoid)", partial(_copies, 6), "sigmoid"),
        **curve,
    }


PROBLEM = Problem(load_digits, _methods(), draw_halves)
IN_TABLE = (*REPRESENTATIONS, "all", "mkl", "softmax", "sigmoid", "copies")
WITH_WEIGHTS = ("mkl", "softmax", "sigmoid")
PAIRS = (
    Pair("all", "fac", "test", ">"),
    Pair("all", "fac", "support", ">"),
    Pair("mkl", "all", "test", "="),
    Pair("mkl", "all", "support", ">"),
    Pair("softmax", "all", "test", "="),
    Pair("softmax", "all", "support", "<"),
    Pair("sigmoid", "mkl", "test", ">"),
    Pair("sigmoid", "all", "test", ">"),
    Pair("sigmoid", "fac", "test", ">"),
    Pair("sigmoid", "mkl", "support", "<"),
    Pair("sigmoid", "all", "support", "<"),
    Pair("sigmoid", "fac", "support", "="),
    Pair("sigmoid", "copies", "test", "="),
    Pair("sigmoid", "copies", "support", "<"),
    Pair("copies", "fac", "test", "="),
)
_TITLE = "MULTIFEAT-SL"


def compute_multifeat(method: str, split: int) -> dict[str, Any]:
    """Return how a method does on a split of the digits: see `run_method`."""
    return run_method(PROBLEM, method, split)


def _units(methods: Sequence[str], splits: int) -> list[Unit]:
    return make_units(compute_multifeat, methods, splits, ("mfeat",))


def _score_rows(results: Results) -> Rows:
    found = by_method(results)
    labels = {key: method.label for key, method in PROBLEM.methods.items()}
    return [
        *score_rows(Section(_TITLE, PROBLEM, "accuracy", "table5.16"), found),
        *pair_rows("What the text compares", PAIRS, labels, found),
    ]


def _weight_rows(results: Results) -> Rows:
    section = Section(_TITLE, PROBLEM, "accuracy", "table5.17")
    return weight_rows(section, by_method(results), REPRESENTATIONS)


def _curve_rows(results: Results) -> Rows:
    section = Section("Copies of the linear kernel on FAC", PROBLEM, "accuracy", "")
    return curve_rows(section, by_method(results), {f"copies-{count}": count for count in COPIES})


_DATA = (
    "MULTIFEAT-SL: the 2000 digits of Multiple Features (UCI), 0 to 4 against 5 to 9; a linear "
    "kernel on each "
    "of FAC (216 columns), FOU (76), KAR (64), MOR (6), PIX (240) and ZER (47)."
)
_GATE = (
    "The gate sees all 649 columns, that of the copies of FAC the columns of FAC. C is one of 0.01, 0.1, 1, "
    "10, 100."
)
TABLES = (
    Table(
        name="5.16",
        title="Gönen (2010), table 5.16: classification of MULTIFEAT-SL",
        version=2,
        splits=SPLITS,
        units=partial(_units, IN_TABLE),
        rows=_score_rows,
        quantities=(*ACCURACY, *SUPPORT, *PAIR_QUANTITIES),
        protocol=(_DATA, THIRDS, _GATE, *SCALING, SPLITS_SAID, F_TESTS),
        notes=(
            "The defaults of the library's localized estimators were partly fitted to numbers of the thesis: "
            "these tables are no independent confirmation of the method.",
        ),
        cells=cells_of("table5.16"),
    ),
    Table(
        name="5.17",
        title="Gönen (2010), table 5.17: kernel weights and active kernels on MULTIFEAT-SL",
        version=2,
        splits=SPLITS,
        units=partial(_units, WITH_WEIGHTS),
        rows=_weight_rows,
        quantities=(
            Quantity("weights", "weights of FAC / FOU / KAR / MOR / PIX / ZER", 4),
            Quantity("active", "active kernels", 2),
        ),
        protocol=(
            "The machines of table 5.16. The weights of MKL, of sum 1, and the gates of LMKL are means over "
            "the test points and the folds; a kernel is active at a test point where its weight is above "
            "0.001 (the thesis: not zero).",
            SPLITS_SAID,
        ),
        cells=cells_of("table5.17"),
        shares="table5.16",
    ),
)
FIGURE = Table(
    name="5.8",
    title="Gönen (2010), figure 5.8: copies of the linear kernel on FAC, sigmoid gate",
    version=2,
    splits=CURVE_SPLITS,
    units=partial(_units, tuple(f"copies-{count}" for count in COPIES)),
    rows=_curve_rows,
    quantities=(*ACCURACY, *SUPPORT, *CURVE_QUANTITIES),
    protocol=(
        "MULTIFEAT-SL, 0 to 4 against 5 to 9; LMKL with so many copies of the linear kernel on FAC and a "
        f"sigmoid gate on FAC. The axis of the figure cannot be read in the text at hand; ours has "
        f"{COPIES[0]} to {COPIES[-1]} copies. One copy is a single machine with a gate.",
        THIRDS,
        *SCALING,
        "Bars: one standard deviation over the folds, the mean over the splits, which are random test parts.",
    ),
    notes=("The figure prints no numbers; table 5.16 has those of six copies.",),
    figure=partial(draw_curves, "accuracy", "test accuracy, %"),
    kind="figure",
)

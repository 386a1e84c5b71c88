"""Tables 5.19 and 5.20 and figure 5.9: Internet advertisements (ADVERT), five bags of words."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np

from multikernel.kernels import Linear
from multikernel.views import View
from studies.data import has_data, load_data, require_arrays
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
from studies.gonen2010.published_localized import ADVERT_VIEWS, cells_of
from studies.study import DataFile, Quantity, Table, Unit

SPLITS, CURVE_SPLITS = 1, 1
COPIES = tuple(range(1, 6))
REAL, STAND_IN = "internet_advertisements", "webkb_course"
_WORDS = 300  # of each representation of the stand-in: the most frequent
# Data set to its representations, what the gate sees, and what is copied.
_VIEWS = {REAL: ADVERT_VIEWS, STAND_IN: ("page", "anchor")}
_GATE_ON = {REAL: "caption", STAND_IN: "anchor"}
_COPIED = {REAL: "ancurl", STAND_IN: "page"}
_STANDS_IN = (
    "The advertisements are not at hand: the 1051 web pages of WebKB, courses or not, stand in for them, "
    f"with the {_WORDS} most frequent words of the pages and of the links to them as two representations; "
    "the gate sees the words of the links, and the copies are of the kernel on the pages."
)
DATA = DataFile(
    REAL,
    "Internet Advertisements (UCI) without the geometry of the images: tables 5.19 and 5.20, figure 5.9",
    {
        **{f"view_{name}": f"(3279, d), phrases of {name.upper()} (table 5.18)" for name in ADVERT_VIEWS},
        "y": "(3279,), 1 for an advertisement, 0 otherwise",
    },
)


@lru_cache(maxsize=1)
def load_set(name: str) -> Sample:
    """Return the representations of a data set side by side, advertisements (or courses) as +1."""
    data = load_data(name)
    require_arrays(data, (*(f"view_{view}" for view in _VIEWS[name]), "y"))
    assert data.y is not None
    tables = {view: np.asarray(data.views[view], dtype=np.float64) for view in _VIEWS[name]}
    if name == STAND_IN:
        tables = {view: _frequent(table) for view, table in tables.items()}
    return side_by_side(tables, np.where(np.asarray(data.y) == np.max(data.y), 1, -1))


def _frequent(table: np.ndarray) -> np.ndarray:
    """The columns that are most often not zero."""
    order = np.argsort(-(table > 0).sum(axis=0), kind="stable")
    return table[:, np.sort(order[:_WORDS])]


def _one(name: str, sample: Sample) -> list[View]:
    return [unit_view(name, Linear(), sample.columns[name])]


def _all(sample: Sample) -> list[View]:
    return [unit_view("all", Linear())]


def _each(names: tuple[str, ...], sample: Sample) -> list[View]:
    return [unit_view(name, Linear(), sample.columns[name]) for name in names]


def _copies(name: str, count: int, sample: Sample) -> list[View]:
    return copies(unit_view(name, Linear(), sample.columns[name]), count)


def _methods(dataset: str) -> dict[str, Method]:
    names, gate, copied = _VIEWS[dataset], _GATE_ON[dataset], _COPIED[dataset]
    each = partial(_each, names)
    curve = {
        f"copies-{n}": local_method(
            f"LMKL ({n} {copied.upper()} and sigmoid)", partial(_copies, copied, n), "sigmoid"
        )
        for n in COPIES
    }
    return {
        **{name: global_method(f"SVM ({name.upper()})", partial(_one, name)) for name in names},
        "all": global_method("SVM (ALL)", _all),
        "mkl": global_method("MKL", each),
        "softmax": local_method("LMKL (softmax)", each, "softmax", gate_on=gate),
        "sigmoid": local_method("LMKL (sigmoid)", each, "sigmoid", gate_on=gate),
        "copies": local_method(
            f"LMKL (5 {copied.upper()} and sigmoid)", partial(_copies, copied, 5), "sigmoid"
        ),
        **curve,
    }


PROBLEMS = {name: Problem(partial(load_set, name), _methods(name), draw_halves) for name in (REAL, STAND_IN)}
_TITLES = {REAL: "ADVERT", STAND_IN: "WebKB, courses"}
GATED = ("mkl", "softmax", "sigmoid")
PAIRS = (
    Pair("all", "ancurl", "test", ">"),
    Pair("all", "ancurl", "support", "<"),
    Pair("mkl", "all", "test", "="),
    Pair("mkl", "all", "support", "="),
    *(Pair(gate, rival, "test", "=") for gate in GATED[1:] for rival in ("mkl", "all")),
    Pair("sigmoid", "all", "support", "<"),
    Pair("sigmoid", "copies", "test", ">"),
    Pair("copies", "sigmoid", "support", "<"),
)


def compute_advert(dataset: str, method: str, split: int) -> dict[str, Any]:
    """Return how a method does on a split of a data set: see `run_method`."""
    return run_method(PROBLEMS[dataset], method, split)


def _units(methods: Sequence[str] | None, splits: int) -> list[Unit]:
    name = REAL if has_data(REAL) else STAND_IN
    rest = ("all", *GATED, "copies")
    return make_units(compute_advert, methods or (*_VIEWS[name], *rest), splits, (name,), dataset=name)


def _section(results: Results, stem: str) -> Section:
    dataset = results[0][0].arguments["dataset"]
    stand_in = _STANDS_IN if dataset == STAND_IN else ""
    return Section(_TITLES[dataset], PROBLEMS[dataset], "accuracy", stem, stand_in)


def _score_rows(results: Results) -> Rows:
    section, found = _section(results, "table5.19"), by_method(results)
    labels = {key: method.label for key, method in section.problem.methods.items()}
    compared = pair_rows("What the text compares", PAIRS, labels, found)
    return [
        *score_rows(section, found),
        *(row | ({"stand_in": section.stand_in} if section.stand_in else {}) for row in compared),
    ]


def _weight_rows(results: Results) -> Rows:
    section = _section(results, "table5.20")
    return weight_rows(section, by_method(results), None if section.stand_in else ADVERT_VIEWS)


def _curve_rows(results: Results) -> Rows:
    section = _section(results, "")
    return curve_rows(section, by_method(results), {f"copies-{count}": count for count in COPIES})


_DATA = (
    "ADVERT: 3279 images of the web, advertisements or not; a linear kernel on each of URL, ORIGURL, ANCURL, "
    "ALT and CAPTION (bags of phrases, table 5.18). The gate sees CAPTION; that of the copies what they see. "
    "C is one of 0.01, 0.1, 1, 10, 100."
)
TABLES = (
    Table(
        name="5.19",
        title="Gönen (2010), table 5.19: classification of ADVERT",
        version=2,
        splits=SPLITS,
        units=partial(_units, None),
        rows=_score_rows,
        quantities=(*ACCURACY, *SUPPORT, *PAIR_QUANTITIES),
        protocol=(_DATA, THIRDS, *SCALING, SPLITS_SAID, F_TESTS),
        cells=cells_of("table5.19"),
    ),
    Table(
        name="5.20",
        title="Gönen (2010), table 5.20: kernel weights and active kernels on ADVERT",
        version=2,
        splits=SPLITS,
        units=partial(_units, GATED),
        rows=_weight_rows,
        quantities=(
            Quantity("weights", "weights of the kernels", 4),
            Quantity("active", "active kernels", 2),
        ),
        protocol=("The machines of table 5.19.", SPLITS_SAID),
        cells=cells_of("table5.20"),
        shares="table5.19",
    ),
)
FIGURE = Table(
    name="5.9",
    title="Gönen (2010), figure 5.9: copies of the linear kernel on ANCURL, sigmoid gate",
    version=2,
    splits=CURVE_SPLITS,
    units=partial(_units, tuple(f"copies-{count}" for count in COPIES)),
    rows=_curve_rows,
    quantities=(*ACCURACY, *SUPPORT, *CURVE_QUANTITIES),
    protocol=(
        "LMKL with so many copies of the linear kernel on ANCURL and a sigmoid gate on ANCURL. The axis of "
        f"the figure cannot be read in the text at hand; ours has {COPIES[0]} to {COPIES[-1]} copies.",
        THIRDS,
        *SCALING,
    ),
    notes=("The figure prints no numbers; table 5.19 has those of five copies.",),
    figure=partial(draw_curves, "accuracy", "test accuracy, %"),
    kind="figure",
)

"""Tables 5.19 and 5.20 and figure 5.9: Internet advertisements (ADVERT), five bags of words."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np

from studies.data import has_data, load_data, require_arrays
from studies.gonen2010.localized.comparison import (
    WEIGHTS_SAID,
    Comparison,
    copies_figure,
    linear_methods,
    score_table,
    weight_table,
)
from studies.gonen2010.localized.setting import (
    Pair,
    Problem,
    Sample,
    draw_halves,
    run_method,
    side_by_side,
)
from studies.gonen2010.published_localized import ADVERT_VIEWS
from studies.study import DataFile

SPLITS, CURVE_SPLITS = 1, 1
COPIES = tuple(range(1, 6))
REAL, STAND_IN = "internet_advertisements", "webkb_course"
_WORDS = 300  # of each representation of the stand-in: the most frequent


@dataclass(frozen=True)
class Pages:
    """A data set: its title, its representations, what the gate sees of them, and which is copied."""

    title: str
    views: tuple[str, ...]
    gate_on: str
    copied: str


SETS = {
    REAL: Pages("ADVERT", ADVERT_VIEWS, "caption", "ancurl"),
    STAND_IN: Pages("WebKB, courses", ("page", "anchor"), "anchor", "page"),
}
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
    data, views = load_data(name), SETS[name].views
    require_arrays(data, (*(f"view_{view}" for view in views), "y"))
    assert data.y is not None
    tables = {view: np.asarray(data.views[view], dtype=np.float64) for view in views}
    if name == STAND_IN:
        tables = {view: _frequent(table) for view, table in tables.items()}
    return side_by_side(tables, np.where(np.asarray(data.y) == np.max(data.y), 1, -1))


def _frequent(table: np.ndarray) -> np.ndarray:
    """The columns that are most often not zero."""
    order = np.argsort(-(table > 0).sum(axis=0), kind="stable")
    return table[:, np.sort(order[:_WORDS])]


PROBLEMS = {
    name: Problem(
        partial(load_set, name),
        linear_methods(pages.views, pages.copied, 5, COPIES, pages.gate_on),
        draw_halves,
    )
    for name, pages in SETS.items()
}
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


def _compared(name: str) -> Comparison:
    pages = SETS[name]
    return Comparison(
        pages.title,
        PROBLEMS[name],
        compute_advert,
        name,
        (*pages.views, "all", *GATED, "copies"),
        GATED,
        PAIRS,
        ADVERT_VIEWS if name == REAL else (),
        {"dataset": name},
        "" if name == REAL else _STANDS_IN,
    )


def _pick() -> Comparison:
    return _compared(REAL if has_data(REAL) else STAND_IN)


_DATA = (
    "ADVERT: 3279 images of the web, advertisements or not; a linear kernel on each of URL, ORIGURL, ANCURL, "
    "ALT and CAPTION (bags of phrases, table 5.18). The gate sees CAPTION; that of the copies what they see. "
    "C is one of 0.01, 0.1, 1, 10, 100."
)
TABLES = (
    score_table("5.19", _pick, SPLITS, "classification of ADVERT", (_DATA,)),
    weight_table(
        "5.20",
        _pick,
        "5.19",
        SPLITS,
        "kernel weights and active kernels on ADVERT",
        "the kernels",
        WEIGHTS_SAID,
    ),
)
FIGURE = copies_figure(
    "5.9",
    _pick,
    CURVE_SPLITS,
    "copies of the linear kernel on ANCURL, sigmoid gate",
    "Copies of the linear kernel",
    COPIES,
    ("LMKL with so many copies of the linear kernel on ANCURL and a sigmoid gate on ANCURL.",),
    ("The figure prints no numbers; table 5.19 has those of five copies.",),
)

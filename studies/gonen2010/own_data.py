"""Tables 5.19 and 5.24: data that are not at hand, and run when the user has them.

A data set is an ``.npz`` file, listed in the ``manifest.json`` of a data folder, with the labels ``y`` (n,)
and an array ``view_<name>`` (n, d) for each of several representations.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from multikernel.datasets.catalogue import VARIABLE, data_folders, read_catalogue
from multikernel.kernels import Linear
from multikernel.views import View
from studies.data import load_data
from studies.gonen2010.methods import (
    Problem,
    Sample,
    global_method,
    local_method,
    side_by_side,
    unit_view,
)
from studies.gonen2010.published import SPLITS
from studies.gonen2010.tables import (
    ACCURACY,
    NOTES,
    OTHERS,
    PROTOCOL,
    compute_fold,
    make_rows,
    make_units,
)
from studies.study import Quantity, Table, Unit


@dataclass(frozen=True)
class Wanted:
    """A data set that the user has to bring: its name, what it is, and the layout of its file."""

    name: str
    what: str
    layout: str


ADVERTISEMENTS = Wanted(
    "internet_advertisements",
    "Internet Advertisements of the UCI repository",
    "arrays view_url, view_origurl, view_ancurl, view_alt and view_caption (n, d) of 0 and 1, the columns of "
    "the terms of each kind, and y (n,), 1 for an advertisement and 0 else",
)
UNNAMED = Wanted(
    "gonen2010_5_24",
    "the data of table 5.24 of the thesis, which we could not identify",
    "an array view_<name> (n, d) for each representation, and the classes y (n,) as integers",
)


def load_views(name: str, split: int) -> Sample:
    """Return the representations of a data set side by side."""
    data = load_data(name)
    if not data.views or data.y is None:
        raise ValueError(
            f"data set {name!r} must have an array view_<name> for each representation and labels y; got the "
            f"arrays {', '.join(data.arrays)}."
        )
    return side_by_side(data.views, np.asarray(data.y))


def _each_view(sample: Sample) -> list[View]:
    return [unit_view(name, Linear(), columns) for name, columns in sample.columns.items()]


def _all_columns(sample: Sample) -> list[View]:
    return [unit_view("all columns", Linear())]


def _problem(wanted: Wanted) -> Problem:
    return Problem(
        wanted.name,
        wanted.what,
        partial(load_views, wanted.name),
        {
            "svm": global_method("SVM, all columns", _all_columns),
            "mkl": global_method("l1 MKL", _each_view),
            "softmax": local_method("LMKL, softmax", _each_view, "softmax"),
            "sigmoid": local_method("LMKL, sigmoid", _each_view, "sigmoid"),
        },
        published={},
        datasets=(wanted.name,),
    )


PROBLEMS = {wanted.name: _problem(wanted) for wanted in (ADVERTISEMENTS, UNNAMED)}


def compute_own(problem: str, method: str, split: int, fold: int) -> dict[str, Any]:
    """Return how a method does on one fold of the user's data, for every C: see `score_grid`."""
    return compute_fold(PROBLEMS[problem], method, split, fold)


def require_data(table: str, wanted: Wanted) -> None:
    """Require that a data folder lists the set, or say what is missing and how to bring it."""
    if wanted.name in read_catalogue():
        return
    searched = ", ".join(map(str, data_folders()))
    raise ValueError(
        f"table {table} needs the data set {wanted.name!r} ({wanted.what}), which is in none of the folders "
        f"{searched}. Put it there as {wanted.name}.npz: {wanted.layout}; list it, with its sha256, in the "
        f"folder's manifest.json, and set {VARIABLE} to the folder."
    )


def _units(table: str, wanted: Wanted, splits: int) -> list[Unit]:
    require_data(table, wanted)
    return make_units({wanted.name: PROBLEMS[wanted.name]}, compute_own, splits)


@dataclass(frozen=True)
class _Page:
    """What the page of a table says: its title, what comes after the data in its protocol, and its notes."""

    title: str
    protocol: tuple[str, ...]
    notes: tuple[str, ...]
    quantities: tuple[Quantity, ...] = (ACCURACY, *OTHERS)


def _table(name: str, wanted: Wanted, page: _Page) -> Table:
    return Table(
        name=name,
        title=f"Gönen (2010), table {name}: {page.title}",
        version=1,
        splits=SPLITS,
        units=partial(_units, name, wanted),
        rows=partial(make_rows, PROBLEMS),
        quantities=page.quantities,
        protocol=(f"Data brought by the user: {wanted.what}; {wanted.layout}.", *page.protocol),
        notes=page.notes,
    )


def _view_page(title: str, note: str) -> _Page:
    return _Page(
        f"localized multiple kernel learning on {title}",
        ("A linear kernel on each representation, of all of which the gate sees the columns.", *PROTOCOL),
        (note, *NOTES),
    )


TABLES = tuple(
    _table(name, wanted, page)
    for name, wanted, page in (
        (
            "5.19",
            ADVERTISEMENTS,
            _view_page(
                "ADVERT",
                "That table 5.19 of the thesis is on the Internet Advertisements data is a conjecture, since "
                "the authors used them in other papers on multiple kernel learning. Its figures are not at "
                "hand.",
            ),
        ),
        (
            "5.24",
            UNNAMED,
            _view_page(
                "data of several representations",
                "Which data table 5.24 of the thesis is on is not known to us, nor are its figures; this "
                "runs its protocol on whatever the user puts in their place.",
            ),
        ),
    )
)

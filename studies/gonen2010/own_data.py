"""Tables 5.11, 5.12, 5.19 and 5.24: data that are not at hand, and run when the user has them.

A data set is an ``.npz`` file, listed in the ``manifest.json`` of a data folder, with the labels ``y`` (n,)
and an array ``view_<name>`` (n, d) for each of several representations, or ``K_<name>`` (n, n) for each of
several kernels and their ``costs`` (n_kernels,), in the order of the kernels in the file.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from multikernel.datasets.catalogue import VARIABLE, data_folders, read_catalogue
from multikernel.kernels import Linear, Precomputed
from multikernel.views import View
from studies.data import load_data
from studies.gonen2010.costs import COST_PROTOCOL, COST_QUANTITIES
from studies.gonen2010.methods import (
    Problem,
    Sample,
    cost_methods,
    global_method,
    local_method,
    side_by_side,
    unit_view,
)
from studies.gonen2010.published import SPLITS
from studies.gonen2010.tables import (
    ACCURACY,
    F_TEST,
    GIVEN_THIRD,
    NOTES,
    OTHERS,
    PROTOCOL,
    compute_fold,
    make_rows,
    make_units,
)
from studies.study import Quantity, Table, Unit

_PREFIX = "K_"


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
_MATRICES = (
    "an array K_<name> (n, n) for each kernel, its values between all points; costs (n_kernels,), what a "
    "value of each kernel costs, in the order of the kernels in the file; and the classes y (n,) as integers"
)
LOCATIONS = Wanted("gonen2010_5_11", "proteins and where they are in the cell, by several kernels", _MATRICES)
FUNCTIONS = Wanted("gonen2010_5_12", "proteins and one of their functions, by several kernels", _MATRICES)


def load_views(name: str, split: int) -> Sample:
    """Return the representations of a data set side by side."""
    data = load_data(name)
    if not data.views or data.y is None:
        raise ValueError(
            f"data set {name!r} must have an array view_<name> for each representation and labels y; got the "
            f"arrays {', '.join(data.arrays)}."
        )
    return side_by_side(data.views, np.asarray(data.y))


def load_matrices(name: str, split: int) -> Sample:
    """Return the ready-made kernels of a data set, with their costs; X is the column of positions."""
    data = load_data(name)
    matrices = {
        key.removeprefix(_PREFIX): matrix for key, matrix in data.arrays.items() if key.startswith(_PREFIX)
    }
    costs = data.arrays.get("costs")
    if not matrices or costs is None or data.y is None:
        raise ValueError(
            f"data set {name!r} must have an array K_<name> for each kernel, their costs and labels y; got "
            f"the arrays {', '.join(data.arrays)}."
        )
    if costs.shape != (len(matrices),):
        raise ValueError(
            f"costs of data set {name!r} must hold one number for each of the kernels {', '.join(matrices)}; "
            f"got shape {costs.shape}."
        )
    positions = np.arange(len(data.y), dtype=np.float64)[:, None]
    return Sample(positions, np.asarray(data.y), {}, costs.astype(np.float64), matrices)


def _each_matrix(sample: Sample) -> list[View]:
    return [View(name, Precomputed(K), None, "unit_diagonal") for name, K in sample.matrices.items()]


def _each_view(sample: Sample) -> list[View]:
    return [unit_view(name, Linear(), columns) for name, columns in sample.columns.items()]


def _all_columns(sample: Sample) -> list[View]:
    return [unit_view("all columns", Linear())]


def _cost_problem(wanted: Wanted) -> Problem:
    return Problem(
        wanted.name,
        wanted.what,
        partial(load_matrices, wanted.name),
        cost_methods(_each_matrix),
        published={},
        datasets=(wanted.name,),
    )


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


PROBLEMS = {wanted.name: _problem(wanted) for wanted in (ADVERTISEMENTS, UNNAMED)} | {
    wanted.name: _cost_problem(wanted) for wanted in (LOCATIONS, FUNCTIONS)
}


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


def _cost_page(title: str, note: str) -> _Page:
    return _Page(
        f"cost-conscious multiple kernel learning, {title}",
        (
            "Kernels scaled to a unit diagonal; of more than two classes each has a machine of its own, with "
            "weights of its own.",
            *COST_PROTOCOL,
            F_TEST,
        ),
        (note, GIVEN_THIRD),
        COST_QUANTITIES,
    )


def _view_page(title: str, note: str) -> _Page:
    return _Page(
        f"localized multiple kernel learning on {title}",
        ("A linear kernel on each representation, of all of which the gate sees the columns.", *PROTOCOL),
        (note, *NOTES),
    )


_READING = (
    "That table {} of the thesis is on {} is our reading; its data, its costs and its figures are not at "
    "hand. This runs its protocol on whatever the user puts in their place."
)
TABLES = tuple(
    _table(name, wanted, page)
    for name, wanted, page in (
        (
            "5.11",
            LOCATIONS,
            _cost_page("places of proteins", _READING.format("5.11", "the places of proteins in the cell")),
        ),
        (
            "5.12",
            FUNCTIONS,
            _cost_page("functions of proteins", _READING.format("5.12", "the functions of yeast proteins")),
        ),
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

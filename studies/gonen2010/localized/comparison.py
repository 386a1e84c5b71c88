"""What is compared on a data set: its units, and the tables and the figure that they make."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from multikernel.kernels import Linear
from multikernel.views import View
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
    ERROR,
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
    global_method,
    local_method,
    unit_view,
)
from studies.gonen2010.published_localized import cells_of
from studies.study import Quantity, Result, Table, Unit

_SCORES = {"accuracy": (ACCURACY, "test accuracy, %"), "mse": (ERROR, "test mean squared error")}
_COPY = "copies-"
WEIGHTS_SAID = (
    "The weights of MKL, of sum 1, and the gates of LMKL are means over the test points and the folds; a "
    "kernel is active at a test point where its weight is above 0.001 (the thesis: not zero)."
)


# --- views and methods --------------------------------------------------------------------------------------


def linear_views(names: Sequence[str], sample: Sample) -> list[View]:
    """Return a linear kernel on each of some representations."""
    return [unit_view(name, Linear(), sample.columns[name]) for name in names]


def linear_on_all(sample: Sample) -> list[View]:
    """Return one linear kernel on all representations side by side."""
    return [unit_view("all", Linear())]


def linear_copies(name: str, count: int, sample: Sample) -> list[View]:
    """Return copies of the linear kernel on one representation."""
    return copies(linear_views([name], sample)[0], count)


def linear_methods(
    names: Sequence[str], copied: str, in_table: int, counts: Sequence[int], gate_on: str | None = None
) -> dict[str, Method]:
    """Return linear kernels on representations, learned by all methods: one kernel, MKL, LMKL, and copies.

    Parameters
    ----------
    names : sequence of str
        The representations.
    copied : str
        That whose kernel is copied, with a sigmoid gate.
    in_table : int
        The number of copies in the table.
    counts : sequence of int
        Those in the figure.
    gate_on : str, optional
        The representation that the gate of LMKL sees; all of them if None.

    Returns
    -------
    dict of str to Method
    """
    each = partial(linear_views, names)
    return {
        **{name: global_method(f"SVM ({name.upper()})", partial(linear_views, [name])) for name in names},
        "all": global_method("SVM (ALL)", linear_on_all),
        "mkl": global_method("MKL", each),
        "softmax": local_method("LMKL (softmax)", each, "softmax", gate_on),
        "sigmoid": local_method("LMKL (sigmoid)", each, "sigmoid", gate_on),
        **copy_methods(partial(linear_copies, copied), copied.upper(), "sigmoid", in_table, counts),
    }


def copy_methods(
    views: Callable[[int, Sample], list[View]], what: str, gating: str, in_table: int, counts: Sequence[int]
) -> dict[str, Method]:
    """Return LMKL over copies of a kernel: ``"copies"`` of the table, and ``"copies-1"`` ... of the figure.

    Parameters
    ----------
    views : callable
        Number of copies and sample to the views.
    what : str
        What is copied, in the label.
    gating : str
    in_table : int
        The number of copies in the table.
    counts : sequence of int
        Those in the figure.

    Returns
    -------
    dict of str to Method
    """
    keys = {"copies": in_table} | {f"{_COPY}{count}": count for count in counts}
    return {
        key: local_method(f"LMKL ({count} {what} and {gating})", partial(views, count), gating)
        for key, count in keys.items()
    }


# --- comparisons --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Comparison:
    """What is compared on a data set.

    Attributes
    ----------
    title : str
        The name of the data.
    problem : Problem
    compute : callable
        The function of a unit.
    dataset : str
    in_table, with_weights : tuple of str
        The methods in the table of scores, and in that of weights.
    pairs : tuple of Pair
        What the text compares.
    kernels : tuple of str
        The keys of the printed weights, in the order of ours; empty where ours are other kernels.
    arguments : mapping
        Of `compute`, besides method and split.
    stand_in : str
        See `comparison_row`.
    """

    title: str
    problem: Problem
    compute: Callable[..., Result]
    dataset: str
    in_table: tuple[str, ...]
    with_weights: tuple[str, ...]
    pairs: tuple[Pair, ...]
    kernels: tuple[str, ...] = ()
    arguments: Mapping[str, Any] = field(default_factory=dict)
    stand_in: str = ""

    @property
    def score(self) -> str:
        """The key of what is measured."""
        return "mse" if self.problem.is_regression else "accuracy"

    def units(self, methods: Sequence[str], splits: int) -> list[Unit]:
        """Return a unit for each method and split."""
        return make_units(self.compute, methods, splits, (self.dataset,), **self.arguments)

    def section(self, stem: str) -> Section:
        """Return the part of a page that stands beside the printed numbers of a table."""
        return Section(self.title, self.problem, self.score, stem, self.stand_in)

    def score_rows(self, stem: str, results: Results) -> Rows:
        """Return the rows of a table of scores, then those of the pairs that the text compares."""
        found = by_method(results)
        labels = {key: method.label for key, method in self.problem.methods.items()}
        paired = pair_rows("What the text compares", self.pairs, labels, found)
        mark = {"stand_in": self.stand_in} if self.stand_in else {}
        return [*score_rows(self.section(stem), found), *(row | mark for row in paired)]


Pick = Callable[[], Comparison]


def score_table(
    name: str,
    pick: Pick,
    splits: int,
    title: str,
    protocol: Sequence[str],
    notes: Sequence[str] = (),
    *,
    score: str = "accuracy",
) -> Table:
    """Return a table of scores and support vectors.

    Parameters
    ----------
    name : str
    pick : callable
        No argument to the comparison, which may depend on the data at hand.
    splits : int
    title : str
        What stands after the number.
    protocol : sequence of str
        What is particular to the data.
    notes : sequence of str, default=()
    score : {"accuracy", "mse"}

    Returns
    -------
    Table
    """
    stem = f"table{name}"
    return Table(
        name=name,
        title=f"Gönen (2010), table {name}: {title}",
        version=2,
        splits=splits,
        units=lambda number: pick().units(pick().in_table, number),
        rows=lambda results: pick().score_rows(stem, results),
        quantities=(*_SCORES[score][0], *SUPPORT, *PAIR_QUANTITIES),
        protocol=(*protocol, THIRDS, *SCALING, SPLITS_SAID, F_TESTS),
        notes=notes,
        cells=cells_of(stem),
    )


def weight_table(name: str, pick: Pick, of: str, splits: int, title: str, label: str, said: str) -> Table:
    """Return a table of weights and active kernels of methods that are in a table of scores.

    Parameters
    ----------
    name : str
    pick : callable
        As in `score_table`.
    of : str
        The name of the table of scores.
    splits : int
    title : str
    label : str
        The kernels in their order, as the head of a column.
    said : str
        What the weights are.

    Returns
    -------
    Table
    """
    stem = f"table{name}"

    def rows(results: Results) -> Rows:
        comparison = pick()
        return weight_rows(comparison.section(stem), by_method(results), comparison.kernels or None)

    return Table(
        name=name,
        title=f"Gönen (2010), table {name}: {title}",
        version=2,
        splits=splits,
        units=lambda number: pick().units(pick().with_weights, number),
        rows=rows,
        quantities=(
            Quantity("weights", f"weights of {label}", 4),
            Quantity("active", "active kernels", 2),
        ),
        protocol=(f"The machines of table {of}. {said}", SPLITS_SAID),
        cells=cells_of(stem),
        shares=f"table{of}",
    )


def copies_figure(
    name: str,
    pick: Pick,
    splits: int,
    title: str,
    section: str,
    counts: Sequence[int],
    protocol: Sequence[str],
    notes: Sequence[str],
    *,
    score: str = "accuracy",
) -> Table:
    """Return a figure of scores and support vectors against the number of copies of a kernel.

    Parameters
    ----------
    name : str
    pick : callable
        As in `score_table`.
    splits : int
    title, section : str
    counts : sequence of int
        The numbers of copies.
    protocol, notes : sequence of str
    score : {"accuracy", "mse"}

    Returns
    -------
    Table
    """
    numbers = {f"{_COPY}{count}": count for count in counts}
    quantities, axis = _SCORES[score]

    def rows(results: Results) -> Rows:
        comparison = pick()
        part = Section(section, comparison.problem, comparison.score, "", comparison.stand_in)
        return curve_rows(part, by_method(results), numbers)

    return Table(
        name=name,
        title=f"Gönen (2010), figure {name}: {title}",
        version=2,
        splits=splits,
        units=lambda number: pick().units(tuple(numbers), number),
        rows=rows,
        quantities=(*quantities, *SUPPORT, *CURVE_QUANTITIES),
        protocol=(
            *protocol,
            "The axis of the figure cannot be read in the text at hand; ours has "
            f"{counts[0]} to {counts[-1]} copies.",
            THIRDS,
            *SCALING,
            "Bars: one standard deviation over the folds, the mean over the splits, which are random test "
            "parts.",
        ),
        notes=notes,
        figure=partial(draw_curves, score, axis),
        kind="figure",
    )

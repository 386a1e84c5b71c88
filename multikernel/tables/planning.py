"""What is to be fitted: from a table, views, a method and its parameters to an estimator with its X and y."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from multikernel.kernels import Gaussian, Kernel
from multikernel.kernels.expressions import parse_kernels
from multikernel.methods import Method, get_method
from multikernel.tables.data import TableData
from multikernel.tables.views_file import ViewList, views_of_kernels
from multikernel.views import View, as_views
from multikernel.weights.targets import Targets, as_targets

_MANY_CLASSES = 20


@dataclass(frozen=True, eq=False)
class FitPlan:
    """A fit that can begin: everything was checked but the numbers themselves.

    Attributes
    ----------
    data : TableData
    X : DataFrame of the columns in use, or stack of kernels
    y : ndarray or None
    task : {"classes", "values", "nothing"}
    method : Method
    model : estimator, not fitted
    parameters : dict, those that were given
    kernels : "auto", "precomputed" or list of View, as the method takes them
    notes : list of str
    """

    data: TableData
    X: Any
    y: np.ndarray | None
    task: str
    method: Method
    model: Any
    parameters: dict[str, Any]
    kernels: Any
    notes: list[str] = field(default_factory=list)

    def with_parameters(self, **parameters: Any) -> Any:
        """An estimator with some parameters changed, not fitted."""
        return self.method.make(self.task, kernels=self.kernels, **(self.parameters | parameters))


def plan_fit(
    data: TableData,
    *,
    method: str = "mkl",
    views: ViewList | None = None,
    kernels: str | None = None,
    task: str = "auto",
    parameters: Mapping[str, Any] | None = None,
) -> FitPlan:
    """Check what is to be fitted and make its estimator.

    Parameters
    ----------
    data : TableData
    method : str, default="mkl"
        A name of `multikernel.methods.list_methods`.
    views : ViewList, optional
        From `read_views`.
    kernels : str, optional
        Kernels with commas between them, as for `parse_kernels`: on all columns, or on each view of the table
        where it names views. Without views and kernels: one Gaussian for each view of the table, else "auto".
    task : {"auto", "classes", "values", "nothing"}
        What the target is: "auto" takes fractions for values, anything else for classes.
    parameters : mapping, optional
        Parameters of the method by name.

    Returns
    -------
    FitPlan
    """
    chosen = get_method(method)
    if not chosen.predicts:
        raise ValueError(f"{chosen.name} does not predict, and cannot be fitted here. Choose another method.")
    found, doubts = _task(data, task, chosen)
    given = dict(parameters or {})
    for name in ("kernels", "task"):
        if name in given:
            raise ValueError(f"{name} cannot be set as a parameter; it is given on its own (--{name}).")
    used, X, notes = _kernels(data, views, kernels)
    notes += doubts + _add_costs(given, views, chosen, found)
    model = chosen.make(found, kernels=used, **given)
    y = None if found == "nothing" else data.y
    if found == "values":
        y = np.asarray(y, dtype=np.float64)
    return FitPlan(data, X, y, found, chosen, model, given, used, [*data.notes, *notes])


def _task(data: TableData, task: str, method: Method) -> tuple[str, list[str]]:
    """What the target is, and what should be said of it."""
    if data.y is None:
        if task == "nothing" or (task == "auto" and method.tasks == ("nothing",)):
            method.estimator_class("nothing")
            return "nothing", []
        raise ValueError(
            f"{method.name} learns from {' or '.join(method.tasks)}: name the target (--target)"
            + (", or say that there is none (--task nothing)." if "nothing" in method.tasks else ".")
        )
    if data.y.dtype.kind in "USO" and (task == "values" or "classes" not in method.tasks):
        raise ValueError(
            f"the target {data.target!r} of {data.name} must hold numbers, to learn from values; it holds "
            f"{str(data.y.flat[0])!r}. Encode it as numbers, or learn from classes."
        )
    try:
        targets = as_targets(data.y, data.n_samples, task, method.tasks)
    except ValueError as error:
        raise ValueError(f"the target {data.target!r} of {data.name}: {error}") from None
    method.estimator_class(targets.task)  # refuses a task that the method does not know
    return targets.task, _check_classes(data, targets) if targets.task == "classes" else []


def _check_classes(data: TableData, targets: Targets) -> list[str]:
    """Refuse classes of one sample; doubt whole numbers of which there are many."""
    counts = np.bincount(targets.codes)
    if counts.min() < 2:
        rare = targets.labels[np.flatnonzero(counts[targets.codes] < 2)[0]]
        raise ValueError(
            f"the target {data.target!r} of {data.name} holds whole numbers or names, which are taken for "
            f"classes, and class {str(rare)!r} has a single sample. If it is a number to predict, say so "
            "(--task values); leave that class out otherwise."
        )
    if data.y is not None and data.y.dtype.kind in "iuf" and targets.n_classes > _MANY_CLASSES:
        return [
            f"the target {data.target!r} holds {targets.n_classes} whole numbers, taken for classes; if they "
            "are numbers to predict, say so (--task values)."
        ]
    return []


# --- views -------------------------------------------------------------------------------------------------


def choose_kernels(data: TableData, views: ViewList | None = None, kernels: str | None = None) -> Any:
    """The kernels that a fit of a table would have; whether they can read its columns is not looked at.

    Parameters
    ----------
    data : TableData
    views, kernels : as for `plan_fit`

    Returns
    -------
    "auto", "precomputed" or list of View
    """
    if views is not None and kernels is not None:
        raise ValueError("views and kernels cannot both be given: the file of views names its kernels.")
    if data.kind == "precomputed":
        if views is not None or kernels not in (None, "precomputed"):
            raise ValueError(f"{data.name} holds ready-made kernels: neither views nor kernels can be given.")
        return "precomputed"
    if kernels == "precomputed":
        raise ValueError(
            f"{data.name} holds a table; ready-made kernels are K or kernel_NAME in an .npz file."
        )
    if kernels == "auto" or (kernels is None and views is None and not data.view_columns):
        return "auto"
    return _views_of_table(data, kernels) if views is None else list(views)


def _kernels(data: TableData, views: ViewList | None, kernels: str | None) -> tuple[Any, Any, list[str]]:
    """The kernels as a method takes them, what they read of the data, and notes."""
    chosen = choose_kernels(data, views, kernels)
    if data.kind == "precomputed":
        return chosen, data.X, []
    return chosen, *_used_columns(data, as_views("auto") if isinstance(chosen, str) else chosen)


def _views_of_table(data: TableData, kernels: str | None) -> list[View]:
    """Each kernel on each view that the table names, or on all columns."""
    listed: list[Kernel] = [Gaussian()] if kernels is None else parse_kernels(kernels)
    whole = views_of_kernels(listed)
    if not data.view_columns:
        return list(whole)
    return [
        replace(view, name=name if len(whole) == 1 else f"{name}/{view.name}", columns=columns)
        for name, columns in data.view_columns.items()
        for view in whole
    ]


def _used_columns(data: TableData, views: Sequence[View]) -> tuple[pd.DataFrame, list[str]]:
    """The columns that views read, all of them numbers and known in every row."""
    named = {column for view in views if view.columns is not None for column in view.columns}
    everything = any(view.columns is None for view in views)
    used = [column for column in data.columns if everything or column in named]
    X = data.X.loc[:, used]
    require_usable(X, data)
    left = [column for column in data.columns if column not in set(used)]
    return X, [f"no view reads {_some(left)} of {data.name}: left out."] if left else []


def require_usable(X: pd.DataFrame, data: TableData) -> None:
    """Refuse columns of a table that are no numbers, or empty in some row.

    Parameters
    ----------
    X : DataFrame
        The columns in use.
    data : TableData
        Where they come from, for the messages.
    """
    _require_numbers(X, data)
    _require_known(X, data)


def _require_numbers(X: pd.DataFrame, data: TableData) -> None:
    text = [str(name) for name in X.columns if not pd.api.types.is_numeric_dtype(X[name].dtype)]
    if not text:
        return
    values = [repr(str(value)) for value in X[text[0]].dropna().unique()[:3]]
    raise ValueError(
        f"kernels here compare numbers, and {_some(text)} of {data.name} "
        f"{'holds' if len(text) == 1 else 'hold'} something else ({text[0]!r}: {', '.join(values)} …). Leave "
        f"it out (--ignore {text[0]}), give it one column of 0 and 1 for each value (--one-hot {text[0]}), "
        "or encode it as numbers before."
    )


def _require_known(X: pd.DataFrame, data: TableData) -> None:
    missing = X.isna().to_numpy()
    if not missing.any():
        return
    column = int(np.flatnonzero(missing.any(axis=0))[0])
    row = int(np.flatnonzero(missing[:, column])[0])
    others = int(missing.sum()) - 1
    more = f", and {others} other values" if others else ""
    raise ValueError(
        f"column {str(X.columns[column])!r} of {data.name} is empty in {data.place(row)}{more}. Fill in or "
        "remove what is missing, or leave the column out."
    )


def _some(columns: Sequence[str]) -> str:
    shown = ", ".join(map(repr, columns[:5]))
    more = f" and {len(columns) - 5} more" if len(columns) > 5 else ""
    return f"{'column' if len(columns) == 1 else 'columns'} {shown}{more}"


def _add_costs(given: dict[str, Any], views: ViewList | None, method: Method, task: str) -> list[str]:
    if views is None or not views.costs or "costs" in given:
        return []
    if "costs" not in method.parameters(task):
        return [f"{method.name} takes no costs of views: those of the file are not used."]
    given["costs"] = dict(views.costs)
    return []

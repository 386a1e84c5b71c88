"""What is to be fitted: from a table, views, a method and its parameters to an estimator with its X and y."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils import get_tags

from multikernel.io.tables.data import TableData
from multikernel.io.tables.targets import find_task
from multikernel.io.tables.views_file import ViewList, views_of_kernels
from multikernel.kernels import Gaussian, Kernel
from multikernel.kernels.expressions import parse_kernels
from multikernel.registry import Method, get_method
from multikernel.views import View, as_views


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
        A name of `multikernel.registry.list_methods`.
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
        raise ValueError(
            f"{chosen.name} does not predict new rows, so that it has no place here. Choose another method, "
            "such as mkl; in Python, multikernel has it."
        )
    found, doubts = find_task(data, task, chosen)
    given = dict(parameters or {})
    for name in ("kernels", "task"):
        if name in given:
            raise ValueError(f"{name} cannot be set as a parameter; it is given on its own (--{name}).")
    if "callback" in given:
        raise ValueError("callback is a function of Python, which cannot be set here.")
    used, X, notes = _kernels(data, views, kernels, takes_gaps(given))
    notes += doubts + _add_costs(given, views, chosen, found)
    model = chosen.make(found, kernels=used, **given)
    if data.y is not None and data.y.ndim == 2 and not get_tags(model).target_tags.multi_output:
        raise ValueError(
            f"{chosen.name} learns from one column of targets; {data.target!r} of {data.name} has "
            f"{data.y.shape[1]}. Save one of them as an array of its own."
        )
    return FitPlan(data, X, data.target_as(found), found, chosen, model, given, used, [*data.notes, *notes])


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


def takes_gaps(parameters: Mapping[str, Any]) -> bool:
    """Whether samples that lack views go to the model, which then refuses gaps in parts of a view itself."""
    return bool(parameters.get("missing", "error") != "error")


def _kernels(
    data: TableData, views: ViewList | None, kernels: str | None, any_gaps: bool
) -> tuple[Any, Any, list[str]]:
    """The kernels as a method takes them, what they read of the data, and notes."""
    chosen = choose_kernels(data, views, kernels)
    if data.kind == "precomputed":
        return chosen, data.X, []
    return chosen, *_used_columns(data, as_views("auto") if isinstance(chosen, str) else chosen, any_gaps)


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


def _used_columns(data: TableData, views: Sequence[View], any_gaps: bool) -> tuple[pd.DataFrame, list[str]]:
    """The columns that views read, known in every row, and numbers where kernels compare these."""
    named = {column for view in views if view.columns is not None for column in view.columns}
    everything = any(view.columns is None for view in views)
    used = [column for column in data.columns if everything or column in named]
    X = data.X.loc[:, used]
    gaps = used if any_gaps else gap_columns(views, used)
    require_usable(X, data, texts=text_columns(views, used), gaps=gaps)
    if len(X) > 1 and not X.ne(X.iloc[0]).to_numpy().any():
        raise ValueError(f"all columns of {data.name} are constant: there is nothing to compare rows by.")
    left = [column for column in data.columns if column not in set(used)]
    return X, [f"no view reads {_some(left)} of {data.name}: left out."] if left else []


def text_columns(views: Sequence[View], columns: Sequence[str]) -> list[str]:
    """Those of the columns that no kernel of numbers reads: others take them as they are.

    Parameters
    ----------
    views : sequence of View
    columns : sequence of str
        All that the views read.
    """
    return _not_read([view for view in views if view.kernel._reads_numbers], columns)


def gap_columns(views: Sequence[View], columns: Sequence[str]) -> list[str]:
    """Those of the columns that only kernels read which handle what is missing themselves.

    Parameters
    ----------
    views, columns : as for `text_columns`
    """
    return _not_read([view for view in views if not view.kernel._accepts_missing], columns)


def _not_read(views: Sequence[View], columns: Sequence[str]) -> list[str]:
    if any(view.columns is None for view in views):
        return []
    named = {column for view in views for column in view.columns}
    return [column for column in columns if column not in named]


def require_usable(
    X: pd.DataFrame,
    data: TableData,
    *,
    new: bool = False,
    texts: Sequence[str] = (),
    gaps: Sequence[str] = (),
) -> None:
    """Refuse columns of a table that are no numbers, or empty or infinite in some row.

    Parameters
    ----------
    X : DataFrame
        The columns in use.
    data : TableData
        Where they come from, for the messages.
    new : bool, default=False
        Whether the rows are new ones for a model: its columns cannot be chosen any more.
    texts : sequence of str
        Columns that need not be numbers.
    gaps : sequence of str
        Columns that may be empty in some rows.
    """
    for name in texts:
        if name not in gaps:
            _require_written(X[name], data)
    X = X.drop(columns=list(texts))
    for name in X.columns:
        if not pd.api.types.is_numeric_dtype(X[name].dtype):
            _refuse_text(X, str(name), data, new)
    _require_finite(X.fillna({name: 0.0 for name in X.columns if name in gaps}), data, new)


def _require_written(column: pd.Series, data: TableData) -> None:
    missing = np.flatnonzero(column.isna().to_numpy())
    if missing.size:
        raise ValueError(
            f"column {str(column.name)!r} of {data.name} is empty, or says NA or the like, in "
            f"{data.place(int(missing[0]))}. Fill in what is missing, or remove the row; where NA is a text "
            "as others are, say so in the fit (--keep-na)."
        )


def _refuse_text(X: pd.DataFrame, column: str, data: TableData, new: bool) -> None:
    texts = X[column].map(str).where(X[column].notna())
    bad = np.flatnonzero((texts.notna() & pd.to_numeric(texts, errors="coerce").isna()).to_numpy())
    row = int(bad[0]) if bad.size else 0
    told = f"it holds {_short(texts.iloc[row])} in {data.place(row)}"
    told += f", and {bad.size - 1} others that are none" if bad.size > 1 else ""
    wanted = f"column {column!r} of {data.name} must hold numbers"
    if new:
        raise ValueError(f"{wanted}, as in training; {told}. Correct what is there, or remove the rows.")
    if bad.size < len(X) / 2:
        remedy = "Correct it; if it stands for what is missing, fill that in or remove the rows. Or leave the"
        raise ValueError(f"{wanted}; {told}. {remedy} column out (--ignore {column}).")
    raise ValueError(
        f"{wanted}, which kernels here compare; {told}. Leave it out (--ignore {column}), give it one column "
        f"of 0 and 1 for each value (--one-hot {column}), or encode it as numbers before."
    )


def _short(text: str) -> str:
    return repr(text if len(text) <= 40 else f"{text[:40]}…")


def _require_finite(X: pd.DataFrame, data: TableData, new: bool) -> None:
    numbers = X.to_numpy(dtype=np.float64, na_value=np.nan)
    bad = ~np.isfinite(numbers)
    if not bad.any():
        return
    column = int(np.flatnonzero(bad.any(axis=0))[0])
    row = int(np.flatnonzero(bad[:, column])[0])
    what, others = "empty" if np.isnan(numbers[row, column]) else "infinite", int(bad.sum()) - 1
    more = f", and {others} other {'value is' if others == 1 else 'values are'} missing" if others else ""
    remedy = "fill it in, or remove the row" if new else "fill in or remove it, or leave the column out"
    raise ValueError(
        f"column {str(X.columns[column])!r} of {data.name} is {what} in {data.place(row)}{more}. A model "
        f"needs a finite number in every row: {remedy}{'' if new else ' (--ignore)'}."
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

"""What is to be fitted: from a table, views, a method and its parameters to an estimator with its X and y."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils import get_tags

from multikernel.io.tables.data import TableData, is_number, some
from multikernel.io.tables.views_file import ViewList, views_of_kernels
from multikernel.kernels import Gaussian, Kernel
from multikernel.kernels.expressions import parse_kernels
from multikernel.registry import Method, get_method, list_methods
from multikernel.rules.targets import Targets, as_targets
from multikernel.views import View, as_views
from multikernel.views.tables import MultiTable
from multikernel.views.view import AUTOMATIC, place_views

_MANY_CLASSES = 20
_WORDS: dict[str, Any] = {
    "true": True,
    "false": False,
    "none": None,
    "inf": float("inf"),
    "-inf": -float("inf"),
}
_LONGEST = 10_000


@dataclass(frozen=True, eq=False)
class FitPlan:
    """A fit that can begin: everything was checked but the numbers themselves.

    Attributes
    ----------
    data : TableData
    X : DataFrame or MultiTable of the columns in use, or stack of kernels
    y : ndarray or None
    task : {"classification", "regression", "unsupervised", "survival"}
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
    method: str | None = None,
    views: Sequence[View] | None = None,
    kernels: str | None = None,
    task: str = "auto",
    parameters: Mapping[str, Any] | None = None,
) -> FitPlan:
    """Check what is to be fitted and make its estimator.

    Parameters
    ----------
    data : TableData
    method : str, default=None
        A name of `multikernel.registry.list_methods`; by default "mkl", of censored times "survival".
    views : ViewList or list of View, default=None
        From `read_views`, which knows their costs too.
    kernels : str, default=None
        Kernels with commas between them, as for `parse_kernels`: on all columns, or on each view of the table
        where it names views. Without views and kernels: one Gaussian for each view of the table, else "auto".
    task : {"auto", "classification", "regression", "unsupervised", "survival"}, default="auto"
        What the target is: "auto" takes fractions for values, a time with an event for survival, and anything
        else for classes.
    parameters : mapping, default=None
        Parameters of the method by name.

    Returns
    -------
    FitPlan
    """
    if not isinstance(data, TableData):
        raise TypeError(f"data must be what read_table returns; got {type(data).__name__}.")
    chosen = get_method(usual_method(data) if method is None else method)
    if not chosen.predicts:
        raise ValueError(
            f"{chosen.name} does not predict new rows. Choose another method, such as mkl, or use "
            f"{chosen.class_names[0]} in Python."
        )
    found, doubts = find_task(data, task, chosen)
    if parameters is not None and not isinstance(parameters, Mapping):
        raise TypeError(f"parameters must be a dict of values by name; got {type(parameters).__name__}.")
    given = dict(parameters or {})
    for name in ("kernels", "task"):
        if name in given:
            raise ValueError(f"{name} cannot be set as a parameter; it is given on its own (--{name}).")
    if "callback" in given:
        raise ValueError("callback is a function of Python, which cannot be set here.")
    notes: list[str] = []
    if views is not None and not isinstance(views, ViewList):
        views = ViewList(as_views(views))
    used, X = choose_kernels(data, views, kernels), data.X
    listed = [] if data.kind == "precomputed" else as_views(used)
    if data.kind == "tables":
        gaps = _choose_missing(data, chosen, found, given)
        X, notes = _used_tables(data, listed, takes_gaps(given))
        notes += gaps
    elif data.kind == "table":
        X, notes = _used_columns(data, listed, takes_gaps(given))
    notes += [*(views.notes if views is not None else []), *doubts]
    notes += _add_costs(given, views, chosen, found)
    model = chosen.make(found, kernels=used, **given)
    if data.y is not None and data.y.ndim == 2 and not get_tags(model).target_tags.multi_output:
        raise ValueError(
            f"{chosen.name} takes one column of targets; {data.target!r} of {data.name} has "
            f"{data.y.shape[1]}. Save one of them as an array of its own."
        )
    return FitPlan(data, X, data.target_as(found), found, chosen, model, given, used, [*data.notes, *notes])


def usual_method(data: TableData) -> str:
    """The default method for this kind of target."""
    return "mkl" if data.censored is None else "survival"


# --- views -------------------------------------------------------------------------------------------------


def choose_kernels(data: TableData, views: ViewList | None = None, kernels: str | None = None) -> Any:
    """The kernels that a fit of a table would have: "auto", "rich", "precomputed" or a list of views.

    Whether they can read its columns is not looked at.
    """
    if kernels is not None and not isinstance(kernels, str):
        raise TypeError(
            f"kernels must be a text, such as 'linear,gaussian', or None; got {type(kernels).__name__}. Give "
            "kernels that are objects as views."
        )
    if views is not None and kernels is not None:
        raise ValueError("views and kernels cannot both be given: the file of views names its kernels.")
    if data.kind == "precomputed":
        if views is not None or kernels not in (None, "precomputed"):
            raise ValueError(
                f"{data.name} holds precomputed kernels: neither views nor kernels can be given."
            )
        return "precomputed"
    if kernels == "precomputed":
        raise ValueError(
            f"{data.name} holds a table; precomputed kernels are K or kernel_NAME in an .npz file."
        )
    if kernels in AUTOMATIC:
        return kernels
    if kernels is None and views is None and not data.view_columns:
        return "auto"
    return _views_of_table(data, kernels) if views is None else list(views)


def takes_gaps(parameters: Mapping[str, Any]) -> bool:
    """Whether samples that lack views go to the model, which then refuses gaps in parts of a view itself."""
    return bool(parameters.get("missing", "error") != "error")


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
    what = "column" if len(left) == 1 else "columns"
    return X, [f"no view reads {what} {some(left)} of {data.name}: left out."] if left else []


def _used_tables(data: TableData, views: Sequence[View], any_gaps: bool) -> tuple[MultiTable, list[str]]:
    """The tables that views read, with the columns in use of each."""
    placed, notes = place_views(list(views), data.X), []
    tables: dict[str, pd.DataFrame] = {}
    for name, part in data.parts.items():
        own = [view for view in placed if view.table == name]
        if not own:
            notes.append(f"no view reads table {name!r}: left out.")
            continue
        tables[name], more = _used_columns(part, own, any_gaps)
        notes += more
    return data.X.with_tables(tables), notes


def _choose_missing(data: TableData, method: Method, task: str, given: dict[str, Any]) -> list[str]:
    """What is done with samples that lack a table, unless `given` says it; refused where a method cannot."""
    if not data.X.has_gaps or "missing" in given:
        return []
    lacking = f"{int((~data.X.present.all(axis=1)).sum())} of {data.n_samples} samples lack"
    if "missing" not in method.parameters(task):
        raise ValueError(
            f"{method.name} needs every table of a sample; {lacking} one. Leave them out (--join inner), or "
            "choose a method that takes such samples, such as mkl."
        )
    given["missing"] = "renormalize"
    return [
        f"{lacking} a table: the views that they have are scaled to represent all (missing=renormalize). "
        "Choose otherwise by --set missing=mean, complete or absent."
    ]


def text_columns(views: Sequence[View], columns: Sequence[str]) -> list[str]:
    """Those of the columns that no kernel of numbers reads: others take them as they are."""
    return _not_read([view for view in views if view.kernel._reads_numbers], columns)


def gap_columns(views: Sequence[View], columns: Sequence[str]) -> list[str]:
    """Those of the columns that only kernels read which handle what is missing themselves."""
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

    `texts` need not be numbers, and `gaps` may be empty in some rows. Of `new` rows for a model the columns
    cannot be chosen any more; `data` is where they come from, for the messages.
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
            f"column {str(column.name)!r} of {data.name} is empty or NA in "
            f"{data.place(int(missing[0]))}. Fill in what is missing, or remove the row; if NA is a "
            f"name, fit with --keep-na."
        )


def _refuse_text(X: pd.DataFrame, column: str, data: TableData, new: bool) -> None:
    texts = X[column].map(str).where(X[column].notna())
    bad = np.flatnonzero((texts.notna() & pd.to_numeric(texts, errors="coerce").isna()).to_numpy())
    row = int(bad[0]) if bad.size else 0
    text = texts.iloc[row] if len(texts.iloc[row]) <= 40 else f"{texts.iloc[row][:40]}…"
    told = f"it holds {text!r} in {data.place(row)}"
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


def _add_costs(given: dict[str, Any], views: ViewList | None, method: Method, task: str) -> list[str]:
    if views is None or not views.costs or "costs" in given:
        return []
    if "costs" not in method.parameters(task):
        return [f"{method.name} takes no costs of views: those of the file are not used."]
    given["costs"] = dict(views.costs)
    return []


# --- what the target is, classes or values, and what is wrong with it ---------------------------------------


def find_task(data: TableData, task: str, method: Method) -> tuple[str, list[str]]:
    """What the target is, and what should be said of it."""
    if data.y is None:
        if task == "unsupervised" or (task == "auto" and method.tasks == ("unsupervised",)):
            method.estimator_class("unsupervised")
            return "unsupervised", []
        raise ValueError(
            f"{method.name} is for {' or '.join(method.tasks)}: name the target (--target)"
            + (", or set --task unsupervised." if "unsupervised" in method.tasks else ".")
        )
    if data.censored is not None:
        return _check_censored(data, task, method)
    if task == "survival":
        raise ValueError(
            f"censored times need a time and an event; {data.target!r} of {data.name} is one column. Name "
            "both, by --time and --event."
        )
    _require_sound(data, data.y, task, method)
    try:
        targets = as_targets(data.y, data.n_samples, task, method.tasks)
    except ValueError as error:
        raise ValueError(f"the target {data.target!r} of {data.name}: {error}") from None
    require_known_task(method, targets.task)
    checks = {"classification": _check_classes, "regression": _check_values}
    return targets.task, checks[targets.task](data, targets) if targets.task in checks else []


def _check_censored(data: TableData, task: str, method: Method) -> tuple[str, list[str]]:
    """Refuse other tasks and methods for censored times; doubt few events."""
    assert data.y is not None
    if task not in ("auto", "survival"):
        raise ValueError(
            f"{data.target!r} of {data.name} is a time with an event, which is no target for {task}. Name it "
            "by --target, without --event, for that."
        )
    if "survival" not in method.tasks:
        known = ", ".join(other.name for other in list_methods("survival"))
        raise ValueError(
            f"{method.name} does not learn from censored times. Choose a method that does (--method {known})."
        )
    events = int(data.y["event"].sum())
    if not events:
        raise ValueError(
            f"no sample of {data.name} has the event: all times are censored. Name the value of "
            "the event, such as --event status=dead."
        )
    told = f"{events} of {data.n_samples} samples have the event"
    return "survival", [
        f"{told}: what can be learned depends on them, and they are few."
    ] if events < 30 else []


def require_known_task(method: Method, task: str) -> None:
    """Refuse a method that does not learn from such a target, with those that `fit` takes instead."""
    if task in method.tasks:
        return
    others = " or ".join(name for name in method.tasks if name != "unsupervised")
    way = f"say what the target is (--task {others}) if that is what it is, or " if others else ""
    if "survival" in method.tasks:
        way = "name two columns (--time and --event) instead of --target, or "
    kin = " or ".join([other.name for other in list_methods(task) if other.predicts][:2])
    raise ValueError(
        f"{method.name} is for {' or '.join(method.tasks)}, and this target is one for {task}: {way}"
        f"choose a method for {task} (--method), such as {kin}."
    )


def _require_sound(data: TableData, y: np.ndarray, task: str, method: Method) -> None:
    """Refuse targets that no machine could learn from."""
    what = f"the target {data.target!r} of {data.name}"
    numbers = task == "regression" or ("regression" in method.tasks and "classification" not in method.tasks)
    if y.ndim == 2 and not (numbers or "regression" in method.tasks):
        raise ValueError(
            f"{what} must be one column of labels; it has {y.shape[1]} columns. Choose one of them."
        )
    if y.dtype.kind in "USO" and numbers:
        bad = _no_numbers(y.ravel())
        row = int(bad[0]) if bad.size else 0
        more = f", and {bad.size - 1} more" if bad.size > 1 else ""
        raise ValueError(
            f"{what} must hold numbers for regression; it holds {str(y.flat[row])!r} in "
            f"{data.place(row)}{more}. Encode it as numbers, or choose classification."
        )
    if y.dtype.kind != "f":
        return
    endless = np.argwhere(~np.isfinite(y))
    if len(endless):
        raise ValueError(
            f"{what} must hold finite numbers; it is infinite in {data.place(int(endless[0][0]))}."
        )
    fractions = np.flatnonzero(y.ravel() != np.round(y.ravel()))
    if task == "classification" and fractions.size:
        row = int(fractions[0])
        raise ValueError(
            f"{what} must hold whole numbers or names for classification; it holds {y.flat[row]:g} in "
            f"{data.place(row)}. Choose regression (--task regression), or round it first."
        )


def _no_numbers(y: np.ndarray) -> np.ndarray:
    """The positions of what is no number."""
    return np.array([row for row, text in enumerate(y.tolist()) if not is_number(text)], dtype=int)


def _check_values(data: TableData, targets: Targets) -> list[str]:
    """Doubt values that are all the same."""
    if np.ptp(targets.values, axis=0).any():
        return []
    return [f"the target {data.target!r} holds one value in all rows: there is nothing to learn."]


def _check_classes(data: TableData, targets: Targets) -> list[str]:
    """Refuse classes of one sample; doubt whole numbers of which there are many, and odd ones out."""
    odd = _odd_ones(data)
    counts = np.bincount(targets.codes)
    if counts.min() < 2:
        rare = targets.labels[np.flatnonzero(counts[targets.codes] < 2)[0]]
        raise ValueError(
            f"the target {data.target!r} of {data.name} holds whole numbers or names, which are read as "
            f"classes, and class {str(rare)!r} has a single sample. "
            + (odd or "If it is a number to predict, use --task regression; otherwise leave that class out.")
        )
    if data.y is not None and data.y.dtype.kind in "iuf" and targets.n_classes > _MANY_CLASSES:
        return [
            f"the target {data.target!r} holds {targets.n_classes} whole numbers, read as classes; if they "
            "are numbers to predict, use --task regression."
        ]
    return [f"the target {data.target!r} is read as classes. {odd}"] if odd else []


def _odd_ones(data: TableData) -> str:
    """What spoils a target that holds numbers for the most part."""
    if data.y is None or data.y.dtype.kind not in "USO":
        return ""
    bad = _no_numbers(data.y)
    if not 0 < bad.size < data.n_samples / 2:
        return ""
    row = int(bad[0])
    more = f", and {bad.size - 1} more," if bad.size > 1 else ""
    return (
        f"Most of it is numbers, but {str(data.y[row])!r} in {data.place(row)}{more} is none: correct or "
        "remove it if the target is a number."
    )


# --- parameters as they are typed ---------------------------------------------------------------------------


def parse_parameters(texts: Iterable[str]) -> dict[str, Any]:
    """Parameters from texts ``name=value``.

    Parameters
    ----------
    texts : iterable of str
        The value is a number, true, false, none, inf, a list or dictionary as Python writes it, or else a
        text, with or without quotes.

    Returns
    -------
    dict

    Examples
    --------
    >>> parse_parameters(["C=10", "loss=squared_hinge", "probability=true", "norm=inf"])
    {'C': 10, 'loss': 'squared_hinge', 'probability': True, 'norm': inf}
    """
    found: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        name = name.strip()
        if not equals or not name.isidentifier():
            raise ValueError(f"a parameter must be given as name=value, such as C=10; got {text[:40]!r}.")
        if name in found:
            raise ValueError(f"parameter {name!r} must be given once; got it twice.")
        found[name] = _value(value.strip())
    return found


def _value(text: str) -> Any:
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    if len(text) > _LONGEST:
        raise ValueError(f"the value of a parameter may have {_LONGEST} characters; got {len(text)}.")
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return text

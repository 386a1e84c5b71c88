"""Predictions for the rows of a new table, whose columns are found by their names."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from multikernel._files import check_destination, write_whole
from multikernel.io.tables.data import TableData, encode_columns, some
from multikernel.io.tables.planning import require_usable
from multikernel.io.tables.reading import column_names, read_table
from multikernel.io.tables.several import Source, read_for_model, take_ids

_KINDS = {
    "table": "a table",
    "tables": "several tables (--table NAME=FILE)",
    "precomputed": "precomputed kernels (K or kernel_NAME in an .npz file)",
}
_LACKS = {
    "predict_proba": "gives no probabilities. Fit it with --set probability=true, where the method has that.",
    "decision_function": "has no scores.",
    "predict_survival_function": "gives no survival curves: these are of survival models with loss=cox.",
}


@dataclass(frozen=True, eq=False)
class Predictions:
    """Predictions, one row for each row of the table.

    Attributes
    ----------
    frame : DataFrame
        ``row`` (from 0), or the ids of the samples where they have any, ``prediction``, and
        ``probability[class]``, ``score[...]`` and ``survival[time]`` where asked for.
    notes : list of str
        What was not used.
    """

    frame: pd.DataFrame
    notes: list[str]


def predict_table(
    model: Any,
    record: Mapping[str, Any],
    data: TableData,
    *,
    proba: bool = False,
    scores: bool = False,
    at: Sequence[float] = (),
) -> Predictions:
    """Predict the rows of a table.

    Parameters
    ----------
    model : estimator
        Fitted.
    record : mapping
        What `make_record` wrote beside it.
    data : TableData
        The order of the columns may differ from training, and others may be there: columns are found by
        name. Kernels are those between the new rows and the training rows, in the order of training or by
        name.
    proba, scores : bool, default=False
        Whether to add the probability of each class, and the score that decides.
    at : sequence of float, default=()
        Times, of a survival model: the probability to live longer than each is added.

    Returns
    -------
    Predictions
    """
    X, notes = match_training(record, data)
    asked = ((proba, "predict_proba"), (scores, "decision_function"), (at, "predict_survival_function"))
    for wanted, method in asked:
        if wanted and not hasattr(model, method):
            raise ValueError(f"{type(model).__name__} {_LACKS[method]}")
    columns: dict[str, Any] = {"row": np.arange(data.n_samples)}
    if data.ids is not None:
        columns = {_id_name(data.ids): data.ids.to_numpy()}
    columns |= _named("prediction", np.asarray(model.predict(X)), None)
    classes = getattr(model, "classes_", None)
    if proba:
        columns |= _named("probability", np.asarray(model.predict_proba(X)), classes)
    if scores:
        found = np.asarray(model.decision_function(X))
        fits = found.ndim == 2 and classes is not None and found.shape[1] == len(classes)
        columns |= _named("score", found, classes if fits else None)
    if at:
        columns |= _named("survival", model.predict_survival_function(X, list(at)), [f"{t:g}" for t in at])
    return Predictions(pd.DataFrame(columns), notes)


def match_training(
    record: Mapping[str, Any], data: TableData, *, other_use: Collection[str] = ()
) -> tuple[Any, list[str]]:
    """The columns, or the kernels, that a model was trained on, in their order.

    Parameters
    ----------
    record : mapping
        What `make_record` wrote beside the model.
    data : TableData
    other_use : collection of str, default=()
        Columns that serve something else, such as groups: not told to be without use.

    Returns
    -------
    X : DataFrame of shape (n, d), or ndarray of shape (n, n_train, n_kernels)
    notes : list of str
        What was not used.
    """
    _require_record(record)
    require_kind(record, data.kind, data.name)
    if data.kind == "tables":  # read for the model, table by table
        return data.X, list(data.notes)
    return _kernels(record, data) if data.kind == "precomputed" else _columns(record, data, other_use)


def require_kind(record: Mapping[str, Any], kind: str, name: str) -> None:
    """Refuse one table for a model of several, and the like."""
    _require_record(record)
    if kind != record["data"]["kind"]:
        raise ValueError(f"{name} must hold {_KINDS[record['data']['kind']]}, as training had.")


def read_new(source: Source, record: Mapping[str, Any]) -> TableData:
    """Read samples for a model, as those of training were read.

    Parameters
    ----------
    source : Source
        Its ``id`` is that of training where it names none; with a ``target``, that is read too.
    record : mapping
        What `make_record` wrote beside the model.

    Returns
    -------
    TableData
    """
    _require_record(record)
    about = record["data"]
    if source.file is None:
        require_kind(record, "tables", source.name)
        source = replace(source, keep_na=about.get("keep_na") is True, id=source.id or about.get("id"))

        def prepare(name: str, part: TableData) -> TableData:
            X, notes = _columns({"data": about["tables"][name]}, part)
            return replace(part, X=X, notes=notes)

        return read_for_model(source, about, prepare)
    options, column = reading_options(record), source.id
    if column is None and about.get("id") is not None and about["id"] in column_names(source.file):
        column = about["id"]
    if column is not None:
        options["names"] = [*options["names"], column]
    table = read_table(source.file, source.target, censored=source.censored, **options)
    return take_ids(table, column)


def reading_options(record: Mapping[str, Any]) -> dict[str, Any]:
    """How `read_table` must read new rows, so that they are read as the training rows were.

    Parameters
    ----------
    record : mapping
        What `make_record` wrote beside the model.

    Returns
    -------
    dict
        ``names`` and ``keep_na``.
    """
    _require_record(record)
    return {"names": list(record["data"]["one_hot"]), "keep_na": record["data"].get("keep_na") is True}


def write_csv(frame: pd.DataFrame, path: str | Path, *, keep: Sequence[str | Path] = ()) -> None:
    """Write a table to a file, whole or not at all.

    Parameters
    ----------
    frame : DataFrame
    path : path
        A file that is there is replaced.
    keep : sequence of path
        Files that must not be: those that were read.
    """
    write_whole(check_destination(path, keep), frame.to_csv(index=False).encode())


def _require_record(record: Mapping[str, Any]) -> None:
    """Refuse a record that `make_record` did not write."""
    if not isinstance(record, Mapping):
        raise TypeError(f"record must be a dict, as make_record returns it; got {type(record).__name__}.")
    data = record.get("data")
    wanted = {"kind": str, "columns": list, "kernels": list, "one_hot": dict, "n_samples": int}
    sound = isinstance(data, Mapping) and all(isinstance(data.get(key), kind) for key, kind in wanted.items())
    texts = [data["columns"], data["kernels"], *data["one_hot"].values()] if sound else []  # type: ignore[index]
    texts += [data.get(key, []) for key in ("texts", "gaps")] if sound else []  # type: ignore[union-attr]
    sound = sound and all(isinstance(each, list) and all(isinstance(t, str) for t in each) for each in texts)
    if sound and data["kind"] == "tables":  # type: ignore[index]
        tables = data.get("tables")  # type: ignore[union-attr]
        sound = isinstance(tables, Mapping) and bool(tables) and all(map(_is_table, tables.values()))
    if not sound or data["kind"] not in _KINDS:  # type: ignore[index]
        raise ValueError(
            "the record beside the model must say which columns it was trained on, as `multikernel fit` "
            "writes it. Fit the model again, or call predict of the loaded model yourself."
        )


def _is_table(about: Any) -> bool:
    """Whether something says what one of several tables is like."""
    wanted = {"columns": list, "one_hot": dict, "texts": list, "gaps": list}
    return isinstance(about, Mapping) and all(
        isinstance(about.get(key), kind) for key, kind in wanted.items()
    )


def _id_name(ids: pd.Index) -> str:
    """What the column of ids is called: as in the tables, unless predictions are called so."""
    name = "sample" if ids.name is None else str(ids.name)
    return "sample_id" if name == "prediction" else name


def _named(what: str, values: np.ndarray, names: Any) -> dict[str, np.ndarray]:
    if values.ndim == 1:
        return {what: values}
    labels = range(values.shape[1]) if names is None else names
    return {f"{what}[{label}]": column for label, column in zip(labels, values.T, strict=True)}


def _columns(
    record: Mapping[str, Any], data: TableData, other_use: Collection[str] = ()
) -> tuple[pd.DataFrame, list[str]]:
    """The columns of training, in their order."""
    columns, one_hot = list(record["data"]["columns"]), record["data"]["one_hot"]
    made = {f"{column}={value}": column for column, values in one_hot.items() for value in values}
    needed = list(dict.fromkeys(made.get(column, column) for column in columns))
    present = set(data.columns)
    missing = [column for column in needed if column not in present]
    if missing:
        raise ValueError(
            f"{data.name} must have the columns that the model was trained on; it has no {some(missing, 10)}."
        )
    wanted = {*needed, *other_use}
    extra = [column for column in data.columns if column not in wanted]
    notes = [*data.notes, *([f"not used of {data.name}: {some(extra)}."] if extra else [])]
    slim = replace(data, X=data.X.loc[:, needed], view_columns={}, notes=notes)
    encoded = encode_columns(slim, {column: one_hot[column] for column in needed if column in one_hot})
    X = encoded.X.loc[:, columns]
    texts = [column for column in record["data"].get("texts", []) if column in X.columns]
    require_usable(X, data, new=True, texts=texts, gaps=record["data"].get("gaps", []))
    return X, encoded.notes


def _kernels(record: Mapping[str, Any], data: TableData) -> tuple[np.ndarray, list[str]]:
    """The kernels of training, in their order; by name, where both have names that are not numbers."""
    names: list[str] = list(record["data"]["kernels"])
    n_train = int(record["data"]["n_samples"])
    if data.X.shape[1:] != (n_train, len(names)):
        raise ValueError(
            f"{data.name} must hold {len(names)} kernels between its rows and the {n_train} training rows, "
            f"shape (n_new, {n_train}, {len(names)}); got {data.X.shape}."
        )
    if data.kernel_names == names:
        return data.X, list(data.notes)
    if sorted(data.kernel_names) == sorted(names):
        return data.X[:, :, [data.kernel_names.index(name) for name in names]], list(data.notes)
    raise ValueError(
        f"{data.name} must hold the kernels {', '.join(names)}, as training had; got "
        f"{', '.join(data.kernel_names)}."
    )

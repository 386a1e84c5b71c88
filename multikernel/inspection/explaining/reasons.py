"""The part "why" of an evaluation: the most wrong samples, the worth of each view, the first columns."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import _safe_indexing

from ..._typing import Array
from ...rows import count_rows
from ...viz.fitted import plain_tree
from ..rivals.baselines import Report
from ..subject import Subject, sample_ids
from .importance import feature_importance
from .samples import Explanation, explain, sample_errors
from .shapley import NotAdditive, view_shapley
from .slopes import NoSlope

Part = dict[str, Any]

WHY = "why"
_WORST = 10
_NEAREST_TO_WRONG = 3  # samples that are shown where none is wrong
_WATERFALLS = 3
_EXACT, _ORDERS = 10, 20  # views whose Shapley values are exact; orders that are sampled of more
_COLUMNS, _VIEWS = 5, 12  # columns of a view, and views whose columns are shown


class Samples(NamedTuple):
    """What the reasons are told of: `rows` are those of the figures on many samples."""

    X: Any
    y: Array
    rows: Array
    what: str  # "cohort" or "training"


def why_part(subject: Subject, looked: Samples, training: tuple[Any, Any], report: Report) -> Part | None:
    """Why does the model predict what it does? None where nothing can be said of it.

    Nothing is fitted: the model is looked at as it is. The most wrong samples are those of all samples; the
    values of views and columns are of `looked.rows`.
    """
    if subject.task not in ("classes", "values") or np.ndim(looked.y) != 1:
        report.omit(WHY, "it is for models that predict one label or value of each sample.")
        return None
    found: Part = {
        "on": looked.what,
        "n_samples": count_rows(looked.X),
        "protocol": _protocol(looked),
        "worst": None,
        "shapley": None,
        "columns": None,
    }
    makers = {
        "worst": ("the most wrong samples", lambda: _worst_part(subject, looked, training)),
        "shapley": ("Shapley values of the views", lambda: _shapley_part(subject, looked)),
        "columns": ("columns", lambda: _columns_part(subject, looked)),
    }
    for key, (words, make) in makers.items():
        try:
            found[key] = make()
        except (ValueError, TypeError) as error:  # what models have no sums, slopes or columns for
            report.omit(WHY, f"{words}: {error}")
    made = [found[key]["answer"] for key in makers if found[key]]
    found["answer"] = " ".join(made)
    found["rows"] = (found["worst"] or {}).pop("rows", [])
    return dict(plain_tree(found)) if made else None


def _protocol(looked: Samples) -> str:
    n = count_rows(looked.X)
    some = f"; views and columns on {looked.rows.size} of them" if looked.rows.size < n else ""
    if looked.what == "cohort":
        return f"The fitted model on the {n} samples of the independent cohort{some}."
    return (
        f"The fitted model on the {n} samples that it was fitted to{some}: new samples are predicted wrongly "
        "more often, and views gain less there."
    )


# ------------------------------------------------------------------ samples
def _worst_part(subject: Subject, looked: Samples, training: tuple[Any, Any]) -> Part:
    """The most wrong samples, with what each view adds to the score of each."""
    if subject.task == "classes" and not hasattr(subject.model, "decision_function"):
        raise NotAdditive(f"{type(subject.final).__name__} has no decision_function.")
    predicted = np.asarray(subject.model.predict(looked.X))
    errors = sample_errors(subject.model, looked.X, looked.y, predicted)
    order = np.argsort(-errors, kind="stable")
    n_wrong = int((errors > 0.0).sum())
    rows = order[: min(n_wrong, _WORST)] if n_wrong else order[:_NEAREST_TO_WRONG]
    X, y = _safe_indexing(looked.X, rows), looked.y[rows]
    found = explain(subject.model, X, y, X_train=training[0], y_train=training[1])
    parts = [_steps(found, place) for place in range(rows.size)]
    ids = sample_ids(looked.X)
    samples = [
        {
            "row": int(row),
            "id": None if ids is None else ids[row],
            "observed": _label(subject, y[place]),
            "predicted": _label(subject, predicted[row]),
            "error": float(errors[row]),
            "steps": parts[place],
            **_near(found, place),
        }
        for place, row in enumerate(rows)
    ]
    for sample in samples:
        if sample["steps"]:
            sample["steps"]["id"] = sample["id"] or f"row {sample['row']}"
    return {
        "rows": samples,
        "n_wrong": n_wrong,
        "waterfalls": [sample["steps"] for sample in samples if sample["steps"]][:_WATERFALLS],
        "answer": _on_worst(subject, samples, n_wrong, count_rows(looked.X)),
    }


def _label(subject: Subject, value: Any) -> Any:
    return str(value) if subject.task == "classes" else float(value)


def _steps(found: Explanation, place: int) -> Part | None:
    """How the score comes about; None where no machine is that of the class predicted."""
    if len(found.machines) > 1 and str(found.table["prediction"].iloc[place]) not in found.machines:
        return None
    index = found.table.index
    return found.sample(index[place] if index.is_unique else place)


def _near(found: Explanation, place: int) -> Part:
    """The most similar support sample by the learned kernel, where the model tells."""
    if found.neighbors is None:
        return {"nearest": None, "similarity": None}
    per_sample = len(found.neighbors) // len(found.table)
    first = found.neighbors.iloc[place * per_sample]
    nearest = first.get("support")
    return {"nearest": None if nearest is None else str(nearest), "similarity": float(first["similarity"])}


def _on_worst(subject: Subject, samples: list[Part], n_wrong: int, n: int) -> str:
    name = samples[0]["id"] or f"row {samples[0]['row']}"
    if subject.task == "values":
        return f"Of {n} samples, {name} has the largest error, {samples[0]['error']:.3g}."
    if not n_wrong:
        return f"None of {n} samples is predicted wrongly; {name} is closest to it."
    many = "is" if n_wrong == 1 else "are"
    return f"{n_wrong} of {n} samples {many} predicted wrongly, {name} by the largest margin."


# ------------------------------------------------------------------ views and columns
def _shapley_part(subject: Subject, looked: Samples) -> Part:
    X, y = _safe_indexing(looked.X, looked.rows), looked.y[looked.rows]
    orders = None if len(subject.views) <= _EXACT else _ORDERS
    return view_shapley(subject.model, X, y, n_permutations=orders).to_dict()


def _columns_part(subject: Subject, looked: Samples) -> Part:
    """The first columns of the views with the most important ones: by slopes, which need no permutation."""
    X = _safe_indexing(looked.X, looked.rows)
    try:
        found = feature_importance(subject.model, X, method="coefficients")
    except NoSlope:
        found = feature_importance(subject.model, X, method="sensitivity")
    first = found.top_features(_COLUMNS)
    views = list(dict.fromkeys(first["view"]))
    kept = first[first["view"].isin(views[:_VIEWS])]
    rows = kept[kept["importance"] > 0.0].to_dict("records")
    if not rows:
        raise ValueError("no column moves the score.")
    return {**found.to_dict(), "rows": rows, "n_features": len(found.table), "n_views": len(views)}

"""The part "why" of an evaluation: the most wrong samples, the worth of each view, the first columns.

It is of an independent cohort where there is one; else of held-out samples, each explained by the refit that
has not seen it; else of the samples of the fit, which the part then says.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.utils import _safe_indexing

from ..._typing import Array
from ...rows import count_rows
from ...views.stacks import ids_of
from ...viz.fitted import plain_tree
from ..rivals.baselines import Report
from ..subject import Subject, sample_ids, subject_of
from .importance import feature_importance
from .samples import Explanation, explain, sample_errors
from .shapley import FUNCTIONS, NotAdditive, ViewShapley, view_shapley
from .slopes import NoSlope

Part = dict[str, Any]

WHY = "why"
_WORST = 10
_NEAREST_TO_WRONG = 3  # samples that are shown where none is wrong
_WATERFALLS = 3
_EXACT, _ORDERS = 10, 20  # views whose Shapley values are exact; orders that are sampled of more
_EXACT_OF_FOLD, _ORDERS_OF_FOLD = 6, 8  # the same of each of several refits
_SHOWN_OF_FOLD = 100  # samples of a test part whose contributions are kept
_COLUMNS, _VIEWS = 5, 12  # columns of a view, and views whose columns are shown


class Samples(NamedTuple):
    """What the reasons are told of: `rows` are those of the figures on many samples."""

    X: Any
    y: Array
    rows: Array
    what: str  # "cohort", "held out" or "training"
    refits: Sequence[Mapping[str, Any]] = ()  # that explain held-out samples, see `explained`


def can_explain(subject: Subject, y: Any) -> bool:
    """Whether models of this kind say what views add to a score; why not is found out by trying."""
    return (
        subject.task in ("classification", "regression")
        and np.ndim(y) == 1
        and hasattr(subject.final, "contributions")
        and (subject.task == "regression" or hasattr(subject.model, "decision_function"))
    )


def why_part(subject: Subject, looked: Samples, training: tuple[Any, Any], report: Report) -> Part | None:
    """Why does the model predict what it does? None where nothing can be said of it.

    Nothing is fitted: the model, or the refits, are looked at as they are. The most wrong samples are those
    of all samples; the values of views and columns are of `looked.rows`.
    """
    if subject.task not in ("classification", "regression") or np.ndim(looked.y) != 1:
        report.omit(WHY, "it is for models that predict one label or value of each sample.")
        return None
    found: Part = {
        "on": looked.what,
        "n_samples": count_rows(looked.X),
        "protocol": _protocol(looked),
        "worst": None,
        "shapley": None,
        "columns": None,
        "contributions": None,
    }
    makers: dict[str, tuple[str, Callable[[], Part | None]]] = {
        "worst": ("the most wrong samples", lambda: _worst_part(subject, looked, training)),
        "contributions": ("contributions of the views", lambda: _contributions_part(subject, looked)),
        "shapley": ("Shapley values of the views", lambda: _shapley_part(subject, looked)),
        "columns": ("columns", lambda: _columns_part(subject, looked)),
    }
    if looked.refits:
        makers["worst"] = (makers["worst"][0], lambda: _worst_held_out(subject, looked))
        makers["contributions"] = (makers["contributions"][0], lambda: _contributions_held_out(looked))
        makers["shapley"] = (makers["shapley"][0], lambda: _shapley_held_out(looked))
    for key, (words, make) in makers.items():
        try:
            found[key] = make()
        except (ValueError, TypeError) as error:  # what models have no sums, slopes or columns for
            report.omit(WHY, f"{words}: {error}")
    told = ("worst", "shapley", "columns")
    made = [found[key]["answer"] for key in told if found[key]]
    found["answer"] = " ".join(made)
    found["rows"] = (found["worst"] or {}).pop("rows", [])
    return dict(plain_tree(found)) if made else None


def _protocol(looked: Samples) -> str:
    n = count_rows(looked.X)
    some = f"; views and columns on {looked.rows.size} of them" if looked.rows.size < n else ""
    if looked.what == "cohort":
        return f"The fitted model on the {n} samples of the independent cohort{some}."
    if looked.refits:
        return (
            f"Held-out samples: each of the {n} is explained by one of {len(looked.refits)} refits, the one "
            "that has not seen it. Columns are those of the fitted model."
        )
    return (
        f"The fitted model on the {n} samples that it was fitted to{some}: new samples are predicted wrongly "
        "more often, and views gain less there."
    )


# ------------------------------------------------------------------ samples
def _worst_part(subject: Subject, looked: Samples, training: tuple[Any, Any]) -> Part:
    """The most wrong samples, with what each view adds to the score of each."""
    found = _most_wrong(subject, (looked.X, looked.y), training, sample_ids(looked.X))
    return _told_of_worst(subject, found["samples"], found["n_wrong"], count_rows(looked.X))


def _most_wrong(
    subject: Subject, data: tuple[Any, Array], training: tuple[Any, Any], ids: Sequence[str] | None
) -> Part:
    """At most ten samples by their rows in the data, the most wrong first, and how many are wrong."""
    if subject.task == "classification" and not hasattr(subject.model, "decision_function"):
        raise NotAdditive(f"{type(subject.final).__name__} has no decision_function.")
    X, y = data[0], np.asarray(data[1])
    predicted = np.asarray(subject.model.predict(X))
    errors = sample_errors(subject.model, X, y, predicted)
    order = np.argsort(-errors, kind="stable")
    n_wrong = int((errors > 0.0).sum())
    rows = order[: min(n_wrong, _WORST)] if n_wrong else order[:_NEAREST_TO_WRONG]
    taken, y = _safe_indexing(X, rows), y[rows]
    found = explain(subject.model, taken, y, X_train=training[0], y_train=training[1])
    samples = [
        {
            "row": int(row),
            "id": None if ids is None else ids[row],
            "observed": _label(subject, y[place]),
            "predicted": _label(subject, predicted[row]),
            "error": float(errors[row]),
            "steps": _steps(found, place),
            **_near(found, place),
        }
        for place, row in enumerate(rows)
    ]
    return {"samples": samples, "n_wrong": n_wrong}


def _told_of_worst(subject: Subject, samples: list[Part], n_wrong: int, n: int) -> Part:
    for sample in samples:
        if sample["steps"]:
            sample["steps"]["id"] = sample["id"] or f"row {sample['row']}"
    return {
        "rows": samples,
        "n_wrong": n_wrong,
        "waterfalls": [sample["steps"] for sample in samples if sample["steps"]][:_WATERFALLS],
        "answer": _on_worst(subject, samples, n_wrong, n),
    }


def _contributions_part(subject: Subject, looked: Samples) -> Part:
    """What each view adds to the score of each sample: to that of the class predicted, of several."""
    X, y = _safe_indexing(looked.X, looked.rows), looked.y[looked.rows]
    ids = sample_ids(looked.X)
    found = _contributions(subject, (X, y), looked.rows, ids)
    return _as_contributions(found["views"], found["machine"], found["rows"])


def _contributions(subject: Subject, data: tuple[Any, Array], rows: Array, ids: Sequence[str] | None) -> Part:
    """Of each sample its row, what is predicted, the score and what each view adds to it."""
    final, predicted = subject.final, np.asarray(subject.model.predict(data[0]))
    if not hasattr(final, "contributions_frame"):
        raise NotAdditive(f"the scores of {type(final).__name__} are no sums over views.")
    frame = final.contributions_frame(subject.inputs(data[0]))
    several = frame.columns.nlevels > 1
    names = [str(name) for name in frame.columns.get_level_values(0).unique()] if several else []
    if several and not {str(label) for label in predicted} <= set(names):
        raise NotAdditive("machines are of pairs of classes: none is that of the class predicted.")
    parts = [frame[name] for name in frame.columns.get_level_values(0).unique()] if several else [frame]
    values = np.stack([part.to_numpy(dtype=np.float64) for part in parts])  # views, intercept, score
    chosen = [names.index(str(label)) for label in predicted] if several else [0] * len(predicted)
    columns = [str(name) for name in parts[0].columns]
    views = [column for column in columns if column not in ("intercept", "score")]
    places = [columns.index(view) for view in views]
    told = [
        {
            "row": int(row),
            "id": None if ids is None else ids[row],
            "observed": _label(subject, observed),
            "predicted": _label(subject, label),
            "score": float(values[k, i, columns.index("score")]),
            "values": values[k, i, places].tolist(),
        }
        for i, (k, row, observed, label) in enumerate(zip(chosen, rows, data[1], predicted, strict=True))
    ]
    classes = getattr(final, "classes_", None)
    one = "the prediction" if classes is None else str(classes[-1])
    return {"views": views, "machine": "the class predicted" if several else one, "rows": told}


def _as_contributions(views: list[str], machine: str, rows: list[Part]) -> Part:
    """The contributions of samples in the order of their scores, and the view that differs most."""
    rows = sorted(rows, key=lambda row: -row["score"])
    values = np.array([row["values"] for row in rows])
    spread = np.quantile(values, 0.75, axis=0) - np.quantile(values, 0.25, axis=0)
    first = int(np.argmax(spread))
    answer = (
        f"{views[first]} tells the {len(rows)} samples apart most: the middle half of what it adds to the "
        f"score spans {spread[first]:.3g}."
    )
    return {"views": views, "machine": machine, "rows": rows, "answer": answer}


# ------------------------------------------------------------------ held-out samples
def explained(
    model: Any, training: tuple[Any, Any], test: tuple[Any, Any], split: tuple[Array, Array], X: Any
) -> Part:
    """Why a refit predicts samples that it has not seen as it does: plain numbers and texts.

    Parameters
    ----------
    model : fitted estimator
    training, test : pair (X, y)
        The samples that it was fitted to, and those that it has not seen.
    split : pair of arrays of int
        The rows of both in all the data.
    X : as for ``fit``
        All the data, for the ids.

    Returns
    -------
    dict
        ``worst``, ``contributions`` and ``shapley``, each of them with ``why_not`` where a model has none.
    """
    subject, ids = subject_of(model), sample_ids(X)
    named = ids_of(training[0], grams=subject.is_precomputed and not subject.steps) is not None
    rows = np.asarray(split[1])
    y = np.asarray(test[1])
    shown = np.unique(np.linspace(0, rows.size - 1, min(rows.size, _SHOWN_OF_FOLD)).round().astype(int))
    own = _safe_indexing(test[0], shown), y[shown]
    orders = None if len(subject.views) <= _EXACT_OF_FOLD else _ORDERS_OF_FOLD
    seed = int(rows.sum()) % 2**31  # each refit draws orders of its own
    makers: dict[str, Callable[[], Part]] = {
        "worst": lambda: _in_all_data(_most_wrong(subject, (test[0], y), training, None), split, ids, named),
        "contributions": lambda: _contributions(subject, own, rows[shown], ids),
        "shapley": lambda: view_shapley(
            model, test[0], y, n_permutations=orders, random_state=seed
        ).to_dict(),
    }
    found: Part = {"n_samples": int(rows.size)}
    for key, make in makers.items():
        try:
            found[key] = make()
        except (ValueError, TypeError) as error:
            found[key] = {"why_not": str(error)}
    return dict(plain_tree(found))


def _in_all_data(found: Part, split: tuple[Array, Array], ids: Sequence[str] | None, named: bool) -> Part:
    """Rows of the test part, and training samples that are not named, by their rows in all the data."""
    for sample in found["samples"]:
        sample["row"] = int(split[1][sample["row"]])
        sample["id"] = None if ids is None else ids[sample["row"]]
        if not named and sample["nearest"] is not None:
            sample["nearest"] = str(split[0][int(sample["nearest"])])
    return found


def _of_refits(looked: Samples, key: str) -> list[Part]:
    """What each refit says; where one cannot, none does."""
    found = [refit["explained"][key] for refit in looked.refits]
    failed = [part["why_not"] for part in found if "why_not" in part]
    if failed:
        raise ValueError(failed[0])
    return found


def _worst_held_out(subject: Subject, looked: Samples) -> Part:
    """The most wrong samples of all test parts."""
    parts = _of_refits(looked, "worst")
    n_wrong = sum(part["n_wrong"] for part in parts)
    samples = sorted((one for part in parts for one in part["samples"]), key=lambda one: -one["error"])
    most = min(n_wrong, _WORST) if n_wrong else _NEAREST_TO_WRONG
    return _told_of_worst(subject, [dict(one) for one in samples[:most]], n_wrong, count_rows(looked.X))


def _contributions_held_out(looked: Samples) -> Part:
    """The contributions to scores of held-out samples, as many as are shown."""
    parts = _of_refits(looked, "contributions")
    rows = [row for part in parts for row in part["rows"]]
    kept = set(map(int, looked.rows))
    shown = [row for row in rows if row["row"] in kept] or rows
    return _as_contributions(parts[0]["views"], parts[0]["machine"], shown)


def _shapley_held_out(looked: Samples) -> Part:
    """The mean of the values over the test parts, in proportion to their samples."""
    parts = _of_refits(looked, "shapley")
    sizes = np.array([refit["explained"]["n_samples"] for refit in looked.refits], dtype=float)
    sizes /= sizes.sum()
    views = [row["view"] for row in parts[0]["rows"]]
    if any([row["view"] for row in part["rows"]] != views for part in parts):
        raise ValueError("the refits have different views.")

    def of(key: str) -> Array:
        return np.array([[row[key] or 0.0 for row in part["rows"]] for part in parts])  # (n_folds, n_views)

    values = of("shapley")
    table = pd.DataFrame(
        {
            "shapley": sizes @ values,
            "std_error": np.sqrt(sizes**2 @ of("std_error") ** 2),
            "std": values.std(axis=0, ddof=1) if len(parts) > 1 else np.nan,
            "alone": sizes @ of("alone"),
            "beside_others": sizes @ of("beside_others"),
        },
        index=pd.Index(views, name="view"),
    )
    score, empty = (float(sizes @ [part[key] for part in parts]) for key in ("score", "score_without"))
    orders, metric = parts[0]["n_permutations"], parts[0]["metric"]
    orders = None if orders is None else orders * len(parts)
    return ViewShapley(FUNCTIONS, table, metric, score, empty, orders, values.T).to_dict()


def _label(subject: Subject, value: Any) -> Any:
    return str(value) if subject.task == "classification" else float(value)


def _steps(found: Explanation, place: int) -> Part | None:
    """How the score comes about; None where no machine is that of the class predicted."""
    if len(found.machines) > 1 and str(found.table["prediction"].iloc[place]) not in found.machines:
        return None
    index = found.table.index
    steps = found.sample(index[place] if index.is_unique else place)
    if found.gates is not None:
        gates = found.gates.iloc[place]
        steps["gates"] = [{"name": str(view), "value": float(gates[view])} for view in found.gates.columns]
    return steps


def _near(found: Explanation, place: int) -> Part:
    """The most similar support sample by the learned kernel, where the model tells."""
    if found.neighbors is None:
        return {"nearest": None, "similarity": None}
    first = place * (len(found.neighbors) // len(found.table))
    support = found.neighbors.get("support")
    nearest = None if support is None else str(support.iloc[first])
    return {"nearest": nearest, "similarity": float(found.neighbors["similarity"].iloc[first])}


def _on_worst(subject: Subject, samples: list[Part], n_wrong: int, n: int) -> str:
    name = samples[0]["id"] or f"row {samples[0]['row']}"
    if subject.task == "regression":
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

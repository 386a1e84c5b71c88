"""From a fitted model to a plain dictionary: everything a report shows, and nothing a page must compute."""

import reprlib
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from sklearn.base import is_regressor
from sklearn.utils import get_tags

from multikernel._validation import as_list
from multikernel.viz.fitted import last_of, machine_weights, plain_leaf, plain_tree, view_shares, weight_names

Summary = dict[str, Any]

_MOST_FINDINGS = 50
_STEP_KEYS = ("machine", "iteration", "objective", "lower_bound", "gap")


def summarize(
    model: Any,
    comparison: Any = (),
    *,
    title: str = "What the model learned",
    notes: Iterable[str] = (),
    evaluation: Mapping[str, Any] | None = None,
    doctor: Any = None,
) -> Summary:
    """Summarise a fitted model in a dictionary that `json.dumps` accepts as it is.

    Only fitted attributes are read: ``kernel_weights_`` with ``view_names_``, ``dual_gap_``, ``objective_``,
    ``n_iter_``, ``status_``, ``history_``, ``classes_``, ``machine_weights_``, ``machine_names_``,
    ``kept_views_``, ``total_cost_`` and ``support_`` (or ``coef_`` and ``approximation_`` of a model on
    factors) where the model has them, and ``weight_names_`` where its weights are not those of views;
    ``certificate`` says what the gap certifies, where that is not "optimality". The share of a view is its
    part of all the weight, ``share[m] = kernel_weights_[m] / sum(abs(kernel_weights_))``: negative where the
    weight is; a model whose weights depend on the scale of its kernels says its shares itself, in
    ``kernel_shares_``.

    Parameters
    ----------
    model : estimator
        Fitted; or a pipeline or a search that ends in one. It is not modified.
    comparison : Comparison or sequence of mappings, default=()
        What :func:`multikernel.compare` returns; or one mapping per contender, all with the same keys in the
        same order, which become the columns of a table; the first key names the contender.
    title : str, default="What the model learned"
        The heading of the report.
    notes : iterable of str, default=()
        Paragraphs that say how the figures were made.
    evaluation : mapping, default=None
        What `multikernel.inspection.evaluate` found on data: stability, baselines, held-out predictions and
        so on. Parts that are None or missing are not shown. It must be of this model: an evaluation of other
        views, other classes or another task is refused. Its costly parts are on demand, see ``parts`` there;
        the report says which were not asked for.
    doctor : Diagnosis or mapping, default=None
        What `multikernel.doctor.diagnose` found in the data, or its ``to_dict()``; at most 50 findings are
        kept.

    Returns
    -------
    dict
        ``title``, ``model`` (name and parameters), ``weights`` (view, weight, share, and kept where views are
        kept by ``View(keep=...)``; none for a model that learns no kernel weights), ``machines`` (the weights
        of each binary machine, where they differ),
        ``convergence`` (objective, dual_gap, tol, certified, certificate, n_iter, status, history),
        ``prediction`` (n_support, or rank of a model on factors, and total_cost), ``approximation`` (view,
        approximation, rank, trace_error of a model on factors), ``classes``, ``comparison`` (columns, rows),
        ``notes``, ``evaluation`` (a copy, None where none was given) and ``doctor`` (``headline``, ``ok``,
        ``findings`` and ``n_findings``; None where none was given).

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> model = SimpleNamespace(kernel_weights_=np.array([0.75, 0.25]), view_names_=["sound", "image"])
    >>> summarize(model)["weights"][0]
    {'view': 'sound', 'weight': 0.75, 'share': 0.75}
    """
    model, _ = last_of(model)
    weights = _weights(model)
    return {
        "title": str(title),
        "model": {"name": type(model).__name__, "parameters": _parameters(model)},
        "weights": weights,
        "machines": _machines(model),
        "convergence": _convergence(model),
        "prediction": _prediction(model),
        "approximation": _approximation(model),
        "classes": [str(label) for label in getattr(model, "classes_", [])],
        "comparison": _comparison(comparison),
        "notes": [str(note) for note in notes],
        "evaluation": _evaluation(evaluation, model),
        "doctor": _doctor(doctor),
    }


def _doctor(diagnosis: Any) -> dict[str, Any] | None:
    """The findings, gravest first, without the tables behind them."""
    if diagnosis is None:
        return None
    told = diagnosis.to_dict() if hasattr(diagnosis, "to_dict") else diagnosis
    if not isinstance(told, Mapping) or not {"headline", "findings"} <= told.keys():
        raise ValueError(
            "doctor must be what multikernel.doctor.diagnose(X, y, kernels) returns, or its to_dict(); got "
            f"{type(diagnosis).__name__}."
        )
    keys = ("level", "subject", "what", "remedy")
    found = [{key: str(finding[key]) for key in keys} for finding in told["findings"]]
    return {
        "headline": str(told["headline"]),
        "ok": all(finding["level"] != "error" for finding in found),
        "n_findings": len(found),
        "findings": found[:_MOST_FINDINGS],
    }


def _evaluation(evaluation: Mapping[str, Any] | None, model: Any) -> dict[str, Any] | None:
    if evaluation is None:
        return None
    if not isinstance(evaluation, Mapping):
        raise ValueError(
            f"evaluation must be a dictionary as evaluate(model, X, y) returns it; got "
            f"{type(evaluation).__name__}."
        )
    copied: dict[str, Any] = plain_tree(evaluation)
    _require_same_model(copied, model)
    return copied


def _require_same_model(evaluation: Mapping[str, Any], model: Any) -> None:
    """Refuse the evaluation of a model that has another task, other views or other classes."""
    views, classes = weight_names(model), [str(label) for label in getattr(model, "classes_", [])]
    task = "classification" if classes else "regression" if _is_regressor(model) else _survival(model)
    found_views, found_classes = evaluation.get("views") or [], evaluation.get("classes") or []
    # data may lack a class that the model knows, and hold samples without a label
    one_holds_other = set(classes) <= set(found_classes) or set(found_classes) <= set(classes)
    for what, own, other, same in (
        ("task", task, evaluation.get("task"), task == evaluation.get("task")),
        ("views", views, found_views, views == found_views),
        ("classes", classes, found_classes, one_holds_other),
    ):
        if own and other and not same:
            raise ValueError(
                f"evaluation must be of this model; the {what} of {type(model).__name__}: {_short(own)}, of "
                f"the evaluation: {_short(other)}. Give what evaluate(model, X, y) returns for this model."
            )


def _survival(model: Any) -> str | None:
    known = hasattr(model, "__sklearn_tags__")
    return "survival" if known and get_tags(model).estimator_type == "survival" else None


def _is_regressor(model: Any) -> bool:
    return hasattr(model, "__sklearn_tags__") and is_regressor(model)


def _weights(model: Any) -> list[dict[str, Any]]:
    name = type(model).__name__
    if getattr(model, "kernel_weights_", None) is None:
        if not any(key.endswith("_") and key[0] != "_" for key in getattr(model, "__dict__", {})):
            raise ValueError(f"model must be fitted; {name} has no kernel_weights_. Call its fit first.")
        return []
    kept = getattr(model, "kept_views_", [])
    return [
        {"view": view, "weight": plain_leaf(weight), "share": plain_leaf(share)}
        | ({"kept": view in kept} if kept else {})
        for view, weight, share in view_shares(model, finite=False)
    ]


def _parameters(model: Any) -> dict[str, str]:
    if not hasattr(model, "get_params"):
        return {}
    parameters = model.get_params(deep=False)
    return {key: _short(value) for key, value in sorted(parameters.items()) if key != "kernels"}


def _machines(model: Any) -> list[dict[str, Any]]:
    return [
        {"machine": machine, "weights": [plain_leaf(weight) for weight in row]}
        for machine, row in machine_weights(model).items()
    ]


def _convergence(model: Any) -> dict[str, Any]:
    gap = _number(getattr(model, "dual_gap_", None))
    tol = _number(getattr(model, "tol", None))
    certificate = str(getattr(model, "certificate", "optimality"))
    keys = [key for key in _STEP_KEYS if key != "lower_bound" or certificate == "optimality"]
    return {
        "objective": _number(getattr(model, "objective_", None)),
        "dual_gap": gap,
        "tol": tol,
        "certified": None if gap is None or tol is None else gap <= tol,
        "certificate": certificate,
        "n_iter": _number(getattr(model, "n_iter_", None)),
        "status": str(getattr(model, "status_", "unknown")),
        "history": [
            {key: plain_leaf(step.get(key, 0 if key == "machine" else None)) for key in keys}
            for step in getattr(model, "history_", [])
        ],
    }


def _prediction(model: Any) -> dict[str, Any]:
    """What a prediction needs, of models that tell its cost: support samples, or columns of factors."""
    if not hasattr(model, "total_cost_"):
        return {}
    needed = (
        {"n_support": int(np.size(model.support_))}
        if hasattr(model, "support_")
        else {"rank": int(np.shape(model.coef_)[1])}
    )
    return {**needed, "total_cost": _number(model.total_cost_)}


def _approximation(model: Any) -> list[dict[str, Any]]:
    """How exactly factors stand for the kernel of each view, of models that have factors."""
    table = getattr(model, "approximation_", None)
    if table is None:
        return []
    keys = ("approximation", "rank", "trace_error")
    return [
        {"view": str(view), **{key: plain_leaf(row[key]) for key in keys}} for view, row in table.iterrows()
    ]


def _comparison(given: Any) -> dict[str, Any]:
    rows = _rows(given)
    columns = [str(key) for key in rows[0]] if len(rows) else []
    for position, row in enumerate(rows):
        if [str(key) for key in row] != columns:
            raise ValueError(
                f"every row of comparison must have the same columns; row 0 has {columns} and "
                f"row {position} has {[str(key) for key in row]}. Give None where a value is missing."
            )
    return {"columns": columns, "rows": [[plain_leaf(value) for value in row.values()] for row in rows]}


def _rows(given: Any) -> list[Mapping[str, Any]]:
    """The rows of a table: those of a Comparison as it shows them."""
    if callable(getattr(given, "table", None)):
        head, *texts = given.table()
        return [dict(zip(head, row, strict=True)) for row in texts]
    rows = as_list("comparison", given, "dicts, one for each row, or what compare returns")
    for row in rows:
        if not isinstance(row, Mapping):
            raise TypeError(
                "comparison must be a list of dicts, one for each row, or what compare returns; it holds "
                f"{type(row).__name__}."
            )
    return rows


def _number(value: Any) -> float | int | None:
    """Return one figure for the whole model: the largest where there is one per machine."""
    if value is None or np.size(value) == 0:
        return None
    figure = plain_leaf(np.max(value))
    return figure if isinstance(figure, int | float) else None


def _short(value: Any) -> str:
    if isinstance(value, str):
        return value
    return reprlib.repr(value.item() if isinstance(value, np.generic) else value)

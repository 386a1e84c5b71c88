"""The learned weights of a fitted model, for tables and pictures: tables, reports, pictures.

Only public fitted attributes are read; nothing here knows a class of model.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from .._typing import Array


def last_of(model: Any, X: Any = None) -> tuple[Any, Any]:
    """The last step of a pipeline, or the best model of a search; and X as the steps before it leave it."""
    if hasattr(model, "best_estimator_"):
        return last_of(model.best_estimator_, X)
    if not hasattr(model, "steps"):
        return model, X
    if X is not None and len(model.steps) > 1:
        X = model[:-1].transform(X)
    return last_of(model[-1], X)


class ViewShare(NamedTuple):
    """The weight of a view, and its part of all the weight: negative where the weight is."""

    view: str
    weight: float
    share: float


def weight_names(model: Any) -> list[str]:
    """What the weights of a fitted model belong to: its views, or its ``weight_names_`` where it has such."""
    return [str(name) for name in getattr(model, "weight_names_", getattr(model, "view_names_", []))]


def view_shares(model: Any, *, finite: bool = True) -> list[ViewShare]:
    """The weights of a fitted model, in the order of its views.

    The share is |weight| over the sum of all of them, with the sign of the weight, unless the model says its
    shares itself (``kernel_shares_``), as those do whose weights depend on the scale of the kernels. Refused
    are models without weights, or without one for each view, or, with `finite`, with one that is not finite.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> view_shares(SimpleNamespace(kernel_weights_=[3.0, -1.0], view_names_=["sound", "image"]))[1]
    ViewShare(view='image', weight=-1.0, share=-0.25)
    """
    name = type(model).__name__
    if getattr(model, "kernel_weights_", None) is None:
        raise ValueError(
            f"model must be fitted and have kernel weights; {name} has no kernel_weights_. Call its fit, or "
            "take an estimator that learns weights, such as MKLClassifier."
        )
    weights = np.asarray(model.kernel_weights_, dtype=np.float64)
    views = weight_names(model)
    shares = np.asarray(getattr(model, "kernel_shares_", shares_of(weights)), dtype=np.float64)
    if weights.shape != (len(views),) or shares.shape != weights.shape:
        raise ValueError(
            f"kernel_weights_ must hold one weight for each of the {len(views)} views of {name}; got shape "
            f"{weights.shape}. Fit the model again."
        )
    if finite and not (np.isfinite(weights).all() and np.isfinite(shares).all()):
        bad = views[int(np.flatnonzero(~(np.isfinite(weights) & np.isfinite(shares)))[0])]
        raise ValueError(f"kernel_weights_ must be finite; that of {bad!r} is not. Fit the model again.")
    return [ViewShare(*row) for row in zip(views, weights.tolist(), shares.tolist(), strict=True)]


def shares_of(weights: Array) -> Array:
    """Weights over the sum of their absolute values; zeros stay zeros."""
    total = np.abs(weights).sum()
    return np.asarray(weights / total if total > 0 else np.zeros_like(weights))


def heaviest_first(rows: list[ViewShare]) -> list[ViewShare]:
    """By the size of the share; equal ones in the order of the views."""
    return sorted(rows, key=lambda row: -round(abs(row.share), 12))


def percent(share: float) -> str:
    """A share as a percentage; an exact zero is seen at once.

    Examples
    --------
    >>> percent(0.125), percent(0.0), percent(1e-9)
    ('12.5%', '0', '0.0%')
    """
    return "0" if share == 0 else f"{100.0 * share:.1f}%"


def machine_weights(model: Any) -> dict[str, Array]:
    """The weights of each machine; empty where all machines have the same."""
    table = np.asarray(getattr(model, "machine_weights_", []), dtype=np.float64)
    if table.ndim != 2 or (table == table[0]).all():
        return {}
    return {str(name): row for name, row in zip(model.machine_names_, table, strict=True)}


def machine_shares(model: Any) -> dict[str, Array]:
    """The shares that each machine has learned for itself; empty where the model says its shares itself."""
    if hasattr(model, "kernel_shares_"):
        return {}
    return {name: shares_of(weights) for name, weights in machine_weights(model).items()}


def weights_table(model: Any, columns: Mapping[str, Any]) -> pd.DataFrame:
    """The columns by view, and the weights of each machine (``weight[name]``) where these differ."""
    own = {f"weight[{name}]": weights for name, weights in machine_weights(model).items()}
    return pd.DataFrame({**columns, **own}, index=pd.Index(weight_names(model), name="view"))


def contributions_table(model: Any, contributions: Any, ids: Sequence[str] | None) -> pd.DataFrame:
    """What each view adds to the scores of samples, with the intercept and the score, the sum of them.

    ``contributions`` are (n_samples, n_views), or (n_samples, n_machines, n_views) for several machines; the
    columns then have the levels ``machine`` and ``view``.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> model = SimpleNamespace(view_names_=["sound", "image"], intercept_=[0.5])
    >>> contributions_table(model, [[1.0, -2.0]], ["s1"]).loc["s1"].tolist()
    [1.0, -2.0, 0.5, -0.5]
    """
    every = np.asarray(contributions, dtype=np.float64)
    blocks = every[:, None] if every.ndim == 2 else every
    intercepts = np.ravel(model.intercept_) if hasattr(model, "intercept_") else np.array([-model.offset_])
    added = np.broadcast_to(intercepts[:, None], (len(blocks), blocks.shape[1], 1))
    values = np.concatenate([blocks, added], axis=2)
    values = np.concatenate([values, values.sum(axis=2, keepdims=True)], axis=2)
    columns = [*map(str, model.view_names_), "intercept", "score"]
    index = pd.RangeIndex(len(values)) if ids is None else pd.Index(ids, name="sample")
    if every.ndim == 2:
        return pd.DataFrame(values[:, 0], index=index, columns=columns)
    machines = getattr(model, "machine_names_", None) or [str(name) for name in model.classes_]
    levels = pd.MultiIndex.from_product([machines, columns], names=["machine", "view"])
    return pd.DataFrame(values.reshape(len(values), -1), index=index, columns=levels)


def is_local(model: Any) -> bool:
    """Whether the weights differ from sample to sample, so that those of the model are their means."""
    return hasattr(model, "sample_kernel_weights")


def sample_weights(model: Any, X: Any, rows: Any = None) -> tuple[str, Array] | None:
    """What the weights of a fitted model at each sample are, and the weights; None for one weight for all.

    Models whose weights depend on the sample have a method ``sample_kernel_weights``. Weight learners may
    have found weights of the training samples alone: `rows` are which of them these are. The weights have the
    shape (n_samples, n_views).
    """
    learned = getattr(getattr(model, "learner_", None), "_training_weights", None)
    if rows is not None and learned is not None:
        what, weights = "weight of each view at the sample, as learned", learned[rows]
    elif hasattr(model, "sample_kernel_weights"):
        what, weights = model.sample_weights_name, model.sample_kernel_weights(X)
    else:
        return None
    return what, np.asarray(weights, dtype=np.float64)


def plain_tree(value: Any, *, name_infinite: bool = False) -> Any:
    """A copy of nested mappings and sequences with leaves that JSON can hold, as `plain_leaf` makes them."""
    if isinstance(value, Mapping):
        return {str(key): plain_tree(item, name_infinite=name_infinite) for key, item in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [plain_tree(item, name_infinite=name_infinite) for item in value]
    return plain_leaf(value, name_infinite=name_infinite)


def plain_leaf(value: Any, *, name_infinite: bool = False) -> Any:
    """A value as JSON can hold it: Python numbers, texts and None.

    A number that is not finite becomes None, or, with `name_infinite`, a text such as "inf".

    Examples
    --------
    >>> plain_leaf(np.float64(2.0)), plain_leaf(np.inf), plain_leaf(np.inf, name_infinite=True)
    (2.0, None, 'inf')
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value) if name_infinite else None
    if isinstance(value, float):
        return value
    return value if value is None or isinstance(value, bool | int | str) else str(value)

"""What the target of a table is, classes or values, and what is wrong with it."""

from __future__ import annotations

import numpy as np

from multikernel.io.tables.data import TableData
from multikernel.registry import Method, list_methods
from multikernel.rules.targets import Targets, as_targets

_MANY_CLASSES = 20


def find_task(data: TableData, task: str, method: Method) -> tuple[str, list[str]]:
    """What the target is, and what should be said of it.

    Parameters
    ----------
    data : TableData
    task : {"auto", "classes", "values", "nothing"}
    method : Method

    Returns
    -------
    task : {"classes", "values", "nothing"}
    notes : list of str
    """
    if data.y is None:
        if task == "nothing" or (task == "auto" and method.tasks == ("nothing",)):
            method.estimator_class("nothing")
            return "nothing", []
        raise ValueError(
            f"{method.name} learns from {' or '.join(method.tasks)}: name the target (--target)"
            + (", or say that there is none (--task nothing)." if "nothing" in method.tasks else ".")
        )
    _require_sound(data, data.y, task, method)
    try:
        targets = as_targets(data.y, data.n_samples, task, method.tasks)
    except ValueError as error:
        raise ValueError(f"the target {data.target!r} of {data.name}: {error}") from None
    require_known_task(method, targets.task)
    checks = {"classes": _check_classes, "values": _check_values}
    return targets.task, checks[targets.task](data, targets) if targets.task in checks else []


def require_known_task(method: Method, task: str) -> None:
    """Refuse a method that does not learn from such a target, with those that `fit` takes instead."""
    if task in method.tasks:
        return
    others = " or ".join(name for name in method.tasks if name != "nothing")
    way = f"say what the target is (--task {others}) where it is that, or " if others else ""
    kin = " or ".join([other.name for other in list_methods(task) if other.predicts][:2])
    raise ValueError(
        f"{method.name} learns from {' or '.join(method.tasks)}, and the target is taken for {task}: {way}"
        f"choose a method that learns from {task} (--method), such as {kin}."
    )


def _require_sound(data: TableData, y: np.ndarray, task: str, method: Method) -> None:
    """Refuse targets that no machine could learn from."""
    what = f"the target {data.target!r} of {data.name}"
    numbers = task == "values" or ("values" in method.tasks and "classes" not in method.tasks)
    if y.ndim == 2 and not (numbers or "values" in method.tasks):
        raise ValueError(
            f"{what} must be one column of labels; it has {y.shape[1]} columns. Choose one of them."
        )
    if y.dtype.kind in "USO" and numbers:
        bad = _no_numbers(y.ravel())
        row = int(bad[0]) if bad.size else 0
        more = f", and {bad.size - 1} more" if bad.size > 1 else ""
        raise ValueError(
            f"{what} must hold numbers, to learn from values; it holds {str(y.flat[row])!r} in "
            f"{data.place(row)}{more}. Encode it as numbers, or learn from classes."
        )
    if y.dtype.kind != "f":
        return
    endless = np.argwhere(~np.isfinite(y))
    if len(endless):
        raise ValueError(
            f"{what} must hold finite numbers; it is infinite in {data.place(int(endless[0][0]))}."
        )
    fractions = np.flatnonzero(y.ravel() != np.round(y.ravel()))
    if task == "classes" and fractions.size:
        row = int(fractions[0])
        raise ValueError(
            f"{what} must hold whole numbers or names, to learn from classes; it holds {y.flat[row]:g} in "
            f"{data.place(row)}. Learn from values (--task values), or round it before."
        )


def _no_numbers(y: np.ndarray) -> np.ndarray:
    """The positions of what is no number."""
    return np.array([row for row, text in enumerate(y.tolist()) if not _is_number(text)], dtype=int)


def _is_number(text: object) -> bool:
    try:
        float(str(text))
    except ValueError:
        return False
    return True


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
            f"the target {data.target!r} of {data.name} holds whole numbers or names, which are taken for "
            f"classes, and class {str(rare)!r} has a single sample. "
            + (odd or "If it is a number to predict, say so (--task values); leave that class out otherwise.")
        )
    if data.y is not None and data.y.dtype.kind in "iuf" and targets.n_classes > _MANY_CLASSES:
        return [
            f"the target {data.target!r} holds {targets.n_classes} whole numbers, taken for classes; if they "
            "are numbers to predict, say so (--task values)."
        ]
    return [f"the target {data.target!r} is taken for classes. {odd}"] if odd else []


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

"""What is written beside a model: which data, views, method and parameters it came from, and how it ended."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Container, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from multikernel.io.tables.fitting import INTERRUPTED, Fitted, Tuning
from multikernel.io.tables.planning import FitPlan, gap_columns, takes_gaps, text_columns
from multikernel.views import View, as_views

RECORD, TUNING = "fit.json", "tuning.jsonl"
REPORT, EVALUATION = "report.html", "evaluation.jsonl"
_OURS = frozenset({RECORD, f"{RECORD}.next", TUNING, "model.skops"})


def make_record(
    plan: FitPlan,
    fitted: Fitted,
    *,
    sha256: str,
    categories: Mapping[str, Sequence[str]] | None = None,
    tuning: Tuning | None = None,
    keep_na: bool = False,
) -> dict[str, Any]:
    """What was fitted, as a dictionary that JSON can hold.

    Parameters
    ----------
    plan : FitPlan
    fitted : Fitted
    sha256 : str
        Of the file of the data.
    categories : mapping, optional
        The values of the columns that were encoded, from `find_categories`.
    tuning : Tuning, optional
    keep_na : bool, default=False
        As it was given to `read_table`.

    Returns
    -------
    dict
        ``data``, ``task``, ``method``, ``parameters``, ``views``, ``tuning``, ``status``, ``gap``, ``gram``
        and ``memory`` (what stood for the kernels and what it needed, of models that say so), ``seconds``,
        ``notes``, ``warnings`` and ``versions``.
    """
    data = plan.data
    return {
        "data": {
            "file": data.name,
            "sha256": sha256,
            "kind": data.kind,
            "n_samples": data.n_samples,
            "target": data.target,
            "columns": [] if data.kind == "precomputed" else [str(name) for name in plan.X.columns],
            "kernels": list(data.kernel_names),
            "one_hot": {column: list(values) for column, values in (categories or {}).items()},
            "keep_na": keep_na,
            "texts": _columns(plan, text_columns),
            "gaps": _columns(plan, _every if takes_gaps(plan.parameters) else gap_columns),
        },
        "task": plan.task,
        "method": plan.method.name,
        "model": type(fitted.model).__name__,
        "parameters": _plain(plan.parameters),
        "views": _views(plan),
        "tuning": None if tuning is None else tuning.to_dict(),
        "status": fitted.status,
        "gap": _plain(getattr(fitted.model, "dual_gap_", None)),
        "gram": getattr(fitted.model, "gram_", None),
        "memory": str(fitted.model.memory_) if hasattr(fitted.model, "memory_") else None,
        "seconds": round(fitted.seconds, 3),
        "notes": list(plan.notes),
        "warnings": list(fitted.warnings),
        "versions": {name: version(name) for name in ("multikernel", "scikit-learn", "numpy")},
    }


def file_sha256(path: str | Path) -> str:
    """The checksum of a file.

    Parameters
    ----------
    path : path
    """
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def require_free(folder: str | Path, *, force: bool = False) -> None:
    """Refuse a folder that a fit may not write to.

    An empty or new folder is free, and so is one with a fit that was stopped; a finished one only by force.

    Parameters
    ----------
    folder : path
    force : bool, default=False
        Whether a finished fit may be replaced. Folders that hold anything else are never touched.
    """
    place = Path(folder)
    names = require_no_others(place, "model", RECORD, _OURS)
    if RECORD in names and not force and not was_interrupted(place):
        raise ValueError(
            f"the folder {place} holds a model already. Name another by --out, or replace it by --force."
        )


def require_no_others(folder: Path, what: str, mark: str, own: Container[str]) -> set[str]:
    """Refuse a file, and a folder that holds other things and no result; return the names in the folder.

    Parameters
    ----------
    folder : Path
        It may not exist.
    what : str
        What is to be written there.
    mark : str
        The name of the file that a folder with such a result has: it may hold other things, too.
    own : container of str
        All names that belong to such a result.
    """
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"the {what} is written to a folder; {folder} is a file. Name another by --out.")
    names = {path.name for path in folder.iterdir()} if folder.exists() else set()
    foreign = sorted(name for name in names if name not in own and not name.startswith("."))
    if foreign and mark not in names:
        raise ValueError(
            f"the folder {folder} holds other things ({', '.join(foreign[:3])}) and no {what}. Name another "
            "by --out."
        )
    return names


def remove_stale(folder: str | Path, *, tuned: bool = False) -> list[str]:
    """Remove what was written about a model that is replaced: its report, its evaluation, its tuning.

    Parameters
    ----------
    folder : path
        Of the new model.
    tuned : bool, default=False
        Whether the file of the tuning is that of the new model.

    Returns
    -------
    list of str
        The names of the files that were removed.
    """
    names = (REPORT, EVALUATION, *(() if tuned else (TUNING,)))
    found = [path for path in (Path(folder) / name for name in names) if path.is_file()]
    for path in found:
        path.unlink()
    return [path.name for path in found]


def was_interrupted(folder: Path) -> bool:
    """Whether a folder holds a fit that was stopped."""
    try:
        record = json.loads((folder / RECORD).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(record, dict) and record.get("status") == INTERRUPTED


def _columns(plan: FitPlan, chosen: Callable[[Sequence[View], Sequence[str]], list[str]]) -> list[str]:
    """Those of the columns in use that a rule about their kernels chooses."""
    if plan.data.kind == "precomputed":
        return []
    return chosen(as_views(plan.kernels), [str(name) for name in plan.X.columns])


def _every(views: Sequence[View], columns: Sequence[str]) -> list[str]:
    return list(columns)


def _views(plan: FitPlan) -> list[dict[str, Any]]:
    if plan.data.kind == "precomputed":
        return [{"name": name} for name in plan.data.kernel_names]
    costs = plan.parameters.get("costs")
    costs = costs if isinstance(costs, Mapping) else {}
    return [_described(view, costs) for view in as_views(plan.kernels)]


def _described(view: View, costs: Mapping[str, float]) -> dict[str, Any]:
    shown: dict[str, Any] = {"name": view.name, "kernel": repr(view.kernel), "columns": view.columns}
    shown |= {"standardize": bool(view.standardize)}
    shown |= {
        name: getattr(view, name) for name in ("approximation", "rank") if getattr(view, name) is not None
    }
    return shown | ({"cost": costs[view.name]} if view.name in costs else {})


def _plain(value: Any) -> Any:
    """What JSON can hold; numbers that are not finite become texts."""
    if isinstance(value, Mapping):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if value is None or isinstance(value, bool | int | float | str) else repr(value)

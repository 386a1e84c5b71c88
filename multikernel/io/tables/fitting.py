"""Fit what was planned, after its regularisation was chosen by cross-validation where that is asked for.

Ctrl-C once stops a fit at the next iteration and keeps the model, twice ends at once. What is written beside
a model says which data, views, method and parameters it came from, and how it ended.
"""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable, Container, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.metrics import check_scoring

from multikernel._files import checked_path
from multikernel.core.folds import make_folds
from multikernel.core.optim.loop import Interrupt, stop_on_interrupt
from multikernel.core.store import Progress, Result, ResultStore, Work, run_works
from multikernel.core.survival_targets import as_survival
from multikernel.inspection.fingerprint import fingerprint
from multikernel.inspection.refits import score_fold
from multikernel.io.tables.planning import FitPlan, gap_columns, takes_gaps, text_columns
from multikernel.io.tables.several import Source
from multikernel.views import View, as_views
from multikernel.views.view import place_views
from multikernel.viz.fitted import plain_leaf, plain_tree

OnStep = Callable[[dict[str, Any]], None]

DONE, INTERRUPTED = "done", "interrupted"
RECORD, TUNING = "fit.json", "tuning.jsonl"
REPORT, EVALUATION = "report.html", "evaluation.jsonl"
_OURS = frozenset({RECORD, f"{RECORD}.next", TUNING, "model.skops"})
# What is tuned, the first that a method has, and the values it is given.
GRIDS: dict[str, tuple[float, ...]] = {
    "C": (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0),
    "alpha": (1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0),
    "reg": (1e-8, 1e-6, 1e-4, 1e-2, 0.1, 1.0),
}
_SCORINGS = {"classification": "accuracy", "regression": "r2", "survival": None}  # None: the model's score
# A target is far from 1 where its standard deviation is larger than this, or smaller than one over it.
_LARGE = 4.0
# Raised when a stored score changes its meaning.
_VERSION = 2


@dataclass(frozen=True, eq=False)
class Fitted:
    """A model, and how it came about.

    Attributes
    ----------
    model : estimator
    status : {"done", "interrupted"}
    seconds : float
    warnings : list of str, one line each
    """

    model: Any
    status: str
    seconds: float
    warnings: list[str]


def fit_plan(plan: FitPlan, *, on_step: OnStep | None = None) -> Fitted:
    """Fit the estimator of a plan.

    Parameters
    ----------
    plan : FitPlan
    on_step : callable, default=None
        Called with the entry of each iteration, where the estimator takes a callback.

    Returns
    -------
    Fitted
        Its model has no callback any more.

    Notes
    -----
    Where the estimator takes a callback, Ctrl-C ends the fit at its next iteration, and the model is kept.
    """
    if not isinstance(plan, FitPlan):
        raise TypeError(f"plan must be what plan_fit returns; got {type(plan).__name__}.")
    model = clone(plan.model)
    if takes_callback(model):
        model.set_params(callback=on_step)
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught, _interruptible(model) as interrupt:
        warnings.simplefilter("always")
        model.fit(plan.X) if plan.y is None else model.fit(plan.X, plan.y)
    seconds = time.perf_counter() - start
    if takes_callback(model):
        model.set_params(callback=None)
    told = dict.fromkeys(" ".join(str(warning.message).split()) for warning in caught)
    return Fitted(model, INTERRUPTED if interrupt.answered else DONE, seconds, list(told))


def takes_callback(model: Any) -> bool:
    """Whether a fit of the model can be watched, and stopped, between its iterations."""
    return "callback" in model.get_params(deep=False)


def _interruptible(model: Any) -> AbstractContextManager[Interrupt]:
    return stop_on_interrupt() if takes_callback(model) else nullcontext(Interrupt())


# --- the regularisation, chosen by cross-validation ---------------------------------------------------------


@dataclass(frozen=True)
class Tuning:
    """Results of cross-validation.

    Attributes
    ----------
    parameter : str
    values : list of float
    scores : list of list of float, one for each value and fold
    metric : str
    """

    parameter: str
    values: list[float]
    scores: list[list[float]]
    metric: str

    @property
    def means(self) -> list[float]:
        """The mean score of each value."""
        return [float(np.mean(row)) for row in self.scores]

    @property
    def best(self) -> float:
        """The value with the best mean score; of equal ones the one nearest to the middle of the grid."""
        means = np.array(self.means)
        ties = np.flatnonzero(means >= means.max() - 1e-12)
        return self.values[int(min(ties, key=lambda place: abs(place - (len(self.values) - 1) / 2)))]

    def to_dict(self) -> dict[str, Any]:
        """All of it, for JSON."""
        return {
            "parameter": self.parameter,
            "metric": self.metric,
            "best": self.best,
            "candidates": [
                {"value": value, "score": mean, "sd": float(np.std(row)), "folds": row}
                for value, mean, row in zip(self.values, self.means, self.scores, strict=True)
            ],
        }


def tuned_parameter(plan: FitPlan) -> str:
    """The parameter that `tune` chooses."""
    if plan.task not in _SCORINGS:
        raise ValueError(f"{plan.method.name} has no targets here: there is no score to tune it by.")
    known = plan.method.parameters(plan.task)
    for name in GRIDS:
        if name in known and name in plan.parameters:
            raise ValueError(f"tuning chooses {name} itself: leave out --set {name}=…, or --tune.")
        if name in known:
            return name
    raise ValueError(f"{plan.method.name} has none of {', '.join(GRIDS)}: there is nothing to tune.")


def doubts_of_scale(plan: FitPlan) -> list[str]:
    """Notes on values that are far larger or smaller than the machine takes for granted.

    Parameters
    ----------
    plan : FitPlan
    """
    if plan.task != "regression":
        return []
    known, sd = plan.method.parameters(plan.task), float(np.std(np.asarray(plan.y)))
    known = {name: value for name, value in known.items() if not isinstance(value, str)}  # "auto" is in units
    told = f"beside a target with a standard deviation of {sd:.3g}"
    if sd > _LARGE and "C" in known and "C" not in plan.parameters:
        return [f"C = {known['C']:g} is small {told}: try --tune, or --set C={float(f'{sd:.1g}'):g}."]
    if 0 < sd < 1 / _LARGE and "epsilon" in known and "epsilon" not in plan.parameters:
        return [
            f"epsilon = {known['epsilon']:g} is wide {told}: try --set epsilon={float(f'{sd / 10:.1g}'):g}."
        ]
    return []


def tune(
    plan: FitPlan,
    store: str | Path | None = None,
    *,
    folds: int = 5,
    random_state: int = 0,
    jobs: int = 1,
    progress: Progress | None = None,
) -> Tuning:
    """Score each value of the regularisation by cross-validation.

    Parameters
    ----------
    plan : FitPlan
    store : path, optional
        A file where each score is kept as soon as it is there, for a run that is stopped to go on.
    folds : int, default=5
        No more than the rarest class has rows, or half as many as there are values.
    random_state : int, default=0
        Of the folds.
    jobs : int, default=1
    progress : callable, optional
        Called with (fits done, fits in all).

    Returns
    -------
    Tuning
    """
    parameter = tuned_parameter(plan)
    values = GRIDS[parameter]
    y = plan.y if plan.task != "survival" else as_survival(plan.y)
    splits = make_folds(
        y, folds, classifier=plan.task == "classification", random_state=random_state, needs="tuning needs"
    )
    works = []
    for value in values:
        model = plan.with_parameters(**{parameter: value})
        common = fingerprint(model, plan.X, plan.y, _VERSION, version("multikernel"), version("scikit-learn"))
        works += [_work(plan, model, f"{parameter}={value:g}", common, k, splits) for k in range(len(splits))]
    kept = None if store is None else ResultStore(checked_path(store, "store"))
    results = run_works(works, kept, jobs=jobs, progress=progress)
    scores = np.array([result["score"] for result in results]).reshape(len(values), len(splits))
    return Tuning(parameter, list(values), scores.tolist(), _SCORINGS[plan.task] or "C-index")


def _work(plan: FitPlan, model: Any, label: str, common: str, fold: int, splits: Sequence[Any]) -> Work:
    arguments = {
        "estimator": model,
        "data": (plan.X, plan.y),
        "split": splits[fold],
        "scorers": {"score": check_scoring(model, scoring=_SCORINGS[plan.task])},
        "seed": (fold,),
        "label": f"{plan.method.name} with {label}, fold {fold + 1}",
    }
    return Work(f"{label}/{fold}", fingerprint(common, splits[fold]), score_quietly, arguments)


def score_quietly(**arguments: Any) -> Result:
    """The score of one fold; that a value of the grid converges slowly is no news."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return score_fold(**arguments)


# --- the record beside a model ------------------------------------------------------------------------------


def make_record(
    plan: FitPlan,
    fitted: Fitted,
    *,
    sha256: str,
    categories: Mapping[str, Sequence[str]] | None = None,
    source: Source | None = None,
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
        The values of the columns that were encoded, from `find_categories`; those of the data if not given.
    source : Source, optional
        Where several tables came from.
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
    data, views = plan.data, []
    if data.kind != "precomputed":
        views = place_views(as_views(plan.kernels), plan.X)
    about = _about_data(plan, views, data.categories if categories is None else categories)
    about |= {"sha256": sha256, "keep_na": keep_na}
    if data.kind == "tables":
        about |= _about_tables(plan, views, source)
        about["missing"] = str(getattr(fitted.model, "missing_", "error"))
    return {
        "data": about,
        "task": plan.task,
        "method": plan.method.name,
        "model": type(fitted.model).__name__,
        "parameters": plain_tree(plan.parameters, name_infinite=True),
        "views": _described(views, plan.parameters.get("costs")) or [{"name": k} for k in data.kernel_names],
        "tuning": None if tuning is None else tuning.to_dict(),
        "status": fitted.status,
        "gap": plain_leaf(getattr(fitted.model, "dual_gap_", None), name_infinite=True),
        "gram": getattr(fitted.model, "gram_", None),
        "memory": str(fitted.model.memory_) if hasattr(fitted.model, "memory_") else None,
        "seconds": round(fitted.seconds, 3),
        "notes": list(plan.notes),
        "warnings": list(fitted.warnings),
        "versions": {name: version(name) for name in ("multikernel", "scikit-learn", "numpy")},
    }


def _about_data(
    plan: FitPlan, views: Sequence[View], categories: Mapping[str, Sequence[str]]
) -> dict[str, Any]:
    """What new rows must be like: of one table, or of precomputed kernels."""
    data = plan.data
    columns = [str(name) for name in plan.X.columns] if data.kind == "table" else []
    return {
        "file": data.name,
        "kind": data.kind,
        "n_samples": data.n_samples,
        "target": data.target,
        **({} if data.censored is None else asdict(data.censored)),
        "id": None if data.ids is None else data.ids.name,
        "kernels": list(data.kernel_names),
        **_about_columns(columns, views, categories, takes_gaps(plan.parameters)),
    }


def _about_columns(
    columns: list[str], views: Sequence[View], categories: Mapping[str, Sequence[str]], any_gaps: bool
) -> dict[str, Any]:
    return {
        "columns": columns,
        "one_hot": {column: list(values) for column, values in categories.items()},
        "texts": text_columns(views, columns),
        "gaps": columns if any_gaps else gap_columns(views, columns),
    }


def _about_tables(plan: FitPlan, views: Sequence[View], source: Source | None) -> dict[str, Any]:
    """What each of several tables must be like, and where the target was."""
    any_gaps = takes_gaps(plan.parameters) or plan.X.has_gaps
    tables = {}
    for name, frame in plan.X.tables.items():
        part, own = plan.data.parts[name], [view for view in views if view.table == name]
        columns = [str(column) for column in frame.columns]
        tables[name] = {"file": part.name, **_about_columns(columns, own, part.categories, any_gaps)}
    if source is None:
        return {"tables": tables}
    holders = [name for name, part in plan.data.parts.items() if part.target is not None]
    return {
        "tables": tables,
        "join": source.how,
        "target_table": holders[0] if holders else None,
        "target_file": None if source.target_file is None else source.target_file.name,
    }


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

    `what` is to be written there; `own` are all names that belong to it, and a folder with the file `mark`
    may hold other things, too.
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


def _described(views: Sequence[View], costs: Any) -> list[dict[str, Any]]:
    costs = costs if isinstance(costs, Mapping) else {}
    described: list[dict[str, Any]] = []
    for view in views:
        entry = {"name": view.name, "kernel": repr(view.kernel), "columns": view.columns}
        factors = {"approximation": view.approximation, "rank": view.rank}
        entry |= {"standardize": view.standardized, "normalize": view.normalization}
        entry |= {} if view.table is None else {"table": view.table}
        entry |= {name: value for name, value in factors.items() if value is not None}
        entry |= {"keep": view.keep} if view.keep else {}
        entry |= {"encode": True} if view.encode else {}
        described.append(entry | ({"cost": costs[view.name]} if view.name in costs else {}))
    return described

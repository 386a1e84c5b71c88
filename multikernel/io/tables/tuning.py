"""The regularisation of a method, chosen by cross-validation; each fit is kept, so that a run can stop."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import check_scoring

from multikernel.core.folds import make_folds
from multikernel.core.store import Progress, Result, ResultStore, Work, run_works
from multikernel.inspection.fingerprint import fingerprint
from multikernel.inspection.runs import score_fold
from multikernel.io.tables.planning import FitPlan

# What is tuned, the first that a method has, and the values it is given.
GRIDS: dict[str, tuple[float, ...]] = {
    "C": (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0),
    "alpha": (1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0),
    "reg": (1e-8, 1e-6, 1e-4, 1e-2, 0.1, 1.0),
}
_SCORINGS = {"classes": "accuracy", "values": "r2"}
# A target is far from 1 where its standard deviation is larger than this, or smaller than one over it.
_LARGE = 4.0
# Raised when a stored score changes its meaning.
_VERSION = 1


@dataclass(frozen=True)
class Tuning:
    """What cross-validation said.

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
    """The parameter that `tune` chooses.

    Parameters
    ----------
    plan : FitPlan
    """
    if plan.task not in _SCORINGS:
        raise ValueError(f"{plan.method.name} learns from nothing here: there is no score to tune it by.")
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
    if plan.task != "values":
        return []
    known, sd = plan.method.parameters(plan.task), float(np.std(np.asarray(plan.y)))
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
    splits = make_folds(
        plan.y, folds, classifier=plan.task == "classes", random_state=random_state, needs="tuning needs"
    )
    works = []
    for value in values:
        model = plan.with_parameters(**{parameter: value})
        common = fingerprint(model, plan.X, plan.y, _VERSION, version("multikernel"), version("scikit-learn"))
        works += [_work(plan, model, f"{parameter}={value:g}", common, k, splits) for k in range(len(splits))]
    kept = None if store is None else ResultStore(Path(store))
    results = run_works(works, kept, jobs=jobs, progress=progress)
    scores = np.array([result["score"] for result in results]).reshape(len(values), len(splits))
    return Tuning(parameter, list(values), scores.tolist(), _SCORINGS[plan.task])


def _work(plan: FitPlan, model: Any, label: str, common: str, fold: int, splits: Sequence[Any]) -> Work:
    arguments = {
        "estimator": model,
        "data": (plan.X, plan.y),
        "split": splits[fold],
        "scorer": check_scoring(model, scoring=_SCORINGS[plan.task]),
        "seed": (fold,),
        "label": f"{plan.method.name} with {label}, fold {fold + 1}",
    }
    return Work(f"{label}/{fold}", fingerprint(common, splits[fold]), score_quietly, arguments)


def score_quietly(**arguments: Any) -> Result:
    """The score of one fold; that a value of the grid converges slowly is no news."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return score_fold(**arguments)

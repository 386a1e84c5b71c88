"""How well a survival model predicts samples that it has not seen: C-index, risk groups, probabilities.

Each fold has a refit of its own, and risks of different refits have no common scale: the C-index is the mean
over the folds, groups are cut within each fold, and the risks that AUC compares are ranks within a fold.
Probabilities have one scale, and are taken together.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import expit, logit
from scipy.stats import norm, rankdata

from ..._typing import Array
from ...core.store import Result
from ...core.survival_targets import SurvivalTarget, as_survival
from ..rivals.baselines import Report
from ..survival.calibration import survival_calibration
from ..survival.curves import KaplanMeier, kaplan_meier, logrank_test, risk_groups
from ..survival.intervals import concordance_interval
from ..survival.scores import brier_curve, cumulative_dynamic_auc, judged_times

Part = dict[str, Any]

_LEVEL = 0.05
_FEW_EVENTS = 60  # of fewer, two groups of risk and not three
_GROUP_SIZE = 40  # samples in a group of the calibration, at least
_MOST_STEPS = 400  # of a drawn curve
_CURVE = ("times", "survival", "low", "high", "at_risk", "events", "censored")


def survival_part(results: Sequence[Result], y: Any, report: Report) -> Part:
    """What the refits of one repetition say of samples that they have not seen."""
    target = as_survival(y)
    rows = np.concatenate([np.asarray(result["rows"], int) for result in results])
    risk, ranks = np.empty(len(target)), np.empty(len(target))
    groups = np.empty(len(target), dtype=object)
    n_groups = 2 if target.n_events < _FEW_EVENTS else 3
    for result in results:
        part = np.asarray(result["rows"], int)
        risk[part] = result["predicted"]
        ranks[part] = rankdata(risk[part]) / part.size
        groups[part] = risk_groups(risk[part], n_groups).astype(str)
    folds = [np.asarray(result["rows"], int) for result in results]
    found: Part = {
        "concordance": _concordance(target, risk, folds),
        "n_events": target.n_events,
        "groups": _groups(target, groups, report),
        "auc": _auc(target, ranks, report),
        "brier": None,
        "survival_calibration": None,
    }
    curves = [result.get("survival") for result in results]
    if any(curve is None for curve in curves):
        report.omit("held_out", "calibration: the model predicts no survival function (loss='cox' does).")
        return found
    survival = np.empty((len(target), judged_times(y).size))
    survival[rows] = np.concatenate([np.asarray(curve, float) for curve in curves])
    return {**found, **_probabilities(target, survival, report)}


def _concordance(target: SurvivalTarget, risk: Array, folds: Sequence[Array]) -> Part:
    """The mean C-index of the folds, with the interval of the mean."""
    each = [concordance_interval(target[rows], risk[rows], level=_LEVEL) for rows in folds]
    index = float(np.mean([one.index for one in each]))
    sd = float(np.sqrt(np.sum([one.sd**2 for one in each])) / len(each))
    low = high = None
    if 0.0 < index < 1.0:
        step = norm.isf(_LEVEL / 2.0) * sd / (index * (1.0 - index))
        low, high = (float(expit(logit(index) + sign * step)) for sign in (-1.0, 1.0))
    return {"index": index, "sd": sd, "low": low, "high": high}


def _groups(target: SurvivalTarget, groups: Array, report: Report) -> Part | None:
    """Kaplan and Meier's curves of the groups, and the log-rank test of them."""
    try:
        p = logrank_test(target, groups).pvalue
    except ValueError as error:
        report.omit("held_out", f"groups: {error}")
        return None
    order = [name for name in ("low risk", "medium risk", "high risk") if (groups == name).any()]
    curves = []
    for name in order:
        curve = kaplan_meier(target[groups == name], level=_LEVEL)
        counts = {"n": int((groups == name).sum()), "n_events": int(curve.events.sum())}
        kept = _steps(curve)
        drawn = {key: getattr(curve, key)[kept].tolist() for key in _CURVE}
        curves.append({"label": name, **counts, "median": curve.median, **drawn})
    return {"p": p, "curves": curves, "how": "cut at quantiles of the held-out risks within each fold"}


def _steps(curve: KaplanMeier) -> Array:
    """The times of a curve that are drawn: all, or of many the events, at equal distances in their number."""
    places = np.arange(curve.times.size)
    if places.size <= _MOST_STEPS:
        return places
    events = np.append(np.flatnonzero(curve.events), places[-1])
    return np.unique(events[np.linspace(0, events.size - 1, _MOST_STEPS).astype(int)])


def _auc(target: SurvivalTarget, ranks: Array, report: Report) -> Part | None:
    try:
        curve = cumulative_dynamic_auc(target, target, ranks, judged_times(target))
    except ValueError as error:
        report.omit("held_out", f"auc: {error}")
        return None
    return {"times": curve.times.tolist(), "auc": curve.auc.tolist(), "mean": curve.mean}


def _probabilities(target: SurvivalTarget, survival: Array, report: Report) -> Part:
    """Brier score over time, and calibration at the time in the middle."""
    times = judged_times(target)
    try:
        curve = brier_curve(target, target, survival, times)
        middle = times.size // 2
        groups = int(np.clip(len(target) // _GROUP_SIZE, 2, 5))
        table = survival_calibration(target, survival[:, middle], float(times[middle]), n_groups=groups)
    except ValueError as error:
        report.omit("held_out", f"brier: {error}")
        return {}
    return {
        "brier": {
            **{key: getattr(curve, key).tolist() for key in ("times", "score", "reference")},
            "integrated": curve.integrated,
            "integrated_reference": curve.integrated_reference,
        },
        "survival_calibration": {"time": float(times[middle]), "rows": table.to_dict(orient="records")},
    }

"""From the scores of one contest to three parts: stability, what each view is worth, and did it help?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from multikernel.estimators._projection import BaseProjection
from multikernel.evaluation._contenders import SINGLE, without_name
from multikernel.evaluation._contest import (
    LEARNED,
    METRICS,
    N_FITS,
    PROTOCOL,
    Contender,
    Report,
    Scores,
)
from multikernel.evaluation._subject import Subject
from multikernel.evaluation._words import answer, not_above, on_views

Part = dict[str, Any]

_TEST = "; p by the 5×2 cv F test, adjusted by Holm's method"
_ITSELF: Part = {
    "difference": 0.0,
    "difference_sd": 0.0,
    "p_alone": None,
    "better_folds": None,
    "worse_folds": None,
    "p": None,
    "verdict": None,
}
_NOTHING = 1e-9  # a share that is none


def stability_part(subject: Subject, scores: Scores, report: Report) -> Part | None:
    """The shares of the views over the refits, beside those of the model itself."""
    if not subject.shares():
        report.omit("stability", f"{type(subject.final).__name__} has no weights of views.")
        return None
    if isinstance(subject.final, BaseProjection):
        report.omit(
            "stability", "regions are numbered anew in every fit, so that their weights do not compare."
        )
        return None
    if LEARNED in scores.failures:
        report.omit("stability", scores.failures[LEARNED])
        return None
    refits = scores.shares[LEARNED]
    rows = [_spread(view, share, refits) for view, share in subject.shares().items()]
    return {"protocol": PROTOCOL + ".", "rows": rows, "answer": _on_stability(rows)}


def _spread(view: str, share: float, refits: list[dict[str, float]]) -> Part:
    values = np.array([shares.get(view, 0.0) for shares in refits])
    return {
        "view": view,
        "share": share,
        "mean": float(values.mean()),
        "sd": float(values.std(ddof=1)),
        "low": float(values.min()),
        "high": float(values.max()),
        "used": float((np.abs(values) > _NOTHING).mean()),
        "values": values.tolist(),
    }


def _on_stability(rows: list[Part]) -> str:
    top = max(rows, key=lambda row: abs(row["mean"]))
    always = sum(row["used"] == 1.0 for row in rows)
    never = sum(row["used"] == 0.0 for row in rows)
    text = (
        f"{top['view']} has the largest share on average, {top['mean']:.1%} (from {top['low']:.1%} to "
        f"{top['high']:.1%} over {N_FITS} refits)"
    )
    counts = [f"{_views(always)} used in every refit"] + ([f"{never} in none"] if never else [])
    return f"{text}; {' and '.join(counts)}."


def _views(count: int) -> str:
    return f"{count} view is" if count == 1 else f"{count} views are"


# ------------------------------------------------------------------ without a view
def without_part(
    subject: Subject, scores: Scores, contenders: Mapping[str, Contender], report: Report
) -> Part | None:
    """The score without each view, and what is lost without it."""
    part = "without_view"
    if not contenders:
        return None
    if LEARNED in scores.failures:
        report.omit(part, scores.failures[LEARNED])
        return None
    names = {without_name(view): view for view in subject.views if without_name(view) in contenders}
    tests = scores.against(list(names))
    rows = []
    for name, view in names.items():
        if name in scores.failures:
            report.omit(part, f"view {view!r}: {scores.failures[name]}")
            continue
        test = dict(tests[name])
        row = {"view": view, "score": scores.mean(name), "sd": scores.sd(name)}
        rows.append({**row, "effect": test.pop("difference"), **test})
    if not rows:
        return None
    metric = METRICS[subject.task]
    return {
        "protocol": f"{PROTOCOL}{_TEST} over the views.",
        "metric": metric,
        "score": scores.mean(LEARNED),
        "sd": scores.sd(LEARNED),
        "rows": rows,
        "answer": on_views(rows, metric),
    }


# ------------------------------------------------------------------ against simpler models
def baselines_part(
    subject: Subject, scores: Scores, contenders: Mapping[str, Contender], y: Any, report: Report
) -> Part | None:
    """The model beside its rivals, and whether learning the weights helped."""
    if not contenders:
        return None
    if LEARNED in scores.failures:
        report.omit("baselines", scores.failures[LEARNED])
        return None
    missing = [name for name in contenders if name in scores.failures]
    for name in missing:
        report.omit("baselines", f"{name}: {scores.failures[name]}")
    tests = scores.against(list(contenders))
    if not tests:
        return None
    metric = METRICS[subject.task]
    majority = majority_rate(subject.task, y)
    rows = [_row(LEARNED, subject.what, scores, _ITSELF)]
    for name, test in tests.items():
        rows.append(_row(name, contenders[name].what + _chosen(name, scores), scores, test))
    return {
        "protocol": f"{PROTOCOL}{_TEST} over the rivals; a verdict other than a tie needs eight of the ten "
        "folds on one side as well.",
        "metric": metric,
        "rows": rows,
        "answer": answer(rows, metric, missing, not_above(rows[0]["score"], majority, len(y))),
    }


def _row(name: str, what: str, scores: Scores, test: Part) -> Part:
    return {"name": name, "what": what, "score": scores.mean(name), "sd": scores.sd(name), **test}


def _chosen(name: str, scores: Scores) -> str:
    """Which single view was chosen most often."""
    if name != SINGLE:
        return ""
    picked = [max(shares, key=lambda view: shares[view]) for shares in scores.shares[name]]
    first = max(dict.fromkeys(picked), key=picked.count)
    return f" Chosen most often: {first}, in {picked.count(first)} of {len(picked)} folds."


def majority_rate(task: str, y: Any) -> float | None:
    """The part of the samples that the largest class has."""
    if task != "classes":
        return None
    return float(np.unique(np.asarray(y), return_counts=True)[1].max() / len(y))

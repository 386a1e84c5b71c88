"""Parts of an evaluation that are computed only if they are named: tests of views, gene sets, cross-view map.

`select_views` and `enriched_sets` need no held-out samples: they test, and judge nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.metaestimators import _safe_split

from ...rows import count_rows
from ..learned import choose_rows
from ..rivals.baselines import Report
from ..subject import Subject
from .cross_view import cross_view_map
from .enrichment import PARAMETERS, enriched_sets
from .selecting import select_views

Part = dict[str, Any]

SELECTION, ENRICHMENT, CROSS_VIEW = PARTS = ("selection", "enrichment", "cross_view")
# Samples of each part: of more, so many are drawn in proportion to the classes. None takes all or nothing.
MOST_SAMPLES = {SELECTION: 1000, ENRICHMENT: 500}
_MOST_OF_MAP = 3000  # samples of a learned kernel, whose components are looked at
_NAMES, _LEAST, _MOST = 40, 2, 10  # columns of a map; of a view


class Given(NamedTuple):
    """The data of the fit, and how parts are computed."""

    X: Any
    y: Any
    grouped: bool
    seed: int
    n_jobs: int | None


def on_demand_part(name: str, subject: Subject, given: Given, report: Report) -> Part | None:
    """One of `PARTS`; None, with the reason in the report, where the model or the data have none."""
    makers: dict[str, Callable[[Subject, Given, Report], Part]] = {
        SELECTION: _selection,
        ENRICHMENT: _enrichment,
        CROSS_VIEW: _cross_view,
    }
    if name != CROSS_VIEW and (subject.task not in ("classification", "regression") or np.ndim(given.y) != 1):
        report.omit(name, "it is for models that predict one label or value of each sample.")
        return None
    if name != CROSS_VIEW and given.grouped:
        report.omit(name, "its permutations take samples to be independent, and those of one group are not.")
        return None
    try:
        return makers[name](subject, given, report)
    except (ValueError, TypeError) as error:
        report.omit(name, str(error))
        return None


def _drawn(name: str, subject: Subject, given: Given, report: Report) -> tuple[Any, Any]:
    """X as it reaches the estimator on kernels, and y; of many samples a part."""
    X, y = subject.inputs(given.X), np.asarray(given.y)
    n, most = count_rows(X), MOST_SAMPLES[name]
    if n <= most:
        return X, y
    report.notes.append(f"{name.capitalize()} is computed on {most} of {n} samples, drawn at random.")
    rows = choose_rows(y, subject.task, most, given.seed, n)
    X, y = _safe_split(subject.final, X, y, rows)
    return X, y


def _selection(subject: Subject, given: Given, report: Report) -> Part:
    X, y = _drawn(SELECTION, subject, given, report)
    return dict(select_views(subject.final, X, y, random_state=given.seed).to_dict())


def _enrichment(subject: Subject, given: Given, report: Report) -> Part:
    known = subject.final.get_params(deep=False)
    parameter = next((name for name in PARAMETERS if name in known), PARAMETERS[0])
    X, y = _drawn(ENRICHMENT, subject, given, report)
    options: Part = {"parameter": parameter, "random_state": given.seed, "n_jobs": given.n_jobs}
    return dict(enriched_sets(subject.final, X, y, **options).to_dict())


def _cross_view(subject: Subject, given: Given, report: Report) -> Part:
    n = count_rows(given.X)
    if n > _MOST_OF_MAP:
        raise ValueError(
            f"it needs the learned kernel of all {n} samples; up to {_MOST_OF_MAP} are taken here. Call "
            "multikernel.inspection.cross_view_map(model, X)."
        )
    most = int(np.clip(_NAMES // max(len(subject.views), 1), _LEAST, _MOST))
    found = cross_view_map(subject.model, given.X, n_top=most)
    pairs = found.pairs(10).to_dict("records")
    return {**found.to_dict(), "pairs": pairs}

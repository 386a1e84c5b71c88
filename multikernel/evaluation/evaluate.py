"""Everything that can be said of a fitted model by looking at its data again, as one dictionary."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from multikernel._resumable import Progress, Work
from multikernel.evaluation._contenders import leave_out, rivals
from multikernel.evaluation._contest import (
    LEARNED,
    METRICS,
    Contender,
    Report,
    contest_works,
    n_samples,
    scores_of,
)
from multikernel.evaluation._fold_predictions import fold_works
from multikernel.evaluation._given import check_data, check_settings, needs_target
from multikernel.evaluation._parts import baselines_part, stability_part, without_part
from multikernel.evaluation._plain import plain
from multikernel.evaluation._rows import choose_rows, marks
from multikernel.evaluation._runs import Outcomes, Settings, run_groups
from multikernel.evaluation._subject import Subject, subject_of
from multikernel.evaluation.held_out import GROUP, HeldOut, held_out_part, pooled
from multikernel.evaluation.learned import NoLearnedKernel, learned_kernel
from multikernel.evaluation.pictures import embedding_part, gate_part, heat_maps_part

Array = np.ndarray[Any, np.dtype[Any]]
Part = dict[str, Any]

CONTEST_PARTS = ("stability", "without_view", "baselines")
ALL_PARTS = (*CONTEST_PARTS, "held_out", "heat_maps", "embedding", "gate")


def evaluate(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    parts: Iterable[str] = ALL_PARTS,
    cv: int = 5,
    random_state: int = 0,
    n_jobs: int | None = 1,
    store: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
    max_points: int = 400,
) -> Part:
    """Say what a model has learned, how firmly, and what it is worth.

    Copies of the model are fitted to parts of the samples: ten times for the stability of its weights; ten
    times without each view, and ten times for each simpler rival, all on the same folds, so that paired tests
    can tell whether a difference is one; and `cv` times for predictions of samples that it has not seen.

    Parameters
    ----------
    model : fitted estimator
        Of this library, or a pipeline or a search that ends in one. It is not modified.
    X : array, sparse matrix or DataFrame (n, d); or a stack (n, n, n_kernels) when precomputed
        The samples that the model was fitted to, in the same order: this cannot be checked but for their
        number.
    y : array-like (n,), optional
        Their labels or values; models of the samples alone need none.
    parts : iterable of str
        Of "stability", "without_view", "baselines", "held_out", "heat_maps", "embedding" and "gate".
    cv : int, default=5
        Folds of the held-out predictions.
    random_state : int, default=0
        Draws folds and samples: the same seed, the same result, whatever `n_jobs` is.
    n_jobs : int, default=1
        Refits at the same time, in processes; -1 for all processors.
    store : path, optional
        A file of JSON lines that keeps each refit: call again after a stop, and only what is missing is
        computed.
    progress : callable, optional
        Called with (refits done, refits in all).
    max_points : int, default=400
        Samples in pictures and tables at most: of more, a part is drawn in proportion to the classes.

    Returns
    -------
    dict
        What ``json.dumps`` takes: ``task``, ``n_samples``, ``views``, ``classes``, a key for each part, None
        where it was not asked for or is not to be had, ``omitted`` with the reasons (``part``, ``why``), and
        ``notes``.

    Notes
    -----
    Refits give every sample the same weight: a ``sample_weight`` that the model was fitted with is not kept
    by it, and so is not known here.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from multikernel import MKLClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> X, y = X[::3], y[::3]
    >>> model = MKLClassifier().fit(X, y)
    >>> found = evaluate(model, X, y, parts=["stability", "embedding"])
    >>> found["stability"]["rows"][0]["view"], len(found["embedding"]["points"]), found["baselines"]
    ('linear', 50, None)
    """
    wanted = _checked_parts(parts)
    random_state = check_settings(random_state, cv, max_points)
    subject = subject_of(model)
    y = check_data(subject, X, y)
    settings = Settings(n_jobs, store, progress, random_state)
    plan = _plan(subject, (X, y), wanted, cv, settings)
    outcomes = run_groups({**plan.contest, **plan.folds}, settings)
    report = plan.report
    found: Part = dict.fromkeys(ALL_PARTS)
    found.update(_contest_parts(subject, y, plan, outcomes, wanted))
    targets = None if y is None else np.asarray(y)
    held_out = _held_out(subject, targets, plan, outcomes)
    if held_out is not None and targets is not None:
        found["held_out"] = held_out_part(subject, targets, held_out, (max_points, random_state), report)
    rows = choose_rows(targets, subject.task, max_points, random_state, n_samples(X))
    pictures = _Pictures(subject, X, targets, rows, held_out, report)
    found.update(pictures.parts([part for part in wanted if part in ("heat_maps", "embedding", "gate")]))
    outcomes.note_warnings(report.notes)
    _note_rows(rows.size, n_samples(X), report)
    head = {
        "task": subject.task,
        "n_samples": n_samples(X),
        "views": subject.views,
        "classes": _classes(subject, targets),
    }
    return plain({**head, **found, "omitted": report.omitted, "notes": report.notes})


def _checked_parts(parts: Iterable[str]) -> list[str]:
    given = [parts] if isinstance(parts, str) else list(parts)
    for part in given:
        if part not in ALL_PARTS:
            raise ValueError(f"parts must be of {', '.join(ALL_PARTS)}; got {part!r}.")
    return given


def _classes(subject: Subject, y: Array | None) -> list[str]:
    return [str(label) for label in np.unique(y)] if subject.task == "classes" and y is not None else []


# ------------------------------------------------------------------ what is to be fitted
@dataclass
class Plan:
    """The refits that an evaluation asks for."""

    without: Mapping[str, Contender] = field(default_factory=dict)
    rivals: Mapping[str, Contender] = field(default_factory=dict)
    contest: Mapping[str, list[Work]] = field(default_factory=dict)
    folds: Mapping[str, list[Work]] = field(default_factory=dict)
    report: Report = field(default_factory=Report)


def _plan(subject: Subject, data: tuple[Any, Any], wanted: list[str], cv: int, settings: Settings) -> Plan:
    plan = Plan()
    possible = [part for part in wanted if _can_be_refitted(part, subject, data[1], plan.report)]
    contest_parts = [part for part in possible if part in CONTEST_PARTS]
    if "without_view" in possible:
        plan.without = leave_out(subject, plan.report)
    if "baselines" in possible:
        plan.rivals = rivals(subject, data, plan.report)
    if contest_parts:
        contenders = {LEARNED: Contender(subject.fresh()), **plan.without, **plan.rivals}
        try:
            plan.contest = contest_works(
                contenders, subject, data, settings.random_state, stored=settings.is_stored
            )
        except ValueError as error:
            for part in contest_parts:
                plan.report.omit(part, str(error))
            plan.without = plan.rivals = {}
    if "held_out" in possible:
        try:
            plan.folds = {GROUP: fold_works(subject, data, cv, settings)}
        except ValueError as error:
            plan.report.omit("held_out", str(error))
    return plan


def _can_be_refitted(part: str, subject: Subject, y: Any, report: Report) -> bool:
    if part not in (*CONTEST_PARTS, "held_out"):
        return False
    why = subject.why_not_refitted()
    if why is None and part != "stability" and subject.task not in METRICS:
        why = f"{type(subject.final).__name__} predicts no target, so that there is no score."
    if why is None:
        needs_target(subject, y)
    else:
        report.omit(part, why)
    return why is None


# ------------------------------------------------------------------ what came out
def _contest_parts(subject: Subject, y: Any, plan: Plan, outcomes: Outcomes, wanted: list[str]) -> Part:
    if not plan.contest:
        return {}
    scores = scores_of(outcomes, plan.contest, subject.views if subject.is_precomputed else None)
    report = plan.report
    makers: dict[str, Callable[[], Part | None]] = {
        "stability": lambda: stability_part(subject, scores, report),
        "without_view": lambda: without_part(subject, scores, plan.without, report),
        "baselines": lambda: baselines_part(subject, scores, plan.rivals, y, report),
    }
    return {part: make() for part, make in makers.items() if part in wanted}


def _held_out(subject: Subject, y: Array | None, plan: Plan, outcomes: Outcomes) -> HeldOut | None:
    if GROUP in outcomes.failures:
        plan.report.omit("held_out", outcomes.failures[GROUP])
    if GROUP not in outcomes.results or y is None:
        return None
    return pooled(outcomes.results[GROUP], y, subject.task)


@dataclass(frozen=True)
class _Pictures:
    """The parts that show samples, of the same samples each."""

    subject: Subject
    X: Any
    y: Array | None
    rows: Array
    held_out: HeldOut | None
    report: Report

    def parts(self, wanted: list[str]) -> Part:
        task = self.subject.task
        points = marks(self.y, task, self.rows)
        predicted = None if self.held_out is None else self.held_out.shown(task)
        found: Part = {}
        if {"heat_maps", "embedding"} & set(wanted):
            K, why = self._learned_kernel()
            if "heat_maps" in wanted:
                found["heat_maps"] = self._heat_maps(K, why)
            if "embedding" in wanted and K is not None:
                found["embedding"] = embedding_part(K, points, predicted)
            elif "embedding" in wanted:
                self.report.omit("embedding", why)
        if "gate" in wanted:
            found["gate"] = gate_part(self.subject, self.X, points, predicted)
            if found["gate"] is None:
                name = type(self.subject.final).__name__
                self.report.omit("gate", f"{name} has no gate: it gives no weights of views for each sample.")
        return found

    def _learned_kernel(self) -> tuple[Array | None, str]:
        """The kernel of the chosen samples, or why there is none."""
        try:
            return learned_kernel(self.subject.model, self.X, self.rows), ""
        except NoLearnedKernel as error:
            return None, str(error)

    def _heat_maps(self, K: Array | None, why: str) -> Part | None:
        try:
            maps = heat_maps_part(self.subject, self.X, self.y, self.rows, K)
        except NoLearnedKernel:
            self.report.omit("heat_maps", why)
            return None
        if K is None:
            self.report.omit("heat_maps", f"learned kernel: {why}")
        return maps


def _note_rows(shown: int, n: int, report: Report) -> None:
    if shown < n:
        report.notes.append(f"Pictures and tables show {shown} of {n} samples, drawn at random.")

"""The parts of an evaluation that compare: stability, views left out, rivals."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._typing import Array
from ...core.store import Result
from ..protocol import Protocol
from ..rivals.baselines import SINGLE, Contender, Report
from ..runs import GIVEN, Outcomes, parts_by_sample
from ..scoring import in_words
from ..statistics.interval_tests import holm_tests
from ..subject import Subject
from .answers import LEVEL, TESTED, Part, answer, as_test, majority_rate, on_views
from .plan import LEARNED, Plan

_NOTHING = 1e-9  # a share that is none
_TEST = f"; {TESTED}; p is adjusted by Holm's method"
_ITSELF: Part = {"difference": 0.0, "difference_sd": 0.0} | dict.fromkeys(
    ("low", "high", "p_alone", "better_folds", "worse_folds", "p", "verdict")
)


@dataclass(frozen=True)
class Scores:
    """The scores and shares of the contenders that came through, by one score, and why others did not."""

    scoring: str
    protocol: Protocol
    results: Mapping[str, list[Result]]
    failures: Mapping[str, str]
    equivalence: float
    views: list[str] | None = None  # of precomputed kernels, which only have numbers in a refit

    @property
    def metric(self) -> str:
        return in_words(self.scoring)

    def folds(self, name: str) -> Array:
        scores = [result["scores"][self.scoring] for result in self.results[name]]
        return np.reshape(scores, self.protocol.shape)

    def shares(self, name: str) -> list[dict[str, float]]:
        return [_renamed(result, self.views) for result in self.results[name]]

    def of(self, name: str) -> Part:
        folds = self.folds(name)
        return {"score": float(folds.mean()), "sd": float(folds.std(ddof=1))}

    def against(self, rivals: Iterable[str]) -> dict[str, Part]:
        """The tests of the model against each rival, from the model's side, Holm's p over the rivals."""
        rivals = [name for name in rivals if name in self.results]
        if LEARNED not in self.results or not rivals:
            return {}
        names = [LEARNED, *rivals]
        parts = {name: parts_by_sample(self.results[name], self.protocol, self.scoring) for name in names}
        tests = holm_tests(
            {name: self.folds(name) for name in names},
            [(LEARNED, rival) for rival in rivals],
            LEVEL,
            {name: part for name, part in parts.items() if part is not None},
            self.equivalence,
            groups=self.protocol.groups,
            test_size=self.protocol.test_size,
        )
        n_folds = {"n_folds": self.protocol.n_fits}
        return {row["rival"]: {**as_test(row), **n_folds} for row in tests.to_dict("records")}


def contest_parts(subject: Subject, y: Any, plan: Plan, outcomes: Outcomes) -> Part:
    """The parts that the contest gives, of each score; the first decides."""
    if plan.contest is None:
        return {}
    if LEARNED in outcomes.failures:
        plan.report.omit_all(plan.parts, outcomes.failures[LEARNED])
        return {}
    by_score = [
        Scores(
            name,
            plan.contest.protocols[GIVEN],
            {each: outcomes.results[each] for each in plan.contest.estimators if each in outcomes.results},
            outcomes.failures,
            plan.equivalence,
            subject.views if subject.is_precomputed else None,
        )
        for name in plan.contest.scorings
    ]
    makers: dict[str, Callable[[Scores], Part | None]] = {
        "stability": lambda scores: _stability_part(subject, scores),
        "without_view": lambda scores: _without_part(subject, scores, plan.without, plan.report),
        "baselines": lambda scores: _baselines_part(subject, scores, plan.rivals, y, plan.report),
    }
    return {part: _of_each(makers[part], by_score, part) for part in plan.parts}


def _of_each(make: Callable[[Scores], Part | None], by_score: list[Scores], part: str) -> Part | None:
    """A part by the first score, with what it is by the others."""
    first = make(by_score[0])
    if first is None or part == "stability":
        return first
    kept = ("metric", "score", "sd", "rows", "answer")
    made = {scores.scoring: make(scores) for scores in by_score[1:]}
    others = {
        name: {key: found[key] for key in kept if key in found} for name, found in made.items() if found
    }
    return {**first, "by_score": others}


def _renamed(result: Result, views: list[str] | None) -> dict[str, float]:
    shares = result["shares"]
    if views is None or len(views) != len(shares):
        return dict(shares)
    return dict(zip(views, shares.values(), strict=True))


# ------------------------------------------------------------------ stability
def _stability_part(subject: Subject, scores: Scores) -> Part:
    """The shares of the views over the refits, beside those of the model itself."""
    refits = scores.shares(LEARNED)
    rows = [_spread(view, share, refits) for view, share in subject.shares().items()]
    return {"protocol": scores.protocol.words + ".", "rows": rows, "answer": _on_stability(rows)}


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
        f"{top['high']:.1%} over {len(top['values'])} refits)"
    )
    views = "1 view is" if always == 1 else f"{always} views are"
    return f"{text}; {views} used in every refit{f' and {never} in none' if never else ''}."


# ------------------------------------------------------------------ without a view
def _without_part(
    subject: Subject, scores: Scores, contenders: Mapping[str, Contender], report: Report
) -> Part | None:
    """The score without each view, and what is lost without it."""
    names = {name: view for view in subject.views if (name := f"without {view}") in contenders}
    tests = scores.against(list(names))
    rows = []
    for name, view in names.items():
        if name in scores.failures:
            report.omit("without_view", f"view {view!r}: {scores.failures[name]}")
            continue
        test = dict(tests[name])
        rows.append({"view": view, **scores.of(name), "effect": test.pop("difference"), **test})
    if not rows:
        return None
    return {
        "protocol": f"{scores.protocol.words}{_TEST} over the views, the intervals are not.",
        "metric": scores.metric,
        **scores.of(LEARNED),
        "rows": rows,
        "answer": on_views(rows, scores.metric),
    }


# ------------------------------------------------------------------ against simpler models
def _baselines_part(
    subject: Subject, scores: Scores, contenders: Mapping[str, Contender], y: Any, report: Report
) -> Part | None:
    """The model beside its rivals, and whether learning the weights helped."""
    missing = [name for name in contenders if name in scores.failures]
    for name in missing:
        report.omit("baselines", f"{name}: {scores.failures[name]}")
    tests = scores.against(list(contenders))
    if not tests:
        return None
    majority = majority_rate(subject.task, y) if scores.scoring == "accuracy" else None
    itself = {**_ITSELF, "n_folds": scores.protocol.n_fits}
    what = {name: contenders[name].what + _chosen(name, scores) for name in tests}
    rows = [
        {"name": name, "what": told, **scores.of(name), **tests.get(name, itself)}
        for name, told in {LEARNED: subject.what, **what}.items()
    ]
    return {
        "protocol": f"{scores.protocol.words}{_TEST} over the rivals, the intervals are not.",
        "metric": scores.metric,
        "rows": rows,
        "answer": answer(rows, scores.metric, missing, (majority, len(y)), _single(scores, tests)),
    }


def _chosen(name: str, scores: Scores) -> str:
    """Which single view was chosen most often."""
    if name != SINGLE:
        return ""
    first, count, total = _most_often(scores)
    return f" Chosen most often: {first}, in {count} of {total} folds."


def _most_often(scores: Scores) -> tuple[str, int, int]:
    picked = [max(shares, key=lambda view: shares[view]) for shares in scores.shares(SINGLE)]
    first = max(dict.fromkeys(picked), key=picked.count)
    return first, picked.count(first), len(picked)


def _single(scores: Scores, tests: Mapping[str, Part]) -> str | None:
    """The view that the best single view is in more than half of the folds."""
    if SINGLE not in tests:
        return None
    first, count, total = _most_often(scores)
    return first if 2 * count > total else None

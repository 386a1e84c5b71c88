"""The refits that an evaluation asks for: who is fitted on which folds, and what the refits tell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..._typing import Array
from ...core.store import Result, Work
from ...rows import count_rows
from ..protocol import Protocol, Samples
from ..refits import EXPLANATIONS, PREDICTIONS, TRAINING, weight_path
from ..rivals.baselines import Choice, Contender, Report, leave_out, rivals
from ..runs import GIVEN, Contest, Judging, Outcomes, Settings, list_works, make_contest
from ..scoring import TASKS
from ..statistics.interval_tests import EQUIVALENCE
from ..subject import Subject

LEARNED, HELD_OUT, CURVE = "learned", "held out", "learning curve"  # what is refitted
CONTEST_PARTS = ("stability", "without_view", "baselines")
HELD_OUT_PARTS = ("held_out", "overfitting", "learning_curve")
HELD_OUT_FOLDS = 5
SIZES = (
    0.2,
    0.4,
    0.6,
    0.8,
)  # shares of the training part of a fold; the whole is that of the held-out refits


@dataclass
class Plan:
    """The contests of an evaluation, and the parts that are made of them."""

    parts: Sequence[str] = ()  # those made of the contest of the model, its copies without a view and rivals
    of_held_out: Sequence[str] = ()  # those made of held-out refits
    without: Mapping[str, Contender] = field(default_factory=dict)
    rivals: Mapping[str, Contender] = field(default_factory=dict)
    contest: Contest | None = None
    held: Contest | None = None
    curve: Contest | None = None
    report: Report = field(default_factory=Report)
    equivalence: float = EQUIVALENCE
    explains: bool = False  # whether held-out refits explain the samples that they have not seen

    @property
    def shares_refits(self) -> bool:
        """Whether held-out predictions are those of the contest, which has the same folds."""
        return self.held is not None and self.held is self.contest

    def works(self, *, stored: bool) -> dict[str, list[Work]]:
        """All refits, by who is refitted."""
        found: dict[str, list[Work]] = {}
        also = (TRAINING, PREDICTIONS, *((EXPLANATIONS,) if self.explains else ()))
        for contest in (self.contest, None if self.shares_refits else self.held, self.curve):
            if contest is None:
                continue
            told = {HELD_OUT: also, CURVE: also[:2]}
            told |= {LEARNED: also} if self.shares_refits else {}
            works = list_works(contest, stored=stored, also=told)
            found |= {name: works[GIVEN, name] for name in contest.estimators}
        return found

    def held_out(self, outcomes: Outcomes) -> tuple[list[Result], Protocol] | None:
        """The refits by which the model is judged on samples that it has not seen; None where they failed."""
        name = LEARNED if self.shares_refits else HELD_OUT
        if self.held is None or name not in outcomes.results:
            return None
        return outcomes.results[name], self.held.protocols[GIVEN]

    def why_no_held_out(self, outcomes: Outcomes) -> str | None:
        return outcomes.failures.get(LEARNED if self.shares_refits else HELD_OUT)


def make_plan(
    subject: Subject,
    data: Samples,
    asked: tuple[list[str], Choice],
    judging: Judging,
    settings: Settings,
    *,
    explains: bool = False,
) -> Plan:
    """Which refits the wanted parts need; what cannot be made is told in the report of the plan.

    `explains`: held-out refits explain the samples that they have not seen, where they are possible.
    """
    plan = Plan(explains=explains and subject.why_not_refitted() is None)
    wanted, choice = asked
    possible = [part for part in wanted if _can_be_refitted(part, subject, data.y, plan.report)]
    if "without_view" in possible:
        plan.without = leave_out(subject, data.X, plan.report)
    if "baselines" in possible:
        plan.rivals = _rivals(subject, data, choice, plan)
    made = ("stability" in possible, plan.without, plan.rivals)
    plan.parts = [part for part, is_made in zip(CONTEST_PARTS, made, strict=True) if is_made]
    plan.of_held_out = [part for part in HELD_OUT_PARTS if part in possible]
    asked_folds = judging.cv is not None
    judges = bool(plan.of_held_out) or plan.explains
    shared = judges and asked_folds
    if plan.parts or shared:
        models = {name: one.estimator for name, one in {**plan.without, **plan.rivals}.items()}
        learned = {LEARNED: subject.fresh(probabilities=shared)}
        told = [*plan.parts, *(plan.of_held_out if shared else ())]
        plan.contest = _contest(
            {**learned, **models}, subject, data, (judging, settings, asked_folds), told, plan
        )
    if shared:
        plan.held = plan.contest
    elif judges:
        usual = replace(judging, cv=HELD_OUT_FOLDS)
        model = {HELD_OUT: subject.fresh(probabilities=True)}
        plan.held = _contest(model, subject, data, (usual, settings, False), plan.of_held_out, plan)
    if plan.contest is None:
        plan.parts = ()
    if plan.held is None:
        plan.of_held_out = ()
    elif "learning_curve" in plan.of_held_out:
        plan.curve = _curve(plan.held, subject, settings.random_state)
    return plan


def _contest(
    models: Mapping[str, Any],
    subject: Subject,
    data: Samples,
    how: tuple[Judging, Settings, bool],
    parts: Sequence[str],
    plan: Plan,
) -> Contest | None:
    """The refits of models; None, and the parts left out, where there are no folds, e.g. of small classes.

    Folds that the caller asked for are refused.
    """
    judging, settings, is_asked = how
    X, y = data.X, np.zeros(count_rows(data.X)) if data.y is None else data.y
    if subject.task not in TASKS:
        judging = replace(judging, scoring=no_score)
    try:
        return make_contest(models, {GIVEN: (X, y)}, judging, settings.random_state)
    except ValueError as error:
        if is_asked:
            raise
        plan.report.omit_all(parts, str(error))
        return None


def no_score(model: Any, X: Any, y: Any) -> float:
    """The score where there is nothing to predict."""
    return 0.0


def _curve(held: Contest, subject: Subject, seed: int) -> Contest:
    """The model on growing parts of each training part, judged on the same test parts."""
    protocol, data = held.protocols[GIVEN], held.datasets[GIVEN]
    splits, places = [], []
    for fold, i in enumerate(protocol.first):
        train, test = protocol.splits[i]
        order = _nested(np.asarray(data.y), train, subject.task, seed)
        for size, share in enumerate(SIZES):
            splits.append((np.sort(order[: max(2, round(share * len(train)))]), test))
            places.append((size, fold))
    growing = replace(protocol, splits=splits, places=places, covers=False)
    scorers = next(iter(held.scorers.values()))
    return replace(
        held,
        estimators={CURVE: subject.fresh()},
        scorers={CURVE: scorers},
        protocols={GIVEN: growing},
    )


def _nested(y: Array, train: Array, task: str, seed: int) -> Array:
    """The rows in an order whose beginnings have the classes in proportion."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(train)
    if task != "classification":
        return order
    _, codes, counts = np.unique(y[order], return_inverse=True, return_counts=True)
    rank = np.empty(order.size)
    for code, count in enumerate(counts):
        rank[codes == code] = (np.arange(count) + 0.5) / count
    return np.asarray(order[np.argsort(rank, kind="stable")])


def _rivals(subject: Subject, data: Samples, choice: Choice, plan: Plan) -> Mapping[str, Contender]:
    for name in choice.own:
        if name in (LEARNED, HELD_OUT, CURVE) or name in plan.without:
            raise ValueError(f"baselines must have names of their own; {name!r} is taken. Choose another.")
    if not choice:
        plan.report.omit("baselines", "no baselines were asked for (baselines=False).")
        return {}
    found = rivals(subject, (data.X, data.y), plan.report, choice)
    return found if data.weight is None else _that_take_weights(found, choice, plan.report)


def _that_take_weights(
    found: Mapping[str, Contender], choice: Choice, report: Report
) -> Mapping[str, Contender]:
    """The rivals whose fit takes weights; the others are left out, or refused where they were named."""
    without = [name for name, rival in found.items() if weight_path(rival.estimator) is None]
    for name in without:
        if name in choice.own:
            raise TypeError(f"baseline {name!r} takes no sample_weight. Leave sample_weight or it out.")
    choice.left_out(without, "it takes no sample_weight.", report)
    return {name: rival for name, rival in found.items() if name not in without}


def _can_be_refitted(part: str, subject: Subject, y: Any, report: Report) -> bool:
    if part not in (*CONTEST_PARTS, *HELD_OUT_PARTS):
        return False
    name, why = type(subject.final).__name__, subject.why_not_refitted()
    if why is None and part != "stability" and subject.task not in TASKS:
        why = f"{name} predicts no target, so that there is no score."
    elif why is None and part == "stability" and not subject.shares():
        why = f"{name} has no weights of views."
    elif why is None and part == "stability" and hasattr(subject.final, "projections_"):
        why = "regions are numbered anew in every fit, so that their weights do not compare."
    if why is not None:
        report.omit(part, why)
    elif subject.task in TASKS and y is None:
        raise TypeError("y must hold the labels or values that the model was fitted to; got None.")
    return why is None

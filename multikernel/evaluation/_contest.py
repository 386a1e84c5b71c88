"""One contest on the same ten folds: the model, the model without each view, and simpler rivals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from multikernel._resumable import Work
from multikernel.evaluation._runs import Outcomes
from multikernel.evaluation._subject import Subject, shares_of, subject_of
from multikernel.selection.paired_tests import FOLDS, REPEATS
from multikernel.stats._protocol import list_works, make_contest
from multikernel.stats.verdicts import folds_apart, verdicts_against

Array = np.ndarray[Any, np.dtype[Any]]

LEARNED = "learned"
_DATA = "given"
LEVEL = 0.05
METRICS = {"classes": "accuracy", "values": "R²"}
N_FITS = REPEATS * FOLDS
PROTOCOL = (
    f"{REPEATS} repetitions of {FOLDS}-fold cross-validation on the same folds, so that each of the {N_FITS} "
    "refits learns from half of the samples"
)


@dataclass(frozen=True)
class Contender:
    """An unfitted estimator, and one sentence on what it is."""

    estimator: Any
    what: str = ""


@dataclass
class Report:
    """What a part of an evaluation cannot give, and what should be known of the rest."""

    omitted: list[dict[str, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def omit(self, part: str, why: str) -> None:
        entry = {"part": part, "why": why}
        if entry not in self.omitted:
            self.omitted.append(entry)


@dataclass(frozen=True)
class Scores:
    """The scores and shares that a contest gave, by contender."""

    folds: Mapping[str, Array]
    shares: Mapping[str, list[dict[str, float]]]
    failures: Mapping[str, str]

    def mean(self, name: str) -> float:
        return float(self.folds[name].mean())

    def sd(self, name: str) -> float:
        return float(self.folds[name].std(ddof=1))

    def against(self, rivals: list[str]) -> dict[str, dict[str, Any]]:
        """The model against each rival: its lead, Holm's p over the rivals, and the verdict on the model.

        With the standard deviation of the ten differences, p before the adjustment, and on how many folds the
        model is better and worse.
        """
        rivals = [name for name in rivals if name in self.folds]
        if LEARNED not in self.folds or not rivals:
            return {}
        folds = {name: self.folds[name] for name in (LEARNED, *rivals)}
        tests = verdicts_against(LEARNED, folds, LEVEL)
        verdicts = {"win": "worse", "loss": "better", "tie": "tie"}  # the tests speak of the rival
        return {
            name: {
                "difference": -float(row["difference"]) + 0.0,
                **paired(self.folds[LEARNED], self.folds[name], row["p"]),
                "p": float(row["p_holm"]),
                "verdict": verdicts[row["verdict"]],
            }
            for name, row in tests.iterrows()
        }


def paired(ours: Array, theirs: Array, p: float) -> dict[str, Any]:
    """What is said of the ten differences of two scores beside their mean."""
    better, worse = folds_apart(ours, theirs)
    sd = float((ours - theirs).std(ddof=1))
    return {"difference_sd": sd, "p_alone": float(p), "better_folds": better, "worse_folds": worse}


def contest_works(
    contenders: Mapping[str, Contender], subject: Subject, data: tuple[Any, Any], seed: int, *, stored: bool
) -> dict[str, list[Work]]:
    """The refits of each contender.

    Raises
    ------
    ValueError
        If there are no ten folds, e.g. because a class has one sample.
    """
    X, y = data
    targets = np.zeros(n_samples(X)) if y is None else y
    scoring = no_score if subject.task == "nothing" else None
    models = {name: contender.estimator for name, contender in contenders.items()}
    try:
        contest = make_contest(models, {_DATA: (X, targets)}, scoring, seed)
    except ValueError as error:  # nobody has named the data set
        raise ValueError(str(error).replace(f"data set {_DATA!r}", "the data")) from error
    contest = replace(contest, keep=kept_shares, label="the fit")
    works = list_works(contest, stored=stored)
    return {name: works[k * N_FITS : (k + 1) * N_FITS] for k, name in enumerate(models)}


def scores_of(outcomes: Outcomes, names: Iterable[str], views: list[str] | None = None) -> Scores:
    """The scores of the contenders that came through.

    `views` are the names of ready-made kernels, which only have numbers in a refit.
    """
    there = {name: outcomes.results[name] for name in names if name in outcomes.results}
    return Scores(
        {
            name: np.array([r["score"] for r in found]).reshape(REPEATS, FOLDS)
            for name, found in there.items()
        },
        {name: [_renamed(r["shares"], views) for r in found] for name, found in there.items()},
        {name: outcomes.failures[name] for name in names if name in outcomes.failures},
    )


def _renamed(shares: Mapping[str, float], views: list[str] | None) -> dict[str, float]:
    if views is None or len(views) != len(shares):
        return dict(shares)
    return dict(zip(views, shares.values(), strict=True))


def kept_shares(model: Any) -> dict[str, Any]:
    """What is kept of each refit beside its score."""
    return {"shares": shares_of(subject_of(model).final)}


def no_score(model: Any, X: Any, y: Any) -> float:
    """The score where there is nothing to predict."""
    return 0.0


def n_samples(X: Any) -> int:
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)

"""What was asked for, and whether the rows of the store meet it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from benchmarks.store import Record
from benchmarks.tables.contestants import REGRESSORS, contestants_of
from benchmarks.tables.ranking import (
    LEVEL,
    LOSS,
    WIN,
    Scores,
    duel,
    duels,
    mean_and_error,
    mean_ranks,
    rank_table,
)
from benchmarks.tables.sets import CLASSIFICATION, ENTRIES, FOLDS, PARTS, REGRESSION, REPEATS, VIEWS

MAX_BEHIND = 0.02
MAX_COST = 2.5
RIVALS = ("svc_tuned", "forest", "boosting", "logistic")
TUNED_REGRESSORS = ("mkl_cv", "mkl_ridge")
NOT_MEASURED = "not measured"


@dataclass(frozen=True)
class Claim:
    """A figure to reach: what is asked for, what was found, and whether it is met; None if it is unknown.

    `final` is False as long as not all fits of its part have been measured.
    """

    what: str
    found: str
    met: bool | None
    final: bool = True

    @property
    def verdict(self) -> str:
        """In a word or two."""
        said = {True: "met", False: "**missed**", None: NOT_MEASURED}[self.met]
        return said if self.final or self.met is None else f"{said} so far"


def sets_of(part: str, half: str | None = None) -> list[str]:
    """The sets of a part, or of one half of it."""
    return [e.name for e in ENTRIES.values() if e.part == part and half in (None, e.half)]


def label(part: str, contestant: str) -> str:
    """What a contestant is called."""
    return contestants_of(part)[contestant].label


def rivals_of(part: str) -> list[str]:
    """Who is not ours."""
    return [name for name, contestant in contestants_of(part).items() if not contestant.is_ours]


# ---------------------------------------------------------------------- classification
def best_rank(scores: Scores, half: str = "confirming") -> Claim:
    """Whether the tuned classifier has the best mean rank among itself and the tuned rivals."""
    what = f"Mean rank of MKLClassifierCV is the best of five, {half} half"
    table = rank_table(scores, sets_of(CLASSIFICATION, half), ("mkl_cv", *RIVALS))
    if not table:
        return Claim(what, "", None)
    ranks = mean_ranks(table)
    return Claim(what, _ranks_text(CLASSIFICATION, ranks, len(table)), ranks["mkl_cv"] <= min(ranks.values()))


def _ranks_text(part: str, ranks: dict[str, float], n_sets: int) -> str:
    ordered = sorted(ranks, key=ranks.__getitem__)
    return ", ".join(f"{label(part, name)} {ranks[name]:.2f}" for name in ordered) + f"; {n_sets} sets"


def better_than_svc(scores: Scores, half: str = "confirming") -> Claim:
    """Whether Wilcoxon's test shows the tuned classifier ahead of the tuned SVC."""
    what = f"MKLClassifierCV is better than the tuned SVC (one-sided Wilcoxon, 5 %), {half} half"
    found = duel(scores, sets_of(CLASSIFICATION, half), "mkl_cv", "svc_tuned")
    if not found.n_sets:
        return Claim(what, "", None)
    text = f"p = {found.p_better:.3f}; higher on {found.compare(1)}, equal on {found.compare(0)}, "
    text += f"lower on {found.compare(-1)} of {found.n_sets} sets"
    return Claim(what, text, found.p_better <= LEVEL)


def behind_none(scores: Scores, half: str = "confirming") -> Claim:
    """Whether no tuned rival is shown ahead; without a correction, which would make it easier to meet."""
    what = f"MKLClassifierCV is not significantly behind any (one-sided Wilcoxon, 5 % each), {half} half"
    found = duels(scores, sets_of(CLASSIFICATION, half), "mkl_cv", RIVALS)
    if len(found) < len(RIVALS):
        return Claim(what, "", None)
    text = ", ".join(f"{label(CLASSIFICATION, one.rival)} p = {one.p_worse:.3f}" for one in found)
    return Claim(what, text, all(one.p_worse > LEVEL for one in found))


@dataclass(frozen=True)
class Behind:
    """How far the default is behind the plain SVC on a set: mean difference, its error, what is allowed."""

    name: str
    difference: float
    error: float

    @property
    def allowed(self) -> float:
        """Two points, or two standard errors of the paired difference where they are more."""
        return float(np.nanmax([MAX_BEHIND, 2.0 * self.error]))

    @property
    def met(self) -> bool:
        """Whether it is within what is allowed."""
        return self.difference >= -self.allowed - 1e-12


def behind_svc(scores: Scores) -> list[Behind]:
    """The default against the plain SVC, set by set; a failure of ours is infinitely far behind."""
    found = []
    for name in sets_of(CLASSIFICATION):
        differences = scores.differences(name, "mkl", "svc")
        if scores.has_failed(name, "mkl"):
            found.append(Behind(name, -np.inf, 0.0))
        elif len(differences):
            found.append(Behind(name, *mean_and_error(list(differences))))
    return found


def default_not_behind(scores: Scores) -> Claim:
    """Whether the default is nowhere clearly behind the plain SVC."""
    what = "MKLClassifier is on no set more than 2 points (or two s.e. of the difference) behind SVC"
    found = behind_svc(scores)
    if not found:
        return Claim(what, "", None)
    over = [one for one in found if not one.met]
    worst = min(found, key=lambda one: one.difference)
    text = (
        f"worst {100.0 * worst.difference:+.1f} points on {worst.name} (allowed −{100.0 * worst.allowed:.1f})"
    )
    if over:
        text += f"; behind on {', '.join(one.name for one in over)}"
    return Claim(what, f"{text}; {len(found)} sets", not over)


def cost_ratios(records: Sequence[Record]) -> dict[str, float]:
    """CPU time of the default over that of the seven kernels, by set, on the folds that both have."""
    times = Scores.of([record for record in records if record["part"] == CLASSIFICATION], "seconds")
    found = {}
    for name in sets_of(CLASSIFICATION):
        ours, seven = times.folds(name, "mkl"), times.folds(name, "mkl_seven")
        places = set(ours) & set(seven)
        if places:
            found[name] = sum(ours[p] for p in places) / max(sum(seven[p] for p in places), 1e-9)
    return found


def default_costs(records: Sequence[Record]) -> list[Claim]:
    """Whether the default costs no more than so many fits with the seven kernels: on the whole, and worst."""
    ratios = cost_ratios(records)
    texts = [f"MKLClassifier costs at most {MAX_COST:g} fits with the seven kernels: {which}" for which in (
        "geometric mean over the sets", "the worst set"
    )]  # fmt: skip
    if not ratios:
        return [Claim(text, "", None) for text in texts]
    mean = float(np.exp(np.mean(np.log(list(ratios.values())))))
    worst = max(ratios, key=ratios.__getitem__)
    return [
        Claim(texts[0], f"{mean:.2f}; {len(ratios)} sets", mean <= MAX_COST),
        Claim(texts[1], f"{ratios[worst]:.2f} on {worst}", ratios[worst] <= MAX_COST),
    ]


# ---------------------------------------------------------------------- views and regression
def views_rank(scores: Scores, rival: str, half: str | None) -> Claim:
    """Whether ours has a mean rank no worse than that of a rival, among all contestants on views."""
    where = "all sets" if half is None else f"{half} half"
    what = f"Views: mean rank of MKLClassifierCV is no worse than that of {label(VIEWS, rival)}, {where}"
    table = rank_table(scores, sets_of(VIEWS, half), list(contestants_of(VIEWS)))
    if not table:
        return Claim(what, "", None)
    ranks = mean_ranks(table)
    text = f"{ranks['mkl_cv']:.2f} against {ranks[rival]:.2f}; {len(table)} sets"
    return Claim(what, text, ranks["mkl_cv"] <= ranks[rival])


def regression_wins(scores: Scores, ours: str, rival: str) -> Claim:
    """Whether ours wins more often than it loses; by the tests on each set, with Holm's correction."""
    names = [REGRESSORS[name].label for name in (ours, rival)]
    what = f"Regression: {names[0]} wins more often than it loses against {names[1]}"
    found = duel(scores, sets_of(REGRESSION), ours, rival)
    if not found.n_sets:
        return Claim(what, "", None)
    wins, losses = found.count(WIN), found.count(LOSS)
    text = f"{wins} wins, {losses} losses of {found.n_sets} sets; higher on {found.compare(1)}, "
    return Claim(what, text + f"lower on {found.compare(-1)}", wins > losses)


def is_complete(records: Sequence[Record], part: str) -> bool:
    """Whether all fits of a part have been measured."""
    places = {(r["set"], r["repetition"], r["fold"], r["contestant"]) for r in records if r["part"] == part}
    return len(places) >= n_fits(part)


def n_fits(part: str) -> int:
    """How many fits the whole study of a part has."""
    return len(sets_of(part)) * REPEATS * FOLDS * len(contestants_of(part))


def all_claims(records: Sequence[Record]) -> list[Claim]:
    """Every claim, in the order of the page."""
    by_part = {part: [r for r in records if r["part"] == part] for part in PARTS}
    accuracy = Scores.of(by_part[CLASSIFICATION], "accuracy")
    views = Scores.of(by_part[VIEWS], "accuracy")
    r2 = Scores.of(by_part[REGRESSION], "r2")
    claims = {
        CLASSIFICATION: [
            best_rank(accuracy),
            better_than_svc(accuracy),
            behind_none(accuracy),
            default_not_behind(accuracy),
            *default_costs(records),
        ],
        VIEWS: [
            views_rank(views, rival, half)
            for rival in ("late", "late_softmax", "sum")
            for half in ("confirming", None)
        ],
        REGRESSION: [
            regression_wins(r2, ours, rival) for ours in TUNED_REGRESSORS for rival in rivals_of(REGRESSION)
        ],
    }
    return [
        replace(claim, final=is_complete(records, part)) for part, found in claims.items() for claim in found
    ]

"""From problems to the units and the rows of a table, and what every page says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from operator import itemgetter
from typing import Any

import numpy as np

from multikernel.inspection import f_test_5x2cv
from studies.compare import compare, comparison_row, group_results, open_remark
from studies.structured.protocol import (
    COSTS,
    HALVES,
    LEARNED,
    LEARNED_2,
    REPEATS,
    SINGLE,
    SUM,
    Problem,
    is_single,
)
from studies.study import Quantity, Result, Table, Unit

LEVEL = 0.05
BEST = "best"
METHODS = {
    BEST: "best single, chosen on the training half",
    SUM: "plain sum",
    LEARNED: "learned, norm 1",
    LEARNED_2: "learned, norm 2",
    COSTS: "learned, norm 1, with costs",
}
RIVALS = {SUM: "plain sum", BEST: "best single"}
SCORE_LABELS = {
    "accuracy": "accuracy, %",
    "roc_auc": "ROC area, %",
    "average_precision": "average precision, %",
}

Problems = Mapping[str, Problem]
Rows = list[dict[str, Any]]


def make_units(problems: Problems, function: Callable[..., Result], repetitions: int) -> list[Unit]:
    """Return the units of a table, one for each problem, repetition and half.

    Parameters
    ----------
    problems : mapping of str to Problem
    function : callable
        ``compute_fold`` by the key of a problem instead of the problem, of the table's own module.
    repetitions : int

    Returns
    -------
    list of Unit
    """
    return [
        Unit(
            f"{key}/repetition={repetition}/fold={fold}",
            function,
            {"problem": key, "repetition": repetition, "fold": fold},
            problem.datasets,
        )
        for key, problem in problems.items()
        for repetition in range(repetitions)
        for fold in range(HALVES)
    ]


def scores_of(group: Sequence[Result], scoring: str) -> dict[str, np.ndarray]:
    """Return the scores of each contender in percent, one for each fold; the chosen single one as `BEST`.

    Parameters
    ----------
    group : sequence of dict
        What `compute_fold` returned, fold by fold.
    scoring : str

    Returns
    -------
    dict of str to ndarray of shape (n_folds,)
    """
    found = {
        key: np.array([100.0 * result["scores"][key][scoring] for result in group])
        for key in group[0]["scores"]
    }
    chosen = [100.0 * result["scores"][result["chosen"]][scoring] for result in group]
    return found | {BEST: np.array(chosen)}


def paired_p(ours: np.ndarray, rival: np.ndarray) -> float | None:
    """Return the p-value of the 5×2 cv F test; None where it has nothing to judge by.

    It needs five repetitions, and differences that are not the same in both halves of every repetition: of
    few test points, equal counts happen, and no spread would pass for certainty.

    Examples
    --------
    >>> paired_p(np.arange(10.0), np.arange(10.0))
    1.0
    >>> paired_p(np.zeros(4), np.ones(4)) is None, paired_p(np.zeros(10), np.ones(10)) is None
    (True, True)
    """
    if len(ours) != REPEATS * HALVES:
        return None
    found = f_test_5x2cv((ours - rival).reshape(REPEATS, HALVES))
    return None if np.isinf(found.statistic) else float(found.pvalue)


def p_values(scores: Mapping[str, np.ndarray], method: str) -> dict[str, dict[str, Any]]:
    """Return the tests of a learned method against its rivals, as values of a row."""
    return {
        f"p_{rival}": compare([] if p is None else [p])
        for rival in RIVALS
        for p in [paired_p(scores[method], scores[rival])]
    }


def verdict(scores: Mapping[str, np.ndarray], method: str) -> str:
    """Return what a page says of the tests of a learned method: empty unless a difference is significant.

    Examples
    --------
    >>> base = np.zeros(10)
    >>> verdict({"sum": base, "best": base - 5.0, "learned": base + np.tile([0.0, 0.1], 5)}, "learned")
    '★ better than best single'
    """
    parts = []
    for rival, name in RIVALS.items():
        p = paired_p(scores[method], scores[rival])
        if p is not None and p <= LEVEL:
            is_better = scores[method].mean() > scores[rival].mean()
            parts.append(f"{'★ better' if is_better else 'worse'} than {name}")
    return ", ".join(parts)


def make_rows(problems: Problems, results: Sequence[tuple[Unit, Result]]) -> Rows:
    """Return a section for each problem: single kernels and their weights, then methods and their tests.

    Parameters
    ----------
    problems : mapping of str to Problem
    results : sequence of (Unit, mapping)

    Returns
    -------
    list of dict
        See `comparison_row`.
    """
    rows = []
    for key, group in group_results(results, itemgetter("problem")).items():
        rows += problem_rows(problems[key], group)
    return rows


def problem_rows(problem: Problem, group: Sequence[Result]) -> Rows:
    """Return the rows of one problem."""
    by_score = {scoring: scores_of(group, scoring) for scoring in problem.scores}
    leading = by_score[problem.scores[0]]
    singles = [key for key in leading if is_single(key)]
    chosen = Counter(result["chosen"] for result in group)
    hindsight = max(singles, key=lambda key: leading[key].mean())
    rows = []
    for place, key in enumerate(singles):
        values = _score_values(by_score, key)
        values |= weight_values(group, place) | {"chosen": compare([chosen[key]])}
        remark = "best single in hindsight" if key == hindsight else ""
        label = key.removeprefix(f"{SINGLE}:")
        rows.append(comparison_row(problem.label, {"kernel": label}, values, remark))
    for key, label in METHODS.items():
        if key in leading:
            values, remark = _score_values(by_score, key), ""
            if key not in RIVALS:
                values |= p_values(leading, key)
                remark = "; ".join(filter(None, [verdict(leading, key), unsettled_text(group, key)]))
            rows.append(comparison_row(problem.label, {"kernel": label}, values, remark))
    return rows


def weight_values(group: Sequence[Result], place: int) -> dict[str, dict[str, Any]]:
    """Return the share of the weights that the kernel at a place has, for each learned method."""
    methods = group[0]["weights"]
    return {f"weight_{key}": compare([result["weights"][key][place] for result in group]) for key in methods}


def unsettled_text(group: Sequence[Result], method: str) -> str:
    """Return in how many folds the solver of a method did not come to its end; empty if in none."""
    count = sum(method in result["unsettled"] for result in group)
    return open_remark(count, len(group), "folds")


def _score_values(by_score: Mapping[str, Mapping[str, np.ndarray]], key: str) -> dict[str, dict[str, Any]]:
    return {scoring: compare(scores[key].tolist()) for scoring, scores in by_score.items()}


def make_quantities(*scores: str) -> tuple[Quantity, ...]:
    """Return the columns of a page with these scores."""
    return (
        *(Quantity(score, SCORE_LABELS[score], 1, difference=False) for score in scores),
        Quantity("chosen", "chosen", 0, difference=False),
        Quantity(f"weight_{LEARNED}", "weight, norm 1", 2, difference=False),
        Quantity(f"weight_{LEARNED_2}", "weight, norm 2", 2, difference=False),
        *(Quantity(f"p_{rival}", f"p against {name}", 3, difference=False) for rival, name in RIVALS.items()),
    )


PROTOCOL = (
    "5 × 2 cross-validation: the points are halved at random five times over, and each half trains once and "
    "tests once. The splits of the command are the repetitions, five by default.",
    "Every kernel is scaled to a unit diagonal, centred over the training half and divided by its mean "
    "diagonal there (so that its points have variance 1); what a kernel takes from the data, as a width or "
    "the deviations of columns, it takes from the training half.",
    "Machines: support vector machines with the hinge loss; of more than two classes one machine for each, "
    "with the same kernel weights for all. Plain sum: the mean of the kernels. Learned: MKLClassifier with "
    "norm 1 (sparse weights) and norm 2.",
    "C is that of 0.1, 1, 10 and 100 with the best mean score over three folds within the training half (the "
    "smallest of equals), for every kernel and every method by itself. Best single: the kernel with the best "
    "such score; the column *chosen* says in how many of the ten folds it was which. Nothing is chosen on a "
    "test half; the best single in hindsight, the best mean over the test halves, is marked for comparison.",
    "p: the 5×2 cv F test (Alpaydın 1999) of a learned method against the plain sum and against the best "
    "single kernel as chosen; what is significantly better or worse at the level of 5% says so, and ★ marks "
    "the better. Weights are shares of their sum.",
)
NOTES = (
    "Means over the ten folds. The s.e. takes them to be independent, which they are not: it shows the "
    "spread, and the F test is what compares.",
    "A dash for the p of a learned method: in both halves of every repetition it differs from its rival by "
    "the same number of test points, mostly by none, which gives the test no spread to judge by.",
    "The F test is conservative, and half of the data trains: a difference that it does not find may be "
    "there all the same.",
)
NO_FIGURES = "There are no published figures by this protocol to compare with."


def make_table(
    name: str,
    subject: str,
    problems: Problems,
    compute: Callable[..., Result],
    *,
    data: Sequence[str],
    notes: Sequence[str] = (NO_FIGURES,),
) -> Table:
    """Return a table by the common protocol.

    Parameters
    ----------
    name, subject : str
        What the command line calls it, and what its title says.
    problems : mapping of str to Problem
        All with the same scores.
    compute : callable
        See `make_units`.
    data : sequence of str
        What the protocol says of data and kernels.
    notes : sequence of str
        What is known about this table, before the notes of all tables.

    Returns
    -------
    Table
    """
    scores = next(iter(problems.values())).scores
    return Table(
        name=name,
        title=f"Structured data: {subject}",
        version=1,
        splits=REPEATS,
        units=partial(make_units, problems, compute),
        rows=partial(make_rows, problems),
        quantities=make_quantities(*scores),
        protocol=(*data, *PROTOCOL),
        notes=(*notes, *NOTES),
        kind="own",
    )

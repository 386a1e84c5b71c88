"""From problems to the units and the rows of a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from multikernel.inspection import wilcoxon_signed_rank
from studies.compare import compare, comparison_row, open_remark, sections
from studies.gonen2010.methods import Problem
from studies.gonen2010.protocol import (
    FOLDS,
    LEVEL,
    Chosen,
    choose,
    compare_methods,
    draw_fold,
    score_grid,
    verdict,
)
from studies.gonen2010.published import SPLITS, THIRDS
from studies.study import Quantity, Result, Unit

Problems = Mapping[str, Problem]
Rows = list[dict[str, Any]]


def compute_fold(problem: Problem, method: str, split: int, fold: int) -> dict[str, Any]:
    """Return how a method does on one fold, for every C: see `score_grid`."""
    sample = problem.load(split)
    pair = draw_fold(sample.y, split, fold, stratified=not problem.is_regression)
    build = problem.methods[method].build
    return score_grid(lambda C: build(sample, C), sample.X, sample.y, pair, problem.grid, sample.costs)


def make_units(problems: Problems, function: Callable[..., Result], splits: int) -> list[Unit]:
    """Return the units of a table, one for each problem, split, method and fold.

    Parameters
    ----------
    problems : mapping of str to Problem
    function : callable
        ``compute_fold`` by the key of a problem instead of the problem, of the table's own module.
    splits : int

    Returns
    -------
    list of Unit
    """
    return [
        Unit(
            f"{problem.key}/split={split:02d}/{method}/fold={fold}",
            function,
            {"problem": key, "method": method, "split": split, "fold": fold},
            problem.datasets,
        )
        for key, problem in problems.items()
        for split in range(splits)
        for method in problem.methods
        for fold in range(FOLDS)
    ]


def make_rows(problems: Problems, results: Sequence[tuple[Unit, Result]]) -> Rows:
    """Return the rows of a table: each method at its C, beside the published figures.

    Parameters
    ----------
    problems : mapping of str to Problem
    results : sequence of (Unit, mapping)
        Whole splits of whole problems.

    Returns
    -------
    list of dict
        See `comparison_row`.
    """
    groups: dict[tuple[str, str], dict[int, list[Result]]] = {}
    for unit, result in results:
        asked = unit.arguments
        by_split = groups.setdefault((asked["problem"], asked["method"]), {})
        by_split.setdefault(asked["split"], []).append(result)
    chosen = {
        (key, method): [choose(folds, least=problems[key].is_regression) for folds in by_split.values()]
        for (key, method), by_split in groups.items()
    }
    return [
        method_row(problems[key], method, found, chosen.get((key, problems[key].rival)))
        for (key, method), found in chosen.items()
    ]


def method_row(
    problem: Problem, method: str, found: Sequence[Chosen], rival: Sequence[Chosen] | None
) -> dict[str, Any]:
    """Return the row of a method, compared with its rival.

    Parameters
    ----------
    problem : Problem
    method : str
    found : sequence of Chosen
        One for each split.
    rival : sequence of Chosen, or None
        Those of the problem's rival on the same splits.

    Returns
    -------
    dict
        See `comparison_row`.
    """
    score, support, cost = (*problem.published.get(method, ()), None, None, None)[:3]
    key = "mse" if problem.is_regression else "accuracy"
    values = {
        key: compare([part.test.mean() for part in found], score, THIRDS),
        "support": compare([part.support.mean() for part in found], support, THIRDS),
    }
    costs = [part.cost.mean() for part in found if part.cost is not None]
    if costs:
        values["cost"] = compare(costs, cost, THIRDS)
    actives = [part.active.mean() for part in found if part.active is not None]
    if actives:
        values["active"] = compare(actives)
    remark = [f"C = {', '.join(dict.fromkeys(f'{part.C:g}' for part in found))}"]
    if rival is not None and method != problem.rival:
        test = compare_methods(found, rival, least=problem.is_regression)
        values["p"] = compare(test["p"]) | {"se": None}
        remark += [verdict(test, problem.rival.upper())]
    n_open = FOLDS * len(found) - sum(part.settled for part in found)
    remark += [open_remark(n_open, FOLDS * len(found), "folds")]
    labels = {"method": problem.methods[method].label, **problem.methods[method].more}
    return comparison_row(problem.label, labels, values, "; ".join(filter(None, remark)))


def signed_rank_rows(
    rows: Rows,
    ours: str,
    rival: str,
    quantities: Sequence[Quantity],
    verdicts: Mapping[str, str] | None = None,
) -> Rows:
    """Return what Wilcoxon's test over the sections says of one method against another.

    Parameters
    ----------
    rows : list of dict
        Of `method_row`.
    ours, rival : str
        The labels of the methods.
    quantities : sequence of Quantity
        What is compared: more accuracy is better, and less of anything else.
    verdicts : mapping of str to str, default=None
        The published ones, by quantity.

    Returns
    -------
    list of dict
        A row for each quantity; none where there are fewer than two sections.
    """
    found = {(row["section"], row["labels"]["method"]): row["values"] for row in rows}
    names = sections(rows)
    if len(names) < 2:
        return []
    made = []
    for quantity in quantities:
        key, sign = quantity.key, 1.0 if quantity.key == ACCURACY.key else -1.0
        gains = [sign * (found[n, ours][key]["mean"] - found[n, rival][key]["mean"]) for n in names]
        published = {} if verdicts is None else {"verdict, paper": verdicts[key]}
        labels = {"method": ours, "of": quantity.label.removesuffix(", %")}
        made.append(_signed_rank_row(labels, np.round(gains, 9), published))
    return made


def _signed_rank_row(
    labels: Mapping[str, str], gains: np.ndarray, published: Mapping[str, str]
) -> dict[str, Any]:
    test = wilcoxon_signed_rank(gains)
    counts = [int(np.sum(side)) for side in (gains > 0.0, gains == 0.0, gains < 0.0)]
    is_win = test.rank_sum_positive > test.rank_sum_negative
    own = {
        "sets better / equal / worse": " / ".join(map(str, counts)),
        **published,
        "verdict, ours": "tie" if test.pvalue > LEVEL else "win" if is_win else "loss",
    }
    return comparison_row(ALL_SETS, {**labels, **own}, {SIGNED_RANK.key: compare([test.pvalue])})


ALL_SETS = "Over the data sets"
ACCURACY = Quantity("accuracy", "accuracy, %", 2)
ERROR = Quantity("mse", "mean squared error", 1)
SUPPORT = Quantity("support", "support vectors, %", 1)
COST = Quantity("cost", "cost, %", 1)
SIGNED_RANK = Quantity("signed_rank", "signed rank test, p", 3, difference=False)
OTHERS = (
    SUPPORT,
    Quantity("active", "active kernels", 1, difference=False),
    Quantity("p", "F test, p", 3, difference=False),
)
FOLDING = (
    "A third of the points, drawn at random, is the test; the rest is halved five times over, which gives "
    "ten pairs of a training and a validation half. C is that of 0.01, 0.1, 1, 10 and 100 with the best mean "
    "over the ten validations; the ten models of that C are scored on the test third. The random thirds and "
    "halves are ours, and so is the grid.",
    f"The splits of the command are random thirds, {SPLITS} by default; the thesis has one. The s.e. is that "
    "of the mean over the thirds, and that of a difference takes the thesis's third to vary as ours do.",
)
F_TEST = (
    "F test: the 5×2 cv test of each method's ten test scores against those of l1 MKL, p-value (the mean "
    "over the splits). What is significantly better or worse at the level of 5% says so, and ★ marks the "
    "better."
)
PROTOCOL = (
    *FOLDING,
    "Columns are standardised by the training points and kernels scaled to a unit diagonal unless said "
    "otherwise; the gate looks at standardised columns. The gate is learned from one start by steps of at "
    "most unit length against the gradient until a step gains less than 0.001 of the objective.",
    "Active kernels: those whose gate is above 0.001, the mean over the test points; of l1 MKL those whose "
    "weight is above 0.001 of the sum.",
    F_TEST,
)
GIVEN_THIRD = (
    "The F test takes the ten test scores of one third for given: it says whether two methods differ on that "
    "third, not whether they would on another."
)
NOTES = (
    "The defaults of the library's localized estimators (step rule, stop, scaling of columns and kernels) "
    "were partly fitted to the thesis's tables, and the optimisers were compared on test samples: these "
    "tables are no independent confirmation of the method.",
    GIVEN_THIRD,
)

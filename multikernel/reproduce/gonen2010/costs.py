"""Table 5.10: kernels that cost something, with and without the machine knowing of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from multikernel.reproduce.compare import compare, comparison_row, sections
from multikernel.reproduce.gonen2010 import published
from multikernel.reproduce.gonen2010.methods import EQUAL_COSTS, OWN_COSTS, Problem, Sample, cost_methods
from multikernel.reproduce.gonen2010.protocol import LEVEL
from multikernel.reproduce.gonen2010.tables import (
    ACCURACY,
    COST,
    F_TEST,
    FOLDING,
    GIVEN_THIRD,
    OTHERS,
    SUPPORT,
    Rows,
    compute_fold,
    make_rows,
    make_units,
)
from multikernel.reproduce.gonen2010.uci import MOST_POINTS, SETS, load_set, three_views
from multikernel.reproduce.study import Quantity, Result, Table, Unit
from multikernel.stats import wilcoxon_signed_rank

# Of a value of the linear, of the quadratic and of the Gaussian kernel.
COSTS = np.array([1.0, np.sqrt(2.0), 2.0])
ALL_SETS = "Over the data sets"
_BETTER = {"accuracy": 1.0, "support": -1.0, "cost": -1.0}  # whether more of it is better, or less


def load_costs(name: str, split: int) -> Sample:
    """Return a data set of `SETS` with the costs of its kernels."""
    return replace(load_set(name, split), costs=COSTS)


PROBLEMS = {
    name: Problem(
        name,
        label,
        partial(load_costs, name),
        cost_methods(three_views),
        published.COSTS.get(name, {}),
        (name,),
    )
    for name, label in SETS.items()
}


def compute_costs(problem: str, method: str, split: int, fold: int) -> dict[str, Any]:
    """Return how a method does on one fold of a problem of `PROBLEMS`, for every C: see `score_grid`."""
    return compute_fold(PROBLEMS[problem], method, split, fold)


def signed_rank_rows(rows: Rows, verdicts: dict[str, str] | None = None) -> Rows:
    """Return what Wilcoxon's test over the sections says of costs that are known against equal ones.

    Parameters
    ----------
    rows : list of dict
        Of `make_rows`; sections without both methods are left out.
    verdicts : dict of str to str, default=None
        The published ones, by quantity.

    Returns
    -------
    list of dict
        A row for each of accuracy, support vectors and cost; none where there are fewer than two sections.
    """
    found = {(row["section"], row["labels"]["method"]): row["values"] for row in rows}
    names = [
        name for name in sections(rows) if all((name, method) in found for method in (EQUAL_COSTS, OWN_COSTS))
    ]
    if len(names) < 2:
        return []
    return [
        _signed_rank_row(
            quantity,
            [_BETTER[quantity.key] * found[name, OWN_COSTS][quantity.key]["mean"] for name in names],
            [_BETTER[quantity.key] * found[name, EQUAL_COSTS][quantity.key]["mean"] for name in names],
            (verdicts or {}).get(quantity.key, ""),
        )
        for quantity in (ACCURACY, SUPPORT, COST)
    ]


def _signed_rank_row(
    quantity: Quantity, ours: Sequence[float], rival: Sequence[float], verdict: str
) -> dict[str, Any]:
    gains = np.subtract(ours, rival).round(9)
    p = wilcoxon_signed_rank(gains).pvalue
    counts = [int(np.sum(side)) for side in (gains > 0.0, gains == 0.0, gains < 0.0)]
    labels = {
        "of": quantity.label.removesuffix(", %"),
        "sets better / equal / worse": " / ".join(map(str, counts)),
        "verdict, paper": verdict,
        "verdict, ours": "tie" if p > LEVEL else "win" if np.median(gains) > 0.0 else "loss",
    }
    return comparison_row(ALL_SETS, labels, {SIGNED_RANK.key: compare([p])})


def _rows(results: Sequence[tuple[Unit, Result]]) -> Rows:
    rows = make_rows(PROBLEMS, results)
    return rows + signed_rank_rows(rows, published.COST_VERDICTS)


SIGNED_RANK = Quantity("signed_rank", "signed rank test, p", 3, difference=False)
COST_QUANTITIES = (ACCURACY, SUPPORT, COST, OTHERS[-1], SIGNED_RANK)
COST_PROTOCOL = (
    "l1 MKL with costs d learns weights η of Σ d²η = 1: a dear kernel has to earn its weight. The row of "
    "equal costs has d = 1 for all kernels. Of either row the cost of predicting a point is measured at the "
    "true costs: the number of support vectors times the share in Σ d of the kernels with more than 1% of "
    "the weight, in percent of the training points.",
    *FOLDING,
)

TABLE = Table(
    name="5.10",
    title="Gönen (2010), table 5.10: cost-conscious multiple kernel learning",
    version=1,
    splits=published.SPLITS,
    units=partial(make_units, PROBLEMS, compute_costs),
    rows=_rows,
    quantities=COST_QUANTITIES,
    protocol=(
        "Binary data sets; a linear, a quadratic and a Gaussian kernel of standardised columns, scaled to a "
        "unit diagonal, the width of the Gaussian (in exp(−‖x − z‖²/s²)) the mean distance of a training "
        f"point to the nearest other one. Of SPAMBASE {MOST_POINTS} points, drawn anew for each split.",
        "The costs of the three kernels are 1, √2 and 2.",
        *COST_PROTOCOL,
        F_TEST,
        "Wilcoxon's signed rank test over the data sets, on the means of each; a win is significant at the "
        "level of 5% and in favour of known costs: more accuracy, fewer support vectors, less cost.",
    ),
    notes=(
        "The costs are our reading, of the published figures alone. The linear kernel has 1 / (3 + √2) = "
        "0.227 of all costs, and the published cost of a support vector is 0.228 on HEART and 0.235 on WDBC; "
        "the linear and the quadratic one together have 0.547, and SONAR 0.551.",
        "No figure differs from the published one by more than two standard errors, but that is a wide "
        "bound: accuracies of one third have a standard deviation of up to four and a half points. On HEART "
        "ours are five points above.",
        "With known costs no machine of SONAR has more than 1% of its weight on the Gaussian kernel; of "
        "IONOSPHERE two in three have, and half of those of WDBC are linear only. The thesis's 4% on WDBC "
        "says that all of its are, which is what our cost is above it by. A kernel with 2% of the weight "
        "costs as much as one with half of it.",
        "Where Σ d²η = 1 with d above 1, the kernel is smaller, as if C were: C is chosen for each row by "
        "itself, and is larger with known costs on some sets.",
        "BREAST, WPBC, GERMAN, MONKS3 and SPAMBASE are data sets at hand; which others the thesis has is not "
        "known to us. The published verdicts are on its data sets, ours on these nine.",
        GIVEN_THIRD,
    ),
)

"""Tests of many against one, with Holm's adjustment and a rule for what counts as a difference."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from multikernel.selection.holm import holm
from multikernel.selection.paired_tests import without_rounding
from multikernel.selection.win_tie_loss import LOSS, TIE, WIN, paired_f_tests

_ENOUGH = 8  # of the ten folds must fall on one side


def verdicts_against(rival: str, folds: Mapping[str, np.ndarray], level: float) -> pd.DataFrame:
    """Test all others against one of them by the 5×2 cv F test.

    Parameters
    ----------
    rival : str
        One of the names.
    folds : mapping of str to array of shape (5, 2)
        The scores of each on the same folds.
    level : float

    Returns
    -------
    DataFrame
        A row for each of the others: ``difference`` of the means, it minus the rival, ``F``, ``p``, Holm's
        ``p_holm`` of all rows, ``folds`` on which it is better and worse, such as "9–1", and ``verdict``,
        "win" or "loss" if p_holm is at most the level and eight folds of ten fall on the side of the mean,
        else "tie".

    Examples
    --------
    >>> same = np.full((5, 2), 0.5)
    >>> verdicts_against("sum", {"ours": same, "sum": same}, 0.05)[["p_holm", "folds", "verdict"]]
               p_holm folds verdict
    estimator
    ours          1.0   0–0     tie
    """
    by_name = {name: {"given": scores} for name, scores in folds.items()}
    tests = paired_f_tests(by_name, reference=rival, level=level).set_index("estimator")
    tests = tests.rename(columns={"statistic": "F", "pvalue": "p"})
    tests = tests.assign(p_holm=holm(tests["p"]))
    counts = [folds_apart(folds[name], folds[rival]) for name in tests.index]
    better, worse = np.array(counts).T
    found, lead = tests["p_holm"] <= level, tests["difference"]
    won, lost = found & (lead > 0) & (better >= _ENOUGH), found & (lead < 0) & (worse >= _ENOUGH)
    texts = [f"{up}–{down}" for up, down in counts]
    return tests.assign(folds=texts, verdict=np.select([won, lost], [WIN, LOSS], TIE))


def folds_apart(ours: np.ndarray, theirs: np.ndarray) -> tuple[int, int]:
    """On how many folds the first scores are better, and worse; a difference by rounding is none."""
    largest = float(max(np.abs(ours).max(), np.abs(theirs).max()))
    apart = without_rounding((ours - theirs).ravel(), largest, float(np.finfo(float).eps))
    return int((apart > 0.0).sum()), int((apart < 0.0).sum())

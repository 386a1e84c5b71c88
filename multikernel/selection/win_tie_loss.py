"""How often one learner beats another over several data sets.

On each data set the combined 5×2 cv F test says whether two learners differ, and the sign of the mean
difference which of them is better:

    win   p ≤ level and mean(p_ij) > 0,     loss   p ≤ level and mean(p_ij) < 0,     tie   otherwise

Beside these counts stand those of the plain means, and Wilcoxon's signed rank test of the means over all
data sets. Scores are the better the higher they are; no p-value is corrected for the number of tests.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from .paired_tests import (
    Array,
    check_level,
    check_scores_5x2,
    f_test_5x2cv,
    wilcoxon_signed_rank,
    without_rounding,
)

Scores = Mapping[str, Mapping[str, Any]]
WIN, TIE, LOSS = "win", "tie", "loss"


def win_tie_loss(
    scores: Scores, *, reference: str | None = None, level: float = 0.05, method: str = "demsar"
) -> pd.DataFrame:
    """Count wins, ties and losses of learners over data sets.

    Parameters
    ----------
    scores : mapping of str to mapping of str to array-like of shape (5, 2)
        ``scores[learner][dataset]``: the scores of five repetitions of two-fold cross-validation, on the same
        folds for every learner. Higher is better: give errors with a minus sign.
    reference : str, optional
        The learner that all others are compared with; without it, every pair is compared.
    level : float, default=0.05
        Of every test.
    method : str, default="demsar"
        Of `wilcoxon_signed_rank`.

    Returns
    -------
    DataFrame
        A row for each ``(learner, rival)``, the counts as the learner sees them: ``wins``, ``ties`` and
        ``losses`` by the F test; ``higher``, ``equal`` and ``lower`` by the mean score; ``pvalue`` of
        Wilcoxon's test of the means and its ``verdict``, ``"win"``, ``"tie"`` or ``"loss"``.

    Examples
    --------
    >>> good = [[0.9, 0.91], [0.9, 0.92], [0.91, 0.9], [0.92, 0.9], [0.9, 0.9]]
    >>> poor = [[0.8, 0.82], [0.81, 0.8], [0.8, 0.8], [0.83, 0.8], [0.8, 0.79]]
    >>> scores = {"ours": {"heart": good, "sonar": poor}, "theirs": {"heart": poor, "sonar": poor}}
    >>> win_tie_loss(scores)[["wins", "ties", "losses", "higher", "equal", "lower", "verdict"]]
                    wins  ties  losses  higher  equal  lower verdict
    learner rival
    ours    theirs     1     1       0       1      1      0     tie
    """
    tests = paired_f_tests(scores, reference=reference, level=level)
    rows = []
    for (learner, rival), group in tests.groupby(["learner", "rival"], sort=False):
        verdicts, signs = group["verdict"], np.sign(group["difference"])
        found = wilcoxon_signed_rank(group["difference"].to_numpy(), method=method)
        rows.append(
            {
                "learner": learner,
                "rival": rival,
                "wins": int((verdicts == WIN).sum()),
                "ties": int((verdicts == TIE).sum()),
                "losses": int((verdicts == LOSS).sum()),
                "higher": int((signs > 0.0).sum()),
                "equal": int((signs == 0.0).sum()),
                "lower": int((signs < 0.0).sum()),
                "pvalue": found.pvalue,
                "verdict": _verdict(
                    found.significant(level), found.rank_sum_positive - found.rank_sum_negative
                ),
            }
        )
    return pd.DataFrame(rows).set_index(["learner", "rival"])


def paired_f_tests(scores: Scores, *, reference: str | None = None, level: float = 0.05) -> pd.DataFrame:
    """Test every pair of learners, or every learner against a reference, on each data set.

    Parameters
    ----------
    scores : mapping of str to mapping of str to array-like of shape (5, 2)
        ``scores[learner][dataset]``.
    reference : str, optional
    level : float, default=0.05

    Returns
    -------
    DataFrame
        Columns ``dataset``, ``learner``, ``rival``, ``difference`` (of the mean scores, learner minus rival),
        ``statistic``, ``pvalue`` and ``verdict`` for the learner.

    Examples
    --------
    >>> zeros = [[0.5, 0.5]] * 5
    >>> paired_f_tests({"a": {"heart": zeros}, "b": {"heart": zeros}}).loc[0, ["rival", "pvalue", "verdict"]]
    rival        b
    pvalue     1.0
    verdict    tie
    Name: 0, dtype: object
    """
    check_level(level)
    tables = _checked(scores)
    rows = []
    for learner, rival in _pairs(list(tables), reference):
        for dataset, ours in tables[learner].items():
            theirs = tables[rival][dataset]
            found = f_test_5x2cv(ours, theirs)
            difference = _mean_difference(ours, theirs)
            verdict = _verdict(found.significant(level), difference)
            rows.append((dataset, learner, rival, difference, found.statistic, found.pvalue, verdict))
    columns = ["dataset", "learner", "rival", "difference", "statistic", "pvalue", "verdict"]
    return pd.DataFrame(rows, columns=columns)


def _pairs(learners: list[str], reference: str | None) -> list[tuple[str, str]]:
    if reference is None:
        return [(learner, rival) for i, learner in enumerate(learners) for rival in learners[i + 1 :]]
    if reference not in learners:
        listed = ", ".join(repr(name) for name in learners)
        raise ValueError(f"reference must be one of the learners, {listed}; got {reference!r}.")
    return [(learner, reference) for learner in learners if learner != reference]


def _mean_difference(ours: Array, theirs: Array) -> float:
    """The mean difference; zero if the scores are the same in another order, whatever the rounding."""
    largest = float(max(np.abs(ours).max(), np.abs(theirs).max()))
    difference = np.atleast_1d((ours - theirs).mean())
    return float(without_rounding(difference, largest, float(np.finfo(np.float64).eps))[0])


def _verdict(significant: bool, difference: float) -> str:
    if not significant or difference == 0.0:
        return TIE
    return WIN if difference > 0.0 else LOSS


def _checked(scores: Scores) -> dict[str, dict[str, Array]]:
    if not isinstance(scores, Mapping) or len(scores) < 2:
        given = f"{len(scores)} learner(s)" if isinstance(scores, Mapping) else type(scores).__name__
        raise ValueError(
            "scores must be a dictionary of two or more learners, scores[learner][dataset] of shape (5, 2); "
            f"got {given}."
        )
    first, datasets = next((name, list(of_sets)) for name, of_sets in scores.items())
    if not datasets:
        raise ValueError(f"scores must hold one data set at least; learner {first!r} has none.")
    for learner, of_sets in scores.items():
        if set(of_sets) != set(datasets):
            odd = sorted(set(of_sets) ^ set(datasets), key=str)[0]
            raise ValueError(
                f"every learner must have scores on the same data sets; {learner!r} and {first!r} do not "
                f"share {odd!r}. Leave that data set out, or score it with both."
            )
    return {
        learner: {
            name: check_scores_5x2(of_sets[name], f"scores[{learner!r}][{name!r}]") for name in datasets
        }
        for learner, of_sets in scores.items()
    }

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
_PAIR = ["estimator", "rival"]


def win_tie_loss(
    scores: Scores, *, reference: str | None = None, level: float = 0.05, method: str = "demsar"
) -> pd.DataFrame:
    """Count wins, ties and losses of learners over data sets.

    Parameters
    ----------
    scores : mapping of str to mapping of str to array-like of shape (5, 2)
        ``scores[estimator][dataset]``: the scores of five repetitions of two-fold cross-validation, on the
        same folds for every estimator. Higher is better: give errors with a minus sign.
    reference : str, optional
        The estimator that all others are compared with; without it, every pair is compared.
    level : float, default=0.05
        Of every test.
    method : str, default="demsar"
        Of `wilcoxon_signed_rank`.

    Returns
    -------
    DataFrame
        A row for each ``(estimator, rival)``, the counts as the estimator sees them: ``wins``, ``ties`` and
        ``losses`` by the F test; ``higher``, ``equal`` and ``lower`` by the mean score; ``pvalue`` of
        Wilcoxon's test of the means and its ``verdict``, ``"win"``, ``"tie"`` or ``"loss"``.

    Examples
    --------
    >>> good = [[0.9, 0.91], [0.9, 0.92], [0.91, 0.9], [0.92, 0.9], [0.9, 0.9]]
    >>> poor = [[0.8, 0.82], [0.81, 0.8], [0.8, 0.8], [0.83, 0.8], [0.8, 0.79]]
    >>> scores = {"ours": {"heart": good, "sonar": poor}, "theirs": {"heart": poor, "sonar": poor}}
    >>> win_tie_loss(scores)[["wins", "ties", "losses", "higher", "equal", "lower", "verdict"]]
                      wins  ties  losses  higher  equal  lower verdict
    estimator rival
    ours      theirs     1     1       0       1      1      0     tie
    """
    tests = paired_f_tests(scores, reference=reference, level=level)
    counts = pd.DataFrame(
        [_counts(pair, group) for pair, group in tests.groupby(_PAIR, sort=False)],
        columns=[*_PAIR, "wins", "ties", "losses", "higher", "equal", "lower"],
    ).set_index(_PAIR)
    return counts.join(_signed_rank_tests(tests, level, method)[["pvalue", "verdict"]])


def signed_rank_tests(
    scores: Scores, *, reference: str | None = None, level: float = 0.05, method: str = "demsar"
) -> pd.DataFrame:
    """Test by `wilcoxon_signed_rank` whether learners differ over all data sets, by their mean scores.

    Parameters
    ----------
    scores : mapping of str to mapping of str to array-like of shape (5, 2)
        ``scores[estimator][dataset]``.
    reference : str, optional
    level : float, default=0.05
    method : str, default="demsar"

    Returns
    -------
    DataFrame
        A row for each ``(estimator, rival)``: ``statistic``, ``z``, ``pvalue`` and ``verdict``.
    """
    return _signed_rank_tests(paired_f_tests(scores, reference=reference, level=level), level, method)


def paired_f_tests(scores: Scores, *, reference: str | None = None, level: float = 0.05) -> pd.DataFrame:
    """Test every pair of learners, or every learner against a reference, on each data set.

    Parameters
    ----------
    scores : mapping of str to mapping of str to array-like of shape (5, 2)
        ``scores[estimator][dataset]``.
    reference : str, optional
    level : float, default=0.05

    Returns
    -------
    DataFrame
        Columns ``dataset``, ``estimator``, ``rival``, ``mean`` and ``rival_mean`` (of their scores),
        ``difference`` (the first minus the second), ``statistic``, ``pvalue`` and ``verdict`` for the
        estimator.

    Examples
    --------
    >>> halves = [[0.5, 0.5]] * 5
    >>> tests = paired_f_tests({"a": {"heart": halves}, "b": {"heart": halves}})
    >>> tests[["dataset", "estimator", "rival", "pvalue", "verdict"]]
      dataset estimator rival  pvalue verdict
    0   heart         a     b     1.0     tie
    """
    check_level(level)
    tables = _checked(scores)
    rows = []
    for estimator, rival in _pairs(list(tables), reference):
        for dataset, ours in tables[estimator].items():
            theirs = tables[rival][dataset]
            found = f_test_5x2cv(ours, theirs)
            means = float(ours.mean(dtype=float)), float(theirs.mean(dtype=float))
            difference = _difference(*means)
            verdict = _verdict(found.significant(level), difference)
            rows.append(
                (dataset, estimator, rival, *means, difference, found.statistic, found.pvalue, verdict)
            )
    columns = ["dataset", *_PAIR, "mean", "rival_mean", "difference", "statistic", "pvalue", "verdict"]
    return pd.DataFrame(rows, columns=columns)


def check_reference(names: list[str], reference: str | None) -> None:
    """Require that the reference is one of the estimators, if there is one."""
    if reference is not None and reference not in names:
        listed = ", ".join(repr(name) for name in names)
        raise ValueError(f"reference must be one of the estimators, {listed}; got {reference!r}.")


def _pairs(names: list[str], reference: str | None) -> list[tuple[str, str]]:
    check_reference(names, reference)
    if reference is None:
        return [(name, rival) for i, name in enumerate(names) for rival in names[i + 1 :]]
    return [(name, reference) for name in names if name != reference]


def _counts(pair: tuple[str, str], tests: pd.DataFrame) -> tuple[Any, ...]:
    by_test = (int((tests["verdict"] == verdict).sum()) for verdict in (WIN, TIE, LOSS))
    by_mean = (int((np.sign(tests["difference"]) == sign).sum()) for sign in (1.0, 0.0, -1.0))
    return (*pair, *by_test, *by_mean)


def _signed_rank_tests(tests: pd.DataFrame, level: float, method: str) -> pd.DataFrame:
    rows = []
    for pair, group in tests.groupby(_PAIR, sort=False):
        found = wilcoxon_signed_rank(group["mean"], group["rival_mean"], method=method)
        lead = found.rank_sum_positive - found.rank_sum_negative
        rows.append((*pair, found.statistic, found.z, found.pvalue, _verdict(found.significant(level), lead)))
    return pd.DataFrame(rows, columns=[*_PAIR, "statistic", "z", "pvalue", "verdict"]).set_index(_PAIR)


def _difference(mean: float, rival_mean: float) -> float:
    """The difference of means; zero if the scores are the same in another order, whatever the rounding."""
    largest = max(abs(mean), abs(rival_mean))
    return float(without_rounding(np.array([mean - rival_mean]), largest, float(np.finfo(float).eps))[0])


def _verdict(significant: bool, difference: float) -> str:
    if not significant or difference == 0.0:
        return TIE
    return WIN if difference > 0.0 else LOSS


def _checked(scores: Scores) -> dict[str, dict[str, Array]]:
    if not isinstance(scores, Mapping) or len(scores) < 2:
        given = f"{len(scores)} estimator(s)" if isinstance(scores, Mapping) else type(scores).__name__
        raise ValueError(
            "scores must be a dictionary of two or more estimators, scores[estimator][dataset] of shape "
            f"(5, 2); got {given}."
        )
    first, datasets = next((name, list(of_sets)) for name, of_sets in scores.items())
    if not datasets:
        raise ValueError(f"scores must hold one data set at least; estimator {first!r} has none.")
    for name, of_sets in scores.items():
        if set(of_sets) != set(datasets):
            odd = sorted(set(of_sets) ^ set(datasets), key=str)[0]
            raise ValueError(
                f"every estimator must have scores on the same data sets; {name!r} and {first!r} do not "
                f"share {odd!r}. Leave that data set out, or score it with both."
            )
    return {
        name: {
            dataset: check_scores_5x2(of_sets[dataset], f"scores[{name!r}][{dataset!r}]")
            for dataset in datasets
        }
        for name, of_sets in scores.items()
    }

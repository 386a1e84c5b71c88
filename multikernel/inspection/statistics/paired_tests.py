"""Whether learners differ, by scores over the same folds: on one data set, and over several.

    f = Σ_ij p_ij² / (2 Σ_i s_i²),     s_i² = Σ_j (p_ij − p̄_i)²,     i = 1..5 repetitions, j = 1, 2 folds

with p_ij the difference of both scores on fold j of repetition i and p̄_i the mean of repetition i; under the
hypothesis of equal scores f is taken to follow F(10, 5) (Alpaydın 1999, the combined 5×2 cv test).

Over several data sets, one difference p_i for each, ranks of |p_i| from 1 up (equals share their mean):

    R⁺ = Σ_{p_i > 0} rank_i + ½ Σ_{p_i = 0} rank_i,     R⁻ likewise,     T = min(R⁺, R⁻)
    z  = (T − M (M + 1) / 4) / √(M (M + 1) (2M + 1) / 24) ≤ 0,     p = 2 Φ(z)

with M the number of differences; of an odd number of zeros one is left out first (Demšar 2006).

Over several data sets wins and losses are counted as they are published, each data set by its own F test at
the level, and no p-value is corrected for the number of tests (`win_tie_loss`). On one data set, where the
question is whether models differ and by how much, the tests of ``interval_tests`` decide.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import f as f_distribution
from scipy.stats import norm, rankdata, wilcoxon

from ..._typing import Array
from ..._validation import check_choice, check_number, check_real_matrix

REPEATS, FOLDS = 5, 2
WIN, TIE, LOSS, EQUAL = "win", "tie", "loss", "equal"
_METHODS = ("demsar", "wilcox", "pratt", "zsplit", "exact")
_MOST_FOR_EXACT = 25
PAIR = ["estimator", "rival"]
_EPS = float(np.finfo(float).eps)

Scores = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class PairedTest:
    """What a paired test found.

    Attributes
    ----------
    statistic : float
        NaN where there is nothing to test, infinite where there is no spread.
    pvalue : float
        Small if equal scores would hardly give such differences.
    """

    statistic: float
    pvalue: float

    def significant(self, level: float = 0.05) -> bool:
        """Whether equal scores are rejected.

        Parameters
        ----------
        level : float, default=0.05
            How often a true hypothesis may be rejected, between 0 and 1.

        Returns
        -------
        bool
            Whether the p-value is at most `level`.
        """
        return self.pvalue <= check_level(level)


@dataclass(frozen=True)
class SignedRankTest(PairedTest):
    """What Wilcoxon's signed rank test found.

    Attributes
    ----------
    statistic : float
        T, the smaller of both sums of ranks; NaN if there is no difference.
    pvalue : float
    rank_sum_positive, rank_sum_negative : float
        R⁺ and R⁻: the sums of ranks of the differences above and below zero.
    z : float
        The statistic as a standard normal variable, at most 0; NaN for the exact test.
    n : int
        How many differences were ranked, or went into the variance: M.
    """

    rank_sum_positive: float
    rank_sum_negative: float
    z: float
    n: int


def f_test_5x2cv(a: Any, b: Any = None) -> PairedTest:
    """Test whether two learners differ, by their scores in five repetitions of two-fold cross-validation.

    Parameters
    ----------
    a : array-like of shape (5, 2)
        The scores of one learner, one row for each repetition; or the differences of both, without `b`.
    b : array-like of shape (5, 2), default=None
        The scores of the other on the same folds.

    Returns
    -------
    PairedTest
        ``statistic`` f and ``pvalue`` P(F(10, 5) ≥ f). Without any difference they are NaN and 1; with
        differences that are the same in both folds of every repetition, infinite and 0.

    Notes
    -----
    The test is conservative: independent normal differences have f = (1 + F(5, 5)) / 2 exactly, so that one
    in 57 is rejected at the level of 5%.

    Differences that agree, or vanish, to within the rounding of their subtraction count as equal, or as zero.

    References
    ----------
    E. Alpaydın (1999). Combined 5×2 cv F test for comparing supervised classification learning algorithms.
    Neural Computation 11, 1885–1892.

    Examples
    --------
    >>> found = f_test_5x2cv([[0.01, 0.02], [0.03, -0.01], [0.02, 0.02], [0.0, 0.04], [0.01, 0.03]])
    >>> round(found.statistic, 6), round(found.pvalue, 6)
    (1.324324, 0.398619)
    """
    differences = _differences(a, b, check_scores_5x2)
    if not differences.any():
        return PairedTest(float("nan"), 1.0)
    largest = np.abs(differences).max()
    # Relative to the largest, so that no square under- or overflows.
    shares = differences / largest
    deviations = shares - shares.mean(axis=1, keepdims=True)
    spread = 2.0 * float((deviations**2).sum())
    if spread == 0.0:
        return PairedTest(float("inf"), 0.0)
    statistic = float((shares**2).sum()) / spread
    n = REPEATS * FOLDS
    return PairedTest(statistic, float(f_distribution.sf(statistic, n, REPEATS)))


def wilcoxon_signed_rank(a: Any, b: Any = None, *, method: str = "demsar") -> SignedRankTest:
    """Test whether two learners differ over several data sets, by the signs and ranks of their differences.

    Parameters
    ----------
    a : array-like of shape (n_samples,)
        The scores of one learner, one for each data set; or the differences of both, without `b`.
    b : array-like of shape (n_samples,), default=None
        The scores of the other on the same data sets.
    method : {"demsar", "wilcox", "pratt", "zsplit", "exact"}, default="demsar"
        What becomes of differences that are zero, and of ties:

        - ``"demsar"``: half of the zeros' ranks go to each side, after one of an odd number of zeros is left
          out; the variance ignores ties;
        - ``"wilcox"``: zeros are left out; ``"pratt"``: they are ranked, then left out; ``"zsplit"``: half of
          their ranks go to each side. These three are scipy's, normal with a variance that is corrected for
          ties, without a correction for continuity;
        - ``"exact"``: the exact distribution, for at most 25 differences without zeros or ties.

    Returns
    -------
    SignedRankTest
        ``statistic`` T = min(R⁺, R⁻), the two-sided ``pvalue``, and ``rank_sum_positive``,
        ``rank_sum_negative``, ``z``, ``n``. Without any difference ``statistic`` and ``z`` are NaN and
        ``pvalue`` is 1.

    Notes
    -----
    Differences that agree to within the rounding of their subtraction count as ties, and as zero if they
    vanish to within it: 0.9 − 0.8 ties with 0.8 − 0.7, though the two are not the same floating point number.

    References
    ----------
    F. Wilcoxon (1945). Individual comparisons by ranking methods. Biometrics Bulletin 1, 80–83.

    J. Demšar (2006). Statistical comparisons of classifiers over multiple data sets. Journal of Machine
    Learning Research 7, 1–30.

    Examples
    --------
    >>> found = wilcoxon_signed_rank([0.1, 0.2, -0.05, 0.3, 0.0, 0.4, 0.12, -0.01, 0.2])
    >>> found.rank_sum_positive, found.rank_sum_negative, round(found.z, 6), round(found.pvalue, 6)
    (33.0, 3.0, -2.10042, 0.035692)
    >>> found.significant()
    True
    """
    check_choice("method", method, _METHODS)
    differences = _differences(a, b, _as_vector)
    if method == "exact":
        _check_exact(differences)
    if not differences.any():
        nan = float("nan")
        return SignedRankTest(nan, 1.0, nan, nan, nan, differences.size)
    if method == "demsar" and np.count_nonzero(differences == 0.0) % 2 == 1:
        differences = np.delete(differences, np.flatnonzero(differences == 0.0)[0])
    elif method == "wilcox":
        differences = differences[differences != 0.0]
    above, below = _rank_sums(differences, zeros_count=method in ("demsar", "zsplit"))
    z, pvalue = _z_and_pvalue(differences, min(above, below), method)
    return SignedRankTest(min(above, below), pvalue, above, below, z, differences.size)


def check_level(level: Any) -> float:
    """Return the level of a test, a number between 0 and 1."""
    number = check_number("level", level, above=0.0)
    if not number < 1.0:
        raise ValueError(f"level must be less than 1; got {level!r}. Use 0.05 for one rejection in twenty.")
    return number


def without_rounding(differences: Array, largest: float, eps: float) -> Array:
    """Return differences of scores with those made equal, or zero, that are so but for rounding.

    `largest` is the largest of the scores that were subtracted, by size, `eps` that of their type.
    """
    sizes = np.abs(differences)
    order = np.argsort(sizes, kind="stable")
    # a gap beyond rounding begins a new group; the first group, if there is any before a gap, is that of zero
    begins = np.diff(sizes[order], prepend=0.0) > 8.0 * eps * largest
    groups = np.concatenate([[0.0], sizes[order][begins]])
    merged = np.empty_like(sizes)
    merged[order] = groups[np.cumsum(begins)]
    return np.copysign(merged, differences)


def _differences(a: Any, b: Any, check: Callable[[Any, str], Array]) -> Array:
    """The first scores minus the second, if there are any, without rounding."""
    scores = [check(a, "a")] if b is None else [check(a, "a"), check(b, "b")]
    if b is not None and scores[0].shape != scores[1].shape:
        raise ValueError(
            f"a and b must be paired, one score of each for every data set; got {scores[0].size} and "
            f"{scores[1].size} scores. Leave out the data sets on which one of them was not run."
        )
    largest = max(float(np.abs(values).max()) for values in scores)
    eps = max(float(np.finfo(values.dtype).eps) for values in scores)
    first, *second = (values.astype(np.float64) for values in scores)
    differences = first - second[0] if second else first
    return without_rounding(differences.ravel(), largest, eps).reshape(differences.shape)


def _rank_sums(differences: Array, *, zeros_count: bool) -> tuple[float, float]:
    ranks = rankdata(np.abs(differences))
    shared = 0.5 * float(ranks[differences == 0.0].sum()) if zeros_count else 0.0
    above, below = (float(ranks[side].sum()) for side in (differences > 0.0, differences < 0.0))
    return above + shared, below + shared


def _z_and_pvalue(differences: Array, T: float, method: str) -> tuple[float, float]:
    if method == "exact":
        return float("nan"), float(wilcoxon(differences, method="exact").pvalue)
    if method == "demsar":
        M = float(differences.size)
        z = (T - M * (M + 1.0) / 4.0) / np.sqrt(M * (M + 1.0) * (2.0 * M + 1.0) / 24.0)
        return float(z), float(2.0 * norm.cdf(z))
    # "approx" is what every version of scipy in range understands
    found = wilcoxon(differences, zero_method=method, correction=False, method="approx")
    return -abs(float(found.zstatistic)), float(found.pvalue)


def _check_exact(differences: Array) -> None:
    n = differences.size
    if n > _MOST_FOR_EXACT:
        raise ValueError(
            f"method='exact' is for at most {_MOST_FOR_EXACT} differences; got {n}. Use method='demsar': the "
            "normal approximation is good by then."
        )
    n_zeros = n - np.count_nonzero(differences)
    if n_zeros or np.unique(np.abs(differences)).size < n:
        found = f"{n_zeros} of {n} differences are zero" if n_zeros else "some differences are of equal size"
        raise ValueError(f"method='exact' needs differences without zeros or ties; {found}. Use 'demsar'.")


def _as_vector(scores: Any, name: str) -> Array:
    values = check_real_matrix(scores, name)
    if values.ndim != 1 or values.size == 0:
        raise ValueError(
            f"{name} must hold one score for each data set, shape (n,) with n at least 1; got shape "
            f"{values.shape}. Average the folds of each data set first."
        )
    if not np.isfinite(values).all():
        i = int(np.flatnonzero(~np.isfinite(values))[0])
        raise ValueError(f"{name} must be finite; entry {i} is {values[i]}. Score that data set again.")
    return values


def check_scores_5x2(scores: Any, name: str) -> Array:
    values = check_real_matrix(scores, name)
    if values.shape != (REPEATS, FOLDS):
        raise ValueError(
            f"{name} must hold a score for each fold, shape ({REPEATS}, {FOLDS}): five repetitions of "
            f"two-fold cross-validation; got shape {values.shape}."
        )
    if not np.isfinite(values).all():
        i, j = np.argwhere(~np.isfinite(values))[0]
        raise ValueError(
            f"{name} must be finite; repetition {i}, fold {j} is {values[i, j]}. Score that fold again."
        )
    return values


# ------------------------------------------------------------------ several learners on one data set
def holm(pvalues: Any) -> Array:
    """Holm's step-down p-values: of p_(1) ≤ … ≤ p_(k) the i-th becomes max_{j ≤ i} min(1, (k − j + 1) p_(j)).

    Rejecting where the result is at most a level keeps the chance of any false rejection among all tests at
    that level, whatever the tests have to do with one another.

    Parameters
    ----------
    pvalues : array-like of shape (k,)
        Between 0 and 1.

    Returns
    -------
    array of shape (k,), in the order given

    References
    ----------
    S. Holm (1979). A simple sequentially rejective multiple test procedure. Scandinavian Journal of
    Statistics 6, 65–70.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    try:
        values = np.asarray(pvalues, dtype=float)
    except (TypeError, ValueError, OverflowError):
        values = np.empty(())  # refused below
    if values.ndim != 1 or not ((values >= 0.0) & (values <= 1.0)).all():
        raise ValueError(f"pvalues must be a list of numbers from 0 to 1; got {pvalues!r}.")
    order = np.argsort(values, kind="stable")
    steps = (values.size - np.arange(values.size)) * values[order]
    adjusted = np.empty_like(values)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return adjusted


# ------------------------------------------------------------------ over several data sets
def win_tie_loss(
    scores: Scores, *, reference: str | None = None, level: float = 0.05, method: str = "demsar"
) -> pd.DataFrame:
    """Count wins, ties and losses of learners over data sets.

    Parameters
    ----------
    scores : mapping of str to mapping of str to array-like of shape (5, 2)
        ``scores[estimator][dataset]``: the scores of five repetitions of two-fold cross-validation, on the
        same folds for every estimator. Higher is better: give errors with a minus sign.
    reference : str, default=None
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
    return count_wins(paired_f_tests(scores, reference=reference, level=level), level, method)


def count_wins(tests: pd.DataFrame, level: float, method: str) -> pd.DataFrame:
    """Wins, ties and losses of each pair by its `tests`, as `win_tie_loss` gives them."""
    counts = pd.DataFrame(
        [_counts(pair, group) for pair, group in tests.groupby(PAIR, sort=False)],
        columns=[*PAIR, "wins", "ties", "losses", "higher", "equal", "lower"],
    ).set_index(PAIR)
    return counts.join(signed_rank_tests(tests, level, method)[["pvalue", "verdict"]])


def paired_f_tests(scores: Scores, *, reference: str | None = None, level: float = 0.05) -> pd.DataFrame:
    """Test every pair of learners, or every learner against a reference, on each data set.

    Parameters
    ----------
    scores : mapping of str to mapping of str to array-like of shape (5, 2)
        ``scores[estimator][dataset]``.
    reference : str, default=None
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
    check_reference(list(tables), reference)
    rows = []
    for estimator, rival in pairs_of(list(tables), reference):
        for dataset, ours in tables[estimator].items():
            means, lead, found = paired(ours, tables[rival][dataset])
            verdict = _verdict(found.significant(level), lead)
            rows.append((dataset, estimator, rival, *means, lead, found.statistic, found.pvalue, verdict))
    columns = ["dataset", *PAIR, "mean", "rival_mean", "difference", "statistic", "pvalue", "verdict"]
    return pd.DataFrame(rows, columns=columns)


def signed_rank_tests(tests: pd.DataFrame, level: float, method: str) -> pd.DataFrame:
    """Test by `wilcoxon_signed_rank` whether learners differ over all data sets, by the means of `tests`."""
    rows = []
    for pair, group in tests.groupby(PAIR, sort=False):
        found = wilcoxon_signed_rank(group["mean"], group["rival_mean"], method=method)
        lead = found.rank_sum_positive - found.rank_sum_negative
        rows.append((*pair, found.statistic, found.z, found.pvalue, _verdict(found.significant(level), lead)))
    return pd.DataFrame(rows, columns=[*PAIR, "statistic", "z", "pvalue", "verdict"]).set_index(PAIR)


def check_reference(names: list[str], reference: str | None) -> None:
    if reference is not None and reference not in names:
        listed = ", ".join(repr(name) for name in names)
        raise ValueError(f"reference must be one of the models, {listed}; got {reference!r}.")


def pairs_of(names: list[str], reference: str | None) -> list[tuple[str, str]]:
    """Every pair of estimators, or all others against the reference."""
    if reference is None:
        return [(name, rival) for i, name in enumerate(names) for rival in names[i + 1 :]]
    return [(name, reference) for name in names if name != reference]


def _counts(pair: tuple[str, str], tests: pd.DataFrame) -> tuple[Any, ...]:
    by_test = (int((tests["verdict"] == verdict).sum()) for verdict in (WIN, TIE, LOSS))
    by_mean = (int((np.sign(tests["difference"]) == sign).sum()) for sign in (1.0, 0.0, -1.0))
    return (*pair, *by_test, *by_mean)


def paired(ours: Array, theirs: Array) -> tuple[tuple[float, float], float, PairedTest]:
    """The means, their difference, zero if the scores are the same in another order, and the F test."""
    mean, rival_mean = float(ours.mean(dtype=float)), float(theirs.mean(dtype=float))
    largest = max(abs(mean), abs(rival_mean))
    lead = float(without_rounding(np.array([mean - rival_mean]), largest, _EPS)[0])
    return (mean, rival_mean), lead, f_test_5x2cv(ours, theirs)


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

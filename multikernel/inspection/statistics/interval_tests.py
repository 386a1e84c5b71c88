"""Whether two models differ on one data set, and by how much: tests with an interval.

Scores of the samples, s_ri of sample i in repetition r of R of cross-validation (whether it was predicted
right, say), give differences δ_ri between two models, d_i = mean_r δ_ri and d̄ = mean_i d_i:

    t = d̄ / √(V_samples + c V_refits),   V_samples = Σ_i (d_i − d̄)² / (n (n − 1)),
    V_refits = Σ_i Σ_r (δ_ri − d_i)² / ((R − 1) n²),   n − 1 degrees of freedom,   c = 1.25 (n₁/n₂)^0.75

with n₁ training and n₂ test samples of a fold: c is 1.25 for two folds, 3.5 for five and 6.5 for ten.

V_samples is the variance that comes from the n samples at hand; with groups, which are drawn as a whole, the
sums of the groups stand for the samples. V_refits is how much the difference changes where other models
are fitted to other parts of the same samples. It stands for the variance of the training sets, of which the
mean over repetitions shows nothing, since all of them are drawn from the same samples: what makes a sample
easy for one model also makes that model better where it learns from the sample. The more samples training
sets have in common, the less do refits differ from each other, and the less of that variance V_refits shows:
hence n₁/n₂. Both constants of c were chosen by simulation, as were those of a single repetition, where
V_refits is not seen: t = d̄ / √(1.8 min(n₁/n₂, 9)^0.13 V_samples).
`benchmarks.verdicts` simulates the size and the power of this rule and of others.

Scores of the folds alone, d_j on fold j of J, with n₁ training and n₂ test samples:

    t = d̄ / √((1/J + n₂/n₁) s²),   s² = Σ_j (d_j − d̄)² / (J − 1),   J − 1 degrees of freedom.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import t as t_distribution

from ..._typing import Array
from ..._validation import check_number, check_real_matrix
from .paired_tests import (
    EQUAL,
    FOLDS,
    LOSS,
    PAIR,
    REPEATS,
    TIE,
    WIN,
    PairedTest,
    check_level,
    holm,
    paired,
    without_rounding,
)

_EPS = float(np.finfo(float).eps)
EQUIVALENCE = 0.01  # differences of less are none in practice: one point
# Times the variance of refits, and times that of the samples where there is one repetition: for folds of half
# of the samples, and the power of n₁/n₂ for others. All by simulation.
_OF_REFITS, _REFITS_POWER = 1.25, 0.75
_OF_ONE, _ONE_POWER, _MOST_RATIO = 1.8, 0.13, 9.0


@dataclass(frozen=True)
class IntervalTest(PairedTest):
    """What a test of a difference of mean scores found.

    Attributes
    ----------
    statistic : float
        Student's t; NaN where there is nothing to test, infinite where there is no spread.
    pvalue : float
        Two-sided.
    difference : float
        Of the mean scores.
    low, high : float
        The ends of the confidence interval of the difference.
    """

    difference: float
    low: float
    high: float


def repeated_cv_test(
    a: Any, b: Any = None, *, groups: Any = None, test_size: float = 0.5, level: float = 0.05
) -> IntervalTest:
    """Test whether two models differ, by the scores of all samples in repeated cross-validation.

    Use it for scores that are means over samples, such as the accuracy.

    Parameters
    ----------
    a : array-like of shape (n_repetitions, n_samples)
        The score of each sample in each repetition for one model; or the differences of both, without `b`.
    b : array-like of shape (n_repetitions, n_samples), default=None
        The scores of the other model on the same folds.
    groups : array-like of shape (n_samples,), default=None
        Samples that belong together, such as those of one patient; the groups are what is drawn at random.
    test_size : float, default=0.5
        The share of the samples that are in the test part of a fold: 0.1 for ten folds.
    level : float, default=0.05
        1 − `level` is the coverage of the interval.

    Returns
    -------
    IntervalTest

    Notes
    -----
    The variance is that of the samples plus c times that of the refits, with n − 1 degrees of freedom, and
    c = 1.25 r^0.75, where r is the ratio of training to test samples: 1.25 for two folds, 6.5 for ten. Of a
    single repetition it is 1.8 r^0.13 times that of the samples, with r at most 9. Of these designs,
    repetitions of two folds see most.

    Examples
    --------
    >>> right = np.random.default_rng(0).random((5, 200))
    >>> found = repeated_cv_test(right < 0.9, right < 0.8)
    >>> round(found.difference, 3), found.pvalue < 0.01, found.low > 0.04
    (0.116, True, True)
    """
    ratio = 1.0 / _share_of_test(test_size) - 1.0
    differences = _of_samples(a, b)
    n_repetitions, n = differences.shape
    mean = float(without_rounding(np.array([differences.mean()]), 1.0, _EPS)[0])
    units = _group_sums(differences - mean, groups)
    n_units = units.shape[1]
    if n_units < 2:
        raise ValueError(f"groups must be two at least; got {n_units}. Leave groups out, or add samples.")
    variance = n_units / (n_units - 1) * float((units.mean(axis=0) ** 2).sum()) / n**2
    if n_repetitions == 1:
        variance *= _OF_ONE * min(ratio, _MOST_RATIO) ** _ONE_POWER
    else:
        variance += _OF_REFITS * ratio**_REFITS_POWER * float(units.var(axis=0, ddof=1).sum()) / n**2
    return _t_test(mean, variance, n_units - 1, level)


def corrected_t_test(a: Any, b: Any = None, *, test_size: float, level: float = 0.05) -> IntervalTest:
    """Test whether two models differ, by their scores on folds whose training parts share samples.

    Use it where there is one score for each fold and none for samples, such as the area under the ROC curve.

    Parameters
    ----------
    a : array-like of shape (n_folds,) or (n_repetitions, n_folds)
        The scores of one model on all folds; or the differences of both, without `b`.
    b : array-like of the same shape, default=None
        The scores of the other model on the same folds.
    test_size : float
        The share of the samples that are in the test part of a fold: 0.1 for ten folds.
    level : float, default=0.05
        1 − `level` is the coverage of the interval.

    Returns
    -------
    IntervalTest

    References
    ----------
    C. Nadeau and Y. Bengio (2003). Inference for the generalization error. Machine Learning 52, 239–281.

    Examples
    --------
    >>> found = corrected_t_test([0.9, 0.8, 0.85, 0.95], [0.7, 0.75, 0.8, 0.8], test_size=0.25)
    >>> round(found.statistic, 3), round(found.pvalue, 3)
    (1.964, 0.144)
    """
    share = _share_of_test(test_size)
    differences = _of_folds(a, b)
    mean = float(differences.mean())
    variance = (1.0 / differences.size + share / (1.0 - share)) * float(differences.var(ddof=1))
    return _t_test(mean, variance, differences.size - 1, level)


def _t_test(mean: float, variance: float, n_free: int, level: float) -> IntervalTest:
    quantile = float(t_distribution.isf(check_level(level) / 2.0, n_free))
    error = float(np.sqrt(variance))
    if mean == 0.0 and error == 0.0:
        return IntervalTest(float("nan"), 1.0, 0.0, 0.0, 0.0)
    if error <= 4.0 * _EPS * abs(mean):
        return IntervalTest(float(np.copysign(np.inf, mean)), 0.0, mean, mean, mean)
    statistic = mean / error
    pvalue = float(2.0 * t_distribution.sf(abs(statistic), n_free))
    return IntervalTest(statistic, pvalue, mean, mean - quantile * error, mean + quantile * error)


# ------------------------------------------------------------------ several models on one data set
def holm_tests(
    folds: Mapping[str, Array],
    pairs: Sequence[tuple[str, str]],
    level: float,
    samples: Mapping[str, Array] | None = None,
    equivalence: float = EQUIVALENCE,
    *,
    groups: Any = None,
    test_size: float = 1.0 / FOLDS,
) -> pd.DataFrame:
    """Test pairs of models on one data set, with Holm's adjustment over the pairs.

    By `repeated_cv_test` where both have scores of the `samples`, else by `corrected_t_test` of the `folds`.
    A row for each pair, with the columns of `Comparison.tests`.
    """
    rows = []
    for estimator, rival in pairs:
        ours, theirs = folds[estimator], folds[rival]
        lead, f = _lead(ours, theirs)
        sd = float((ours - theirs).std(ddof=1))
        largest = float(max(np.abs(ours).max(), np.abs(theirs).max()))
        apart = without_rounding((ours - theirs).ravel(), largest, _EPS)
        sides = int((apart > 0.0).sum()), int((apart < 0.0).sum())
        if all(name in (samples or {}) for name in (estimator, rival)):
            assert samples is not None
            both = samples[estimator], samples[rival]
            found = repeated_cv_test(*both, groups=groups, test_size=test_size, level=level)
        else:
            found = corrected_t_test(ours, theirs, test_size=test_size, level=level)
        shift = lead - found.difference  # folds of unequal size: the mean of all samples is another
        ends = found.low + shift, found.high + shift
        rows.append((estimator, rival, lead, sd, *ends, f, found.pvalue, *sides))
    columns = [*PAIR, "difference", "difference_sd", "low", "high", "F", "p", "better_folds", "worse_folds"]
    tests = pd.DataFrame(rows, columns=columns)
    tests.insert(columns.index("p") + 1, "p_holm", holm(tests["p"]))
    leads, rejected = tests["difference"], tests["p_holm"] <= level
    same = (tests["low"] > -equivalence) & (tests["high"] < equivalence)
    verdicts = [same, rejected & (leads > 0.0), rejected & (leads < 0.0)]
    return tests.assign(verdict=np.select(verdicts, [EQUAL, WIN, LOSS], TIE))


def _lead(ours: Array, theirs: Array) -> tuple[float, float]:
    """The difference of the means, and the statistic of the F test where there are five times two folds."""
    if ours.shape == (REPEATS, FOLDS):
        _, lead, found = paired(ours, theirs)
        return lead, found.statistic
    means = np.array([ours.mean(), theirs.mean()])
    apart = without_rounding(np.array([means[0] - means[1]]), float(np.abs(means).max()), _EPS)
    return float(apart[0]), float("nan")


# ------------------------------------------------------------------ checks
def _share_of_test(test_size: Any) -> float:
    share = check_number("test_size", test_size, above=0.0)
    if not share < 1.0:
        raise ValueError(f"test_size must be less than 1; got {test_size!r}. Of five folds it is 0.2.")
    return share


def _of_samples(a: Any, b: Any) -> Array:
    scores = [_checked(a, "a", 2)] if b is None else [_checked(a, "a", 2), _checked(b, "b", 2)]
    differences = _minus(scores)
    n_repetitions, n = differences.shape
    if n_repetitions < 1 or n < 2:
        raise ValueError(
            "scores must be of shape (n_repetitions, n_samples) with one repetition and 2 samples at least; "
            f"got {differences.shape}."
        )
    return differences


def _of_folds(a: Any, b: Any) -> Array:
    scores = [_checked(a, "a", 1)] if b is None else [_checked(a, "a", 1), _checked(b, "b", 1)]
    differences = _minus(scores).ravel()
    if differences.size < 2:
        raise ValueError(f"scores must be of two folds at least; got {differences.size}.")
    largest = max(float(np.abs(values).max()) for values in scores)
    return without_rounding(differences, largest, _EPS)


def _minus(scores: list[Array]) -> Array:
    if len(scores) == 2 and scores[0].shape != scores[1].shape:
        raise ValueError(
            f"a and b must be paired, of the same folds; got shapes {scores[0].shape} and {scores[1].shape}."
        )
    return scores[0] - scores[1] if len(scores) == 2 else scores[0]


def _checked(scores: Any, name: str, least: int) -> Array:
    values = check_real_matrix(scores, name).astype(np.float64)
    if values.ndim not in (least, 2):
        raise ValueError(f"{name} must have {least} dimensions; got shape {values.shape}.")
    if not np.isfinite(values).all():
        place = tuple(int(i) for i in np.argwhere(~np.isfinite(values))[0])
        raise ValueError(f"{name} must be finite; the entry at {place} is {values[place]}.")
    return values


def _group_sums(values: Array, groups: Any) -> Array:
    """Sums over the samples of each group, (n_repetitions, n_groups)."""
    if groups is None:
        return values
    numbers = np.unique(np.asarray(groups), return_inverse=True)[1].ravel()
    if numbers.size != values.shape[1]:
        raise ValueError(
            f"groups must have one entry for each sample, {values.shape[1]}; got {numbers.size}."
        )
    return np.stack([np.bincount(numbers, weights=row) for row in values])

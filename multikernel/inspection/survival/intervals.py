"""How sure is a concordance index, and is one model's better? Intervals from the samples that were predicted.

With c_i the derivative of C by the weight of sample i, Σ c_i² is the variance of C (infinitesimal jackknife),
and Σ (a_i − b_i)² that of the difference of two on the same samples. The interval of C is that of its
log-odds, so that it stays between 0 and 1. It tells what other samples would change, and not what another
training set would.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit, logit
from scipy.stats import norm

from ...core.concordance import check_weights, concordance_influence
from ...core.survival_targets import as_survival, check_risk
from ..statistics.interval_tests import IntervalTest
from ..statistics.paired_tests import check_level


@dataclass(frozen=True)
class ConcordanceInterval:
    """Harrell's C with its confidence interval.

    Attributes
    ----------
    index : float
    sd : float
        Standard deviation.
    low, high : float
        Ends of the interval; NaN where C is 0 or 1, which leaves no spread to judge by.
    level : float
        1 − ``level`` is the coverage.
    """

    index: float
    sd: float
    low: float
    high: float
    level: float


def concordance_interval(
    y: Any, risk: Any, *, sample_weight: Any = None, level: float = 0.05
) -> ConcordanceInterval:
    """Harrell's C of risks with a confidence interval.

    Parameters
    ----------
    y : target of a survival model
        The samples that were predicted, best held out.
    risk : array-like of shape (n_samples,)
        Higher is earlier.
    sample_weight : array-like of shape (n_samples,), default=None
    level : float, default=0.05
        1 − `level` is the coverage.

    Returns
    -------
    ConcordanceInterval

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> time = rng.exponential(size=200)
    >>> found = concordance_interval((np.ones(200, bool), time), -time + rng.normal(size=200))
    >>> round(found.index, 2), round(found.low, 2), round(found.high, 2)
    (0.74, 0.7, 0.77)
    """
    target = as_survival(y)
    scores = check_risk(risk, len(target))
    weights = None if sample_weight is None else check_weights(sample_weight, len(target))
    coverage = check_level(level)
    index, influence = concordance_influence(target, scores, weights)
    sd = float(np.sqrt(influence @ influence))
    low = high = float("nan")
    if 0.0 < index < 1.0:
        step = norm.isf(coverage / 2.0) * sd / (index * (1.0 - index))
        low, high = (float(expit(logit(index) + sign * step)) for sign in (-1.0, 1.0))
    return ConcordanceInterval(index, sd, low, high, coverage)


def concordance_test(y: Any, risk: Any, other: Any, *, level: float = 0.05) -> IntervalTest:
    """Test whether two risk scores of the same held-out samples have the same concordance index.

    Of models that were fitted to folds, compare the scores of the folds by :func:`corrected_t_test` instead:
    this test ignores the training sets.

    Parameters
    ----------
    y : target of a survival model
    risk, other : array-like of shape (n_samples,)
        Higher is earlier.
    level : float, default=0.05
        1 − `level` is the coverage of the interval.

    Returns
    -------
    IntervalTest
        ``difference`` is C of `risk` minus C of `other`; ``statistic`` is standard normal.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> time = rng.exponential(size=200)
    >>> found = concordance_test((np.ones(200, bool), time), -time, rng.normal(size=200))
    >>> found.difference > 0.4, found.significant()
    (True, True)
    """
    target = as_survival(y)
    a, of_a = concordance_influence(target, check_risk(risk, len(target)))
    b, of_b = concordance_influence(target, check_risk(other, len(target), "other"))
    coverage = check_level(level)
    sd, difference = float(np.linalg.norm(of_a - of_b)), a - b
    if sd <= 1e-12:
        same = abs(difference) <= 1e-12
        statistic = float("nan") if same else float(np.copysign(np.inf, difference))
        return IntervalTest(statistic, 1.0 if same else 0.0, difference, difference, difference)
    statistic, reach = difference / sd, norm.isf(coverage / 2.0) * sd
    pvalue = 2.0 * float(norm.sf(abs(statistic)))
    return IntervalTest(statistic, pvalue, difference, difference - reach, difference + reach)

"""Whether two learners differ, by scores over the same folds.

    f = Σ_ij p_ij² / (2 Σ_i s_i²),     s_i² = Σ_j (p_ij − p̄_i)²,     i = 1..5 repetitions, j = 1, 2 folds

with p_ij the difference of both scores on fold j of repetition i and p̄_i the mean of repetition i; under the
hypothesis of equal scores f is taken to follow F(10, 5) (Alpaydın 1999, the combined 5×2 cv test).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import f as f_distribution

from .._validation import check_real_matrix

Array = np.ndarray[Any, np.dtype[Any]]

_REPEATS, _FOLDS = 5, 2


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


def f_test_5x2cv(a: Any, b: Any = None) -> PairedTest:
    """Test whether two learners differ, by their scores in five repetitions of two-fold cross-validation.

    Parameters
    ----------
    a : array-like of shape (5, 2)
        The scores of one learner, one row for each repetition; or the differences of both, without `b`.
    b : array-like of shape (5, 2), optional
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
    differences = _as_scores(a, "a") if b is None else _as_scores(a, "a") - _as_scores(b, "b")
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
    n = _REPEATS * _FOLDS
    return PairedTest(statistic, float(f_distribution.sf(statistic, n, _REPEATS)))


def _as_scores(scores: Any, name: str) -> Array:
    values = check_real_matrix(scores, name).astype(np.float64)
    if values.shape != (_REPEATS, _FOLDS):
        raise ValueError(
            f"{name} must hold a score for each fold, shape ({_REPEATS}, {_FOLDS}): five repetitions of "
            f"two-fold cross-validation; got shape {values.shape}."
        )
    if not np.isfinite(values).all():
        i, j = np.argwhere(~np.isfinite(values))[0]
        raise ValueError(
            f"{name} must be finite; repetition {i}, fold {j} is {values[i, j]}. Score that fold again."
        )
    return values

"""Curves of censored times without a model: Kaplan and Meier's estimate, the log-rank test, groups by risk.

With d_u events among n_u samples at risk at time u (those with entry < u ≤ time):

    S(t) = Π_{u ≤ t} (1 − d_u / n_u),     V(t) = Σ_{u ≤ t} d_u / (n_u (n_u − d_u))   (Greenwood),

and the band exp(−exp(log(−log S) ± z √V / log S)) stays between 0 and 1. The log-rank test compares the
events of each group with those expected if all had equal hazards, Σ_u d_u n_gu / n_u: χ² with one degree of
freedom less than there are groups.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import chi2, norm

from ..._typing import Array
from ..._validation import check_number, codes_of_classes, is_missing
from ...core.survival_targets import SurvivalTarget, as_survival, check_risk
from ..statistics.paired_tests import check_level

_TINY = float(np.finfo(float).eps)


@dataclass(frozen=True, eq=False)
class KaplanMeier:
    """The estimated survival function, a step at each time where something was observed.

    Attributes
    ----------
    times : ndarray of shape (n_times,)
        Increasing; of events and of censoring.
    survival : ndarray of shape (n_times,)
        The probability of no event up to and including each time.
    low, high : ndarray of shape (n_times,)
        The confidence band, at each time by itself.
    at_risk, events, censored : ndarray of int of shape (n_times,)
        Samples under observation just before each time, and what happened at it.
    level : float
        1 − ``level`` is the coverage of the band.
    """

    times: Array
    survival: Array
    low: Array
    high: Array
    at_risk: Array
    events: Array
    censored: Array
    level: float

    def at(self, times: Any) -> Array:
        """The survival at any times; NaN after the last observation, unless the estimate is 0 there.

        Parameters
        ----------
        times : array-like

        Returns
        -------
        ndarray of the same shape
        """
        return self._step(self.survival, times)

    def band_at(self, times: Any) -> tuple[Array, Array]:
        """The ends of the band at any times.

        Parameters
        ----------
        times : array-like

        Returns
        -------
        low, high : ndarray of the same shape
        """
        return self._step(self.low, times), self._step(self.high, times)

    def _step(self, values: Array, times: Any) -> Array:
        asked = np.asarray(times, dtype=np.float64)
        found = np.append(1.0, values)[np.searchsorted(self.times, asked, side="right")]
        ended = self.survival[-1] <= 0.0
        return np.where((asked > self.times[-1]) & ~ended, np.nan, found)

    def number_at_risk(self, times: Any) -> Array:
        """How many samples are under observation just before each of some times.

        Parameters
        ----------
        times : array-like

        Returns
        -------
        ndarray of int of the same shape
        """
        return np.append(self.at_risk, 0)[np.searchsorted(self.times, np.asarray(times, float), side="left")]

    @property
    def median(self) -> float:
        """The first time with a survival of one half or less; NaN where it stays above."""
        reached = np.flatnonzero(self.survival <= 0.5 + _TINY)
        return float(self.times[reached[0]]) if reached.size else float("nan")


def kaplan_meier(y: Any, *, level: float = 0.05) -> KaplanMeier:
    """Estimate the survival function of censored times by Kaplan and Meier's product.

    Parameters
    ----------
    y : target of a survival model
        Event and time in any form that ``fit`` takes; with entry times, samples count from their entry on.
    level : float, default=0.05
        1 − `level` is the coverage of the confidence band.

    Returns
    -------
    KaplanMeier

    Examples
    --------
    >>> curve = kaplan_meier(([True, False, True, True], [1.0, 2.0, 3.0, 3.0]))
    >>> curve.times.tolist(), curve.survival.tolist(), curve.median
    ([1.0, 2.0, 3.0], [0.75, 0.75, 0.0], 3.0)
    >>> curve.at_risk.tolist(), curve.at([0.5, 1.0, 9.0]).tolist()
    ([4, 3, 2], [1.0, 0.75, 0.0])
    """
    target = as_survival(y)
    coverage = check_level(level)
    times = np.unique(target.time)
    events, censored = _at(times, target.time[target.event]), _at(times, target.time[~target.event])
    at_risk = number_at_risk(target, times)
    has = events > 0
    share = np.divide(events, at_risk, out=np.zeros(times.size), where=has)
    survival = np.cumprod(1.0 - share)
    rest = has & (at_risk > events)
    variance = np.cumsum(
        np.divide(events, at_risk * (at_risk - events), out=np.zeros(times.size), where=rest)
    )
    low, high = _band(survival, np.sqrt(variance), coverage)
    return KaplanMeier(times, survival, low, high, at_risk, events, censored, coverage)


def number_at_risk(target: SurvivalTarget, times: Array) -> Array:
    """Samples with entry < u ≤ time, for each time u."""
    gone = np.searchsorted(np.sort(target.time), times, side="left")
    if target.entry is None:
        return np.asarray(len(target) - gone)
    return np.asarray(np.searchsorted(np.sort(target.entry), times, side="left") - gone)


def _at(times: Array, observed: Array) -> Array:
    """How many were observed at each of the times."""
    return np.bincount(np.searchsorted(times, observed), minlength=times.size)


def _band(survival: Array, spread: Array, level: float) -> tuple[Array, Array]:
    """The log-log band; without spread (S = 1) and at the end (S = 0) it is the estimate itself."""
    inner = (survival > _TINY) & (survival < 1.0 - _TINY)
    log = np.log(np.where(inner, survival, 0.5))
    step = norm.isf(level / 2.0) * spread / log  # negative
    ends = [np.where(inner, np.exp(np.exp(sign * step) * log), survival) for sign in (-1.0, 1.0)]
    ends = [np.where(survival > _TINY, end, 0.0) for end in ends]
    return ends[0], ends[1]


# ---------------------------------------------------------------------- groups
@dataclass(frozen=True, eq=False)
class LogRankTest:
    """What the log-rank test found.

    Attributes
    ----------
    statistic : float
        χ²; 0 where no group differs from what is expected.
    pvalue : float
    df : int
        Degrees of freedom: the number of groups minus 1.
    table : DataFrame
        A row for each group: samples ``n``, ``events``, and those ``expected`` with equal hazards.
    """

    statistic: float
    pvalue: float
    df: int
    table: pd.DataFrame


def logrank_test(y: Any, groups: Any) -> LogRankTest:
    """Test whether groups of samples have the same survival.

    Groups that were made from the risks of a model on its own training samples differ by construction: use
    risks of held-out samples.

    Parameters
    ----------
    y : target of a survival model
        Event and time in any form that ``fit`` takes.
    groups : array-like of shape (n_samples,)
        The group of each sample, two at least.

    Returns
    -------
    LogRankTest

    Examples
    --------
    >>> y = (np.ones(6, bool), [1.0, 2.0, 3.0, 7.0, 8.0, 9.0])
    >>> found = logrank_test(y, list("aaabbb"))
    >>> round(found.statistic, 2), found.pvalue < 0.05, found.table["expected"].round(2).tolist()
    (5.05, True, [1.15, 4.85])
    """
    target = as_survival(y)
    names, codes = _group_codes(groups, len(target))
    times = np.unique(target.time[target.event])
    parts = [target[codes == code] for code in range(len(names))]
    at_risk = np.stack([number_at_risk(part, times) for part in parts]).astype(np.float64)
    events = np.stack([_at(times, part.time[part.event]) for part in parts])
    n, d = at_risk.sum(axis=0), events.sum(axis=0)
    expected = (at_risk * (d / np.maximum(n, 1.0))).sum(axis=1)
    scale = np.where(n > 1.0, d * (n - d) / np.maximum(n * (n - 1.0), 1.0), 0.0)
    covariance = np.diag((at_risk * scale).sum(axis=1))
    covariance -= (at_risk * (scale / np.maximum(n, 1.0))) @ at_risk.T
    excess = events.sum(axis=1) - expected
    statistic = float(excess @ np.linalg.pinv(covariance, hermitian=True) @ excess)
    table = pd.DataFrame(
        {"n": [len(part) for part in parts], "events": events.sum(axis=1), "expected": expected},
        index=pd.Index(names, name="group"),
    )
    return LogRankTest(statistic, float(chi2.sf(statistic, len(names) - 1)), len(names) - 1, table)


def _group_codes(groups: Any, n: int) -> tuple[list[Any], Array]:
    values = np.asarray(groups)
    if isinstance(getattr(groups, "dtype", None), pd.CategoricalDtype):  # in the order of its categories
        kind = pd.Categorical(groups).remove_unused_categories()
        names, codes = list(kind.categories), np.asarray(kind.codes)
        if (codes < 0).any():
            raise ValueError(f"groups must not be missing; entry {int(np.argmin(codes))} is.")
    else:
        if values.ndim != 1:
            raise ValueError(f"groups must hold one group for each sample; got shape {values.shape}.")
        missing = [row for row, value in enumerate(values.tolist()) if is_missing(value)]
        if missing:
            raise ValueError(f"groups must not be missing; entry {missing[0]} is. Leave such samples out.")
        found, codes = codes_of_classes(values, if_missing="")
        names = found.tolist()
    if codes.size != n:
        raise ValueError(f"groups must hold one group for each of the {n} samples of y; got {codes.size}.")
    if len(names) < 2:
        raise ValueError(f"groups must be two at least; got {names}.")
    return names, codes


def risk_groups(risk: Any, n_groups: int = 2, *, reference: Any = None) -> pd.Categorical:
    """Cut risks into groups of nearly equal size, from low to high.

    Equal risks are in one group, so that groups can be fewer or of other sizes. The cuts are quantiles, and
    not chosen so that the groups differ most: such cuts make every log-rank test too optimistic.

    Parameters
    ----------
    risk : array-like of shape (n_samples,)
    n_groups : int, default=2
        From 2 to 5.
    reference : array-like, default=None
        Risks whose quantiles are the cuts, such as those of the training samples; by default `risk` itself.

    Returns
    -------
    Categorical of shape (n_samples,)
        Of ``"low risk"``, ``"medium risk"``, ``"high risk"``, or by number where there are more.

    Examples
    --------
    >>> list(risk_groups([0.3, 2.0, -1.0, 0.1]))
    ['high risk', 'high risk', 'low risk', 'low risk']
    """
    scores = check_risk(risk, np.size(risk))
    base = scores if reference is None else check_risk(reference, np.size(reference), "reference")
    if not isinstance(n_groups, int | np.integer) or not 2 <= n_groups <= 5:
        raise ValueError(f"n_groups must be a whole number from 2 to 5; got {n_groups!r}.")
    if not base.size:
        raise ValueError("risk must hold one number at least; got none.")
    cuts = np.quantile(base, np.arange(1, n_groups) / n_groups)
    return pd.Categorical.from_codes(
        np.searchsorted(cuts, scores, side="left"), categories=pd.Index(_group_names(n_groups)), ordered=True
    )


def _group_names(n_groups: int) -> Sequence[str]:
    if n_groups <= 3:
        return ["low risk", "high risk"] if n_groups == 2 else ["low risk", "medium risk", "high risk"]
    return [f"risk {number} of {n_groups}" for number in range(1, n_groups + 1)]


def check_time(time: Any) -> float:
    """One time point, above 0."""
    return check_number("time", time, above=0.0)

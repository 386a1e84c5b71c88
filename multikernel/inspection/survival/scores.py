"""Scores of predictions for censored times that do not depend on the censoring: weights by its probability.

G(t) is Kaplan and Meier's estimate, from the training samples, of the probability to be uncensored at t;
where times are equal, events come before censoring. A sample with an event at t_i counts 1 / G(t_i).

    C(τ)   = Σ_ij w_ij [risk_i > risk_j] / Σ_ij w_ij,    w_ij = [event_i, t_i < τ, t_i < t_j] / G(t_i)²
    AUC(t) = P(risk_i > risk_j | t_i ≤ t, event, t_j > t), the events with 1 / G(t_i)
    BS(t)  = 1/n Σ_i  S(t | x_i)² [t_i ≤ t, event_i] / G(t_i)  +  (1 − S(t | x_i))² [t_i > t] / G(t)

Equal risks count one half. The weights hold where censoring does not depend on what is predicted.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ..._typing import Array
from ..._validation import check_number, is_frame
from ...core.concordance import TIED, weighted_concordance
from ...core.survival_targets import SurvivalTarget, as_survival, check_risk
from .curves import kaplan_meier


@dataclass(frozen=True, eq=False)
class AucCurve:
    """The time-dependent area under the ROC curve.

    Attributes
    ----------
    times : ndarray of shape (n_times,)
    auc : ndarray of shape (n_times,)
    mean : float
        Over the times, weighted by the events between them (Kaplan and Meier's estimate of the test samples).
    """

    times: Array
    auc: Array
    mean: float


@dataclass(frozen=True, eq=False)
class BrierCurve:
    """The Brier score at each time, and that of a prediction that is the same for all samples.

    Attributes
    ----------
    times : ndarray of shape (n_times,)
    score : ndarray of shape (n_times,)
        Lower is better.
    reference : ndarray of shape (n_times,)
        The score of Kaplan and Meier's estimate of the training samples, for every sample.
    integrated, integrated_reference : float
        Mean over the time from the first to the last of the times; of one time, the score itself.
    """

    times: Array
    score: Array
    reference: Array
    integrated: float
    integrated_reference: float

    @property
    def explained(self) -> float:
        """1 − integrated / integrated_reference: the share of the reference's score that was saved."""
        return 1.0 - self.integrated / self.integrated_reference


def judged_times(y: Any) -> Array:
    """The times at which predictions are judged where none are given: deciles of those of the events.

    They lie before the last censoring, so that some samples are still observed.
    """
    target = as_survival(y)
    if not target.event.any():
        return np.zeros(0)
    times = np.unique(np.quantile(target.time[target.event], np.linspace(0.1, 0.9, 9)))
    last = target.time[~target.event].max(initial=0.0) or target.time.max()
    return np.asarray(times[(times > 0.0) & (times < last)])


class Censoring:
    """G of the training samples: the probability to be still uncensored, right after each time."""

    def __init__(self, y: Any) -> None:
        target = as_survival(y)
        if target.entry is not None:
            raise ValueError(
                "weights by the probability of censoring need targets without entry times. Use the "
                "concordance index of Harrell, score of the model, which reads them."
            )
        self.target = target
        self.last = float(target.time.max())
        self.times = np.unique(target.time)
        places = np.searchsorted(self.times, target.time)
        events, censored = (
            np.bincount(places[kind], minlength=self.times.size) for kind in (target.event, ~target.event)
        )
        at_risk = len(target) - np.append(0, np.cumsum(events + censored)[:-1]) - events
        share = np.divide(censored, at_risk, out=np.zeros(self.times.size), where=censored > 0)
        self.survival = np.cumprod(1.0 - share)

    def at(self, times: Array, remedy: str) -> Array:
        """G at some times, all positive; an error says which are too late, and what to do."""
        late = times > self.last
        found = np.append(1.0, self.survival)[np.searchsorted(self.times, times, side="right")]
        if late.any() or (found <= 0.0).any():
            first = float(times[late | (found <= 0.0)].min())
            raise ValueError(
                "the training samples do not say how likely it is to be observed for so long: time "
                f"{first:g} is not before their last censoring at {self.last:g}. {remedy}"
            )
        return found


def concordance_index_ipcw(
    y_train: Any, y: Any, risk: Any, *, tau: float | None = None, tied_tol: float = TIED
) -> float:
    """Uno's C: the concordance index that does not depend on how long samples were observed.

    Parameters
    ----------
    y_train : target of a survival model
        Training samples, from which the probability of censoring is estimated.
    y : target of a survival model
        The samples that were predicted, best held out.
    risk : array-like of shape (n_samples,)
        Higher is earlier, as ``predict`` of a survival model returns it.
    tau : float, default=None
        Only events before this time count; needed where events are later than what the training samples say
        of censoring. Choose it so that enough samples are still observed.
    tied_tol : float, default=1e-8
        Risks that differ by no more are equal.

    Returns
    -------
    float

    References
    ----------
    H. Uno, T. Cai, M. J. Pencina, R. B. D'Agostino, L. J. Wei (2011). On the C-statistics for evaluating
    overall adequacy of risk prediction procedures with censored survival data. Statistics in Medicine 30.

    Examples
    --------
    >>> y = (np.array([1, 0, 1, 0, 1, 0], bool), np.arange(1.0, 7.0))
    >>> round(concordance_index_ipcw(y, y, [3, 2, 2, 1, 2, 0]), 3)
    0.941
    """
    target = _without_entry(as_survival(y))
    scores = check_risk(risk, len(target))
    counts = target.event.copy()
    if tau is not None:
        counts &= target.time < check_number("tau", tau, above=0.0)
    weights = np.zeros(len(target))
    remedy = "Pass tau, a time before that: only events before tau count."
    weights[counts] = Censoring(y_train).at(target.time[counts], remedy) ** -2.0
    return weighted_concordance(target, scores, weights, tied_tol=tied_tol).index


def cumulative_dynamic_auc(
    y_train: Any, y: Any, risk: Any, times: Any, *, tied_tol: float = TIED
) -> AucCurve:
    """Area under the ROC curve at each of some times: who has had the event by then, against who has not.

    Parameters
    ----------
    y_train : target of a survival model
        Training samples, from which the probability of censoring is estimated.
    y : target of a survival model
        The samples that were predicted, best held out.
    risk : array-like of shape (n_samples,) or (n_samples, n_times)
        Higher is earlier; of models whose order changes with time, a column for each time.
    times : array-like of shape (n_times,)
        Increasing. Before each of them there is an event, and after it a sample is still observed.
    tied_tol : float, default=1e-8
        Risks that differ by no more are equal.

    Returns
    -------
    AucCurve

    References
    ----------
    H. Uno, T. Cai, L. Tian, L. J. Wei (2007). Evaluating prediction rules for t-year survivors with censored
    regression models. Journal of the American Statistical Association 102.

    Examples
    --------
    >>> y = (np.array([1, 0, 1, 0, 1, 0], bool), np.arange(1.0, 7.0))
    >>> curve = cumulative_dynamic_auc(y, y, [3, 2, 2, 1, 2, 0], [2.0, 3.5])
    >>> curve.auc.round(3), round(curve.mean, 3)
    (array([1.   , 0.907]), 0.949)
    """
    target = _without_entry(as_survival(y))
    at = check_times(times)
    scores = np.asarray(risk, dtype=np.float64)
    if scores.ndim == 2 and scores.shape[1] != at.size:
        raise ValueError(
            f"risk must have one column for each of the {at.size} times; got shape {scores.shape}."
        )
    columns = scores.T if scores.ndim == 2 else [scores] * at.size
    weights = np.zeros(len(target))
    counts = target.event & (target.time <= at[-1])
    remedy = "Choose times before that."
    weights[counts] = Censoring(y_train).at(target.time[counts], remedy) ** -1.0
    auc = np.array(
        [
            _auc(target, check_risk(column, len(target)), weights, time, tied_tol)
            for column, time in zip(columns, at, strict=True)
        ]
    )
    return AucCurve(at, auc, _mean_auc(target, at, auc))


def _auc(target: SurvivalTarget, risk: Array, weights: Array, time: float, tied_tol: float) -> float:
    cases, controls = target.event & (target.time <= time), target.time > time
    if not (cases.any() and controls.any()):
        what = "no event until then" if not cases.any() else "no sample that is observed for longer"
        raise ValueError(f"AUC at time {time:g} is not defined: y has {what}. Choose other times.")
    base = np.sort(risk[controls])
    below = np.searchsorted(base, risk[cases] - tied_tol, side="left")
    up_to = np.searchsorted(base, risk[cases] + tied_tol, side="right")
    share = weights[cases] / weights[cases].sum()
    return float(share @ (below + up_to)) / (2.0 * base.size)


def _mean_auc(target: SurvivalTarget, times: Array, auc: Array) -> float:
    if times.size == 1:
        return float(auc[0])
    survival = kaplan_meier(target).at(times)
    steps = -np.diff(np.append(1.0, survival))
    return float(auc @ steps / steps.sum())


def brier_curve(y_train: Any, y: Any, survival: Any, times: Any) -> BrierCurve:
    """Brier score of predicted survival at each of some times: the mean squared error of the probabilities.

    It judges order and calibration together. A prediction of one half for all samples has 0.25; the
    estimate of Kaplan and Meier, the same for all samples, is what a model has to beat.

    Parameters
    ----------
    y_train : target of a survival model
        Training samples, from which the probability of censoring is estimated.
    y : target of a survival model
        The samples that were predicted, best held out.
    survival : array-like of shape (n_samples, n_times)
        Predicted probabilities of no event up to each of the times, such as
        ``model.predict_survival_function(X, times)``.
    times : array-like of shape (n_times,)
        Increasing, before the last censoring of the training samples.

    Returns
    -------
    BrierCurve

    References
    ----------
    E. Graf, C. Schmoor, W. Sauerbrei, M. Schumacher (1999). Assessment and comparison of prognostic
    classification schemes for survival data. Statistics in Medicine 18.

    Examples
    --------
    >>> y = (np.array([1, 0, 1, 0, 1, 0], bool), np.arange(1.0, 7.0))
    >>> curve = brier_curve(y, y, np.full((6, 2), 0.5), [2.0, 4.0])
    >>> curve.score, round(curve.integrated, 3)
    (array([0.25, 0.25]), 0.25)
    """
    target = _without_entry(as_survival(y))
    at = check_times(times)
    curves = check_curves(survival, len(target), at.size)
    censoring = Censoring(y_train)
    remedy = "Choose times before that."
    done = target.event & (target.time <= at[-1])
    of_events = np.zeros(len(target))
    of_events[done] = 1.0 / censoring.at(target.time[done], remedy)
    of_rest = 1.0 / censoring.at(at, remedy)
    cases = (target.time[:, None] <= at) * of_events[:, None]
    rest = (target.time[:, None] > at) * of_rest
    plain = kaplan_meier(censoring.target).at(at)
    score, reference = (
        (cases * S**2 + rest * (1.0 - S) ** 2).mean(axis=0)
        for S in (curves, np.broadcast_to(plain, curves.shape))
    )
    return BrierCurve(at, score, reference, _mean_over(at, score), _mean_over(at, reference))


def integrated_brier_score(y_train: Any, y: Any, survival: Any, times: Any) -> float:
    """Mean of the Brier score over the time from the first to the last of some times; lower is better.

    Parameters
    ----------
    y_train, y : targets of a survival model
    survival : array-like of shape (n_samples, n_times)
        Predicted probabilities of no event up to each of the times.
    times : array-like of shape (n_times,)
        As for :func:`brier_curve`, which also gives the score at each time.

    Returns
    -------
    float

    Examples
    --------
    >>> y = (np.array([1, 0, 1, 0, 1, 0], bool), np.arange(1.0, 7.0))
    >>> integrated_brier_score(y, y, np.full((6, 3), 0.5), [1.0, 2.0, 4.0])
    0.25
    """
    return brier_curve(y_train, y, survival, times).integrated


def _mean_over(times: Array, values: Array) -> float:
    if times.size == 1:
        return float(values[0])
    return float(np.trapezoid(values, times) / (times[-1] - times[0]))


# ---------------------------------------------------------------------- input
def _without_entry(target: SurvivalTarget) -> SurvivalTarget:
    if target.entry is not None:
        raise ValueError(
            "scores by inverse probability weights need targets without entry times; y has them. Use "
            "concordance_index, which reads them."
        )
    return target


def check_times(times: Any) -> Array:
    """Increasing, finite, nonnegative times."""
    at = np.atleast_1d(np.asarray(times, dtype=np.float64))
    if at.ndim != 1 or not at.size or not np.isfinite(at).all() or at[0] < 0.0 or (np.diff(at) <= 0.0).any():
        raise ValueError(f"times must be increasing finite numbers of at least 0; got {times!r}.")
    return at


def check_curves(survival: Any, n: int, n_times: int) -> Array:
    """Probabilities of survival (n, n_times)."""
    values = survival.to_numpy(np.float64) if is_frame(survival) else np.asarray(survival, dtype=np.float64)
    if isinstance(survival, pd.Series) or (values.ndim == 1 and n_times == 1):
        values = values.reshape(-1, 1)
    if values.shape != (n, n_times):
        raise ValueError(
            f"survival must hold a row for each of the {n} samples of y and a column for each of the "
            f"{n_times} times; got shape {values.shape}."
        )
    wrong = ~((values >= -1e-9) & (values <= 1.0 + 1e-9))  # also NaN
    if wrong.any():
        row, column = (int(place[0]) for place in np.nonzero(wrong))
        raise ValueError(
            f"survival must hold probabilities from 0 to 1; row {row}, column {column} is "
            f"{values[row, column]:g}. Risk scores are no probabilities: use predict_survival_function."
        )
    return np.clip(values, 0.0, 1.0)

"""What a survival model is compared with: models of single views, of their sum, Cox's with an elastic net."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from ..._typing import Array
from ..._validation import check_choice
from ...core.concordance import concordance_index
from ...core.folds import make_folds
from ...core.survival_targets import SurvivalTarget, as_survival
from ...kernels import Linear
from ...survival import MKLSurvival
from .columns import ELASTIC_NET, AllColumns, Columns
from .fusion import LateFusion

SUM, BEST, RANKS, STACKING = "sum", "best", "mean", "stacking"
_WAYS = (SUM, BEST, RANKS, STACKING)
_MIXTURES = (0.1, 0.5, 0.9)  # of the elastic net
_STRENGTHS, _LEAST = 30, 0.02  # along its path, from the largest down to this share of it
_INNER = 3


class SurvivalOfViews(LateFusion):
    """Survival models of single views, chosen from, averaged or stacked; or one of the sum of all kernels.

    Parameters, models and folds are those of :class:`LateFusion`, but for ``combine``:

    - "sum": one model on the sum of all kernels;
    - "best": the view with the best concordance index on inner folds, alone;
    - "mean": the mean over the views of each risk as its rank among the risks of the training samples;
    - "stacking": Cox's model on out-of-fold risks of the views, standardized.

    Examples
    --------
    >>> from multikernel.datasets import make_survival_views
    >>> data = make_survival_views(80, n_views=2, n_informative=1, n_columns=3, random_state=0)
    >>> kernels = [(name, Linear(), columns) for name, columns in data.view_columns.items()]
    >>> model = SurvivalOfViews(kernels, combine="best").fit(data.X, data.y)
    >>> data.informative, model.kernel_weights_.tolist()
    (['view 1'], [1.0, 0.0])
    """

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.estimator_type = "survival"
        return tags

    def fit(self, X: Any, y: Any) -> SurvivalOfViews:
        """Fit the models of the views, or of their sum.

        Parameters
        ----------
        X : as for :class:`multikernel.survival.MKLSurvival`
        y : target of a survival model
        """
        check_choice("combine", self.combine, _WAYS)
        target = as_survival(y)
        machine = MKLSurvival("precomputed") if self.machine is None else self.machine
        Ks = self._read_kernels(X)
        self.kernel_weights_ = np.ones(len(Ks))
        if self.combine == SUM:
            self.models_ = [clone(machine).fit(np.sum(Ks, axis=0), target.to_structured())]
            return self
        if self.combine == BEST:
            scores = [self._inner_score(machine, K, target) for K in Ks]
            self.kernel_weights_ = (np.arange(len(Ks)) == int(np.argmax(scores))).astype(float)
        kept = self.kernel_weights_ > 0.0
        y = target.to_structured()
        self.models_ = [clone(machine).fit(K, y) if used else None for K, used in zip(Ks, kept, strict=True)]
        if self.combine == RANKS:
            self._risks = [np.sort(model.predict(K)) for model, K in zip(self.models_, Ks, strict=True)]
        if self.combine == STACKING:
            risks = np.column_stack([self._out_of_fold(machine, K, target) for K in Ks])
            self.final_ = make_pipeline(StandardScaler(), MKLSurvival([Linear()])).fit(risks, y)
        return self

    def _read_kernels(self, X: Any) -> list[Array]:
        way, self.combine = self.combine, "mean"  # what the base knows
        try:
            return self._fit_kernels(X)
        finally:
            self.combine = way

    def _inner_score(self, machine: Any, K: Array, target: SurvivalTarget) -> float:
        scores = []
        for train, test in make_folds(target, self.cv, classifier=False):
            risk = _refitted(machine, K, target, train, test)
            scores.append(concordance_index(target[test], risk))
        return float(np.mean(scores))

    def _out_of_fold(self, machine: Any, K: Array, target: SurvivalTarget) -> Array:
        risks = np.empty(len(target))
        for train, test in make_folds(target, self.cv, classifier=False):
            risks[test] = _refitted(machine, K, target, train, test)
        return risks

    def predict(self, X: Any) -> Array:
        """Risks: a higher one is an earlier event.

        Parameters
        ----------
        X : as for ``fit``, or (n_samples, n_train, n_kernels) when precomputed

        Returns
        -------
        array of shape (n_samples,)
        """
        check_is_fitted(self, "models_")
        Ks = [K / self.scales_[index] for index, K in self._bank.iter_kernels(X)]
        if self.combine == SUM:
            return np.asarray(self.models_[0].predict(np.sum(Ks, axis=0)))
        risks = [m.predict(K) for m, K in zip(self.models_, Ks, strict=True) if m is not None]
        if self.combine == BEST:
            return np.asarray(risks[0])
        if self.combine == STACKING:
            return np.asarray(self.final_.predict(np.column_stack(risks)))
        return np.mean([_ranks(own, risk) for own, risk in zip(self._risks, risks, strict=True)], axis=0)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Harrell's C of the risks.

        Parameters
        ----------
        X, y : as for ``fit``
        sample_weight : array-like of shape (n,), default=None

        Returns
        -------
        float
        """
        return concordance_index(y, self.predict(X), sample_weight=sample_weight)


def _refitted(machine: Any, K: Array, target: SurvivalTarget, train: Array, test: Array) -> Array:
    model = clone(machine).fit(K[np.ix_(train, train)], target[train].to_structured())
    return np.asarray(model.predict(K[np.ix_(test, train)]))


def _ranks(known: Array, risk: Array) -> Array:
    """The share of known risks (sorted) that are lower; of equal ones the half."""
    below, up_to = (np.searchsorted(known, risk, side=side) for side in ("left", "right"))
    return np.asarray(0.5 * (below + up_to) / known.size)


# ------------------------------------------------------------------ Cox's model with an elastic net
def why_no_survival(name: str, y: Any) -> str | None:
    """Why a rival on columns is not there for censored times, if so."""
    if name != ELASTIC_NET:
        return "it predicts labels or values."
    if find_spec("sksurv") is None:
        return "it needs scikit-survival: pip install scikit-survival."
    return "it does not support entry times." if as_survival(y).entry is not None else None


class CoxElasticNet(BaseEstimator):
    """scikit-survival's ``CoxnetSurvivalAnalysis`` with strength and mixture by the C-index on inner folds.

    Attributes
    ----------
    l1_ratio_, alpha_ : float
    """

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.estimator_type = "survival"
        return tags

    def fit(self, X: Any, y: Any) -> CoxElasticNet:
        """Choose strength and mixture, and fit.

        Parameters
        ----------
        X : array-like of shape (n, d)
        y : target of a survival model
        """
        target, table = as_survival(y), np.asarray(X, dtype=np.float64)
        if target.entry is not None:
            raise ValueError("CoxElasticNet does not support entry times; leave them out of y.")
        folds = make_folds(target, _INNER, classifier=False)
        best = -np.inf
        for mixture in _MIXTURES:
            path = _net(mixture).fit(table, _two_fields(target)).alphas_
            scores = np.mean([_along(mixture, path, table, target, split) for split in folds], axis=0)
            at = int(np.argmax(scores))
            if scores[at] > best + 1e-12:
                best, self.l1_ratio_, self.alpha_ = scores[at], mixture, float(path[at])
        self._model = _net(self.l1_ratio_, [self.alpha_]).fit(table, _two_fields(target))
        return self

    def predict(self, X: Any) -> Array:
        """Risks: a higher one is an earlier event.

        Parameters
        ----------
        X : array-like of shape (n, d)

        Returns
        -------
        array of shape (n,)
        """
        check_is_fitted(self, "alpha_")
        return np.asarray(self._model.predict(np.asarray(X, dtype=np.float64)))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Harrell's C of the risks.

        Parameters
        ----------
        X, y : as for ``fit``
        sample_weight : array-like of shape (n,), default=None

        Returns
        -------
        float
        """
        return concordance_index(y, self.predict(X), sample_weight=sample_weight)


def _net(mixture: float, alphas: Any = None) -> Any:
    from sksurv.linear_model import CoxnetSurvivalAnalysis

    return CoxnetSurvivalAnalysis(
        l1_ratio=mixture, alphas=alphas, n_alphas=_STRENGTHS, alpha_min_ratio=_LEAST, normalize=False
    )


def _two_fields(target: SurvivalTarget) -> Array:
    return target.to_structured()[["event", "time"]].copy()


def _along(mixture: float, path: Any, table: Array, target: SurvivalTarget, split: Any) -> list[float]:
    """The C-index on a validation part at each strength."""
    train, test = split
    model = _net(mixture, path).fit(table[train], _two_fields(target[train]))
    return [concordance_index(target[test], model.predict(table[test], alpha=alpha)) for alpha in path]


def cox_elastic_net(columns: Columns | None) -> tuple[Any, str]:
    """The rival on all columns, and what it is."""
    model = make_pipeline(AllColumns(columns), StandardScaler(), CoxElasticNet())
    return model, (
        "Cox's model with an elastic net penalty on all columns (scikit-survival), standardized; strength "
        "and l1_ratio by the C-index of inner folds within the training part."
    )

"""Late fusion: one model for each view, whose predictions are averaged or stacked.

Learned kernel weights combine the views before there is a model; late fusion combines what models of single
views say. Both classes read kernels as the other estimators do, also precomputed ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from ..._typing import Array
from ..._validation import check_choice
from ...core.folds import Split, make_folds
from ...core.stack.sums import kernel_scales
from ...rules.machines import machine_for
from ...views import make_bank
from ...views.precomputed import is_precomputed

COMBINATIONS = ("mean", "stacking")
_RIDGES = (1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0, 1000.0)


@dataclass(eq=False, repr=False)
class LateFusion(BaseEstimator):
    """What late fusion of classifiers and of regressors has in common.

    Parameters
    ----------
    kernels : "auto", "precomputed", kernel, View, list, or KernelBank, default="auto"
        As for :class:`multikernel.MKLClassifier`. Each kernel is a view here.
    machine : classifier or regressor on a precomputed kernel, optional
        Copies of it are fitted to each kernel alone. Default ``SVC(kernel="precomputed")``, or
        ``KernelRidge(kernel="precomputed")``.
    combine : {"mean", "stacking"}, default="mean"
        How the models of the views are combined:

        - "mean": the mean of their probabilities, each calibrated by a sigmoid on out-of-fold scores; for
          regression, the mean of their predictions;
        - "stacking": logistic regression, or ridge regression, on their standardized out-of-fold scores.
    normalize : bool, default=False
        Whether each kernel is divided by the mean of its diagonal on the training samples.
    cv : int, default=5
        Inner folds, the same in every call: stratified for classification, and no more than the smallest
        class has samples; shuffled for regression.

    Attributes
    ----------
    models_ : list of estimators, one for each view
    view_names_ : list of str
    final_ : the fitted pipeline on the scores of all views; None for the mean
    """

    kernels: Any = "auto"
    machine: Any = None
    combine: str = "mean"
    _: KW_ONLY
    normalize: bool = False
    cv: int = 5

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = tags.input_tags.three_d_array = is_precomputed(self.kernels)
        tags.input_tags.sparse = True
        return tags

    def _fit_kernels(self, X: Any) -> list[Array]:
        """The kernel of each view on the training samples, at the scale that its model sees."""
        check_choice("combine", self.combine, COMBINATIONS)
        self.final_: Any = None
        self._bank = make_bank(self.kernels)
        Ks = np.asarray(self._bank.fit_stack(X))
        self.view_names_ = list(self._bank.view_names_)
        self.scales_ = kernel_scales(Ks, self.view_names_) if self.normalize else np.ones(len(Ks))
        return [K / scale for K, scale in zip(Ks, self.scales_, strict=True)]

    def _ask(self, X: Any, question: Callable[[Any, Array], Array]) -> Iterator[Array]:
        """The answer of the model of each view, one kernel after the other."""
        check_is_fitted(self, "models_")
        for index, K in self._bank.iter_kernels(X):
            yield np.asarray(question(self.models_[index], K / self.scales_[index]))


class LateFusionClassifier(ClassifierMixin, LateFusion):
    """One classifier for each view, and the mean of their probabilities or a model on their scores.

    Parameters, models and folds are those of :class:`LateFusion`.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LateFusionClassifier().fit(X[::2], y[::2])
    >>> model.predict_proba(X[1::2]).shape, model.score(X[1::2], y[1::2]) > 0.9
    ((75, 3), True)
    """

    def fit(self, X: Any, y: Any) -> LateFusionClassifier:
        """Fit a classifier to each view, and calibrate or stack them on inner folds.

        Parameters
        ----------
        X : as for :class:`multikernel.MKLClassifier`
        y : array-like of shape (n,)
        """
        y = np.asarray(y)
        machine = machine_for("classification", self.machine)
        Ks = self._fit_kernels(X)
        folds = make_folds(y, self.cv, classifier=True)
        self.classes_ = np.unique(y)
        if self.combine == "mean":
            calibrated = CalibratedClassifierCV(machine, method="sigmoid", cv=folds, ensemble=False)
            self.models_ = [clone(calibrated).fit(K, y) for K in Ks]
            return self
        self._method = "decision_function" if hasattr(machine, "decision_function") else "predict_proba"
        scores = _held_out(machine, Ks, y, folds, self._method)
        self.final_ = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)).fit(scores, y)
        self.models_ = [clone(machine).fit(K, y) for K in Ks]
        return self

    def predict_proba(self, X: Any) -> Array:
        """Probabilities of the classes.

        Parameters
        ----------
        X : as for ``fit``, or (n_samples, n_train, n_kernels) when precomputed

        Returns
        -------
        array of shape (n_samples, n_classes)
        """
        if self.combine == "mean":
            return np.mean(list(self._ask(X, lambda model, K: model.predict_proba(K))), axis=0)
        scores = self._ask(X, lambda model, K: getattr(model, self._method)(K))
        return np.asarray(self.final_.predict_proba(_as_columns(list(scores))))

    def predict(self, X: Any) -> Array:
        """The most probable class of each sample.

        Parameters
        ----------
        X : as for ``predict_proba``

        Returns
        -------
        array of shape (n_samples,)
        """
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])


class LateFusionRegressor(RegressorMixin, LateFusion):
    """One regressor for each view, and the mean of their predictions or a model on them.

    Parameters, models and folds are those of :class:`LateFusion`. The regressors are fitted to y less its
    mean: kernel ridge regression has no intercept of its own.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = LateFusionRegressor(combine="stacking").fit(X[::4], y[::4])
    >>> model.predict(X[:2]).shape, model.score(X[1::4], y[1::4]) > 0.3
    ((2,), True)
    """

    def fit(self, X: Any, y: Any) -> LateFusionRegressor:
        """Fit a regressor to each view, and stack them on inner folds if asked to.

        Parameters
        ----------
        X : as for :class:`multikernel.MKLRegressor`
        y : array-like of shape (n,)
        """
        values = np.asarray(y, dtype=np.float64)
        if values.ndim != 1:
            raise ValueError(f"y must hold one value for each sample, shape (n,); got shape {values.shape}.")
        self.mean_ = float(values.mean())
        machine = machine_for("regression", self.machine)
        Ks = self._fit_kernels(X)
        rest = values - self.mean_
        if self.combine == "stacking":
            folds = make_folds(values, self.cv, classifier=False)
            scores = _held_out(machine, Ks, rest, folds, "predict")
            self.final_ = make_pipeline(StandardScaler(), RidgeCV(_RIDGES)).fit(scores, rest)
        self.models_ = [clone(machine).fit(K, rest) for K in Ks]
        return self

    def predict(self, X: Any) -> Array:
        """Predicted values.

        Parameters
        ----------
        X : as for ``fit``, or (n_samples, n_train, n_kernels) when precomputed

        Returns
        -------
        array of shape (n_samples,)
        """
        each = list(self._ask(X, lambda model, K: model.predict(K)))
        combined = np.mean(each, axis=0) if self.final_ is None else self.final_.predict(_as_columns(each))
        return np.asarray(self.mean_ + combined)


def _held_out(machine: Any, Ks: list[Array], y: Array, folds: list[Split], method: str) -> Array:
    """Out-of-fold scores of all views beside each other, (n, n_views) or (n, n_views · n_classes)."""
    return _as_columns([cross_val_predict(machine, K, y, cv=folds, method=method) for K in Ks])


def _as_columns(scores: list[Array]) -> Array:
    return np.column_stack([np.asarray(each).reshape(len(each), -1) for each in scores])

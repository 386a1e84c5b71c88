"""Contestants on several views of the same samples: kernels combined, or models of single views combined.

All rivals that use kernels use the same ones as ours: those of the set, as `KernelBank` computes them. A view
of several kernels is their mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegressionCV
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from benchmarks.tables.contestants import C_GRID, GAMMA_GRID, N_TREES, Contestant, Task
from benchmarks.tables.sets import Array, DataSet
from multikernel import KernelBank, MKLClassifierCV

VIEW_CS = [10.0**k for k in range(-2, 6)]  # of single views: those of MKLClassifierCV
MAX_ITER = 1_000_000  # steps of an SVM of a view: kernels of low rank take far more at the largest C


# ---------------------------------------------------------------------- all columns beside each other
class Columns:
    """The columns of all views beside each other.

    They are standardized, or, where the set says that columns keep their scales, each view is divided by a
    number, so that all views have the same variance.

    A set of precomputed kernels has no columns: those of a sample are its kernels with the training samples.
    """

    def __init__(self, data: DataSet):
        self.data = data

    def fit(self, X: Any) -> Array:
        """The table of the training samples."""
        if self.data.is_precomputed:
            self._bank = KernelBank(self.data.views).fit(X)
        else:
            self._scales = {view: np.sqrt(table.var(axis=0).sum()) for view, table in X.items()}
        table = self._table(X)
        self._scaler = StandardScaler() if self.data.standardize else None
        return table if self._scaler is None else np.asarray(self._scaler.fit_transform(table))

    def transform(self, X: Any) -> Array:
        """The table of other samples."""
        table = self._table(X)
        return table if self._scaler is None else np.asarray(self._scaler.transform(table))

    def _table(self, X: Any) -> Array:
        if self.data.is_precomputed:
            return _side_by_side(np.asarray(self._bank.transform(X)))
        return np.concatenate([table / self._scales[view] for view, table in X.items()], axis=1)


def _side_by_side(stack: Array) -> Array:
    """A stack of kernels (n, n_train, n_kernels) as a table."""
    return stack.reshape(len(stack), -1)


class _OnColumns(ClassifierMixin, BaseEstimator):
    def __init__(self, task: Task):
        self.task = task

    def fit(self, X: Any, y: Array) -> Self:
        """Learn."""
        self._columns = Columns(self.task.data)
        self._fit(self._columns.fit(X), y)
        self.classes_ = np.unique(y)
        return self


class ForestOnColumns(_OnColumns):
    """A random forest on all columns."""

    def _fit(self, table: Array, y: Array) -> None:
        self._model = RandomForestClassifier(N_TREES, random_state=self.task.seed).fit(table, y)

    def predict(self, X: Any) -> Array:
        """Classes."""
        return np.asarray(self._model.predict(self._columns.transform(X)))

    def predict_proba(self, X: Any) -> Array:
        """Probabilities."""
        return np.asarray(self._model.predict_proba(self._columns.transform(X)))


class SVCOnColumns(_OnColumns):
    """The tuned SVC on all columns: the grid of the one on tables, its distances computed once.

    gamma is in units of 1 / (columns × their variance), which is 1 / columns where they are standardized.
    """

    def _fit(self, table: Array, y: Array) -> None:
        self._train = table
        distances = euclidean_distances(table, squared=True)
        unit = 1.0 / (table.shape[1] * table.var())
        searches = []
        for width in GAMMA_GRID:
            search = GridSearchCV(
                SVC(kernel="precomputed", max_iter=MAX_ITER), {"C": C_GRID}, cv=self.task.folds(), refit=False
            )
            searches.append((search.fit(np.exp(-width * unit * distances), y).best_score_, search, width))
        _, best, width = max(searches, key=lambda found: found[0])
        self._gamma = width * unit
        self.best_params_ = {"C": best.best_params_["C"], "gamma": width}
        K = np.exp(-self._gamma * distances)
        machine = SVC(kernel="precomputed", max_iter=MAX_ITER, C=self.best_params_["C"])
        self._machine = calibrated(machine, self.task).fit(K, y)
        self._decisive = machine.fit(K, y)

    def _kernel(self, X: Any) -> Array:
        distances = euclidean_distances(self._columns.transform(X), self._train, squared=True)
        return np.exp(-self._gamma * distances)

    def predict(self, X: Any) -> Array:
        """Classes, by the machine itself."""
        return np.asarray(self._decisive.predict(self._kernel(X)))

    def predict_proba(self, X: Any) -> Array:
        """Probabilities."""
        return np.asarray(self._machine.predict_proba(self._kernel(X)))


# ---------------------------------------------------------------------- models of single views
def calibrated(machine: SVC, task: Task, method: str = "sigmoid") -> CalibratedClassifierCV:
    """The machine with probabilities: a sigmoid or a softmax ("temperature") of its out-of-fold scores."""
    return CalibratedClassifierCV(machine, method=method, cv=task.folds(), ensemble=False)


class _ByView(ClassifierMixin, BaseEstimator):
    """An SVM for each view, its C chosen on inner folds."""

    def __init__(self, task: Task):
        self.task = task

    def fit(self, X: Any, y: Array) -> Self:
        """Learn."""
        self._bank = KernelBank(self.task.data.views)
        kernels = self._by_view(self._bank.fit_transform(X))
        self.classes_ = np.unique(y)
        searches = []
        for K in kernels:
            search = GridSearchCV(
                SVC(kernel="precomputed", max_iter=MAX_ITER),
                {"C": VIEW_CS},
                cv=self.task.folds(),
                refit=False,
            )
            searches.append(search.fit(K, y))
        self._learn(kernels, y, searches)
        return self

    def _by_view(self, stack: Array) -> list[Array]:
        """The kernel of each view: the mean of its kernels."""
        return [stack[:, :, places].mean(axis=2) for places in self.task.data.groups.values()]

    def _kernels(self, X: Any) -> list[Array]:
        return self._by_view(np.asarray(self._bank.transform(X)))

    def _machines(
        self, searches: Sequence[GridSearchCV], method: str = "sigmoid"
    ) -> list[CalibratedClassifierCV]:
        return [
            calibrated(
                SVC(kernel="precomputed", max_iter=MAX_ITER, C=search.best_params_["C"]), self.task, method
            )
            for search in searches
        ]

    def predict(self, X: Any) -> Array:
        """The most probable class."""
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])


class LateFusion(_ByView):
    """The mean of the views' probabilities."""

    def __init__(self, task: Task, method: str = "sigmoid"):
        super().__init__(task)
        self.method = method

    def _learn(self, kernels: list[Array], y: Array, searches: list[GridSearchCV]) -> None:
        machines = self._machines(searches, self.method)
        self._fitted = [machine.fit(K, y) for machine, K in zip(machines, kernels, strict=True)]

    def predict_proba(self, X: Any) -> Array:
        """The mean over the views."""
        pairs = zip(self._fitted, self._kernels(X), strict=True)
        return np.mean([machine.predict_proba(K) for machine, K in pairs], axis=0)


class Stacking(_ByView):
    """Logistic regression on the scores of the views' SVMs, learned on out-of-fold scores."""

    def _learn(self, kernels: list[Array], y: Array, searches: list[GridSearchCV]) -> None:
        machines = [
            SVC(kernel="precomputed", max_iter=MAX_ITER, **search.best_params_) for search in searches
        ]
        folds = self.task.folds()
        out_of_fold = [
            cross_val_predict(machine, K, y, cv=folds, method="decision_function")
            for machine, K in zip(machines, kernels, strict=True)
        ]
        self._fitted = [machine.fit(K, y) for machine, K in zip(machines, kernels, strict=True)]
        top = LogisticRegressionCV(
            cv=folds, l1_ratios=(0.0,), scoring="neg_log_loss", max_iter=1000, use_legacy_attributes=False
        )
        self._top = make_pipeline(StandardScaler(), top).fit(np.column_stack(out_of_fold), y)

    def predict_proba(self, X: Any) -> Array:
        """Those of the logistic regression."""
        pairs = zip(self._fitted, self._kernels(X), strict=True)
        scores = np.column_stack([machine.decision_function(K) for machine, K in pairs])
        return np.asarray(self._top.predict_proba(scores))


class BestView(_ByView):
    """The view with the best accuracy on inner folds."""

    def _learn(self, kernels: list[Array], y: Array, searches: list[GridSearchCV]) -> None:
        self._best = int(np.argmax([search.best_score_ for search in searches]))
        self.best_params_ = {"view": list(self.task.data.groups)[self._best]}
        self.best_params_ |= searches[self._best].best_params_
        self._machine = self._machines(searches)[self._best].fit(kernels[self._best], y)
        plain = SVC(kernel="precomputed", max_iter=MAX_ITER, **searches[self._best].best_params_)
        self._decisive = plain.fit(kernels[self._best], y)

    def predict(self, X: Any) -> Array:
        """Classes, by the machine itself."""
        return np.asarray(self._decisive.predict(self._kernels(X)[self._best]))

    def predict_proba(self, X: Any) -> Array:
        """Those of the view."""
        return np.asarray(self._machine.predict_proba(self._kernels(X)[self._best]))


# ---------------------------------------------------------------------- all
def _learned(task: Task, **more: Any) -> MKLClassifierCV:
    return MKLClassifierCV(list(task.data.views), random_state=task.seed, **more)


CONTESTANTS: dict[str, Contestant] = {
    "mkl_cv": Contestant("MKLClassifierCV", _learned, is_ours=True),
    "sum": Contestant("plain sum, tuned C", lambda task: _learned(task, norms=[np.inf]), of_package=True),
    "late": Contestant("late fusion", LateFusion),
    "late_softmax": Contestant("late fusion, softmax", lambda task: LateFusion(task, "temperature")),
    "stacking": Contestant("stacking", Stacking),
    "single": Contestant("best single view", BestView),
    "svc_tuned": Contestant("SVC on all columns, tuned", SVCOnColumns),
    "forest": Contestant("random forest on all columns", lambda task: ForestOnColumns(task)),
}

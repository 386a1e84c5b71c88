"""Who is measured on one table, and one measured fit.

A contestant makes a model for a training set; what it may learn from there it learns in ``fit``.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor
from sklearn.decomposition import PCA
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LogisticRegressionCV, RidgeCV
from sklearn.metrics import log_loss, r2_score, roc_auc_score
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

from benchmarks.datasets.features import seven_kernels
from benchmarks.measuring import cpu_seconds, median
from benchmarks.store import Record
from benchmarks.tables.sets import (
    CLASSIFICATION,
    NOISE,
    REGRESSION,
    VIEWS,
    Array,
    DataSet,
    Fold,
    make_fold,
    take,
)
from multikernel import MKLClassifier, MKLClassifierCV, MKLRegressor, MKLRegressorCV, MKLRidgeCV

C_GRID = [2.0**k for k in range(-3, 12, 2)]
GAMMA_GRID = [2.0**k for k in range(-3, 4)]  # in 1 / number of columns
BOOSTING_GRID = {"learning_rate": [0.05, 0.2], "max_leaf_nodes": [7, 31]}
BOOSTING_STEPS = 150
BOOSTING_LEAF = (1000, 5)  # below so many training rows, so many rows in a leaf at least; else scikit-learn's
MAX_TREES = 20_000  # columns × classes beyond which boosted trees are not tuned
N_TREES = 500
INNER_FOLDS, BOOSTING_FOLDS = 5, 3
EPSILON = 1e-6  # probabilities below it are raised to it in the log-loss


@dataclass(frozen=True)
class Task:
    """What a contestant may know before it is fitted: the training data, and a seed."""

    data: DataSet
    X: Any
    y: Array
    seed: int

    @property
    def n_columns(self) -> int:
        """Columns of the table."""
        return int(self.X.shape[1])

    @property
    def n_classes(self) -> int:
        """Classes of the training rows."""
        return len(np.unique(self.y))

    def folds(self, most: int = INNER_FOLDS) -> Any:
        """Inner folds for classification, no more than the smallest class has rows."""
        smallest = int(np.unique(self.y, return_counts=True)[1].min())
        return StratifiedKFold(max(2, min(most, smallest)), shuffle=True, random_state=self.seed)

    def plain_folds(self, most: int = INNER_FOLDS) -> Any:
        """Inner folds for regression."""
        return KFold(most, shuffle=True, random_state=self.seed)


@dataclass(frozen=True)
class Contestant:
    """A model to measure.

    Attributes
    ----------
    label : str
    make : callable
        From a task to a model.
    is_ours : bool
    of_package : bool
        Of a rival: whether it is a model of the package as well, and so changes with it.
    calibrated : bool
        Of one without probabilities of its own: whether it gets some for the log-loss.
    n_timed : int
        How many fits are timed; the median counts. More than one where costs are compared: the first fit in
        a process that has just had other data touches fresh memory.
    """

    label: str
    make: Callable[[Task], Any]
    is_ours: bool = False
    of_package: bool = False
    calibrated: bool = True
    n_timed: int = 1


# ---------------------------------------------------------------------- classification
def _svc(task: Task) -> Any:
    return make_pipeline(StandardScaler(), SVC())


def _tuned_svc(task: Task) -> Any:
    grid = {"svc__C": C_GRID, "svc__gamma": [g / task.n_columns for g in GAMMA_GRID]}
    return GridSearchCV(make_pipeline(StandardScaler(), SVC()), grid, cv=task.folds())


def _logistic(task: Task) -> Any:
    """With fewer rows than columns, in coordinates of the rows' span: the same model, far sooner."""
    steps: list[Any] = [StandardScaler()]
    if task.n_columns > len(task.y):
        steps.append(PCA(len(task.y) - 1, svd_solver="full"))
    search = LogisticRegressionCV(
        cv=task.folds(), l1_ratios=(0.0,), scoring="accuracy", max_iter=1000, use_legacy_attributes=False
    )
    return make_pipeline(*steps, search)


def _boosting_leaf(task: Task) -> dict[str, int]:
    return {"min_samples_leaf": BOOSTING_LEAF[1]} if len(task.y) < BOOSTING_LEAF[0] else {}


def _boosting(task: Task) -> Any:
    leaf = _boosting_leaf(task)
    model = HistGradientBoostingClassifier(early_stopping=False, random_state=task.seed, **leaf)
    if task.n_columns * task.n_classes > MAX_TREES:
        return model
    return GridSearchCV(
        model.set_params(max_iter=BOOSTING_STEPS), BOOSTING_GRID, cv=task.folds(BOOSTING_FOLDS)
    )


CLASSIFIERS: dict[str, Contestant] = {
    "mkl": Contestant("MKLClassifier", lambda task: MKLClassifier(), is_ours=True, n_timed=3),
    "mkl_seven": Contestant(
        "MKLClassifier, seven kernels",
        lambda task: MKLClassifier(seven_kernels()),
        is_ours=True,
        calibrated=False,
        n_timed=3,
    ),
    "mkl_cv": Contestant(
        "MKLClassifierCV", lambda task: MKLClassifierCV(random_state=task.seed), is_ours=True
    ),
    "svc": Contestant("SVC", _svc),
    "svc_tuned": Contestant("SVC, tuned", _tuned_svc),
    "forest": Contestant(
        "random forest", lambda task: RandomForestClassifier(N_TREES, random_state=task.seed)
    ),
    "boosting": Contestant("boosted trees", _boosting),
    "logistic": Contestant("logistic regression", _logistic),
}


# ---------------------------------------------------------------------- regression
def _tuned_svr(task: Task) -> Any:
    grid = {"svr__C": C_GRID, "svr__gamma": [g / task.n_columns for g in GAMMA_GRID]}
    search = GridSearchCV(make_pipeline(StandardScaler(), SVR()), grid, cv=task.plain_folds())
    return TransformedTargetRegressor(search, transformer=StandardScaler())


def _boosting_regressor(task: Task) -> Any:
    leaf = _boosting_leaf(task)
    model = HistGradientBoostingRegressor(
        early_stopping=False, max_iter=BOOSTING_STEPS, random_state=task.seed, **leaf
    )
    return GridSearchCV(model, BOOSTING_GRID, cv=task.plain_folds(BOOSTING_FOLDS))


REGRESSORS: dict[str, Contestant] = {
    "mkl": Contestant("MKLRegressor", lambda task: MKLRegressor(), is_ours=True),
    "mkl_cv": Contestant("MKLRegressorCV", lambda task: MKLRegressorCV(random_state=task.seed), is_ours=True),
    "mkl_ridge": Contestant("MKLRidgeCV", lambda task: MKLRidgeCV(random_state=task.seed), is_ours=True),
    "svr_tuned": Contestant("SVR, tuned", _tuned_svr),
    "forest": Contestant(
        "random forest", lambda task: RandomForestRegressor(N_TREES, random_state=task.seed)
    ),
    "boosting": Contestant("boosted trees", _boosting_regressor),
    "ridge": Contestant(
        "ridge regression",
        lambda task: make_pipeline(StandardScaler(), RidgeCV(np.logspace(-4, 4, 17))),
    ),
}


def contestants_of(part: str) -> Mapping[str, Contestant]:
    """Who takes part, by name."""
    if part == VIEWS:
        from benchmarks.tables.views import CONTESTANTS

        return CONTESTANTS
    if part == NOISE:
        from benchmarks.tables.noise import RIVALS

        return RIVALS
    return {CLASSIFICATION: CLASSIFIERS, REGRESSION: REGRESSORS}[part]


# ---------------------------------------------------------------------- one fit
def measure(data: DataSet, part: str, repetition: int, fold: int, contestant: Contestant) -> Record:
    """Fit on the training rows of a fold, score on its test rows; a failure is a record as well."""
    rows = make_fold(data, repetition, fold, part == REGRESSION)
    return measure_rows(data, rows, contestant, part == REGRESSION)


def measure_rows(data: DataSet, rows: Fold, contestant: Contestant, regression: bool) -> Record:
    """The same on rows that are given."""
    about = {"n_train": len(rows.train), "n_test": len(rows.test)}
    start = time.perf_counter()
    try:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            found = _measure(data, rows, contestant, regression)
    except Exception as error:
        said = f"{type(error).__name__}: {error}"[:500]
        return about | {"failed": said, "wall": time.perf_counter() - start}
    texts = sorted({f"{said.category.__name__}: {said.message}"[:200] for said in told})
    return about | found | {"warnings": texts[:3], "wall": time.perf_counter() - start}


def _measure(data: DataSet, rows: Fold, contestant: Contestant, regression: bool) -> Record:
    X, y = take(data.X, rows.train), data.y[rows.train]
    X_test, y_test = take(data.X, rows.test), data.y[rows.test]
    task = Task(data, X, y, rows.seed)
    model = contestant.make(task)
    seconds = median([cpu_seconds(lambda: model.fit(X, y))[0] for _ in range(contestant.n_timed)])
    found: Record = {"seconds": seconds, "chosen": chosen_by(model)}
    if regression:
        return found | {"r2": float(r2_score(y_test, np.asarray(model.predict(X_test)).ravel()))}
    found["accuracy"] = float(np.mean(model.predict(X_test) == y_test))
    probabilities = probabilities_of(model, X_test)
    scores = probabilities if probabilities is not None else model.decision_function(X_test)
    found["auc"] = area_under_curve(y_test, scores, model.classes_)
    if probabilities is None and contestant.calibrated:
        spent, probabilities = cpu_seconds(lambda: calibrated_probabilities(task, model, X_test))
        found["calibration_seconds"] = spent
    if probabilities is not None:
        found["log_loss"] = bounded_log_loss(y_test, probabilities, model.classes_)
    return found


def probabilities_of(model: Any, X: Any) -> Array | None:
    """Probabilities of the classes, where the model has some of its own."""
    if not hasattr(model, "predict_proba"):
        return None
    return np.asarray(model.predict_proba(X))


def calibrated_probabilities(task: Task, model: Any, X_test: Any) -> Array:
    """Probabilities of a model without any: a sigmoid of its scores, on folds at the parameters chosen."""
    fitted = getattr(model, "best_estimator_", model)
    calibrated = CalibratedClassifierCV(fitted, method="sigmoid", cv=task.folds(), ensemble=False)
    return np.asarray(calibrated.fit(task.X, task.y).predict_proba(X_test))


def bounded_log_loss(y: Array, probabilities: Array, classes: Array) -> float:
    """The log-loss, of probabilities that are nowhere smaller than EPSILON."""
    bounded = np.maximum(probabilities, EPSILON)
    return float(log_loss(y, bounded / bounded.sum(axis=1, keepdims=True), labels=classes))


def area_under_curve(y: Array, scores: Array, classes: Array) -> float:
    """The mean area under the ROC curve, of each class against the rest."""
    if len(classes) == 2:
        return float(roc_auc_score(y == classes[1], scores if scores.ndim == 1 else scores[:, 1]))
    areas = [
        roc_auc_score(y == label, column)
        for label, column in zip(classes, scores.T, strict=True)
        if 0 < np.sum(y == label) < len(y)
    ]
    return float(np.mean(areas))


def chosen_by(model: Any) -> Record:
    """The parameters that a search has chosen, where there was one; of ours the status as well."""
    inner = getattr(model, "regressor_", model)
    chosen = dict(getattr(inner, "best_params_", {}))
    if hasattr(inner, "status_"):
        chosen["status"] = str(inner.status_)
    return {name: value if isinstance(value, (str, int)) else float(value) for name, value in chosen.items()}

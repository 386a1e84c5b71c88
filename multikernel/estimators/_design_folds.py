"""Cross-validation of one classifier at many costs of its kernels: kernels once, machines from near ones.

Each fold keeps the kernels of its training part, those between its validation and its training part, and the
machines of all points so far. A new point starts from the solution at the nearest point, which is feasible
because costs do not touch the constraints of the machines.
"""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.model_selection import StratifiedKFold, check_cv
from sklearn.utils.metaestimators import _safe_split

from ..selection.eigenvalue_costs import count_large_eigenvalues
from ..solvers import SolveResult, Status
from ._samples import Samples
from .mkl_classifier import MKLClassifier

Array = np.ndarray[Any, np.dtype[Any]]
Scorer = Callable[..., float]


class FoldModel(MKLClassifier):
    """The classifier of one fold, solved at one vector of costs after the other.

    To a scorer it is a fitted classifier; its scores are those of the validation samples, whatever X is.
    """

    def open(self, X: Any, y: Array, sample_weight: Array | None, train: Array, test: Array) -> "FoldModel":
        """Compute the kernels of the fold."""
        X_train, y_train = _safe_split(self, X, y, train)
        X_test, self._y_test = _safe_split(self, X, y, test, train)
        own, self._weight_test = (None if sample_weight is None else sample_weight[s] for s in (train, test))
        self._Ks, self._problems, self._samples = self._prepare(X_train, y_train, own)
        bank, rows = self._bank, self._samples.rows
        if self._precomputed:  # its columns are all the rows given, those of weight zero too
            bank = bank.restrict(rows, np.arange(len(self.view_names_)))
        self._X_test = bank.transform(self._validate_table(X_test, reset=False))
        self._blocks = np.moveaxis(self._X_test, 2, 0)
        if not self._precomputed:
            self._X_test = X_test
        self._points: list[tuple[Array, list[SolveResult]]] = []
        return self

    @cached_property
    def counts(self) -> Array:
        """The number of large eigenvalues of each kernel on the training part."""
        return count_large_eigenvalues(self._Ks)

    @property
    def n_failed(self) -> int:
        """How many solutions did not reach the tolerance."""
        return sum(r.status != Status.OPTIMAL for _, results in self._points for r in results)

    @property
    def n_solves(self) -> int:
        """How many times kernel weights were learned."""
        return sum(len(results) for _, results in self._points)

    def score_at(self, costs: Array, scorer: Scorer) -> float:
        """The score on the validation samples of the classifier with these costs."""
        self._costs, place = costs, np.log(costs)
        solutions = self._solve_all(self._Ks, self._problems, self._samples.weights, self._nearest(place))
        results = [solved.result for solved in solutions]
        self._points.append((place, results))
        n_machines = [len(solved.names) for solved in solutions]
        self.machine_weights_ = np.repeat([r.weights for r in results], n_machines, axis=0)
        self.intercept_ = np.concatenate([r.intercepts for r in results])
        self._coefficients = np.concatenate([s.duals(self._samples.rows.size) for s in solutions])
        weights = {} if self._weight_test is None else {"sample_weight": self._weight_test}
        return float(scorer(self, self._X_test, self._y_test, **weights))

    def _nearest(self, place: Array) -> list[SolveResult] | None:
        """The solutions at the nearest point so far."""
        if not self._points:
            return None
        distances = [float(np.linalg.norm(place - other)) for other, _ in self._points]
        return self._points[int(np.argmin(distances))][1]

    def _scores(self, X: Any) -> Array:
        total = np.zeros((self._blocks.shape[1], self._coefficients.shape[0]))
        for m in np.flatnonzero(self.machine_weights_.any(axis=0)):
            total += (self._blocks[m] @ self._coefficients.T) * self.machine_weights_[:, m]
        return total


class DesignFolds:
    """All the folds, measured at the same point at the same time.

    Parameters
    ----------
    models : list of FoldModel
    scorer : callable
    pool : Parallel
        Of threads.
    """

    def __init__(self, models: list[FoldModel], scorer: Scorer, pool: Parallel) -> None:
        self.models, self.scorer, self.pool = models, scorer, pool
        self.scores: list[Array] = []

    def measure(self, costs_of: Callable[[FoldModel], Array]) -> float:
        """The mean score over the folds, which are kept; costs may depend on what a fold has seen."""

        def score(model: FoldModel) -> float:
            return model.score_at(costs_of(model), self.scorer)

        self.scores.append(np.array(self.pool(delayed(score)(model) for model in self.models)))
        return float(self.scores[-1].mean())

    @property
    def n_solves(self) -> int:
        """How many times kernel weights were learned, all folds together."""
        return sum(model.n_solves for model in self.models)

    @property
    def n_failed(self) -> int:
        """How many of these did not reach the tolerance."""
        return sum(model.n_failed for model in self.models)


def open_folds(
    parameters: dict[str, Any],
    X: Any,
    y: Array,
    sample_weight: Array | None,
    splits: Sequence[Any],
    pool: Any,
) -> list[FoldModel]:
    """The kernels of every fold, computed on its training part alone."""

    def opened(number: int, train: Array, test: Array) -> FoldModel:
        try:
            return FoldModel(**parameters).open(X, y, sample_weight, train, test)
        except ValueError as error:
            raise ValueError(f"fold {number} of cv cannot be used: {error}") from error

    return list(pool(delayed(opened)(k, *split) for k, split in enumerate(splits)))


def split_samples(cv: Any, X: Any, y: Array, samples: Samples, seed: Any) -> list[tuple[Array, Array]]:
    """The training and validation rows of each fold.

    A number of folds is stratified, shuffled, and drawn from the distinct samples: no fold is validated on a
    row that it was trained on, a repeated row is one of twice the weight, and the order of the rows does not
    matter.
    """
    if not isinstance(cv, int | np.integer) or isinstance(cv, bool):
        return [(np.asarray(a), np.asarray(b)) for a, b in check_cv(cv, y, classifier=True).split(X, y)]
    labels = y[samples.rows]
    _require_members(cv, labels)
    folds = StratifiedKFold(cv, shuffle=True, random_state=0 if seed is None else seed)
    parts = [test for _, test in folds.split(labels, labels)]
    used = samples.group >= 0
    tests = [np.isin(samples.group, test) for test in parts]
    return [(np.flatnonzero(used & ~test), np.flatnonzero(test)) for test in tests]


def _require_members(cv: Any, y: Array) -> None:
    if cv < 2:
        raise ValueError(f"cv must be at least 2 folds, a splitter or a list of splits; got {cv!r}.")
    classes, counts = np.unique(y, return_counts=True)
    if counts.min() < cv:
        raise ValueError(
            f"cv={cv} needs at least {cv} distinct samples of each class; class "
            f"{classes.tolist()[counts.argmin()]!r} has {counts.min()} sample(s). Use fewer folds, or add "
            "samples."
        )

"""One protocol for all experiments: 5 × 2 cross-validation, and all choices on the training half.

Every kernel K_m is scaled to a unit diagonal, centred over the training half and divided by its mean diagonal
there. With these kernels a machine is given, in turn, each K_m alone, their mean, and all of them, in which
case it learns their weights. C, and which of the kernels is the best, are chosen by cross-validation within
the training half; the other half is for the score alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.model_selection import KFold, StratifiedKFold, train_test_split

from multikernel.core.fitted import prediction_cost
from multikernel.datasets import Dataset
from multikernel.kernels import Kernel, Precomputed
from multikernel.mkl.classifier import MKLClassifier
from multikernel.views import KernelBank, View
from studies.data import load_data
from studies.fitting import convergence_reported

GRID = (0.1, 1.0, 10.0, 100.0)
REPEATS, HALVES, INNER_FOLDS = 5, 2, 3
SCALING = ("unit_diagonal", "center", "unit_trace")
SINGLE, SUM, LEARNED, LEARNED_2, COSTS = "single", "sum", "learned", "learned2", "costs"
SEED = 20260
_SETTLED = ("optimal", "stalled")

Array = np.ndarray
Split = tuple[Array, Array]
Folds = Callable[[Any, Array, int, int], list[Split]]


def stratified_folds(X: Any, y: Array, n_folds: int, seed: int) -> list[Split]:
    """Return folds with the shares of the classes, as pairs of places (training, test).

    Parameters
    ----------
    X : table of n rows
    y : ndarray of shape (n,)
    n_folds, seed : int

    Returns
    -------
    list of (ndarray, ndarray)
    """
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
    return list(folds.split(np.zeros(len(y)), y))


def plain_folds(X: Any, y: Array, n_folds: int, seed: int) -> list[Split]:
    """Return folds that do not look at the labels, as `stratified_folds` does."""
    return list(KFold(n_folds, shuffle=True, random_state=seed).split(np.zeros(len(y))))


@dataclass(frozen=True)
class Sample:
    """The points of a problem.

    Attributes
    ----------
    X : ndarray or DataFrame of shape (n, d)
        What the views read: features, or a column of positions in ready-made kernels.
    y : ndarray of shape (n,)
    views : sequence of View
        One kernel each; transforms that a view names come before those of the protocol.
    costs : ndarray of shape (n_kernels,), or None
        What a value of each kernel costs, where that is asked.
    """

    X: Any
    y: Array
    views: Sequence[View]
    costs: Array | None = None


@dataclass(frozen=True)
class Problem:
    """A data set with its question.

    Attributes
    ----------
    key, label : str
        What units and the page call it.
    load : callable
        Returns the sample; it remembers what it made if that takes long.
    datasets : tuple of str
    scores : tuple of str
        Keys of `SCORES`; the first one is chosen by.
    halve, cut : callable
        How the points are halved, and how a training half is cut into folds: see `stratified_folds`.
    """

    key: str
    label: str
    load: Callable[[], Sample]
    datasets: tuple[str, ...]
    scores: tuple[str, ...] = ("accuracy",)
    halve: Folds = stratified_folds
    cut: Folds = stratified_folds


@dataclass(frozen=True)
class Contender:
    """Which kernels a machine is given, and the parameters of the machine.

    Attributes
    ----------
    mixing : ndarray of shape (n_given, n_kernels), or None
        Row by row what a given kernel is made of; None gives all kernels as they are.
    options : mapping
        Parameters of `MKLClassifier`.
    """

    mixing: Array | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    def fit(self, Ks: Array, y: Array, C: float) -> MKLClassifier:
        """Fit the machine to kernels (n_kernels, n, n); what did not converge says so in its status."""
        model = MKLClassifier("precomputed", C=C, multiclass="shared", **self.options)
        with convergence_reported():
            model.fit(self._given(Ks), y)
        return model

    def score(self, model: MKLClassifier, Ks: Array, y: Array, scoring: str) -> float:
        """Return the score of a fitted machine on rows (n_kernels, n_test, n_train)."""
        return SCORES[scoring](model, self._given(Ks), y)

    def weights(self, model: MKLClassifier) -> Array:
        """Return the weights of all kernels (n_kernels,) in a fitted machine, as shares of their sum."""
        weights = np.asarray(model.kernel_weights_)
        spread: Array = weights if self.mixing is None else weights @ self.mixing
        return spread / spread.sum()

    def _given(self, Ks: Array) -> Array:
        mixed = Ks if self.mixing is None else np.tensordot(self.mixing, Ks, axes=1)
        return np.moveaxis(mixed, 0, 2)


def _accuracy(model: MKLClassifier, X: Array, y: Array) -> float:
    return float(np.mean(model.predict(X) == y))


def _roc_auc(model: MKLClassifier, X: Array, y: Array) -> float:
    return float(roc_auc_score(y, model.decision_function(X)))


def _precision(model: MKLClassifier, X: Array, y: Array) -> float:
    return float(average_precision_score(y, model.decision_function(X)))


SCORES: dict[str, Callable[[MKLClassifier, Array, Array], float]] = {
    "accuracy": _accuracy,
    "roc_auc": _roc_auc,
    "average_precision": _precision,
}


def compute_fold(problem: Problem, repetition: int, fold: int) -> dict[str, Any]:
    """Return how every contender does when one half of the points trains and the other one tests.

    Parameters
    ----------
    problem : Problem
    repetition : int
        Which of the random halvings.
    fold : int
        Which half trains, 0 or 1.

    Returns
    -------
    dict
        ``scores`` and ``C`` by contender, single kernels as ``single:name``; ``chosen``, the single kernel
        that the training half chose; ``weights`` of the learned ones, as shares; ``unsettled``, contenders
        whose solver did not come to its end; and ``cost`` by contender where kernels have costs.
    """
    sample = problem.load()
    train, test = problem.halve(sample.X, sample.y, HALVES, SEED + repetition)[fold]
    Ks, Ks_test = scaled_kernels(sample, train, test)
    contenders = list_contenders([view.name for view in sample.views], sample.costs)
    y, y_test = sample.y[train], sample.y[test]
    inner = inner_parts(Ks, y, problem.cut(_rows(sample.X, train), y, INNER_FOLDS, SEED))
    found: dict[str, Any] = {"scores": {}, "C": {}, "weights": {}, "unsettled": []}
    inner_scores = {}
    for key, contender in contenders.items():
        C, inner_scores[key] = choose_C(contender, inner, problem.scores[0])
        model = contender.fit(Ks, y, C)
        found["C"][key] = C
        found["scores"][key] = {s: contender.score(model, Ks_test, y_test, s) for s in problem.scores}
        weights = contender.weights(model)
        if key in (LEARNED, LEARNED_2, COSTS):
            found["weights"][key] = weights.tolist()
        if not str(model.status_).startswith(_SETTLED):
            found["unsettled"].append(key)
        if sample.costs is not None:
            cost = prediction_cost(weights[np.newaxis], model.dual_coef_, sample.costs)
            found.setdefault("cost", {})[key] = cost / len(train)
    singles = [key for key in contenders if is_single(key)]
    return found | {"chosen": max(singles, key=lambda key: inner_scores[key])}


def list_contenders(names: Sequence[str], costs: Array | None = None) -> dict[str, Contender]:
    """Return the contenders over kernels of these names, singles first.

    Parameters
    ----------
    names : sequence of str
    costs : ndarray of shape (n_kernels,), default=None
        With them there is one more, which knows them.

    Returns
    -------
    dict of str to Contender
    """
    m = len(names)
    contenders = {
        f"{SINGLE}:{name}": Contender(row[np.newaxis]) for name, row in zip(names, np.eye(m), strict=True)
    }
    contenders[SUM] = Contender(np.full((1, m), 1.0 / m))
    contenders |= {LEARNED: Contender(), LEARNED_2: Contender(options={"norm": 2.0})}
    if costs is not None:
        contenders[COSTS] = Contender(options={"costs": costs})
    return contenders


def is_single(key: str) -> bool:
    """Whether a contender is a single kernel."""
    return key.startswith(f"{SINGLE}:")


def scaled_kernels(sample: Sample, train: Array, test: Array) -> Split:
    """Return the scaled kernels of the training points, and of test with training points.

    Parameters
    ----------
    sample : Sample
    train, test : ndarray of int

    Returns
    -------
    Ks : ndarray of shape (n_kernels, n_train, n_train)
    Ks_test : ndarray of shape (n_kernels, n_test, n_train)
    """
    bank = KernelBank([scaled(view) for view in sample.views])
    rows = [_rows(sample.X, part) for part in (train, test)]
    stacks = bank.fit_transform(rows[0]), bank.transform(rows[1])
    Ks, Ks_test = (np.ascontiguousarray(np.moveaxis(stack, 2, 0)) for stack in stacks)
    return Ks, Ks_test


def scaled(view: View) -> View:
    """Return the view with the transforms of the protocol after its own."""
    return View(
        view.name,
        view.kernel,
        view.columns,
        (*view.transforms, *SCALING),
        standardize=view.standardize is True,
    )


def inner_parts(Ks: Array, y: Array, folds: Sequence[Split]) -> list[tuple[Split, Split]]:
    """Return for each fold of the training half kernels and labels to fit, kernels and labels to score."""
    return [((Ks[:, a][:, :, a], y[a]), (Ks[:, b][:, :, a], y[b])) for a, b in folds]


def choose_C(contender: Contender, parts: Sequence[tuple[Split, Split]], scoring: str) -> tuple[float, float]:
    """Return the C of `GRID` with the best mean score over the inner folds, the smallest of equals.

    Parameters
    ----------
    contender : Contender
    parts : sequence
        See `inner_parts`.
    scoring : str

    Returns
    -------
    C : float
    score : float
    """
    means = []
    for C in GRID:
        found = [contender.score(contender.fit(*fitted, C), *scored, scoring) for fitted, scored in parts]
        means.append(float(np.mean(found)))
    best = int(np.argmax(means))
    return GRID[best], means[best]


def sample_rows(y: Array, n: int) -> Array:
    """Return the places of n points with the shares of all classes, the same in every call; all if fewer.

    Parameters
    ----------
    y : ndarray of shape (n_points,)
    n : int

    Returns
    -------
    ndarray of int, in increasing order
    """
    places = np.arange(len(y))
    if len(y) <= n:
        return places
    chosen, _ = train_test_split(places, train_size=n, random_state=SEED, stratify=y)
    kept: Array = np.sort(chosen)
    return kept


def load_rows(name: str, most: int | None = None) -> tuple[Dataset, Array, Array]:
    """Return a data set, which of its points are used, and the classes of these.

    Parameters
    ----------
    name : str
    most : int, default=None
        Of more points than that, so many are drawn: see `sample_rows`.

    Returns
    -------
    data : Dataset
    kept : ndarray of int
    y : ndarray of shape (n_kept,)
    """
    data = load_data(name)
    y = np.asarray(data.y)
    kept = sample_rows(y, len(y) if most is None else most)
    return data, kept, y[kept]


def each_kernel(kernels: Mapping[str, Kernel]) -> list[View]:
    """Return one view for each kernel over all columns."""
    return [View(name, kernel) for name, kernel in kernels.items()]


def precomputed_sample(matrices: Mapping[str, Array], y: Array, costs: Array | None = None) -> Sample:
    """Return the sample of precomputed kernels; X is the column of positions in them.

    Parameters
    ----------
    matrices : mapping of str to ndarray of shape (n, n)
    y : ndarray of shape (n,)
    costs : ndarray of shape (n_kernels,), default=None

    Returns
    -------
    Sample
    """
    positions = np.arange(len(y), dtype=np.float64)[:, np.newaxis]
    views = each_kernel({name: Precomputed(K) for name, K in matrices.items()})
    return Sample(positions, y, views, costs)


def _rows(X: Any, places: Array) -> Any:
    return X.iloc[places] if hasattr(X, "iloc") else X[places]

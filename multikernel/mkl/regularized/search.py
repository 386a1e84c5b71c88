"""What is searched where kernel weights are regularised: costs, the exponent of costs, or the weights.

Each search measures points on folds and says which was the best; what a point means for the machines is
their costs d (at p = 1), or, for fixed weights μ, the costs 1/√μ (at p = ∞).

**Costs from spectra** (:func:`eigenvalue_costs`): a kernel that can tell more samples apart needs a larger
gain to have weight,

    d_m = (e_m / e_1)^γ,     e_m = the number of eigenvalues above ½ of K_m at unit diagonal, at least 1.

**Folds** (:class:`DesignFolds`): kernels are computed once, machines start from near ones. Each fold keeps
the kernels of its training part, those between its validation and its training part, and the machines of all
points so far. A new point starts from the solution at the nearest point, which is feasible because costs do
not touch the constraints of the machines.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.utils.metaestimators import _safe_split

from ..._typing import Array
from ..._validation import check_number
from ...core.estimator import kernel_factors
from ...core.folds import check_score
from ...core.optim.loop import ENDED_EARLY, SearchProgress, Status, carried
from ...core.weights.loop import SolveResult
from ..classifier import MKLClassifier
from ..selection import SearchedClassifier
from .response_surface import Point, ResponseSurface

_THRESHOLD = 0.5
Scorer = Callable[..., float]
SEARCHES = ("response_surface", "eigenvalue", "weights")
EXPONENTS = np.linspace(0.0, 1.0, 11).round(1)
_STILL = 1e-2
_WIDEST, _NARROWEST = 10.0, 1e-6


# ---------------------------------------------------------------------- costs from spectra
def count_large_eigenvalues(Ks: Array) -> Array:
    """e_m of each kernel at unit diagonal (a sample without length stays zero), (n_kernels,) from 1 to n.

    Examples
    --------
    >>> count_large_eigenvalues(np.array([np.eye(3), np.ones((3, 3))])).tolist()
    [3, 1]
    """
    return np.array([_count(np.asarray(K, float)) for K in Ks])


def _count(K: Array) -> int:
    lengths = np.sqrt(np.maximum(np.diagonal(K), 0.0))
    inverse = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0.0)
    eigenvalues = np.linalg.eigvalsh(K * inverse[:, None] * inverse)
    return max(1, int(np.count_nonzero(eigenvalues > _THRESHOLD)))


def eigenvalue_costs(counts: Array, exponent: float) -> Array:
    """d_m = (e_m / e_1)^γ, (n_kernels,): without the division by e_1 the costs would change C as well.

    Examples
    --------
    >>> eigenvalue_costs(np.array([2, 8]), 0.5).tolist()
    [1.0, 2.0]
    """
    return np.asarray((counts / counts[0]) ** exponent)


# ---------------------------------------------------------------------- folds
class FoldModel(SearchedClassifier):
    """The classifier of one fold, solved at one vector of costs after the other.

    To a scorer it is the classifier fitted at the last of them. Of the very table of validation samples that
    a scorer is given the kernels are kept; of any other they are computed.
    """

    def __init__(self, model: MKLClassifier) -> None:
        self.model = model

    def open(self, X: Any, y: Array, sample_weight: Array | None, train: Array, test: Array) -> "FoldModel":
        """Compute the kernels of the fold."""
        model = self.model
        X_train, y_train = _safe_split(model, X, y, train)
        X_test, self._y_test = _safe_split(model, X, y, test, train)
        own, self._weight_test = (None if sample_weight is None else sample_weight[s] for s in (train, test))
        self._Ks, self._problems, self._samples = model._prepare(X_train, y_train, own)
        self._whole_bank, self._X_test = model._bank, X_test
        if isinstance(X_test, np.ndarray):
            X_test.flags.writeable = False  # the blocks are of these values
        if not model._precomputed:  # precomputed kernels are at hand in the table itself
            rows = model._validate_table(X_test, reset=False)
            self._blocks = np.moveaxis(model._bank.transform(rows), 2, 0)
        self._points: list[tuple[Array, list[SolveResult]]] = []
        return self

    @cached_property
    def counts(self) -> Array:
        """The number of large eigenvalues of each kernel on the training part."""
        return count_large_eigenvalues(self._Ks)

    @property
    def n_failed(self) -> int:
        """How many solutions did not reach the tolerance, though they had the time."""
        fine = (Status.OPTIMAL, *ENDED_EARLY)
        return sum(r.status not in fine for _, results in self._points for r in results)

    @property
    def n_solves(self) -> int:
        """How many times kernel weights were learned."""
        return sum(len(results) for _, results in self._points)

    def score_at(self, costs: Array, scorer: Scorer) -> float:
        """The score on the validation samples of the classifier with these costs."""
        model = self.model
        model._costs, place = costs, np.log(costs)
        model._bank = self._whole_bank
        solutions = model._solve_all(self._Ks, self._problems, self._samples.weights, self._nearest(place))
        self._points.append((place, [solved.result for solved in solutions]))
        model._store(solutions, self._samples)
        self.classes_, self.intercept_, self._votes = model.classes_, model.intercept_, model._votes
        self._duals = np.concatenate([s.duals(self._samples.rows.size) for s in solutions])
        self._factors = kernel_factors(solutions)
        weights = {} if self._weight_test is None else {"sample_weight": self._weight_test}
        return check_score(scorer(self, self._X_test, self._y_test, **weights))

    def _nearest(self, place: Array) -> list[SolveResult] | None:
        """The solutions at the nearest point so far."""
        if not self._points:
            return None
        distances = [float(np.linalg.norm(place - other)) for other, _ in self._points]
        return self._points[int(np.argmin(distances))][1]

    def _scores(self, X: Any) -> Array:
        if X is not self._X_test or self.model._precomputed:
            return self.model._scores(X)
        total = np.zeros((self._blocks.shape[1], self._duals.shape[0]))
        for m in np.flatnonzero(self.model.machine_weights_.any(axis=0)):
            scores = (self._blocks[m] @ self._duals.T) * self.model.machine_weights_[:, m]
            for factor in self._factors:
                if factor.kernel == m:
                    explicit = partial(self._whole_bank.explicit_features, int(m), self._X_test)
                    scores[:, factor.machines] = factor.scores(self._blocks[m], explicit)
            total += scores
        return total

    def __getattr__(self, name: str) -> Any:
        """Whatever else a scorer reads is the classifier's."""
        if name == "model" or name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.model, name)


class DesignFolds:
    """All the folds, measured at the same point at the same time by a pool of threads."""

    def __init__(self, models: list[FoldModel], scorer: Scorer, pool: Parallel) -> None:
        self.models, self.scorer, self.pool = models, scorer, pool
        self.scores: list[Array] = []

    def measure(self, costs_of: Callable[[FoldModel], Array]) -> float:
        """The mean score over the folds, which are kept; costs may depend on what a fold has seen.

        It has twelve digits, so that means that differ by rounding are equally good.
        """

        def score(model: FoldModel) -> float:
            return model.score_at(costs_of(model), self.scorer)

        self.scores.append(np.array(self.pool(delayed(carried(score))(model) for model in self.models)))
        return float(f"{self.scores[-1].mean():.12g}")

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
            return FoldModel(MKLClassifier(**parameters)).open(X, y, sample_weight, train, test)
        except ValueError as error:
            raise ValueError(f"fold {number} of cv cannot be used: {error}") from error

    return list(pool(delayed(carried(opened))(k, *split) for k, split in enumerate(splits)))


# ---------------------------------------------------------------------- searches
@dataclass(frozen=True)
class Chosen:
    """What a search found."""

    machine_costs: Array  # (n_kernels,)
    params: list[dict[str, float]]  # the points measured
    best: int  # which of them was chosen
    # surface, exponent: of the searches that have one
    surface: ResponseSurface | None = None
    exponent: float | None = None
    ended: Status | None = None  # why the search ended before its own end


def choose(model: Any, folds: DesignFolds, names: list[str], Ks: Array, progress: SearchProgress) -> Chosen:
    """Search as the parameters of ``model`` say; ``Ks`` are the kernels on all the samples."""
    if model.method == "eigenvalue":
        return _choose_exponent(folds, Ks, progress)
    bounds = (10.0**-model.bound, 1.0, 10.0**model.bound)
    surface = ResponseSurface(
        {name: bounds for name in names[1:]},
        delta=model.delta / model.bound,
        tol=_STILL / model.bound,
        max_steps=model.max_steps,
    )
    fixed = model.method == "weights"
    params: list[dict[str, float]] = []

    def response(point: Point) -> float:
        params.append(_weights(names, point) if fixed else {names[0]: 1.0, **point})
        costs = _fixing(params[-1]) if fixed else params[-1]
        return 1.0 - folds.measure(lambda fold: np.array([costs[name] for name in fold.model.view_names_]))

    def report(entry: dict[str, Any]) -> bool:
        return progress(params[entry["evaluation"] - 1], 1.0 - entry["value"])

    surface.minimize(response, callback=report)
    best = params[surface.best_index_]
    costs = _fixing(best) if fixed else best
    return Chosen(np.array([costs[n] for n in names]), params, surface.best_index_, surface=surface)


def _choose_exponent(folds: DesignFolds, Ks: Array, progress: SearchProgress) -> Chosen:
    """The best γ, of equally good ones the smallest; each fold counts the eigenvalues of its own kernels."""
    params: list[dict[str, float]] = []
    scores: list[float] = []
    for exponent in EXPONENTS.tolist():
        params.append({"exponent": exponent})
        scores.append(folds.measure(lambda fold: eigenvalue_costs(fold.counts, params[-1]["exponent"])))
        if progress(params[-1], scores[-1]):
            break
    best = int(np.argmax(scores))
    exponent = params[best]["exponent"]
    costs = eigenvalue_costs(count_large_eigenvalues(Ks), exponent)
    return Chosen(costs, params, best, exponent=exponent)


def _weights(names: list[str], point: Point) -> dict[str, float]:
    total = 1.0 + sum(point.values())
    return {names[0]: 1.0 / total, **{name: ratio / total for name, ratio in point.items()}}


def _fixing(weights: dict[str, float]) -> dict[str, float]:
    """The costs that fix the weights where p = ∞: μ_m = 1 / d_m²."""
    return {name: 1.0 / float(np.sqrt(weight)) for name, weight in weights.items()}


def check_bound(bound: Any) -> float:
    """The search stays where machines can be solved, and has more than one point."""
    value = check_number("bound", bound, above=0.0)
    if not _NARROWEST <= value <= _WIDEST:
        raise ValueError(
            f"bound must lie between {_NARROWEST:g} and {_WIDEST:g}; got {bound!r}. It is a power of ten: 1 "
            "lets costs be from 0.1 to 10."
        )
    return value


def check_delta(delta: Any, bound: float) -> None:
    """The design has to lie within the bounds."""
    if check_number("delta", delta, above=0.0) > bound:
        raise ValueError(
            f"delta must be at most bound={bound:g}, so that the design lies within the bounds; got "
            f"{delta!r}."
        )

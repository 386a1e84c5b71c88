"""What is searched where kernel weights are regularised: costs, the exponent of costs, or the weights.

Each search measures points on folds and says which was the best; what a point means for the machines is
their costs d (at p = 1), or, for fixed weights μ, the costs 1/√μ (at p = ∞), and C where it is searched, too.

**Costs from spectra** (:func:`eigenvalue_costs`): a kernel that can tell more samples apart needs a larger
gain to have weight,

    d_m = (e_m / e_1)^γ,     e_m = the number of eigenvalues above ½ of K_m at unit diagonal, at least 1.

The paper prints d_m = e_m^γ. A common factor of the costs divides C by its square: the machine at (d, C)
has the functions of the machine at (s d, s² C). So the printed costs at C are ours at C / e_1^(2γ). Along a
path of all C, which is the setting that the heuristic was made for, both are the same; at a fixed C the
printed ones search γ and C together, along one curve.

**Machines** (:class:`ClassifierOn`, :class:`RegressorOn`): those of an estimator on some samples, solved and
stored.

**Folds** (:class:`DesignFolds`): kernels are computed once, machines start from near ones. Each fold keeps
the kernels of its training part, those between its validation and its training part, and the machines of all
points so far. A new point starts from the solution at the nearest point: costs do not touch the constraints
of the machines, and C scales them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.metaestimators import _safe_split

from ..._typing import Array
from ..._validation import check_number, check_positive_integer
from ...core.estimator import Solved, kernel_factors
from ...core.folds import Split, check_score, random_source
from ...core.optim.loop import ENDED_EARLY, SearchProgress, Status, carried
from ...core.search.selection import SearchedClassifier
from ...core.weights.loop import SolveResult
from .response_surface import Point, ResponseSurface

_THRESHOLD = 0.5
Scorer = Callable[..., float]
PENALTY = "C"  # what points call it
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


def eigenvalue_costs(counts: Array, exponent: float, relative: bool = True) -> Array:
    """d_m = (e_m / e_1)^γ, (n_kernels,); as printed, e_m^γ, where they are not ``relative``.

    Examples
    --------
    >>> eigenvalue_costs(np.array([2, 8]), 0.5).tolist()
    [1.0, 2.0]
    """
    return np.asarray((counts / (counts[0] if relative else 1.0)) ** exponent)


# ---------------------------------------------------------------------- the machines of an estimator
class ClassifierOn:
    """The machines of a classifier on its samples."""

    def __init__(self, model: Any, X: Any, y: Array, sample_weight: Any) -> None:
        self.model = model
        self.Ks, self._problems, self.samples = model._prepare(X, y, sample_weight)

    def solve(self, starts: list[SolveResult] | None = None) -> list[Solved]:
        """At the present parameters and costs of the model."""
        return list(self.model._solve_all(self.Ks, self._problems, self.samples.weights, starts))

    def store(self, solutions: list[Solved]) -> None:
        """Keep solutions in the model."""
        self.model._store(solutions, self.samples)


class RegressorOn:
    """The machine of a regressor on its samples."""

    def __init__(self, model: Any, X: Any, y: Array, sample_weight: Any) -> None:
        self.model = model
        X, targets, self.samples = model._samples(X, y, sample_weight)
        self.Ks = model._fit_kernels(X, self.samples)
        self._problem, self._middle = model._problem(targets, self.samples.weights)

    def solve(self, starts: list[SolveResult] | None = None) -> list[Solved]:
        """At the present parameters and costs of the model."""
        problem, start = self._problem, starts[0] if starts else None
        losses = self.model._losses(problem, self.samples.weights)
        return [self.model._solve_machines(self.Ks, problem.rows, problem.names, losses, start=start)]

    def store(self, solutions: list[Solved]) -> None:
        """Keep solutions in the model."""
        self.model._store(solutions, self.samples)
        self.model._settle(self._middle)


@dataclass(frozen=True)
class Setting:
    """What a point means for the machines: the costs of their kernels, and their C where it is searched."""

    costs: Array
    C: float | None = None

    def apply(self, model: Any) -> None:
        """Give it to a model whose kernels are fitted."""
        model._costs = self.costs
        if self.C is not None:
            model.C = self.C

    @property
    def place(self) -> Array:
        """Where it is, on a logarithmic scale."""
        return np.log(np.append(self.costs, 1.0 if self.C is None else self.C))

    def start_from(self, other: "Setting", results: list[SolveResult]) -> list[SolveResult]:
        """Solutions of another setting as feasible ones of this: dual variables scale with C."""
        if self.C is None or self.C == other.C:
            return results
        assert other.C is not None
        scale = self.C / other.C
        return [replace(result, duals=result.duals * scale) for result in results]


# ---------------------------------------------------------------------- folds
class FoldModel:
    """The model of one fold, solved at one point after the other.

    To a scorer it is the model fitted at the last of them. Of the very table of validation samples that a
    scorer is given the kernels are kept; of any other they are computed.
    """

    _kind: Callable[..., Any]

    def __init__(self, model: Any) -> None:
        self.model = model

    def open(self, X: Any, y: Array, sample_weight: Array | None, train: Array, test: Array) -> Any:
        """Compute the kernels of the fold."""
        model = self.model
        X_train, y_train = _safe_split(model, X, y, train)
        X_test, self._y_test = _safe_split(model, X, y, test, train)
        own, self._weight_test = (None if sample_weight is None else sample_weight[s] for s in (train, test))
        self._machines = type(self)._kind(model, X_train, y_train, own)
        self._whole_bank, self._X_test = model._bank, X_test
        if isinstance(X_test, np.ndarray):
            X_test.flags.writeable = False  # the blocks are of these values
        if not model._precomputed:  # precomputed kernels are at hand in the table itself
            rows = model._validate_table(X_test, reset=False)
            self._blocks = np.moveaxis(model._bank.transform(rows), 2, 0)
        self._points: list[tuple[Setting, list[SolveResult]]] = []
        return self

    @cached_property
    def counts(self) -> Array:
        """The number of large eigenvalues of each kernel on the training part."""
        return count_large_eigenvalues(self._machines.Ks)

    @property
    def n_failed(self) -> int:
        """How many solutions did not reach the tolerance, though they had the time."""
        fine = (Status.OPTIMAL, *ENDED_EARLY)
        return sum(r.status not in fine for _, results in self._points for r in results)

    @property
    def n_solves(self) -> int:
        """How many times kernel weights were learned."""
        return sum(len(results) for _, results in self._points)

    def score_at(self, setting: Setting, scorer: Scorer) -> float:
        """The score on the validation samples of the model with this setting."""
        model, machines = self.model, self._machines
        setting.apply(model)
        model._bank = self._whole_bank
        solutions = machines.solve(self._nearest(setting))
        self._points.append((setting, [solved.result for solved in solutions]))
        machines.store(solutions)
        self.intercept_ = model.intercept_
        self._duals = np.concatenate([s.duals(machines.samples.rows.size) for s in solutions])
        self._factors = kernel_factors(solutions)
        weights = {} if self._weight_test is None else {"sample_weight": self._weight_test}
        return check_score(scorer(self, self._X_test, self._y_test, **weights))

    def _nearest(self, setting: Setting) -> list[SolveResult] | None:
        """The solutions at the nearest point so far."""
        if not self._points:
            return None
        place = setting.place
        distances = [float(np.linalg.norm(place - other.place)) for other, _ in self._points]
        return setting.start_from(*self._points[int(np.argmin(distances))])

    def _scores(self, X: Any) -> Array:
        if X is not self._X_test or self.model._precomputed:
            return np.asarray(self.model._scores(X))
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
        """Whatever else a scorer reads is the model's."""
        if name == "model" or name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.model, name)


class FoldClassifier(FoldModel, SearchedClassifier):
    """The classifier of one fold."""

    _kind = ClassifierOn

    def score_at(self, setting: Setting, scorer: Scorer) -> float:
        """The score on the validation samples of the classifier with this setting."""
        self.classes_, self._votes = self.model.classes_, self.model._votes
        return super().score_at(setting, scorer)


class FoldRegressor(FoldModel, RegressorMixin, BaseEstimator):
    """The regressor of one fold."""

    _kind = RegressorOn

    def predict(self, X: Any) -> Array:
        """Predicted values (n_samples,)."""
        return np.asarray((self._scores(X) + self.intercept_)[:, 0])


class DesignFolds:
    """All the folds, measured at the same point at the same time by a pool of threads."""

    def __init__(self, models: list[Any], scorer: Scorer, pool: Parallel) -> None:
        self.models, self.scorer, self.pool = models, scorer, pool
        self.scores: list[Array] = []

    def measure(self, setting_of: Callable[[Any], Setting]) -> float:
        """The mean score over the folds, which are kept; a setting may depend on what a fold has seen.

        It has twelve digits, so that means that differ by rounding are equally good.
        """

        def score(model: Any) -> float:
            return float(model.score_at(setting_of(model), self.scorer))

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
    make: Callable[[], Any],
    X: Any,
    y: Array,
    sample_weight: Array | None,
    splits: Sequence[Split],
    pool: Any,
) -> list[Any]:
    """The kernels of every fold, computed on its training part alone; ``make`` makes the model of a fold."""

    def opened(number: int, train: Array, test: Array) -> Any:
        try:
            return make().open(X, y, sample_weight, train, test)
        except ValueError as error:
            raise ValueError(f"fold {number} of cv cannot be used: {error}") from error

    return list(pool(delayed(carried(opened))(k, *split) for k, split in enumerate(splits)))


def check_max_samples(max_samples: Any) -> None:
    """A number of samples, a share of them, or None for all."""
    if max_samples is None:
        return
    if isinstance(max_samples, float | np.floating):
        if not 0.0 < max_samples <= 1.0:
            raise ValueError(f"max_samples, a share, must be above 0 and at most 1; got {max_samples!r}.")
    else:
        check_positive_integer("max_samples", max_samples)


def thin_out(splits: Sequence[Split], max_samples: Any, codes: Array | None, seed: Any) -> list[Split]:
    """Fewer training samples for each fold, drawn at random; validation parts stay as they are.

    With the ``codes`` of classes, each keeps its share, and at least one sample.

    Examples
    --------
    >>> [(train, test)] = thin_out([(np.arange(8), np.arange(8, 10))], 0.5, np.arange(10) % 2, 0)
    >>> train.size, test.size, int((train % 2).sum())
    (4, 2, 2)
    """
    if max_samples is None:
        return list(splits)
    rng = random_source(0 if seed is None else seed)
    thinned = []
    for train, test in splits:
        is_share = isinstance(max_samples, float | np.floating)
        share = float(max_samples) if is_share else min(1.0, int(max_samples) / train.size)
        groups = [train] if codes is None else [train[codes[train] == k] for k in np.unique(codes[train])]
        kept = [rng.permutation(rows)[: max(1, round(share * rows.size))] for rows in groups]
        thinned.append((np.sort(np.concatenate(kept)), test))
    return thinned


# ---------------------------------------------------------------------- searches
@dataclass(frozen=True)
class Chosen:
    """What a search found."""

    setting: Setting  # of the last model
    params: list[dict[str, float]]  # the points measured
    best: int  # which of them was chosen
    # surface, exponent: of the searches that have one
    surface: ResponseSurface | None = None
    exponent: float | None = None
    ended: Status | None = None  # why the search ended before its own end


def choose(model: Any, folds: DesignFolds, machines: Any, progress: SearchProgress) -> Chosen:
    """Search as the parameters of ``model`` say; ``machines`` are those on all the samples."""
    if model.method == "eigenvalue":
        return _choose_exponent(folds, machines, bool(model.relative), progress)
    names = machines.model.view_names_
    surface = _surface_of(model, names, machines.model.C)
    fixed = model.method == "weights"
    params: list[dict[str, float]] = []

    def setting(own_names: list[str], point: Point) -> Setting:
        values = np.array([point[name] for name in own_names])
        costs = 1.0 / np.sqrt(values) if fixed else values  # where p = ∞, μ_m = 1 / d_m²
        return Setting(costs, point[PENALTY] if model.search_C else None)

    def response(point: Point) -> float:
        total = 1.0 + sum(point[name] for name in names[1:]) if fixed else 1.0
        shares = {name: (point[name] if k else 1.0) / total for k, name in enumerate(names)}
        params.append(shares | ({PENALTY: point[PENALTY]} if model.search_C else {}))
        return 1.0 - folds.measure(lambda fold: setting(fold.model.view_names_, params[-1]))

    def report(entry: dict[str, Any]) -> bool:
        return progress(params[entry["evaluation"] - 1], 1.0 - entry["value"])

    surface.minimize(response, callback=report)
    best = surface.chosen_index_
    return Chosen(setting(names, params[best]), params, best, surface=surface)


def _surface_of(model: Any, names: list[str], C: float) -> ResponseSurface:
    """The factors of a search: costs or ratios of weights of all kernels but the first, and perhaps C."""
    width = 10.0**model.bound
    factors = {name: (1.0 / width, 1.0, width) for name in names[1:]}
    if model.search_C:
        if PENALTY in names:
            raise ValueError(
                "search_C=True names a factor of the search 'C', and one of the views has that name. Rename "
                "the view."
            )
        factors[PENALTY] = (C / width, C, C * width)
    return ResponseSurface(
        factors,
        delta=model.delta / model.bound,
        tol=_STILL / model.bound,
        max_steps=model.max_steps,
        degree=model.degree,
        rule=model.rule,
    )


def _choose_exponent(folds: DesignFolds, machines: Any, relative: bool, progress: SearchProgress) -> Chosen:
    """The best γ, of equally good ones the smallest; each fold counts the eigenvalues of its own kernels."""
    params: list[dict[str, float]] = []
    scores: list[float] = []

    def setting(counts: Array, exponent: float) -> Setting:
        return Setting(eigenvalue_costs(counts, exponent, relative))

    for exponent in EXPONENTS.tolist():
        params.append({"exponent": exponent})
        scores.append(folds.measure(lambda fold: setting(fold.counts, params[-1]["exponent"])))
        if progress(params[-1], scores[-1]):
            break
    best = int(np.argmax(scores))
    exponent = params[best]["exponent"]
    return Chosen(setting(count_large_eigenvalues(machines.Ks), exponent), params, best, exponent=exponent)


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

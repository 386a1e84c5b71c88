"""What is each view worth? Shapley values of views: the gain of a score, shared out fairly among them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import comb
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted

from ..._typing import Array
from ..._validation import check_choice, check_positive_integer
from ...core.estimator import KernelEstimator
from ...core.folds import random_source
from ...rows import count_rows
from ...views import KernelWarning, as_views, make_bank
from ...views.stacks import as_stack
from ...views.tables import as_tables
from ...views.view import kept_views, place_views
from ...viz import views as pictures
from ...viz.fitted import plain_tree
from ..found import FoundTable
from ..judging.answers import METRICS
from ..protocol import Samples
from ..repeated import folds_apart, group_numbers
from ..rivals.baselines import listed
from ..subject import Subject, subject_of
from .permutation import make_scoring, with_scores

FUNCTIONS, WEIGHTS, REFIT = METHODS = ("functions", "weights", "refit")
MOST_EXACT = 12  # views whose values are exact unless they are to be sampled
_PERMUTATIONS = 100
_TOLD = 3  # views that a sentence names

Game = Callable[[tuple[int, ...]], Array]  # the value of the views in it, on each fold


class NotAdditive(ValueError):
    """The scores of a model are no sums over views, so that views cannot be taken out of it as it is."""


@dataclass(frozen=True, eq=False)
class ViewShapley(FoundTable):
    """Shapley values of views.

    Attributes
    ----------
    method : {"functions", "weights", "refit"}
    table : DataFrame
        A row for each view, or group of views, indexed by view: ``shapley``; ``std_error`` of sampling, 0
        where the value is exact; ``std`` over the folds; ``alone``, the gain by the view alone, and
        ``beside_others``, what is lost without it (leave one view out).
    scoring : str
        What the score is called.
    score, score_without : float
        With all views, and with none.
    n_permutations : int or None
        How many orders of the views were sampled; None where the values are exact.
    fold_values : array of shape (n_views, n_folds)
        The values on each fold; one column for ``method="functions"``.
    answer : str
        What was found, in a sentence.
    """

    method: str
    table: pd.DataFrame = field(repr=False)
    scoring: str
    score: float
    score_without: float
    n_permutations: int | None
    fold_values: Array = field(repr=False)

    _picture = staticmethod(pictures.shapley)

    @property
    def answer(self) -> str:
        """What was found, in a sentence."""
        ordered = self.table.sort_values("shapley", ascending=False, kind="stable").head(_TOLD)
        told = [f"{name} {self._valued(row)}" for name, row in ordered.iterrows()]
        gain = self.score - self.score_without
        how = "exact" if self.n_permutations is None else f"sampled in {self.n_permutations} orders"
        change, result = ("lower", "loss") if gain < 0.0 else ("raise", "gain")
        return (
            f"All views together {change} {self.scoring} by {abs(gain):.3f}, from "
            f"{round(self.score_without, 3) + 0.0:.3f} to "
            f"{self.score:.3f}. Of this {result}, {listed(told)} (Shapley values, {how})."
        )

    def _valued(self, row: pd.Series) -> str:
        error = f" ± {row['std_error']:.3f}" if row["std_error"] > 0.0 else ""
        return f"has {row['shapley'] + 0.0:.3f}{error}"

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain numbers and texts, which JSON can hold.

        Returns
        -------
        dict
            ``method``, ``metric``, ``score``, ``score_without``, ``n_permutations``, ``answer`` and ``rows``,
            a dict for each view.
        """
        own = {name: getattr(self, name) for name in ("method", "score", "score_without", "n_permutations")}
        rows = self.table.reset_index().to_dict("records")
        return plain_tree({**own, "metric": self.scoring, "answer": self.answer, "rows": rows})


# ------------------------------------------------------------------ entry point
def view_shapley(
    model: Any,
    X: Any,
    y: Any,
    *,
    method: str = FUNCTIONS,
    groups: Mapping[str, Sequence[str]] | None = None,
    scoring: Any = None,
    cv: Any = 5,
    sample_groups: Any = None,
    n_permutations: int | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> ViewShapley:
    """Share out what a model gains by its views among them: the Shapley value of each.

    The value of a view is what it adds to the score, averaged over all orders in which the views may come in.
    The values sum to the gain by all views, whatever views say in common.

    Parameters
    ----------
    model : fitted estimator
        Of this library, or a pipeline or a search that ends in one; of a search, with the parameters that it
        found.
    X, y : as for its ``score``
        For "functions", samples that the model was not fitted to; else samples that copies are fitted to and
        judged on, by folds.
    method : {"functions", "weights", "refit"}, default="functions"
        What a model of some of the views is:

        - "functions": the fitted model, with what each of the other views adds to the score replaced by its
          median over the samples of X. Nothing is fitted;
        - "weights": the estimator fitted to the sum of the kernels with the weights that the model has
          learned, which are kept (their mean where machines have weights of their own);
        - "refit": the estimator fitted anew, weights and all, to these views.
    groups : dict of name -> list of views, default=None
        Views that come in together; None takes each by itself. Views in no group are groups of their own.
    scoring : str or callable, default=None
        A score as scikit-learn names it, or ``f(model, X, y)``; None is the ``score`` of the model: accuracy
        or R².
    cv : int, splitter or list of (train, test), default=5
        The folds of "weights" and "refit".
    sample_groups : array-like of shape (n_samples,), default=None
        Samples that belong together, such as those of one patient: they are on the same side of each fold.
    n_permutations : int, default=None
        How many orders of the views are sampled, in pairs of an order and its reverse. None is exact for up
        to 12 views or groups, and 100 beyond.
    random_state : int or RandomState, default=None
        Draws folds and orders; None always means the same ones.
    n_jobs : int, default=None
        Sets of views, or orders, looked at in parallel; -1 for all processors.

    Returns
    -------
    ViewShapley

    Raises
    ------
    NotAdditive
        For "functions", where the scores of the model are no sums over views.

    Notes
    -----
    With the score v(S) of the views in S, out of M,

        φ_m = Σ_{S ∌ m} |S|! (M − |S| − 1)! / M! · (v(S ∪ m) − v(S)).

    Without any view the model predicts the most frequent class, or the mean; for "functions", what it
    predicts where each view adds its median. Exact values take 2^M scores; "weights" and "refit" take as many
    fits on each fold, on one stack of Gram matrices. Sampled values have the standard error of the mean over
    the pairs of orders; they sum to the gain too. ``std`` is the spread over folds. As these share most of
    their samples, the standard error of a value is more than ``std`` over the root of the number of folds.

    For "weights" and "refit" equal rows count each, while a fit to a table counts them as one with more
    weight. The weights of "weights" are those of the model, which may have been fitted to the same samples.

    References
    ----------
    L. Shapley (1953). A value for n-person games. Contributions to the Theory of Games 2, 307-317.

    Examples
    --------
    >>> from multikernel import MKLClassifier, View
    >>> from multikernel.kernels import Gaussian
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 3))
    >>> y = X[:, 0] + X[:, 1] ** 2 > 1
    >>> views = [View(name, Gaussian(), [k]) for k, name in enumerate(["slope", "curve", "noise"])]
    >>> model = MKLClassifier(views).fit(X[:150], y[:150])
    >>> view_shapley(model, X[150:], y[150:]).to_frame()["shapley"].round(2).to_dict()
    {'slope': 0.09, 'curve': 0.19, 'noise': 0.0}
    """
    check_choice("method", method, METHODS)
    if n_permutations is not None:
        n_permutations = check_positive_integer("n_permutations", n_permutations)
    if not hasattr(model, "__sklearn_tags__"):
        raise TypeError(f"model must be a fitted estimator; got {type(model).__name__}.")
    check_is_fitted(model)
    subject = subject_of(model)
    players = _players(subject.views, groups)
    rng = random_source(0 if random_state is None else random_state)
    game = _game(method, subject, (X, y, sample_groups), scoring, cv, rng)
    if n_permutations is None and len(players) > MOST_EXACT:
        n_permutations = _PERMUTATIONS
    values = _Values(game, list(players.values()), n_jobs)
    found = _exact(values) if n_permutations is None else _sampled(values, n_permutations, rng)
    return _collected(method, list(players), values, found, n_permutations, _name_of(scoring, subject))


def _players(views: list[str], groups: Any) -> dict[str, tuple[int, ...]]:
    """Positions of the views that come in together, by name."""
    if groups is None:
        return {name: (m,) for m, name in enumerate(views)}
    if not isinstance(groups, Mapping) or not groups:
        raise TypeError(f"groups must be a dict of name -> list of views; got {groups!r}.")
    players: dict[str, tuple[int, ...]] = {}
    left = dict.fromkeys(views)
    for name, members in groups.items():
        listed_ = [members] if isinstance(members, str) else list(members)
        for member in listed_:
            if member not in left:
                why = "is in two groups" if member in views else f"is none of the views {views[:10]}"
                raise ValueError(f"groups: {member!r}, of group {name!r}, {why}.")
            del left[member]
        if not listed_:
            raise ValueError(f"groups: group {name!r} must hold one view at least; got none.")
        players[str(name)] = tuple(views.index(member) for member in listed_)
    twice = [name for name in left if name in players]
    if twice:
        raise ValueError(
            f"groups: {twice[0]!r} is the name of a view in no group; give the group another name."
        )
    return {**players, **{name: (views.index(name),) for name in left}}


def _name_of(scoring: Any, subject: Subject) -> str:
    if scoring is None:
        return METRICS.get(subject.task, "score")
    return scoring.replace("_", " ") if isinstance(scoring, str) else getattr(scoring, "__name__", "score")


# ------------------------------------------------------------------ what some of the views are worth
def _game(method: str, subject: Subject, data: tuple[Any, Any, Any], scoring: Any, cv: Any, rng: Any) -> Game:
    X, y, sample_groups = data
    if not isinstance(subject.final, KernelEstimator):
        raise TypeError(
            f"model must be an estimator on kernels; {type(subject.final).__name__} has no views."
        )
    if method == FUNCTIONS:
        return _of_functions(subject, X, y, scoring)
    why = subject.why_not_refitted()
    if why is not None:
        raise ValueError(f'method={method!r} fits copies of the model. {why} Use method="functions".')
    X = X if subject.is_precomputed and not subject.steps else as_tables(X)
    X = as_stack(X, at_fit=True) if subject.is_precomputed and not subject.steps else X
    samples = Samples(X, y, groups=group_numbers(sample_groups, count_rows(X), "sample_groups"))
    splits = folds_apart(cv, samples, subject.task, rng)
    folds = [_fold(method, subject, X, y, split, scoring) for split in splits]
    return lambda views: np.array([fold(views) for fold in folds])


def _of_functions(subject: Subject, X: Any, y: Any, scoring: Any) -> Game:
    """The fitted model, with the median over the samples instead of what each other view adds."""
    final, name = subject.final, type(subject.final).__name__
    if not hasattr(final, "contributions") or not final._adds_kernels:
        raise NotAdditive(f'the scores of {name} are no sums over views. Use method="refit".')
    table = final._validate_table(subject.inputs(X), reset=False)
    parts = np.asarray(final.contributions(table), dtype=np.float64)
    parts = parts[:, None] if parts.ndim == 2 else parts
    usual = np.median(parts, axis=0, keepdims=True)  # a mean would follow a single sample far away
    score = make_scoring(Subject(final, final), scoring, y, None)

    def value(views: tuple[int, ...]) -> Array:
        kept = usual.repeat(len(parts), axis=0)
        kept[:, :, list(views)] = parts[:, :, list(views)]
        return np.array([score(with_scores(final, table, lambda: kept.sum(axis=2)), table)])

    whole = value(tuple(range(parts.shape[2])))[0]
    if abs(whole - score(final, table)) > 1e-6 * max(1.0, abs(whole)):
        raise NotAdditive(f'the predictions of {name} are not those of sums over views. Use method="refit".')
    return value


def _fold(method: str, subject: Subject, X: Any, y: Any, split: tuple[Array, Array], scoring: Any) -> Any:
    """What the views are worth on one fold, by a function of their positions."""
    train, test = split
    targets = _safe_indexing(y, train), _safe_indexing(y, test)
    prototype = subject.final
    machine = clone(prototype)
    known = machine.get_params(deep=False)
    quiet: dict[str, Any] = {"callback": None, "verbose": 0}
    if scoring is None:  # probabilities cost five fits more
        quiet["probability"] = False
    machine.set_params(**{name: value for name, value in quiet.items() if name in known})
    tables = _tables_of_fold(subject, X, targets[0], split)
    empty = _without_views(prototype, targets, tables, scoring)
    stacks = _stacks(subject, tables, method)
    if stacks is None:
        placed = place_views(as_views(prototype.kernels), tables[0])
        return _Refits(machine, placed, subject.views, tables, targets, scoring, empty)
    return _OnStack(machine, stacks, targets, scoring, empty, _weights(prototype, method))


def _tables_of_fold(subject: Subject, X: Any, y_train: Any, split: tuple[Array, Array]) -> tuple[Any, Any]:
    """Training and test part, behind the steps of a pipeline, fitted to the training part."""
    train, test = split
    if subject.is_precomputed and not subject.steps:
        stack = np.asarray(X)
        return stack[np.ix_(train, train)], stack[np.ix_(test, train)]
    tables = _safe_indexing(X, train), _safe_indexing(X, test)
    if not subject.steps:
        return tables
    steps = Pipeline([(f"step{k}", clone(step)) for k, step in enumerate(subject.steps)])
    return steps.fit_transform(tables[0], y_train), steps.transform(tables[1])


def _without_views(final: Any, targets: tuple[Any, Any], tables: tuple[Any, Any], scoring: Any) -> float:
    """The score of what is predicted without any view."""
    n_train, n_test = count_rows(tables[0]), count_rows(tables[1])
    dummy = DummyClassifier(strategy="prior") if hasattr(final, "classes_") else DummyRegressor()
    dummy.fit(np.zeros((n_train, 1)), targets[0])
    return make_scoring(Subject(dummy, dummy), scoring, targets[1], None)(dummy, np.zeros((n_test, 1)))


def _weights(final: Any, method: str) -> Array | None:
    if method == REFIT:
        return None
    weights = getattr(final, "kernel_weights_", None)
    if weights is None:
        raise ValueError(f'{type(final).__name__} has no kernel_weights_ to keep. Use method="refit".')
    return np.asarray(weights, dtype=np.float64)


def _stacks(subject: Subject, tables: tuple[Any, Any], method: str) -> tuple[Array, Array] | None:
    """Gram matrices of the fold, (n_kernels, n_train, n_train) and (n_kernels, n_test, n_train).

    None where a model on them is not one on the tables, and views have to be left out one by one.
    """
    final = subject.final
    if final._precomputed:
        return np.moveaxis(np.asarray(tables[0]), 2, 0), np.moveaxis(np.asarray(tables[1]), 2, 0)
    usual = getattr(final, "missing_", "error") == "error" and getattr(final, "gram_", "dense") != "low_rank"
    if usual and not final._reads_columns and not kept_views(final.kernels):
        bank = make_bank(final.kernels, gram="dense", **final._bank_options)
        train = np.asarray(bank.fit_stack(tables[0]))
        if list(bank.view_names_) == subject.views:
            return train, np.moveaxis(np.asarray(bank.transform(tables[1])), 2, 0)
    if method == WEIGHTS:
        raise ValueError(
            f"{type(final).__name__}, as it was fitted, cannot be fitted to one sum of its kernels: it uses "
            "low-rank factors, samples that lack views, views with a least weight, or columns. Use "
            'method="refit" or "functions".'
        )
    return None


@dataclass(frozen=True, eq=False)
class _OnStack:
    """Models of some of the kernels of one fold, on one stack of Gram matrices."""

    machine: Any
    stacks: tuple[Array, Array]
    targets: tuple[Any, Any]
    scoring: Any
    empty: float
    weights: Array | None

    def __call__(self, views: tuple[int, ...]) -> float:
        chosen = [m for m in views if self.weights is None or self.weights[m] != 0.0]
        if not chosen:
            return self.empty
        if self.weights is None:
            train, test = (np.moveaxis(Ks[chosen], 0, 2) for Ks in self.stacks)
            costs = getattr(self.machine, "costs", None)
            changed: dict[str, Any] = {} if costs is None else {"costs": self._costs(chosen)}
        else:
            train, test = (
                np.tensordot(self.weights[chosen], Ks[chosen], axes=1)[:, :, None] for Ks in self.stacks
            )
            changed = {} if getattr(self.machine, "costs", None) is None else {"costs": None}
        model = clone(self.machine).set_params(kernels="precomputed", **changed)
        return _fitted_score(model, (train, test), self.targets, self.scoring)

    def _costs(self, chosen: list[int]) -> Array:
        costs = self.machine.costs
        values = list(costs.values()) if isinstance(costs, Mapping) else costs
        return np.asarray(values, dtype=np.float64)[chosen]


@dataclass(frozen=True, eq=False)
class _Refits:
    """Models of some of the views of one fold, fitted to tables."""

    machine: Any
    placed: list[Any]
    names: list[str]
    tables: tuple[Any, Any]
    targets: tuple[Any, Any]
    scoring: Any
    empty: float

    def __call__(self, views: tuple[int, ...]) -> float:
        if not views:
            return self.empty
        names = {self.names[m] for m in views}
        model = clone(self.machine)
        kernels = model.kernels
        chosen = [view for view in self.placed if view.name in names]
        if hasattr(kernels, "fit_stack"):
            chosen = clone(kernels).set_params(kernels=chosen)
        return _fitted_score(model.set_params(kernels=chosen), self.tables, self.targets, self.scoring)


def _fitted_score(model: Any, tables: tuple[Any, Any], targets: tuple[Any, Any], scoring: Any) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KernelWarning)  # of models that nobody asked for
        model.fit(tables[0], targets[0])
    return make_scoring(Subject(model, model), scoring, targets[1], None)(model, tables[1])


# ------------------------------------------------------------------ Shapley values
class _Values:
    """Values of sets of players, each computed once; sets are tuples of player numbers."""

    def __init__(self, game: Game, players: list[tuple[int, ...]], n_jobs: int | None) -> None:
        self.game, self.players, self.n_jobs = game, players, n_jobs
        self.known: dict[tuple[int, ...], Array] = {}

    def of(self, players: tuple[int, ...]) -> Array:
        return self.known[players]

    def compute(self, sets: list[tuple[int, ...]]) -> None:
        new = [chosen for chosen in dict.fromkeys(sets) if chosen not in self.known]
        views = [tuple(sorted(m for k in chosen for m in self.players[k])) for chosen in new]
        found = Parallel(n_jobs=self.n_jobs)(delayed(self.game)(chosen) for chosen in views)
        self.known |= dict(zip(new, found, strict=True))


def _exact(values: _Values) -> tuple[Array, Array]:
    """Values (n_players, n_folds), and their standard errors, which are 0."""
    n = len(values.players)
    every = [tuple(k for k in range(n) if bits >> k & 1) for bits in range(2**n)]
    values.compute(every)
    shares = [1.0 / (n * comb(n - 1, size)) for size in range(n)]
    total = np.zeros((n, values.of(()).size))
    for chosen in every:
        for k in range(n):
            if k not in chosen:
                gain = values.of(tuple(sorted((*chosen, k)))) - values.of(chosen)
                total[k] += shares[len(chosen)] * gain
    return total, np.zeros(n)


def _sampled(values: _Values, n_permutations: int, rng: np.random.RandomState) -> tuple[Array, Array]:
    """Means over orders of the players; standard errors over the pairs of an order and its reverse."""
    n, pairs = len(values.players), max((n_permutations + 1) // 2, 2)
    drawn = [rng.permutation(n) for _ in range(pairs)]
    orders = [order for first in drawn for order in (first, first[::-1])]
    values.compute([tuple(sorted(map(int, order[:k]))) for order in orders for k in range(n + 1)])
    gains = np.zeros((pairs, n, values.of(()).size))
    for number, order in enumerate(orders):
        reached = [values.of(tuple(sorted(map(int, order[:k])))) for k in range(n + 1)]
        gains[number // 2, order] += 0.5 * np.diff(reached, axis=0)
    errors = gains.mean(axis=2).std(axis=0, ddof=1) / np.sqrt(pairs)
    return gains.mean(axis=0), errors


def _collected(
    method: str, names: list[str], values: _Values, found: tuple[Array, Array], n_permutations: int | None,
    scoring: str,
) -> ViewShapley:  # fmt: skip
    shapley, errors = found
    n = len(names)
    every = tuple(range(n))
    values.compute([(k,) for k in every] + [tuple(j for j in every if j != k) for k in every] + [every, ()])
    whole, empty = values.of(every), values.of(())
    several = shapley.shape[1] > 1
    table = pd.DataFrame(
        {
            "shapley": shapley.mean(axis=1),
            "std_error": errors,
            "std": shapley.std(axis=1, ddof=1) if several else np.nan,
            "alone": [float((values.of((k,)) - empty).mean()) for k in every],
            "beside_others": [
                float((whole - values.of(tuple(j for j in every if j != k))).mean()) for k in every
            ],
        },
        index=pd.Index(names, name="view"),
    )
    score, without = float(whole.mean()), float(empty.mean())
    return ViewShapley(method, table, scoring, score, without, n_permutations, shapley)

"""Weights and alpha of each target, chosen by leave-one-out or folds: ``MKLRidgeCV(targets="each")``.

Candidates are sets of weights on the simplex Σ_m d_m² μ_m = 1: the corners, equal weights, the weights of the
convex problem that all targets share (at each alpha, on a few random mixes of the targets), and draws. With
``refine`` the convex problem of each target is solved at its alpha, from its candidate, and its weights are
taken where their error is smaller.
"""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..._typing import Array
from ..._validation import check_number, check_positive_integer, warn_caller
from ...core.callbacks import callback_of
from ...core.estimator import Solved, worst_status
from ...core.folds import random_source
from ...core.inputs import check_sample_weights, require_y
from ...core.optim.loop import Options, SearchProgress, Status, is_over, limited, time_left
from ...core.search.grid import Data
from ...core.search.selection import adopt, forget, seed_of, split_samples
from ...core.svm.losses import SquaredError
from ...core.weights.learn import learn_weights
from ...core.weights.loop import SolveResult
from .each import ManyTargets, Pattern, check_many, refuse_rescaled, solve_each, store_each
from .results import Problem, at_fixed_weights, in_units_of, results_at
from .solver.basis import make_basis
from .solver.candidates import draw_candidates
from .solver.search import Chosen, Criterion, search

_MIXES = 20  # random mixes of the targets, for the weights that all of them would share
_SEARCH_SHARE = 0.7  # of the time that is left
_PATH_TOL = 1e-2


# ---------------------------------------------------------------------- the fit
@dataclass
class Search:
    """What is chosen for each target, while patterns are tried one after the other."""

    alphas: Array
    candidates: Array  # (n_candidates, n_kernels), in units of the kernels
    choice: Array  # (T,), the number of the candidate
    alpha_choice: Array  # (T,)
    errors: Array  # (T,)
    table: Array  # (n_candidates, T)
    out_of_fold: Array  # (n, T) of the samples
    refined: Array  # (T,)
    gaps: Array  # (T,), of the weights in the convex problems
    row_weights: Array  # (n,)
    progress: SearchProgress
    n_solves: int = 0
    stopped: bool = False
    models: dict[int, Solved] = field(default_factory=dict)

    def note(self, number: int, errors: Array) -> bool:
        """Show a candidate; whether to stop."""
        known = errors[np.isfinite(errors)]
        score = -float(known.mean()) if known.size else float("-inf")
        self.n_solves += 1
        self.stopped = self.progress({"candidate": float(number)}, score) or self.stopped
        return self.stopped


def fit_chosen(model: Any, X: Any, y: Any, sample_weight: Any, groups: Any) -> None:
    """Choose weights and alpha of each target, then store their models."""
    require_y(model, y)
    _check_settings(model)
    machine = model._machine(model.kernels, targets="each", random_state=seed_of(model))
    many = check_many(machine, X, y, sample_weight, merge=model.cv is None)
    if sample_weight is not None:
        sample_weight = check_sample_weights(sample_weight, len(many.values))
    Ks = machine._fit_kernels(many.X, many.samples)
    refuse_rescaled(machine)
    folds = _folds(model, machine, many, groups)
    found = _begin(model, machine, many, Ks)
    middles = np.zeros(len(many.names))
    for pattern in many.patterns:
        problem = many.problem(machine, Ks, pattern)
        middles[pattern.targets] = problem.middle
        _fit_pattern(model, machine, (many, pattern, problem), folds, found)
    forget(model)
    _show(model, found, many, 1 if folds is None else len(folds))
    if not model.refit:
        model.view_names_, model.n_features_in_ = machine.view_names_, getattr(machine, "n_features_in_", 0)
        return
    machine.alpha = model.alpha_ if not many.one else float(model.alpha_[0])
    machine._one_output = many.one
    store_each(machine, [found.models[k] for k in range(len(many.names))], many, middles)
    adopt(model, machine)
    data = Data(machine, many.X, many.values if not many.one else many.values[:, 0], Ks, many.values,
                many.samples, sample_weight, sample_weight)  # fmt: skip
    model._learn_from_folds(data)
    _finish(model, machine, found)


def _fit_pattern(
    model: Any, machine: Any, of: tuple[ManyTargets, Pattern, Problem], folds: Any, found: Search
) -> None:
    """Search for the targets of a pattern, refine where asked, and note what was found."""
    many, pattern, problem = of
    own = pattern.targets
    rows, places = _rows_of(pattern, many)
    criterion = Criterion(
        _folds_of(folds, pattern, many), bool(model.halving), (places, found.row_weights[rows])
    )
    basis = make_basis(np.asarray(problem.Ks), problem.Y, problem.weights, problem.intercept)
    with limited(_SEARCH_SHARE * time_left()):
        chosen = search(basis, found.candidates, found.alphas, criterion, found.note)
    alphas, mu = found.alphas[chosen.alphas], found.candidates[chosen.candidates]
    duals = np.sqrt(problem.weights)[:, None] * chosen.duals
    results, gaps = results_at(problem, alphas, mu, duals)
    if model.refine and not found.stopped:
        names = [many.names[k] for k in own]
        results = _refined(machine, problem, (alphas, names, criterion), results, chosen, found.refined, own)
    found.gaps[own] = [result.gap for result in results]
    results = [
        result if found.refined[k] else at_fixed_weights(result, float(gap))
        for k, result, gap in zip(own, results, gaps, strict=True)
    ]
    for k, alpha, result in zip(own, alphas, model._final(problem, alphas, results), strict=True):
        solved = in_units_of(result, float(alpha))
        found.models[int(k)] = Solved(solved, pattern.places, [many.names[k]])
    found.choice[own], found.alpha_choice[own] = chosen.candidates, alphas
    found.errors[own], found.table[:, own] = chosen.errors, chosen.table
    found.out_of_fold[np.ix_(rows, own)] = many.values[np.ix_(rows, own)] - chosen.residuals


def _refined(
    machine: Any,
    problem: Problem,
    at: tuple[Array, list[str], Criterion],
    starts: list[SolveResult],
    chosen: Chosen,
    refined: Array,
    own: Array,
) -> list[SolveResult]:
    """The convex solutions of the targets where their error is smaller than that of the candidate."""
    alphas, names, criterion = at
    basis = make_basis(np.asarray(problem.Ks), problem.Y, problem.weights, problem.intercept)
    results = list(starts)
    for k, result in enumerate(solve_each(machine, problem, alphas, starts, names)):
        if result is starts[k]:
            refined[own[k]] = True  # the candidate is the solution
            continue
        one = search(
            basis.of_target(k), result.weights[None], alphas[[k]], replace(criterion, screen=False), _go_on
        )
        if one.errors[0] < chosen.errors[k]:
            results[k], refined[own[k]] = result, True
            chosen.errors[k], chosen.residuals[:, k] = one.errors[0], one.residuals[:, 0]
    return results


def _go_on(number: int, errors: Array) -> bool:
    return False


def _rows_of(pattern: Pattern, many: ManyTargets) -> tuple[Array, Array]:
    """The rows of a pattern, and the places of their samples among those of the pattern."""
    new = np.full(many.samples.rows.size + 1, -1)  # the last is that of −1
    new[pattern.places] = np.arange(pattern.places.size)
    places = new[many.samples.group]
    rows = np.flatnonzero(places >= 0)
    return rows, places[rows]


# ---------------------------------------------------------------------- candidates
def _begin(model: Any, machine: Any, many: ManyTargets, Ks: Any) -> Search:
    T, n = len(many.names), len(many.values)
    alphas = np.array([check_number("alphas", alpha, above=0.0) for alpha in model._grid["alpha"]])
    candidates = _candidates(model, machine, many, Ks, alphas)
    return Search(
        alphas, candidates, np.zeros(T, np.intp), np.ones(T), np.full(T, np.inf),
        np.full((len(candidates), T), np.nan), np.full((n, T), np.nan), np.zeros(T, bool), np.zeros(T),
        many.row_weights, SearchProgress(model.verbose, callback_of(model)),
    )  # fmt: skip


def _candidates(model: Any, machine: Any, many: ManyTargets, Ks: Any, alphas: Array) -> Array:
    """The sets of weights to choose from (n_candidates, n_kernels), with Σ_m d_m² μ_m = 1."""
    n_kernels = len(Ks)
    if np.ndim(model.candidates) == 0:
        count = int(model.candidates)
        path = np.zeros((0, n_kernels))
        if n_kernels > 1 and count > n_kernels + 1:
            path = _shared_path(machine, many, Ks, alphas[: count - n_kernels - 1])
        seed = 0 if machine.random_state is None else machine.random_state
        simplex = draw_candidates(n_kernels, count, random_source(seed), path)
        floor = machine._floor  # of kept views
        return np.asarray((floor + (1.0 - floor.sum()) * simplex) / machine._costs**2)
    try:
        given = np.asarray(model.candidates, float)
    except (TypeError, ValueError) as error:
        raise TypeError(f"candidates must be a number or an array; got {model.candidates!r}.") from error
    if given.ndim != 2 or given.shape[1] != n_kernels or not len(given):
        raise ValueError(
            f"candidates must have shape (n_candidates, {n_kernels}), a weight for each view; got shape "
            f"{given.shape}."
        )
    bad = ~np.isfinite(given) | (given < 0.0)
    if bad.any() or not given.any(axis=1).all():
        raise ValueError("candidates must be nonnegative and finite, with a positive weight in each row.")
    if machine._floor.any():
        raise ValueError(
            f"candidates must be a number where views are kept; got an array, and keep of view "
            f"{machine.kept_views_[0]!r}. Leave keep out, and give candidates in which the view has weight."
        )
    return given


def _shared_path(machine: Any, many: ManyTargets, Ks: Any, alphas: Array) -> Array:
    """The weights that all targets would share at each alpha, learned on random mixes of the targets."""
    values, weights = many.of_samples, many.samples.weights
    known = np.isfinite(values)
    filled = np.where(known, values, 0.0)
    middle = filled.sum(axis=0) / known.sum(axis=0)
    centered = np.where(known, values - middle, 0.0)
    centered /= np.sqrt((centered**2).sum(axis=0) / len(centered))
    if centered.shape[1] > _MIXES:
        signs = np.random.RandomState(0).choice([-1.0, 1.0], size=(centered.shape[1], _MIXES))
        centered = centered @ signs / np.sqrt(centered.shape[1])
    found: list[SolveResult] = []
    for alpha in np.sort(alphas)[::-1]:
        ridge = float(alpha) / weights
        losses = [SquaredError(target, ridge, bool(machine.fit_intercept)) for target in centered.T]
        options = Options(tol=_PATH_TOL, max_iter=machine.max_iter, seed=0)
        start = found[-1] if found else None
        found.append(learn_weights(Ks, losses, costs=machine._costs, options=options, start=start))
        if is_over():
            break
    path = np.array([result.weights for result in found]) * machine._costs**2
    return np.unique(path.round(4), axis=0)


# ---------------------------------------------------------------------- settings and folds
def _check_settings(model: Any) -> None:
    """Refuse what means nothing where each target has weights of its own."""
    defaults = type(model)()
    for name in ("norms", "normalizations", "scoring", "rule"):
        value = getattr(model, name)
        if not np.array_equal(value, getattr(defaults, name)):
            raise ValueError(
                f"targets='each' does not read {name}; got {value!r}. Leave {name} out, or use "
                "targets='shared'."
            )
    if np.ndim(model.candidates) == 0:
        check_positive_integer("candidates", model.candidates)


def _folds(model: Any, machine: Any, many: ManyTargets, groups: Any) -> list[Array] | None:
    """The places of the samples of each fold; None for leave-one-out."""
    if model.cv is None:
        if groups is not None:
            raise ValueError("groups need a cv that reads them, such as GroupKFold(5); got cv=None.")
        return None
    splits = split_samples(
        model.cv, many.X, np.nan_to_num(many.values[:, 0]), many.samples, machine.random_state,
        classifier=False, groups=groups,
    )  # fmt: skip
    place = many.samples.group
    used = np.flatnonzero(place >= 0)
    for number, (train, test) in enumerate(splits):
        train, test = (rows[place[rows] >= 0] for rows in (train, test))
        if not np.array_equal(np.sort(np.r_[train, test]), used):
            raise ValueError(
                "targets='each' needs a cv that trains on all samples outside of each validation part, such "
                f"as KFold or GroupKFold; fold {number} has {train.size} training and {test.size} validation "
                f"samples of {used.size}. Use such a cv, or GridSearchCV on MKLRidge(targets='each')."
            )
    return [place[test[place[test] >= 0]] for _, test in splits]


def _folds_of(folds: list[Array] | None, pattern: Pattern, many: ManyTargets) -> list[Array] | None:
    """The folds as places in the samples of a pattern."""
    if folds is None:
        return None
    new = np.full(many.samples.rows.size, -1)
    new[pattern.places] = np.arange(pattern.places.size)
    kept = []
    for number, fold in enumerate(folds):
        rows = new[fold]
        rows = rows[rows >= 0]
        if pattern.places.size - rows.size < 2:
            raise ValueError(
                f"each target must be observed on at least 2 samples outside of each fold; target "
                f"{many.names[pattern.targets[0]]!r} is observed on {pattern.places.size - rows.size} "
                f"outside of fold {number}. Leave it out, use fewer folds, or cv=None."
            )
        if rows.size:
            kept.append(rows)
    return kept


# ---------------------------------------------------------------------- what is shown
def _show(model: Any, found: Search, many: ManyTargets, n_splits: int) -> None:
    model.alpha_ = found.alpha_choice
    model.norm_ = 1.0
    model.candidates_ = found.candidates
    model.best_index_ = found.choice
    model.best_score_ = -found.errors
    model.candidate_scores_ = -found.table
    model.refined_, model.target_gaps_ = found.refined, found.gaps
    model.target_names_ = list(many.names)
    model.n_splits_, model.n_solves_ = n_splits, found.n_solves
    model.out_of_fold_ = found.out_of_fold[:, 0] if many.one else found.out_of_fold
    for name in ("best_params_", "cv_results_"):  # of a fit with shared weights before
        model.__dict__.pop(name, None)


def _finish(model: Any, machine: Any, found: Search) -> None:
    """The status, and a warning where the time ended the search."""
    ended = found.progress.ended or (Status.INTERRUPTED if found.stopped else None)
    model._warn_unless_converged()
    if ended is None:
        return
    model.status_ = worst_status([Status(model.status_), ended])
    if ended == Status.MAX_TIME:
        warn_caller(
            f"{type(model).__name__}: max_time={model.max_time:g} seconds ended the search after "
            f"{found.n_solves} sets of weights; the best until then are taken. Raise max_time, or lower "
            "candidates.",
            ConvergenceWarning,
        )

"""Targets as they are given, some of them observed on part of the samples, and the convex problem of each.

Targets that are observed on the same samples are one pattern: they are solved on the same part of the stack.
The weights of a target start at the best of a few candidates, which are judged for all targets by one
eigendecomposition each; targets whose gap is small there are done, the others are solved from there.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..._typing import Array
from ..._validation import check_number, is_frame
from ...core.estimator import Solved, on_rows
from ...core.inputs import Samples, all_samples, check_sample_weights, check_targets
from ...core.optim.loop import Status, reason_to_stop
from ...core.svm.losses import SquaredError
from ...core.weights.loop import SolveResult
from .results import Problem, in_units_of, results_at
from .solver.basis import make_basis, stratify
from .solver.candidates import draw_candidates
from .solver.spectrum import Spectrum

TARGETS = ("shared", "each")
_STARTS = 10  # draws beside the corners
_LARGEST = 1e100  # squares of targets are held by floating point


@dataclass(frozen=True)
class Pattern:
    """Targets that are observed on the same samples: places of these, numbers of the targets."""

    places: Array
    targets: Array


@dataclass(frozen=True)
class ManyTargets:
    """The checked table, its samples, and their targets."""

    X: Any
    samples: Samples
    values: Array  # (n, n_targets) of the rows, NaN where not observed
    names: list[str]
    one: bool  # whether y had one dimension

    @property
    def of_samples(self) -> Array:
        """The targets of the samples that count."""
        return self.values[self.samples.rows]

    @property
    def row_weights(self) -> Array:
        """The weight of each row (n,)."""
        group = self.samples.group
        return np.asarray(np.where(group >= 0, self.samples.weights[group] * self.samples.share, 0.0))

    @property
    def patterns(self) -> list[Pattern]:
        return [Pattern(*found) for found in stratify(np.isfinite(self.of_samples))]

    def problem(self, model: Any, Ks: Any, pattern: Pattern) -> Problem:
        """The regressions of a pattern."""
        Y = self.of_samples[np.ix_(pattern.places, pattern.targets)]
        part = on_rows(Ks, pattern.places)
        return Problem(part, Y, self.samples.weights[pattern.places], model._costs, bool(model.fit_intercept))


# ---------------------------------------------------------------------- targets as they are given
def names_of_targets(y: Any, n_targets: int) -> list[str]:
    """The columns of a frame, or the numbers of the targets."""
    columns = list(getattr(y, "columns", []))  # of any frame
    if len(columns) != n_targets:
        return [str(k) for k in range(n_targets)]
    names = [str(column) for column in columns]
    repeated = [name for place, name in enumerate(names) if name in names[:place]]
    if repeated:
        raise ValueError(f"the columns of y must be distinct; {repeated[0]!r} is there twice. Rename one.")
    return names


def check_many(model: Any, X: Any, y: Any, sample_weight: Any, *, merge: bool = True) -> ManyTargets:
    """Check the table, and targets of which some may not be observed on all samples.

    Equal rows with equal targets are one sample where ``merge`` is true.
    """
    X = model._validate_table(X, reset=True)
    if is_frame(y):
        names_of_targets(y, y.shape[1])  # refuses repeated names
    one = y is not None and np.asarray(y).ndim == 1
    values = check_targets(model, X, y, multi_output=True, may_lack_values=not one)
    if len(values) < 2:
        raise ValueError(f"targets='each' needs at least 2 samples; got {len(values)} sample.")
    weights = check_sample_weights(sample_weight, len(values))
    samples = model._distinct(X, values, weights) if merge else all_samples(weights)
    names = names_of_targets(y, values.shape[1])
    _require_values(values[samples.rows], names)
    return ManyTargets(X, samples, values, names, one)


def _require_values(values: Array, names: Sequence[str]) -> None:
    """Refuse targets from which nothing can be learned, by their names."""
    known = np.isfinite(values)
    counts = known.sum(axis=0)
    few = np.flatnonzero(counts < 2)
    if few.size:
        raise ValueError(
            f"each target must be observed on at least 2 samples; target {names[few[0]]!r} is observed on "
            f"{counts[few[0]]}{_others(few.size)}. Leave it out, or add samples."
        )
    sizes = np.max(np.abs(np.where(known, values, 0.0)), axis=0)
    beyond = np.flatnonzero((sizes > _LARGEST) | ((sizes > 0.0) & (sizes < 1.0 / _LARGEST)))
    if beyond.size:
        raise ValueError(
            f"the values of each target must lie between {1.0 / _LARGEST:g} and {_LARGEST:g} in size; those "
            f"of target {names[beyond[0]]!r} go up to {sizes[beyond[0]]:.1e}. Rescale it."
        )
    lowest = np.min(np.where(known, values, np.inf), axis=0)
    highest = np.max(np.where(known, values, -np.inf), axis=0)
    constant = np.flatnonzero(lowest == highest)
    if constant.size:
        raise ValueError(
            f"each target must have at least two different values; target {names[constant[0]]!r} is "
            f"{lowest[constant[0]]:g} wherever it is observed{_others(constant.size)}. Leave it out."
        )


def _others(count: int) -> str:
    return f" (and {count - 1} more targets)" if count > 1 else ""


def check_alphas_of_targets(alpha: Any, names: Sequence[str]) -> Array:
    """One positive alpha for each target; one number stands for all."""
    if np.ndim(alpha) == 0:
        return np.full(len(names), check_number("alpha", alpha, above=0.0))
    if np.shape(alpha) != (len(names),):
        raise ValueError(
            f"alpha must be a number, or one number for each of the {len(names)} targets; got shape "
            f"{np.shape(alpha)}."
        )
    return np.array([check_number("alpha", value, above=0.0) for value in alpha])


# ---------------------------------------------------------------------- the convex problem of each target
def fit_each(model: Any, X: Any, y: Any, sample_weight: Any) -> None:
    """Learn the weights of each target: the fit of ``MKLRidge(targets="each")``."""
    many = check_many(model, X, y, sample_weight)
    alphas = check_alphas_of_targets(model.alpha, many.names)
    Ks = model._fit_kernels(many.X, many.samples)
    refuse_rescaled(model)
    results: dict[int, Solved] = {}
    middles = np.zeros(len(many.names))
    for pattern in many.patterns:
        problem = many.problem(model, Ks, pattern)
        middles[pattern.targets] = problem.middle
        starts = best_starts(problem, alphas[pattern.targets])
        names = [many.names[k] for k in pattern.targets]
        solved = solve_each(model, problem, alphas[pattern.targets], starts, names)
        for k, name, result in zip(pattern.targets, names, solved, strict=True):
            results[int(k)] = Solved(in_units_of(result, float(alphas[k])), pattern.places, [name])
    store_each(model, [results[k] for k in range(len(many.names))], many, middles)


def refuse_rescaled(model: Any) -> None:
    """Refuse scales of samples that depend on the weights: the weights differ from target to target."""
    if model.missing_ in ("renormalize", "absent"):
        raise ValueError(
            f"targets='each' does not support missing={model.missing_!r}. Use "
            "KernelBank(kernels, missing='mean') or 'complete'."
        )


def store_each(model: Any, solved: list[Solved], many: ManyTargets, middles: Array) -> None:
    """Keep the models of all targets."""
    model._store(solved, many.samples)
    model.intercept_ = model.intercept_ + middles
    model.target_names_ = list(many.names)
    model.target_gaps_ = np.array([part.result.gap for part in solved])
    model._one_output = many.one


def solve_each(
    model: Any, problem: Problem, alphas: Array, starts: Sequence[SolveResult], names: Sequence[str]
) -> Iterator[SolveResult]:
    """The convex problem of each target to the model's tolerance, from starts that may be solutions."""
    plain = float(model.norm) == 1.0 and not model._floor.any() and model.max_kernels is None
    middle = problem.middle
    over: Status | None = None
    for k, start in enumerate(starts):
        over = over or reason_to_stop()
        if plain and start.gap <= model.tol:
            yield start
            continue
        if plain and over is not None:
            yield replace(start, status=over)
            continue
        loss = SquaredError(
            problem.Y[:, k] - middle[k], float(alphas[k]) / problem.weights, problem.intercept
        )
        result = model._learn(problem.Ks, [loss], start=start, label=f"target {names[k]} ")
        over = Status.INTERRUPTED if result.status == Status.INTERRUPTED else None
        yield result


def best_starts(problem: Problem, alphas: Array) -> list[SolveResult]:
    """The best of a few candidates for each target, by the value of its problem."""
    n_kernels, T = len(problem.Ks), problem.Y.shape[1]
    path = np.zeros((0, n_kernels))
    candidates = draw_candidates(n_kernels, n_kernels + 1 + _STARTS, np.random.RandomState(0), path)
    candidates = candidates / problem.costs**2
    basis = make_basis(np.asarray(problem.Ks), problem.Y, problem.weights, problem.intercept)
    least, mu = np.full(T, np.inf), np.zeros((T, n_kernels))
    duals = np.zeros(problem.Y.shape)
    roots = np.sqrt(problem.weights)
    groups = [(alpha, np.flatnonzero(alphas == alpha)) for alpha in np.unique(alphas)]
    for weights in candidates:
        spectrum = Spectrum.at(basis, weights)
        for alpha, own in groups:
            Z = spectrum.rotate(own)
            values = spectrum.values_of(Z, own, np.array([alpha]))[0]
            better = values < least[own]
            kept = own[better]
            least[kept], mu[kept] = values[better], weights
            found = spectrum.duals(Z[:, better], kept, float(alpha))
            duals[:, kept] = roots[:, None] * found * basis.scales[kept]
    return results_at(problem, alphas, mu, duals)[0]

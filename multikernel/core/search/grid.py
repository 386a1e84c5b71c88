"""A grid of penalties and norms on folds of one Gram stack: the search behind the tuned estimators.

    best (C, p)  =  argmax  mean over folds k of  score(y_k, f_k),   f_k learned without the samples of fold k

The kernels of all samples are computed once; a fold takes rows and columns of that stack, gathered into
memory that all folds share. Folds come one after the other, the candidates of a fold in threads.

**With halving** the better half of the candidates goes on after each fold, by the mean of their scores on the
same folds, so that differences are paired. Fits stop at a relative gap of 1e-2. Three things make them cheap:

- *Slack bounds.* Where no dual variable is at its bound C, the solution is that of every larger C: these are
  copies, which count as one candidate in the halving.
- *Weights of the fold before.* A candidate starts from its own weights on the fold before, three quarters of
  whose samples are the same. Along C the weights and duals of the neighbor were tried as starts, too (scaled
  into the new bounds, or to their best multiple): from one power of ten to the next they take as many
  iterations as a start on a quarter of the samples, which is what there is without them.
- *The plain sum.* p = ∞ learns no weights: one summed kernel stands for the stack.

**Without halving** every candidate is fitted on every fold as :class:`.MKLClassifier` fits it on that part of
the stack: cold, and to its own tolerance.

**Leave-one-out** (:class:`LeaveOneOut`), for the squared loss: with A = K(μ) + diag(α/w), s = A⁻¹1 and
P = A⁻¹ − ss'/(1's) (A⁻¹ without intercept), the prediction of sample i by a model that did not see it, at the
weights μ of all samples, is y_i − (Py)_i / P_ii. Equal rows are one sample with the sum w of their weights: a
row of weight v that is left out leaves the share s = 1 − v/w of it, and the prediction is
y_i − (Py)_i / (s w/α + (1 − s) P_ii).
"""

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from scipy.linalg import lapack
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils import _safe_indexing

from ..._numba import read_only
from ..._typing import Array
from ...rows.memory import allocate_array, is_on_disk
from ..decisions import Machines, votes_by
from ..estimator import Solved, kernel_factors, on_rows
from ..folds import Split, check_score
from ..inputs import Samples
from ..optim.loop import ENDED_EARLY, SearchProgress, Status, carried, is_over
from ..stack.passes import gather_stack
from ..stack.sums import weighted_sum
from ..svm.losses import EpsilonInsensitive, Hinge
from ..weights.loop import SolveResult
from .selection import SearchedClassifier

SEARCH_TOL = 1e-2  # relative gap of the fits of a search with halving
_FEWEST = 3  # candidates that are measured on all folds
_BELOW = 1.0 - 1e-9  # of its bound: a dual variable that is not at it


@dataclass(frozen=True, eq=False)
class Candidate:
    """One point of the grid: its place, its parameters, the penalty in the order of the path, the bank."""

    index: int
    params: dict[str, Any]
    penalty: float  # C, or 1 / alpha
    norm: float
    bank: int


@dataclass(frozen=True)
class Part:
    """The training part of a fold, or all samples: places of samples, weights, machines and their offset."""

    places: Array
    weights: Array
    problems: Sequence[Machines]
    middle: Any = 0.0


@dataclass
class Data:
    """The samples with one bank of kernels: ``machine`` is prepared for them, folds take parts of them."""

    machine: Any
    X: Any  # the checked table
    y: Array  # of the rows, as scorers see them
    Ks: Array
    targets: Array  # of the distinct samples: codes of classes, or values
    samples: Samples
    sample_weight: Array | None  # of the rows
    score_weight: Array | None  # of the rows, in scores
    _sum: Array | None = field(default=None, repr=False)

    @property
    def weights(self) -> Array:
        """The given weight of each row."""
        return np.ones(len(self.y)) if self.sample_weight is None else self.sample_weight

    @property
    def summed(self) -> Array:
        """Σ_m K_m / d_m² as a stack of one."""
        if self._sum is None:
            self._sum = weighted_sum(self.Ks, 1.0 / self.machine._costs**2)[None]
        return self._sum

    def merged(self, rows: Array, weights: Array) -> tuple[Array, Array]:
        """The places of the distinct samples among some rows, and the sums of the weights of these rows."""
        totals = np.bincount(self.samples.group[rows], weights, self.samples.rows.size)
        places = np.flatnonzero(totals > 0.0)
        return places, totals[places]


# ---------------------------------------------------------------------- models as scorers see them
OTHER_SAMPLES = (
    "scoring must ask for predictions of the validation samples that it is given, as they are: the folds of "
    "a search share one Gram stack, and have no other samples. Hand X on unchanged in the scorer, or use "
    "GridSearchCV around an estimator without cross-validation of its own."
)


class HeldOutClassifier(SearchedClassifier):
    """The classifier of one fold and candidate: it knows the scores of the validation samples alone."""

    def __init__(self, machine: Any, X: Any, scores: Array, n_classes: int) -> None:
        self.machine, self.X, self.scores, self.n_classes = machine, X, scores, n_classes
        self.classes_, self.intercept_ = machine.classes_, np.zeros(scores.shape[1])
        self._votes = votes_by(machine.multiclass)

    def _scores(self, X: Any) -> Array:
        if X is not self.X:
            raise ValueError(OTHER_SAMPLES)
        return self.scores

    @property
    def answers(self) -> Array:
        """What calibration reads; NaN where the fold was trained without some class."""
        if self.classes_.size < self.n_classes:
            return np.full((len(self.scores), self.n_classes), np.nan)
        return self.decision_function(self.X)


class HeldOutRegressor(RegressorMixin, BaseEstimator):
    """The regressor of one fold and candidate: it knows the predictions of the validation samples alone."""

    def __init__(self, machine: Any, X: Any, scores: Array) -> None:
        self.machine, self.X = machine, X
        self.answers = scores if getattr(machine, "_one_output", True) is False else scores[:, 0]

    def predict(self, X: Any) -> Array:
        """The predictions that are known."""
        if X is not self.X:
            raise ValueError(OTHER_SAMPLES)
        return self.answers


# ---------------------------------------------------------------------- one fold
class Outcome(NamedTuple):
    """A candidate on one fold: its score, its answers, its solutions, and which candidate it is a copy of."""

    candidate: Candidate
    score: float
    answers: Array
    solutions: list[Solved]
    twin: int


class Fold:
    """One fold on one bank: the training part of the stack, and the validation samples."""

    def __init__(self, search: "GridSearch", data: Data, split: Split, buffer: Array | None) -> None:
        self.search, self.data = search, data
        train, test = (rows[data.samples.group[rows] >= 0] for rows in split)
        self.machine = copy.copy(data.machine)
        self.part = search.estimator._part(self.machine, data, train)
        self.rows, self.places = test, data.samples.group[test]
        # precomputed kernels are not copied for scorers: they get the numbers of the rows
        self.X = test if self.machine._precomputed else _safe_indexing(data.X, test)
        self.y = data.y[test]
        self.weights = None if data.score_weight is None else data.score_weight[test]
        self._buffer = buffer
        self._stacks: dict[bool, Array] = {}

    def stack(self, summed: bool) -> Array:
        """The training part of the stack, or of the sum."""
        if summed not in self._stacks:
            Ks, places = self.data.summed if summed else self.data.Ks, self.part.places
            shape = (len(Ks), places.size, places.size)
            out = self._in_buffer(shape, Ks) if not summed else np.empty(shape, Ks.dtype)
            gather_stack(read_only(Ks), places, np.asarray(out))
            self._stacks[summed] = out
        return self._stacks[summed]

    def _in_buffer(self, shape: tuple[int, ...], Ks: Array) -> Array:
        size = int(np.prod(shape))
        if self._buffer is None or self._buffer.size < size or self._buffer.dtype != Ks.dtype:
            self._buffer = allocate_array((size,), Ks.dtype, on_disk=is_on_disk(Ks))
        return self._buffer[:size].reshape(shape)

    def measure(self, path: Sequence[Candidate], starts: dict[int, list[SolveResult]]) -> list[Outcome]:
        """Fit candidates of one norm in the order of their penalties, and score them."""
        summed = bool(np.isinf(path[0].norm)) and self.search.halving
        solved: list[tuple[Candidate, list[Solved], int]] = []
        for candidate in path:
            if solved and self.search.is_over():
                break
            if solved and self.search.halving and self._is_slack(*solved[-1][:2]):
                solved.append((candidate, *solved[-1][1:]))
                continue
            solved.append((candidate, self._solve(candidate, summed, starts), candidate.index))
        distinct = {twin: solutions for _, solutions, twin in solved}
        values = dict(zip(distinct, self._values(list(distinct.values()), summed), strict=True))
        models = {
            twin: self.search.estimator._held_out(self.data, self.machine, self.X, value)
            for twin, value in values.items()
        }
        weights = {} if self.weights is None else {"sample_weight": self.weights}
        scores = {
            twin: check_score(self.search.scorer(model, self.X, self.y, **weights))
            for twin, model in models.items()
        }
        return [
            Outcome(candidate, scores[twin], models[twin].answers, solutions, twin)
            for candidate, solutions, twin in solved
        ]

    def _machine_at(self, candidate: Candidate, summed: bool) -> Any:
        machine = copy.copy(self.machine)
        self.search.estimator._set(machine, candidate)
        if summed:
            machine._costs = np.ones(1)
        return machine

    def _solve(
        self, candidate: Candidate, summed: bool, starts: dict[int, list[SolveResult]]
    ) -> list[Solved]:
        machine, part, Ks = self._machine_at(candidate, summed), self.part, self.stack(summed)
        before = starts.get(candidate.index, [])
        warm = before if len(before) == len(part.problems) else [None] * len(part.problems)
        solutions = []
        for problem, start in zip(part.problems, warm, strict=True):
            losses = machine._losses(problem, part.weights[problem.rows])
            if start is not None:
                start = replace(start, duals=np.zeros((len(start.duals), problem.rows.size)))
            exact = None if summed else machine._explicit_features(part.places[problem.rows])
            result = machine._learn(
                on_rows(Ks, problem.rows), losses, start=start, exact=exact, tol=self.search.tol
            )
            solutions.append(Solved(result, problem.rows, problem.names))
        return solutions

    def _is_slack(self, candidate: Candidate, solutions: list[Solved]) -> bool:
        """Whether all dual variables are below their bounds: the solution of every larger C is the same."""
        machine = self._machine_at(candidate, False)
        for solved, problem in zip(solutions, self.part.problems, strict=True):
            losses = machine._losses(problem, self.part.weights[problem.rows])
            if solved.result.status != Status.OPTIMAL or solved.result.factors:
                return False
            for loss, duals in zip(losses, solved.result.duals, strict=False):
                if not isinstance(loss, Hinge | EpsilonInsensitive):
                    return False
                if (np.abs(duals) >= _BELOW * np.maximum(loss.upper, -loss.lower)).any():
                    return False
        return True

    def _values(self, candidates: list[list[Solved]], summed: bool) -> list[Array]:
        """What the machines of each candidate answer at the validation samples (n_test, n_machines)."""
        if not candidates:
            return []
        every = [solved for solutions in candidates for solved in solutions]
        n, Ks = self.part.places.size, self.data.summed if summed else self.data.Ks
        duals = np.concatenate([solved.duals(n) for solved in every])
        counts = [len(solved.names) for solved in every]
        weights = np.repeat([solved.result.weights for solved in every], counts, axis=0)
        full = np.zeros((len(duals), Ks.shape[1]))
        full[:, self.part.places] = duals
        total = np.zeros((self.places.size, len(duals)))
        factors = kernel_factors(every)
        for m in np.flatnonzero(weights.any(axis=0)):
            K = np.asarray(Ks[m][self.places])
            own = np.flatnonzero(weights[:, m])
            scores = np.zeros_like(total)
            scores[:, own] = (K @ full[own].T) * weights[own, m]
            for factor in factors:
                if factor.kernel == m:
                    explicit = self._explicit(int(m))
                    scores[:, factor.machines] = factor.scores(K[:, self.part.places], explicit)
            total += scores
        total += np.concatenate([solved.result.intercepts for solved in every])
        sizes = [sum(len(solved.names) for solved in solutions) for solutions in candidates]
        return [block + self.part.middle for block in np.split(total, np.cumsum(sizes)[:-1], axis=1)]

    def _explicit(self, kernel: int) -> Any:
        return lambda: self.machine._bank.explicit_features(kernel)[self.places]


# ---------------------------------------------------------------------- the search
@dataclass
class GridSearch:
    """The candidates on the folds: scores (n_candidates, n_folds), NaN where a candidate was not measured."""

    estimator: Any  # the tuned estimator, with its hooks
    candidates: list[Candidate]
    scorer: Any
    halving: bool
    tol: float
    progress: SearchProgress
    n_jobs: int | None = None
    n_solves: int = 0
    n_failed: int = 0
    stopped: bool = False
    scores: Array = field(init=False)
    answers: list[dict[int, Array]] = field(default_factory=list)  # of each fold, by candidate
    tests: list[Array] = field(default_factory=list)  # the validation rows of each fold
    _twins: dict[int, int] = field(default_factory=dict)
    _begun: bool = False

    def is_over(self) -> bool:
        """Whether nothing more is to be begun."""
        return self.stopped or is_over()

    def run(self, banks: Sequence[Data], splits: Sequence[Split]) -> None:
        """Measure all candidates fold by fold."""
        self.scores = np.full((len(self.candidates), len(splits)), np.nan)
        alive = list(self.candidates)
        starts: dict[int, list[SolveResult]] = {}
        buffer: Array | None = None
        for number, split in enumerate(splits):
            self.answers.append({})
            for bank, data in enumerate(banks):
                own = [candidate for candidate in alive if candidate.bank == bank]
                if not own or (self._begun and self.is_over()):
                    continue
                try:
                    fold = Fold(self, data, split, buffer)
                except ValueError as error:
                    raise ValueError(f"fold {number} of cv cannot be used: {error}") from error
                if len(self.tests) == number:
                    self.tests.append(fold.rows)
                for outcome in self._measured(fold, own, starts):
                    self._note(number, outcome, starts)
                buffer = fold._buffer
            if self.is_over():
                return
            if self.halving and number + 1 < len(splits):
                alive = self._survivors(alive, number)

    def _measured(
        self, fold: Fold, alive: list[Candidate], starts: dict[int, list[SolveResult]]
    ) -> Iterator[Outcome]:
        """The outcomes of a fold as they come; paths of one norm are fitted in threads."""
        for summed in {bool(np.isinf(candidate.norm)) and self.halving for candidate in alive}:
            fold.stack(summed)
        pool = Parallel(n_jobs=self.n_jobs, require="sharedmem", return_as="generator")
        measure = delayed(carried(self._unless_over))
        for outcomes in pool(measure(fold, path, starts) for path in self._paths(alive)):
            yield from outcomes

    def _unless_over(
        self, fold: Fold, path: list[Candidate], starts: dict[int, list[SolveResult]]
    ) -> list[Outcome]:
        if self._begun and self.is_over():
            return []
        self._begun = True
        return fold.measure(path, starts)

    def _paths(self, alive: list[Candidate]) -> list[list[Candidate]]:
        """Candidates of one norm by their penalty; each by itself where fits are cold."""
        if not self.halving:
            return [[candidate] for candidate in alive]
        norms = dict.fromkeys(candidate.norm for candidate in alive)
        paths = ([c for c in alive if c.norm == norm] for norm in norms)
        return [sorted(path, key=lambda candidate: candidate.penalty) for path in paths]

    def _note(self, number: int, outcome: Outcome, starts: dict[int, list[SolveResult]]) -> None:
        index, results = outcome.candidate.index, [solved.result for solved in outcome.solutions]
        self.scores[index, number] = outcome.score
        self.answers[number][index] = outcome.answers
        self._twins[index] = outcome.twin
        if self.halving:
            starts[index] = results
        if outcome.twin == index:
            self.n_solves += len(results)
            fine = (Status.OPTIMAL, *ENDED_EARLY)
            self.n_failed += sum(result.status not in fine for result in results)
        if not self.stopped:
            mean = float(np.nanmean(self.scores[index]))
            self.stopped = self.progress(outcome.candidate.params, mean)

    def _survivors(self, alive: list[Candidate], number: int) -> list[Candidate]:
        """The better half by the mean score so far, copies with their original, and a few at least."""
        means = self.scores[:, : number + 1].mean(axis=1)
        originals = [c for c in alive if self._twins[c.index] == c.index]
        count = max(-(-len(originals) // 2), _FEWEST)
        ordered = sorted(originals, key=lambda c: -rounded(means[c.index]))
        kept = {candidate.index for candidate in ordered[:count]}
        if self.estimator.rule == "one_se" and number > 0:
            least = means[ordered[0].index] - (self.standard_error(ordered[0].index) or 0.0)
            kept |= {candidate.index for candidate in ordered if means[candidate.index] >= least}
        return [candidate for candidate in alive if self._twins[candidate.index] in kept]

    def standard_error(self, index: int) -> float | None:
        """Of the mean score of a candidate over its folds; None where there is only one."""
        known = self.scores[index][np.isfinite(self.scores[index])]
        return float(np.std(known, ddof=1) / np.sqrt(known.size)) if known.size > 1 else None

    def out_of_fold(self, index: int, n_rows: int) -> Array:
        """The answers to each row by the fold that did not see it, NaN where there is none (n_rows, ...)."""
        folds = zip(self.tests, self.answers, strict=False)
        found = [(rows, answers[index]) for rows, answers in folds if index in answers]
        shape = (n_rows, *found[0][1].shape[1:])
        total, counts = np.zeros(shape), np.zeros(n_rows)
        for rows, values in found:
            np.add.at(total, rows, values)
            np.add.at(counts, rows, 1.0)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray((total.T / counts).T)


# ---------------------------------------------------------------------- leave-one-out
@dataclass
class LeaveOneOut(GridSearch):
    """The candidates by leave-one-out at the weights of all samples: a score each, no folds."""

    _errors: dict[int, float] = field(default_factory=dict)

    def run(self, banks: Sequence[Data], splits: Sequence[Split] = ()) -> None:
        """Measure all candidates, norm by norm."""
        self.scores = np.full((len(self.candidates), 1), np.nan)
        self.answers, self.tests = [{}], [np.flatnonzero(banks[0].samples.group >= 0)]
        pool = Parallel(n_jobs=self.n_jobs, require="sharedmem", return_as="generator")
        measure = delayed(carried(self._measure))
        for bank, data in enumerate(banks):
            own = [candidate for candidate in self.candidates if candidate.bank == bank]
            for outcomes in pool(measure(data, path) for path in self._paths(own)):
                for outcome in outcomes:
                    self._note(0, outcome, {})

    def _measure(self, data: Data, path: list[Candidate]) -> list[Outcome]:
        outcomes: list[Outcome] = []
        machine = copy.copy(data.machine)
        part = self.estimator._part(machine, data, self.tests[0])
        places = data.samples.group[self.tests[0]]
        stays = 1.0 - data.weights[self.tests[0]] / part.weights[places]
        for candidate in path:
            if self._begun and self.is_over():
                break
            self._begun = True
            self.estimator._set(machine, candidate)
            losses = machine._losses(part.problems[0], part.weights)
            start = outcomes[-1].solutions[0].result if outcomes and self.halving else None
            result = machine._learn(data.Ks, losses, start=start, tol=self.tol)
            K = weighted_sum(data.Ks, result.weights)
            outputs = np.array([loss.target for loss in losses])
            intercept = losses[0].has_intercept
            residuals = loo_residuals(K, losses[0].shift, outputs, intercept, rows=(places, stays))
            values = data.targets[places] - residuals.T
            model = self.estimator._held_out(data, machine, self.tests[0], values)
            solved = Solved(result, part.problems[0].rows, part.problems[0].names)
            score = self._score(data, candidate, model)
            outcomes.append(Outcome(candidate, score, model.answers, [solved], candidate.index))
        return outcomes

    def _score(self, data: Data, candidate: Candidate, model: "HeldOutRegressor") -> float:
        """Minus the mean squared error, as of RidgeCV, or what the scorer says."""
        rows = self.tests[0]
        if self.scorer is not None:
            model.X = X = rows if data.machine._precomputed else _safe_indexing(data.X, rows)
            weights = {} if data.score_weight is None else {"sample_weight": data.score_weight[rows]}
            return check_score(self.scorer(model, X, data.y[rows], **weights))
        errors = ((data.y[rows] - model.answers) ** 2).reshape(rows.size, -1).mean(axis=1)
        shares = data.weights[rows] / data.weights[rows].sum()
        mean = float(shares @ errors)
        self._errors[candidate.index] = float(np.sqrt(shares**2 @ (errors - mean) ** 2))
        return check_score(-mean)

    def standard_error(self, index: int) -> float | None:
        return self._errors.get(index)


def loo_residuals(
    K: Array, ridge: Array, targets: Array, intercept: bool, rows: tuple[Array, Array] | None = None
) -> Array:
    """y_i minus its prediction without sample i, (n_outputs, n); K (n, n) is overwritten.

    ``rows``: the sample of each row, and the share of its weight that stays when the row is left out; the
    residuals are then those of the rows, (n_outputs, n_rows).

    Examples
    --------
    >>> loo_residuals(np.zeros((3, 3)), np.ones(3), np.array([[1.0, 2.0, 6.0]]), True).tolist()
    [[-3.0, -1.5, 4.5]]
    """
    n, extra = len(K), 0.0
    diagonal = K.diagonal().copy()
    while True:  # a ridge that is lost beside the kernel leaves the sum singular
        K.flat[:: n + 1] = diagonal + ridge + extra
        factor, info = lapack.dpotrf(K.T, lower=False, clean=False)
        if info == 0:
            break
        extra = max(100.0 * extra, 1e-14 * float(np.abs(diagonal).mean()))
    solved = lapack.dpotrs(factor, np.asfortranarray(np.vstack([np.ones(n), targets]).T), lower=False)[0]
    inverse = lapack.dpotri(factor, lower=False)[0].diagonal()
    duals, ones = solved[:, 1:], solved[:, 0]
    if intercept:
        duals = duals - np.outer(ones, duals.sum(axis=0) / ones.sum())
        inverse = inverse - ones**2 / ones.sum()
    if rows is None:
        return np.asarray(duals.T / inverse)
    places, stays = rows
    return np.asarray(duals[places].T / (stays / ridge[places] + (1.0 - stays) * inverse[places]))


def rounded(mean: float) -> float:
    """Twelve digits, so that means that differ by rounding are equally good."""
    return float(f"{mean:.12g}")

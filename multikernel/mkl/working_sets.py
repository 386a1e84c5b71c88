"""Exact kernels on the rows that matter: machines on working sets, which grow until they hold all rows.

A machine with a kink in its loss is held by its support rows. So it is learned on some rows, its weights with
it, on exact kernels; rows outside that have a loss join the set, and it is learned again. With the lower
bound L and the value U of the machine on the set S,

    L ≤ optimum over all rows ≤ U + Σ_{i ∉ S} C_i ℓ(y_i, f(x_i)),

since other rows only add to the problem: the gap that is returned is that of all rows, on exact kernels.

The memory is that of Gram matrices of a set. Where the support rows are too many for them, as with noisy
labels of many rows, there is no result, and the fit goes on with factors. Whether they will be is judged
early, by the machine of the first set on some other rows.

What kernels take from the data comes from the reference rows, as for factors.
"""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

from .._typing import Array
from .._validation import warn_caller
from ..core.estimator import Solved
from ..core.fitted import DualKernels, FittedKernels
from ..core.inputs import Samples, check_costs, check_norm
from ..core.low_rank import LowRankWarning, has_asked_for_factors
from ..core.optim.loop import ENDED_EARLY, Status, carried, relative_gap
from ..core.svm.losses import Loss
from ..core.svm.primal import PrimalLoss
from ..core.weights.loop import SolveResult
from ..kernels import Chain
from ..rows import is_dask
from ..rows.tables import take_rows
from ..views import KernelBank, as_views
from ..views.low_rank import LARGEST_DENSE, asks_for_factors, reference_rows, reference_size
from ..views.memory import estimate_memory, grouped
from ..views.precomputed import make_bank

LARGEST_TABLE = 20 * LARGEST_DENSE  # rows; each is compared with the support rows in every round
_FIRST_SHARE, _LEAST_FIRST, _MOST_FIRST = 4, 1000, 3000  # one in four rows is in the first set
_OF_A_SIGN = 20  # rows of either sign that it has at least
_JUDGED = 2000  # rows that tell how many are missed, before all are asked
_PRICE = 4  # times the values of the largest Gram matrix of a kernel is what all machines may ask for
_EXPECTED = 2.0  # times what is allowed: a first set misses more rows than the last one holds
_COVERED = 0.98  # of the loss outside a set is that of the rows which join
_SHRINKING = 1  # rounds after which the set is cut down to its support rows
_ROUGH, _ROUGH_ROUNDS = 1e-2, 2  # gap of the first machines
_MOST_ROUNDS = 30
_BLOCK_ROWS = 2048
_TOO_MANY = (
    f"the support rows are too many for Gram matrices of them (more than {grouped(LARGEST_DENSE)}, than "
    "memory holds, or in all machines too many)"
)


class NoWorkingSetsError(Exception):
    """Working sets cannot be used; the message says why."""


def may_take_sets(model: Any, X: Any) -> bool:
    """Whether a model that takes no Gram matrices of all rows may take those of working sets.

    It may where `rank` is "auto", or where factors were not requested, on rows in this process.
    """
    stored = model._storage
    if model.gram_ != "low_rank" or is_dask(X):
        return False
    views = as_views(model.kernels)
    if any(Chain(view.steps).needs_all_columns for view in views):
        return False  # a centre is that of all rows
    if stored.rank == "auto":
        return not asks_for_factors(views, None)
    return bool(stored.gram == "auto" and not has_asked_for_factors(model))


# ---------------------------------------------------------------------- groups of machines
@dataclass(frozen=True)
class Group:
    """Machines with common weights: the samples that take part, and their targets, prices and loss."""

    rows: Array  # (n,), numbers of samples
    names: list[str]
    targets: Array  # (n, T)
    prices: Array  # (n,)
    loss: PrimalLoss
    losses: Callable[[Array], Sequence[Loss]]  # the same loss at some places of `rows`, for the solver
    label: str


@dataclass(frozen=True)
class Held:
    """Machines that hold all rows of a group: the solution on some samples, with the bounds for all."""

    result: SolveResult
    rows: Array  # numbers of samples
    n_rounds: int


@dataclass(frozen=True)
class Machines:
    """Machines on a set: what the solver found, their value on the set, and what scores other rows."""

    result: SolveResult
    value: float
    fitted: FittedKernels

    def over_all_rows(self, missed: float) -> SolveResult:
        """The result with the bounds for all rows, of which those outside the set have a loss."""
        upper = self.value + missed
        gap = max(relative_gap(upper, self.result.lower_bound), 0.0)
        return replace(self.result, upper_bound=upper, gap=gap)


class WorkingSets:
    """The samples of a fit, a bank fitted on reference rows, and machines on parts of the samples."""

    def __init__(self, model: Any, table: Any, n: int, n_groups: int) -> None:
        self.model, self.table = model, table
        bank = make_bank(model.kernels, gram="dense", lean=True, encodes=not model._reads_columns)
        assert isinstance(bank, KernelBank)
        bank.fit(take_rows(table, reference_rows(n, reference_size(n), model._fit_seed)))
        self.bank = bank
        self.priority = np.random.default_rng(model._fit_seed).permutation(n)
        self.allowed, self.spent = _PRICE * LARGEST_DENSE**2, 0
        self.expected = _EXPECTED * min(LARGEST_DENSE, (self.allowed / n_groups) ** 0.5)

    def hold(self, group: Group) -> Held:
        """Machines that hold all rows of a group."""
        aim = 0.5 * self.model.tol
        places, before = self._first(group), None
        for n_rounds in range(1, _MOST_ROUNDS + 1):
            rough = max(_ROUGH, aim) if n_rounds <= _ROUGH_ROUNDS else aim
            machines = self._solve(group, places, before, rough)
            others = np.setdiff1d(np.arange(group.rows.size), places)
            if n_rounds == 1:
                self._judge(group, others, machines)
            joining, missed = self._missed(group, others, machines)
            result = machines.over_all_rows(missed)
            is_done = result.gap <= self.model.tol or (not joining.size and rough == aim)
            if is_done or result.status in ENDED_EARLY:
                return Held(result, group.rows[places], n_rounds)
            if n_rounds == _MOST_ROUNDS:
                break  # the rows are those of the result, not of the next set
            duals = np.zeros((len(result.duals), group.rows.size))
            duals[:, places] = result.duals
            kept = places[result.duals.any(axis=0)] if n_rounds <= _SHRINKING else places
            places, before = np.union1d(kept, joining), replace(result, duals=duals)
        return Held(replace(result, status=Status.MAX_ITER), group.rows[places], n_rounds)

    def charge(self, held: Held) -> None:
        """Count the kernel values of machines; refuse what all together may not ask for."""
        self.spent += held.rows.size**2
        if self.spent > self.allowed:
            raise NoWorkingSetsError(_TOO_MANY)

    def _first(self, group: Group) -> Array:
        """Places of the first set: the same samples for all groups, and some of either sign."""
        places = np.argsort(self.priority[group.rows], kind="stable")
        size = min(max(places.size // _FIRST_SHARE, _LEAST_FIRST), _MOST_FIRST)
        chosen = [places[:size]]
        if group.loss.has_signs:
            for targets in group.targets.T:
                chosen += [places[targets[places] == sign][:_OF_A_SIGN] for sign in (-1.0, 1.0)]
        return np.unique(np.concatenate(chosen))

    def _solve(self, group: Group, places: Array, before: SolveResult | None, tol: float) -> Machines:
        """The machines on a set of places, from those of the set before, whose duals are of all places."""
        if places.size > LARGEST_DENSE or not self._has_room(places.size):
            raise NoWorkingSetsError(_TOO_MANY)
        bank = self.bank.moved(take_rows(self.table, group.rows[places]))
        Ks = bank.training_stack()
        start = None if before is None else replace(before, duals=before.duals[:, places])
        result = self.model._learn(Ks, group.losses(places), label=group.label, start=start, tol=tol)
        if result.factors:
            raise NoWorkingSetsError("its kernels are too large for dual variables in double precision")
        duals, active = result.duals, np.flatnonzero(result.weights)
        scores = np.zeros(duals.T.shape)
        for m in active:
            scores += result.weights[m] * (Ks[m] @ duals.T)
        losses = group.loss.value(group.targets[places], scores + result.intercepts).sum(axis=1)
        value = 0.5 * float(np.sum(duals.T * scores)) + float(group.prices[places] @ losses)
        support = np.flatnonzero(duals.any(axis=0))
        support = support if support.size else np.array([0])
        weights = np.tile(result.weights, (len(duals), 1))
        part = DualKernels(bank.restrict(support, active), duals[:, support], weights)
        return Machines(result, value, FittedKernels([part], weights.shape))

    def _has_room(self, n: int) -> bool:
        """Whether memory holds the Gram matrices of so many rows."""
        bank = self.bank
        return estimate_memory(n, bank.n_kernels_, bank.dtype, limit=bank.memory_limit, lean=True).fits

    def _judge(self, group: Group, others: Array, machines: Machines) -> None:
        """Give up where the rows that are missed will be far too many, by some of them."""
        if others.size > 2 * _JUDGED:
            some = others[np.argsort(self.priority[group.rows[others]], kind="stable")[:_JUDGED]]
            joining, _ = self._missed(group, some, machines)
            if joining.size / some.size * others.size > self.expected:
                raise NoWorkingSetsError(_TOO_MANY)

    def _missed(self, group: Group, others: Array, machines: Machines) -> tuple[Array, float]:
        """Places with nearly all the loss outside a set, the largest first, and all that loss."""
        losses = np.empty(others.size)
        for first in range(0, others.size, _BLOCK_ROWS):
            some = others[first : first + _BLOCK_ROWS]
            scores = machines.fitted.scores(take_rows(self.table, group.rows[some]))
            each = group.loss.value(group.targets[some], scores + machines.result.intercepts).sum(axis=1)
            losses[first : first + _BLOCK_ROWS] = group.prices[some] * each
        missed = float(losses.sum())
        if not missed > 0.0:
            return others[:0], 0.0
        order = np.argsort(-losses, kind="stable")
        count = int(np.searchsorted(np.cumsum(losses[order]), _COVERED * missed)) + 1
        return others[order[:count]], missed


# ---------------------------------------------------------------------- a fit
def fit_working_sets(
    model: Any, X: Any, samples: Samples, groups: Sequence[Group], n_jobs: int | None = None
) -> bool:
    """Fit a model on working sets; False, and nothing kept, where they would be too large."""
    n = samples.rows.size
    model._check_numerics()
    check_norm(model.norm)
    model._check_storage()
    model._fit_seed = model._draw_seed()
    if n > LARGEST_TABLE:
        _say_why(model, f"the table has more than {grouped(LARGEST_TABLE)} rows")
        return False
    try:
        sets = WorkingSets(model, samples.take(X), n, len(groups))
    except ValueError:  # of a kernel that is constant on the reference rows, say: factors find others
        return False
    try:
        _describe(model, sets.bank)
        held = _hold_all(sets, groups, n_jobs)
    except NoWorkingSetsError as error:
        _say_why(model, str(error))
        return False
    _store(model, sets, samples, groups, held)
    return True


def _describe(model: Any, bank: KernelBank) -> None:
    """What the learner asks of a model with a bank."""
    model._bank, model.view_names_ = bank, list(bank.view_names_)
    model._costs = check_costs(model.costs, model.view_names_)
    model._floor, model.missing_, model.kept_views_ = np.zeros(bank.n_kernels_), "error", []


def _hold_all(sets: WorkingSets, groups: Sequence[Group], n_jobs: int | None) -> list[Held]:
    hold = delayed(carried(sets.hold))
    found = []
    jobs = (hold(group) for group in groups)
    for held in Parallel(n_jobs=n_jobs, require="sharedmem", return_as="generator")(jobs):
        sets.charge(held)
        found.append(held)
    return found


def _store(
    model: Any, sets: WorkingSets, samples: Samples, groups: Sequence[Group], held: Sequence[Held]
) -> None:
    """Keep the machines: their support rows, as of a fit on a Gram stack."""
    supports = [one.rows[one.result.duals.any(axis=0)] for one in held]
    union = np.unique(np.concatenate(supports))
    union = union if union.size else np.array([0])
    solutions = []
    for group, one, support in zip(groups, held, supports, strict=True):
        result = replace(one.result, duals=one.result.duals[:, one.result.duals.any(axis=0)])
        solutions.append(Solved(result, np.searchsorted(union, support), group.names))
    model._bank = sets.bank.moved(take_rows(sets.table, union))
    largest = max(one.rows.size for one in held)
    model.memory_ = estimate_memory(largest, sets.bank.n_kernels_, sets.bank.dtype, lean=True)
    model.gram_ = "working_set"
    model._store(solutions, samples.among(union))
    names = [name for group in groups for name in group.names]
    repeats = [len(group.names) for group in groups]
    columns = {"rows": [one.rows.size for one in held], "rounds": [one.n_rounds for one in held]}
    frame = pd.DataFrame({name: np.repeat(values, repeats) for name, values in columns.items()})
    frame.insert(1, "support", np.count_nonzero(model.dual_coef_, axis=1))
    model.working_sets_ = frame.set_index(pd.Index(names, name="machine"))
    if model.verbose:
        sys.stderr.write(
            f"[multikernel] working sets: up to {grouped(largest)} of {grouped(samples.rows.size)} rows, "
            f"{max(one.n_rounds for one in held)} rounds\n"
        )


def _say_why(model: Any, why: str) -> None:
    """Factors take the place of exact kernels; a warning where rank="auto" was asked for."""
    if model.verbose:
        sys.stderr.write(f"[multikernel] factors, not working sets: {why}\n")
    if model._storage.rank == "auto":
        warn_caller(
            f"rank='auto' takes factors of 200 columns: {why}. Give a larger rank for more exact factors; "
            "see approximation_.",
            LowRankWarning,
        )

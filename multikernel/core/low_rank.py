"""Fits on factors of low rank, for more rows than a Gram stack holds.

Both routes solve the same problem, this one with K_m replaced by Z_m Z_mᵀ. A model on factors is a matrix
of coefficients of their columns: it has no support samples, and keeps of the training rows the landmarks.

The model is :class:`MKLClassifier`, :class:`MKLRegressor`, :class:`MKLRidge` or :class:`MKLSurvival`;
``gram``, ``rank`` and ``dtype`` are those of the :class:`KernelBank` of its kernels.

**Route** (:func:`choose_route`): a stack of Gram matrices in memory or on disk, or factors. Models on parts
of the rows take the route of all rows (:func:`settle_route`).

**Factors.** The reference rows are drawn by their number among the rows that count, so that the same seed
chooses the same ones wherever the rows live. Of reference rows that are equal, one is kept, and they are put
in an order of their own: where all rows are reference rows, neither repetitions nor the order of the rows
change the bank.

**Warnings** tell of kernels that are approximated unasked, or badly, or at too high a cost. What to do comes
first and numbers are rounded, so that the folds of a search mostly warn in the same words, which Python
repeats only once.
"""

import shutil
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from .._typing import Array
from .._validation import (
    PSD_CHOICES,
    RowError,
    check_bank_rank,
    check_choice,
    check_float_dtype,
    check_rank,
    warn_caller,
)
from ..kernels._rows import Pair, Rows
from ..rows import LocalRows, RowBlocks, cluster_memory, count_rows, fits_cluster, is_dask
from ..views import View, as_views
from ..views.columns import resolve_columns
from ..views.low_rank import (
    GRAM_ROUTES,
    DegenerateViewError,
    LowRankBank,
    asks_for_factors,
    choose_gram,
    largest_rank,
    most_dense_folds,
    reference_rows,
    reference_size,
)
from ..views.memory import (
    MemoryEstimate,
    estimate_factors,
    estimate_memory,
    grouped,
    readable_size,
    require_fits,
)
from ..views.tables import as_table, as_tables
from ..views.view import automatic_names, is_automatic, kept_views, place_views
from .estimator import BaseMKL, refusing_overflow, require_finite
from .fitted import FactorKernels, FittedKernels, factor_cost
from .inputs import check_costs, check_norm, distinct_samples
from .kernel_checks import is_near_identity, tell_of_identities, tell_of_scales
from .missing_views import missing_of
from .row_input import (
    GivenRows,
    block_traces,
    differing_rows,
    factorise,
    raise_in_row,
    used_rows,
    worst_rows,
)
from .svm.primal import PrimalLoss
from .weights.factors import BlockResult, learn_block_weights

_ATTEMPTS = 4  # at a trace error that is asked for
_AIM = 0.9  # of it on the reference rows, which are nearer to their landmarks than other rows
_RARE = 100  # rows that become reference rows because a kernel would be constant on the others
_WORST = 100  # rows that become reference rows because the factors miss them most
_INEXACT = 0.5  # trace errors beyond it: what is learned is hardly about these kernels any more
_LITTLE = 2**26  # bytes that are no matter, however few Gram matrices would take
_LOOKED_AT = 400  # rows on which kernels are compared with the identity
_OF_ONE_ROUTE = (
    "support_", "dual_coef_", "kernel_factors_", "coef_", "approximation_", "memory_", "working_sets_",
)  # fmt: skip


# ---------------------------------------------------------------------- route
class LowRankWarning(UserWarning):
    """Kernels are approximated without a request, or less exactly than requested."""


def choose_route(estimator: Any, X: Any) -> str:
    """``"dense"``, ``"memmap"`` or ``"low_rank"``, by ``gram`` of the bank, the views and the rows.

    What is asked for and cannot be had together is a ValueError, with the remedy.
    """
    check_choice("gram", estimator._storage.gram, GRAM_ROUTES)
    check_choice("psd", estimator._storage.psd, PSD_CHOICES)
    check_float_dtype(estimator._storage.dtype)
    if is_dask(X):
        return _of_dask(estimator, X)
    stored, n = estimator._storage, 1
    kernels: Any = "precomputed"
    if not estimator._precomputed:  # Gram matrices in a dict are no tables
        X = as_tables(X)
        kernels, n = place_views(as_views(estimator.kernels), X), max(_n_rows(X), 1)
    chosen = choose_gram(stored.gram, n, kernels, stored.dtype, rank=stored.rank)
    if chosen == "low_rank":
        why_not = why_not_low_rank(estimator, X)
        if why_not and (stored.gram == "low_rank" or has_asked_for_factors(estimator)):
            raise ValueError(why_not)
        chosen = "dense" if why_not else "low_rank"
    if stored.gram == "auto" and chosen == "dense" and not estimator._precomputed:
        return "dense" if estimate_memory(n, len(kernels), stored.dtype).fits else "memmap"
    return chosen


def chooses_route(estimator: Any) -> bool:
    """Whether an estimator chooses Gram matrices or factors by the number of rows."""
    has_both = isinstance(estimator, BaseMKL) and estimator._has_factors
    return has_both and not estimator._precomputed and estimator._storage.gram == "auto"


def settle_route(model: Any, X: Any) -> Any:
    """Make every estimator of a model take, on parts of the rows, the route that it would take on all of X.

    For models that are then fitted to parts of the rows: a fold may have few enough rows for Gram matrices
    where the whole has too many. Where the whole has Gram matrices, folds have them by themselves.

    Parameters
    ----------
    model : estimator
        Or a pipeline or search with estimators in it. It is modified: pass a copy.
    X : as for ``fit``

    Returns
    -------
    model : estimator
    """
    inside = {f"{path}__": value for path, value in model.get_params(deep=True).items()}
    for prefix, estimator in {"": model, **inside}.items():
        if chooses_route(estimator):
            with suppress(TypeError, ValueError):  # what is wrong is said by the fit
                if choose_route(estimator, X) == "low_rank":
                    stored = estimator._storage
                    # what "auto" may take for all rows, the folds may take too
                    rank = stored.rank if has_asked_for_factors(estimator) else "auto"
                    chosen = replace(stored, gram="low_rank", rank=rank)
                    model.set_params(**{f"{prefix}kernels": chosen})
    return model


def why_not_low_rank(estimator: Any, X: Any) -> str:
    """Why the problem, as parameters and tables state it, has no low-rank route; empty if it has one."""
    stored = estimator._storage
    if stored.psd != "error":
        return (
            f"psd={stored.psd!r} repairs Gram matrices, and factors of low rank have none: they "
            f"represent positive semidefinite kernels only. Leave psd out, or use gram='dense' or 'memmap'."
        )
    missing = missing_of(stored, X)
    if missing != "error":
        return (
            f"missing={missing!r} completes Gram matrices, and has no low-rank route. Use "
            "missing='error' (and impute or drop what is missing), or gram='dense' or 'memmap'."
        )
    kept = kept_views(estimator.kernels)
    if kept:
        return (
            f"keep={kept[0].keep!r} of view {kept[0].name!r} has no low-rank route: lower bounds of weights "
            "need a Gram stack. Use gram='dense' or 'memmap', or leave keep out."
        )
    return str(estimator._why_not_low_rank())


def _of_dask(estimator: Any, X: Any) -> str:
    asked = estimator._storage.gram
    if asked in ("dense", "memmap"):
        raise TypeError(
            f"gram={asked!r} needs all rows of X in this process; got a dask {type(X).__name__}. "
            "Use gram='low_rank' or 'auto', or load it with X.compute()."
        )
    choose_gram("low_rank", 1, estimator.kernels)  # refuses precomputed kernels
    why_not = why_not_low_rank(estimator, X)
    if why_not:
        raise ValueError(f"{why_not} For that, load the dask collections with compute().")
    return "low_rank"


def has_asked_for_factors(estimator: Any) -> bool:
    """Whether the bank of the estimator has a rank, or a view names one or an approximation."""
    return asks_for_factors(as_views(estimator.kernels), estimator._storage.rank)


def _n_rows(X: Any) -> int:
    """How many rows X has; 0 where it has none, which the checks of X refuse."""
    try:
        return count_rows(X)
    except (TypeError, ValueError):
        return 0


# ---------------------------------------------------------------------- factors of all rows
@dataclass(frozen=True)
class Factors:
    """The factors of all rows."""

    rows: RowBlocks  # of factors, targets, weights and traces
    bank: LowRankBank
    errors: Array  # (n_kernels,), relative trace errors over all rows that count; NaN where there is none
    tolerances: Array  # (n_kernels,), those asked for; infinity where none was
    sample_targets: Array  # (n_sample, n_outputs), of the reference rows
    memory: MemoryEstimate
    largest_rank: int  # columns of a view whose rank is an error, at most

    @property
    def missed(self) -> Array:
        """Views whose trace error is larger than asked for."""
        return np.flatnonzero(self.errors > self.tolerances * (1.0 + 1e-9))

    @property
    def within_reach(self) -> Array:
        """Those of them that may have more columns; to the others, more reference rows are no help."""
        return self.missed[self.bank.ranks_[self.missed] < self.largest_rank]


@dataclass(frozen=True)
class FactorRequest:
    """What factors are asked for: views, the rank of those that name none, a seed, and a precision.

    ``n_machines`` is how many are learned on them at the same time, each with a Hessian of its own.
    """

    kernels: Any
    rank: int | float | None
    seed: int
    dtype: Any
    n_machines: int = 1
    automatic: frozenset[str] | None = None  # views that "auto" chose, once the views are placed

    def fit(self, given: GivenRows) -> Factors:
        """Fit the bank on reference rows; on more of them where the errors over all rows are too large."""
        is_here = isinstance(given.rows, LocalRows)
        table = given.rows.take(np.array([0]))[0] if is_here else None  # which says what tables there are
        views = place_views(as_views(self.kernels), table)
        placed = replace(self, kernels=views, automatic=automatic_names(self.kernels, views))
        return placed._fit(given)

    def _fit(self, given: GivenRows) -> Factors:
        numbers = self._reference(given, reference_size(given.n_used, self._ranks()))
        tightness = 1.0 if numbers.size == given.n_used else _AIM
        for _ in range(_ATTEMPTS - 1):
            factors = self._factors(given, numbers, tightness)
            missed, bank = factors.within_reach, factors.bank
            if not missed.size:
                return factors
            with np.errstate(over="ignore"):
                tightness *= _AIM / float((factors.errors[missed] / factors.tolerances[missed]).max())
            del factors  # before the next ones are computed
            worst = self._worst(given, bank, missed)
            numbers = np.union1d(worst, self._reference(given, 2 * numbers.size))
        return self._factors(given, numbers, tightness)

    # ------------------------------------------------------------------ reference rows
    def _reference(self, given: GivenRows, size: int) -> Array:
        return draw_rows(given, size, self.seed)

    def _worst(self, given: GivenRows, bank: LowRankBank, views: Array) -> Array:
        """The rows that the factors of some views miss most."""
        found = given.rows.map(worst_rows, bank, views, _WORST)
        chosen = []
        for of_view in zip(*found, strict=True):
            rows, missed = (np.concatenate(parts) for parts in zip(*of_view, strict=True))
            chosen.append(rows[np.argsort(-missed, kind="stable")[:_WORST]])
        return np.unique(np.concatenate(chosen))

    # ------------------------------------------------------------------ factors
    def _factors(self, given: GivenRows, numbers: Array, tightness: float) -> Factors:
        while True:
            try:
                bank, targets = self._fitted(given, numbers, tightness)
                break
            except DegenerateViewError as error:
                assert error.view is not None
                more = np.union1d(numbers, _rare(given, int(numbers[0]), error.view))
                if more.size == numbers.size:
                    raise
                numbers = more
        memory = _memory(given.rows, bank, self.n_machines)
        if isinstance(given.rows, LocalRows):
            given.rows.on_disk = memory.place == "disk"
        rows = given.rows.derive(factorise, bank, keep=memory.place != "nowhere")  # else when they are read
        errors = bank.trace_errors(rows.sum(block_traces))
        tolerances = np.array([self._tolerances().get(name, np.inf) for name in bank.view_names_])
        return Factors(rows, bank, errors, tolerances, targets, memory, largest_rank(given.n_used))

    def _fitted(self, given: GivenRows, numbers: Array, tightness: float) -> tuple[LowRankBank, Array]:
        """A bank fitted on the rows with these numbers, and the targets of those that differ."""
        X, targets, _ = given.rows.take(numbers)
        targets = np.asarray(targets, np.float64).reshape(numbers.size, -1)
        samples = distinct_samples(X, targets, np.ones(numbers.size))
        bank = self._bank(samples.rows.size, given.n_used, tightness)
        try:
            bank.fit(samples.take(X), given.n_used, automatic=self.automatic)
        except RowError as error:
            row = int(numbers[samples.rows[error.row]])
            given.rows.map(raise_in_row, error, row)
            raise
        return bank, targets[samples.rows]

    def _bank(self, n_sample: int, n: int, tightness: float) -> LowRankBank:
        """With trace errors that are tighter, and no more landmarks than there are different rows."""

        def adapted(rank: Any) -> Any:
            if isinstance(rank, float):
                return min(rank, max(rank * tightness, np.finfo(float).tiny))
            return n_sample if isinstance(rank, int) and n_sample < rank <= n else rank

        kernels = [replace(view, rank=adapted(view.rank)) for view in self.kernels]
        return LowRankBank(kernels, rank=adapted(self.rank), seed=self.seed, dtype=self.dtype)

    def _ranks(self) -> list[int | float | None]:
        return [self.rank if view.rank is None else view.rank for view in self.kernels]

    def _tolerances(self) -> dict[str, float]:
        """The trace errors asked for, by view name."""
        named = zip(self.kernels, self._ranks(), strict=True)
        return {view.name: rank for view, rank in named if isinstance(rank, float)}


def draw_rows(given: GivenRows, size: int, seed: int) -> Array:
    """Numbers, among all rows, of some that count; the same for the same seed."""
    places = reference_rows(given.n_used, size, seed)
    if given.n_used == given.rows.n_rows:
        return places
    return np.concatenate(given.source.select(2).map(used_rows, places, given.used))


def _rare(given: GivenRows, number: int, view: View) -> Array:
    """The first rows that differ in a view's columns from one that the others are like."""
    label = f"view {view.name!r}"
    table = as_table(given.rows.take(np.array([number]))[0])
    selection = resolve_columns(table, view.columns, label, view.table)
    found = given.rows.map(differing_rows, selection, selection.take(table, label), _RARE)
    return np.concatenate(found)[:_RARE]


def _memory(rows: RowBlocks, bank: LowRankBank, n_machines: int) -> MemoryEstimate:
    """What the fit occupies, and where the factors of all rows go: in memory, on disk, or nowhere."""
    is_here = isinstance(rows, LocalRows)
    memory = estimate_factors(
        rows.n_rows,
        int(bank.offsets_[-1]),
        bank.n_kernels_,
        bank.dtype,
        None if is_here else cluster_memory(),
        n_machines=n_machines,
        n_threads=rows.n_threads if isinstance(rows, LocalRows) else 1,
    )
    if not is_here:
        return memory if fits_cluster(memory.stack) else replace(memory, place="nowhere")
    if memory.fits:
        return memory
    has_room = shutil.disk_usage(tempfile.gettempdir()).free > memory.stack
    memory = replace(memory, place="disk" if has_room else "nowhere")
    require_fits(memory)
    return memory


# ---------------------------------------------------------------------- warnings
def warn_of_factors(estimator: Any, factors: Factors) -> None:
    """Warn of what was not requested, once a fit has its factors and its `approximation_`."""
    _warn_of_missed(factors)
    _warn_of_price(estimator, factors)
    if is_unasked(estimator, factors):
        _warn_of_choice(estimator, factors)
    else:
        _warn_of_inexact(factors)


def is_unasked(estimator: Any, factors: Factors) -> bool:
    """Whether the factors were not requested; of rows elsewhere there is no other choice."""
    is_local = isinstance(factors.rows, LocalRows)
    return is_local and estimator._storage.gram == "auto" and not has_asked_for_factors(estimator)


def tell_of_factors(estimator: Any, given: GivenRows, factors: Factors) -> None:
    """Warn of near-identity kernels, on some of the rows that count, and of scales far apart."""
    bank = factors.bank
    table = as_table(given.rows.take(draw_rows(given, _LOOKED_AT, estimator._fit_seed))[0])
    views = [_Looked(view.kernel, view.rows(table)) for view in bank.views_]
    lonely = [m for m, view in enumerate(views) if is_near_identity(view.gram())]
    if lonely and not (is_automatic(estimator._storage) and len(lonely) < len(views)):
        tell_of_identities(lonely, bank.view_names_, views)
    tell_of_scales(bank.view_names_, factors.rows.sum(block_traces)[0] / given.n_used, estimator._costs)


class _Looked(NamedTuple):
    """A kernel and some rows of its view."""

    kernel: Any
    rows: Rows

    def gram(self) -> Array:
        """The kernel itself on these rows, without approximation."""
        K = np.empty((len(self.rows), len(self.rows)))
        self.kernel.evaluate(Pair(self.rows, self.rows, keep=False), K)
        return K


def largest_error(errors: "pd.Series[float]", digits: str = ".1e") -> str:
    """The largest relative trace error of views, in words."""
    if errors.isna().all():
        return "random features have no trace error"
    return f"the largest relative trace error is {errors.max():{digits}} (view {errors.idxmax()!r})"


def _warn_of_missed(factors: Factors) -> None:
    for m in factors.missed:
        columns = factors.bank.ranks_[m]
        remedy = (
            f", with {columns} columns, the most that a rank by error takes. Use a wider kernel, a rank by "
            "number, or gram='dense'."
            if columns >= factors.largest_rank
            else ". Ask for a smaller error, or give a rank by number."
        )
        warn_caller(
            f"view {factors.bank.view_names_[m]!r} has a relative trace error of {factors.errors[m]:.1e} "
            f"over all {grouped(factors.rows.n_rows)} rows, more than rank={factors.tolerances[m]:g} asks "
            f"for{remedy}",
            LowRankWarning,
        )


def _warn_of_price(estimator: Any, factors: Factors) -> None:
    if not isinstance(factors.rows, LocalRows):
        return
    needed = factors.memory.stack + factors.memory.workspace
    dense = estimate_memory(factors.rows.n_rows, factors.bank.n_kernels_, estimator._storage.dtype).total
    if needed > max(dense, _LITTLE):
        warn_caller(
            "these factors need more memory than the Gram matrices that they approximate: use gram='dense', "
            f"which is exact, or a smaller rank. {factors.memory.n_columns} columns take "
            f"{readable_size(needed)} of memory, Gram matrices {readable_size(dense)}.",
            LowRankWarning,
        )


def _warn_of_inexact(factors: Factors) -> None:
    inexact = np.setdiff1d(np.flatnonzero(factors.errors > _INEXACT), factors.missed)
    if inexact.size:
        names = ", ".join(repr(factors.bank.view_names_[m]) for m in inexact)
        warn_caller(
            "factors of low rank hold less than half of some kernels, by their trace. Raise rank, or use "
            f"wider kernels, for view{'s' * (inexact.size > 1)} {names} (relative trace error up to "
            f"{factors.errors[inexact].max():.2g}, see approximation_).",
            LowRankWarning,
        )


def _warn_of_choice(estimator: Any, factors: Factors) -> None:
    n = factors.rows.n_rows
    about = grouped(round(n, 2 - len(str(n))))  # to two digits
    stack = estimate_memory(n, factors.bank.n_kernels_, estimator._storage.dtype).stack
    folds = most_dense_folds(n)
    search = f" Name the route for a search with up to {grouped(folds)} folds, which have fewer rows."
    warn_caller(
        "gram='auto' of a KernelBank takes factors of low rank for large Gram matrices. Raise its rank for "
        "more exact ones, see approximation_; gram='low_rank' says that they are wanted, gram='dense' or "
        f"'memmap' that they are not. About {about} rows, "
        f"{readable_size(factors.memory.stack)} instead of {readable_size(stack)}; "
        f"{largest_error(estimator.approximation_['trace_error'], '.1g')}."
        f"{search if folds else ''}",
        LowRankWarning,
    )


# ---------------------------------------------------------------------- steps of a fit
class BlockProblem(NamedTuple):
    """Machines with common weights: their rows of factors, targets and prices, their loss and their names."""

    rows: RowBlocks
    loss: PrimalLoss
    names: list[str]
    fit_intercept: bool = True


def goes_low_rank(model: Any, X: Any) -> bool:
    """Choose the route, and forget what a fit by the other one has left."""
    check_bank_rank(model._storage.rank)
    for name in _OF_ONE_ROUTE:
        model.__dict__.pop(name, None)
    model.gram_ = choose_route(model, X)
    return bool(model.gram_ == "low_rank")


def fit_factors(model: Any, given: GivenRows, n_machines: int = 1) -> Factors:
    """The factors of all rows; what was done is said.

    ``n_machines`` are learned at the same time, each with a Hessian of its own.
    """
    model._check_numerics()
    check_norm(model.norm)
    model._fit_seed = model._draw_seed()
    stored = model._storage
    rank = None if stored.rank == "auto" else check_rank("rank", stored.rank)
    says_nothing = stored.standardize == stored.normalize == "auto"
    kernels = stored.kernels if says_nothing else as_views(stored)
    factors = FactorRequest(kernels, rank, model._fit_seed, stored.dtype, n_machines).fit(given)
    model.view_names_ = list(factors.bank.view_names_)
    model._costs = check_costs(model.costs, model.view_names_)
    model.memory_, model.missing_, model.kept_views_ = factors.memory, "error", []
    model.approximation_ = pd.DataFrame(
        {
            "approximation": factors.bank.approximations_,
            "rank": factors.bank.ranks_,
            "trace_error": factors.errors,
            "gram_error": factors.bank.gram_errors_,
        },
        index=pd.Index(model.view_names_, name="view"),
    )
    if model.verbose:
        error = largest_error(model.approximation_["trace_error"])
        sys.stderr.write(f"[multikernel] low rank: {factors.memory}; {error}\n")
    warn_of_factors(model, factors)
    tell_of_factors(model, given, factors)
    return factors


def learn_on_factors(model: Any, factors: Factors, problem: BlockProblem, label: str = "") -> BlockResult:
    """The weights and machines of one problem."""
    with refusing_overflow():
        result = learn_block_weights(
            problem.rows,
            factors.bank.offsets_,
            problem.loss,
            n_tasks=len(problem.names),
            norm=float(model.norm),
            costs=model._costs,
            fit_intercept=problem.fit_intercept,
            options=model._options(model._fit_seed, label),
        )
    require_finite(result)
    return result


def store_factors(model: Any, factors: Factors, results: Sequence[Any], names: Sequence[list[str]]) -> None:
    """Keep the machines in compact form: active views only; results have what a :class:`BlockResult` has."""
    bank = factors.bank
    model._store_results(results, names)
    model.total_cost_ = factor_cost(model.machine_weights_, bank.ranks_, model._costs)
    active = np.flatnonzero(model.machine_weights_.any(axis=0))
    active = active if active.size else np.array([0])
    columns = np.isin(np.repeat(np.arange(bank.n_kernels_), bank.ranks_), active)
    model.coef_ = np.ascontiguousarray(np.concatenate([r.coefficients for r in results])[:, columns])
    part = FactorKernels(bank.restrict(active), model.coef_)
    model._fitted = FittedKernels([part], model.machine_weights_.shape)

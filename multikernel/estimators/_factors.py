"""From rows to factors: reference rows, a bank fitted on them, the factors of all rows and how good they are.

The reference rows are drawn by their number among the rows that count, so that the same seed chooses the same
ones wherever the rows live. Of reference rows that are equal, one is kept, and they are put in an order of
their own: where all rows are reference rows, neither repetitions nor the order of the rows change the bank.
"""

import shutil
import tempfile
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._validation import RowError
from ..rows import LocalRows, RowBlocks, cluster_memory, fits_cluster
from ..views import View, as_views
from ..views.columns import as_table, resolve_columns
from ..views.low_rank import DegenerateViewError, LowRankBank, largest_rank, reference_rows, reference_size
from ..views.memory import MemoryEstimate, estimate_factors, require_fits
from ._block_functions import block_traces, differing_rows, factorise, raise_in_row, used_rows, worst_rows
from ._row_input import GivenRows
from ._samples import distinct_samples

Array = np.ndarray[Any, np.dtype[Any]]

_ATTEMPTS = 4  # at a trace error that is asked for
_AIM = 0.9  # of it on the reference rows, which are nearer to their landmarks than other rows
_RARE = 100  # rows that become reference rows because a kernel would be constant on the others
_WORST = 100  # rows that become reference rows because the factors miss them most


@dataclass(frozen=True)
class Factors:
    """The factors of all rows.

    Attributes
    ----------
    rows : RowBlocks of factors, targets, weights and traces
    bank : LowRankBank
    errors : array (n_kernels,), relative trace errors over all rows that count; NaN where there is none
    tolerances : array (n_kernels,), those asked for; infinity where none was
    sample_targets : array (n_sample, n_outputs), of the reference rows
    memory : MemoryEstimate
    largest_rank : int, columns of a view whose rank is an error, at most
    """

    rows: RowBlocks
    bank: LowRankBank
    errors: Array
    tolerances: Array
    sample_targets: Array
    memory: MemoryEstimate
    largest_rank: int

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

    def fit(self, given: GivenRows) -> Factors:
        """Fit the bank on reference rows; on more of them where the errors over all rows are too large."""
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
        """Numbers of the reference rows among all rows."""
        places = reference_rows(given.n_used, size, self.seed)
        if given.n_used == given.rows.n_rows:
            return places
        return np.concatenate(given.source.select(2).map(used_rows, places, given.used))

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
        rows = _derived(given.rows, bank, memory)
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
            bank.fit(samples.take(X), given.n_used)
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

        kernels = self.kernels
        if not isinstance(kernels, str):
            kernels = [replace(view, rank=adapted(view.rank)) for view in as_views(kernels)]
        return LowRankBank(kernels, rank=adapted(self.rank), seed=self.seed, dtype=self.dtype)

    def _ranks(self) -> list[int | float | None]:
        return [self.rank if view.rank is None else view.rank for view in as_views(self.kernels)]

    def _tolerances(self) -> dict[str, float]:
        """The trace errors asked for, by view name."""
        named = zip(as_views(self.kernels), self._ranks(), strict=True)
        return {view.name: rank for view, rank in named if isinstance(rank, float)}


def _rare(given: GivenRows, number: int, view: View) -> Array:
    """The first rows that differ in a view's columns from one that the others are like."""
    label = f"view {view.name!r}"
    table = as_table(given.rows.take(np.array([number]))[0])
    selection = resolve_columns(table, view.columns, label)
    found = given.rows.map(differing_rows, selection, selection.take(table, label), _RARE)
    return np.concatenate(found)[:_RARE]


def _memory(rows: RowBlocks, bank: LowRankBank, n_machines: int) -> MemoryEstimate:
    """What the fit occupies, and where the factors of all rows go: in memory, on disk, or nowhere.

    Raises
    ------
    ValueError
        If not even the rest fits in the memory of this process.
    """
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


def _derived(rows: RowBlocks, bank: LowRankBank, memory: MemoryEstimate) -> RowBlocks:
    """The factors of all rows, kept in their place, or computed when they are read."""
    if isinstance(rows, LocalRows):
        rows.on_disk = memory.place == "disk"
    return rows.derive(factorise, bank, keep=memory.place != "nowhere")

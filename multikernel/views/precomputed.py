"""The bank of precomputed Gram matrices, and the entry point by which estimators get a bank."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from multikernel._validation import (
    PSD_CHOICES,
    all_finite,
    can_check_fully,
    check_choice,
    check_float_dtype,
    check_gram,
    check_positive_integer,
    check_real_matrix,
    raise_degenerate,
    raise_non_finite_gram,
)
from multikernel.kernels import PSDRepair
from multikernel.kernels._rows import row_blocks
from multikernel.rows.memory import is_on_disk
from multikernel.views.bank import Bank, KernelBank, needs_repair, repair
from multikernel.views.columns import absent_from_gram, absent_from_rows, among, check_positions, spread_into
from multikernel.views.memory import (
    GRAM_CHOICES,
    MemoryEstimate,
    allocate_stack,
    estimate_memory,
    require_fits,
)
from multikernel.views.missing import CompletedBank
from multikernel.views.stacks import as_stack, check_names, match_stack, names_of
from multikernel.views.view import as_views, refuse_approximations


@dataclass(eq=False, repr=False)
class PrecomputedBank(Bank):
    """A bank of precomputed kernels: X of shape (n_samples, n_samples, m) at fit and (n_test, n_train, m) at
    prediction.

    A stack whose memory is kernels first (`stack_kernels` makes one; float64 or float32, memory-mapped
    too) is used as it is; any other is converted once. A 2-D X is one kernel. A dict or list of matrices is
    stacked; at prediction kernels that have names are found by these, others by their position.

    Parameters
    ----------
    names : sequence of str, default=None
        Names of the kernels, or which of those of a `NamedStack` or dict to take, in this order. None: their
        own names, and ``"kernel-0"``, ``"kernel-1"``, … of kernels without.
    dtype : {"float64", "float32"}, default="float64"
        For stacks that are of neither type.
    gram : {"dense", "memmap"}, default="dense"
        Where a converted stack is put.
    psd : {"error", "clip", "shift"}, default="error"
        What to do with an indefinite kernel; a repair works on a copy of the stack.
    memory_limit : int, default=None
        Bytes that may be used, instead of what the system says is available.

    Attributes
    ----------
    view_names_ : list of str
    n_train_, n_kernels_ : int
    memory_ : MemoryEstimate

    Examples
    --------
    >>> from multikernel.views import stack_kernels
    >>> bank = PrecomputedBank(names=["plain", "double"])
    >>> Ks = bank.fit_stack(stack_kernels([np.eye(2), 2 * np.eye(2)]))
    >>> Ks.shape, bank.view_names_
    ((2, 2, 2), ['plain', 'double'])
    """

    names: Any = None
    _: KW_ONLY
    dtype: Any = "float64"
    gram: str = "dense"
    psd: str = "error"
    memory_limit: int | None = None
    _is_named = False

    # --- fit -------------------------------------------------------------------------------------

    def fit_stack(self, X: Any, y: Any = None) -> np.ndarray:
        """Check the training stack (n, n, m) and return it kernels first: Ks (m, n, n), C-contiguous."""
        check_choice("psd", self.psd, PSD_CHOICES)
        check_choice("gram", self.gram, GRAM_CHOICES)
        given = names_of(X) if self.names is None else check_names(self.names, len(self.names))
        X = as_stack(X, at_fit=True) if self.names is None else match_stack(X, given)
        stack = _as_stack(X, check_float_dtype(self.dtype))
        if stack.shape[0] != stack.shape[1] or stack.shape[0] == 0:
            raise ValueError(
                "precomputed kernels must be square at fit, X of shape (n, n, n_kernels) with n >= 1; "
                f"got shape {stack.shape}."
            )
        n, _, m = stack.shape
        names = [f"kernel-{index}" for index in range(m)] if given is None else check_names(given, m)
        Ks = self._kernels_first(stack)
        repairs: dict[int, PSDRepair] = {}
        full = can_check_fully(n, m) or self.psd != "error"
        self._present = self._find_present(Ks, names)
        if self._present and np.may_share_memory(Ks, stack):
            Ks = self._copied(Ks)
        for index, name in enumerate(names):
            label = f"kernel {name!r}"
            where = self._present.get(index)
            K = Ks[index] if where is None else self._present_block(Ks[index], where, label)
            facts = check_gram(K, label)
            if facts.degenerate:
                raise_degenerate(label, facts.degenerate)
            if not needs_repair(K, facts, label, psd=self.psd, full=full):
                continue
            if where is not None:
                repairs[index] = repair(K, self.psd, label)
                spread_into(Ks[index], K, where, where)
                continue
            if np.may_share_memory(Ks, stack):
                Ks = self._copied(Ks)
            repairs[index] = repair(Ks[index], self.psd, label)
        self._repairs = repairs
        self.view_names_, self._is_named = names, given is not None
        self.n_train_, self.n_kernels_ = n, m
        self.active_ = tuple(range(m))
        self._support: np.ndarray | None = None
        return Ks

    def _find_present(self, Ks: np.ndarray, names: list[str]) -> dict[int, np.ndarray]:
        """The samples that have a kernel, of the kernels that some sample lacks."""
        if not self.allow_absent:
            return {}
        absent = [absent_from_gram(K, f"kernel {name!r}") for K, name in zip(Ks, names, strict=True)]
        return {index: np.flatnonzero(~lacks) for index, lacks in enumerate(absent) if lacks.any()}

    @staticmethod
    def _present_block(K: np.ndarray, where: np.ndarray, label: str) -> np.ndarray:
        """The Gram of the samples that have a kernel; K is 0 elsewhere from now on."""
        block = np.ascontiguousarray(K[np.ix_(where, where)])
        spread_into(K, block, where, where)
        check_gram(K, label)  # so that what is wrong is named by its place in the whole
        return block

    def memory_estimate(self, n: int, n_kernels: int | None = None) -> MemoryEstimate:
        """What a converted stack of n rows will occupy, and what is available."""
        m = getattr(self, "n_kernels_", None) if n_kernels is None else n_kernels
        if m is None:
            raise ValueError("memory_estimate needs n_kernels before a precomputed bank is fitted.")
        dtype = check_float_dtype(self.dtype)
        n, m = check_positive_integer("n", n), check_positive_integer("n_kernels", m)
        return estimate_memory(n, m, dtype, self.gram, self.memory_limit, lean=self.lean)

    def _kernels_first(self, stack: np.ndarray) -> np.ndarray:
        Ks = np.moveaxis(stack, 2, 0)
        as_it_is = Ks.flags.c_contiguous
        place = "memmap" if as_it_is and is_on_disk(Ks) else self.gram
        self.memory_ = estimate_memory(
            stack.shape[0], len(Ks), Ks.dtype, place, self.memory_limit, lean=self.lean
        )
        if as_it_is:
            return Ks
        require_fits(self.memory_)
        converted = allocate_stack(Ks.shape, Ks.dtype, self.gram)
        for block in row_blocks(stack.shape[0], stack.shape[1] * stack.shape[2]):
            for target, source in zip(converted, Ks, strict=True):  # all kernels while the block is cached
                target[block] = source[block]
        return converted

    def _copied(self, Ks: np.ndarray) -> np.ndarray:
        require_fits(self.memory_)
        copied = allocate_stack(Ks.shape, Ks.dtype, self.gram)
        copied[...] = Ks
        return copied

    # --- predict ---------------------------------------------------------------------------------

    def iter_kernels(self, X: Any) -> Iterator[tuple[int, np.ndarray]]:
        """Yield ``(index, K)`` for each active kernel of the stack X (n_test, n_train, m), in order.

        After `restrict`, X is still the full stack; K holds the columns of the support points.
        """
        return self._iterate(self._test_stack(X))

    def _test_stack(self, X: Any) -> np.ndarray:
        """X as a stack of rows against the training samples."""
        self._require_fitted()
        stack = _as_stack(match_stack(X, self.view_names_ if self._is_named else None))
        if stack.shape[1:] != (self.n_train_, self.n_kernels_):
            raise ValueError(
                f"precomputed kernels at prediction must have shape (n_test, n_train={self.n_train_}, "
                f"n_kernels={self.n_kernels_}); got shape {stack.shape}."
            )
        if stack.shape[0] == 0:
            raise ValueError(f"X must hold at least one sample; got shape {stack.shape}.")
        return stack

    def _iterate(self, stack: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
        for index in self.active_:
            K = check_real_matrix(stack[:, :, index], f"kernel {self.view_names_[index]!r}")
            if self.allow_absent:
                yield index, self._present_rows(K, index)
                continue
            fixed = self._repairs.get(index)
            if fixed is not None and fixed.needs_all_columns:
                self._require_finite(K, index)
                K = fixed.test(K, np.empty(0))
            elif self._support is not None:
                K = K[:, self._support]
            self._require_finite(K, index)
            yield index, K

    def _present_rows(self, K: np.ndarray, index: int) -> np.ndarray:
        """Rows of a kernel that samples may lack: 0 where either of two samples lacks it."""
        columns = self._present.get(index)
        has = np.flatnonzero(~absent_from_rows(K, columns))
        columns = np.arange(self.n_train_) if columns is None else columns
        known = K[np.ix_(has, columns)]
        if not all_finite(known):
            self._require_finite(spread_into(np.empty_like(K), known, has, columns), index)
        support = np.arange(self.n_train_) if self._support is None else self._support
        inside, places = among(columns, support)
        fixed = self._repairs.get(index)
        if fixed is not None and fixed.needs_all_columns:
            known = fixed.test(known, np.empty(0))
        else:
            known = known[:, inside]
        return spread_into(np.empty((len(K), len(support)), K.dtype), known, has, places)

    def presence(self, X: Any) -> np.ndarray:
        """Whether each sample has each kernel, (n_test, m)."""
        stack = self._test_stack(X)
        absent = [absent_from_rows(stack[:, :, m], self._present.get(m)) for m in range(self.n_kernels_)]
        return ~np.column_stack(absent)

    def _require_finite(self, K: np.ndarray, index: int) -> None:
        if not all_finite(K):
            raise_non_finite_gram(K, f"kernel {self.view_names_[index]!r}")

    def restrict(self, support: Any, active: Any) -> PrecomputedBank:
        """A compact bank that yields the columns `support` of the kernels `active` only."""
        self._require_fitted()
        compact = copy.copy(self)
        rows = check_positions("support", support, self.n_train_)
        compact._support = rows
        compact.active_ = tuple(sorted(set(check_positions("active", active, self.n_kernels_).tolist())))
        compact._repairs = {
            index: fixed.restrict(self._own_positions(index, rows))
            for index, fixed in self._repairs.items()
            if index in compact.active_
        }
        return compact

    def _own_positions(self, index: int, rows: np.ndarray) -> np.ndarray:
        """Where some training samples stand among those that have a kernel."""
        present = self._present.get(index) if self.allow_absent else None
        return rows if present is None else among(present, rows)[0]


def _as_stack(X: Any, dtype: Any = np.float64) -> np.ndarray:
    stack = check_real_matrix(X, "the stack of precomputed kernels X", dtype)
    if stack.ndim == 2:
        stack = stack[:, :, None]
    if stack.ndim != 3:
        raise ValueError(
            "precomputed kernels must have shape (n, n_train, n_kernels), or (n, n_train) for one kernel; "
            f"got shape {stack.shape}. stack_kernels makes such a stack from a list of matrices."
        )
    if stack.shape[2] == 0:
        raise ValueError(f"precomputed kernels must hold at least one kernel; got shape {stack.shape}.")
    return stack


def is_precomputed(kernels: Any) -> bool:
    """Whether a ``kernels=`` argument says that X holds kernels."""
    kernels = getattr(kernels, "kernels", kernels)
    return isinstance(kernels, str) and kernels == "precomputed"


def storage_of(kernels: Any) -> KernelBank:
    """A ``kernels=`` argument as a bank, which says how its kernels are stored: itself, or one by default."""
    return kernels if isinstance(kernels, KernelBank) else KernelBank(kernels)


def way_of_fit(stored: KernelBank, gram: str, missing: str) -> dict[str, Any]:
    """Parameters of a bank with which other rows go the way of a fit, by its ``gram_`` and ``missing_``.

    Examples
    --------
    >>> way_of_fit(KernelBank(), "working_set", "error")
    {'gram': 'low_rank', 'rank': 'auto', 'missing': 'error'}
    """
    if gram == "working_set":
        return {"gram": "low_rank", "rank": "auto", "missing": missing}
    rank = None if stored.rank == "auto" else stored.rank  # "auto" has ended in factors of the usual rank
    return {"gram": gram, "rank": rank, "missing": missing}


def make_bank(
    kernels: Any = "auto",
    *,
    gram: str | None = None,
    lean: bool = False,
    fill: str | None = None,
    encodes: bool = True,
    for_novelty: bool = False,
) -> KernelBank | PrecomputedBank | CompletedBank:
    """The bank for a ``kernels=`` argument: a `PrecomputedBank` for ``"precomputed"``, else a `KernelBank`.

    ``gram``: where the stack is kept, if not where the argument says.
    ``lean``: whether its stack is for a learner of kernel weights, which needs less memory beside it.
    ``fill``: how kernels are completed where samples lack views, see `CompletedBank`; None refuses such
    samples.
    ``encodes``: whether views encode categories and gaps; False where X must be numbers all the same.
    ``for_novelty``: whether automatic kernels are those for novelty detection.

    Examples
    --------
    >>> make_bank(KernelBank("precomputed", psd="clip")).psd
    'clip'
    """
    given = storage_of(kernels)
    check_float_dtype(given.dtype)
    check_choice("psd", given.psd, PSD_CHOICES)
    place = given._place if gram is None else check_choice("gram", gram, GRAM_CHOICES)
    stored = {"dtype": given.dtype, "gram": place, "psd": given.psd, "memory_limit": given.memory_limit}
    bank: KernelBank | PrecomputedBank
    if is_precomputed(given):
        bank = PrecomputedBank(**stored)
    else:
        refuse_approximations(as_views(given))  # and what is no set of kernels, before anything is computed
        defaults: dict[str, Any] = {"standardize": given.standardize, "normalize": given.normalize}
        bank = KernelBank(given.kernels, **defaults, **stored)
        bank.encodes, bank.for_novelty = encodes, for_novelty
    bank.lean = lean
    return bank if fill is None else CompletedBank(bank, fill)

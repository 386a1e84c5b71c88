"""A bank around a bank: its kernels completed where samples lack views."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from multikernel._validation import check_choice
from multikernel.views.bank import Bank
from multikernel.views.columns import check_positions
from multikernel.views.memory import MemoryEstimate
from multikernel.views.missing.filling import MeanFilling, MutualFilling
from multikernel.views.missing.presence import require_some_view

FILLINGS = ("zero", "mean", "mutual")


class CompletedBank(Bank):
    """Kernels of samples some of which lack views.

    Parameters
    ----------
    bank : KernelBank or PrecomputedBank
        Not fitted yet.
    fill : {"zero", "mean", "mutual"}
        What stands where one of two samples lacks a view: 0; the mean of the samples that have the view in
        the place of the absent sample; or its expectation given the other views.

    Attributes
    ----------
    present_ : ndarray of shape (n_train, m), bool
        Which training samples have which view.
    filling_ : MeanFilling, MutualFilling or None
    view_names_, n_train_, n_kernels_, active_, memory_
        As those of the bank.

    Examples
    --------
    >>> from multikernel.kernels import Linear
    >>> from multikernel.views import KernelBank
    >>> views = [("one", Linear(), [0]), ("two", Linear(), [1])]
    >>> X = np.array([[1.0, 1.0], [2.0, np.nan], [3.0, 3.0]])
    >>> CompletedBank(KernelBank(views), "mean").fit_stack(X)[1]
    array([[1., 2., 3.],
           [2., 4., 6.],
           [3., 6., 9.]])
    """

    def __init__(self, bank: Any, fill: str) -> None:
        check_choice("fill", fill, FILLINGS)
        self.bank = copy.copy(bank)
        self.bank.allow_absent = True
        self.fill = fill

    @property
    def view_names_(self) -> list[str]:  # type: ignore[override]
        return list(self.bank.view_names_)

    @property
    def n_train_(self) -> int:
        return int(self.bank.n_train_)

    @property
    def n_kernels_(self) -> int:
        return int(self.bank.n_kernels_)

    @property
    def memory_(self) -> MemoryEstimate:
        return self.bank.memory_

    # --- fit -------------------------------------------------------------------------------------

    def fit_stack(self, X: Any, rows: np.ndarray | None = None) -> np.ndarray:
        """Fit, and return the completed training Grams: Ks of shape (m, n, n).

        Parameters
        ----------
        X : as for the bank; samples may lack views
        rows : ndarray of int, optional
            The samples of a ready-made stack that count. The others are as if they were not there, but the
            rows of new samples still hold their columns.
        """
        Ks = self.bank.fit_stack(X)
        has = self.bank.presence(X)
        self._rows = np.arange(self.n_train_) if rows is None else rows
        if self._rows.size < self.n_train_:
            Ks = np.ascontiguousarray(Ks[:, self._rows][:, :, self._rows])
            has = has[self._rows]
            self.bank = self.bank.restrict(self._rows, np.arange(self.n_kernels_))
        require_some_view(has)
        self.present_ = has
        self.active_ = tuple(range(self.n_kernels_))
        self._support = np.arange(len(has))
        self.filling_: MeanFilling | MutualFilling | None = None
        if self.fill != "zero":
            Ks = Ks if Ks.flags.writeable and not _is_given(Ks, X) else Ks.copy()
            self.filling_ = (MeanFilling if self.fill == "mean" else MutualFilling).fit(Ks, has)
        return Ks

    # --- predict ---------------------------------------------------------------------------------

    def presence(self, X: Any) -> np.ndarray:
        """Whether each sample has each view, (n_test, m); a sample that lacks all of them is refused."""
        has = np.asarray(self.bank.presence(X))
        require_some_view(has)
        return has

    def iter_kernels(self, X: Any) -> Iterator[tuple[int, np.ndarray]]:
        """Yield ``(index, K)`` for each active kernel, completed; K (n_test, n_train or n_support)."""
        has = self.presence(X)
        if isinstance(self.filling_, MutualFilling):
            return self._iterate_together(X, has, self.filling_)
        return self._iterate(X, has)

    def _iterate(self, X: Any, has: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
        for index, K in self.bank.iter_kernels(X):
            if isinstance(self.filling_, MeanFilling):
                K = self.filling_.complete(index, K, has[:, index], self._support)
            yield index, K

    def _iterate_together(
        self, X: Any, has: np.ndarray, filling: MutualFilling
    ) -> Iterator[tuple[int, np.ndarray]]:
        Ks = np.empty((self.n_kernels_, len(has), len(self.present_)))
        for index, K in self.bank.iter_kernels(X):
            Ks[index] = K
        filling.complete(Ks, has)
        for index in self.active_:
            yield index, Ks[index][:, self._support]

    def restrict(self, support: Any, active: Any) -> CompletedBank:
        """A compact bank that yields the training samples `support` of the kernels `active` only.

        Where kernels are completed from others, all samples and kernels are kept.
        """
        compact = copy.copy(self)
        rows = check_positions("support", support, len(self.present_))
        kernels = sorted(set(check_positions("active", active, self.n_kernels_).tolist()))
        compact._support = rows
        compact.active_ = tuple(kernels)
        kept = rows
        if isinstance(self.filling_, MutualFilling):
            kept, kernels = np.arange(len(self.present_)), list(range(self.n_kernels_))
        elif isinstance(self.filling_, MeanFilling) and self.filling_.needs_all_columns(
            rows, np.array(kernels)
        ):
            kept = np.arange(len(self.present_))
        compact.bank = self.bank.restrict(self._rows[kept], kernels)
        return compact

    def only(self, active: Sequence[int]) -> CompletedBank:
        """The same bank, yielding the kernels `active` and no others."""
        part = super().only(active)
        if not isinstance(self.filling_, MutualFilling):
            part.bank = self.bank.only(active)
        return part


def _is_given(Ks: np.ndarray, X: Any) -> bool:
    """Whether the stack is the caller's own memory."""
    return isinstance(X, np.ndarray) and bool(np.may_share_memory(Ks, X))

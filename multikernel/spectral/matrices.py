"""The matrices that a spectral kernel is learned from: of one kernel or several, whole or as factors."""

from typing import Any

import numpy as np
from sklearn.utils import Tags

from .._typing import Array
from ..core.estimator import KernelEstimator
from ..core.one_kernel import OneKernel
from ..rows.tables import count_rows, take_rows
from ..views import KernelBank, PrecomputedBank
from ..views.low_rank import LowRankBank, choose_gram, reference_rows, reference_size
from ..views.stacks import as_stack


class KernelMatrices(OneKernel):
    """Parameter `kernels`, one kernel or a list of them, and the matrices or factors that they give.

    A subclass calls `_fit_matrices` in `fit`, and `_test_blocks` afterwards, which gives the rows of new
    points: similarities (n_rows, n), or factors (n_rows, q) where the fit had these; a list of them for
    several kernels.
    """

    view_names_: list[str]
    _storage_options = ("psd", "gram", "rank")
    _from_factors = False

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = self._precomputed
        return tags

    @property
    def _has_several(self) -> bool:
        return isinstance(self._storage.kernels, list | tuple | dict)

    def _validate_precomputed(self, X: Any, *, reset: bool) -> Any:
        shown = as_stack(X)
        if getattr(shown, "ndim", 2) == 3 and shown.shape[2] > 1:
            return KernelEstimator._validate_precomputed(self, X, reset=reset)
        return super()._validate_precomputed(X, reset=reset)

    def _make_bank(self) -> KernelBank | PrecomputedBank:
        if not self._has_several and not self._precomputed:
            return super()._make_bank()
        self._check_storage()
        stored = self._storage
        if self._precomputed:
            return PrecomputedBank(self._gram_names, psd=stored.psd)
        return KernelBank(
            stored.kernels,
            standardize=stored.standardize is True,
            normalize=None if stored.normalize == "auto" else stored.normalize,
            psd=stored.psd,
        )

    def _fit_matrices(self, points: Any) -> list[Array]:
        """The matrix (n, n) of each kernel over all points, checked; or its factor (n, q)."""
        bank = self._make_bank()
        n, given = count_rows(points), self._storage.rank
        rank = None if isinstance(given, str) else given
        route = choose_gram(
            self._storage.gram, n, bank if isinstance(bank, KernelBank) else "precomputed", rank=rank
        )
        self._from_factors = route == "low_rank" and isinstance(bank, KernelBank)
        if not self._from_factors:
            return self._whole_matrices(points, bank)
        assert isinstance(bank, KernelBank)
        factors = LowRankBank(bank.kernels, standardize=bank.standardize, normalize=bank.normalize, rank=rank)
        sample = take_rows(points, reference_rows(n, reference_size(n, [rank])))
        self._bank = factors.fit(sample, n)
        self._name_kernels()
        return [Z for _, Z in factors.iter_factors(points)]

    def _whole_matrices(self, points: Any, bank: KernelBank | PrecomputedBank) -> list[Array]:
        if not self._precomputed and not self._has_several:
            K = self._fit_gram(points)
            self.view_names_ = list(self._bank.view_names_)
            return [K]
        if self._precomputed and points.shape[0] != points.shape[1]:
            raise ValueError(
                f"precomputed kernels must be square at fit, over all points; got shape {points.shape}."
            )
        self._bank = bank
        Ks = bank.fit_stack(points)
        self._name_kernels()
        return [np.asarray(K, np.float64) for K in Ks]

    def _name_kernels(self) -> None:
        self.view_names_ = list(self._bank.view_names_)
        is_one = len(self.view_names_) == 1 and not self._precomputed
        self.base_kernel_ = self._bank.views_[0].kernel if is_one else None

    def _test_block(self, X: Any) -> Any:
        parts = self._bank.iter_factors(X) if self._from_factors else self._bank.iter_kernels(X)
        rows = [np.asarray(part, np.float64) for _, part in parts]
        return rows[0] if len(rows) == 1 else rows

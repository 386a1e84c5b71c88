"""What every estimator on one kernel shares: the training matrix K (n, n), and the rows of new points.

The kernel is a function of rows, which is fitted and evaluated here, or its matrices are handed in:
``kernels="precomputed"``, X of shape (n, n) at fit and (n_test, n_train) afterwards, or a dict of one matrix,
which is found by its name afterwards. Either way the estimator sees a checked K = (k(x_i, x_j)) and rows
k(x, x_j), with the same repair where K was indefinite.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.utils import Tags, check_array
from sklearn.utils.validation import validate_data

from .._typing import Array
from .._validation import all_finite, as_numbers, raise_non_finite_gram
from ..kernels import Kernel
from ..views import KernelBank, PrecomputedBank, View
from ..views.stacks import is_grams, names_of
from ..views.view import read_kernel
from .estimator import KernelEstimator
from .folds import random_source


def fixed_seed(random_state: Any) -> int:
    """A seed from scikit-learn's ``random_state``; None is a fixed one, so that a fit can be repeated."""
    return 0 if random_state is None else int(random_source(random_state).randint(2**31 - 1))


class OneKernel(KernelEstimator):
    """Parameter `kernels`, one kernel, and the matrices that it gives.

    A subclass calls `_validate_table` and `_fit_gram` in `fit`, and `_test_blocks` afterwards.

    Attributes
    ----------
    base_kernel_ : Kernel or None
        The kernel with numbers for the parameters that depend on the data; None for a precomputed one.
    """

    kernels: Any
    base_kernel_: Kernel | None
    _bank: Any
    _has_one_kernel = True
    _automatic = "gaussian"  # the kernel of kernels="auto"
    _storage_options: tuple[str, ...] = ("psd",)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = False  # one kernel is a matrix
        tags.input_tags.sparse = tags.input_tags.sparse and not self._precomputed
        return tags

    def _validate_precomputed(self, X: Any, *, reset: bool) -> Any:
        X = self._one_gram(X, reset)
        dtypes = (np.float64, np.float32)
        K = as_numbers(X, "X", "Give a matrix of numbers.")
        K = check_array(K, dtype=dtypes, ensure_all_finite=False, input_name="X", estimator=self)
        if not all_finite(K):  # our own check says where
            name = f"kernel {self._gram_names[0]!r}" if self._gram_names else "the precomputed kernel"
            raise_non_finite_gram(K, name)
        validate_data(self, X, reset=reset, skip_check_array=True)
        return K

    def _one_gram(self, X: Any, reset: bool) -> Any:
        """The only matrix of a dict, list or stack with names; all else as it is."""
        has_several = is_grams(X) or names_of(X) is not None
        X = self._stack_of(X, reset=reset)
        if not has_several:
            return X
        if X.shape[2] != 1:
            names = f" ({', '.join(self._gram_names)})" if reset and self._gram_names else ""
            raise ValueError(
                f"{type(self).__name__} learns with one kernel; got {X.shape[2]} matrices{names}. Give one "
                "of them, or their weighted sum by combine_kernels."
            )
        return np.asarray(X)[:, :, 0]

    def _fit_gram(self, X: Any) -> Array:
        """The checked training matrix (n, n), float64; it may be the caller's memory: never write into it."""
        if self._precomputed and X.shape[0] != X.shape[1]:
            raise ValueError(
                f"a precomputed kernel must be square at fit, X of shape (n, n); got shape {X.shape}."
            )
        self._bank = self._make_bank()
        Ks = self._bank.fit_stack(X)
        if len(Ks) > 1:
            raise ValueError(
                f"{type(self).__name__} learns with one kernel; one of each table is {len(Ks)}: "
                f"{', '.join(self._bank.view_names_)}. Name the table with a View(..., table=...)."
            )
        K = np.asarray(Ks[0], np.float64)
        self.base_kernel_ = None if self._precomputed else self._bank.views_[0].kernel
        return K

    def _make_bank(self) -> KernelBank | PrecomputedBank:
        """A bank of the one kernel; its columns and values stay as they are unless a view or bank says so."""
        self._check_storage()
        kernel, psd = self._storage.kernels, self._storage.psd
        if self._precomputed:
            return PrecomputedBank(self._gram_names or ["precomputed"], psd=psd)
        if isinstance(kernel, (list, tuple, dict)):
            raise TypeError(
                f"{type(self).__name__} learns with one kernel; got a {type(kernel).__name__}. Make one of "
                "several kernels by a + b or a * b; for a kernel on some columns use a View."
            )
        if isinstance(kernel, str) and kernel == "auto":
            kernel = self._automatic
        stored = self._storage
        return KernelBank(
            kernel if isinstance(kernel, View) else read_kernel(kernel),
            standardize=stored.standardize is True,
            normalize=None if stored.normalize == "auto" else stored.normalize,
            psd=psd,
        )

    def _test_blocks(self, X: Any) -> Iterator[Array]:
        """Similarities to the training points, (n_rows, n_train), for a few thousand rows at a time."""
        return self._by_batches(X, self._test_block)

    def _test_block(self, X: Any) -> Array:
        _, K = next(self._bank.iter_kernels(X))
        return np.asarray(K, np.float64)

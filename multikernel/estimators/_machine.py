"""What every estimator that is a kernel machine shares: input checks, tags, prediction one kernel at a time.

A fitted model is a list of machines (one for a regressor, one for each class or pair of a classifier), kept
together as one matrix of dual coefficients over the samples of all of them and one row of kernel weights for
each.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags

from .._validation import check_number, check_positive_integer, is_indefinite, raise_indefinite, warn_caller
from ..combine.linear import stack_of_rows
from ..solvers import Status
from ..views import CompletedBank
from ._kernel_input import KernelInput
from ._lazy import by_chunks
from ._samples import Samples, all_samples, distinct_samples

Array = np.ndarray[Any, np.dtype[Any]]
# From best to worst: a model of several machines has the worst status of them.
_SEVERITY = [
    Status.OPTIMAL,
    Status.INTERRUPTED,
    Status.MAX_COLUMNS,
    Status.MAX_ITER,
    Status.STALLED,
    Status.INDEFINITE,
]


def worst_status(statuses: Sequence[Status]) -> str:
    """The status of a model of several machines."""
    return str(max(statuses, key=_SEVERITY.index))


def on_rows(Ks: Array, rows: Array) -> Array:
    """The stack of some of the samples: itself when they are all."""
    if rows.size == Ks.shape[1]:
        return Ks
    return stack_of_rows(Ks, rows)


class SeveralKernels(KernelInput):
    """Parameters and methods common to all estimators on several kernels."""

    kernels: Any
    tol: float
    max_iter: int
    callback: Callable[[dict[str, float]], bool | None] | None
    view_names_: list[str]
    _bank: Any
    status_: str
    dual_gap_: float
    n_iter_: int
    _easier = "lower C"  # what makes the problem better conditioned
    _certificate = "relative duality gap"

    # ------------------------------------------------------------------ tags and input
    @property
    def _precomputed(self) -> bool:
        return isinstance(self.kernels, str) and self.kernels == "precomputed"

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.three_d_array = self._precomputed
        return tags

    def _validate_precomputed(self, X: Any, *, reset: bool) -> Any:
        """Stacks are checked kernel by kernel, by the bank."""
        if reset and hasattr(X, "shape") and len(X.shape) > 1:
            self._require_kernels_last(X.shape)
            self.n_features_in_ = X.shape[1]
        return X

    @staticmethod
    def _require_kernels_last(shape: tuple[int, ...]) -> None:
        if len(shape) == 3 and shape[0] != shape[1] and shape[1] == shape[2]:
            raise ValueError(
                f"precomputed kernels come last, X of shape (n, n, n_kernels); got shape {shape}, with them "
                "first. Use numpy.moveaxis(X, 0, 2), or stack_kernels on the list of matrices."
            )

    def _check_numerics(self) -> None:
        check_positive_integer("max_iter", self.max_iter)
        check_number("tol", self.tol, above=0.0)
        if self.callback is not None and not callable(self.callback):
            raise TypeError(f"callback must be a function of one dict; got {self.callback!r}.")

    def _warn_unless_converged(self) -> None:
        if self.status_ in (Status.OPTIMAL, Status.INTERRUPTED):
            return
        remedy = {
            Status.MAX_ITER: "Raise max_iter or tol, or normalise the kernels.",
            Status.MAX_COLUMNS: "Raise max_columns or tol.",
            Status.STALLED: f"Floating point allows no better: raise tol, {self._easier}, or normalise the "
            "kernels.",
            Status.INDEFINITE: 'A kernel is indefinite: repair it with psd="clip" or psd="shift".',
        }[Status(self.status_)]
        warn_caller(
            f"{type(self).__name__} did not reach tol={self.tol:g}: the {self._certificate} is "
            f"{self.dual_gap_:.1e} after {self.n_iter_} iterations (status {self.status_!r}). {remedy}",
            ConvergenceWarning,
        )

    def _require_psd(self, Ks: Array, kernels: Sequence[int] | Array) -> None:
        """The solver met negative curvature: find the kernel that is to blame."""
        for m in kernels:
            if is_indefinite(Ks[m], full=True):
                raise_indefinite(Ks[m], f"kernel {self._bank.view_names_[m]!r}")

    # ------------------------------------------------------------------ kernels
    def _distinct(self, X: Any, targets: Array, weights: Array) -> Samples:
        """The samples that the solver sees; equal rows of a feature table are one."""
        targets = targets.reshape(weights.size, -1)
        return all_samples(weights) if self._precomputed else distinct_samples(X, targets, weights)

    def _fit_stack(self, X: Any, samples: Samples) -> Array:
        """Fit the bank; the training stack (n_kernels, n, n) of the samples."""
        if self._precomputed:  # the stack is checked whole, and its columns are the rows given at fit
            bank = self._bank
            is_completed = isinstance(bank, CompletedBank)
            Ks = bank.fit_stack(X, samples.rows) if is_completed else on_rows(bank.fit_stack(X), samples.rows)
        else:
            Ks = self._fit_distinct(X, samples)
        self.view_names_ = list(self._bank.view_names_)
        return Ks

    def _fit_distinct(self, X: Any, samples: Samples) -> Array:
        """The stack of the distinct rows; errors speak of the rows as the caller numbers them."""
        try:
            return np.asarray(self._bank.fit_stack(samples.take(X)))
        except ValueError:
            self._bank.fit_stack(X)
            raise


class KernelMachine(SeveralKernels):
    """Estimators whose score is a weighted sum over the kernels, with the same weights everywhere."""

    machine_weights_: Array
    dual_coef_: Array
    _coefficients: Array

    # ------------------------------------------------------------------ predict
    def _scores(self, X: Any) -> Array:
        """Scores without intercept, (n_samples, n_machines); one kernel and one batch of rows at a time."""
        return np.concatenate(list(self._by_batches(X, self._batch_scores)))

    def _batch_scores(self, X: Any) -> Any:
        return sum(scores for _, scores in self._kernel_scores(X))

    def _batch_contributions(self, X: Any) -> Array:
        parts = dict(self._kernel_scores(X))
        block = np.zeros((*next(iter(parts.values())).shape, len(self.view_names_)))
        for m, scores in parts.items():
            block[:, :, m] = scores
        return block

    def _kernel_scores(self, X: Any) -> Iterator[tuple[int, Array]]:
        """The score that each active kernel contributes, (n_samples, n_machines)."""
        for m, K in self._bank.iter_kernels(X):
            yield m, (K @ self._coefficients.T) * self.machine_weights_[:, m]

    @by_chunks
    def contributions(self, X: Any) -> Array:
        """One score per kernel: what each view adds to the decision.

        Parameters
        ----------
        X : as for ``predict``

        Returns
        -------
        array (n_samples, n_kernels), or (n_samples, n_machines, n_kernels) for several machines
            Summed over the kernels, and with the intercept added, they are the machines' scores.
        """
        every = np.concatenate(list(self._by_batches(X, self._batch_contributions)))
        return every[:, 0] if every.shape[1] == 1 else every

"""Machines over single columns of kernels: what their classifier and regressor share."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._validation import check_choice, check_number, check_positive_integer
from ..criteria import EpsilonInsensitive, Hinge
from ..solvers import Options, Status
from ..solvers.column_boosting import boost_columns
from ..solvers.column_generation import generate_columns
from ..solvers.columns import Columns, ColumnsResult
from ..views import make_bank
from ._about import COLUMN_BOOSTING
from ._estimator import KernelEstimator, worst_status
from ._fitted import FittedKernels
from ._progress import Progress
from ._samples import Samples

Array = np.ndarray[Any, np.dtype[Any]]

METHODS = ("lp", "qp", "mark")
_MARK_COLUMNS = 100


@dataclass(frozen=True)
class ColumnKernels:
    """Kernels by coefficients of their columns, (n_machines, n_kernels, n_support)."""

    bank: Any
    coefficients: Array

    def kernel_scores(self, X: Any) -> Iterator[tuple[int, Array]]:
        """The score of each kernel in use."""
        for m, K in self.bank.iter_kernels(X):
            yield m, K @ self.coefficients[:, m].T


class ColumnMachine(KernelEstimator):
    """Parameters and methods common to machines over columns of kernels."""

    about = COLUMN_BOOSTING
    _adds_kernels = True
    method: str
    max_columns: int | None
    coef_: Array

    def __init__(
        self,
        kernels: Any = "auto",
        *,
        method: str = "lp",
        C: float = 1.0,
        max_columns: int | None = None,
        normalise: bool = True,
        tol: float = 1e-3,
        max_iter: int = 1000,
        psd: str = "error",
        gram: str = "dense",
        dtype: Any = "float64",
        callback: Callable[[dict[str, float]], bool | None] | None = None,
        verbose: int = 0,
    ) -> None:
        self.kernels = kernels
        self.method = method
        self.C = C
        self.max_columns = max_columns
        self.normalise = normalise
        self.tol = tol
        self.max_iter = max_iter
        self.psd = psd
        self.gram = gram
        self.dtype = dtype
        self.callback = callback
        self.verbose = verbose

    @property
    def certificate(self) -> str:
        """What ``dual_gap_`` certifies: "optimality" of the program, or "stationarity" of MARK."""
        return "stationarity" if self.method == "mark" else "optimality"

    # ------------------------------------------------------------------ fit
    def _check_parameters(self) -> float:
        """C, after all checks."""
        self._check_numerics()
        check_choice("method", self.method, METHODS)
        if self.max_columns is not None:
            check_positive_integer("max_columns", self.max_columns)
        return check_number("C", self.C, above=0.0)

    def _fit_columns(self, X: Any, samples: Samples) -> Columns:
        """The columns of the kernels of the samples; the bank is kept for prediction."""
        self._bank = make_bank(self.kernels, dtype=self.dtype, gram=self.gram, psd=self.psd)
        return Columns(np.asarray(self._fit_stack(X, samples)), bool(self.normalise))

    def _solve(
        self, columns: Columns, loss: Hinge | EpsilonInsensitive, prices: Array, label: str
    ) -> ColumnsResult:
        """One machine."""
        progress = Progress(label, self.verbose, self.callback)
        options = Options(tol=self.tol, max_iter=self.max_iter, callback=progress)
        if self.method == "mark":
            most = _MARK_COLUMNS if self.max_columns is None else self.max_columns
            result = boost_columns(columns, loss.target, prices, max_columns=most, options=options)
        else:
            penalty = "l1" if self.method == "lp" else "l2"
            result = generate_columns(columns, loss, penalty, max_columns=self.max_columns, options=options)
        if not result.is_finite:
            raise ValueError(
                "the solution is too large for floating point: kernels and targets differ too much in scale. "
                "Rescale the targets, or normalise the kernels (transforms='unit_trace')."
            )
        return result

    def _store(self, results: Sequence[ColumnsResult], names: Sequence[str], samples: Samples) -> None:
        """Keep the columns in use, and what prediction needs of them."""
        n, P = samples.rows.size, len(self.view_names_)
        every = np.zeros((len(results), P, n))
        sizes = np.zeros((len(results), P))
        for k, result in enumerate(results):
            every[k].flat[result.numbers] = result.coefficients
            sizes[k] = np.bincount(result.numbers // n, result.sizes, P)
        kernels, kept = np.nonzero(every.any(axis=0))
        self.columns_ = np.column_stack([kernels, samples.rows[kept]])
        self.coef_ = every[:, kernels, kept]
        self.machine_names_ = list(names)
        self.machine_weights_ = sizes / np.maximum(sizes.sum(axis=1, keepdims=True), 1e-300)
        self.kernel_weights_ = self.machine_weights_.mean(axis=0)
        self.intercept_ = np.array([r.intercept for r in results])
        self.objective_ = float(sum(r.objective for r in results))
        self.dual_gap_ = float(max(r.gap for r in results))
        self.n_iter_ = max(1, max(r.n_iter for r in results))
        self.status_ = worst_status([r.status for r in results])
        self.history_ = [{**entry, "machine": k} for k, r in enumerate(results) for entry in r.history]
        self._compact(every, np.unique(kept), np.unique(kernels), samples)
        self._warn_unless_converged()

    def _compact(self, every: Array, kept: Array, active: Array, samples: Samples) -> None:
        """The bank of the samples and kernels in use; a model without a column is its intercept."""
        self.support_ = np.sort(samples.rows[kept])
        kept = kept if kept.size else np.array([0])
        active = active if active.size else np.array([0])
        coefficients = np.ascontiguousarray(every[:, :, kept])  # as a pickle keeps it
        bank = self._bank.restrict(samples.rows[kept] if self._precomputed else kept, active)
        self._fitted = FittedKernels([ColumnKernels(bank, coefficients)], self.machine_weights_.shape)
        del self._bank

    def _warn_unless_converged(self) -> None:
        if self.method == "mark" and self.status_ == Status.MAX_COLUMNS:
            return  # the number of columns is its regularisation
        super()._warn_unless_converged()

    def _weight_columns(self) -> dict[str, Any]:
        counts = np.bincount(self.columns_[:, 0], minlength=len(self.view_names_))
        return {"weight": self.kernel_weights_, "n_columns": counts}

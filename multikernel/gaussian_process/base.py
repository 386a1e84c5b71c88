"""What the estimators with additive Gaussian processes share: kernels, ascent, posteriors at new samples."""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._threads import one_thread
from .._typing import Array
from .._validation import check_positive_integer
from ..core.callbacks import progress_of
from ..core.estimator import KernelEstimator, refusing_overflow
from ..core.fitted import DualKernels, FittedKernels
from ..core.one_kernel import fixed_seed
from ..core.optim.loop import Options
from ..rows import count_rows
from ..views import make_bank
from .solver.ascent import Evidence, EvidenceResult, maximize_evidence
from .solver.components import Components
from .solver.predictive import AdditivePosterior, Parts, posterior_parts

_ALIKE = 1e-9  # of a diagonal whose entries count as equal


@dataclass(eq=False, repr=False)
class AdditiveGP(KernelEstimator):
    """Parameters and methods of the Gaussian processes on weighted sums of kernels."""

    certificate = "stationarity"
    _gap_name = "rise of the evidence that the next step promises, in nats a sample,"
    _easier = "leave out kernels that are alike"
    _adds_kernels = True

    kernels: Any = "auto"
    _: KW_ONLY
    n_init: int = 1
    tol: float = 1e-6
    max_iter: int = 300
    max_time: float | None = None
    callback: Callable[[dict[str, float]], bool | None] | None = None
    on_interrupt: str = "raise"
    verbose: int = 0
    random_state: Any = None

    # ------------------------------------------------------------------ fit
    def _fit_kernels(self, X: Any) -> Array:
        """The training stack (n_kernels, n, n); the bank is kept for prediction."""
        self._check_numerics()
        check_positive_integer("n_init", self.n_init)
        n_samples = count_rows(X)
        if n_samples < 2:
            raise ValueError(f"weights are learned from two samples or more; got n_samples={n_samples}.")
        self._check_storage()
        self._bank = make_bank(self.kernels, **self._bank_options)
        Ks = np.asarray(self._bank.fit_stack(X))
        self.view_names_ = list(self._bank.view_names_)
        self._tell_of_kernels(Ks, scaled=True)
        return Ks

    def _maximize(self, Ks: Array, evidence: Evidence, last: float, least: float) -> EvidenceResult:
        """The weights of largest evidence; ``last`` is where that of the last term starts, and its bound."""
        lower = np.zeros(len(Ks) + 1)
        lower[-1] = least
        starts = [np.append(np.full(len(Ks), 0.5 / len(Ks)), last)]
        rng = np.random.default_rng(fixed_seed(self.random_state))
        for _ in range(self.n_init - 1):
            sizes = np.exp(rng.normal(size=2))
            starts.append(np.append(0.5 * sizes[0] * rng.dirichlet(np.ones(len(Ks))), last * sizes[1]))
        options = Options(tol=self.tol, max_iter=self.max_iter, callback=progress_of(self))
        try:
            with one_thread(), refusing_overflow():
                found = maximize_evidence(evidence, starts, lower, options)
        except ValueError:
            self._require_psd(Ks, range(len(Ks)))
            raise
        return found

    def _store(
        self, found: EvidenceResult, terms: Components, posterior: AdditivePosterior, Ks: Array
    ) -> None:
        """Keep the posterior, with the kernels that have weight, and how the ascent ended."""
        weights = posterior.weights
        n_outputs, n = posterior.coefficients.shape
        self.kernel_weights_, self.dual_coef_ = weights, posterior.coefficients
        sizes = weights / terms.scales
        self.variance_shares_ = sizes / sizes.sum() if sizes.any() else sizes
        self.dual_gap_, self.n_iter_ = found.gap, found.n_iter
        self.status_, self.history_ = str(found.status), found.history
        diagonals = np.array([np.diagonal(K) for K in Ks], dtype=np.float64)
        middle = diagonals.mean(axis=1)
        alike = np.abs(diagonals - middle[:, None]).max(axis=1) <= _ALIKE * np.abs(middle)
        self._diagonals = np.where(alike, middle, np.nan)
        active = np.flatnonzero(weights) if weights.any() else np.array([0])
        bank = self._bank.restrict(np.arange(n), active)
        self._posterior = posterior
        part = DualKernels(bank, posterior.coefficients, np.tile(weights, (n_outputs, 1)))
        self._fitted = FittedKernels([part], (n_outputs, len(weights)))
        del self._bank
        self._warn_unless_converged()

    # ------------------------------------------------------------------ predict
    def _parts(self, X: Any, diagonals: Any = None, *, each: bool = False) -> Parts:
        """Posteriors at new samples: of the scores, and with ``each`` of what each kernel adds."""
        check_is_fitted(self)
        bank, known = self._fitted.parts[0].bank, self._posterior

        def of_rows(rows: Any) -> Parts:
            own = self._diagonals_of(rows, diagonals)
            return posterior_parts(bank.iter_kernels(rows), own, known, each=each)

        blocks = list(self._by_batches(X, of_rows))
        return Parts(*(np.concatenate(part, axis=1) for part in zip(*blocks, strict=True)))

    def _diagonals_of(self, rows: Any, given: Any) -> Array:
        """k_m(x, x) of each row, (n_samples, n_kernels); of kernels without weight any number."""
        if not self._precomputed:
            if given is not None:
                raise ValueError("diagonals are for precomputed kernels; leave them out.")
            return np.asarray(self._fitted.parts[0].bank.self_similarities(rows))
        shape = (len(np.asarray(rows)), len(self.view_names_))
        if given is not None:
            values = np.asarray(given, dtype=np.float64)
            if values.shape != shape or not np.isfinite(values).all():
                raise ValueError(
                    f"diagonals must hold k(x, x) of each sample and kernel, finite numbers of shape "
                    f"{shape}; got shape {values.shape}."
                )
            return values
        unknown = np.flatnonzero(np.isnan(self._diagonals) & (self.kernel_weights_ > 0.0))
        if unknown.size:
            raise ValueError(
                f"deviations need k(x, x) of the new samples, which precomputed kernels do not tell: that of "
                f"kernel {self.view_names_[unknown[0]]!r} varies among the training samples. Pass "
                "diagonals=, an array of shape (n_samples, n_kernels)."
            )
        return np.tile(np.nan_to_num(self._diagonals), (shape[0], 1))

    def _weight_columns(self) -> dict[str, Any]:
        return {"weight": self.kernel_weights_, "share": self.variance_shares_}

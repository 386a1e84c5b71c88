"""What both Bayesian estimators share: parameters, the kernels, the posterior, predictions from it."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from .._threads import one_thread
from .._validation import check_number
from ..solvers import Options
from ..solvers.bayesian.learn import BayesianResult, Outputs, learn_bayesian
from ..solvers.bayesian.posterior import Priors
from ..solvers.bayesian.predictive import Moments, parts, predict_moments
from ..views import make_bank
from ._about import BAYESIAN
from ._estimator import KernelEstimator
from ._one_kernel import fixed_seed
from ._progress import Progress

Array = np.ndarray[Any, np.dtype[Any]]

PRIOR_NAMES = ("sample", "kernel", "intercept", "noise")
SPARSE = (1e-10, 1e-10)


class BayesianMKL(KernelEstimator):
    """Parameters and methods of the Bayesian estimators."""

    about = BAYESIAN
    certificate = "stationarity"
    _gap_name = "estimated further rise of the evidence bound, in nats a sample"
    _easier = "raise spread"
    sparse: bool
    priors: Any
    spread: float
    psd: str
    gram: str
    dtype: Any
    verbose: int
    random_state: Any
    _posterior: BayesianResult

    # ------------------------------------------------------------------ fit
    def _fit_kernels(self, X: Any) -> Array:
        """The training stack (n_kernels, n, n)."""
        self._check_numerics()
        n = X.shape[0] if hasattr(X, "shape") else len(X)
        if n < 2:
            raise ValueError(f"a posterior is learned from two samples or more; got n_samples={n}.")
        self._bank = make_bank(self.kernels, dtype=self.dtype, gram=self.gram, psd=self.psd)
        Ks = np.asarray(self._bank.fit_stack(X))
        self.view_names_ = list(self._bank.view_names_)
        return Ks

    def _learn(self, Ks: Array, outputs: Outputs) -> BayesianResult:
        """The posterior; stored with its diagnostics."""
        names = PRIOR_NAMES if outputs.truncate is None else PRIOR_NAMES[:-1]
        priors = check_priors(self.priors, bool(self.sparse), self.spread, names)
        options = Options(
            tol=self.tol, max_iter=self.max_iter, callback=Progress("", self.verbose, self.callback)
        )
        start: Array | None = None
        if self.random_state is not None:
            rng = np.random.default_rng(fixed_seed(self.random_state))
            start = rng.dirichlet(np.ones(len(Ks)))
        with one_thread():  # the ascent hangs on the last digit of its sums
            found = learn_bayesian(Ks, outputs, priors, options, start)
        self._bank = self._bank.restrict(np.arange(Ks.shape[1]), np.arange(len(Ks)))
        self._posterior = replace(found, history=[])
        L = found.intercepts.size
        self.kernel_weights_ = found.weights
        self.kernel_weights_cov_ = found.weights_cov[L:, L:].copy()
        self.kernel_weights_std_ = np.sqrt(np.diagonal(self.kernel_weights_cov_))
        self.kernel_scales_ = found.scales
        self.objective_, self.dual_gap_ = found.objective, found.gap
        self.n_iter_, self.status_, self.history_ = found.n_iter, str(found.status), found.history
        self._warn_unless_converged()
        return found

    # ------------------------------------------------------------------ predict
    def _moments(self, X: Any) -> Moments:
        """Mean (n_samples, n_outputs) and variance (n_samples,) of the outputs."""
        blocks = list(
            self._by_batches(X, lambda rows: predict_moments(self._test_kernels(rows), self._posterior))
        )
        return Moments(
            np.concatenate([block.mean for block in blocks]),
            np.concatenate([block.variance for block in blocks]),
        )

    def _test_kernels(self, X: Any) -> dict[int, Array]:
        return dict(self._bank.iter_kernels(X))

    def _output_parts(self, X: Any) -> Array:
        """ē_m k_m'ā_l (n_samples, n_outputs, n_kernels)."""

        def of_rows(rows: Any) -> Array:
            return parts(self._test_kernels(rows), self._posterior) * self._posterior.weights

        return np.concatenate(list(self._by_batches(X, of_rows)))

    def _weight_columns(self) -> dict[str, Any]:
        return {"weight": self.kernel_weights_, "std": self.kernel_weights_std_}


def check_priors(priors: Any, sparse: bool, spread: Any, names: tuple[str, ...]) -> Priors:
    """The priors from a dict of (shape, rate); `sparse` sets that of the kernels where it is not given.

    Parameters
    ----------
    priors, sparse, spread : as for the estimators
    names : the precisions of the model; noise is one of a regression only
    """
    given = {} if priors is None else priors
    if not isinstance(given, Mapping):
        raise TypeError(f"priors must be a dict of (shape, rate) by {', '.join(names)}; got {priors!r}.")
    unknown = [name for name in given if name not in names]
    if unknown:
        remark = " The noise of classes has variance 1: leave it out." if unknown[0] == "noise" else ""
        raise ValueError(f"priors knows {', '.join(names)}; got {unknown[0]!r}.{remark}")
    pairs = {"kernel": SPARSE} if sparse else {}
    pairs.update({name: _check_pair(name, pair) for name, pair in given.items()})
    return Priors(spread=check_number("spread", spread, above=0.0), **pairs)


def _check_pair(name: str, pair: Any) -> tuple[float, float]:
    if not isinstance(pair, tuple | list | np.ndarray) or len(pair) != 2:
        raise TypeError(f"priors[{name!r}] must be (shape, rate) of a Gamma distribution; got {pair!r}.")
    shape, rate = (check_number(f"priors[{name!r}]", value, above=0.0) for value in pair)
    return shape, rate


CallbackType = Callable[[dict[str, float]], bool | None] | None

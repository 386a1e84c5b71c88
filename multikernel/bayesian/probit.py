"""Multinomial probit classification on a convex combination of kernels."""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from .._threads import one_thread
from .._typing import Array
from ..core.about import About
from ..core.callbacks import progress_of
from ..core.decisions import decide
from ..core.inputs import encode_labels, require_two_classes
from ..core.one_kernel import fixed_seed
from ..core.optim.loop import Options
from .estimators import BayesianMKL, check_priors
from .solver.probit import ProbitResult, class_probabilities, learn_probit

PROBIT = About(
    family="bayesian",
    problem="posterior of w, λ in y = argmax_l f_l, f_l ~ N(Σ_m β_m K_m w_l + b_l, I), β on the simplex",
    solver="mean-field variational updates, extrapolated; the evidence bound never falls, stationarity",
    cost="L n³ a sweep for L classes, tens to hundreds of sweeps",
    use="Probabilities of several classes from one model, with a convex combination of kernels.",
    reference="Damoulas & Girolami 2008",
)


@dataclass(eq=False, repr=False)
class ProbitMKLClassifier(ClassifierMixin, BayesianMKL):
    r"""Multinomial probit classifier on a convex combination of kernels, by variational Bayes.

    Use it for probabilities of several classes from one model, with kernel weights on the simplex. Do not use
    it beyond a few thousand samples, or where predictions have to be quick. With
    :class:`BayesianMKLClassifier` the kernel weights have a posterior, and may be negative.

    Parameters
    ----------
    kernels : "auto", "precomputed", kernel, View, list of these, dict or KernelBank, default="auto"
        As for :class:`MKLClassifier`.
    priors : dict, default=None
        (shape, rate) of the Gamma prior of the precisions :math:`\lambda` by the name "sample"; (1, 1) if it
        is None.
    tol : float, default=1e-5
        The fit ends when the evidence bound would rise by no more, in nats a sample, as ``dual_gap_`` tells.
    max_iter : int, default=1000
        Maximum number of iterations, in each of which everything is updated once.
    max_time : float, default=None
        Maximum time of the fit in seconds; None for no limit.
    callback : callable, default=None
        Called after each iteration with the newest entry of the history; True stops the fit.
    on_interrupt : {"raise", "keep"}, default="raise"
        What Ctrl-C does: raise KeyboardInterrupt, or end the fit at its next iteration and keep the model.
    verbose : int, default=0
        Whether progress is printed.
    random_state : int, RandomState or None, default=None
        Of the first kernel weights; None starts with equal ones.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    kernel_weights_ : array of shape (n_kernels,)
        :math:`\beta`, of sum 1, for kernels divided by the mean of their diagonals.
    kernel_scales_ : array of shape (n_kernels,)
        One over the mean of each diagonal.
    dual_coef_ : array of shape (1 or n_classes, n_samples)
        Posterior mean of w; of two classes, their difference.
    intercept_ : array of shape (1 or n_classes,)
        Posterior mean of b; of two classes, their difference.
    objective_ : float, the evidence bound in nats
    dual_gap_ : float
        How much further the bound would rise if its rises went on to shrink as in the last iterations, in
        nats a sample: an estimate, as for :class:`BayesianMKLClassifier`.
    view_names_, n_iter_, status_, history_
        As for :class:`MKLClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from multikernel.bayesian import ProbitMKLClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = ProbitMKLClassifier().fit(X[::3], y[::3])
    >>> model.score(X[1::3], y[1::3]) >= 0.9
    True
    >>> round(float(model.kernel_weights_.sum()), 6), model.predict_proba(X[:2]).shape
    (1.0, (2, 3))

    Notes
    -----
    .. math::

        y_i = \arg\max_l f_l(x_i), \quad f_l(x_i) \sim N\Bigl(\sum_m \beta_m k_m(x_i)^\top w_l + b_l, 1\Bigr),
        \quad w_{li} \sim N(0, 1 / \lambda_{li}), \quad \lambda_{li} \sim \text{Gamma}

    and the same prior for each :math:`b_l`. The posterior of f, w, b and :math:`\lambda` is approximated by
    independent factors; all updates are in ``multikernel.bayesian.solver.probit``. :math:`\beta` has a
    uniform Dirichlet prior. Damoulas & Girolami take its mean by importance sampling; here it is the point of
    largest evidence bound, which is deterministic, never lowers the bound, and can be exactly 0. They have no
    intercept. Predictions read all training samples.

    References
    ----------
    Damoulas & Girolami, Probabilistic multi-class multi-kernel learning: on protein fold recognition and
    remote homology detection, Bioinformatics 24, 2008.
    Damoulas & Girolami, Combining feature spaces for classification, Pattern Recognition 42, 2009.
    """

    about = PROBIT
    _easier = "raise the rate of the prior"

    kernels: Any = "auto"
    _: KW_ONLY
    priors: Any = None
    tol: float = 1e-5
    max_iter: int = 1000
    max_time: float | None = None
    callback: Callable[[dict[str, float]], bool | None] | None = None
    on_interrupt: str = "raise"
    verbose: int = 0
    random_state: Any = None

    def fit(self, X: Any, y: Any) -> "ProbitMKLClassifier":
        """Learn the posterior and the kernel weights.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            With ``kernels="precomputed"``: a dict or stack of Gram matrices.
        y : array of shape (n_samples,) of labels
        """
        prior = check_priors(self.priors, False, 1.0, ("sample",)).sample
        X = self._validate_table(X, reset=True)
        self.classes_, codes = encode_labels(self, X, y)
        require_two_classes(self.classes_, codes)
        Ks = self._fit_kernels(X)
        options = Options(tol=self.tol, max_iter=self.max_iter, callback=progress_of(self))
        start: Array | None = None
        if self.random_state is not None:
            start = np.random.default_rng(fixed_seed(self.random_state)).dirichlet(np.ones(len(Ks)))
        with one_thread():  # the ascent hangs on the last digit of its sums
            found = learn_probit(Ks, codes, prior, options, start)
        self._keep(found)
        return self

    def _keep(self, found: ProbitResult) -> None:
        n = found.coefficients.shape[1]
        self._bank = self._bank.restrict(np.arange(n), np.flatnonzero(found.weights))
        self._posterior = replace(found, history=[])
        self.kernel_weights_, self.kernel_scales_ = found.weights, found.scales
        self.dual_coef_, self.intercept_ = found.coefficients, found.intercepts
        if self.classes_.size == 2:
            self.dual_coef_, self.intercept_ = np.diff(self.dual_coef_, axis=0), np.diff(self.intercept_)
        self.objective_, self.dual_gap_ = found.objective, found.gap
        self.n_iter_, self.status_, self.history_ = found.n_iter, str(found.status), found.history
        self._warn_unless_converged()

    # ------------------------------------------------------------------ predict
    def _test_sum(self, X: Any) -> Array:
        """K^β between new samples and those of the fit."""
        scaled = self.kernel_weights_ * self.kernel_scales_
        return np.asarray(sum(scaled[m] * K for m, K in self._bank.iter_kernels(X)))

    def _log_probabilities(self, X: Any) -> Array:
        def of_rows(rows: Any) -> Array:
            known, K = self._posterior, self._test_sum(rows)
            mean = K @ known.coefficients.T + known.intercepts
            wide = np.column_stack([K, np.ones(len(K))])
            spread = [np.square(wide @ half.T).sum(axis=1) for half in known.halves]
            return np.log(class_probabilities(mean, 1.0 + np.column_stack(spread)))

        return np.concatenate(list(self._by_batches(X, of_rows)))

    def predict_proba(self, X: Any) -> Array:
        """Predictive probabilities, with the uncertainty of all weights but those of the kernels.

        Parameters
        ----------
        X : as for ``fit``, or of shape (n_samples, n_samples, n_kernels) when precomputed

        Returns
        -------
        array of shape (n_samples, n_classes)
        """
        check_is_fitted(self)
        return np.exp(self._log_probabilities(X))

    def decision_function(self, X: Any) -> Array:
        """Log-odds of ``classes_[1]`` (n_samples,) for two classes; else log-probabilities, one for each.

        Parameters
        ----------
        X : as for ``predict_proba``

        Returns
        -------
        array of shape (n_samples,) or (n_samples, n_classes)
        """
        check_is_fitted(self)
        logs = self._log_probabilities(X)
        return logs[:, 1] - logs[:, 0] if self.classes_.size == 2 else logs

    def predict(self, X: Any) -> Array:
        """The most probable class of each sample.

        Parameters
        ----------
        X : as for ``predict_proba``

        Returns
        -------
        array of shape (n_samples,)
        """
        return decide(self.decision_function(X), self.classes_)

    def contributions(self, X: Any) -> Array:
        """One score per kernel: what each view adds to the mean output.

        Parameters
        ----------
        X : as for ``predict_proba``

        Returns
        -------
        array of shape (n_samples, n_kernels), or (n_samples, n_classes, n_kernels) for more than two classes
            Summed over the kernels, and with the intercept added, they are the means of the outputs; of two
            classes, the difference of the two.
        """
        check_is_fitted(self)
        scaled = self.kernel_weights_ * self.kernel_scales_

        def of_rows(rows: Any) -> Array:
            kernels = dict(self._bank.iter_kernels(rows))
            n_rows = len(next(iter(kernels.values())))
            block = np.zeros((n_rows, len(self.dual_coef_), len(scaled)))
            for m, K in kernels.items():
                block[:, :, m] = scaled[m] * K @ self.dual_coef_.T
            return block

        every = np.concatenate(list(self._by_batches(X, of_rows)))
        return every[:, 0] if self.classes_.size == 2 else every

    def _weight_columns(self) -> dict[str, Any]:
        return {"weight": self.kernel_weights_}

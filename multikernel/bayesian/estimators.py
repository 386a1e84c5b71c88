"""Bayesian efficient multiple kernel learning for classes and values, with the uncertainty of the weights."""

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin

from .._threads import one_thread
from .._typing import Array
from .._validation import check_number
from ..core.about import About
from ..core.callbacks import progress_of
from ..core.decisions import decide
from ..core.estimator import KernelEstimator
from ..core.inputs import check_targets, encode_labels, require_two_classes
from ..core.one_kernel import fixed_seed
from ..core.optim.loop import Options
from ..views import make_bank
from .solver.learn import BayesianResult, Outputs, class_outputs, learn_bayesian
from .solver.posterior import Priors
from .solver.predictive import Moments, log_probabilities, parts, predict_moments

PRIOR_NAMES = ("sample", "kernel", "intercept", "noise")
SPARSE = (1e-10, 1e-10)
CallbackType = Callable[[dict[str, float]], bool | None] | None

BAYESIAN = About(
    family="bayesian",
    problem="posterior of a, e, b and noise in f = Σ e_m g_m + b, g_m ≈ K_m a",
    solver="mean-field variational updates, extrapolated; the evidence bound never falls, stationarity",
    cost="n³ + P³ + P n² a sweep, tens to hundreds of sweeps",
    use="To know how sure each weight and each prediction is; up to a few thousand samples.",
    reference="Gönen 2012",
)


class BayesianMKL(KernelEstimator):
    """Parameters and methods of the Bayesian estimators."""

    about = BAYESIAN
    certificate = "stationarity"
    _gap_name = "estimated further rise of the evidence bound, in nats a sample"
    _easier = "raise spread"
    _posterior: Any
    sparse: bool
    priors: Any
    spread: float
    verbose: int
    random_state: Any
    classes_: Array

    # ------------------------------------------------------------------ fit
    def _fit_kernels(self, X: Any) -> Array:
        """The training stack (n_kernels, n, n)."""
        self._check_numerics()
        n = X.shape[0] if hasattr(X, "shape") else len(X)
        if n < 2:
            raise ValueError(f"a posterior is learned from two samples or more; got n_samples={n}.")
        self._check_storage()
        self._bank = make_bank(self.kernels)
        Ks = np.asarray(self._bank.fit_stack(X))
        self.view_names_ = list(self._bank.view_names_)
        self._tell_of_kernels(Ks, scaled=True)
        return Ks

    def _learn(self, Ks: Array, outputs: Outputs) -> BayesianResult:
        """The posterior; stored with its diagnostics."""
        names = PRIOR_NAMES if outputs.truncate is None else PRIOR_NAMES[:-1]
        priors = check_priors(self.priors, bool(self.sparse), self.spread, names)
        options = Options(tol=self.tol, max_iter=self.max_iter, callback=progress_of(self))
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


@dataclass(eq=False, repr=False)
class BayesianMKLClassifier(ClassifierMixin, BayesianMKL):
    r"""Classifier with a posterior over its kernel weights: BEMKL.

    Use it to know the uncertainty of the kernel weights, for up to a few thousand samples. Weights may be
    negative. For a convex problem with a duality gap, use :class:`MKLClassifier`.

    Parameters
    ----------
    kernels : "auto", "precomputed", kernel, View, list of these, dict or KernelBank, default="auto"
        As for :class:`MKLClassifier`.
    margin : float, default=0.0
        :math:`\nu \ge 0`. The paper's is 1; probabilities are then far too sure where classes overlap.
    sparse : bool, default=False
        Whether the prior of the kernel weights drives those that are not needed to zero: Gamma(1e-10, 1e-10)
        in place of Gamma(1, 1) for :math:`\omega`.
    priors : dict, default=None
        (shape, rate) of the Gamma priors of the precisions by name, default (1, 1): "sample" of
        :math:`\lambda`, "kernel" of :math:`\omega`, "intercept".
    spread : float, default=0.3
        :math:`\sigma`. The paper's is 0.1. Larger ones make the fit shorter and probabilities less sure; best
        chosen by the log-loss of cross-validation: the evidence bound rises even where they predict worse.
    tol : float, default=1e-05
        The fit ends when the evidence bound would rise by no more, in nats a sample, as ``dual_gap_`` tells.
    max_iter : int, default=1000
    max_time : float, default=None
        Maximum time of the fit in seconds; None for no limit.
    callback : callable, default=None
        Called after each iteration with the newest entry of the history; True stops the fit.
    on_interrupt : {"raise", "keep"}, default="raise"
        What Ctrl-C does: raise KeyboardInterrupt, or end the fit at its next iteration and keep the model.
    verbose : int, default=0
    random_state : int, RandomState or None, default=None
        Of the first kernel weights; None starts with equal ones.

    Attributes
    ----------
    kernel_weights_ : array of shape (n_kernels,)
        Posterior mean of e.
    kernel_weights_std_ : array of shape (n_kernels,)
    kernel_weights_cov_ : array of shape (n_kernels, n_kernels)
    kernel_scales_ : array of shape (n_kernels,)
        One over the mean of each diagonal.
    dual_coef_ : array (1 or n_classes, n), posterior mean of a
    intercept_ : array (1 or n_classes,), posterior mean of b
    classes_ : array of shape (n_classes,)
    objective_ : float, the evidence bound in nats
    dual_gap_ : float
        How much further the bound would rise if its rises went on to shrink as in the last twenty sweeps, in
        nats a sample. An estimate: zero at a stationary point, but no bound of the distance to one (weights
        on their way to zero creep longer) or to the best approximation, since the problem is not concave.
    view_names_, n_iter_, status_, history_
        As for :class:`MKLClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from multikernel.bayesian import BayesianMKLClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = BayesianMKLClassifier().fit(X[::3], y[::3])
    >>> model.score(X[1::3], y[1::3]) >= 0.9
    True
    >>> model.kernel_weights_std_.shape
    (6,)

    Notes
    -----
    The model is

    .. math::

        f_c = \sum_m e_m g_{cm} + b_c + \text{noise}, \quad g_{cm} \sim N(K_m a_c, \sigma^2 I), \quad
        e_m \sim N(0, 1/\omega_m), \quad a_{ci} \sim N(0, 1/\lambda_{ci})

    with kernel weights :math:`e`, common to all classes, sample weights :math:`a`, noise of variance 1 and
    Gamma priors over the precisions :math:`\omega, \lambda`. Two classes have one output with
    :math:`t f > \nu` for labels :math:`t = \pm 1`; more have one each, with :math:`f_y > f_c + \nu` for each
    other class. The posterior is approximated by one with independent factors, which maximises the evidence
    bound; the model and every update are in ``multikernel.bayesian.solver.posterior``.

    A weight may be negative, so that :math:`\sum_m e_m K_m` need not be positive semidefinite: these weights
    cannot be used as a weight learner for other estimators. Kernels are divided by the mean of their
    diagonals, and weights refer to kernels so scaled; their scale does not matter.

    Predictions read all training samples, so that a saved model holds them all.
    An iteration takes :math:`O(L n^3 + L P n^2 + P^3)` for L outputs and P kernels, the start
    :math:`O(P n^3)`. Memory: the stack, about four (n, n) matrices, and :math:`L P n`.

    References
    ----------
    Gönen, Bayesian efficient multiple kernel learning, ICML 2012. The form for more than two classes is our
    reading, with the truncation of Girolami & Rogers' multinomial probit (2006).
    """

    kernels: Any = "auto"
    _: KW_ONLY
    margin: float = 0.0
    sparse: bool = False
    priors: Any = None
    spread: float = 0.3
    tol: float = 1e-5
    max_iter: int = 1000
    max_time: float | None = None
    callback: CallbackType = None
    on_interrupt: str = "raise"
    verbose: int = 0
    random_state: Any = None

    def fit(self, X: Any, y: Any) -> "BayesianMKLClassifier":
        """Learn the posterior.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            With ``kernels="precomputed"``: a dict or stack of Gram matrices.
        y : array of shape (n_samples,) of labels
        """
        margin = check_number("margin", self.margin, at_least=0.0)
        X = self._validate_table(X, reset=True)
        self.classes_, codes = encode_labels(self, X, y)
        require_two_classes(self.classes_, codes)
        found = self._learn(self._fit_kernels(X), class_outputs(codes, self.classes_.size, margin))
        self.dual_coef_, self.intercept_ = found.coefficients, found.intercepts
        self._margin = margin
        return self

    def decision_function(self, X: Any) -> Array:
        """Log-odds of ``classes_[1]`` (n_samples,) for two classes; else log-probabilities, one for each."""
        logs = log_probabilities(self._moments(X), self._margin)
        return logs[:, 1] - logs[:, 0] if self.classes_.size == 2 else logs

    def predict(self, X: Any) -> Array:
        """The most probable class of each sample, which is that of the largest mean output."""
        scores = self._output_parts(X).sum(axis=2) + self.intercept_
        return decide(scores[:, 0] if self.classes_.size == 2 else scores, self.classes_)

    def predict_proba(self, X: Any) -> Array:
        """Predictive probabilities (n_samples, n_classes), with the uncertainty of all weights.

        Outputs are taken as normal with their predictive mean and variance; of more than two classes, with
        the mean of their variances and without the correlation that the common kernel weights give them.
        """
        return np.exp(log_probabilities(self._moments(X), self._margin))

    def contributions(self, X: Any) -> Array:
        """One score per kernel: what each view adds to the mean output.

        Parameters
        ----------
        X : as for ``predict``

        Returns
        -------
        array of shape (n_samples, n_kernels), or (n_samples, n_classes, n_kernels) for more than two classes
            Summed over the kernels, and with the intercept added, they are the means of the outputs, of
            which the largest (of two classes, the sign) gives the class.
        """
        every = self._output_parts(X)
        return every[:, 0] if self.classes_.size == 2 else every


@dataclass(eq=False, repr=False)
class BayesianMKLRegressor(RegressorMixin, BayesianMKL):
    r"""Regression with a posterior over its kernel weights and a deviation for each prediction: BEMKL.

    Use it to know the uncertainty of the kernel weights and of each prediction, for up to a few thousand
    samples. Weights may be negative. For a convex problem, use :class:`MKLRidge`.

    Parameters
    ----------
    priors : dict, default=None
        As for :class:`BayesianMKLClassifier`, and "noise" of :math:`\epsilon`.
    spread : float, default=1.0
        :math:`\sigma`, in units of the targets' deviation. With small ones the samples' weights follow the
        noise, and predictive deviations are too small.
    kernels : "auto", "precomputed", kernel, View, list of these, dict or KernelBank, default="auto"
        As for :class:`BayesianMKLClassifier`.
    sparse : bool, default=False
        As for :class:`BayesianMKLClassifier`.
    tol : float, default=1e-05
        As for :class:`BayesianMKLClassifier`.
    max_iter : int, default=1000
        As for :class:`BayesianMKLClassifier`.
    max_time : float, default=None
        As for :class:`BayesianMKLClassifier`.
    callback : callable, default=None
        As for :class:`BayesianMKLClassifier`.
    on_interrupt : {"raise", "keep"}, default="raise"
        As for :class:`BayesianMKLClassifier`.
    verbose : int, default=0
        As for :class:`BayesianMKLClassifier`.
    random_state : int, RandomState or None, default=None
        As for :class:`BayesianMKLClassifier`.

    Attributes
    ----------
    dual_coef_ : array of shape (1, n_samples)
        Posterior mean of a, in units of the targets.
    intercept_ : array of shape (1,)
    noise_ : float, standard deviation of the noise, in units of the targets
    objective_ : float, the evidence bound of the scaled targets, in nats
    kernel_weights_, kernel_weights_std_, kernel_weights_cov_, kernel_scales_, dual_gap_, view_names_
    n_iter_, status_, history_
        As for :class:`BayesianMKLClassifier`.

    Examples
    --------
    >>> from multikernel.bayesian import BayesianMKLRegressor
    >>> from multikernel.kernels import Linear
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> views = [("signal", Linear(), [0]), ("noise", Linear(), [1])]
    >>> model = BayesianMKLRegressor(views, sparse=True).fit(X, 3 * X[:, 0] + 1)
    >>> bool(abs(model.kernel_weights_[0]) > 20 * abs(model.kernel_weights_[1]))
    True
    >>> mean, std = model.predict([[1.0, 0.0]], return_std=True)
    >>> bool(abs(mean[0] - 4.0) < 2 * std[0])
    True

    Notes
    -----
    The model is

    .. math::

        y = \sum_m e_m g_m + b + \text{noise}, \quad g_m \sim N(K_m a, \sigma^2 I), \quad
        e_m \sim N(0, 1/\omega_m), \quad a_i \sim N(0, 1/\lambda_i)

    with kernel weights :math:`e`, sample weights :math:`a`, noise of precision :math:`\epsilon`, and Gamma
    priors over the precisions :math:`\omega, \lambda, \epsilon`. The targets are brought to mean 0 and
    variance 1 first; constant ones have no scale, and their predictive deviations are what the priors leave
    of a unit, whatever the constant. The posterior is approximated by one with independent factors, which
    maximises the evidence bound; the model and every update are in
    ``multikernel.bayesian.solver.posterior``.

    A weight may be negative, so that :math:`\sum_m e_m K_m` need not be positive semidefinite: these weights
    cannot be used as a weight learner for other estimators.

    Predictions read all training samples, so that a saved model holds them all.

    References
    ----------
    Gönen, Bayesian efficient multiple kernel learning, ICML 2012; for regression, our reading of it.
    """

    kernels: Any = "auto"
    _: KW_ONLY
    sparse: bool = False
    priors: Any = None
    spread: float = 1.0
    tol: float = 1e-5
    max_iter: int = 1000
    max_time: float | None = None
    callback: CallbackType = None
    on_interrupt: str = "raise"
    verbose: int = 0
    random_state: Any = None

    def fit(self, X: Any, y: Any) -> "BayesianMKLRegressor":
        """Learn the posterior.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            With ``kernels="precomputed"``: a dict or stack of Gram matrices.
        y : array of shape (n_samples,)
        """
        X = self._validate_table(X, reset=True)
        values = check_targets(self, X, y, multi_output=False)[:, 0]
        self._center, self._scale = float(values.mean()), _spread(values)
        found = self._learn(self._fit_kernels(X), Outputs(((values - self._center) / self._scale)[None]))
        self.dual_coef_ = self._scale * found.coefficients
        self.intercept_ = np.array([self._center + self._scale * float(found.intercepts[0])])
        self.noise_ = self._scale * float(np.sqrt(found.noise))
        return self

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Predicted values (n_samples,).

        Parameters
        ----------
        X : as for ``fit``, or (n_samples, n, n_kernels) when precomputed
        return_std : bool, default=False
            Whether to give their standard deviations too, noise included: a pair (values, deviations).
        """
        if not return_std:
            return self.contributions(X).sum(axis=1) + self.intercept_
        moments = self._moments(X)
        mean = self._center + self._scale * moments.mean[:, 0]
        return mean, self._scale * np.sqrt(moments.variance)

    def contributions(self, X: Any) -> Array:
        """What each kernel adds (n_samples, n_kernels): with the intercept, their sum is the prediction.

        Parameters
        ----------
        X : as for ``predict``
        """
        return np.asarray(self._output_parts(X)[:, 0] * self._scale)


def check_priors(priors: Any, sparse: bool, spread: Any, names: tuple[str, ...]) -> Priors:
    """The priors from a dict of (shape, rate); `sparse` sets that of the kernels where it is not given."""
    given = {} if priors is None else priors
    if not isinstance(given, Mapping):
        raise TypeError(f"priors must be a dict of (shape, rate) by {', '.join(names)}; got {priors!r}.")
    unknown = [name for name in given if name not in names]
    if unknown:
        remark = " The noise of classes has variance 1: leave it out." if unknown[0] == "noise" else ""
        raise ValueError(f"priors knows {', '.join(names)}; got {unknown[0]!r}.{remark}")
    pairs = {"kernel": SPARSE} if sparse else {}
    pairs.update({name: _check_pair(name, pair) for name, pair in given.items()})
    return Priors(spread=check_number("spread", spread, at_least=1e-100), **pairs)


def _check_pair(name: str, pair: Any) -> tuple[float, float]:
    if not isinstance(pair, tuple | list | np.ndarray) or len(pair) != 2:
        raise TypeError(f"priors[{name!r}] must be (shape, rate) of a Gamma distribution; got {pair!r}.")
    shape, rate = (check_number(f"priors[{name!r}]", value, above=0.0) for value in pair)
    return shape, rate


def _spread(values: Array) -> float:
    """The deviation of the targets; 1 where they are all the same."""
    size = float(np.abs(values - values.mean()).max())
    if not size > 1e-12 * float(np.abs(values).max()):
        return 1.0
    if not np.isfinite(size):
        raise ValueError("y is too large for floating point: its deviations overflow. Rescale it.")
    return size * float(np.std((values - values.mean()) / size))

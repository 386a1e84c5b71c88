"""Gaussian process regression on a learned sum of kernels."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from .._typing import Array
from ..core.about import About
from ..core.estimator import refusing_overflow
from ..core.inputs import check_targets, standard_deviation
from .base import AdditiveGP
from .solver.components import Components
from .solver.gaussian import GaussianEvidence, inverse_root
from .solver.predictive import AdditivePosterior

LEAST_NOISE = 1e-6  # of the variance of the targets

ADDITIVE_GP = About(
    family="bayesian",
    problem="max_η≥0 log ∫ p(y | f) N(f; 0, Σ η_m K_m) df",
    solver="projected Newton steps with average information, exact gradients; stationarity",
    cost="n³ + P n² a step, about ten steps; for classification about five times that for each class",
    use="Standard deviations of predictions and of the part of each view; up to a few thousand samples.",
    reference="Girolami & Zhong 2007; Rasmussen & Williams 2006",
)


@dataclass(eq=False, repr=False)
class AdditiveGPRegressor(RegressorMixin, AdditiveGP):
    r"""Gaussian process regression on a weighted sum of kernels, with the weights of largest evidence.

    Use it for predictions with a standard deviation, for what each view adds with a standard deviation, and
    where there is no data to spare for choosing parameters: noise and weights are learned from the training
    samples, and weights that are not needed are exactly 0. Do not use it beyond a few thousand samples, or
    where errors have outliers: :class:`MKLRegressor` is robust to them.

    Parameters
    ----------
    kernels : "auto", "precomputed", kernel, View, list of these, dict or KernelBank, default="auto"
        As for :class:`MKLRegressor`.
    n_init : int, default=1
        Number of starts of the ascent, of which the best is kept. The first has equal weights, the others
        random ones.
    tol : float, default=1e-6
        The fit ends when the next step promises a smaller rise of the evidence, in nats a sample.
    max_iter : int, default=300
        Maximum number of steps of each ascent.
    max_time : float, default=None
        Maximum time of the fit in seconds; None for no limit.
    callback : callable, default=None
        Called after each step with the newest entry of the history; True stops the fit.
    on_interrupt : {"raise", "keep"}, default="raise"
        What Ctrl-C does: raise KeyboardInterrupt, or end the fit at its next step and keep the model.
    verbose : int, default=0
        Whether progress is printed.
    random_state : int, RandomState or None, default=None
        Of the random starts.

    Attributes
    ----------
    kernel_weights_ : array of shape (n_kernels,)
        :math:`\eta_m`, the prior variance of view m in units of its kernel and of the squared targets.
    variance_shares_ : array of shape (n_kernels,)
        Shares of the views in the mean prior variance at the training samples.
    noise_ : float
        Standard deviation :math:`\sigma` of the noise, in units of the targets.
    intercept_ : array of shape (1,)
        The mean of the targets.
    dual_coef_ : array of shape (1, n_samples)
        :math:`(\sum_m \eta_m K_m + \sigma^2 I)^{-1} (y - b)`.
    log_marginal_likelihood_value_ : float
        The log evidence of the centered targets, in nats, as that of scikit-learn's
        GaussianProcessRegressor.
    objective_ : float
        The same for targets scaled to variance 1, which is what the history shows.
    dual_gap_ : float
        The rise of the evidence that the next step promises, in nats a sample: 0 at a stationary point, and
        only there. The problem is not concave: it does not bound the distance to the best weights.
    view_names_, n_iter_, status_, history_
        As for :class:`MKLRegressor`; entries of the history have the number of their ``start``.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel.gaussian_process import AdditiveGPRegressor
    >>> from multikernel.kernels import Gaussian
    >>> X = np.random.default_rng(0).uniform(-3, 3, size=(80, 2))
    >>> y = np.sin(X[:, 0]) + 0.1 * np.random.default_rng(1).normal(size=80)
    >>> views = [("signal", Gaussian(), [0]), ("none", Gaussian(), [1])]
    >>> model = AdditiveGPRegressor(views).fit(X, y)
    >>> model.variance_shares_.round(2), round(model.noise_, 1)
    (array([1., 0.]), 0.1)
    >>> mean, std = model.predict([[1.0, 0.0]], return_std=True)
    >>> bool(abs(mean[0] - np.sin(1.0)) < 2 * std[0])
    True
    >>> mean, std = model.predict_components(X[:3])
    >>> mean.shape, std.shape
    ((3, 2), (3, 2))

    Notes
    -----
    .. math::

        y_i = b + \sum_m f_m(x_i) + \epsilon_i, \quad f_m \sim GP(0, \eta_m K_m), \quad
        \epsilon_i \sim N(0, \sigma^2)

        \max_{\eta \ge 0, \sigma}\ -\tfrac12 (y - b)^\top C^{-1} (y - b) - \tfrac12 \log\det C -
        \tfrac n2 \log 2\pi, \quad C = \sum_m \eta_m K_m + \sigma^2 I

    with b the mean of y, and :math:`\sigma^2` at least 1e-6 of the variance of y. Parameters of the kernels,
    such as widths, are not learned: give several kernels of different width, or search them.
    Predictions read all training samples, of kernels with weight.

    References
    ----------
    Girolami & Zhong, Data integration for classification problems employing Gaussian process priors,
    Advances in Neural Information Processing Systems 19, 2007; for regression, our reading of it.
    Rasmussen & Williams, Gaussian Processes for Machine Learning, 2006.
    Gilmour, Thompson & Cullis, Average information REML, Biometrics 51, 1995 (the steps).
    """

    about = ADDITIVE_GP

    def fit(self, X: Any, y: Any) -> "AdditiveGPRegressor":
        """Learn the weights and the noise.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            With ``kernels="precomputed"``: a dict or stack of Gram matrices.
        y : array of shape (n_samples,)
        """
        X = self._validate_table(X, reset=True)
        values = check_targets(self, X, y, multi_output=False)[:, 0]
        Ks = self._fit_kernels(X)
        with refusing_overflow():
            middle, unit = float(values.mean()), standard_deviation(values)
            targets = (values - middle) / unit
        terms = Components(Ks, noise=True)
        found = self._maximize(Ks, GaussianEvidence(terms, targets), 0.5, LEAST_NOISE)
        weights, state = found.theta[:-1] * terms.scales * unit**2, found.state
        half = inverse_root(state.root) / unit
        self.machine_names_ = ["y"]
        self.intercept_ = np.array([middle])
        self.noise_ = unit * float(np.sqrt(found.theta[-1]))
        self.objective_ = found.objective
        self.log_marginal_likelihood_value_ = found.objective - values.size * float(np.log(unit))
        self._store(found, terms, AdditivePosterior(weights, 0.0, state.alpha[None] / unit, half[None]), Ks)
        return self

    def predict(self, X: Any, return_std: bool = False, diagonals: Any = None) -> Any:
        """Predicted values.

        Parameters
        ----------
        X : as for ``fit``, or of shape (n_samples, n_samples, n_kernels) when precomputed
        return_std : bool, default=False
            Whether to give their standard deviations too, noise included.
        diagonals : array of shape (n_samples, n_kernels), default=None
            k(x, x) of the new samples, for the deviations with precomputed kernels. Not needed where the
            diagonals at the training samples are constant: they are taken to be so everywhere.

        Returns
        -------
        array of shape (n_samples,), or a pair (values, deviations)
        """
        if not return_std:
            return (self._scores(X) + self.intercept_)[:, 0]
        parts = self._parts(X, diagonals)
        return parts.mean[0] + self.intercept_[0], np.sqrt(parts.std[0] ** 2 + self.noise_**2)

    def predict_components(self, X: Any, diagonals: Any = None) -> tuple[Array, Array]:
        """Mean and standard deviation of the function of each view, given the training samples.

        The functions depend on each other given the data, so that their variances do not add up to that of
        the prediction.

        Parameters
        ----------
        X : as for ``predict``
        diagonals : array of shape (n_samples, n_kernels), default=None
            As for ``predict``.

        Returns
        -------
        pair of arrays of shape (n_samples, n_kernels)
            The means are those of ``contributions``.
        """
        parts = self._parts(X, diagonals, each=True)
        return parts.part_mean[0], parts.part_std[0]

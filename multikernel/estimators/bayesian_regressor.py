"""Bayesian efficient multiple kernel learning for values, with the uncertainty of weights and predictions."""

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from ..solvers.bayesian.learn import Outputs
from ._bayesian import BayesianMKL, CallbackType
from ._targets import check_targets

Array = np.ndarray[Any, np.dtype[Any]]


class BayesianMKLRegressor(RegressorMixin, BayesianMKL):
    r"""Regression with a posterior over its kernel weights and a deviation for each prediction: BEMKL.

    .. math::

        y = \sum_m e_m g_m + b + \text{noise}, \quad g_m \sim N(K_m a, \sigma^2 I), \quad
        e_m \sim N(0, 1/\omega_m), \quad a_i \sim N(0, 1/\lambda_i)

    with kernel weights :math:`e`, sample weights :math:`a`, noise of precision :math:`\epsilon`, and Gamma
    priors over the precisions :math:`\omega, \lambda, \epsilon`. The targets are brought to mean 0 and
    variance 1 first; constant ones have no scale, and their predictive deviations are what the priors leave
    of a unit, whatever the constant. The posterior is approximated by one with independent factors, which
    maximises the evidence bound; the model and every update are in
    ``multikernel.solvers.bayesian.posterior``.

    A weight may be negative, so that :math:`\sum_m e_m K_m` need not be positive semidefinite: these weights
    are no weight learner for other machines.

    Parameters
    ----------
    priors : dict, optional
        As for :class:`BayesianMKLClassifier`, and "noise" of :math:`\epsilon`.
    spread : float
        :math:`\sigma`, in units of the targets' deviation. With small ones the samples' weights follow the
        noise, and predictive deviations are too small.
    kernels, sparse, tol, max_iter, psd, gram, dtype, callback, verbose, random_state
        As for :class:`BayesianMKLClassifier`.

    Attributes
    ----------
    dual_coef_ : array (1, n), posterior mean of a, in units of the targets
    intercept_ : float
    noise_ : float, standard deviation of the noise, in units of the targets
    objective_ : float, the evidence bound of the scaled targets, in nats
    kernel_weights_, kernel_weights_std_, kernel_weights_cov_, kernel_scales_, dual_gap_, view_names_
    n_iter_, status_, history_
        As for :class:`BayesianMKLClassifier`.

    Notes
    -----
    Predictions read all training samples, so that a saved model holds them all.

    References
    ----------
    Gönen, Bayesian efficient multiple kernel learning, ICML 2012; for regression, our reading of it.

    Examples
    --------
    >>> from multikernel import BayesianMKLRegressor
    >>> from multikernel.kernels import Linear
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> views = [("signal", Linear(), [0]), ("noise", Linear(), [1])]
    >>> model = BayesianMKLRegressor(views, sparse=True).fit(X, 3 * X[:, 0] + 1)
    >>> bool(abs(model.kernel_weights_[0]) > 20 * abs(model.kernel_weights_[1]))
    True
    >>> mean, std = model.predict([[1.0, 0.0]], return_std=True)
    >>> bool(abs(mean[0] - 4.0) < 2 * std[0])
    True
    """

    def __init__(
        self,
        kernels: Any = "auto",
        *,
        sparse: bool = False,
        priors: Any = None,
        spread: float = 1.0,
        tol: float = 1e-5,
        max_iter: int = 1000,
        psd: str = "error",
        gram: str = "dense",
        dtype: Any = "float64",
        callback: CallbackType = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.kernels = kernels
        self.sparse = sparse
        self.priors = priors
        self.spread = spread
        self.tol = tol
        self.max_iter = max_iter
        self.psd = psd
        self.gram = gram
        self.dtype = dtype
        self.callback = callback
        self.verbose = verbose
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> "BayesianMKLRegressor":
        """Learn the posterior.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame (n, d); or a stack (n, n, n_kernels) when precomputed
        y : array (n,)
        """
        X = self._validate_table(X, reset=True)
        values = check_targets(self, X, y, multi_output=False)[:, 0]
        self._center, self._scale = float(values.mean()), _spread(values)
        found = self._learn(self._fit_kernels(X), Outputs(((values - self._center) / self._scale)[None]))
        self.dual_coef_ = self._scale * found.coefficients
        self.intercept_ = self._center + self._scale * float(found.intercepts[0])
        self.noise_ = self._scale * float(np.sqrt(found.noise))
        return self

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Predicted values (n_samples,).

        Parameters
        ----------
        X : as for ``fit``, or (n_samples, n, n_kernels) when precomputed
        return_std : bool
            Whether to give their standard deviations too, noise included: a pair (values, deviations).
        """
        check_is_fitted(self)
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
        check_is_fitted(self)
        return np.asarray(self._scale * self._output_parts(X)[:, 0])


def _spread(values: Array) -> float:
    """The deviation of the targets; 1 where they are all the same."""
    size = float(np.abs(values - values.mean()).max())
    if not size > 1e-12 * float(np.abs(values).max()):
        return 1.0
    if not np.isfinite(size):
        raise ValueError("y is too large for floating point: its deviations overflow. Rescale it.")
    return size * float(np.std((values - values.mean()) / size))

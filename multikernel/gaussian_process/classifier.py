"""Gaussian process classification on a learned sum of kernels, by Laplace's method."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import softmax
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from .._typing import Array
from ..core.decisions import binary_problems, decide
from ..core.inputs import encode_labels, require_two_classes
from .base import AdditiveGP
from .regressor import ADDITIVE_GP
from .solver.components import Components
from .solver.laplace import LaplaceEvidence, inverse_half
from .solver.predictive import AdditivePosterior, mean_sigmoid

_TINY = float(np.finfo(float).tiny)


@dataclass(eq=False, repr=False)
class AdditiveGPClassifier(ClassifierMixin, AdditiveGP):
    r"""Gaussian process classification on a weighted sum of kernels, with the weights of largest evidence.

    Use it for probabilities without folds for calibration, for what each view adds with a standard
    deviation, and where there is no data to spare for choosing parameters: weights are learned from the
    training samples, and those that are not needed are exactly 0. Do not use it beyond some
    thousand samples, or where predictions have to be quick: they read every training sample.

    Parameters
    ----------
    kernels : "auto", "precomputed", kernel, View, list of these, dict or KernelBank, default="auto"
        As for :class:`MKLClassifier`.
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
    classes_ : array of shape (n_classes,)
    kernel_weights_ : array of shape (n_kernels,)
        :math:`\eta_m`, the prior variance of view m in units of its kernel; common to all classes.
    variance_shares_ : array of shape (n_kernels,)
        Shares of the views in the mean prior variance at the training samples.
    intercept_ : array of shape (1 or n_classes,)
        Posterior mode of the constant part.
    intercept_variance_ : float
        Prior variance of the constant part, learned as the weights are.
    dual_coef_ : array of shape (1 or n_classes, n_samples)
        The gradient of the log-likelihood at the mode.
    log_marginal_likelihood_value_, objective_ : float
        Laplace's approximation of the log evidence, in nats, summed over the outputs.
    dual_gap_ : float
        As for :class:`AdditiveGPRegressor`.
    view_names_, n_iter_, status_, history_
        As for :class:`MKLClassifier`; entries of the history have the number of their ``start``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from multikernel.gaussian_process import AdditiveGPClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = AdditiveGPClassifier().fit(X[::3], y[::3])
    >>> model.score(X[1::3], y[1::3]) >= 0.9
    True
    >>> model.predict_proba(X[:2]).shape
    (2, 3)

    Notes
    -----
    Two classes:

    .. math::

        P(y_i = \pm 1) = \sigma\bigl(y_i f(x_i)\bigr), \quad f = b + \sum_m f_m, \quad
        f_m \sim GP(0, \eta_m K_m), \quad b \sim N(0, \eta_0)

    with the logistic :math:`\sigma`. The posterior of f is approximated by a normal around its mode
    (Laplace's method), and the evidence with it; the weights :math:`\eta \ge 0` maximize that. Probabilities
    are the mean of :math:`\sigma` over the normal of f at the new sample. More classes are one
    against the rest each, with common weights that maximize the sum of the evidences.
    The probability of a class is then that it is the positive one, given that exactly one of independent
    outputs is positive: proportional to the odds :math:`p_c / (1 - p_c)` of its output. (scikit-learn's
    GaussianProcessClassifier divides the :math:`p_c` by their sum, which leaves doubts where there are none.)

    References
    ----------
    Girolami & Zhong, Data integration for classification problems employing Gaussian process priors,
    Advances in Neural Information Processing Systems 19, 2007. They have a multinomial probit likelihood and
    sample the weights; ours is a reading of it with Laplace's method and a point estimate.
    Rasmussen & Williams, Gaussian Processes for Machine Learning, 2006, chapters 3 and 5.
    """

    about = ADDITIVE_GP

    def fit(self, X: Any, y: Any) -> "AdditiveGPClassifier":
        """Learn the weights.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            With ``kernels="precomputed"``: a dict or stack of Gram matrices.
        y : array of shape (n_samples,) of labels
        """
        X = self._validate_table(X, reset=True)
        self.classes_, codes = encode_labels(self, X, y)
        require_two_classes(self.classes_, codes)
        Ks = self._fit_kernels(X)
        problem = binary_problems(codes, self.classes_, "shared")[0]
        terms = Components(Ks, constant=True)
        found = self._maximize(Ks, LaplaceEvidence(terms, np.array(problem.signs)), 0.5, 0.0)
        modes = found.state.modes
        posterior = AdditivePosterior(
            weights=found.theta[:-1] * terms.scales,
            constant=float(found.theta[-1]),
            coefficients=np.array([mode.a for mode in modes]),
            halves=np.array([inverse_half(mode) for mode in modes]),
        )
        self.machine_names_ = problem.names
        self.intercept_variance_ = posterior.constant
        self.intercept_ = posterior.constant * posterior.coefficients.sum(axis=1)
        self.objective_ = self.log_marginal_likelihood_value_ = found.objective
        self._store(found, terms, posterior, Ks)
        return self

    def predict_proba(self, X: Any, diagonals: Any = None) -> Array:
        """Probabilities of the classes, averaged over the posterior.

        Parameters
        ----------
        X : as for ``fit``, or of shape (n_samples, n_samples, n_kernels) when precomputed
        diagonals : array of shape (n_samples, n_kernels), default=None
            As for :meth:`AdditiveGPRegressor.predict`.

        Returns
        -------
        array of shape (n_samples, n_classes)
        """
        parts = self._parts(X, diagonals)
        both = [np.maximum(mean_sigmoid(sign * parts.mean, parts.std).T, _TINY) for sign in (-1.0, 1.0)]
        if self.classes_.size == 2:  # each by itself: small ones keep their digits
            return np.column_stack(both)
        return np.asarray(softmax(np.log(both[1]) - np.log(both[0]), axis=1))

    def decision_function(self, X: Any, diagonals: Any = None) -> Array:
        """Log-odds of ``classes_[1]`` (n_samples,) for two classes; else log-probabilities, one for each.

        Parameters
        ----------
        X : as for ``predict_proba``
        diagonals : array of shape (n_samples, n_kernels), default=None
            As for ``predict_proba``.

        Returns
        -------
        array of shape (n_samples,) or (n_samples, n_classes)
        """
        logs = np.log(np.maximum(self.predict_proba(X, diagonals), _TINY))
        return logs[:, 1] - logs[:, 0] if self.classes_.size == 2 else logs

    def predict(self, X: Any, diagonals: Any = None) -> Array:
        """The most probable class of each sample.

        Parameters
        ----------
        X : as for ``predict_proba``
        diagonals : array of shape (n_samples, n_kernels), default=None
            As for ``predict_proba``; two classes need none.

        Returns
        -------
        array of shape (n_samples,)
        """
        check_is_fitted(self)
        if self.classes_.size == 2:
            return decide((self._scores(X) + self.intercept_)[:, 0], self.classes_)
        return decide(self.decision_function(X, diagonals), self.classes_)

    def predict_components(self, X: Any, diagonals: Any = None) -> tuple[Array, Array]:
        """Mean and standard deviation of the function of each view, given the training samples.

        Parameters
        ----------
        X : as for ``predict_proba``
        diagonals : array of shape (n_samples, n_kernels), default=None
            As for ``predict_proba``.

        Returns
        -------
        pair of arrays of shape (n_samples, n_kernels), or (n_samples, n_classes, n_kernels) for more than two
            The means are those of ``contributions``.
        """
        parts = self._parts(X, diagonals, each=True)
        if self.classes_.size == 2:
            return parts.part_mean[0], parts.part_std[0]
        return parts.part_mean.swapaxes(0, 1), parts.part_std.swapaxes(0, 1)

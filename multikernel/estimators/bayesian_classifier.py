"""Bayesian efficient multiple kernel learning for classes, with the uncertainty of the kernel weights."""

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from .._validation import check_number
from ..solvers.bayesian.learn import class_outputs
from ..solvers.bayesian.predictive import log_probabilities
from ._bayesian import BayesianMKL, CallbackType
from ._multiclass import decide
from ._targets import encode_labels, require_two_classes

Array = np.ndarray[Any, np.dtype[Any]]


class BayesianMKLClassifier(ClassifierMixin, BayesianMKL):
    r"""Classifier with a posterior over its kernel weights: BEMKL.

    .. math::

        f_c = \sum_m e_m g_{cm} + b_c + \text{noise}, \quad g_{cm} \sim N(K_m a_c, \sigma^2 I), \quad
        e_m \sim N(0, 1/\omega_m), \quad a_{ci} \sim N(0, 1/\lambda_{ci})

    with kernel weights :math:`e`, common to all classes, sample weights :math:`a`, noise of variance 1 and
    Gamma priors over the precisions :math:`\omega, \lambda`. Two classes have one output with
    :math:`t f > \nu` for labels :math:`t = \pm 1`; more have one each, with :math:`f_y > f_c + \nu` for each
    other class. The posterior is approximated by one with independent factors, which maximises the evidence
    bound; the model and every update are in ``multikernel.solvers.bayesian.posterior``.

    A weight may be negative, so that :math:`\sum_m e_m K_m` need not be positive semidefinite: these weights
    are no weight learner for other machines. Kernels are divided by the mean of their diagonals, and weights
    refer to kernels so scaled; their scale does not matter.

    Parameters
    ----------
    kernels : "auto", "precomputed", kernel, View, or list of kernels, views and tuples
        As for :class:`MKLClassifier`.
    margin : float
        :math:`\nu \ge 0`. The paper's is 1; probabilities are then far too sure where classes overlap.
    sparse : bool
        Whether the prior of the kernel weights drives those that are not needed to zero: Gamma(1e-10, 1e-10)
        in place of Gamma(1, 1) for :math:`\omega`.
    priors : dict, optional
        (shape, rate) of the Gamma priors of the precisions by name, default (1, 1): "sample" of
        :math:`\lambda`, "kernel" of :math:`\omega`, "intercept".
    spread : float
        :math:`\sigma`. The paper's is 0.1. Larger ones make the fit shorter and probabilities less sure; best
        chosen by the log-loss of cross-validation: the evidence bound rises even where they predict worse.
    tol : float
        The fit ends when the evidence bound would rise by no more, in nats a sample, as ``dual_gap_`` tells.
    max_iter : int
    psd : {"error", "clip", "shift"}
        What to do with a kernel that is not positive semidefinite.
    gram : {"dense", "memmap"}
        Where the training kernels live.
    dtype : {"float64", "float32"}
    callback : callable, optional
        Called after each iteration with the newest entry of the history; True stops the fit.
    verbose : int
    random_state : int, RandomState or None
        Of the first kernel weights; None starts with equal ones.

    Attributes
    ----------
    kernel_weights_ : array (n_kernels,), posterior mean of e
    kernel_weights_std_ : array (n_kernels,)
    kernel_weights_cov_ : array (n_kernels, n_kernels)
    kernel_scales_ : array (n_kernels,), one over the mean of each diagonal
    dual_coef_ : array (1 or n_classes, n), posterior mean of a
    intercept_ : array (1 or n_classes,), posterior mean of b
    classes_ : array (n_classes,)
    objective_ : float, the evidence bound in nats
    dual_gap_ : float
        How much further the bound would rise if its rises went on to shrink as in the last twenty sweeps, in
        nats a sample. An estimate: zero at a stationary point, but no bound of the distance to one (weights
        on their way to zero creep longer) or to the best approximation, since the problem is not concave.
    view_names_, n_iter_, status_, history_
        As for :class:`MKLClassifier`.

    Notes
    -----
    Predictions read all training samples, so that a saved model holds them all.
    An iteration takes :math:`O(L n^3 + L P n^2 + P^3)` for L outputs and P kernels, the start
    :math:`O(P n^3)`. Memory: the stack, about four (n, n) matrices, and :math:`L P n`.

    References
    ----------
    Gönen, Bayesian efficient multiple kernel learning, ICML 2012. The form for more than two classes is our
    reading, with the truncation of Girolami & Rogers' multinomial probit (2006).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from multikernel import BayesianMKLClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = BayesianMKLClassifier().fit(X[::3], y[::3])
    >>> model.score(X[1::3], y[1::3]) >= 0.9
    True
    >>> model.kernel_weights_std_.shape
    (7,)
    """

    classes_: Array

    def __init__(
        self,
        kernels: Any = "auto",
        *,
        margin: float = 0.0,
        sparse: bool = False,
        priors: Any = None,
        spread: float = 0.3,
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
        self.margin = margin
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

    def fit(self, X: Any, y: Any) -> "BayesianMKLClassifier":
        """Learn the posterior.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame (n, d); or a stack (n, n, n_kernels) when precomputed
        y : array (n,) of labels
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
        check_is_fitted(self)
        logs = log_probabilities(self._moments(X), self._margin)
        return logs[:, 1] - logs[:, 0] if self.classes_.size == 2 else logs

    def predict(self, X: Any) -> Array:
        """The most probable class of each sample, which is that of the largest mean output."""
        check_is_fitted(self)
        scores = self._output_parts(X).sum(axis=2) + self.intercept_
        return decide(scores[:, 0] if self.classes_.size == 2 else scores, self.classes_)

    def predict_proba(self, X: Any) -> Array:
        """Predictive probabilities (n_samples, n_classes), with the uncertainty of all weights.

        Outputs are taken as normal with their predictive mean and variance; of more than two classes, with
        the mean of their variances and without the correlation that the common kernel weights give them.
        """
        check_is_fitted(self)
        return np.exp(log_probabilities(self._moments(X), self._margin))

    def contributions(self, X: Any) -> Array:
        """One score per kernel: what each view adds to the mean output.

        Parameters
        ----------
        X : as for ``predict``

        Returns
        -------
        array (n_samples, n_kernels), or (n_samples, n_classes, n_kernels) for more than two classes
            Summed over the kernels, and with the intercept added, they are the means of the outputs, of
            which the largest (of two classes, the sign) gives the class.
        """
        every = self._output_parts(X)
        return every[:, 0] if self.classes_.size == 2 else every

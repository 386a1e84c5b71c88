"""A one-class machine on the kernel of any weight learner that needs no targets."""

from typing import Any

import numpy as np
from sklearn.base import OutlierMixin

from ..weights._machines import machine_for
from ..weights.fixed import MeanRule
from ..weights.learner import WeightLearner
from ..weights.targets import no_targets
from ._combined import CombinedKernel

Array = np.ndarray[Any, np.dtype[Any]]


class CombinedKernelOneClass(OutlierMixin, CombinedKernel):
    r"""A one-class machine on kernels that a weight learner has combined.

    .. math::

        K = s \sum_m \eta_m K_m, \qquad \eta = \text{learner}(K_1, \dots, K_P), \qquad f = \text{machine}(K)

    Parameters
    ----------
    learner : weight learner, optional
        From :mod:`multikernel.weights`, one that learns from nothing but the kernels; default ``MeanRule()``.
    machine : one-class machine on a precomputed kernel, optional
        Default ``OneClassSVM(kernel="precomputed")``.
    kernels, normalise, psd, gram, dtype
        As for :class:`CombinedKernelClassifier`.

    Attributes
    ----------
    kernel_weights_, scale_, learner_, machine_, view_names_
        As for :class:`CombinedKernelClassifier`.
    offset_ : float

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import CombinedKernelOneClass
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> CombinedKernelOneClass().fit(X).predict([[0.0, 0.0], [9.0, 9.0]])
    array([ 1, -1])
    """

    _task = "nothing"
    offset_: float

    def fit(self, X: Any, y: Any = None) -> "CombinedKernelOneClass":
        """Learn the weights, then the machine.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame (n, d); or a stack (n, n, n_kernels) when precomputed
        y : ignored
        """
        machine = machine_for(self._task, self.machine)
        X = self._validate_table(X, reset=True)
        n = X.shape[0] if hasattr(X, "shape") else len(X)
        K = self._fit_kernel(X, no_targets(n))
        self._keep(machine.fit(K))
        self.offset_ = float(np.ravel(self.machine_.offset_)[0])
        return self

    def _default_learner(self) -> WeightLearner:
        return MeanRule()

    def score_samples(self, X: Any) -> Array:
        """Scores before the threshold is subtracted (n_samples,)."""
        return self._ask(X, "score_samples")

    def decision_function(self, X: Any) -> Array:
        """Scores (n_samples,), negative for outliers."""
        return self.score_samples(X) - self.offset_

    def predict(self, X: Any) -> Array:
        """1 for inliers, −1 for outliers."""
        return self._ask(X, "predict")

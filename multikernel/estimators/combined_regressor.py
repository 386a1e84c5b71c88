"""Any kernel regressor on the kernel of any weight learner."""

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils import Tags, get_tags

from ..weights._machines import default_machine, is_estimator, machine_for
from ..weights.targets import value_targets
from ._combined import CombinedKernel
from ._targets import check_targets

Array = np.ndarray[Any, np.dtype[Any]]


class CombinedKernelRegressor(RegressorMixin, CombinedKernel):
    r"""A kernel regressor on kernels that a weight learner has combined.

    .. math::

        K = s \sum_m \eta_m K_m, \qquad \eta = \text{learner}(K_1, \dots, K_P, y), \qquad
        f = \text{machine}(K, y)

    Parameters
    ----------
    learner : weight learner, optional
        From :mod:`multikernel.weights`, one that learns from values; default ``CenteredAlignment()``.
    machine : regressor on a precomputed kernel, optional
        Default ``KernelRidge(kernel="precomputed")``, on targets whose mean is taken away and added again;
        also ``SVR(kernel="precomputed")``.
    kernels, normalise, psd, gram, dtype
        As for :class:`CombinedKernelClassifier`.

    Attributes
    ----------
    kernel_weights_, scale_, learner_, machine_, view_names_
        As for :class:`CombinedKernelClassifier`.
    offset_ : float or array (n_outputs,), the mean of the targets

    Notes
    -----
    A saved model holds all training samples for kernel ridge regression, the support samples for SVR.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from multikernel import CombinedKernelRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = CombinedKernelRegressor().fit(X[::2], y[::2])
    >>> round(model.score(X[1::2], y[1::2]), 1)
    0.5
    """

    _task = "values"

    def fit(self, X: Any, y: Any) -> "CombinedKernelRegressor":
        """Learn the weights, then the machine.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame (n, d); or a stack (n, n, n_kernels) when precomputed
        y : array (n,), or (n, n_outputs) where the machine can
        """
        machine = machine_for(self._task, self.machine)
        X = self._validate_table(X, reset=True)
        values = check_targets(self, X, y, multi_output=self._many_outputs())
        K = self._fit_kernel(X, value_targets(values))
        targets = values[:, 0] if np.asarray(y).ndim == 1 or not self._many_outputs() else values
        self.offset_ = targets.mean(axis=0)  # kernel ridge regression has no intercept of its own
        self._keep(machine.fit(K, targets - self.offset_))
        return self

    def _many_outputs(self) -> bool:
        machine = default_machine(self._task) if self.machine is None else self.machine
        return is_estimator(machine) and bool(get_tags(machine).target_tags.multi_output)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = self._many_outputs()
        return tags

    def predict(self, X: Any) -> Array:
        """Predicted values (n_samples,), or (n_samples, n_outputs)."""
        return self._ask(X, "predict") + self.offset_

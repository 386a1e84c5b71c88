"""An estimator on ready-made kernels that sees all of them but one."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils import Tags, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

Array = np.ndarray[Any, np.dtype[Any]]


def _has(method: str) -> Any:
    return available_if(lambda self: hasattr(getattr(self, "estimator_", self.estimator), method))


class WithoutKernel(BaseEstimator):
    """Fits an estimator with ``kernels="precomputed"`` to a stack without one of its kernels.

    Parameters
    ----------
    estimator : estimator on stacks (n, n_train, n_kernels)
    position : int
        Of the kernel that is left out.

    Attributes
    ----------
    estimator_ : the fitted copy

    Examples
    --------
    >>> from multikernel import MKLClassifier, stack_kernels
    >>> y = np.array([1, 1, 0, 0])
    >>> X = stack_kernels([np.eye(4), 1.0 * (y[:, None] == y)])
    >>> WithoutKernel(MKLClassifier("precomputed"), 0).fit(X, y).predict(X)
    array([1, 1, 0, 0])
    """

    def __init__(self, estimator: Any, position: int) -> None:
        self.estimator = estimator
        self.position = position

    def __sklearn_tags__(self) -> Tags:
        return get_tags(self.estimator)

    def fit(self, X: Any, y: Any = None) -> WithoutKernel:
        """Fit a copy of the estimator to the other kernels."""
        self.estimator_ = clone(self.estimator).fit(self._others(X), y)
        if hasattr(self.estimator_, "classes_"):
            self.classes_ = self.estimator_.classes_
        return self

    def predict(self, X: Any) -> Array:
        """What the estimator predicts from the other kernels."""
        check_is_fitted(self, "estimator_")
        return np.asarray(self.estimator_.predict(self._others(X)))

    @_has("decision_function")
    def decision_function(self, X: Any) -> Array:
        """The scores that the estimator gives from the other kernels."""
        check_is_fitted(self, "estimator_")
        return np.asarray(self.estimator_.decision_function(self._others(X)))

    def _others(self, X: Any) -> Array:
        kernels_first = np.moveaxis(np.asarray(X), 2, 0)
        return np.moveaxis(np.delete(kernels_first, self.position, axis=0), 0, 2)

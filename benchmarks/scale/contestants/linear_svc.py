"""scikit-learn's LinearSVC: the plain sum of kernels is one linear machine on all factors side by side.

Its C is that of the hinge here and half of that of the squared hinge here, (C/2) ξ². It penalises the
intercept as if it were one more coefficient; the judge takes the best one instead.
"""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

FloatArray = NDArray[np.float64]

_MOST_PASSES = 10_000


def fit_linear_svc(Z: FloatArray, y: FloatArray, C: float, loss: str, tol: float) -> FloatArray:
    """Coefficients; the form (primal or dual) is the one that scikit-learn takes for the loss."""
    price = C if loss == "hinge" else C / 2.0
    model = LinearSVC(
        C=price, loss=loss, tol=tol, dual=loss == "hinge", max_iter=_MOST_PASSES, random_state=0
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the judge sees how far it came
        return model.fit(Z, y).coef_[0]

"""The floor a user knows: one scikit-learn SVC solve at a given kernel."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.svm import SVC


def solve_svc(kernel: NDArray[np.float64], y: NDArray[np.float64], C: float, tol: float = 1e-3) -> SVC:
    """Fit scikit-learn's SVC on a precomputed kernel."""
    return SVC(C=C, kernel="precomputed", tol=tol).fit(kernel, y)


def duals_of(model: SVC, y: NDArray[np.float64]) -> NDArray[np.float64]:
    """The unsigned duals alpha (n,) of a fitted SVC."""
    alpha = np.zeros(y.size)
    alpha[model.support_] = np.abs(model.dual_coef_[0])
    return alpha

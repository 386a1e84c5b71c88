"""Ours: the public estimator on a precomputed stack, all its input checks included; and its solver alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from judges.programs.answers import Answer
from multikernel import MKLClassifier
from multikernel.core.optim.loop import Options
from multikernel.core.svm.losses import Hinge
from multikernel.core.weights.learn import learn_weights
from multikernel.core.weights.loop import SolveResult


def fit_ours(kernels: NDArray[np.float64], y: NDArray[np.float64], C: float, tol: float) -> MKLClassifier:
    """Fit on the stack as a user hands it over: (n, n, m), a view that is kernels-first in memory."""
    return MKLClassifier(kernels="precomputed", C=C, tol=tol).fit(np.moveaxis(kernels, 0, -1), y)


def learn_ours(kernels: NDArray[np.float64], y: NDArray[np.float64], C: float, tol: float) -> SolveResult:
    """The solver behind the estimator, on the same stack, without the checks of its input."""
    return learn_weights(kernels, [Hinge(y, C)], options=Options(tol=tol))


def answer_of(model: MKLClassifier, y: NDArray[np.float64]) -> Answer:
    """Weights and duals of the fitted estimator, for the judge."""
    coefficients = np.ravel(model.dual_coef_)
    signed = coefficients
    if coefficients.size != y.size:
        signed = np.zeros(y.size)
        signed[model.support_] = coefficients
    return Answer(np.asarray(model.kernel_weights_, dtype=np.float64).ravel(), y * signed, int(model.n_iter_))

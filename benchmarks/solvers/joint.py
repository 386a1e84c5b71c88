"""Ours for all classes in one machine: the solver on one kernel, with learned weights, and the estimator."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from judges.programs.answers import JointAnswer, JointWeightsAnswer
from multikernel import MKLClassifier, View
from multikernel.core.optim.loop import Options
from multikernel.core.svm.joint.solver import solve_multiclass
from multikernel.core.svm.losses import JointHinge
from multikernel.core.weights.learn import learn_weights
from multikernel.kernels import Kernel

FloatArray = NDArray[np.float64]


def solve_joint(K: FloatArray, codes: NDArray[np.int64], n_classes: int, C: float, tol: float) -> JointAnswer:
    """The machine on the kernel K to a relative duality gap."""
    found = solve_multiclass(K, codes, n_classes, C, tol=tol)
    return JointAnswer(found.alpha, found.intercepts, str(found.status.value))


def learn_joint(
    kernels: FloatArray, codes: NDArray[np.int64], n_classes: int, C: float, tol: float
) -> JointWeightsAnswer:
    """Weights and machine to a relative duality gap."""
    found = learn_weights(kernels, [JointHinge(codes, n_classes, C)], options=Options(tol=tol))
    return JointWeightsAnswer(
        found.weights, duals_of(found.duals.T, codes), found.intercepts, str(found.status.value), found.n_iter
    )


def fit_joint(
    points: FloatArray, codes: NDArray[np.int64], n_classes: int, kernel: Kernel, C: float, tol: float
) -> JointAnswer:
    """The estimator, from points to model, all checks of its input included."""
    view = View("kernel", kernel, standardize=False, normalize=None)
    model = MKLClassifier(view, C=C, multiclass="joint", tol=tol).fit(points, codes)
    B = np.zeros((codes.size, n_classes))
    B[model.support_] = model.dual_coef_.T
    return JointAnswer(duals_of(B, codes), model.intercept_, model.status_)


def duals_of(B: FloatArray, codes: NDArray[np.int64]) -> FloatArray:
    """α_il = −B_il for the other classes, 0 for the own."""
    return np.where(np.eye(B.shape[1], dtype=bool)[codes], 0.0, -B)

"""Ours for discriminant analysis: the solver, and the estimator with its input checks."""

from __future__ import annotations

import numpy as np

from benchmarks.datasets.discrimination import DiscriminantTask
from judges.programs.answers import DiscriminantAnswer
from multikernel.core.optim.loop import Options
from multikernel.discriminant.classifier import KernelDiscriminantClassifier
from multikernel.discriminant.solver.learn import DiscriminantProblem, DiscriminantResult, learn_discriminant

OUR_TOL = 1e-8


def learn_ours(task: DiscriminantTask) -> DiscriminantResult:
    """The solver behind the estimator."""
    problem = DiscriminantProblem(task.kernels, task.codes, task.reg)
    return learn_discriminant(problem, options=Options(tol=OUR_TOL, max_iter=100))


def fit_ours(task: DiscriminantTask) -> KernelDiscriminantClassifier:
    """The estimator, as a user calls it: (n, n, m), a view that is kernels-first in memory."""
    reg = "learn" if task.reg is None else task.reg
    model = KernelDiscriminantClassifier("precomputed", reg=reg, tol=OUR_TOL)
    return model.fit(np.moveaxis(task.kernels, 0, -1), task.codes)


def answer_of_ours(result: DiscriminantResult) -> DiscriminantAnswer:
    """What the judge needs."""
    return DiscriminantAnswer(result.weights, result.reg, str(result.status.value))

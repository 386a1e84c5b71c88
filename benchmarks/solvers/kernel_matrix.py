"""Ours for kernel matrices: the solver, its judge, and the estimator with its input checks."""

from __future__ import annotations

import numpy as np

from benchmarks.datasets.transduction import TransductiveProblem
from judges.conic import learn_kernel_matrix_conic
from judges.programs.answers import MatrixAnswer
from multikernel.core.optim.loop import Options
from multikernel.core.svm.losses import Hinge
from multikernel.core.weights.learn import learn_weights
from multikernel.transductive import TransductiveMKLClassifier
from multikernel.transductive.solver.kernel_matrix import MatrixProblem, MatrixResult, learn_kernel_matrix

OUR_TOL = 1e-8
_MAX_ITER = 100


def learn_matrix(problem: TransductiveProblem, weights: str) -> MatrixResult:
    """The solver behind the estimator; "free" or "nonnegative" weights."""
    return learn_kernel_matrix(_asked(problem, weights), Options(tol=OUR_TOL, max_iter=_MAX_ITER))


def judge_matrix(problem: TransductiveProblem, weights: str) -> MatrixResult:
    """The same by Clarabel, on subspaces that grow."""
    return learn_kernel_matrix_conic(_asked(problem, weights), Options(tol=OUR_TOL, max_iter=_MAX_ITER))


def _asked(problem: TransductiveProblem, weights: str) -> MatrixProblem:
    return MatrixProblem(problem.kernels, Hinge(problem.y, problem.C), weights, problem.trace)


def fit_transductive(problem: TransductiveProblem, weights: str) -> TransductiveMKLClassifier:
    """The estimator, as a user calls it: (rows, n, m), a view that is kernels-first in memory."""
    stack = np.moveaxis(problem.kernels, 0, -1)
    N = problem.y.size
    model = TransductiveMKLClassifier("precomputed", weight_set=weights, C=problem.C, tol=OUR_TOL)
    return model.fit(stack[:N], problem.y, X_unlabeled=stack[N:])


def answer_of_matrix(result: MatrixResult, problem: TransductiveProblem) -> MatrixAnswer:
    """What the judge needs."""
    return MatrixAnswer(result.weights, problem.y * result.dual, str(result.status.value))


def learn_simplex(problem: TransductiveProblem) -> MatrixAnswer:
    """The solver of MKLClassifier on the same nonnegative program, the labelled points alone."""
    loss = Hinge(problem.y, problem.C)
    result = learn_weights(problem.labelled_kernels, [loss], options=Options(tol=OUR_TOL))
    weights = np.asarray(result.weights) * problem.trace / problem.traces
    return MatrixAnswer(weights, problem.y * np.ravel(result.duals), str(result.status.value))

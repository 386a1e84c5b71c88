"""One binary problem of a transductive model: the matrix and the machine, by margin or by alignment."""

from dataclasses import replace
from typing import Any

import numpy as np

from ..criteria import HardMargin, Hinge, Loss, SquaredHinge
from ..solvers import (
    MatrixProblem,
    MatrixResult,
    Options,
    Status,
    learn_alignment,
    learn_kernel_matrix,
    spectral_alignment,
)
from ._progress import Progress

Array = np.ndarray[Any, np.dtype[Any]]


def _options(model: Any, name: str) -> Options:
    label = "" if model.classes_.size == 2 else f"{name}: "
    progress = Progress(label, model.verbose, model.callback)
    return Options(tol=model.tol, max_iter=model.max_iter, callback=progress)


def _loss(model: Any, signs: Array) -> Loss:
    if model.criterion == "hard" or isinstance(model.C, str):
        return HardMargin(signs)
    return SquaredHinge(signs, model.C) if model.criterion == "soft2" else Hinge(signs, model.C)


def by_margin(model: Any, members: Array, signs: Array, name: str) -> MatrixResult:
    """The matrix of best margin and its machine."""
    learn_ridge = isinstance(model.C, str)
    problem = MatrixProblem(members, _loss(model, signs), model.weights, model.trace_, learn_ridge)
    result = learn_kernel_matrix(problem, _options(model, name))
    if result.status == Status.INSEPARABLE:
        raise ValueError(
            'criterion="hard" needs separable classes; no matrix of this family separates '
            f"{_opponents(model, name)} by a margin that floating point can tell from zero. Use "
            'criterion="soft1" or "soft2", or richer kernels.'
        )
    return result


def _opponents(model: Any, name: str) -> str:
    if model.classes_.size > 2:
        return f"{name!r} from the rest"
    return " from ".join(repr(label) for label in model.classes_.tolist()[::-1])


def by_alignment(model: Any, members: Array, signs: Array, name: str) -> MatrixResult:
    """Weights by alignment, then a machine with the matrix that they give."""
    if model.weights == "spectral":
        aligned = spectral_alignment(members, signs)
        K = (members * aligned.weights) @ members.T
    else:
        aligned = learn_alignment(members, signs, model.weights, tol=model.tol, max_iter=model.max_iter)
        K = np.tensordot(aligned.weights, members, 1)
    scale = model.trace_ / float(np.trace(K))
    problem = MatrixProblem((scale * K)[None], Hinge(signs, model.C), "nonnegative", model.trace_)
    machine = learn_kernel_matrix(problem, _options(model, name))
    return replace(
        machine,
        weights=scale * aligned.weights,
        objective=aligned.objective,
        gap=max(aligned.gap, machine.gap),
        status=machine.status if aligned.status == Status.OPTIMAL else aligned.status,
    )

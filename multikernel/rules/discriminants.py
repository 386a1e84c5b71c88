"""Discriminant solvers behind the learners: which kernel is to blame where they fail."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from .._typing import Array
from .._validation import warn_caller
from ..core.optim.simplex import StartError
from ..core.scatter import SingularScatterError
from ..discriminant.solver.kim import KimResult, learn_kim
from ..discriminant.solver.learn import DiscriminantProblem, DiscriminantResult, learn_discriminant
from ..discriminant.solver.problem import strongest_kernel
from .inputs import blame_indefinite


def solve_discriminant(problem: DiscriminantProblem, names: Sequence[str]) -> DiscriminantResult:
    """Weights, and λ where it is learned, by total scatter; those of the best kernel where λ is infinite."""
    try:
        result = learn_discriminant(problem)
    except SingularScatterError:
        blame_indefinite(names, problem.Ks)
        raise
    if result.suspicious:
        blame_indefinite(names, problem.Ks)
    if np.isfinite(result.reg):
        return result
    weights = strongest_kernel(problem.Ks, problem.codes)
    warn_caller(
        'reg="learn" found no kernel that separates the classes better than the identity: the learned '
        f"regularisation is infinite. The weights are those of {names[int(weights.argmax())]!r} alone. Check "
        "that the labels have to do with the samples, or give a reg."
    )
    return replace(result, weights=weights)


def solve_kim(
    Ks: Array, codes: Array, reg: float, names: Sequence[str], scales: Array | None = None
) -> KimResult:
    """Weights of the kernels, each divided by its scale, by scatter within two classes."""
    try:
        result = learn_kim(Ks, codes, reg, scales=scales)
    except StartError:
        blame_indefinite(names, Ks)
        raise ValueError(
            f"the scatter within the classes is singular beside reg={reg:.1e}, to rounding. Raise reg."
        ) from None
    if not result.objective > 0.0:
        raise ValueError(
            "Kim's weights need a kernel that tells the means of the two classes apart; for these kernels "
            "the means are equal. Give kernels that know something of these labels."
        )
    return result

"""Estimators whose problems the judges solve, in the place of the package's own solvers."""

import contextlib

import pytest

from judges.conic import (
    learn_alignment_conic,
    learn_discriminant_conic,
    learn_kernel_matrix_conic,
    project_conic,
)
from multikernel.discriminant import classifier as kernel_discriminant
from multikernel.nonstationary.solver import learn
from multikernel.transductive import classifier as _matrix_machines

BOTH = ("ours", "conic")


@contextlib.contextmanager
def solved_by(who):
    """With "conic" every fit within is the judge's; with "ours" nothing is changed."""
    with pytest.MonkeyPatch.context() as patch:
        if who == "conic":
            patch.setattr(_matrix_machines, "learn_kernel_matrix", learn_kernel_matrix_conic)
            patch.setattr(_matrix_machines, "learn_alignment", learn_alignment_conic)
            patch.setattr(kernel_discriminant, "learn_discriminant", learn_discriminant_conic)
            patch.setattr(learn, "project_interior", _project)
        yield


def _project(projection, *, tol, masks):
    return project_conic(projection, tol=tol)

"""Kernel learning by a general conic solver, Clarabel: the second opinion on the package's own solvers.

Each function has the parameters and the result of its counterpart in the package.
"""

from .alignment import learn_alignment_conic
from .discriminant import learn_discriminant_conic
from .kernel_matrix import learn_kernel_matrix_conic
from .nonstationary import project_conic
from .point import ConicPoint
from .solve import solve_conic

__all__ = [
    "ConicPoint",
    "learn_alignment_conic",
    "learn_discriminant_conic",
    "learn_kernel_matrix_conic",
    "project_conic",
    "solve_conic",
]

"""Solvers: fixed-kernel machines, the weight learners, kernel matrices, and what they return."""

from ..core.optim.loop import Options, Status
from .alignment import AlignmentResult, learn_alignment, spectral_alignment
from .extension import Bordered, leading_eigenvectors
from .kernel_matrix import MatrixProblem, MatrixResult, learn_kernel_matrix
from .learn import learn_weights
from .machine import solve_machine
from .result import MachineResult, SolveResult

__all__ = [
    "AlignmentResult",
    "Bordered",
    "MachineResult",
    "MatrixProblem",
    "MatrixResult",
    "Options",
    "SolveResult",
    "Status",
    "leading_eigenvectors",
    "learn_alignment",
    "learn_kernel_matrix",
    "learn_weights",
    "solve_machine",
    "spectral_alignment",
]

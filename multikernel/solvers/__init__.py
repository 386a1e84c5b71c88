"""Solvers: fixed-kernel machines, the weight learner, and what they return."""

from .learn import learn_weights
from .machine import solve_machine
from .options import Options
from .result import MachineResult, SolveResult, Status

__all__ = ["MachineResult", "Options", "SolveResult", "Status", "learn_weights", "solve_machine"]

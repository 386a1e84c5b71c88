"""What the solvers of margin machines return."""

from ..weights.state import SolveResult
from .machine import MachineResult

__all__ = ["MachineResult", "SolveResult"]

"""Kernel matrix learning by a general conic solver, Clarabel: the second opinion beside the fast solver."""

from .point import ConicPoint
from .solve import solve_conic

__all__ = ["ConicPoint", "solve_conic"]

"""Combining kernels: the weighted sum of a stack with its adjoint, and the sets the weights live in."""

from .linear import WeightedStack
from .weight_sets import LpBall

__all__ = ["LpBall", "WeightedStack"]

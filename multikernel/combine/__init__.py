"""Combining kernels: the weighted sum of a stack with its adjoint."""

from .linear import WeightedStack

__all__ = ["WeightedStack"]

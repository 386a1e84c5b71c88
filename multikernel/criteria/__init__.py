"""Criteria: what a kernel machine optimises, with the bound that certifies it."""

from .joint import JointHinge
from .margin import EpsilonInsensitive, HardMargin, Hinge, Loss, OneClass, SquaredError, SquaredHinge

__all__ = [
    "EpsilonInsensitive",
    "HardMargin",
    "Hinge",
    "JointHinge",
    "Loss",
    "OneClass",
    "SquaredError",
    "SquaredHinge",
]

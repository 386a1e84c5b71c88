"""Kernel weights by rules and criteria that need no kernel machine: one small file for each family."""

from ..criteria.alignment import alignment
from .by_alignment import alignment_weights, centered_alignment_weights
from .by_discriminant import discriminant_weights, kim_weights
from .result import KernelWeights

__all__ = [
    "KernelWeights",
    "alignment",
    "alignment_weights",
    "centered_alignment_weights",
    "discriminant_weights",
    "kim_weights",
]

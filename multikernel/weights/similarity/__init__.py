"""Weights by the likeness of the kernels to the targets."""

from .centered_alignment import CenteredAlignment

__all__ = ["CenteredAlignment"]

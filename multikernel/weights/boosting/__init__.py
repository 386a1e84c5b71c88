"""Weights by boosting."""

from .kernel_boosting import KernelBoosting

__all__ = ["KernelBoosting"]

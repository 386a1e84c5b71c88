"""Selection: what can be said of a kernel, or a family of them, before new points are seen."""

from .complexity import KernelComplexity, kernel_complexity
from .generalization import GeneralizationBound, generalization_bound

__all__ = ["GeneralizationBound", "KernelComplexity", "generalization_bound", "kernel_complexity"]

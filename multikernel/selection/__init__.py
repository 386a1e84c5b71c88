"""Selection: what can be said of a kernel, or a family of them, before new points are seen."""

from .complexity import KernelComplexity, kernel_complexity
from .generalization import GeneralizationBound, generalization_bound
from .paired_tests import PairedTest, f_test_5x2cv

__all__ = [
    "GeneralizationBound",
    "KernelComplexity",
    "PairedTest",
    "f_test_5x2cv",
    "generalization_bound",
    "kernel_complexity",
]

"""Selection: what can be said before new points are seen; which pairs to learn from and to test on."""

from .complexity import KernelComplexity, kernel_complexity
from .generalization import GeneralizationBound, generalization_bound
from .pair_samples import sample_pairs
from .pair_split import PairSplit
from .response_surface import ResponseSurface

__all__ = [
    "GeneralizationBound",
    "KernelComplexity",
    "PairSplit",
    "ResponseSurface",
    "generalization_bound",
    "kernel_complexity",
    "sample_pairs",
]

"""Learning the kernel matrix with semidefinite programming (Lanckriet et al. 2004).

Problem: over labelled and unlabelled points together, min over K = Σ w_m K_m, tr K = c, K ⪰ 0 (w of any sign
or w ≥ 0) of the optimal value of an SVM on the labelled points, or max of the alignment with their labels.

``classifier``: `TransductiveMKLClassifier`; ``generalization``: the error bound for given test points and the
complexity of a family of kernels; ``solver/``: ``kernel_matrix`` (the problem, its certificate),
``interior_point`` (the method), ``families`` (what is combined), ``complexity`` (random signs).
"""

from .classifier import TransductiveMKLClassifier
from .generalization import GeneralizationBound, KernelComplexity, generalization_bound, kernel_complexity

__all__ = [
    "GeneralizationBound",
    "KernelComplexity",
    "TransductiveMKLClassifier",
    "generalization_bound",
    "kernel_complexity",
]

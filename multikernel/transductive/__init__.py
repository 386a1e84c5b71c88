"""Learning the kernel matrix with semidefinite programming (Lanckriet et al. 2004).

Problem: over labelled and unlabelled points together, min over K = Σ w_m K_m, tr K = c, K ⪰ 0 (w of any sign
or w ≥ 0) of the optimal value of an SVM on the labelled points, or max of the alignment with their labels.

``classifier``: `TransductiveMKLClassifier`; ``generalization``: the error bound for given test points and the
complexity of a family of kernels; ``constraints``, ``vectors``: what a user says of the weights and of the
spectral family; ``pointwise``: one new point at a time; ``completion``: determinant maximization;
``solver/``: ``kernel_matrix`` (the problem, its certificate), ``interior_point`` (the method), ``families``
(what is combined), ``limits`` (constraints), ``complexity`` (random signs).
"""

from .classifier import TransductiveMKLClassifier
from .completion import CompletedKernel, LearnedPrecision, complete_kernel, learn_precision
from .generalization import GeneralizationBound, KernelComplexity, generalization_bound, kernel_complexity
from .pointwise import PointwiseTransduction, transduce_pointwise

__all__ = [
    "CompletedKernel",
    "GeneralizationBound",
    "KernelComplexity",
    "LearnedPrecision",
    "PointwiseTransduction",
    "TransductiveMKLClassifier",
    "complete_kernel",
    "generalization_bound",
    "kernel_complexity",
    "learn_precision",
    "transduce_pointwise",
]

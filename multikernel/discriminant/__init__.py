"""Discriminant analysis that learns its kernel (Ye, Chen & Ji 2007; Kim, Magnani & Boyd 2006).

Problem: the kernel Σ θ_m K_m, θ in the simplex, and the regularisation, for which regularised kernel
discriminant analysis separates the classes best.

``classifier``: `KernelDiscriminantClassifier`; ``solver/``: ``problem`` (the objective), ``learn`` (the exact
problem by Newton's method), ``rkda`` (fixed kernel), ``kim`` and ``fisher``
(two-class criteria of the weight rules).
"""

from .classifier import KernelDiscriminantClassifier

__all__ = ["KernelDiscriminantClassifier"]

"""Hyperkernels (Ong, Smola & Williamson 2003, 2005): the kernel itself is learned, as a function.

Problem: a support vector machine and its kernel k together, with a penalty on the norm of k in the space of a
harmonic hyperkernel: sums of powers of given kernels, for Gaussian ones a mixture of all their widths.

``estimators``: `HyperkernelClassifier`, `HyperkernelRegressor`; ``solver/``: ``harmonic`` (powers of kernels
and their weights) and ``learn`` (cutting planes with a certificate).
"""

from .estimators import HyperkernelClassifier, HyperkernelRegressor

__all__ = ["HyperkernelClassifier", "HyperkernelRegressor"]

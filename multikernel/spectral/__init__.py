"""A kernel whose spectrum is learned from the labels (Yeung, Chang & Dai 2006), and its rivals.

Problem: K = Σ w_r v_r v_r' with the eigenvectors v_r of a base kernel over labelled and unlabelled points,
w ≥ 0 of the greatest class separability (or alignment) on the labelled ones.

``classifier``: `SpectralKernelClassifier`, with ``matrices`` (one kernel or several, whole or as factors) and
``choices`` (what its parameters stand for); ``conformal``: `ConformalKernel`; ``kdda``, ``knn``: the rivals;
``solver/``: ``kernel`` (the spectral kernel, alignment), ``separability``, ``leave_one_out`` (the choice of
parameters), ``conformal_kernel``, ``direct_discriminant``.
"""

from .classifier import SpectralKernelClassifier
from .conformal import ConformalKernel
from .kdda import KDDAClassifier
from .knn import KernelKNNClassifier

__all__ = ["ConformalKernel", "KDDAClassifier", "KernelKNNClassifier", "SpectralKernelClassifier"]

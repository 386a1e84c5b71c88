"""Clusters in the feature space of several kernels, whose weights are learned with them.

Huang, Chuang & Chen (2012), Gönen & Margolin (2014). ``kmeans``: `MultipleKernelKMeans`; ``solver``: kernel
k-means with kernel weights.
"""

from .kmeans import MultipleKernelKMeans

__all__ = ["MultipleKernelKMeans"]

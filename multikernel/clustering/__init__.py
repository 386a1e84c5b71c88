"""Clusters in the feature space of several kernels, whose weights are learned with them.

- ``kmeans``: `MultipleKernelKMeans` (Huang, Chuang & Chen 2012; Gönen & Margolin 2014).
- ``relaxed``: `SimpleMKKM` (Liu 2023) and `RegularizedMKKM` (Liu et al. 2016, 2017, samples may lack views).
- ``margin``: `MaxMarginClustering` (Zhao, Kwok & Zhang 2009).

``base`` has what they share, ``solver`` the numerics.
"""

from .kmeans import MultipleKernelKMeans
from .margin import MaxMarginClustering
from .relaxed import RegularizedMKKM, SimpleMKKM

__all__ = [
    "MaxMarginClustering",
    "MultipleKernelKMeans",
    "RegularizedMKKM",
    "SimpleMKKM",
]

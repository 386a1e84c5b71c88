"""Kernel functions, their algebra, and transforms of Gram matrices.

``base`` has the interface and the algebra. Kernels of numbers are in ``dot`` and ``distance``, of tables with
categories and gaps in ``mixed``, of sets in ``sets``, of pairs of objects in ``pairs``, of graphs in
``graphs``, of sequences in ``strings``, of nodes of a network in ``networks``; what the caller brings, a
matrix, a function or a similarity, in ``given``. ``expressions`` reads kernels from text, ``transforms``
changes Gram matrices. ``_rows`` and ``_columns`` hold the rows that kernels compare and what they share.
"""

from multikernel._validation import smallest_eigenvalue
from multikernel.kernels.base import Kernel, Power, Product, Scaled, Sum
from multikernel.kernels.distance import AdditiveLaplacian, Chi2, Gaussian, Laplacian
from multikernel.kernels.dot import Cosine, Linear, Polynomial, Sigmoid
from multikernel.kernels.given import EmpiricalMap, FunctionKernel, Precomputed, as_kernel
from multikernel.kernels.graphs import GraphKernel
from multikernel.kernels.mixed import Hamming, Mixed
from multikernel.kernels.networks import (
    Diffusion,
    Network,
    RandomWalk,
    RegularizedLaplacian,
    diffusion_kernel,
)
from multikernel.kernels.pairs import Kronecker, Pairwise, pairwise_kernel
from multikernel.kernels.sets import Jaccard, Tanimoto
from multikernel.kernels.strings import Gappy, LocalAlignment, Mismatch, Spectrum, WeightedDegree
from multikernel.kernels.transforms import (
    Center,
    Chain,
    PSDRepair,
    Transform,
    UnitDiagonal,
    UnitTrace,
    UnitVariance,
    as_transforms,
    center,
    repair_psd,
    unit_diagonal,
    unit_trace,
    unit_variance,
)

__all__ = [
    "AdditiveLaplacian",
    "Center",
    "Chain",
    "Chi2",
    "Cosine",
    "Diffusion",
    "EmpiricalMap",
    "FunctionKernel",
    "Gappy",
    "Gaussian",
    "GraphKernel",
    "Hamming",
    "Jaccard",
    "Kernel",
    "Kronecker",
    "Laplacian",
    "Linear",
    "LocalAlignment",
    "Mismatch",
    "Mixed",
    "Network",
    "PSDRepair",
    "Pairwise",
    "Polynomial",
    "Power",
    "Precomputed",
    "Product",
    "RandomWalk",
    "RegularizedLaplacian",
    "Scaled",
    "Sigmoid",
    "Spectrum",
    "Sum",
    "Tanimoto",
    "Transform",
    "UnitDiagonal",
    "UnitTrace",
    "UnitVariance",
    "WeightedDegree",
    "as_kernel",
    "as_transforms",
    "center",
    "diffusion_kernel",
    "pairwise_kernel",
    "repair_psd",
    "smallest_eigenvalue",
    "unit_diagonal",
    "unit_trace",
    "unit_variance",
]

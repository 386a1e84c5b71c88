"""Weights by the likeness of the kernels to the targets."""

from .alignment_qp import AlignmentQP
from .centered_alignment import CenteredAlignment
from .feature_space_measure import FeatureSpaceMeasure
from .gradient_alignment import GradientAlignment
from .ideal_distance import IdealDistance
from .kl_divergence import KLDivergence

__all__ = [
    "AlignmentQP",
    "CenteredAlignment",
    "FeatureSpaceMeasure",
    "GradientAlignment",
    "IdealDistance",
    "KLDivergence",
]

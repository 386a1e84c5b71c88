"""Weights by discriminant analysis: classes that lie far apart, beside the scatter of their samples."""

from .fung import FungDiscriminant
from .kim import KimDiscriminant
from .total_scatter import DiscriminantMKL

__all__ = ["DiscriminantMKL", "FungDiscriminant", "KimDiscriminant"]

"""Rules that look at no target."""

from .mean import MeanRule
from .product import ProductRule
from .sum import SumRule

__all__ = ["MeanRule", "ProductRule", "SumRule"]

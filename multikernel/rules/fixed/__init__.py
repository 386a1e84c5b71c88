"""Fixed rules: all kernels alike, or the best of them."""

from .best_single import BestSingle
from .mean import MeanRule
from .product import ProductRule
from .sum import SumRule

__all__ = ["BestSingle", "MeanRule", "ProductRule", "SumRule"]

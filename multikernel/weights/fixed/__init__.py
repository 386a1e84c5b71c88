"""Rules that look at no target."""

from .mean import Mean
from .product import Product
from .sum import Sum

__all__ = ["Mean", "Product", "Sum"]

"""Weights by kernel ridge regression."""

from .ball import RidgeBall
from .polynomial import PolynomialRidge

__all__ = ["PolynomialRidge", "RidgeBall"]

"""Kernels that are no weighted sum with one weight for each: products, functional and local combinations."""

from .functional_form import FunctionalForm
from .general import GeneralMKL

__all__ = ["FunctionalForm", "GeneralMKL"]

"""Kernels with parameters that are learned, and products of kernels that are selected.

Problem 1 (Argyriou, Micchelli & Pontil 2005; Gehler & Nowozin 2008): the weights of multiple kernel learning
over all widths of an interval. A measure on finitely many widths is the solution; column generation finds it,
and a bound on the widths that were not tried certifies it. ``infinite``: InfiniteMKLClassifier,
InfiniteMKLRegressor and InfiniteMKLOneClass; ``families``: from views to families of kernels and back;
``solver/columns``: the column generation; ``solver/widths``: the largest quadratic form, by branch and bound.

Problem 2 (Bach 2009): products of the kernels of some variables, over all sets of them, with a norm that
keeps the parts of an interaction. ``hierarchical``: HierarchicalMKLRegressor and HierarchicalMKLClassifier;
``solver/hierarchy``: active sets, descent and certificate. ``penalties``: losses of the regressors of both.
"""

from .hierarchical import HierarchicalMKLClassifier, HierarchicalMKLRegressor
from .infinite import InfiniteMKLClassifier, InfiniteMKLOneClass, InfiniteMKLRegressor

__all__ = [
    "HierarchicalMKLClassifier",
    "HierarchicalMKLRegressor",
    "InfiniteMKLClassifier",
    "InfiniteMKLOneClass",
    "InfiniteMKLRegressor",
]

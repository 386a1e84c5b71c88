"""Kernels with parameters that are learned (Argyriou, Micchelli & Pontil 2005; Gehler & Nowozin 2008).

Problem: the weights of multiple kernel learning over all widths of an interval, where a list of kernels has a
few. A measure on finitely many widths is the solution; column generation finds it, and a bound on the widths
that were not tried certifies it.

``infinite``: InfiniteMKLClassifier, InfiniteMKLRegressor and InfiniteMKLOneClass; ``families``: from views to
families of kernels and back; ``solver/columns``: the column generation; ``solver/widths``: the largest
quadratic form of one family, by branch and bound.
"""

from .infinite import InfiniteMKLClassifier, InfiniteMKLOneClass, InfiniteMKLRegressor

__all__ = ["InfiniteMKLClassifier", "InfiniteMKLOneClass", "InfiniteMKLRegressor"]

"""Directions that keep the classes apart, for a model after them: supervised reduction of dimensions.

Sugiyama (2007): local Fisher discriminant analysis, a generalized eigenproblem of scatters between and inside
the classes in which only near samples of one class count. ``lfda``: `LFDA`, linear or with a kernel;
``solver``: affinities, scatters, the eigenproblem.
"""

from .lfda import LFDA

__all__ = ["LFDA"]

"""Directions that keep the classes apart, for a model after them: supervised reduction of dimensions.

Sugiyama (2007): local Fisher discriminant analysis, a generalized eigenproblem of scatters between and inside
the classes in which only near samples of one class count. ``lfda``: `LFDA`, linear or with a kernel.
Lin, Liu & Fuh (2009): several kernels, whose weights are learned with the directions. ``mkldr``: `MKLDR`.
``solver``: affinities, scatters and the eigenproblem (``directions``), the criteria as graphs (``graphs``),
directions and weights in turn (``weights``).
"""

from .lfda import LFDA
from .mkldr import MKLDR

__all__ = ["LFDA", "MKLDR"]

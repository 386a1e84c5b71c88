"""Nonstationary kernel combination (Lewis, Jebara & Noble 2006).

Problem: a large-margin log-likelihood ratio of two mixtures of kernel Gaussians by maximum entropy
discrimination: kernel weights that depend on the sample.

``classifier``: `NonstationaryClassifier`; ``components``: kernels of the classes, posteriors to start from,
what each component adds; ``solver/``: ``mixtures`` (what is lowered), ``learn`` (turns of posteriors and
projections, from several starts), ``projection`` (the convex problem of one turn), and the methods that solve
it: ``interior_point`` on the constraints of a ``working_set``, or ``smo`` on ``components`` with the
active-set steps of ``newton`` on a ``face``.
"""

from .classifier import NonstationaryClassifier
from .components import ComponentContributions

__all__ = [
    "ComponentContributions",
    "NonstationaryClassifier",
]

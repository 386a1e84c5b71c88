"""Nonstationary kernel combination (Lewis, Jebara & Noble 2006).

Problem: a large-margin log-likelihood ratio of two mixtures of kernel Gaussians by maximum entropy
discrimination: kernel weights that depend on the sample.

``classifier``: `NonstationaryClassifier`; ``solver/``: ``learn`` (turns of posteriors and projections),
``projection`` (the convex problem of one turn) and the methods that solve it.
"""

from .classifier import NonstationaryClassifier

__all__ = [
    "NonstationaryClassifier",
]

"""Bayesian efficient multiple kernel learning (Gönen 2012): posteriors of kernel weights.

Problem: the evidence lower bound of a hierarchical probit or Gaussian model with factorised posterior.
Multinomial probit on a convex combination (Damoulas & Girolami 2008): the same, weights on the simplex.

``estimators``: `BayesianMKL*`; ``probit``: `ProbitMKLClassifier`; ``solver/``: ``posterior`` (the model of
the first, its updates and the evidence bound), ``probit`` (that of the second), ``truncated`` (normals within
the region of a label), ``learn`` (the ascent), ``predictive``, and ``simplex_posterior`` (weights on the
simplex under a Gaussian process, for the weight rules).
"""

from .estimators import BayesianMKLClassifier, BayesianMKLRegressor
from .probit import ProbitMKLClassifier

__all__ = ["BayesianMKLClassifier", "BayesianMKLRegressor", "ProbitMKLClassifier"]

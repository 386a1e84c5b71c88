"""Bayesian efficient multiple kernel learning (Gönen 2012): posteriors of kernel weights.

Problem: the evidence lower bound of a hierarchical probit or Gaussian model with factorised posterior.

``estimators``: `BayesianMKL*`; ``solver/``: variational updates, predictions, and the posterior of weights on
the simplex under a Gaussian process.
"""

from .estimators import BayesianMKLClassifier, BayesianMKLRegressor

__all__ = [
    "BayesianMKLClassifier",
    "BayesianMKLRegressor",
]

"""Bayesian efficient multiple kernel learning (Gönen 2012): posteriors of kernel weights.

Problem: the evidence lower bound of a hierarchical probit or Gaussian model with factorised posterior.

``estimators``: `BayesianMKL*`; ``solver/``: ``posterior`` (the model, its updates and the evidence bound),
``truncated`` (normals within the region of a label), ``learn`` (the ascent), ``predictive``, and
``simplex_posterior`` (weights on the simplex under a Gaussian process, for the weight rules).
"""

from .estimators import BayesianMKLClassifier, BayesianMKLRegressor

__all__ = ["BayesianMKLClassifier", "BayesianMKLRegressor"]

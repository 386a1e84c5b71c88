"""Gaussian processes whose covariance is a learned sum of kernels (Girolami & Zhong 2007, in spirit).

Problem: y = b + Σ_m f_m(x) + noise with independent f_m ~ GP(0, η_m K_m); the weights η ≥ 0 (and the noise)
of largest evidence, weights that are not needed being exactly 0, and the posterior of each f_m.

``base``: what the estimators share; ``regressor``: `AdditiveGPRegressor`; ``classifier``:
`AdditiveGPClassifier`; ``solver/``: ``components`` (the terms of the covariance), ``ascent`` (projected
Newton steps on any evidence), ``gaussian`` (the evidence of a regression), ``laplace`` (that of labels, by
Laplace's method) and ``predictive`` (posteriors at new samples).
"""

from .classifier import AdditiveGPClassifier
from .regressor import AdditiveGPRegressor

__all__ = ["AdditiveGPClassifier", "AdditiveGPRegressor"]

"""Multiple kernel learning with global weights: one certified convex problem for each classifier.

Lanckriet et al. (2004), Bach, Lanckriet & Jordan (2004), Kloft et al. (2011); Gönen (2010) for costs and
regularized weights. Problem: min_μ J(μ) over μ ≥ 0, Σ (d_m² μ_m)^p ≤ 1, J the optimal value of an SVM on
Σ μ_m K_m, d the costs of the kernels.

``classifier``, ``regressors``, ``one_class``: the estimators; ``working_sets``: the same on the rows that
matter, for many rows (for still more, on factors: `multikernel.core.low_rank`); ``vanished``: kernels that
lose their weight on factors; ``cost_path``: accuracy against cost; ``weight_path``: weights along a
parameter; ``regularized/``: weights regularised by cross-validation (RMKL, EMKL, RWKL); ``tuned`` and
``tuned_regressors``: penalty and norm chosen on folds, by `multikernel.core.search`; ``targets/``: weights
for each of many targets or labels. The solver is `multikernel.core.weights`.
"""

from ..core.low_rank import LowRankWarning
from ..core.weights.subset import KernelLimit
from ..views import MissingViewsWarning
from .classifier import MKLClassifier
from .cost_path import CostPath, cost_path
from .one_class import MKLOneClass
from .regressors import MKLRegressor, MKLRidge
from .regularized import RegularizedMKLClassifier, RegularizedMKLRegressor, ResponseSurface
from .targets.classifier import MKLRidgeClassifierCV
from .tuned import MKLClassifierCV
from .tuned_regressors import MKLRegressorCV, MKLRidgeCV
from .weight_path import WeightPath, weight_path

__all__ = [
    "CostPath",
    "KernelLimit",
    "LowRankWarning",
    "MKLClassifier",
    "MKLClassifierCV",
    "MKLOneClass",
    "MKLRegressor",
    "MKLRegressorCV",
    "MKLRidge",
    "MKLRidgeCV",
    "MKLRidgeClassifierCV",
    "MissingViewsWarning",
    "RegularizedMKLClassifier",
    "RegularizedMKLRegressor",
    "ResponseSurface",
    "WeightPath",
    "cost_path",
    "weight_path",
]

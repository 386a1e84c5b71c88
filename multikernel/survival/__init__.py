"""Survival models: kernel weights learned from censored times.

Cox (1972), Breslow (1974) and Efron (1977) for the partial likelihood; Van Belle et al. (2011) and Pölsterl
et al. (2015) for ranking; Shivaswamy, Chu & Jansche (2007) for the regression of censored times. Problem:
min_μ J(μ) over μ ≥ 0, Σ (d_m² μ_m)^p ≤ 1, J(μ) = min_f ½‖f‖² + C L(f) in the space of Σ μ_m K_m, L one of the
three losses.

``estimators``: `MKLSurvival`; ``tuned``: `MKLSurvivalCV`, penalty and norm chosen on folds; ``solver/``:
``cox`` (partial likelihood, its Hessian in linear time), ``ranking`` (pairs in O(n log n)), ``regression``
(one-sided errors of censored times), ``factors`` (all three on factors of low rank), ``baseline`` (Breslow's
hazard). On Gram matrices `multikernel.core.weights` learns.
"""

from .estimators import MKLSurvival
from .tuned import MKLSurvivalCV

__all__ = ["MKLSurvival", "MKLSurvivalCV"]

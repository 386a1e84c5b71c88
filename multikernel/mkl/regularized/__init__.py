"""Kernel weights regularised by cross-validation (Gönen 2010, section 2.7: RMKL, EMKL, RWKL).

``classifier``, ``regressor``: the estimators, which have an `MKLClassifier` or `MKLRegressor`; ``base``: the
steps that they share; ``search``: what is searched (costs, the exponent of eigenvalue costs, the weights, C),
and one model cross-validated at many points; ``response_surface``: the minimum of a noisy, expensive function
by quadratic surfaces, or by planes.
"""

from .classifier import RegularizedMKLClassifier
from .regressor import RegularizedMKLRegressor
from .response_surface import ResponseSurface

__all__ = [
    "RegularizedMKLClassifier",
    "RegularizedMKLRegressor",
    "ResponseSurface",
]

"""Kernel weights regularised by cross-validation (Gönen 2010, chapter 4: RMKL, EMKL, RWKL).

``classifier``: the estimator, which has an `MKLClassifier`; ``search``: what is searched (costs, the exponent
of eigenvalue costs, the weights), and one classifier cross-validated at many costs; ``response_surface``:
the minimum of a noisy, expensive function by quadratic surfaces.
"""

from .classifier import RegularizedMKLClassifier
from .response_surface import ResponseSurface

__all__ = [
    "RegularizedMKLClassifier",
    "ResponseSurface",
]

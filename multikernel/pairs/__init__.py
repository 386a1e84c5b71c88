"""Kernel ridge regression on pairs of objects, with several kernels on each side.

Ben-Hur & Noble (2005), Airola & Pahikkala (2018), Stock et al. (2018). Problem: min Σ w (y − f)² + α‖f‖²
in the space of Σ μ_m K_m ⊗ Σ ν_m K'_m, μ and ν in simplices.

``ridge``: `PairwiseRidge`; ``sampling``: pairs drawn from a matrix of interactions and their splits;
``solver/``: ``ridge`` (one solution, without the Gram matrix of the pairs), ``weights`` (of both sides).
"""

from .ridge import PairwiseRidge
from .sampling import PairSplit, sample_pairs

__all__ = ["PairSplit", "PairwiseRidge", "sample_pairs"]

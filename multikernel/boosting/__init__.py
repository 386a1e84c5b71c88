"""Models on a few columns of many kernels (column generation: Bi, Zhang & Bennett 2004; MARK).

Problem: f(x) = b + Σ α_mj K_m(x, x_j) with an l1 or l2 penalty on α, or greedy with the squared loss.

``estimators``: `ColumnBoosting*`; ``solver/``: ``columns`` (all columns as features, and MARK),
``generation`` (all columns at once, or a maximum number), ``path`` (the interior point method).
"""

from .estimators import ColumnBoostingClassifier, ColumnBoostingRegressor

__all__ = [
    "ColumnBoostingClassifier",
    "ColumnBoostingRegressor",
]

"""Models on a few columns of many kernels (column generation: Bi, Zhang & Bennett 2004; MARK).

Problem: f(x) = b + Σ α_mj K_m(x, x_j) with an l1 or l2 penalty on α, or greedy with the squared loss.

``estimators``: `ColumnBoosting*`; ``solver/``: columns, boosting, column generation, interior points.
"""

from .estimators import ColumnBoostingClassifier, ColumnBoostingRegressor

__all__ = [
    "ColumnBoostingClassifier",
    "ColumnBoostingRegressor",
]

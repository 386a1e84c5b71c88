"""Factors Z_m with Z_m Z_mᵀ ≈ K_m in place of Gram matrices: for rows too many for a Gram stack."""

from multikernel.views.low_rank.bank import LowRankBank
from multikernel.views.low_rank.view import (
    DEFAULT_RANK,
    GRAM_ROUTES,
    LARGEST_DENSE,
    LARGEST_RANK,
    DegenerateViewError,
    asks_for_factors,
    choose_gram,
    largest_rank,
    most_dense_folds,
    reference_rows,
    reference_size,
)

__all__ = [
    "DEFAULT_RANK",
    "GRAM_ROUTES",
    "LARGEST_DENSE",
    "LARGEST_RANK",
    "DegenerateViewError",
    "LowRankBank",
    "asks_for_factors",
    "choose_gram",
    "largest_rank",
    "most_dense_folds",
    "reference_rows",
    "reference_size",
]

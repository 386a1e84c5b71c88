"""Every input check and its wording, once.

Errors are ``ValueError`` or ``TypeError``; each names what was required, what was given and the remedy.
Nothing here modifies its input.
"""

from .grams import (
    PSD_CHOICES,
    GramFacts,
    can_check_fully,
    check_gram,
    check_real_matrix,
    check_square,
    is_indefinite,
    raise_degenerate,
    raise_indefinite,
    raise_non_finite_gram,
    smallest_eigenvalue,
)
from .labels import check_values, codes_of_classes, is_missing, join_labels, signs_of_two_classes
from .pairs import check_split, pair_table, split_pairs
from .tables import (
    WHOLE_VIEWS,
    NotFiniteError,
    RowError,
    all_finite,
    as_generator,
    check_choice,
    check_count,
    check_float_dtype,
    check_number,
    check_numeric_table,
    check_positive_integer,
    check_rank,
    check_seed,
    is_frame,
    naming,
    naming_rows,
    warn_caller,
)

__all__ = [
    "PSD_CHOICES",
    "WHOLE_VIEWS",
    "GramFacts",
    "NotFiniteError",
    "RowError",
    "all_finite",
    "as_generator",
    "can_check_fully",
    "check_choice",
    "check_count",
    "check_float_dtype",
    "check_gram",
    "check_number",
    "check_numeric_table",
    "check_positive_integer",
    "check_rank",
    "check_real_matrix",
    "check_seed",
    "check_split",
    "check_square",
    "check_values",
    "codes_of_classes",
    "is_frame",
    "is_indefinite",
    "is_missing",
    "join_labels",
    "naming",
    "naming_rows",
    "pair_table",
    "raise_degenerate",
    "raise_indefinite",
    "raise_non_finite_gram",
    "signs_of_two_classes",
    "smallest_eigenvalue",
    "split_pairs",
    "warn_caller",
]

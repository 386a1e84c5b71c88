"""The reference rows: the sample of all rows on which factors are fitted."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from multikernel._validation import check_positive_integer, check_rank, check_seed

DEFAULT_RANK = 200  # columns of a factor whose view and bank name no rank
LARGEST_RANK = 1000  # columns of a factor whose rank is a trace error
_SMALLEST_SAMPLE = 5000
_ROWS_PER_COLUMN = 4


def reference_size(n: int, ranks: Iterable[int | float | None] = ()) -> int:
    """How many of n rows serve as reference rows: min(n, max(5000, 4 · largest rank)).

    Parameters
    ----------
    n : int
    ranks : iterable of int, float or None
        As the views and the bank name them; a float (a trace error) asks for no more rows.

    Examples
    --------
    >>> reference_size(1_000_000, [100, 300, None]), reference_size(1_000_000, [2000]), reference_size(800)
    (5000, 8000, 800)
    """
    named = [check_rank("a rank", rank) for rank in ranks]
    largest = max((rank for rank in named if isinstance(rank, int)), default=DEFAULT_RANK)
    return min(check_positive_integer("n", n), max(_SMALLEST_SAMPLE, _ROWS_PER_COLUMN * largest))


def largest_rank(n: int) -> int:
    """How many columns a factor of n rows has at most where its rank is a trace error.

    A quarter of the rows: with more, the solver on factors takes longer than on Gram matrices. At least 200,
    which cost little, and never more than 1000.

    Examples
    --------
    >>> largest_rank(100), largest_rank(2000), largest_rank(1_000_000)
    (200, 500, 1000)
    """
    return min(LARGEST_RANK, max(DEFAULT_RANK, n // _ROWS_PER_COLUMN))


def reference_rows(n: int, size: int, seed: int | None = 0) -> np.ndarray:
    """Numbers of `size` of n rows, drawn without replacement, ascending; all rows where `size` is n or more.

    Examples
    --------
    >>> reference_rows(5, 9)
    array([0, 1, 2, 3, 4])
    >>> len(set(reference_rows(1000, 10, seed=1).tolist()))
    10
    """
    n, size = check_positive_integer("n", n), check_positive_integer("size", size)
    rng = np.random.default_rng(check_seed("seed", seed))
    return np.arange(n) if size >= n else np.sort(rng.choice(n, size, replace=False))

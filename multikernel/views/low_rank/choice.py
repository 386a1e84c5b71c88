"""Whether a fit is on a stack of Gram matrices or on factors; their ranks and reference rows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from multikernel._validation import check_choice, check_positive_integer, check_rank, check_seed
from multikernel.views.low_rank.view import check_low_rank
from multikernel.views.memory import estimate_memory
from multikernel.views.view import View, as_views

GRAM_ROUTES = ("auto", "dense", "low_rank", "memmap")
LARGEST_DENSE = 10_000  # rows; beyond, a stack of Gram matrices takes minutes and gigabytes
DEFAULT_RANK = 200  # columns of a factor whose view and bank name no rank
LARGEST_RANK = 1000  # columns of a factor whose rank is a trace error
_SMALLEST_SAMPLE = 5000
_ROWS_PER_COLUMN = 4


def choose_gram(
    gram: str,
    n: int,
    kernels: Any = "auto",
    dtype: Any = "float64",
    *,
    rank: int | float | None = None,
    limit: int | None = None,
) -> str:
    """What ``gram="auto"`` means for n rows: ``"dense"`` or ``"low_rank"``; any other choice as it is.

    A `rank`, or a view that names one or an `approximation`, asks for factors. Else Gram matrices are made
    of up to 10 000 rows, where their stack fits in memory, and factors of more rows, where every view has
    them; a ready-made stack, an indefinite kernel or a transform that factors cannot follow stays dense.

    Parameters
    ----------
    gram : {"auto", "dense", "low_rank", "memmap"}
    n : int
    kernels : as for `as_views`, or "precomputed"
    dtype : {"float64", "float32"}
    rank : int, float or None
        Of the views that name none.
    limit : int, optional
        Bytes that may be used, instead of what the system says is available.

    Examples
    --------
    >>> choose_gram("auto", 5000), choose_gram("auto", 50_000), choose_gram("memmap", 50_000)
    ('dense', 'low_rank', 'memmap')
    """
    check_choice("gram", gram, GRAM_ROUTES)
    n = check_positive_integer("n", n)
    if isinstance(kernels, str) and kernels == "precomputed":
        if gram == "low_rank":
            raise ValueError(
                "gram='low_rank' computes factors from rows, but kernels='precomputed' has none. Use "
                "gram='dense', or give the rows and their kernels."
            )
        return "dense" if gram == "auto" else gram
    views = as_views(kernels)
    if gram != "auto":
        return gram
    if asks_for_factors(views, rank):
        return "low_rank"
    if n <= LARGEST_DENSE and estimate_memory(n, len(views), dtype, limit=limit).fits:
        return "dense"
    return "low_rank" if all(_has_factors(view) for view in views) else "dense"


def asks_for_factors(views: list[View], rank: int | float | None) -> bool:
    """Whether a rank is given, or a view names one or an approximation."""
    return rank is not None or any(view.approximation is not None or view.rank is not None for view in views)


def _has_factors(view: View) -> bool:
    try:
        check_low_rank(view)
    except ValueError:
        return False
    return True


# --- ranks, and the sample of all rows on which factors are fitted -----------------------------


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

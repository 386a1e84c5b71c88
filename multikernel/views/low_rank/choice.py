"""Whether a fit is on a stack of Gram matrices or on factors."""

from __future__ import annotations

from typing import Any

from multikernel._validation import check_choice, check_positive_integer
from multikernel.views.low_rank.view import check_low_rank
from multikernel.views.memory import estimate_memory
from multikernel.views.view import View, as_views

GRAM_ROUTES = ("auto", "dense", "low_rank", "memmap")
LARGEST_DENSE = 10_000  # rows; beyond, a stack of Gram matrices takes minutes and gigabytes


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

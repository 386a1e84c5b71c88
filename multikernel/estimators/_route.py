"""Which way a fit goes: on a stack of Gram matrices in memory or on disk, or on factors of low rank."""

from typing import Any

from .._validation import PSD_CHOICES, check_choice, check_float_dtype
from ..rows import count_rows, is_dask
from ..views import as_views
from ..views.low_rank import GRAM_ROUTES, asks_for_factors, choose_gram
from ..views.memory import estimate_memory


class LowRankWarning(UserWarning):
    """Kernels are approximated although nobody asked for it, or less exactly than was asked for."""


def choose_route(estimator: Any, X: Any) -> str:
    """``"dense"``, ``"memmap"`` or ``"low_rank"``, by the parameter ``gram``, the views and the rows.

    Parameters
    ----------
    estimator : with the parameters of :class:`MKLClassifier`, and `_why_not_low_rank`
    X : as it was given to ``fit``

    Raises
    ------
    ValueError
        If what is asked for cannot be had together, with the remedy.
    """
    check_choice("gram", estimator.gram, GRAM_ROUTES)
    check_choice("psd", estimator.psd, PSD_CHOICES)
    check_float_dtype(estimator.dtype)
    if is_dask(X):
        return _of_dask(estimator, X)
    n = max(_n_rows(X), 1)
    chosen = choose_gram(estimator.gram, n, estimator.kernels, estimator.dtype, rank=estimator.rank)
    if chosen == "low_rank":
        why_not = why_not_low_rank(estimator)
        if why_not and (estimator.gram == "low_rank" or has_asked_for_factors(estimator)):
            raise ValueError(why_not)
        chosen = "dense" if why_not else "low_rank"
    if estimator.gram == "auto" and chosen == "dense" and not estimator._precomputed:
        n_kernels = len(as_views(estimator.kernels))
        return "dense" if estimate_memory(n, n_kernels, estimator.dtype).fits else "memmap"
    return chosen


def why_not_low_rank(estimator: Any) -> str:
    """Why the problem, as the parameters state it, has no low-rank route; empty if it has one."""
    if estimator.psd != "error":
        return (
            f"psd={estimator.psd!r} repairs Gram matrices, and factors of low rank have none: what they "
            "stand for is positive semidefinite. Leave psd out, or use gram='dense' or 'memmap'."
        )
    if getattr(estimator, "missing", "error") != "error":
        return (
            f"missing={estimator.missing!r} completes Gram matrices, and has no low-rank route. Use "
            "missing='error' (and impute or drop what is missing), or gram='dense' or 'memmap'."
        )
    return str(estimator._why_not_low_rank())


def _of_dask(estimator: Any, X: Any) -> str:
    if estimator.gram in ("dense", "memmap"):
        raise TypeError(
            f"gram={estimator.gram!r} needs all rows of X in this process; got a dask {type(X).__name__}. "
            "Use gram='low_rank' or 'auto', or load it with X.compute()."
        )
    choose_gram("low_rank", 1, estimator.kernels)  # refuses ready-made kernels
    why_not = why_not_low_rank(estimator)
    if why_not:
        raise ValueError(f"{why_not} For that, load the dask collections with compute().")
    return "low_rank"


def has_asked_for_factors(estimator: Any) -> bool:
    """Whether the estimator has a rank, or a view names one or an approximation."""
    return asks_for_factors(as_views(estimator.kernels), estimator.rank)


def _n_rows(X: Any) -> int:
    """How many rows X has; 0 where it has none, which the checks of X refuse."""
    try:
        return count_rows(X)
    except TypeError:
        return 0

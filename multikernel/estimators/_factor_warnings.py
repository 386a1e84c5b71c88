"""What a fit on factors warns of: kernels that are approximated unasked, or badly, or at too high a price.

What to do comes first and numbers are rounded, so that the folds of a search mostly warn in the same words,
which Python repeats only once.
"""

from typing import Any

import numpy as np
import pandas as pd

from .._validation import warn_caller
from ..rows import LocalRows
from ..views.memory import estimate_memory, readable_size
from ._factors import Factors
from ._route import LowRankWarning, has_asked_for_factors

_INEXACT = 0.5  # trace errors beyond it: what is learned is hardly about these kernels any more
_LITTLE = 2**26  # bytes that are no matter, however few Gram matrices would take


def warn_of_factors(estimator: Any, factors: Factors) -> None:
    """Say what nobody asked for, once a fit has its factors.

    Parameters
    ----------
    estimator : with `gram`, `kernels`, `dtype`, and the fitted `approximation_`
    factors : Factors
    """
    _warn_of_missed(factors)
    _warn_of_price(estimator, factors)
    is_local = isinstance(factors.rows, LocalRows)  # rows elsewhere have no other choice
    if estimator.gram == "auto" and is_local and not has_asked_for_factors(estimator):
        _warn_of_choice(estimator, factors)
    else:
        _warn_of_inexact(factors)


def largest_error(errors: "pd.Series[float]", digits: str = ".1e") -> str:
    """The largest relative trace error of views, in words."""
    if errors.isna().all():
        return "random features have no trace error"
    return f"the largest relative trace error is {errors.max():{digits}} (view {errors.idxmax()!r})"


def _warn_of_missed(factors: Factors) -> None:
    for m in factors.missed:
        columns = factors.bank.ranks_[m]
        remedy = (
            f", with {columns} columns, the most that a rank by error takes. Use a wider kernel, a rank by "
            "number, or gram='dense'."
            if columns >= factors.largest_rank
            else ". Ask for a smaller error, or give a rank by number."
        )
        warn_caller(
            f"view {factors.bank.view_names_[m]!r} has a relative trace error of {factors.errors[m]:.1e} "
            f"over all {_grouped(factors.rows.n_rows)} rows, more than rank={factors.tolerances[m]:g} asks "
            f"for{remedy}",
            LowRankWarning,
        )


def _warn_of_price(estimator: Any, factors: Factors) -> None:
    if not isinstance(factors.rows, LocalRows):
        return
    needed = factors.memory.stack + factors.memory.workspace
    dense = estimate_memory(factors.rows.n_rows, factors.bank.n_kernels_, estimator.dtype).total
    if needed > max(dense, _LITTLE):
        warn_caller(
            "these factors are no cheaper than the Gram matrices that they stand for: use gram='dense', "
            f"which is exact, or a smaller rank. {factors.memory.n_columns} columns take "
            f"{readable_size(needed)} of memory, Gram matrices {readable_size(dense)}.",
            LowRankWarning,
        )


def _warn_of_inexact(factors: Factors) -> None:
    inexact = np.setdiff1d(np.flatnonzero(factors.errors > _INEXACT), factors.missed)
    if inexact.size:
        names = ", ".join(repr(factors.bank.view_names_[m]) for m in inexact)
        warn_caller(
            "factors of low rank hold less than half of some kernels, by their trace. Raise rank, or use "
            f"wider kernels, for view{'s' * (inexact.size > 1)} {names} (relative trace error up to "
            f"{factors.errors[inexact].max():.2g}, see approximation_).",
            LowRankWarning,
        )


def _warn_of_choice(estimator: Any, factors: Factors) -> None:
    n = factors.rows.n_rows
    stack = estimate_memory(n, factors.bank.n_kernels_, estimator.dtype).stack
    warn_caller(
        "gram='auto' puts factors of low rank in the place of large Gram matrices. Raise rank for more exact "
        "ones, see approximation_; gram='low_rank' says that they are wanted, gram='dense' or 'memmap' that "
        f"they are not. About {_grouped(_rounded(n))} rows, {readable_size(factors.memory.stack)} instead of "
        f"{readable_size(stack)}; {largest_error(estimator.approximation_['trace_error'], '.1g')}.",
        LowRankWarning,
    )


def _rounded(count: int) -> int:
    """To two digits."""
    return round(count, 2 - len(str(count)))


def _grouped(count: int) -> str:
    return f"{count:,}".replace(",", " ")

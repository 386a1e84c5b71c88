"""Numba settings shared by every compiled loop.

NaN is excluded at the door (validation), so the loops may reorder sums and assume ordered comparisons; that
is what lets the compiler use vector instructions. Infinity is never used inside: ``HUGE`` stands for it.
Numba's own ``max`` on floats keeps NaN semantics, which defeats vectorisation; :func:`larger` and
:func:`smaller` compile to one instruction.
"""

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numba.core import types
from numba.extending import intrinsic

HUGE = 1e300
_FAST = {"nnan", "nsz", "arcp", "contract", "afn", "reassoc"}


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile ``function`` with the library's settings and keep the result for the next process."""
    return numba.njit(cache=True, fastmath=_FAST, error_model="numpy", nogil=True)(function)


def inlined(function: Callable[..., Any]) -> Callable[..., Any]:
    """Like :func:`compiled`, for short loops that must be optimised together with their caller."""
    return numba.njit(cache=True, fastmath=_FAST, error_model="numpy", nogil=True, inline="always")(function)


def read_only(array: np.ndarray) -> np.ndarray:
    """A view that cannot be written to, without a copy.

    Arrays that can and that cannot be written to are two types for the compiler. Where a loop only reads an
    array that callers give, it gets this view: what it needs is then compiled once, not twice.
    """
    view = np.asarray(array).view()
    view.flags.writeable = False
    return view


def _select(comparison: str) -> Callable[..., Any]:
    def typed(context: Any, a: Any, b: Any) -> Any:
        if not (isinstance(a, types.Float) and a == b):
            return None

        def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            x, y = arguments
            return builder.select(
                builder.fcmp_ordered(comparison, x, y, flags=("fast",)), x, y, flags=("fast",)
            )

        return a(a, b), generate

    return typed


larger = intrinsic(_select(">"))
smaller = intrinsic(_select("<"))

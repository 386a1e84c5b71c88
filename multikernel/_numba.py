"""Numba settings shared by every compiled loop.

NaN is excluded at the door (validation), so the loops may reorder sums and assume ordered comparisons; that
is what lets the compiler use vector instructions. Infinity is never used inside: ``HUGE`` stands for it.
Numba's own ``max`` on floats keeps NaN semantics, which defeats vectorisation; :func:`larger` and
:func:`smaller` compile to one instruction.
"""

import logging
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numba
import numpy as np
from numba.core import types
from numba.extending import intrinsic

HUGE = 1e300
_FAST = {"nnan", "nsz", "arcp", "contract", "afn", "reassoc"}
_said: set[str] = set()

logger = logging.getLogger("multikernel")

_SILENT_SECONDS = 2.0
_done: set[str] = set()
_busy = threading.local()
_spent = 0.0  # seconds of compiling that ended
_began: float | None = None


def kept_njit(**settings: Any) -> Callable[[Callable[..., Any]], Any]:
    """``numba.njit`` whose result is kept for the next process, where there is a folder to keep it in."""

    def compile_lazily(function: Callable[..., Any]) -> Any:
        try:
            return numba.njit(cache=True, **settings)(function)
        except RuntimeError as error:  # the package and the user's cache are both read-only
            if "cannot cache" not in str(error):
                raise
        _say_once(
            "compiled loops cannot be kept: neither the folder of multikernel nor the user's cache can be "
            "written to. They are compiled again in every process, up to half a minute. Set NUMBA_CACHE_DIR "
            "to a folder of yours."
        )
        return numba.njit(**settings)(function)

    return compile_lazily


def _say_once(text: str) -> None:
    if text not in _said:
        _said.add(text)
        warnings.warn(text, RuntimeWarning, stacklevel=4)


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile ``function`` with the library's settings and keep the result for the next process."""
    return kept_njit(fastmath=_FAST, error_model="numpy", nogil=True)(function)


def inlined(function: Callable[..., Any]) -> Callable[..., Any]:
    """Like :func:`compiled`, for short loops that must be optimised together with their caller."""
    return kept_njit(fastmath=_FAST, error_model="numpy", nogil=True, inline="always")(function)


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


# ---------------------------------------------------------------------- the first use of compiled loops
def compile_first(name: str, solve_tiny: Callable[[], object]) -> None:
    """Solve a tiny problem the first time that ``name`` is asked for, so that all it needs is compiled.

    Where no cache exists this takes half a minute, and a message says so. Later processes load the result
    from the cache in well under a second, silently.
    """
    if name in _done or is_compiling():
        return
    announcement = threading.Timer(
        _SILENT_SECONDS,
        logger.warning,
        args=("multikernel: compiling the solvers for this machine, once (about half a minute) ...",),
    )
    announcement.daemon = True
    announcement.start()
    _busy.now = True
    try:
        with _measured():
            solve_tiny()
    finally:
        announcement.cancel()
        _busy.now = False
    _done.add(name)


@contextmanager
def _measured() -> Iterator[None]:
    """Count the time of the block as that of compiling; of two threads, the first one's."""
    global _spent, _began
    if _began is not None:
        yield
        return
    _began = time.perf_counter()
    try:
        yield
    finally:
        _spent, _began = seconds_compiling(), None


def is_compiling() -> bool:
    """Whether this thread solves a tiny problem, so that loops are compiled: it is solved to its end."""
    return getattr(_busy, "now", False)


def seconds_compiling() -> float:
    """Seconds that this process has spent on compiling so far."""
    began = _began
    return _spent if began is None else _spent + time.perf_counter() - began

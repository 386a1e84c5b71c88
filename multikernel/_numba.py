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
from contextlib import ExitStack, contextmanager
from functools import wraps
from pathlib import Path
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, event, types
from numba.core.compiler_lock import global_compiler_lock
from numba.extending import get_cython_function_address, intrinsic

from ._files import locked_file

HUGE = 1e300
_FAST = {"nnan", "nsz", "arcp", "contract", "afn", "reassoc"}
_said: set[str] = set()

logger = logging.getLogger("multikernel")

_SILENT_SECONDS = 2.0
_PATIENCE = 120.0  # seconds, for another process that compiles; then it is done here, too
_spent = 0.0  # seconds of compiling that ended
_began: float | None = None


def kept_njit(**settings: Any) -> Callable[[Callable[..., Any]], Any]:
    """``numba.njit`` whose result is kept for the next process, where there is a folder to keep it in."""

    def compile_lazily(function: Callable[..., Any]) -> Any:
        try:
            return _one_at_a_time(numba.njit(cache=True, **settings)(function))
        except RuntimeError as error:  # the package and the user's cache are both read-only
            if "cannot cache" not in str(error):
                raise
        _say_once(
            "compiled loops cannot be kept: neither the folder of multikernel nor the user's cache can be "
            "written to. They are compiled again in every process, some seconds for each method. Set "
            "NUMBA_CACHE_DIR to a folder of yours."
        )
        return _one_at_a_time(numba.njit(**settings)(function))

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


larger: Any = intrinsic(_select(">"))
smaller: Any = intrinsic(_select("<"))

DGESV = get_cython_function_address("scipy.linalg.cython_lapack", "dgesv")  # of this process


def _typed_solve(context: Any, address: Any, size: Any, matrix: Any, sides: Any, pivots: Any) -> Any:
    """Solve the leading ``size`` equations by LAPACK, by columns; what LAPACK says of it, 0 if solved.

    ``address`` is :data:`DGESV`, an argument so that nothing of this process is kept with the loop;
    ``matrix`` (n, n) is lost, ``sides`` (k, n) becomes the solutions, ``pivots`` (n,) is room for C integers.
    For ``np.linalg.solve``, numba compiles checks and copies for seconds.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        integer = ir.IntType(32)
        at, size, *arrays = arguments
        kinds = signature.args[2:]
        made = [context.make_array(kind)(context, builder, x) for kind, x in zip(kinds, arrays, strict=True)]
        A, B, room = (array.data for array in made)
        n_sides, n = cgutils.unpack_tuple(builder, made[1].shape)
        size_at, sides_at, n_at = (
            cgutils.alloca_once_value(builder, builder.trunc(x, integer)) for x in (size, n_sides, n)
        )
        info = cgutils.alloca_once_value(builder, ir.Constant(integer, 0))
        given = [size_at, sides_at, A, n_at, room, B, n_at, info]
        kind = ir.FunctionType(ir.VoidType(), [x.type for x in given])
        builder.call(builder.inttoptr(at, kind.as_pointer()), given)
        return builder.load(info)

    return types.intc(types.intp, types.intp, matrix, sides, pivots), generate


solve_in_place: Any = intrinsic(_typed_solve)

_SIDE = 8  # of the squares that are transposed in registers


def _typed_transpose(context: Any, out: Any, row: Any, column: Any, values: Any, i: Any, j: Any) -> Any:
    """Write the 8 x 8 square of ``values`` (float64) at (i, j) to ``out`` at (row, column), transposed.

    The rows of both arrays are contiguous; neither square may reach beyond its array. A loop over single
    numbers takes two or three times as long: compilers do not find the shuffles of a transposition.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        word = ir.IntType(64)

        def rows_from(number: int, at: int) -> list[Any]:
            """Pointers to eight numbers in each of eight rows."""
            kind = signature.args[number]
            array = context.make_array(kind)(context, builder, arguments[number])
            pitch = cgutils.unpack_tuple(builder, array.strides)[0]
            eight = ir.VectorType(context.get_value_type(kind.dtype), _SIDE).as_pointer()
            first = builder.ptrtoint(builder.gep(array.data, [arguments[at + 1]]), word)
            lines = [builder.add(arguments[at], ir.Constant(word, k)) for k in range(_SIDE)]
            return [builder.inttoptr(builder.add(first, builder.mul(k, pitch)), eight) for k in lines]

        def shuffled(a: Any, b: Any, *chosen: int) -> Any:
            mask = ir.Constant(ir.VectorType(ir.IntType(32), _SIDE), chosen)
            return builder.shuffle_vector(a, b, mask)

        x = [builder.load(at, align=8) for at in rows_from(3, 4)]
        for step, low, high in (  # squares of 1, 2 and 4 numbers change places
            (1, (0, 8, 2, 10, 4, 12, 6, 14), (1, 9, 3, 11, 5, 13, 7, 15)),
            (2, (0, 1, 8, 9, 4, 5, 12, 13), (2, 3, 10, 11, 6, 7, 14, 15)),
            (4, (0, 1, 2, 3, 8, 9, 10, 11), (4, 5, 6, 7, 12, 13, 14, 15)),
        ):
            for k in range(_SIDE):
                if not k & step:
                    pair = x[k], x[k + step]
                    x[k], x[k + step] = shuffled(*pair, *low), shuffled(*pair, *high)
        for line, at in zip(x, rows_from(0, 1), strict=True):
            kind = at.type.pointee
            same = line.type == kind
            builder.store(line if same else builder.fptrunc(line, kind), at, align=out.dtype.bitwidth // 8)
        return context.get_dummy_value()

    return types.void(out, types.intp, types.intp, values, types.intp, types.intp), generate


transpose_square: Any = intrinsic(_typed_transpose)


# ---------------------------------------------------------------------- the first use of compiled loops
def _one_at_a_time(dispatcher: Any) -> Any:
    """While one process compiles a loop, others that need it wait, and find it in the cache."""
    compile_or_load = dispatcher.compile
    cache = getattr(dispatcher._cache, "cache_path", None)

    @wraps(compile_or_load)
    def compile_once(signature: Any) -> Any:
        with ExitStack() as held:
            held.enter_context(global_compiler_lock)  # numba's, for threads; always taken before the file's
            if _began is None:  # the loops that this one calls are compiled within its turn
                held.enter_context(_measured())
                if cache is not None:
                    held.enter_context(locked_file(Path(cache) / "compiling.lock", _PATIENCE))
            return compile_or_load(signature)

    dispatcher.compile = compile_once
    return dispatcher


@contextmanager
def _measured() -> Iterator[None]:
    """Count the time of the block as that of compiling."""
    global _spent, _began
    _began = time.perf_counter()
    try:
        yield
    finally:
        _spent, _began = seconds_compiling(), None


def seconds_compiling() -> float:
    """Seconds that this process has spent so far on compiling loops and on loading compiled ones."""
    began = _began
    return _spent if began is None else _spent + time.perf_counter() - began


class _Notice(event.Listener):
    """Says once in a fit that loops are compiled, when that has taken some seconds on any route."""

    def __init__(self) -> None:
        self.depth, self.seconds, self.began = 0, 0.0, 0.0
        self.timer: threading.Timer | None = None
        self.said = False

    def on_start(self, event: Any) -> None:
        if not event.data["dispatcher"].py_func.__module__.startswith(__package__) and self.depth == 0:
            return
        self.depth += 1
        if self.depth == 1 and not self.said:
            self.began = time.perf_counter()
            self.timer = threading.Timer(max(_SILENT_SECONDS - self.seconds, 0.0), self.say)
            self.timer.daemon = True
            self.timer.start()

    def on_end(self, event: Any) -> None:
        if self.depth == 0:
            return
        self.depth -= 1
        if self.depth == 0 and self.timer is not None:
            self.timer.cancel()
            self.timer, self.seconds = None, self.seconds + time.perf_counter() - self.began

    def begin(self) -> None:
        """Say it again: another fit begins."""
        if self.depth == 0:
            self.seconds, self.said = 0.0, False

    def say(self) -> None:
        self.said = True
        logger.warning("multikernel: compiling the solvers for this computer, once (some seconds) ...")


_notice = _Notice()
tell_of_compiling = _notice.begin
event.register("numba:compile", _notice)

"""The first use of the compiled loops: say that they are being compiled, once, when they really are."""

import logging
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from .._typing import Array

logger = logging.getLogger("multikernel")

_SILENT_SECONDS = 2.0
_done: set[str] = set()
_busy = threading.local()


def compiled_once(Ks: Array) -> None:
    """Compile (or load from the cache) all that learning weights needs for stacks of this precision."""
    dtype = Ks.dtype
    compile_first(f"weights {dtype}", lambda: _solve_tiny(dtype))


def compile_first(name: str, solve_tiny: Callable[[], object]) -> None:
    """Solve a tiny problem the first time that ``name`` is asked for, so that all it needs is compiled.

    Where no cache exists this takes half a minute, and a message says so. Later processes load the result
    from the cache in well under a second, silently.
    """
    if name in _done or getattr(_busy, "now", False):
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
        solve_tiny()
    finally:
        announcement.cancel()
        _busy.now = False
    _done.add(name)


def _solve_tiny(dtype: Any) -> None:
    from .optim.loop import Options
    from .svm.losses import Hinge
    from .weights.learn import learn_weights

    rng = np.random.default_rng(0)
    n = 400
    x = rng.normal(size=(2, n, 3))
    y = np.where(x[0, :, 0] + 0.5 * rng.normal(size=n) > 0, 1.0, -1.0)
    Ks = np.ascontiguousarray((x @ x.transpose(0, 2, 1)).astype(dtype))
    learn_weights(Ks, [Hinge(y, 1.0)], options=Options(tol=1e-4))

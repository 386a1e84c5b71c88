"""One thread for linear algebra: small matrices, paths that hang on the last digit, jobs side by side."""

import sys
import threading
from functools import lru_cache
from typing import Any

from threadpoolctl import ThreadpoolController


@lru_cache(maxsize=1)
def _controller(n_modules: int) -> ThreadpoolController:
    """Finding the libraries takes longer than a small fit, and no new one comes without a new module."""
    return ThreadpoolController()


class _OneThread:
    """Set by the first who asks, given back by the last: threads that came and went would mix it up."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._limits: list[tuple[int, Any]] = []

    def __enter__(self) -> None:
        with self._lock:
            self._users += 1
            n_modules = len(sys.modules)
            if not self._limits or self._limits[-1][0] != n_modules:  # a library may have come since
                self._limits.append((n_modules, _controller(n_modules).limit(limits=1)))

    def __exit__(self, *_: Any) -> None:
        with self._lock:
            self._users -= 1
            while self._limits and not self._users:
                self._limits.pop()[1].restore_original_limits()

    @property
    def is_set(self) -> bool:
        """Whether anybody wants one thread now."""
        return self._users > 0


_one_thread = _OneThread()


def one_thread() -> _OneThread:
    """Hold the linear algebra to one thread, as long as anybody in this process wants it so."""
    return _one_thread


def thread_limit() -> int:
    """How many threads the linear algebra of this process may use now, as its settings say."""
    if _one_thread.is_set:
        return 1
    found = _controller(len(sys.modules)).select(user_api="blas").info()
    return max((int(library["num_threads"]) for library in found), default=1)

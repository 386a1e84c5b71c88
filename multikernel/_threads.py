"""One thread for linear algebra: small matrices, paths that hang on the last digit, jobs side by side."""

import sys
from contextlib import AbstractContextManager
from functools import lru_cache
from typing import Any

from threadpoolctl import ThreadpoolController


@lru_cache(maxsize=1)
def _controller(n_modules: int) -> ThreadpoolController:
    """Finding the libraries takes longer than a small fit, and no new one comes without a new module."""
    return ThreadpoolController()


def one_thread() -> AbstractContextManager[Any]:
    """Hold the linear algebra to one thread; to be set once, around all that runs at the same time."""
    return _controller(len(sys.modules)).limit(limits=1)

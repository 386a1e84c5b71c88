"""One thread for the linear algebra of a fit: small matrices, and paths that hang on the last digit."""

from contextlib import AbstractContextManager
from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController


@cache
def _controller() -> ThreadpoolController:
    """Finding the libraries takes longer than a small fit; they are all loaded by the first one."""
    return ThreadpoolController()


def one_thread() -> AbstractContextManager[Any]:
    """Hold the linear algebra to one thread; to be set once, around all that runs at the same time."""
    return _controller().limit(limits=1)

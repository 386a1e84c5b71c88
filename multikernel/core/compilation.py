"""The first use of the compiled loops."""

from .._numba import compile_first
from .weights.learn import compiled_once

__all__ = ["compile_first", "compiled_once"]

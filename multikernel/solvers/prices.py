"""The way to a large price of errors, through smaller ones.

With a price C far above 1/K_ii, and classes that overlap, most duals end at C, and a cold solver would have
to climb there in steps of the size 1/K_ii. Bounded duals grow in proportion to the price: a rough solution at
a tenth of it, times ten, is a good start.
"""

from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

ROUNDS = 10  # of steps at each station, if they crawl
_DEAR, _CHEAP, _FACTOR = 1e3, 1e2, 10.0
VIOLATION = 0.03  # of the optimality conditions, relative to the targets: rough is enough on the way


def shares_on_the_way(price: float, diagonal: Array) -> Array:
    """The shares of the price to stop at before the whole one; none if it is small, or infinite."""
    size = price * float(np.mean(diagonal))
    if not _DEAR < size < np.inf:
        return np.empty(0)
    n_stages = int(np.ceil(np.log10(size / _CHEAP)))
    return np.asarray(_FACTOR ** -np.arange(n_stages, 0.0, -1.0))


def best_growth(reward: float, norm2: float) -> float:
    """The multiple of the duals, from 1 to the growth of the price, with the largest dual value."""
    return min(max(reward / norm2, 1.0), _FACTOR) if norm2 > 0.0 else _FACTOR

"""Work on several blocks at a time: one thread for each block, and one thread for the linear algebra in it.

Libraries of linear algebra split every small product over their own threads, which then wait for each other;
blocks have nothing to wait for. And what one thread computes does not depend on how many there are.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from multikernel._threads import one_thread, thread_limit

T = TypeVar("T")

_MOST_THREADS = 8  # each has partial sums of its own, the largest of which are Hessians


def block_threads() -> int:
    """How many threads may work on blocks: as many as the linear algebra may have now, and 8 at most."""
    return min(thread_limit(), _MOST_THREADS)


def each_in_order(function: Callable[[int], T], n: int, n_threads: int) -> Iterator[T]:
    """``function(0)``, ``function(1)``, … up to n − 1, by several threads.

    Results wait until their turn, not more of them than there are threads. The first error in the order of
    the calls is raised, and calls that have not begun by then never begin.

    Examples
    --------
    >>> list(each_in_order(lambda i: i * i, 5, n_threads=2))
    [0, 1, 4, 9, 16]
    """
    if min(n, n_threads) < 2:
        yield from map(function, range(n))
        return
    waiting: deque[Future[T]] = deque()
    with one_thread(), ThreadPoolExecutor(n_threads) as pool:
        try:
            for i in range(n):
                waiting.append(pool.submit(function, i))
                if len(waiting) > n_threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()

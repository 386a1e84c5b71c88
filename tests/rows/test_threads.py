"""Blocks by several threads: their order, the first error, the same numbers, one thread of linear algebra."""

import threading

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from multikernel._threads import one_thread, thread_limit
from multikernel.rows import LocalRows
from multikernel.rows.local import each_in_order


def test_results_come_in_order_and_calls_overlap():
    meeting = threading.Barrier(2, timeout=30)

    def wait_for_the_other(i):
        meeting.wait()  # two calls at a time, or this breaks
        return i

    assert list(each_in_order(wait_for_the_other, 6, n_threads=2)) == list(range(6))


def test_the_first_error_in_order_is_raised_and_later_calls_do_not_begin():
    begun = []

    def fail_later(i):
        begun.append(i)
        if i >= 2:
            raise ValueError(f"block {i}")
        return i

    with pytest.raises(ValueError, match="block 2"):
        list(each_in_order(fail_later, 100, n_threads=3))
    assert len(begun) < 20


def _blas_threads(block):
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


def test_linear_algebra_has_one_thread_in_each_block_and_its_own_again_afterwards():
    with threadpool_limits(limits=2, user_api="blas"):
        assert thread_limit() == 2
        rows = LocalRows((np.zeros((4, 1)),), block_rows=1)
        assert rows.n_threads == 2
        assert all(count == 1 for counts in rows.map(_blas_threads) for count in counts)
        assert thread_limit() == 2


def test_who_asked_for_one_thread_gets_no_more():
    with threadpool_limits(limits=2, user_api="blas"), one_thread():
        assert LocalRows((np.zeros((4, 1)),), block_rows=1).n_threads == 1


def _product(block):
    return block.parts[0].T @ block.parts[0]


def test_sums_are_the_same_to_the_last_bit_on_any_number_of_threads():
    rows = LocalRows((np.random.default_rng(0).normal(size=(1001, 30)),), block_rows=70)
    found = []
    for n_threads in (1, 2, 5):
        rows.n_threads = n_threads
        with one_thread():
            found.append(rows.sum(_product))
    assert np.array_equal(found[0], found[1]) and np.array_equal(found[0], found[2])


@pytest.mark.parametrize(("n", "most", "lengths"), [(10, 4, (4, 3, 3)), (8, 4, (4, 4)), (3, 10, (3,))])
def test_blocks_are_of_nearly_equal_size(n, most, lengths):
    assert LocalRows((np.zeros(n),), block_rows=most).lengths == lengths

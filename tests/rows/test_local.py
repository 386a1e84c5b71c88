"""Rows in this process: slices without copies, sums in one order, derived rows, rows by number."""

from __future__ import annotations

import threading

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from threadpoolctl import threadpool_info, threadpool_limits

from multikernel._threads import one_thread, thread_limit
from multikernel._validation import check_numeric_table
from multikernel.rows import Block, LocalRows, tree_sum
from multikernel.rows.base import add_in_order
from multikernel.rows.local import each_in_order
from multikernel.rows.memory import is_on_disk
from tests.refusals import refused

X = np.random.default_rng(0).normal(size=(23, 3))
LABELS = [f"row {number}" for number in range(23)]


def test_blocks_are_slices_of_the_tables_and_nothing_is_copied(tmp_path):
    on_file = np.memmap(tmp_path / "table", dtype=np.float64, mode="w+", shape=X.shape)
    frame = pd.DataFrame(X, columns=list("abc"))
    rows = LocalRows((X, on_file, None, frame, LABELS), block_rows=10)
    assert (rows.lengths, rows.n_rows, rows.n_blocks) == ((8, 8, 7), 23, 3)
    blocks = rows.map(lambda block: block)
    places = [(block.number, block.start, block.n_rows) for block in blocks]
    assert places == [(0, 0, 8), (1, 8, 8), (2, 16, 7)]
    for block in blocks:
        array, mapped, nothing, part_of_frame, names = block.parts
        assert np.shares_memory(array, X) and np.shares_memory(mapped, on_file) and nothing is None
        assert part_of_frame.index[0] == block.start and names[0] == f"row {block.start}"


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 16, 17, 63, 64, 65, 150])
def test_a_tree_sum_is_a_sum_in_the_order_of_levels(n):
    values = np.random.default_rng(n).normal(size=n) * 10.0 ** np.arange(n)

    def by_levels(terms):
        while len(terms) > 1:
            terms = [add_in_order(terms[start : start + 4]) for start in range(0, len(terms), 4)]
        return terms[0]

    assert tree_sum(iter(values)) == by_levels(list(values))


def test_a_sum_is_that_of_the_blocks():
    rows = LocalRows((X, X[:, 0]), block_rows=4)
    np.testing.assert_allclose(
        rows.sum(lambda block, s: s * block.parts[0].T @ block.parts[1], 2.0), 2 * X.T @ X[:, 0]
    )
    assert rows.sum(lambda block: block.n_rows) == 23


@pytest.mark.parametrize("result", [(1.0, 2.0), [1.0], "text"])
def test_a_sum_refuses_what_plus_would_join(result):
    with pytest.raises(TypeError, match=r"must return what can be added; got a (tuple|list|str)"):
        LocalRows((X,)).sum(lambda block: result)


@pytest.mark.parametrize("on_disk", [False, True])
@pytest.mark.parametrize("keep", [True, False])
def test_derived_rows(keep, on_disk):
    calls = []

    def derive(block, power):
        calls.append(block.number)
        return block.parts[0] ** power, None, block.parts[1]

    rows = LocalRows((X, LABELS), block_rows=5, on_disk=on_disk).derive(derive, 2, keep=keep)
    assert calls == ([0, 1, 2, 3, 4] if keep else [])
    total = rows.sum(lambda block: block.parts[0].sum(axis=0))
    assert np.array_equal(rows.sum(lambda block: block.parts[0].sum(axis=0)), total)
    np.testing.assert_allclose(total, (X**2).sum(axis=0))
    assert len(calls) == (5 if keep else 10)
    squares, nothing, labels = rows.take([22, 0, 7, 7])
    np.testing.assert_array_equal(squares, X[[22, 0, 7, 7]] ** 2)
    assert nothing is None and labels == ["row 22", "row 0", "row 7", "row 7"]
    again = rows.select(2, 0).derive(lambda block: (block.parts[1] + 1.0,), keep=keep)
    np.testing.assert_array_equal(again.take(np.arange(23))[0], X**2 + 1.0)


def test_rows_kept_on_disk_are_slices_of_one_file():
    rows = LocalRows((X,), block_rows=5, on_disk=True).derive(lambda block: (block.parts[0] * 2,))
    blocks = [block.parts[0] for block in rows.map(lambda block: block)]
    assert len({id(block.base) for block in blocks}) == 1 and is_on_disk(blocks[0])
    del rows
    np.testing.assert_array_equal(np.concatenate(blocks), X * 2)


def test_rows_by_number_from_any_kind_of_table():
    frame = pd.DataFrame({"a": X[:, 0], "b": LABELS})
    coo = scipy.sparse.coo_matrix(X)
    rows = LocalRows((X, coo, frame, frame["b"], LABELS, None), block_rows=4)
    numbers = np.array([22, 3, 3, 0, 11])
    array, sparse, part, series, listed, nothing = rows.take(numbers)
    np.testing.assert_array_equal(array, X[numbers])
    np.testing.assert_array_equal(sparse.toarray(), X[numbers])
    pd.testing.assert_frame_equal(part, frame.iloc[numbers])
    pd.testing.assert_series_equal(series, frame["b"].iloc[numbers])
    assert listed == [LABELS[number] for number in numbers] and nothing is None
    assert rows.take([])[0].shape == (0, 3)


def test_a_value_that_is_not_finite_is_named_by_its_row_in_the_whole():
    bad = X.copy()
    bad[17, 1] = np.nan
    check = lambda block: (check_numeric_table(block.parts[0]),)  # noqa: E731
    with pytest.raises(ValueError, match="X holds NaN at row 17, column 1"):
        LocalRows((bad,), block_rows=5).map(check)
    lazily = LocalRows((bad,), block_rows=5).derive(check, keep=False)
    with pytest.raises(ValueError, match="X holds NaN at row 17, column 1"):
        lazily.map(Block.n_rows.fget)


test_mistakes_are_named = refused(
    (lambda: LocalRows((X, X[:5])), "part 0 has 23, part 1 has 5"),
    (lambda: LocalRows((X[:0],)), "at least one row; got 0"),
    (lambda: LocalRows((None,)), "at least one part that is not None"),
    (lambda: LocalRows((X,), block_rows=0), "block_rows must be a positive integer; got 0"),
    (lambda: LocalRows((X,)).take([23]), IndexError, "rows must lie from 0 to 22; got 23"),
    (lambda: LocalRows((X,)).take([-1]), IndexError, "rows must lie from 0 to 22; got -1"),
    (lambda: LocalRows((X,)).take(X[:, 0] > 0), TypeError, "whole numbers; got 1-D bool. Turn a mask"),
    (lambda: LocalRows((X,)).derive(lambda block: X), TypeError, "must return a tuple of parts"),
    (lambda: LocalRows((X,)).derive(lambda block: (X[:4],)), "the 23 rows .* part 0 has 4"),
    (
        lambda: LocalRows((X,), 20, on_disk=True).derive(lambda b: (b.parts[0][:, : b.n_rows // 6],)),
        ValueError,
        "alike in all blocks; part 0 of rows 12 to 22",
    ),
)


# --- several blocks at a time -----------------------------------------------------------------------


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

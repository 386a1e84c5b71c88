"""Sampled pairs: all positives, as many negatives as asked for, each once, whatever holds the matrix."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from multikernel import sample_pairs


def interactions(shape=(12, 9), seed=0, share=0.2):
    return (np.random.default_rng(seed).random(shape) < share).astype(int)


def cells(pairs):
    return {tuple(pair) for pair in pairs.tolist()}


@pytest.mark.parametrize(("n_negative", "expected"), [(7, 7), (2.0, None), (0, 0), (None, -1), (10**6, -1)])
def test_all_positives_and_as_many_negatives_as_asked_for(n_negative, expected):
    Y = interactions()
    pairs, labels = sample_pairs(Y, n_negative, random_state=1)
    n_positive, n_zero = int(Y.sum()), int((Y == 0).sum())
    wanted = {None: 2 * n_positive, -1: n_zero}.get(expected, expected)
    assert (labels == 1).sum() == n_positive and (labels == 0).sum() == wanted
    assert len(cells(pairs)) == len(pairs) and pairs.dtype.kind == "i"
    np.testing.assert_array_equal(Y[pairs[:, 0], pairs[:, 1]], labels)
    assert pairs.tolist() == sorted(pairs.tolist())


def test_sparse_and_frames_are_as_dense():
    Y = interactions()
    expected = sample_pairs(Y, 5)
    stored = scipy.sparse.coo_matrix(Y.astype(float))
    stored.row, stored.col = np.append(stored.row, 0), np.append(stored.col, 0)
    stored.data = np.append(stored.data, 0.0)  # a stored zero is a zero
    for table in (scipy.sparse.csr_matrix(Y), pd.DataFrame(Y), Y.astype(bool), Y.tolist(), stored):
        found = sample_pairs(table, 5)
        np.testing.assert_array_equal(found[0], expected[0])
        np.testing.assert_array_equal(found[1], expected[1])


def test_a_large_sparse_matrix_is_never_made_dense():
    Y = scipy.sparse.coo_matrix(([1.0, 1.0], ([3, 200_000], [299_999, 5])), (300_000, 300_000)).tocsr()
    pairs, labels = sample_pairs(Y, 50)
    assert labels.sum() == 2 and len(pairs) == 52 == len(cells(pairs))
    half = sample_pairs(Y.maximum(Y.T), 50, symmetric=True)[0]
    assert (half[:, 0] < half[:, 1]).all() and {(3, 299_999), (5, 200_000)} <= cells(half)


def test_every_negative_is_as_likely():
    Y = np.zeros((3, 4))
    Y[1, 1] = Y[0, 0] = 1
    counts = np.zeros((3, 4))
    for seed in range(2000):
        pairs, labels = sample_pairs(Y, 5, random_state=seed)
        np.add.at(counts, tuple(pairs[labels == 0].T), 1)
    share = counts[Y == 0] / 2000
    assert counts[Y == 1].sum() == 0 and np.abs(share - 0.5).max() < 5 * np.sqrt(0.25 / 2000)


def test_unordered_pairs_once_without_the_diagonal():
    Y = interactions((10, 10))
    Y = np.maximum(Y, Y.T)
    pairs, labels = sample_pairs(Y, None, symmetric=True)
    assert pairs.tolist() == np.column_stack(np.triu_indices(10, 1)).tolist()
    np.testing.assert_array_equal(Y[pairs[:, 0], pairs[:, 1]], labels)
    drawn, few = sample_pairs(Y, 4, symmetric=True)
    assert (few == 0).sum() == 4 and (drawn[:, 0] < drawn[:, 1]).all()
    np.testing.assert_array_equal(Y[drawn[:, 0], drawn[:, 1]], few)


def test_what_is_not_known_is_not_sampled():
    Y = interactions().astype(float)
    Y[2, :] = np.nan
    pairs, labels = sample_pairs(Y, None)
    assert 2 not in pairs[:, 0] and len(pairs) == np.isfinite(Y).sum()
    np.testing.assert_array_equal(Y[pairs[:, 0], pairs[:, 1]], labels)
    square = np.ones((4, 4)) - np.eye(4)
    square[0, 3] = square[3, 0] = np.nan
    assert (0, 3) not in cells(sample_pairs(square, None, symmetric=True)[0])


def test_the_seed_decides():
    Y = interactions()
    assert sample_pairs(Y, 5)[0].tolist() == sample_pairs(Y, 5, random_state=0)[0].tolist()
    assert sample_pairs(Y, 5)[0].tolist() != sample_pairs(Y, 5, random_state=1)[0].tolist()


@pytest.mark.parametrize(
    ("Y", "given", "message"),
    [
        (np.zeros((2, 2)), {}, "at least one interaction"),
        ([[0, 2], [1, 0]], {}, r"Y must hold 0, 1, or NaN .*\(0, 1\) holds 2"),
        ([[0, -1], [1, 0]], {}, r"\(0, 1\) holds -1.*such as Y >= 1"),
        ([[0, np.inf], [1, 0]], {}, "holds inf"),
        ([1, 0], {}, r"matrix of numbers.*shape \(2,\)"),
        ([["a", "b"]], {}, "matrix of numbers"),
        (np.ones((2, 3)), {"symmetric": True}, r"square Y; got shape \(2, 3\)"),
        ([[0, 1], [0, 0]], {"symmetric": True}, r"its own transpose; they differ at \(0, 1\)"),
        (np.eye(2), {"n_negative": -1}, "n_negative, where it is not None, must be at least 0"),
        (np.eye(2), {"random_state": -1}, "random_state must be"),
    ],
)
def test_bad_input(Y, given, message):
    with pytest.raises(ValueError, match=message):
        sample_pairs(Y, **given)

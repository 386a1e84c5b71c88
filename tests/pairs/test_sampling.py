"""Pairs of a matrix, all positives and some negatives, and their folds: what is held out is new."""

import itertools

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from multikernel.pairs import PairSplit, sample_pairs


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


def grid(n_left=7, n_right=5):
    return np.array(list(itertools.product(range(n_left), range(n_right))))


def triangle(n=9):
    return np.array(list(itertools.combinations(range(n), 2)))


@pytest.mark.parametrize("hold_out", ["pairs", "left", "right", "both"])
def test_what_is_held_out_is_new_and_every_pair_is_tested_once(hold_out):
    pairs = grid()
    splits = list(PairSplit(3, hold_out).split(pairs))
    assert len(splits) == (9 if hold_out == "both" else 3) == PairSplit(3, hold_out).get_n_splits()
    for train, test in splits:
        known_left, known_right = set(pairs[train, 0]), set(pairs[train, 1])
        new_left = {a not in known_left for a in pairs[test, 0]}
        new_right = {b not in known_right for b in pairs[test, 1]}
        assert new_left == {hold_out in ("left", "both")}
        assert new_right == {hold_out in ("right", "both")}
        assert not set(train) & set(test)
        kept = [k for k, (a, b) in enumerate(pairs) if a in known_left and b in known_right]
        expected = kept if hold_out != "pairs" else np.setdiff1d(np.arange(len(pairs)), test)
        assert train.tolist() == list(expected)  # nothing that may be used is thrown away
    tested = np.concatenate([test for _, test in splits])
    assert sorted(tested) == list(range(len(pairs)))


def test_symmetric_pairs():
    pairs = triangle()
    pairs[::2] = pairs[::2, ::-1]
    for hold_out, n_new in (("one", 1), ("both", 2)):
        splits = list(PairSplit(3, hold_out, symmetric=True).split(pairs))
        assert len(splits) == PairSplit(3, hold_out, symmetric=True).get_n_splits()
        for train, test in splits:
            known = set(pairs[train].ravel())
            assert {(a not in known) + (b not in known) for a, b in pairs[test]} == {n_new}
    tested = [tuple(sorted(pairs[k])) for _, test in splits for k in test]
    assert sorted(tested) == sorted(tuple(sorted(pair)) for pair in pairs)


def test_a_pair_and_its_mirror_and_its_repetitions_are_in_one_fold():
    pairs = np.vstack([triangle(), triangle()[:, ::-1], triangle()])
    n = len(triangle())
    for _, test in PairSplit(4, symmetric=True, random_state=3).split(pairs):
        held = set(test)
        assert all((k in held) == (k % n in held) for k in range(3 * n))
    ordered = [set(test) for _, test in PairSplit(4, random_state=3).split(pairs)]
    assert all((k in held) == (k + 2 * n in held) for held in ordered for k in range(n))
    assert any((k in held) != (k + n in held) for held in ordered for k in range(n))


def test_objects_are_told_by_all_their_columns_of_any_table():
    left, right = np.random.default_rng(0).normal(size=(7, 2)), np.arange(5.0)[:, None]
    pairs = grid()
    X = np.hstack([left[pairs[:, 0]], right[pairs[:, 1]]])
    frame = pd.DataFrame(X, columns=["mass", "rings", "length"])
    words = np.array([[f"drug {a}", f"target {b}"] for a, b in pairs])
    split = PairSplit(3, "left", columns=2)
    expected = [test.tolist() for _, test in split.split(X)]
    for table in (scipy.sparse.csr_matrix(X), frame, X.tolist()):
        assert [test.tolist() for _, test in split.split(table)] == expected
    named = PairSplit(3, "left", columns=(["mass", "rings"], "length"))
    assert [test.tolist() for _, test in named.split(frame[["length", "rings", "mass"]])] != []
    for train, test in PairSplit(3, "right").split(words):
        assert not set(words[train, 1]) & set(words[test, 1])
    mixed = pd.DataFrame({"a": words[:, 0], "b": pairs[:, 1]})
    assert len(list(PairSplit(3, "both").split(mixed))) == 9


def test_the_seed_decides_on_folds():
    def folds(seed):
        return [test.tolist() for _, test in PairSplit(3, random_state=seed).split(grid())]

    assert folds(None) == folds(0) == folds(0) != folds(1)


def test_empty_splits_are_left_out_and_not_counted():
    pairs = np.column_stack([np.arange(6), np.arange(6)])
    split = PairSplit(3, "both")
    parts = list(split.split(pairs))
    assert len(parts) == split.get_n_splits(pairs) < split.get_n_splits() == 9
    assert all(train.size and test.size for train, test in parts)


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"n_splits": 1}, ValueError, "n_splits must be at least 2; got 1"),
        ({"n_splits": 2.0}, TypeError, "n_splits must be a positive integer"),
        ({"hold_out": "drugs"}, ValueError, "hold_out with symmetric=False must be one of 'pairs', 'left'"),
        ({"hold_out": "left", "symmetric": True}, ValueError, "must be one of 'pairs', 'one', 'both'"),
        ({"symmetric": 1}, TypeError, "symmetric must be True or False"),
        ({"random_state": -1}, ValueError, "random_state must be a whole number"),
        ({"columns": "drug"}, TypeError, r"columns must be None \(halves\), the number of columns"),
        ({"columns": 0}, ValueError, "columns must be a positive integer"),
        ({"columns": ([0, 1], [1])}, ValueError, "gives column 1 to both objects"),
        ({"columns": ([0, "a"], [1])}, ValueError, "distinct positions or names"),
        ({"columns": ([], [1])}, TypeError, "two lists of columns"),
    ],
)
def test_bad_parameters(given, error, message):
    with pytest.raises(error, match=message):
        PairSplit(**given)


@pytest.mark.parametrize(
    ("split", "X", "message"),
    [
        (PairSplit(), np.zeros((9, 3)), "X must hold two objects side by side, an even number .* it has 3"),
        (PairSplit(), np.arange(9), r"two columns at least; it has shape \(9,\)"),
        (PairSplit(columns=4), np.zeros((9, 4)), "split=4 leaves no column to the right objects"),
        (PairSplit(columns=([0], [7])), np.zeros((9, 4)), "split names column 7, but X has 4 columns"),
        (PairSplit(columns=(["a"], ["b"])), np.zeros((9, 4)), "names the column 'a', but X is no DataFrame"),
        (PairSplit(5, "right"), grid(9, 4), "n_splits=5 folds need as many distinct right objects; X has 4"),
        (PairSplit(symmetric=True, columns=1), np.zeros((9, 3)), "as many columns for the one object"),
    ],
)
def test_bad_tables(split, X, message):
    with pytest.raises(ValueError, match=message):
        list(split.split(X))


def test_objects_that_cannot_be_told_apart():
    X = np.empty((2, 2), dtype=object)
    X[:] = [[{}, 1], [{}, 2]]
    with pytest.raises(TypeError, match=r"objects must be hashable.*Give positions"):
        list(PairSplit(2).split(X))

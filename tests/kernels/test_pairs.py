"""Kernels between pairs: both forms by hand, what is learned from all objects, precomputed kernels, views."""

import itertools

import numpy as np
import pandas as pd
import pytest

from multikernel import MKLClassifier, View
from multikernel.kernels import (
    FunctionKernel,
    Gaussian,
    Kronecker,
    Linear,
    Pairwise,
    Precomputed,
    Sum,
    pairwise_kernel,
)
from multikernel.kernels.base import Kernel
from multikernel.pairs import sample_pairs
from tests.refusals import refused


def objects(n=6, d=2, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def by_hand(k, pairs, others):
    """One entry after the other."""
    K = np.empty((len(pairs), len(others)))
    for (i, (a, b)), (j, (c, d)) in itertools.product(enumerate(pairs), enumerate(others)):
        K[i, j] = k(a, c) * k(b, d) + k(a, d) * k(b, c)
    return K


def test_widths_come_from_all_objects():
    A, B = objects(), 10.0 + objects(seed=3)
    pairs = np.hstack([A, B])
    fitted = Pairwise(Gaussian()).fit(pairs)
    assert fitted.base == Gaussian().fit(np.vstack([A, B])) and fitted.is_fitted
    assert not Pairwise(Gaussian()).is_fitted
    assert fitted.base == Pairwise(Gaussian()).fit(np.hstack([B, A])).base
    with pytest.raises(ValueError, match=r"depend on the data\. Call kernel\.fit"):
        Pairwise(Gaussian())(pairs)


def test_frames_lists_and_functions():
    pairs = np.hstack([objects(), objects(seed=4)])
    expected = Pairwise(Linear())(pairs)
    frame = pd.DataFrame(pairs, columns=["height_a", "width_a", "height_b", "width_b"])
    np.testing.assert_allclose(Pairwise(Linear())(frame), expected)
    np.testing.assert_allclose(Pairwise(Linear())(pairs.tolist()), expected)
    np.testing.assert_allclose(Pairwise(lambda X, Z: X @ Z.T)(pairs), expected)
    assert Pairwise(Gaussian()).fit(frame).base == Pairwise(Gaussian()).fit(pairs).base
    words = np.array([["a", "b"], ["b", "a"], ["c", "c"]])
    same = Pairwise(FunctionKernel(lambda X, Z: 1.0 * (X == Z.T)))
    np.testing.assert_array_equal(same(words), [[1, 1, 0], [1, 1, 0], [0, 0, 2]])
    np.testing.assert_array_equal(same.diag(words), [1, 1, 2])


def test_many_rows_have_their_diagonal_and_a_sum_of_kernels_is_not_that_of_their_pairs():
    pairs = np.hstack([objects(50), objects(50, seed=5)])
    kernel, other = Linear(), Gaussian(gamma=0.3)
    together, apart = Pairwise(kernel + other), Pairwise(kernel) + Pairwise(other)
    np.testing.assert_allclose(together.diag(pairs), together(pairs).diagonal())
    assert np.abs(together(pairs) - apart(pairs)).max() > 0.1 and isinstance(apart, Sum)
    assert repr(together) == "Pairwise(Linear() + Gaussian(gamma=0.3))"


# --- precomputed kernels between objects --------------------------------------------------------------------


def test_a_ready_made_kernel_by_hand():
    X = objects(7)
    K = X @ X.T
    pairs = np.array([[0, 1], [1, 0], [2, 2], [6, 3]])
    others = np.array([[5, 4], [0, 6]])
    kept = K.copy()
    expected = by_hand(lambda a, c: K[a, c], pairs, others)
    np.testing.assert_allclose(pairwise_kernel(K, pairs, others), expected)
    square = pairwise_kernel(K, pairs)
    np.testing.assert_allclose(square, by_hand(lambda a, c: K[a, c], pairs, pairs))
    np.testing.assert_array_equal(square, square.T)
    np.testing.assert_array_equal(square[0], square[1])
    np.testing.assert_array_equal(K, kept)
    table = np.hstack([X[pairs[:, 0]], X[pairs[:, 1]]])
    np.testing.assert_allclose(square, Pairwise(Linear())(table), atol=1e-12)


def test_only_the_given_pairs_are_formed(monkeypatch):
    shapes = []
    plain = Kernel.evaluate
    monkeypatch.setattr(
        Kernel, "evaluate", lambda self, pair, out: (shapes.append(out.shape), plain(self, pair, out))[1]
    )
    assert pairwise_kernel(np.eye(400), [[0, 399], [5, 5]]).tolist() == [[1.0, 0.0], [0.0, 2.0]]
    assert shapes == [(2, 2)]


test_bad_ready_made_input = refused(
    ((np.eye(3), [0, 1]), r"pairs must hold two positions in each row.*got shape \(2,\)"),
    ((np.eye(3), [[0, 1, 2]]), r"got shape \(1, 3\)"),
    ((np.eye(3), np.empty((0, 2), int)), r"got shape \(0, 2\)"),
    ((np.eye(3), [[0, 3]]), r"pairs, second objects holds .*3\)? at row 0\. Positions run from 0 to 2"),
    ((np.eye(3), [[-1, 0]]), r"pairs, first objects holds .*-1\)? at row 0"),
    ((np.eye(3), [[0.5, 0]]), r"first objects holds .*0\.5"),
    ((np.ones((2, 3)), [[0, 1]]), "square"),
    ((np.array([[1.0, 2.0], [0.0, 1.0]]), [[0, 1]]), "symmetric"),
    ((np.array([[np.nan, 0.0], [0.0, 1.0]]), [[0, 1]]), "NaN"),
    by=lambda given: pairwise_kernel(*given),
)


# --- as a view ---------------------------------------------------------------------------------------------


def interactions(seed, n=80):
    """Pairs of objects that interact if their hidden kinds differ."""
    rng = np.random.default_rng(seed)
    kinds = rng.integers(0, 2, size=(n, 2))
    X = rng.normal(size=(n, 2, 2), scale=0.4)
    X[:, :, 0] += 2.0 * kinds - 1.0
    return X.reshape(n, 4), (kinds[:, 0] != kinds[:, 1]).astype(int)


def test_pairs_are_a_view_of_a_classifier():
    X, y = interactions(0)
    views = [View("objects", Pairwise(Gaussian())), View("first column", Pairwise(Linear()), [0, 2])]
    model = MKLClassifier(views).fit(X, y)
    fresh, labels = interactions(1)
    assert model.score(fresh, labels) > 0.9
    swapped = fresh[:, [2, 3, 0, 1]]
    np.testing.assert_allclose(model.decision_function(swapped), model.decision_function(fresh), atol=1e-8)


def test_positions_are_a_view_too():
    X, y = interactions(2)
    objects_ = X.reshape(-1, 2)
    K = Gaussian(gamma=1.0)(objects_)
    positions = np.arange(160).reshape(80, 2)
    given = MKLClassifier(Pairwise(Precomputed(K)), tol=1e-8).fit(positions, y)
    made = MKLClassifier(Pairwise(Gaussian(gamma=1.0)), tol=1e-8).fit(X, y)
    np.testing.assert_allclose(
        given.decision_function(positions[:9]), made.decision_function(X[:9]), atol=1e-4
    )


test_what_kernels_of_pairs_refuse = refused(
    (lambda: View("v", 2.0 * Pairwise(Linear()) + Linear(), standardize=True), "units"),
    (lambda: Pairwise(Linear())(objects(d=3)), r"an even number of .* X has shape \(6, 3\)"),
    (lambda: Pairwise(Gaussian()).fit([1.0, 2.0]), "even number of columns"),
    (lambda: Pairwise("linear"), TypeError, "a kernel must be a Kernel or a function"),
    (lambda: Pairwise(Linear), TypeError, "must be an instance; got the class Linear"),
    (lambda: Pairwise(Linear())(objects(d=2), objects(d=4)), "but Z, second objects has 2"),
    (lambda: Pairwise(Linear())([[1.0, np.nan]]), "holds NaN at row 0"),
    (lambda: Pairwise(Linear())([[1e200, 1.0]]), "not finite in float64 on X: some value"),
    (lambda: Kronecker(Linear(), Linear())(np.ones((2, 3))), "two objects .*it has 3"),
    (lambda: Kronecker(Linear(), Linear(), 3)(np.ones((2, 3))), "split=3 leaves no column"),
    (lambda: Kronecker(Linear(), Linear(), ([0], [5]))(np.ones((2, 3))), "column 5, but"),
    (lambda: Kronecker(Linear(), Linear())([1.0, 2.0]), "two columns at least"),
    (lambda: Kronecker(Linear(), Linear())([[1.0, np.nan]]), "X, right objects holds NaN"),
    (lambda: Kronecker("linear", Linear()), TypeError, "a kernel must be a Kernel"),
    (lambda: Kronecker(Linear(), Linear(), 0), "split must be a positive integer; got 0"),
)  # fmt: skip


# --- pairs of unlike objects -------------------------------------------------------------------------------


def unlike(seed=0, n=9):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 3)), rng.normal(size=(n, 2))


def test_columns_by_position_and_by_name():
    A, B = unlike()
    X = np.hstack([A, B])
    expected = Kronecker(Linear(), Gaussian(gamma=1.0), split=3)(X)
    mixed = X[:, [3, 0, 4, 1, 2]]
    by_place = Kronecker(Linear(), Gaussian(gamma=1.0), split=([1, 3, 4], [0, 2]))
    np.testing.assert_allclose(by_place(mixed), expected)
    frame = pd.DataFrame(mixed, columns=["length", "mass", "charge", "rings", "bonds"])
    by_name = Kronecker(
        Linear(), Gaussian(gamma=1.0), split=[["mass", "rings", "bonds"], ["length", "charge"]]
    )
    np.testing.assert_allclose(by_name(frame), expected)
    assert by_place != by_name and hash(by_place) is not None
    assert repr(by_place) == "Kronecker(Linear(), Gaussian(gamma=1.0), split=((1, 3, 4), (0, 2)))"
    first, second = X[:, :2], X[:, 2:4]
    halves = Kronecker(Linear(), Linear())(X[:, :4])
    np.testing.assert_allclose(halves, (first @ first.T) * (second @ second.T))


def test_each_side_learns_its_own_width():
    A, B = unlike(n=30)
    fitted = Kronecker(Gaussian(), Gaussian(), split=3).fit(np.hstack([A, 100.0 * B]))
    assert fitted.left == Gaussian().fit(A) and fitted.right == Gaussian().fit(100.0 * B)
    assert fitted.split == 3 and fitted.is_fitted and not Kronecker(Gaussian(), Linear()).is_fitted


def test_ready_made_kernels_of_drugs_and_targets():
    A, B = unlike(n=6)
    drugs, targets = A @ A.T, B[:4] @ B[:4].T
    kernel = Kronecker(Precomputed(drugs), Precomputed(targets))
    grid = np.array(list(itertools.product(range(6), range(4))))
    np.testing.assert_allclose(kernel(grid), np.kron(drugs, targets))
    np.testing.assert_allclose(kernel.diag(grid), np.kron(drugs.diagonal(), targets.diagonal()))
    with pytest.raises(ValueError, match=r"right objects holds .*5\)? at row 1\. Positions run from 0 to 3"):
        kernel([[0, 3], [0, 5]])


@pytest.mark.filterwarnings("ignore:kernel.*nearly the identity:multikernel.views.KernelWarning")
def test_sampled_pairs_go_to_a_support_vector_machine():
    rng = np.random.default_rng(0)
    drugs, targets = rng.normal(size=(25, 3)), rng.normal(size=(20, 2))
    Y = (drugs[:, :1] * targets[:, 0] > 0.8).astype(int)
    pairs, labels = sample_pairs(Y, 2.0)
    good = Kronecker(Precomputed(drugs @ drugs.T), Precomputed(targets @ targets.T))
    noise = Kronecker(Precomputed(np.eye(25)), Precomputed(np.eye(20)))
    model = MKLClassifier([("structure", good), ("identity", noise)], C=10.0).fit(pairs, labels)
    every = np.array(list(itertools.product(range(25), range(20))))
    predicted = model.predict(every).reshape(25, 20)
    seen = np.zeros(Y.shape, bool)
    seen[tuple(pairs.T)] = True
    assert seen.sum() == 3 * Y.sum() and (predicted == Y)[~seen].mean() > 0.9

"""The distinct samples of a sparse table are those of the dense one, in the same order; labels of samples."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from multikernel import Gaussian, MKLClassifier
from multikernel.core.inputs import distinct_samples, encode_labels

ENTRIES = st.sampled_from([0.0, 0.0, 0.0, -0.0, 1.0, -1.0, 2.5, 1e-300, np.inf])


@st.composite
def tables(draw):
    n = draw(st.integers(1, 20))
    X = draw(arrays(np.float64, (n, draw(st.integers(1, 4))), elements=ENTRIES))
    targets = draw(
        arrays(np.float64, (n, draw(st.integers(1, 2))), elements=st.sampled_from([0.0, 1.0, -2.0]))
    )
    return X, targets, draw(arrays(np.float64, n, elements=st.sampled_from([0.0, 1.0, 2.0])))


@given(tables())
def test_sparse_and_dense_samples_are_the_same(given_table):
    X, targets, weights = given_table
    dense = distinct_samples(X, targets, weights)
    for make in (scipy.sparse.csr_matrix, scipy.sparse.coo_array):
        sparse = distinct_samples(make(X), targets, weights)
        for name in ("rows", "weights", "group", "share"):
            np.testing.assert_array_equal(getattr(sparse, name), getattr(dense, name))


@pytest.mark.parametrize("make", [scipy.sparse.csr_matrix, scipy.sparse.csr_array])
def test_a_table_with_entries_in_parts_is_left_as_it_is(make):
    X = make((np.array([1.0, 2.0, 3.0, 0.0]), np.array([1, 1, 0, 0]), np.array([0, 2, 3, 4])), shape=(3, 2))
    dense = np.array([[0.0, 3.0], [3.0, 0.0], [0.0, 0.0]])
    y, weights = np.zeros((3, 1)), np.ones(3)
    rows = distinct_samples(X, y, weights).rows
    np.testing.assert_array_equal(rows, distinct_samples(dense, y, weights).rows)
    assert X.nnz == 4 and X.indices.tolist() == [1, 1, 0, 0]


@pytest.mark.parametrize("labels", [[0.0, 1.0], [-1, 1], [False, True], [2.5, 3.0], ["a", "b"]])
def test_two_labels_are_taken_unless_they_are_measurements(labels):
    y = np.array(labels * 6)
    X, model = np.arange(12.0)[:, None], MKLClassifier([Gaussian()])
    if labels[0] == 2.5:
        with pytest.raises(ValueError, match="continuous"):
            encode_labels(model, X, y)
        return
    classes, codes = encode_labels(model, X, y)
    assert classes.tolist() == labels and codes.tolist() == [0, 1] * 6


def test_more_classes_than_half_of_the_samples_are_told():
    with pytest.warns(UserWarning, match="number of unique classes"):
        encode_labels(MKLClassifier([Gaussian()]), np.arange(30.0)[:, None], np.arange(30))

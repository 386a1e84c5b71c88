"""Columns in which few rows differ: no sample of rows may decide whether their kernel can be used."""

import dask.array as da
import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from multikernel import MKLClassifier
from multikernel.kernels import Gaussian, Linear
from multikernel.mkl import low_rank as _factors
from multikernel.rows.tables import rows_unlike

pytestmark = pytest.mark.usefixtures("dask_in_this_thread")

RARE = [33, 151, 160, 299]
VIEWS = [("common", Gaussian(0.5), [0, 1]), ("rare", Linear(), [2]), ("same", Gaussian(1.0), [3])]


@pytest.fixture
def table(monkeypatch):
    """Of 300 rows 20 are reference rows, none of them among the four that differ in the last columns."""
    monkeypatch.setattr(_factors, "reference_size", lambda n, ranks: 20)
    X = np.random.default_rng(0).normal(size=(300, 4))
    X[:, 2], X[:, 3] = 0.0, 7.0
    X[RARE, 2] = [1.0, -2.0, 1.0, 3.0]
    X[RARE[:2], 3] = 8.0
    return X


def fitted(X, y, weights=None):
    return MKLClassifier(VIEWS, gram="low_rank", rank=10, random_state=0).fit(X, y, weights)


def test_rare_rows_become_reference_rows_wherever_they_live(table):
    y = (table[:, 0] + 5 * table[:, 2] > 0).astype(int)
    here = fitted(table, y)
    assert here.approximation_["rank"].tolist() == [10, 1, 2]
    there = fitted(da.from_array(table, chunks=(70, 4)), da.from_array(y, chunks=70))
    np.testing.assert_array_equal(
        there._prediction_bank.views_[0].map.landmarks.values,
        here._prediction_bank.views_[0].map.landmarks.values,
    )
    np.testing.assert_allclose(there.coef_, here.coef_, atol=1e-7)
    columns = fitted(pd.DataFrame(table, columns=list("abcd")), y)
    np.testing.assert_array_equal(columns.coef_, here.coef_)
    sparse = fitted(scipy.sparse.csr_matrix(table), y)
    np.testing.assert_allclose(sparse.coef_, here.coef_, atol=1e-7)


def test_rows_without_weight_do_not_count_as_different(table):
    weights = np.ones(300)
    weights[RARE] = 0.0
    with pytest.raises(
        ValueError, match="kernel 'rare' is all zero on the reference rows of 296 training rows"
    ):
        fitted(table, (table[:, 0] > 0).astype(int), weights)


def test_rows_unlike_one_of_them():
    words = [["a"], ["b", "c"], ["a"]]
    assert rows_unlike(words, words[:1]).tolist() == [1]
    X = np.array([[0.0, 1.0], [0.0, 1.0], [2.0, 0.0]])
    for raw in (X, X[:, 0], scipy.sparse.coo_matrix(X), pd.DataFrame(X), pd.Series(X[:, 1])):
        one = raw.tocsr()[:1] if scipy.sparse.issparse(raw) else raw[:1]
        assert rows_unlike(raw, one).tolist() == [2]

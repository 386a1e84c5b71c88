"""Errors number the rows as the caller does, whatever order and batches a model takes them in."""

import pickle

import numpy as np
import pytest

from multikernel import LocalizedMKLClassifier, LocalizedMKLRegressor, MKLClassifier
from multikernel.core.estimator.base import _BATCH_ROWS
from multikernel.discriminant import KernelDiscriminantClassifier
from multikernel.kernels import Gaussian, Linear
from multikernel.localized import LocalizedMKLOneClass
from multikernel.nonstationary import NonstationaryClassifier
from multikernel.spectral import KernelKNNClassifier
from tests.mkl.data import make_binary

X, LABELS = make_binary(60)
VIEWS = [("signal", Gaussian(gamma=0.5), [0, 1]), ("line", Linear(), [2])]
LATE = _BATCH_ROWS + 17
MANY = np.tile(X, (LATE // 60 + 2, 1))


def spoiled(table, row, column):
    table = table.copy()
    table[row, column] = np.inf
    return table


@pytest.mark.parametrize("kind", [LocalizedMKLClassifier, LocalizedMKLRegressor, LocalizedMKLOneClass])
@pytest.mark.parametrize("row", [3, 41])
def test_a_gating_feature_at_fit(kind, row):
    with pytest.raises(ValueError, match=f"gating_features holds infinity at row {row}, column 1"):
        kind(VIEWS, gating_features=[0, 3]).fit(spoiled(X, row, 3), LABELS == "yes")


MODELS = {
    "shared": MKLClassifier(VIEWS),
    "localized": LocalizedMKLClassifier(VIEWS, tol=0.1),
    "discriminant": KernelDiscriminantClassifier(VIEWS),
    "nonstationary": NonstationaryClassifier(VIEWS, tol=0.1),
    "neighbours": KernelKNNClassifier(Gaussian()),
}


@pytest.mark.parametrize("name", MODELS)
def test_a_row_at_prediction(name):
    model = MODELS[name].fit(X, LABELS)
    assert model.predict(MANY).shape == (len(MANY),)
    for row in (5, _BATCH_ROWS - 1, LATE):
        with pytest.raises(ValueError, match=f"holds infinity at row {row}, column"):
            model.predict(spoiled(MANY, row, 0))


def test_a_row_at_the_gate():
    model = LocalizedMKLClassifier(VIEWS, gating_features=[3], tol=0.1).fit(X, LABELS)
    with pytest.raises(ValueError, match=f"gating_features holds infinity at row {LATE}, column 0"):
        model.sample_kernel_weights(spoiled(MANY, LATE, 3))


def test_a_row_of_a_kernel_that_is_evaluated_at_some_rows_only():
    model = LocalizedMKLClassifier(VIEWS, gating_features=[3], prune=True, tol=0.1).fit(X, LABELS)
    model.gating_[0][:] = [[-40.0, 0.0], [40.0, 0.0]]  # the line counts where the last column is positive
    active = model.active_kernels(MANY)[:, 1]
    row = int(np.flatnonzero(active & (np.arange(len(MANY)) > LATE))[0])
    assert not active[_BATCH_ROWS:row].all()
    with pytest.raises(ValueError, match=f"view 'line' at prediction holds infinity at row {row}, column 0"):
        model.predict(spoiled(MANY, row, 2))


def test_the_error_survives_the_way_between_processes():
    with pytest.raises(ValueError, match="row 7") as info:
        MODELS["shared"].fit(spoiled(X, 7, 0), LABELS)
    assert str(pickle.loads(pickle.dumps(info.value))) == str(info.value)

"""A file holds the support samples and the kernels with weight, and nothing else of the training data."""

import numpy as np
import pytest
from sklearn.base import is_regressor
from sklearn.svm import SVR

from multikernel import (
    CombinedKernelClassifier,
    CombinedKernelOneClass,
    CombinedKernelRegressor,
    LocalizedMKLClassifier,
    MKLClassifier,
    MKLRegressor,
)
from multikernel.boosting import ColumnBoostingClassifier
from multikernel.inspection import learned_kernel
from multikernel.io.models.archive import unpack
from multikernel.io.models.coding import decode, open_file
from multikernel.io.models.files import checked_bytes
from multikernel.kernels import Gaussian, Linear
from multikernel.rules import SumRule
from multikernel.soft_labels import PosteriorSVC
from multikernel.spectral import ConformalKernel
from multikernel.transductive import TransductiveMKLClassifier
from multikernel.views import KernelWarning
from tests.io.models.models import NEW, answers, assert_same_bits, make_data
from tests.raw import raw

TWO = raw([Linear(), Gaussian(0.5)])  # rows are saved as the kernels see them
SLIM = [
    MKLClassifier(TWO),
    MKLRegressor(TWO),
    PosteriorSVC(TWO),
    LocalizedMKLClassifier(TWO),
    ColumnBoostingClassifier(TWO, max_columns=4),
    CombinedKernelClassifier(TWO, SumRule()),
    CombinedKernelRegressor(TWO, SumRule(), SVR(kernel="precomputed")),
]


def load(data):
    return decode(open_file(data), set())


def saved_rows(X, data):
    """Which training rows the bytes of a file hold."""
    return [row for row in range(len(X)) if X[row, 0].tobytes() in data]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("estimator", SLIM, ids=lambda model: type(model).__name__)
def test_support_samples_only(estimator):
    sizes = []
    for n in (40, 160):
        X, labels, values = make_data(n)
        model = estimator.fit(X, values if is_regressor(estimator) else labels)
        data = checked_bytes(model)
        support = model.support_ if hasattr(model, "support_") else model.machine_.support_
        assert saved_rows(X, data) == sorted(support.tolist()) and len(support) < n / 2
        sizes.append((len(data), len(support)))
    (small, few), (large, many) = sizes
    assert large - small < 200 * max(many - few, 0) + 4000  # 120 rows more, each at least 24 bytes and a dual


def test_kernels_without_weight_leave_nothing():
    X, labels, _ = make_data(40)
    X = np.column_stack([X, 0.01 * np.random.default_rng(1).normal(size=(40, 2))])
    with pytest.warns(KernelWarning, match="of different scale"):
        model = MKLClassifier(raw([("signal", Linear(), [0]), ("noise", Linear(), [3, 4])])).fit(X, labels)
    assert model.kernel_weights_[1] == 0.0
    data = checked_bytes(model)
    assert all(X[row, 0].tobytes() in data for row in model.support_)
    assert not any(X[row, 3].tobytes() in data for row in range(40))


def test_matrices_of_the_training_samples_are_not_saved():
    X, labels, values = make_data(60)
    ridge = CombinedKernelRegressor(TWO, SumRule()).fit(X, values)
    conformal = ConformalKernel(Gaussian(0.5)).fit(X, labels)
    transductive = TransductiveMKLClassifier(TWO).fit(X, labels)
    assert ridge.machine_.X_fit_.shape == conformal.kernel_.shape == transductive.kernel_.shape == (60, 60)
    for model in (ridge, conformal, transductive):
        data = checked_bytes(model)
        assert max(len(content) for content in _arrays(data)) < 60 * 60 * 8
        assert_same_bits(answers(model), answers(load(data)))
    assert not hasattr(load(checked_bytes(conformal)), "kernel_")
    assert not hasattr(load(checked_bytes(PosteriorSVC(TWO).fit(X, labels))), "posteriors_")


def test_the_learned_kernel_is_still_there_for_the_samples_of_fit():
    X, labels, _ = make_data(40)
    for model in (
        CombinedKernelClassifier(kernels=TWO).fit(X, labels),
        ConformalKernel(Gaussian(0.5)).fit(X, labels),
        TransductiveMKLClassifier(TWO).fit(X, labels),
    ):
        loaded = load(checked_bytes(model))
        np.testing.assert_allclose(learned_kernel(loaded, X), learned_kernel(model, X), rtol=1e-9, atol=1e-12)
        part = learned_kernel(loaded, X, rows=[3, 1])
        np.testing.assert_allclose(part, learned_kernel(model, X)[np.ix_([3, 1], [3, 1])], rtol=1e-9)


def _arrays(data):
    return [content for name, content in unpack(data).items() if name.endswith(".npy")]


def test_the_combined_kernel_of_a_loaded_model_says_why_it_is_gone():
    X, _, _ = make_data(40)
    model = CombinedKernelOneClass(TWO, SumRule()).fit(X)
    loaded = load(checked_bytes(model))
    assert model.combined_kernel(NEW).shape == (7, 40)
    assert_same_bits(answers(model), answers(loaded))
    with pytest.raises(ValueError, match="support samples"):
        loaded.combined_kernel(NEW)

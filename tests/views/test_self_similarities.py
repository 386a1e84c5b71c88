"""Self-similarities of new rows after every chain of transforms, against the transformed features."""

from __future__ import annotations

import numpy as np
import pytest

from multikernel.kernels import Gaussian, Linear, Polynomial, Sigmoid, smallest_eigenvalue
from multikernel.views import KernelBank, View
from tests.kernels.test_transforms import CHAINS, transformed
from tests.raw import raw

RNG = np.random.default_rng(17)
X = RNG.normal(size=(30, 3)) + 0.7
NEW = RNG.normal(size=(8, 3)) - 0.3


def quadratic_features(rows):
    """(1 + x'z)² = φ(x)'φ(z)."""
    extended = np.column_stack([np.ones(len(rows)), rows])
    return np.einsum("ij,ik->ijk", extended, extended).reshape(len(rows), -1)


@pytest.mark.parametrize("chain", CHAINS, ids=lambda chain: " ".join(chain) or "none")
def test_self_similarities_are_squared_norms_of_the_features(chain):
    bank = KernelBank(raw([("line", Linear(), [0, 1], chain), ("square", Polynomial(2), None, chain)])).fit(X)
    result = bank.self_similarities(NEW)
    assert result.shape == (8, 2)
    _, line = transformed(X[:, :2], NEW[:, :2], chain)
    train, square = transformed(quadratic_features(X), quadratic_features(NEW), chain)
    expected = np.column_stack([(line**2).sum(axis=1), (square**2).sum(axis=1)])
    np.testing.assert_allclose(result, expected, rtol=1e-9)
    # the same features give the similarities to the training rows
    np.testing.assert_allclose(bank.transform(NEW)[:, :, 1], square @ train.T, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("chain", CHAINS, ids=lambda chain: " ".join(chain) or "none")
def test_training_rows_given_again_have_the_diagonal_of_their_gram(chain):
    kernels = [("gauss", Gaussian(gamma=0.3), None, chain), ("square", Polynomial(2), [1, 2], chain)]
    bank = KernelBank(kernels)
    stack = bank.fit_stack(X)
    np.testing.assert_allclose(bank.self_similarities(X), stack.diagonal(axis1=1, axis2=2).T, rtol=1e-9)
    rest = bank.restrict([3, 9, 4], [1]).self_similarities(X)
    np.testing.assert_allclose(rest[:, 1], bank.self_similarities(X)[:, 1], rtol=1e-9)
    np.testing.assert_array_equal(rest[:, 0], 0.0)  # not active


def test_standardised_views_and_the_automatic_ones():
    bank = KernelBank([View("line", Linear(), None, standardize=True, normalize=None)]).fit(X)
    scaled = (NEW - X.mean(axis=0)) / X.std(axis=0)
    np.testing.assert_allclose(bank.self_similarities(NEW)[:, 0], (scaled**2).sum(axis=1), rtol=1e-10)
    bank = KernelBank()
    variances = 1.0 / np.asarray(bank.fit_transform(X))[0, 0, 2:]  # of kernels with k(x, x) = 1
    np.testing.assert_allclose(bank.self_similarities(NEW)[:, 2:], np.tile(1.0 / variances, (len(NEW), 1)))


@pytest.mark.parametrize("repair", ["shift", "clip"])
@pytest.mark.parametrize("chain", [(), ("center",)], ids=["plain", "centred"])
def test_repaired_kernels(repair, chain):
    """With a new row and its self-similarity as border, the repaired matrix has the right corner."""
    bank = KernelBank(raw([("tanh", Sigmoid(1.0, 0.5), None, chain)]), psd=repair).fit(X)
    K, rows = np.tanh(0.5 + X @ X.T), np.tanh(0.5 + NEW @ X.T)
    own = np.tanh(0.5 + (NEW**2).sum(axis=1))
    if chain:
        own = own - 2 * rows.mean(axis=1) + K.mean()
        rows = rows - rows.mean(axis=1, keepdims=True) - K.mean(axis=0) + K.mean()
        K = (np.eye(30) - 1 / 30) @ K @ (np.eye(30) - 1 / 30)
    assert smallest_eigenvalue(K) < -0.1
    values, vectors = np.linalg.eigh(K)
    kept = values > 1e-9
    expected = (
        own - values[0] if repair == "shift" else ((rows @ vectors[:, kept]) ** 2 / values[kept]).sum(axis=1)
    )
    np.testing.assert_allclose(bank.self_similarities(NEW)[:, 0], expected, rtol=1e-7)

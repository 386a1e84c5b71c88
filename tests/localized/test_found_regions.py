"""Gates that close what is not needed: many copies of a kernel end as few, for the same accuracy."""

import numpy as np
import pytest
from sklearn.base import clone

from multikernel import LocalizedMKLClassifier, LocalizedMKLRegressor, View
from multikernel.datasets import make_gauss
from multikernel.kernels import Linear, Polynomial
from multikernel.localized import (
    LocalizedRidge,
    LocalizedRidgeClassifier,
)


def lines(n_copies):
    return [
        View(f"line {k}", Linear(), transforms="unit_diagonal", standardize=True) for k in range(n_copies)
    ]


def n_used(model):
    return int(np.count_nonzero(model.kernel_weights_ > 0.01))


@pytest.mark.parametrize(
    "model",
    [
        LocalizedMKLClassifier(lines(20), C=10.0, gating_reg=0.0),
        LocalizedRidgeClassifier(lines(20), alpha=0.1),
    ],
    ids=lambda model: type(model).__name__,
)
def test_twenty_lines_end_as_a_few(model):
    """Two classes of two Gaussians each, whose border has three straight pieces."""
    plane, side = make_gauss("GAUSS4", n_samples=400, random_state=30)
    fresh, truth = make_gauss("GAUSS4", n_samples=10000, random_state=1)
    strength = 10.0 if isinstance(model, LocalizedMKLClassifier) else 1.0
    plain = clone(model).fit(plane, side)
    sparse = clone(model).set_params(gating_sparsity=strength).fit(plane, side)
    assert 3 <= n_used(sparse) <= 4 and n_used(sparse) < n_used(plain)
    assert sparse.score(fresh, truth) > plain.score(fresh, truth) - 0.01


@pytest.mark.parametrize("kind", [LocalizedRidge, LocalizedMKLRegressor])
def test_a_weight_of_two_is_a_repeated_row(kind):
    """The prior counts samples by their weights: three rows twice are three rows of weight two."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(40, 2))
    y = np.abs(X[:, 0]) + 0.1 * rng.normal(size=40)
    model = kind([Polynomial(1), Polynomial(1)], gating_reg=0.0, gating_sparsity=1.0, tol=0.01)
    weights = np.where(np.arange(40) < 3, 2.0, 1.0)
    weighted = clone(model).fit(X, y, weights)
    repeated = clone(model).fit(np.vstack([X, X[:3]]), np.concatenate([y, y[:3]]))
    np.testing.assert_allclose(repeated.predict(X), weighted.predict(X), rtol=1e-9, atol=1e-9)

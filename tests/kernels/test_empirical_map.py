"""The empirical kernel map: definition, laws, what is kept, files and factors."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from multikernel import KernelBank, MKLClassifier
from multikernel.io.models import load_model, save_model
from multikernel.kernels import EmpiricalMap, FunctionKernel, Gaussian, Sigmoid, Spectrum, smallest_eigenvalue
from multikernel.views import LowRankBank, View
from tests.raw import raw

RNG = np.random.default_rng(4)
X, Z = RNG.normal(size=(50, 3)), RNG.normal(size=(7, 3))


def manhattan(A, B):
    """No kernel: a distance."""
    return np.abs(np.asarray(A)[:, None] - np.asarray(B)[None]).sum(axis=2)


class Counting:
    """A similarity that counts how many values it was asked for."""

    def __init__(self):
        self.asked = 0

    def __call__(self, A, B):
        self.asked += len(A) * len(B)
        return manhattan(A, B)


@pytest.mark.parametrize("base", [manhattan, Sigmoid(), Gaussian(), Gaussian() + Sigmoid()])
def test_values_are_those_of_the_definition(base):
    kernel = EmpiricalMap(base).fit(X)
    similarity = kernel.base
    expected = similarity(X) @ similarity(X).T
    K = kernel(X)
    np.testing.assert_allclose(K, expected, rtol=1e-12)
    np.testing.assert_allclose(kernel(Z), similarity(Z, X) @ similarity(Z, X).T, rtol=1e-12)
    np.testing.assert_allclose(kernel(Z, X), similarity(Z, X) @ similarity(X, X).T, rtol=1e-12)
    np.testing.assert_allclose(kernel.diag(Z), kernel(Z).diagonal(), rtol=1e-12)
    assert np.array_equal(K, K.T) and kernel.is_psd and EmpiricalMap(base).is_psd
    assert smallest_eigenvalue(K) >= -1e-10 * np.trace(K)
    np.testing.assert_allclose((2.0 * kernel + kernel**2)(Z), 2.0 * kernel(Z) + kernel(Z) ** 2, rtol=1e-12)


def test_it_is_fitted_on_rows_and_is_itself_unchanged():
    kernel = EmpiricalMap(Gaussian())
    fitted = kernel.fit(X)
    assert not kernel.is_fitted and kernel.rows is None and fitted.is_fitted
    assert kernel == EmpiricalMap(Gaussian()) != EmpiricalMap(Sigmoid())
    assert np.array_equal(fitted.fit(Z)(X), EmpiricalMap(fitted.base).fit(Z)(X))  # on other rows
    with pytest.raises(ValueError, match="parameters that depend on the data"):
        kernel(X)
    for twin in (copy.deepcopy(fitted), pickle.loads(pickle.dumps(fitted))):
        assert np.array_equal(twin(Z, X), fitted(Z, X))


def test_similarities_of_training_rows_are_computed_once():
    base = Counting()
    bank = KernelBank([View("m", EmpiricalMap(FunctionKernel(base)), None, "unit_diagonal")]).fit(X)
    assert base.asked == 50 * 50
    whole = bank.transform(Z)[:, :, 0]
    assert base.asked == 50 * 50 + 7 * 50
    support = np.array([4, 2, 30])
    part = bank.restrict(support, [0]).transform(Z)[:, :, 0]
    assert base.asked == 50 * 50 + 2 * 7 * 50
    np.testing.assert_allclose(part, whole[:, support], rtol=1e-12)


def test_two_maps_of_the_same_rows_do_not_take_each_others_similarities():
    views = [("a", EmpiricalMap(manhattan)), ("b", EmpiricalMap(Gaussian())), ("c", EmpiricalMap(manhattan))]
    bank = KernelBank(raw(views))
    Ks = bank.fit_transform(X)
    for m, (_, kernel) in enumerate(views):
        np.testing.assert_allclose(Ks[:, :, m], kernel.fit(X)(X), rtol=1e-12)
        np.testing.assert_allclose(bank.transform(Z)[:, :, m], kernel.fit(X)(Z, X), rtol=1e-12)
    other = EmpiricalMap(manhattan).fit(X[:20])
    assert not np.allclose(other(X), Ks[:, :, 0])


def test_models_of_it_are_saved_and_predict_the_same(tmp_path):
    words = ["".join(RNG.choice(list("ab"), size=8)) for _ in range(40)]
    y = np.array([word.count("a") > 4 for word in words])
    kernel = EmpiricalMap(Spectrum(2)) + EmpiricalMap(Spectrum(1))
    model = MKLClassifier([View("map", kernel, None, "unit_diagonal")], C=10).fit(words, y)
    assert model.score(words, y) > 0.8
    save_model(model, tmp_path / "model")
    assert np.array_equal(
        load_model(tmp_path / "model").decision_function(words), model.decision_function(words)
    )


@pytest.mark.parametrize("approximation", ["nystroem", "cholesky"])
def test_factors_stand_for_it(approximation):
    kernel = EmpiricalMap(Sigmoid(0.5))
    bank = LowRankBank(raw(View("map", kernel, approximation=approximation, rank=50))).fit(X)
    factors = bank.transform(X)
    np.testing.assert_allclose(factors @ factors.T, kernel.fit(X)(X), atol=1e-6)

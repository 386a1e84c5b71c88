"""A classifier on a stack on demand: the model of the whole stack, without the kernels it does not need."""

import numpy as np
import pytest
from sklearn.datasets import make_classification

from multikernel import KernelBank, MKLClassifier, View
from multikernel.kernels import Gaussian, Laplacian, Linear, Polynomial
from multikernel.kernels.together import OnDemand
from multikernel.views import bank as banks

N = 420
# More samples for the start on a part of them, which a bank of few kernels has from 600 samples on.
MANY, MANY_Y = make_classification(
    700, 8, n_informative=5, n_redundant=0, n_classes=3, flip_y=0.05, random_state=0
)
X, Y = MANY[:N], MANY_Y[:N]
BINARY = Y == 1
KERNELS = [
    View(f"g{width:g}", Gaussian(scale=width), transforms="unit_diagonal", standardize=True)
    for width in (0.5, 1.0, 2.0, 4.0, 32.0)
] + [View("linear", Linear(), columns=[0, 1], transforms="unit_diagonal", standardize=True)]


@pytest.fixture
def always(monkeypatch):
    monkeypatch.setattr(banks, "_LARGE", 0)


def test_large_stacks_of_a_unit_diagonal_are_on_demand(always):
    stack = KernelBank(KERNELS).fit_on_demand(X)
    assert isinstance(stack, OnDemand)
    np.testing.assert_array_equal(np.asarray(stack), KernelBank(KERNELS).fit_stack(X))


@pytest.mark.parametrize("X", [X, MANY], ids=["420", "700"])
def test_a_unit_variance_is_known_without_the_matrices(always, X):
    views = [*KERNELS[:3], Polynomial(2), Laplacian(), View("rank", Laplacian(scale=2.0), standardize="rank")]
    stack, whole = KernelBank(views).fit_on_demand(X), KernelBank(views)
    assert isinstance(stack, OnDemand)
    expected = whole.fit_stack(X)
    np.testing.assert_allclose(stack.diagonals(), np.einsum("mii->mi", expected), rtol=1e-13)
    np.testing.assert_allclose(np.asarray(stack), expected, rtol=1e-12, atol=1e-15)
    bank = KernelBank(views)
    bank.fit_on_demand(X)
    for one, other in zip(bank.iter_kernels(X[:9]), whole.iter_kernels(X[:9]), strict=True):
        np.testing.assert_allclose(one[1], other[1], rtol=1e-12, atol=1e-15)


def test_l1_distances_of_many_columns_are_taken_once(always):
    wide = np.random.default_rng(0).normal(size=(60, 40))
    assert isinstance(KernelBank([Gaussian(), Linear()]).fit_on_demand(wide), OnDemand)
    assert isinstance(KernelBank([Gaussian(), Laplacian()]).fit_on_demand(wide), np.ndarray)


@pytest.mark.parametrize(
    "bank",
    [
        KernelBank([Gaussian(), Linear()], normalize="trace"),
        KernelBank(KERNELS, gram="memmap"),
        KernelBank(KERNELS, psd="clip"),
        KernelBank([*KERNELS, View("p", Polynomial(2), transforms=("center", "unit_diagonal"))]),
    ],
    ids=["trace", "memmap", "clip", "center"],
)
def test_other_stacks_are_written_whole(bank, always):
    stack = bank.fit_on_demand(X)
    assert isinstance(stack, np.ndarray)
    np.testing.assert_array_equal(stack, bank.fit_stack(X))


def test_small_stacks_are_written_whole():
    assert isinstance(KernelBank(KERNELS).fit_on_demand(X), np.ndarray)


def test_constant_kernels_are_refused_as_ever(always):
    constant = np.column_stack([np.ones(N), X[:, 0]])
    views = [View("flat", Gaussian(gamma=1.0), columns=[0], normalize=None), ("rest", Gaussian(), [1])]
    with pytest.raises(ValueError, match="kernel 'flat' is constant on the training rows"):
        MKLClassifier(views).fit(constant, BINARY)


@pytest.mark.parametrize(
    ("settings", "y"),
    [
        ({}, BINARY),
        ({"norm": 2.0}, BINARY),
        ({"kernels": "auto"}, BINARY),
        ({"loss": "squared_hinge", "C": "learn"}, BINARY),
        ({"C": np.inf}, BINARY),
        ({"multiclass": "ovo", "n_jobs": 2}, Y),
        ({"multiclass": "joint"}, Y),
    ],
    ids=["plain", "norm 2", "auto", "learned C", "hard margin", "ovo", "joint"],
)
def test_the_model_is_that_of_the_whole_stack(settings, y, monkeypatch):
    model = MKLClassifier(**({"kernels": KERNELS, "tol": 1e-7} | settings))
    whole = model.fit(X, y).kernel_weights_, model.objective_, model.decision_function(X)
    monkeypatch.setattr(banks, "_LARGE", 0)
    model.fit(X, y)
    np.testing.assert_allclose(model.kernel_weights_, whole[0], atol=1e-4)
    assert model.objective_ == pytest.approx(whole[1], rel=2e-7)
    np.testing.assert_allclose(model.decision_function(X), whole[2], atol=2e-3 * np.abs(whole[2]).max())


def test_kernels_without_use_are_not_written(always, monkeypatch):
    seen = []
    fit = KernelBank.fit_on_demand
    monkeypatch.setattr(KernelBank, "fit_on_demand", lambda self, X: seen.append(fit(self, X)) or seen[-1])
    model = MKLClassifier(KERNELS).fit(MANY, MANY_Y == 1)
    (stack,) = seen
    assert stack._is_written[model.kernel_weights_ > 0.0].all()
    assert not stack._is_written[4]  # the widest Gaussian, which tells nothing apart

"""Bad input to the MKL estimators beyond the contract of all estimators, which is in test_contract.py."""

import re

import numpy as np
import pytest

from multikernel import MKLClassifier, MKLOneClass, MKLRegressor, MKLRidge
from multikernel.kernels import Gaussian, Linear

RNG = np.random.default_rng(0)
N = 30
X = RNG.normal(size=(N, 3))
LABELS = np.where(X[:, 0] > 0, "up", "down")
VIEWS = [("tap", Gaussian(gamma=1.0), [0, 1]), ("mic", Linear(), [2])]


def refuses(*parts, error=ValueError):
    """The message holds these parts in this order."""
    return pytest.raises(error, match="(?s)" + ".*".join(re.escape(part) for part in parts))


@pytest.mark.parametrize("kind", [MKLClassifier, MKLRegressor, MKLOneClass, MKLRidge])
def test_a_large_indefinite_kernel(kind):
    """Beyond the size of the full check: refused by the blocks at the door, or else by the solver."""
    n = 700
    big = np.random.default_rng(1).normal(size=(n, 3))
    K = np.exp(-0.5 * ((big[:, None] - big[None]) ** 2).sum(axis=2))
    spoiled = K - 0.9 * np.eye(n)
    spoiled.flat[:: n + 1] = 1.0
    y = np.where(big[:, 0] > 0, 1, -1) if kind is MKLClassifier else big[:, 0]
    model = kind("precomputed", max_iter=50)
    with refuses("kernel-0", "psd="):
        model.fit((0.5 * (spoiled + spoiled.T) * 1.0 - 0.4 * (K > 0.9) * (1 - np.eye(n)))[:, :, None], y)


@pytest.mark.parametrize(
    ("model", "parts"),
    [
        (MKLClassifier(VIEWS, C="auto"), ["C must be", '"learn"', "'auto'"]),
        (MKLClassifier(VIEWS, C="learn"), ['C="learn" needs loss="squared_hinge"', "'hinge'"]),
        (MKLRegressor(VIEWS, C=np.inf), ["C must be finite", "inf"]),
    ],
    ids=str,
)
def test_values_of_C(model, parts):
    with refuses(*parts):
        model.fit(X, LABELS if isinstance(model, MKLClassifier) else X[:, 0])


@pytest.mark.parametrize("multiclass", ["ovr", "ovo", "shared"])
def test_a_hard_margin_on_inseparable_classes(multiclass):
    y = np.array(["x", "y", "z"])[RNG.integers(0, 3, size=N)]
    with refuses("hard margin (C=inf)", "separable", "finite C"):
        MKLClassifier([("line", Linear(), [0])], C=np.inf, multiclass=multiclass).fit(X, y)


def test_weights_that_overflow_beside_a_learned_C():
    model = MKLClassifier(VIEWS, C="learn", loss="squared_hinge")
    with refuses("weights of samples must lie between 1e-100 and 1e100", "1.0e-300", "Rescale"):
        model.fit(X, LABELS, sample_weight=np.r_[1e-300, np.ones(N - 1)])

"""The nonstationary classifier at the edges: small prices, kernels of different size, saddles, words."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from multikernel import MKLClassifier, NonstationaryClassifier
from multikernel.kernels import Gaussian, Linear, Polynomial
from tests.judged import solved_by
from tests.mkl.data import make_binary
from tests.test_bad_input import refuses

KERNELS = [Gaussian(), Linear(), Polynomial(degree=2)]


def make_curved(n=60, seed=0):
    X = np.random.default_rng(seed).normal(size=(n, 3))
    return X, X[:, 0] + X[:, 1] ** 2 > 0.5


@pytest.mark.parametrize("solver", ["ipm", "smo"])
def test_a_small_price_does_not_loosen_the_solution(solver):
    X, y = make_curved()
    usual = NonstationaryClassifier(KERNELS, C=1e-4, solver=solver).fit(X, y)
    exact = NonstationaryClassifier(KERNELS, C=1e-4, solver=solver, tol=1e-7, max_iter=300).fit(X, y)
    assert usual.objective_ <= 1.002 * exact.objective_ < 1e-4 * 60 * (1.0 + np.log(3.0))
    assert (usual.predict(X) == exact.predict(X)).mean() > 0.95


@pytest.mark.parametrize(("solver", "who"), [("ipm", "ours"), ("smo", "ours"), ("ipm", "conic")])
def test_one_kernel_is_the_support_vector_machine_at_any_price(solver, who):
    from sklearn.svm import SVC

    X, y = make_binary(30)
    for C in (1e-6, 1e-2, 1.0):
        model = NonstationaryClassifier([Linear()], C=C, solver=solver)
        with pytest.MonkeyPatch.context() as patch, solved_by(who):
            patch.setattr("multikernel.nonstationary.classifier.warn_of_mixtures", lambda *_: None)
            model.fit(X, y)
        machine = SVC(C=2 * C, kernel="linear", tol=1e-12).fit(X, y)
        slope = model.decision_function(X) - model.decision_function(np.zeros((1, X.shape[1])))
        expected = machine.decision_function(X) - machine.intercept_
        np.testing.assert_allclose(slope, expected, atol=2e-5 * max(np.abs(expected).max(), 1e-300))


def test_mixtures_that_are_worse_than_none_are_told():
    X, y = make_curved()
    with pytest.warns(
        UserWarning, match="worse than mixtures that say the same of every sample.*unit diagonal"
    ):
        NonstationaryClassifier([Gaussian(), Polynomial(degree=2)]).fit(1e7 * X, y)


def test_a_gap_that_still_grows_is_no_end():
    """From the uniform start the way leads along a saddle: the gap is small at first."""
    X, y = make_binary(40)
    model = NonstationaryClassifier("auto", C=0.1, mode="full", max_iter=60)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("multikernel.nonstationary.classifier.warn_of_mixtures", lambda *_: None)
        model.fit(X, y)
    gaps = [entry["gap"] for entry in model.history_]
    assert model.status_ == "optimal"
    assert gaps[-1] <= 1e-5 or (gaps[-1] <= 1e-3 and gaps[-1] < gaps[-2] < np.inf)


def test_the_hard_margin_of_classes_that_nearly_touch():
    x = np.linspace(0.0, 1.0, 10)
    X = np.concatenate([-1e-4 - x, 1e-4 + x])[:, None]
    y = np.repeat([0, 1], 10)
    model = NonstationaryClassifier([Linear(), Polynomial(degree=3)], C=np.inf).fit(X, y)
    assert model.score(X, y) == 1.0
    assert (np.where(y == 1, 1, -1) * model.decision_function(X)).min() >= 1.0 - 1e-4


def test_the_hard_margin_beside_a_kernel_of_another_size():
    X, _ = make_curved()
    y = X[:, 0] > 0
    model = NonstationaryClassifier([Linear(), Polynomial(degree=3)], C=np.inf).fit(1e-5 * X, y)
    assert model.score(1e-5 * X, y) == 1.0


def test_prices_that_this_model_does_not_have():
    X, y = make_binary(20)
    for C in ("learn", "x"):
        with refuses("C must be a positive number or numpy.inf", repr(C), error=TypeError):
            NonstationaryClassifier(C=C).fit(X, y)


@pytest.mark.parametrize("kind", [NonstationaryClassifier, MKLClassifier])
def test_probabilities_asked_for_after_the_fit(kind):
    X, y = make_binary(20)
    model = kind([Linear()], probability=True).fit(X, y)
    model.predict_proba(X)
    model.set_params(probability=False).fit(-X, y)
    model.set_params(probability=True)  # the sigmoids of the first fit are not those of the second
    with pytest.raises(NotFittedError, match="call fit again"):
        model.predict_proba(X)

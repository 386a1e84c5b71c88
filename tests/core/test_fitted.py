"""What a fitted model predicts with: kernels by dual coefficients and by factors, in one model."""

from contextlib import nullcontext

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from multikernel import KernelBank, MKLRidge
from multikernel.core.estimator import worst_status
from multikernel.core.fitted import DualKernels, FactorKernels, FittedKernels
from multikernel.core.optim.loop import Status
from multikernel.kernels import Gaussian, Linear
from multikernel.views.low_rank import LowRankBank
from tests.raw import raw

RNG = np.random.default_rng(0)
X, NEW = RNG.normal(size=(30, 4)), RNG.normal(size=(7, 4))


class Numbered:
    """A bank whose kernels are counted from another number on."""

    def __init__(self, bank, first):
        self.bank, self.first = bank, first

    def iter_kernels(self, rows):
        return ((m + self.first, K) for m, K in self.bank.iter_kernels(rows))


@pytest.fixture
def parts():
    """Two machines on a Gaussian kernel by its support samples, and on a linear one by a factor."""
    dense = KernelBank(raw([("curve", Gaussian(0.3), [0, 1])]))
    dense.fit_stack(X)
    factors = LowRankBank(raw([("line", Linear(), [2, 3])])).fit(X)
    weights = np.array([[0.0, 0.5], [0.0, 2.0]])
    dual = DualKernels(Numbered(dense, 1), RNG.normal(size=(2, 30)), weights)
    return dual, FactorKernels(factors, RNG.normal(size=(2, int(factors.offsets_[-1]))))


def test_kernels_of_both_kinds_add_up(parts):
    dual, factor = parts
    fitted = FittedKernels([dual, factor], (2, 2))
    K = Gaussian(0.3)(NEW[:, :2], X[:, :2])
    each = fitted.contributions(NEW)
    np.testing.assert_allclose(each[:, :, 1], (K @ dual.coefficients.T) * [0.5, 2.0], rtol=1e-12)
    np.testing.assert_allclose(each[:, :, 0], factor.bank.transform(NEW) @ factor.coefficients.T, rtol=1e-12)
    np.testing.assert_allclose(fitted.scores(NEW), each.sum(axis=2), rtol=1e-12)
    assert [m for m, _ in fitted.kernel_scores(NEW)] == [1, 0]


def test_an_estimator_predicts_by_both_kinds(parts):
    """`_scores` and `contributions` read nothing but `_fitted`."""
    model = MKLRidge(raw([("line", Linear(), [2, 3]), ("curve", Gaussian(0.3), [0, 1])])).fit(X, X[:, :2])
    model._fitted = FittedKernels(list(parts), (2, 2))
    expected = model._fitted.scores(NEW) + model.intercept_
    np.testing.assert_allclose(model.predict(NEW), expected, rtol=1e-12)
    np.testing.assert_allclose(model.contributions(NEW).sum(axis=2) + model.intercept_, expected, rtol=1e-12)
    assert model._prediction_bank is None  # no bank holds them all


def test_every_status_has_its_place_and_its_remedy():
    model = MKLRidge().set_params(tol=1e-3)
    model.dual_gap_, model.n_iter_ = 1.0, 3
    for status in Status:
        assert worst_status([Status.OPTIMAL, status]) == status
        model.status_ = str(status)
        calm = status in (Status.OPTIMAL, Status.INTERRUPTED)
        with nullcontext() if calm else pytest.warns(ConvergenceWarning, match=f"status '{status}'"):
            model._warn_unless_converged()

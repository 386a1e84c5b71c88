"""Survival models on factors of low rank, against the same problem on Gram matrices."""

import numpy as np
import pytest

from multikernel import KernelBank
from multikernel.core.optim.loop import Options
from multikernel.core.weights.learn import learn_weights
from multikernel.kernels import Gaussian, Linear
from multikernel.survival import MKLSurvival
from multikernel.survival.solver import cox
from multikernel.survival.solver.cox import CoxLoss
from multikernel.survival.solver.factors import learn_boxed, learn_smooth
from multikernel.survival.solver.ranking import RankingLoss
from multikernel.survival.solver.regression import CensoredEpsilonInsensitive
from tests.survival.problems import linear_stack, sample

OFFSETS, COSTS = np.array([0, 2, 4, 6]), np.array([1.0, 2.0, 1.0])
VIEWS = [("a", Linear(), [0, 1]), ("b", Linear(), [2, 3]), ("c", Linear(), [4, 5])]
# four rows of two columns in each view, so that factors of two columns are exact; the price is told
pytestmark = pytest.mark.filterwarnings("ignore:these factors are no cheaper")


def losses():
    _, event, time, _ = sample(80, ties=True)
    weights = np.linspace(0.5, 2.0, 80)
    return {
        "breslow": CoxLoss(time, event, 0.7, weights),
        "efron and strata": CoxLoss(time, event, 0.7, weights, None, np.arange(80) % 3, "efron"),
        "ranking": RankingLoss(time, event, 0.7, weights),
        "regression": CensoredEpsilonInsensitive(-np.log(time), 0.7 * weights, 0.1, event),
    }


@pytest.mark.parametrize("norm", [1.0, 2.0, np.inf])
@pytest.mark.parametrize("name", list(losses()))
def test_the_problem_is_that_of_the_gram_matrices(name, norm):
    X, loss = sample(80, ties=True)[0], losses()[name]
    dense = learn_weights(linear_stack(X), [loss], norm=norm, costs=COSTS, options=Options(tol=1e-9))
    learn = learn_boxed if name == "regression" else learn_smooth
    found = learn(X, OFFSETS, loss, norm, COSTS, Options(tol=1e-8))
    assert str(found.status) == "optimal" and found.gap <= 1e-8
    assert found.objective == pytest.approx(dense.objective, rel=1e-7)
    np.testing.assert_allclose(found.weights, dense.weights, atol=1e-3)


@pytest.mark.parametrize("ties", ["breslow", "efron"])
def test_the_hessian_by_blocks_of_rows(ties, monkeypatch):
    X, event, time, _ = sample(80, ties=True)
    loss = CoxLoss(time, event, 0.7, None, None, np.arange(80) % 2, ties)
    curvature = loss.curvature(X[:, 0])
    columns = np.linspace(1.0, 2.0, 6)
    expected = (X * columns).T @ curvature.product(X * columns)
    for entries in (6, 100, 10**6):
        monkeypatch.setattr(cox, "_ENTRIES", entries)
        np.testing.assert_allclose(curvature.gram(X, columns), expected, rtol=1e-5, atol=1e-5)
    ranking = RankingLoss(time, event, 0.7).curvature(X[:, 0])
    expected = (X * columns).T @ ranking.product(X * columns)
    np.testing.assert_allclose(ranking.gram(X, columns), expected, atol=1e-10)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("loss", ["cox", "ranking", "regression"])
def test_models_on_factors(loss, dtype):
    X, event, time, _ = sample(80, ties=True)
    weights = np.random.default_rng(0).integers(0, 3, size=80)
    parameters = {"loss": loss, "norm": 2.0, "costs": {"b": 2.0}, "tol": 1e-5}
    dense = MKLSurvival(KernelBank(VIEWS, gram="dense"), **parameters)
    low = MKLSurvival(KernelBank(VIEWS, gram="low_rank", dtype=dtype), **parameters)
    dense.fit(X, (event, time), sample_weight=weights)
    low.fit(X, (event, time), sample_weight=weights)
    assert low.gram_ == "low_rank" and low.status_ == "optimal" and low.dual_gap_ <= 1e-5
    np.testing.assert_allclose(low.predict(X), dense.predict(X), atol=2e-2)
    np.testing.assert_allclose(low.kernel_weights_, dense.kernel_weights_, atol=3e-3)
    assert low.approximation_["rank"].tolist() == [2, 2, 2]
    np.testing.assert_allclose(low.contributions(X).sum(axis=1) + low.intercept_, low.predict(X), atol=1e-5)
    if loss == "cox":
        curves = [model.predict_survival_function(X, [0.5, 1.0]) for model in (dense, low)]
        np.testing.assert_allclose(curves[1], curves[0], atol=1e-2)


def test_strata_on_factors():
    X, event, time, _ = sample(80)
    strata = np.arange(80) % 2
    models = [
        MKLSurvival(KernelBank(VIEWS, gram=gram), tol=1e-8).fit(X, (event, time), strata=strata)
        for gram in ("dense", "low_rank")
    ]
    np.testing.assert_allclose(models[1].baseline_hazard_, models[0].baseline_hazard_, rtol=1e-2)


def test_entry_times_need_gram_matrices():
    X, event, time, start = sample(60, entry=True)
    model = MKLSurvival(KernelBank([Gaussian()], gram="low_rank"))
    with pytest.raises(ValueError, match="entry times have no low-rank route"):
        model.fit(X, (event, time, start))

"""The losses against their definitions, finite differences, and the certificate at any scores."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from multikernel.survival.solver.cox import TIES, CoxLoss
from multikernel.survival.solver.ranking import RankingLoss
from multikernel.survival.solver.regression import CensoredEpsilonInsensitive
from tests.survival.problems import partial_likelihood, ranking, regression, sample

STRATUM = np.arange(40) % 3


def cox_losses():
    for ties in TIES:
        for entry in (False, True):
            for stratum in (None, STRATUM):
                _, event, time, start = sample(ties=True, entry=entry)
                weights = np.random.default_rng(1).uniform(0.5, 2.0, size=40)
                yield CoxLoss(time, event, 2.5, weights, start, stratum, ties)


def losses():
    _, event, time, _ = sample(ties=True)
    return [*cox_losses(), RankingLoss(time, event, 2.5, np.linspace(0.5, 2.0, 40))]


@pytest.mark.parametrize("loss", list(cox_losses()), ids=str)
@pytest.mark.parametrize("size", [1.0, 30.0])
def test_cox_is_its_definition(loss, size):
    u = size * np.random.default_rng(2).normal(size=40)
    value = partial_likelihood(u, loss.event, loss.time, loss.weights, loss.entry, loss.stratum, loss.ties)
    assert loss.value(u) == pytest.approx(2.5 * value, rel=1e-10)


def test_ranking_is_its_definition():
    _, event, time, _ = sample(ties=True)
    w, u = np.linspace(0.5, 2.0, 40), np.random.default_rng(3).normal(size=40)
    assert RankingLoss(time, event, 2.5, w).value(u) == pytest.approx(2.5 * ranking(u, event, time, w))


def test_regression_is_its_definition():
    _, event, time, _ = sample(ties=True)
    w, u = np.linspace(0.5, 2.0, 40), np.random.default_rng(3).normal(size=40)
    value, b = CensoredEpsilonInsensitive(-np.log(time), 2.5 * w, 0.2, event).risk(u)
    assert value == pytest.approx(2.5 * regression(u + b, event, time, 0.2, w))
    others = [2.5 * regression(u + c, event, time, 0.2, w) for c in b + np.linspace(-3.0, 3.0, 601)]
    assert value <= min(others) + 1e-12


@pytest.mark.parametrize("loss", losses(), ids=lambda loss: type(loss).__name__)
def test_derivatives_are_those_of_the_value(loss):
    u = np.random.default_rng(0).normal(size=40)
    step, axes = 1e-6, np.eye(40)
    slopes = [(loss.value(u + step * e) - loss.value(u - step * e)) / (2 * step) for e in axes]
    np.testing.assert_allclose(loss.gradient(u), slopes, atol=2e-7)
    bends = [(loss.gradient(u + step * e) - loss.gradient(u - step * e)) / (2 * step) for e in axes]
    np.testing.assert_allclose(loss.curvature(u).product(axes), bends, atol=2e-7)
    assert abs(loss.gradient(u).sum()) < 1e-12 * np.abs(loss.gradient(u)).sum()


@pytest.mark.parametrize("loss", list(cox_losses()), ids=str)
def test_the_root_of_the_hessian(loss):
    rng = np.random.default_rng(4)
    curvature = loss.curvature(3.0 * rng.normal(size=40))
    A = rng.normal(size=(40, 40))
    S = curvature.down(np.eye(40)).T
    np.testing.assert_allclose(curvature.up(np.eye(S.shape[1])), S, atol=1e-12)
    np.testing.assert_allclose(curvature.inside(A @ A.T), S.T @ A @ A.T @ S, atol=1e-10)


def test_scores_far_apart_do_not_overflow():
    _, event, time, _ = sample(ties=True)
    u = np.linspace(-3000.0, 3000.0, 40)
    for ties in TIES:
        loss = CoxLoss(time, event, 1.0, ties=ties)
        assert np.isfinite(loss.value(u)) and np.isfinite(loss.gradient(u)).all()
        assert np.isfinite(loss.curvature(u).product(np.eye(40))).all()


@given(
    seed=st.integers(0, 10**6), size=st.sampled_from([0.1, 1.0, 10.0]), C=st.sampled_from([0.01, 1.0, 50.0])
)
@pytest.mark.parametrize("name", ["cox", "ranking"])
def test_every_dual_value_is_a_lower_bound(name, seed, size, C):
    """At any scores, β = −∇L is feasible, and its value below every primal value."""
    rng = np.random.default_rng(seed)
    X, event, time, _ = sample(25, seed=3, ties=bool(seed % 2))
    loss = CoxLoss(time, event, C) if name == "cox" else RankingLoss(time, event, C)
    K = X @ X.T
    a, u = size * rng.normal(size=25), size * rng.normal(size=25)
    beta = -loss.gradient(u)
    dual = loss.value(u) + beta @ u - 0.5 * beta @ K @ beta
    primal = 0.5 * a @ K @ a + loss.value(K @ a)
    assert dual <= primal + 1e-9 * abs(primal)


def test_weights_are_repetitions():
    _, event, time, _ = sample(ties=True)
    counts = np.random.default_rng(5).integers(1, 4, size=40)
    u, rows = np.random.default_rng(6).normal(size=40), np.repeat(np.arange(40), counts)
    for make in (lambda t, e, w=None: CoxLoss(t, e, 1.5, w), lambda t, e, w=None: RankingLoss(t, e, 1.5, w)):
        weighted, repeated = make(time, event, counts.astype(float)), make(time[rows], event[rows])
        assert weighted.value(u) == pytest.approx(repeated.value(u[rows]), rel=1e-12)
        sums = np.bincount(rows, repeated.gradient(u[rows]))
        np.testing.assert_allclose(weighted.gradient(u), sums, atol=1e-12)

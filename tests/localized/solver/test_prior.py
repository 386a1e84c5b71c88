"""The prior that closes gates: value, gradient, weights of samples, and the objective with it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from multikernel.localized.solver.gates import GATES
from multikernel.localized.solver.prior import MeanGatePrior, SparseGatedObjective, gated_objective
from tests.localized.solver.gated_problems import differences, make_machines, make_problem


def plain_prior(strength, weights, eta):
    return strength * sum(
        np.log(1.0 + sum(w * e for w, e in zip(weights, gate, strict=True))) for gate in eta.T
    )


@given(gate=st.sampled_from(sorted(GATES)), strength=st.floats(0.1, 5.0), seed=st.integers(0, 2**31))
def test_value_and_gradient(gate, strength, seed):
    rng = np.random.default_rng(seed)
    X, weights = rng.normal(size=(9, 2)), rng.uniform(0.5, 2.0, size=9)
    V = rng.normal(size=(3, 3)) + [0.0, 0.0, 2.0]
    prior, gating = MeanGatePrior(strength, weights), GATES[gate]
    eta = gating.values(V, X)
    assert prior.value(eta) == pytest.approx(plain_prior(strength, weights, eta))
    slopes = gating.gradient(V, X, eta, prior.contributions(eta))
    expected = differences(
        lambda v: plain_prior(strength, weights, gating.values(v.reshape(3, 3), X)), V.ravel()
    )
    np.testing.assert_allclose(slopes.ravel(), expected, atol=1e-6 * max(1.0, np.abs(expected).max()))


def test_it_is_a_dirichlet_density_of_the_mean_gate():
    """Differences of its values are those of −(concentration − 1) Σ log(π + 1/n)."""
    rng = np.random.default_rng(0)
    values = []
    for _ in range(2):
        eta = rng.dirichlet(np.ones(3), size=50)
        density = (0.3 - 1.0) * np.log(eta.mean(axis=0) + 1.0 / 50.0).sum()
        values.append(MeanGatePrior(0.7, np.ones(50)).value(eta) + density)
    assert values[0] == pytest.approx(values[1])


def test_a_weight_of_two_is_a_repeated_sample():
    eta = np.random.default_rng(0).dirichlet(np.ones(3), size=4)
    twice = MeanGatePrior(1.5, np.ones(5)).value(np.vstack([eta, eta[:1]]))
    assert MeanGatePrior(1.5, np.array([2.0, 1.0, 1.0, 1.0])).value(eta) == pytest.approx(twice)


def test_closed_gates_are_free_and_few_are_cheaper_than_many():
    prior = MeanGatePrior(1.0, np.ones(60))
    two, three = np.zeros((60, 3)), np.zeros((60, 3))
    two[np.arange(60), np.arange(60) % 2] = three[np.arange(60), np.arange(60) % 3] = 1.0
    assert prior.value(two) == pytest.approx(2.0 * np.log(31.0)) and prior.value(two) < prior.value(three)


@given(kind=st.sampled_from(["hinge", "svr"]), seed=st.integers(0, 2**31))
def test_it_is_added_to_the_objective_of_a_gate(kind, seed):
    rng = np.random.default_rng(seed)
    X, weights = rng.normal(size=(12, 2)), rng.uniform(0.5, 2.0, size=12)
    Ks = np.stack([X @ X.T + 1.0, np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=2))])
    given = (Ks, [0, 1, 1], X, GATES["softmax"])
    plain = gated_objective(0.0, weights, *given, make_machines(kind, make_problem(12, seed=seed), 1e-9), 0.1)
    sparse = gated_objective(
        2.0, weights, *given, make_machines(kind, make_problem(12, seed=seed), 1e-9), 0.1
    )
    assert type(plain) is not SparseGatedObjective and type(sparse) is SparseGatedObjective
    theta = rng.normal(size=9)
    prior = plain_prior(2.0, weights, GATES["softmax"].values(theta.reshape(3, 3), X))
    assert sparse.value(theta) == pytest.approx(plain.value(theta) + prior, rel=1e-9)
    slopes = differences(
        lambda v: plain_prior(2.0, weights, GATES["softmax"].values(v.reshape(3, 3), X)), theta
    )
    np.testing.assert_allclose(sparse.gradient() - plain.gradient(), slopes, atol=1e-5)
    ceiling = 0.9 * sparse.value(theta)
    assert sparse.value(theta, ceiling) > ceiling  # refused, and never below the ceiling

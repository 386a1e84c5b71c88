"""Gating models: their values by plain formulas, their gradients by finite differences, their starts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from multikernel.localized.solver.gates import GATES, LEAST_WIDTH, OPEN, is_saturated, saturated_gates
from tests.localized.localized_reference import gate_of
from tests.localized.solver.gated_problems import GATES as NAMES
from tests.localized.solver.gated_problems import differences


def draw_parameters(name, P, D, rng):
    V = rng.normal(size=(P, D + 1))
    if name == "gaussian":
        V[:, -1] = rng.uniform(0.5, 2.0, size=P)
    return V


SIZES = st.tuples(st.integers(1, 9), st.integers(1, 5), st.integers(0, 4), st.integers(0, 2**20))


@pytest.mark.parametrize("name", NAMES)
@given(sizes=SIZES)
def test_values_follow_the_formula_and_gradients_its_differences(name, sizes):
    """J(η) = Σ s_im log η_im has c = −s: any slopes, without a kernel."""
    n, P, D, seed = sizes
    rng = np.random.default_rng(seed)
    X, V = rng.normal(size=(n, D)), draw_parameters(name, P, D, rng)
    s = rng.normal(size=(n, P))
    eta = GATES[name].values(V, X)
    np.testing.assert_allclose(eta, gate_of(name, V, X), rtol=1e-12, atol=1e-300, strict=True)
    if name != "sigmoid":
        np.testing.assert_allclose(eta.sum(axis=1), 1.0, rtol=1e-14)
    found = GATES[name].gradient(V, X, eta, -s)

    def J(parameters):
        return float((s * np.log(gate_of(name, parameters.reshape(V.shape), X))).sum())

    expected = differences(J, V.ravel()).reshape(V.shape)
    atol = 1e-6 * max(1.0, np.abs(expected).max())
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=atol, strict=True)


@pytest.mark.parametrize("name", NAMES)
def test_huge_activations_neither_overflow_nor_warn(name):
    X = np.array([[1e6, -1e6], [-1e6, 1e6], [0.0, 0.0]])
    V = np.array([[1e3, -1e3, 0.5], [-1e3, 1e3, 0.7]])
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        eta = GATES[name].values(V, X)
        slope = GATES[name].gradient(V, X, eta, np.ones_like(eta))
    assert np.isfinite(eta).all()
    assert np.isfinite(slope).all()
    if name != "gaussian":
        np.testing.assert_array_equal(eta[:2], [[1.0, 0.0], [0.0, 1.0]])
        np.testing.assert_allclose(eta[2:], gate_of(name, V, X[2:]), rtol=1e-14)


def test_a_narrow_gaussian_gate_far_from_every_sample_is_finite():
    V = np.array([[0.0, LEAST_WIDTH], [5.0, LEAST_WIDTH]])
    X = np.array([[1e4], [2.0], [3.0]])
    with np.errstate(over="raise", invalid="raise"):
        eta = GATES["gaussian"].values(V, X)
        slope = GATES["gaussian"].gradient(V, X, eta, np.ones_like(eta))
    np.testing.assert_array_equal(eta, [[0.0, 1.0], [1.0, 0.0], [0.0, 1.0]])
    assert np.isfinite(slope).all()


@pytest.mark.parametrize("name", NAMES)
def test_nothing_given_is_modified(name):
    rng = np.random.default_rng(1)
    X, V = rng.normal(size=(5, 2)), draw_parameters(name, 3, 2, rng)
    V[0, -1] = -V[0, -1]
    eta, c = GATES[name].values(V, X), rng.normal(size=(5, 3))
    arrays = (X, V, eta, c)
    copies = [array.copy() for array in arrays]
    for array in arrays:
        array.flags.writeable = False
    GATES[name].values(V, X)
    GATES[name].gradient(V, X, eta, c)
    GATES[name].project(V)
    GATES[name].draw(3, X, rng)
    for array, copy in zip(arrays, copies, strict=True):
        np.testing.assert_array_equal(array, copy)


def test_widths_are_kept_away_from_zero_and_their_sign_means_nothing():
    V = np.array([[1.0, -2.0, -0.7], [0.0, 3.0, 1e-9], [0.5, 0.5, 0.0], [4.0, 4.0, 2.0]])
    projected = GATES["gaussian"].project(V)
    np.testing.assert_array_equal(projected[:, :2], V[:, :2])
    np.testing.assert_array_equal(projected[:, 2], [0.7, LEAST_WIDTH, LEAST_WIDTH, 2.0])
    flipped = V * [1.0, 1.0, -1.0]
    X = np.random.default_rng(0).normal(size=(4, 2))
    np.testing.assert_array_equal(
        GATES["gaussian"].values(V[[0, 3]], X), GATES["gaussian"].values(flipped[[0, 3]], X)
    )
    for name in ("softmax", "sigmoid"):
        np.testing.assert_array_equal(GATES[name].project(V), V)


@pytest.mark.parametrize("name", ("softmax", "sigmoid"))
def test_linear_starts_fill_their_interval(name):
    X = np.zeros((10, 400))
    for scale in (0.01, 5.0):
        V = GATES[name].draw(3, X, np.random.default_rng(0), scale)
        assert V.shape == (3, 401)
        assert np.abs(V).max() <= scale
        assert V.max() > 0.98 * scale
        assert V.min() < -0.98 * scale
    default = GATES[name].draw(3, X, np.random.default_rng(0))
    assert 0.0098 < np.abs(default).max() <= 0.01


def test_gaussian_starts_are_different_samples_with_the_width_of_the_cloud():
    X = np.random.default_rng(0).normal(size=(7, 4))
    V = GATES["gaussian"].draw(7, X, np.random.default_rng(3))
    assert sorted(map(tuple, V[:, :-1])) == sorted(map(tuple, X))  # without replacement
    np.testing.assert_allclose(V[:, -1], 2.0)
    more = GATES["gaussian"].draw(20, X, np.random.default_rng(3))  # more gates than samples: they repeat
    assert more.shape == (20, 5)
    assert {tuple(row) for row in more[:, :-1]} <= set(map(tuple, X))


def test_saturation_is_nearly_all_gate_values_at_their_ends():
    eta = np.zeros((100, 2))
    eta[:, 0] = 1.0
    assert is_saturated(eta)
    eta[:5] = 0.5  # 95 % are not more than 95 %
    assert not is_saturated(eta)
    eta[0] = 1.0 - OPEN, OPEN
    assert is_saturated(eta)
    assert not is_saturated(np.ones((100, 1)))


def test_saturated_gates_are_told_one_by_one():
    eta = np.full((100, 4), 0.3)
    eta[:, 1] = 1.0
    eta[:96, 2] = 0.5 * OPEN
    eta[:95, 3] = 0.0
    np.testing.assert_array_equal(saturated_gates(eta), [False, True, True, False])
    # A single competing gate is one everywhere by definition; a single sigmoid that is shut is worth a word.
    assert not saturated_gates(np.ones((10, 1))).any()
    assert saturated_gates(np.zeros((10, 1))).all()

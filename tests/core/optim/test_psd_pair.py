"""One semidefinite constraint and its multiplier: every formula against dense linear algebra."""

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given, settings
from hypothesis import strategies as st

from multikernel.core.optim.psd_pair import PSDPair, PSDStep, cholesky, smallest_ritz_value
from multikernel.core.optim.weight_sets import Spectrahedron


def symmetric(A):
    return 0.5 * (A + A.T)


def make_pair(n=8, m=4, seed=0, spread=1.0):
    """A pair away from the path KZ = tI: two steps have been taken from its start."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(m, n, n))
    Ks = A @ A.transpose(0, 2, 1) / n * 10.0 ** rng.uniform(-spread, spread, size=(m, 1, 1))
    pair = PSDPair(Spectrahedron(symmetric_stack(Ks), np.ones(m)), np.full(m, 1.0 / m), 0.3)
    for _ in range(2):
        pair.prepare()
        step = pair.step(rng.normal(size=m) / m, 0.1)
        pair.advance(step, 0.5 * min(1.0, pair.longest(step)))
    return pair, rng


def symmetric_stack(Ks):
    return 0.5 * (Ks + Ks.transpose(0, 2, 1))


cases = given(st.integers(1, 12), st.integers(1, 5), st.integers(0, 10**6))


@cases
def test_the_start_lies_on_the_path(n, m, seed):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(m, n, n + 1))
    cone = Spectrahedron(symmetric_stack(A @ A.transpose(0, 2, 1)), np.ones(m))
    w = rng.uniform(0.5, 1.5, size=m)
    pair = PSDPair(cone, w, 0.7)
    np.testing.assert_allclose(pair.K, np.einsum("i,iab->ab", w, cone.Ks), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(pair.K @ pair.Z, 0.7 * np.eye(cone.size), atol=1e-7)
    np.testing.assert_allclose(pair.gap, 0.7 * cone.size, rtol=1e-7)
    with pytest.raises(ValueError, match="must give a positive definite matrix"):
        PSDPair(cone, -w, 0.7)


@cases
def test_the_curvature_is_the_trace_of_its_definition(n, m, seed):
    pair, _ = make_pair(n, m, seed)
    M = pair.prepare()
    inverse = np.linalg.inv(pair.K)
    expected = [[np.trace(A @ inverse @ B @ pair.Z) for B in pair.cone.Ks] for A in pair.cone.Ks]
    np.testing.assert_allclose(M, expected, rtol=1e-7, atol=1e-9 * np.abs(expected).max())
    np.testing.assert_allclose(pair.inverse_traces, [np.trace(A @ inverse) for A in pair.cone.Ks], rtol=1e-8)
    np.testing.assert_allclose(pair.traces, [np.trace(A @ pair.Z) for A in pair.cone.Ks], rtol=1e-8)
    assert pair.prepare() is M  # once for all directions of an iteration


@cases
def test_the_step_of_the_multiplier(n, m, seed):
    """dZ = tK⁻¹ − Z − sym(K⁻¹ dK Z) − correction; hence its traces are those that Newton's system assumes."""
    pair, rng = make_pair(n, m, seed)
    M = pair.prepare()
    dw, t = rng.normal(size=m), 0.05
    inverse = np.linalg.inv(pair.K)
    dK = np.einsum("i,iab->ab", dw, pair.cone.Ks)
    expected = t * inverse - pair.Z - symmetric(inverse @ dK @ pair.Z)
    size = np.abs(inverse).max() * max(t, np.abs(dK).max() * np.abs(pair.Z).max())
    first = pair.step(dw, t)
    np.testing.assert_allclose(first.dK, dK, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(first.dZ, expected, atol=1e-9 * size)
    np.testing.assert_allclose(
        pair.cone.traces(first.dZ),
        t * pair.inverse_traces - pair.traces - M @ dw,
        atol=1e-9 * size * np.abs(pair.cone.Ks).sum(axis=(1, 2)).max(),
    )
    correction = pair.correction(first)
    np.testing.assert_allclose(
        correction, symmetric(inverse @ first.dK @ first.dZ),
        atol=1e-9 * size * np.abs(inverse).max() * np.abs(first.dK).max(),
    )  # fmt: skip
    second = pair.step(dw, t, correction)
    np.testing.assert_allclose(second.dZ, first.dZ - correction, atol=1e-12 * np.abs(first.dZ).max())


def test_the_direction_solves_the_linearised_path():
    """K Z + dK Z + K dZ = tI up to the symmetrisation of Helmberg, Kojima and Monteiro."""
    pair, rng = make_pair()
    pair.prepare()
    step = pair.step(rng.normal(size=4), 0.05)
    # dZ is the symmetric part of the one solution of K(Z + dZ') + dK Z = tI
    exact = np.linalg.solve(pair.K, 0.05 * np.eye(8) - pair.K @ pair.Z - step.dK @ pair.Z)
    np.testing.assert_allclose(step.dZ, symmetric(exact), atol=1e-9 * np.abs(exact).max())
    assert np.abs(exact - exact.T).max() > 1e-3 * np.abs(exact).max()  # not symmetric by chance


def exact_longest(A, change):
    """The largest s with A + s · change positive semidefinite."""
    lowest = scipy.linalg.eigh(change, A, eigvals_only=True)[0]
    return -1.0 / lowest if lowest < 0 else np.inf


# open: among 200 examples one step is long by 8 %, 2 % allowed: n=8, m=5, seed=0
@settings(max_examples=50)
@cases
def test_the_longest_step_by_generalised_eigenvalues(n, m, seed):
    """Exact where n Lanczos steps are taken: to six; beyond, it may stop when two per cent seem proved."""
    pair, rng = make_pair(n, m, seed)
    pair.prepare()
    step = pair.step(rng.normal(size=m), 0.05)
    exact = min(exact_longest(pair.K, step.dK), exact_longest(pair.Z, step.dZ))
    short, long = (0.95, 1.02) if n > 6 else (0.99999, 1.00001)
    assert short * exact <= pair.longest(step) <= long * exact


@pytest.mark.parametrize("seed", range(6))
def test_the_longest_step_of_larger_matrices(seed):
    """Beyond the Lanczos steps the answer may be short by a few per cent, and hardly ever long."""
    pair, rng = make_pair(n=120, m=3, seed=seed)
    pair.prepare()
    step = pair.step(rng.normal(size=3), 0.05)
    exact = min(exact_longest(pair.K, step.dK), exact_longest(pair.Z, step.dZ))
    assert 0.9 * exact <= pair.longest(step) <= 1.01 * exact


def test_a_step_that_never_ends():
    pair, _ = make_pair()
    assert pair.longest(PSDStep(pair.K, np.zeros_like(pair.Z))) == np.inf
    assert pair.longest(PSDStep(pair.K, -0.5 * pair.Z)) == pytest.approx(2.0, rel=1e-9)


# --------------------------------------------------------------------------- the smallest eigenvalue


def random_symmetric(values, rng):
    Q = np.linalg.qr(rng.normal(size=(values.size, values.size)))[0]
    return (Q * values) @ Q.T


@given(st.integers(1, 48), st.integers(0, 10**6), st.floats(-3.0, 3.0))
def test_the_smallest_ritz_value_is_exact_for_small_matrices(n, seed, offset):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=n) * 10.0 ** rng.uniform(-2, 2) + offset
    A = random_symmetric(values, rng)
    answer = smallest_ritz_value(lambda v: A @ v, n)
    if n <= 6:
        np.testing.assert_allclose(answer, values.min(), rtol=1e-9, atol=1e-9 * np.abs(values).max())
    # beyond, it may stop when two per cent seem proved
    assert abs(answer - values.min()) <= 0.025 * max(abs(values.min()), 0.3)


@given(
    st.integers(60, 200), st.integers(0, 10**6), st.sampled_from(["normal", "clustered", "gap", "lowest far"])
)
def test_the_smallest_ritz_value_is_almost_a_lower_bound(n, seed, kind):
    rng = np.random.default_rng(seed)
    values = {
        "normal": lambda: rng.normal(size=n),
        "clustered": lambda: -1.0 + 1e-3 * rng.uniform(size=n),
        "gap": lambda: np.where(np.arange(n) < n // 2, -1.0, 1.0) + 0.1 * rng.normal(size=n),
        "lowest far": lambda: np.append(rng.uniform(-0.1, 1.0, size=n - 1), -5.0),
    }[kind]()
    A = random_symmetric(values, rng)
    answer = smallest_ritz_value(lambda v: A @ v, n)
    lowest = values.min()
    assert answer <= lowest + 0.03 * abs(lowest)
    assert answer >= lowest - 0.1 * abs(lowest)


def test_an_operator_with_few_eigenvalues_ends_early():
    calls = []

    def twice(v):
        calls.append(1)
        return 2.0 * v

    assert smallest_ritz_value(twice, 100) == pytest.approx(2.0, rel=1e-12)
    assert len(calls) == 1
    values = np.where(np.arange(100) < 3, -7.0, 1.0)
    assert smallest_ritz_value(lambda v: values * v, 100) == pytest.approx(-7.0, rel=1e-10)


# --------------------------------------------------------------------------- moving


@cases
def test_advancing_keeps_both_definite(n, m, seed):
    pair, rng = make_pair(n, m, seed)
    pair.prepare()
    step = pair.step(3.0 * rng.normal(size=m), 0.01)
    K, Z = pair.K.copy(), pair.Z.copy()
    asked = 5.0 * min(exact_longest(K, step.dK), exact_longest(Z, step.dZ), 1.0)  # often far too long
    length = pair.advance(step, asked)
    assert 0.0 < length <= asked
    np.testing.assert_allclose(pair.K, K + length * step.dK, rtol=1e-13, atol=1e-13 * np.abs(K).max())
    np.testing.assert_allclose(pair.Z, Z + length * step.dZ, rtol=1e-13, atol=1e-13 * np.abs(Z).max())
    for A, factor in ((pair.K, pair.L), (pair.Z, pair.R)):
        assert np.linalg.eigvalsh(A)[0] > -1e-14 * np.abs(A).max()
        np.testing.assert_allclose(factor @ factor.T, A, atol=1e-12 * np.abs(A).max())
        assert not np.triu(factor, 1).any()
    # what the directions shared is formed anew
    inverse = np.linalg.inv(pair.K)
    expected = [[np.trace(A @ inverse @ B @ pair.Z) for B in pair.cone.Ks] for A in pair.cone.Ks]
    np.testing.assert_allclose(pair.prepare(), expected, rtol=1e-4, atol=1e-6 * np.abs(expected).max())


def test_a_step_within_the_cone_is_taken_as_it_is():
    pair, rng = make_pair()
    pair.prepare()
    step = pair.step(rng.normal(size=4), 0.05)
    length = 0.9 * pair.longest(step)
    after = pair.gap_after(step, length)
    assert pair.advance(step, length) == length
    np.testing.assert_allclose(pair.gap, after, rtol=1e-12)
    np.testing.assert_allclose(after, np.trace(pair.K @ pair.Z), rtol=1e-12)


def test_a_hopeless_step_is_not_taken():
    pair, _ = make_pair()
    before = pair.K.copy()
    nothing = np.full_like(pair.K, np.nan)
    assert pair.advance(PSDStep(nothing, nothing), 1.0) == 0.0
    np.testing.assert_array_equal(pair.K, before)


def test_cholesky_says_when_there_is_none():
    assert cholesky(np.diag([1.0, -1e-3])) is None
    assert cholesky(np.diag([1.0, 0.0])) is None
    assert cholesky(np.full((2, 2), np.nan)) is None
    A = np.array([[4.0, 2.0], [2.0, 5.0]])
    np.testing.assert_allclose(cholesky(A), [[2.0, 0.0], [1.0, 2.0]])
    np.testing.assert_array_equal(A, [[4.0, 2.0], [2.0, 5.0]])


# --------------------------------------------------------------------------- the multiplier of a certificate


@given(st.integers(4, 12), st.integers(1, 5), st.integers(0, 10**6))
def test_the_repaired_multiplier_meets_its_equations(n, m, seed):
    """q_i + tr(Z K_i) = θ r_i for all i, Z positive definite: checked by eigenvalues and a plain solution."""
    pair, rng = make_pair(n, m, seed, spread=0.3)
    r = np.trace(pair.cone.Ks, axis1=1, axis2=2)
    start = pair.Z.copy()
    exact = rng.normal() * r - pair.cone.traces(pair.Z)  # met by Z as it is
    for size in (0.0, 1e-6, 1e-2):
        q = exact + size * np.abs(exact).max() * rng.normal(size=m)
        Z = pair.multiplier(q, r)
        np.testing.assert_array_equal(pair.Z, start)
        if Z is None:
            assert size > 1e-6
            continue
        assert np.linalg.eigvalsh(Z)[0] > 0.0
        traces = q + [np.trace(Z @ K) for K in pair.cone.Ks]
        theta = float(r @ traces / (r @ r))
        np.testing.assert_allclose(traces, theta * r, atol=1e-8 * np.abs(traces).max())
        assert np.linalg.norm(Z - start) <= 1e3 * np.linalg.norm(start) * size + 1e-8 * np.linalg.norm(start)


def test_a_multiplier_that_cannot_be_repaired_nearby():
    pair, _ = make_pair(m=2)
    r = np.trace(pair.cone.Ks, axis1=1, axis2=2)
    far = 1e4 * np.array([1.0, -1.0]) * pair.cone.traces(pair.Z)
    assert pair.multiplier(far, r) is None

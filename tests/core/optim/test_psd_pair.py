"""The repaired multiplier of a semidefinite constraint; steps are judged by what learns with them."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from multikernel.core.optim.psd_pair import PSDPair
from multikernel.core.optim.weight_sets import Spectrahedron


def symmetric(A):
    return 0.5 * (A + np.swapaxes(A, -1, -2))


def make_pair(n=8, m=4, seed=0, spread=1.0):
    """A pair away from the path KZ = tI: two steps have been taken from its start, which lies on it."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(m, n, n))
    Ks = A @ A.transpose(0, 2, 1) / n * 10.0 ** rng.uniform(-spread, spread, size=(m, 1, 1))
    pair = PSDPair(Spectrahedron(symmetric(Ks), np.ones(m)), np.full(m, 1.0 / m), 0.3)
    np.testing.assert_allclose(pair.gap, 0.3 * pair.cone.size, rtol=1e-6)
    for _ in range(2):
        pair.prepare()
        step = pair.step(rng.normal(size=m) / m, 0.1)
        pair.advance(step, 0.5 * min(1.0, pair.longest(step)))
    return pair, rng


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
    if m > 1:  # what no repair nearby can meet
        far = 1e4 * np.where(np.arange(m) % 2, -1.0, 1.0) * pair.cone.traces(pair.Z)
        assert pair.multiplier(far, r) is None

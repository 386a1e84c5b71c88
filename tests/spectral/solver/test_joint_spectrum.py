"""Several kernels and factors: the learned kernel against its definition; the maximum margin criterion."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from multikernel.spectral.solver.kernel import (
    JointSpectrum,
    SpectralModel,
    SpectralRule,
    learn_spectral_weights,
    spectrum_of,
    spectrum_of_factor,
)
from multikernel.spectral.solver.leave_one_out import Folds, cross_validation_score, leave_one_out_score
from multikernel.spectral.solver.separability import Tradeoff, scatters, separability_objective
from tests.spectral.solver.test_order import make_problem

RULE = SpectralRule(tradeoff=Tradeoff(1.5, relative=True))


def trace_criterion(K, codes, alpha):
    """tr S_b − α tr S_w in the feature space of K, by equations (5) and (9) of the paper."""
    l = codes.size
    same = (codes[:, None] == codes) / np.bincount(codes)[codes]
    between = np.sum((same - 1.0 / l) * K) / l
    within = np.sum((np.eye(l) - same) * K) / l
    return between - alpha * within


# --- several kernels -----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_weights_of_several_kernels_maximise_the_criterion_of_their_sum(seed):
    codes = make_problem(seed)[1]
    parts = tuple(spectrum_of(make_problem(seed + 50 * i)[0]) for i in range(3))
    joint = JointSpectrum(parts)
    found = learn_spectral_weights(joint, codes, RULE)
    V = joint.vectors
    K = (V * found.weights**2) @ V.T
    l = codes.size
    assert found.objective == pytest.approx(trace_criterion(K[:l, :l], codes, found.alpha))
    worth = [trace_criterion(np.outer(v, v), codes, found.alpha) for v in V[:l].T]
    mu = cp.Variable(len(worth))
    program = cp.Problem(
        cp.Maximize(cp.sum(cp.multiply(worth, mu**2))),
        [cp.sum(mu) == sum(np.sqrt(part.values).sum() for part in parts)],
    )
    program.solve(solver=cp.CLARABEL)
    assert found.objective == pytest.approx(program.value, rel=1e-6)
    np.testing.assert_allclose(found.weights, mu.value, atol=1e-4 * found.weights.max())
    np.testing.assert_array_equal(joint.kernels, np.repeat([0, 1, 2], [part.values.size for part in parts]))


def test_one_kernel_twice_is_that_kernel():
    K, codes = make_problem(1)
    one, two = spectrum_of(K), JointSpectrum((spectrum_of(K), spectrum_of(K)))
    plain, twice = (SpectralModel(s, learn_spectral_weights(s, codes, RULE), codes.size) for s in (one, two))
    np.testing.assert_allclose(twice.kernel(), 2.0 * plain.kernel(), atol=1e-9)
    rows = K[20:]
    np.testing.assert_allclose(twice.rows([rows, rows]), 2.0 * plain.rows(rows), atol=1e-9)
    assert leave_one_out_score(two, codes, RULE) == leave_one_out_score(one, codes, RULE)
    np.testing.assert_array_equal(two.above(0.2).kernels, np.repeat([0, 1], one.above(0.2).values.size))


# --- factors ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("center", [False, True])
def test_factors_have_the_spectrum_of_their_matrix(center):
    rng = np.random.default_rng(4)
    Z = rng.normal(size=(30, 7)) + 0.5
    codes = np.arange(12) % 2
    factors, whole = spectrum_of_factor(Z, center=center), spectrum_of(Z @ Z.T, center=center)
    np.testing.assert_allclose(factors.values, whole.values, rtol=1e-9)
    assert factors.trace == pytest.approx(whole.trace)
    new = rng.normal(size=(5, 7))
    models = [SpectralModel(s, learn_spectral_weights(s, codes, RULE), 12) for s in (factors, whole)]
    np.testing.assert_allclose(models[0].kernel(), models[1].kernel(), atol=1e-8)
    np.testing.assert_allclose(models[0].rows(new), models[1].rows(new @ Z.T), atol=1e-8)
    np.testing.assert_allclose(factors.extend(Z), factors.vectors, atol=1e-9)
    kept = factors.above(0.3)
    np.testing.assert_allclose(kept.extend(Z), factors.vectors[:, : kept.values.size], atol=1e-9)
    blocks = np.concatenate(list(models[0].unlabelled_blocks(7)))
    np.testing.assert_allclose(blocks, models[0].unlabelled(), atol=1e-12)


def test_constant_factors_are_refused():
    with pytest.raises(ValueError, match=r"no spectrum.*after centring"):
        spectrum_of_factor(np.ones((6, 2)), center=True)


# --- folds -----------------------------------------------------------------------------------------------


class Nearest:
    """A machine on a precomputed kernel: the class of the most similar point."""

    def fit(self, K, y):
        self.y = y
        return self

    def predict(self, K):
        return self.y[K.argmax(axis=1)]


def test_folds_are_judged_by_kernels_that_have_not_seen_their_labels():
    K, codes = make_problem(8, n=40, l=24)
    spectrum = spectrum_of(K)
    splits = [
        (np.flatnonzero(np.arange(24) % 3 != i), np.flatnonzero(np.arange(24) % 3 == i)) for i in range(3)
    ]
    found = cross_validation_score(spectrum, codes, RULE, Folds(splits, Nearest))
    shares = []
    for train, test in splits:
        V = spectrum.vectors[train]
        f, g = scatters(V, codes[train])
        d = f - 1.5 * (f / g).max() * g
        mu = spectrum.budget / d / np.sum(1.0 / d)
        learned = (spectrum.vectors[test] * mu**2) @ V.T
        shares.append(np.mean(codes[train][learned.argmax(axis=1)] == codes[test]))
    assert found == pytest.approx(np.mean(shares))
    assert 0.0 < found < 1.0


# --- the maximum margin criterion ------------------------------------------------------------------------


@given(st.integers(0, 10**6))
def test_at_alpha_one_the_criterion_is_the_maximum_margin_criterion(seed):
    """½ Σ_ij p_i p_j (‖m_i − m_j‖² − s_i − s_j) of Li, Jiang & Zhang, in explicit features of K_μ."""
    rng = np.random.default_rng(seed)
    codes = np.append(rng.permutation(np.arange(12) % 3), 2)
    V, mu = rng.normal(size=(13, 5)), rng.uniform(0.1, 2.0, 5)
    features = V * mu
    means = np.array([features[codes == c].mean(axis=0) for c in range(3)])
    spreads = [((features[codes == c] - means[c]) ** 2).sum() / np.sum(codes == c) for c in range(3)]
    p = np.bincount(codes) / codes.size
    margin = 0.5 * sum(
        p[i] * p[j] * (np.sum((means[i] - means[j]) ** 2) - spreads[i] - spreads[j])
        for i in range(3)
        for j in range(3)
    )
    f, g = scatters(V, codes)
    assert separability_objective(mu, f, g, 1.0) == pytest.approx(margin, rel=1e-9, abs=1e-12)
    S_b = sum(p[i] * np.outer(means[i] - p @ means, means[i] - p @ means) for i in range(3))
    residuals = features - means[codes]
    S_w = residuals.T @ residuals / codes.size
    assert np.trace(S_b - S_w) == pytest.approx(margin, rel=1e-9, abs=1e-12)
    # over orthonormal W the best value is the sum of the positive eigenvalues; W = I is what μ is learned for
    assert np.linalg.eigvalsh(S_b - S_w).clip(0.0).sum() >= margin - 1e-9

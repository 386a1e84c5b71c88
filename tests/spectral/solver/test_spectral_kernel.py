"""Spectral kernels: fixtures, the extension to new points, alignment against other solvers, errors."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import nnls
from sklearn.svm import SVC

from multikernel.spectral.solver.kernel import (
    SpectralModel,
    SpectralRule,
    alignment_weights,
    learn_spectral_weights,
    least_over_nonnegative,
    spectrum_of,
    target_norm,
    target_products,
)
from multikernel.spectral.solver.separability import Tradeoff, scatters
from tests.spectral import wine


def random_kernel(n=20, rank=8, seed=0):
    factor = np.random.default_rng(seed).normal(size=(n, rank)) + 0.5
    return factor @ factor.T


# --- fixtures ----------------------------------------------------------------------------------------------

FIXTURES = [
    (False, 0.01, 22, 45.190378, 6.504845, (22.64679, 4.710466, 3.215101), (0.9507, 0.9225, 0.9296)),
    (True, 0.1, 8, 21.382316, 6.672365, (8.527616, 5.173724, 1.594891), (0.9577, 0.9789, 0.9648)),
]


@pytest.mark.parametrize(("center", "eig_tol", "p", "budget", "star", "weights", "accuracies"), FIXTURES)
def test_wine(center, eig_tol, p, budget, star, weights, accuracies):
    K, codes, unknown = wine.problem()
    spectrum = spectrum_of(K, center=center).above(eig_tol)
    learned = learn_spectral_weights(spectrum, codes, SpectralRule())
    assert spectrum.values.size == p
    assert spectrum.budget == pytest.approx(budget, abs=1e-6)
    assert learned.weights.sum() == pytest.approx(budget, abs=1e-6)
    assert learned.alpha_star == learned.enough == pytest.approx(star, abs=1e-6)
    np.testing.assert_allclose(learned.weights[:3], weights, atol=1e-5)
    assert learned.held.size == learned.absent.size == 0
    Z = SpectralModel(spectrum, learned, 36).coordinates
    found = [np.mean(wine.vote(Z[36:], Z[:36], codes, k) == unknown) for k in (1, 3)]
    found.append(SVC(kernel="linear", C=100).fit(Z[:36], codes).score(Z[36:], unknown))
    np.testing.assert_allclose(found, accuracies, atol=5e-5)


@pytest.mark.parametrize(("method", "value"), [("closed", 0.634690), ("nnls", 0.638969)])
def test_alignment_of_wine_with_one_class_against_the_rest(method, value):
    K, codes, _ = wine.problem()
    spectrum = spectrum_of(K).above(0.01)
    learned = learn_spectral_weights(
        spectrum, np.where(codes == 0, 1, 0), SpectralRule("alignment", method=method)
    )
    assert learned.objective == pytest.approx(value, abs=1e-6)
    y = np.where(codes == 0, 1.0, -1.0)
    model = SpectralModel(spectrum, learned, 36)
    block = model.labelled()
    assert y @ block @ y / (np.linalg.norm(block) * 36.0) == pytest.approx(value, abs=1e-6)
    assert y @ K[:36, :36] @ y / (np.linalg.norm(K[:36, :36]) * 36.0) == pytest.approx(0.327656, abs=1e-6)
    assert np.trace(model.kernel()) == pytest.approx(178.0)  # the trace of K


# --- spectrum ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("center", [False, True])
def test_the_spectrum_is_that_of_the_matrix(center):
    K = random_kernel()
    before = K.copy()
    spectrum = spectrum_of(K, center=center)
    np.testing.assert_array_equal(K, before)
    H = np.eye(20) - 1.0 / 20
    expected = H @ K @ H if center else K
    V, w = spectrum.vectors, spectrum.values
    assert w.size == 8 and (np.diff(w) <= 0.0).all()
    np.testing.assert_allclose((V * w) @ V.T, expected, atol=1e-10)
    np.testing.assert_allclose(V.T @ V, np.eye(8), atol=1e-12)
    assert spectrum.trace == pytest.approx(np.trace(expected))
    assert spectrum.budget == pytest.approx(np.sqrt(w).sum())
    part = spectrum.above(0.3)
    kept = w > 0.3 * w[0]
    assert 1 < kept.sum() < 8
    np.testing.assert_array_equal(part.values, w[kept])
    np.testing.assert_array_equal(part.vectors, V[:, kept])
    assert part.vectors.base is None  # the rest of the eigenvectors is not kept alive
    assert part.trace == spectrum.trace and part.center is spectrum.center


@pytest.mark.parametrize("center", [False, True])
def test_the_extension_to_new_points_is_that_of_nystrom(center):
    X, _ = wine.load()
    K, rows = wine.gaussian(X[:100], X[:100], 26.0), wine.gaussian(X[100:], X[:100], 26.0)
    spectrum = spectrum_of(K, center=center).above(0.01)
    if center:  # in the feature space, the mean of the fitted points is the origin
        rows = rows - rows.mean(axis=1, keepdims=True) - K.mean(axis=0) + K.mean()
    w, V = spectrum.values, spectrum.vectors
    expected = np.array([[row @ V[:, r] / w[r] for r in range(w.size)] for row in rows])
    raw = wine.gaussian(X[100:], X[:100], 26.0)
    np.testing.assert_allclose(spectrum.extend(raw), expected, atol=1e-12)


def test_a_constant_kernel_has_no_spectrum_once_centred():
    with pytest.raises(ValueError, match=r"largest eigenvalue after centring is .*center=False"):
        spectrum_of(np.full((5, 5), 3.0), center=True)
    assert spectrum_of(np.full((5, 5), 3.0)).values.size == 1
    factor = np.random.default_rng(0).normal(size=(7, 7))
    with pytest.raises(ValueError, match="after centring"):  # what is left is rounding
        spectrum_of(0.1 + 1e-16 * factor @ factor.T, center=True)
    assert spectrum_of(0.1 + 1e-9 * factor @ factor.T, center=True).values.size == 6
    with pytest.raises(
        ValueError, match=r"no spectrum: its largest eigenvalue is 0\. .* zero on these points"
    ):
        spectrum_of(np.zeros((3, 3)))


# --- separability ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tradeoff", [Tradeoff(1e4), Tradeoff(1.5, relative=True), Tradeoff(np.inf)])
def test_the_objective_is_that_of_the_weights(tradeoff):
    K, codes, _ = wine.problem()
    spectrum = spectrum_of(K).above(0.01)
    learned = learn_spectral_weights(spectrum, codes, SpectralRule(tradeoff=tradeoff))
    f, g = scatters(spectrum.vectors[:36], codes)
    between, within = learned.weights**2 @ f, learned.weights**2 @ g
    alpha = tradeoff.value * 6.504845469520146 if tradeoff.relative else tradeoff.value
    assert learned.alpha == pytest.approx(alpha)
    expected = -within if np.isinf(alpha) else between - alpha * within
    assert learned.objective == pytest.approx(expected)
    assert learned.separability == pytest.approx(between / within)


def test_labelled_points_that_do_not_differ_are_refused():
    K = np.zeros((6, 6))
    K[:4, :4] = 1.0
    K[4, 4], K[5, 5] = 0.5, 0.25
    with pytest.raises(ValueError, match="none of the 3 eigenvectors kept varies over the 4 labelled points"):
        learn_spectral_weights(spectrum_of(K), np.array([0, 1, 0, 1]), SpectralRule())
    learned = learn_spectral_weights(spectrum_of(K), np.array([0, 1, 0, 1, 1]), SpectralRule())
    absent = spectrum_of(K).vectors[5] ** 2 > 0.5  # the last point's own
    np.testing.assert_array_equal(learned.absent, np.flatnonzero(absent))
    assert not learned.weights[absent].any()


# --- alignment ---------------------------------------------------------------------------------------------


@given(st.integers(0, 10**6), st.integers(2, 4))
def test_nonnegative_weights_align_best(seed, k):
    rng = np.random.default_rng(seed)
    V, codes = rng.normal(size=(15, 5)) / 4.0, np.arange(15) % k
    q, norm, S = target_products(V, codes, k), target_norm(codes, k), (V.T @ V) ** 2
    w = alignment_weights(V, q, norm, "nnls", 15)
    L = np.linalg.cholesky(S)
    expected, _ = nnls(L.T, np.linalg.solve(L, q))
    np.testing.assert_allclose(w / w.sum(), expected / expected.sum(), atol=1e-8)
    best = q @ w / np.sqrt(w @ S @ w)
    for other in (q, *rng.uniform(0.0, 1.0, (5, 5)), *np.eye(5)):
        assert q @ other / np.sqrt(other @ S @ other) <= best + 1e-12
    np.testing.assert_array_equal(alignment_weights(V, q, norm, "closed", 15), q)


def test_the_closed_form_is_best_where_all_points_are_labelled():
    K, codes, unknown = wine.problem()
    every = np.concatenate([codes, unknown])
    spectrum = spectrum_of(K).above(0.01)
    closed = learn_spectral_weights(spectrum, every, SpectralRule("alignment"))
    exact = learn_spectral_weights(spectrum, every, SpectralRule("alignment", method="nnls"))
    np.testing.assert_allclose(closed.weights, exact.weights, atol=1e-6)


@given(st.integers(0, 10**6), st.integers(1, 8))
def test_the_active_set_finds_the_least_from_any_start(seed, n_start):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(8, 8))
    S = A.T @ A
    S /= np.sqrt(np.outer(S.diagonal(), S.diagonal()))
    q = rng.normal(size=8)
    q[0] = 1.0
    start = np.where(np.arange(8) < n_start, rng.uniform(size=8), 0.0)
    w = least_over_nonnegative(S, q, start)
    slack = S @ w - q
    assert (w >= 0.0).all()
    assert slack.min() > -1e-8 * max(1.0, np.abs(w).max())
    assert abs(w @ slack) < 1e-8 * max(1.0, np.abs(w).max()) ** 2


def test_eigenvectors_without_labelled_entries_have_no_part_in_the_alignment():
    V = np.array([[1.0, 0.0], [0.5, 0.0], [-1.0, 0.0]])
    codes = np.array([0, 0, 1])
    q, norm = target_products(V, codes, 2), target_norm(codes, 2)
    for near in (None, np.ones(2)):
        w = alignment_weights(V, q, norm, "nnls", 10, near=near)
        assert w[0] > 0.0 and w[1] == 0.0
    assert not alignment_weights(0.0 * V, 0.0 * q, norm, "nnls", 10).any()
    barely = np.column_stack([V[:, 0], 1e-9 * V[:, 0]])
    w = alignment_weights(barely, target_products(barely, codes, 2), norm, "nnls", 10)
    assert w[0] > 0.0 and w[1] == 0.0
    constant = np.ones((2, 1))
    assert not alignment_weights(
        constant, target_products(constant, np.array([0, 1]), 2), 2.0, "nnls", 10
    ).any()


def test_classes_that_no_eigenvector_knows_are_refused():
    K = np.ones((4, 4))
    with pytest.raises(ValueError, match="none of the 1 eigenvectors kept is aligned with the classes"):
        learn_spectral_weights(spectrum_of(K), np.array([0, 1]), SpectralRule("alignment"))

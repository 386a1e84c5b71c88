"""Within the space of a repeated eigenvalue the eigenvectors are arbitrary; what is learned is not."""

import itertools

import numpy as np
import pytest

from multikernel.kernels import Gaussian
from multikernel.spectral import SpectralKernelClassifier
from multikernel.spectral.solver.kernel import Spectrum, learn_spectral_weights, spectrum_of
from multikernel.spectral.solver.leave_one_out import leave_one_out_score, squares_without_each
from tests.spectral.solver.test_leave_one_out import RULES

VALUES = np.array([5.0, 3.0, 3.0, 3.0, 1.0, 0.5, 0.5])
SPACES = [slice(0, 1), slice(1, 4), slice(4, 5), slice(5, 7)]
CODES = np.arange(14) % 3


def orthonormal(n, p, seed):
    return np.linalg.qr(np.random.default_rng(seed).normal(size=(n, p)))[0]


def two_bases():
    """The same matrix with two sets of eigenvectors."""
    V = orthonormal(20, 7, 0)
    turned = V.copy()
    for place, space in enumerate(SPACES):
        size = space.stop - space.start
        turned[:, space] = V[:, space] @ orthonormal(size, size, place)
    assert np.abs(V - turned).max() > 0.1
    return Spectrum(VALUES, V, VALUES.sum()), Spectrum(VALUES, turned, VALUES.sum())


def weighted(spectrum, squares):
    return (spectrum.vectors * squares) @ spectrum.vectors.T


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_the_learned_kernel_does_not_depend_on_the_basis(rule):
    first, second = two_bases()
    np.testing.assert_array_equal(first.spaces, [0, 1, 1, 1, 2, 3, 3])
    kernels = [weighted(s, learn_spectral_weights(s, CODES, rule).weights ** 2) for s in (first, second)]
    np.testing.assert_allclose(*kernels, atol=1e-9 * np.abs(kernels[0]).max())
    without = [squares_without_each(s, CODES, rule) for s in (first, second)]
    scale = np.abs(without[0]).max()
    for i in range(CODES.size):
        left = [weighted(s, squares[i]) for s, squares in zip((first, second), without, strict=True)]
        np.testing.assert_allclose(*left, atol=1e-9 * scale)
    assert leave_one_out_score(first, CODES, rule) == leave_one_out_score(second, CODES, rule)


def test_eigenvalues_are_cut_off_in_whole_spaces():
    spectrum = Spectrum(VALUES + 1e-11 * np.arange(7.0)[::-1], orthonormal(20, 7, 0), VALUES.sum())
    assert spectrum.above(0.6).values.size == 4
    assert spectrum.above(0.3).values.size == 4
    assert spectrum.above(0.1).values.size == 7


def test_aligned_weights_of_spaces_are_the_best_of_their_kind():
    """A general optimiser over one weight for each space finds no better alignment."""
    from scipy.optimize import minimize

    spectrum, _ = two_bases()
    learned = learn_spectral_weights(spectrum, CODES, RULES["nnls"])
    V, target = spectrum.vectors[:14], np.where(CODES[:, None] == CODES, 1.0, -0.5)

    def alignment(w):
        K = (V * np.asarray(w)[spectrum.spaces]) @ V.T
        return float((K * target).sum() / (np.linalg.norm(K) * np.linalg.norm(target)))

    assert learned.objective == pytest.approx(alignment(learned.weights[[0, 1, 4, 5]] ** 2), rel=1e-9)
    starts = np.random.default_rng(0).uniform(0.1, 1.0, size=(5, 4))
    best = max(-minimize(lambda w: -alignment(w), start, bounds=[(1e-9, None)] * 4).fun for start in starts)
    assert learned.objective >= best - 1e-7


@pytest.mark.parametrize("parameters", [{}, {"alpha": ("relative", 1.5)}, {"criterion": "alignment"}])
def test_the_order_of_columns_and_unlabelled_points_does_not_matter(parameters):
    """A full factorial design, whose eigenvalues repeat."""
    X = np.array(list(itertools.product(range(3), range(3), range(2), range(3), range(4))), float)
    y = ((X[:, 0] == X[:, 1]) | (X[:, 4] == 1)).astype(int)
    order = np.random.default_rng(0).permutation(len(X))
    known, unknown = order[:50], order[50:]
    assert spectrum_of(Gaussian(gamma=0.1)(X)).spaces[-1] < 150

    def fitted(columns, rest):
        model = SpectralKernelClassifier(gamma="mean", **parameters)
        return model.fit(X[known][:, columns], y[known], X[rest][:, columns])

    plain = fitted(slice(None), unknown)
    reversed_columns = fitted(slice(None, None, -1), unknown)
    scale = np.abs(plain.kernel_).max()
    np.testing.assert_allclose(plain.kernel_, reversed_columns.kernel_, atol=1e-8 * scale)
    turned = np.random.default_rng(1).permutation(len(unknown))
    moved = fitted(slice(None), unknown[turned])
    np.testing.assert_allclose(plain.kernel_[:50, 50:][:, turned], moved.kernel_[:50, 50:], atol=1e-8 * scale)


def test_a_spectrum_without_repetition_has_a_space_for_each():
    rng = np.random.default_rng(0)
    F = rng.normal(size=(12, 12))
    np.testing.assert_array_equal(spectrum_of(F @ F.T).spaces, np.arange(12))

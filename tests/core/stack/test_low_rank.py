"""Kernels by factors: a common basis, and how a function is shared, to the last digits of each column."""

import numpy as np

from multikernel.core.stack.low_rank import Factor, Kernels


def graded(n=60, seed=0):
    """Two factors with columns 1e10 apart, of which one nearly repeats another."""
    rng = np.random.default_rng(seed)
    first, second = rng.normal(size=(n, 4)), rng.normal(size=(n, 3))
    first *= 10.0 ** np.array([0.0, -4.0, -7.0, -8.0])
    first[:, 3] = 1e-8 * (first[:, 0] + 1e-8 * rng.normal(size=n))
    return Kernels(np.empty((2, n, n)), np.ones(2), {0: Factor(first, basis=np.eye(4)),
                                                     1: Factor(1e-10 * second, basis=np.eye(3))})  # fmt: skip


def test_the_common_basis_holds_each_column_to_its_own_rounding():
    kernels = graded()
    for m, T in zip(kernels.low, kernels.T, strict=True):
        L = kernels.factors[int(m)].L
        missed = np.linalg.norm(L - kernels.Q @ T, axis=0) / np.linalg.norm(L, axis=0)
        assert missed.max() <= 1e-13


def test_shares_of_a_function_make_it_again_where_scales_are_far_apart():
    kernels = graded()
    omega = np.array([1.0, 1e-3])
    eta = np.random.default_rng(1).normal(size=(kernels.rank, 1))
    split = kernels.split(omega)
    theta, inner = kernels.shares(split, omega, eta)
    sizes = sum(
        omega[m] * np.abs(T) @ np.abs(part) for m, T, part in zip(kernels.low, kernels.T, inner, strict=True)
    )
    assert np.all(np.abs(eta - kernels.moved(omega, inner, 1)) <= 1e-14 * (np.abs(eta) + sizes))
    np.testing.assert_allclose(split.G @ theta, eta, rtol=1e-9, atol=1e-9)

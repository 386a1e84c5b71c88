"""Alignment by Clarabel and by our own methods: the same optimum, each with its own certificate."""

import numpy as np
import pytest

from judges.conic import learn_alignment_conic
from multikernel.core.alignment import learn_alignment


def random_problem(seed, n=60):
    """Kernels of one table, with weights of both signs in the unconstrained optimum for most seeds."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    if seed % 3 == 0:
        X[n // 2 :] = X[: n - n // 2]  # repeated points: a common null space
    inner = X @ X.T
    squares = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    Ks = np.stack([inner, (1.0 + inner) ** 2, np.exp(-0.2 * squares), np.exp(-2.0 * squares)])
    y = np.where(X[: 2 * n // 3, 0] * X[: 2 * n // 3, 1] > 0, 1.0, -1.0)
    return Ks, y


@pytest.mark.parametrize("weights", ["nonnegative", "free"])
@pytest.mark.parametrize("n", [30, 60])
@pytest.mark.parametrize("seed", range(9))
def test_both_solvers_find_the_same(seed, n, weights):
    Ks, y = random_problem(seed, n)
    ours = learn_alignment(Ks, y, weights)
    conic = learn_alignment_conic(Ks, y, weights)
    assert ours.status == conic.status == "optimal"
    assert conic.objective == pytest.approx(ours.objective, rel=1e-7)
    # each one's upper bound holds for the other
    assert conic.objective <= ours.upper_bound * (1 + 1e-12)
    assert ours.objective <= conic.upper_bound * (1 + 1e-12)
    K = np.tensordot(conic.weights, Ks, 1)
    assert np.linalg.norm(K) == pytest.approx(1.0)
    assert np.linalg.eigvalsh(K)[0] >= -1e-10
    if weights == "nonnegative":
        assert conic.weights.min() >= 0.0


def test_some_of_these_problems_are_not_solved_by_a_formula():
    """The unconstrained optimum S⁻¹q is indefinite, and the constrained one has weights of both signs."""
    active = mixed = 0
    for seed in range(9):
        Ks, y = random_problem(seed)
        S = np.array([[np.vdot(K, L) for K in Ks] for L in Ks])
        q = np.array([y @ K[: y.size, : y.size] @ y for K in Ks])
        K = np.tensordot(np.linalg.solve(S, q), Ks, 1)
        active += np.linalg.eigvalsh(K)[0] < -1e-3 * np.linalg.norm(K)
        mixed += learn_alignment_conic(Ks, y, "free").weights.min() < -1e-4
    assert active >= 5 and mixed >= 3


def test_too_few_programs_are_said():
    Ks, y = random_problem(1)
    result = learn_alignment_conic(Ks, y, "free", max_iter=1)
    assert result.status == "max_iter" and result.gap > 1e-8

"""The approximation (37) of the discriminant program: the smallest diagonal above a matrix, and bounds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judges.diagonal_discriminant import (
    between_classes,
    diagonal_bound,
    learn_diagonal_discriminant,
    smooth_bound,
    smooth_separation,
)
from judges.programs import discriminant_published as reference
from multikernel.core.scatter import class_columns
from multikernel.discriminant.solver.problem import DiscriminantProblem, Members
from tests.discriminant.discriminant_problems import (
    assert_close,
    make_problem,
    problems,
    regs,
    shares_of,
    slopes,
    wine,
)


def random_matrix(k, rank, seed, spread=1.0):
    """Symmetric; positive semidefinite of a rank, or indefinite for rank 0."""
    rng = np.random.default_rng(seed)
    if rank == 0:
        C = rng.normal(size=(k, k))
        return C + C.T
    X = 10.0 ** (spread * rng.uniform(-1, 1, (k, 1))) * rng.normal(size=(k, rank))
    return X @ X.T


sizes = st.integers(2, 9)
seeds = st.integers(0, 10**6)


@pytest.mark.parametrize(("k", "rank"), [(2, 1), (3, 2), (3, 3), (4, 0), (6, 3), (10, 9)])
def test_against_cvxopt(k, rank):
    C = random_matrix(k, rank, seed=k + rank)
    expected, Z = reference.smallest_diagonal(C)
    found = diagonal_bound(C)
    assert found.upper == pytest.approx(expected, rel=1e-7)
    np.testing.assert_allclose((found.Z * C).sum(), (Z * C).sum(), rtol=1e-7)


@given(sizes, st.integers(0, 9), seeds, st.floats(-12, 12))
def test_it_is_enclosed_by_feasible_points_at_every_scale(k, rank, seed, magnitude):
    C = 10.0**magnitude * random_matrix(k, min(rank, k), seed, spread=2.0)
    size = np.linalg.norm(C)
    found = diagonal_bound(C)
    assert found.lower <= found.upper <= found.lower + 2e-10 * size
    assert found.upper == pytest.approx(found.t.sum(), rel=1e-14)
    assert found.lower == pytest.approx((found.Z * C).sum(), rel=1e-14)
    assert np.linalg.eigvalsh(np.diag(found.t) - C)[0] >= -1e-15 * k * size
    assert np.linalg.eigvalsh(found.Z)[0] >= -1e-14
    np.testing.assert_array_equal(np.diag(found.Z), 1.0)


@given(st.floats(0, 10), st.floats(0, 10), st.floats(-10, 10))
def test_of_two_by_two(a, b, c):
    """v = a + b + 2|c|."""
    found = diagonal_bound(np.array([[a, c], [c, b]]))
    assert found.upper == pytest.approx(a + b + 2.0 * abs(c), abs=1e-8)


def test_of_rank_one_diagonal_and_zero():
    x = np.array([3.0, -1.0, 0.5, 2.0])
    assert diagonal_bound(np.outer(x, x)).upper == pytest.approx(np.abs(x).sum() ** 2, rel=1e-9)
    assert diagonal_bound(np.diag(x)).upper == pytest.approx(x.sum(), rel=1e-9)
    nothing = diagonal_bound(np.zeros((3, 3)))
    assert nothing.upper == nothing.lower == 0.0
    np.testing.assert_array_equal(nothing.Z, np.eye(3))
    np.testing.assert_array_equal(nothing.t, 0.0)


@given(sizes, st.integers(0, 9), seeds, st.integers(-8, 1))
def test_the_smooth_form_is_central_and_encloses(k, rank, seed, power):
    C = random_matrix(k, min(rank, k), seed)
    sigma = 10.0**power * np.linalg.norm(C)
    found = smooth_bound(C, sigma)
    np.testing.assert_array_equal(np.diag(found.Z), 1.0)
    inner = float((found.Z * C).sum())
    assert found.t.sum() - inner == pytest.approx(k * sigma, rel=1e-5)
    central = found.Z @ (np.diag(found.t) - C) / sigma
    np.testing.assert_allclose(central, np.eye(k), atol=1e-5)
    assert found.value == pytest.approx(inner + sigma * np.linalg.slogdet(found.Z)[1], rel=1e-9, abs=1e-12)
    exact = diagonal_bound(C)
    slack = 1e-9 * np.linalg.norm(C)
    assert found.value <= exact.upper + slack
    assert inner <= exact.upper + slack
    assert found.t.sum() >= exact.lower - slack


@given(sizes, st.integers(1, 9), seeds, st.sampled_from([1e-3, 1e-2, 1.0]))
def test_its_gradient_is_z(k, rank, seed, relative):
    C = random_matrix(k, min(rank, k), seed, spread=0.5)
    C /= np.linalg.norm(C)
    D = random_matrix(k, 0, seed + 1)
    D /= np.linalg.norm(D)
    h = 1e-3 * relative
    values = [smooth_bound(C + step * h * D, relative).value for step in (-2, -1, 1, 2)]
    slope = (values[0] - 8 * values[1] + 8 * values[2] - values[3]) / (12 * h)
    assert slope == pytest.approx((smooth_bound(C, relative).Z * D).sum(), rel=1e-6, abs=1e-8)


@given(problems, regs)
def test_between_classes(problem, reg):
    """C and its first and second derivatives."""
    Ks, codes = make_problem(*problem)
    members = Members(Ks, reg)
    H = np.asfortranarray(class_columns(codes))
    x = shares_of(members.usable.size, problem[-1])
    here = between_classes(members, H, x)
    A, ridge = reference.members(Ks, reg)
    M = ridge + np.tensordot(x, A, 1)
    assert_close(here.C, H.T @ np.linalg.solve(M, H))
    assert_close(-here.E, slopes(lambda z: between_classes(members, H, z).C, x))
    second = np.einsum("ina,jnb->ijab", here.W, here.W)
    second += second.transpose(0, 1, 3, 2)
    assert_close(second, slopes(lambda z: -between_classes(members, H, z).E, x))


@settings(max_examples=12)
@given(problems, regs, st.sampled_from([1e-3, 1e-1]))
def test_smooth_diagonal(problem, reg, relative):
    Ks, codes = make_problem(*problem)
    members = Members(Ks, reg)
    H = np.asfortranarray(class_columns(codes))
    x = shares_of(members.usable.size, problem[-1])
    sigma = relative * float(np.trace(between_classes(members, H, x).C))

    def at(z):
        return smooth_separation(between_classes(members, H, z), sigma)

    here = at(x)
    # The smooth form bends within a width of σ: smaller steps, which cost digits.
    assert_close(here.gradient, slopes(lambda z: at(z).value, x, 1e-4 * relative), rtol=1e-5)
    assert_close(here.hessian, slopes(lambda z: at(z).gradient, x, 1e-4 * relative), rtol=1e-4)


@settings(max_examples=15)
@given(problems, st.sampled_from([1.0, 1e-4, None]))
def test_whatever_b_and_z_prove_is_below_the_optimum(problem, reg):
    Ks, codes = make_problem(*problem)
    members = Members(Ks, reg)
    H = np.asfortranarray(class_columns(codes))
    factor = 1.0 if reg is None else reg
    exact, diagonal = (reference.value(Ks, codes, reg, form, H)[0] for form in ("full", "diagonal"))
    rng = np.random.default_rng(problem[-1])
    for seed in range(5):
        x = shares_of(members.usable.size, [problem[-1], seed])
        between = between_classes(members, H, x)
        L = rng.normal(size=(H.shape[1], 2))
        L /= np.linalg.norm(L, axis=1)[:, None]
        for Z in (L @ L.T, diagonal_bound(between.C).Z):
            assert factor * between.lower_bound(Z) <= diagonal * (1.0 + 1e-7)
        assert factor * between.lower_bound(np.eye(len(L))) <= exact * (1.0 + 1e-7)


def test_the_bound_is_reached_at_the_optimum():
    Ks, codes = wine()  # not a kink: there is only one Z
    found = learn_diagonal_discriminant(DiscriminantProblem(Ks, codes, 1e-2))
    between = between_classes(Members(Ks, 1e-2), np.asfortranarray(class_columns(codes)), found.shares)
    proved = 1e-2 * between.lower_bound(diagonal_bound(between.C).Z)
    assert proved == pytest.approx(found.objective, rel=1e-7)

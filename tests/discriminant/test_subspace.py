"""The model on a subspace, its small program, and certificates without a factorisation."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judges.programs import discriminant_published as reference
from multikernel.core.optim.loop import Options, Status
from multikernel.core.scatter import separation_columns
from multikernel.discriminant.solver.learn import (
    DiscriminantProblem,
    Objective,
    evaluate_separation,
    learn_discriminant,
)
from multikernel.discriminant.solver.problem import Members
from multikernel.discriminant.solver.subspace import Subspace, chosen_members, is_cheap, minimise_reduced
from tests.discriminant.discriminant_problems import gaussians, make_problem, problems, regs, shares_of


def subspace_at(Ks, codes, reg, shares):
    members = Members(Ks, reg)
    H = np.asfortranarray(separation_columns(codes))
    here = evaluate_separation(members, H, shares)
    return members, H, here, Subspace(members, H, np.arange(shares.size), shares, here.solved)


def model_value(subspace, H, shares):
    """F_V, from B in the span alone."""
    B = subspace.rows.T @ subspace.coordinates(shares)
    members = subspace.members
    MB = members.ridge * B + np.tensordot(shares, members.times(B), 1)
    return 2.0 * np.sum(B * H) - np.sum(B * MB)


@given(problems, regs)
def test_the_model_is_never_above_the_objective(problem, reg):
    Ks, codes = make_problem(*problem)
    m = Members(Ks, reg).usable.size
    members, H, here, subspace = subspace_at(Ks, codes, reg, shares_of(m, 0))
    assert model_value(subspace, H, shares_of(m, 0)) == pytest.approx(np.sum(here.solved.Y**2), rel=1e-7)
    for seed in (1, 2):
        there = shares_of(m, seed)
        value = np.sum(evaluate_separation(members, H, there).solved.Y ** 2)
        assert model_value(subspace, H, there) <= value * (1.0 + 1e-7)


@pytest.mark.parametrize("reg", [1e-1, None])
def test_the_model_is_right_to_third_order(reg):
    Ks, codes = make_problem("gaussians", 30, 3, 3)
    m = Members(Ks, reg).usable.size
    middle, end = np.full(m, 1.0 / m), shares_of(m, 3)
    members, H, _, subspace = subspace_at(Ks, codes, reg, middle)
    errors = []
    for step in (0.4, 0.2, 0.1):
        shares = middle + step * (end - middle)
        errors.append(np.sum(evaluate_separation(members, H, shares).solved.Y ** 2))
        errors[-1] -= model_value(subspace, H, shares)
    assert errors[0] / errors[1] == pytest.approx(16.0, rel=0.4)
    assert errors[1] / errors[2] == pytest.approx(16.0, rel=0.4)


@given(
    st.integers(1, 8),
    st.integers(1, 9),
    st.integers(1, 3),
    st.sampled_from([1e-8, 1e-2, 1.0]),
    st.integers(0, 99),
)
def test_the_small_program_ends_at_its_optimum(s, d, q, ridge, seed):
    rng = np.random.default_rng(seed)
    factors = rng.normal(size=(s, d, rng.integers(1, d + 1)))
    forms = factors @ factors.transpose(0, 2, 1)
    forms = np.concatenate([forms, np.eye(d)[None], forms[:1]])  # one of them twice
    forms /= np.trace(forms, axis1=1, axis2=2)[:, None, None]
    sides = rng.normal(size=(d, q))
    found = minimise_reduced(forms, sides, ridge, np.full(s + 2, 1.0 / (s + 2)))
    assert found.min() >= 0.0 and found.sum() == pytest.approx(1.0, rel=1e-12)
    b = np.linalg.solve(ridge * np.eye(d) + np.tensordot(found, forms, 1), sides)
    slopes = np.einsum("iab,ac,bc->i", forms, b, b)
    value = np.sum(b * sides)
    assert value - value**2 / (ridge * np.sum(b * b) + slopes.max()) <= 1e-7 * value


@pytest.mark.parametrize("reg", [1e-1, None])
def test_a_column_makes_the_model_right_to_two_more_orders(reg):
    Ks, codes = make_problem("gaussians", 30, 3, 3)
    m = Members(Ks, reg).usable.size
    middle, end = np.full(m, 1.0 / m), shares_of(m, 3)
    errors = []
    for step in (0.4, 0.2):
        members, H, _, subspace = subspace_at(Ks, codes, reg, middle)
        shares = middle + step * (end - middle)
        lacking = subspace.lacking(shares)
        subspace.enlarge(lacking)
        exact = np.sum(evaluate_separation(members, H, shares).solved.Y ** 2)
        errors.append(exact - model_value(subspace, H, shares))
        assert errors[-1] < 0.1 * (exact - lacking.value)
    assert errors[0] / errors[1] == pytest.approx(64.0, rel=0.5)


@given(problems, regs)
def test_what_the_span_lacks_is_bounded(problem, reg):
    Ks, codes = make_problem(*problem)
    m = Members(Ks, reg).usable.size
    members, H, _, subspace = subspace_at(Ks, codes, reg, shares_of(m, 0))
    there = shares_of(m, 1)
    lacking = subspace.lacking(there)
    if lacking is not None:
        exact = evaluate_separation(members, H, there)
        value = np.sum(exact.solved.Y**2)
        assert lacking.value <= value * (1.0 + 1e-7)
        assert value <= (lacking.value + lacking.excess) * (1.0 + 1e-7)
        np.testing.assert_allclose(lacking.q, np.einsum("inq,nq->i", members.times(lacking.B), lacking.B))


def test_a_dropped_member_leaves_the_bound_by_eigenvalues():
    Ks, codes = make_problem("gaussians", 40, 3, 4)
    Ks[0] = np.eye(40) + 1e-3
    members, H, _, subspace = subspace_at(Ks, codes, None, np.full(5, 0.2))
    there = np.array([0.0, 0.5, 0.3, 0.2, 0.0])  # the identity is left to a kernel that is nearly so
    lacking = subspace.lacking(there)
    exact = np.sum(evaluate_separation(members, H, there).solved.Y ** 2)
    assert exact - lacking.value <= lacking.excess <= 100.0 * (exact - lacking.value)


def test_members_enter_and_leave_the_model():
    Ks, codes = make_problem("gaussians", 40, 2, 5)
    members = Members(Ks, 1e-3)
    H = np.asfortranarray(separation_columns(codes))
    shares = np.array([0.5, 0.5, 0.0, 0.0, 0.0])
    here = evaluate_separation(members, H, shares)
    subspace = Subspace(members, H, np.array([0, 1]), shares, here.solved)
    subspace.admit(np.array([3]))
    there = np.array([0.0, 0.6, 0.0, 0.4, 0.0])
    subspace.enlarge(subspace.lacking(there))
    assert subspace.chosen.tolist() == [1, 3]
    V = subspace.rows.T
    A = members.products(np.eye(40) - 1.0 / 40, np.array([1, 3]))
    np.testing.assert_allclose(V.T @ V, np.eye(V.shape[1]), atol=1e-12)
    np.testing.assert_allclose(subspace.products, V.T @ A, atol=1e-10)
    np.testing.assert_allclose(subspace.forms, V.T @ A @ V, atol=1e-10)
    np.testing.assert_allclose(subspace.sides, V.T @ H, atol=1e-12)


@pytest.mark.parametrize("reg", [1e-2, None])
def test_the_minimiser_of_the_model_is_certified_without_a_factorisation(reg):
    rng = np.random.default_rng(0)
    codes = np.arange(240) % 2
    X = rng.normal(size=(240, 5)) + rng.normal(size=(2, 5))[codes]
    members = Members(gaussians(X, np.logspace(-1, 2, 6)), reg)
    H = np.asfortranarray(separation_columns(codes))
    best = learn_discriminant(DiscriminantProblem(members.stack.Ks, codes, reg)).shares
    start = best * (1.0 + 0.2 * (-1.0) ** np.arange(best.size))
    start /= start.sum()
    objective = Objective(members, H, 1e-8)
    here = objective.at(start)
    found = objective.minimiser_of_model(start, here)
    certified = objective.at(found)
    assert objective.n_factorisations == 1 and certified.gap <= 1e-8
    exact = evaluate_separation(members, H, found)
    assert exact.value * (1.0 - 1e-12) <= certified.value <= exact.value * (1.0 + 1e-8)
    assert exact.gap <= 1e-8  # also by the B of the shares alone


@pytest.mark.parametrize("reg", [1e-4, None])
def test_few_factorisations(reg):
    rng = np.random.default_rng(0)
    codes = np.arange(300) % 3
    X = rng.normal(size=(300, 5)) + rng.normal(size=(3, 5))[codes]
    Ks = gaussians(X, np.logspace(-1, 2, 10))
    found = learn_discriminant(DiscriminantProblem(Ks, codes, reg), options=Options(tol=1e-8, max_iter=100))
    assert found.status == Status.OPTIMAL and found.n_factorisations <= 3
    assert found.objective == pytest.approx(reference.objective(Ks, codes, reg, found.shares), rel=1e-7)
    assert found.history[-1]["gap"] <= 1e-8


def test_a_basis_is_no_larger_than_the_space():
    Ks, codes = make_problem("gaussians", 12, 4, 5)
    members, H, _, subspace = subspace_at(Ks, codes, 1e-2, np.full(5, 0.2))
    V = subspace.rows.T
    assert V.shape == (12, 11)
    np.testing.assert_allclose(V.T @ V, np.eye(11), atol=1e-12)
    np.testing.assert_allclose(V.sum(axis=0), 0.0, atol=1e-12)
    there = shares_of(5, 1)
    exact = np.sum(evaluate_separation(members, H, there).solved.Y ** 2)
    assert model_value(subspace, H, there) == pytest.approx(exact, rel=1e-9)
    assert subspace.lacking(there) is None


def test_members_of_the_model():
    members = Members(np.array([np.diag([1.0, 2.0, 3.0, 4.0])] * 4 + [np.ones((4, 4))]), 1.0)
    q = np.array([1.0, 3.0, 2.0, 0.5, 9.0])
    chosen = chosen_members(members, np.array([1.0, 0.0, 0.0, 0.0, 0.0]), q)
    assert chosen.tolist() == [0, 1, 2]  # a constant kernel is none, the last is not steep enough
    assert is_cheap(100, 10, 1) and not is_cheap(100, 10, 9) and is_cheap(10**4, 10, 9)

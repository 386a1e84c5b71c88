"""Gradients and Hessians of every objective against finite differences; certificates against the optimum."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judges.conic import learn_discriminant_conic
from judges.diagonal_discriminant import (
    between_classes,
    diagonal_bound,
    learn_diagonal_discriminant,
    smooth_separation,
)
from judges.programs import discriminant_published as reference
from multikernel.core.scatter import class_columns, separation_columns
from multikernel.discriminant.solver.learn import DiscriminantProblem, evaluate_separation, learn_discriminant
from multikernel.discriminant.solver.problem import Members
from tests.discriminant.discriminant_problems import KINDS, make_problem, wine

problems = st.tuples(
    st.sampled_from(KINDS), st.integers(12, 30), st.integers(2, 4), st.integers(2, 5), st.integers(0, 99)
)
regs = st.sampled_from([1.0, 1e-2, None])


def shares_of(m, seed):
    """Inside the simplex."""
    return np.random.default_rng(seed).dirichlet(np.full(m, 3.0))


def slopes(function, x, h=1e-5):
    """∂f/∂x_i to fourth order, the index i first."""
    rows = []
    for unit in np.eye(x.size):
        f = [function(x + step * h * unit) for step in (-2, -1, 1, 2)]
        rows.append((f[0] - 8 * f[1] + 8 * f[2] - f[3]) / (12 * h))
    return np.array(rows)


def assert_close(found, expected, rtol=1e-6):
    np.testing.assert_allclose(found, expected, atol=rtol * np.abs(expected).max())


@given(problems, regs)
def test_exact(problem, reg):
    Ks, codes = make_problem(*problem)
    members = Members(Ks, reg)
    H = np.asfortranarray(separation_columns(codes))
    x = shares_of(members.usable.size, problem[-1])
    here = evaluate_separation(members, H, x)
    factor = 1.0 if reg is None else reg
    assert here.value * factor == pytest.approx(reference.objective(Ks, codes, reg, x), rel=1e-7)
    assert_close(here.gradient, slopes(lambda z: evaluate_separation(members, H, z).value, x))
    assert_close(here.hessian, slopes(lambda z: evaluate_separation(members, H, z).gradient, x))


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


@pytest.mark.parametrize(
    "solve",
    [
        learn_discriminant,
        learn_diagonal_discriminant,
        learn_discriminant_conic,
        partial(learn_discriminant_conic, approximate=True),
    ],
)
def test_an_indefinite_kernel_is_suspicious(solve):
    """Negative where the classes differ."""
    Ks, codes = make_problem("gaussians", 40, 3, 3)
    assert not solve(DiscriminantProblem(Ks, codes, 10.0)).suspicious
    H = class_columns(codes)
    Ks[1] -= 0.2 * H @ H.T
    assert solve(DiscriminantProblem(Ks, codes, 10.0)).suspicious

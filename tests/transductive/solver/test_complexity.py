"""Complexity of kernel families: all sign vectors, cvxpy, generalised eigenvalues, and laws."""

import itertools

import cvxpy as cp
import numpy as np
import pytest
import scipy.linalg
from hypothesis import given, settings
from hypothesis import strategies as st

from multikernel.transductive.solver.complexity import (
    largest_over_spectrahedron,
    nonnegative_limit,
    stack_ratios,
    vector_ratios,
)
from tests.core.problems import gaussian, make_kernels


def all_signs(n):
    return np.array(list(itertools.product([-1.0, 1.0], repeat=n)))


def random_kernels(m, n, seed):
    """Kernels of different ranks and sizes."""
    rng = np.random.default_rng(seed)
    factors = [rng.normal(size=(n, 1 + int(rng.integers(n)))) for _ in range(m)]
    return np.array([10.0 ** rng.uniform(-3, 3) * F @ F.T for F in factors])


def exact(Ks):
    """E max_j s'K_j s / tr K_j over all 2^n sign vectors."""
    best = [max(s @ K @ s / np.trace(K) for K in Ks) for s in all_signs(Ks.shape[1])]
    return np.mean(best)


def test_ratios_are_those_of_signs_drawn_in_order():
    Ks = random_kernels(3, 7, 0)
    ratios = stack_ratios(Ks, 600, np.random.default_rng(5))
    S = np.random.default_rng(5).choice([-1.0, 1.0], size=(600, 7))
    plain = [[s @ K @ s / np.trace(K) for K in Ks] for s in S]
    np.testing.assert_allclose(ratios, plain, rtol=1e-12)


def test_vectors_are_rank_one_kernels():
    V = np.linalg.qr(np.random.default_rng(2).normal(size=(9, 4)))[0]
    as_stack = stack_ratios(np.array([np.outer(v, v) for v in V.T]), 300, np.random.default_rng(1))
    np.testing.assert_allclose(vector_ratios(V, 300, np.random.default_rng(1)), as_stack, atol=1e-12)


@pytest.mark.parametrize("n", [4, 7, 10])
def test_monte_carlo_agrees_with_all_sign_vectors(n):
    Ks = random_kernels(3, n, n)
    best = stack_ratios(Ks, 4000, np.random.default_rng(0)).max(axis=1)
    mean, error, truth = best.mean(), best.std() / np.sqrt(best.size), exact(Ks)
    assert abs(mean - truth) < 4.0 * error
    assert error < 0.05 * truth  # otherwise the line above says little


@pytest.mark.parametrize("n", [2, 4, 6])
def test_kernels_of_all_signs_fit_every_draw_perfectly(n):
    Ks = np.array([np.outer(s, s) for s in all_signs(n)])
    best = stack_ratios(Ks, 500, np.random.default_rng(0)).max(axis=1)
    np.testing.assert_allclose(best, n, rtol=1e-12)
    assert nonnegative_limit(Ks) == pytest.approx(n)


@given(st.integers(1, 4), st.integers(2, 7), st.integers(0, 10**6))
def test_the_limit_holds_and_one_is_the_least(m, n, seed):
    Ks = random_kernels(m, n, seed)
    truth = exact(Ks)
    assert 1.0 - 1e-12 <= truth <= nonnegative_limit(Ks) * (1.0 + 1e-12)


@pytest.mark.parametrize("m", [1, 3])
def test_the_limit_is_the_smaller_of_both(m):
    spread = np.array([np.eye(6)] * m)  # largest eigenvalue over trace: 1/6
    assert nonnegative_limit(spread) == pytest.approx(1.0)
    narrow = np.array([np.diag(np.arange(6) == i).astype(float) for i in range(m)])  # rank one: 1
    assert nonnegative_limit(narrow) == pytest.approx(m)


# --------------------------------------------------------------------------- weights of any sign


def low_rank_kernels(m, n, rank, seed):
    rng = np.random.default_rng(seed)
    return np.array([F @ F.T for F in rng.normal(size=(m, n, rank))])


def scaled_to_trace_one(Ks):
    return Ks / np.trace(Ks, axis1=1, axis2=2)[:, None, None]


def judge(Ks, q, traces=None):
    """The semidefinite program as it is written, but on the range of the sum and whitened by it: K ⪰ 0 there
    means K ⪰ 0, and the judge is accurate."""
    Ks = Ks / (np.trace(Ks, axis1=1, axis2=2) if traces is None else traces)[:, None, None]
    values, vectors = np.linalg.eigh(Ks.sum(axis=0))
    inside = values > 1e-10 * values[-1]
    T = vectors[:, inside] / np.sqrt(values[inside])
    w = cp.Variable(len(Ks))
    K = sum(w[j] * (T.T @ Ks[j] @ T) for j in range(len(Ks)))
    problem = cp.Problem(cp.Maximize(q @ w), [0.5 * (K + K.T) >> 0, cp.sum(w) == 1.0])
    return problem.solve(solver="CLARABEL", tol_gap_abs=1e-6, tol_gap_rel=1e-6, tol_feas=1e-7)


def assert_brackets(brackets, values, tol=1e-4, slack=1e-5):
    """All brackets are narrow, and the first hold the values."""
    width = brackets.upper - brackets.lower
    assert (width >= 0.0).all()
    assert (width <= tol * np.maximum(1.0, brackets.upper)).all()
    first = slice(len(values))
    assert (brackets.lower[first] - slack <= values).all()
    assert (values <= brackets.upper[first] + slack).all()


@pytest.mark.parametrize(
    "Ks",
    [
        make_kernels(10, 3)[1],
        make_kernels(8, 5)[1],
        make_kernels(30, 4)[1],  # larger than the first bases: they must grow
        low_rank_kernels(3, 10, 2, 0),  # the common range is smaller than the space
        low_rank_kernels(4, 4, 1, 1),  # rank one, independent: nonnegative weights only
    ],
    ids=["n10", "n8", "n30", "low-rank", "rank-one"],
)
def test_every_draw_agrees_with_cvxpy(Ks):
    ratios = stack_ratios(Ks, 8, np.random.default_rng(0))
    brackets = largest_over_spectrahedron(Ks, ratios)
    values = np.array([judge(Ks, q) for q in ratios])
    assert_brackets(brackets, values)


@pytest.mark.parametrize("tol", [1e-3, 1e-4, 1e-7])
def test_two_kernels_agree_with_generalised_eigenvalues(tol):
    """K_1 + t (K_2 − K_1) is positive semidefinite between two values of t, at many sizes of the problem."""
    n, rng = 60, np.random.default_rng(1)
    Ks = np.array([G @ G.T + 2 * n * np.eye(n) for G in rng.normal(size=(2, n, n))])
    A, B = scaled_to_trace_one(Ks)
    steps = -1.0 / scipy.linalg.eigvalsh(B - A, A)
    ends = np.array([steps[steps < 0.0].max(), steps[steps > 0.0].min()])
    ratios = stack_ratios(Ks, 150, np.random.default_rng(0))
    values = ratios[:, 0] + (np.outer(ratios[:, 1] - ratios[:, 0], ends)).max(axis=1)
    assert ends[0] < -0.01 and ends[1] > 1.01  # weights of both signs are at stake
    assert_brackets(largest_over_spectrahedron(Ks, ratios, tol), values, tol, slack=1e-10)


def test_bases_that_start_from_neighbours_find_the_same():
    """More draws than one block: later ones start from the eigenvectors of those done."""
    _, Ks = make_kernels(30, 4, seed=2)
    ratios = stack_ratios(Ks, 150, np.random.default_rng(0))
    together = largest_over_spectrahedron(Ks, ratios)
    assert_brackets(together, [])
    last = largest_over_spectrahedron(Ks, ratios[140:])
    assert_brackets(last, np.array([judge(Ks, q) for q in ratios[140:144]]))
    for one, other in ((together, last), (last, together)):
        assert (one.lower[-10:] <= other.upper[-10:] + 1e-12).all()


def test_one_kernel_and_equal_kernels_leave_no_choice():
    _, Ks = make_kernels(9, 1)
    ratios = stack_ratios(Ks, 20, np.random.default_rng(0))
    for stack, q in ((Ks, ratios), (np.concatenate([Ks, 3.0 * Ks, Ks]), np.repeat(ratios, 3, axis=1))):
        lower, upper = largest_over_spectrahedron(stack, q)
        np.testing.assert_allclose(lower, ratios[:, 0], rtol=1e-10)
        np.testing.assert_allclose(upper, ratios[:, 0], rtol=1e-10)


def with_dependent_kernel(Ks):
    """One more kernel, a combination of others, with the rounding of another way to compute it."""
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.normal(size=Ks[0].shape))[0]
    again = Q.T @ (Q @ (Ks[0] + 2.0 * Ks[1]) @ Q.T) @ Q
    return np.concatenate([Ks, 0.5 * (again + again.T)[None]])


def with_repeated_points(Ks):
    rows = np.concatenate([np.arange(Ks.shape[1]), [0, 1, 1]])
    return Ks[:, rows][:, :, rows]


@pytest.mark.parametrize(
    "change", [with_dependent_kernel, with_repeated_points, lambda Ks: Ks[:, ::-1, ::-1]]
)
def test_awkward_stacks_give_brackets_too(change):
    _, Ks = make_kernels(16, 3)
    stack = change(Ks)
    ratios = stack_ratios(stack, 80, np.random.default_rng(0))
    brackets = largest_over_spectrahedron(stack, ratios)
    traces = np.trace(stack, axis1=1, axis2=2)[:3]
    values = [judge(Ks, q[:3], traces) for q in ratios[:4]]  # the change adds nothing that could be chosen
    assert_brackets(brackets, np.array(values))


@pytest.mark.parametrize("seed", [0, 1, 3])  # both families have the same common range
def test_what_rounding_leaves_of_repeated_kernels_is_no_choice(seed):
    """Wide Gaussians have eigenvalues down to the limit of the range, which magnifies rounding."""
    X = np.random.default_rng(seed).normal(size=(11, 1))
    centring = np.eye(11) - 1.0 / 11
    centred = centring @ gaussian(X, 1.0) @ centring
    Ks = np.array([gaussian(X, 0.01), X @ X.T, 0.5 * (centred + centred.T), gaussian(X, 0.2)])
    ratios = stack_ratios(Ks, 70, np.random.default_rng(seed))
    once = largest_over_spectrahedron(Ks, ratios)
    twice = largest_over_spectrahedron(Ks[[0, 1, 2, 2, 3]], ratios[:, [0, 1, 2, 2, 3]])
    for one, other in ((once, twice), (twice, once)):
        assert_brackets(one, other.upper, slack=1e-4 * other.upper)


@given(st.integers(2, 5), st.integers(3, 20), st.integers(0, 10**6))
def test_units_and_order_of_the_kernels_do_not_matter(m, n, seed):
    rng = np.random.default_rng(seed)
    Ks = np.array([F @ F.T for F in (rng.normal(size=(n, 1 + int(rng.integers(n)))) for _ in range(m))])
    ratios = stack_ratios(Ks, 6, np.random.default_rng(1))
    order = rng.permutation(m)
    one = largest_over_spectrahedron(Ks, ratios)
    other = largest_over_spectrahedron(
        (10.0 ** rng.uniform(-4, 4, m))[:, None, None] * Ks[order], ratios[:, order]
    )
    assert (one.lower <= other.upper + 1e-9).all()
    assert (other.lower <= one.upper + 1e-9).all()
    assert (one.upper <= n * (1.0 + 1e-4)).all()  # s'Ks ≤ n tr K


@given(st.integers(0, 10**6))
@settings(max_examples=15)
def test_one_more_kernel_never_loses(seed):
    _, Ks = make_kernels(12, 5, seed)
    ratios = stack_ratios(Ks, 5, np.random.default_rng(2))
    fewer = largest_over_spectrahedron(Ks[:4], ratios[:, :4])
    more = largest_over_spectrahedron(Ks, ratios)
    assert (more.upper >= fewer.lower - 1e-9).all()

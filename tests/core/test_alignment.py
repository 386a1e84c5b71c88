"""Alignment against general conic solvers, closed forms and reference numbers; bounds recomputed outside."""

import json
from itertools import pairwise
from pathlib import Path

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judges.optimum import conic_optimum
from multikernel.core.alignment import learn_alignment, spectral_alignment
from multikernel.core.optim.loop import Status
from tests.core.test_alignment_measure import random_labels
from tests.test_golden import load, make_stack

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "margin.json").read_text(encoding="utf-8"))
KINDS = ("nonnegative", "free")


def gaussians(seed, n=18, widths=(0.03, 0.3, 1.0, 4.0)):
    X = np.random.default_rng(seed).normal(size=(n, 3))
    squares = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    return np.stack([np.exp(-gamma * squares) for gamma in widths]), X


def low_ranks(seed, n=18, m=5):
    """Kernels of rank 1 to 3 in a space of 6 dimensions: a common null space, and edges of the cone."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(n, 6))
    factors = [features @ rng.normal(size=(6, int(rng.integers(1, 4)))) for _ in range(m)]
    return np.stack([F @ F.T for F in factors])


def mixed(seed, n=18):
    """Gaussian, linear and quadratic kernels of very different sizes, some points twice."""
    _, X = gaussians(seed, n)
    X[: n // 3] = X[n // 3 : 2 * (n // 3)]
    squares = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    return np.stack([1e3 * np.exp(-squares), 1e-3 * (X @ X.T), (1.0 + X @ X.T) ** 2])


MAKERS = {"gaussians": lambda seed: gaussians(seed)[0], "low ranks": low_ranks, "mixed": mixed}


def labels(seed, n_labelled):
    return random_labels(seed + 99, n_labelled)


def products(Ks, y):
    """q and S from their definitions."""
    N = y.size
    q = np.array([y @ K[:N, :N] @ y for K in Ks])
    S = np.array([[np.sum(K * L) for L in Ks] for K in Ks])
    return q, S


def judged_value(Ks, y, kind):
    """max q'μ, μ'Sμ ≤ 1, μ ≥ 0 or K(μ) ⪰ 0, by a general solver: over kernels of norm one."""
    q, S = products(Ks, y)
    norms = np.sqrt(np.diag(S))
    values, vectors = np.linalg.eigh(S / np.outer(norms, norms))
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    w = cp.Variable(len(Ks))
    constraints = [cp.norm(root.T @ w) <= 1.0]
    if kind == "nonnegative":
        constraints.append(w >= 0.0)
    else:
        combined = sum(w[i] * (K / norm) for i, (K, norm) in enumerate(zip(Ks, norms, strict=True)))
        range_of_all = np.linalg.svd(sum(K / norm for K, norm in zip(Ks, norms, strict=True)))
        kept = range_of_all.U[:, range_of_all.S > 1e-9]
        constraints.append(kept.T @ combined @ kept >> 0)
    problem = cp.Problem(cp.Maximize((q / norms) @ w), constraints)
    return conic_optimum(problem)


def check_certificate(result, Ks, y, kind):
    """Objective, feasibility and bound, each from the matrices and nothing else."""
    q, S = products(Ks, y)
    mu = result.weights
    np.testing.assert_allclose(mu @ S @ mu, 1.0, rtol=1e-9)
    np.testing.assert_allclose(result.objective, q @ mu, rtol=1e-9)
    K = np.tensordot(mu, Ks, 1)
    if kind == "nonnegative":
        assert mu.min() >= 0.0
        assert result.slack.min() >= 0.0
        assert result.smallest_eigenvalue is None and result.Z is None
    else:
        lowest = np.linalg.eigvalsh(K)[0]
        assert lowest > -1e-9
        assert result.smallest_eigenvalue == pytest.approx(lowest, abs=1e-12)
        Z = np.zeros(K.shape) if result.Z is None else result.Z
        assert np.linalg.eigvalsh(Z)[0] >= -1e-12 * max(1.0, np.linalg.norm(Z))
        rounding = 1e-15 * np.linalg.norm(Z) * np.linalg.norm(Ks, axis=(1, 2)).max()
        expected = [np.sum(Z * L) for L in Ks]
        np.testing.assert_allclose(result.slack, expected, rtol=1e-9, atol=max(rounding, 1e-12))
    norms = np.sqrt(np.diag(S))
    dual = (q + result.slack) / norms
    solved = np.linalg.lstsq(S / np.outer(norms, norms), dual, rcond=1e-12)[0]
    np.testing.assert_allclose(result.upper_bound, np.sqrt(dual @ solved), rtol=1e-8)
    train = K[: y.size, : y.size]
    aligned = (y @ train @ y) / (y.size * np.linalg.norm(train))
    np.testing.assert_allclose(result.alignment_train, aligned, rtol=1e-9)
    assert result.upper_bound >= result.objective
    np.testing.assert_allclose(result.gap, 1.0 - result.objective / result.upper_bound, atol=1e-15)


# --- against independent solvers ---------------------------------------------------------------------------


@pytest.mark.parametrize("n_labelled", [18, 12])
@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", [0, 1])
def test_the_optimum_is_that_of_a_conic_solver(seed, kind, maker, n_labelled):
    Ks, y = MAKERS[maker](seed), labels(seed, n_labelled)
    result = learn_alignment(Ks, y, kind)
    assert result.status == Status.OPTIMAL
    assert result.gap <= 1e-8 and result.n_iter <= 13
    np.testing.assert_allclose(result.objective, judged_value(Ks, y, kind), rtol=1e-6)
    check_certificate(result, Ks, y, kind)


@pytest.mark.parametrize("seed", range(3))
def test_larger_matrices_take_as_few_iterations(seed):
    """More rows than the Lanczos steps for the longest step."""
    Ks, y = gaussians(seed, n=150)[0], labels(seed, 120)
    result = learn_alignment(Ks, y, "free")
    assert result.status == Status.OPTIMAL and result.n_iter <= 14
    check_certificate(result, Ks, y, "free")


@given(
    seed=st.integers(0, 10**6),
    maker=st.sampled_from(tuple(MAKERS)),
    kind=st.sampled_from(KINDS),
    n_labelled=st.integers(2, 18),
)
def test_every_problem_is_certified(seed, maker, kind, n_labelled):
    Ks, y = MAKERS[maker](seed), labels(seed, n_labelled)
    result = learn_alignment(Ks, y, kind)
    assert result.status == Status.OPTIMAL
    check_certificate(result, Ks, y, kind)


@pytest.mark.parametrize("problem", GOLDEN["problems"])
def test_reference_numbers(problem):
    golden = GOLDEN["problems"][problem]
    X, y, n_train = load(problem)
    stack = make_stack(X, golden["sigma"])
    Ks, y = np.ascontiguousarray(np.moveaxis(stack, 2, 0)), y[:n_train].astype(float)
    expected = golden["alignment"]
    for kind, key in (("nonnegative", "nonneg"), ("free", "free")):
        result = learn_alignment(Ks, y, kind)
        assert result.gap <= 1e-8
        np.testing.assert_allclose(result.objective, expected[key]["objective"], rtol=1e-7)
        np.testing.assert_allclose(result.weights, expected[key]["mu"], atol=1e-6)
        np.testing.assert_allclose(result.alignment_train, expected[key]["alignment_train"], rtol=1e-6)
    V = np.linalg.eigh(Ks[1])[1][:, :-21:-1]
    result = spectral_alignment(V, y)
    np.testing.assert_allclose(result.objective, expected["rank_one"]["objective"], rtol=1e-7)
    np.testing.assert_allclose(result.weights, expected["rank_one"]["mu"], atol=1e-6)


# --- laws --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("maker", "power"), [("gaussians", 200), ("low ranks", 4), ("mixed", 4)])
def test_scaling_and_reordering_kernels(maker, power, kind):
    Ks, y = MAKERS[maker](3), labels(3, 12)
    Ks.setflags(write=False)
    before = learn_alignment(Ks, y, kind)
    if maker == "gaussians":  # of low rank, rounding adds directions
        single = learn_alignment(Ks.astype(np.float32), y, kind)
        np.testing.assert_allclose(single.objective, before.objective, rtol=1e-5)
    factors = 10.0 ** np.random.default_rng(0).uniform(-power, power, len(Ks))
    order = np.random.default_rng(1).permutation(len(Ks))
    after = learn_alignment((Ks * factors[:, None, None])[order], y, kind)
    norms = np.linalg.norm(Ks, axis=(1, 2))
    np.testing.assert_allclose(after.objective, before.objective, rtol=1e-9)
    np.testing.assert_allclose(
        after.weights * (factors * norms)[order], (before.weights * norms)[order], atol=1e-5
    )


# --- closed forms ------------------------------------------------------------------------------------------


def test_the_unconstrained_optimum_where_it_is_semidefinite():
    Ks, X = gaussians(1, widths=(0.1, 1.0, 4.0))
    y = np.where(X[:12, 0] > 0.0, 1.0, -1.0)
    q, S = products(Ks, y)
    v = np.linalg.solve(S, q)
    assert v.min() < 0.0 < np.linalg.eigvalsh(np.tensordot(v, Ks, 1))[0]  # the example is one
    result = learn_alignment(Ks, y, "free")
    assert result.n_iter == 0 and result.Z is None
    np.testing.assert_allclose(result.weights, v / np.sqrt(q @ v), rtol=1e-8)
    np.testing.assert_allclose(result.objective, np.sqrt(q @ v), rtol=1e-10)


@pytest.mark.parametrize("kind", KINDS)
def test_rank_one_kernels_of_orthonormal_vectors_have_a_closed_form(kind):
    V = np.linalg.qr(np.random.default_rng(2).normal(size=(18, 7)))[0]
    y = labels(2, 12)
    closed = spectral_alignment(V, y)
    stacked = learn_alignment(np.einsum("ik,jk->kij", V, V), y, kind)
    np.testing.assert_allclose(closed.objective, stacked.objective, rtol=1e-9)
    np.testing.assert_allclose(closed.weights, stacked.weights, atol=1e-6)
    np.testing.assert_allclose(closed.alignment_train, stacked.alignment_train, rtol=1e-6)
    assert closed.upper_bound == closed.objective and closed.gap == 0.0


# --- dependent kernels -------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("maker", MAKERS)
def test_dependent_kernels_change_neither_value_nor_matrix(maker, kind):
    Ks, y = MAKERS[maker](5), labels(5, 12)
    more = np.concatenate([Ks, 3.0 * Ks[:1], Ks[1:2] + 0.2 * Ks[:1]])
    plain, result = learn_alignment(Ks, y, kind), learn_alignment(more, y, kind)
    assert result.status == Status.OPTIMAL
    assert (plain.rank, result.rank) == (len(Ks), len(Ks))
    np.testing.assert_allclose(result.objective, plain.objective, rtol=1e-8)
    np.testing.assert_allclose(
        np.tensordot(result.weights, more, 1), np.tensordot(plain.weights, Ks, 1), atol=1e-5
    )


@pytest.mark.parametrize("seed", range(3))
def test_small_differences_between_kernels_are_not_overlooked(seed):
    """One kernel, and a millionth of something added: the labels, or noise. S hardly tells them apart."""
    kernel, y, noise = gaussians(seed)[0][1], labels(seed, 18), labels(seed + 50, 18)
    with_labels = kernel + 1e-6 * np.outer(y, y)
    Ks = np.stack([kernel + 1e-6 * np.outer(noise, noise), with_labels, kernel])
    result = learn_alignment(Ks, y, "nonnegative")
    assert result.status == Status.OPTIMAL and result.gap <= 1e-9
    np.testing.assert_allclose(result.weights, [0.0, 1.0 / np.linalg.norm(with_labels), 0.0], atol=1e-6)


# --- what can go wrong -------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_kernels_that_know_nothing_of_the_labels_are_refused(kind):
    y = np.array([1.0, 1.0, -1.0, -1.0])
    z = np.array([1.0, -1.0, 1.0, -1.0])
    with pytest.raises(ValueError, match="y'Ky > 0 on the labelled points; the largest alignment"):
        learn_alignment(np.stack([np.outer(z, z), np.ones((4, 4))]), y, kind)
    with pytest.raises(ValueError, match="y'Ky > 0"):
        spectral_alignment(z[:, None] / 2.0, y)
    with pytest.raises(ValueError, match="weights must be one of 'nonnegative', 'free'; got 'any'"):
        learn_alignment(gaussians(0)[0], labels(0, 18), "any")


def test_iterations_that_end_early_say_so_and_their_bound_holds():
    Ks, y = low_ranks(0), labels(0, 18)
    best = learn_alignment(Ks, y, "free")
    assert best.n_iter > 4
    early = learn_alignment(Ks, y, "free", max_iter=2)
    assert early.status == Status.MAX_ITER and early.n_iter == 2
    assert early.gap > 1e-6
    assert early.objective < best.objective < early.upper_bound
    check_certificate(early, Ks, y, "free")


def test_more_iterations_never_give_less():
    """The best weights and the best bound are kept; here single iterates are worse than those before."""
    Ks, y = gaussians(18)[0], labels(18, 18)
    results = [learn_alignment(Ks, y, "free", max_iter=k) for k in range(1, 9)]
    for before, after in pairwise(results):
        assert after.objective >= before.objective * (1.0 - 1e-12)
        assert after.upper_bound <= before.upper_bound * (1.0 + 1e-12)
    assert results[-1].gap < 1e-2 * results[0].gap

"""Factors against the Gram matrices of the dense bank: equal at full rank, and as wrong as they say below."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from multikernel.kernels import (
    Chi2,
    Cosine,
    FunctionKernel,
    Gaussian,
    Kronecker,
    Laplacian,
    Linear,
    Pairwise,
    Polynomial,
)
from multikernel.views import KernelBank, LowRankBank, View
from tests.raw import raw

RNG = np.random.default_rng(4)
X = RNG.normal(size=(120, 6)) * [1.0, 2.0, 0.5, 1.0, 3.0, 1.0] + 0.3
NEW = RNG.normal(size=(40, 6))


def squared_gap(A, B):
    return np.exp(-((A[:, None, 0] - B[None, :, 0]) ** 2))


VIEWS = [
    View("plain", Gaussian(), [0, 1]),
    View("linear", 2.0 * Linear(), slice(0, 3), ("center", "unit_trace")),
    View("wide", Gaussian(scale=4.0), None, ("unit_diagonal", "center"), standardize=True),
    View("narrow", Gaussian(scale=0.5), None, ("center", "unit_diagonal", "unit_trace"), standardize=True),
    View("cubic", Polynomial(3, gamma="scale"), [1, 4], ("unit_diagonal", "unit_trace")),
    View("mixed", (Linear() * Gaussian(gamma=0.1) + 0.5 * Laplacian(0.2)) ** 2, [1, 4], "center"),
    View("angle", Cosine(), [2, 3, 5], ("clip", "unit_trace")),
    View("pairs", Pairwise(Gaussian(gamma=0.2)), slice(0, 4), "unit_diagonal"),
    View("unlike pairs", Kronecker(Gaussian(gamma=0.2), Linear(), 3), slice(0, 4)),
    View("function", squared_gap, [3]),
    View("one column", Gaussian(gamma=0.5), 5, "center"),
]


def factor(bank, Z, m):
    return Z[:, bank.offsets_[m] : bank.offsets_[m + 1]]


def grams(bank, table):
    return [Z @ Z.T for _, Z in bank.iter_factors(table)]


def same(Ks, others):
    return all(np.abs(K - other).max() < 1e-9 for K, other in zip(Ks, others, strict=True))


@pytest.mark.parametrize("approximation", [None, "nystroem", "cholesky"])
def test_with_all_rows_the_factors_are_the_dense_kernels(approximation):
    views = [replace(view, approximation=approximation) for view in VIEWS]
    dense = KernelBank(VIEWS)
    Ks, K_new = dense.fit_stack(X), dense.transform(NEW)
    bank = LowRankBank(views, rank=len(X)).fit(X)
    Z, Z_new = bank.transform(X), bank.transform(NEW)
    assert bank.view_names_ == dense.view_names_ and Z.shape[1] == bank.ranks_.sum()
    for m, K in enumerate(Ks):
        size = np.abs(K).max()
        assert np.abs(factor(bank, Z, m) @ factor(bank, Z, m).T - K).max() < 1e-8 * size, bank.view_names_[m]
        missed = np.sqrt(len(X) * 1e-13)  # of new rows: the root of what a pivot may leave out of its own
        assert np.abs(factor(bank, Z_new, m) @ factor(bank, Z, m).T - K_new[:, :, m]).max() < missed * size
    assert np.allclose(bank.diagonals(X), Ks.diagonal(axis1=1, axis2=2).T, rtol=0, atol=1e-8 * Ks.max())
    assert np.allclose(bank.diagonals(NEW), dense.self_similarities(NEW), rtol=1e-8, atol=1e-8)
    assert np.all(bank.trace_errors_ < len(X) * 1e-13) and np.all(bank.gram_errors_ < 1e-10)


@pytest.mark.parametrize("approximation", ["nystroem", "cholesky"])
def test_the_stated_errors_are_those_of_the_dense_kernels(approximation):
    views = [replace(view, approximation=approximation) for view in VIEWS]
    Ks = KernelBank(VIEWS).fit_stack(X)
    bank = LowRankBank(views, rank=25, seed=3).fit(X)
    Z, traces = bank.transform_with_traces(X)
    for m, (view, K) in enumerate(zip(VIEWS, Ks, strict=True)):
        if "Center" not in repr(view.transforms) and view.normalization is None:
            outside = 1.0 - np.sum(factor(bank, Z, m) ** 2) / np.trace(K)
            assert abs(bank.trace_errors_[m] - outside) < 1e-12, view.name
    assert np.allclose(bank.trace_errors(traces), bank.trace_errors_, rtol=1e-12, atol=1e-14)
    plain = LowRankBank([replace(views[3], transforms=(), normalize=None)], rank=25, seed=3).fit(X)
    Z_plain, K = (
        plain.transform(X),
        KernelBank([replace(VIEWS[3], transforms=(), normalize=None)]).fit_stack(X)[0],
    )
    assert plain.gram_errors_[0] == pytest.approx(
        np.linalg.norm(K - Z_plain @ Z_plain.T) / np.linalg.norm(K), rel=1e-10
    )


def test_a_centred_kernel_is_centred_at_the_mean_of_the_factors():
    view = View("wide", Gaussian(scale=3.0), None, "center", normalize=None, rank=20)
    bank, plain = (LowRankBank([given]).fit(X) for given in (view, replace(view, transforms=())))
    K = KernelBank([replace(view, transforms=(), rank=None)]).fit_stack(X)[0]
    Z = plain.transform(X)
    mean = Z.mean(axis=0)
    assert np.allclose(bank.transform(X), Z - mean, rtol=0, atol=1e-12)
    squares = K.diagonal() - 2.0 * Z @ mean + mean @ mean  # distances to a point among the factors
    assert np.allclose(bank.diagonals(X)[:, 0], squares, rtol=1e-12)
    left_out = np.trace(K) - np.sum(Z**2)
    assert bank.trace_errors_[0] == pytest.approx(left_out / squares.sum(), rel=1e-10)
    centred = np.trace(KernelBank([replace(view, rank=None)]).fit_stack(X)[0])
    assert bank.trace_errors_[0] >= 1.0 - np.sum(bank.transform(X) ** 2) / centred  # never too small


@pytest.mark.parametrize("approximation", ["nystroem", "cholesky"])
def test_a_rank_by_trace_error_is_the_smallest_that_keeps_it(approximation):
    views = [replace(view, approximation=approximation) for view in VIEWS]
    bank = LowRankBank(views, rank=0.02).fit(X)
    Z, traces = bank.transform_with_traces(X)
    assert np.all(bank.trace_errors(traces) <= 0.02)
    assert bank.ranks_.min() < 10 and Z.shape == (len(X), bank.ranks_.sum())
    if approximation == "cholesky":  # one column fewer would leave out too much
        fewer = [
            replace(view, rank=int(rank) - 1)
            for view, rank in zip(views, bank.ranks_, strict=True)
            if "Center" not in repr(view.transforms)
        ]
        assert np.all(LowRankBank(fewer).fit(X).trace_errors_ > 0.02)


def test_pivots_are_drawn_by_what_is_left_out_after_the_transforms():
    rng = np.random.default_rng(1)
    table = np.zeros((105, 10))
    table[:5, :5] = 1e3 * rng.normal(size=(5, 5))  # few and long rows, and many short ones
    table[5:, 5:] = rng.normal(size=(100, 5))
    view = View("v", Linear(), None, "unit_diagonal", False, approximation="cholesky", rank=6)
    assert LowRankBank([view]).fit(table).trace_errors_[0] < 0.3  # with long rows first, 0.8
    assert LowRankBank([replace(view, transforms=())]).fit(table).trace_errors_[0] < 1e-4  # the short ones


def test_approximations_without_a_name_follow_the_kernel_and_the_rank():
    views = [
        ("exact", 3.0 * (0.5 * Linear()), [0, 1]),
        ("wide table", Linear()),
        ("number", Gaussian(gamma=0.2)),
        View("error", Gaussian(gamma=0.2), rank=0.1),
        View("exact too", Linear(), rank=0.1),
    ]
    bank = LowRankBank(raw(views), rank=5).fit(X)
    assert bank.approximations_ == ["exact", "nystroem", "nystroem", "cholesky", "exact"]
    assert bank.ranks_.tolist()[:3] == [2, 5, 5] and bank.ranks_[4] == 6
    Z = factor(bank, bank.transform(NEW), 0)
    assert np.array_equal(Z, np.sqrt(1.5) * NEW[:, :2])
    assert LowRankBank("auto").fit(X).approximations_ == ["exact"] + ["nystroem"] * 5


@pytest.mark.parametrize("approximation", [None, "nystroem", "cholesky"])
def test_tables_of_every_kind(approximation):
    thin = np.where(np.abs(X) > 0.8, np.abs(X), 0.0)
    views = [
        View("chi", Chi2(0.1), [0, 1, 2], approximation=approximation),
        View("linear", Linear(), slice(0, 4), "unit_diagonal", True, approximation),
        View("gaussian", Gaussian(), None, "center", approximation=approximation),
        View("single", Gaussian(gamma=1.0), [5], approximation=approximation),
    ]
    frame, sparse = pd.DataFrame(thin, columns=list("abcdef")), scipy.sparse.csr_matrix(thin)
    expected = grams(LowRankBank(views, rank=20).fit(thin), thin)
    assert same(grams(LowRankBank(views, rank=20).fit(frame), frame[list("fedcba")]), expected)
    assert same(grams(LowRankBank(views, rank=20).fit(thin.tolist()), thin), expected)
    views[1] = replace(views[1], standardize=False)  # zeros stay zeros in a sparse table
    expected = grams(LowRankBank(views, rank=20).fit(thin), thin)
    assert same(grams(LowRankBank(views, rank=20).fit(sparse), sparse), expected)


def shared_letters(A, B):
    first, second = ([set(text) for text in np.ravel(side)] for side in (A, B))
    return np.array([[float(len(a & b)) for b in second] for a in first])


def test_kernels_of_strings_have_factors():
    rng = np.random.default_rng(6)
    words = ["".join(rng.choice(list("abcdefg"), 5)) for _ in range(60)]
    frame = pd.DataFrame({"size": rng.normal(size=60), "word": words})
    kernel = FunctionKernel(shared_letters, lambda A: np.array([len(set(text)) for text in np.ravel(A)]))
    for approximation in ("nystroem", "cholesky"):
        view = View("words", kernel, "word", ("unit_diagonal", "center"), approximation=approximation)
        bank = LowRankBank([view], rank=40).fit(frame)
        Z = bank.transform(frame)
        assert bank.ranks_[0] == 7  # as many letters
        K = KernelBank([replace(view, approximation=None)]).fit_stack(frame)[0]
        assert np.abs(Z @ Z.T - K).max() < 1e-10
    objects = LowRankBank([View("words", kernel, rank=20)]).fit(words)  # a list, no table
    assert objects.transform(words[:3]).shape == (3, 7)

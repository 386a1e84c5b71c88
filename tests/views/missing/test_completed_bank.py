"""Kernels of samples that lack views, against plain NumPy, direct minimisation and themselves."""

import numpy as np
import pandas as pd
import pytest
import scipy.optimize
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from multikernel.kernels import Gaussian, Linear
from multikernel.views import CompletedBank, KernelBank, PrecomputedBank, View, stack_kernels
from multikernel.views.missing import RIDGE
from multikernel.views.tables import absent_rows
from tests.raw import raw
from tests.refusals import refused

RNG = np.random.default_rng(0)
COLUMNS = ([0, 1], [2, 3], [4])
VIEWS = [
    View("one", Gaussian(gamma=0.5), COLUMNS[0]),
    View("two", Linear(), COLUMNS[1], standardize=True),
    View("three", Gaussian(gamma=1.0), COLUMNS[2], "center"),
]
FILLS = ("zero", "mean", "mutual")
everyhow = pytest.mark.parametrize("fill", FILLS)


def table(n, seed=0):
    """Views that tell of one another: two hidden numbers and a little noise."""
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=(n, 2))
    return hidden @ rng.normal(size=(2, 5)) + 0.3 * rng.normal(size=(n, 5))


def patterns(n, share, seed=1):
    rng = np.random.default_rng(seed)
    has = rng.random((n, 3)) >= share
    has[~has.any(axis=1), 0] = True
    has[:3] = True
    return has


def hide(X, has):
    X = np.array(X)
    for columns, present in zip(COLUMNS, has.T, strict=True):
        X[np.ix_(~present, columns)] = np.nan
    return X


def fitted(fill, X):
    bank = CompletedBank(KernelBank(VIEWS), fill)
    return bank, bank.fit_stack(X)


# --- presence
@pytest.mark.parametrize(
    ("taken", "expected"),
    [
        (np.array([[np.nan, np.nan], [np.nan, 1.0]]), [True, False]),
        (np.array([np.nan, 1.0]), [True, False]),
        (np.array([[1, 2], [3, 4]]), [False, False]),
        (np.array([[None, np.nan], ["a", None]], dtype=object), [True, False]),
        (pd.DataFrame({"a": [pd.NA, "x"], "b": [None, None]}), [True, False]),
        (pd.Series([1.5, np.nan]), [False, True]),
        (["ACG", None], [False, True]),
        (scipy.sparse.csr_matrix([[np.nan, np.nan], [np.nan, 0.0], [0.0, 0.0]]), [True, False, False]),
        (scipy.sparse.csr_matrix(np.array([[0.0, 1.0], [0.0, 0.0], [np.nan, np.nan]])), [False, False, True]),
        (np.array([["a"], ["nan"]]), [False, False]),
    ],
)
def test_a_view_is_absent_where_all_its_columns_are_missing(taken, expected):
    assert absent_rows(taken).tolist() == expected


# --- laws
@everyhow
@given(seed=st.integers(0, 10**6), share=st.floats(0.05, 0.7), n=st.integers(5, 14))
@settings(max_examples=12)
def test_completed_kernels_are_positive_semidefinite_and_the_same_for_new_samples(fill, seed, share, n):
    X = hide(table(n, seed), patterns(n, share, seed))
    before = X.copy()
    bank, Ks = fitted(fill, X)
    np.testing.assert_array_equal(X, before)
    for K in Ks:
        np.testing.assert_allclose(K, K.T, atol=1e-12)
        assert np.linalg.eigvalsh(K)[0] >= -1e-6 * np.trace(K) / n
    np.testing.assert_allclose(np.moveaxis(bank.transform(X), 2, 0), Ks, atol=2e-5)
    support = np.arange(1, n, 2)
    parts = dict(bank.restrict(support, [2, 0]).iter_kernels(X))
    assert list(parts) == [0, 2]
    for m, K in parts.items():
        np.testing.assert_allclose(K, Ks[m][:, support], atol=2e-5)


@everyhow
def test_where_nothing_is_missing_nothing_changes(fill):
    X, new = table(20), table(5, 3)
    bank, Ks = fitted(fill, X)
    plain = KernelBank(VIEWS)
    np.testing.assert_array_equal(Ks, plain.fit_stack(X))
    np.testing.assert_allclose(bank.transform(new), plain.transform(new), rtol=1e-12, atol=1e-13)
    for K, only in zip(bank.only([1]).iter_kernels(new), plain.only([1]).iter_kernels(new), strict=True):
        assert K[0] == only[0]
        np.testing.assert_allclose(K[1], only[1], atol=1e-13)


@everyhow
def test_present_samples_keep_the_kernel_of_a_bank_of_their_own(fill):
    """Width, means, deviations and centring come from the rows that have the view."""
    X, has = table(20), patterns(20, 0.4)
    _, Ks = fitted(fill, hide(X, has))
    for view, K, present in zip(VIEWS, Ks, has.T, strict=True):
        own = KernelBank([view]).fit_stack(X[present])[0]
        np.testing.assert_allclose(K[np.ix_(present, present)], own, atol=1e-12)


# --- definitions
def test_zeros_and_means_are_those_of_features():
    """Of a linear kernel the features are the columns themselves."""
    X, has = table(15), patterns(15, 0.4)
    new, has_new = table(6, 5), patterns(6, 0.5, 7)
    views = raw([(str(k), Linear(), columns) for k, columns in enumerate(COLUMNS)])
    for fill in ("zero", "mean"):
        bank = CompletedBank(KernelBank(views), fill)
        Ks = bank.fit_stack(hide(X, has))
        rows = bank.transform(hide(new, has_new))
        for k, columns in enumerate(COLUMNS):
            middle = X[np.ix_(has[:, k], columns)].mean(axis=0) * (fill == "mean")
            Z = np.where(has[:, [k]], X[:, columns], middle)
            Z_new = np.where(has_new[:, [k]], new[:, columns], middle)
            np.testing.assert_allclose(Ks[k], Z @ Z.T, atol=1e-12)
            np.testing.assert_allclose(rows[:, :, k], Z_new @ Z.T, atol=1e-12)


def tiny():
    """Two kernels of five samples; each is missing from some, one sample lacks both in turn with others."""
    has = np.array([[1, 1], [1, 1], [1, 1], [0, 1], [1, 0]], dtype=bool)
    features = RNG.normal(size=(5, 3)), RNG.normal(size=(5, 4))
    Ks = np.stack([F @ F.T + 0.5 * np.eye(5) for F in features])
    for K, present in zip(Ks, has.T, strict=True):
        K /= K.diagonal()[present].mean()
        K[~present] = np.nan
        K[:, ~present] = np.nan
    return Ks, has


def divergence(Q, ridge):
    """λ KL(I, M) + Σ KL(Q_m, M) at the best M, from the definition."""
    n = Q.shape[1]
    M = (ridge * np.eye(n) + Q.sum(axis=0)) / (len(Q) + ridge)

    def kl(A):
        S = np.linalg.solve(M, A)
        return np.trace(S) - np.linalg.slogdet(S)[1] - n

    return ridge * kl(np.eye(n)) + sum(kl(K) for K in Q)


def completed_tiny():
    Ks, has = tiny()
    bank = CompletedBank(PrecomputedBank(), "mutual")
    Q = np.array(bank.fit_stack(stack_kernels(list(Ks))))
    ridge = RIDGE * 2
    for K, present in zip(Q, has.T, strict=True):  # with the noise of their own that is left out
        absent = np.flatnonzero(~present)
        K[absent, absent] += ridge / (2 + ridge - 1)
    return Q, has, ridge, bank


def test_the_completion_minimises_the_divergence():
    Q, has, ridge, _ = completed_tiny()
    free = [np.argwhere(np.triu(~(present[:, None] & present))) for present in has.T]

    def assemble(values):
        trial, start = Q.copy(), 0
        for K, places in zip(trial, free, strict=True):
            for i, j in places:
                K[i, j] = K[j, i] = values[start]
                start += 1
        return trial

    def objective(values):
        trial = assemble(values)
        if min(np.linalg.eigvalsh(K)[0] for K in trial) <= 1e-9:
            return 1e6
        return divergence(trial, ridge)

    start = np.concatenate([[float(i == j) for i, j in places] for places in free])
    options = {"maxiter": 40_000, "maxfev": 40_000, "xatol": 1e-9, "fatol": 1e-12, "adaptive": True}
    found = scipy.optimize.minimize(objective, start, method="Nelder-Mead", options=options)
    assert divergence(Q, ridge) <= found.fun + 1e-8
    np.testing.assert_allclose(assemble(found.x), Q, atol=1e-3)


def test_the_completion_is_stationary():
    """∂J/∂Q_m = M⁻¹ − Q_m⁻¹ vanishes on what is free."""
    Q, has, ridge, bank = completed_tiny()
    assert bank.filling_.converged
    M = (ridge * np.eye(5) + Q.sum(axis=0)) / (2 + ridge)
    for K, present in zip(Q, has.T, strict=True):
        slope = np.linalg.inv(M) - np.linalg.inv(K)
        np.testing.assert_allclose(slope[~present], 0.0, atol=1e-4)


def test_the_divergence_never_rises_and_is_what_it_is_called():
    X = hide(table(30), patterns(30, 0.5))
    bank, _ = fitted("mutual", X)
    steps = np.diff(bank.filling_.history)
    assert len(steps) >= 3
    assert steps.max() <= 1e-9
    Q, has, ridge, tiny_bank = completed_tiny()
    constant = sum(np.linalg.slogdet(K[np.ix_(p, p)])[1] for K, p in zip(Q, has.T, strict=True))
    assert tiny_bank.filling_.history[-1] - constant == pytest.approx(divergence(Q, ridge), abs=1e-6)


def test_a_whole_view_that_new_samples_lack_is_predicted_from_the_other():
    """Two complete kernels: k_2(x, ·) = k_1(x, ·) (K_1 / s_1 + λ I)⁻¹ K_2 / s_1."""
    X, new = table(20), table(7, 9)
    views = raw([("one", Gaussian(gamma=0.5), [0, 1, 4]), ("two", Gaussian(gamma=0.3), [2, 3])])
    bank = CompletedBank(KernelBank(views), "mutual")
    K_1, K_2 = bank.fit_stack(X)
    known = KernelBank(views).fit(X).transform(new)
    new[:, [2, 3]] = np.nan
    rows = bank.transform(new)
    np.testing.assert_allclose(rows[:, :, 0], known[:, :, 0], atol=1e-12)
    expected = known[:, :, 0] @ np.linalg.solve(K_1 + 2 * RIDGE * np.eye(20), K_2)
    np.testing.assert_allclose(rows[:, :, 1], expected, atol=1e-10)
    shift = np.linalg.norm(rows[:, :, 1] - known[:, :, 1])
    assert shift < np.linalg.norm(K_2.mean(axis=0) - known[:, :, 1])  # nearer than the mean


def test_kernels_that_share_their_columns_are_absent_together():
    has = patterns(12, 0.4)
    has[:, 1] = True
    X = hide(table(12), has)
    views = [("narrow", Gaussian(gamma=2.0), [0, 1]), ("wide", Gaussian(gamma=0.1), [0, 1]), VIEWS[1]]
    bank = CompletedBank(KernelBank(views), "mutual")
    Ks = bank.fit_stack(X)
    assert (bank.present_[:, 0] == bank.present_[:, 1]).all()
    np.testing.assert_allclose(np.moveaxis(bank.transform(X), 2, 0), Ks, atol=2e-5)


# --- precomputed kernels
@everyhow
@pytest.mark.parametrize("psd", ["error", "clip", "shift"])
def test_ready_made_kernels_are_completed_as_those_of_a_table(fill, psd):
    n, X, has = 16, table(22), patterns(22, 0.4)
    plain = np.moveaxis(KernelBank(VIEWS).fit(X).transform(X), 2, 0)
    if psd != "error":
        plain[0] = plain[0] - 0.4 * np.eye(22)  # indefinite
    stack = np.array(plain)
    for K, present in zip(stack, has.T, strict=True):
        K[~present] = K[:, ~present] = np.nan
    stack = np.moveaxis(stack, 0, 2)
    before = stack.copy()
    bank = CompletedBank(PrecomputedBank(psd=psd), fill)
    Ks = bank.fit_stack(stack[:n, :n])
    np.testing.assert_array_equal(stack, before)
    for K in Ks:
        assert np.linalg.eigvalsh(K)[0] >= -1e-6
    rows = bank.transform(stack[n:, :n])
    support = np.array([1, 4, 5, 9])
    for m, part in bank.restrict(support, [0, 2]).iter_kernels(stack[n:, :n]):
        np.testing.assert_allclose(part, rows[:, support, m], atol=1e-12)
    if psd == "error" and fill == "zero":
        expected = np.where((has[n:, None] & has[None, :n]), np.moveaxis(plain, 0, 2)[n:, :n], 0.0)
        np.testing.assert_array_equal(rows, expected)


@everyhow
def test_samples_that_do_not_count_are_as_if_they_were_not_there(fill):
    has = patterns(12, 0.4)
    stack = np.moveaxis(KernelBank(VIEWS).fit(table(12)).transform(table(12)), 2, 0).copy()
    for K, present in zip(stack, has.T, strict=True):
        K[~present] = K[:, ~present] = np.nan
    stack = np.moveaxis(stack, 0, 2)
    kept = np.array([0, 1, 2, 5, 6, 8, 11])
    part, whole = CompletedBank(PrecomputedBank(), fill), CompletedBank(PrecomputedBank(), fill)
    np.testing.assert_array_equal(part.fit_stack(stack, kept), whole.fit_stack(stack[np.ix_(kept, kept)]))
    np.testing.assert_array_equal(part.transform(stack), whole.transform(stack[:, kept]))


# --- bad input
def without(rows=(), columns=()):
    """A table in which some rows, or columns, are missing altogether."""
    X = table(8)
    X[list(rows)] = X[:, list(columns)] = np.nan
    return X


NO_KERNEL = np.stack([np.eye(4), np.full((4, 4), np.nan)], axis=2)


test_what_cannot_be_completed_is_refused = refused(
    (lambda: fitted("mean", without(columns=[2, 3])), "'two' is missing from every .*Leave"),
    (lambda: CompletedBank(PrecomputedBank(), "mean").fit_stack(NO_KERNEL), "'kernel-1' is missing"),
    (lambda: fitted("mutual", without(rows=[5])), "at least one view; all views are missing in row 5"),
    (lambda: fitted("mutual", table(8))[0].transform(without(rows=[5])), "views are missing in row 5"),
    (lambda: CompletedBank(KernelBank(), "none"), "fill must be one of 'zero', .*; got 'none'"),
)  # fmt: skip


@everyhow
def test_a_view_that_is_missing_in_part_is_refused_by_its_row_in_the_table(fill):
    X = hide(table(9), patterns(9, 0.5))
    X[6] = table(9)[6]
    X[6, 1] = np.nan
    with pytest.raises(ValueError, match=r"view 'one' holds NaN at row 6, column 1\. .*impute or drop"):
        fitted(fill, X)
    bank, _ = fitted(fill, table(9))
    with pytest.raises(ValueError, match="view 'one' at prediction holds NaN at row 6, column 1"):
        bank.transform(X)


def test_ready_made_kernels_with_stray_nan():
    K = np.eye(5) + 0.1
    K[3] = K[:, 3] = np.nan
    broken = K.copy()
    broken[3, 1] = 0.5
    bank = CompletedBank(PrecomputedBank(), "zero")
    with pytest.raises(
        ValueError, match=r"kernel 'kernel-0' has NaN at \(3, 3\), but a number in row 3 at 1"
    ):
        bank.fit_stack(np.stack([broken, np.eye(5)], axis=2))
    broken = K.copy()
    broken[1, 4] = np.nan
    with pytest.raises(ValueError, match=r"kernel 'kernel-0' holds NaN at \(1, 4\)"):
        bank.fit_stack(np.stack([broken, np.eye(5)], axis=2))
    bank.fit_stack(np.stack([K, np.eye(5)], axis=2))
    new = np.zeros((2, 5, 2))
    new[1, 2, 0] = np.nan
    with pytest.raises(ValueError, match=r"kernel 'kernel-0' holds NaN at \(1, 2\)"):
        bank.transform(new)
    new[:, :, 0] = np.nan
    new[:, 3, 0] = 7.0  # of a training sample that lacks the kernel: ignored
    assert bank.transform(new)[:, :, 0].tolist() == [[0.0] * 5] * 2

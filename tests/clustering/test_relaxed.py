"""SimpleMKKM and RegularizedMKKM: cvxpy, certificates from outside, missing views, predictions."""

import cvxpy as cp
import numpy as np
import pytest
import scipy.optimize
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from multikernel import KernelBank, View, stack_kernels
from multikernel.clustering import RegularizedMKKM, SimpleMKKM
from multikernel.clustering.solver.relaxed import Embedding, impute, solve_regularized
from multikernel.core.optim.loop import Options
from multikernel.kernels import Gaussian


def problem(seed=0, n=18):
    """Three views, the first two with clusters that agree in part, the last of noise."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    A = rng.normal(size=(n, 2)) + 2.0 * np.eye(3)[y][:, :2]
    B = rng.normal(size=(n, 2)) + 2.0 * (y == 1)[:, None]
    N = rng.normal(size=(n, 2))
    return [Gaussian(0.3)(A, A), Gaussian(0.2)(B, B), Gaussian(1.0)(N, N)], y


def scaled(K):
    """Centered, of trace n."""
    n = len(K)
    H = np.eye(n) - 1.0 / n
    K = H @ K @ H
    return n * K / np.trace(K)


def fit(cls, Ks, **options):
    options = {"n_clusters": 3, "tol": 1e-7} | options
    return cls("precomputed", **options).fit(stack_kernels(Ks))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("k", [2, 3])
def test_simple_mkkm_is_the_optimum_of_a_semidefinite_program(seed, k):
    """max 1 / Σ 1/tr(K_p Z) over 0 ⪯ Z ⪯ I of trace k, the dual of the problem."""
    Ks, _ = problem(seed)
    n = len(Ks[0])
    Z = cp.Variable((n, n), symmetric=True)
    parts = [cp.trace(scaled(K) @ Z) for K in Ks]
    constraints = [Z >> 0, np.eye(n) - Z >> 0, cp.trace(Z) == k]
    program = cp.Problem(cp.Minimize(sum(cp.inv_pos(a) for a in parts)), constraints)
    program.solve(solver=cp.CLARABEL)
    model = fit(SimpleMKKM, Ks, n_clusters=k)
    assert model.objective_ == pytest.approx(1.0 / program.value, rel=1e-5)
    weights = np.array([1.0 / a.value for a in parts])
    np.testing.assert_allclose(model.simplex_weights_, weights / weights.sum(), atol=2e-3)


@pytest.mark.parametrize("seed", range(3))
def test_the_certificate_of_simple_mkkm_from_outside(seed):
    Ks, _ = problem(seed)
    model = fit(SimpleMKKM, Ks, tol=1e-3)
    gamma, H = model.simplex_weights_, model.embedding_
    K = sum(g * g * scaled(K) for g, K in zip(gamma, Ks, strict=True))
    values = np.linalg.eigvalsh(K)[::-1][:3]
    np.testing.assert_allclose(model.eigenvalues_, values, rtol=1e-9)
    assert model.objective_ == pytest.approx(values.sum())
    np.testing.assert_allclose(H.T @ H, np.eye(3), atol=1e-9)
    assert model.dual_gap_ <= 1e-3 and model.status_ == "optimal"
    lower = model.history_[-1]["lower_bound"]
    assert model.dual_gap_ == pytest.approx((model.objective_ - lower) / model.objective_)
    best = fit(SimpleMKKM, Ks, tol=1e-9).objective_
    assert lower <= best * (1 + 1e-9) <= model.objective_ * (1 + 1e-8)
    rng = np.random.default_rng(seed)
    for weights in rng.dirichlet(np.ones(3), 50):  # no other weights are better
        other = sum(g * g * scaled(K) for g, K in zip(weights, Ks, strict=True))
        assert np.linalg.eigvalsh(other)[-3:].sum() >= lower * (1 - 1e-9)


def value_of_regularized(Ks, gamma, reg, k=3):
    n = len(Ks[0])
    S = [scaled(K) for K in Ks]
    K = sum(g * g * K for g, K in zip(gamma, S, strict=True))
    cosines = [[np.vdot(a, b) / np.linalg.norm(a) / np.linalg.norm(b) for b in S] for a in S]
    relaxed = np.trace(K) - np.linalg.eigvalsh(K)[-k:].sum()
    return relaxed + 0.5 * reg * n * gamma @ np.array(cosines) @ gamma


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("reg", [0.0, 1.0, 10.0])
def test_regularized_mkkm_is_stationary(seed, reg):
    """Its value by NumPy alone, and no better point along any edge of the simplex nearby."""
    Ks, _ = problem(seed)
    model = fit(RegularizedMKKM, Ks, reg=reg, tol=1e-10)
    gamma = model.simplex_weights_
    assert model.objective_ == pytest.approx(value_of_regularized(Ks, gamma, reg))
    for vertex in np.eye(3):
        slope = value_of_regularized(Ks, gamma + 1e-5 * (vertex - gamma), reg) - model.objective_
        assert slope / 1e-5 > -1e-3 * model.objective_
    values = [entry["objective"] for entry in model.history_]
    assert np.all(np.diff(values) <= 1e-9 * values[0]) and len(values) > 1


@pytest.mark.parametrize("reg", [0.0, 1.0, 10.0])
def test_the_weights_of_an_embedding_by_another_optimizer(reg):
    """At the embedding that was found, the weights are those of the quadratic program."""
    Ks, _ = problem(1)
    model = fit(RegularizedMKKM, Ks, reg=reg, tol=1e-10)
    S, n, H = [scaled(K) for K in Ks], 18, model.embedding_
    z = [np.trace(K) - np.trace(H.T @ K @ H) for K in S]
    M = np.array([[np.vdot(a, b) / np.linalg.norm(a) / np.linalg.norm(b) for b in S] for a in S])
    gamma = cp.Variable(3)
    objective = cp.sum_squares(cp.multiply(np.sqrt(z), gamma)) + 0.5 * reg * n * cp.quad_form(
        gamma, cp.psd_wrap(M)
    )
    cp.Problem(cp.Minimize(objective), [gamma >= 0, cp.sum(gamma) == 1]).solve(solver=cp.CLARABEL)
    np.testing.assert_allclose(model.simplex_weights_, gamma.value, atol=1e-4)


def test_the_completion_is_the_best_one():
    """tr(K Q) over all positive semidefinite completions of the known block, by a semidefinite program."""
    rng = np.random.default_rng(0)
    n, k = 9, 2
    A = rng.normal(size=(n, 4))
    K = A @ A.T
    H = np.linalg.qr(rng.normal(size=(n, k)))[0]
    present = np.ones((n, 1), bool)
    present[[1, 4, 7]] = False
    known = np.ix_(present[:, 0], present[:, 0])
    Ks = np.zeros((1, n, n))
    Ks[0][known] = K[known]
    impute(Ks, H, present)
    Q = np.eye(n) - H @ H.T
    V = cp.Variable((n, n), PSD=True)
    rows = np.flatnonzero(present[:, 0])
    fixed = [V[i, j] == K[i, j] for i in rows for j in rows if i <= j]
    program = cp.Problem(cp.Minimize(cp.trace(V @ Q)), fixed)
    program.solve(solver=cp.CLARABEL)
    assert np.trace(Ks[0] @ Q) == pytest.approx(program.value, rel=1e-5)
    assert np.linalg.eigvalsh(Ks[0])[0] > -1e-9
    np.testing.assert_allclose(Ks[0][known], K[known])


def with_gaps(seed=0, n=90, share=0.3):
    X, y = make_blobs(n, n_features=4, centers=3, random_state=seed, cluster_std=1.5)
    rng = np.random.default_rng(seed)
    lost = rng.random((n, 2)) < share
    lost[lost.all(axis=1)] = False
    gaps = X.copy()
    gaps[lost[:, 0], :2] = np.nan
    gaps[lost[:, 1], 2:] = np.nan
    return X, gaps, y


VIEWS = [View("one", Gaussian(), [0, 1]), View("two", Gaussian(), [2, 3])]


@pytest.mark.parametrize("seed", range(3))
def test_samples_that_lack_views(seed):
    """Completion in the alternation is as good as complete data, but for some samples."""
    X, gaps, _ = with_gaps(seed)
    whole = RegularizedMKKM(VIEWS, n_clusters=3).fit(X)
    model = RegularizedMKKM(KernelBank(VIEWS, missing="absent"), n_clusters=3).fit(gaps)
    assert adjusted_rand_score(whole.labels_, model.labels_) > 0.75
    values = [entry["objective"] for entry in model.history_]
    assert np.all(np.diff(values) <= 1e-6 * values[0])
    with pytest.raises(ValueError, match="for the samples of fit only"):
        model.predict(X)
    same = RegularizedMKKM(KernelBank(VIEWS, missing="absent"), n_clusters=3).fit(X)
    np.testing.assert_array_equal(same.labels_, whole.labels_)
    np.testing.assert_allclose(same.simplex_weights_, whole.simplex_weights_, atol=1e-6)


@pytest.mark.parametrize("missing", ["mean", "complete"])
def test_completed_banks_predict(missing):
    _, gaps, y = with_gaps()
    for cls in (SimpleMKKM, RegularizedMKKM):
        model = cls(KernelBank(VIEWS, missing=missing), n_clusters=3).fit(gaps)
        assert adjusted_rand_score(model.labels_, y) > 0.5
        assert adjusted_rand_score(model.predict(gaps), model.labels_) > 0.9
    with pytest.raises(
        ValueError, match=r"SimpleMKKM does not support missing='absent'.*'mean' or 'complete'"
    ):
        SimpleMKKM(KernelBank(VIEWS, missing="absent")).fit(gaps)


def test_the_solver_leaves_the_given_kernels_as_they_are():
    Ks, _ = problem()
    stack = np.array(Ks)
    before = stack.copy()
    solve_regularized(Embedding(stack, np.ones(3), 2), 1.0, Options())
    np.testing.assert_array_equal(stack, before)


@pytest.mark.parametrize("cls", [SimpleMKKM, RegularizedMKKM])
def test_training_samples_keep_their_clusters(cls):
    X, y = make_blobs(90, centers=3, random_state=0, cluster_std=0.8)
    model = cls([Gaussian(), Gaussian(scale=4.0)], n_clusters=3).fit(X)
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    assert adjusted_rand_score(model.labels_, y) > 0.9
    assert model.weights_frame()["share"].sum() == pytest.approx(1.0)


def test_few_updates_are_told():
    Ks, _ = problem()
    with pytest.warns(
        ConvergenceWarning, match="RegularizedMKKM: the weights still changed after max_iter=1"
    ):
        fit(RegularizedMKKM, Ks, reg=0.1, tol=1e-12, max_iter=1)


def test_the_informative_views_get_the_weight_without_a_penalty():
    Ks, _ = problem(n=60)
    weights = fit(RegularizedMKKM, Ks, reg=0.0).simplex_weights_
    assert weights[2] == weights.min()
    alike = [Ks[0], Ks[0], Ks[0], Ks[1]]
    shares = [fit(RegularizedMKKM, alike, reg=reg).simplex_weights_[3] for reg in (0.0, 100.0)]
    assert shares[1] > shares[0]  # the kernel that is not repeated gains by the penalty


def test_simple_mkkm_by_scipy():
    """SLSQP on the sum of the leading eigenvalues ends at the same weights."""
    Ks, _ = problem(2)
    S = [scaled(K) for K in Ks]
    found = scipy.optimize.minimize(
        lambda g: np.linalg.eigvalsh(sum(w * w * K for w, K in zip(g, S, strict=True)))[-3:].sum(),
        np.full(3, 1 / 3),
        method="SLSQP",
        bounds=[(0, 1)] * 3,
        constraints={"type": "eq", "fun": lambda g: g.sum() - 1.0},
    )
    assert fit(SimpleMKKM, Ks).objective_ <= found.fun * (1 + 1e-6)


@pytest.mark.parametrize("cls", [SimpleMKKM, RegularizedMKKM])
def test_the_end_of_the_time_is_not_blamed_on_the_starts(cls):
    Ks, _ = problem(n=30)
    with pytest.warns(ConvergenceWarning, match=r"the weights still changed .* Raise max_time\.$"):
        cls("precomputed", n_clusters=3, max_time=1e-9, tol=1e-12).fit(stack_kernels(Ks))

"""Kim's ratio, total scatter and Fung's least squares: the answers of the solvers, and the definitions."""

import numpy as np
import pytest
import scipy.optimize

from multikernel import combine_kernels
from multikernel.core.optim.loop import Options
from multikernel.discriminant.solver.fisher import HeterogeneousFisher, fisher_targets, learn_fisher
from multikernel.discriminant.solver.kim import learn_kim
from multikernel.discriminant.solver.learn import DiscriminantProblem, learn_discriminant
from multikernel.kernels import center
from multikernel.rules.discriminant import DiscriminantMKL, FungDiscriminant, KimDiscriminant


def example(n_classes=2, seed=0, n=30):
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, n - n_classes)])
    X = rng.normal(size=(n, 4)) + rng.normal(size=(n_classes, 4))[y]
    D = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    return [10.0 * np.exp(-0.3 * D), X @ X.T, 0.1 * (1.0 + X @ X.T) ** 2], y


def variance(K):
    return np.trace(K) / len(K) - K.mean()


@pytest.mark.parametrize("reg", [0.1, "learn"])
def test_total_scatter_is_the_answer_of_the_solver(reg):
    kernels, y = example(3)
    problem = DiscriminantProblem(np.stack(kernels), y, None if reg == "learn" else reg)
    expected = learn_discriminant(problem)
    learner = DiscriminantMKL(reg).fit(kernels, np.array(list("abc"))[y])
    np.testing.assert_array_equal(learner.kernel_weights_, expected.weights)
    assert (learner.objective_, learner.dual_gap_) == (expected.objective, expected.gap)
    assert learner.reg_ == expected.reg and learner.history_


@pytest.mark.parametrize("n_classes", [2, 4])
def test_the_objective_from_the_learned_matrix(n_classes):
    kernels, y = example(n_classes)
    learner = DiscriminantMKL(1e-2).fit(kernels, y)
    K = center(combine_kernels(kernels, learner.kernel_weights_))
    np.testing.assert_allclose(np.trace(K), 1.0, rtol=1e-9)
    if n_classes == 2:
        H = np.where(y == 1, 1.0 / (y == 1).sum(), -1.0 / (y == 0).sum())[:, None]
    else:
        sizes = np.bincount(y)
        H = np.sqrt(30 / sizes) * (y[:, None] == np.arange(n_classes)) - np.sqrt(sizes / 30)
    expected = 1e-2 * np.trace(H.T @ np.linalg.solve(K + 1e-2 * np.eye(30), H))
    np.testing.assert_allclose(learner.objective_, expected, rtol=1e-8)


def test_a_learned_regularisation_is_better_than_others_at_the_same_trace():
    """In the published sense: M of trace one, and no factor λ."""
    kernels, y = example(3)
    learned = DiscriminantMKL("learn").fit(kernels, y)
    for reg in (0.1 * learned.reg_, learned.reg_, 10.0 * learned.reg_):
        given = DiscriminantMKL(reg).fit(kernels, y)
        in_units_of_trace_one = given.objective_ / reg * (1.0 + 30 * reg)
        assert learned.objective_ <= in_units_of_trace_one * (1.0 + 1e-7)
        if reg == learned.reg_:
            np.testing.assert_allclose(in_units_of_trace_one, learned.objective_, rtol=1e-6)


def test_kim_is_the_answer_of_the_solver_on_kernels_of_one_variance():
    kernels, y = example()
    expected = learn_kim(np.stack([K / variance(K) for K in kernels]), y, 0.01)
    learner = KimDiscriminant(0.01).fit(kernels, y)
    sizes = np.array([variance(K) for K in kernels])
    np.testing.assert_allclose(learner.kernel_weights_ * sizes, expected.weights, atol=1e-6)
    assert learner.objective_ == pytest.approx(expected.objective, rel=1e-7)
    assert learner.dual_gap_ <= 1e-8


def test_the_ratio_of_kim_from_the_features_of_the_learned_kernel():
    kernels, y = example()
    learner = KimDiscriminant(1e-2, normalize=False).fit(kernels, np.where(y > 0, "yes", "no"))
    np.testing.assert_array_equal(learner.kernel_weights_, learn_kim(np.stack(kernels), y, 1e-2).weights)
    assert learner.kernel_weights_.sum() == pytest.approx(1.0)
    values, vectors = np.linalg.eigh(combine_kernels(kernels, learner.kernel_weights_))
    X = vectors * np.sqrt(np.maximum(values, 0.0))
    d = X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0)
    scatter = sum(np.cov(X[y == c].T, bias=True) for c in (0, 1))
    expected = d @ np.linalg.solve(scatter + 1e-2 * np.eye(30), d)
    np.testing.assert_allclose(learner.objective_, expected, rtol=1e-7)


@pytest.mark.parametrize("reg", [0.1, 1e-2, 1e-4])
def test_kim_with_weighted_covariances_has_the_weights_of_the_total_scatter(reg):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [12, 28])
    kernels = [V @ V.T for V in (rng.normal(size=(40, 3)) + shift * y[:, None] for shift in (0.3, 0.6, 0.1))]
    weighted = KimDiscriminant(reg, weighted=True).fit(kernels, y)
    total = DiscriminantMKL(reg).fit(kernels, y)
    np.testing.assert_allclose(weighted.kernel_shares_, total.kernel_shares_, atol=1e-5)
    unweighted = KimDiscriminant(reg).fit(kernels, y)
    assert np.abs(weighted.kernel_shares_ - unweighted.kernel_shares_).max() > 1e-4


@pytest.mark.parametrize("learner", [KimDiscriminant(), DiscriminantMKL(), DiscriminantMKL(10.0)])
def test_an_indefinite_kernel_that_passed_the_checks_is_named(learner, monkeypatch):
    """Large kernels are checked in parts only; here not at all. A large regularisation does not hide it."""
    kernels, y = example()
    stack = np.stack(kernels)
    contrast = np.where(y == 1, 1.0, -1.0)
    stack[1] -= 3.0 * (np.eye(30) if learner.reg < 1.0 else np.outer(contrast, contrast))
    monkeypatch.setattr("multikernel.rules.learner.kernels_first", lambda kernels: (stack, list("abc")))
    with pytest.raises(ValueError, match=r"kernel 'b' has smallest eigenvalue -"):
        learner.fit(dict(zip("abc", kernels, strict=True)), y)


def test_errors_name_the_view_and_the_remedy():
    y, x = np.repeat([0, 1], 4), np.tile([1.0, -1.0], 4)
    with pytest.raises(ValueError, match="tells the means of the two classes apart"):
        KimDiscriminant().fit(np.outer(x, x), y)
    z = np.arange(8.0)
    with pytest.raises(ValueError, match=r"singular with reg=1.0e-30.*Raise reg"):
        KimDiscriminant(1e-30).fit(np.outer(z, z), y)
    with pytest.raises(ValueError, match="total scatter is singular"):
        DiscriminantMKL(1e-30).fit(np.outer(z, z), y)
    noise = {"noise": np.outer(x, x) + 1e-3 * np.eye(8)}
    with pytest.warns(UserWarning, match="weights are those of 'noise' alone") as caught:
        learner = DiscriminantMKL("learn").fit(noise, y)
    assert np.isinf(learner.reg_) and caught[0].filename == __file__


def fung_example(seed=0, n=24, n_classes=2):
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, n - n_classes)])
    X = rng.normal(size=(n, 3)) + 1.5 * rng.normal(size=(n_classes, 3))[y]
    D = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    return np.array([X @ X.T, 40.0 * np.exp(-0.3 * D), 0.1 * np.exp(-2.0 * D), np.eye(n) + 0.2]), y


def joint(Ks, signs, nu, scales, eta, u, b):
    """The value and the gradient, straight from the definition."""
    t = np.where(signs > 0, 1.0 / np.sum(signs > 0), -1.0 / np.sum(signs < 0)) * signs.size / 2
    outputs = np.array([K @ u / s for K, s in zip(Ks, scales, strict=True)])
    r = t - eta @ outputs - b
    K = np.tensordot(eta / scales, Ks, 1)
    value = nu / 2 * r @ r + u @ u / 2 + eta @ eta / 2
    return value, u - nu * K @ r, -nu * r.sum(), eta - nu * outputs @ r


@pytest.mark.parametrize("nu", [0.05, 1.0, 200.0])
def test_value_and_certificate_from_outside(nu):
    Ks, y = fung_example()
    signs, scales = np.where(y == 1, 1.0, -1.0), np.einsum("mii->m", Ks) / len(y)
    found = learn_fisher(HeterogeneousFisher(Ks, signs, nu, scales), Options(tol=1e-7))
    value, du, db, deta = joint(Ks, signs, nu, scales, found.weights, found.direction, found.intercept)
    assert found.status == "optimal"
    assert value == pytest.approx(found.objective, rel=1e-10)
    assert np.linalg.norm(du) <= 1e-6 * np.linalg.norm(found.direction)
    assert abs(db) <= 1e-7 * nu * len(y)
    projected = found.weights - np.maximum(found.weights - deta, 0.0)
    assert np.linalg.norm(projected) <= 1e-6 * np.linalg.norm(found.weights)


@pytest.mark.parametrize("seed", range(3))
def test_no_other_solver_finds_a_lower_value_nearby(seed):
    Ks, y = fung_example(seed)
    signs, scales, n = np.where(y == 1, 1.0, -1.0), np.einsum("mii->m", Ks) / len(y), len(y)
    found = learn_fisher(HeterogeneousFisher(Ks, signs, 1.0, scales), Options(tol=1e-9))

    def flat(z):
        value, du, db, deta = joint(Ks, signs, 1.0, scales, z[:4], z[4 : 4 + n], z[-1])
        return value, np.concatenate([deta, du, [db]])

    start = np.concatenate([np.full(4, 0.25), np.zeros(n), [0.0]])
    start[4 : 4 + n] = 0.01 * signs
    bounds = [(0, None)] * 4 + [(None, None)] * (n + 1)
    settings = {"maxiter": 20000, "maxfun": 50000, "ftol": 1e-15, "gtol": 1e-10}
    other = scipy.optimize.minimize(flat, start, jac=True, bounds=bounds, method="L-BFGS-B", options=settings)
    assert found.objective == pytest.approx(other.fun, rel=1e-7)


def test_the_direction_is_that_of_the_kernel_fisher_discriminant():
    Ks, y = fung_example(4)
    signs, nu = np.where(y == 1, 1.0, -1.0), 0.3
    eta = np.array([0.5, 0.2, 0.0, 0.1])
    u = HeterogeneousFisher(Ks, signs, nu, np.ones(4)).at(eta).u
    K = np.tensordot(eta, Ks, 1)
    plus, minus = K[y == 1], K[y == 0]
    within = sum((rows - rows.mean(axis=0)).T @ (rows - rows.mean(axis=0)) for rows in (plus, minus))
    fisher = np.linalg.solve(within + np.eye(len(y)) / nu, plus.mean(axis=0) - minus.mean(axis=0))
    assert np.corrcoef(u, fisher)[0, 1] > 0
    np.testing.assert_allclose(u / np.linalg.norm(u), fisher / np.linalg.norm(fisher), atol=1e-9)
    assert fisher_targets(signs).sum() == pytest.approx(0.0, abs=1e-12)


def test_slope_and_hessian_of_the_reduced_value():
    Ks, y = fung_example(5)
    problem = HeterogeneousFisher(Ks, np.where(y == 1, 1.0, -1.0), 2.0, np.einsum("mii->m", Ks) / len(y))
    eta, step = np.array([0.4, 0.3, 0.2, 0.6]), 1e-6
    here = problem.at(eta)
    moved = [(problem.at(eta + step * e), problem.at(eta - step * e)) for e in np.eye(4)]
    slope = [(a.value - b.value) / (2 * step) for a, b in moved]
    hessian = np.array([(a.slope - b.slope) / (2 * step) for a, b in moved])
    np.testing.assert_allclose(here.slope, slope, rtol=1e-6)
    root = np.linalg.cholesky(hessian)  # positive definite here: the model is the Taylor polynomial
    expected, _ = scipy.optimize.nnls(root.T, np.linalg.solve(root, hessian @ eta - here.slope))
    np.testing.assert_allclose(problem.newton_weights(here), expected, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("nu", [0.1, 10.0])
def test_the_value_never_rises(nu):
    Ks, y = fung_example(1)
    learner = FungDiscriminant(1 / nu, tol=1e-6).fit(list(Ks), y)
    values = [entry["objective"] for entry in learner.history_]
    assert len(values) > 3 and (np.diff(values) < 0.0).all()
    assert learner.objective_ == values[-1] and learner.dual_gap_ <= 1e-6


def test_equal_kernels_get_equal_weights_and_one_gets_some():
    Ks, y = fung_example(3)
    twice = FungDiscriminant().fit([Ks[0], Ks[0], Ks[1]], y).kernel_weights_
    assert twice[0] == pytest.approx(twice[1], rel=1e-4)
    assert FungDiscriminant().fit(Ks[1], y).kernel_weights_[0] > 0.0


def test_where_nothing_pays():
    Ks, y = fung_example()
    with pytest.raises(
        ValueError, match=r"reg=1e\+06 is so large that all kernel weights are zero. Lower reg"
    ):
        FungDiscriminant(1e6).fit(list(Ks), y)

"""Fung's discriminant: its value, its direction, its stationary points."""

import numpy as np
import pytest
import scipy.optimize

from multikernel.core.optim.loop import Options
from multikernel.discriminant.solver.fisher import HeterogeneousFisher, fisher_targets, learn_fisher
from multikernel.rules.discriminant import FungDiscriminant


def example(seed=0, n=24, n_classes=2):
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
    Ks, y = example()
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
    Ks, y = example(seed)
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
    Ks, y = example(4)
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
    Ks, y = example(5)
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
    Ks, y = example(1)
    learner = FungDiscriminant(nu).fit(list(Ks), y)
    values = [entry["objective"] for entry in learner.history_]
    assert len(values) > 3 and (np.diff(values) < 0.0).all()
    assert learner.objective_ == values[-1] and learner.dual_gap_ <= 1e-6


def test_equal_kernels_get_equal_weights_and_one_gets_some():
    Ks, y = example(3)
    twice = FungDiscriminant().fit([Ks[0], Ks[0], Ks[1]], y).kernel_weights_
    assert twice[0] == pytest.approx(twice[1], rel=1e-4)
    assert FungDiscriminant().fit(Ks[1], y).kernel_weights_[0] > 0.0


def test_where_nothing_pays():
    Ks, y = example()
    with pytest.raises(
        ValueError, match=r"nu=1e-06 is so small that no kernel is worth its weight. Raise nu"
    ):
        FungDiscriminant(1e-6).fit(list(Ks), y)

"""Dirichlet weights: the density against its definition, the posterior against a grid and the prior."""

import numpy as np
import pytest
from scipy import stats
from sklearn.exceptions import ConvergenceWarning

from multikernel.bayesian.solver.simplex_posterior import SimplexDensity, simplex_posterior
from multikernel.core.optim import loop
from multikernel.rules import DirichletWeights


def problem(n=15, n_kernels=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_kernels))
    y = X[:, 0] + 0.5 * rng.normal(size=n) + 2.0
    return np.stack([np.outer(x, x) + np.exp(-((x[:, None] - x) ** 2)) for x in X.T]), y


@pytest.mark.parametrize("noise", [0.3, None])
def test_the_density_is_that_of_the_contrasts_of_the_targets(noise):
    Ks, y = problem(n_kernels=3)
    T = np.stack([y, y**2, y + y**2], axis=1)  # of rank two
    density = SimplexDensity(Ks, T, 1.7, noise)
    assert density.T.shape == (15, 2)
    np.testing.assert_allclose(np.mean(density.T**2), 1.0)
    contrasts = np.linalg.svd(np.ones((1, 15)))[2][1:]
    rng = np.random.default_rng(1)

    def expected(z):
        eta = np.exp(density.basis @ z[:2]) / np.exp(density.basis @ z[:2]).sum()
        variance = 0.3 if noise else 1e-6 + np.exp(z[2])
        K = np.einsum("m,mij->ij", eta * density.scales, Ks) + variance * np.eye(15)
        within = stats.multivariate_normal(np.zeros(14), contrasts @ K @ contrasts.T)
        # Jacobian of η in z: Π η_m, up to a constant
        value = within.logpdf((contrasts @ density.T).T).sum() + (1.7 - 1.0) * np.log(eta).sum()
        return value + np.log(eta).sum() + (0.0 if noise else stats.norm(np.log(0.1), 2.0).logpdf(z[2]))

    z1, z2 = rng.normal(size=(2, density.size))
    np.testing.assert_allclose(density.value(z1) - density.value(z2), expected(z1) - expected(z2), rtol=1e-9)


def test_the_jacobian_of_the_shares_is_their_product():
    density = SimplexDensity(*_stack_and_column(3), 1.0, 0.1)
    z, ratios = np.random.default_rng(0).normal(size=(3, 2)), []
    for point in z:
        columns = [(density.shares(point + s) - density.shares(point - s)) / 2e-5 for s in 1e-5 * np.eye(2)]
        ratios.append(abs(np.linalg.det(np.array(columns)[:, :2])) / np.prod(density.shares(point)))
    np.testing.assert_allclose(ratios, ratios[0], rtol=1e-6)


def _stack_and_column(n_kernels):
    Ks, y = problem(n_kernels=n_kernels)
    return Ks, y[:, None]


@pytest.mark.parametrize("noise", [0.2, None])
def test_the_gradient_is_that_of_finite_differences_and_zero_at_the_mode(noise):
    density = SimplexDensity(*_stack_and_column(3), 0.8, noise)
    z = np.random.default_rng(2).normal(size=density.size)
    steps = 1e-5 * np.eye(density.size)
    slopes = [(density.value(z + step) - density.value(z - step)) / 2e-5 for step in steps]
    np.testing.assert_allclose(density.gradient(z), slopes, rtol=1e-6, atol=1e-7)
    found = simplex_posterior(density, n_draws=8, tol=1e-12)
    assert found.status == "optimal"
    top = density.basis.T @ np.log(found.mode)
    if noise is not None:
        assert np.abs(density.gradient(top)).max() < 1e-5
        others = top + 0.3 * np.random.default_rng(3).normal(size=(10, top.size))
        assert max(density.value(other) for other in others) < found.objective


@pytest.mark.parametrize("seed, noise", [(0, 0.3), (1, 0.05), (2, None)])
def test_mean_and_deviation_are_those_of_a_grid(seed, noise):
    Ks, y = problem(seed=seed)
    density = SimplexDensity(Ks, y[:, None], 1.0, noise)
    found = simplex_posterior(density, n_draws=2000)
    if noise:
        grid = np.linspace(-8.0, 8.0, 300)[:, None]
    else:
        grid = np.stack(np.meshgrid(np.linspace(-8, 8, 45), np.linspace(-7, 3, 45)), axis=2).reshape(-1, 2)
    logs = np.array([density.value(z) for z in grid])
    mass = np.exp(logs - logs.max()) / np.exp(logs - logs.max()).sum()
    shares = np.array([density.shares(z)[0] for z in grid])
    mean = mass @ shares
    deviation = np.sqrt(mass @ (shares - mean) ** 2)
    assert abs(found.mean[0] - mean) < 0.1 * deviation
    np.testing.assert_allclose(np.sqrt(found.covariance[0, 0]), deviation, rtol=0.1)
    assert found.effective > 1000


def test_without_information_the_posterior_is_the_prior():
    Ks, _ = problem(n_kernels=3)
    found = simplex_posterior(SimplexDensity(Ks, np.ones((15, 1)), 2.0, 0.1), n_draws=2000)
    prior = stats.dirichlet([2.0, 2.0, 2.0])
    np.testing.assert_allclose(found.mean, prior.mean(), atol=0.015)
    np.testing.assert_allclose(np.diagonal(found.covariance), prior.var(), rtol=0.1)


def test_the_learner_finds_the_kernel_of_the_classes_and_says_how_sure_it_is():
    rng = np.random.default_rng(0)
    codes = np.arange(24) % 3
    ideal = (codes[:, None] == codes).astype(float)
    noise = [x @ x.T for x in rng.normal(size=(2, 24, 3))]
    learner = DirichletWeights(n_draws=128).fit([*noise, ideal], codes)
    np.testing.assert_allclose(learner.shares_.sum(), 1.0)
    assert learner.shares_[2] > 0.5
    assert learner.status_ == "optimal"
    assert 0.0 <= learner.dual_gap_ <= 1e-6
    np.testing.assert_allclose(learner.shares_cov_.sum(axis=0), 0.0, atol=1e-12)
    assert learner.effective_draws_ > 30
    few = DirichletWeights(n_draws=128).fit([K[:9, :9] for K in (*noise, ideal)], codes[:9])
    assert few.kernel_weights_std_[2] * few.shares_[2] / few.kernel_weights_[2] > 0.0
    assert few.shares_cov_[2, 2] > learner.shares_cov_[2, 2]


def test_scale_and_order_of_the_kernels():
    """Deviations scale as weights do; in another order the draws are others."""
    Ks, y = problem(n_kernels=3)
    base = DirichletWeights(noise=0.2, n_draws=800).fit(list(Ks), y)
    factors = np.array([1e6, 1e-6, 1.0])
    scaled = DirichletWeights(noise=0.2, n_draws=800).fit(list(Ks * factors[:, None, None]), y)
    np.testing.assert_allclose(scaled.kernel_weights_std_ * factors, base.kernel_weights_std_, rtol=1e-6)
    other = DirichletWeights(noise=0.2, n_draws=800).fit(list(Ks[::-1]), y)
    np.testing.assert_allclose(other.objective_, base.objective_, rtol=1e-9)
    np.testing.assert_allclose(other.shares_[::-1], base.shares_, atol=0.02)


def test_degenerate_sets_of_kernels():
    Ks, y = problem()
    for noise in (0.1, "learn"):
        alone = DirichletWeights(noise=noise, n_draws=16).fit([Ks[0]], y)
        np.testing.assert_allclose(alone.shares_, [1.0])
        np.testing.assert_allclose(alone.kernel_weights_std_, [0.0], atol=1e-12)
    twins = DirichletWeights(n_draws=1000).fit([Ks[0], Ks[0]], y)
    np.testing.assert_allclose(twins.shares_, 0.5, atol=0.02)  # the flat prior between them
    assert twins.shares_cov_[0, 0] == pytest.approx(1.0 / 12.0, rel=0.15)
    strong = DirichletWeights(concentration=1e4, n_draws=16).fit(list(Ks), y)
    np.testing.assert_allclose(strong.shares_, 0.5, atol=0.01)


@pytest.mark.parametrize("max_time", [1, 3, 4, 7, 8, 15, 40])
def test_nothing_is_computed_when_time_is_over(max_time, monkeypatch):
    """A gradient takes long, a value little: after the first of both, none begins that ends too late."""
    now = [0.0]
    monkeypatch.setattr(loop, "clock", lambda: now[0])
    for name, seconds in (("value", 0.125), ("gradient", 2.0)):
        computed = getattr(SimplexDensity, name)

        def taking_time(self, z, computed=computed, seconds=seconds):
            now[0] += seconds
            return computed(self, z)

        monkeypatch.setattr(SimplexDensity, name, taking_time)
    A = np.random.default_rng(0).normal(size=(3, 20, 4))
    with pytest.warns(ConvergenceWarning, match="max_time"):
        learner = DirichletWeights(max_time=max_time).fit(list(A @ A.transpose(0, 2, 1)), np.arange(20) % 2)
    assert now[0] <= max(2.125, max_time + max(0.5, 0.1 * max_time))
    assert now[0] >= 0.5 * max_time
    assert learner.status_ == "max_time"
    assert learner.shares_.sum() == pytest.approx(1.0) and np.isfinite(learner.dual_gap_)

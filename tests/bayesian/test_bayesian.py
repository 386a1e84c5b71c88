"""The variational posterior: the bound against its definition, each update against the bound, predictions."""

import copy

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad
from scipy.special import ndtr

from multikernel.bayesian.solver.learn import (
    Extrapolation,
    Outputs,
    class_outputs,
    coordinate_units,
    coordinates,
    learn_bayesian,
    placed,
    remaining_rise,
)
from multikernel.bayesian.solver.posterior import Gamma, Model, Priors, ScaledStack, broad, first_posterior
from multikernel.bayesian.solver.predictive import Moments, log_probabilities, predict_moments
from multikernel.bayesian.solver.truncated import truncate_binary, truncate_classes
from multikernel.core.optim.loop import Options, Status

PRIORS = Priors(sample=(1.5, 0.7), kernel=(2.0, 0.5), intercept=(1.2, 0.9), noise=(3.0, 2.0), spread=0.4)
TASKS = ("two classes", "three classes", "regression")


def problem(task, n=7, n_kernels=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_kernels))
    Ks = np.stack([np.exp(-((x[:, None] - x[None]) ** 2)) * (m + 1.0) for m, x in enumerate(X.T)])
    if task == "regression":
        return Ks, Outputs((np.sin(2 * X[:, 0]) + 0.1 * rng.normal(size=n))[None])
    k = 2 if task == "two classes" else 3
    codes = np.argsort(np.argsort(X[:, 0])) * k // n
    return Ks, class_outputs(codes, k, 0.6)


def fitted(task, n_sweeps=3, **sizes):
    """A model, and a posterior on its way."""
    Ks, outputs = problem(task, **sizes)
    model = Model(ScaledStack(Ks), PRIORS, outputs.truncate)
    q = first_posterior(outputs.first, len(Ks), PRIORS, task == "regression", np.full(len(Ks), 0.5))
    for _ in range(n_sweeps):
        model.sweep(q)
    return model, q, outputs


# ---------------------------------------------------------------------- truncated normals
def test_a_normal_truncated_by_two_classes_is_that_of_scipy():
    m, signs = np.array([0.3, -2.0, 5.0, -40.0]), np.array([1.0, 1.0, -1.0, 1.0])
    found = truncate_binary(m, signs, 0.5)
    np.testing.assert_allclose(found.log_mass, stats.norm.logsf(0.5 - signs * m), rtol=1e-12)
    inner = [0, 1]
    expected = stats.truncnorm.mean(0.5 - m[inner], np.inf, loc=m[inner])
    np.testing.assert_allclose(found.mean[inner], expected, rtol=1e-10)
    assert 0.5 < found.mean[3] < 0.53  # far outside: just within the region


@pytest.mark.parametrize("k, size", [(3, 1.0), (6, 3.0), (4, 30.0)])
def test_normals_truncated_by_classes_have_the_mass_and_mean_of_quadrature(k, size):
    rng = np.random.default_rng(k)
    m, codes = size * rng.normal(size=(k, 5)), rng.integers(0, k, 5)
    found = truncate_classes(m, codes, 0.3)
    if size < 10:
        ahead = m[codes[0], 0] - np.delete(m[:, 0], codes[0]) - 0.3
        mass = quad(lambda u: stats.norm.pdf(u) * np.prod(ndtr(u + ahead)), -20, 20, epsabs=1e-14, limit=200)[
            0
        ]
        np.testing.assert_allclose(found.log_mass[0], np.log(mass), rtol=1e-9)
    for c in range(k):
        step = np.zeros_like(m)
        step[c] = 1e-4
        ends = [truncate_classes(m + sign * step, codes, 0.3).log_mass for sign in (1.0, -1.0)]
        np.testing.assert_allclose(found.mean[c] - m[c], (ends[0] - ends[1]) / 2e-4, rtol=1e-5, atol=1e-5)


# ---------------------------------------------------------------------- the bound is what it says
def draw(q, model, rng):
    """One draw of everything from q, with log p − log q."""
    L, n = q.f.shape
    ratio = 0.0

    def precision(gamma, prior):
        nonlocal ratio
        x = rng.gamma(gamma.shape, 1.0 / gamma.rate)
        ratio += np.sum(stats.gamma.logpdf(x, prior[0], scale=1.0 / prior[1]))
        ratio -= np.sum(stats.gamma.logpdf(x, gamma.shape, scale=1.0 / gamma.rate))
        return x

    lam = precision(q.sample, PRIORS.sample)
    omega, gamma = precision(q.kernel, PRIORS.kernel), precision(q.intercept, PRIORS.intercept)
    eps = precision(q.noise, PRIORS.noise) if q.noise is not None else 1.0
    w, log_w = normal(q.w, q.w_cov, rng)
    b, e = w[:L], w[L:]
    ratio += norm(w, 0.0, np.concatenate([gamma, omega]) ** -0.5) - log_w
    for l in range(L):
        a, log_a = normal(q.a[l], np.linalg.inv(model.a_precision(q, l)), rng)
        ratio += norm(a, 0.0, lam[l] ** -0.5) - log_a
        parts = model.stack.apply(a[None])[0]
        noise = rng.normal(size=(n, len(e)))
        factor = np.linalg.cholesky(q.g_cov)
        g = q.g[l] + (noise @ factor.T).T
        log_g = norm(noise, 0.0, 1.0) - n * np.log(np.diagonal(factor)).sum()
        ratio += norm(g, parts, PRIORS.spread) - log_g
        if q.noise is not None:
            ratio += norm(q.f[l], e @ g + b[l], eps**-0.5)
        else:
            f = q.drawn_f[l]
            ratio += norm(f, e @ g + b[l], 1.0) - norm(f, q.center[l], 1.0)
    return ratio + (q.log_mass if q.noise is None else 0.0)


def norm(x, mean, deviation):
    z = (x - mean) / deviation
    return float(np.sum(-0.5 * z**2 - 0.5 * np.log(2 * np.pi) - np.log(np.broadcast_to(deviation, z.shape))))


def normal(mean, cov, rng):
    factor = np.linalg.cholesky(cov)
    z = rng.normal(size=mean.size)
    return mean + factor @ z, norm(z, 0.0, 1.0) - np.log(np.diagonal(factor)).sum()


def truncated_draws(q, outputs, rng):
    """f from q, by rejection: a point is inside where its label's region says so."""
    codes = np.argmax(outputs.first, axis=0) if len(q.f) > 1 else (outputs.first[0] > 0).astype(int)
    f = np.full(q.f.shape, np.nan)
    for i in np.arange(f.shape[1]):
        while np.isnan(f[0, i]):
            x = q.center[:, i] + rng.normal(size=len(f))
            ahead = (2 * codes[i] - 1) * x if len(f) == 1 else x[codes[i]] - np.delete(x, codes[i])
            if ahead.min() > 0.6:
                f[:, i] = x
    return f


@pytest.mark.parametrize("task", TASKS)
def test_the_bound_is_the_mean_of_log_p_less_log_q(task):
    model, q, outputs = fitted(task, n_sweeps=4, n=4, n_kernels=2)
    rng = np.random.default_rng(1)
    ratios = []
    for _ in range(200):
        if q.noise is None:
            q.drawn_f = truncated_draws(q, outputs, rng)
        ratios.append(draw(q, model, rng))
    error = np.std(ratios) / np.sqrt(len(ratios))
    assert error < 0.4
    assert abs(np.mean(ratios) - model.bound(q)) < 4.0 * error


# ---------------------------------------------------------------------- each update maximises it
def moved(factor, model, q, rng, size):
    """q with one factor moved by `size` in a random direction."""
    there = copy.deepcopy(q)
    if factor in ("sample", "kernel", "intercept", "noise"):
        old = getattr(q, factor)
        shape, rate = (np.exp(size * rng.normal(size=old.shape.shape)) for _ in range(2))
        setattr(there, factor, Gamma(old.shape * shape, old.rate * rate))
    elif factor == "f":
        there.center = q.center + size * rng.normal(size=q.center.shape)
        found = model.truncate(there.center)
        there.f, there.log_mass = found.mean, float(found.log_mass.sum())
    elif factor == "a":
        move_a(there, model, rng, size)
    else:
        mean, cov = getattr(q, factor), getattr(q, f"{factor}_cov")
        setattr(there, factor, mean + size * rng.normal(size=mean.shape))
        setattr(there, f"{factor}_cov", moved_cov(cov, rng, size))
    return there


def move_a(q, model, rng, size):
    q.a = q.a + size * rng.normal(size=q.a.shape)
    q.part = model.stack.apply(q.a)
    for l in range(len(q.a)):
        cov = moved_cov(np.linalg.inv(model.a_precision(q, l)), rng, size)
        q.a_variance[l], q.a_logdet[l] = np.diagonal(cov), np.linalg.slogdet(cov)[1]
        q.a_trace[l] = np.vdot(model.stack.squares, cov)


def moved_cov(cov, rng, size):
    root = np.linalg.cholesky(cov)
    R = rng.normal(size=cov.shape)
    return root @ (np.eye(len(cov)) + size * (R + R.T) / len(cov)) @ root.T


@pytest.mark.parametrize("task", TASKS)
def test_each_update_is_the_maximiser_of_the_bound_in_its_factor(task):
    model, q, _ = fitted(task)
    rng = np.random.default_rng(0)
    for factor, update in model.updates.items():
        update(q)
        top = model.bound(q)
        for _ in range(3):
            seed, ends = rng.integers(2**31), []
            for size in (1e-3, -1e-3):
                there = moved(factor, model, q, np.random.default_rng(seed), size)
                ends.append(model.bound(there))
            assert max(ends) < top, factor
            assert abs(ends[0] - ends[1]) < 0.02 * (top - min(ends)), factor  # no slope, only curvature


@pytest.mark.parametrize("task", TASKS)
def test_the_bound_never_falls_and_ends_where_no_sweep_lifts_it(task):
    Ks, outputs = problem(task, n=12)
    found = learn_bayesian(Ks, outputs, PRIORS, Options(tol=1e-7, max_iter=1000))
    bounds = np.array([entry["objective"] for entry in found.history])
    assert np.diff(bounds).min() > -1e-10 * abs(bounds[-1])
    assert found.status == Status.OPTIMAL
    assert found.gap <= 1e-7
    assert found.objective == bounds[-1]
    cut = learn_bayesian(Ks, outputs, PRIORS, Options(tol=1e-7, max_iter=3))
    assert cut.status == Status.MAX_ITER
    assert cut.n_iter == 3
    assert cut.objective < found.objective


def test_steps_beyond_the_sweeps_lead_to_the_same_point_sooner():
    Ks, outputs = problem("two classes", n=8)
    found = learn_bayesian(Ks, outputs, PRIORS, Options(tol=1e-8, max_iter=1000))
    model, q, _ = fitted("two classes", n_sweeps=found.n_iter, n=8)
    assert model.bound(q) < found.objective
    for _ in range(3 * found.n_iter):
        model.sweep(q)
    np.testing.assert_allclose(model.bound(q), found.objective, rtol=1e-5)
    np.testing.assert_allclose(q.e, found.weights, rtol=0.05)


# ---------------------------------------------------------------------- symmetries
def test_scales_orders_and_precision_of_the_kernels_do_not_matter():
    Ks, outputs = problem("three classes", n=10)
    kept = Ks.copy()
    options = Options(tol=1e-6)
    found = learn_bayesian(Ks, outputs, PRIORS, options)
    np.testing.assert_array_equal(Ks, kept)
    order = [2, 0, 1]
    other = learn_bayesian(Ks[order] * np.array([1e6, 1e-6, 1.0])[:, None, None], outputs, PRIORS, options)
    np.testing.assert_allclose(other.weights, found.weights[order], rtol=1e-5)
    np.testing.assert_allclose(other.objective, found.objective, rtol=1e-8)
    single = learn_bayesian(Ks.astype(np.float32), outputs, PRIORS, options)
    np.testing.assert_allclose(single.weights, found.weights, rtol=1e-3)


def test_equal_kernels_have_equal_weights():
    Ks, outputs = problem("regression", n=10)
    found = learn_bayesian(np.stack([Ks[0], Ks[0], Ks[1]]), outputs, PRIORS, Options(tol=1e-6))
    np.testing.assert_allclose(found.weights[0], found.weights[1], rtol=1e-9)


def test_the_divergence_of_gammas_is_the_integral():
    one, two = Gamma(np.array(2.0), np.array(3.0)), broad((0.7, 0.4), ())
    p, q = (stats.gamma(g.shape, scale=1.0 / g.rate) for g in (one, two))
    expected = quad(lambda x: p.pdf(x) * (p.logpdf(x) - q.logpdf(x)), 0, 20)[0]
    np.testing.assert_allclose(one.divergence(two), expected, rtol=1e-7)


# ---------------------------------------------------------------------- predictions
@pytest.mark.parametrize("task", TASKS)
def test_predictive_moments_are_those_of_draws_from_the_posterior(task):
    Ks, outputs = problem(task, n=9)
    found = learn_bayesian(Ks, outputs, PRIORS, Options(tol=1e-5))
    rows = {m: K[:2] + 0.1 for m, K in enumerate(Ks)}
    moments = predict_moments(rows, found)
    model = Model(ScaledStack(Ks), PRIORS, outputs.truncate)
    assert model.stack.scales == pytest.approx(found.scales)
    rng, L, draws = np.random.default_rng(0), len(found.intercepts), 40000
    w = rng.multivariate_normal(np.concatenate([found.intercepts, found.weights]), found.weights_cov, draws)
    variances = []
    for l in range(L):
        # the mean covariance of all the outputs stands for each
        a = rng.multivariate_normal(found.coefficients[l], found.coefficients_cov, draws)
        g = np.stack([found.scales[m] * (a @ K[1]) for m, K in rows.items()], axis=1)
        g += PRIORS.spread * rng.normal(size=g.shape)
        f = np.sum(w[:, L:] * g, axis=1) + w[:, l] + np.sqrt(found.noise) * rng.normal(size=draws)
        assert abs(f.mean() - moments.mean[1, l]) < 5.0 * f.std() / np.sqrt(draws)
        variances.append(f.var())
    np.testing.assert_allclose(moments.variance[1], np.mean(variances), rtol=0.05)


def test_probabilities_are_shares_of_the_draws():
    mean, variance = np.array([[0.5, -0.3, 0.1], [4.0, 0.0, 0.0]]), np.array([2.0, 0.5])
    shares = np.exp(log_probabilities(Moments(mean, variance), 0.0))
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, rtol=1e-12)
    masses = [
        truncate_classes((mean / np.sqrt(variance)[:, None]).T, np.full(2, c), 0.0).log_mass for c in range(3)
    ]
    np.testing.assert_allclose(np.exp(masses).sum(axis=0), 1.0, rtol=1e-12)  # before they are normalised
    draws = mean[0] + np.sqrt(2.0) * np.random.default_rng(0).normal(size=(20000, 3))
    np.testing.assert_allclose(shares[0], np.bincount(draws.argmax(axis=1)) / 20000, atol=0.015)
    two = np.exp(log_probabilities(Moments(np.array([[1.0]]), np.array([4.0])), 0.5))
    up, down = stats.norm.cdf(0.25), stats.norm.cdf(-0.75)
    np.testing.assert_allclose(two, [[down / (up + down), up / (up + down)]], rtol=1e-12)


def test_a_posterior_too_narrow_for_floating_point_is_refused():
    Ks, outputs = problem("regression")
    with pytest.raises(ValueError, match="raise spread"):
        learn_bayesian(np.ones_like(Ks), outputs, Priors(spread=1e-12), Options())


@pytest.mark.parametrize("astray", [3.0, np.nan, 1e4])
def test_a_step_too_far_is_not_taken(monkeypatch, astray):
    after = Extrapolation.next
    monkeypatch.setattr(
        Extrapolation, "next", lambda self, units: after(self, units) + (0.0 if self.is_empty else astray)
    )
    Ks, outputs = problem("two classes", n=8)
    found = learn_bayesian(Ks, outputs, PRIORS, Options(tol=1e-4))
    bounds = [entry["objective"] for entry in found.history]
    assert found.status == Status.OPTIMAL
    assert np.diff(bounds).min() > -1e-10 * abs(found.objective)
    assert np.count_nonzero(np.diff(bounds) == 0.0) >= len(bounds) // 2 - 2  # each second one was thrown away


@pytest.mark.parametrize("task", TASKS)
def test_what_a_sweep_reads_is_all_in_its_coordinates(task):
    model, q, _ = fitted(task)
    x = coordinates(q)
    assert coordinate_units(q).shape == x.shape
    there = placed(q, x)
    kept = coordinates(q)
    there.kernel = there.intercept = there.center = None
    there.a[:], there.a_variance[:], there.part = np.nan, np.nan, None
    model.sweep(there)
    np.testing.assert_array_equal(coordinates(q), kept)
    model.sweep(q)
    np.testing.assert_allclose(coordinates(there), coordinates(q), rtol=1e-9, atol=1e-11)
    assert model.bound(there) == pytest.approx(model.bound(q))


def test_a_slow_ascent_is_not_taken_for_its_end():
    """Rises of 1e-4 of the bound for hundreds of sweeps: together they matter."""
    A = np.random.default_rng(0).normal(size=(30, 2))
    Ks = np.stack([A @ A.T, *(np.exp(-w * ((A[:, None] - A) ** 2).sum(axis=2)) for w in (0.1, 1.0, 10.0))])
    outputs = class_outputs((A[:, 0] * A[:, 1] > 0).astype(int), 2, 1.0)
    found = learn_bayesian(Ks, outputs, Priors(), Options(tol=1e-5, max_iter=1000))
    exact = learn_bayesian(Ks, outputs, Priors(), Options(tol=1e-10, max_iter=3000))
    assert found.status == exact.status == Status.OPTIMAL
    assert 0.0 <= exact.objective - found.objective < 0.01
    deviations = np.sqrt(np.diagonal(exact.weights_cov))[1:]
    assert (np.abs(found.weights - exact.weights) < 0.1 * deviations).all()


def test_the_estimated_rise_of_a_geometric_sequence():
    for ratio in (0.7, 0.9, 0.98):
        bounds = [5.0 - ratio**k for k in range(60)]
        assert ratio**59 <= remaining_rise(bounds) <= 2.1 * ratio**49
    assert remaining_rise([1.0, 1.0, 1.0]) == 0.0

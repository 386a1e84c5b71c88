"""Multinomial probit MKL: its bound, its updates, truncated normals in the tails, and probabilities."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import digamma, gammaln
from scipy.stats import multivariate_normal, norm
from sklearn.datasets import load_iris

from multikernel.bayesian import ProbitMKLClassifier
from multikernel.bayesian.solver.posterior import ScaledStack
from multikernel.bayesian.solver.probit import ProbitModel, class_probabilities, learn_probit
from multikernel.bayesian.solver.truncated import truncate_binary, truncate_classes
from multikernel.core.optim.loop import Options
from multikernel.kernels import Gaussian, Linear
from tests.raw import raw

N = 15
COUNTS = pytest.mark.parametrize("n_classes", [2, 3])


def problem(n_classes, n=N):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    Ks = np.stack(
        [s * np.exp(-((X[:, None, j] - X[None, :, j]) ** 2)) for j, s in enumerate((1.0, 5.0, 0.3))]
    )
    order = np.argsort(np.argsort(X[:, 0] + 0.2 * rng.normal(size=n)))
    return Ks, order * n_classes // n


def at_work(n_classes, sweeps=3):
    Ks, codes = problem(n_classes)
    model = ProbitModel(ScaledStack(Ks), codes, (1.5, 0.7))
    q = model.start(np.array([0.2, 0.5, 0.3]))
    for _ in range(sweeps):
        model.sweep(q)
    return model, q


def plain_bound(model, q):
    """E log p − E log q, term by term, from the definition; all densities written out."""
    L, n = q.f.shape
    shape0, rate0 = model.prior
    Ks = np.stack([K / np.diagonal(K).mean() for K in model.stack.Ks])
    Phi = np.column_stack([np.tensordot(q.beta, Ks, 1), np.ones(n)])
    value = 0.0
    for l in range(L):
        V = np.linalg.inv(np.diag(q.precisions[l]) + q.Phi_of_w.T @ q.Phi_of_w)
        square = np.outer(q.w[l], q.w[l]) + V
        shape, rate = q.sample.shape[l], q.sample.rate[l]
        mean, mean_log = shape / rate, digamma(shape) - np.log(rate)
        # E log N(f | Phi w, I) without the part with E f'f, which the entropy of f takes back below
        value += q.f[l] @ Phi @ q.w[l] - 0.5 * np.trace(Phi.T @ Phi @ square)
        value += 0.5 * np.sum(mean_log - np.log(2 * np.pi) - mean * np.diagonal(square))
        value += 0.5 * np.linalg.slogdet(2 * np.pi * np.e * V)[1]
        value += np.sum(shape0 * np.log(rate0) - gammaln(shape0) + (shape0 - 1) * mean_log - rate0 * mean)
        value += np.sum(shape - np.log(rate) + gammaln(shape) + (1 - shape) * digamma(shape))
    # q(f) = N(center, I) / Z in the region: −E log q(f) + E log of the part of N(f | ., I) left out above
    value += np.sum(-q.f * q.center + 0.5 * q.center**2)
    for i, code in enumerate(model.codes):
        others = [c for c in range(L) if c != code]
        ahead = q.center[code, i] - q.center[others, i]
        value += multivariate_normal(np.zeros(L - 1), np.eye(L - 1) + 1.0).logcdf(ahead)
    return value


@COUNTS
def test_the_bound_is_the_plain_one(n_classes):
    model, q = at_work(n_classes)
    q.precisions, q.Phi_of_w = q.sample.mean, np.column_stack([q.K, np.ones(N)])
    model.update_w(q)  # V of the newest precisions, which the plain form inverts anew
    assert model.bound(q) == pytest.approx(plain_bound(model, q), rel=1e-5)  # SciPy's integral is by sampling


@COUNTS
def test_no_update_lowers_the_bound(n_classes):
    model, q = at_work(n_classes, sweeps=0)
    model.update_w(q)
    for _ in range(5):
        for update in (model.update_w, model.update_beta, model.update_f, model.update_sample):
            before = model.bound(q)
            update(q)
            assert model.bound(q) >= before - 1e-10


@COUNTS
@pytest.mark.parametrize("name", ["w", "f", "sample", "beta"])
def test_each_update_is_a_maximum(n_classes, name):
    """Small moves of what an update has set do not raise the bound."""
    model, q = at_work(n_classes)
    model.update_w(q)  # β reads it as of the newest precisions
    for _ in range(300 if name == "beta" else 1):  # its steps are those of a model
        getattr(model, f"update_{name}")(q)
    best, rng = model.bound(q), np.random.default_rng(1)
    for _ in range(20):
        kept = dict(vars(q))
        if name == "w":
            q.w = q.w + 1e-3 * rng.normal(size=q.w.shape)
        elif name == "f":
            q.center = q.center + 1e-3 * rng.normal(size=q.center.shape)
            found = truncate_classes(q.center, model.codes, 0.0)
            q.f, q.log_mass = found.mean, float(found.log_mass.sum())
        elif name == "sample":
            q.sample = type(q.sample)(
                q.sample.shape, q.sample.rate * np.exp(1e-3 * rng.normal(size=q.w.shape))
            )
        else:
            beta = np.maximum(q.beta + 1e-3 * rng.normal(size=3), 0.0)
            model._combine(q, beta / beta.sum())
            model.update_w(q)
        assert model.bound(q) <= best + 1e-9
        vars(q).update(kept)


@COUNTS
def test_the_bound_of_a_fit_rises_to_a_stationary_point(n_classes):
    Ks, codes = problem(n_classes, 30)
    found = learn_probit(Ks, codes, (1.0, 1.0), Options(tol=1e-10, max_iter=3000))
    bounds = [entry["objective"] for entry in found.history]
    assert np.all(np.diff(bounds) >= -1e-11) and found.status == "optimal"  # up to rounding
    assert found.weights.sum() == pytest.approx(1.0) and found.weights.min() >= 0.0
    model = ProbitModel(ScaledStack(Ks), codes, (1.0, 1.0))
    q = model.start(found.weights)
    for _ in range(1000):  # plain sweeps, without extrapolation, from its weights
        model.sweep(q)
    assert model.bound(q) == pytest.approx(found.objective, abs=2e-3)
    assert q.beta == pytest.approx(found.weights, abs=1e-2)


@pytest.mark.parametrize("m", [-1e8, -1e4, -300.0, -38.0, -5.0, 0.0, 5.0, 40.0, 1e6])
def test_truncated_normals_in_the_tails(m):
    """E f of f ~ N(m, 1), f > 0: by a continued fraction far out, else as it is."""
    if m < -30.0:
        x, ratio = -m, 0.0
        for k in range(60, 0, -1):
            ratio = k / (x + ratio)
        expected = ratio  # φ(x)/(1 − Φ(x)) − x
    else:
        expected = m + norm.pdf(m) / norm.cdf(m)
    assert truncate_binary(np.array([m]), np.ones(1), 0.0).mean[0] == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("far", [-400.0, -30.0, 0.0, 30.0])
def test_truncated_outputs_of_three_classes(far):
    found = truncate_classes(np.array([[far], [0.0], [0.5]]), np.array([0]), 0.0)
    assert np.isfinite(found.log_mass).all() and np.isfinite(found.mean).all()
    assert found.mean[0, 0] >= found.mean[1:, 0].max() - 1e-9
    assert found.mean.sum() == pytest.approx(far + 0.5, rel=1e-9)  # what one gains the others lose


def test_class_probabilities_beside_quadrature():
    mean, variance = np.array([[0.3, -0.8, 1.1]]), np.array([[1.0, 2.5, 1.7]])
    std = np.sqrt(variance[0])
    for c in range(3):
        others = [o for o in range(3) if o != c]

        def height(f, c=c, others=others):
            return norm.pdf(f, mean[0, c], std[c]) * np.prod(
                [norm.cdf(f, mean[0, o], std[o]) for o in others]
            )

        assert class_probabilities(mean, variance)[0, c] == pytest.approx(quad(height, -20, 20)[0], rel=1e-8)
    two = class_probabilities(mean[:, :2], variance[:, :2])
    assert two[0, 0] == pytest.approx(norm.cdf(1.1 / np.sqrt(3.5)), rel=1e-8)


# ---------------------------------------------------------------------- the estimator
VIEWS = raw([("line", Linear(), [0, 1]), ("curve", Gaussian(0.5), [2, 3]), ("wide", Gaussian(0.01), [0])])


@pytest.mark.parametrize("n_classes", [2, 3])
def test_scores_are_sums_of_contributions(n_classes):
    X, y = load_iris(return_X_y=True)
    kept = y < n_classes
    X, y = X[kept][::2], y[kept][::2]
    model = ProbitMKLClassifier(VIEWS).fit(X, y)
    scores = model.contributions(X).sum(axis=-1) + model.intercept_
    found = model._posterior
    mean = model._test_sum(X) @ found.coefficients.T + found.intercepts
    assert scores == pytest.approx(mean if n_classes == 3 else mean[:, 1] - mean[:, 0], abs=1e-9)
    proba = model.predict_proba(X)
    assert proba.sum(axis=1) == pytest.approx(1.0)
    np.testing.assert_array_equal(model.predict(X), model.classes_[proba.argmax(axis=1)])
    assert model.score(X, y) > 0.9
    assert list(model.weights_frame().columns)[:1] == ["weight"] or "weight" in model.weights_frame()


def test_probabilities_are_honest_where_classes_overlap():
    """Labels drawn from known probabilities: the mean log-loss is near that of the truth."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 1))
    truth = norm.cdf(1.5 * X[:, 0])
    y = rng.random(400) < truth
    model = ProbitMKLClassifier([Linear(), Gaussian()]).fit(X[:150], y[:150])
    said = model.predict_proba(X[150:])[:, 1]
    assert np.abs(said - truth[150:]).mean() < 0.05


def test_unknown_priors_are_refused():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="priors knows sample; got 'kernel'"):
        ProbitMKLClassifier(priors={"kernel": (1.0, 1.0)}).fit(X, y)

"""Evidence of additive Gaussian processes: gradients, the mode, ascent, bounds, the posterior."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import minimize
from scipy.special import expit, log_expit
from scipy.stats import multivariate_normal, norm

from multikernel.core.optim import loop
from multikernel.core.optim.loop import Options
from multikernel.gaussian_process.solver.ascent import maximize_evidence
from multikernel.gaussian_process.solver.components import Components
from multikernel.gaussian_process.solver.gaussian import GaussianEvidence
from multikernel.gaussian_process.solver.laplace import LaplaceEvidence, find_mode
from multikernel.gaussian_process.solver.predictive import mean_sigmoid

N = 40
PRECISE = Options(tol=1e-13, max_iter=300)


def problem(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, 3))
    Ks = np.stack(
        [s * np.exp(-((X[:, None, j] - X[None, :, j]) ** 2)) for j, s in enumerate((1.0, 7.0, 0.2))]
    )
    y = np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] + 0.3 * rng.normal(size=N)
    return Ks, y - y.mean()


def evidences(seed=0):
    Ks, y = problem(seed)
    signs = np.stack([np.where(y > 0.2, 1.0, -1.0), np.where(y > -0.5, 1.0, -1.0)])
    yield GaussianEvidence(Components(Ks, noise=True), y), np.array([0.0, 0.0, 0.0, 1e-6])
    yield LaplaceEvidence(Components(Ks, constant=True), signs), np.zeros(4)


BOTH = pytest.mark.parametrize("which", [0, 1], ids=["gaussian", "laplace"])


@BOTH
@pytest.mark.parametrize("theta", [[0.3, 0.2, 0.1, 0.4], [2.0, 0.0, 0.5, 1.0]])
def test_the_gradient_is_that_of_finite_differences(which, theta):
    evidence, _ = list(evidences())[which]
    theta = np.array(theta) + 1e-3
    _, state = evidence.evaluate(theta)
    slope, curvature = evidence.derivatives(theta, state)
    steps = 1e-5 * np.eye(4)
    rise = [(evidence.evaluate(theta + d)[0] - evidence.evaluate(theta - d)[0]) / 2e-5 for d in steps]
    assert slope == pytest.approx(rise, rel=1e-5, abs=1e-5)
    assert np.linalg.eigvalsh(curvature).min() > -1e-10


def test_the_evidence_of_a_regression_is_a_normal_density():
    evidence, _ = next(evidences())
    theta = np.array([0.3, 0.2, 0.1, 0.4])
    C = evidence.terms.total(theta)
    value, _ = evidence.evaluate(theta)
    assert value == pytest.approx(multivariate_normal(np.zeros(N), C).logpdf(evidence.targets), rel=1e-10)


def test_the_mode_is_the_maximum_of_the_posterior():
    Ks, y = problem()
    K, signs = 4.0 * Ks[0] + 0.1 * np.eye(N), np.where(y > 0, 1.0, -1.0)
    mode = find_mode(K, signs)
    inverse = np.linalg.inv(K)

    def loss(f):
        return -log_expit(signs * f).sum() + 0.5 * f @ inverse @ f, inverse @ f - signs * expit(-signs * f)

    found = minimize(loss, np.zeros(N), jac=True, method="BFGS", options={"gtol": 1e-9, "maxiter": 5000})
    assert mode.f == pytest.approx(found.x, abs=1e-6)
    precision = inverse + np.diag(expit(mode.f) * expit(-mode.f))
    laplace = -found.fun - 0.5 * np.linalg.slogdet(K)[1] - 0.5 * np.linalg.slogdet(precision)[1]
    assert mode.value == pytest.approx(laplace, rel=1e-8)


@BOTH
@pytest.mark.parametrize("seed", [0, 1])
def test_the_ascent_ends_where_a_general_optimizer_ends(which, seed):
    evidence, lower = list(evidences(seed))[which]
    found = maximize_evidence(evidence, [np.full(4, 0.3)], lower, PRECISE)
    assert found.status == "optimal" and found.gap < 1e-13
    values = [entry["objective"] for entry in found.history]
    assert np.all(np.diff(values) >= 0.0)

    def loss(theta):
        value, state = evidence.evaluate(theta)
        return -value, -evidence.derivatives(theta, state)[0]

    bounds = [(low, None) for low in lower]
    rival = minimize(
        loss,
        found.theta + 0.05,
        jac=True,
        method="L-BFGS-B",
        bounds=bounds,
        options={"ftol": 1e-15, "gtol": 1e-9},
    )
    assert found.objective >= -rival.fun - 1e-9
    assert found.theta == pytest.approx(rival.x, abs=2e-3)


@BOTH
def test_the_first_order_conditions_hold_by_finite_differences(which):
    """Weights of exactly 0 have no positive slope, the others have none; seen from the evidence alone."""
    evidence, lower = list(evidences())[which]
    theta = maximize_evidence(evidence, [np.full(4, 0.3)], lower, PRECISE).theta
    at_bound = theta == lower
    assert at_bound.any() and not at_bound.all()
    middle = evidence.evaluate(theta)[0]
    for j, step in enumerate(1e-4 * np.eye(4)):
        above = evidence.evaluate(theta + step)[0]
        if at_bound[j]:
            assert above <= middle + 1e-10
        else:
            below = evidence.evaluate(theta - step)[0]
            assert (above - below) / 2e-4 == pytest.approx(0.0, abs=1e-3)
            assert max(above, below) <= middle + 1e-10


def test_more_starts_are_never_worse_and_are_numbered():
    evidence, lower = next(evidences())
    starts = [np.full(4, 0.3), np.array([3.0, 0.0, 0.0, 0.1])]
    alone = [maximize_evidence(evidence, [start], lower, PRECISE).objective for start in starts]
    both = maximize_evidence(evidence, starts, lower, PRECISE)
    assert both.objective == max(alone)
    assert {entry["start"] for entry in both.history} == {0, 1}


@pytest.mark.parametrize("mean", [-30.0, -2.0, 0.0, 0.7, 12.0])
@pytest.mark.parametrize("std", [0.0, 0.3, 0.999, 1.0, 4.0, 60.0])
def test_the_mean_of_the_logistic_function(mean, std):
    if std == 0.0:
        expected = expit(mean)
    else:
        ends = mean - 12 * std, mean + 12 * std
        points = [point for point in (-20.0, 0.0, 20.0, mean) if ends[0] < point < ends[1]]
        expected = quad(
            lambda f: norm.pdf(f, mean, std) * expit(f), *ends, points=points, epsabs=0, limit=500
        )[0]
    assert mean_sigmoid(np.array([mean]), np.array([std]))[0] == pytest.approx(expected, rel=1e-7)


class _NoBetter:
    """An evidence that is lower at every point but the first, where each look takes a second."""

    n, n_kernels = 1, 1

    def __init__(self, now):
        self.now, self.looks = now, 0

    def evaluate(self, theta, near=None):
        self.now[0] += 1.0
        self.looks += 1
        return (0.0 if near is None else -1.0), theta

    def derivatives(self, theta, state):
        return np.array([1.0, 1.0]), np.eye(2)


@pytest.mark.parametrize("max_time, status, looks", [(2.5, "max_time", 3), (1e9, "stalled", 2 * 31)])
def test_an_ascent_whose_time_ends_amid_a_step_says_so_and_no_other_begins(
    max_time, status, looks, monkeypatch
):
    now = [0.0]
    monkeypatch.setattr(loop, "clock", lambda: now[0])
    evidence = _NoBetter(now)
    with loop.limited(max_time):
        found = maximize_evidence(evidence, [np.ones(2)] * 2, np.zeros(2), Options())
    assert (str(found.status), evidence.looks) == (status, looks)

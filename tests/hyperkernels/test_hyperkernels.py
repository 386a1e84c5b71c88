"""Hyperkernels: the semidefinite program of the paper, the certificate, kernels at new samples."""

import cvxpy as cp
import numpy as np
import pytest
from scipy.optimize import nnls
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from multikernel import load_model, save_model
from multikernel.core.optim import loop
from multikernel.core.optim.loop import Options
from multikernel.core.svm.losses import EpsilonInsensitive, Hinge
from multikernel.hyperkernels import HyperkernelClassifier, HyperkernelRegressor
from multikernel.hyperkernels.solver.harmonic import Harmonic
from multikernel.hyperkernels.solver.learn import learn_hyperkernel
from multikernel.kernels import Gaussian, Linear
from tests.raw import raw

N, DECAY = 9, 0.6
VIEWS = raw([("near", Gaussian(0.5), [0]), ("far", Gaussian(0.1), [1])])


def problem(kind, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, 2))
    base = np.stack([np.exp(-g * (X[:, None, j] - X[None, :, j]) ** 2) for j, g in enumerate((0.5, 0.1))])
    y = np.sin(2 * X[:, 0]) + 0.3 * rng.normal(size=N)
    if kind == "classes":
        signs = np.where(y > np.median(y), 1.0, -1.0)
        return base, signs, [Hinge(signs, 2.0)]
    if kind == "three":
        codes = np.argsort(np.argsort(y)) % 3
        signs = np.where(codes == np.arange(3)[:, None], 1.0, -1.0)
        return base, signs, [Hinge(own, 2.0) for own in signs]
    return base, y, [EpsilonInsensitive(y, 2.0, 0.1)]


KINDS = pytest.mark.parametrize("kind", ["classes", "three", "values"])


def hyper_gram(base):
    """h between all pairs of samples, in closed form: the limit of all powers."""
    u = base.reshape(len(base), -1)
    return np.mean([(1 - DECAY) / (1 - DECAY * np.outer(row, row)) for row in u], axis=0)


def semidefinite_program(base, y, penalty, kind):
    """The regularized quality functional of the paper, over β of every pair."""
    H = hyper_gram(base)
    root = np.linalg.cholesky(H + 1e-11 * np.eye(len(H)))
    beta = cp.Variable(len(H), nonneg=True)
    K = cp.reshape(H @ beta, (N, N), order="C")
    value, constraints = 0.5 * penalty * cp.sum_squares(root.T @ beta), []
    for own in np.atleast_2d(y):
        z, t, b = cp.Variable((N, 1)), cp.Variable((1, 1)), cp.Variable()
        block = cp.bmat([[0.5 * (K + K.T), z], [z.T, t]])
        joint = cp.Variable((N + 1, N + 1), PSD=True)
        constraints.append(joint == block)
        scores = z[:, 0] + b
        loss = (
            cp.pos(cp.abs(own - scores) - 0.1) if kind == "values" else cp.pos(1 - cp.multiply(own, scores))
        )
        value += 0.5 * t[0, 0] + 2.0 * cp.sum(loss)
    program = cp.Problem(cp.Minimize(value), constraints)
    program.solve(solver=cp.CLARABEL)
    return program.value


@KINDS
@pytest.mark.parametrize("penalty", [0.5, 20.0])
def test_it_is_the_semidefinite_program(kind, penalty):
    base, y, losses = problem(kind)
    found = learn_hyperkernel(Harmonic(base, DECAY), losses, penalty, Options(tol=1e-6))
    assert found.status == "optimal"
    assert found.objective == pytest.approx(semidefinite_program(base, y, penalty, kind), rel=2e-5)


@KINDS
def test_the_gap_is_seen_from_outside(kind):
    """Any duals are a lower bound: e − ½c ‖projection of s/c on the cone‖², with the cone of all pairs."""
    base, y, losses = problem(kind)
    penalty, harmonic = 5.0, Harmonic(base, DECAY)
    found = learn_hyperkernel(harmonic, losses, penalty, Options(tol=1e-5))
    F = harmonic.features(np.arange(N * N))
    K = (F @ found.v).reshape(N, N)
    assert nnls(F.T, found.v)[1] < 1e-7 * np.linalg.norm(found.v)  # the kernel is in the cone
    assert np.linalg.eigvalsh(K).min() > -1e-10
    primal, offset, slope = 0.5 * penalty * found.v @ found.v, 0.0, np.zeros(len(found.v))
    for own, beta, b in zip(np.atleast_2d(y), found.duals, found.intercepts, strict=True):
        scores = K @ beta + b
        if kind == "values":
            risk = 2.0 * np.maximum(np.abs(own - scores) - 0.1, 0.0).sum()
            offset += own @ beta - 0.1 * np.abs(beta).sum()
        else:
            risk = 2.0 * np.maximum(1.0 - own * scores, 0.0).sum()
            offset += own @ beta
            assert (own * beta >= -1e-12).all()
        assert abs(beta.sum()) < 1e-9 and np.abs(beta).max() <= 2.0 + 1e-12
        primal += 0.5 * beta @ K @ beta + risk
        slope += 0.5 * np.array([np.outer(beta, beta).ravel() @ column for column in F.T])
    projection = slope @ F.T @ nnls_dual(F, slope / penalty)
    lower = offset - 0.5 * projection
    assert found.objective == pytest.approx(primal, rel=1e-10)
    assert lower <= primal + 1e-9
    assert (primal - lower) / primal < 1e-3  # of the machines at the best kernel alone
    assert (primal - found.lower_bound) / primal == pytest.approx(found.gap, abs=1e-12)
    assert found.gap <= 1e-5


def nnls_dual(F, point):
    """β ≥ 0 with F'β the point of the cone that is nearest."""
    return nnls(F.T, point)[0]


@KINDS
def test_the_lower_bound_is_below_every_kernel(kind):
    base, _, losses = problem(kind)
    penalty, harmonic = 5.0, Harmonic(base, DECAY)
    found = learn_hyperkernel(
        harmonic, losses, penalty, Options(tol=0.2)
    )  # ends early, and bounds all the same
    exact = learn_hyperkernel(harmonic, losses, penalty, Options(tol=1e-7)).objective
    assert found.lower_bound <= exact + 1e-9 <= found.objective + 2e-7 * exact


def test_kernels_at_new_samples_are_the_expansion():
    """k(x, z) = Σ_p β_p h(p, (x, z)) with β over pairs of training samples."""
    rng = np.random.default_rng(0)
    X, new = rng.normal(size=(14, 2)), rng.normal(size=(5, 2))
    model = HyperkernelClassifier(VIEWS, decay=DECAY, tol=1e-6).fit(X, X[:, 0] > 0)
    gram = lambda A, B: np.stack([v.kernel(A[:, v.columns], B[:, v.columns]) for v in VIEWS])  # noqa: E731
    harmonic = Harmonic(gram(X, X), DECAY)
    F = harmonic.features(np.arange(14 * 14))
    beta = nnls(F.T, (model.power_weights_ / harmonic.roots).ravel())[0]
    u, w = gram(X, X).reshape(2, -1), gram(new, X).reshape(2, -1)
    h = np.mean([(1 - DECAY) / (1 - DECAY * np.outer(a, b)) for a, b in zip(u, w, strict=True)], axis=0)
    K = (beta @ h).reshape(5, 14)
    scores = K[:, model.support_] @ model.dual_coef_[0] + model.intercept_[0]
    assert model.decision_function(new) == pytest.approx(scores, abs=1e-6)
    assert model.contributions(new).sum(axis=1) + model.intercept_ == pytest.approx(scores, abs=1e-6)


def test_the_machine_is_scikit_learns_with_the_learned_kernel():
    X, y = load_wine(return_X_y=True)
    X, y = StandardScaler().fit_transform(X)[y < 2][::2], y[y < 2][::2]
    model = HyperkernelClassifier(raw(Gaussian(0.02)), C=3.0, tol=1e-8).fit(X, y)
    squares = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    K = sum(c * np.exp(-0.02 * r * squares) for r, c in enumerate(model.power_weights_[0]))
    rival = SVC(C=3.0, kernel="precomputed", tol=1e-10).fit(K, y)
    assert model.decision_function(X) == pytest.approx(rival.decision_function(K), abs=5e-3)


def test_a_slow_function_gets_the_wider_kernel():
    x = np.linspace(-3, 3, 80)[:, None]
    means = []
    for speed in (1.0, 4.0):
        model = HyperkernelRegressor(raw(Gaussian(1.7)), C=10.0, reg=0.1, decay=0.9).fit(
            x, np.sin(speed * x[:, 0])
        )
        share = model.power_weights_[0] / model.kernel_weights_[0]
        means.append(share @ np.arange(share.size))
    assert means[0] < means[1] - 1.0


def test_kernels_out_of_range_are_refused():
    X = np.random.default_rng(0).normal(size=(20, 2))
    with pytest.raises(ValueError, match="values from 0 to 1; those of kernel 'linear' are from"):
        HyperkernelClassifier(raw(Linear())).fit(X, X[:, 0] > 0)
    with pytest.raises(ValueError, match=r"decay must be at most 0\.95; got 0\.99"):
        HyperkernelClassifier(decay=0.99).fit(X, X[:, 0] > 0)


def test_a_saved_model_is_the_same(tmp_path):
    X = np.random.default_rng(0).normal(size=(20, 2))
    model = HyperkernelRegressor(VIEWS).fit(X, X[:, 0])
    save_model(model, tmp_path / "model.mkl")
    np.testing.assert_array_equal(load_model(tmp_path / "model.mkl").predict(X), model.predict(X))


def test_regression_does_not_depend_on_the_unit_or_the_origin_of_y():
    X = np.random.default_rng(1).normal(size=(40, 2))
    y = np.sin(X[:, 0]) + 0.3 * X[:, 1]
    one = HyperkernelRegressor(VIEWS, tol=1e-8).fit(X, y)
    assert one.score(X, y) > 0.7
    for unit, origin in ((1e-4, 0.0), (1e4, 1e7)):
        model = HyperkernelRegressor(VIEWS, tol=1e-8).fit(X, unit * y + origin)
        np.testing.assert_allclose((model.predict(X) - origin) / unit, one.predict(X), atol=1e-3)
        np.testing.assert_allclose(model.power_weights_ / np.sqrt(unit), one.power_weights_, atol=1e-3)
        assert pytest.approx(one.C_ * np.sqrt(unit)) == model.C_
        assert model.epsilon_ == pytest.approx(one.epsilon_ * unit)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"C": "x"}, "C, where it is not a number"),
        ({"C": 0.0}, "C must"),
        ({"epsilon": -1.0}, "epsilon must"),
    ],
)
def test_penalties_that_are_none_are_refused(options, said):
    with pytest.raises(ValueError, match=said):
        HyperkernelRegressor(**options).fit(np.eye(4), np.arange(4.0))


def test_no_further_pair_is_priced_when_the_time_is_over(monkeypatch):
    base, _, losses = problem("three")
    calls = []
    kernel = Harmonic.kernel
    monkeypatch.setattr(Harmonic, "kernel", lambda self, v: calls.append(1) or kernel(self, v))
    options = Options(tol=1e-9, max_iter=1)
    free = learn_hyperkernel(Harmonic(base, DECAY), losses, 3.0, options)
    of_free = len(calls)
    calls.clear()
    with loop.limited(0.0):
        ended = learn_hyperkernel(Harmonic(base, DECAY), losses, 3.0, options)
    assert len(calls) == 4 < of_free  # scale of the first v, two machines, one pricing
    assert ended.status == "max_time" and ended.lower_bound <= free.objective

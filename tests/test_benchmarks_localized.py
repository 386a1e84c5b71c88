"""The judge of gates, the descent around SVC, the data, and what the page says of them."""

import dataclasses
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, softmax
from sklearn.svm import SVC

from benchmarks.datasets import localized as data
from benchmarks.datasets.localized import digits_task, gauss_task
from benchmarks.localized_objective import gate_values, gated_kernel, judge_machine
from benchmarks.objective import InfeasibleError
from benchmarks.sections import localized as section
from benchmarks.solvers.localized import fit_estimator, learn_gate
from benchmarks.solvers.localized_svc import descend_svc
from tests.shared_data import needs_shared_data, shared_data_folder


@pytest.fixture
def small_digits(monkeypatch):
    """Two views of few digits, so that no data folder is needed."""
    rng = np.random.default_rng(0)
    digits = np.arange(60) % 10
    views = {"shape": rng.normal(size=(60, 3)) + digits[:, None], "ink": rng.normal(size=(60, 2))}
    monkeypatch.setattr(data, "digit_views", lambda: ("multifeat", views, digits))
    data.digits_task.cache_clear()
    yield views, digits
    data.digits_task.cache_clear()


# ---------------------------------------------------------------------- the judge
@cache
def machine_problem():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(24, 3))
    y = np.where(X[:, 0] + 0.7 * rng.normal(size=24) > 0, 1.0, -1.0)
    return np.exp(-0.3 * ((X[:, None] - X) ** 2).sum(-1)), y


def feasible_duals(y, C, rng):
    """Signed duals in their box that sum to zero."""
    alpha = C * rng.random(y.size)
    sums = alpha[y > 0].sum(), alpha[y < 0].sum()
    alpha[y > 0] *= min(1.0, sums[1] / sums[0])
    alpha[y < 0] *= min(1.0, sums[0] / sums[1])
    return y * alpha


@cache
def machine_optimum(C):
    K, y = machine_problem()
    model = SVC(kernel="precomputed", C=C, tol=1e-10).fit(K, y)
    beta = model.dual_coef_[0]
    return np.abs(beta).sum() - 0.5 * beta @ K[np.ix_(model.support_, model.support_)] @ beta


@given(st.integers(0, 10**6), st.sampled_from([0.1, 1.0, 10.0]))
def test_judge_computes_both_values_and_they_enclose_the_optimum(seed, C):
    K, y = machine_problem()
    rng = np.random.default_rng(seed)
    beta, b = feasible_duals(y, C, rng), float(rng.normal())
    verdict = judge_machine(K, y, beta, b, C)
    norm = sum(beta[i] * beta[j] * K[i, j] for i in range(y.size) for j in range(y.size))
    losses = [max(0.0, 1.0 - y[i] * (K[i] @ beta + b)) for i in range(y.size)]
    assert verdict.value == pytest.approx(sum(abs(beta)) - 0.5 * norm, rel=1e-10)
    assert verdict.primal == pytest.approx(0.5 * norm + C * sum(losses), rel=1e-10)
    assert verdict.value <= machine_optimum(C) + 1e-8 <= verdict.primal + 2e-8
    assert verdict.gap == pytest.approx((verdict.primal - verdict.value) / verdict.primal)
    assert verdict.support == 24


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (lambda b: -b, InfeasibleError, r"0 \.\. 2"),
        (lambda b: 3.0 * b, InfeasibleError, r"0 \.\. 2"),
        (lambda b: np.where(np.arange(b.size) == 0, 0.5 * b, b), InfeasibleError, "balance"),
        (lambda b: b[1:], ValueError, "fit"),
        (lambda b: np.where(np.arange(b.size) == 0, np.nan, b), ValueError, "finite"),
    ],
)
def test_judge_refuses_what_is_infeasible_or_does_not_fit(change, error, message):
    K, y = machine_problem()
    beta = feasible_duals(y, 2.0, np.random.default_rng(0))
    beta *= 1.9 / np.abs(beta).max()
    judge_machine(K, y, beta, 0.0, 2.0)
    with pytest.raises(error, match=message):
        judge_machine(K, y, change(beta), 0.0, 2.0)


@given(st.integers(1, 4), st.integers(0, 3), st.integers(0, 10**6))
def test_judge_forms_gates_and_their_kernel(n_gates, n_features, seed):
    rng = np.random.default_rng(seed)
    V, X = rng.normal(size=(n_gates, n_features + 1)), rng.normal(size=(7, n_features))
    with pytest.raises(ValueError, match="softmax"):
        gate_values(V, X, "gaussian")
    activations = np.column_stack([X, np.ones(7)]) @ V.T
    np.testing.assert_allclose(gate_values(V, X, "softmax"), softmax(activations, axis=1), rtol=1e-12)
    eta = gate_values(V, X, "sigmoid")
    np.testing.assert_allclose(eta, expit(activations), rtol=1e-12)
    roots = rng.normal(size=(2, 7, 7))
    kernels = roots @ roots.transpose(0, 2, 1)
    sources = rng.integers(0, 2, n_gates)
    K = gated_kernel(kernels, sources, eta)
    for i in range(7):
        for j in range(7):
            expected = sum(eta[i, m] * kernels[sources[m], i, j] * eta[j, m] for m in range(n_gates))
            assert K[i, j] == pytest.approx(expected, rel=1e-10, abs=1e-12)


# ---------------------------------------------------------------------- the contestants
@pytest.mark.parametrize("kernels", ["linear + quadratic", "3 linear"])
@pytest.mark.parametrize("gating", ["softmax", "sigmoid"])
def test_all_start_at_the_same_gate_and_end_lower(kernels, gating):
    task = gauss_task(60, kernels, gating)
    before = task.kernels.copy()
    K = gated_kernel(task.kernels, task.sources, gate_values(task.start(3), task.features, gating))
    model = SVC(kernel="precomputed", C=task.C, tol=1e-8).fit(K, task.y)
    support, beta = model.support_, model.dual_coef_[0]
    first = np.abs(beta).sum() - 0.5 * beta @ K[np.ix_(support, support)] @ beta
    for descend in section.CONTESTANTS.values():
        answer = descend(task, 3)
        assert answer.first == pytest.approx(first, rel=1e-3)
        verdict = section.verdict_of(task, answer)
        assert verdict["value"] < 0.95 * first
        assert verdict["gap"] < 2e-3
        assert answer.n_solves > answer.n_steps > 0
    np.testing.assert_array_equal(task.kernels, before)


def test_peer_steps_as_ours_do(monkeypatch):
    """Both with exact machines: the same steps and solves, and the same gate at the end."""
    monkeypatch.setattr("benchmarks.solvers.localized_svc.SVC_TOL", 1e-9)
    monkeypatch.setattr("benchmarks.solvers.localized.MACHINE_TOL", 1e-10)
    task = gauss_task(60, "linear + quadratic")
    ours, theirs = learn_gate(task, 1), descend_svc(task, 1)
    assert (ours.n_steps, ours.n_solves, ours.status) == (theirs.n_steps, theirs.n_solves, theirs.status)
    np.testing.assert_allclose(theirs.gate, ours.gate, atol=1e-4)


# ---------------------------------------------------------------------- the data
def test_kernels_are_those_that_the_page_names():
    task = gauss_task(50, "linear + quadratic")
    Z = (task.points - task.points.mean(axis=0)) / task.points.std(axis=0)
    np.testing.assert_allclose(task.features, Z)
    for K, raw in zip(task.kernels, (Z @ Z.T, (Z @ Z.T + 1.0) ** 2), strict=True):
        norms = np.sqrt(np.diag(raw))
        np.testing.assert_allclose(K, raw / np.outer(norms, norms), rtol=1e-12)
        np.testing.assert_array_equal(K, K.T)
    assert (len(task.views), task.sources.tolist(), set(task.y)) == (2, [0, 1], {-1.0, 1.0})
    copies = gauss_task(50, "3 linear")
    assert (copies.kernels.shape, copies.sources.tolist()) == ((1, 50, 50), [0, 0, 0])


def test_digits_have_a_kernel_for_each_view(small_digits):
    views, digits = small_digits
    task = digits_task(40, "sigmoid")
    drawn = np.random.default_rng(0).permutation(60)[:40]
    assert (task.kernels.shape, task.gating) == ((2, 40, 40), "sigmoid")
    np.testing.assert_array_equal(task.y, np.where(digits[drawn] >= 5, 1.0, -1.0))
    np.testing.assert_array_equal(task.points, np.hstack([views["shape"], views["ink"]])[drawn])
    for kernel, view in zip(task.kernels, views.values(), strict=True):
        Z = (view[drawn] - view[drawn].mean(axis=0)) / view[drawn].std(axis=0)
        Z /= np.linalg.norm(Z, axis=1, keepdims=True)
        np.testing.assert_allclose(kernel, Z @ Z.T, atol=1e-12)
    assert fit_estimator(task, 0).first == pytest.approx(descend_svc(task, 0).first, rel=1e-3)


def test_without_a_data_folder_the_digits_of_scikit_learn_are_read(monkeypatch, tmp_path):
    monkeypatch.setenv("MULTIKERNEL_DATA", str(tmp_path))
    data.digit_views.cache_clear()
    name, views, digits = data.digit_views()
    data.digit_views.cache_clear()
    assert (name, len(views), digits.size) == ("digits", 4, 1797)
    assert {table.shape for table in views.values()} == {(1797, 16)}


@needs_shared_data
def test_multiple_features_have_six_views(monkeypatch):
    monkeypatch.setenv("MULTIKERNEL_DATA", str(shared_data_folder()))
    data.digit_views.cache_clear()
    name, views, digits = data.digit_views()
    data.digit_views.cache_clear()
    assert (name, digits.size) == ("multifeat", 2000)
    assert sorted(table.shape[1] for table in views.values()) == [6, 47, 64, 76, 216, 240]


def test_an_infeasible_answer_is_refused_and_not_judged():
    task = gauss_task(40, "linear + quadratic")
    answer = learn_gate(task, 0)
    wrong = dataclasses.replace(answer, coefficients=3.0 * answer.coefficients)
    assert "duals must lie" in section.verdict_of(task, wrong)["refused"]

"""The benchmarks' judge of discriminant kernels, its contestants and its page, against plain programs."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_wine

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.datasets import discrimination
from benchmarks.datasets.discrimination import DiscriminantTask, draw_waveforms, gaussian_bank
from benchmarks.discriminant_objective import columns_of_classes, judge_discriminant
from benchmarks.objective import InfeasibleError
from benchmarks.sections import discriminant as section
from benchmarks.solvers.discriminant import answer_of_ours, fit_ours, learn_ours
from judges.programs import discriminant_cvxopt, discriminant_cvxpy


@cache
def small_task(reg, n=24, m=4, classes=2):
    """Waveforms with labels that do not fit all of them."""
    points, codes = draw_waveforms(n, seed=3)
    codes = codes if classes == 2 else np.arange(n) % classes
    codes[0] = 1 - codes[0]
    points = (points - points.mean(axis=0)) / points.std(axis=0)
    return DiscriminantTask("made", gaussian_bank(points, m), codes, reg)


def plain_objective(kernels, codes, weights, reg, learned):
    """The published objective by explicit centring and inverse."""
    n = codes.size
    P = np.eye(n) - np.ones((n, n)) / n
    M = reg * np.eye(n) + P @ sum(w * K for w, K in zip(weights, kernels, strict=True)) @ P
    if learned:
        M = M / np.trace(M)
    means = [(codes == c) / np.count_nonzero(codes == c) for c in range(codes.max() + 1)]
    if len(means) == 2:
        columns = [means[1] - means[0]]
    else:
        columns = [np.sqrt(n * np.count_nonzero(codes == c)) * P @ mean for c, mean in enumerate(means)]
    value = sum(h @ np.linalg.inv(M) @ h for h in columns)
    return value if learned else reg * value


def centred_traces(kernels):
    n = kernels.shape[1]
    P = np.eye(n) - np.ones((n, n)) / n
    return np.array([np.trace(P @ K @ P) for K in kernels])


@cache
def optimum(reg, classes=2):
    """The least objective by cvxpy: the sum of matrix fractions, none of the contestants' forms."""
    task = small_task(reg, classes=classes)
    n = task.codes.size
    P = np.eye(n) - np.ones((n, n)) / n
    members = [P @ K @ P for K in task.kernels]
    members = [G / np.trace(G) for G in members] + ([np.eye(n) / n] if reg is None else [])
    eta = cp.Variable(len(members), nonneg=True)
    M = n * sum(eta[i] * A for i, A in enumerate(members)) + n * (reg or 0.0) * np.eye(n)
    M = M + np.ones((n, n)) / n
    H = columns_of_classes(task.codes)
    size = np.linalg.norm(H)
    cost = sum(cp.matrix_frac(H[:, j] / size, M) for j in range(H.shape[1]))
    value = cp.Problem(cp.Minimize(cost), [cp.sum(eta) == 1]).solve(solver=cp.CLARABEL)
    return n * size**2 * value * (1.0 if reg is None else reg)


REGS = [1e-2, None]


# ---------------------------------------------------------------------- the judge
@pytest.mark.parametrize("classes", [2, 3, 4])
@pytest.mark.parametrize("reg", REGS)
@given(data=st.data())
def test_judge_computes_the_published_objective(reg, classes, data):
    task = small_task(reg, classes=classes)
    shares = np.array(data.draw(st.lists(st.floats(0.0, 1.0), min_size=4, max_size=4))) + 1e-3
    weights = shares / shares.sum() / centred_traces(task.kernels)
    asked = data.draw(st.floats(1e-6, 10.0)) if reg is None else reg
    verdict = judge_discriminant(task.kernels, task.codes, weights, asked, learned=reg is None)
    plain = plain_objective(task.kernels, task.codes, weights, asked, reg is None)
    best = optimum(reg, classes)
    assert verdict.value == pytest.approx(plain, rel=1e-9)
    assert verdict.lower <= best * (1.0 + 1e-7)
    assert verdict.value >= best * (1.0 - 1e-7)
    assert verdict.gap == pytest.approx(1.0 - verdict.lower / verdict.value, abs=1e-15)
    assert 0.0 <= verdict.width < 1e-15


@pytest.mark.parametrize(("reg", "expected"), [(1e-2, 50.87001101), (1e-4, 1.258256569), (None, 12804.59675)])
def test_judge_agrees_with_the_optimum_of_wine(reg, expected):
    points, codes = load_wine(return_X_y=True)
    points = (points - points.mean(axis=0)) / points.std(axis=0)
    task = DiscriminantTask("wine", gaussian_bank(points, 10), codes.astype(np.int64), reg)
    result = learn_ours(task)
    verdict = judge_discriminant(task.kernels, task.codes, result.weights, result.reg, learned=reg is None)
    assert verdict.value == pytest.approx(expected, rel=1e-8)
    assert -1e-12 < verdict.gap <= 1e-8


def test_judge_gives_all_to_the_identity_where_the_regularisation_is_infinite():
    task = small_task(None)
    weights = 0.25 / centred_traces(task.kernels)
    verdict = judge_discriminant(task.kernels, task.codes, weights, np.inf, learned=True)
    sizes = np.bincount(task.codes)
    assert verdict.value == pytest.approx(24 * (1.0 / sizes[0] + 1.0 / sizes[1]), rel=1e-12)


def good_weights(task):
    return 0.25 / centred_traces(task.kernels)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (lambda w, r: (w * 1.001, r), InfeasibleError, "sum to 1"),
        (lambda w, r: (w * [1, 1, 3, -1], r), InfeasibleError, "nonnegative"),
        (lambda w, r: (w, -1e-3), InfeasibleError, "λ must be"),
        (lambda w, r: (w, np.nan), InfeasibleError, "λ must be"),
        (lambda w, r: (w[:3], r), ValueError, "shapes"),
        (lambda w, r: (w * [1, 1, 1, np.nan], r), ValueError, "finite"),
    ],
)
@pytest.mark.parametrize("reg", REGS)
def test_judge_refuses_what_is_off_its_set(reg, change, error, message):
    task = small_task(reg)
    weights, asked = change(good_weights(task), 1e-2)
    with pytest.raises(error, match=message):
        judge_discriminant(task.kernels, task.codes, weights, asked, learned=reg is None)


@pytest.mark.parametrize("asked", [0.0, np.inf])
def test_judge_refuses_a_given_regularisation_that_leaves_nothing(asked):
    task = small_task(1e-2)
    with pytest.raises(InfeasibleError, match="λ must be positive and finite"):
        judge_discriminant(task.kernels, task.codes, good_weights(task), asked, learned=False)


def test_judge_refuses_a_singular_matrix_and_wrong_classes():
    task = small_task(None)
    ones = np.ones((24, 1)) @ np.arange(24.0)[None]
    rank_one = np.array([ones.T @ ones])
    with pytest.raises(InfeasibleError, match="positive definite"):
        judge_discriminant(rank_one, task.codes, 1.0 / centred_traces(rank_one), 0.0, learned=True)
    for codes in (np.zeros(24, int), task.codes + 1, 2 * task.codes, task.codes.astype(float)):
        with pytest.raises(ValueError, match="class"):
            judge_discriminant(task.kernels, codes, good_weights(task), 1e-2, learned=False)


# ---------------------------------------------------------------------- the contestants
CONTESTANTS = {
    "ours": lambda task: answer_of_ours(learn_ours(task)),
    "CVXOPT, stated": discriminant_cvxopt.solve_stated,
    "CVXOPT, balanced": discriminant_cvxopt.solve_balanced,
    "CVXOPT, balanced, chol": discriminant_cvxopt.solve_balanced_chol,
    "CVXOPT, dual": discriminant_cvxopt.solve_dual,
    "Clarabel": discriminant_cvxpy.solve_clarabel,
    "SCS": discriminant_cvxpy.solve_scs,
}


@pytest.mark.parametrize("reg", REGS)
@pytest.mark.parametrize("name", CONTESTANTS)
def test_contestants_find_the_optimum(name, reg):
    task = small_task(reg)
    before = task.kernels.copy()
    answer = CONTESTANTS[name](task)
    verdict = section.verdict_of(task, answer)
    assert answer.status == "optimal"
    assert verdict["value"] == pytest.approx(optimum(reg), rel=1e-6)
    assert -1e-12 < verdict["gap"] < (1e-8 if name == "ours" else 1e-3)
    np.testing.assert_array_equal(task.kernels, before)


def test_the_estimator_is_given_the_same_task():
    for reg in REGS:
        task = small_task(reg)
        model = fit_ours(task)
        np.testing.assert_allclose(model.kernel_weights_, learn_ours(task).weights, rtol=1e-9, atol=1e-12)
        assert model.objective_ == pytest.approx(optimum(reg), rel=1e-6)


# ---------------------------------------------------------------------- the data
def test_waveforms_fall_back_on_their_recipe(monkeypatch):
    def absent(name):
        raise ValueError(f"{name} is nowhere")

    monkeypatch.setattr(discrimination, "load_dataset", absent)
    discrimination.waveform_rows.cache_clear()
    try:
        task = discrimination.discriminant_task(50, 3, None)
    finally:
        discrimination.waveform_rows.cache_clear()
    assert (task.dataset, task.kernels.shape, set(task.codes)) == ("waveform_drawn", (3, 50, 50), {0, 1})


def test_drawn_waveforms_have_the_means_of_the_recipe():
    points, codes = draw_waveforms(20_000)
    peaks = {0: (11, 15), 1: (11, 7)}
    for code, pair in peaks.items():
        mean = sum(0.5 * np.maximum(6.0 - np.abs(np.arange(1, 22) - peak), 0.0) for peak in pair)
        np.testing.assert_allclose(points[codes == code].mean(axis=0), mean, atol=0.08)
    assert 0.48 < codes.mean() < 0.52


def test_gaussians_have_the_widths_they_name():
    points = np.random.default_rng(0).normal(size=(12, 3))
    distances = ((points[:, None] - points[None]) ** 2).sum(-1)
    bank = gaussian_bank(points, 4)
    for kernel, width in zip(bank, [0.1, 1.0, 10.0, 100.0], strict=True):
        np.testing.assert_allclose(kernel, np.exp(-distances / width**2), atol=1e-10)
    np.testing.assert_array_equal(bank, bank.transpose(0, 2, 1))

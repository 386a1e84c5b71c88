"""The problems of the benchmarks hold the points, labels and kernels that their page names."""

import numpy as np
import pytest

from benchmarks.datasets import discrimination, kernel_bank, load_points, transduction
from benchmarks.datasets import localized as data
from benchmarks.datasets.classes import class_task
from benchmarks.datasets.discrimination import draw_waveforms, gaussian_bank
from benchmarks.datasets.localized import digits_task, gauss_task
from benchmarks.datasets.mixtures import POSTERIORS, kernels_of, projection_task
from benchmarks.datasets.transduction import unit_diagonal_kernels
from benchmarks.solvers.localized import fit_estimator
from benchmarks.solvers.localized_svc import descend_svc
from benchmarks.solvers.projection import solve_interior
from tests.shared_data import needs_shared_data, shared_data_folder


def absent(name):
    raise ValueError(f"{name} is nowhere")


# ---------------------------------------------------------------------- kernel banks
@pytest.mark.parametrize(("name", "n", "m"), [("breast_cancer", 60, 5), ("digits", 60, 20), ("mc", 60, 100)])
def test_banks_hold_proper_kernels(name, n, m):
    kernels, y = kernel_bank(name, n, m)
    assert kernels.shape == (m, n, n)
    assert set(y) == {-1.0, 1.0}
    np.testing.assert_array_equal(kernels, kernels.transpose(0, 2, 1))
    np.testing.assert_allclose(kernels.diagonal(axis1=1, axis2=2).mean(axis=1), 1.0, rtol=1e-12)
    assert np.linalg.eigvalsh(kernels).min() > -1e-10 * n


def test_banks_hold_the_kernels_they_name():
    points, y = load_points("mc", 30)
    kernels, labels = kernel_bank("mc", 30, 5)
    np.testing.assert_array_equal(y, labels)
    distances = ((points[:, None] - points[None]) ** 2).sum(-1)
    for index, width in enumerate((1.0, 5.0, 20.0)):
        np.testing.assert_allclose(kernels[index], np.exp(-distances / (2 * width**2)), atol=1e-12)
    linear = points @ points.T / points.shape[1]
    np.testing.assert_allclose(kernels[4], linear / np.mean(np.diag(linear)), atol=1e-12)
    quadratic = (linear + 1.0) ** 2
    np.testing.assert_allclose(kernels[3], quadratic / np.mean(np.diag(quadratic)), atol=1e-12)


def test_too_many_points_are_refused_by_name():
    with pytest.raises(ValueError, match=r"breast_cancer has 569 points; 600"):
        load_points("breast_cancer", 600)


# ---------------------------------------------------------------------- kernel matrices
def test_transductive_banks_fall_back_and_repeat_no_row(monkeypatch):
    monkeypatch.setattr(transduction, "load_dataset", absent)
    transduction.transductive_rows.cache_clear()
    try:
        problem = transduction.transductive_problem(600, 5)  # breast cancer has 569 rows
    finally:
        transduction.transductive_rows.cache_clear()
    kernels = problem.kernels
    assert (problem.dataset, kernels.shape, problem.y.size) == ("breast_cancer", (5, 600, 600), 480)
    assert set(problem.y) == {-1.0, 1.0}
    np.testing.assert_array_equal(kernels.diagonal(axis1=1, axis2=2), 1.0)
    assert kernels[1][~np.eye(600, dtype=bool)].max() < 1.0 - 1e-9  # no Gaussian of two equal rows
    assert problem.trace == pytest.approx(3000.0)


def test_transductive_banks_hold_the_kernels_they_name():
    points = np.random.default_rng(0).normal(size=(12, 3))
    cosine = points @ points.T / np.outer(*[np.linalg.norm(points, axis=1)] * 2)
    square = (1.0 + points @ points.T) ** 2
    distances = ((points[:, None] - points[None]) ** 2).sum(-1)
    found = unit_diagonal_kernels(points, 4)
    np.testing.assert_allclose(
        found[0], square / np.sqrt(np.outer(np.diag(square), np.diag(square))), atol=1e-12
    )
    np.testing.assert_allclose(found[1], np.exp(-distances / (2 * 0.5)), atol=1e-12)
    np.testing.assert_allclose(found[2], np.exp(-distances / (2 * 3.0)), atol=1e-12)
    np.testing.assert_allclose(found[3], cosine, atol=1e-12)


# ---------------------------------------------------------------------- discriminant kernels
def test_waveforms_fall_back_on_their_recipe(monkeypatch):
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


# ---------------------------------------------------------------------- kernel mixtures
def test_mixtures_have_the_kernels_that_the_page_names():
    kernels, y = kernels_of("mc", 30)
    assert (kernels.shape, set(y)) == ((3, 30, 30), {-1.0, 1.0})
    np.testing.assert_allclose(np.einsum("mtt->mt", kernels), 1.0, rtol=1e-12)
    kernels, y = kernels_of("piecewise", 30)
    np.testing.assert_allclose(kernels[1], (1.0 + kernels[0]) ** 2)
    assert np.linalg.matrix_rank(kernels[0]) == 2
    for stack in (kernels, kernels_of("mc", 30)[0]):
        np.testing.assert_array_equal(stack, stack.transpose(0, 2, 1))


@pytest.mark.parametrize("posteriors", POSTERIORS)
def test_posteriors_sum_to_one_and_the_converged_ones_stay(posteriors):
    task = projection_task("mc", 40, posteriors)
    for part in task.posteriors:
        np.testing.assert_allclose(part.sum(axis=1), 1.0, rtol=1e-12)
    projection = task.projection
    assert task.margin == pytest.approx(1.0 + np.log(3.0))
    answer = solve_interior(task)
    after = projection.mixtures.posteriors(projection.point(answer.duals, answer.offsets))
    change = max(np.abs(new - old).max() for new, old in zip(after, task.posteriors, strict=True))
    assert (change < 0.02) == (posteriors == "converged")


# ---------------------------------------------------------------------- gates
def test_gates_have_the_kernels_that_the_page_names():
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


def test_digits_have_a_kernel_for_each_view(few_digits):
    views, digits = few_digits
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


# ---------------------------------------------------------------------- classes
@pytest.mark.parametrize(("dataset", "n_classes"), [("mc", 5), ("digits", 3)])
def test_kernels_and_classes_are_those_that_the_page_names(dataset, n_classes):
    task = class_task(dataset, 45, n_classes)
    assert sorted(set(task.codes)) == list(range(n_classes))
    if dataset == "mc":
        assert np.bincount(task.codes).tolist() == [9] * 5
        assert np.corrcoef(task.codes, task.points[:, 0])[0, 1] > 0.7
    else:
        np.testing.assert_allclose(task.points.mean(axis=0), 0.0, atol=1e-12)
        np.testing.assert_allclose(task.points.std(axis=0), 1.0)
    distances = ((task.points[:, None] - task.points) ** 2).sum(axis=2)
    np.testing.assert_allclose(task.kernels["gaussian"], np.exp(-distances / np.median(distances)))
    np.testing.assert_allclose(np.diag(task.kernels["linear"]).mean(), 1.0)
    quadratic = (task.points @ task.points.T + 1.0) ** 2
    np.testing.assert_allclose(task.kernels["quadratic"], quadratic / np.diag(quadratic).mean())


def test_more_digits_than_there_are_cannot_be_drawn():
    with pytest.raises(ValueError, match="360 digits below 2; 400 were asked for"):
        class_task("digits", 400, 2)

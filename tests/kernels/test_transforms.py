"""Transforms against explicit features, on training and on test rows, whole and restricted."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from multikernel.kernels import (
    Center,
    Chain,
    Gaussian,
    Linear,
    PSDRepair,
    Sigmoid,
    UnitDiagonal,
    UnitTrace,
    UnitVariance,
    as_transforms,
    center,
    repair_psd,
    smallest_eigenvalue,
    unit_diagonal,
    unit_trace,
    unit_variance,
)
from tests.refusals import refused

RNG = np.random.default_rng(3)
TRAIN, TEST = RNG.normal(size=(40, 5)) + 1.0, RNG.normal(size=(7, 5)) + 1.0
K, K_TEST, DIAG_TEST = TRAIN @ TRAIN.T, TEST @ TRAIN.T, (TEST**2).sum(axis=1)
SUPPORT = np.array([31, 2, 17])


STEPS = ("center", "unit_diagonal", "unit_trace", "unit_variance")
CHAINS = [chain for n in range(4) for chain in permutations(STEPS, n)]


def transformed(train, test, chain):
    """Features of training and new rows after the transforms, each fitted on the training rows."""
    for step in chain:
        if step == "center":
            mean = train.mean(axis=0)
            train, test = train - mean, test - mean
        elif step == "unit_diagonal":
            train, test = (rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (train, test))
        else:
            origin = train.mean(axis=0) if step == "unit_variance" else 0.0
            factor = np.sqrt(len(train) / ((train - origin) ** 2).sum())
            train, test = factor * train, factor * test
    return train, test


@pytest.mark.parametrize("steps", CHAINS, ids=lambda steps: " ".join(steps) or "none")
def test_transforms_are_those_of_the_features(steps):
    chain, K_train = Chain(as_transforms(steps)).fit_train(K)
    rows, new = transformed(TRAIN, TEST, steps)
    np.testing.assert_allclose(K_train, rows @ rows.T, atol=1e-12)
    np.testing.assert_allclose(chain.train(K), rows @ rows.T, atol=1e-12)
    np.testing.assert_allclose(chain.test(K_TEST, DIAG_TEST), new @ rows.T, atol=1e-12)
    np.testing.assert_allclose(chain.test_diag(K_TEST, DIAG_TEST), (new**2).sum(axis=1), atol=1e-12)
    assert chain.needs_diagonal == ("unit_diagonal" in steps)
    assert chain.needs_all_columns == ("center" in steps)
    if steps[-1:] == ("unit_diagonal",):
        assert np.array_equal(K_train.diagonal(), np.ones(40))


@pytest.mark.parametrize("size", [1e-150, 1.0, 1e150])
def test_a_unit_variance_is_one_whatever_the_size(size):
    scaled = unit_variance(size * K)
    assert scaled.diagonal().mean() - scaled.mean() == pytest.approx(1.0, rel=1e-12)
    np.testing.assert_allclose(scaled, unit_variance(K), rtol=1e-12)


@pytest.mark.parametrize(
    "flat", [np.full((5, 5), 3.0), np.zeros((5, 5)), np.ones((1, 1)), -np.eye(4)], ids=["3", "0", "one", "-I"]
)
def test_a_kernel_without_variance_is_left_as_it_is(flat):
    fitted, same = UnitVariance().fit_train(flat)
    assert fitted.factor == 1.0 and np.array_equal(same, flat)


def test_a_unit_variance_of_single_precision_is_measured_in_double():
    single = (K + 1e4).astype(np.float32)
    assert UnitVariance().fit(single).factor == pytest.approx(UnitVariance().fit(single.astype(float)).factor)


SIGMOID = Sigmoid(gamma=0.4, coef0=-1.0)
K_BAD, K_BAD_TEST = SIGMOID(TRAIN), SIGMOID(TEST, TRAIN)


def test_clipping_keeps_the_positive_part_and_projects_test_rows():
    values, vectors = np.linalg.eigh(K_BAD)
    assert values[0] < -0.1
    positive = vectors[:, values > 1e-12]
    fitted = PSDRepair("clip").fit(K_BAD)
    np.testing.assert_allclose(fitted.train(K_BAD), (vectors * np.maximum(values, 0)) @ vectors.T, atol=1e-12)
    np.testing.assert_allclose(fitted.test(K_BAD_TEST, None), K_BAD_TEST @ positive @ positive.T, atol=1e-12)
    # a training row given as a test row gets what it had in training
    np.testing.assert_allclose(fitted.test(K_BAD, None), fitted.train(K_BAD), atol=1e-12)
    np.testing.assert_allclose(fitted.test_diag(K_BAD, None), fitted.train(K_BAD).diagonal(), atol=1e-10)
    assert smallest_eigenvalue(fitted.train(K_BAD)) > -1e-12


def test_shifting_adds_to_the_diagonal_and_leaves_test_rows():
    lowest = np.linalg.eigvalsh(K_BAD)[0]
    fitted = PSDRepair("shift").fit(K_BAD)
    np.testing.assert_allclose(fitted.train(K_BAD), K_BAD - lowest * np.eye(40), atol=1e-12)
    np.testing.assert_array_equal(fitted.test(K_BAD_TEST, None), K_BAD_TEST)
    np.testing.assert_allclose(fitted.test_diag(K_BAD_TEST, np.ones(7)), 1.0 - lowest)
    np.testing.assert_array_equal(PSDRepair("shift").fit(np.eye(3)).train(np.eye(3)), np.eye(3))


@pytest.mark.parametrize(
    "steps",
    [
        ["unit_diagonal"],
        ["center"],
        ["unit_trace", "unit_diagonal"],
        ["center", "unit_diagonal"],
        ["unit_diagonal", "center", "unit_trace"],
        ["clip", "unit_diagonal"],
        ["center", "clip"],
        ["shift", "center", "unit_diagonal"],
        [],
    ],
)
def test_restriction_gives_the_same_columns(steps):
    chain = Chain(as_transforms(steps)).fit(K)
    small = chain.restrict(SUPPORT)
    given = K_TEST if chain.needs_all_columns else K_TEST[:, SUPPORT]
    expected = chain.test(K_TEST, DIAG_TEST)[:, SUPPORT]
    np.testing.assert_allclose(small.test(given, DIAG_TEST), expected, rtol=1e-12, atol=1e-12)


def test_a_zero_diagonal_entry_leaves_a_zero_row():
    rows = TRAIN.copy()
    rows[4] = 0.0
    fitted, K_unit = UnitDiagonal().fit_train(rows @ rows.T)
    assert not K_unit[4].any() and not K_unit[:, 4].any()
    assert np.isfinite(K_unit).all()
    new = fitted.test(np.vstack([np.zeros(40), TEST[:1] @ rows.T]), np.array([0.0, DIAG_TEST[0]]))
    assert not new[0].any() and not new[:, 4].any() and new[1, 0] != 0.0


@pytest.mark.parametrize(
    "transform", [Center(), UnitDiagonal(), UnitTrace(), PSDRepair("clip"), PSDRepair("shift")]
)
def test_transforms_copy_unless_asked_and_stay_symmetric(transform):
    for dtype in (np.float64, np.float32):
        given = K.astype(dtype)
        before = given.copy()
        fitted, result = transform.fit_train(given)
        np.testing.assert_array_equal(given, before)
        assert result.dtype == dtype and np.array_equal(result, result.T)
        assert fitted.train(given, overwrite=True) is given
        np.testing.assert_array_equal(given, result)
    assert transform is not fitted


@pytest.mark.parametrize(
    "transform", [Center(), UnitDiagonal(), UnitTrace(), PSDRepair("clip"), PSDRepair("shift")]
)
def test_an_unfitted_transform_says_so(transform):
    with pytest.raises(ValueError, match=r"is not fitted. Call fit.K. with the training Gram first"):
        transform.train(K)


def test_free_functions_take_plain_matrices():
    H = np.eye(40) - 1 / 40
    np.testing.assert_allclose(center(K), H @ K @ H, atol=1e-12)
    np.testing.assert_allclose(
        unit_diagonal(K), K / np.sqrt(np.outer(K.diagonal(), K.diagonal())), atol=1e-13
    )
    assert np.trace(unit_trace(K.tolist())) == pytest.approx(40.0)
    assert smallest_eigenvalue(repair_psd(K_BAD, "shift")) == pytest.approx(0.0, abs=1e-12)
    assert smallest_eigenvalue(repair_psd(K_BAD)) > -1e-12


test_bad_input_is_named = refused(
    (lambda: center(np.ones((2, 3))), r"K must be a square Gram matrix; got shape \(2, 3\)"),
    (lambda: center([[np.inf]]), r"K holds infinity at \(0, 0\)"),
    (lambda: unit_diagonal([[-1.0]]), r"k\(x, x\) >= 0; got -1 at row 0. Repair"),
    (lambda: unit_trace([[0.0]]), "a unit trace needs a positive trace"),
    (lambda: repair_psd([[1.0]], "zap"), "how must be one of 'clip', 'shift'; got 'zap'"),
    (lambda: as_transforms("centre"), "transforms must be one of 'center', .*; got 'centre'"),
    (lambda: as_transforms(3), TypeError, "transforms must be transforms or their names .* got 3"),
    (lambda: smallest_eigenvalue([[np.nan]]), "K holds NaN"),
)


def test_gaussian_and_linear_keep_their_diagonals():
    K_gauss = Gaussian(gamma=0.3)(TRAIN)
    assert unit_diagonal(K_gauss) is not K_gauss
    np.testing.assert_array_equal(unit_diagonal(K_gauss), K_gauss)
    np.testing.assert_allclose(unit_diagonal(Linear()(TRAIN * 1e-140)), unit_diagonal(K), atol=1e-13)

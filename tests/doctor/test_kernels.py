"""The doctor on precomputed kernels: stacks and dicts of matrices, sound and unsound."""

import json

import numpy as np
import pytest

from multikernel.discriminant import KernelDiscriminantClassifier
from multikernel.doctor import diagnose
from multikernel.views import stack_kernels
from tests.doctor.told import find

RNG = np.random.default_rng(0)
Y = np.repeat([0, 1], 20)


def gram(seed, columns=5):
    A = np.random.default_rng(seed).standard_normal((40, columns))
    return A @ A.T / columns


def test_sound_kernels_have_no_findings():
    stack = stack_kernels([gram(1), gram(2)])
    before = stack.copy()
    found = diagnose(stack, Y, "precomputed")
    assert found.findings == []
    assert [kernel["name"] for kernel in found.kernels] == ["kernel-0", "kernel-1"]
    np.testing.assert_array_equal(stack, before)
    assert diagnose(stack, Y).findings == []  # a stack is known by its shape


def test_asymmetric_and_indefinite_kernels_are_told_with_their_remedies():
    skewed, indefinite = gram(1), gram(2)
    skewed[3, 7] += 0.5
    indefinite -= 0.5 * np.eye(40)
    found = diagnose({"skewed": skewed, "indefinite": indefinite, "good": gram(3)}, Y)
    asymmetry = next(f for f in found.errors if "not symmetric" in f.what)
    assert asymmetry.subject == "kernel 'skewed'"
    assert "1 pairs differ, most (3, 7)" in asymmetry.what
    assert asymmetry.remedy == "K = (K + K.T) / 2"
    finding = find(found, "error", "kernel 'indefinite'")
    assert "smallest eigenvalue -0.5" in finding.what
    assert 'psd="clip"' in finding.remedy
    assert not any(f.subject == "kernel 'good'" for f in found.findings)


@pytest.mark.parametrize(
    "K",
    [
        np.ones((40, 40)) - np.eye(40),
        -np.eye(40),
        1e308 * np.where(np.triu(np.ones((40, 40))) > 0, 1.0, -1.0),
    ],
)
def test_matrices_without_a_sound_diagonal_stop_nothing(K):
    found = diagnose({"bad": K, "good": gram(1)}, Y)
    assert {f.subject for f in found.errors} == {"kernel 'bad'"}
    json.dumps(found.to_dict(), allow_nan=False)


def test_defects_outside_of_the_sample_are_found_too():
    skewed, holed = gram(1), gram(2)
    skewed[3, 7] += 0.5
    holed[0, 1] = holed[1, 0] = np.nan
    found = diagnose({"skewed": skewed, "holed": holed}, Y, max_samples=2)
    assert {f.subject for f in found.errors} == {"kernel 'skewed'", "kernel 'holed'"}
    assert "2 of 1600 entries are NaN or infinite, the first at (0, 1)" in str(found)
    assert found.kernels[1]["mean_diagonal"] is None


@pytest.mark.parametrize(
    ("K", "said"), [(np.zeros((40, 40)), "all zero"), (np.ones((40, 40)), "constant, 1")]
)
def test_kernels_that_tell_nothing(K, said):
    assert said in find(diagnose({"nothing": K, "good": gram(1)}, Y), "error", "kernel 'nothing'").what


def test_doubles_are_found_whatever_their_scale_and_shift():
    K = gram(1)
    found = diagnose({"one": K, "two": 3.0 * K + 0.5, "other": gram(2)}, Y)
    assert "same as kernel 'one'" in find(found, "warning", "kernel 'two'").what
    assert len(found.findings) == 1


def test_scales():
    found = diagnose({"one": gram(1), "large": 5000.0 * gram(2)}, Y)
    assert "unit_trace(K) for K in Ks" in find(found, "warning", "kernels").remedy
    assert find(diagnose({"one": gram(1), "large": 20.0 * gram(2)}, Y), "note", "kernels")
    assert diagnose({"one": gram(1), "large": 5.0 * gram(2)}, Y).findings == []


def test_flat_kernels_and_identities():
    found = diagnose({"flat": 1.0 + 1e-5 * gram(1), "identity": np.eye(40) + 0.001 * gram(2)}, Y)
    assert "center" in find(found, "warning", "kernel 'flat'").remedy
    assert find(found, "warning", "kernel 'identity'")


@pytest.mark.parametrize("seed", range(5))
def test_beside_a_kernel_that_is_nearly_the_identity_reg_is_irrelevant(seed):
    """What the finding says is so: λ is learned to be zero, and a small one gives the same predictions."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((40, 3)) + 0.7 * Y[:, None]
    new = rng.standard_normal((60, 3)) + 0.35
    squares = [((A[:, None] - X) ** 2).sum(axis=2) for A in (X, new)]
    bank, new_bank = ({"narrow": np.exp(-400.0 * D), "wide": np.exp(-0.1 * D)} for D in squares)
    found = find(diagnose(bank, Y), "note", "kernel 'narrow'")
    assert "learns reg = 0" in found.what and "Leave it out" in found.remedy
    fits = [
        KernelDiscriminantClassifier("precomputed", reg=reg, tol=1e-8).fit(stack_kernels(bank), Y)
        for reg in ("learn", 1e-6, 1e-9)
    ]
    assert 40 * fits[0].reg_ < 1e-8
    answers = [model.predict(stack_kernels(new_bank)) for model in fits]
    np.testing.assert_array_equal(answers[0], answers[1])
    np.testing.assert_array_equal(answers[0], answers[2])


def test_reg_is_said_to_be_irrelevant_only_where_it_is():
    narrow, wide = np.eye(40), gram(1) + np.eye(40)
    assert find(diagnose({"narrow": narrow, "wide": wide}, Y), "note", "kernel 'narrow'")
    loose = np.eye(40) + 0.04 * (1.0 - np.eye(40)) * np.sign(gram(2))  # nearly the identity, and not enough
    cases = [
        ({"narrow": narrow, "wide": wide}, np.linspace(0.0, 1.0, 40)),  # values
        ({"narrow": narrow}, Y),  # nothing to regularize
        ({"loose": loose + 0.3 * np.eye(40), "wide": wide}, Y),
        ({"wide": wide, "other": gram(3)}, Y),
    ]
    for kernels, y in cases:
        assert not any("regularize" in finding.what for finding in diagnose(kernels, y).findings)


def test_a_kernel_made_of_the_target():
    signs = np.where(Y == 1, 1.0, -1.0)
    ideal = np.outer(signs, signs) + 3.0 * np.eye(40)
    near = np.outer(signs, signs) + 0.1 * gram(1)
    found = diagnose({"ideal": ideal, "near": near, "good": gram(1)}, Y)
    assert "made of the target" in find(found, "error", "kernel 'ideal'").what
    assert "does the target leak" in find(found, "warning", "kernel 'near'").what
    values = np.linspace(0.1, 3.0, 40)[RNG.permutation(40)]
    found = diagnose({"values": np.outer(values, values) + 1e-3 * np.eye(40)}, values)
    assert find(found, "warning", "kernel 'values'")


def test_matrices_of_other_shapes_are_named():
    small = np.eye(4) + 1.0
    found = diagnose({"row": np.ones((3, 40)), "small": small, "good": gram(1), "text": np.array([["a"]])}, Y)
    assert find(found, "error", "kernel 'row'")
    assert find(found, "error", "kernel 'text'")
    assert "1 over 4, 1 over 40" in find(found, "warning", "kernels").what
    assert found.n_samples == 40  # those that the target fits
    assert {kernel["name"] for kernel in found.kernels} == {"small", "good"}
    for X in ({}, np.ones((2, 2, 0)), np.ones((2, 2, 2, 2)), [["a"]]):
        assert not diagnose(X, None, "precomputed").ok

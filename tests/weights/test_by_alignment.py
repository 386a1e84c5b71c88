"""The public door of alignment: what it takes, what it gives, what it refuses."""

import functools

import numpy as np
import pandas as pd
import pytest

from multikernel import combine_kernels, stack_kernels
from multikernel.kernels import center
from multikernel.solvers.alignment import learn_alignment, spectral_alignment
from multikernel.weights import KernelWeights, alignment, alignment_weights, centered_alignment_weights

KINDS = ("nonnegative", "free", "spectral")


def example(seed=0, n=24, n_labelled=16):
    """Three kernels of different sizes, and the labels of the first points."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    squares = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    kernels = [100.0 * np.exp(-0.3 * squares), X @ X.T, 0.01 * (1.0 + X @ X.T) ** 2]
    y = np.where(X[:n_labelled, 0] + 0.7 * rng.normal(size=n_labelled) > 0.0, 1, -1)
    return kernels, y


def same(learned, expected):
    np.testing.assert_array_equal(learned.weights, expected.weights)
    assert learned.objective == expected.objective


# --- what it takes -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_lists_dicts_and_stacks_are_the_same(kind):
    kernels, y = example()
    expected = alignment_weights(kernels, y, weights=kind)
    for form in (
        stack_kernels(kernels),
        np.stack(kernels, axis=2),  # kernels last in memory too
        dict(zip("abc", kernels, strict=True)),
        tuple(kernels),
    ):
        same(alignment_weights(form, y, weights=kind), expected)
    single = alignment_weights(kernels[0], y, weights=kind)
    same(alignment_weights(kernels[:1], y, weights=kind), single)


@pytest.mark.parametrize("kind", KINDS)
def test_any_two_labels(kind):
    kernels, y = example()
    expected = alignment_weights(kernels, y, weights=kind)
    for labels in (
        -y,  # which class is called positive does not matter
        np.where(y > 0, "yes", "no"),
        y > 0,
        y.tolist(),
        pd.Series(np.where(y > 0, "b", "a")),
        np.where(y > 0, 3.5, 2.0),
    ):
        same(alignment_weights(kernels, labels, weights=kind), expected)


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_modified(kind):
    kernels, y = example()
    stack = stack_kernels(kernels)
    before = stack.copy()
    stack.setflags(write=False)
    alignment_weights(stack, y, weights=kind)
    centered_alignment_weights(stack, y, weights=kind)
    np.testing.assert_array_equal(stack, before)


def test_a_memory_mapped_stack_of_single_precision(tmp_path):
    kernels, y = example()
    np.save(tmp_path / "stack.npy", np.stack(kernels).astype(np.float32))
    mapped = np.load(tmp_path / "stack.npy", mmap_mode="r")
    for kind in KINDS:
        learned = alignment_weights(np.moveaxis(mapped, 0, 2), y, weights=kind)
        np.testing.assert_allclose(
            learned.objective, alignment_weights(kernels, y, weights=kind).objective, rtol=1e-4
        )


def test_an_indefinite_kernel_is_repaired_if_asked_for():
    kernels, y = example()
    broken = kernels[1] - 2.0 * np.eye(24)
    with pytest.raises(ValueError, match=r"kernel 'kernel-1' has smallest eigenvalue -2"):
        alignment_weights([kernels[0], broken], y)
    values, vectors = np.linalg.eigh(broken)
    clipped = (vectors * np.maximum(values, 0.0)) @ vectors.T
    learned = alignment_weights([kernels[0], broken], y, psd="clip")
    expected = alignment_weights([kernels[0], clipped], y)
    np.testing.assert_allclose(learned.weights, expected.weights, rtol=1e-9)


# --- what it gives -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("centered", [False, True])
@pytest.mark.parametrize("kind", ["nonnegative", "free"])
def test_the_learned_matrix_has_norm_one_and_the_reported_alignments(kind, centered):
    kernels, y = example()
    learned = alignment_weights(kernels, y, weights=kind, centered=centered)
    K = combine_kernels(kernels, learned)  # the result is an array of its weights
    train = K[:16, :16]
    assert isinstance(learned, KernelWeights) and learned.status == "optimal" and learned.gap <= 1e-8
    np.testing.assert_allclose(np.linalg.norm(center(K) if centered else K), 1.0, rtol=1e-9)
    np.testing.assert_allclose(
        learned.alignment_train, alignment(train, np.outer(y, y), centered=centered), rtol=1e-9
    )
    centred = center(K)[:16, :16]
    np.testing.assert_allclose(learned.objective, y @ (centred if centered else train) @ y, rtol=1e-9)
    assert learned.objective <= learned.upper_bound <= learned.objective * (1.0 + 1e-8)
    assert learned.vectors is None
    lowest = np.linalg.eigvalsh(center(K) if centered else K)[0]
    if kind == "free":
        assert learned.smallest_eigenvalue == pytest.approx(lowest, abs=1e-12)
    assert lowest > -1e-9


def test_the_solvers_are_asked_with_labels_of_plus_and_minus_one():
    kernels, y = example()
    Ks = np.stack(kernels)
    for kind in ("nonnegative", "free"):
        same(alignment_weights(kernels, y, weights=kind), learn_alignment(Ks, y.astype(float), kind))
        same(
            centered_alignment_weights(kernels, y, weights=kind),
            learn_alignment(Ks, y.astype(float), kind, centered=True),
        )


@pytest.mark.parametrize("kind", KINDS)
def test_the_centred_form(kind):
    kernels, y = example()
    learned = centered_alignment_weights(kernels, y, weights=kind)
    same(learned, alignment_weights(kernels, y, weights=kind, centered=True))
    assert abs(learned.objective - alignment_weights(kernels, y, weights=kind).objective) > 1e-3


def test_weights_as_an_array():
    kernels, y = example()
    learned = alignment_weights(kernels, y)
    array = np.array(learned)
    array[:] = 0.0
    assert learned.weights.max() > 0.0
    assert np.asarray(learned, dtype=np.float32).dtype == np.float32
    traces = np.array([np.trace(K) for K in kernels])
    rescaled = 24.0 * np.asarray(learned) / (np.asarray(learned) @ traces)
    np.testing.assert_allclose(np.trace(combine_kernels(kernels, rescaled)), 24.0)


# --- spectral ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("centered", [False, True])
@pytest.mark.parametrize("n_components", [None, 5])
def test_spectral_weights_are_new_eigenvalues_of_the_sum_of_kernels(n_components, centered):
    kernels, y = example()
    total = sum(K / np.trace(K) for K in kernels)
    total = center(total) if centered else total
    learned = alignment_weights(kernels, y, weights="spectral", n_components=n_components, centered=centered)
    V, mu = learned.vectors, learned.weights
    k = n_components or (23 if centered else 24)
    assert V.shape == (24, k) and mu.shape == (k,)
    np.testing.assert_allclose(V.T @ V, np.eye(k), atol=1e-10)
    values = np.diag(V.T @ total @ V)
    np.testing.assert_allclose(total @ V, V * values, atol=1e-10)
    np.testing.assert_allclose(values, np.sort(np.linalg.eigvalsh(total))[::-1][:k], atol=1e-12)
    q = (V[:16].T @ y) ** 2
    np.testing.assert_allclose(mu, q / np.linalg.norm(q), rtol=1e-12)
    np.testing.assert_allclose(learned.objective, np.linalg.norm(q), rtol=1e-12)
    train = (V[:16] * mu) @ V[:16].T
    np.testing.assert_allclose(
        learned.alignment_train, alignment(train, np.outer(y, y), centered=centered), rtol=1e-9
    )


def test_spectral_weights_of_one_kernel():
    kernels, y = example()
    learned = alignment_weights(kernels[0], y, weights="spectral", n_components=4)
    V = np.linalg.eigh(kernels[0])[1][:, :-5:-1]
    np.testing.assert_allclose(np.abs(learned.vectors), np.abs(V), atol=1e-9)
    np.testing.assert_allclose(learned.weights, spectral_alignment(V, y.astype(float)).weights, rtol=1e-9)
    assert (learned.vectors[np.abs(learned.vectors).argmax(axis=0), range(4)] > 0.0).all()


def test_eigenvectors_of_eigenvalue_zero_are_left_out():
    kernels, y = example()
    assert alignment_weights(kernels[1], y, weights="spectral").weights.shape == (4,)
    with pytest.raises(ValueError, match=r"n_components must be at most .* not zero, 4; got 5"):
        alignment_weights(kernels[1], y, weights="spectral", n_components=5)


# --- what it says and refuses ------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["nonnegative", "free"])
def test_dependent_kernels_are_named(kind):
    kernels, y = example()
    expected = alignment_weights(kernels, y, weights=kind)
    with pytest.warns(UserWarning, match="only 3 of the 4 kernels are linearly independent") as caught:
        learned = alignment_weights([*kernels, 2.0 * kernels[0]], y, weights=kind)
    assert caught[0].filename == __file__
    np.testing.assert_allclose(learned.objective, expected.objective, rtol=1e-8)


def test_a_method_that_does_not_reach_its_tolerance_says_so(monkeypatch):
    kernels, y = example()
    impatient = functools.partial(learn_alignment, max_iter=2)
    monkeypatch.setattr("multikernel.weights.by_alignment.learn_alignment", impatient)
    with pytest.warns(RuntimeWarning, match="alignment ended as 'max_iter' with a relative gap of"):
        learned = alignment_weights(kernels, y, weights="free")
    assert learned.status == "max_iter" and learned.gap > 1e-8


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.ones(16), r"y must hold two classes; got 1: \[1.0\]"),
        (np.arange(16) % 3, r"two classes; got 3: \[0, 1, 2\].* one-vs-rest"),
        ([], "two classes; got 0"),
        (np.ones((16, 1)), r"shape \(n_labelled,\); got shape \(16, 1\)"),
        (None, r"got shape \(\)"),
        (np.arange(25) % 2, "at most 24 as the kernels have rows; got 25"),
        ([1.0, 0.0, np.nan], "missing labels; entry 2 is nan.*leave them out of y"),
        (np.array(["a", None, "b"], dtype=object), "missing labels; entry 1 is None"),
        (np.array(["a", 1, "a"], dtype=object), "labels of one kind"),
    ],
)
@pytest.mark.parametrize("kind", ["nonnegative", "spectral"])
def test_bad_labels(y, message, kind):
    kernels, _ = example()
    with pytest.raises(ValueError, match=message):
        alignment_weights(kernels, y, weights=kind)


@pytest.mark.parametrize(
    ("kernels", "message"),
    [
        ([], "at least one matrix"),
        ([np.eye(3), np.eye(4)], "same shape"),
        (np.ones((3, 4)), "must be square"),
        ([np.eye(3), np.zeros((3, 3))], "'kernel-1' is all zero"),
        ({"good": np.eye(3), "flat": np.ones((3, 3))}, "'flat' is constant"),
        ({"bad": np.diag([1.0, np.inf, 1.0])}, "'bad' holds infinity at"),
        ([np.triu(np.ones((3, 3)))], "symmetric; kernel 'kernel-0'"),
        (np.ones((2, 2, 2, 2)), "must have shape"),
    ],
)
def test_bad_kernels(kernels, message):
    with pytest.raises(ValueError, match=message):
        alignment_weights(kernels, [0, 1, 1])


def test_bad_parameters():
    kernels, y = example()
    with pytest.raises(TypeError, match="a list or a dict of matrices; got int"):
        alignment_weights(3, y)
    with pytest.raises(ValueError, match="weights must be one of 'nonnegative', 'free', 'spectral'"):
        alignment_weights(kernels, y, weights="any")
    with pytest.raises(ValueError, match="weights must be one of"):
        centered_alignment_weights(kernels, y, weights=None)
    with pytest.raises(ValueError, match="n_components counts the eigenvectors"):
        alignment_weights(kernels, y, n_components=3)
    with pytest.raises(ValueError, match="n_components must be a positive integer; got 0"):
        alignment_weights(kernels, y, weights="spectral", n_components=0)
    with pytest.raises(TypeError, match=r"n_components must be a positive integer; got 2\.0"):
        alignment_weights(kernels, y, weights="spectral", n_components=2.0)
    with pytest.raises(ValueError, match="psd must be one of"):
        alignment_weights(kernels, y, psd="yes")


def test_kernels_that_know_nothing_of_the_labels():
    y, z = np.array([1, 1, -1, -1]), np.array([1, -1, 1, -1])
    for kind in KINDS:
        with pytest.raises(ValueError, match="alignment needs a kernel with y'Ky > 0"):
            alignment_weights(np.outer(z, z), y, weights=kind)

"""The public doors of discriminant analysis for weights: what they take, what they give, what they refuse."""

import functools

import numpy as np
import pandas as pd
import pytest

from multikernel import combine_kernels, stack_kernels
from multikernel.core.optim.loop import Options
from multikernel.kernels import center
from multikernel.solvers.discriminant import DiscriminantProblem, learn_discriminant
from multikernel.solvers.kim import learn_kim
from multikernel.weights import KernelWeights, discriminant_weights, kim_weights

RULES = (discriminant_weights, kim_weights)


def example(n_classes=2, seed=0, n=30):
    """Three kernels of different sizes, and labels that they know something of."""
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, n - n_classes)])
    X = rng.normal(size=(n, 4)) + rng.normal(size=(n_classes, 4))[y]
    squares = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    return [10.0 * np.exp(-0.3 * squares), X @ X.T, 0.1 * (1.0 + X @ X.T) ** 2], y


def same(learned, expected):
    np.testing.assert_array_equal(learned.weights, expected.weights)
    assert learned.objective == expected.objective


# --- what they take ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", RULES)
def test_lists_dicts_and_stacks_are_the_same(rule):
    kernels, y = example()
    expected = rule(kernels, y)
    for form in (
        stack_kernels(kernels),
        np.stack(kernels, axis=2),
        dict(zip("abc", kernels, strict=True)),
        tuple(kernels),
    ):
        same(rule(form, y), expected)
    same(rule(kernels[0], y), rule(kernels[:1], y))


@pytest.mark.parametrize("rule", RULES)
def test_any_labels(rule):
    kernels, y = example()
    expected = rule(kernels, y)
    for labels in (
        np.where(y > 0, "yes", "no"),
        y > 0,
        y.tolist(),
        pd.Series(np.where(y > 0, "b", "a")),
        np.where(y > 0, 3.5, 2.0),
    ):
        same(rule(kernels, labels), expected)
    np.testing.assert_allclose(rule(kernels, -y).objective, expected.objective, rtol=1e-7)


@pytest.mark.parametrize("rule", RULES)
def test_nothing_is_modified(rule):
    kernels, y = example()
    stack = stack_kernels(kernels)
    before = stack.copy()
    stack.setflags(write=False)
    y.setflags(write=False)
    rule(stack, y)
    np.testing.assert_array_equal(stack, before)


@pytest.mark.parametrize("rule", RULES)
def test_a_memory_mapped_stack_of_single_precision(rule, tmp_path):
    kernels, y = example()
    np.save(tmp_path / "stack.npy", np.stack(kernels).astype(np.float32))
    mapped = np.load(tmp_path / "stack.npy", mmap_mode="r")
    learned = rule(np.moveaxis(mapped, 0, 2), y, 1e-2)
    np.testing.assert_allclose(learned.objective, rule(kernels, y, 1e-2).objective, rtol=1e-3)


@pytest.mark.parametrize("rule", RULES)
def test_an_indefinite_kernel_is_repaired_if_asked_for(rule):
    kernels, y = example()
    broken = kernels[1] - 2.0 * np.eye(30)
    with pytest.raises(ValueError, match=r"kernel 'kernel-1' has smallest eigenvalue -2"):
        rule([kernels[0], broken], y)
    values, vectors = np.linalg.eigh(broken)
    clipped = (vectors * np.maximum(values, 0.0)) @ vectors.T
    learned = rule([kernels[0], broken], y, psd="clip")
    np.testing.assert_allclose(learned.objective, rule([kernels[0], clipped], y).objective, rtol=1e-7)


@pytest.mark.parametrize("rule", RULES)
def test_an_indefinite_kernel_that_passes_the_door_is_named(rule, monkeypatch):
    """Large kernels are checked in parts only; here not at all."""
    kernels, y = example()
    stack = np.stack(kernels)
    stack[1] -= 3.0 * np.eye(30)
    monkeypatch.setattr("multikernel.weights.by_discriminant.kernels_first", lambda kernels, psd: stack)
    with pytest.raises(ValueError, match=r"kernel 'b' has smallest eigenvalue -"):
        rule({"a": None, "b": None, "c": None}, y)


def test_an_indefinite_kernel_is_named_though_a_large_regularisation_hides_it(monkeypatch):
    kernels, y = example()
    stack = np.stack(kernels)
    contrast = np.where(y == 1, 1.0, -1.0)
    stack[1] -= 3.0 * np.outer(contrast, contrast)
    monkeypatch.setattr("multikernel.weights.by_discriminant.kernels_first", lambda kernels, psd: stack)
    with pytest.raises(ValueError, match=r"kernel 'kernel-1' has smallest eigenvalue -"):
        discriminant_weights(kernels, y, 10.0)


# --- what they give ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("formulation", ["exact", "approximate"])
@pytest.mark.parametrize("reg", [1e-3, "learn"])
def test_the_solver_is_asked_and_its_answer_is_given(reg, formulation):
    kernels, y = example(n_classes=3)
    learned = discriminant_weights(kernels, np.array(list("abc"))[y], reg, formulation=formulation)
    problem = DiscriminantProblem(np.stack(kernels), y, None if reg == "learn" else reg, formulation)
    expected = learn_discriminant(problem)
    same(learned, expected)
    assert isinstance(learned, KernelWeights)
    assert learned.reg == expected.reg
    assert learned.upper_bound == learned.objective and learned.lower_bound == expected.lower_bound
    assert learned.gap == expected.gap <= 1e-8
    assert learned.n_iter == expected.n_iter >= 1 and learned.status == "optimal"
    assert learned.alignment_train is None and learned.vectors is None


@pytest.mark.parametrize("n_classes", [2, 4])
def test_the_objective_from_the_learned_matrix(n_classes):
    kernels, y = example(n_classes)
    learned = discriminant_weights(kernels, y, 1e-2)
    K = center(combine_kernels(kernels, learned))
    np.testing.assert_allclose(np.trace(K), 1.0, rtol=1e-9)
    if n_classes == 2:
        H = np.where(y == 1, 1.0 / (y == 1).sum(), -1.0 / (y == 0).sum())[:, None]
    else:
        sizes = np.bincount(y)
        H = np.sqrt(30 / sizes) * (y[:, None] == np.arange(n_classes)) - np.sqrt(sizes / 30)
    expected = 1e-2 * np.trace(H.T @ np.linalg.solve(K + 1e-2 * np.eye(30), H))
    np.testing.assert_allclose(learned.objective, expected, rtol=1e-8)


def test_a_learned_regularisation_is_better_than_others_at_the_same_trace():
    """In the published sense: M of trace one, and no factor λ."""
    kernels, y = example(3)
    learned = discriminant_weights(kernels, y, "learn")
    for reg in (0.1 * learned.reg, learned.reg, 10.0 * learned.reg):
        given = discriminant_weights(kernels, y, reg)
        in_units_of_trace_one = given.objective / reg * (1.0 + 30 * reg)
        assert learned.objective <= in_units_of_trace_one * (1.0 + 1e-7)
        if reg == learned.reg:
            np.testing.assert_allclose(in_units_of_trace_one, learned.objective, rtol=1e-6)


def test_kim():
    kernels, y = example()
    learned = kim_weights(kernels, np.where(y > 0, "yes", "no"), 1e-2)
    expected = learn_kim(np.stack(kernels), y, 1e-2)
    same(learned, expected)
    assert learned.upper_bound == expected.upper_bound and learned.lower_bound == learned.objective
    assert learned.gap == expected.gap <= 1e-8 and learned.reg == 1e-2
    assert learned.weights.sum() == pytest.approx(1.0) and learned.status == "optimal"
    K = combine_kernels(kernels, learned)
    values, vectors = np.linalg.eigh(K)
    X = vectors * np.sqrt(np.maximum(values, 0.0))  # features of the learned kernel
    d = X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0)
    scatter = sum(np.cov(X[y == c].T, bias=True) for c in (0, 1))
    np.testing.assert_allclose(
        learned.objective, d @ np.linalg.solve(scatter + 1e-2 * np.eye(30), d), rtol=1e-7
    )


# --- what they say and refuse ------------------------------------------------------------------------------


def test_no_kernel_that_beats_the_identity():
    y = np.repeat([0, 1], 10)
    x = np.tile([1.0, -1.0], 10)  # balanced within each class
    z = np.tile([1.0, 1.0, -1.0, -1.0], 5) + 0.02 * y
    kernels = {"none": np.outer(x, x), "hardly": np.outer(z, z)}
    with pytest.warns(UserWarning, match=r"infinite. The weights are those of 'hardly' alone") as caught:
        learned = discriminant_weights(kernels, y, "learn")
    assert caught[0].filename == __file__
    assert learned.reg == np.inf
    centred = z - z.mean()
    np.testing.assert_allclose(learned.weights, [0.0, 1.0 / (centred @ centred)])


@pytest.mark.parametrize("rule", RULES)
def test_a_method_that_does_not_reach_its_tolerance_says_so(rule, monkeypatch):
    kernels, y = example()
    impatient = Options(tol=1e-14, max_iter=1)
    for solver in (learn_discriminant, learn_kim):
        monkeypatch.setattr(
            f"multikernel.weights._discriminants.{solver.__name__}",
            functools.partial(solver, options=impatient),
        )
    with pytest.warns(RuntimeWarning, match="ended as 'max_iter' with a relative gap of") as caught:
        learned = rule(kernels, y)
    assert caught[0].filename == __file__
    assert learned.status == "max_iter" and learned.gap > 1e-14


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.ones(30), r"two classes or more; got one: \[1.0\]"),
        (np.arange(29) % 2, r"each of the 30 samples, shape \(30,\); got shape \(29,\)"),
        (np.ones((30, 1)), r"got shape \(30, 1\)"),
        (None, r"got shape \(\)"),
        (
            [np.nan, *[0.0, 1.0] * 14, 1.0],
            "missing labels; entry 0 is nan. Leave samples without a label out",
        ),
        (np.array(["a", 1] * 15, dtype=object), "labels of one kind"),
    ],
)
@pytest.mark.parametrize("rule", RULES)
def test_bad_labels(rule, y, message):
    with pytest.raises(ValueError, match=message):
        rule(example()[0], y)


def test_kim_wants_two_classes():
    kernels, y = example(3)
    with pytest.raises(
        ValueError, match=r"two classes for kim_weights; got 3\. discriminant_weights takes any"
    ):
        kim_weights(kernels, y)


def test_kim_wants_means_that_differ():
    y, x = np.repeat([0, 1], 4), np.tile([1.0, -1.0], 4)
    with pytest.raises(ValueError, match="tells the means of the two classes apart"):
        kim_weights(np.outer(x, x), y)


def test_a_singular_scatter():
    y, x = np.repeat([0, 1], 4), np.arange(8.0)
    with pytest.raises(ValueError, match=r"total scatter is singular beside reg=1.0e-30.*Raise reg"):
        discriminant_weights(np.outer(x, x), y, 1e-30)
    with pytest.raises(ValueError, match=r"within the classes is singular beside reg=1.0e-30.*Raise reg"):
        kim_weights(np.outer(x, x), y, 1e-30)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(
    ("kernels", "message"),
    [
        ([], "at least one matrix"),
        ([np.eye(3), np.eye(4)], "same shape"),
        ({"good": np.eye(3), "flat": np.ones((3, 3))}, "'flat' is constant"),
        ({"bad": np.diag([1.0, np.inf, 1.0])}, "'bad' holds infinity at"),
    ],
)
def test_bad_kernels(rule, kernels, message):
    with pytest.raises(ValueError, match=message):
        rule(kernels, [0, 1, 1])


@pytest.mark.parametrize(
    ("reg", "error", "message"),
    [
        (0.0, ValueError, "reg must be greater than 0; got 0.0"),
        (-1, ValueError, "reg must be greater than 0"),
        (np.inf, ValueError, "reg must be finite"),
        (None, TypeError, "reg must be a number; got None"),
    ],
)
@pytest.mark.parametrize("rule", RULES)
def test_bad_regularisation(rule, reg, error, message):
    kernels, y = example()
    with pytest.raises(error, match=message):
        rule(kernels, y, reg)


def test_bad_choices():
    kernels, y = example()
    with pytest.raises(ValueError, match="reg must be a positive number or"):
        discriminant_weights(kernels, y, "auto")
    with pytest.raises(TypeError, match="reg must be a number; got 'learn'"):
        kim_weights(kernels, y, "learn")
    with pytest.raises(ValueError, match="formulation must be one of 'exact', 'approximate'"):
        discriminant_weights(kernels, y, formulation="37")
    with pytest.raises(ValueError, match="psd must be one of"):
        kim_weights(kernels, y, psd="yes")

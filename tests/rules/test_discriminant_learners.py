"""Kim's ratio and total scatter as learners: the answers of the solvers, and what a learner adds."""

import numpy as np
import pytest

from multikernel import combine_kernels
from multikernel.discriminant.solver.kim import learn_kim
from multikernel.discriminant.solver.learn import DiscriminantProblem, learn_discriminant
from multikernel.kernels import center
from multikernel.rules.discriminant import DiscriminantMKL, KimDiscriminant


def example(n_classes=2, seed=0, n=30):
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, n - n_classes)])
    X = rng.normal(size=(n, 4)) + rng.normal(size=(n_classes, 4))[y]
    D = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    return [10.0 * np.exp(-0.3 * D), X @ X.T, 0.1 * (1.0 + X @ X.T) ** 2], y


def variance(K):
    return np.trace(K) / len(K) - K.mean()


@pytest.mark.parametrize("formulation", ["exact", "approximate"])
@pytest.mark.parametrize("reg", [0.1, "learn"])
def test_total_scatter_is_the_answer_of_the_solver(reg, formulation):
    kernels, y = example(3)
    problem = DiscriminantProblem(np.stack(kernels), y, None if reg == "learn" else reg, formulation)
    expected = learn_discriminant(problem)
    learner = DiscriminantMKL(reg, formulation).fit(kernels, np.array(list("abc"))[y])
    np.testing.assert_array_equal(learner.kernel_weights_, expected.weights)
    assert (learner.objective_, learner.dual_gap_) == (expected.objective, expected.gap)
    assert learner.reg_ == expected.reg and learner.history_


@pytest.mark.parametrize("n_classes", [2, 4])
def test_the_objective_from_the_learned_matrix(n_classes):
    kernels, y = example(n_classes)
    learner = DiscriminantMKL(1e-2).fit(kernels, y)
    K = center(combine_kernels(kernels, learner.kernel_weights_))
    np.testing.assert_allclose(np.trace(K), 1.0, rtol=1e-9)
    if n_classes == 2:
        H = np.where(y == 1, 1.0 / (y == 1).sum(), -1.0 / (y == 0).sum())[:, None]
    else:
        sizes = np.bincount(y)
        H = np.sqrt(30 / sizes) * (y[:, None] == np.arange(n_classes)) - np.sqrt(sizes / 30)
    expected = 1e-2 * np.trace(H.T @ np.linalg.solve(K + 1e-2 * np.eye(30), H))
    np.testing.assert_allclose(learner.objective_, expected, rtol=1e-8)


def test_a_learned_regularisation_is_better_than_others_at_the_same_trace():
    """In the published sense: M of trace one, and no factor λ."""
    kernels, y = example(3)
    learned = DiscriminantMKL("learn").fit(kernels, y)
    for reg in (0.1 * learned.reg_, learned.reg_, 10.0 * learned.reg_):
        given = DiscriminantMKL(reg).fit(kernels, y)
        in_units_of_trace_one = given.objective_ / reg * (1.0 + 30 * reg)
        assert learned.objective_ <= in_units_of_trace_one * (1.0 + 1e-7)
        if reg == learned.reg_:
            np.testing.assert_allclose(in_units_of_trace_one, learned.objective_, rtol=1e-6)


def test_kim_is_the_answer_of_the_solver_on_kernels_of_one_variance():
    kernels, y = example()
    expected = learn_kim(np.stack([K / variance(K) for K in kernels]), y, 0.01)
    learner = KimDiscriminant(0.01).fit(kernels, y)
    sizes = np.array([variance(K) for K in kernels])
    np.testing.assert_allclose(learner.kernel_weights_ * sizes, expected.weights, atol=1e-6)
    assert learner.objective_ == pytest.approx(expected.objective, rel=1e-7)
    assert learner.dual_gap_ <= 1e-8


def test_the_ratio_of_kim_from_the_features_of_the_learned_kernel():
    kernels, y = example()
    learner = KimDiscriminant(1e-2, normalise=False).fit(kernels, np.where(y > 0, "yes", "no"))
    np.testing.assert_array_equal(learner.kernel_weights_, learn_kim(np.stack(kernels), y, 1e-2).weights)
    assert learner.kernel_weights_.sum() == pytest.approx(1.0)
    values, vectors = np.linalg.eigh(combine_kernels(kernels, learner.kernel_weights_))
    X = vectors * np.sqrt(np.maximum(values, 0.0))
    d = X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0)
    scatter = sum(np.cov(X[y == c].T, bias=True) for c in (0, 1))
    expected = d @ np.linalg.solve(scatter + 1e-2 * np.eye(30), d)
    np.testing.assert_allclose(learner.objective_, expected, rtol=1e-7)


@pytest.mark.parametrize("learner", [KimDiscriminant(), DiscriminantMKL(), DiscriminantMKL(10.0)])
def test_an_indefinite_kernel_that_passed_the_checks_is_named(learner, monkeypatch):
    """Large kernels are checked in parts only; here not at all. A large regularisation does not hide it."""
    kernels, y = example()
    stack = np.stack(kernels)
    contrast = np.where(y == 1, 1.0, -1.0)
    stack[1] -= 3.0 * (np.eye(30) if learner.reg < 1.0 else np.outer(contrast, contrast))
    monkeypatch.setattr("multikernel.rules.learner.kernels_first", lambda kernels: stack)
    with pytest.raises(ValueError, match=r"kernel 'b' has smallest eigenvalue -"):
        learner.fit(dict(zip("abc", kernels, strict=True)), y)


def test_an_informative_kernel_gets_the_weight():
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    good, bad = rng.normal(size=(2, 40, 3))
    good[:, 0] += 3 * y
    for learner in (KimDiscriminant(0.1), DiscriminantMKL(0.1)):
        assert learner.fit([good @ good.T, bad @ bad.T], y).kernel_shares_[0] > 0.7


def test_errors_name_the_view_and_the_remedy():
    y, x = np.repeat([0, 1], 4), np.tile([1.0, -1.0], 4)
    with pytest.raises(ValueError, match="tells the means of the two classes apart"):
        KimDiscriminant().fit(np.outer(x, x), y)
    z = np.arange(8.0)
    with pytest.raises(ValueError, match=r"singular beside reg=1.0e-30.*Raise reg"):
        KimDiscriminant(1e-30).fit(np.outer(z, z), y)
    with pytest.raises(ValueError, match="total scatter is singular"):
        DiscriminantMKL(1e-30).fit(np.outer(z, z), y)
    noise = {"noise": np.outer(x, x) + 1e-3 * np.eye(8)}
    with pytest.warns(UserWarning, match="weights are those of 'noise' alone") as caught:
        learner = DiscriminantMKL("learn").fit(noise, y)
    assert np.isinf(learner.reg_) and caught[0].filename == __file__

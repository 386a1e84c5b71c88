"""Kim's ratio and total scatter as learners: the weights of the functions, and what a learner adds."""

import numpy as np
import pytest

from multikernel.weights import discriminant_weights, kim_weights
from multikernel.weights.discriminant import DiscriminantMKL, KimDiscriminant


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
def test_total_scatter_is_the_function(reg, formulation):
    kernels, y = example(3)
    expected = discriminant_weights(kernels, y, reg, formulation=formulation)
    learner = DiscriminantMKL(reg, formulation).fit(kernels, y)
    np.testing.assert_array_equal(learner.kernel_weights_, expected.weights)
    assert (learner.objective_, learner.dual_gap_) == (expected.objective, expected.gap)
    assert learner.reg_ == expected.reg and learner.history_


def test_kim_is_the_function_on_kernels_of_one_variance():
    kernels, y = example()
    scaled = [K / variance(K) for K in kernels]
    expected = kim_weights(scaled, y, 0.01)
    learner = KimDiscriminant(0.01).fit(kernels, y)
    sizes = np.array([variance(K) for K in kernels])
    np.testing.assert_allclose(learner.kernel_weights_ * sizes, expected.weights, atol=1e-6)
    assert learner.objective_ == pytest.approx(expected.objective, rel=1e-7)
    assert learner.dual_gap_ <= 1e-8
    plain = KimDiscriminant(0.01, normalise=False).fit(kernels, y)
    np.testing.assert_array_equal(plain.kernel_weights_, kim_weights(kernels, y, 0.01).weights)


def test_kim_of_three_classes_is_the_mean_of_one_against_the_rest():
    kernels, y = example(3)
    parts = []
    for c in range(3):
        weights = KimDiscriminant(0.1).fit(kernels, y == c).kernel_weights_
        parts.append(weights / sum(w * np.trace(K) / len(y) for w, K in zip(weights, kernels, strict=True)))
    learner = KimDiscriminant(0.1).fit(kernels, y)
    np.testing.assert_allclose(learner.kernel_weights_, np.mean(parts, axis=0))
    assert {entry["machine"] for entry in learner.history_} == {0, 1, 2}


@pytest.mark.parametrize("learner", [KimDiscriminant(0.1), DiscriminantMKL(0.1)])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_scales_order_precision_and_inputs(learner, n_classes):
    kernels, y = example(n_classes, seed=1)
    plain = learner.fit(kernels, y).kernel_weights_
    factors = np.array([1e6, 1e-6, 2.0])
    scaled = learner.fit([f * K for f, K in zip(factors, kernels, strict=True)], y).kernel_weights_
    np.testing.assert_allclose(scaled * factors, plain, rtol=1e-5, atol=1e-9 * plain.max())
    turned = learner.fit(kernels[::-1], y).kernel_weights_[::-1]
    np.testing.assert_allclose(turned, plain, rtol=1e-5, atol=1e-9 * plain.max())
    single = np.stack(kernels, axis=2).astype(np.float32)
    kept = single.copy()
    np.testing.assert_allclose(
        learner.fit(single, y).kernel_weights_, plain, rtol=1e-2, atol=1e-3 * plain.max()
    )
    np.testing.assert_array_equal(single, kept)


def test_an_informative_kernel_gets_the_weight():
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    good, bad = rng.normal(size=(2, 40, 3))
    good[:, 0] += 3 * y
    for learner in (KimDiscriminant(0.1), DiscriminantMKL(0.1)):
        assert learner.fit([good @ good.T, bad @ bad.T], y).kernel_shares_[0] > 0.7
        assert learner.fit(good @ good.T, y).kernel_shares_.tolist() == [1.0]


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

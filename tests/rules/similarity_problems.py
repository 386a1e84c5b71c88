"""Random kernels with targets, and laws that every rule of likeness obeys."""

import numpy as np

from multikernel import stack_kernels
from multikernel.rules.targets import as_targets


def problem(seed, task="two", n=24, m=5):
    """Kernels of several kinds and scales, and targets: two or three classes, values, or two outputs."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, m))
    score = X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.4 * rng.normal(size=n)
    kernels = []
    for j, x in enumerate(X.T):
        squares = np.subtract.outer(x, x) ** 2
        K = np.exp(-(0.3 + 0.4 * j) * squares) if j % 2 == 0 else np.outer(x, x) + 0.2
        kernels.append(3.0 ** (j - 2) * K)
    if task == "values":
        return kernels, 7.0 + 3.0 * score
    if task == "outputs":
        return kernels, np.column_stack([score, 5.0 - 2.0 * X[:, 1]])
    return kernels, np.digitize(score, np.quantile(score, [0.4] if task == "two" else [0.3, 0.7]))


def ideal(y, task):
    """TT' at trace n, written down once more."""
    if task in ("values", "outputs"):
        T = np.reshape(y, (len(y), -1)) - np.mean(y, axis=0)
        L = T @ T.T
        return L * len(y) / np.trace(L)
    k = np.unique(y).size
    return np.where(np.equal.outer(y, y), 1.0, -1.0 / (k - 1))


def centred(K):
    H = np.eye(len(K)) - 1.0 / len(K)
    return H @ K @ H


def check_scales(learner, kernels, y, factors=(1e6, 1.0, 1e-6, 40.0, 0.3), rtol=1e-6):
    """Kernels in other units: the weights change so that the learned kernel does not, but for a factor."""
    K = learner.fit_combine(kernels, y)
    other = [f * K for f, K in zip(factors, kernels, strict=False)]
    L = learner.fit_combine(other, y)
    np.testing.assert_allclose(L / np.trace(L), K / np.trace(K), rtol=rtol, atol=rtol * 1e-2)


def check_order(learner, kernels, y, rtol=1e-6):
    """Kernels and samples in another order: the same weights in that order."""
    weights = learner.fit(kernels, y).kernel_weights_
    order = np.random.default_rng(0).permutation(len(kernels))
    rows = np.random.default_rng(1).permutation(len(y))
    permuted = learner.fit([kernels[m][np.ix_(rows, rows)] for m in order], y[rows]).kernel_weights_
    np.testing.assert_allclose(permuted, weights[order], rtol=rtol, atol=rtol * weights.max())


def check_input(learner, kernels, y):
    """What is given stays as it is, float32 too, and a list is as good as a stack."""
    weights = learner.fit(kernels, y).kernel_weights_
    stack = stack_kernels(kernels)
    stack.flags.writeable = False
    kept = stack.copy()
    np.testing.assert_array_equal(learner.fit(stack, y).kernel_weights_, weights)
    np.testing.assert_array_equal(stack, kept)
    single = np.stack(kernels).astype(np.float32)
    single.flags.writeable = False
    learner.fit_stack(single, as_targets(y, len(y)))
    np.testing.assert_allclose(learner.kernel_weights_, weights, rtol=1e-3, atol=1e-4 * weights.max())

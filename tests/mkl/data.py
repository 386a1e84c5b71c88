"""Small data sets and views that the tests of the estimators share."""

import numpy as np

from multikernel.kernels import Gaussian, Linear
from tests.raw import raw

VIEWS = raw(
    [
        ("signal", Gaussian(gamma=0.5), [0, 1]),
        ("line", Linear(), [2]),
        ("noise", Gaussian(gamma=0.5), [3]),
    ]
)


def plain_kernels(A, B):
    """The kernels of VIEWS, written out; (n_a, n_b, 3)."""

    def gaussian(columns, gamma):
        a, b = A[:, columns], B[:, columns]
        return np.exp(-gamma * ((a[:, None] - b[None]) ** 2).sum(axis=2))

    return np.stack([gaussian([0, 1], 0.5), A[:, [2]] @ B[:, [2]].T, gaussian([3], 0.5)], axis=2)


def make_table(n=80, seed=0):
    return np.random.default_rng(seed).normal(size=(n, 4))


def make_binary(n=80, seed=0):
    X = make_table(n, seed)
    noise = np.random.default_rng(seed + 1).normal(size=n)
    return X, np.where(X[:, 0] ** 2 + X[:, 1] + 0.5 * X[:, 2] + 0.3 * noise > 0.8, "yes", "no")


def make_three(n=90, seed=0):
    X = make_table(n, seed)
    angle = np.arctan2(X[:, 0], X[:, 1]) + 0.2 * np.random.default_rng(seed + 1).normal(size=n)
    return X, np.array(["a", "b", "c"])[np.digitize(angle, [-1.0, 1.0])]


def make_regression(n=80, seed=0):
    X = make_table(n, seed)
    noise = np.random.default_rng(seed + 1).normal(size=n)
    return X, np.sin(X[:, 0]) + 0.5 * X[:, 2] + 0.1 * noise + 10.0

"""Random kernels with targets, and what rules of likeness compare."""

import numpy as np

TASKS = ("two", "three", "regression", "outputs")


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
    if task == "regression":
        return kernels, 7.0 + 3.0 * score
    if task == "outputs":
        return kernels, np.column_stack([score, 5.0 - 2.0 * X[:, 1]])
    return kernels, np.digitize(score, np.quantile(score, [0.4] if task == "two" else [0.3, 0.7]))


def ideal(y, task):
    """TT' at trace n, written down once more."""
    if task in ("regression", "outputs"):
        T = np.reshape(y, (len(y), -1)) - np.mean(y, axis=0)
        L = T @ T.T
        return L * len(y) / np.trace(L)
    k = np.unique(y).size
    return np.where(np.equal.outer(y, y), 1.0, -1.0 / (k - 1))


def normalised(kernels):
    """At a mean diagonal of 1."""
    return np.stack([K / np.diagonal(K).mean() for K in kernels])


def sizes(kernels):
    """Mean diagonals."""
    return np.array([np.diagonal(K).mean() for K in kernels])


def cosines(kernels, y, task, centered=False):
    """(q, S, norms): cosines with the ideal kernel and between the kernels, and their Frobenius norms."""
    shape = centred if centered else np.asarray
    norms = np.array([np.linalg.norm(shape(K)) for K in kernels])
    Ks = [shape(K) / s for K, s in zip(kernels, norms, strict=True)]
    L = shape(ideal(y, task))
    L = L / np.linalg.norm(L)
    S = np.array([[np.vdot(K, M) for M in Ks] for K in Ks])
    return np.array([np.vdot(K, L) for K in Ks]), S, norms


def centred(K):
    H = np.eye(len(K)) - 1.0 / len(K)
    return H @ K @ H

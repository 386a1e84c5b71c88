"""Kernels and targets of the benchmarks of many targets."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from multikernel.datasets import load_dataset
from multikernel.kernels import Tanimoto

Array = NDArray[np.float64]


class Problem(NamedTuple):
    """A stack (n, n, m) with the names of its views, and targets (n, T)."""

    stack: Array
    views: list[str]
    targets: Array


def side_effects() -> Problem:
    """Tanimoto kernels of six views of 832 drugs, of unit mean diagonal; 1385 side effects, 0 or 1."""
    data = load_dataset("side_effects_liu")
    assert data.views is not None
    kernels = [np.asarray(Tanimoto()(np.asarray(view, float))) for view in data.views.values()]
    stack = np.stack([K * len(K) / np.trace(K) for K in kernels], axis=2)
    return Problem(stack, list(data.views), np.asarray(data.arrays["Y"], float))


class Brain(NamedTuple):
    """Views of a stimulus, responses, and what part of each response each view explains."""

    tables: list[Array]
    targets: Array
    shares: Array


def brain(n: int, n_targets: int, seed: int) -> Brain:
    """Made-up responses: each is a linear function of one to three of five views, and noise.

    Views have 20 to 200 columns with a spectrum that falls, and share a part of their columns' variance. Half
    of the variance of a response is noise on average.
    """
    rng = np.random.default_rng(seed)
    common = rng.normal(size=(n, 10))
    tables = []
    for d in (20, 50, 100, 150, 200):
        own = rng.normal(size=(n, d)) / np.sqrt(1.0 + np.arange(d))
        table = own @ np.linalg.qr(rng.normal(size=(d, d)))[0] + 0.1 * common @ rng.normal(size=(10, d))
        tables.append((table - table.mean(axis=0)) / np.sqrt((table**2).sum(axis=1).mean()))
    shares = np.zeros((n_targets, len(tables)))
    for row in shares:
        used = rng.choice(len(tables), size=rng.integers(1, 4), replace=False)
        row[used] = rng.dirichlet(np.ones(used.size))
    signal = np.zeros((n, n_targets))
    for m, table in enumerate(tables):
        part = table @ rng.normal(size=(table.shape[1], n_targets))
        signal += np.sqrt(shares[:, m]) * part / part.std(axis=0)
    noise = rng.uniform(0.3, 2.0, size=n_targets)
    return Brain(tables, signal + noise * rng.normal(size=signal.shape), shares)

"""Two classes in several views, to compare accuracies on: generated rows, and data sets large enough."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchmarks.scale.data import make_rows
from benchmarks.scale.ours import views as generated_views
from multikernel import View
from multikernel.datasets import load_dataset
from multikernel.kernels import Gaussian

FloatArray = NDArray[np.float64]

_PARTS = 4  # views that the columns of a real data set are divided into, beside the view of all of them


def available(problem: str) -> bool:
    """Whether the rows can be had on this machine."""
    if problem == "generated":
        return True
    try:
        load_dataset(problem)
    except (OSError, ValueError):
        return False
    return True


def labelled_problem(problem: str, n: int, seed: int) -> tuple[FloatArray, NDArray[np.int_], list[View]]:
    """n rows drawn by the seed: of generated rows fresh ones each time, of a data set a part of it.

    Labels of letters are A to M against N to Z, those of others, such as digits, even against odd classes.
    Of a data set with fewer rows all are taken.
    """
    if problem == "generated":
        rows = make_rows(n, seed=1000 + seed)
        return rows.X, rows.labels.astype(int), generated_views()
    data = load_dataset(problem)
    X, names = np.asarray(data.X, dtype=np.float64), np.unique(data.y)
    codes = np.searchsorted(names, data.y)
    labels = codes < len(names) // 2 if problem == "letter" else codes % 2 == 0
    chosen = np.random.default_rng(seed).permutation(len(X))[:n]
    parts = np.array_split(np.arange(X.shape[1]), _PARTS)
    views = [
        View(f"columns {p[0] + 1} to {p[-1] + 1}", Gaussian(), p.tolist(), standardize=True, normalize=None)
        for p in parts
    ]
    views.append(View("all columns", Gaussian(), standardize=True, normalize=None))
    return X[chosen], labels[chosen].astype(int), views

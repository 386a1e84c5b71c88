"""Problems for joint machines of several classes.

* "mc": the synthetic points, in classes of equal size by the ranks of a noisy coordinate. They overlap, and
  most samples are support samples.
* "digits": scikit-learn's handwritten digits, those below the number of classes. They hardly overlap.

Columns are standardised. Kernels are a Gaussian exp(−‖x − z‖² / median of ‖x − z‖²), and linear and quadratic
ones of mean diagonal 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits

from benchmarks.datasets.points import load_points

FloatArray = NDArray[np.float64]

_SEED = 0
N_DIGITS = 1797


@dataclass(frozen=True)
class ClassTask:
    """Points of several classes, and kernels between them.

    Attributes
    ----------
    points : array (n, d)
    codes : int array (n,), 0 to n_classes − 1
    n_classes : int
    kernels : dict, by name: "gaussian", "linear", "quadratic"
    gamma : float, that of the Gaussian
    """

    points: FloatArray
    codes: NDArray[np.int64]
    n_classes: int
    kernels: dict[str, FloatArray]
    gamma: float


@cache
def class_task(dataset: str, n: int, n_classes: int) -> ClassTask:
    """n points of the data set."""
    points, codes = (_digits if dataset == "digits" else _ranks)(n, n_classes)
    squares, products = (points**2).sum(axis=1), points @ points.T
    distances = np.maximum(squares[:, None] + squares - 2.0 * products, 0.0)
    gamma = 1.0 / float(np.median(distances))
    quadratic = (1.0 + products) ** 2
    kernels = {
        "gaussian": np.exp(-gamma * distances),
        "linear": products / np.mean(squares),
        "quadratic": quadratic / np.mean(np.diag(quadratic)),
    }
    return ClassTask(points, codes, n_classes, kernels, gamma)


def _ranks(n: int, n_classes: int) -> tuple[FloatArray, NDArray[np.int64]]:
    points, _ = load_points("mc", n)
    noisy = points[:, 0] + 0.5 * np.random.default_rng(_SEED).normal(size=n)
    return points, (n_classes * np.argsort(np.argsort(noisy))) // n


def _digits(n: int, n_classes: int) -> tuple[FloatArray, NDArray[np.int64]]:
    points, digits = load_digits(return_X_y=True)
    chosen = np.flatnonzero(digits < n_classes)
    if n > chosen.size:
        raise ValueError(f"there are {chosen.size} digits below {n_classes}; {n} were asked for.")
    drawn = np.random.RandomState(_SEED).permutation(chosen)[:n]
    points, codes = points[drawn], digits[drawn].astype(np.int64)
    spread = points.std(axis=0)
    varies = spread > 1e-9
    return (points[:, varies] - points[:, varies].mean(axis=0)) / spread[varies], codes

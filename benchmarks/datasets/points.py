"""The points: breast cancer, odd against even digits, and scikit-learn's synthetic classes ("mc")."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_digits, make_classification

DATASETS = ("breast_cancer", "digits", "mc")

_SEED = 0
_MC_SPARE_POINTS = 1000  # drawn beyond n, so that a problem with n points is not an easier draw


def _raw_points(name: str, n: int) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    if name == "breast_cancer":
        points, target = load_breast_cancer(return_X_y=True)
        return points, target == 1
    if name == "digits":
        points, target = load_digits(return_X_y=True)
        return points, target % 2 == 0
    if name == "mc":
        points, target = make_classification(
            n_samples=n + _MC_SPARE_POINTS,
            n_features=20,
            n_informative=8,
            n_redundant=4,
            n_clusters_per_class=3,
            flip_y=0.05,
            class_sep=0.8,
            random_state=_SEED,
        )
        return points, target == 1
    raise ValueError(f"dataset must be one of {', '.join(DATASETS)}; given {name!r}")


def available(name: str, n: int) -> bool:
    """Whether the data set has n points."""
    return name == "mc" or n <= {"breast_cancer": 569, "digits": 1797}[name]


def load_points(name: str, n: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """n points drawn without replacement, columns standardised, constant columns left out; labels ±1."""
    points, is_positive = _raw_points(name, n)
    if n > len(points):
        raise ValueError(f"{name} has {len(points)} points; {n} were asked for. Take fewer, or 'mc'.")
    drawn = np.random.RandomState(_SEED).permutation(len(points))[:n]
    points, y = points[drawn], np.where(is_positive[drawn], 1.0, -1.0)
    spread = points.std(axis=0)
    varies = spread > 1e-9
    return (points[:, varies] - points[:, varies].mean(axis=0)) / spread[varies], y

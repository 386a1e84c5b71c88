"""The data, the splits and the kernels of the tables of Ye et al. (2007).

G_i = exp(−‖x − z‖² / σ_i²),   σ_1 … σ_10 evenly spaced in logarithm from 0.1 to 100
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy.spatial.distance import pdist

from multikernel.kernels import Gaussian
from multikernel.views import stack_kernels
from studies.points import load_points
from studies.splits import draw_order

SIGMAS = tuple(float(sigma) for sigma in np.logspace(-1, 2, 10))
_SEED = 2007
_SAMPLE_SEED = 1994

Array = np.ndarray


@dataclass(frozen=True)
class Setting:
    """A data set as the tables use it.

    Attributes
    ----------
    label : str
        What the publication calls it.
    dataset : str
    train_share : float
    scaling : {"standardized", "unit", "narrow", "none"}
        By what the training points say: to mean 0 and variance 1; from 0 to 1; standardized, then shrunk
        until the median distance is twice the smallest width, so that no kernel is near the identity; or
        not at all.
    classes : int or None
        Only the first so many; None for all.
    per_class : int or None
        How many points of each class are drawn before the data are split; None for all of them.
    """

    label: str
    dataset: str
    train_share: float = 0.8
    scaling: str = "standardized"
    classes: int | None = None
    per_class: int | None = None

    def arguments(self) -> dict[str, Any]:
        """Return what a unit needs to make the setting again."""
        return asdict(self)


@dataclass(frozen=True)
class Split:
    """The scaled points of one random split."""

    X: Array
    y: Array
    X_test: Array
    y_test: Array

    def stacks(self) -> tuple[Array, Array]:
        """Return the ten kernels of the training points, and of the test against the training points."""
        kernels = [Gaussian(s=sigma) for sigma in SIGMAS]
        training = stack_kernels([kernel(self.X) for kernel in kernels])
        return training, stack_kernels([kernel(self.X_test, self.X) for kernel in kernels])


def draw_split(setting: Setting, split: int, sample: int = 0) -> Split:
    """Return a random split, the same for the same numbers.

    Parameters
    ----------
    setting : Setting
    split : int
        Which partition into training and test points.
    sample : int, default=0
        Which sample is split, where a number of points of each class is drawn first.

    Returns
    -------
    Split
        With every class among the training and among the test points.
    """
    X, y = load_points(setting.dataset)
    kept = np.flatnonzero(y < (np.inf if setting.classes is None else setting.classes))
    if setting.per_class is not None:
        rng = np.random.default_rng([_SAMPLE_SEED, sample])
        kept = np.concatenate(
            [rng.permutation(kept[y[kept] == name])[: setting.per_class] for name in np.unique(y[kept])]
        )
    X, y = X[kept], y[kept]
    n_train = round(setting.train_share * len(y))
    order = draw_order(y, n_train, np.random.default_rng([_SEED, split]))
    training, test = order[:n_train], order[n_train:]
    offset, factor = _scale(X[training], setting.scaling)
    X = (X - offset) * factor
    return Split(X[training], y[training], X[test], y[test])


def _scale(X: Array, scaling: str) -> tuple[Array, Array]:
    """The offset that is taken off the columns, and the factor that multiplies what is left."""
    if scaling == "none":
        return np.zeros(X.shape[1]), np.ones(X.shape[1])
    if scaling == "unit":
        return X.min(axis=0), _inverse(np.ptp(X, axis=0))
    offset, factor = X.mean(axis=0), _inverse(X.std(axis=0))
    if scaling == "narrow":
        factor = factor * (2.0 * min(SIGMAS) / np.median(pdist((X - offset) * factor)))
    return offset, factor


def _inverse(size: Array) -> Array:
    """One over it; 1 for a column that is constant."""
    inverse: Array = 1.0 / np.where(size > 0.0, size, 1.0)
    return inverse

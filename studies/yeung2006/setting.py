"""The data, the splits and the plain kernels of the tables of Yeung et al. (2006).

    k(x, z) = exp(−‖x − z‖² / σ²),   σ² = d̄², 10⁻⁴, 10⁻³, 10⁻², 10⁻¹, 1, 5, 10, 10² or 10³

over all points of a set, labelled or not, with columns of mean 0 and variance 1; d̄² is the mean squared
distance of two points.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from multikernel.kernels import Gaussian
from studies.points import load_points, standardize
from studies.splits import draw_order

WIDTHS: tuple[str, ...] = ("d̄²", "1e-4", "1e-3", "1e-2", "1e-1", "1", "5", "10", "1e2", "1e3")
PERCENT_LABELLED = (20, 40)
_SEED = 2006
_DECIMALS = 12  # points at equal distances, of which there are many on a grid, are to be equally similar

Array = np.ndarray


@dataclass(frozen=True)
class Split:
    """The points of one random split, labelled points first, and the classes 0, 1, … of all of them.

    Those after the first `n_labelled` are used to judge only.
    """

    X: Array
    codes: Array
    n_labelled: int

    @property
    def labels(self) -> Array:
        """The classes of the labelled points."""
        return self.codes[: self.n_labelled]


def draw_split(dataset: str, percent: int, split: int) -> Split:
    """Return a random split, the same for the same number, with two labelled points of every class at least.

    Parameters
    ----------
    dataset : str
    percent : int
        How many of the points are labelled.
    split : int

    Returns
    -------
    Split
    """
    X, codes = load_classes(dataset)
    n_labelled = round(percent * len(codes) / 100)
    rng = np.random.default_rng([_SEED, split])
    while True:
        order = draw_order(codes, n_labelled, rng)
        if np.bincount(codes[order[:n_labelled]]).min() > 1:
            return Split(X[order], codes[order], n_labelled)


def load_classes(dataset: str) -> tuple[Array, Array]:
    """Return the standardised columns of a set and its classes; prices are cut into three at their terciles.

    Parameters
    ----------
    dataset : str

    Returns
    -------
    X : ndarray of shape (n, d)
    codes : ndarray of shape (n,)
    """
    X, y = load_points(dataset)
    X = standardize(X)
    if y.dtype.kind == "f":
        return X, np.searchsorted(np.quantile(y, [1 / 3, 2 / 3]), y)
    return X, np.unique(y, return_inverse=True)[1]


def gaussian_kernels(X: Array) -> Iterator[tuple[str, Array]]:
    """Give the name of each width and its kernel matrix, in the order of `WIDTHS`.

    A kernel that repeats the one before it (the identity, at narrow widths) is left out: the first of equals
    would be chosen anyway.

    Parameters
    ----------
    X : ndarray of shape (n, d)

    Yields
    ------
    name : str
    K : ndarray of shape (n, n)
    """
    n = len(X)
    # The columns have mean zero: the mean over pairs of different points is 2n/(n − 1) times that of ‖x‖².
    mean_square = 2.0 * float((X**2).sum()) / (n - 1)
    previous = None
    for name in WIDTHS:
        kernel = Gaussian(gamma=1.0 / (mean_square if name == WIDTHS[0] else float(name)))
        K = np.round(kernel(X), _DECIMALS)
        if previous is None or not np.array_equal(K, previous):
            yield name, K
        previous = K

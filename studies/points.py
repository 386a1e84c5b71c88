"""Points and kernels as the protocols of several publications begin with them."""

from __future__ import annotations

import numpy as np

from multikernel.kernels import Gaussian, Linear, Polynomial, unit_diagonal
from studies.data import load_data

Array = np.ndarray


def load_points(dataset: str) -> tuple[Array, Array]:
    """Return the columns of a data set as floating point numbers, and its targets.

    Parameters
    ----------
    dataset : str

    Returns
    -------
    X : ndarray of shape (n, d)
    y : ndarray of shape (n,)
    """
    data = load_data(dataset)
    assert data.y is not None
    return np.asarray(data.X, dtype=np.float64), np.asarray(data.y)


def load_two_classes(dataset: str) -> tuple[Array, Array]:
    """Return the columns of a data set, and its labels as −1 and +1, as `load_points` does."""
    X, y = load_points(dataset)
    return X, np.where(y > 0, 1, -1)


def standardize(X: Array, reference: Array | None = None) -> Array:
    """Return columns scaled to mean 0 and variance 1 over the reference rows; constant ones are shifted only.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    reference : ndarray of shape (m, d), default=None
        The rows of X if None.

    Returns
    -------
    ndarray of shape (n, d)

    Examples
    --------
    >>> standardize(np.array([[1.0, 5.0], [3.0, 5.0]]))
    array([[-1.,  0.],
           [ 1.,  0.]])
    """
    rows = X if reference is None else reference
    deviation = rows.std(axis=0)
    scaled: Array = (X - rows.mean(axis=0)) / np.where(deviation > 0.0, deviation, 1.0)
    return scaled


def three_kernels(X: Array, sigma: float) -> list[Array]:
    """Return (1 + x·z)², exp(−‖x − z‖² / (2 sigma)) and x·z over the rows of X, all of unit diagonal.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    sigma : float

    Returns
    -------
    list of ndarray of shape (n, n)
    """
    return [
        unit_diagonal(Polynomial(degree=2)(X)),
        Gaussian(gamma=0.5 / sigma)(X),
        unit_diagonal(Linear()(X)),
    ]

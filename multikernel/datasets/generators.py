"""Made-up data in the plane, of known boundary, that mixtures of kernels can learn and one kernel cannot."""

from __future__ import annotations

from typing import Any

import numpy as np

from multikernel._validation import check_number, check_positive_integer

Array = np.ndarray

_ROWS = (3.0, 1.0, -1.0, -3.0)  # by turns of class +1 and −1
_LARGEST_X = 3.0


def make_interleaved(
    n_samples: int = 40, *, width: float = 5.0, noise: float = 0.2, random_state: Any = None
) -> tuple[Array, Array]:
    """Return points of eight Gaussian clusters: four rows that take turns in class, each twice, far apart.

    The centres are (±width, 3), (±width, 1), (±width, −1) and (±width, −3); rows 3 and −1 have the label +1.
    Only the height tells the classes apart, but what spreads the points of a class is the left and right of
    them, which tells nothing. A mixture of two Gaussians that fits the density of a class has one on each
    side, at the mean height of the class, and classifies half of the points; one that looks for the boundary
    has one on each row and classifies them all.

    Parameters
    ----------
    n_samples : int, default=40
        The clusters take turns, so that they have as many points each, or nearly so.
    width : float, default=5.0
        Half the distance of left and right.
    noise : float, default=0.2
        The standard deviation of a cluster.
    random_state : int, numpy.random.Generator or None, default=None

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
    y : ndarray of shape (n_samples,)
        −1 and +1.

    Examples
    --------
    >>> X, y = make_interleaved(8, noise=0.0)
    >>> X[:4].tolist(), y[:4].tolist()
    ([[-5.0, 3.0], [-5.0, 1.0], [-5.0, -1.0], [-5.0, -3.0]], [1, -1, 1, -1])
    """
    n = check_positive_integer("n_samples", n_samples)
    width = check_number("width", width, at_least=0.0)
    noise = check_number("noise", noise, at_least=0.0)
    cluster = np.arange(n) % (2 * len(_ROWS))
    row, side = cluster % len(_ROWS), np.where(cluster < len(_ROWS), -1.0, 1.0)
    centres = np.column_stack([side * width, np.array(_ROWS)[row]])
    X = centres + noise * np.random.default_rng(random_state).standard_normal((n, 2))
    return X, np.where(row % 2 == 0, 1, -1)


def make_piecewise(
    n_samples: int = 200, *, shift: float = 0.2, random_state: Any = None
) -> tuple[Array, Array]:
    """Return points just above and just below a curve that is a line on the left and a parabola on the right.

    x is uniform on (−3, 3), and the second feature is g(x) + shift for label +1, g(x) − shift for label −1,

        g(x) = x / 2  for x < 0,    g(x) = x² / 2 − 2 x  for x ≥ 0.

    With enough points no polynomial of degree two in both features separates the classes: neither a linear
    nor a quadratic kernel, nor any sum of the two, can do what one on each side does.

    Parameters
    ----------
    n_samples : int, default=200
        The classes take turns, so that they have as many points each.
    shift : float, default=0.2
    random_state : int, numpy.random.Generator or None, default=None

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
    y : ndarray of shape (n_samples,)
        −1 and +1.

    Examples
    --------
    >>> X, y = make_piecewise(4, shift=0.1, random_state=0)
    >>> y.tolist(), (X[:, 1] - piecewise_curve(X[:, 0])).round(3).tolist()
    ([1, -1, 1, -1], [0.1, -0.1, 0.1, -0.1])
    """
    n = check_positive_integer("n_samples", n_samples)
    shift = check_number("shift", shift, at_least=0.0)
    x = np.random.default_rng(random_state).uniform(-_LARGEST_X, _LARGEST_X, n)
    y = np.where(np.arange(n) % 2 == 0, 1, -1)
    return np.column_stack([x, piecewise_curve(x) + shift * y]), y


def piecewise_curve(x: Array) -> Array:
    """The true boundary of `make_piecewise`: g(x) of that function, of any shape.

    Examples
    --------
    >>> piecewise_curve(np.array([-2.0, 2.0]))
    array([-1., -2.])
    """
    return np.asarray(np.where(x < 0.0, 0.5 * x, 0.5 * x**2 - 2.0 * x))

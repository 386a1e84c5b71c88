"""Made-up data: points in the plane of known boundary, and proteins with a network."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from multikernel._validation import (
    as_generator,
    check_choice,
    check_number,
    check_positive_integer,
    check_real_matrix,
    check_values,
)

from .._typing import Array

_ROWS = (3.0, 1.0, -1.0, -3.0)  # alternately of class +1 and −1
_LARGEST_X = 3.0

# Share, label and place of each Gaussian; the classes are above and below, alternately from left to right.
_ABOVE, _BELOW = 1.0, -2.2
_GAUSSIANS: dict[str, tuple[tuple[float, int, float], ...]] = {
    "GAUSS2": ((0.5, 1, -1.0), (0.5, -1, 1.0)),
    "GAUSS3": ((0.25, 1, -2.0), (0.5, -1, 0.0), (0.25, 1, 2.0)),
    "GAUSS4": ((0.25, 1, -3.0), (0.25, -1, -1.0), (0.25, 1, 1.0), (0.25, -1, 3.0)),
    "GAUSS5": ((0.16, 1, -4.0), (0.25, -1, -2.0), (0.18, 1, 0.0), (0.25, -1, 2.0), (0.16, 1, 4.0)),
}
_VARIANCES = {1: (0.8, 2.0), -1: (0.8, 4.0)}
_MODULE_SIZE = 12
_WITHIN, _BETWEEN = 0.2, 0.01  # probabilities of an edge
_CONDITIONS, _INFORMATIVE, _SHIFT = 12, 4, 0.7


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
    X = centres + noise * as_generator(random_state).standard_normal((n, 2))
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
    x = as_generator(random_state).uniform(-_LARGEST_X, _LARGEST_X, n)
    y = np.where(np.arange(n) % 2 == 0, 1, -1)
    return np.column_stack([x, piecewise_curve(x) + shift * y]), y


def piecewise_curve(x: Array) -> Array:
    """The true boundary of `make_piecewise`: g(x) of that function, of any shape.

    Examples
    --------
    >>> piecewise_curve(np.array([-2.0, 2.0]))
    array([-1., -2.])
    """
    x = check_values(x, "x")
    if np.abs(x).max(initial=0.0) > 1e150:
        raise ValueError("x must lie between -1e150 and 1e150: squares of it overflow.")
    return np.asarray(np.where(x < 0.0, 0.5 * x, 0.5 * x**2 - 2.0 * x))


def make_gauss(
    name: str = "GAUSS4", n_samples: int = 1200, *, random_state: Any = None
) -> tuple[Array, Array]:
    """Return points of two to five Gaussians, side by side in the plane, that take turns in class.

    Those of label +1 have their centre at the height 1 and the variances (0.8, 2), those of label −1 at the
    height −2.2 and the variances (0.8, 4); both classes are equally likely. From left to right the centres
    are two units apart:

    ========  =====================================
    name      label (and share) from left to right
    ========  =====================================
    GAUSS2    + (.50)  − (.50)
    GAUSS3    + (.25)  − (.50)  + (.25)
    GAUSS4    + (.25)  − (.25)  + (.25)  − (.25)
    GAUSS5    + (.16)  − (.25)  + (.18)  − (.25)  + (.16)
    ========  =====================================

    The best boundary bends at each turn: several local kernels, each simple, can follow it.

    Parameters
    ----------
    name : {"GAUSS2", "GAUSS3", "GAUSS4", "GAUSS5"}, default="GAUSS4"
    n_samples : int, default=1200
        Shared out among the Gaussians as exactly as whole numbers allow, in random order.
    random_state : int, numpy.random.Generator or None, default=None

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
    y : ndarray of shape (n_samples,)
        −1 and +1.

    References
    ----------
    M. Gönen (2010). Localized multiple kernel algorithms for machine learning. PhD thesis, Boğaziçi
    University.

    Examples
    --------
    >>> X, y = make_gauss("GAUSS4", 400, random_state=0)
    >>> X.shape, (y == 1).sum().item()
    ((400, 2), 200)
    """
    gaussians = _GAUSSIANS[check_choice("name", name, tuple(_GAUSSIANS))]
    n = check_positive_integer("n_samples", n_samples)
    rng = as_generator(random_state)
    ends = np.rint(n * np.cumsum([share for share, _, _ in gaussians])).astype(int)
    which = rng.permutation(np.repeat(np.arange(len(gaussians)), np.diff(ends, prepend=0)))
    labels = np.array([label for _, label, _ in gaussians])[which]
    centres = np.array([_centre(label, place) for _, label, place in gaussians])[which]
    deviations = np.sqrt([_VARIANCES[label] for _, label, _ in gaussians])[which]
    return centres + deviations * rng.standard_normal((n, 2)), labels


def gauss_log_odds(name: str, X: Any) -> Array:
    """Return log P(+1 | x) / P(−1 | x) of `make_gauss`: it is positive where the best rule says +1.

    Parameters
    ----------
    name : {"GAUSS2", "GAUSS3", "GAUSS4", "GAUSS5"}
    X : array-like of shape (n_samples, 2)

    Returns
    -------
    ndarray of shape (n_samples,)

    Examples
    --------
    >>> gauss_log_odds("GAUSS2", [[-1.0, 1.0], [1.0, -2.2]]).round(2)
    array([ 4.13, -4.71])
    """
    gaussians = _GAUSSIANS[check_choice("name", name, tuple(_GAUSSIANS))]
    points = check_real_matrix(X, "X").astype(np.float64)
    if points.ndim != 2 or points.shape[1] != 2:
        raise ValueError(f"X must hold points of the plane, shape (n, 2); got shape {points.shape}.")
    logs: dict[int, list[Array]] = {1: [], -1: []}
    for share, label, place in gaussians:
        variances = np.array(_VARIANCES[label])
        squares = ((points - _centre(label, place)) ** 2 / variances).sum(axis=1)
        logs[label].append(np.log(share) - 0.5 * squares - 0.5 * np.log(variances.prod()))
    odds = np.logaddexp.reduce(logs[1], axis=0) - np.logaddexp.reduce(logs[-1], axis=0)
    return np.asarray(odds)


def gauss_bayes(name: str, X: Any) -> Array:
    """Return the labels of the best rule for `make_gauss`, which on GAUSS4 is right on 89.7% of all points.

    Parameters
    ----------
    name : {"GAUSS2", "GAUSS3", "GAUSS4", "GAUSS5"}
    X : array-like of shape (n_samples, 2)

    Returns
    -------
    ndarray of shape (n_samples,)
        −1 and +1.

    Examples
    --------
    >>> X, y = make_gauss("GAUSS4", 100_000, random_state=0)
    >>> round(100.0 * float((gauss_bayes("GAUSS4", X) == y).mean()), 1)
    89.7
    """
    return np.where(gauss_log_odds(name, X) > 0.0, 1, -1)


def _centre(label: int, place: float) -> tuple[float, float]:
    return place, _ABOVE if label > 0 else _BELOW


# --- proteins -----------------------------------------------------------------------------------------------


class Proteins(NamedTuple):
    """What `make_proteins` returns.

    Attributes
    ----------
    X : DataFrame of shape (n_proteins, 13)
        The column ``protein`` has the names, the others the expression in twelve conditions.
    y : ndarray of shape (n_proteins,)
        The function of each protein, 0 or 1.
    edges : ndarray of shape (m, 2)
        Names of proteins that interact.
    """

    X: pd.DataFrame
    y: np.ndarray
    edges: np.ndarray


def make_proteins(n_proteins: int = 240, *, absent: float = 0.15, random_state: Any = None) -> Proteins:
    """Return proteins that work in modules, with a network that knows the modules and a table that does not.

    Twelve proteins make a module, and all of a module have one function; modules take turns. Two proteins of
    a module interact with probability 0.2, any others with 0.01. Expression is normal noise in twelve
    conditions, with a mean of 0.7 in the first four for proteins of function 1. Some proteins were never
    tested for interactions: they are in no edge.

    Parameters
    ----------
    n_proteins : int, default=240
    absent : float, default=0.15
        The share of proteins that are not in the network, at least 0 and less than 1.
    random_state : int, numpy.random.Generator or None, default=None

    Returns
    -------
    Proteins
        ``X``, ``y`` and ``edges``.

    Examples
    --------
    >>> proteins = make_proteins(random_state=0)
    >>> proteins.X.shape, proteins.edges[0].tolist()
    ((240, 13), ['P002', 'P022'])
    """
    n = check_positive_integer("n_proteins", n_proteins)
    absent = check_number("absent", absent, at_least=0.0)
    if not absent < 1.0:
        raise ValueError(f"absent must be less than 1; got {absent!r}.")
    rng = as_generator(random_state)
    n_modules = -(-n // _MODULE_SIZE)
    module = np.arange(n) % n_modules
    y = module % 2
    expression = rng.standard_normal((n, _CONDITIONS))
    expression[:, :_INFORMATIVE] += _SHIFT * y[:, None]
    tested = np.ones(n, dtype=bool)
    tested[rng.permutation(n)[: round(absent * n)]] = False
    chance = np.where(module[:, None] == module, _WITHIN, _BETWEEN) * (tested[:, None] & tested)
    pairs = np.argwhere(np.triu(rng.uniform(size=(n, n)) < chance, 1))
    names = np.array([f"P{i:03}" for i in range(n)])
    X = pd.DataFrame(expression, columns=[f"condition {i + 1}" for i in range(_CONDITIONS)])
    X.insert(0, "protein", names)
    return Proteins(X, y, names[pairs])

"""Random splits of labelled points into a training and a test part, as published protocols have them."""

from __future__ import annotations

import numpy as np

Array = np.ndarray


def draw_order(y: Array, n_train: int, rng: np.random.Generator, n: int | None = None) -> Array:
    """Return the indices of a random split, training points first, with every class in both parts.

    Parameters
    ----------
    y : ndarray of shape (n_points,)
    n_train : int
        How many of them are for training.
    rng : numpy.random.Generator
        Drawn from until each class is in both parts.
    n : int, default=None
        How many points are drawn; all of them if None.

    Returns
    -------
    ndarray of shape (n,)

    Examples
    --------
    >>> draw_order(np.array([0, 0, 1, 1]), 2, np.random.default_rng(0))
    array([2, 0, 1, 3])
    """
    n_classes = len(np.unique(y))
    while True:
        order = rng.permutation(len(y))[:n]
        if len(np.unique(y[order[:n_train]])) == len(np.unique(y[order[n_train:]])) == n_classes:
            return order


def draw_balanced_order(
    y: Array, train_share: float, rng: np.random.Generator, per_class: int | None = None
) -> tuple[Array, int]:
    """Return the indices of a split that has the same share of every class for training.

    Parameters
    ----------
    y : ndarray of shape (n_points,)
    train_share : float
    rng : numpy.random.Generator
    per_class : int, default=None
        How many points of each class are drawn; all of them if None.

    Returns
    -------
    order : ndarray of shape (n,)
        Training points first.
    n_train : int

    Examples
    --------
    >>> y = np.repeat([0, 1], 10)
    >>> order, n_train = draw_balanced_order(y, 0.6, np.random.default_rng(0), per_class=5)
    >>> y[order[:n_train]].tolist(), y[order[n_train:]].tolist()
    ([0, 0, 0, 1, 1, 1], [0, 0, 1, 1])
    """
    training, test = [], []
    for name in np.unique(y):
        drawn = rng.permutation(np.flatnonzero(y == name))[:per_class]
        n_train = round(train_share * len(drawn))
        training.append(drawn[:n_train])
        test.append(drawn[n_train:])
    return np.concatenate([*training, *test]), sum(map(len, training))

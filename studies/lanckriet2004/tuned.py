"""The column "best c/v RBF": a support vector machine with one Gaussian kernel, tuned on the training points.

Its width and C are those with the largest mean accuracy over 30 random partitions of the training points;
then it is trained on all of them. The publication does not say which values were tried, nor how large the
parts were: the grids are ours, and a partition has 80% for training as the outer one does.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from multikernel.kernels import Gaussian
from studies.lanckriet2004.setting import TRAIN_SHARE, Setting, draw_split
from studies.splits import draw_order

PARTITIONS = 30
SIGMAS = tuple(10.0 ** (power / 2) for power in range(-2, 7))  # 0.1 to 1000
C_GRID = tuple(10.0**power for power in range(-2, 4))  # 0.01 to 1000
MARGINS = ("HM", "SM1", "SM2")
_SEED = 3020
_UNBOUNDED = 1e8  # a dual variable of this size means that the points are not separable
_MAX_ITER = 100_000

Array = np.ndarray


def tune_gaussian(setting: dict[str, Any], split: int, margin: str) -> dict[str, Any]:
    """Return the test accuracy of the tuned support vector machine on one split.

    Parameters
    ----------
    setting : dict
        The arguments of a `Setting`; its sigma is not used.
    split : int
    margin : {"HM", "SM1", "SM2"}
        The hard margin, where only the width is tuned, or the 1-norm or 2-norm soft margin.

    Returns
    -------
    dict
        ``accuracy`` in percent, ``sigma`` and ``C`` (None for the hard margin).
    """
    points = draw_split(Setting(**setting), split)
    X, y, n_train = points.X, points.y, points.n_train
    candidates = [(sigma, C) for sigma in SIGMAS for C in ((None,) if margin == "HM" else C_GRID)]
    grams = {sigma: Gaussian(gamma=0.5 / sigma)(X) for sigma in SIGMAS}
    rng = np.random.default_rng([_SEED, split])
    n_inner = round(TRAIN_SHARE * n_train)
    totals = np.zeros(len(candidates))
    for _ in range(PARTITIONS):
        order = draw_order(y[:n_train], n_inner, rng)
        parts = order[:n_inner], order[n_inner:]
        totals += [share_right(grams[sigma], y, *parts, margin, C) for sigma, C in candidates]
    sigma, C = candidates[int(np.argmax(totals))]
    accuracy = share_right(grams[sigma], y, np.arange(n_train), np.arange(n_train, len(y)), margin, C)
    return {"accuracy": 100.0 * accuracy, "sigma": sigma, "C": C}


def share_right(K: Array, y: Array, train: Array, test: Array, margin: str, C: float | None) -> float:
    """Return the share of test points that a machine classifies correctly; 0 where there is no machine.

    Parameters
    ----------
    K : ndarray of shape (n, n)
    y : ndarray of shape (n,)
    train, test : ndarray of int
    margin : {"HM", "SM1", "SM2"}
    C : float or None

    Returns
    -------
    float
        0 for a hard margin of points that are not separable.
    """
    block = K[np.ix_(train, train)]
    if margin == "SM2":  # the 2-norm soft margin is the hard margin of K + I / C
        assert C is not None
        block = block + np.eye(len(train)) / C
    bound = C if margin == "SM1" and C is not None else _UNBOUNDED
    machine = SVC(C=bound, kernel="precomputed", max_iter=_MAX_ITER)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        machine.fit(block, y[train])
    if machine.fit_status_ or (margin != "SM1" and np.abs(machine.dual_coef_).max() >= _UNBOUNDED):
        return 0.0
    return float(np.mean(machine.predict(K[np.ix_(test, train)]) == y[test]))

"""The data, the splits and the kernels of the tables of Lanckriet et al. (2004).

    K1 = (1 + x·z)²       K2 = exp(−‖x − z‖² / (2 sigma))       K3 = x·z

K1 and K3 are scaled to a unit diagonal, which K2 has; all are over the training and the test points together.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from studies.points import load_two_classes, standardize
from studies.splits import draw_order

TRAIN_SHARE = 0.8
_SEED = 2004

Array = np.ndarray


@dataclass(frozen=True)
class Setting:
    """A data set as the tables use it.

    Attributes
    ----------
    label : str
        What the page calls it.
    dataset : str
    sigma : float
        The width of K2.
    standardized : bool
        Whether each column is scaled to mean 0 and variance 1 over all points.
    sample : int or None
        How many points are drawn anew for each split, out of a data set without end; None for all of them.
    """

    label: str
    dataset: str
    sigma: float
    standardized: bool = False
    sample: int | None = None

    def arguments(self) -> dict[str, Any]:
        """Return what a unit needs to make the setting again."""
        return asdict(self)


HEART = Setting("heart", "heart_statlog", 0.5, standardized=True)
SONAR = Setting("sonar, sigma = 0.5", "sonar", 0.5)
SONAR_AS_PRINTED = Setting("sonar, sigma = 0.1", "sonar", 0.1)
BREAST = Setting("breast cancer", "breast_cancer_wisconsin", 0.5)
IONOSPHERE = Setting("ionosphere", "ionosphere", 0.5)
TWONORM = Setting("2-norm", "twonorm", 0.1, sample=328)


@dataclass(frozen=True)
class Split:
    """The points of one random split, training points first."""

    X: Array
    y: Array
    n_train: int


def draw_split(setting: Setting, split: int) -> Split:
    """Return a random split, 80% of the points for training; the same for the same number.

    Parameters
    ----------
    setting : Setting
    split : int

    Returns
    -------
    Split
        With labels −1 and +1, both of them among the training and among the test points.
    """
    X, y = load_two_classes(setting.dataset)
    rng = np.random.default_rng([_SEED, split])
    n = len(y) if setting.sample is None else setting.sample
    n_train = round(TRAIN_SHARE * n)
    order = draw_order(y, n_train, rng, n)
    X = X[order]
    return Split(standardize(X) if setting.standardized else X, y[order], n_train)

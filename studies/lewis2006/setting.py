"""The data, the splits and the kernels of table 1 of Lewis et al. (2006).

    k₁(x, z) = (1 + x·z)²       k₂(x, z) = exp(−‖x − z‖² / (2 sigma))       k₃(x, z) = x·z

k₁ and k₃ are scaled to a unit diagonal, which k₂ has.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.model_selection import KFold

from studies.lewis2006.published import FOLDS
from studies.points import load_two_classes, standardize, three_kernels

KERNELS = {"quadratic": "quadratic", "rbf": "RBF", "linear": "linear"}

Array = np.ndarray


@dataclass(frozen=True)
class Setting:
    """A data set as the table uses it.

    Attributes
    ----------
    label : str
        What the page calls it.
    row : str
        The row of the table: a key of `ACCURACY`.
    dataset : str
    sigma : float
        The width of k₂.
    standardized : bool
        Whether the columns are scaled to mean 0 and variance 1 by the training points.
    """

    label: str
    row: str
    dataset: str
    sigma: float = 0.5
    standardized: bool = False

    def arguments(self) -> dict[str, Any]:
        """Return what a unit needs to make the setting again."""
        return asdict(self)


BREAST = Setting("breast cancer, 683 points", "breast", "breast_cancer_wisconsin")
SONAR = Setting("sonar, sigma = 0.1", "sonar", "sonar", sigma=0.1)
HEART = Setting("heart", "heart", "heart_statlog")
WDBC = Setting("breast cancer, WDBC (569 points)", "breast", "wdbc")
WIDE_SONAR = Setting("sonar, sigma = 0.5", "sonar", "sonar")


@dataclass(frozen=True)
class Split:
    """Kernels over all points, and which of them are for training and for the test.

    Attributes
    ----------
    Ks : ndarray of shape (n_kernels, n, n)
    y : ndarray of shape (n,)
        The labels −1 and +1.
    training, test : ndarray of int
    """

    Ks: Array
    y: Array
    training: Array
    test: Array

    @cached_property
    def fitted(self) -> Array:
        """The kernels of the training points, kernels last, (n_train, n_train, n_kernels)."""
        return np.moveaxis(self.Ks[:, self.training[:, None], self.training], 0, 2)

    @cached_property
    def predicted(self) -> Array:
        """Those of the test points with the training points, (n_test, n_train, n_kernels)."""
        return np.moveaxis(self.Ks[:, self.test[:, None], self.training], 0, 2)


def draw_split(setting: Setting, split: int) -> Split:
    """Return one fold of one repetition of the cross-validation: the number is 3 × repetition + fold.

    Folds are random, as the publication says, and not stratified.

    Parameters
    ----------
    setting : Setting
    split : int

    Returns
    -------
    Split
    """
    X, y = load_two_classes(setting.dataset)
    repeat, fold = divmod(split, FOLDS)
    folds = KFold(FOLDS, shuffle=True, random_state=repeat).split(X)
    training, test = list(folds)[fold]
    if setting.standardized:
        X = standardize(X, X[training])
    return Split(np.stack(three_kernels(X, setting.sigma)), y, training, test)

"""The binary data sets of the tables on costs and on the search for them, with their three kernels.

Linear x'z, quadratic (x'z + 1)² and Gaussian exp(−‖x − z‖² / s²), s the mean distance of a training point to
the nearest other one; all of unit diagonal.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from multikernel.kernels import Gaussian, Kernel, Linear, Polynomial
from multikernel.kernels._rows import Rows
from multikernel.soft_labels.solver import TableDistances, mean_nearest_distance
from multikernel.views import View
from studies.data import load_data
from studies.gonen2010.methods import Sample, side_by_side, unit_view

# Data set to the name that tables have for it; those of the thesis first.
SETS = {
    "heart_statlog": "HEART",
    "sonar": "SONAR",
    "ionosphere": "IONOSPHERE",
    "wdbc": "WDBC",
    "breast_cancer_wisconsin": "BREAST",
    "wpbc": "WPBC",
    "german_numeric": "GERMAN",
    "monks3": "MONKS3",
    "spambase": "SPAMBASE",
}
MOST_POINTS = 1000
_SEED = 2010


@dataclass(frozen=True, repr=False)
class NearestGaussian(Gaussian):
    """exp(−‖x − z‖² / s²), s the mean distance of a training row to the nearest other one.

    ``Gaussian("nearest")`` has the mean of the squared distances in the place of s²: a wider one.
    """

    gamma: float | str | None = "nearest"

    def _resolve(self, rows: Rows) -> Kernel:
        return Gaussian(s=mean_nearest_distance(TableDistances(rows.values)))


def load_set(name: str, split: int) -> Sample:
    """Return a data set, its first class as −1; of a large one `MOST_POINTS`, drawn anew for each split."""
    data = load_data(name)
    assert data.y is not None
    rows = np.arange(len(data.y))
    if len(rows) > MOST_POINTS:
        rows = np.random.default_rng([_SEED, split]).permutation(rows)[:MOST_POINTS]
    return side_by_side({"all": data.X[rows]}, np.where(data.y[rows] == data.y.min(), -1, 1))


def three_views(sample: Sample, *, standardize: bool = True) -> list[View]:
    """Return the linear, the quadratic and the Gaussian kernel of all columns."""
    kernels = {"linear": Linear(), "quadratic": Polynomial(2), "Gaussian": NearestGaussian()}
    return [unit_view(name, kernel, standardize=standardize) for name, kernel in kernels.items()]

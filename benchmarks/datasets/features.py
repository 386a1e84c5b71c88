"""A standardized table of numbers and kernels on it, for fits from features."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_classification
from sklearn.preprocessing import StandardScaler

from multikernel import View
from multikernel.kernels import Gaussian, Kernel, Linear, Polynomial

WIDTHS = (0.25, 0.5, 1.0, 2.0, 4.0)  # of the Gaussians, in median distances
MANY_WIDTHS = (0.25, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0, 5.6)


def feature_table(n: int, seed: int) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """n rows of scikit-learn's synthetic classes, 20 standardized columns, and labels."""
    X, y = make_classification(n, 20, n_informative=8, flip_y=0.05, random_state=seed)
    return StandardScaler().fit_transform(X), y


def seven_kernels() -> list[View]:
    """Linear, quadratic and five Gaussians on all columns, standardized, of unit diagonal.

    They were the default kernels at 8f30f92, and are named here so that a later default changes no figure.
    """
    kernels: dict[str, Kernel] = {"linear": Linear(), "quadratic": Polynomial(2, gamma="scale")}
    kernels |= {f"gaussian-{width:g}": Gaussian(gamma="median", scale=width) for width in WIDTHS}
    return [
        View(name, kernel, transforms="unit_diagonal", standardize=True) for name, kernel in kernels.items()
    ]


def many_kernels(m: int) -> list[View]:
    """Three degrees and ten Gaussians on all columns, then a Gaussian on each column: the first m of them."""
    kernels = {f"degree-{k}": Linear() if k == 1 else Polynomial(k, gamma="scale") for k in (1, 2, 3)}
    kernels |= {f"gaussian-{width:g}": Gaussian(gamma="median", scale=width) for width in MANY_WIDTHS}
    everywhere = [View(name, kernel) for name, kernel in kernels.items()]
    single = [View(f"column-{k}", Gaussian(gamma="median"), [k]) for k in range(m - len(everywhere))]
    return (everywhere + single)[:m]

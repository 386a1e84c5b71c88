"""Two classes and a bank of Gaussians for discriminant analysis: the waveforms 0 and 1 of Breiman et al.

The features are standardised on the points drawn; the kernels are exp(−‖x − z‖² / σ²) with σ from 0.1 to 100
in equal steps of its logarithm. Where no folder has the file of the waveforms, as many are drawn from the
recipe that it was drawn from; every record says which.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from judges.programs.tasks import DiscriminantTask
from multikernel.datasets import load_dataset

FloatArray = NDArray[np.float64]

WAVEFORMS = ("waveform", "waveform_drawn")

_SEED = 0
_DRAWN = 3300  # about as many as the file has of the two classes
_WIDTHS = (-1.0, 2.0)  # of log10 σ


def draw_waveforms(n: int, seed: int = _SEED) -> tuple[FloatArray, NDArray[np.int64]]:
    """n points of the classes 0 and 1 in 21 features: random mixtures of two of three triangles, with noise.

    Class 0 mixes the first triangle with the second, class 1 the first with the third.
    """
    rng = np.random.default_rng(seed)
    place = np.arange(1, 22)
    first, second, third = (np.maximum(6.0 - np.abs(place - peak), 0.0) for peak in (11, 15, 7))
    codes = rng.integers(0, 2, n)
    share = rng.random((n, 1))
    other = np.where(codes[:, None] == 0, second, third)
    return share * first + (1.0 - share) * other + rng.normal(size=(n, 21)), codes


@cache
def waveform_rows() -> tuple[str, FloatArray, NDArray[np.int64]]:
    """Name, rows and codes of the waveforms that this machine has."""
    try:
        found = load_dataset("waveform")
    except ValueError:  # no folder has the file
        return "waveform_drawn", *draw_waveforms(_DRAWN)
    points, target = np.asarray(found.X, dtype=np.float64), np.asarray(found.y)
    return "waveform", points[target < 2], target[target < 2].astype(np.int64)


def gaussian_bank(points: FloatArray, m: int) -> FloatArray:
    """The m Gaussians, (m, n, n), exactly symmetric."""
    inner = points @ points.T
    squares = np.diag(inner)
    distances = np.maximum(squares[:, None] + squares[None, :] - 2.0 * inner, 0.0)
    distances = 0.5 * (distances + distances.T)
    np.fill_diagonal(distances, 0.0)
    return np.stack([np.exp(-distances / width**2) for width in np.logspace(*_WIDTHS, m)])


def discriminant_task(n: int, m: int, reg: float | None) -> DiscriminantTask:
    """n points drawn without replacement, m Gaussians."""
    dataset, points, codes = waveform_rows()
    drawn = np.random.default_rng(_SEED).permutation(len(points))[:n]
    points = points[drawn]
    points = (points - points.mean(axis=0)) / points.std(axis=0)
    return DiscriminantTask(dataset, gaussian_bank(points, m), codes[drawn], reg)

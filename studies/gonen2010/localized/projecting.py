"""What the projection figures have in common: the methods and the points."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from multikernel.kernels import Linear
from multikernel.localized.projection import ProjectionKernelClassifier
from multikernel.mkl.classifier import MKLClassifier
from multikernel.reduction import LFDA
from multikernel.views import View
from studies.data import load_data

Array = np.ndarray


@lru_cache(maxsize=2)
def load_columns(dataset: str) -> tuple[Array, Array]:
    """Return columns and classes of a data set."""
    data = load_data(dataset)
    assert data.y is not None
    return np.asarray(data.X, dtype=np.float64), np.asarray(data.y)


def linear_machine(C: float) -> MKLClassifier:
    """Return a linear machine on the columns as they come."""
    return MKLClassifier([View("linear", Linear(), None, None, standardize=False)], C=C)


def reduced_machine(reduction: str, n_components: int, C: float, first: int | None = None) -> Any:
    """Return a linear machine on the first dimensions of PCA or LFDA of standardised columns.

    Parameters
    ----------
    reduction : {"pca", "lfda"}
    n_components : int
    C : float
    first : int, default=None
        LFDA: that many principal components come before it.

    Returns
    -------
    Pipeline
    """
    if reduction == "pca":
        return make_pipeline(StandardScaler(), PCA(n_components, random_state=0), linear_machine(C))
    lfda = LFDA(n_components=n_components)
    steps = [] if first is None else [PCA(first, random_state=0)]
    return make_pipeline(StandardScaler(), *steps, lfda, linear_machine(C))


def projections(n_regions: int, n_components: int, C: float, **options: Any) -> ProjectionKernelClassifier:
    """Return linear projection kernels: GPK with one region, else LPK with a softmax gate."""
    return ProjectionKernelClassifier(n_regions=n_regions, n_components=n_components, C=C, **options)

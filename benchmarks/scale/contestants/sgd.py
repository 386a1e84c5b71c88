"""scikit-learn's SGDClassifier, pass after pass: its objective, times n C, is the plain sum's.

    (alpha/2) ‖w‖² + (1/n) Σ ℓ:  alpha = 1 / (n C) for the hinge, 2 / (n C) for the squared hinge

The squared hinge diverges at the learning rate that scikit-learn calls "optimal"; it is given a falling rate
that begins at the inverse of the curvature of one row instead.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import SGDClassifier

FloatArray = NDArray[np.float64]

_LOOKED_AT = 1000  # rows that tell the size of one


def sgd_passes(Z: FloatArray, y: FloatArray, C: float, loss: str, *, average: bool) -> Iterator[FloatArray]:
    """Coefficients after each pass; with `average`, the mean over the steps from the second pass on."""
    rate: dict[str, object] = {"learning_rate": "optimal", "alpha": 1.0 / (len(y) * C)}
    if loss == "squared_hinge":
        size = float(np.square(Z[:_LOOKED_AT]).sum(axis=1).mean()) + 1.0
        rate = {"learning_rate": "invscaling", "eta0": 0.5 / size, "alpha": 2.0 / (len(y) * C)}
    model = SGDClassifier(loss=loss, random_state=0, average=len(y) if average else False, **rate)
    while True:
        model.partial_fit(Z, y, classes=[-1.0, 1.0])
        yield model.coef_[0]

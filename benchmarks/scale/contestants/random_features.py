"""Random Fourier features of a Gaussian kernel as scMKL-style pipelines make them: cosines, then sines."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


def random_features(X: FloatArray, gamma: float, n_columns: int, seed: int) -> FloatArray:
    """Z with E[Z Z'] = exp(−gamma ‖x − z‖²): n_columns / 2 frequencies, one product and two maps."""
    rng = np.random.default_rng(seed)
    frequencies = np.sqrt(2.0 * gamma) * rng.normal(size=(X.shape[1], n_columns // 2))
    angles = X @ frequencies
    return np.hstack([np.cos(angles), np.sin(angles)]) / np.sqrt(n_columns // 2)

"""Posteriors at new samples, and the probability of a label under a normal score.

With the weights w_m of the kernels (as given, not scaled), that of the constant w_0, coefficients α and a
matrix A with A'A = C⁻¹ (or R), both of one output, a new sample has

    f_m ~ N(w_m k_m'α,  w_m k_m(x, x) − w_m² ‖A k_m‖²),          b ~ N(w_0 1'α, w_0 − w_0² ‖A 1‖²)
    f   ~ N(Σ of the means,  w_0 + Σ w_m k_m(x, x) − ‖A (w_0 1 + Σ w_m k_m)‖²)

The parts are not independent given the data: their variances do not add up to that of f.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import expit, log_ndtr

from ..._typing import Array

_NORMAL_NODES = np.arange(-9.0, 9.01, 0.25)
_LOGISTIC_NODES = np.arange(-40.0, 40.01, 0.5)


@dataclass(frozen=True, eq=False)
class AdditivePosterior:
    """What predictions need beside the kernels."""

    weights: Array  # (n_kernels,)
    constant: float  # w_0
    coefficients: Array  # (n_outputs, n)
    halves: Array  # (n_outputs, n, n), A of each


class Parts(NamedTuple):
    """Mean and standard deviation of each f_m, and of their sum with the intercept."""

    part_mean: Array  # (n_outputs, n_samples, n_kernels)
    part_std: Array
    mean: Array  # (n_outputs, n_samples)
    std: Array


def posterior_parts(
    kernels: Iterable[tuple[int, Array]], diagonals: Array, posterior: AdditivePosterior, *, each: bool
) -> Parts:
    """Posteriors at new samples.

    Parameters
    ----------
    kernels : pairs (m, K_m of shape (n_samples, n))
    diagonals : array (n_samples, n_kernels), k_m(x, x)
    posterior : AdditivePosterior
    each : whether the deviations of the single parts are wanted; else they are nan

    Examples
    --------
    >>> known = AdditivePosterior(np.ones(1), 0.0, np.ones((1, 1)), np.ones((1, 1, 1)))  # y = 1 without noise
    >>> parts = posterior_parts([(0, np.array([[1.0], [0.0]]))], np.ones((2, 1)), known, each=True)
    >>> parts.mean[0].tolist(), parts.std[0].tolist()
    ([1.0, 0.0], [0.0, 1.0])
    """
    n_outputs, n = posterior.coefficients.shape
    n_samples, n_kernels = diagonals.shape
    mean = np.zeros((n_outputs, n_samples, n_kernels))
    variance = np.zeros((n_outputs, n_samples, n_kernels))
    total = np.full((n_samples, n), posterior.constant)
    prior = posterior.constant + diagonals @ posterior.weights
    for m, K in kernels:
        weighted = posterior.weights[m] * K
        total += weighted
        mean[:, :, m] = posterior.coefficients @ weighted.T
        if each:
            own = posterior.weights[m] * diagonals[:, m]
            for output, half in enumerate(posterior.halves):
                variance[output, :, m] = own - np.square(weighted @ half.T).sum(axis=1)
    left = np.stack([prior - np.square(total @ half.T).sum(axis=1) for half in posterior.halves])
    deviation = np.sqrt(np.maximum(variance, 0.0)) if each else np.full_like(mean, np.nan)
    scores = posterior.coefficients @ total.T
    return Parts(mean, deviation, scores, np.sqrt(np.maximum(left, 0.0)))


def mean_sigmoid(mean: Array, std: Array) -> Array:
    """E σ(f) for f ~ N(mean, std²).

    By the trapezoidal rule, which is exact to rounding here: over f where it is narrow, and over the logistic
    density with Φ where it is wide.

    Examples
    --------
    >>> mean_sigmoid(np.array([0.0, 2.0]), np.array([5.0, 0.0])).round(6).tolist()
    [0.5, 0.880797]
    """
    heights = np.exp(-0.5 * _NORMAL_NODES**2)
    narrow = expit(mean[..., None] + std[..., None] * _NORMAL_NODES) @ (heights / heights.sum())
    logistic = expit(_LOGISTIC_NODES) * expit(-_LOGISTIC_NODES)
    wide_std = np.maximum(std, 1.0)[..., None]
    wide = np.exp(log_ndtr((mean[..., None] - _LOGISTIC_NODES) / wide_std)) @ (logistic / logistic.sum())
    return np.asarray(np.where(std < 1.0, narrow, wide))

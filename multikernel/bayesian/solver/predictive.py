"""What the posterior says of new samples: mean and variance of their outputs, probabilities of their classes.

With rows k_m of the kernels at a new sample, g_lm ~ N(k_m'a_l, σ²), f_l ~ N(e'g_l + b_l, 1/ε), and a and
(b, e) independent under q:

    E f_l    = ē'h_l + b̄_l,        h_lm = k_m'ā_l
    Var f_l  = (1_l, h_l)' Cov(b, e) (1_l, h_l) + Σ_mp M_mp k_m'Σ_a,l k_p + σ² tr M + 1/ε̄,     M = E ee'

which are exact moments of q. Of several outputs one variance is used, their mean, so that the most probable
class is that of the largest mean. Probabilities take f as normal with these moments:

    two classes   p(t) ∝ Φ((t E f − ν) / S);        more   p(c) ∝ P(f_c > f_j + ν for each other j)
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.special import log_ndtr, log_softmax

from ..._typing import Array
from .learn import BayesianResult
from .truncated import truncate_classes

_ROWS = 256


class Moments(NamedTuple):
    """Mean (n_samples, n_outputs) and variance (n_samples,)."""

    mean: Array
    variance: Array


def parts(kernels: dict[int, Array], model: BayesianResult) -> Array:
    """h, what each kernel says of each output (n_samples, n_outputs, n_kernels).

    ``kernels`` are arrays (n_samples, n) by the number of their kernel.
    """
    return np.stack([scale * (kernels[m] @ model.coefficients.T) for m, scale in enumerate(model.scales)], 2)


def predict_moments(kernels: dict[int, Array], model: BayesianResult) -> Moments:
    """Mean and variance of the outputs at new samples, from the kernels as in `parts`; see the module."""
    h = parts(kernels, model)
    mean = h @ model.weights + model.intercepts
    L = mean.shape[1]
    own = np.concatenate([np.broadcast_to(np.eye(L), (len(h), L, L)), h], axis=2)
    of_weights = np.einsum("nlv,vw,nlw->n", own, model.weights_cov, own, optimize=True) / L
    second = model.weights_cov[L:, L:] + np.outer(model.weights, model.weights)
    of_samples = np.concatenate([_forms(rows, second, model) for rows in _row_blocks(kernels)])
    return Moments(mean, of_weights + of_samples + model.spread * np.trace(second) + model.noise)


def _row_blocks(kernels: dict[int, Array]) -> Iterator[list[Array]]:
    ordered = [kernels[m] for m in sorted(kernels)]
    for start in range(0, max(len(ordered[0]), 1), _ROWS):
        yield [K[start : start + _ROWS] for K in ordered]


def _forms(rows: list[Array], second: Array, model: BayesianResult) -> Array:
    """Σ_mp M_mp k_m'Σ_a k_p for some rows, along the axes of M."""
    sizes, axes = np.linalg.eigh(second)
    total = np.zeros(len(rows[0]))
    for size, axis in zip(sizes, (axes * model.scales[:, None]).T, strict=True):
        mixed = sum(share * K for share, K in zip(axis, rows, strict=True))
        total += max(size, 0.0) * np.einsum("ni,ni->n", mixed @ model.coefficients_cov, mixed)
    return total


def log_probabilities(moments: Moments, margin: float) -> Array:
    """Logarithms of the probabilities of the classes (n_samples, n_classes) at the margin ν.

    The moments are of one output for two classes, else of one for each.

    Examples
    --------
    >>> far = Moments(np.array([[0.0, 0.0, 9.0]]), np.ones(1))
    >>> np.exp(log_probabilities(far, 0.0)).round(6).tolist()
    [[0.0, 0.0, 1.0]]
    """
    deviation = np.sqrt(moments.variance)
    if moments.mean.shape[1] == 1:
        mean = moments.mean[:, 0]
        logs = np.stack([log_ndtr((sign * mean - margin) / deviation) for sign in (-1.0, 1.0)], axis=1)
        return np.asarray(log_softmax(logs, axis=1))
    logs = np.empty_like(moments.mean)
    standard = (moments.mean / deviation[:, None]).T
    for c in range(len(standard)):
        codes = np.full(len(logs), c)
        logs[:, c] = truncate_classes(standard, codes, margin / deviation).log_mass
    return np.asarray(log_softmax(logs, axis=1))

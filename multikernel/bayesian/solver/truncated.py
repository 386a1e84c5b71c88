"""Normals of unit variance, truncated to the region of a label: log of their mass, and their mean.

    two classes     f ~ N(m, 1),  t f > ν                        Z = Φ(tm − ν)
    more            f ~ N(m, I),  f_y > f_c + ν for all c ≠ y    Z = E_u Π_{c≠y} Φ(u + m_y − m_c − ν)

with u ~ N(0, 1), and E f = m + ∇ log Z in both. The integral over u is by the trapezoidal rule, centred near
the mode of its integrand: that is log-concave with a curvature between 1 and k, and the rule converges
exponentially for it, to rounding at the step taken here.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import log_ndtr

from ..._typing import Array

_STEP = 0.5  # in units of the narrowest width, 1/√k
_REACH = 9.0  # in units of the widest, 1
_NEWTON = 30
_DEEP, _TERMS = -10.0, 60  # from where on the tail is a continued fraction, of so many terms
_LOG_ROOT_2PI = 0.5 * np.log(2.0 * np.pi)
_BLOCK = 2**21  # numbers of one block of the integral


class Truncated(NamedTuple):
    """log Z of each sample (n,), and the mean of each normal, of the shape of m."""

    log_mass: Array
    mean: Array


def truncate_binary(m: Array, signs: Array, margin: float) -> Truncated:
    """For two classes: m (n,), signs (n,) of ±1, the margin ν."""
    depth = signs * m - margin
    log_mass = log_ndtr(depth)
    near = m + signs * np.exp(_log_density(depth) - log_mass)
    deep = depth < _DEEP
    return Truncated(log_mass, np.where(deep, signs * (margin + _excess(np.where(deep, depth, _DEEP))), near))


def truncate_classes(m: Array, codes: Array, margin: float | Array) -> Truncated:
    """For more than two classes: m (n_classes, n), codes (n,) of 0 … n_classes − 1, ν a number or (n,).

    Examples
    --------
    >>> found = truncate_classes(np.zeros((3, 1)), np.array([1]), 0.0)
    >>> np.exp(found.log_mass).round(6), found.mean[:, 0].round(6)
    (array([0.333333]), array([-0.423142,  0.846284, -0.423142]))
    """
    k, n = m.shape
    others = np.arange(k)[:, None] != codes[None, :]
    ahead = (m[codes, np.arange(n)] - m).T[others.T].reshape(n, k - 1) - np.reshape(margin, (-1, 1))
    log_mass, fall = np.empty(n), np.empty((n, k - 1))
    for rows in _blocks(n, k):
        log_mass[rows], fall[rows] = _integrate(ahead[rows])
    mean = m.copy()
    mean.T[others.T] -= fall.ravel()
    mean[codes, np.arange(n)] += fall.sum(axis=1)
    return Truncated(log_mass, mean)


def _excess(depth: Array) -> Array:
    """d + φ(d)/Φ(d) far out in the tail, where the two cancel, by a continued fraction."""
    fraction = np.zeros_like(depth)
    for k in range(_TERMS, 0, -1):
        fraction = k / (fraction - depth)
    return fraction


def _log_density(x: Array) -> Array:
    return np.asarray(-0.5 * x * x - _LOG_ROOT_2PI)


def _nodes(k: int) -> Array:
    step = _STEP / np.sqrt(k)
    reach = int(np.ceil(_REACH / step))
    return step * np.arange(-reach, reach + 1)


def _blocks(n: int, k: int) -> list[slice]:
    size = max(1, _BLOCK // (k * _nodes(k).size))
    return [slice(start, start + size) for start in range(0, n, size)]


def _integrate(ahead: Array) -> tuple[Array, Array]:
    """log E_u Π_c Φ(u + d_c) of each row d (n, k − 1), and the derivative in each d_c."""
    nodes = _nodes(ahead.shape[1] + 1)
    u = _mode(ahead)[:, None] + nodes
    at = u[:, :, None] + ahead[:, None, :]
    logs = log_ndtr(at)
    total = _log_density(u) + logs.sum(axis=2)
    top = total.max(axis=1, keepdims=True)
    heights = np.exp(total - top)
    mass = heights.sum(axis=1)
    ratios = np.exp(_log_density(at) - logs)
    fall = np.einsum("nu,nuc->nc", heights, ratios) / mass[:, None]
    return top[:, 0] + np.log(mass * (nodes[1] - nodes[0])), fall


def _mode(ahead: Array) -> Array:
    """Near the mode of φ(u) Π_c Φ(u + d_c), by Newton steps: its log has a curvature of 1 or more."""
    u = np.maximum(0.0, -ahead.min(axis=1)) * (ahead.shape[1] / (ahead.shape[1] + 1.0))
    for _ in range(_NEWTON):
        at = u[:, None] + ahead
        ratio = np.exp(_log_density(at) - log_ndtr(at))
        slope = ratio.sum(axis=1) - u
        curvature = 1.0 + (ratio * (at + ratio)).sum(axis=1)
        step = slope / curvature
        u = u + step
        if np.abs(step).max() < 1e-3:
            break
    return u

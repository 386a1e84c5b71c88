"""Alignment of Σ_r w_r v_r v_r' with the classes of the labelled points, for two classes or more.

    A(w) = q'w / (‖T‖ √(w'Sw))      q_r = v_r'T v_r,   S_rs = (v_r'v_s)²   over the l labelled rows

The target T holds the inner products of the corners of a regular simplex, one corner for each of k classes:
1 for points of one class, −1/(k−1) for others. All classes count alike, and for two classes T = yy' with
y = ±1. With the sums s_cr of v_r over class c,

    q_r = k/(k−1) · (Σ_c s_cr² − (Σ_c s_cr)² / k) ≥ 0.
"""

import numpy as np

from ..._typing import Array
from ...core.alignment.measure import StackAlignment
from .separability import class_sums, space_starts


def target_products(V: Array, codes: Array, n_classes: int) -> Array:
    """q, (p,), of the labelled rows V (l, p).

    Examples
    --------
    >>> target_products(np.array([[1.0], [2.0], [5.0]]), np.array([0, 0, 1]), 2).tolist()
    [4.0]
    """
    sums = class_sums(V, codes, n_classes)
    return _scaled((sums**2).sum(axis=0), sums.sum(axis=0), n_classes)


def target_products_without_each(V: Array, codes: Array, n_classes: int) -> Array:
    """q of the others with one labelled point left out, for each in turn, (l, p); O(l p).

    Examples
    --------
    >>> target_products_without_each(np.array([[1.0], [2.0], [5.0]]), np.array([0, 0, 1]), 2).tolist()
    [[9.0], [16.0], [9.0]]
    """
    sums = class_sums(V, codes, n_classes)
    own = sums[codes]
    squares = (sums**2).sum(axis=0) - own**2 + (own - V) ** 2
    return _scaled(squares, sums.sum(axis=0) - V, n_classes)


def _scaled(squares: Array, totals: Array, k: int) -> Array:
    return np.maximum(k * squares - totals**2, 0.0) / (k - 1)


def target_norm(codes: Array, n_classes: int) -> float:
    """‖T‖ over the labelled points.

    Examples
    --------
    >>> target_norm(np.array([0, 1, 1]), 2)
    3.0
    """
    counts = np.bincount(codes).astype(float)
    same = float(counts @ counts)
    return float(np.sqrt(same + (codes.size**2 - same) / (n_classes - 1) ** 2))


def rank_one_alignment(V: Array, q: Array, norm: float, spaces: Array | None = None) -> StackAlignment:
    """The cosines of the matrices v_r v_r' over the rows V (l, p) with T and with one another.

    The columns of one eigenspace count as one matrix, the sum of theirs.

    Parameters
    ----------
    V : array (l, p), no column zero
    q : array (p,), the products with T
    norm : float, ‖T‖
    spaces : array (p,) of int or None, the eigenspace of each column, ascending from 0; None: each its own
    """
    if spaces is None or spaces[-1] == spaces.size - 1:
        norms = np.einsum("jr,jr->r", V, V)
        unit = V / np.sqrt(norms)
        pairs = (unit.T @ unit) ** 2
    else:
        starts = space_starts(spaces)
        products = np.add.reduceat(np.add.reduceat((V.T @ V) ** 2, starts, axis=0), starts, axis=1)
        norms = np.sqrt(products.diagonal())
        pairs, q = products / (norms * norms[:, None]), np.add.reduceat(q, starts)
    np.fill_diagonal(pairs, 1.0)
    return StackAlignment(q / (norms * norm), pairs, norms, norm)


def spectral_alignment_value(w: Array, V: Array, q: Array, norm: float) -> float:
    """A(w), without forming the matrix; 0 where it vanishes."""
    w = w / max(
        float(w.max()), np.finfo(float).tiny
    )  # its scale does not matter, and its square may overflow
    size = float(np.sqrt(max(float(w @ ((V.T @ V) ** 2 @ w)), 0.0))) * norm
    return float(q @ w) / size if size > 0.0 else 0.0

"""Soft labels: the loss of the support vector machine (PPSVM), and probabilities from near samples.

A soft label ŷ_i = P(+|x_i) − P(−|x_i) in [−1, 1] takes the place of the label ±1 in the constraints,
ŷ_i(f_i + b) ≥ ŷ_i²(1 − ξ_i). With the side s_i = sign ŷ_i,

    min  ½‖w‖² + Σ_i (C_i/|ŷ_i|) [|ŷ_i| − s_i(f_i + b)]₊
    max_β  ŷ'β − ½ β'Kβ   subject to   0 ≤ s_i β_i ≤ C_i/|ŷ_i|,  Σβ = 0:

a sample has to reach the margin |ŷ_i| only, and each unit that is missing costs the more, the smaller it is.
With ŷ_i = ±1 it is the hinge. Weights of samples alone cannot express it, for they leave the margin at 1.

The probabilities of the classes at the samples themselves come from the samples that are near,

    P(l | x_i) = Σ_j ρ_ij w_j [y_j = l] / Σ_j ρ_ij w_j

with the samples' weights w and, for the nearness ρ, one of

- neighbours: 1 for the samples nearest to x_i, itself included, up to a weight of k (k samples, where each
  weighs 1), and 0 for the others. Samples at the same distance as the last share what is left of k, so that
  the order of the samples decides nothing, and a weight of two is exactly a repeated sample;
- Parzen windows: exp(−‖x_i − x_j‖²/s²), itself included.

Distances are taken some rows at a time: no second matrix of all pairs is kept beside the kernels.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse

from .._typing import Array
from ..core.svm.losses import _PricedLoss, _weighted_quantile
from ..kernels._rows import direct_distances, dot_products, row_blocks, squared_norms

_BLOCK_ELEMENTS = 1 << 20
_LEVEL = 1e-9  # squared distances that differ by less, relatively, differ by rounding
_FEW_COLUMNS = 16  # up to here differences cost no more than dot products
_CANCELLED = 1e-5  # relative to ‖x‖² + ‖z‖²: smaller squares are not exact to _LEVEL by dot products
_ROUNDING = 64.0  # times the precision of a kernel: squared distances below are zero


@dataclass(frozen=True)
class PosteriorHinge(_PricedLoss):
    """The hinge of soft labels; ``target`` holds ŷ, not zero, ``C`` one number for each sample (or for all).

    Examples
    --------
    >>> loss = PosteriorHinge(np.array([1.0, -0.5]), 2.0)
    >>> loss.lower.tolist(), loss.upper.tolist()
    ([0.0, -4.0], [2.0, 0.0])
    >>> loss.risk(np.zeros(2))  # the bias -0.5 meets the second margin
    (3.0, -0.5)
    """

    @cached_property
    def _prices(self) -> Array:
        """What one unit of missing margin costs."""
        return np.asarray(self._C / np.abs(self.target))

    @property
    def lower(self) -> Array:
        return np.where(self.target > 0, 0.0, -self._prices)

    @property
    def upper(self) -> Array:
        return np.where(self.target > 0, self._prices, 0.0)

    def risk(self, scores: Array) -> tuple[float, float]:
        y, prices = self.target, self._prices
        b = _weighted_quantile(y - scores, prices, float(prices[y > 0].sum()))
        missing = np.maximum(np.sign(y) * (y - scores - b), 0.0)
        return float(prices @ missing), b

    def restrict(self, index: Array, factor: float) -> "PosteriorHinge":
        return PosteriorHinge(self.target[index], self._C[index] * factor)

    def rescaled(self, kernel_scale: float, target_scale: float) -> "PosteriorHinge":
        return PosteriorHinge(self.target / target_scale, self._C * (kernel_scale / target_scale**2))


# ------------------------------------------------------------------ probabilities from near samples
@dataclass(frozen=True)
class TableDistances:
    """Between the rows of a table (n, d) of numbers, an array or a sparse matrix in CSR format.

    ``block``: squares from some rows to all, (n_rows, n); exactly 0 from a sample to itself.
    """

    table: Any

    @property
    def n(self) -> int:
        return int(self.table.shape[0])

    def block(self, rows: slice) -> Array:
        part = self.table[rows]
        squares = np.empty((part.shape[0], self.n))
        if scipy.sparse.issparse(part) or part.shape[1] <= _FEW_COLUMNS:
            direct_distances("sqeuclidean", part, self.table, squares)
            return squares
        lengths = self._sq_norms[rows, None] + self._sq_norms
        dot_products(part, self.table, squares)
        np.subtract(lengths, 2.0 * squares, out=squares)
        near, to = np.nonzero(squares <= _CANCELLED * lengths)  # few, unless most samples agree
        for pairs in row_blocks(near.size, part.shape[1], _BLOCK_ELEMENTS):
            squares[near[pairs], to[pairs]] = squared_norms(part[near[pairs]] - self.table[to[pairs]])
        return squares

    @cached_property
    def _sq_norms(self) -> Array:
        return squared_norms(self.table)


@dataclass(frozen=True)
class KernelDistances:
    """k(x, x) + k(z, z) − 2 k(x, z) in the feature space of the mean of a stack (n_kernels, n, n).

    Each kernel is divided by its mean diagonal first, so that none counts for its size.
    """

    Ks: Array

    @property
    def n(self) -> int:
        return int(self.Ks.shape[1])

    def block(self, rows: slice) -> Array:
        total: Any = 0.0
        for K in self.Ks:
            diagonal = np.diagonal(K).astype(float)
            size = float(diagonal.mean()) or 1.0
            lengths = (diagonal[rows, None] + diagonal) / size
            squares = lengths - 2.0 * (np.asarray(K[rows], float) / size)
            squares[squares <= _ROUNDING * np.finfo(K.dtype).eps * lengths] = 0.0
            total = total + squares
        return np.asarray(total)


Distances = TableDistances | KernelDistances


def neighbour_posteriors(
    distances: Distances, codes: Array, n_classes: int, n_neighbors: float = 9, weights: Array | None = None
) -> Array:
    """The share of each class among the nearest samples, (n, n_classes).

    ``codes`` (n,) are the classes, 0 to n_classes − 1; ``n_neighbors`` includes the sample itself, and is all
    samples where there are fewer; ``weights`` (n,): as how many neighbours each sample counts.

    Examples
    --------
    >>> line = TableDistances(np.array([[0.0], [1.0], [3.0], [4.0]]))
    >>> neighbour_posteriors(line, np.array([0, 0, 1, 1]), 2, 3)[:, 1].round(3).tolist()
    [0.333, 0.333, 0.667, 0.667]
    """
    w = np.ones(distances.n) if weights is None else weights / np.max(weights)
    unit = 1.0 if weights is None else float(np.max(weights))
    k = min(n_neighbors / unit, float(w.sum()))

    def nearness(squares: Array) -> Array:
        furthest = _reach(squares, w, k)
        inside = squares < (1.0 - _LEVEL) * furthest
        level = ~inside & (squares <= (1.0 + _LEVEL) * furthest)
        left = np.maximum(k - inside @ w, 0.0) / (level @ w)
        return np.asarray(inside + level * np.minimum(left, 1.0)[:, None])

    return _shares(distances, nearness, codes, n_classes, weights)


def _reach(squares: Array, weights: Array, mass: float) -> Array:
    """How far each row has to go until the weight of the samples within is ``mass``, (n_rows, 1)."""
    enough = np.cumsum(np.sort(weights)) >= (1.0 - _LEVEL) * mass  # even if the lightest are the nearest
    count = int(np.argmax(enough)) + 1
    nearest = np.argpartition(squares, count - 1, axis=1)[:, :count]
    lengths = np.take_along_axis(squares, nearest, axis=1)
    order = np.argsort(lengths, axis=1, kind="stable")
    weights_met = np.cumsum(np.take_along_axis(weights[nearest], order, axis=1), axis=1)
    last = np.argmax(weights_met >= (1.0 - _LEVEL) * mass, axis=1)[:, None]
    return np.take_along_axis(np.take_along_axis(lengths, order, axis=1), last, axis=1)


def parzen_posteriors(
    distances: Distances, codes: Array, n_classes: int, width: float, weights: Array | None = None
) -> Array:
    """The share of each class in the density of Gaussian windows exp(−‖x − x_j‖²/width²), (n, n_classes).

    ``codes`` (n,) are the classes, 0 to n_classes − 1, ``weights`` (n,) those of the samples' windows.

    Examples
    --------
    >>> line = TableDistances(np.array([[0.0], [1.0], [3.0]]))
    >>> parzen_posteriors(line, np.array([0, 1, 1]), 2, 1.0)[:, 1].round(3).tolist()
    [0.269, 0.735, 1.0]
    """

    def nearness(squares: Array) -> Array:
        with np.errstate(over="ignore", under="ignore"):
            return np.exp(-(squares / width / width))  # a width whose square underflows is none too small

    return _shares(distances, nearness, codes, n_classes, weights)


def mean_nearest_distance(distances: Distances) -> float:
    """The mean distance of the samples to the nearest other one: the width of the windows by default.

    The mean of all distances but zeros where it is zero, and 1 where all samples agree.

    Examples
    --------
    >>> mean_nearest_distance(TableDistances(np.array([[0.0], [1.0], [4.0]])))
    1.6666666666666667
    """
    nearest, total, n_apart = [], 0.0, 0
    for rows, squares in _blocks(distances):
        lengths = np.sqrt(squares)
        total += float(lengths.sum())
        n_apart += int(np.count_nonzero(lengths))
        lengths[np.arange(len(lengths)), np.arange(rows.start, rows.stop)] = np.inf
        nearest.append(lengths.min(axis=1))
    if n_apart == 0:
        return 1.0
    return float(np.concatenate(nearest).mean()) or total / n_apart


def _blocks(distances: Distances) -> Iterator[tuple[slice, Array]]:
    for rows in row_blocks(distances.n, distances.n, _BLOCK_ELEMENTS):
        yield rows, distances.block(rows)


def _shares(
    distances: Distances,
    nearness: Callable[[Array], Array],
    codes: Array,
    n_classes: int,
    weights: Array | None,
) -> Array:
    """Σ_j ρ_ij w_j [y_j = l] for each class, divided by their sum."""
    votes = np.zeros((distances.n, n_classes))
    votes[np.arange(distances.n), codes] = 1.0 if weights is None else weights / np.max(weights)
    mass = np.concatenate([nearness(squares) @ votes for _, squares in _blocks(distances)])
    return np.asarray(mass / mass.sum(axis=1, keepdims=True))

"""Permutation tests of views: does a view have to do with the target, alone or beside the other views?

With Gram matrices K_m and targets Y (n, n_columns), all centered, the statistic of a view is

    T_m = Σ_c y_c' K_m y_c,

n² times the empirical Hilbert-Schmidt independence criterion with a linear kernel of the targets, which is
the numerator of the centered alignment. The p-value is the share of permutations of the targets, those as
they are included, whose statistic is at least as large.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np
from scipy.linalg import eigh

from ..._typing import Array

_ENTRIES = 2**21  # of permuted targets in memory at a time
_FIRST_BATCH = 128
_TIE = 1e-9  # of the largest value that a statistic can have: smaller differences are rounding
_LEAST_SHARE = 1e-8
_RIDGES = 10.0 ** np.arange(-4.0, 3.0)  # of the mean eigenvalue


def centered(K: Array) -> Array:
    """H K H with H = I − 11'/n: the kernel of samples whose mean is at the origin.

    Examples
    --------
    >>> centered(np.array([[2.0, 0.0], [0.0, 2.0]])).tolist()
    [[1.0, -1.0], [-1.0, 1.0]]
    """
    rows = K - K.mean(axis=0, keepdims=True)
    return np.asarray(rows - rows.mean(axis=1, keepdims=True))


def target_columns(y: Array, *, classes: bool) -> Array:
    """Centered targets (n, n_columns): values, or indicators of classes over the root of their share.

    Examples
    --------
    >>> target_columns(np.array(["a", "b"]), classes=True).round(2).tolist()
    [[0.71, -0.71], [-0.71, 0.71]]
    """
    if classes:
        _, codes = np.unique(y, return_inverse=True)
        shares = np.bincount(codes) / codes.size
        columns = np.eye(shares.size)[codes.ravel()] / np.sqrt(shares)
    else:
        columns = np.asarray(y, dtype=np.float64).reshape(len(y), -1)
        spread = columns.std(axis=0)
        columns = columns / np.where(spread > 0.0, spread, 1.0)
    return np.asarray(columns - columns.mean(axis=0))


def within_groups(columns: Array, numbers: Array | None) -> Array:
    """Columns less the mean of each group; as they are without groups.

    Examples
    --------
    >>> within_groups(np.array([[1.0], [3.0], [5.0]]), np.array([0, 0, 1])).ravel().tolist()
    [-1.0, 1.0, 0.0]
    """
    if numbers is None:
        return columns
    sums = np.zeros((numbers.max() + 1, columns.shape[1]))
    np.add.at(sums, numbers, columns)
    return np.asarray(columns - (sums / np.bincount(numbers)[:, None])[numbers])


# ------------------------------------------------------------------ permutations
class Permutations:
    """Orders of n samples in batches, the same for all views: all where they are few, else drawn ones.

    The first of all is the identity. With the `numbers` of groups, samples stay in their group.
    """

    def __init__(self, n: int, n_permutations: int, seed: int, numbers: Array | None = None) -> None:
        self.numbers = numbers
        self.all = numbers is None and n <= 12 and math.factorial(n) <= n_permutations + 1
        self.n, self.n_permutations = n, n_permutations
        self._rng = np.random.default_rng(seed)
        self._drawn: list[Array] = []
        if self.all:
            self.n_permutations = math.factorial(n) - 1
            self._drawn = [np.array(list(itertools.permutations(range(n))))]

    def __iter__(self) -> Iterator[Array]:
        """Batches (n_batch, n), each larger than the one before."""
        number = total = 0
        while total < self.n_permutations + 1:
            if number == len(self._drawn):
                self._drawn.append(self._draw(self.n_permutations + 1 - total))
            yield self._drawn[number]
            total += len(self._drawn[number])
            number += 1

    def _draw(self, left: int) -> Array:
        size = min(_FIRST_BATCH * 2 ** len(self._drawn), max(_ENTRIES // self.n, 1), left)
        batch = np.tile(np.arange(self.n, dtype=np.int32), (size, 1))
        start = 0 if self._drawn else 1
        if self.numbers is None:
            batch[start:] = self._rng.permuted(batch[start:], axis=1)
        else:
            by_group = np.argsort(self.numbers, kind="stable")
            drawn = self.numbers + self._rng.random((size - start, self.n))
            batch[start:, by_group] = np.argsort(drawn, axis=1)
        return batch


def permutation_test(K: Array, Y: Array, permutations: Permutations, *, enough: int) -> tuple[float, float]:
    """The statistic of a view for targets (n, n_columns), and its p-value.

    Drawing ends at the draw l at which ``enough`` statistics were at least as large, with p = enough / l, as
    Besag and Clifford have it; else p = (1 + number as large) / (1 + n_permutations).

    Examples
    --------
    >>> K = np.outer([-1.0, -1.0, 1.0, 1.0], [-1.0, -1.0, 1.0, 1.0])
    >>> Y = target_columns(np.array([0.0, 0.0, 1.0, 1.0]), classes=False)
    >>> statistic, p = permutation_test(K, Y, Permutations(4, 100, seed=0), enough=20)
    >>> statistic, round(p, 3)
    (16.0, 0.333)
    """
    observed, as_large, total = 0.0, 0, 0
    rounding = _TIE * np.sqrt(np.sum(K * K)) * np.sum(Y * Y)
    for number, batch in enumerate(permutations):
        values = statistics(K, Y, batch)
        if number == 0:
            observed = float(values[0])
        large = values >= observed - rounding
        places = np.flatnonzero(large)
        if not permutations.all and as_large + places.size > enough:  # the identity is one of them
            return observed, enough / (total + int(places[enough - as_large]))
        as_large += places.size
        total += len(values)
    return observed, as_large / total


def statistics(K: Array, Y: Array, batch: Array) -> Array:
    """Σ_c y_c' K y_c of targets in each of the orders, (n_batch,)."""
    total = np.zeros(len(batch))
    for column in Y.T:
        permuted = column[batch]
        total += np.einsum("ij,ij->i", permuted @ K, permuted)
    return total


# ------------------------------------------------------------------ what the other views do not say
def residual_targets(grams: Array, Y: Array) -> list[Array]:
    """For each view, what kernel ridge regression on the other views leaves of the targets.

    The kernel of the others is Σ_k a_k K_k with their centered alignments a_k to the targets, so that views
    that say nothing count little; the ridge is that of the smallest leave-one-out error. Neither reads the
    view itself.
    """
    norms = np.array([np.sqrt(np.sum(K * K)) for K in grams])
    values = np.array([np.einsum("ic,ij,jc->", Y, K, Y, optimize=True) for K in grams])
    size = np.sqrt(np.sum((Y.T @ Y) ** 2))
    shares = np.maximum(values / np.where(norms > 0.0, norms, np.inf) / size, 0.0)
    scales = shares / np.where(norms > 0.0, norms, np.inf)
    total = np.tensordot(scales, grams, axes=1)
    return [_residuals(total - scale * K, Y) for scale, K in zip(scales, grams, strict=True)]


def _residuals(K: Array, Y: Array) -> Array:
    """Y − K (K + λI)⁻¹ Y, λ that of the smallest leave-one-out error; Y itself where K says nothing."""
    values, vectors = eigh(K, check_finite=False)
    values = np.maximum(values, 0.0)
    if not values.sum() > 0.0:
        return Y
    inner, squares = vectors.T @ Y, vectors * vectors
    best, least = Y, np.sum(Y * Y)
    for ridge in _RIDGES * values.mean():
        shrunk = ridge / (values + ridge)
        rest = vectors @ (shrunk[:, None] * inner)
        kept = np.maximum(squares @ shrunk - 1.0 / len(Y), _LEAST_SHARE)  # 1 − H_ii, the mean included
        left_out = rest / kept[:, None]
        error = np.sum(left_out * left_out)
        if error < least:
            best, least = rest, error
    return np.asarray(best - best.mean(axis=0))

"""Kernels exp(−γ d(x, z)) of one distance, γ in an interval: the largest quadratic form, with a bound.

For dual variables β_t of some machines and W = Σ_t β_t β_t', the quadratic form of the kernel of width γ is

    q(γ) = h(γ) / v(γ),   h(γ) = Σ_ij W_ij e^{−γ d_ij},   v(γ) = 1 − Σ_ij e^{−γ d_ij} / n²

where kernels are divided by their variance v, and v = 1 where they are not.

**Bound.** L bounds q on an interval [a, b] if and only if F = h − L v ≤ 0 there. F = P − N + constant, where
P and N are sums of exponentials with positive weights: both are convex. P is below its chord, N above its
tangents at a and at b, so that F is below the smaller one of two linear functions, whose largest value is at
a, at b, or where they cross. Such bounds are tight to second order in b − a; intervals with a bound above L
are halved until it is below L plus a tolerance.

**Sums in bins.** A sum over pairs is needed at hundreds of γ. Distances are therefore put into bins whose
edges are a tenth apart, and in each bin e^{−γ(c+δ)} = e^{−γc} Σ_k (−γδ)^k / k! takes the place of the
exponential, c the center of the bin. With ten terms the error is below 1e-12 of Σ |W_ij|, which is added to
each bound; moments Σ W_ij δ^k of the bins are computed once for each β.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar

from ..._numba import compiled, read_only
from ..._typing import Array

_STEP = 1.1  # ratio of the edges of a bin
_FIRST = 0.05  # upper edge of the first bin, at the largest width
_LAST = 60.0  # exponents beyond it count as infinite
_TERMS = 10
_ROUNDING = 1e-12  # of Σ |W|: truncated expansions (below 2e-14), their slopes, and rounding
_GRID = 65
_MOST_INTERVALS = 20_000
_LEVELS = 60
_NEAR = 0.95  # a point of the grid with this share of a level may stand beside a maximum above it
_BLOCK = 256  # points that are evaluated at once


class Candidate(NamedTuple):
    """A local maximum: the width γ, and the quadratic form there."""

    gamma: float
    value: float


class _Sums(NamedTuple):
    """P, N, and their slopes, at some points."""

    plus: Array
    minus: Array
    plus_slope: Array
    minus_slope: Array


@compiled
def _moments(exponents, bins, centers, duals, rows, terms):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Σ 2 W_ij (1 − x_ij / c)^k over pairs i < j of ``rows``, by bin and sign, and Σ |W_ij|."""
    found = np.zeros((2, centers.size, terms))
    total = 0.0
    for a in range(rows.size):
        i = rows[a]
        for b in range(a):
            j = rows[b]
            w = 0.0
            for t in range(duals.shape[0]):
                w += duals[t, i] * duals[t, j]
            w *= 2.0
            total += abs(w)
            place = bins[i, j]
            if place < 0 or w == 0.0:
                continue
            sign = 0 if w > 0.0 else 1
            power = abs(w)
            offset = 1.0 - exponents[i, j] / centers[place]
            for k in range(terms):
                found[sign, place, k] += power
                power *= offset
    return found, total


class WidthFamily:
    """All kernels of one distance whose widths are in an interval, on the training samples.

    Parameters
    ----------
    exponents : array (n, n), symmetric
        low · d(x_i, x_j); infinite where the kernel of the smallest width is 0.
    low, high : float, the interval of γ
    by_variance : bool
        Whether kernels are divided by their variance.
    """

    def __init__(self, exponents: Array, low: float, high: float, by_variance: bool) -> None:
        self.exponents, self.low, self.high, self.by_variance = exponents, low, high, by_variance
        self.n = len(exponents)
        self._make_bins()
        ones, _ = self._collect(np.ones((1, self.n)))
        self._all = ones[0] / self.n**2  # the share of pairs i ≠ j in each bin

    def _make_bins(self) -> None:
        ratio = self.high / self.low
        first = _FIRST / ratio
        finite = self.exponents[self.exponents <= _LAST]
        largest = max(float(finite.max(initial=0.0)), first)
        n_edges = int(np.ceil(np.log(largest / first) / np.log(_STEP))) + 1
        edges = first * _STEP ** np.arange(n_edges + 1)
        lower = np.append(0.0, edges[:-1])
        self.centers = 0.5 * (lower + edges)
        bins = np.searchsorted(edges, self.exponents)
        bins[self.exponents > _LAST] = -1
        self._bins = bins.astype(np.int16)

    def _collect(self, duals: Array) -> tuple[Array, float]:
        rows = np.flatnonzero(duals.any(axis=0))
        return _moments(
            read_only(self.exponents), self._bins, self.centers, np.ascontiguousarray(duals), rows, _TERMS
        )

    # ------------------------------------------------------------------ kernels
    @property
    def center(self) -> float:
        """The geometric mean of the interval."""
        return float(np.sqrt(self.low * self.high))

    def gram(self, gamma: float) -> Array:
        """The kernel of one width (n, n)."""
        K = self._plain(gamma)
        return K / (1.0 - K.mean()) if self.by_variance else K

    def mean(self, gamma: float) -> float:
        """The mean entry of the kernel of one width, before it is divided."""
        return float(self._plain(gamma).mean())

    def _plain(self, gamma: float) -> Array:
        return np.exp(self.exponents * (-gamma / self.low))

    def forms(self, duals: Array) -> "Forms":
        """The quadratic forms of dual variables (n_outputs, n) as a function of the width."""
        moments, size = self._collect(duals)
        return Forms(self, moments, float((duals * duals).sum()), _ROUNDING * size)


@dataclass(frozen=True)
class Forms:
    """Quadratic forms Σ_t β_t'K_γ β_t of one family, as a function of γ."""

    family: WidthFamily
    moments: Array  # (2, n_bins, terms), of positive and of negative products of duals
    diagonal: float  # Σ_t ‖β_t‖²
    slack: float  # error of h

    # ------------------------------------------------------------------ values
    def _sums(self, scales: Array) -> _Sums:
        """P and N of h, and the sums of all pairs, at γ = scale · low; columns (plus, minus, all)."""
        blocks = [self._block(scales[k : k + _BLOCK]) for k in range(0, scales.size, _BLOCK)]
        values, slopes = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
        return _Sums(values[:, [0, 2]], values[:, 1], slopes[:, [0, 2]], slopes[:, 1])

    def _block(self, scales: Array) -> tuple[Array, Array]:
        centers = self.family.centers
        u = scales[:, None] * centers
        columns = np.stack([*self.moments, self.family._all])  # (3, n_bins, terms)
        values, slopes = np.zeros((scales.size, 3)), np.zeros((scales.size, 3))
        term = np.exp(-u)  # e^{−u} u^k / k!
        lower = np.zeros_like(term)
        for k in range(_TERMS):
            values += term @ columns[:, :, k].T
            slopes += ((lower - term) * centers) @ columns[:, :, k].T
            lower = term
            term = term * u / (k + 1)
        return values, slopes

    def __call__(self, gammas: Array) -> Array:
        """q at some widths."""
        sums = self._sums(np.atleast_1d(gammas) / self.family.low)
        return self._ratio(sums)

    def _ratio(self, sums: _Sums) -> Array:
        h = self.diagonal + sums.plus[:, 0] - sums.minus
        return np.asarray(h / self._variance(sums))

    def _variance(self, sums: _Sums) -> Array:
        if not self.family.by_variance:
            return np.ones(sums.minus.size)
        return 1.0 - 1.0 / self.family.n - sums.plus[:, 1]

    # ------------------------------------------------------------------ search
    def candidates(self, above: float) -> list[Candidate]:
        """Local maxima larger than ``above``, and the best point in any case; the largest first."""
        low, high = self.family.low, self.family.high
        grid = np.geomspace(low, high, _GRID)
        values = self(grid)
        padded = np.concatenate([[-np.inf], values, [-np.inf]])
        peaks = np.flatnonzero((values >= padded[:-2]) & (values >= padded[2:]))
        top = int(values.argmax())
        found = []
        for k in peaks:
            if values[k] > _NEAR * above or k == top:
                found.append(self._refined(grid, values, int(k)))
        return sorted(found, key=lambda candidate: -candidate.value)

    def _refined(self, grid: Array, values: Array, k: int) -> Candidate:
        """The maximum between the neighbors of a point of the grid."""
        ends = np.log([grid[max(k - 1, 0)], grid[min(k + 1, grid.size - 1)]])
        found = minimize_scalar(
            lambda t: -self(np.exp([t]))[0], bounds=ends, method="bounded", options={"xatol": 1e-5}
        )
        if -found.fun > values[k]:
            return Candidate(float(np.exp(found.x)), float(-found.fun))
        return Candidate(float(grid[k]), float(values[k]))

    def bound(self, level: float, tol: float) -> float:
        """An upper bound of q over the interval: at most ``level`` + ``tol``, unless q exceeds ``level``.

        Where the number of intervals is used up, the bound is what those that are left say.
        """
        ratio = self.family.high / self.family.low
        ends = np.geomspace(1.0, ratio, _GRID)
        a, b = ends[:-1], ends[1:]
        bound, n_seen = level, 0
        for _ in range(_LEVELS):
            excess = self._excess(a, b, level)
            n_seen += a.size
            open_ = excess > tol
            if open_.any() and n_seen < _MOST_INTERVALS:
                bound = max(bound, level + float(excess[~open_].max(initial=0.0)))
                a, b = a[open_], b[open_]
                middle = np.sqrt(a * b)
                reached = self(middle * self.family.low).max()
                if reached > level + tol:  # no level: what is left only tells by how much
                    tol = max(tol, 1.1 * float(reached - level))
                a, b = np.concatenate([a, middle]), np.concatenate([middle, b])
                continue
            return max(bound, level + float(excess.max(initial=0.0)))
        return max(bound, level + float(self._excess(a, b, level).max(initial=0.0)))

    def _excess(self, a: Array, b: Array, level: float) -> Array:
        """By how much q may exceed the level on each of the intervals [a, b], at least 0."""
        points, places = np.unique(np.concatenate([a, b]), return_inverse=True)
        sums = self._sums(points)
        n, by_variance = self.family.n, self.family.by_variance
        plus, slope = sums.plus[:, 0], sums.minus_slope
        constant = self.diagonal - level
        if by_variance:
            plus = plus + level * sums.plus[:, 1]
            constant = self.diagonal - level * (1.0 - 1.0 / n)
        left, right = places[: a.size], places[a.size :]
        width = b - a
        rise = (plus[right] - plus[left]) / width
        # the two linear functions at a, and their slopes
        first = plus[left] - sums.minus[left], rise - slope[left]
        second = plus[left] - (sums.minus[right] - slope[right] * width), rise - slope[right]
        at_a = np.minimum(first[0], second[0])
        at_b = np.minimum(first[0] + first[1] * width, second[0] + second[1] * width)
        with np.errstate(divide="ignore", invalid="ignore"):
            crossing = (second[0] - first[0]) / (first[1] - second[1])
        inside = (crossing > 0.0) & (crossing < width)
        between = np.where(inside, first[0] + first[1] * np.where(inside, crossing, 0.0), -np.inf)
        largest = np.maximum(np.maximum(at_a, at_b), between) + constant + self.slack
        if by_variance:
            largest = largest + _ROUNDING * abs(level)
        return np.maximum(largest, 0.0) / self._variance(sums)[left]

"""The best set of kernel weights and the best alpha of each target, by leave-one-out or folds.

One pass over the candidates: each is decomposed once, which serves all alphas and targets. With screening,
estimates of the leave-one-out errors of all alphas and targets come first (one product), and exact errors are
computed where the estimate is near the least of the target until then. The choice is by exact errors alone.
What the best model of a target needs is kept, so that nothing is decomposed twice.

Generalized cross-validation as the estimate was tried: samples that no other is like have leverages far above
the mean, and it chose alphas that are too small (`side_effects_liu`: held-out R² 0.067 beside 0.082).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.linalg

from ...._typing import Array
from .basis import Basis
from .spectrum import Spectrum

_MARGIN = 0.02  # of the least screening error of a target: exact errors are computed within it
_MOST_ALPHAS = 3  # exact errors of one target and candidate
_BATCH_NUMBERS = 4_000_000  # in one block of samples and targets


@dataclass
class Chosen:
    """What was chosen for each of T targets, and the errors on the way.

    Errors are mean squares of leave-one-out residuals, weighted by sample, or means over folds of these.
    """

    errors: Array  # (T,), of the choice
    candidates: Array  # (T,), its number
    alphas: Array  # (T,), the number of its alpha
    duals: Array  # (n, T), P r·y
    residuals: Array  # (n_rows, T), y minus the prediction by a model that did not see the row
    table: Array  # (n_candidates, T), the least error of each candidate; NaN where none was computed
    n_tried: int = 0  # candidates


@dataclass(frozen=True)
class Criterion:
    """Leave-one-out, or folds of places in the samples of the basis; whether to screen.

    ``rows``: the sample of each row and the weight of the row, where samples may stand for several rows; by
    default each row is a sample.
    """

    folds: Sequence[Array] | None = None
    screen: bool = True
    rows: tuple[Array, Array] | None = None

    def judge(self, spectrum: Spectrum, alphas: Array) -> "_LeaveOneOut | _Folds":
        """What computes exact errors at one set of weights."""
        if self.folds is None:
            return _LeaveOneOut(spectrum, alphas, self.rows)
        return _Folds(spectrum, self.folds)


def search(
    basis: Basis,
    candidates: Array,
    alphas: Array,
    criterion: Criterion,
    note: Callable[[int, Array], bool],
) -> Chosen:
    """Try the candidates (C, m) in their order with all alphas, until ``note`` asks to stop.

    ``note`` gets the number of the candidate that was tried and the least errors until then.
    """
    n, T = basis.n_samples, basis.targets.shape[1]
    dtype = basis.grams.dtype
    chosen = Chosen(
        np.full(T, np.inf),
        np.zeros(T, np.intp),
        np.zeros(T, np.intp),
        np.zeros((n, T), dtype),
        np.full((n if criterion.rows is None else criterion.rows[0].size, T), np.nan, dtype),
        np.full((len(candidates), T), np.nan),
    )
    screened = np.full(T, np.inf)
    width = max(_BATCH_NUMBERS // max(n, 1), 1)
    for number, weights in enumerate(candidates):
        spectrum = Spectrum.at(basis, weights)
        judge = criterion.judge(spectrum, alphas)
        for start in range(0, T, width):
            batch = slice(start, min(start + width, T))
            Z = spectrum.rotate(batch)
            wanted = np.ones((alphas.size, Z.shape[1]), bool)
            if criterion.screen and isinstance(judge, _LeaveOneOut):
                wanted = _near(spectrum.screen(Z, batch, alphas, judge.factors), screened[batch])
            _try(spectrum, judge, Z, batch, (number, alphas, wanted), chosen)
        chosen.n_tried = number + 1
        if note(number, chosen.errors * basis.scales**2):
            break
    return _in_units(chosen, basis.scales)


def _in_units(chosen: Chosen, scales: Array) -> Chosen:
    """The choice in the units of the targets."""
    chosen.errors, chosen.table = chosen.errors * scales**2, chosen.table * scales**2
    chosen.duals = chosen.duals * scales
    chosen.residuals = chosen.residuals * scales
    return chosen


def _near(errors: Array, least: Array) -> Array:
    """Which alphas of which targets are judged exactly; ``least`` is brought up to date."""
    np.minimum(least, errors.min(axis=0), out=least)
    near = errors <= (1.0 + _MARGIN) * least
    if len(errors) > _MOST_ALPHAS:
        near &= errors <= np.partition(errors, _MOST_ALPHAS - 1, axis=0)[_MOST_ALPHAS - 1]
    return near


def _try(
    spectrum: Spectrum,
    judge: "_LeaveOneOut | _Folds",
    Z: Array,
    batch: slice,
    trial: tuple[int, Array, Array],
    chosen: Chosen,
) -> None:
    """The exact errors of some alphas and targets; what is better than before is kept."""
    number, alphas, wanted = trial
    row = chosen.table[number]
    for a, alpha in enumerate(alphas):
        own = np.flatnonzero(wanted[a])
        if not own.size:
            continue
        places = own + batch.start
        duals = spectrum.duals(Z if own.size == Z.shape[1] else Z[:, own], places, float(alpha))
        errors, residuals = judge(duals, a, float(alpha))
        row[places] = np.fmin(row[places], errors)
        better = errors < chosen.errors[places]
        if not better.any():
            continue
        kept = places[better]
        chosen.errors[kept] = errors[better]
        chosen.candidates[kept], chosen.alphas[kept] = number, a
        chosen.duals[:, kept] = duals[:, better]
        chosen.residuals[:, kept] = residuals(better)


class _LeaveOneOut:
    """Errors of rows that are left out one at a time, and a function for the residuals of some targets."""

    def __init__(self, spectrum: Spectrum, alphas: Array, rows: tuple[Array, Array] | None) -> None:
        roots = spectrum.basis.roots.astype(float)
        places, own = (np.arange(roots.size), roots**2) if rows is None else rows
        stays = np.maximum(1.0 - own / roots[places] ** 2, 0.0)
        left = stays / alphas[:, None] + (1.0 - stays) * spectrum.leverages(alphas)[:, places]
        self.places = None if rows is None else places
        self.divisors = roots[places] * left  # residuals are duals over these, (n_alphas, n_rows)
        squares = own / self.divisors**2 / own.sum()
        self.factors = np.array([np.bincount(places, row, roots.size) for row in squares])

    def __call__(self, duals: Array, a: int, alpha: float) -> tuple[Array, Callable[[Array], Array]]:
        scaled = duals * np.sqrt(self.factors[a])[:, None].astype(duals.dtype)
        errors = np.einsum("ij,ij->j", scaled, scaled, dtype=float)

        def residuals(some: Array) -> Array:
            of_rows = duals[:, some] if self.places is None else duals[:, some][self.places]
            return np.asarray(of_rows / self.divisors[a][:, None].astype(duals.dtype))

        return errors, residuals


class _Folds:
    """The same of samples that are left out fold by fold; a sample may be in several."""

    def __init__(self, spectrum: Spectrum, folds: Sequence[Array]) -> None:
        self.spectrum, self.folds = spectrum, folds
        self.roots = spectrum.basis.roots.astype(float)

    def __call__(self, duals: Array, a: int, alpha: float) -> tuple[Array, Callable[[Array], Array]]:
        parts = []
        errors = np.zeros(duals.shape[1])
        for rows in self.folds:
            factor = scipy.linalg.cho_factor(self.spectrum.block(rows, alpha), check_finite=False)
            left = scipy.linalg.cho_solve(factor, duals[rows].astype(float), check_finite=False)
            errors += np.einsum("ij,ij->j", left, left) / (self.roots[rows] @ self.roots[rows])
            parts.append(left)
        return errors / len(self.folds), lambda some: self._residuals(parts, some)

    def _residuals(self, parts: list[Array], some: Array) -> Array:
        """The residuals of each sample, the mean of its folds; NaN where it is in none."""
        total = np.zeros((self.roots.size, int(some.sum())))
        counts = np.zeros(self.roots.size)
        for rows, left in zip(self.folds, parts, strict=True):
            total[rows] += left[:, some] / self.roots[rows, None]
            counts[rows] += 1.0
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(total / counts[:, None])

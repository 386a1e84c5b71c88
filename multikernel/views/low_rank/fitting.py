"""How the views of a low-rank bank are fitted: columns, kernels, maps and transforms from reference rows."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from multikernel._validation import RowError, naming, raise_degenerate
from multikernel.kernels import Kernel
from multikernel.kernels._rows import Pair, Rows, squared_norms
from multikernel.views.columns import Selection, n_rows, resolve_columns
from multikernel.views.low_rank.choice import DEFAULT_RANK, largest_rank
from multikernel.views.low_rank.maps import (
    FeatureMap,
    cholesky_map,
    evaluate_diagonal,
    exact_map,
    fourier_map,
    gram_error,
    nystroem_map,
)
from multikernel.views.low_rank.transforms import find_degenerate, fit_steps, share_left_out
from multikernel.views.low_rank.view import FactorView
from multikernel.views.scaling import Scaling
from multikernel.views.view import View, require_number_of_features

_FIRST_LANDMARKS = 32
_GROWTH = 1.4
_LOOKED_AT = 200  # rows, where all k(x, x) are zero
_DISAGREEMENT = 1e-2  # relative; landmarks that are nearly dependent leave rounding of 1e-3 at outlying rows


class DegenerateViewError(ValueError):
    """A kernel is constant on the reference rows; on more of them it may not be."""

    def __init__(self, message: str, view: View | None = None) -> None:
        super().__init__(message)
        self.view = view


@dataclass
class ViewFitter:
    """Fits views on the reference rows; views with equal columns share their rows and landmarks.

    Parameters
    ----------
    table : what `as_table` returned
        The reference rows.
    rank : int, float or None
        For views that name none.
    seed : int
    automatic : bool
        Whether kernels that are constant on the reference rows are left out, and not an error.
    n : int
        Rows in all, of which the reference rows are a sample.
    """

    table: Any
    rank: int | float | None
    seed: int
    automatic: bool
    n: int
    _rows: dict[tuple[Selection, bool], tuple[Rows, Scaling | None]] = field(default_factory=dict)
    _landmarks: dict[tuple[int, bytes], Rows] = field(default_factory=dict)

    def fit(self, views: list[View]) -> list[FactorView]:
        """All views, in their order."""
        fitted = [found for view in views if (found := self._fit_view(view)) is not None]
        if not fitted:
            raise ValueError(
                "every kernel of kernels='auto' is constant on the training rows: the samples do not differ. "
                "Check the columns of X, or give a list of kernels."
            )
        return fitted

    def _fit_view(self, view: View) -> FactorView | None:
        label = f"view {view.name!r}"
        rank = self._rank(view)
        selection = resolve_columns(self.table, view.columns, label)
        rows, scaling = self._rows_of(selection, bool(view.standardize), label)
        with naming(label):
            kernel = view.kernel.fit(rows)
            diagonal = evaluate_diagonal(kernel, rows)
        if diagonal.max() <= 0.0:
            with naming(label):
                _require_zero(kernel, rows)
            self._refuse(view, "all zero")
            return None
        with naming(label):
            approximation, map_ = self._map(view, kernel, rows, diagonal, rank)
            Z = map_.factors(kernel, rows)
            _require_agreement(kernel, squared_norms(Z), diagonal, rows)
            error = gram_error(kernel, map_, rows)
            steps, diagonal = fit_steps(view.transforms, Z, diagonal)
        degenerate = find_degenerate(Z, diagonal)
        if degenerate:
            self._refuse(view, degenerate)
            return None
        traces = np.array([diagonal.sum(), squared_norms(Z).sum()])
        return FactorView(view.name, kernel, selection, scaling, approximation, map_, steps, traces, error)

    def _refuse(self, view: View, degenerate: str) -> None:
        if not self.automatic:
            is_all = n_rows(self.table) == self.n
            rows = "training rows" if is_all else f"reference rows of {self.n} training rows"
            try:
                raise_degenerate(f"kernel {view.name!r}", degenerate, rows)
            except ValueError as error:
                raise DegenerateViewError(str(error), view) from None

    def _rows_of(self, selection: Selection, standardize: bool, label: str) -> tuple[Rows, Scaling | None]:
        key = (selection, standardize)
        if key not in self._rows:
            rows = Rows(selection.take(self.table, label), label, one_column=selection.scalar)
            scaling = Scaling.fit(rows.values) if standardize else None
            if scaling is not None:
                rows = scaling.rows(rows)
            self._rows[key] = (rows, scaling)
        rows, scaling = self._rows[key]
        rows.label = label + (" (standardised)" if standardize else "")
        return rows, scaling

    def _map(
        self, view: View, kernel: Kernel, rows: Rows, diagonal: np.ndarray, rank: int | float
    ) -> tuple[str, FeatureMap]:
        """The name and the map of the approximation that the view asks for, or that suits it."""
        if view.approximation is None:
            exact = exact_map(kernel, rows, DEFAULT_RANK if self._names_no_number(view) else int(rank))
            if exact is not None:
                return "exact", exact
        approximation = view.approximation or ("cholesky" if isinstance(rank, float) else "nystroem")
        if approximation == "random_features":
            require_number_of_features(f"view {view.name!r}", rank)
            return approximation, fourier_map(kernel, rows, int(rank), self.seed)
        if approximation == "cholesky":
            largest = min(len(rows), largest_rank(self.n))
            return approximation, cholesky_map(
                view.transforms, kernel, rows, diagonal, rank, largest=largest, seed=self.seed
            )
        if isinstance(rank, int):
            return approximation, nystroem_map(kernel, self._landmarks_of(rows, diagonal, rank))
        return approximation, self._nystroem_within(view, kernel, rows, diagonal, rank)

    def _names_no_number(self, view: View) -> bool:
        return not isinstance(self.rank if view.rank is None else view.rank, int)

    def _nystroem_within(
        self, view: View, kernel: Kernel, rows: Rows, diagonal: np.ndarray, share: float
    ) -> FeatureMap:
        """More and more landmarks, until at most `share` of the trace is left out, or as many as may be."""
        count, largest = _FIRST_LANDMARKS, min(len(rows), largest_rank(self.n))
        while True:
            map_ = nystroem_map(kernel, self._landmarks_of(rows, diagonal, count))
            if (
                count >= largest
                or share_left_out(view.transforms, map_.factors(kernel, rows), diagonal) <= share
            ):
                return map_
            count = min(largest, math.ceil(_GROWTH * count))

    def _rank(self, view: View) -> int | float:
        """The rank that the view, or else the bank, names; refused where there are fewer rows."""
        rank = self.rank if view.rank is None else view.rank
        if rank is None:
            return min(DEFAULT_RANK, n_rows(self.table))
        if isinstance(rank, int):
            whose = "rank" if view.rank is None else f"view {view.name!r}: rank"
            if rank > self.n:
                by_error = view.approximation != "random_features"
                raise ValueError(
                    f"{whose} must be at most n, the number of rows; got {rank} for n = {self.n}. Give a "
                    f"smaller rank{', or a trace error between 0 and 1' * by_error}. Rows of weight 0 "
                    "do not count."
                )
            if rank > n_rows(self.table):
                raise ValueError(
                    f"{whose} must be at most the number of reference rows; got {rank} for "
                    f"{n_rows(self.table)} of {self.n} rows. Fit on more reference rows."
                )
        return rank

    def _landmarks_of(self, rows: Rows, diagonal: np.ndarray, count: int) -> Rows:
        """The first `count` rows in an order drawn by the seed that are not zero for the kernel."""
        order = np.random.default_rng(self.seed).permutation(len(rows))
        chosen = np.sort(order[diagonal[order] > 0.0][:count])
        key = (id(rows), chosen.tobytes())
        if key not in self._landmarks:
            landmarks = rows.take(chosen)
            landmarks.label = f"landmarks of {rows.label}"
            self._landmarks[key] = landmarks
        return self._landmarks[key]


def _require_zero(kernel: Kernel, rows: Rows) -> None:
    """Refuse a kernel whose k(x, x) are zero, or less, and whose similarities are not."""
    some = rows.take(np.arange(min(len(rows), _LOOKED_AT)))
    K = np.empty((len(some), len(some)))
    kernel.evaluate(Pair(some, some), K)
    if np.any(K):
        raise ValueError(
            f"{kernel!r} is not positive semidefinite: no k(x, x) is above 0, but similarities go up to "
            f"{np.abs(K).max():g}. Factors stand for positive semidefinite kernels alone: use gram='dense' "
            "with psd='clip' or 'shift', or another kernel."
        )


def _require_agreement(kernel: Kernel, squares: np.ndarray, diagonal: np.ndarray, rows: Rows) -> None:
    """Refuse a kernel whose k(x, x) is less than what its similarities to others imply."""
    worst = int(np.argmax(squares - diagonal))
    if squares[worst] > diagonal[worst] + _DISAGREEMENT * float(diagonal.max()):
        raise RowError(
            f"on {rows.label}, {kernel!r} says that k(x, x) is {diagonal[worst]:g}, but its similarities "
            f"imply {squares[worst]:g} at row",
            worst,
            ". Give a function of the diagonal that agrees with the kernel, or none.",
        )

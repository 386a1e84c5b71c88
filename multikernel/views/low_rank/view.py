"""Views of a low-rank bank: whether a fit takes factors, how views are fitted, and their factors of any rows.

Columns, kernels, maps and transforms of the views come from the reference rows. A table is read in blocks of
rows, each by all views: what views have in common, they share.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from multikernel._validation import (
    RowError,
    all_finite,
    check_choice,
    check_positive_integer,
    check_rank,
    check_seed,
    naming,
    naming_rows,
    raise_degenerate,
)
from multikernel.kernels import Kernel, Kronecker, Pairwise, Precomputed
from multikernel.kernels._rows import Pair, Rows, squared_norms, take_rows
from multikernel.rows.tables import count_rows
from multikernel.views.columns import Selection, resolve_columns
from multikernel.views.low_rank.maps import (
    FeatureMap,
    cholesky_map,
    evaluate_diagonal,
    exact_map,
    fourier_map,
    gram_error,
    nystroem_map,
)
from multikernel.views.low_rank.transforms import (
    FactorStep,
    Shift,
    UnitLength,
    check_transforms,
    find_degenerate,
    fit_steps,
    share_left_out,
)
from multikernel.views.memory import GRAM_ROUTES, REFERENCE_ROWS, ROWS_PER_COLUMN, estimate_memory
from multikernel.views.precomputed import is_precomputed
from multikernel.views.scaling import AnyScaling, scale_rows
from multikernel.views.view import View, as_views, has_part, require_number_of_features, require_varying

_BLOCK_ROWS = 1024  # whose similarities are computed at one time: they stay near the processor
LARGEST_DENSE = 10_000  # rows; beyond, a stack of Gram matrices takes minutes and gigabytes
DEFAULT_RANK = 200  # columns of a factor whose view and bank name no rank
LARGEST_RANK = 1000  # columns of a factor whose rank is a trace error
_FIRST_LANDMARKS = 32
_GROWTH = 1.4
_LOOKED_AT = 200  # rows, where all k(x, x) are zero
_DISAGREEMENT = 1e-2  # relative; landmarks that are nearly dependent leave rounding of 1e-3 at outlying rows


@dataclass(frozen=True, eq=False)
class FactorView:
    """A view after fit: its kernel with numbers for parameters, its columns, its map and its transforms.

    `traces` are Σ k(x, x) and Σ ‖z‖² over the reference rows after the transforms; `gram_error` is
    ‖K − Z Zᵀ‖ / ‖K‖ before them, on some of the reference rows.
    """

    name: str
    kernel: Kernel
    selection: Selection
    scaling: AnyScaling | None = field(repr=False)
    approximation: str
    map: FeatureMap | None = field(repr=False)
    steps: tuple[FactorStep, ...] = field(repr=False)
    traces: np.ndarray = field(repr=False)
    gram_error: float

    @property
    def label(self) -> str:
        return f"view {self.name!r}"

    @property
    def rank(self) -> int:
        """Number of columns of its factors; 0 for a view that is not active."""
        return 0 if self.map is None else self.map.rank

    def dropped(self) -> FactorView:
        """The same view without what its factors are computed from."""
        return replace(self, scaling=None, map=None, steps=())

    def rows(self, table: Any) -> Rows:
        """The view's columns of `table`, scaled as the reference rows were."""
        rows = Rows(self.selection.take(table, self.label), self.label, one_column=self.selection.scalar)
        return rows if self.scaling is None else self.scaling.rows(rows)

    def write(self, pair: Pair, Z: np.ndarray, *, diagonal: bool = False) -> np.ndarray | None:
        """Write the factors of the pair's left rows into Z (n, rank), float64; returns k(x, x) if asked."""
        assert self.map is not None
        pair.left.label = self.label
        with naming(self.label):
            self.map.write(self.kernel, pair, Z)
            return self._transform(pair.left, Z, diagonal)

    def diagonal(self, pair: Pair) -> np.ndarray:
        """Exact k(x, x) of the pair's left rows after the transforms."""
        # only a centre is a matter of factors
        width = self.rank if any(isinstance(step, Shift) for step in self.steps) else 0
        Z = np.empty((len(pair.left), width))
        if width:
            exact = self.write(pair, Z, diagonal=True)
        else:
            pair.left.label = self.label
            with naming(self.label):
                exact = self._transform(pair.left, Z, True)
        assert exact is not None
        return exact

    def _transform(self, rows: Rows, Z: np.ndarray, diagonal: bool) -> np.ndarray | None:
        lengths = [place for place, step in enumerate(self.steps) if isinstance(step, UnitLength)]
        last = len(self.steps) if diagonal else max(lengths, default=-1)  # the last that needs k(x, x)
        exact = evaluate_diagonal(self.kernel, rows) if last >= 0 else None
        for place, step in enumerate(self.steps):
            exact = step.apply(Z, exact if place <= last else None)
        return exact


def check_low_rank(view: View) -> None:
    """Refuse a view whose kernel or transforms factors cannot stand for."""
    with naming(f"view {view.name!r}"):
        check_transforms(view.steps)
        if has_part(view.kernel, Precomputed, outside=(Kronecker, Pairwise)):
            raise ValueError(
                f"{view.kernel!r} is a matrix that is there already; factors would take its place. Use "
                "gram='dense'."
            )
        if not view.kernel.is_psd:
            raise ValueError(
                f"{view.kernel!r} is not positive semidefinite, so it has no factors. Use another "
                "kernel, or gram='dense' with psd='clip' or 'shift'."
            )


# --- blocks of rows ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Part:
    """One view on one block of rows: its place in the factors of all views and rows."""

    index: int  # of the view in its bank
    view: FactorView
    rows: slice  # with columns: where its factors stand in those of all
    columns: slice
    shared: _SharedRows

    def write(self, Z: np.ndarray) -> None:
        """Write the factors into their place in Z, float64 or float32."""
        self._write(Z, diagonal=False)

    def write_with_traces(self, Z: np.ndarray) -> tuple[float, float]:
        """Write the factors into their place in Z; returns Σ k(x, x) and Σ ‖z‖² over the rows."""
        factors, exact = self._write(Z, diagonal=True)
        assert exact is not None
        return float(exact.sum()), float(squared_norms(factors).sum())

    def diagonal(self) -> np.ndarray:
        """Exact k(x, x) of each row after the transforms."""
        with naming_rows(self.rows.start):
            return self.view.diagonal(self.shared.pair(self.view))

    def _write(self, Z: np.ndarray, *, diagonal: bool) -> tuple[np.ndarray, np.ndarray | None]:
        place = Z[self.rows, self.columns]
        factors = place if Z.dtype == np.float64 else np.empty(place.shape)
        with naming_rows(self.rows.start):
            exact = self.view.write(self.shared.pair(self.view), factors, diagonal=diagonal)
            if factors is not place:
                _store(place, factors, self.view.label)
        return factors, exact


def _store(place: np.ndarray, factors: np.ndarray, label: str) -> None:
    """Write factors in a lower precision; those that do not fit it are refused."""
    with np.errstate(over="ignore", under="ignore"):
        place[...] = factors
    if not all_finite(place):
        row = int(np.argmax(~np.isfinite(place).all(axis=1)))
        raise RowError(
            f"the factors of {label} do not fit in {place.dtype.name} at row",
            row,
            ". Rescale its columns, or use dtype='float64'.",
        )


def iter_parts(table: Any, views: Sequence[FactorView], active: Sequence[int]) -> Iterator[Part]:
    """Every active view on every block of rows, block after block; factors stand side by side."""
    ends = np.cumsum([views[index].rank for index in active]).tolist()
    columns = [slice(end - views[index].rank, end) for index, end in zip(active, ends, strict=True)]
    n = count_rows(table)
    for start in range(0, n, _BLOCK_ROWS):
        rows = slice(start, min(start + _BLOCK_ROWS, n))
        block = table if n <= _BLOCK_ROWS else take_rows(table, rows)
        shared = _SharedRows(block, [views[index] for index in active])
        for index, place in zip(active, columns, strict=True):
            yield Part(index, views[index], rows, place, shared)


class _SharedRows:
    """The rows of a table as several views see them, and their products with landmarks."""

    def __init__(self, table: Any, views: Sequence[FactorView]) -> None:
        self._table = table
        self._uses = [id(view.map.landmarks) for view in views if view.map is not None]
        self._rows: dict[tuple[Any, int], Rows] = {}
        self._pairs: dict[tuple[int, int], Pair] = {}

    def pair(self, view: FactorView) -> Pair:
        """The view's rows against its landmarks; one object for all views that have both in common."""
        assert view.map is not None
        columns = (view.selection, id(view.scaling))
        if columns not in self._rows:
            with naming(view.label):
                self._rows[columns] = view.rows(self._table)
        rows, landmarks = self._rows[columns], view.map.landmarks
        place = (id(rows), id(landmarks))
        if place not in self._pairs:
            keep = landmarks is not None and self._uses.count(id(landmarks)) > 1
            self._pairs[place] = view.map.pair(view.kernel, rows, keep=keep)
        return self._pairs[place]


# --- Gram matrices or factors ---------------------------------------------------------------------


def choose_gram(
    gram: str,
    n: int,
    kernels: Any = "auto",
    dtype: Any = "float64",
    *,
    rank: int | float | str | None = None,
    limit: int | None = None,
) -> str:
    """What ``gram="auto"`` means for n rows: ``"dense"`` or ``"low_rank"``; any other choice as it is.

    A `rank`, that of a bank or of a view, or the `approximation` of a view asks for factors. Else Gram
    matrices are made of up to 10 000 rows, where their stack fits in memory, and factors of more rows, where
    every view has them; a precomputed stack, an indefinite kernel or a transform that factors cannot follow
    stays dense.
    `limit`: bytes that may be used, instead of what the system says is available.

    Notes
    -----
    A rule by the number of rows cannot know that its rows are a fold of more: whatever the limit is, some
    tables are above it and their folds below. So wherever the loop over folds is ours, the route is chosen
    once, for all rows, and folds follow it (`core.low_rank.settle_route`: calibration, ``evaluate``,
    ``compare``, ``weight_path``, ``cost_path``, ``--tune``). The loops of scikit-learn (``GridSearchCV``,
    ``cross_val_score``) hand an estimator the rows of a fold and nothing else. There the routes of folds and
    refit differ for more than 10 000 and not more than about 20 000 rows, and few folds: `most_dense_folds`
    says how few, and the warning of the refit repeats it. ``KernelBank(kernels, gram="low_rank")``, or
    ``gram="dense"``, is one route for both.

    Examples
    --------
    >>> choose_gram("auto", 5000), choose_gram("auto", 50_000), choose_gram("memmap", 50_000)
    ('dense', 'low_rank', 'memmap')
    """
    check_choice("gram", gram, GRAM_ROUTES)
    n = check_positive_integer("n", n)
    if is_precomputed(kernels):
        if gram == "low_rank":
            raise ValueError(
                "gram='low_rank' computes factors from rows, but kernels='precomputed' has none. Use "
                "gram='dense', or give the rows and their kernels."
            )
        return "dense" if gram == "auto" else gram
    views = as_views(kernels)
    if gram != "auto":
        return gram
    if rank is None and hasattr(kernels, "kernels"):  # a bank names the rank of its views
        rank = kernels.rank
    if asks_for_factors(views, rank):
        return "low_rank"
    if n <= LARGEST_DENSE and estimate_memory(n, len(views), dtype, limit=limit).fits:
        return "dense"
    return "low_rank" if all(_has_factors(view) for view in views) else "dense"


def most_dense_folds(n: int) -> int:
    """In a cross-validation of n rows with how many folds, at most, some fold has Gram matrices under "auto".

    0 where no fold has them, or where all have them as the whole has.

    Examples
    --------
    >>> most_dense_folds(12_000), most_dense_folds(20_000), most_dense_folds(30_000), most_dense_folds(9_000)
    (6, 2, 0, 0)
    """
    held_back = n - LARGEST_DENSE  # rows that the largest test fold must have
    if held_back <= 0:
        return 0
    most = n if held_back == 1 else (n - 1) // (held_back - 1)
    return most if most >= 2 else 0


def asks_for_factors(views: list[View], rank: int | float | str | None) -> bool:
    """Whether a rank is given, or a view names one or an approximation."""
    return rank is not None or any(view.approximation is not None or view.rank is not None for view in views)


def _has_factors(view: View) -> bool:
    try:
        check_low_rank(view)
    except ValueError:
        return False
    return True


# --- ranks, and the sample of all rows on which factors are fitted -----------------------------


def reference_size(n: int, ranks: Iterable[int | float | None] = ()) -> int:
    """How many of n rows serve as reference rows: min(n, max(5000, 4 · largest rank)).

    A rank that is a float, a trace error, asks for no more rows.

    Examples
    --------
    >>> reference_size(1_000_000, [100, 300, None]), reference_size(1_000_000, [2000]), reference_size(800)
    (5000, 8000, 800)
    """
    named = [check_rank("a rank", rank) for rank in ranks]
    largest = max((rank for rank in named if isinstance(rank, int)), default=DEFAULT_RANK)
    return min(check_positive_integer("n", n), max(REFERENCE_ROWS, ROWS_PER_COLUMN * largest))


def largest_rank(n: int) -> int:
    """How many columns a factor of n rows has at most where its rank is a trace error.

    A quarter of the rows: with more, the solver on factors takes longer than on Gram matrices. At least 200,
    which cost little, and never more than 1000.

    Examples
    --------
    >>> largest_rank(100), largest_rank(2000), largest_rank(1_000_000)
    (200, 500, 1000)
    """
    return min(LARGEST_RANK, max(DEFAULT_RANK, n // ROWS_PER_COLUMN))


def reference_rows(n: int, size: int, seed: int | None = 0) -> np.ndarray:
    """Numbers of `size` of n rows, drawn without replacement, ascending; all where `size` is n or more."""
    n, size = check_positive_integer("n", n), check_positive_integer("size", size)
    rng = np.random.default_rng(check_seed("seed", seed))
    return np.arange(n) if size >= n else np.sort(rng.choice(n, size, replace=False))


# --- fitting -----------------------------------------------------------------------------------


class DegenerateViewError(ValueError):
    """A kernel is constant on the reference rows; on more of them it may not be."""

    def __init__(self, message: str, view: View | None = None) -> None:
        super().__init__(message)
        self.view = view


@dataclass
class ViewFitter:
    """Fits views on the reference rows; views with equal columns share their rows and landmarks."""

    table: Any  # the reference rows, as `as_table` returned them
    rank: int | float | None  # for views that name none
    seed: int
    automatic: Collection[str]  # views that are left out where they are constant on the reference rows
    n: int  # rows in all, of which the reference rows are a sample
    _rows: dict[Any, tuple[Rows, AnyScaling | None]] = field(default_factory=dict)  # by columns and scaling
    _landmarks: dict[tuple[int, bytes], Rows] = field(default_factory=dict)

    def fit(self, views: list[View]) -> list[FactorView]:
        """All views, in their order."""
        fitted = [found for view in views if (found := self._fit_view(view)) is not None]
        require_varying(fitted)
        return fitted

    def _fit_view(self, view: View) -> FactorView | None:
        label = f"view {view.name!r}"
        rank = self._rank(view)
        selection = resolve_columns(self.table, view.columns, label, view.table)
        rows, scaling = self._rows_of(selection, view, label)
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
            steps, diagonal = fit_steps(view.steps, Z, diagonal)
        degenerate = find_degenerate(Z, diagonal)
        if degenerate:
            self._refuse(view, degenerate)
            return None
        traces = np.array([diagonal.sum(), squared_norms(Z).sum()])
        return FactorView(view.name, kernel, selection, scaling, approximation, map_, steps, traces, error)

    def _refuse(self, view: View, degenerate: str) -> None:
        if view.name not in self.automatic:
            is_all = count_rows(self.table) == self.n
            rows = "training rows" if is_all else f"reference rows of {self.n} training rows"
            rows += " (there is 1 sample)" if self.n == 1 else ""
            try:
                raise_degenerate(f"kernel {view.name!r}", degenerate, rows)
            except ValueError as error:
                raise DegenerateViewError(str(error), view) from None

    def _rows_of(self, selection: Selection, view: View, label: str) -> tuple[Rows, AnyScaling | None]:
        how, encode = view.standardized, view.encode
        key = (selection, how, encode)
        if key not in self._rows:
            taken = selection.take(self.table, label)
            self._rows[key] = scale_rows(taken, label, how, encode=encode, one_column=selection.scalar)
        rows, scaling = self._rows[key]
        rows.label = label + (" (standardised)" if how else "")
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
                view.steps, kernel, rows, diagonal, rank, largest=largest, seed=self.seed
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
        map_ = nystroem_map(kernel, self._landmarks_of(rows, diagonal, count))
        while count < largest and share_left_out(view.steps, map_.factors(kernel, rows), diagonal) > share:
            count = min(largest, math.ceil(_GROWTH * count))
            map_ = nystroem_map(kernel, self._landmarks_of(rows, diagonal, count))
        return map_

    def _rank(self, view: View) -> int | float:
        """The rank that the view, or else the bank, names; refused where there are fewer rows."""
        rank = self.rank if view.rank is None else view.rank
        if rank is None:
            return min(DEFAULT_RANK, count_rows(self.table))
        if isinstance(rank, int):
            whose = "rank" if view.rank is None else f"view {view.name!r}: rank"
            if rank > self.n:
                by_error = view.approximation != "random_features"
                raise ValueError(
                    f"{whose} must be at most n, the number of rows; got {rank} for n = {self.n}. Give a "
                    f"smaller rank{', or a trace error between 0 and 1' * by_error}. Rows of weight 0 "
                    "do not count."
                )
            if rank > count_rows(self.table):
                raise ValueError(
                    f"{whose} must be at most the number of reference rows; got {rank} for "
                    f"{count_rows(self.table)} of {self.n} rows. Fit on more reference rows."
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
            f"{np.abs(K).max():g}. Factors represent positive semidefinite kernels only: use gram='dense' "
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

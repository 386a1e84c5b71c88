"""The low-rank bank: views fitted on reference rows, and the factors of any rows, views side by side."""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from multikernel._validation import check_float_dtype, check_rank, check_seed
from multikernel.rows.tables import count_rows
from multikernel.views.columns import check_positions
from multikernel.views.low_rank.transforms import trace_errors
from multikernel.views.low_rank.view import ViewFitter, check_low_rank, iter_parts
from multikernel.views.tables import MultiTable, as_table, n_columns, require_width
from multikernel.views.view import as_views, automatic_names, place_views


@dataclass(eq=False, repr=False)
class LowRankBank:
    """Factors of kernels on blocks of columns, fitted on reference rows: X ↦ (Z_1, …, Z_m), Z_m Z_mᵀ ≈ K_m.

    Parameters
    ----------
    kernels : "auto", kernel, callable, View, or list of kernels, callables, views and tuples, default="auto"
        As for :class:`KernelBank`; views may name their `approximation` and `rank`.
    standardize : bool or "auto", default="auto"
    normalize : {"variance", "diagonal", "trace", "auto"} or None, default="auto"
        As for :class:`KernelBank`.
    rank : int, float or None, default=None
        For views that name none: columns of a factor, or the largest relative trace error on the reference
        rows, within at most n / 4 columns of n rows, not less than 200 and not more than 1000. None is 200
        columns, or as many as there are rows.
    seed : int, default=0
        Of the landmarks and of random features.
    dtype : {"float64", "float32"}, default="float64"
        Of what `transform` returns; everything is computed in double precision.

    Attributes
    ----------
    view_names_ : list of str
    n_kernels_ : int
    ranks_ : ndarray of shape (n_kernels,)
        Int.
        Columns of each view's factor; 0 for views that are not active.
    offsets_ : ndarray of shape (n_kernels + 1,)
        Int.
        The factor of view m stands in the columns ``offsets_[m]:offsets_[m + 1]``.
    approximations_ : list of str
        ``"exact"``, ``"nystroem"``, ``"cholesky"`` or ``"random_features"``, one for each view.
    trace_errors_ : ndarray of shape (n_kernels,)
        1 − tr(Z_m Z_mᵀ) / tr(K_m) on the reference rows, after the transforms; NaN for random features, whose
        trace is right however few they are.
    gram_errors_ : ndarray of shape (n_kernels,)
        ‖K_m − Z_m Z_mᵀ‖ / ‖K_m‖ (Frobenius) on at most 512 reference rows, before the transforms.
    active_ : tuple of int
    n_features_in_ : int

    Examples
    --------
    >>> from multikernel.kernels import Gaussian, Linear
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> bank = LowRankBank([("height", Linear(), [0]), ("all", Gaussian(gamma=0.1))], rank=20).fit(X)
    >>> bank.transform(X).shape, bank.approximations_, bank.ranks_
    ((50, 21), ['exact', 'nystroem'], array([ 1, 20]))

    Notes
    -----
    Factors of k, with L and P rows among the reference rows, and r the rank:

    - ``"exact"``: the columns themselves, for multiples of `Linear` with at most r columns that name no
      approximation;
    - ``"nystroem"``, for a number as rank: Z = K(X, L) C⁻ᵀ, K(L, L) = C Cᵀ, with L of r rows drawn by the
      seed; for a trace error, of as many as it takes;
    - ``"cholesky"``, for a trace error as rank: Z = K(X, P) C⁻ᵀ, the incomplete Cholesky factor of pivots P
      that are drawn one after the other, each with a chance in proportion to what is left out of a row;
    - ``"random_features"``, if asked for: cosines and sines of r / 2 random frequencies (Gaussian, Laplacian,
      their products, powers and multiples).

    Rows that others stand for already are left out of L and P, so that `ranks_` may be less than r. The first
    three project on the span of some features: k(x, x) − ‖z‖² ≥ 0 is what they leave out of a row.

    Transforms apply to factors: ``"center"`` subtracts the mean factor of the reference rows,
    ``"unit_diagonal"`` divides by the exact √k(x, x), ``"unit_trace"`` by the root of its mean over the
    reference rows, ``"unit_variance"`` by the root of that mean minus ‖mean factor‖²; ``"clip"`` has nothing
    to do.
    """

    kernels: Any = "auto"
    _: KW_ONLY
    standardize: bool | str = "auto"
    normalize: str | None = "auto"
    rank: int | float | None = None
    seed: int | None = 0
    dtype: Any = "float64"

    # --- fit -------------------------------------------------------------------------------------

    def fit(
        self, sample: Any, n_rows: int | None = None, *, automatic: Collection[str] | None = None
    ) -> LowRankBank:
        """Fit scaling, kernel parameters, landmarks and maps of every view on the reference rows.

        Parameters
        ----------
        sample : array-like, sparse matrix or DataFrame of shape (n_sample, n_features), or several tables
        n_rows : int, default=None
            How many rows there are of which these are a sample, for messages; default: these are all.
        automatic : collection of str, default=None
            Names of views that are left out where they are constant, and not refused; default: those that
            "auto" chose.
        """
        check_float_dtype(self.dtype)
        table = as_table(sample)
        if count_rows(table) < 1:
            raise ValueError(f"X must hold at least one sample; got shape {getattr(table, 'shape', (0,))}.")
        views = place_views(as_views(self), table)
        for view in views:
            check_low_rank(view)
        fitter = ViewFitter(
            table,
            check_rank("rank", self.rank),
            check_seed("seed", self.seed),
            automatic=automatic_names(self.kernels, views) if automatic is None else automatic,
            n=count_rows(table) if n_rows is None else n_rows,
        )
        self.views_ = fitter.fit(views)
        self.view_names_ = [view.name for view in self.views_]
        self.approximations_ = [view.approximation for view in self.views_]
        self.n_kernels_ = len(self.views_)
        width = n_columns(self._read(table))
        if width is not None:
            self.n_features_in_ = width
        self._activate(range(self.n_kernels_))
        self.trace_errors_ = self.trace_errors(np.array([view.traces for view in self.views_]).T)
        self.gram_errors_ = np.array([view.gram_error for view in self.views_])
        return self

    def _activate(self, active: Any) -> None:
        self.active_ = tuple(active)
        self.ranks_ = np.array([view.rank for view in self.views_])
        self.offsets_ = np.concatenate([[0], np.cumsum(self.ranks_)])

    # --- factors ---------------------------------------------------------------------------------

    def transform(self, X: Any) -> np.ndarray:
        """Factors of all rows, views side by side: Z of shape (n_samples, Σ ranks_), C-contiguous."""
        table = self._table(X)
        Z = self._allocated(table)
        for part in iter_parts(table, self.views_, self.active_):
            part.write(Z)
        return Z

    def transform_with_traces(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        """Factors as of `transform`, and their trace beside that of the kernels.

        Returns
        -------
        Z : ndarray of shape (n_samples, Σ ranks_)
        traces : ndarray of shape (2, n_kernels)
            Σ k(x, x) and Σ ‖z‖² over the rows; of several blocks of rows they add up, see `trace_errors`.
        """
        table = self._table(X)
        Z = self._allocated(table)
        traces = np.zeros((2, self.n_kernels_))
        for part in iter_parts(table, self.views_, self.active_):
            traces[:, part.index] += part.write_with_traces(Z)
        return Z, traces

    def trace_errors(self, traces: np.ndarray) -> np.ndarray:
        """Relative trace errors 1 − Σ ‖z‖² / Σ k(x, x) of each view, (n_kernels,); NaN for random features.

        Parameters
        ----------
        traces : ndarray of shape (2, n_kernels)
            The sum over all rows of those of `transform_with_traces`.
        """
        self._require_fitted()
        has_no_error = [name == "random_features" for name in self.approximations_]
        return np.where(has_no_error, np.nan, trace_errors(*traces))

    def iter_factors(self, X: Any) -> Iterator[tuple[int, np.ndarray]]:
        """Yield ``(index, Z_m)`` for each active view; Z_m of shape (n_samples, r_m), float64."""
        table = self._table(X)
        for index in self.active_:
            Z = np.empty((count_rows(table), self.views_[index].rank))
            for part in iter_parts(table, self.views_, (index,)):
                part.write(Z)
            yield index, Z

    def diagonals(self, X: Any) -> np.ndarray:
        """Exact k(x, x) of each row after the transforms, (n, m); zero for views that are not active.

        A centred kernel is centred at the mean of the reference rows' factors.
        """
        table = self._table(X)
        diagonals = np.zeros((count_rows(table), self.n_kernels_))
        for part in iter_parts(table, self.views_, self.active_):
            diagonals[part.rows, part.index] = part.diagonal()
        return diagonals

    def _allocated(self, table: Any) -> np.ndarray:
        return np.empty((count_rows(table), int(self.offsets_[-1])), dtype=check_float_dtype(self.dtype))

    def _table(self, X: Any) -> Any:
        """X as a table, as wide as the reference rows."""
        self._require_fitted()
        if not self.active_:
            raise ValueError("no view is active in this bank; restrict it to at least one.")
        table = as_table(X)
        require_width(self._read(table), getattr(self, "n_features_in_", None), "LowRankBank")
        return table

    def _read(self, table: Any) -> Any:
        """The table; of several tables those that a view reads."""
        if not isinstance(table, MultiTable):
            return table
        names = {view.selection.table for view in self.views_}
        tables = {name: table[name] for name in table.names if name in names}
        return table.with_tables(tables) if tables else table

    def restrict(self, active: Any) -> LowRankBank:
        """A compact bank with the factors of the views `active` only.

        Parameters
        ----------
        active : array-like of int
            Positions in `view_names_`, which stays as it is; `ranks_` of the others become 0.
        """
        self._require_fitted()
        kept = sorted(set(check_positions("active", active, self.n_kernels_).tolist()))
        compact = copy.copy(self)
        compact.views_ = [view if m in kept else view.dropped() for m, view in enumerate(self.views_)]
        compact._activate(kept)
        return compact

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the views, one for each kernel."""
        self._require_fitted()
        return np.asarray(self.view_names_, dtype=object)

    def _require_fitted(self) -> None:
        if not hasattr(self, "views_"):
            raise ValueError("this LowRankBank is not fitted yet. Call fit first.")

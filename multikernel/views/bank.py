"""The kernel bank: views fitted on training rows, evaluated as a stack or one kernel at a time."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin

from multikernel._validation import (
    PSD_CHOICES,
    GramFacts,
    can_check_fully,
    check_choice,
    check_float_dtype,
    check_gram,
    check_positive_integer,
    is_indefinite,
    naming,
    naming_rows,
    raise_degenerate,
    raise_indefinite,
)
from multikernel.kernels import Chain, Kernel, PSDRepair
from multikernel.kernels._rows import Pair, Rows
from multikernel.kernels.together import Joined, OnDemand
from multikernel.rows.tables import count_rows, take_rows
from multikernel.views.columns import (
    Selection,
    among,
    check_positions,
    rows_that_have,
    spread_into,
)
from multikernel.views.grams import (
    Gram,
    TrainPair,
    begin_grams,
    finish_gram,
    fit_without_grams,
    fits_without_gram,
    is_sound,
    pairs_by_columns,
)
from multikernel.views.memory import (
    GRAM_ROUTES,
    MemoryEstimate,
    allocate_stack,
    estimate_memory,
    require_fits,
)
from multikernel.views.parameters import parameters, with_parameters
from multikernel.views.scaling import AnyScaling
from multikernel.views.sharing import keys_of, shared_grams
from multikernel.views.stacks import NamedStack
from multikernel.views.tables import MultiTable, absent_rows, as_table, n_columns, require_width
from multikernel.views.view import (
    View,
    as_views,
    automatic_names,
    is_automatic,
    place_views,
    refuse_approximations,
    require_varying,
)

_LARGE = 2**25  # bytes: memory beyond it goes back to the system when it is free


@dataclass(frozen=True, eq=False)
class FittedView:
    """A view after fit: its kernel with numbers for parameters, its columns, its transforms, its rows.

    Of a standardised view, `rows` are the training rows after `scaling`, which test rows go through too.
    `present` are the positions of these rows among the training rows of the bank; None: they are all.
    """

    name: str
    kernel: Kernel
    selection: Selection
    transforms: Chain
    rows: Rows = field(repr=False)
    scaling: AnyScaling | None = field(default=None, repr=False)
    present: np.ndarray | None = field(default=None, repr=False)

    @property
    def label(self) -> str:
        return f"view {self.name!r}"

    def restrict(self, support: np.ndarray, taken: dict[int, Rows]) -> FittedView:
        """Keep the support rows only, where the transforms allow; `taken` lets views share them."""
        rows, present = self.rows, None
        if self.present is not None:
            support, present = among(self.present, support)
        if not self.transforms.needs_all_columns:
            if id(rows) not in taken:
                taken[id(rows)] = rows.take(support)
            rows = taken[id(rows)]
        return replace(self, transforms=self.transforms.restrict(support), rows=rows, present=present)

    def test_rows(self, table: Any, have: np.ndarray | None = None) -> Rows:
        """The view's columns of `table`, or of its rows `have`, scaled as the training rows were."""
        label = f"{self.label} at prediction"
        taken = self.selection.take(table if have is None else take_rows(table, have), self.label)
        rows = Rows(taken, label, one_column=self.selection.scalar)
        return rows if self.scaling is None or len(rows) == 0 else self.scaling.rows(rows)

    def explicit_features(self, rows: Rows, most: int) -> np.ndarray | None:
        """The explicit features of the rows; None where the kernel or the transforms have none."""
        if self.transforms.transforms or self.present is not None or rows.is_sparse:
            return None
        return self.kernel.explicit_features(rows.values, most)

    def test_gram(self, pair: Pair) -> np.ndarray:
        """Transformed similarities of the pair's left rows to the training rows; shape (n_test, n_train)."""
        pair.left.label = f"{self.label} at prediction"
        K = np.empty(pair.shape)
        if K.size == 0:  # restricted to no training row, or no row has the view
            return K
        with naming(self.label):
            self.kernel.evaluate(pair, K)
            if self.transforms.transforms:
                wants_diagonal = self.transforms.needs_diagonal
                diagonal = self.kernel.evaluate_diagonal(pair.left) if wants_diagonal else np.empty(0)
                K = self.transforms.test(K, diagonal)
        return K

    def test_diagonal(self, pair: Pair) -> np.ndarray:
        """Transformed similarities of the pair's left rows to themselves; shape (n_test,)."""
        diagonal = self.kernel.evaluate_diagonal(pair.left)
        if not self.transforms.transforms:
            return diagonal
        if not self.transforms.needs_all_columns:  # then the diagonal does not depend on any column
            none = self.transforms.restrict(np.empty(0, int))
            return none.test_diag(np.empty((diagonal.size, 0)), diagonal)
        K = np.empty(pair.shape)
        self.kernel.evaluate(pair, K)
        return self.transforms.test_diag(K, diagonal)


class Bank:
    """What all banks have in common: kernels with names, some or all of them active.

    Attributes
    ----------
    view_names_ : list of str
    active_ : tuple of int
        Positions of the kernels that are evaluated.
    """

    view_names_: list[str]
    active_: tuple[int, ...]
    lean = False  # whether the stack is for a learner of kernel weights, which needs less beside it
    _is_named = True  # whether kernels have names of their own
    for_novelty = False  # whether automatic kernels are those for novelty detection
    encodes = True  # whether views with encode=True do so; False where X must be numbers all the same
    allow_absent = False  # whether samples may lack views: their similarities are 0, see `views.missing`
    fit_stack: Callable[..., np.ndarray]
    iter_kernels: Callable[[Any], Iterator[tuple[int, np.ndarray]]]

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit on the training samples; their stack is not kept."""
        self.fit_stack(X)
        return self

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> np.ndarray:
        """Fit, and return the training stack (n, n, m), a view on kernels-first memory, with its names."""
        return self._named(np.moveaxis(self.fit_stack(X), 0, 2))

    def transform(self, X: Any) -> np.ndarray:
        """Similarities to the training samples, (n_test, n_train, m), a view on kernels-first memory."""
        return self._named(np.moveaxis(np.stack([K for _, K in self.iter_kernels(X)]), 0, 2))

    def _named(self, stack: np.ndarray) -> np.ndarray:
        names = [self.view_names_[index] for index in self.active_]
        return NamedStack(stack, names) if self._is_named else stack

    def only(self, active: Sequence[int]) -> Self:
        """The same bank, evaluating the kernels `active` and no others."""
        part = copy.copy(self)
        part.active_ = tuple(active)
        return part

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the views, one for each kernel."""
        self._require_fitted()
        return np.asarray(self.view_names_, dtype=object)

    def _require_fitted(self) -> None:
        if not hasattr(self, "view_names_"):
            raise ValueError(f"this {type(self).__name__} is not fitted yet. Call fit or fit_stack first.")


@dataclass(eq=False, repr=False)
class KernelBank(Bank, TransformerMixin, BaseEstimator):
    """A set of kernels on blocks of columns, fitted on training rows: X ↦ (K_1, …, K_m).

    Parameters
    ----------
    kernels : "auto", "rich", kernel, callable, View, (name, kernel, columns) or list of these, default="auto"
        Tuples are ``(name, kernel, columns)`` as in scikit-learn's ColumnTransformer. Two banks are ready for
        any table, with categories and gaps too (``View(encode=True)``); kernels that are constant on the
        training rows are left out:

        - ``"auto"``, six kernels: linear, quadratic and two Gaussians on standardized columns, two Laplacians
          on the ranks of the columns;
        - ``"rich"``, twelve kernels: linear, quadratic, three Gaussians and three Laplacians on standardized
          columns, three Laplacians and an additive one on ranks.

        Novelty detectors take linear, quadratic and five Gaussians with unit diagonal for either: in ranks
        nothing is far away.
    standardize : bool or "auto", default="auto"
        Of the views that say "auto" themselves, see :class:`View`; False leaves their columns as they are.
    normalize : {"variance", "diagonal", "trace", "auto"} or None, default="auto"
        Of the views that say "auto" themselves, see :class:`View`; None leaves their kernels as they are.
    psd : {"error", "clip", "shift"}, default="error"
        What to do with an indefinite training Gram matrix:

        - "error": refuse it. Up to about 6e7 operations in all, every matrix is checked by its Cholesky
          factor; beyond, a few principal blocks of it are, and again where a solver meets negative curvature;
        - "clip": set its negative eigenvalues to zero;
        - "shift": add a multiple of the identity.
    gram : {"auto", "dense", "memmap", "low_rank"}, default="auto"
        Kernel representation during fit:

        - "auto": a Gram stack up to 10 000 rows where it fits in memory. Beyond that,
          :class:`MKLClassifier` and :class:`MKLRegressor` use working sets of rows (see `rank`) or factors,
          :class:`MKLRidge` factors. Factors also wherever `rank` is given or a view names one or an
          ``approximation``, and for rows in dask collections. The folds of a search by
          scikit-learn may have fewer rows than the refit: name a route for both (the guide on many rows);
        - "dense": a Gram stack in memory;
        - "memmap": a Gram stack in a temporary file;
        - "low_rank": factors of low rank, for these three estimators only (see :class:`LowRankBank`).
    dtype : {"float64", "float32"}, default="float64"
        Precision of stack or factors; a precomputed stack of either keeps its own.
    rank : int, float in (0, 1), "auto" or None, default=None
        Of factors, for views that name none: their number of columns, or the largest relative trace error
        over all rows; None is 200 columns. "auto" learns on exact kernels of working sets of rows where the
        support rows are few enough for it, and else on factors of 200 columns; what ``gram="auto"`` takes
        beyond 10 000 rows it takes in this way.
    missing : {"auto", "error", "renormalize", "absent", "mean", "complete"}, default="auto"
        What to do with samples that lack views: all columns of a view are NaN in their row (None or NA in
        columns of objects), or their row and column of a precomputed kernel. For :class:`MKLClassifier`,
        :class:`MKLRegressor`, :class:`MKLRidge` and :class:`MKLOneClass`; it needs a Gram stack.

        - "auto": "renormalize" for tables that an outer join left with gaps, else "error";
        - "error": refuse them;
        - "renormalize": scale the views that a sample has to stand for all, by the weights;
        - "absent": ask for the margin of a sample in the views that it has;
        - "mean": put the mean of the other samples instead of a missing view;
        - "complete": estimate a missing view from the other views.
    memory_limit : int, default=None
        Bytes that may be used, instead of what the system says is available.

    Attributes
    ----------
    view_names_ : list of str
    views_ : list of FittedView
    n_train_ : int
    n_kernels_ : int
    memory_ : MemoryEstimate

    Examples
    --------
    >>> from multikernel.kernels import Gaussian, Linear
    >>> X = np.array([[1.0, 0.0], [2.0, 0.0]])
    >>> views = [("height", Linear(), 0), ("both", Gaussian(gamma=1.0))]
    >>> KernelBank(views).fit_transform(X)[:, :, 0]
    array([[ 1., -1.],
           [-1.,  1.]])
    >>> bank = KernelBank(views, standardize=False, normalize=None)
    >>> bank.fit_transform(X)[:, :, 0]
    array([[1., 2.],
           [2., 4.]])
    >>> bank.view_names_
    ['height', 'both']
    """

    kernels: Any = "auto"
    _: KW_ONLY
    standardize: bool | str = "auto"
    normalize: str | None = "auto"
    psd: str = "error"
    gram: str = "auto"
    dtype: Any = "float64"
    rank: int | float | str | None = None
    missing: str = "auto"
    memory_limit: int | None = None

    # --- fit -------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None) -> KernelBank:
        """Fit every view on the training rows, one Gram at a time; no stack is kept."""
        table = as_table(X)
        n = count_rows(table)
        self.memory_ = self.memory_estimate(max(n, 1), n_kernels=1)
        require_fits(self.memory_)
        scratch = np.empty((n, n), dtype=check_float_dtype(self.dtype))
        views = place_views(as_views(self), table)
        self._fit_views(table, views, [scratch] * len(views))
        return self

    def fit_stack(self, X: Any, y: Any = None) -> np.ndarray:
        """Fit, and return the training Grams kernels first: Ks of shape (m, n_samples, n_samples),
        C-contiguous.
        """
        place = self._place
        table = as_table(X)
        n = count_rows(table)
        views = place_views(as_views(self), table)
        self.memory_ = self.memory_estimate(max(n, 1), n_kernels=len(views))
        require_fits(self.memory_)
        shape = (self.memory_.n_kernels, n, n)
        Ks = allocate_stack(shape, check_float_dtype(self.dtype), place)
        kept = self._fit_or_share(table, views, np.asarray(Ks))
        for target, position in enumerate(kept):
            if target != position:
                Ks[target] = Ks[position]
        return Ks[: self.n_kernels_]

    def fit_on_demand(self, X: Any) -> np.ndarray | OnDemand:
        """Fit, and return the training stack, its kernels not yet written where no view needs them to fit.

        Only of a stack so large that memory for it is fresh: that of a small one is used again and again.
        """
        table = as_table(X)
        n, dtype = count_rows(table), check_float_dtype(self.dtype)
        views = place_views(as_views(self), table)
        is_large = len(views) * n * n * dtype.itemsize >= _LARGE
        if self._place == "memmap" or self.psd != "error" or self.allow_absent or not is_large:
            return self.fit_stack(X)
        if not all(fits_without_gram(view) for view in views):
            return self.fit_stack(X)
        refuse_approximations(views)
        self.memory_ = self.memory_estimate(n, n_kernels=len(views))
        require_fits(self.memory_)
        fitted: dict[int, FittedView] = {}
        joined: dict[int, Joined] = {}
        for members, pair in pairs_by_columns(views, table, keep=False, allow_absent=False):
            grams = fit_without_grams([views[position] for position in members], pair, dtype)
            if grams is None:
                return self.fit_stack(X)
            for position, gram in zip(members, grams, strict=True):
                assert gram.joined is not None and gram.chain is not None
                joined[position] = gram.joined
                known = (gram.kernel, pair.selection, gram.chain, pair.left, pair.scaling)
                fitted[position] = FittedView(views[position].name, *known)
        self._keep_views(fitted, table)
        memory = allocate_stack((len(views), n, n), dtype, "dense")
        return OnDemand(memory, [view.rows for view in self.views_], [joined[p] for p in sorted(joined)])

    def memory_estimate(self, n: int, n_kernels: int | None = None) -> MemoryEstimate:
        """What `fit_stack` on n rows will occupy, and what is available."""
        n = check_positive_integer("n", n)
        m = (
            len(as_views(self.kernels))
            if n_kernels is None
            else check_positive_integer("n_kernels", n_kernels)
        )
        dtype = check_float_dtype(self.dtype)
        return estimate_memory(n, m, dtype, self._place, self.memory_limit, lean=self.lean)

    @property
    def _place(self) -> str:
        """Where the training stack is kept: "dense" or "memmap"."""
        check_choice("gram", self.gram, GRAM_ROUTES)
        if self.gram == "low_rank":
            raise ValueError(
                "gram='low_rank' keeps no Gram matrices: it is for MKLClassifier, MKLRegressor, MKLRidge and "
                "MKLSurvival. "
                "Use LowRankBank for factors alone, or gram='dense' or 'memmap'."
            )
        return "dense" if self.gram == "auto" else self.gram

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name; with `deep`, those of the kernels by view, such as ``mrna__gamma``."""
        own = super().get_params(deep=False)
        return (parameters(self.kernels) if deep else {}) | own

    def set_params(self, **params: Any) -> Self:
        """Set parameters; those of the kernels by view, such as ``mrna__gamma``."""
        own, below = super().get_params(deep=False), parameters(self.kernels)
        nested = {
            path.removeprefix("kernels__"): params.pop(path)
            for path in list(params)
            # of one kernel: no name before them; with "auto" a name may be meant for a table
            if path not in own and ("__" in path or path in below or is_automatic(self.kernels))
        }
        super().set_params(**params)
        if nested:
            self.kernels = with_parameters(self.kernels, nested, type(self).__name__, list(own))
        return self

    def _fit_or_share(self, table: Any, views: list[View], slots: np.ndarray) -> list[int]:
        """As `_fit_views`; within `share_grams` from what an equal fit has computed."""
        shared = shared_grams()
        keys = None
        if shared is not None and self._place == "dense" and self.psd == "error":
            keys = keys_of(table, views, slots.dtype.str, self.allow_absent)
        if shared is None or keys is None:
            return self._fit_views(table, views, slots)
        found = shared.find(keys)
        if found is None:
            kept = self._fit_views(table, views, slots)
            for position, own in zip(kept, self.views_, strict=True):
                shared.keep(keys[position], own, slots[position])
            return kept
        fitted = {}
        for position, (view, (known, K)) in enumerate(zip(views, found, strict=True)):
            slots[position][...] = K
            fitted[position] = replace(known, name=view.name)
        self._keep_views(fitted, table)
        return sorted(fitted)

    def _fit_views(self, table: Any, views: list[View], slots: np.ndarray | list[np.ndarray]) -> list[int]:
        """Fit all views, the Gram of each into its slot; the positions of those that are kept."""
        check_choice("psd", self.psd, PSD_CHOICES)
        n = count_rows(table)
        if n < 1:
            raise ValueError(f"X must hold at least one sample; got shape {getattr(table, 'shape', (0,))}.")
        refuse_approximations(views)
        full = can_check_fully(n, len(views)) or self.psd != "error"
        automatic = automatic_names(self.kernels, views)
        fitted: dict[int, FittedView] = {}
        in_memory = self._place != "memmap"
        for members, pair in pairs_by_columns(views, table, keep=in_memory, allow_absent=self.allow_absent):
            group = [views[position] for position in members]
            apart = in_memory and isinstance(slots, np.ndarray) and pair.present is None
            with pair.naming_rows():
                places = [slots[position] for position in members] if apart else None
                grams = begin_grams(group, pair, slots[0].dtype, places)
                for position, view, gram in zip(members, group, grams, strict=True):
                    result = self._fit_present(
                        view, pair, slots[position], gram, full, view.name in automatic
                    )
                    if result is not None:
                        fitted[position] = result
        require_varying(fitted)
        self._keep_views(fitted, table)
        return sorted(fitted)

    def _keep_views(self, fitted: dict[int, FittedView], table: Any) -> None:
        """Keep the fitted views, by their positions, and what they say of the bank."""
        self.views_ = [fitted[position] for position in sorted(fitted)]
        self.view_names_ = [view.name for view in self.views_]
        self.n_kernels_ = len(self.views_)
        self.n_train_ = self._width = count_rows(table)
        self.active_ = tuple(range(self.n_kernels_))
        width = n_columns(table)
        if width is not None:
            self.n_features_in_ = width

    def _fit_present(
        self, view: View, pair: TrainPair, slot: np.ndarray, gram: Gram, full: bool, automatic: bool
    ) -> FittedView | None:
        """Fit one view on the rows that have it; elsewhere its Gram is 0."""
        if pair.present is None:
            return self._fit_view(view, pair, slot, gram, full, automatic)
        K = np.empty(pair.shape, dtype=slot.dtype)
        fitted = self._fit_view(view, pair, K, gram, full, automatic)
        spread_into(slot, K, pair.present, pair.present)
        return None if fitted is None else replace(fitted, present=pair.present)

    def _fit_view(
        self, view: View, pair: TrainPair, slot: np.ndarray, gram: Gram, full: bool, automatic: bool
    ) -> FittedView | None:
        """Fit one view and write its Gram into `slot`; None where an automatic kernel is degenerate."""
        label = f"kernel {view.name!r}"
        chain = finish_gram(view, pair, slot, gram)
        if self.psd != "error" or not is_sound(view, gram, slot):
            facts = check_gram(slot, label)
            if facts.degenerate:
                if automatic:
                    return None
                raise_degenerate(label, facts.degenerate, _training_rows(len(pair.left)))
            if needs_repair(slot, facts, label, psd=self.psd, full=full):
                chain = Chain((*chain.transforms, repair(slot, self.psd, label)))
        return FittedView(view.name, gram.kernel, pair.selection, chain, pair.left, pair.scaling)

    # --- predict ---------------------------------------------------------------------------------

    def iter_kernels(self, X: Any) -> Iterator[tuple[int, np.ndarray]]:
        """Yield ``(index, K)`` for one kernel after the other, nothing stacked.

        Parameters
        ----------
        X : array-like, sparse matrix or DataFrame of shape (n_test, n_features)

        Yields
        ------
        index : int
            Position in `view_names_`, ascending; only active kernels after `restrict`.
        K : ndarray of shape (n_test, n_train)
            Float64.
            (n_test, n_support) after `restrict`.
        """
        return self._iterate(self._test_table(X))

    def _test_table(self, X: Any) -> Any:
        """X as a table, as wide as that of `fit`."""
        self._require_fitted()
        table = as_table(X)
        if not isinstance(table, MultiTable):
            require_width(table, getattr(self, "n_features_in_", None), "KernelBank")
        return table

    def _iterate(self, table: Any) -> Iterator[tuple[int, np.ndarray]]:
        users = [id(self.views_[index].rows) for index in self.active_]
        pair: Pair | None = None
        have: np.ndarray | None = None
        for index in self.active_:
            view = self.views_[index]
            if pair is None or pair.right is not view.rows:
                have = rows_that_have(view.selection.take(table, view.label)) if self.allow_absent else None
                with naming_rows(have):
                    rows = view.test_rows(table, have)
                pair = Pair(rows, view.rows, keep=users.count(id(view.rows)) > 1)
            with naming_rows(have):
                K = view.test_gram(pair)
            if have is not None or view.present is not None:
                K = spread_into(np.empty((count_rows(table), self._width)), K, have, view.present)
            yield index, K

    def explicit_features(self, index: int, X: Any = None, most: int = 1000) -> np.ndarray | None:
        """Z (n, r) with K = ZZ' of a kernel, of the rows of X or of those of fit; None where it has none."""
        view = self.views_[index]
        rows = view.rows if X is None else view.test_rows(self._test_table(X))
        return view.explicit_features(rows, most)

    def presence(self, X: Any) -> np.ndarray:
        """Whether each row has each view, (n_test, m)."""
        table = self._test_table(X)
        has = np.ones((count_rows(table), self.n_kernels_), dtype=bool)
        for index, view in enumerate(self.views_):
            has[:, index] = ~absent_rows(view.selection.take(table, view.label))
        return has

    def self_similarities(self, X: Any) -> np.ndarray:
        """Of each row to itself, (n_test, m), after the transforms; zero for kernels that are not active."""
        table = self._test_table(X)
        diagonals = np.zeros((count_rows(table), self.n_kernels_))
        for index in self.active_ if len(diagonals) else ():
            view = self.views_[index]
            diagonals[:, index] = view.test_diagonal(Pair(view.test_rows(table), view.rows, keep=False))
        return diagonals

    def transform(self, X: Any) -> np.ndarray:
        """Similarities to the training rows, (n_test, n_train, m), a view on kernels-first memory.

        The stack has the names of the views, so that a model after this bank in a pipeline knows them.

        Test rows are not training rows: for a kernel repaired with ``psd="shift"`` the training Gram has a
        larger diagonal than ``transform`` of the training rows.
        """
        self._require_fitted()
        Ks: np.ndarray | None = None
        for position, (_, K) in enumerate(self.iter_kernels(X)):
            if Ks is None:
                Ks = np.empty((len(self.active_), *K.shape), dtype=check_float_dtype(self.dtype))
            Ks[position] = K
        if Ks is None:
            raise ValueError("no kernel is active in this bank; restrict it to at least one.")
        return self._named(np.moveaxis(Ks, 0, 2))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        views = as_views(self) if is_automatic(self.kernels) else []
        tags.input_tags.allow_nan = tags.input_tags.categorical = bool(views)
        return tags

    def restrict(self, support: Any, active: Any) -> KernelBank:
        """A compact bank that keeps the training rows `support` and the kernels `active`.

        A view whose transforms read all training columns (`Center`, a clipped repair) keeps all its rows.

        Parameters
        ----------
        support : array-like of int
            Positions of training rows.
        active : array-like of int
            Positions of kernels.
        """
        self._require_fitted()
        rows = check_positions("support", support, self.n_train_)
        kernels = sorted(set(check_positions("active", active, self.n_kernels_).tolist()))
        compact = copy.copy(self)
        taken: dict[int, Rows] = {}
        empty = Rows(())
        compact.views_ = [
            view.restrict(rows, taken)
            if index in kernels
            else replace(view, transforms=Chain(), rows=empty, scaling=None, present=None)
            for index, view in enumerate(self.views_)
        ]
        compact.active_ = tuple(kernels)
        compact._width = len(rows)
        return compact

    def moved(self, X: Any) -> KernelBank:
        """This bank with the rows of X instead of its training rows, nothing fitted anew.

        Refused where a transform reads all training columns (`Center`, a clipped repair).
        """
        table = self._test_table(X)
        bank, shared = copy.copy(self), dict[tuple[Selection, int], Rows]()
        bank.views_ = []
        for view in self.views_:
            key = (view.selection, id(view.scaling))
            if key not in shared:
                shared[key] = view.test_rows(table)
            rows = shared[key]
            with naming(view.label):
                diagonal = view.kernel.evaluate_diagonal(rows) if view.transforms.transforms else np.empty(0)
                bank.views_.append(replace(view, transforms=view.transforms.moved(diagonal), rows=rows))
        bank.n_train_ = bank._width = count_rows(table)
        return bank

    def training_stack(self) -> np.ndarray:
        """The Grams of the training rows that the bank holds, (m, n, n), as `fit_stack` returns them."""
        users = [id(view.rows) for view in self.views_]
        Ks = np.empty((self.n_kernels_, self.n_train_, self.n_train_), dtype=check_float_dtype(self.dtype))
        pair: Pair | None = None
        for view, K in zip(self.views_, Ks, strict=True):
            if pair is None or pair.right is not view.rows:
                pair = Pair(view.rows, view.rows, keep=users.count(id(view.rows)) > 1)
            with naming(view.label):
                view.kernel.evaluate(pair, K)
                view.transforms.train(K, overwrite=True)
        return Ks

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "views_")


def _training_rows(n: int) -> str:
    """What messages call the training rows."""
    return "training rows" if n > 1 else "only training row (n_samples = 1)"


# --- the checks and repairs every training Gram goes through --------------------------------------


def needs_repair(K: np.ndarray, facts: GramFacts, label: str, *, psd: str, full: bool) -> bool:
    """Whether the Gram is provably indefinite and `psd` asks for a repair; refused when ``psd="error"``."""
    if not (facts.breaks_schwarz or is_indefinite(K, full=full)):
        return False
    if psd == "error":
        raise_indefinite(K, label)
    return True


def repair(K: np.ndarray, psd: str, label: str) -> PSDRepair:
    """Repair `K` in place; returns the fitted repair, which test rows need too."""
    fitted = PSDRepair(psd).fit(K)
    fitted.train(K, overwrite=True)
    facts = check_gram(K, label)
    if facts.degenerate:
        raise_degenerate(f'{label}, repaired with psd="{psd}",', facts.degenerate)
    return fitted

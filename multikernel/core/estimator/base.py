"""What all estimators on kernels share: input checks, the kernels of the samples, predictions, warnings."""

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin, OutlierMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags, _safe_indexing, gen_batches
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from ..._typing import Array
from ..._validation import (
    RowError,
    as_numbers,
    check_number,
    check_positive_integer,
    is_frame,
    is_indefinite,
    new_by_present_names,
    raise_indefinite,
    refuse_old_names,
    warn_caller,
)
from ...kernels.together import OnDemand
from ...rows import count_rows
from ...views import CompletedBank, KernelBank, View
from ...views.layout import align, layout_of
from ...views.parameters import parameters, with_parameters
from ...views.precomputed import is_precomputed, storage_of
from ...views.stacks import as_stack, ids_of, match_stack, names_of, require_training_labels, training_labels
from ...views.tables import MultiTable, as_array, as_tables, require_distinct_columns
from ...views.view import (
    as_views,
    check_normalize,
    check_standardize,
    is_automatic,
    refuse_kept_views,
)
from ...viz.card import html_inner, mimebundle, params_html
from ...viz.fitted import contributions_table, weights_table
from ..callbacks import CallbackSupportMixin, reports_its_task
from ..fitted import FittedKernels
from ..inputs import (
    Samples,
    all_samples,
    checks_ids,
    distinct_samples,
)
from ..kernel_checks import tell_of_kernels
from ..limits import within_limits
from ..optim.loop import Status
from ..row_input import by_chunks, refuse_dask
from ..stack.sums import stack_of_rows

_BATCH_ROWS = 2048
STORAGE = ("psd", "gram", "dtype", "rank", "missing")  # what a KernelBank says of its kernels
_PLAIN = {"gram": "dense", "missing": "error"}  # what every family does, beside the defaults of a bank


def worst_status(statuses: Sequence[Status]) -> str:
    """The status of a model of several machines."""
    return str(max(statuses, key=list(Status).index))


def on_rows(Ks: Array, rows: Array) -> Array:
    """The stack of some of the samples: itself when they are all."""
    return Ks if rows.size == Ks.shape[1] else stack_of_rows(Ks, rows)


class KernelEstimator(CallbackSupportMixin, BaseEstimator):
    """Base of every estimator on kernels; ``fit`` validates, makes the kernels, solves and stores.

    A family may set or override the following, and nothing else of this class.

    What it is:

    - ``about`` : About, the row in the table of methods.
    - ``certificate`` : {"optimality", "stationarity", "machine"}, what ``dual_gap_`` certifies.

    Input:

    - ``_precomputed`` : whether X holds kernels; by default where ``kernels="precomputed"``.
    - ``_storage``, ``_storage_options`` : how kernels are stored, and what of that the family reads.
    - ``_reads_columns`` : whether it reads the columns of X as numbers itself, beside the kernels: categories
      and gaps are then refused.
    - ``_keeps_views`` : whether weights have the lower bounds that views ask for; else these are refused.
    - ``_kernel_parameters`` : names of the parameters that describe kernels.
    - ``_kernel_arguments()`` : their values.
    - ``_validate_table(X, reset=)`` : the check of X, by ``fit`` (``reset=True``) and by every prediction.
    - ``_validate_precomputed(X, reset=)`` : its part for an X that holds kernels.
    - ``_layout_of(X)`` : which columns are read, where the family reads others beside those of its views.
    - ``__sklearn_tags__()`` : scikit-learn's tags, on top of those set here.

    Convergence:

    - ``_gap_name``, ``_easier``, ``_more_columns`` : words of the warning: what ``dual_gap_`` is, what makes
      the problem better conditioned, and what to do where there are as many columns as may be.
    - ``_warn_unless_converged()`` : the warning itself, where a status needs none.

    Predictions and weights:

    - ``_fitted`` : FittedKernels, set by ``fit`` (or a property) where scores are sums over kernels. It makes
      ``_scores`` work, and ``contributions`` where ``_adds_kernels`` is true.
    - ``_adds_kernels`` : whether the scores are such sums, so that ``contributions`` exists.
    - ``contributions(X)`` : a method of its own where the sums are not those of ``_fitted``.
    - ``_answers_chunks`` : whether predictions of dask collections are lazy; else they are refused.
    - ``_weight_columns()`` : columns of ``weights_frame``, which only exists where this is defined.
    - ``weights_frame()`` : a method of its own where the table is not one row for each view.

    :class:`BaseMKL` adds hooks for its families, and the mixins of :mod:`.decisions` name what they read.
    """

    __new__ = new_by_present_names
    kernels: Any
    tol: float
    max_iter: int
    callback: Callable[[dict[str, float]], bool | None] | None
    view_names_: list[str]
    machine_weights_: Array
    status_: str
    dual_gap_: float
    n_iter_: int
    certificate: Any = "optimality"
    _fitted: FittedKernels
    _bank: Any
    _gram_names: list[str] | None = None  # of precomputed kernels that have names
    _support_rows: Array | None = None  # which rows of fit the samples in the bank are, where that is known
    _gram_ids: list[str] | None = None  # of the training samples, where precomputed kernels are frames
    _gap_name = "relative duality gap"
    _easier = "lower C"
    _more_columns = "Raise max_columns or tol."
    _adds_kernels = False
    _answers_chunks = False
    _storage_options: tuple[str, ...] = ("psd", "gram", "dtype")
    _keeps_views = False
    _reads_columns = False  # whether it reads the columns of X as numbers itself, beside the kernels
    _kernel_parameters: tuple[str, ...] = ("kernels",)
    _repr_html_inner = html_inner
    _repr_mimebundle_ = mimebundle
    _get_params_html = params_html

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "fit" in vars(cls):  # every fit has limits, and can be followed by scikit-learn's callbacks
            cls.fit = reports_its_task(within_limits(cls.fit))
        if issubclass(cls, ClassifierMixin | RegressorMixin) and not hasattr(cls.score, "_checks_ids"):
            cls.score = checks_ids(cls.score)

    # ------------------------------------------------------------------ parameters
    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name; with `deep`, those of the kernels by view, such as ``kernels__mrna__gamma``.

        Parameters
        ----------
        deep : bool, default=True

        Returns
        -------
        dict
        """
        found = super().get_params(deep=deep)
        for name in self._kernel_parameters if deep else ():
            found = {path: value for path, value in found.items() if not path.startswith(f"{name}__")}
            found |= {f"{name}__{path}": value for path, value in parameters(getattr(self, name)).items()}
        return found

    def set_params(self, **params: Any) -> Self:
        """Set parameters; those of the kernels by view, such as ``kernels__mrna__gamma``.

        Kernels and views are immutable: new ones take their place, and what was passed is not changed.

        Parameters
        ----------
        **params : dict
        """
        refuse_old_names(type(self), params)
        nested: dict[str, dict[str, Any]] = {name: {} for name in self._kernel_parameters}
        for path in list(params):
            name, _, rest = path.partition("__")
            if name in nested and rest:
                nested[name][rest] = params.pop(path)
        super().set_params(**params)
        for name, changes in nested.items():
            if changes:
                setattr(self, name, with_parameters(getattr(self, name), changes, type(self).__name__))
        return self

    # ------------------------------------------------------------------ tags and input
    @property
    def _storage(self) -> KernelBank:
        """How the kernels are stored: the bank that was given, or one by default."""
        return storage_of(self._kernel_arguments()[0])

    def _check_storage(self) -> None:
        """Refuse what a bank asks for and the family cannot do."""
        plain = KernelBank()
        unread = [name for name in STORAGE if name not in self._storage_options]
        for given, name in product(map(storage_of, self._kernel_arguments()), unread):
            value = getattr(given, name)
            if value not in (getattr(plain, name), _PLAIN.get(name)):
                raise ValueError(
                    f"{type(self).__name__} does not support {name}={value!r} of its KernelBank; it reads "
                    f"{', '.join(self._storage_options)} of it. Leave {name} out."
                )
        for given in map(storage_of, self._kernel_arguments()):
            check_standardize(given.standardize, "KernelBank: ")
            check_normalize(given.normalize, "KernelBank: ")
        if not self._keeps_views:
            refuse_kept_views(self._kernel_arguments(), type(self).__name__)

    @property
    def _precomputed(self) -> bool:
        return is_precomputed(self.kernels)

    @property
    def _bank_options(self) -> dict[str, Any]:
        """What the bank may do with columns, see `make_bank`."""
        return {"encodes": not self._reads_columns, "for_novelty": isinstance(self, OutlierMixin)}

    def _kernel_arguments(self) -> list[Any]:
        """The arguments that describe kernels."""
        return [getattr(self, name, "auto") for name in self._kernel_parameters]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        views = [] if self._precomputed else self._views_or_none()
        kernels = [view.kernel for view in views]
        tags.input_tags.sparse = all(kernel._reads_tables for kernel in kernels)
        tags.input_tags.pairwise = self._precomputed
        tags.input_tags.three_d_array = self._precomputed
        encode = not self._reads_columns  # else what is encoded for kernels is no number for the rest
        tags.input_tags.allow_nan = bool(views) and all(
            view.kernel._accepts_missing or (encode and view.encode) for view in views
        )
        tags.input_tags.categorical = bool(views) and all(
            view.kernel._reads_categories or (encode and view.encode) for view in views
        )
        tags.input_tags.string = bool(kernels) and all(kernel._reads_strings for kernel in kernels)
        return tags

    def _listed_views(self) -> list[View]:
        """The views of the parameters."""
        novelty = self._bank_options["for_novelty"]
        return [v for kernels in self._kernel_arguments() for v in as_views(kernels, for_novelty=novelty)]

    def _views_or_none(self) -> list[View]:
        """The views of the parameters; none where they are refused, in their own words, by a fit."""
        try:
            return self._listed_views()
        except (TypeError, ValueError):
            return []

    def _validate_table(self, X: Any, *, reset: bool) -> Any:
        """scikit-learn's checks on a table of numbers; others are checked by the kernels that read them."""
        refuse_dask(self, X)
        if self._precomputed:
            return self._validate_precomputed(X, reset=reset)
        X = as_tables(X)
        if reset:
            self._layout = self._layout_of(X)
        else:
            lacks = getattr(self, "missing_", "error") != "error"
            X = align(X, getattr(self, "_layout", None), type(self).__name__, may_lack_tables=lacks)
        if isinstance(X, MultiTable):
            if reset:
                self.n_features_in_ = X.shape[1]
            return X
        require_distinct_columns(X, "X")
        if is_frame(X) or self._reads_objects():
            validate_data(self, as_array(X), reset=reset, skip_check_array=True)
            return X
        X = as_numbers(X, "X")
        return validate_data(self, X, reset=reset, accept_sparse="csr", ensure_all_finite=False)

    def _layout_of(self, X: Any) -> Any:
        """Which columns the views read, for `align`; None where X is taken as it is."""
        if not isinstance(X, MultiTable) and not is_frame(X):
            return None
        return layout_of(X, self._listed_views())

    def _reads_objects(self) -> bool:
        """Whether some kernel compares other things than numbers, such as sequences."""
        return not all(view.kernel._reads_numbers for view in self._views_or_none())

    def _validate_precomputed(self, X: Any, *, reset: bool) -> Any:
        """Dicts and lists are stacked, by name after fit; the bank checks stacks kernel by kernel."""
        X = self._stack_of(np.asarray(X) if isinstance(X, memoryview) else X, reset=reset)
        if not reset:
            return X
        if hasattr(X, "shape") and len(X.shape) > 1:
            shape = X.shape
            if len(shape) == 3 and shape[0] != shape[1] and shape[1] == shape[2]:
                raise ValueError(
                    f"precomputed kernels come last, X of shape (n, n, n_kernels); got shape {shape}, with "
                    "them first. Use numpy.moveaxis(X, 0, 2), or stack_kernels on the list of matrices."
                )
            self.n_features_in_ = shape[1]
        return X

    def _stack_of(self, X: Any, *, reset: bool) -> Any:
        """Gram matrices in any form, with the names and the training samples of fit."""
        if not reset:
            if self._gram_ids is not None:
                require_training_labels(X, self._gram_ids)
            return match_stack(X, self._gram_names)
        self._gram_ids = training_labels(X)
        X = as_stack(X, at_fit=True)
        self._gram_names = names_of(X)
        return X

    def _check_numerics(self) -> None:
        check_positive_integer("max_iter", self.max_iter)
        check_number("tol", self.tol, above=0.0)

    # ------------------------------------------------------------------ kernels
    def _distinct(self, X: Any, targets: Array, weights: Array) -> Samples:
        """The samples that the solver sees; equal rows of a feature table are one."""
        targets = targets.reshape(weights.size, -1)
        return all_samples(weights) if self._precomputed else distinct_samples(X, targets, weights)

    def _fit_stack(self, X: Any, samples: Samples, *, on_demand: bool = False) -> Any:
        """Fit the bank; the training stack (n_kernels, n, n) of the samples, if asked one on demand."""
        if self._precomputed:  # the stack is checked whole, and its columns are the rows given at fit
            bank = self._bank
            is_completed = isinstance(bank, CompletedBank)
            Ks = bank.fit_stack(X, samples.rows) if is_completed else on_rows(bank.fit_stack(X), samples.rows)
        else:
            on_demand = on_demand and type(self._bank) is KernelBank
            fit_stack = self._bank.fit_on_demand if on_demand else self._bank.fit_stack
            try:
                Ks = fit_stack(samples.take(X))
            except ValueError:
                self._bank.fit_stack(X)  # the error speaks of the rows as the caller numbers them
                raise
            Ks = Ks if isinstance(Ks, OnDemand) else np.asarray(Ks)
        self.view_names_ = list(self._bank.view_names_)
        return Ks

    def _require_psd(self, Ks: Array, kernels: Sequence[int] | Array) -> None:
        """The solver met negative curvature: find the kernel that is to blame."""
        for m in kernels:
            if is_indefinite(Ks[m], full=True):
                raise_indefinite(Ks[m], f"kernel {self._bank.view_names_[m]!r}")

    # ------------------------------------------------------------------ warnings
    def _tell_of_kernels(self, Ks: Array, *, costs: Array | None = None, scaled: bool = False) -> None:
        """Warn of near-identity kernels, and of scales far apart unless the family brings them to one."""
        automatic = is_automatic(self._storage)
        tell_of_kernels(Ks, self._bank, costs=costs, automatic=automatic, scaled=scaled)

    def _warn_unless_converged(self) -> None:
        of_scale = self.__dict__.pop("_remedy", "")  # said once, and not part of the model
        if self.status_ in (Status.OPTIMAL, Status.INTERRUPTED):
            return
        searched = any("fits" in entry for entry in getattr(self, "history_", []))
        remedy = {
            Status.MAX_ITER: "Raise max_nodes of the KernelLimit, or tol."
            if searched
            else "Raise max_iter or tol, or normalize the kernels.",
            Status.MAX_TIME: "The time is over: raise max_time or tol, or normalize the kernels.",
            Status.MAX_COLUMNS: self._more_columns,
            Status.STALLED: of_scale
            or f"Floating point allows no better: raise tol, {self._easier}, or normalize the kernels.",
            Status.INDEFINITE: 'A kernel is indefinite: repair it with KernelBank(kernels, psd="clip").',
            Status.INSEPARABLE: "Use a finite C, or richer kernels.",
            Status.INFEASIBLE: "The problem has no solution: check costs and bounds.",
        }[Status(self.status_)]
        warn_caller(
            f"{type(self).__name__} did not reach tol={self.tol:g}: the {self._gap_name} is "
            f"{self.dual_gap_:.1e} after {self.n_iter_} {'nodes' if searched else 'iterations'} "
            f"(status {self.status_!r}). {remedy}",
            ConvergenceWarning,
        )

    # ------------------------------------------------------------------ predict
    @property
    def _prediction_bank(self) -> Any:
        """The bank of the samples and kernels that predictions read; None where there is none."""
        fitted = getattr(self, "_fitted", None)
        return getattr(self, "_bank", None) if fitted is None else fitted.bank

    def _by_batches(self, X: Any, predict: Callable[[Any], Any]) -> Iterator[Any]:
        """What `predict` says of the rows, some thousands at a time; precomputed kernels all at once.

        A row that is refused is named by its number in X.
        """
        check_is_fitted(self)
        X = self._validate_table(X, reset=False)
        n_rows = count_rows(X)
        if n_rows <= _BATCH_ROWS or self._precomputed:
            yield predict(X)
            return
        for rows in gen_batches(n_rows, _BATCH_ROWS):
            try:
                yield predict(_safe_indexing(X, rows))
            except RowError as error:
                raise error.in_row(rows.start + error.row) from None

    def _scores(self, X: Any) -> Array:
        """Scores without intercept, (n_samples, n_machines); one kernel and one batch of rows at a time."""
        return np.concatenate(list(self._by_batches(X, lambda rows: self._fitted.scores(rows))))

    @available_if(lambda self: self._adds_kernels)
    @by_chunks
    def contributions(self, X: Any) -> Array:
        """One score per kernel: what each view adds to the decision at each sample.

        Parameters
        ----------
        X : as for ``predict``

        Returns
        -------
        array of shape (n_samples, n_kernels), or (n_samples, n_machines, n_kernels) for several classifiers
            Summed over the kernels, with the intercept added, they are the scores.
        """
        blocks = self._by_batches(X, lambda rows: self._fitted.contributions(rows))
        every = np.concatenate(list(blocks))
        return every[:, 0] if every.shape[1] == 1 else every

    @available_if(lambda self: hasattr(self, "contributions"))
    def contributions_frame(self, X: Any) -> pd.DataFrame:
        """What each view adds to the score of each sample, as a table with names.

        Parameters
        ----------
        X : as for ``predict``

        Returns
        -------
        DataFrame
            A row for each sample, by its id where X has ids. A column for each view, ``intercept``, and
            ``score``, the sum of them; for several classifiers, columns of the levels ``machine`` and
            ``view``.
        """
        ids = ids_of(X, grams=self._precomputed)
        return contributions_table(self, self.contributions(X), ids)

    @available_if(lambda self: hasattr(self, "_weight_columns"))
    def weights_frame(self) -> pd.DataFrame:
        """The learned weights as a table, one row for each view.

        Returns
        -------
        DataFrame
            ``weight``, and what the model knows beside it, such as ``cost``, ``share``, ``std`` or
            ``n_columns``; also ``weight[name]`` for each classifier with weights of its own.
        """
        check_is_fitted(self)
        return weights_table(self, self._weight_columns())

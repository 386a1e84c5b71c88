"""Checks of targets, labels, parameters and sample weights, and the samples that a solver sees.

**Distinct samples** (:func:`distinct_samples`). Equal samples (same features, same target) are one sample
with the sum of their weights: the problem is the same, and smaller. Samples of weight zero are left out. The
rest is put in an order that depends on the values alone. So a weight of two is exactly a repeated row, and
the order of the rows changes nothing in a model. What kernels take from the data (widths, means, deviations)
they take from the distinct samples, each once. Precomputed Gram matrices, and tables with columns that are
not numbers, keep all rows in the order given.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import wraps
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse
from pandas.api.types import is_complex_dtype, is_numeric_dtype
from sklearn.base import is_classifier
from sklearn.utils import _safe_indexing, assert_all_finite, check_array, compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, column_or_1d

from .._typing import Array
from .._validation import as_numbers, check_number, codes_of_classes, is_frame, within_floats
from ..rows.tables import count_rows, is_dask, row_keys
from ..views.stacks import row_labels
from ..views.tables import MultiTable, as_table, as_tables
from ..views.view import View
from .weights.subset import Allowed, allowed_subsets, as_limit


# ---------------------------------------------------------------------- targets and labels
def require_y(estimator: Any, y: Any) -> None:
    """Refuse a missing target, in scikit-learn's words."""
    if y is None:
        raise ValueError(f"{type(estimator).__name__} requires y to be passed, but the target y is None.")


def check_targets(
    estimator: Any, X: Any, y: Any, *, multi_output: bool, may_lack_values: bool = False
) -> Array:
    """Real targets (n, n_outputs), as many rows as X has samples; NaN only where they may lack values."""
    require_y(estimator, y)
    given = y
    if not multi_output:
        y = column_or_1d(y, warn=True)
    y = as_numbers(y, "y", "Encode it as numbers, or use a classifier.")
    finite: Any = "allow-nan" if may_lack_values else True
    values = check_array(y, ensure_2d=False, dtype="numeric", input_name="y", ensure_all_finite=finite)
    values = values.astype(np.float64)
    n_samples = count_rows(X)
    if values.ndim > 2:
        raise ValueError(f"y must have shape (n,) or (n, n_outputs); got shape {values.shape}.")
    if values.shape[0] != n_samples:
        raise ValueError(
            f"X and y must have the same number of samples; got {n_samples} and {values.shape[0]}."
        )
    require_ids_of_fit(estimator, X, given)
    return values[:, None] if values.ndim == 1 else values


def standard_deviation(targets: Array, weights: Array | None = None) -> float:
    """Of the targets, with their weights; 1 where they are all the same.

    Examples
    --------
    >>> standard_deviation(np.array([1.0, 3.0])), standard_deviation(np.array([2.0, 2.0]))
    (1.0, 1.0)
    """
    unit = float(np.abs(targets).max())
    if not (0.0 < unit < np.inf):
        return 1.0
    values = targets / unit
    spread = float(np.sqrt(np.average((values - np.average(values, weights=weights)) ** 2, weights=weights)))
    return spread * unit if spread > 1e-12 and 0.0 < spread * unit < np.inf else 1.0


def encode_labels(estimator: Any, X: Any, y: Any) -> tuple[Array, Array]:
    """The sorted classes, and the code 0, 1, … of each sample."""
    require_y(estimator, y)
    given = y
    if not (type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in "biuf"):
        y = column_or_1d(y, warn=True)
    if y.dtype.kind not in "Obiu":
        assert_all_finite(y, input_name="y")
    classes, codes = codes_of_classes(y, if_missing="Leave samples without a label out.")
    if classes.size > 2 or not _are_whole(classes):  # of two whole numbers there is nothing to say
        check_classification_targets(y)
    n_samples = count_rows(X)
    if y.shape[0] != n_samples:
        raise ValueError(f"X and y must have the same number of samples; got {n_samples} and {y.shape[0]}.")
    require_ids_of_fit(estimator, X, given)
    return classes, codes


def _are_whole(values: Array) -> bool:
    """Whether an array holds whole numbers or truth values alone, told without a look at each sample."""
    return values.dtype.kind in "biu" or (
        values.dtype.kind == "f" and bool((values == np.rint(values)).all())
    )


def require_ids_of_fit(estimator: Any, X: Any, y: Any) -> None:
    """Refuse targets of other samples than those of the tables, or Gram matrices, that were validated."""
    if not getattr(estimator, "_precomputed", False):
        _require_same_ids(X, y)
        return
    rows = row_labels(X)
    _require_ids_of_grams(estimator._gram_ids if rows is None else rows, y)


def checks_ids(score: Callable[..., Any]) -> Callable[..., Any]:
    """A ``score`` that refuses targets of other samples than the rows of X, as ``fit`` does."""

    @wraps(score)
    def score_of_same_ids(self: Any, X: Any, y: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(getattr(y, "index", None), pd.Index) and not is_dask(X):
            require_same_samples(X, y, precomputed=self._precomputed)
        if is_classifier(self) and y is not None and not (is_dask(X) or is_dask(y)):
            _require_labels(y)
        return score(self, X, y, *args, **kwargs)

    score_of_same_ids._checks_ids = True  # type: ignore[attr-defined]
    return score_of_same_ids


def _require_labels(y: Any) -> None:
    """Refuse labels that cannot be compared: some missing, or texts beside numbers."""
    labels = np.asarray(y)
    if labels.dtype.kind == "O" and labels.ndim == 1:
        codes_of_classes(labels, if_missing="Leave samples without a label out.")


def require_same_samples(X: Any, y: Any, *, precomputed: bool) -> None:
    """Refuse targets of other samples than the rows of X, in any form that ``fit`` takes."""
    if precomputed:
        _require_ids_of_grams(row_labels(X), y)
    else:
        _require_same_ids(as_tables(X), y)


def _require_same_ids(X: Any, y: Any) -> None:
    """Refuse targets whose index names other samples than the rows of the tables.

    Numbers that are not the ids in another order may be mere positions, as a split leaves them: they pass.
    """
    ids, index = getattr(X, "ids", None), getattr(y, "index", None)
    if not isinstance(X, MultiTable) or ids is None or not isinstance(index, pd.Index):
        return
    numbers = is_numeric_dtype(index) or is_numeric_dtype(ids)
    _refuse_other_ids(ids, index, numbers, "with join_views(tables, y), or by y.loc[X.ids]")


def _require_ids_of_grams(ids: list[str] | None, y: Any) -> None:
    """Refuse targets whose index names other samples than the rows of labelled Gram matrices."""
    index = getattr(y, "index", None)
    if ids is None or not isinstance(index, pd.Index) or isinstance(index, pd.RangeIndex):
        return
    numbers = is_numeric_dtype(index) or all(label.lstrip("-").isdecimal() for label in ids)
    texts = pd.Index(list(map(str, index)), dtype=object)
    _refuse_other_ids(pd.Index(ids, dtype=object), texts, numbers, "by y.loc[ids], as y.loc[K.index]")


def _refuse_other_ids(ids: pd.Index, index: pd.Index, numbers: bool, way: str) -> None:
    if len(index) != len(ids) or isinstance(index, pd.RangeIndex) or index.equals(ids):
        return
    if numbers and not index.isin(ids).all():
        return
    place = next(row for row, (a, b) in enumerate(zip(ids, index, strict=True)) if a != b)
    raise ValueError(
        f"X and y have other samples in the same rows: row {place} is {ids[place]!r} in X and "
        f"{index[place]!r} in y. Align them {way}; if the rows agree as they are, pass y.to_numpy()."
    )


def require_two_classes(classes: Array, codes: Array) -> None:
    """At least two classes, each with a sample that counts."""
    if classes.size < 2:
        got = f"1 class: {classes.tolist()[0]!r}" if classes.size else "no sample"
        raise ValueError(f"a classifier needs samples of at least 2 classes; got {got}.")
    missing = np.setdiff1d(np.arange(classes.size), codes)
    if missing.size:
        raise ValueError(f"class {classes.tolist()[missing[0]]!r} has no sample with a positive weight.")


# ---------------------------------------------------------------------- parameters and sample weights
def check_norm(norm: Any, name: str = "norm") -> float:
    """p of the weight set: a number from 1 to infinity."""
    if isinstance(norm, float | np.floating) and np.isposinf(norm):
        return float("inf")
    return check_number(name, norm, at_least=1.0)


def check_C(C: Any, loss: str) -> float | None:
    """C as a positive number (infinity: hard margin); None when it is to be learned."""
    if isinstance(C, str):
        if C != "learn":
            raise ValueError(f'C must be a positive number, numpy.inf or "learn"; got {C!r}.')
        if loss != "squared_hinge":
            raise ValueError(
                f'C="learn" needs loss="squared_hinge" (its 1/C is a kernel weight); got loss={loss!r}.'
            )
        return None
    return check_price(C)


def check_price(C: Any) -> float:
    """C as a positive number; infinity is the hard margin."""
    if isinstance(C, float | np.floating) and np.isposinf(C):
        return float("inf")
    if isinstance(C, str):
        raise TypeError(f"C must be a positive number or numpy.inf; got {C!r}.")
    return check_number("C", C, above=0.0)


def check_finite_price(C: Any) -> float:
    """C of a machine whose kernel is learned by descent."""
    if check_price(C) == float("inf"):
        raise ValueError(
            "C must be finite; got inf. The objective is infinite at kernels that allow no exact fit, so "
            "gradient descent cannot proceed. Use a large C, such as 1e3."
        )
    return float(C)


def price_samples(C: float, weights: Array) -> Array:
    """C of each sample: C times its weight, which floating point must be able to hold."""
    with np.errstate(over="ignore", under="ignore"):
        prices = float(C) * weights
    if not np.isfinite(prices).all():
        raise ValueError(
            f"C times the weight of a sample is too large for floating point: C={C:g}, and weights up to "
            f"{weights.max():g}. Lower C, or divide the weights by their mean."
        )
    return np.asarray(prices)


def check_nu(nu: Any) -> float:
    """The share of samples that may lie outside: in (0, 1]."""
    value = check_number("nu", nu, above=0.0)
    if value > 1.0:
        raise ValueError(f"nu must be at most 1; got {nu!r}.")
    return value


def check_costs(costs: Any, names: list[str]) -> Array:
    """One positive cost for each kernel: an array, or by view name in a dict or Series (1 if not named)."""
    if costs is None:
        return np.ones(len(names))
    values = numbers_by_view("costs", costs, names, default=1.0)
    bad = np.flatnonzero(~(np.isfinite(values) & (values > 0)))
    if bad.size:
        raise ValueError(f"costs must be positive and finite; kernel {names[bad[0]]!r} has {values[bad[0]]}.")
    return values


def check_prices(prices: Any, names: list[str]) -> Array:
    """One price of at least 0 for each kernel, as :func:`check_costs`; views that are not named are free."""
    values = numbers_by_view("prices", prices, names, default=0.0)
    bad = np.flatnonzero(~(np.isfinite(values) & (values >= 0)))
    if bad.size:
        raise ValueError(
            f"prices must be finite and at least 0; kernel {names[bad[0]]!r} has {values[bad[0]]}."
        )
    return values


def check_limit(max_kernels: Any, names: list[str], floor: Array | None, place: str) -> Allowed | None:
    """The subsets of kernels that `max_kernels` allows; None where it allows all kernels at once."""
    limit = as_limit(max_kernels)
    if limit is None:
        return None
    prices = None if limit.prices is None else check_prices(limit.prices, names)
    kept = np.zeros(0, np.intp) if floor is None else np.flatnonzero(floor)
    allowed = allowed_subsets(limit, prices, names, kept)
    if allowed.holds(np.arange(len(names))):
        return None
    if place == "memmap":
        raise ValueError(
            "max_kernels needs the kernels in memory; got gram='memmap', or kernels that do not "
            "fit in memory. Use fewer samples or kernels, or dtype='float32' with gram='dense'."
        )
    return allowed


def numbers_by_view(what: str, given: Any, names: list[str], default: float) -> Array:
    """One number for each kernel, of an array, or by view name in a dict or Series."""
    if isinstance(given, pd.Series) and not given.index.equals(pd.RangeIndex(len(given))):
        repeated = given.index[given.index.duplicated()].tolist()
        if repeated:
            raise ValueError(f"{what} names view {repeated[0]!r} twice; give one for each.")
        given = given.to_dict()
    if isinstance(given, Mapping):
        unknown = sorted(set(given) - set(names), key=str)
        if unknown:
            raise ValueError(f"{what} names unknown views {unknown}; the views are {names}.")
        given = [given.get(name, default) for name in names]
    try:
        with within_floats(what):
            values = np.asarray(given, float)
    except (TypeError, ValueError, OverflowError) as error:
        raise TypeError(f"{what} must hold one number for each kernel; got {given!r}.") from error
    if values.shape != (len(names),):
        raise ValueError(
            f"{what} must hold one number for each of the {len(names)} kernels; got shape {values.shape}."
        )
    return values


def check_sample_weights(sample_weight: Any, n_samples: int) -> Array:
    """Nonnegative weights with at least one positive; ones by default."""
    if n_samples == 0:
        raise ValueError("X must hold at least one sample; got 0 sample(s).")
    probe = np.empty((n_samples, 1))
    if sample_weight is not None:
        given = as_numbers(sample_weight, "sample_weight", "Give one number for each sample.")
        if isinstance(given, np.ndarray) and not given.any():
            raise ValueError("sample_weight must have a positive entry; all are zero.")
    weights = _check_sample_weight(sample_weight, probe, dtype=np.float64, ensure_non_negative=True)
    return np.asarray(weights)


def weigh_samples(class_weight: Any, classes: Array, codes: Array, sample_weight: Any) -> Array:
    """The weight of each sample: its own times that of its class."""
    weights = check_sample_weights(sample_weight, codes.size)
    if class_weight is None:
        return weights
    by_class = compute_class_weight(class_weight, classes=classes, y=classes[codes], sample_weight=weights)
    for label, weight in zip(classes.tolist(), by_class.tolist(), strict=True):
        if not (np.isfinite(weight) and weight >= 0):
            raise ValueError(
                f"class_weight must be finite and not negative; got {weight!r} for class {label!r}."
            )
    return np.asarray(weights * by_class[codes])


def check_matrix_C(C: Any, method: str) -> float | None:
    """C of a learned kernel matrix: positive and finite; None when it is to be learned."""
    if isinstance(C, str):
        if C != "learn":
            raise ValueError(f'C must be a positive number or "learn"; got {C!r}.')
        if method != "soft2":
            raise ValueError(f'C="learn" needs method="soft2" (its 1/C is a weight); got {method!r}.')
        return None
    if isinstance(C, float | np.floating) and np.isposinf(C):
        if method == "hard":
            return float("inf")
        raise ValueError('C must be finite; for the hard margin use method="hard".')
    return check_number("C", C, above=0.0)


def check_trace(trace: Any) -> None:
    """The trace of a learned kernel matrix: None, or positive and finite."""
    if trace is not None and not check_number("trace", trace) > 0.0:
        raise ValueError(
            f"trace must be positive; got {trace!r}. No positive semidefinite matrix but zero has such a "
            "trace; leave it out for the sum of the kernels' traces."
        )
    if trace is not None and not 1e-100 <= trace <= 1e100:
        raise ValueError(f"trace must lie between 1e-100 and 1e100; got {trace!r}.")


def check_weight_range(weights: Array) -> None:
    """Where C is learned, their inverses are the entries of a kernel: they may not overflow."""
    positive = weights[weights > 0]
    if positive.size and not (positive.min() >= 1e-100 and positive.max() <= 1e100):
        raise ValueError(
            'weights of samples must lie between 1e-100 and 1e100 for C="learn"; got '
            f"{positive.min():.1e} to {positive.max():.1e}. Rescale them, or leave those samples out."
        )


# ---------------------------------------------------------------------- distinct samples
@dataclass(frozen=True)
class Samples:
    """How the samples of the caller map to those of the solver."""

    rows: Array  # (n_distinct,), a row of the caller's table for each distinct sample
    weights: Array  # (n_distinct,), the sum of the weights of its repetitions
    group: Array  # (n,), the distinct sample of each row, −1 for rows of weight zero
    share: Array  # (n,), the part of its sample's weight that each row has

    def take(self, X: Any) -> Any:
        """The distinct rows of the table."""
        identity = self.rows.size == self.group.size and (self.rows == np.arange(self.rows.size)).all()
        return X if identity else _safe_indexing(X, self.rows)

    def among(self, places: Array) -> "Samples":
        """Some of the samples, by their places: rows of the others count as rows of weight zero."""
        new = np.full(self.rows.size + 1, -1)  # the last is that of −1
        new[places] = np.arange(places.size)
        return Samples(self.rows[places], self.weights[places], new[self.group], self.share)

    def spread(self, duals: Array) -> Array:
        """Dual variables of the distinct samples, shared out to all the rows (n_machines, n)."""
        return np.where(self.group >= 0, duals[:, self.group] * self.share, 0.0)


def distinct_samples(X: Any, targets: Array, weights: Array) -> Samples:
    """Merge equal rows of a feature table that have equal targets (n, n_targets)."""
    used = np.flatnonzero(weights > 0)
    keys = _row_keys(X, targets)
    if keys is None:
        return all_samples(weights)
    _, first, inverse = np.unique(keys[used], return_index=True, return_inverse=True)
    merged = np.bincount(inverse, weights[used], first.size)
    group = np.full(weights.size, -1)
    group[used] = inverse
    share = np.zeros(weights.size)
    share[used] = weights[used] / merged[inverse]
    return Samples(used[first], merged, group, share)


def all_samples(weights: Array) -> Samples:
    """Every row of positive weight is a sample of its own, in the order given."""
    rows = np.flatnonzero(weights > 0)
    group = np.full(weights.size, -1)
    group[rows] = np.arange(rows.size)
    return Samples(rows, weights[rows], group, (weights > 0).astype(float))


def _row_keys(X: Any, targets: Array) -> Array | None:
    """One sortable key for each row and its targets; None where the rows cannot be compared."""
    if scipy.sparse.issparse(X):
        return row_keys(scipy.sparse.hstack([X, scipy.sparse.csr_matrix(targets)], "csr", np.float64))
    table = as_table(X)
    if isinstance(table, list):
        return None
    if isinstance(table, MultiTable):
        table = table.distinct_codes()
        if table is None:
            return None
    values = _frame_values(table) if is_frame(table) else table
    return row_keys(np.column_stack([values, targets])) if values.dtype.kind in "fiub" else None


def _frame_values(X: Any) -> Array:
    """The entries of a frame; columns of pandas' own numbers as the plain numbers that they hold."""
    if all(is_numeric_dtype(dtype) and not is_complex_dtype(dtype) for dtype in X.dtypes):
        with suppress(TypeError, ValueError):  # a missing one, which the kernels refuse by its place
            return np.asarray(X.to_numpy(dtype=np.float64))
    return np.asarray(X.to_numpy())


def lower_bounds(views: Sequence[View], names: Sequence[str], norm: float) -> Array:
    """The lower bounds of d_m² μ_m that views ask for by ``keep``, 0 for the others, (n_kernels,).

    Examples
    --------
    >>> from multikernel.kernels import Linear
    >>> lower_bounds([View("age", Linear(), keep=True)], ["age", "genes"], 1.0).tolist()
    [0.25, 0.0]
    """
    floor = np.zeros(len(names))
    for view in views:
        if view.keep:
            floor[names.index(view.name)] = 0.5 / floor.size if view.keep is True else float(view.keep)
    size = float(np.linalg.norm(floor, norm))
    if not size < 1.0:
        shares = ", ".join(f"{name!r}: {share:g}" for name, share in zip(names, floor, strict=True) if share)
        raise ValueError(
            "the shares of kept views must have a norm below 1, so that there is something to learn; got "
            f"{size:.3g} at norm={norm:g} ({shares}). Use smaller shares, or keep=True."
        )
    return floor

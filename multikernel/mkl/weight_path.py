"""The weights of the views along one parameter: which views come in, stay and go as C, say, grows."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone, is_classifier
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import indexable

from .._typing import Array
from ..core.estimator import BaseMKL
from ..core.folds import check_one_score, list_splits
from ..core.inputs import check_costs
from ..core.low_rank import settle_route
from ..rows import count_rows, is_dask
from ..rows.tables import distinct_rows
from ..views import KernelBank, as_views, make_bank
from ..views.frames import as_pandas
from ..views.low_rank import choose_gram
from ..views.precomputed import is_precomputed
from ..views.stacks import NamedStack, as_stack, names_of
from ..views.tables import as_table, as_tables, is_tables
from ..views.view import place_views
from ..viz.fitted import last_of, shares_of, weight_names
from .cost_path import EXPONENTS, _raised
from .regularized.base import Regularized

# The values of a path where none are given. Those of costs are exponents, as of cost_path.
VALUES: dict[str, tuple[float, ...]] = {
    "C": (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0),
    "alpha": (0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0),
    "norm": (1.0, 1.1, 1.25, 1.5, 2.0, 4.0, np.inf),
    "costs": EXPONENTS,
}
_CERTIFICATES = ("status", "dual_gap", "objective", "n_iter")
# Settings of a bank that keep the fits from sharing one stack of Gram matrices, unless they are as here.
_PLAIN = {"gram": ("auto", "dense"), "psd": ("error",), "rank": (None,), "missing": ("auto", "error")}


@dataclass(frozen=True, repr=False)
class WeightPath:
    """What :func:`weight_path` found, by the value of the parameter.

    Attributes
    ----------
    parameter : str
    weights : DataFrame of shape (n_views, n_values)
        The kernel weights.
    table : DataFrame, one row for each value
        ``n_nonzero``, the number of views with a weight other than 0; ``status``, ``dual_gap``, ``objective``
        and ``n_iter`` of the fit, where the model has them; ``score`` and ``score_sd`` over the folds, where
        scores were asked for.
    scores : DataFrame of shape (n_values, n_folds) or None
        The score of each fold: the folds are the same for all values.
    """

    parameter: str
    weights: pd.DataFrame
    table: pd.DataFrame
    scores: pd.DataFrame | None = None

    def __post_init__(self) -> None:
        for name in ("weights", "table"):
            if not isinstance(getattr(self, name), pd.DataFrame):
                raise TypeError(f"{name} must be a DataFrame, as weight_path makes it.")

    def to_frame(self, *, shares: bool = False) -> pd.DataFrame:
        """The weights as a frame of its own, a row for each view and a column for each value.

        Parameters
        ----------
        shares : bool, default=False
            Whether to divide the weights of each value by the sum of their absolute values.
        """
        return self.weights.apply(shares_of, raw=True) if shares else self.weights.copy()

    def plot(self, ax: Any = None, *, top: int = 30) -> Any:
        """Draw the shares of the weight as a heat map, views by values.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        top : int, default=30
            Maximum number of views, those with the largest shares.

        Returns
        -------
        matplotlib Axes
        """
        from ..viz import weight_path

        return weight_path(self, top=top, ax=ax)

    def __repr__(self) -> str:
        return (
            f"WeightPath of {len(self.weights)} views along {len(self.table)} values of {self.parameter}:\n"
            f"{self.table.to_string(float_format='{:.4g}'.format)}"
        )


def weight_path(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    parameter: str = "C",
    values: Sequence[float] | None = None,
    cv: Any = None,
    scoring: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> WeightPath:
    r"""Fit a model at each value of one parameter, and keep the weights of its views.

    Parameters
    ----------
    estimator : estimator with kernel weights
        Such as MKLClassifier or MKLRidge, or a pipeline that ends in one. It is cloned, never fitted itself.
    X : as for its ``fit``
    y : as for its ``fit``, default=None
    parameter : str, default="C"
        The parameter of the estimator (of the last step of a pipeline) that changes:

        - "C", "alpha": how strongly the model is regularized;
        - "norm": how sparse the weights are, from 1 to infinity;
        - "costs": `values` are exponents e of the estimator's own costs, :math:`(d_m / \min_k d_k)^e`: at 0
          costs do not count, at 1 they count as they are;
        - any other one that takes numbers.
    values : sequence of float, default=None
        Its values, all different. None is for the four named above: nine from 0.01 to 100 for "C", seven
        from 0.001 to 1000 for "alpha", seven from 1 to infinity for "norm", seven from 0 to 2 for "costs".
    cv : int, cross-validation generator or iterable of splits, default=None
        Folds on which the model is scored at each value; None computes no scores. A number is at most the
        size of the smallest class.
    scoring : str or callable, default=None
        As in scikit-learn; None is the estimator's own ``score``.
    n_jobs : int, default=None
        Folds fitted at the same time.
    verbose : int, default=0
        1 writes a line for each value to standard error.

    Returns
    -------
    WeightPath
        ``to_frame()``, ``plot()``, and in ``table`` the certificate of each fit.

    Notes
    -----
    The kernels are computed once for all values where that gives the same models: for estimators with global
    weights on one table without repeated rows, and parameters of storage left as they are. Folds always
    compute their own, so that no score has seen its test samples.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from multikernel import MKLClassifier
    >>> from multikernel.kernels import Gaussian
    >>> from multikernel.mkl import weight_path
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = (X - X.mean(axis=0)) / X.std(axis=0)
    >>> views = [("mean", Gaussian(), slice(0, 10)), ("worst", Gaussian(), slice(20, 30))]
    >>> path = weight_path(MKLClassifier(views), X[:200], y[:200], parameter="norm", values=[1, 2])
    >>> path.to_frame().shape, path.table["status"].tolist()
    ((2, 2), ['optimal', 'optimal'])
    """
    machine, prefix = _last_step(estimator)
    points = _check_points(machine, parameter, values)
    if not getattr(estimator, "_precomputed", False):
        X = as_tables(X)
    X, y = indexable(X, y)
    check_one_score(scoring, has_targets=y is not None)
    folds = None if cv is None else list_splits(cv, X, y, classifier=is_classifier(estimator))
    base, table, names = _with_shared_kernels(estimator, X)
    fitted, scores = [], []
    for point in points:
        started = time.perf_counter()
        setting = _costs_at(machine, X, names, point) if parameter == "costs" else point
        changed = {f"{prefix}{parameter}": setting}
        fitted.append(last_of(clone(base).set_params(**changed).fit(table, y))[0])
        if folds is not None:
            model = settle_route(clone(estimator).set_params(**changed), X)
            scores.append(_scores(model, X, y, folds, scoring, n_jobs))
        if verbose:
            _write_progress(parameter, point, fitted[-1], time.perf_counter() - started)
    return _collect(parameter, points, fitted, names, scores)


# ---------------------------------------------------------------------- what is asked for
def _last_step(estimator: Any) -> tuple[Any, str]:
    """The last step of a pipeline, or the estimator; and the prefix of its parameters."""
    if isinstance(estimator, Pipeline):
        name, last = estimator.steps[-1]
        machine, prefix = _last_step(last)
        return machine, f"{name}__{prefix}"
    if not hasattr(estimator, "get_params") or not hasattr(estimator, "fit"):
        raise TypeError(
            "estimator must be one that learns kernel weights, such as MKLClassifier, or a pipeline that "
            f"ends in one; got {type(estimator).__name__}."
        )
    return estimator, ""


def _check_points(machine: Any, parameter: Any, values: Any) -> list[float]:
    known = machine.get_params(deep=False)
    if parameter not in known:
        usual = [name for name in VALUES if name in known]
        raise ValueError(
            f"parameter must be one of {type(machine).__name__}, such as {usual}; got {parameter!r}."
        )
    if values is None and parameter not in VALUES:
        raise ValueError(f"values must be given for parameter={parameter!r}; got None.")
    if parameter == "costs" and known["costs"] is None:
        raise ValueError(
            "parameter='costs' needs costs of the views, of which values are exponents; the estimator has "
            "costs=None. Give it costs, as in set_params(costs={'view': 4.0})."
        )
    try:
        points = np.asarray(VALUES[parameter] if values is None else values, dtype=float)
    except (TypeError, ValueError, OverflowError) as error:
        raise TypeError(f"values must be a list of numbers; got {values!r}.") from error
    if points.ndim != 1 or not points.size or np.isnan(points).any():
        raise ValueError(f"values must be a list of numbers, one at least; got {values!r}.")
    if np.unique(points).size < points.size:
        raise ValueError(f"values must differ from each other; got {values!r}.")
    return [float(point) for point in points]


def _costs_at(machine: Any, X: Any, names: list[str] | None, exponent: float) -> Array:
    """The costs of the estimator, relative to the lowest, to the power of the exponent."""
    if names is None:
        names = _names(machine, X)
    return _raised(pd.Series(check_costs(machine.costs, names), index=names), exponent).to_numpy()


def _names(machine: Any, X: Any) -> list[str]:
    """The names of the views, or of the precomputed kernels in X."""
    if not is_precomputed(machine.kernels):
        views = machine._listed_views()
        return [view.name for view in (place_views(views, as_table(X)) if is_tables(X) else views)]
    return names_of(X) or [f"kernel-{m}" for m in range((np.shape(as_stack(X)) + (1,))[2])]


# ---------------------------------------------------------------------- kernels computed once
def _with_shared_kernels(estimator: Any, X: Any) -> tuple[Any, Any, list[str] | None]:
    """The estimator to fit, its X, and the names of the views where these are a stack of Gram matrices."""
    if not _can_share(estimator, X):
        return estimator, X, None
    bank = make_bank(estimator.kernels, **estimator._bank_options)
    stack = bank.fit_transform(as_pandas(X))
    names = list(bank.view_names_)
    costs = None if estimator.costs is None else check_costs(estimator.costs, names)
    return clone(estimator).set_params(kernels="precomputed", costs=costs), NamedStack(stack, names), names


def _can_share(estimator: Any, X: Any) -> bool:
    """Whether models on one stack of Gram matrices are those on the table."""
    if not isinstance(estimator, BaseMKL) or isinstance(estimator, Regularized):
        return False
    kernels, stored = estimator.kernels, estimator._storage
    if estimator._precomputed or is_dask(X) or is_tables(X):
        return False
    if any(getattr(stored, name) not in plain for name, plain in _PLAIN.items()):
        return False
    if any(getattr(view, "keep", False) for view in as_views(kernels)):  # which a stack does not say
        return False
    table = as_table(as_pandas(X))
    n = count_rows(table)
    if n == 0 or choose_gram("auto", n, kernels) != "dense":
        return False
    return KernelBank(stored.kernels).memory_estimate(n).fits and len(distinct_rows(table)[0]) == n


# ---------------------------------------------------------------------- what is found
def _scores(model: Any, X: Any, y: Any, folds: Any, scoring: Any, n_jobs: int | None) -> Array:
    scores = cross_val_score(model, X, y, cv=folds, scoring=scoring, n_jobs=n_jobs, error_score="raise")
    return np.asarray(scores)


def _collect(
    parameter: str, points: list[float], fitted: list[Any], names: list[str] | None, scores: list[Array]
) -> WeightPath:
    values = pd.Index(points, name=parameter)
    views = pd.Index(weight_names(fitted[0]) if names is None else names, name="view")
    weights = np.column_stack([_weights_of(model) for model in fitted])
    columns: dict[str, Any] = {"n_nonzero": (weights != 0.0).sum(axis=0)}
    for name in _CERTIFICATES:
        if all(hasattr(model, f"{name}_") for model in fitted):
            columns[name] = [getattr(model, f"{name}_") for model in fitted]
    if scores:
        columns["score"] = np.mean(scores, axis=1)
        columns["score_sd"] = np.std(scores, axis=1, ddof=1)
    return WeightPath(
        parameter,
        pd.DataFrame(weights, index=views, columns=values),
        pd.DataFrame(columns, index=values),
        pd.DataFrame(scores, index=values) if scores else None,
    )


def _weights_of(model: Any) -> Array:
    weights = getattr(model, "kernel_weights_", None)
    if weights is None:
        raise TypeError(
            f"estimator must learn kernel weights; {type(model).__name__} has no kernel_weights_ after fit. "
            "Use one that does, such as MKLClassifier."
        )
    return np.asarray(weights, dtype=np.float64)


def _write_progress(parameter: str, point: float, model: Any, seconds: float) -> None:
    n_nonzero = np.count_nonzero(_weights_of(model))
    sys.stderr.write(
        f"[multikernel] {parameter} {point:g}:  {n_nonzero} views with weight  gap "
        f"{getattr(model, 'dual_gap_', np.nan):.1e}  {seconds:.1f} s\n"
    )

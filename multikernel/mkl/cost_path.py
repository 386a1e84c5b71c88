"""Accuracy against cost: the same model with costs that count less, fully, or more than they are.

    d_m(e) = (d_m / min_k d_k)^e,   e = 0: costs do not count,   e = 1: they count as they are,

cross-validated on the same folds for every exponent e. Whatever the exponent, what a prediction costs is
measured with the true costs d.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from joblib import delayed
from sklearn.base import clone, is_classifier
from sklearn.metrics import check_scoring
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.pipeline import Pipeline
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.validation import check_is_fitted, indexable

from .._typing import Array
from .._validation import warn_caller, within_floats
from ..core.estimator import BaseMKL
from ..core.fitted import (
    CostFront,
    active_kernels,
    factor_cost,
    front_tables,
    measure_settings,
    prediction_cost,
)
from ..core.folds import check_one_score, check_score, list_splits
from ..core.inputs import check_costs
from ..core.low_rank import settle_route
from .regularized.base import Regularized

_SEARCHES = (GridSearchCV, RandomizedSearchCV)
EXPONENTS = (0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0)


@dataclass(frozen=True, repr=False)
class CostPath(CostFront):
    """What :func:`cost_path` found, by exponent.

    Attributes
    ----------
    table : DataFrame, one row for each exponent
        ``score`` and ``score_sd`` over the folds; ``n_support`` and ``support_share`` (of the training
        samples; for a model on factors, the mean rank of its active kernels instead of support samples);
        ``n_active``, the number of kernels that a prediction needs; ``cost`` and ``cost_sd`` of predicting
        one sample, at the true costs (as ``total_cost_`` counts it); ``cost_share``, its part of the cost of
        all kernels to all training samples; ``efficient``, whether no other exponent is as good at a lower
        cost, or better at the same cost. All but the last are means over the folds.
    weights : DataFrame of shape (n_exponents, n_kernels)
        The kernel weights, means over the folds.
    scores : DataFrame of shape (n_exponents, n_folds)
        The score of each fold: the folds are the same for all exponents, so that rows are paired.
    costs : Series (n_kernels,)
        The true costs by view name.
    """

    table: pd.DataFrame
    weights: pd.DataFrame
    scores: pd.DataFrame
    costs: pd.Series
    _made_by, _settings, _series = "cost_path", "exponents", ("costs",)

    def costs_at(self, exponent: float) -> dict[str, float]:
        """The ``costs`` that an estimator was fitted with at an exponent, by view name."""
        return {str(name): float(cost) for name, cost in _raised(self.costs, float(exponent)).items()}

    def cost_of(self, model: Any) -> float:
        """What a prediction of a fitted model costs at the true costs, whatever costs it was fitted with."""
        check_is_fitted(model)
        machine = _fitted_machine(model)
        if list(machine.view_names_) != list(self.costs.index):
            raise ValueError(
                f"model must have the kernels of the path, {list(self.costs.index)}; got "
                f"{list(machine.view_names_)}."
            )
        return _cost(machine, self.costs)


def cost_path(
    estimator: Any,
    X: Any,
    y: Any,
    costs: Any = None,
    *,
    exponents: Sequence[float] = EXPONENTS,
    cv: Any = 5,
    scoring: Any = None,
    n_jobs: int | None = None,
    random_state: Any = None,
    verbose: int = 0,
) -> CostPath:
    r"""Cross-validate a model at growing costs of its kernels: what does the last percent cost?

    .. math::

        d_m(e) = (d_m / \min_k d_k)^e

    for every exponent e: at 0 costs do not count, at 1 they count as they are, beyond they count more. Only
    their proportions matter, so the least cost, and with it the meaning of C, does not change.

    Parameters
    ----------
    estimator : MKLClassifier, PosteriorSVC, MKLRegressor, MKLRidge or MKLOneClass
        Or a pipeline that ends in one, or a grid search over one of these (which then chooses, say, its own C
        at every exponent, but not the costs). It is cloned, never fitted itself.
    X, y : as for its ``fit``
    costs : array of shape (n_kernels,), or dict or Series by view name, default=None
        What a value of each kernel costs; those of the estimator if None.
    exponents : sequence of float >= 0, default=(0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0)
    cv : int, cross-validation generator or iterable of splits, default=5
        As in scikit-learn, but a number is at most the size of the smallest class; the same folds for every
        exponent. With groups, ``list(cv.split(X, y, groups))``.
    scoring : str or callable, default=None
        As in scikit-learn; the estimator's own ``score`` if None.
    n_jobs : int, default=None
        Folds fitted at the same time, in threads.
    random_state : int, RandomState or None, default=None
        Shuffles the folds where ``cv`` is a number; None takes the samples in the order given.
    verbose : int, default=0
        1 writes a line for each exponent to standard error.

    Returns
    -------
    CostPath
        Its ``table``, ``plot()`` and ``cheapest(within=0.01)``. To use an exponent, fit the estimator with
        ``costs=path.costs_at(exponent)``.

    Notes
    -----
    A costly kernel that is needed becomes smaller as the exponent grows, as if C were smaller: it
    may take more support samples, and the cost may rise. Give a search over C where that matters.

    An exponent that was chosen for its score has a score that is too good: judge it on other samples.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from multikernel import MKLClassifier
    >>> from multikernel.mkl import cost_path
    >>> from multikernel.kernels import Gaussian
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = (X - X.mean(axis=0)) / X.std(axis=0)
    >>> views = [("mean", Gaussian(), slice(0, 10)), ("worst", Gaussian(), slice(20, 30))]
    >>> path = cost_path(MKLClassifier(views), X, y, {"worst": 4.0}, exponents=[0, 1, 2], cv=3)
    >>> bool(path.table.loc[2.0, "cost"] < path.table.loc[0.0, "cost"])
    True
    >>> model = MKLClassifier(views, costs=path.costs_at(path.cheapest(within=0.01))).fit(X, y)
    >>> bool(path.cost_of(model) < len(y))
    True
    """
    machine, prefix = _find_machine(estimator)
    costs = machine.costs if costs is None else costs
    powers = _check_exponents(exponents)
    X, y = indexable(X, y)
    check_one_score(scoring, has_targets=y is not None)
    folds = list_splits(cv, X, y, classifier=is_classifier(estimator), random_state=random_state)
    true_costs = _true_costs(costs, _view_names(machine, (estimator, prefix, X, y, folds[0][0])))
    scorer = check_scoring(estimator, scoring)

    def jobs_at(exponent: float) -> Iterator[Any]:
        model = clone(estimator).set_params(**{f"{prefix}costs": _raised(true_costs, exponent).to_numpy()})
        settle_route(model, X)
        return (delayed(_measure)(clone(model), scorer, X, y, fold, true_costs) for fold in folds)

    measured = measure_settings(powers, jobs_at, n_jobs, _progress if verbose else None)
    weights = [np.mean(np.stack(list(rows["weights"])), axis=0) for rows in measured]
    return CostPath(
        **front_tables("exponent", powers, [rows.drop(columns="weights") for rows in measured]),
        weights=pd.DataFrame(weights, index=pd.Index(powers, name="exponent"), columns=true_costs.index),
        costs=true_costs,
    )


# ---------------------------------------------------------------------- what is asked for
def _find_machine(estimator: Any) -> tuple[BaseMKL, str]:
    """The estimator with kernel weights inside of pipelines and searches, and its parameters' prefix."""
    if isinstance(estimator, Pipeline):
        name, last = estimator.steps[-1]
        machine, prefix = _find_machine(last)
        return machine, f"{name}__{prefix}"
    if isinstance(estimator, _SEARCHES):
        machine, prefix = _find_machine(estimator.estimator)
        _check_search(estimator, f"{prefix}costs")
        return machine, f"estimator__{prefix}"
    if isinstance(estimator, Regularized):
        raise TypeError(
            f"{type(estimator).__name__} has no costs to set: it chooses them for the score alone. Use "
            "MKLClassifier."
        )
    if not isinstance(estimator, BaseMKL):
        raise TypeError(
            "estimator must have costs of its kernels: an MKLClassifier, PosteriorSVC, "
            "MKLRegressor, MKLRidge or MKLOneClass, or a pipeline or a grid search that ends in one; got "
            f"{estimator!r}."
        )
    return estimator, ""


def _check_search(search: Any, costs: str) -> None:
    """A search has to give one model, and to leave the costs (a parameter of its estimator) as they are."""
    if not search.refit:
        raise ValueError(
            "the search must refit its best model, which is the one that is measured; got a "
            f"{type(search).__name__} with refit={search.refit!r}. Use refit=True."
        )
    given = search.param_grid if isinstance(search, GridSearchCV) else search.param_distributions
    names = {name for grid in ([given] if isinstance(given, Mapping) else given) for name in grid}
    for name in sorted(names):
        if f"{costs}__".startswith(f"{name}__"):
            raise ValueError(
                f"the search must not search {name!r}: the costs are set at every exponent. Leave it out."
            )


def _fitted_machine(model: Any) -> Any:
    """The fitted machine inside of pipelines and searches."""
    if isinstance(model, Pipeline):
        return _fitted_machine(model.steps[-1][1])
    return _fitted_machine(model.best_estimator_) if isinstance(model, _SEARCHES) else model


def _view_names(machine: BaseMKL, probe: tuple[Any, str, Any, Any, Array]) -> list[str]:
    """The names of the views; of precomputed kernels they are known after a fit, here of the first fold."""
    if not machine._precomputed:
        return [view.name for view in machine._listed_views()]
    estimator, prefix, X, y, rows = probe
    model = clone(estimator).set_params(**{f"{prefix}costs": None})
    return list(_fitted_machine(model.fit(*_safe_split(model, X, y, rows))).view_names_)


def _true_costs(costs: Any, names: list[str]) -> pd.Series:
    if costs is None:
        raise ValueError(
            f"costs must be given: one number for each of the kernels {names}, or a dict by view name; got "
            "None, and the estimator has none either."
        )
    values = check_costs(costs, names)
    if (values == values[0]).all():
        warn_caller(
            f"all kernels cost the same ({values[0]:g}): every exponent gives the same model and nothing "
            "can be traded. Give costs that differ."
        )
    return pd.Series(values, index=pd.Index(names, name="view"), name="cost")


def _check_exponents(exponents: Any) -> list[float]:
    try:
        with within_floats("exponents"):
            values = np.asarray(exponents, dtype=float)
    except (TypeError, ValueError, OverflowError) as error:
        raise TypeError(f"exponents must be a list of numbers; got {exponents!r}.") from error
    if values.ndim != 1 or not values.size or not (np.isfinite(values) & (values >= 0.0)).all():
        raise ValueError(f"exponents must be a list of finite numbers of at least 0; got {exponents!r}.")
    if np.unique(values).size < values.size:
        raise ValueError(f"exponents must differ from each other; got {exponents!r}.")
    return [float(value) for value in values]


def _raised(costs: pd.Series, exponent: float) -> pd.Series:
    """Costs relative to the cheapest, raised to the exponent."""
    with np.errstate(over="ignore"):
        raised = (costs / costs.min()) ** exponent
        squares = raised**2
    if not np.isfinite(squares).all():
        raise ValueError(
            f"costs to the power of {exponent:g} are too large for floating point: that of "
            f"{costs.idxmax()!r} is {costs.max() / costs.min():.3g} times the lowest. Use smaller exponents."
        )
    return raised


# ---------------------------------------------------------------------- what is found
def _measure(
    model: Any, scorer: Any, X: Any, y: Any, fold: tuple[Array, Array], costs: pd.Series
) -> dict[str, Any]:
    """Fit on one fold: the figures of the table, and the weights by view name."""
    train, test = fold
    machine = _fitted_machine(model.fit(*_safe_split(model, X, y, train)))
    X_test, y_test = _safe_split(model, X, y, test, train)
    score = check_score(scorer(model, X_test) if y is None else scorer(model, X_test, y_test))
    cost = _cost(machine, costs)
    n_support = _n_support(machine)
    return {
        "score": score,
        "n_support": n_support,
        "support_share": n_support / len(train),
        "n_active": int(active_kernels(machine.machine_weights_).any(axis=0).sum()),
        "cost": cost,
        "cost_share": cost / len(train),
        "weights": machine.kernel_weights_,
    }


def _n_support(machine: Any) -> float:
    """The support samples of a machine; on factors, the mean rank of its active kernels stands for them."""
    if not hasattr(machine, "approximation_"):
        return float(machine.support_.size)
    active = active_kernels(machine.machine_weights_).any(axis=0)
    return float(machine.approximation_["rank"][active].mean()) if active.any() else 0.0


def _cost(machine: Any, costs: pd.Series) -> float:
    if hasattr(machine, "approximation_"):
        return factor_cost(
            machine.machine_weights_, machine.approximation_["rank"].to_numpy(), costs.to_numpy()
        )
    return prediction_cost(
        machine.machine_weights_, machine.dual_coef_, costs.to_numpy(), machine.kernel_factors_
    )


def _progress(exponent: float, measured: pd.DataFrame, seconds: float) -> str:
    mean = measured.drop(columns="weights").mean()
    return (
        f"exponent {exponent:g}:  score {mean['score']:.4f}  cost {mean['cost']:.1f}  "
        f"{mean['n_active']:.1f} active  {seconds:.1f} s"
    )

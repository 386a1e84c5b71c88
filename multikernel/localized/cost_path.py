"""Accuracy against the cost of each sample: a gate whose kernels cost nothing, little, or much.

The gate of ``costs`` d and ``cost_reg`` λ minimizes J(V) + C λ Σ_i Σ_m (d_m / max_k d_k) η_m(x_i). For every
λ the model is cross-validated on the same folds, and what the prediction of a test sample costs is measured
with the true costs: the kernel values that it needs where the gates are open.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from joblib import delayed
from sklearn.base import clone, is_classifier
from sklearn.metrics import check_scoring
from sklearn.utils import indexable
from sklearn.utils.metaestimators import _safe_split

from .._typing import Array
from .._validation import check_number
from ..core.fitted import CostFront, front_tables, measure_settings
from ..core.folds import check_one_score, check_score, list_splits
from ..core.inputs import check_costs
from .base import BaseLocalized

COST_REGS = (0.0, 0.01, 0.03, 0.1, 0.3, 1.0)


@dataclass(frozen=True, repr=False)
class GateCostPath(CostFront):
    """What :func:`gate_cost_path` found, by ``cost_reg``.

    Attributes
    ----------
    table : DataFrame, one row for each value of ``cost_reg``
        ``score`` and ``score_sd`` over the folds; ``n_support``; ``gate_cost``, the mean of Σ_m d_m η_m(x)
        with costs of sum 1, which is what ``cost_reg`` counts; ``n_open``, the number of kernels that the
        prediction of a sample needs, and ``view_cost``, the sum of their costs, of sum 1;
        ``n_evaluations``, of kernel values; ``cost`` and ``cost_sd`` of
        predicting one sample (``sample_costs``); ``cost_share``, its part of the cost of all kernels to all
        training samples; ``efficient``, whether no other row is as good and cheaper, or as cheap and better.
        All but the last are means over the folds and their test samples.
    scores : DataFrame of shape (n_values, n_folds)
        The score of each fold: the folds are the same for all values, so that rows are paired.
    """

    table: pd.DataFrame
    scores: pd.DataFrame
    _made_by, _settings = "gate_cost_path", "values of cost_reg"


def gate_cost_path(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    cost_regs: Sequence[float] = COST_REGS,
    cv: Any = 5,
    scoring: Any = None,
    n_jobs: int | None = None,
    random_state: Any = None,
    verbose: int = 0,
) -> GateCostPath:
    """Cross-validate a gate at growing costs of its kernels: what does the last percent cost at each sample?

    Parameters
    ----------
    estimator : LocalizedMKLClassifier or LocalizedMKLRegressor
        With its ``costs``. It is cloned, never fitted itself; test samples are predicted with its ``prune``,
        or ``prune=True`` where that is False.
    X, y : as for its ``fit``
    cost_regs : sequence of float >= 0, default=(0.0, 0.01, 0.03, 0.1, 0.3, 1.0)
        How much the costs count, as the parameter ``cost_reg``.
    cv : int, cross-validation generator or iterable of splits, default=5
        As in scikit-learn; the same folds for every value. With groups, ``list(cv.split(X, y, groups))``.
    scoring : str or callable, default=None
        As in scikit-learn; the estimator's own ``score`` if None.
    n_jobs : int, default=None
        Folds fitted at the same time, in threads.
    random_state : int, RandomState or None, default=None
        Shuffles the folds where ``cv`` is a number; None takes the samples in the order given.
    verbose : int, default=0
        1 writes a line for each value to standard error.

    Returns
    -------
    GateCostPath
        Its ``table``, ``plot()`` and ``cheapest(within=0.01)``, the ``cost_reg`` to fit with.

    Examples
    --------
    >>> import numpy as np
    >>> from multikernel import LocalizedMKLClassifier
    >>> from multikernel.kernels import Gaussian
    >>> from multikernel.localized import gate_cost_path
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(90, 3))
    >>> y = np.where(X[:, 0] > 0, X[:, 1] > 0, X[:, 0] > -1)  # the costly column counts on one side
    >>> views = [("fast", Gaussian(), [0]), ("costly", Gaussian(), [0, 1])]
    >>> model = LocalizedMKLClassifier(
    ...     views, C=10, gating_reg=0.0, gating_features=[0], costs={"costly": 10.0}
    ... )
    >>> path = gate_cost_path(model, X, y, cost_regs=[0.0, 3.0], cv=3)
    >>> bool(path.table.loc[3.0, "cost"] < path.table.loc[0.0, "cost"])
    True
    """
    if not isinstance(estimator, BaseLocalized) or not hasattr(estimator, "cost_reg"):
        raise TypeError(
            "estimator must be a LocalizedMKLClassifier or a LocalizedMKLRegressor with costs; got "
            f"{estimator!r}."
        )
    if estimator.costs is None:
        raise ValueError("estimator must have costs, one number for each kernel; got costs=None.")
    values = _check_values(cost_regs)
    check_one_score(scoring)
    X, y = indexable(X, y)
    folds = list_splits(cv, X, y, classifier=is_classifier(estimator), random_state=random_state)
    scorer = check_scoring(estimator, scoring)
    prune = True if estimator.prune is False else estimator.prune

    def jobs_at(value: float) -> Iterator[Any]:
        model = clone(estimator).set_params(cost_reg=value, prune=prune)
        return (delayed(_measure)(clone(model), scorer, X, y, fold) for fold in folds)

    measured = measure_settings(values, jobs_at, n_jobs, _progress if verbose else None)
    return GateCostPath(**front_tables("cost_reg", values, measured))


def _progress(value: float, measured: pd.DataFrame, seconds: float) -> str:
    mean = measured.mean()
    return (
        f"cost_reg {value:g}:  score {mean['score']:.4f}  cost {mean['cost']:.1f}  {mean['n_open']:.1f} open"
        f"  {seconds:.1f} s"
    )


def _check_values(cost_regs: Any) -> list[float]:
    if isinstance(cost_regs, str) or not np.iterable(cost_regs):
        raise TypeError(f"cost_regs must be a list of numbers; got {cost_regs!r}. Put it in a list.")
    values = [check_number("cost_regs", value, at_least=0.0) for value in cost_regs]
    if not values or len(set(values)) < len(values):
        raise ValueError(f"cost_regs must hold at least one value, all of them different; got {cost_regs!r}.")
    return values


def _measure(model: Any, scorer: Any, X: Any, y: Any, fold: tuple[Array, Array]) -> dict[str, float]:
    """Fit on one fold: the figures of the table."""
    train, test = fold
    model.fit(*_safe_split(model, X, y, train))
    X_test, y_test = _safe_split(model, X, y, test, train)
    counts = model.kernel_evaluations(X_test)
    cost = float(model.sample_costs(X_test).mean())
    costs = check_costs(model.costs, model.view_names_)
    return {
        "score": check_score(scorer(model, X_test, y_test)),
        "n_support": float(model.support_.size),
        "gate_cost": float((model.sample_kernel_weights(X_test) @ (costs / costs.sum())).mean()),
        "n_open": float((counts > 0).sum(axis=1).mean()),
        "view_cost": float(((counts > 0) @ (costs / costs.sum())).mean()),
        "n_evaluations": float(counts.sum(axis=1).mean()),
        "cost": cost,
        "cost_share": cost / len(train),
    }

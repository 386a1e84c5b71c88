"""Did learning the weights help? Weight learners against the plain sum and the best single kernel."""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.metrics import get_scorer_names

from multikernel.estimators import CombinedKernelClassifier, CombinedKernelRegressor
from multikernel.selection.paired_tests import check_level
from multikernel.stats._protocol import make_contest
from multikernel.stats.comparison import Comparison
from multikernel.stats.five_by_two import run_contest
from multikernel.stats.rules_comparison import PLAIN_SUM, SINGLE, RulesComparison
from multikernel.views.columns import as_table, n_rows
from multikernel.weights import (
    AlignmentRule,
    BestSingle,
    CenteredAlignment,
    EasyMKL,
    MarginMKL,
    MeanRule,
    WeightLearner,
)
from multikernel.weights._machines import machine_for
from multikernel.weights.targets import as_targets

_TASKS = ("classes", "values")


def compare_rules(
    X: Any,
    y: Any,
    kernels: Any = "auto",
    learners: Any = None,
    machine: Any = None,
    *,
    task: str = "auto",
    scoring: Any = None,
    level: float = 0.05,
    random_state: int = 0,
    n_jobs: int | None = None,
    store: str | os.PathLike[str] | None = None,
    verbose: int = 1,
) -> RulesComparison:
    """Say whether learning the kernel weights helped: learners, plain sum and best single kernel compared.

    All rules are put under the same machine and fitted to the same folds, five repetitions of two-fold
    cross-validation, and the combined 5×2 cv F test says which of them differ from the plain sum and from the
    best single kernel. A verdict other than a tie needs both: a p-value, adjusted by Holm's method for the
    number of tests, of at most `level`, and eight folds of ten that fall on the same side. (The F test breaks
    down where most folds do not differ at all.)

    - The plain sum is the mean of the kernels, each at a mean diagonal of 1 (``MeanRule()``).
    - The best single kernel is chosen on the training part of each fold alone, by cross-validation under the
      same machine and by the same scoring (``BestSingle(machine, scoring=scoring)``): its score is what
      choosing one kernel gives, and not that of the kernel which turned out best on the test parts.

    Parameters
    ----------
    X : array, DataFrame or sparse matrix (n, d); or a stack (n, n, n_kernels) with ``kernels="precomputed"``
    y : array-like (n,)
        Labels or values of the samples; values may be (n, n_outputs) where the machine can.
    kernels : "auto", "precomputed", kernel, View, or list of kernels, views and tuples
        As for :class:`multikernel.CombinedKernelClassifier`.
    learners : dict of str to weight learner, list of learners, or learner, optional
        From :mod:`multikernel.weights`; those of a list are called by their class. Default:
        ``CenteredAlignment()``, ``AlignmentRule(centered=True)``, ``MarginMKL()``; for classes also
        ``EasyMKL()``.
    machine : classifier or regressor on a precomputed kernel, optional
        Default ``SVC(kernel="precomputed")`` for classes, ``KernelRidge(kernel="precomputed")`` for values.
        A search such as ``GridSearchCV(SVC(kernel="precomputed"), {"C": [1, 10]})`` chooses anew in every
        fold, for every rule.
    task : {"auto", "classes", "values"}
        What y is. "auto": values where y holds fractions or has two dimensions, else classes.
    scoring : str or callable, optional
        As in `multikernel.stats.compare`. The best single kernel is chosen by it too, for which a function of
        ``(estimator, X, y)`` is also given the machine and its rows of one kernel.
    random_state, n_jobs, store, verbose
        As in `multikernel.stats.compare`.
    level : float, default=0.05
        Of Holm's p-values, for the verdicts.

    Returns
    -------
    RulesComparison
        ``answer`` is one sentence, ``frame()`` the table, ``weights`` the kernels' mean shares (of the trace,
        or of all the weight where the combined kernel is no weighted sum, as for ``ProductRule``), ``plot()``
        the picture, ``scores`` the score of every fold.

    Notes
    -----
    Two folds train on half of the data, and the F test is conservative: a difference that is not found may be
    there all the same.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> found = compare_rules(X, y, learners=CenteredAlignment(), verbose=0)
    >>> print(found.answer)
    Learning the weights did not help, as far as ten folds can tell: no learner differs from the plain sum...
    """
    check_level(level)
    _require_kernels(kernels)
    kind = _task_of(X, y, task)
    machine_for(kind, machine)  # refused at the door, and not in the first fold
    rules = _rules(_named(learners, kind), machine, _checked_scoring(scoring))
    for name, learner in rules.items():
        _require_task(name, learner, kind)
    estimator = CombinedKernelClassifier if kind == "classes" else CombinedKernelRegressor
    models = {name: estimator(learner, machine, kernels) for name, learner in rules.items()}
    contest = make_contest(models, {"given": (X, y)}, scoring, random_state)
    contest = replace(contest, keep=_shares_of, label="rule {estimator!r}")
    scores = run_contest(contest, n_jobs=n_jobs, store=store, verbose=verbose)
    return RulesComparison(Comparison(scores, level=level, scoring=contest.scoring))


def _require_kernels(kernels: Any) -> None:
    """Learners in the place of the kernels, the third, would be found out in the first fold only."""
    given = kernels if isinstance(kernels, (list, tuple)) else [kernels]
    if any(isinstance(kernel, WeightLearner) for kernel in given):
        raise TypeError(f"kernels must be kernels or views; got weight learners, {kernels!r}. Use learners=.")


def default_learners(task: str) -> list[WeightLearner]:
    """Quick ones that are often good, for classes or for values."""
    known: list[WeightLearner] = [CenteredAlignment(), AlignmentRule(centered=True), EasyMKL(), MarginMKL()]
    return [learner for learner in known if task in learner.learns_from]


def _shares_of(model: Any) -> dict[str, Any]:
    """What is kept of each fold: every kernel's share of the combined kernel."""
    return {"shares": dict(zip(model.view_names_, model.kernel_shares_.tolist(), strict=True))}


def _task_of(X: Any, y: Any, task: str) -> str:
    if task not in ("auto", *_TASKS):
        raise ValueError(f"task must be 'auto', 'classes' or 'values'; got {task!r}.")
    if y is None or isinstance(y, str) or np.ndim(y) == 0:
        raise TypeError(f"y must hold the labels or values of the samples; got {y!r}.")
    targets = as_targets(y, n_rows(as_table(X)), task, _TASKS)
    if targets.task == "classes" and np.bincount(targets.codes).min() < 2:
        raise ValueError(
            "y holds whole numbers or names, which are taken for classes, and one class has a single sample. "
            "Use task='values' if y is a number to predict, or leave that class out."
        )
    return targets.task


def _checked_scoring(scoring: Any) -> Any:
    if isinstance(scoring, str) and scoring not in get_scorer_names():
        near = difflib.get_close_matches(scoring, get_scorer_names(), 1)
        hint = f" Did you mean {near[0]!r}?" if near else " sklearn.metrics.get_scorer_names() has them all."
        raise ValueError(f"scoring must be a score that scikit-learn knows; got {scoring!r}.{hint}")
    return scoring


def _rules(learners: Mapping[str, WeightLearner], machine: Any, scoring: Any) -> dict[str, WeightLearner]:
    for name in learners:
        if name in (PLAIN_SUM, SINGLE):
            raise ValueError(f"the learners are compared with {name!r}: call {learners[name]!r} otherwise.")
    return {SINGLE: BestSingle(machine, scoring=scoring), PLAIN_SUM: MeanRule(), **learners}


def _named(learners: Any, task: str) -> dict[str, WeightLearner]:
    """Learners by name: those of a list are called by their class, and in full where that is not enough."""
    if learners is None:
        learners = default_learners(task)
    if isinstance(learners, Mapping):
        named = dict(learners)
    else:
        several = list(learners) if isinstance(learners, list | tuple) else [learners]
        short = [type(learner).__name__ for learner in several]
        names = [
            name if short.count(name) == 1 else " ".join(repr(learner).split())
            for name, learner in zip(short, several, strict=True)
        ]
        named = dict(zip(names, several, strict=True))
        if len(named) < len(several):
            raise ValueError(f"learners must differ; got {names}. Give a dictionary to tell them apart.")
    if not named:
        raise ValueError("learners must hold one weight learner at least; got none.")
    for name, learner in named.items():
        if not isinstance(learner, WeightLearner):
            raise TypeError(
                "learners must be weight learners of multikernel.weights, such as MarginMKL(); got "
                f"{learner!r}." + (" Call the class." if isinstance(learner, type) else "")
            )
        if not isinstance(name, str):
            raise TypeError(f"learners must be named by strings; got {name!r}.")
    return named


def _require_task(name: str, learner: WeightLearner, task: str) -> None:
    if task not in learner.learns_from:
        raise ValueError(
            f"{name!r} learns from {' or '.join(learner.learns_from)}, and y holds {task}. Leave it out."
        )

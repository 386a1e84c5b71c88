"""Runs five repetitions of two-fold cross-validation, for two estimators or for many on many data sets."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from joblib import effective_n_jobs

from multikernel._resumable import Progress, ResultStore, progress_bar, run_works
from multikernel.selection.paired_tests import FOLDS, REPEATS, PairedTest, check_level, f_test_5x2cv
from multikernel.selection.win_tie_loss import check_reference
from multikernel.stats._protocol import Contest, list_works, make_contest
from multikernel.stats.comparison import Comparison


@dataclass(frozen=True, eq=False)
class PairedCrossValidation(PairedTest):
    """What the 5×2 cv F test found, with the scores that it was made of.

    Attributes
    ----------
    statistic : float
    pvalue : float
    scores_a, scores_b : ndarray of shape (5, 2)
        The test scores of both estimators, one row for each repetition.
    """

    scores_a: np.ndarray
    scores_b: np.ndarray

    @property
    def difference(self) -> float:
        """The mean score of the first estimator minus that of the second."""
        return float((self.scores_a - self.scores_b).mean())


def paired_5x2cv(
    estimator_a: Any,
    estimator_b: Any,
    X: Any,
    y: Any,
    *,
    scoring: Any = None,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> PairedCrossValidation:
    """Test whether two estimators differ on a data set, by five repetitions of two-fold cross-validation.

    Parameters
    ----------
    estimator_a, estimator_b : estimator
        Copies of them are fitted, both to the same folds.
    X : array-like, DataFrame or stack of kernels
        What both estimators take.
    y : array-like of shape (n,)
    scoring, random_state, n_jobs
        As in `compare`.

    Returns
    -------
    PairedCrossValidation
        ``statistic`` and ``pvalue`` of `f_test_5x2cv`, with ``scores_a`` and ``scores_b``.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> X, y = load_wine(return_X_y=True)
    >>> neighbours = KNeighborsClassifier()
    >>> found = paired_5x2cv(make_pipeline(StandardScaler(), neighbours), neighbours, X, y)
    >>> print(f"{found.scores_a.mean():.2f} {found.scores_b.mean():.2f} {found.significant()}")
    0.96 0.71 True
    """
    contest = make_contest({"a": estimator_a, "b": estimator_b}, {"given": (X, y)}, scoring, random_state)
    results = run_works(list_works(contest, stored=False), None, jobs=_jobs(n_jobs))
    scores = np.array([result["score"] for result in results]).reshape(2, REPEATS, FOLDS)
    found = f_test_5x2cv(*scores)
    return PairedCrossValidation(found.statistic, found.pvalue, *scores)


def compare(
    estimators: Mapping[str, Any],
    datasets: Mapping[str, tuple[Any, Any]],
    *,
    scoring: Any = None,
    reference: str | None = None,
    level: float = 0.05,
    random_state: int = 0,
    n_jobs: int | None = None,
    store: str | os.PathLike[str] | None = None,
    verbose: int = 1,
) -> Comparison:
    """Compare estimators on data sets by five repetitions of two-fold cross-validation.

    All estimators of a data set are fitted to the same folds: stratified ones for classifiers, plain ones
    for regressors. With `store`, every finished fold is on disk at once: call again with the same arguments
    after a stop, and only what is missing is computed.

    Parameters
    ----------
    estimators : dict of str to estimator
        Two or more; copies of them are fitted. A search such as GridSearchCV chooses anew in every fold.
    datasets : dict of str to (X, y)
        ``X`` is whatever the estimators take: an array, a DataFrame, a stack of kernels (n, n, n_kernels).
    scoring : str or callable, optional
        One score that is higher for better predictions, as scikit-learn names it, or a function of
        ``(estimator, X, y)``; accuracy for classifiers and R² for regressors if None, whatever the
        estimators' own score would be.
    reference : str, optional
        The estimator that all others are compared with; without it, every pair is compared.
    level : float, default=0.05
        Of the tests.
    random_state : int, default=0
        Draws the folds, and seeds every parameter of the estimators called random_state that is None.
    n_jobs : int, optional
        How many folds are computed at the same time, in processes; -1 for all processors. The result does
        not depend on it.
    store : str or path, optional
        A file of JSON lines. A stored score is used again only if the estimator (its class, its parameters,
        and the code of functions among them), the data, the scoring, the seed and the versions of
        multikernel and scikit-learn are the same; other scores in the file are left alone. A file that holds
        anything else is refused.
    verbose : int, default=1
        1 shows a bar on standard error; 0 is silent.

    Returns
    -------
    Comparison
        ``scores``, ``table()``, ``tests``, ``win_tie_loss()``, ``wilcoxon()``; its text is a table in
        Markdown with significant wins in bold.

    Raises
    ------
    ValueError
        If a fit fails or a score is not finite: the message names estimator, data set and fold, and what was
        finished is kept in `store`.

    Notes
    -----
    The F test is conservative, and two folds train on half of the data: a difference that it does not find
    may be there all the same.

    Of a function, `store` notices its code and what it reads by name of its module: constants, and functions
    with what they read in turn. It does not notice a change in the code of a class or of an installed
    package other than multikernel and scikit-learn, nor in what is read as an attribute of a module.

    Examples
    --------
    >>> from sklearn.datasets import load_iris, load_wine
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> neighbours = KNeighborsClassifier()
    >>> found = compare(
    ...     {"neighbours": neighbours, "scaled": make_pipeline(StandardScaler(), neighbours)},
    ...     {"iris": load_iris(return_X_y=True), "wine": load_wine(return_X_y=True)},
    ...     reference="neighbours",
    ...     verbose=0,
    ... )
    >>> print(found.to_markdown(digits=2))
    | data set         | neighbours  | scaled          |
    | ---------------- | ----------- | --------------- |
    | iris             | 0.96 ± 0.03 | 0.94 ± 0.03     |
    | wine             | 0.71 ± 0.03 | **0.96 ± 0.01** |
    | wins–ties–losses |             | 1–1–0           |
    | Wilcoxon's p     |             | 0.655           |
    <BLANKLINE>
    Mean ± standard deviation of accuracy over 5×2 folds; **bold**: better than neighbours by the 5×2 cv F...
    """
    check_level(level)
    contest = make_contest(estimators, datasets, scoring, random_state)
    if len(contest.estimators) < 2:
        raise ValueError(f"estimators must be two or more; got only {next(iter(contest.estimators))!r}.")
    check_reference(list(contest.estimators), reference)
    scores = run_contest(contest, n_jobs=n_jobs, store=store, verbose=verbose)
    return Comparison(scores, reference=reference, level=level, scoring=contest.scoring)


def run_contest(contest: Contest, *, n_jobs: int | None, store: Any, verbose: int) -> pd.DataFrame:
    """Compute the folds of a contest that are not stored yet; what `Comparison` takes, a row for each fold.

    Parameters
    ----------
    contest : Contest
    n_jobs, store, verbose
        As in `compare`.

    Returns
    -------
    DataFrame
    """
    path = None if store is None else _check_store(store)
    return _run(contest, path, _jobs(n_jobs), verbose)


def _run(contest: Contest, path: Path | None, jobs: int, verbose: int) -> pd.DataFrame:
    works = list_works(contest, stored=path is not None)
    kept: list[int] = []  # how many folds, once the store was read
    bar: AbstractContextManager[Progress | None] = progress_bar("5×2 cv") if verbose else nullcontext()
    try:
        with bar as move:

            def progress(done: int, total: int) -> None:
                kept[:] = [done]
                if move is not None:
                    move(done, total)

            store = None if path is None else ResultStore(path)
            results = run_works(works, store, jobs=jobs, progress=progress)
    except (KeyboardInterrupt, Exception) as stop:
        if path is not None and kept:
            stop.add_note(f"{kept[0]} of {len(works)} folds are kept in {path}: call again to go on.")
        raise
    places = [
        (dataset, estimator, *divmod(fold, FOLDS))
        for dataset in contest.datasets
        for estimator in contest.estimators
        for fold in range(REPEATS * FOLDS)
    ]
    frame = pd.DataFrame(places, columns=["dataset", "estimator", "repetition", "fold"])
    return frame.assign(**{key: [result[key] for result in results] for key in results[0]})


def _check_store(store: Any) -> Path:
    if not isinstance(store, str | os.PathLike):
        raise TypeError(f"store must be the path of a file; got {store!r}.")
    path = Path(store)
    if path.is_dir():
        raise ValueError(
            f"store must be the path of a file; {path} is a folder. Use {path / 'scores.jsonl'}."
        )
    return path


def _jobs(n_jobs: Any) -> int:
    is_integer = isinstance(n_jobs, int | np.integer) and not isinstance(n_jobs, bool)
    if n_jobs is not None and (not is_integer or n_jobs == 0):
        raise ValueError(
            f"n_jobs must be None, a positive number of processes or -1 for all processors; got {n_jobs!r}."
        )
    return int(effective_n_jobs(n_jobs))

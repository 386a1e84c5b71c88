"""Which columns did it? Importance of the features of a fitted model, and what is said about it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import t as student
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted

from ..._typing import Array
from ..._validation import check_choice, check_number, check_positive_integer
from ...core.folds import random_source
from ...views.tables import as_tables
from ...viz import features as pictures
from ...viz.fitted import plain_tree
from ..found import FoundTable
from ..judging.answers import METRICS
from ..protocol import Samples
from ..repeated import folds_apart, group_numbers
from ..rivals.baselines import listed
from ..subject import Subject, subject_of
from .features import Data, Group, make_groups, read_data
from .permutation import Permuted, make_scoring, permute
from .slopes import NoSlope, check_slopes, column_slopes, is_linear

AUTO, PERMUTATION, COEFFICIENTS, SENSITIVITY = METHODS = (
    "auto",
    "permutation",
    "coefficients",
    "sensitivity",
)
# Scores between 0 and 1, by how their names begin.
_SHARES = ("accuracy", "average precision", "balanced", "f1", "jaccard", "precision", "recall", "roc auc")
_TOLD = 3  # features that a sentence names
_SHOWN = 10  # features of each view in a table of a notebook


@dataclass(frozen=True, eq=False)
class FeatureImportance(FoundTable):
    """How much each feature matters to a fitted model.

    Attributes
    ----------
    method : {"permutation", "coefficients", "sensitivity"}
        How the importance was measured.
    table : DataFrame
        A row for each feature, in the order of the columns: ``view`` (the view that reads the column, its
        table where several views do), ``feature`` and ``importance``; by permutation ``std`` over the
        repeats, and ``low`` and ``high``, the ends of the interval; else ``coefficient`` or ``slope``, the
        derivative of the score in the units of the column, its mean over the samples, for several machines
        ``coefficient[name]`` of each. Over folds all of these are means, ``std``, ``low`` and ``high`` are
        the standard deviation, the smallest and the largest importance of a fold, and ``in_top`` is the share
        of folds in which the feature is among the first `n_top`.
    n_samples : int
    importances : array of shape (n_features, n_repeats) or None
        What the score loses in each repeat, by permutation.
    score : float or None
        Of the samples as they are, by permutation.
    scoring : str or None
        What the score is called.
    n_repeats : int or None
    level : float or None
        Of the intervals.
    fold_importances : array of shape (n_features, n_folds) or None
        The importance in each fold, where `cv` was given.
    n_top : int or None
        How many features count as the first of a fold.
    answer : str
        What was found, in a sentence.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from multikernel import MKLClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = MKLClassifier().fit(X[::2], y[::2])
    >>> found = feature_importance(model, X[1::2], y[1::2], random_state=0)
    >>> found.top_features(2)["feature"].tolist()
    ['petal width (cm)', 'petal length (cm)']
    """

    method: str
    table: pd.DataFrame = field(repr=False)
    n_samples: int
    importances: Array | None = field(default=None, repr=False)
    score: float | None = None
    scoring: str | None = None
    n_repeats: int | None = None
    level: float | None = None
    fold_importances: Array | None = field(default=None, repr=False)
    n_top: int | None = None

    _picture = staticmethod(pictures.importance)
    _index = False
    _n_rows = None

    def top_features(self, n: int = 10, *, by_view: bool = True) -> pd.DataFrame:
        """Return the most important features, the first of each view, or of all views together.

        Parameters
        ----------
        n : int, default=10
            How many.
        by_view : bool, default=True
            Whether of each view, the view with the most important feature first, or of all views.

        Returns
        -------
        DataFrame
            The columns of `to_frame`, the largest importance first.
        """
        n = check_positive_integer("n", n)
        ordered = self.table.sort_values("importance", ascending=False, kind="stable")
        if not by_view:
            return ordered.head(n).reset_index(drop=True)
        views = ordered["view"].unique()
        parts = [ordered[ordered["view"] == view].head(n) for view in views]
        return pd.concat(parts, ignore_index=True)

    @property
    def answer(self) -> str:
        """What was found, in a sentence."""
        ordered = self.table.sort_values("importance", ascending=False, kind="stable")
        if self.fold_importances is not None:
            return self._on_folds(ordered)
        return self._on_losses(ordered) if self.method == PERMUTATION else self._on_slopes(ordered)

    def _on_folds(self, ordered: pd.DataFrame) -> str:
        assert self.fold_importances is not None and self.n_top is not None
        n_folds = self.fold_importances.shape[1]
        told = [
            f"{self._named(row)} in {round(row['in_top'] * n_folds)} of {n_folds} folds"
            for _, row in ordered.head(_TOLD).iterrows()
        ]
        first = f"the first {self.n_top}" if self.n_top > 1 else "the first"
        among = f"among {first}" if self.n_top < len(ordered) else "of use"
        return f"Of {len(ordered)} features, those of largest mean importance are {among}: {listed(told)}."

    def _on_losses(self, ordered: pd.DataFrame) -> str:
        clear, n = ordered[ordered["low"] > 0.0], len(ordered)
        score = f"{self.scoring} ({self.score:.3f})"
        if clear.empty:
            first = ordered.iloc[0]
            return (
                f"No feature was shown to matter to {score}: no {self.level:.0%} interval of {n} is above 0. "
                f"The largest loss is that of {self._named(first)}, {_figure(first['importance'])}."
            )
        told = [
            f"{self._named(row)} by {_figure(row['importance'])} "
            f"({_figure(row['low'])} to {_figure(row['high'])})"
            for _, row in clear.head(_TOLD).iterrows()
        ]
        more = [f"{len(clear) - _TOLD} more by less"] if len(clear) > _TOLD else []
        return (
            f"Of {n} features, {len(clear)} {'was' if len(clear) == 1 else 'were'} shown to matter to "
            f"{score}, which falls where one is permuted: {listed(told + more)}, with "
            f"{self.level:.0%} intervals."
        )

    def _on_slopes(self, ordered: pd.DataFrame) -> str:
        told = [f"{self._named(row)} by {row['importance']:.3g}" for _, row in ordered.head(_TOLD).iterrows()]
        mean = "" if self.method == COEFFICIENTS else ", in root mean square over the samples"
        return (
            f"A step of one standard deviation moves the score most along {listed(told)}, of {len(ordered)} "
            f"features{mean}."
        )

    def _named(self, row: Any) -> str:
        several = self.table["view"].nunique() > 1 and row["view"] != row["feature"]
        return f"{row['feature']} of {row['view']}" if several else str(row["feature"])

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain numbers and texts, which JSON can hold.

        Returns
        -------
        dict
            ``method``, ``metric``, ``score``, ``n_samples``, ``n_repeats``, ``level``, ``answer``,
            ``xlabel`` (what the importance is) and ``rows``, a dict for each feature.
        """
        return plain_tree(
            {
                "method": self.method,
                "metric": self.scoring,
                "score": self.score,
                "n_samples": self.n_samples,
                "n_repeats": self.n_repeats,
                "level": self.level,
                "answer": self.answer,
                "xlabel": self._axis,
                "rows": self.table.to_dict("records"),
            }
        )

    @property
    def _axis(self) -> str:
        """What the importance is, in words."""
        folds = ", smallest to largest fold"
        if self.method == PERMUTATION:
            spread = f", {self.level:.0%} interval" if self.fold_importances is None else folds
            return f"loss of {self.scoring} when the column is permuted{spread}"
        step = "change of the score for one standard deviation of the column"
        step = step if self.method == COEFFICIENTS else f"{step}, root mean square"
        return step if self.fold_importances is None else step + folds

    def _shown(self) -> pd.DataFrame:
        return self.top_features(_SHOWN)


def _figure(value: float) -> str:
    """Three digits, and no minus before a zero."""
    return f"{round(value, 3) + 0.0:.3f}"


# ------------------------------------------------------------------ entry point
def feature_importance(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    method: str = AUTO,
    groups: Any = None,
    scoring: Any = None,
    n_repeats: int = 10,
    level: float = 0.95,
    sample_weight: Any = None,
    cv: Any = None,
    sample_groups: Any = None,
    n_top: int = 10,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> FeatureImportance:
    """Say which columns a fitted model owes its score to.

    Use samples that the model was not fitted to: on its training samples a model seems to need columns of
    noise that it has learned by heart. Nothing is fitted anew, unless `cv` is given, and nothing that is
    passed is modified.

    Parameters
    ----------
    model : fitted estimator
        Of this library, or a pipeline or a search that ends in one.
    X : array, sparse matrix, DataFrame, dict of tables or MultiTable
        Samples, as for ``predict``. Precomputed kernels have no columns and are refused.
    y : array-like of shape (n_samples,), default=None
        Their labels or values, which a score needs; coefficients and sensitivities do not read them.
    method : {"auto", "permutation", "coefficients", "sensitivity"}, default="auto"
        What the importance of a column is:

        - "permutation": what the score loses when the entries of the column are permuted over the samples,
          for every model;
        - "coefficients": the size of the coefficient of the column in the decision function, or in the
          prediction, times the standard deviation of the column, where all kernels are linear;
        - "sensitivity": the derivative of the decision function with respect to the column, root mean square
          over the samples, times the standard deviation of the column, for kernels with derivatives:
          `Linear`, `Polynomial`, `Gaussian`, `Sigmoid`, `Cosine` and what is made of them;
        - "auto": "coefficients" where all kernels with weight are linear and neither `groups` nor `scoring`
          is given, else "permutation".
    groups : None, "views", list of columns or dict of name -> columns, default=None
        By permutation, what is permuted together:

        - None: each column by itself;
        - "views": the columns that the same views read;
        - list: these columns, each by itself, by name (of an array by position, of several tables as
          ``(table, name)`` where several have the name);
        - dict: the columns of each group, such as genes of a pathway.
    scoring : str or callable, default=None
        A score as scikit-learn names it, or ``f(model, X, y)``; None is the ``score`` of the model: accuracy
        or R².
    n_repeats : int, default=10
        How often each group is permuted.
    level : float in (0, 1), default=0.95
        Of the intervals.
    sample_weight : array of shape (n_samples,), default=None
        Of the score.
    cv : None, int, splitter or list of (train, test), default=None
        With folds, whether the same columns matter in other samples: copies of the model are fitted to the
        training part of each fold, and their importance is that of the other samples. None takes the model as
        it is.
    sample_groups : array-like of shape (n_samples,), default=None
        Samples that belong together, such as those of one patient: columns are permuted from group to group,
        and the samples of a group are on the same side of each fold.
    n_top : int, default=10
        With folds, how many features count as the first of a fold.
    random_state : int or RandomState, default=None
        Draws folds and permutations, the same for all groups, as
        :func:`sklearn.inspection.permutation_importance` does with this seed.
    n_jobs : int, default=None
        Processes; -1 for all processors.

    Returns
    -------
    FeatureImportance

    Notes
    -----
    The importance of a group is the mean of s − s_r over the repeats r, with the score s of the samples as
    they are and s_r after permutation r. A column that has nothing to do with the target nor with the other
    columns can be permuted without changing the distribution of the score, so that s is one more draw of the
    s_r. The interval is therefore the one that such a draw falls into, mean ± t · sd · √(1 + 1 / n_repeats),
    with Student's t of n_repeats − 1 degrees of freedom: it covers 0 for such a column with a chance of about
    `level`. At a level of 0.95, one in forty such columns lies above 0 by chance. Where all repeats lose the
    same, as by a score with few values, sd is half a step of the score. Intervals end where the score does:
    of an accuracy of 0.9 no more than 0.9 can be lost.

    Correlated columns stand in for each other, and have less importance each than they have together: permute
    them as a group.

    Coefficients and slopes are those of the columns as they are in X, through the standardization of the
    views and the normalization of the kernels. Of several machines, such as one for each class, the
    importance is the root mean square. They say what moves the decision, and not whether that helps: only
    permutation reads `y`.

    Where the scores of a model are sums over kernels, only the kernels of the views that read a permuted
    column are computed again. Samples that lack a view as a whole keep lacking it: its columns are permuted
    over the others.

    Examples
    --------
    >>> from multikernel import MKLClassifier, View
    >>> from multikernel.kernels import Gaussian, Linear
    >>> rng = np.random.default_rng(0)
    >>> X = pd.DataFrame(rng.normal(size=(400, 3)), columns=["dose", "age", "noise"])
    >>> y = X["dose"] + X["age"] ** 2 > 1
    >>> views = [View("drug", Linear(), ["dose"]), View("patient", Gaussian(), ["age", "noise"])]
    >>> model = MKLClassifier(views).fit(X[:200], y[:200])
    >>> found = feature_importance(model, X[200:], y[200:], random_state=0)
    >>> found.to_frame()[["view", "feature", "importance"]].round(2)
          view feature  importance
    0     drug    dose        0.21
    1  patient     age        0.25
    2  patient   noise        0.00
    """
    check_choice("method", method, METHODS)
    n_repeats = check_positive_integer("n_repeats", n_repeats)
    level = check_number("level", level, above=0.0, below=1.0)
    if not hasattr(model, "__sklearn_tags__"):
        raise TypeError(f"model must be a fitted estimator; got {type(model).__name__}.")
    check_is_fitted(model)
    subject = subject_of(model)
    data = read_data(subject, X)
    y = _check_targets(y, data.n)
    method = _choose(method, subject, groups, scoring)
    if cv is not None:
        options = {"groups": groups, "scoring": scoring, "n_repeats": n_repeats, "n_jobs": n_jobs}
        extras = (sample_weight, group_numbers(sample_groups, data.n, "sample_groups"))
        return _over_folds(method, subject, (X, y, *extras), (cv, n_top, random_state), options)
    if method != PERMUTATION:
        return _by_slopes(method, subject, data, groups)
    if y is None and subject.task in METRICS:
        raise TypeError("y must hold the labels or values that the score is computed with; got None.")
    chosen = make_groups(data, groups)
    scorer = make_scoring(subject, scoring, y, sample_weight)
    numbers = group_numbers(sample_groups, data.n, "sample_groups")
    found = permute(
        subject, data, chosen, scorer, numbers, n_repeats=n_repeats, random_state=random_state, n_jobs=n_jobs
    )
    name = _name_of(scoring, subject)
    limits = (-np.inf, np.inf) if callable(scoring) else _range_of(name)
    table = _permutation_table(chosen, found, level, limits)
    return FeatureImportance(method, table, data.n, found.losses, found.score, name, n_repeats, level)


def _choose(method: str, subject: Subject, groups: Any, scoring: Any) -> str:
    if method != AUTO:
        return method
    if groups is not None or scoring is not None:
        return PERMUTATION
    try:
        return PERMUTATION if is_linear(check_slopes(subject)) else COEFFICIENTS
    except NoSlope:
        return PERMUTATION


def _by_slopes(method: str, subject: Subject, data: Data, groups: Any) -> FeatureImportance:
    """Coefficients, which are the slopes at any sample, or slopes over all samples."""
    if groups is not None:
        raise ValueError(
            f'groups are permuted together; method={method!r} is of columns. Use method="permutation".'
        )
    fitted = check_slopes(subject)
    why = is_linear(fitted) if method == COEFFICIENTS else ""
    if why:
        raise NoSlope(
            f'coefficients are of scores that are linear in the columns; {why}. Use method="sensitivity" or '
            '"permutation".'
        )
    found = column_slopes(fitted, data, 1 if method == COEFFICIENTS else None)
    columns: dict[str, Any] = {
        "view": [feature.view for feature in data.features],
        "feature": [feature.name for feature in data.features],
        "importance": found.importance,
    }
    what = "coefficient" if method == COEFFICIENTS else "slope"
    machines = getattr(subject.final, "machine_names_", range(len(found.mean)))
    for name, row in zip(machines, found.mean, strict=True):
        columns[what if len(found.mean) == 1 else f"{what}[{name}]"] = row
    return FeatureImportance(method, pd.DataFrame(columns), data.n)


def _over_folds(
    method: str,
    subject: Subject,
    data: tuple[Any, Any, Any, Array | None],
    folds: tuple[Any, int, Any],
    options: dict[str, Any],
) -> FeatureImportance:
    """The importance of copies of the model for samples that they were not fitted to."""
    (X, y, sample_weight, numbers), (cv, n_top, random_state) = data, folds
    n_top = check_positive_integer("n_top", n_top)
    why = subject.why_not_refitted()
    if why is not None:
        raise ValueError(f"cv fits copies of the model to folds. {why} Leave cv out.")
    if y is None and subject.task in METRICS:
        raise TypeError("y must hold the labels or values that copies of the model are fitted to; got None.")
    X = as_tables(X)
    rng = random_source(0 if random_state is None else random_state)
    found = []
    for train, test in folds_apart(cv, Samples(X, y, groups=numbers), subject.task, rng):
        own = None if numbers is None else numbers[test]
        parts = [None if part is None else _safe_indexing(part, test) for part in (y, sample_weight)]
        known = () if y is None else (_safe_indexing(y, train),)
        model = subject.fresh(probabilities=True).fit(_safe_indexing(X, train), *known)
        found.append(
            feature_importance(
                model, _safe_indexing(X, test), parts[0], method=method, sample_weight=parts[1],
                random_state=random_state, sample_groups=own, **options,
            )
        )  # fmt: skip
    return _joined(found, n_top)


def _joined(found: list[FeatureImportance], n_top: int) -> FeatureImportance:
    """Means over folds; how often each feature is among the first, those of no importance never."""
    each = np.column_stack([fold.table["importance"] for fold in found])
    ranks = np.argsort(np.argsort(-each, axis=0, kind="stable"), axis=0, kind="stable")
    first = found[0]
    columns: dict[str, Any] = {
        "view": first.table["view"],
        "feature": first.table["feature"],
        "importance": each.mean(axis=1),
        "std": each.std(axis=1, ddof=1) if each.shape[1] > 1 else np.nan,
        "low": each.min(axis=1),
        "high": each.max(axis=1),
        "in_top": np.mean((ranks < n_top) & (each > 0.0), axis=1),
    }
    for name in first.table.columns:
        if name.startswith(("coefficient", "slope")):
            columns[name] = np.mean([fold.table[name] for fold in found], axis=0)
    scores = [fold.score for fold in found if fold.score is not None]
    n_samples = sum(fold.n_samples for fold in found)
    return replace(
        first,
        table=pd.DataFrame(columns),
        n_samples=n_samples,
        importances=None,
        score=float(np.mean(scores)) if scores else None,
        fold_importances=each,
        n_top=n_top,
    )


def _check_targets(y: Any, n: int) -> Any:
    if y is None:
        return None
    shape = np.shape(y)
    if not shape or shape[0] != n:
        got = f"{shape[0]}" if shape else "one value"
        raise ValueError(f"y must have one label or value for each of the {n} samples of X; got {got}.")
    return y


def _permutation_table(
    groups: list[Group], found: Permuted, level: float, limits: tuple[float, float]
) -> pd.DataFrame:
    losses = found.losses
    mean = losses.mean(axis=1)
    n = losses.shape[1]
    half = np.full(len(groups), np.nan)
    spread = np.full(len(groups), np.nan)
    if n > 1:
        spread = losses.std(axis=1, ddof=1)
        # equal losses above or below 0 are those of a score with steps, and do vary: by half a step at least
        rounded = np.where((spread == 0.0) & (mean != 0.0), 0.5 * _step(losses), spread)
        half = student.ppf(0.5 + 0.5 * level, n - 1) * rounded * np.sqrt(1.0 + 1.0 / n)
    columns: dict[str, Any] = {
        "view": [group.view for group in groups],
        "feature": [group.name for group in groups],
        "importance": mean,
        "std": spread,
        "low": np.maximum(mean - half, found.score - limits[1]),
        "high": np.minimum(mean + half, found.score - limits[0]),
    }
    if any(len(group.members) > 1 for group in groups):
        columns["n_columns"] = [len(group.members) for group in groups]
    return pd.DataFrame(columns)


def _step(losses: Array) -> float:
    """The least difference of two losses, 0 being one of them; 0 where there is none."""
    values = np.unique(np.append(losses, 0.0).round(12))
    return float(np.diff(values).min(initial=np.inf)) if values.size > 1 else 0.0


def _range_of(name: str) -> tuple[float, float]:
    """The least and the greatest value of a score, by its name; infinite where that is not known."""
    if name.startswith(_SHARES):
        return 0.0, 1.0
    if name.startswith("neg "):
        return -np.inf, 0.0
    return -np.inf, 1.0 if name in ("R²", "r2") else np.inf


def _name_of(scoring: Any, subject: Subject) -> str:
    if scoring is None:
        return METRICS.get(subject.task, "score")
    return scoring.replace("_", " ") if isinstance(scoring, str) else getattr(scoring, "__name__", "score")

"""Why does a sample have its score? Scores as sums over views and columns, and what is near each sample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_is_fitted

from ..._typing import Array
from ..._validation import check_positive_integer
from ...core.estimator import KernelEstimator
from ...core.fitted import DualKernels, FittedKernels
from ...core.inputs import require_same_samples
from ...views.stacks import ids_of
from ...viz import views as pictures
from ...viz.fitted import is_local, plain_tree
from ..found import FoundTable
from ..subject import Subject, check_known_labels, check_values, subject_of
from .cross_view import numbers_of
from .features import Feature, read_data
from .permutation import only_kernels
from .score_bounds import NoBound, ScoreBounds, score_bounds
from .shapley import NotAdditive
from .slopes import NoSlope, additive_kernels, gradients, is_linear_view

VIEWS, FEATURES = PARTS = ("views", "features")
_NEAREST = 5


@dataclass(frozen=True, eq=False)
class Explanation(FoundTable):
    """Why some samples have the scores that they have.

    Attributes
    ----------
    contributions : DataFrame
        What each view adds to the score of each sample, as ``contributions_frame`` of the model has it.
    table : DataFrame
        A row for each sample: ``prediction``; ``score``, or ``score[name]`` of each machine; with `y` also
        ``target`` and ``error``: how far the score of the best wrong class is above that of the right one, or
        the absolute error of a value; with training samples ``low`` and ``high`` of each score, the bounds of
        the scores of the optimum, and for classes ``certain``, whether its decision is the same.
    neighbors : DataFrame or None
        For each sample the most similar support samples by the learned kernel: ``sample``, ``support`` (the
        row number in the training samples, or the id), ``similarity`` (the value of the learned kernel) and
        ``adds`` (what the support sample adds to the score; of several equal rows the first is named, and
        adds what they add together). None where the model has no such sums.
    gates : DataFrame or None
        For models whose weights depend on the sample, how much each view counts at each.
    machines : list of str
        Of the scores; one for two classes and for values.
    omitted : dict
        What could not be said, and why.
    answer : str
        What was found, in a sentence.
    """

    contributions: pd.DataFrame = field(repr=False)
    table: pd.DataFrame = field(repr=False)
    machines: list[str]
    neighbors: pd.DataFrame | None = field(default=None, repr=False)
    gates: pd.DataFrame | None = field(default=None, repr=False)
    omitted: dict[str, str] = field(default_factory=dict, repr=False)
    _of_features: FeatureParts | None = field(default=None, repr=False)

    def worst(self, n: int = 10) -> pd.DataFrame:
        """Return the samples with the largest errors, the most wrong first.

        Parameters
        ----------
        n : int, default=10
            Maximum number of samples.

        Returns
        -------
        DataFrame
            Rows of `to_frame`; of classes only those on the wrong side.
        """
        n = check_positive_integer("n", n)
        if "error" not in self.table:
            raise ValueError("errors need the targets: explain(model, X, y).")
        wrong = self.table[self.table["error"] > 0.0]
        return wrong.sort_values("error", ascending=False, kind="stable").head(n)

    def features(self, rows: Sequence[int] | None = None, *, machine: str | None = None) -> pd.DataFrame:
        """Return what each column adds to the score, compared with its mean over the samples.

        Parameters
        ----------
        rows : list of int, default=None
            Numbers of samples; None for all.
        machine : str, default=None
            Which machine, of several.

        Returns
        -------
        DataFrame
            A row for each sample, a column for each column of the views with linear kernels and of those that
            read one column, by ``view`` and ``feature``; a view of several columns with another kernel is one
            entry, whose feature is "all columns". The last is ``baseline``, the mean score of the samples.
            All of a row sum to the score.
        """
        if self._of_features is None:
            raise NoSlope(self.omitted.get(FEATURES, "this model has no columns."))
        number = self._number(machine)
        n = len(self.table)
        chosen = np.arange(n) if rows is None else np.asarray(rows, dtype=int)
        if chosen.size and not (-n <= chosen.min() and chosen.max() < n):
            raise ValueError(f"rows must be row numbers of the {n} samples; got {chosen.tolist()}.")
        found: pd.DataFrame = self._of_features(chosen, number)
        found.index = self.table.index[chosen]
        return found

    def sample(self, sample: Any, *, machine: str | None = None, by: str = VIEWS) -> dict[str, Any]:
        """Return how one score comes about, as :func:`multikernel.viz.waterfall` draws it.

        Parameters
        ----------
        sample : id or int
            The id of the sample, or its row number.
        machine : str, default=None
            Which of several machines; None for that of the prediction.
        by : {"views", "features"}, default="views"
            What the steps are: views, from the intercept on, or columns, from the mean score on.

        Returns
        -------
        dict
            ``id``, ``machine``, ``start`` and ``start_name``, ``score``, ``rows`` (dicts of ``name`` and
            ``value``), and ``low`` and ``high`` where there are bounds.
        """
        if by not in PARTS:
            raise ValueError(f"by must be 'views' or 'features'; got {by!r}.")
        row = self._row(sample)
        if machine is None and len(self.machines) > 1:
            predicted = str(self.table["prediction"].iloc[row])
            machine = predicted if predicted in self.machines else self.machines[0]
        number = self._number(machine)
        name = self.machines[number]
        parts = self.contributions if len(self.machines) == 1 else self.contributions[name]
        score = float(parts["score"].iloc[row])
        if by == VIEWS:
            start = float(parts["intercept"].iloc[row])
            steps = parts.iloc[row].drop(["intercept", "score"])
            rows = [{"name": str(view), "value": float(value)} for view, value in steps.items()]
        else:
            added = self.features([row], machine=machine).iloc[0]
            start = float(added["baseline"].iloc[0])
            rows = [
                {"name": f"{feature} ({view})", "value": float(value)}
                for (view, feature), value in added.drop("baseline", level="view").items()
            ]
        found = {"id": str(self.table.index[row]), "machine": name, "start": start, "score": score}
        found["start_name"] = "intercept" if by == VIEWS else "mean score"
        found["rows"] = rows
        head = "" if len(self.machines) == 1 else f"[{name}]"
        for end in ("low", "high"):
            if f"{end}{head}" in self.table:
                found[end] = float(self.table[f"{end}{head}"].iloc[row])
        return dict(plain_tree(found))

    def _row(self, sample: Any) -> int:
        if sample in self.table.index:
            return int(np.flatnonzero(self.table.index == sample)[0])
        is_number = isinstance(sample, int | np.integer) and not isinstance(sample, bool)
        if is_number and -len(self.table) <= sample < len(self.table):
            return int(sample) % len(self.table)
        n = len(self.table)
        raise ValueError(f"sample must be an id or a row number of the {n} samples; got {sample!r}.")

    def _number(self, machine: str | None) -> int:
        if machine is None and len(self.machines) > 1:
            raise ValueError(f"there are several machines: choose one by machine=, of {self.machines}.")
        if machine is None:
            return 0
        if str(machine) not in self.machines:
            raise ValueError(f"machine must be one of {self.machines}; got {machine!r}.")
        return self.machines.index(str(machine))

    @property
    def answer(self) -> str:
        """What was found, in a sentence."""
        if len(self.table) == 1:
            return self._on_one()
        spread = self.contributions.quantile(0.75) - self.contributions.quantile(0.25)
        if self.contributions.columns.nlevels > 1:
            spread = spread.groupby(level=-1, sort=False).mean()
        spread = spread.drop(["intercept", "score"])
        first = spread.idxmax()
        told = (
            f"Of {len(spread)} views, {first} tells these {len(self.table)} samples apart most: what it adds "
            f"to the score has an interquartile range of {spread[first]:.3g}."
        )
        if "certain" in self.table:
            n = int(self.table["certain"].sum())
            told += f" The decision is that of the optimum for {n} of them, by the duality gap."
        return told

    def _on_one(self) -> str:
        part = self.sample(0)
        step = max(part["rows"], key=lambda row: abs(row["value"]))
        return (
            f"The score of {part['id']} is {part['score']:.3g}; of {len(part['rows'])} views {step['name']} "
            f"adds most, {step['value']:+.3g}."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain numbers and texts, which JSON can hold.

        Returns
        -------
        dict
            ``answer``, ``machines``, ``rows`` (of `to_frame`, with ``sample``), ``contributions``,
            ``neighbors``, ``gates`` and ``omitted``.
        """
        flat = self.contributions.copy()
        if flat.columns.nlevels > 1:
            flat.columns = [f"{view}[{machine}]" for machine, view in flat.columns]
        return dict(
            plain_tree(
                {
                    "answer": self.answer,
                    "machines": self.machines,
                    "rows": _records(self.table),
                    "contributions": _records(flat),
                    "neighbors": None if self.neighbors is None else self.neighbors.to_dict("records"),
                    "gates": None if self.gates is None else _records(self.gates),
                    "omitted": self.omitted,
                }
            )
        )

    def plot(  # type: ignore[override]
        self,
        sample: Any = None,
        ax: Any = None,
        *,
        machine: str | None = None,
        by: str = VIEWS,
        most: int = 12,
    ) -> Any:
        """Draw how one score comes about, see :func:`multikernel.viz.waterfall`.

        Parameters
        ----------
        sample : id or int, default=None
            The id of the sample, or its row number; None for the most wrong one, or the first without `y`.
        ax : matplotlib axes, default=None
            Without it a figure is made.
        machine : str, default=None
            As of `sample`.
        by : {"views", "features"}, default="views"
            As of `sample`.
        most : int, default=12
            Maximum number of steps.

        Returns
        -------
        matplotlib axes
        """
        if sample is None:
            wrong = self.worst(1).index if "error" in self.table else []
            sample = wrong[0] if len(wrong) else 0
        return pictures.waterfall(self.sample(sample, machine=machine, by=by), most=most, ax=ax)


def _records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    return list(frame.rename_axis("sample").reset_index().to_dict("records"))


# ------------------------------------------------------------------ entry point
def explain(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    X_train: Any = None,
    y_train: Any = None,
    n_neighbors: int = _NEAREST,
) -> Explanation:
    """Explain the scores of samples: what each view and column adds, and which training samples are near.

    Parameters
    ----------
    model : fitted estimator
        Of this library, with ``contributions``, or a pipeline or a search that ends in one.
    X : as for ``predict``
        The samples to explain.
    y : array-like of shape (n_samples,), default=None
        Their targets, for the errors.
    X_train, y_train : as for ``fit``, default=None
        The samples that the model was fitted to, in their order. With them, scores have the bounds that the
        duality gap gives, and support samples their ids.
    n_neighbors : int, default=5
        How many support samples are named for each sample.

    Returns
    -------
    Explanation

    Raises
    ------
    NotAdditive
        Where the scores of the model are no sums over views.

    Notes
    -----
    A score is f(x) + b with f = Σ_m f_m, one f_m for each view. Kernels that are not centered give f_m a
    constant part, which is a matter of convention between views and intercept; compare samples with each
    other rather than views with 0. `features` are free of that: there every part is compared with its mean
    over the samples of X.

    Bounds: with the learned kernel K and the duality gap G of the machine, the optimum f* has
    |f(x) − f*(x)| ≤ √(G K(x, x)), and its intercepts lie between those of scores that are so much higher and
    lower on the training samples. ``low`` and ``high`` hold for every optimum of the machine with the kernel
    that was learned; a fit with a smaller ``tol`` makes them closer. With a norm above 1, ``joint_low`` and
    ``joint_high`` hold for the optimum over weights and machine together. They say how exactly the problem
    was solved, and not how sure a prediction is: for that, hold samples back.

    Examples
    --------
    >>> from multikernel import MKLClassifier, View
    >>> from multikernel.kernels import Gaussian, Linear
    >>> rng = np.random.default_rng(0)
    >>> X = pd.DataFrame(rng.normal(size=(100, 3)), columns=["dose", "age", "noise"])
    >>> y = X["dose"] + X["age"] ** 2 > 1
    >>> views = [View("drug", Linear(), ["dose"]), View("patient", Gaussian(), ["age", "noise"])]
    >>> model = MKLClassifier(views, tol=1e-8).fit(X[:50], y[:50])
    >>> found = explain(model, X[50:], y[50:], X_train=X[:50], y_train=y[:50])
    >>> found.contributions.round(2).iloc[0].to_dict()
    {'drug': -0.08, 'patient': -1.33, 'intercept': -0.02, 'score': -1.44}
    >>> int(found.to_frame()["certain"].sum())
    50
    """
    if not hasattr(model, "__sklearn_tags__"):
        raise TypeError(f"model must be a fitted estimator; got {type(model).__name__}.")
    check_is_fitted(model)
    n_neighbors = check_positive_integer("n_neighbors", n_neighbors)
    subject = subject_of(model)
    final = subject.final
    if not isinstance(final, KernelEstimator) or not hasattr(final, "contributions"):
        raise NotAdditive(f"the scores of {type(final).__name__} are no sums over views.")
    if (X_train is None) != (y_train is None):
        raise TypeError("X_train and y_train belong together; got one of them.")
    if y is not None and subject.task == "survival":
        raise TypeError(
            "y must be left out for a survival model: censored times have no error of one sample."
        )
    reached = subject.inputs(X)
    require_same_samples(reached, y, precomputed=final._precomputed)
    contributions = _named(final.contributions_frame(reached), X, subject)
    machines = _machine_names(contributions, final)
    table = _predictions(model, X, y, contributions, machines)
    omitted: dict[str, str] = {}
    bounds = _bounds(subject, reached, contributions, (X_train, y_train), omitted)
    if bounds is not None:
        table = _with_bounds(table, bounds, machines, hasattr(final, "classes_"))
    ids = None if X_train is None else _ids(X_train, subject)
    found = Explanation(
        contributions,
        table,
        machines,
        _neighbors(final, reached, table.index, ids, n_neighbors, omitted),
        _gates(final, reached, table.index),
        omitted,
    )
    return replace(found, _of_features=_feature_parts(subject, X, contributions, omitted))


def _ids(X: Any, subject: Subject) -> list[str] | None:
    return ids_of(X, grams=subject.is_precomputed and not subject.steps)


def _named(frame: pd.DataFrame, X: Any, subject: Subject) -> pd.DataFrame:
    """With the ids of X, which the steps of a pipeline may have lost."""
    ids = _ids(X, subject)
    return frame if ids is None else frame.set_axis(pd.Index(ids, name="sample"), axis=0)


def _machine_names(contributions: pd.DataFrame, final: Any) -> list[str]:
    if contributions.columns.nlevels > 1:
        return [str(name) for name in contributions.columns.get_level_values(0).unique()]
    classes = getattr(final, "classes_", None)
    return ["the prediction" if classes is None else str(classes[-1])]


def _scores(contributions: pd.DataFrame) -> Array:
    """(n_samples, n_machines)."""
    if contributions.columns.nlevels == 1:
        return contributions[["score"]].to_numpy()
    machines = contributions.columns.get_level_values(0).unique()
    return np.column_stack([contributions[name]["score"] for name in machines])


def _predictions(
    model: Any, X: Any, y: Any, contributions: pd.DataFrame, machines: list[str]
) -> pd.DataFrame:
    scores = _scores(contributions)
    predicted = np.asarray(model.predict(X))
    heads = ["score"] if len(machines) == 1 else [f"score[{name}]" for name in machines]
    columns = {"prediction": predicted if predicted.ndim == 1 else list(predicted)}
    columns |= dict(zip(heads, scores.T, strict=True))
    table = pd.DataFrame(columns, index=contributions.index)
    if y is None:
        return table
    targets = np.asarray(y)
    if targets.shape[:1] != (len(table),):
        raise ValueError(f"y must have an entry for each of the {len(table)} samples; got {targets.shape}.")
    table["target"] = targets if targets.ndim == 1 else list(targets)
    table["error"] = sample_errors(model, X, targets, predicted)
    return table


def sample_errors(model: Any, X: Any, y: Array, predicted: Array) -> Array:
    """How wrong each sample is: above 0 for wrong classes."""
    classes = getattr(model, "classes_", None)
    if classes is None:
        check_values(y)
        difference = np.abs(np.asarray(y, dtype=float) - np.asarray(predicted, dtype=float))
        return difference if difference.ndim == 1 else difference.mean(axis=1)
    check_known_labels(y, classes)
    scores = np.asarray(model.decision_function(X), dtype=float)
    codes = np.searchsorted(classes, y)
    if scores.ndim == 1:
        return np.where(codes == 1, -scores, scores)
    rows = np.arange(len(codes))
    others = scores.copy()
    others[rows, codes] = -np.inf
    return np.asarray(others.max(axis=1) - scores[rows, codes])


# ------------------------------------------------------------------ the duality gap
def _bounds(
    subject: Subject, X: Any, contributions: pd.DataFrame, training: tuple[Any, Any], omitted: dict[str, str]
) -> ScoreBounds | None:
    if training[0] is None:
        omitted["bounds"] = "bounds of scores need the training samples: X_train and y_train."
        return None
    final = subject.final
    try:
        table = final._validate_table(X, reset=False)
        intercepts = np.ravel(getattr(final, "intercept_", 0.0))
        scores = _scores(contributions) - intercepts
        return score_bounds(final, table, scores, subject.inputs(training[0]), training[1])
    except NoBound as error:
        omitted["bounds"] = str(error)
        return None


def _with_bounds(
    table: pd.DataFrame, bounds: ScoreBounds, machines: list[str], classes: bool
) -> pd.DataFrame:
    columns: dict[str, Any] = {}
    for k, name in enumerate(machines):
        head = "" if len(machines) == 1 else f"[{name}]"
        columns |= {f"low{head}": bounds.low[:, k], f"high{head}": bounds.high[:, k]}
        if np.isfinite(bounds.joint_low[:, k]).any():
            columns[f"joint_low{head}"] = bounds.joint_low[:, k]
            columns[f"joint_high{head}"] = bounds.joint_high[:, k]
    if classes:
        columns["certain"] = _certain(bounds.low, bounds.high)
    return pd.concat([table, pd.DataFrame(columns, index=table.index)], axis=1)


def _certain(low: Array, high: Array) -> Array:
    """Whether all scores within the bounds give the same class."""
    if low.shape[1] == 1:
        return (low[:, 0] > 0.0) | (high[:, 0] < 0.0)
    middle = low + high
    first = middle.argmax(axis=1)
    rows = np.arange(len(low))
    others = high.copy()
    others[rows, first] = -np.inf
    return low[rows, first] > others.max(axis=1)


# ------------------------------------------------------------------ support samples, gates
def _neighbors(
    final: Any, X: Any, index: pd.Index, ids: list[str] | None, n: int, omitted: dict[str, str]
) -> pd.DataFrame | None:
    fitted = getattr(final, "_fitted", None)
    part = fitted.parts[0] if isinstance(fitted, FittedKernels) and len(fitted.parts) == 1 else None
    if type(part) is not DualKernels or part.factors:
        name = type(final).__name__
        omitted["neighbors"] = f"{name}, as it was fitted, predicts by no sum over support samples."
        return None
    weights = part.weights.mean(axis=0)
    table = final._validate_table(X, reset=False)
    similar: Any = 0.0
    pulls: Any = 0.0
    for m, K in part.bank.iter_kernels(table):
        similar = similar + weights[m] * K
        pulls = pulls + K[:, :, None] * (part.coefficients * part.weights[:, [m]]).T
    rows = None if getattr(final, "gram_", "dense") == "working_set" else final._support_rows
    n = min(n, similar.shape[1])
    nearest = np.argsort(-similar, axis=1, kind="stable")[:, :n]
    places = np.arange(len(nearest))[:, None]
    columns: dict[str, Any] = {"sample": np.repeat(np.asarray(index), n)}
    if rows is None or rows.size != similar.shape[1]:
        omitted["support"] = "the model does not say which training rows its support samples are."
    else:
        numbers = rows[nearest].ravel()
        columns["support"] = numbers if ids is None else [ids[k] for k in numbers]
    columns["similarity"] = similar[places, nearest].ravel()
    added = pulls[places, nearest]  # (n_samples, n, n_machines)
    for k in range(added.shape[2]):
        head = "adds" if added.shape[2] == 1 else f"adds[{final.machine_names_[k]}]"
        columns[head] = added[:, :, k].ravel()
    return pd.DataFrame(columns)


def _gates(final: Any, X: Any, index: pd.Index) -> pd.DataFrame | None:
    if not is_local(final):
        return None
    return pd.DataFrame(final.sample_kernel_weights(X), index=index, columns=list(final.view_names_))


# ------------------------------------------------------------------ columns
@dataclass(frozen=True, eq=False)
class FeatureParts:
    """What each column adds to the scores of some samples, compared with its mean over them."""

    names: list[tuple[str, str]]  # views and columns; those of linear kernels come first
    values: Array  # (n_samples, n_linear), entries of the columns with linear kernels, less their means
    slopes: Array  # (n_machines, n_linear)
    whole: Array  # (n_samples, n_machines, n_others), what the other views add, less its mean
    baselines: Array  # (n_machines,), the mean scores

    def __call__(self, rows: Array, machine: int) -> pd.DataFrame:
        last = np.full((len(rows), 1), self.baselines[machine])
        block = [self.values[rows] * self.slopes[machine], self.whole[rows, machine], last]
        columns = pd.MultiIndex.from_tuples([*self.names, ("baseline", "")], names=["view", "feature"])
        return pd.DataFrame(np.hstack(block), columns=columns)


def _feature_parts(
    subject: Subject, X: Any, contributions: pd.DataFrame, omitted: dict[str, str]
) -> FeatureParts | None:
    """What each column adds to the scores, where the model says so."""
    try:
        fitted = additive_kernels(subject)
        data = read_data(subject, X)
    except (NoSlope, ValueError) as error:
        omitted[FEATURES] = str(error)
        return None
    bank = fitted.bank
    linear = {m for m in bank.active_ if is_linear_view(bank.views_[m])}
    slopes = np.zeros((fitted.shape[0], len(data.features)))
    if linear:
        part = FittedKernels([only_kernels(fitted.parts[0], linear)], fitted.shape)
        slopes = next(iter(gradients(part, data, 1)))[0]
    used = np.flatnonzero(np.any(slopes != 0.0, axis=0)).tolist()
    others = [bank.view_names_[m] for m in bank.active_ if m not in linear]
    values = numbers_of(data, [data.features[place] for place in used])
    blocks = [_of_view(contributions, name) for name in others]
    whole = np.stack(blocks, axis=2) if blocks else np.empty((data.n, fitted.shape[0], 0))
    names = [(data.features[place].view, data.features[place].name) for place in used]
    return FeatureParts(
        names + [_entry(data.features, name) for name in others],
        values - values.mean(axis=0),
        slopes[:, used],
        whole - whole.mean(axis=0),
        _scores(contributions).mean(axis=0),
    )


def _entry(features: list[Feature], view: str) -> tuple[str, str]:
    """What a view is called that is one entry: by its column, if it reads one."""
    own = [feature for feature in features if feature.readers and view in feature.readers]
    return view, own[0].name if len(own) == 1 and own[0].position is not None else "all columns"


def _of_view(contributions: pd.DataFrame, view: str) -> Array:
    """What a view adds to the scores, (n_samples, n_machines)."""
    if contributions.columns.nlevels == 1:
        return contributions[[view]].to_numpy()
    return contributions.xs(view, axis=1, level=1).to_numpy()

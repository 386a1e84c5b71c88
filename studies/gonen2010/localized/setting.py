"""What the tables of sections 5.3 and 5.4 have in common: folds, grids, the choice of C, and rows.

Section 5.1: a random third of the points is the test part; the rest is halved five times over, which gives
ten training halves, each with the other half for validation. The parameters of the best mean validation
score train the ten final machines, and their scores on the test part are reported. Section 5.3.1.2, faces:
two pictures of each person are the test part, eight folds of the others hold one picture of each.

The thesis has one test part. A *split* here is a random test part, of which there are several: a number of
ours is the mean over the splits of the mean over the folds. The printed ± is the spread over the folds of
one split, and does not hold what another test part would change; the standard error of a difference takes
the thesis's split to vary as ours do.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

import numpy as np
from scipy.stats import ttest_rel
from sklearn.model_selection import KFold, StratifiedKFold, train_test_split

from multikernel.inspection import f_test_5x2cv
from multikernel.kernels import Kernel
from multikernel.localized.estimators import LocalizedMKLClassifier, LocalizedMKLRegressor
from multikernel.mkl.classifier import MKLClassifier
from multikernel.mkl.regressors import MKLRegressor
from multikernel.views import View
from studies.compare import compare
from studies.fitting import convergence_reported
from studies.published import Published
from studies.study import Quantity, Result

PRICES = (0.01, 0.1, 1.0, 10.0, 100.0)
REPEATS, HALVES = 5, 2
LEVEL = 0.05
OPEN = 1e-3  # a gate or a weight of no more counts as zero
_SETTLED = ("optimal", "stalled")

Array = np.ndarray
Settings = Mapping[str, float]


@dataclass(frozen=True)
class Sample:
    """The points of a problem, their representations side by side: ``columns`` has the columns of each."""

    X: Array
    y: Array
    columns: Mapping[str, slice]


@dataclass(frozen=True)
class Fold:
    """The indices of the points that train, validate and test."""

    training: Array
    validation: Array
    test: Array


@dataclass(frozen=True)
class Method:
    """A row of a table: its label, and how a sample and C (and epsilon) become an estimator."""

    label: str
    build: Callable[[Sample, Settings], Any]


@dataclass(frozen=True)
class Problem:
    """What is learned by which methods.

    Attributes
    ----------
    load : callable
        No argument to the sample.
    methods : mapping of str to Method
    draw : callable
        Sample and split to the folds of the split.
    grid : mapping of str to sequence of float
        The values of ``C``, and of ``epsilon`` for regression, the simplest first.
    is_regression : bool
        Whether the score is the mean squared error.
    """

    load: Callable[[], Sample]
    methods: Mapping[str, Method]
    draw: Callable[[Sample, int], list[Fold]]
    grid: Mapping[str, Sequence[float]] = field(default_factory=lambda: {"C": PRICES})
    is_regression: bool = False

    def settings(self) -> list[dict[str, float]]:
        """All points of the grid, the smallest C first."""
        return [dict(zip(self.grid, values, strict=True)) for values in product(*self.grid.values())]


# --- folds --------------------------------------------------------------------------------------------------


def draw_halves(sample: Sample, split: int, *, stratified: bool = True) -> list[Fold]:
    """Return the ten folds of section 5.1 with a random third as the test part.

    Parameters
    ----------
    sample : Sample
    split : int
    stratified : bool, default=True
        Whether the classes keep their shares; not for numbers.

    Returns
    -------
    list of Fold
        The two halves of a repetition follow each other, as the 5×2 cv F test has them.
    """
    y = sample.y
    rest, test = train_test_split(
        np.arange(len(y)), test_size=1 / 3, random_state=split, stratify=y if stratified else None
    )
    folds = []
    for repeat in range(REPEATS):
        halve = (StratifiedKFold if stratified else KFold)(
            HALVES, shuffle=True, random_state=REPEATS * split + repeat
        )
        folds += [Fold(rest[a], rest[b], test) for a, b in halve.split(rest, y[rest])]
    return folds


# --- estimators ---------------------------------------------------------------------------------------------


def side_by_side(tables: Mapping[str, Array], y: Array) -> Sample:
    """Return the sample whose representations stand side by side in one table.

    Examples
    --------
    >>> sample = side_by_side({"a": np.zeros((2, 3)), "b": np.ones((2, 1))}, np.array([1, -1]))
    >>> sample.X.shape, sample.columns["b"]
    ((2, 4), slice(3, 4, None))
    """
    ends = np.cumsum([0, *(table.shape[1] for table in tables.values())]).tolist()
    columns = {name: slice(a, b) for name, a, b in zip(tables, ends[:-1], ends[1:], strict=True)}
    return Sample(np.hstack([np.asarray(table, dtype=np.float64) for table in tables.values()]), y, columns)


def unit_view(name: str, kernel: Kernel, columns: slice | None = None) -> View:
    """Return a kernel of unit diagonal on standardised columns."""
    return View(name, kernel, columns, "unit_diagonal", standardize=True)


def copies(view: View, count: int) -> list[View]:
    """Return so many views of the same kernel, by names of their own."""
    return [replace(view, name=f"{view.name} {i + 1}") for i in range(count)]


def global_method(label: str, views: Callable[[Sample], list[View]]) -> Method:
    """Return l1 MKL over the views, a plain machine if there is one only; regression where epsilon is set."""

    def build(sample: Sample, settings: Settings) -> Any:
        return (MKLRegressor if "epsilon" in settings else MKLClassifier)(views(sample), **settings)

    return Method(label, build)


def local_method(
    label: str, views: Callable[[Sample], list[View]], gating: str, gate_on: str | None = None
) -> Method:
    """Return localized MKL over the views; `gate_on` names what the gate sees, else what the kernels see."""

    def build(sample: Sample, settings: Settings) -> Any:
        features = None if gate_on is None else sample.columns[gate_on]
        learner = LocalizedMKLRegressor if "epsilon" in settings else LocalizedMKLClassifier
        return learner(views(sample), gating=gating, gating_features=features, gating_reg=0.0, **settings)

    return Method(label, build)


def fit_quietly(model: Any, X: Array, y: Array) -> Any:
    """Fit without the warnings of what did not converge: the status is stored, and the page reports it.

    Nor is there one of gates or projections on a plateau, which a small C ends on: no validation chooses it.
    """
    with convergence_reported():
        for message in ("the projections of .* tell", "the gates? of "):
            warnings.filterwarnings("ignore", message=message, category=UserWarning)
        return model.fit(X, y)


def score(model: Any, X: Array, y: Array) -> float:
    """Return the accuracy of a classifier in percent, the mean squared error of a regressor."""
    predicted = model.predict(X)
    if hasattr(model, "classes_"):
        return 100.0 * float(np.mean(predicted == y))
    return float(np.mean((predicted - y) ** 2))


def machine_of(model: Any) -> Any:
    """The estimator that has the support vectors: the last step of a pipeline."""
    return model[-1] if hasattr(model, "steps") else model


def weights_at(model: Any, X: Array) -> Array | None:
    """Return the weight of each kernel at each point (n, n_kernels); None of a single kernel."""
    if not hasattr(model, "view_names_") or len(model.view_names_) == 1:
        return None
    if hasattr(model, "sample_kernel_weights"):
        return np.asarray(model.sample_kernel_weights(X))
    weights = np.asarray(model.kernel_weights_)
    return np.tile(weights / weights.sum(), (len(X), 1))


# --- one method on one split --------------------------------------------------------------------------------


def run_method(problem: Problem, method: str, split: int) -> dict[str, Any]:
    """Return how a method does on a split, at the parameters of the best mean validation score.

    Parameters
    ----------
    problem : Problem
    method : str
        One of its methods.
    split : int

    Returns
    -------
    dict
        ``settings`` (the parameters chosen), ``validation`` (the mean); lists over the folds: ``test``
        (accuracy in percent or mean squared error), ``support`` (in percent of the training points); the
        means over folds and test points ``weights`` (of each kernel) and ``active`` (kernels of a weight
        above `OPEN`), None of a single kernel; ``open`` (folds whose solver did not come to its end).
    """
    sample = problem.load()
    folds = problem.draw(sample, split)
    build = problem.methods[method].build
    found = [
        (settings, [run_fold(build(sample, settings), sample, fold) for fold in folds])
        for settings in problem.settings()
    ]
    means = np.array([np.mean([fold["validation"] for fold in results]) for _, results in found])
    best = int(np.argmin(means if problem.is_regression else -means))
    settings, results = found[best]
    weights = [result["weights"] for result in results]
    return {
        "settings": settings,
        "validation": float(means[best]),
        "test": [result["test"] for result in results],
        "support": [result["support"] for result in results],
        "weights": None if weights[0] is None else np.mean(weights, axis=0).round(6).tolist(),
        "active": None if weights[0] is None else float(np.mean([result["active"] for result in results])),
        "open": sum(not result["settled"] for result in results),
    }


def run_fold(model: Any, sample: Sample, fold: Fold) -> dict[str, Any]:
    """Fit a model to the training points of a fold, and return how it does: see `run_method`."""
    X, y = sample.X, sample.y
    fit_quietly(model, X[fold.training], y[fold.training])
    machine = machine_of(model)
    weights = weights_at(model, X[fold.test])
    return {
        "validation": score(model, X[fold.validation], y[fold.validation]),
        "test": score(model, X[fold.test], y[fold.test]),
        "support": 100.0 * len(machine.support_) / len(fold.training),
        "weights": None if weights is None else weights.mean(axis=0),
        "active": None if weights is None else float((weights > OPEN).sum(axis=1).mean()),
        "settled": str(machine.status_).startswith(_SETTLED),
    }


# --- rows ---------------------------------------------------------------------------------------------------


def beside(values: Any, cells: Published | Sequence[Published] | None) -> dict[str, Any]:
    """Return our estimate over the splits beside a printed number, or a vector beside several.

    The printed number is one split, and is taken to vary as ours do; its ± is shown and not used, being the
    spread over the folds of that split.

    Parameters
    ----------
    values : array-like of shape (n_splits,) or (n_splits, k)
    cells : Published, sequence of k of them, or None

    Returns
    -------
    dict
        See `compare`.
    """
    if cells is None:
        return compare(values)
    if isinstance(cells, Published):
        said: dict[str, Any] = {"printed": str(cells), "place": cells.place, "doubt": cells.doubt}
        return compare(values, float(cells), 1) | said
    said = {
        "printed": [str(cell) for cell in cells],
        "place": [cell.place for cell in cells],
        "doubt": [cell.doubt for cell in cells],
    }
    return compare(values, [float(cell) for cell in cells], 1) | said


def score_values(
    group: Sequence[Result], printed: Mapping[str, Published], score_key: str
) -> dict[str, dict[str, Any]]:
    """Return score and support vectors of a method over the splits, and their spread over the folds.

    Parameters
    ----------
    group : sequence of dict
        Of `run_method`, one for each split.
    printed : mapping of str to Published
        The cells of the row, by quantity; empty if there are none.
    score_key : {"accuracy", "mse"}

    Returns
    -------
    dict of str to dict
    """
    values = {}
    for key, name in ((score_key, "test"), ("support", "support")):
        scores = np.array([result[name] for result in group])
        values[key] = beside(scores.mean(axis=1), printed.get(key))
        values[f"{key}_sd"] = compare(scores.std(axis=1, ddof=1))
    actives = [result["active"] for result in group]
    if actives[0] is not None:
        values["active"] = beside(actives, printed.get("active"))
    return values


def settings_remark(group: Sequence[Result]) -> str:
    """Return which parameters were chosen, and on how many folds the solver did not come to its end.

    Examples
    --------
    >>> settings_remark([{"settings": {"C": 1.0}, "open": 1, "test": [0, 0]}])
    'C 1; not solved to tolerance on 1 of 2 folds'
    """
    names = {"C": "C", "epsilon": "ε"}
    parts = []
    for key in group[0]["settings"]:
        chosen = sorted({result["settings"][key] for result in group})
        parts.append(f"{names[key]} {', '.join(f'{value:g}' for value in chosen)}")
    n_open, n_folds = sum(result["open"] for result in group), sum(len(result["test"]) for result in group)
    return ", ".join(parts) + (f"; not solved to tolerance on {n_open} of {n_folds} folds" if n_open else "")


def paired_test(ours: Sequence[float], rival: Sequence[float]) -> float:
    """Return the p-value of a difference over the folds of a split: 5×2 cv F test, or paired t test.

    Ten folds are those of section 5.1, for which the F test is made. Of eight folds of faces the thesis says
    the same test, which they do not allow: they have the paired t test.
    """
    gains = np.subtract(ours, rival)
    if not gains.any():
        return 1.0
    if len(gains) == REPEATS * HALVES:
        return float(f_test_5x2cv(gains.reshape(REPEATS, HALVES)).pvalue)
    return float(ttest_rel(ours, rival).pvalue)


@dataclass(frozen=True)
class Pair:
    """Two methods that the text compares, in what ("test" or "support"), and its finding: "<", "=" or ">"."""

    ours: str
    rival: str
    quantity: str
    said: str


SIGNS = {"<": "less", "=": "no significant difference", ">": "more"}


def pair_values(
    pair: Pair, found: Mapping[str, Sequence[Result]]
) -> tuple[dict[str, str], dict[str, dict[str, Any]], str]:
    """Return labels, values and remark of the row of a pair: see `Pair`.

    ``difference`` is over the splits; the remark counts the splits on which it is significant over the folds.
    """
    ours, rival = (
        np.array([result[pair.quantity] for result in found[name]]) for name in (pair.ours, pair.rival)
    )
    p = np.array([paired_test(a, b) for a, b in zip(ours, rival, strict=True)])
    gains = (ours - rival).mean(axis=1)
    more, less = int(np.sum((p <= LEVEL) & (gains > 0))), int(np.sum((p <= LEVEL) & (gains < 0)))
    values = {"gain": compare(gains), "more": compare([more]), "less": compare([less])}
    return {"paper": SIGNS[pair.said]}, values, "of 1 split" if len(gains) == 1 else f"of {len(gains)} splits"


GAIN = (
    Quantity("gain", "ours − rival", 2, difference=False),
    Quantity("more", "splits significantly more", 0, difference=False),
    Quantity("less", "splits significantly less", 0, difference=False),
)
ACCURACY = (
    Quantity("accuracy", "accuracy, %", 2),
    Quantity("accuracy_sd", "± over folds", 2, difference=False),
)
ERROR = (Quantity("mse", "MSE", 2), Quantity("mse_sd", "± over folds", 2, difference=False))
SUPPORT = (
    Quantity("support", "support vectors, %", 2),
    Quantity("support_sd", "± over folds", 2, difference=False),
)
SCALING = (
    "Columns have mean 0 and variance 1 over the training points, and kernels a unit diagonal; the gate sees "
    "standardised columns. The thesis does not say how it scales.",
    "A descent of the gate starts from random parameters within ±0.01 and ends when a step gains no "
    "more than "
    "τ = 0.001 of the objective (section 5.1).",
)
SPLITS_SAID = (
    "The thesis has one test part; a split of the command is a random test part, and a number of ours the "
    "mean over them. The s.e. of a difference takes the thesis's test part to vary as ours do, s √(1 + 1/n). "
    "The printed ± is the spread over the folds of one test part; beside it, ours (± over folds) is the mean "
    "spread over the folds of a split. From so few splits the s.e. is itself uncertain."
)
THIRDS = (
    "Section 5.1: a random third is the test part; the rest is halved five times over, and each half trains "
    "a machine that the other half validates. The parameters with the best mean over the ten validations are "
    "kept, and the ten machines are scored on the test part."
)
F_TESTS = (
    "The comparisons that the text makes: the difference of the means (s.e. over the splits), and on "
    "how many "
    "splits the 5×2 cv paired F test finds it significant at 5%."
)

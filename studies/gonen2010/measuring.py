"""How MKL does on the ten folds of a task: accuracy, support vectors, total cost and weights; their tests.

The total cost of predicting a point (section 2.8), in percent of all kernels with all training points:

    c = (number of support vectors) · Σ_m [η_m > 0] d_m / Σ_m d_m
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from multikernel.inspection import f_test_5x2cv, wilcoxon_signed_rank
from multikernel.mkl.classifier import MKLClassifier
from studies.compare import compare, comparison_row
from studies.fitting import convergence_reported
from studies.gonen2010.protocol import FOLDS, HALVES, LEVEL, REPEATS, Fold
from studies.gonen2010.published import NUMBERS
from studies.gonen2010.published_combining import OUTCOMES, wilcoxon_verdicts
from studies.gonen2010.setting import THIRDS, Stacks, Task, draw_folds, fold_stacks
from studies.study import Result

TOL = 1e-4  # the relative duality gap
_OPEN = 1e-3  # a share of the weights that counts as zero
ALL = "Over the tasks"

Array = np.ndarray
Found = dict[str, Any]


@dataclass(frozen=True)
class Method:
    """MKL with some d, and what its total cost is counted with; a vector of ones if None."""

    costs: Sequence[float] | None = None
    counted: Sequence[float] | None = None
    norm: float = 1.0


def fit_stack(stacks: Stacks, y: Array, fold: Fold, C: float, method: Method) -> tuple[MKLClassifier, Found]:
    """Fit MKL to the kernels of a fold, and return it with how it does.

    Parameters
    ----------
    stacks : Stacks
    y : ndarray of shape (n,)
    fold : Fold
    C : float
    method : Method

    Returns
    -------
    model : MKLClassifier
    found : dict
        ``validation`` and ``accuracy`` (on the test set), ``support`` and ``cost`` in percent, ``eta`` (the
        weights), ``active`` (how many of them are not zero) and ``settled``.
    """
    costs = None if method.costs is None else np.asarray(method.costs)
    model = MKLClassifier("precomputed", C=C, costs=costs, norm=method.norm, tol=TOL)
    with convergence_reported():
        model.fit(stacks.training, y[fold.training])
    eta = np.asarray(model.kernel_weights_)
    is_open = eta > _OPEN * eta.sum()
    counted = np.ones(len(eta)) if method.counted is None else np.asarray(method.counted)
    support = 100.0 * len(model.support_) / len(fold.training)
    found = {
        "validation": _accuracy(model, stacks.validation, y[fold.validation]),
        "accuracy": _accuracy(model, stacks.test, y[fold.test]),
        "support": support,
        "cost": float(support * counted[is_open].sum() / counted.sum()),
        "eta": eta.tolist(),
        "active": int(is_open.sum()),
        "settled": str(model.status_) == "optimal",
    }
    return model, found


def _accuracy(model: MKLClassifier, stack: Array, y: Array) -> float:
    return 100.0 * float(np.mean(model.predict(stack) == y))


def measure_task(
    task: Task, split: int, methods: Mapping[str, Method], grid: Sequence[float], n_folds: int = FOLDS
) -> Found:
    """Return how each method does on the folds of a split, at the C of its best mean validation.

    Parameters
    ----------
    task : Task
    split : int
    methods : mapping of str to Method
    grid : sequence of float
        The values of C, ascending.
    n_folds : int, default=10
        How many of the folds, from the first.

    Returns
    -------
    dict
        By method: see `at_best`.
    """
    points = task.load(split)
    by_method: dict[str, list[list[Found]]] = {name: [] for name in methods}
    for fold in draw_folds(points, split)[:n_folds]:
        stacks = fold_stacks(task.views(points), points.X, fold)
        for name, method in methods.items():
            by_method[name].append([fit_stack(stacks, points.y, fold, C, method)[1] for C in grid])
    return {name: at_best(folds, grid) for name, folds in by_method.items()}


def at_best(folds: Sequence[Sequence[Found]], grid: Sequence[float]) -> Found:
    """Return the results at the C of the best mean validation accuracy; the smaller C of equals.

    Parameters
    ----------
    folds : sequence of sequence of dict
        For each fold, the results for each C.
    grid : sequence of float

    Returns
    -------
    dict
        ``C``, ``validation`` (the means, by C) and what `collect` gives at that C.
    """
    means = np.mean([[entry["validation"] for entry in fold] for fold in folds], axis=0)
    best = int(np.argmax(np.round(means, 9)))
    return {
        "C": grid[best],
        "validation": np.round(means, 4).tolist(),
        **collect([fold[best] for fold in folds]),
    }


def collect(entries: Sequence[Found]) -> Found:
    """Return the results of the folds: a list for each quantity, and how many solvers did not end."""
    keys = ("accuracy", "support", "cost", "eta", "active")
    lists = {key: np.round([entry[key] for entry in entries], 5).tolist() for key in keys}
    return lists | {"open": sum(not entry["settled"] for entry in entries)}


# ---------------------------------------------------------------------- rows
def normalized(eta: Any) -> Array:
    """Return weights that add up to 1.

    Examples
    --------
    >>> normalized([[1.0, 3.0]])
    array([[0.25, 0.75]])
    """
    weights = np.asarray(eta, dtype=np.float64)
    shares: Array = weights / weights.sum(axis=-1, keepdims=True)
    return shares


def fold_means(results: Sequence[Result], method: str, key: str) -> Array:
    """Return the mean over the folds for each split; of weights a vector."""
    return np.array([np.mean(result[method][key], axis=0) for result in results])


def published_cells(table: str, start: str, key: str) -> Any:
    """Return the number at a place of a table, or several (``eta1`` ...); None where none is printed."""
    cells = NUMBERS.get(f"table{table}", {})
    place = f"table {table}, {start}, {key}"
    if place in cells:
        return cells[place]
    found = [cell for name, cell in cells.items() if name.startswith(place) and name[len(place) :].isdigit()]
    return found or None


def method_values(
    table: str, start: str, results: Sequence[Result], method: str, keys: Sequence[str]
) -> dict[str, dict[str, Any]]:
    """Return the quantities of a method beside the published ones.

    Parameters
    ----------
    table : str
    start : str
        Task and method as the places of the table name them; empty if nothing is published.
    results : sequence of dict
        One for each split.
    method : str
        The key of the method in the results.
    keys : sequence of str
        Of the quantities.

    Returns
    -------
    dict
        Key to what `compare` returns.
    """
    return {
        key: compare(
            fold_means(results, method, key),
            published_cells(table, start, key) if start else None,
            THIRDS,
        )
        for key in keys
    }


def chosen_text(results: Sequence[Result], method: str) -> str:
    """Return which C were chosen, and how many solvers did not come to their end."""
    chosen = sorted({result[method]["C"] for result in results})
    n_open = sum(result[method]["open"] for result in results)
    text = f"C = {', '.join(f'{C:g}' for C in chosen)}"
    return f"{text}; not solved to tolerance on {n_open} folds" if n_open else text


def f_test_verdicts(
    results: Sequence[Result], ours: str, rival: str, key: str, sign: float
) -> dict[str, int]:
    """Return on how many splits a method wins, ties and loses by the 5×2 cv F test at the level of 5%."""
    counts = dict.fromkeys(OUTCOMES, 0)
    for result in results:
        gains = sign * (np.array(result[ours][key]) - np.array(result[rival][key]))
        gains = gains.reshape(REPEATS, HALVES)
        if f_test_5x2cv(gains).pvalue > LEVEL:
            counts["ties"] += 1
        else:
            counts["wins" if gains.mean() > 0.0 else "losses"] += 1
    return counts


def tested_text(results: Sequence[Result], ours: str, rival: str, keys: Mapping[str, float]) -> str:
    """Return what the F test says of one task: on how many splits a method wins or loses in what."""
    parts = []
    for key, sign in keys.items():
        counts = f_test_verdicts(results, ours, rival, key, sign)
        words = [f"{word} {counts[word]}" for word in ("wins", "losses") if counts[word]]
        parts += [f"{key}: {' and '.join(words)} of {len(results)}"] if words else []
    return "; ".join(parts)


def summary_rows(
    table: str,
    by_task: Mapping[str, Sequence[Result]],
    ours: str,
    rival: str,
    keys: Mapping[str, float],
    stand_in: str = "",
) -> list[dict[str, Any]]:
    """Return wins-ties-losses by the F test and by the means, and the verdict of Wilcoxon's test over tasks.

    Parameters
    ----------
    table : str
    by_task : mapping of str to sequence of dict
        The results of each task, one for each split.
    ours, rival : str
        Keys of the methods in the results.
    keys : mapping of str to float
        Quantity to 1 where more is better, −1 where less is.
    stand_in : str, default=""

    Returns
    -------
    list of dict
        One row for each quantity; none for fewer than two tasks.
    """
    if len(by_task) < 2:
        return []
    verdicts = wilcoxon_verdicts(table)
    rows = []
    for key, sign in keys.items():
        counts = [f_test_verdicts(results, ours, rival, key, sign) for results in by_task.values()]
        n_splits = len(next(iter(by_task.values())))
        tests = "-".join(f"{sum(count[word] for count in counts) / n_splits:g}" for word in OUTCOMES)
        gains = np.array(
            [
                sign * (fold_means(results, ours, key).mean() - fold_means(results, rival, key).mean())
                for results in by_task.values()
            ]
        ).round(4)
        found = wilcoxon_signed_rank(gains)
        is_win = found.rank_sum_positive > found.rank_sum_negative
        verdict = "tie" if found.pvalue > LEVEL else "win" if is_win else "loss"
        direct = "-".join(str(int(np.sum(side))) for side in (gains > 0.0, gains == 0.0, gains < 0.0))
        labels = {
            "of": key,
            "F test, paper": _printed_counts(table, "F test", key),
            "F test, ours": tests,
            "means, paper": _printed_counts(table, "means", key),
            "means, ours": direct,
            "Wilcoxon, paper": verdicts.get(key, ""),
            "Wilcoxon, ours": verdict,
        }
        values = {"signed_rank": compare([found.pvalue])}
        rows.append(comparison_row(f"{ALL} ({len(by_task)})", labels, values, stand_in=stand_in))
    return rows


def _printed_counts(table: str, test: str, key: str) -> str:
    cells = [published_cells(table, f"{test}, {key}", word) for word in OUTCOMES]
    return "" if None in cells else "-".join(map(str, cells))

"""``python -m benchmarks.tables.alternatives``: other defaults than ours, on the choosing half of the tables.

Each alternative is fitted at C = 1 on two repetitions of two folds with at most 300 training rows, once as
they are and once with 15 % of the training labels drawn anew, and compared with ``SVC()`` on standardized
columns. The table goes into docs/benchmarks/default_kernels.md. A run that was stopped goes on from --store.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from benchmarks.measuring import code_version, restart_on_threads
from benchmarks.running import say
from benchmarks.store import Store
from benchmarks.tables.__main__ import ROOT, listed, open_store, refuse_unknown
from benchmarks.tables.contestants import seven_kernels
from benchmarks.tables.sets import CLASSIFICATION, ENTRIES, FOLDS, load, make_fold, take
from multikernel import KernelBank, MKLClassifier, View
from multikernel._files import write_whole
from multikernel.inspection import learned_kernel
from multikernel.kernels import Gaussian, Laplacian, center
from multikernel.rules.solver.radius import smallest_ball
from multikernel.views.view import automatic_views

PAGE = ROOT / "docs" / "benchmarks" / "default_kernels.md"
STORE = ROOT / "benchmarks" / "tables" / "alternatives.jsonl"
BEGIN, END = "<!-- measured by python -m benchmarks.tables.alternatives -->", "<!-- end of the table -->"
REPEATS, MAX_ROWS, FLIPPED = 2, 300, 0.15
NORMS = (1.0, 1.5, 2.0, np.inf)
MOST_LEFT_OUT = 50  # rows of a leave-one-out accuracy
Predict = Callable[[Any, Any, Any], Any]  # training rows and labels, and test rows, to predicted labels


def fitted(*arguments: Any, **options: Any) -> Predict:
    """`MKLClassifier` with these arguments."""
    return lambda X, y, Z: MKLClassifier(*arguments, **options).fit(X, y).predict(Z)


def scaled(normalize: str) -> Predict:
    """The default kernels with another normalization."""
    return fitted(KernelBank("auto", normalize=normalize))


def norm_by_leave_one_out(X: Any, y: Any, Z: Any) -> Any:
    """The norm with the best leave-one-out accuracy on the learned kernel, the first of equally good ones."""
    models = [MKLClassifier(norm=norm).fit(X, y) for norm in NORMS]
    best = max(range(len(NORMS)), key=lambda k: leave_one_out(learned_kernel(models[k], X), y))
    return models[best].predict(Z)


def leave_one_out(K: Any, y: Any) -> float:
    """Leave-one-out accuracy of an SVC with C = 1 on a kernel, over rows that are evenly spaced.

    Only support samples have to be left out.
    """
    machine = SVC(C=1.0, kernel="precomputed").fit(K, y)
    right = machine.predict(K) == y
    rows = np.unique(np.linspace(0, len(y) - 1, MOST_LEFT_OUT).astype(int))
    for i in np.intersect1d(rows, machine.support_):
        rest = np.delete(np.arange(len(y)), i)
        if np.unique(y[rest]).size < machine.classes_.size:
            right[i] = False
            continue
        one = SVC(C=1.0, kernel="precomputed").fit(K[np.ix_(rest, rest)], y[rest])
        right[i] = one.predict(K[i : i + 1, rest])[0] == y[i]
    return float(np.mean(right[rows]))


def costed(cost: Callable[[Any], float], C: float = 1.0) -> Predict:
    """The default kernels with costs d, which divide kernels by d²: `cost` makes d² of a training Gram."""

    def predict(X: Any, y: Any, Z: Any) -> Any:
        bank = KernelBank("auto")
        squares = np.array([cost(K) for K in bank.fit_stack(X)])
        costs = np.sqrt(squares / np.exp(np.mean(np.log(squares))))  # the same C, whatever their scale
        named = dict(zip(bank.view_names_, costs.tolist(), strict=True))
        return MKLClassifier("auto", C=C, costs=named).fit(X, y).predict(Z)

    return predict


def complexity(K: Any) -> float:
    """The fourth root of the effective dimension tr(K)² / ‖K‖² of the centred kernel."""
    K = center(K)
    return float((np.trace(K) / np.linalg.norm(K)) ** 0.5)


def squared_radius(K: Any) -> float:
    """R² of the smallest ball around the training rows in feature space."""
    return float(smallest_ball(K, tol=1e-3).squared_radius)


def more_views() -> list[View]:
    """The twelve kernels, and eight narrower and wider ones."""
    views = list(automatic_views("rich"))
    for width in (0.25, 4.0):
        views += [View(f"gaussian-{width:g}", Gaussian(scale=width), standardize=True)]
        views += [View(f"laplacian-{width:g}", Laplacian(scale=width), standardize=True)]
        views += [View(f"rank-gaussian-{width:g}", Gaussian(scale=width), standardize="rank")]
        views += [View(f"rank-laplacian-{width:g}", Laplacian(scale=width), standardize="rank")]
    return views


@dataclass(frozen=True)
class Alternative:
    """One row of the table."""

    label: str
    predict: Predict


ALTERNATIVES = {
    "svc": Alternative("SVC", lambda X, y, Z: make_pipeline(StandardScaler(), SVC()).fit(X, y).predict(Z)),
    "auto": Alternative('`kernels="auto"`, the default', fitted()),
    "seven": Alternative(
        "linear, quadratic, five Gaussians, unit diagonal: the default before", fitted(seven_kernels())
    ),
    "seven_variance": Alternative(
        "the same seven, unit variance", fitted(KernelBank(seven_kernels(), normalize="variance"))
    ),
    "diagonal": Alternative("default, unit diagonal", scaled("diagonal")),
    "trace": Alternative("default, unit trace", scaled("trace")),
    "as_they_are": Alternative("default, kernels as they are", fitted(KernelBank("auto", normalize=None))),
    "radius": Alternative("default, unit radius (costs R² of the smallest ball)", costed(squared_radius)),
    "complexity": Alternative("default, costs by complexity", costed(complexity)),
    "C_10": Alternative("default, C = 10", fitted(C=10.0)),
    "complexity_10": Alternative("default, costs by complexity, C = 10", costed(complexity, C=10.0)),
    "norm_1.5": Alternative("default, norm 1.5", fitted(norm=1.5)),
    "norm_2": Alternative("default, norm 2", fitted(norm=2.0)),
    "sum": Alternative("default, plain sum (norm infinity)", fitted(norm=np.inf)),
    "leave_one_out": Alternative("default, norm of 1, 1.5, 2, ∞ by leave-one-out", norm_by_leave_one_out),
    "rich": Alternative('`kernels="rich"`', fitted("rich")),
    "rich_2": Alternative('`kernels="rich"`, norm 2', fitted("rich", norm=2.0)),
    "more": Alternative("twenty kernels: those, and narrower and wider ones", fitted(more_views())),
}


def measure(name: str, repetition: int, fold: int, flipped: bool, alternative: Alternative) -> float:
    """The accuracy of one alternative on one fold."""
    data = load(name)
    rows = make_fold(data, repetition, fold, regression=False)
    rng = np.random.default_rng(rows.seed)
    train = np.sort(rng.permutation(rows.train)[:MAX_ROWS])
    y = np.array(data.y[train])
    if flipped:
        drawn = rng.uniform(size=len(y)) < FLIPPED
        y[drawn] = rng.choice(np.unique(y), size=int(drawn.sum()))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of models that memorize flipped labels
        found = alternative.predict(take(data.X, train), y, take(data.X, rows.test))
    return float(np.mean(found == data.y[rows.test]))


def run(store: Store, sets: Sequence[str], names: Sequence[str]) -> None:
    """Measure what is not in the store."""
    about = {"commit": code_version()}
    for repetition in range(REPEATS):
        for name in sets:
            for fold in range(FOLDS):
                for flipped in (False, True):
                    for alternative in names:
                        key = f"{name}/{repetition}/{fold}/{'flipped' if flipped else 'plain'}/{alternative}"
                        if store.get(key) is None:
                            score = measure(name, repetition, fold, flipped, ALTERNATIVES[alternative])
                            store.write(key, about | {"accuracy": score})
            say(f"{name}, repetition {repetition}")


def differences(store: Store, sets: Sequence[str], flipped: bool, name: str) -> dict[str, float]:
    """Of each set that is measured whole: mean accuracy less that of SVC, in points."""
    found = {}
    for data in sets:
        pairs = [
            [store.get(f"{data}/{r}/{f}/{'flipped' if flipped else 'plain'}/{who}") for who in (name, "svc")]
            for r in range(REPEATS)
            for f in range(FOLDS)
        ]
        if all(record is not None for pair in pairs for record in pair):
            found[data] = 100.0 * float(np.mean([a["accuracy"] - b["accuracy"] for a, b in pairs]))  # type: ignore[index]
    return found


def table(store: Store, sets: Sequence[str]) -> str:
    """The rows of the page."""
    lines = [
        "| kernels | mean | worst | mean, labels drawn anew | worst, labels drawn anew | sets |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    for name, alternative in ALTERNATIVES.items():
        cells, count = [], 0
        for flipped in (False, True):
            found = differences(store, sets, flipped, name)
            count = len(found)
            worst = min(found, key=lambda key: found[key]) if found else ""
            cells += (
                [f"{np.mean(list(found.values())):+.1f}", f"{found[worst]:+.1f} ({worst})"]
                if found
                else ["–", "–"]
            )
        if name != "svc":
            lines.append(f"| {alternative.label} | {' | '.join(cells)} | {count} |")
    commits = sorted({store.get(key)["commit"] for key in store.records})  # type: ignore[index]
    return "\n".join(lines) + f"\n\nMeasured at {', '.join(commits)}."


def write_page(path: Path, text: str, begin: str = BEGIN, end: str = END) -> None:
    """Put the table into its place on the page."""
    page = path.read_text(encoding="utf-8")
    before, rest = page.split(begin)
    after = rest.split(end)[1]
    write_whole(path, f"{before}{begin}\n\n{text}\n\n{end}{after}".encode())


def main(given: list[str] | None = None) -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tables.alternatives", description=__doc__)
    choosing = [e.name for e in ENTRIES.values() if e.part == CLASSIFICATION and e.half == "choosing"]
    parser.add_argument("--only", type=listed, default=choosing, metavar="SET,...", help="sets to measure")
    parser.add_argument("--alternatives", type=listed, default=list(ALTERNATIVES), metavar="NAME,...")
    parser.add_argument("--store", type=Path, default=STORE, help="where each fit is kept")
    parser.add_argument("--out", type=Path, default=PAGE, help="the page that has the table")
    asked = parser.parse_args(given)
    restart_on_threads(1, "benchmarks.tables.alternatives")
    refuse_unknown("--only", asked.only, choosing)
    refuse_unknown("--alternatives", asked.alternatives, list(ALTERNATIVES))
    store = open_store(asked.store)
    run(store, asked.only, asked.alternatives)
    write_page(asked.out, table(store, choosing))


if __name__ == "__main__":
    main()

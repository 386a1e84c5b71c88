"""Accuracy of every classification method of the registry on five sets of several views.

``MULTIKERNEL_DATA=FOLDER python -m benchmarks.survey_accuracy`` fits each method of
`multikernel.registry.list_methods` with its defaults to two draws of each set, and writes
``docs/benchmarks/survey_accuracy.md``. Results are kept in ``benchmarks/survey/accuracy.jsonl``: a run that
was stopped goes on, and ``--again NAME ...`` measures methods anew.

Protocol, set before any result was seen: at most 300 training and 500 test samples of a set, drawn by class
with the seeds 0 and 1, the same for all methods; one Gaussian kernel with the median width for each view.
The columns of the views stand beside each other in one table, standardized but for word counts. Methods of
one kernel get one Gaussian kernel on all columns; projections and hyperkernels read the table.
A fit is told to end after a minute where the method has ``max_time``. Methods for two classes run on the set
with two classes only. Two draws are few: differences of a few points are chance.
"""

import argparse
import time
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split
from threadpoolctl import threadpool_limits

from benchmarks.store import Record, Store
from benchmarks.survey_times import PREPARED, fit_on_one_view, fit_on_table
from benchmarks.tables.sets import ENTRIES
from multikernel import Gaussian, View
from multikernel.registry import Method, list_methods

SETS = ("tcga_breast", "prokaryotic", "mfeat", "newsgroups_ngs", "webkb_course")
SEEDS = (0, 1)
MOST_TRAIN, MOST_TEST = 300, 500
REFERENCE = "tuned"  # MKLClassifierCV
# Not classifiers of rows, and why.
LEFT_OUT = {
    "tasks": "needs samples of several tasks",
    "transductive": "predicts only the points that it was fitted with",
    "ridge_labels": "is for many labels of one sample",
}
STORE = Path(__file__).parent / "survey" / "accuracy.jsonl"
PAGE = Path(__file__).parent.parent / "docs" / "benchmarks" / "survey_accuracy.md"


def draw(name: str, seed: int) -> tuple[Any, Any, Any, Any, list[Any]]:
    """Training and test samples of a set, and its views as kernels of columns of one table."""
    data = ENTRIES[name].load()
    X = np.concatenate(list(data.X.values()), axis=1)
    ends = np.cumsum([table.shape[1] for table in data.X.values()])
    views = [
        View(view, Gaussian(), list(range(end - table.shape[1], end)), standardize=data.standardize)
        for (view, table), end in zip(data.X.items(), ends, strict=True)
    ]
    rows = np.arange(len(X))
    n_train = min(MOST_TRAIN, 2 * len(X) // 3)
    train, test = train_test_split(rows, train_size=n_train, stratify=data.y, random_state=seed)
    test = test[:MOST_TEST]
    return X[train], data.y[train], X[test], data.y[test], views


def fitted(method: Method, X: Any, y: Any, views: list[Any]) -> Any:
    """The method, fitted with its defaults."""
    model = method.make("classification")
    if "max_time" in model.get_params():
        model.set_params(max_time=60.0)
    way = PREPARED.get(method.name)
    if way is fit_on_one_view:
        model.set_params(kernels=Gaussian())
    elif way is not fit_on_table:
        model.set_params(kernels=views)
    return model.fit(X, y)


def measure(method: Method, name: str, seed: int) -> Record:
    """One fit: accuracy and seconds, or why there is none."""
    X, y, X_test, y_test, views = draw(name, seed)
    record: Record = {"method": method.name, "set": name, "seed": seed}
    started = time.process_time()
    try:
        model = fitted(method, X, y, views)
        accuracy = float(np.mean(model.predict(X_test) == y_test))
    except ValueError as error:
        return record | {"refused": str(error).split(".")[0][:160]}
    return record | {"accuracy": accuracy, "seconds": time.process_time() - started}


def methods_measured() -> list[Method]:
    """All classifiers of the registry but those of ``LEFT_OUT``."""
    found = [method for method in list_methods("classification") if method.predicts]
    return [method for method in found if method.name not in LEFT_OUT]


def run(store: Store, names: Sequence[str], again: Sequence[str]) -> Iterator[Record]:
    """Measure what is missing, and keep each result at once."""
    asked = [method for method in methods_measured() if not names or method.name in names]
    for seed in SEEDS:
        for name in SETS:
            for method in asked:
                key = f"{method.name}, {name}, {seed}"
                if method.name in again or not store.measured(key):
                    store.write(key, measure(method, name, seed))
                    yield store.records[key]


def as_page(records: Sequence[Record]) -> str:
    """The table: methods by their mean rank beside MKLClassifierCV."""
    by_cell: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        by_cell.setdefault((record["method"], record["set"]), []).append(record)
    names = sorted({record["method"] for record in records})
    scores = np.full((len(names), len(SETS)), np.nan)
    for i, method in enumerate(names):
        for j, name in enumerate(SETS):
            found = [r["accuracy"] for r in by_cell.get((method, name), []) if "accuracy" in r]
            scores[i, j] = np.mean(found) if found else np.nan
    reference = scores[names.index(REFERENCE)]
    behind = np.nanmean(scores - reference, axis=1)
    order = sorted(range(len(names)), key=lambda i: (np.isnan(scores[i]).sum(), -behind[i]))
    left = "; ".join(f"`{name}` {why}" for name, why in LEFT_OUT.items())
    lines = [
        "---\norphan: true\n---\n",
        "# Accuracy of every classification method",
        "",
        "Written by `python -m benchmarks.survey_accuracy`. Test accuracy in %, the mean of "
        f"{len(SEEDS)} draws of at most {MOST_TRAIN} training samples; one Gaussian kernel for each view; "
        "all methods with their defaults. The last column: mean difference from `MKLClassifierCV` on the "
        "same sets, in points. Two draws are few: differences of a few points are chance. A dash: the method "
        f"refuses the set, as said below. Not measured: {left}.",
        "",
        "| method | " + " | ".join(SETS) + " | beside `MKLClassifierCV` |",
        "|---|" + "--:|" * (len(SETS) + 1),
    ]
    for i in order:
        cells = ["–" if np.isnan(value) else f"{100 * value:.1f}" for value in scores[i]]
        lines.append(f"| `{names[i]}` | {' | '.join(cells)} | {100 * behind[i]:+.1f} |")
    refused = {record["method"]: record["refused"] for record in records if "refused" in record}
    if refused:
        lines += ["", "What methods said of sets that they refused:", ""]
        lines += [f"- `{method}`: {why}." for method, why in sorted(refused.items())]
    return "\n".join(lines) + "\n"


def main(given: Sequence[str] | None = None) -> None:
    """Measure what is missing and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("names", nargs="*", help="methods; all by default")
    parser.add_argument("--again", nargs="*", default=[], help="methods to measure anew")
    asked = parser.parse_args(given)
    known = {method.name for method in methods_measured()}
    unknown = sorted({*asked.names, *asked.again} - known)
    if unknown:
        parser.error(f"unknown: {', '.join(unknown)}; known: {', '.join(sorted(known))}")
    store = Store(STORE, time.strftime("%Y-%m-%d %H:%M"), resume=True)
    warnings.simplefilter("ignore")  # a fit that ends early says so by its status
    with threadpool_limits(1):
        for record in run(store, asked.names, asked.again):
            told = record.get("refused") or f"{record['accuracy']:.3f} {record['seconds']:7.2f} s"
            print(f"{record['method']:24s} {record['set']:16s} {record['seed']} {told}", flush=True)
    PAGE.write_text(as_page(list(store.records.values())), encoding="utf-8")
    print(f"Wrote {PAGE}")


if __name__ == "__main__":
    main()

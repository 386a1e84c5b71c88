"""``python -m benchmarks.localized_default``: does a gate with its defaults overfit ordinary tables?

`LocalizedMKLClassifier()` beside `MKLClassifier()` and the gate without a ridge, on ten tables and on points
in the plane where location matters, on ten splits of 2:1 stratified by class. The ridges to choose from and
the rule were decided on the four tables of the first half. Writes docs/benchmarks/localized_default.md. What
is measured is kept in --store, from where a run that was stopped goes on; delete it to measure again.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedShuffleSplit

from benchmarks.measuring import code_version, restart_on_threads
from multikernel import LocalizedMKLClassifier, MKLClassifier, View
from multikernel._files import write_whole
from multikernel.datasets import gauss_bayes, load_dataset, make_gauss
from multikernel.kernels import Linear, Polynomial

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "benchmarks" / "localized_default.md"
STORE = ROOT / "build" / "localized_default.jsonl"
CHOSEN_ON = ("sonar", "heart_statlog", "ionosphere", "wdbc")
CONFIRMED_ON = ("breast_cancer_wisconsin", "german_numeric", "wpbc", "new_thyroid", "spambase", "monks3")
PLANE = ("GAUSS4, default kernels", "GAUSS4, linear and quadratic", "GAUSS4, three linear")
SPLITS, MAX_ROWS = 10, {"spambase": 600}
TRAIN, TEST = 400, 2000  # of GAUSS4, drawn anew for each split

MODELS: dict[str, Callable[[Any], Any]] = {
    "mkl": lambda kernels: MKLClassifier(kernels),
    "default": lambda kernels: LocalizedMKLClassifier(kernels),
    "sigmoid": lambda kernels: LocalizedMKLClassifier(kernels, gating="sigmoid"),
    "no_ridge": lambda kernels: LocalizedMKLClassifier(kernels, gating_reg=0.0),
}
HEADS = {
    "mkl": "`MKLClassifier()`",
    "default": "`LocalizedMKLClassifier()`",
    "sigmoid": '`gating="sigmoid"`',
    "no_ridge": "`gating_reg=0`",
}


def kernels_of(name: str) -> Any:
    """The kernels of a set of points; the default ones of a table."""
    scaled: dict[str, Any] = {"transforms": "unit_diagonal", "standardize": True}
    if name.endswith("three linear"):
        return [View(f"line {k}", Linear(), **scaled) for k in (1, 2, 3)]
    if name.endswith("quadratic"):
        return [View("linear", Linear(), **scaled), View("quadratic", Polynomial(2), **scaled)]
    return "auto"


def split_of(name: str, split: int) -> tuple[Any, Any, Any, Any]:
    """Training rows and labels, test rows and labels."""
    if name in PLANE:
        return *make_gauss("GAUSS4", TRAIN, random_state=split), *make_gauss(
            "GAUSS4", TEST, random_state=1000 + split
        )
    data = load_dataset(name)
    X, y = np.asarray(data.X, dtype=np.float64), np.asarray(data.y)
    rows = np.random.default_rng(0).permutation(len(y))[: MAX_ROWS.get(name, len(y))]
    X, y = X[rows], y[rows]
    splits = StratifiedShuffleSplit(SPLITS, test_size=1 / 3, random_state=0)
    train, test = list(splits.split(X, y))[split]
    return X[train], y[train], X[test], y[test]


def measure(name: str, split: int) -> dict[str, Any]:
    """Accuracies and times of all models on one split."""
    X, y, X_test, y_test = split_of(name, split)
    found: dict[str, Any] = {"data": name, "split": split, "rows": len(y), "commit": code_version()}
    for key, make in MODELS.items():
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            start = time.process_time()
            model = make(kernels_of(name)).fit(X, y)
            seconds = time.process_time() - start
        found[key] = {
            "accuracy": float(model.score(X_test, y_test)),
            "seconds": seconds,
            "ridge": float(getattr(model, "gating_reg_", np.inf)),
            "warnings": [str(warning.message) for warning in caught],
        }
    return found


def measure_all(names: Sequence[str], store: Path) -> list[dict[str, Any]]:
    """Every split that the store does not have yet; all that it has then."""
    store.parent.mkdir(parents=True, exist_ok=True)
    found = [json.loads(line) for line in store.read_text().splitlines()] if store.is_file() else []
    known = {(record["data"], record["split"]) for record in found}
    for name in names:
        for split in range(SPLITS):
            if (name, split) not in known:
                found.append(measure(name, split))
                with store.open("a") as file:
                    file.write(json.dumps(found[-1]) + "\n")
        print(row_of(name, found), flush=True)
    return found


# ---------------------------------------------------------------------- page
def row_of(name: str, found: Sequence[dict[str, Any]]) -> str:
    """The row of one set."""
    records = [record for record in found if record["data"] == name]
    scores = {key: 100.0 * np.array([record[key]["accuracy"] for record in records]) for key in MODELS}
    difference = scores["default"] - scores["mkl"]
    open_ones = sum(np.isfinite(record["default"]["ridge"]) for record in records)
    times = [np.median([record[key]["seconds"] for record in records]) for key in ("mkl", "default")]
    error = difference.std(ddof=1) / np.sqrt(difference.size) if difference.size > 1 else np.nan
    cells = [f"{values.mean():.1f} ± {values.std():.1f}" for values in scores.values()]
    return (
        f"| {name} | {records[0]['rows']} | {' | '.join(cells)} | {difference.mean():+.2f} ± {error:.2f} | "
        f"{open_ones} of {len(records)} | {times[0]:.2f} | {times[1]:.2f} |"
    )


def table(names: Sequence[str], found: Sequence[dict[str, Any]]) -> list[str]:
    """The rows of some sets."""
    known = {record["data"] for record in found}
    heads = " | ".join(HEADS[key] for key in MODELS)
    return [
        f"| data | rows | {heads} | default less MKL | gate depends on the sample | s, MKL | s, default |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|",
        *[row_of(name, found) for name in names if name in known],
        "",
    ]


def page(found: Sequence[dict[str, Any]]) -> str:
    """The page."""
    bayes = []
    for split in range(SPLITS):
        X, y = make_gauss("GAUSS4", TEST, random_state=1000 + split)
        bayes.append(100.0 * float(np.mean(gauss_bayes("GAUSS4", X) == y)))
    n_warned = sum(bool(record["default"]["warnings"]) for record in found)
    kinds = sorted({text.split(":")[0] for record in found for text in record["default"]["warnings"]})
    lines = [
        "---",
        "orphan: true",
        "---",
        "",
        "# The defaults of a gate on ordinary tables",
        "",
        "`LocalizedMKLClassifier()` chooses the ridge of its gate by five folds, and takes a gate that does "
        "not depend on the sample, which is multiple kernel learning, unless the folds speak for another. "
        "Accuracy in percent, mean ± standard deviation over ten splits of 2:1; the difference ± its "
        "standard error. By `python -m benchmarks.localized_default`.",
        "",
        "## Tables on which the ridges and the rule were decided",
        "",
        *table(CHOSEN_ON, found),
        "## Tables that were not looked at",
        "",
        *table(CONFIRMED_ON, found),
        "## Where location matters",
        "",
        f"Four Gaussians side by side, {TRAIN} training and {TEST} test points drawn anew for each split; "
        f"the best possible rule has {np.mean(bayes):.1f} % on these test points. With the default kernels "
        "nothing is left for a gate to win: a Gaussian kernel follows the boundary by itself.",
        "",
        *table(PLANE, found),
        "- **gate depends on the sample**: splits in which the default took a finite ridge.",
        "- **s**: CPU time of a fit, median over the splits, for orientation: other work ran beside it.",
        f"- Fits of the default that warned: {n_warned} of {len(found)}"
        + (f" ({'; '.join(kinds)})." if kinds else "."),
        "- spambase: 600 rows drawn at random; all other tables are whole.",
        "",
        f"Measured at {', '.join(sorted({record['commit'] for record in found}))}.",
        "",
    ]
    return "\n".join(lines)


def main(given: list[str] | None = None) -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.localized_default", description=__doc__)
    parser.add_argument("--store", type=Path, default=STORE, help="where each split is kept")
    parser.add_argument("--out", type=Path, default=PAGE, help="the page")
    parser.add_argument("--page", action="store_true", help="write the page of what is there")
    asked = parser.parse_args(given)
    restart_on_threads(1, "benchmarks.localized_default")
    names = () if asked.page else (*CHOSEN_ON, *PLANE, *CONFIRMED_ON)
    found = measure_all(names, asked.store)
    write_whole(asked.out, page(found).encode())


if __name__ == "__main__":
    main()

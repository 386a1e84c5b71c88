"""Which view of a handwritten digit matters?
==========================================

Learns one weight for each of five views of scikit-learn's digits, says how sure the weights are (the
duality gap), and sets the test accuracy beside that of every single view and of the plain sum of all.
Half of the digits train, the other half test, in one split with a fixed seed: the standard errors say how
much of a difference one split can show. Every contender is the same machine and chooses its own C from the
same values on the same folds of its training half, so that none has an advantage but its kernel.
"""

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GridSearchCV, StratifiedKFold, train_test_split

from multikernel import MKLClassifier, viz
from multikernel.datasets import ViewedDataset, load_digits_views
from multikernel.kernels import Gaussian
from multikernel.report import save_report, summarize

SEED = 0
C_VALUES = [1.0, 10.0, 100.0]
N_FOLDS = 5
TOL = 1e-5


@dataclass(frozen=True)
class Outcome:
    """How one contender did."""

    name: str
    model: MKLClassifier
    cv_accuracy: float
    correct: NDArray[np.bool_]
    seconds: float

    @property
    def accuracy(self) -> float:
        return float(self.correct.mean())

    @property
    def standard_error(self) -> float:
        return float(np.sqrt(self.accuracy * (1 - self.accuracy) / len(self.correct)))


def contenders(digits: ViewedDataset) -> dict[str, MKLClassifier]:
    """Return the models to compare: the same machine with learned, with equal, and with single kernels."""
    kernels = [(name, Gaussian(), columns) for name, columns in digits.views.items()]
    common: dict[str, Any] = {"multiclass": "shared", "tol": TOL}
    models = {
        "learned weights": MKLClassifier(kernels, norm=1.0, **common),
        "plain sum": MKLClassifier(kernels, norm=np.inf, **common),
    }
    for kernel in kernels:
        models[f"only {kernel[0]}"] = MKLClassifier([kernel], **common)
    return models


def compete(name: str, model: MKLClassifier, train: ViewedDataset, test: ViewedDataset) -> Outcome:
    """Choose C on the training half, fit on all of it, and look at the test half once."""
    start = time.perf_counter()
    folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=SEED)
    search = GridSearchCV(model, {"C": C_VALUES}, cv=folds).fit(train.X, train.y)
    correct = search.predict(test.X) == test.y
    return Outcome(name, search.best_estimator_, search.best_score_, correct, time.perf_counter() - start)


def split(digits: ViewedDataset, n_train: int) -> tuple[ViewedDataset, ViewedDataset]:
    """Return `n_train` digits to learn from and all the others to test on, each digit in its share."""
    rows = np.arange(len(digits.y))
    parts = train_test_split(rows, train_size=n_train, stratify=digits.y, random_state=SEED)
    train, test = (ViewedDataset(digits.X.iloc[part], digits.y[part], digits.views) for part in parts)
    return train, test


def table_row(outcome: Outcome) -> dict[str, Any]:
    return {
        "model": outcome.name,
        "C": f"{outcome.model.C:g}",
        "inner CV accuracy": outcome.cv_accuracy,
        "test accuracy": outcome.accuracy,
        "± s.e.": outcome.standard_error,
    }


def print_weights(model: MKLClassifier) -> None:
    print("Learned weight of every view")
    for name, weight in zip(model.view_names_, model.kernel_weights_, strict=True):
        print(f"  {name:<16} {weight:.4f}  {'█' * round(40 * weight)}")
    print(f"  relative duality gap {model.dual_gap_:.1e} (asked for: {model.tol:.0e})\n")


def explain(outcomes: Sequence[Outcome], n_train: int) -> list[str]:
    """Say how the figures were made and what the test can and cannot tell."""
    learned, plain_sum, *singles = outcomes
    best = max(singles, key=lambda outcome: outcome.cv_accuracy)
    return [
        f"Trained on {n_train} digits, tested on the other {len(learned.correct)} (one stratified split, "
        "fixed seed). Every contender is the same machine and chose C from "
        f"{', '.join(f'{C:g}' for C in C_VALUES)} by the same {N_FOLDS} folds of the training digits.",
        f"Digit by digit, the learned weights {score(learned, best)} (the best single view by inner CV), "
        f"and {score(learned, plain_sum)}.",
    ]


def score(first: Outcome, second: Outcome) -> str:
    gained = int((first.correct & ~second.correct).sum())
    lost = int((~first.correct & second.correct).sum())
    return f"win {gained} and lose {lost} against '{second.name}'"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--train", type=int, default=898, help="number of training digits (default: half)")
    parser.add_argument("--report", default="run/report.html", help="where to write the page")
    options = parser.parse_args(arguments)

    print("numba compiles the solver on its first use: up to a minute in a fresh environment, then cached.\n")
    digits = load_digits_views()
    train, test = split(digits, options.train)
    outcomes = []
    for name, model in contenders(digits).items():
        outcomes.append(compete(name, model, train, test))
        print(f"  fitted {name:<20} {outcomes[-1].seconds:5.1f} s", flush=True)
    print()

    learned = outcomes[0].model
    print_weights(learned)
    print(f"{'model':<20} {'C':>4} {'CV accuracy':>12} {'test accuracy':>14}")
    for outcome in outcomes:
        figures = f"{outcome.cv_accuracy:12.4f} {outcome.accuracy:14.4f} ± {outcome.standard_error:.4f}"
        print(f"{outcome.name:<20} {outcome.model.C:4g} {figures}")
    notes = explain(outcomes, len(train.y))
    print("\n" + "\n".join(notes))

    rows = [table_row(outcome) for outcome in outcomes]
    summary = summarize(learned, rows, title="Which view of a digit matters?", notes=notes)
    print(f"\nWrote {save_report(summary, options.report)}")
    figure, ax = plt.subplots(figsize=(7.0, 3.2), layout="constrained")
    viz.weights(learned, ax=ax)
    figure.savefig(Path(options.report).with_suffix(".png"), dpi=120)
    plt.close(figure)


if __name__ == "__main__":
    main()

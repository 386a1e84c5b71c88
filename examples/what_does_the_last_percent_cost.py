"""What does the last percent cost?
================================

Handwritten digits of scikit-learn in five views, from the ink of each row (8 numbers) to the grey values
(64). A value of a kernel costs the numbers that it compares. Plain multiple kernel learning does not ask what
a view costs; with costs an expensive view gets weight only if it helps, and the less the larger the exponent
that the costs are raised to. For each exponent it prints the accuracy by cross-validation, the views in use
and what a prediction costs, then fits the cheapest model within one percent of the best and tries both on
digits that no choice has seen. The picture shows the accuracy against the cost, and which views are left.

Run it with ``python examples/what_does_the_last_percent_cost.py [--digits N] [--folds N] [--picture FILE]``.
"""

import argparse
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from sklearn.model_selection import train_test_split

from multikernel import MKLClassifier, View
from multikernel.datasets import load_digits_views
from multikernel.kernels import Gaussian
from multikernel.mkl import cost_path
from multikernel.mkl.cost_path import CostPath

PLAIN: dict[str, Any] = {"standardize": False, "normalize": None}  # kernels as they are
EXPONENTS = (0.0, 0.25, 0.5, 0.75, 1.0)
WITHIN = 0.01
COLOURS = ("#0072B2", "#E69F00", "#F0E442", "#CC79A7", "#009E73")  # distinguished by every eye


def print_path(path: CostPath) -> None:
    """One line for each exponent, and which of them nothing beats in both."""
    print("exponent      accuracy    views  support samples  cost of a prediction")
    for exponent, row in path.table.iterrows():
        score, spread, support, cost = 100 * row[["score", "score_sd", "support_share", "cost_share"]]
        verdict = "   nothing is better and cheaper" if row["efficient"] else ""
        print(f"{exponent:8g}  {score:5.1f} ± {spread:3.1f} %  {row['n_active']:5.1f}  ", end="")
        print(f"{support:13.0f} %  {cost:18.1f} %{verdict}")
    print("(% of the training samples; % of what all views to all training samples cost)\n")


def compare(models: dict[str, MKLClassifier], path: CostPath, X: pd.DataFrame, y: np.ndarray) -> None:
    """Both models on digits that were not used to choose the exponent."""
    reference = path.cost_of(next(iter(models.values())))
    print(f"On the other {len(y)} digits:")
    for name, model in models.items():
        correct = model.predict(X) == y
        error = correct.std() / np.sqrt(correct.size)
        weights = zip(model.view_names_, model.kernel_weights_ / model.kernel_weights_.sum(), strict=True)
        used = ", ".join(view for view, share in weights if share > 0.01)
        print(f"  {name:<26} {100 * correct.mean():5.1f} ± {100 * error:.1f} % right, ", end="")
        print(f"cost {100 * path.cost_of(model) / reference:3.0f} %: {used}")


def draw_shares(ax: Axes, path: CostPath) -> None:
    """The part of every view in the weights, by exponent."""
    shares = path.weights.div(path.weights.sum(axis=1), axis=0)
    place, floor = np.arange(len(shares)), np.zeros(len(shares))
    for colour, view in zip(COLOURS, path.costs.sort_values(kind="stable").index, strict=True):
        label = f"{view}, {path.costs[view]:g}"
        ax.bar(place, shares[view], bottom=floor, color=colour, label=label, edgecolor="white")
        floor += shares[view].to_numpy()
    ax.set_xticks(place, [f"{exponent:g}" for exponent in shares.index])
    ax.set(title="Which views are left", xlabel="exponent of the costs", ylabel="share of the weight")
    ax.set_ylim(0.0, 1.0)
    ax.legend(title="view and cost", loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)


def draw(path: CostPath, file: Path) -> None:
    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.5), layout="constrained")
    path.plot(left)
    left.set_ylabel("accuracy, mean ± standard deviation over the folds")
    draw_shares(right, path)
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, dpi=120)
    plt.close(figure)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--digits", type=int, default=600, help="digits to learn from (default 600)")
    parser.add_argument("--folds", type=int, default=5, help="folds of the cross-validation (default 5)")
    parser.add_argument("--picture", type=Path, default=Path("run/cost.png"))
    options = parser.parse_args(arguments)

    digits = load_digits_views()
    X, X_new, y, y_new = train_test_split(
        digits.X, digits.y, train_size=options.digits, stratify=digits.y, random_state=0
    )
    views = [View(name, Gaussian(), columns, **PLAIN) for name, columns in digits.views.items()]
    costs = {name: len(columns) for name, columns in digits.views.items()}
    print("A value of a kernel costs the numbers that it compares:")
    print("  " + ", ".join(f"{name} {cost}" for name, cost in costs.items()) + "\n")

    model = MKLClassifier(views, C=10.0, multiclass="shared")
    path = cost_path(model, X, y, costs, exponents=EXPONENTS, cv=options.folds, random_state=0)
    print_path(path)
    cheap = MKLClassifier(views, C=10.0, multiclass="shared", costs=path.costs_at(path.cheapest(WITHIN)))
    models = {"costs do not count": model, f"within {100 * WITHIN:g} % of the best": cheap}
    compare({name: each.fit(X, y) for name, each in models.items()}, path, X_new, y_new)
    draw(path, options.picture)
    print(f"\nPicture: {options.picture}")


if __name__ == "__main__":
    main()

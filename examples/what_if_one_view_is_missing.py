"""What if one view is missing?
=============================

Handwritten digits of scikit-learn in five views, some of which are missing: each view of each digit with the
same chance, of training and of new digits; or a whole view, of the new digits only. Five ways to go on are
compared on the same digits: to impute the mean of each column; to scale what a digit has
(``missing="renormalize"``); to ask for its margin in the views that it has (``"absent"``); to put the mean of
the other digits, in feature space, instead of an absent view (``"mean"``); to estimate the kernels of an
absent view from the other views (``"complete"``). It prints the accuracy of each, and draws how it falls.

Run it with ``python examples/what_if_one_view_is_missing.py [--digits N] [--draws N] [--picture FILE]``.
"""

import argparse
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.impute import SimpleImputer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

from multikernel import KernelBank, MKLClassifier, View
from multikernel.datasets import load_digits_views
from multikernel.kernels import Gaussian

PLAIN: dict[str, Any] = {"standardize": False, "normalize": None}  # kernels as they are
SHARES = (0.0, 0.1, 0.3, 0.5)
WAYS = ("imputation", "renormalize", "absent", "mean", "complete")
COLOURS = ("#999999", "#E69F00", "#CC79A7", "#0072B2", "#009E73")  # distinguished by every eye


def hide(X: pd.DataFrame, views: dict[str, list[str]], has: np.ndarray) -> pd.DataFrame:
    """The digits without the views that they do not have; ``has`` is of shape (n_digits, n_views)."""
    X = X.astype(float)
    for columns, present in zip(views.values(), has.T, strict=True):
        X.loc[~present, columns] = np.nan
    return X


def draw_views(n: int, n_views: int, share: float, rng: np.random.Generator) -> np.ndarray:
    """Which views each digit has: each is missing with chance ``share``, but one is always there."""
    has = rng.random((n, n_views)) >= share
    has[np.arange(n), rng.integers(n_views, size=n)] = True
    return has


def make_model(way: str, views: dict[str, list[str]]) -> MKLClassifier:
    """The classifier for one of the ways; imputation goes before it, on the table."""
    kernels = [View(name, Gaussian(), columns, **PLAIN) for name, columns in views.items()]
    missing = "error" if way == "imputation" else way
    model = MKLClassifier(KernelBank(kernels, missing=missing), C=10, multiclass="shared", norm=2.0)
    if way == "imputation":
        imputer = SimpleImputer(keep_empty_features=True).set_output(transform="pandas")
        return make_pipeline(imputer, model)
    return model


def accuracies(views: dict[str, list[str]], train: tuple, test: tuple) -> list[float]:
    """Of all the ways on the same digits."""
    return [make_model(way, views).fit(*train).score(*test) for way in WAYS]


def measure(digits: Any, n_train: int, seed: int) -> pd.DataFrame:
    """One draw: rows are shares of missing views, then whole views that new digits lack; columns the ways."""
    rng = np.random.default_rng(seed)
    X, new, y, y_new = train_test_split(
        digits.X, digits.y, train_size=n_train, stratify=digits.y, random_state=seed
    )
    n_views, rows = len(digits.views), {}
    for share in SHARES:
        gappy = hide(X, digits.views, draw_views(len(X), n_views, share, rng))
        gappy_new = hide(new, digits.views, draw_views(len(new), n_views, share, rng))
        rows[f"{100 * share:.0f} % of the views"] = accuracies(digits.views, (gappy, y), (gappy_new, y_new))
    models = [make_model(way, digits.views).fit(X, y) for way in WAYS]
    for number, name in enumerate(digits.views):
        has = np.tile(np.arange(n_views) != number, (len(new), 1))
        without = hide(new, digits.views, has)
        rows[f"{name}, at prediction"] = [model.score(without, y_new) for model in models]
    return pd.DataFrame.from_dict(rows, orient="index", columns=list(WAYS))


def draw(table: pd.DataFrame, picture: Path) -> None:
    """Accuracy against the share of missing views; and without each view at prediction."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained", sharey=True)
    parts, whole = table.iloc[: len(SHARES)], table.iloc[len(SHARES) :]
    for number, (way, colour) in enumerate(zip(WAYS, COLOURS, strict=True)):
        left.plot([100 * share for share in SHARES], 100 * parts[way], "o-", color=colour, label=way)
        right.bar(np.arange(len(whole)) + 0.16 * (number - 2), 100 * whole[way], 0.15, color=colour)
    left.set(xlabel="missing views of digits (%)", ylabel="accuracy (%)", title="At fit and at prediction")
    left.set_ylim(100 * table.to_numpy().min() - 3, 100)
    left.legend(frameon=False)
    names = [name.split(",")[0].replace("_", "\n") for name in whole.index]
    right.set_xticks(np.arange(len(whole)), names)
    right.set(title="A whole view is absent at prediction only")
    picture.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(picture, dpi=110)
    plt.close(figure)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--digits", type=int, default=300, help="how many to train on")
    parser.add_argument("--draws", type=int, default=3, help="of digits and of missing views")
    parser.add_argument("--picture", type=Path, default=Path("run/missing_views.png"))
    given = parser.parse_args(arguments)
    digits = load_digits_views()
    tables = [measure(digits, given.digits, seed) for seed in range(given.draws)]
    mean = sum(tables[1:], tables[0]) / len(tables)
    print(f"Accuracy in % on the other digits, mean of {given.draws} draws of {given.digits} to train on.")
    print("Missing:")
    print((100 * mean).round(1).to_string())
    draw(mean, given.picture)
    print(f"The picture is in {given.picture}.")


if __name__ == "__main__":
    main()

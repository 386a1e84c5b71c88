"""Do negative kernel weights help, and does it matter that the points to classify are known beforehand?
=====================================================================================================

Breast cancer data of scikit-learn, three kernels (quadratic, Gaussian, linear), a quarter of the points
labelled. Four models learn the kernel matrix over all points; a fifth sees the labelled points only. For each
it prints the weights, the value of the criterion with its certificate, and the accuracy on the unlabelled
points, as the mean and the standard error over random splits: first with columns of unit deviation that are
not centred, then with centred ones. A negative weight of the linear kernel does the work of centring.

Run it with ``python examples/do_negative_weights_help.py [--splits N] [--points N]``.
"""

import argparse

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import ShuffleSplit
from sklearn.preprocessing import StandardScaler

from multikernel import MKLClassifier, View
from multikernel.kernels import Gaussian, Linear, Polynomial
from multikernel.transductive import TransductiveMKLClassifier

VIEWS = [
    View("quadratic", Polynomial(degree=2), standardize=False, normalize="diagonal"),
    View("gaussian", Gaussian(gamma=1 / 6), standardize=False, normalize="diagonal"),
    View("linear", Linear(), standardize=False, normalize="diagonal"),
]
CONTENDERS = {
    "weights of any sign": TransductiveMKLClassifier(VIEWS, weight_set="free", tol=1e-8),
    "nonnegative weights": TransductiveMKLClassifier(VIEWS, weight_set="nonnegative", tol=1e-8),
    "learned C, any sign": TransductiveMKLClassifier(
        VIEWS, weight_set="free", method="soft2", C="learn", tol=1e-8
    ),
    "alignment, any sign": TransductiveMKLClassifier(VIEWS, weight_set="free", method="alignment", tol=1e-8),
}


def run(n_points: int, n_splits: int, centred: bool) -> pd.DataFrame:
    """One row for each model and split."""
    X, y = load_breast_cancer(return_X_y=True)
    X, y = X[:n_points], y[:n_points]
    rows = []
    for known, unknown in ShuffleSplit(n_splits, train_size=0.25, random_state=0).split(X):
        scaler = StandardScaler(with_mean=centred).fit(X[known])
        X_known, X_unknown = scaler.transform(X[known]), scaler.transform(X[unknown])
        for name, model in CONTENDERS.items():
            model.fit(X_known, y[known], X_unknown)
            accuracy = float(np.mean(model.transduction_ == y[unknown]))
            shares = model.kernel_weights_ / model.kernel_weights_.sum()
            rows.append([name, *shares, model.objective_, model.dual_gap_, accuracy])
        plain = MKLClassifier(VIEWS, C=len(VIEWS), tol=1e-6).fit(X_known, y[known])  # the same C times trace
        rows.append(
            [
                "labelled points only",
                *plain.kernel_weights_,
                2.0 / len(VIEWS) * plain.objective_,
                plain.dual_gap_,
                plain.score(X_unknown, y[unknown]),
            ]
        )
    columns = ["model", *(view.name for view in VIEWS), "objective", "gap", "accuracy"]
    return pd.DataFrame(rows, columns=columns)


def summarise(table: pd.DataFrame) -> pd.DataFrame:
    """Means over the splits; the largest gap; the standard error of the accuracy."""
    groups = table.groupby("model", sort=False)
    summary = groups.mean(numeric_only=True)
    summary["gap"] = groups["gap"].max()
    summary["± s.e."] = groups["accuracy"].sem()
    return summary


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--splits", type=int, default=5, help="random splits (default 5)")
    parser.add_argument("--points", type=int, default=300, help="of the 569 (default 300)")
    options = parser.parse_args(arguments)
    if options.splits < 2:
        parser.error("--splits must be at least 2, for a standard error.")
    formats = {"gap": "{:.0e}".format, "objective": "{:.3f}".format}
    for centred in (False, True):
        summary = summarise(run(options.points, options.splits, centred))
        kind = "Centred" if centred else "Uncentred"
        print(f"{kind} columns, {options.splits} splits: shares of the weight\n")
        print(summary.to_string(float_format="{:.4f}".format, formatters=formats), end="\n\n")
    print("Objectives compare models of one criterion: small is good, for the alignment large.")


if __name__ == "__main__":
    main()

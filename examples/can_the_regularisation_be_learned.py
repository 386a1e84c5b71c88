"""Can the regularisation of discriminant analysis be learned together with its kernel?
====================================================================================

Breast cancer data of scikit-learn, half of it to learn from. Discriminant analysis learns the weights of a
bank of Gaussian kernels with the regularisation fixed at values from 1e-8 to 1, then with the regularisation
learned too, and beside it stands the value that cross-validation chooses. Two banks: one holds a Gaussian so
narrow that it is nearly the identity (which is a regularisation by itself), the other does not. For each it
prints what the doctor says of the regularisation, how many fits it took, and the accuracy on the other half,
the mean and the standard error over random splits. It draws the accuracy against the regularisation, and the
wine data along the two directions that the method finds.

Run it with ``python examples/can_the_regularisation_be_learned.py [--splits N] [--picture FILE]``.
"""

import argparse
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.model_selection import GridSearchCV, StratifiedShuffleSplit, train_test_split

from multikernel import View
from multikernel.discriminant import KernelDiscriminantClassifier
from multikernel.doctor import diagnose
from multikernel.kernels import Gaussian

FIXED = [10.0**k for k in range(-8, 1)]
WIDTHS = {"with a near-identity kernel": np.logspace(-1, 2, 10), "wide kernels only": np.logspace(0.5, 2, 6)}


def bank(widths: np.ndarray) -> list[View]:
    """Gaussians exp(−‖x − z‖² / width²) of the standardised columns."""
    plain: dict[str, Any] = {"standardize": True, "normalize": None}
    return [View(f"width {width:.3g}", Gaussian(gamma=width**-2.0), **plain) for width in widths]


def contenders(widths: np.ndarray) -> dict[str, Any]:
    """Fixed, learned and cross-validated regularisation."""
    views = bank(widths)
    models: dict[str, Any] = {f"{reg:.0e}": KernelDiscriminantClassifier(views, reg=reg) for reg in FIXED}
    models["learned"] = KernelDiscriminantClassifier(views, reg="learn")
    models["cross-validated"] = GridSearchCV(KernelDiscriminantClassifier(views), {"reg": FIXED[::2]}, cv=3)
    return models


def run(n_splits: int) -> pd.DataFrame:
    """One row for each bank, regularisation and split."""
    X, y = load_breast_cancer(return_X_y=True)
    splits = list(StratifiedShuffleSplit(n_splits, train_size=0.5, random_state=0).split(X, y))
    rows = []
    for name, widths in WIDTHS.items():
        for known, unknown in splits:
            for reg, model in contenders(widths).items():
                model.fit(X[known], y[known])
                best = getattr(model, "best_estimator_", model)
                n_fits = 1 if best is model else 1 + len(model.cv_results_["params"]) * model.n_splits_
                accuracy = model.score(X[unknown], y[unknown])
                rows.append([name, reg, n_fits, best.reg_, best.dual_gap_, accuracy])
    return pd.DataFrame(rows, columns=["bank", "regularisation", "fits", "reg_", "gap", "accuracy"])


def advise() -> None:
    """What the doctor says of the regularisation before anything is fitted."""
    X, y = load_breast_cancer(return_X_y=True)
    for name, widths in WIDTHS.items():
        notes = [f for f in diagnose(X, y, bank(widths)).findings if "regularize" in f.what]
        print(f"{name}: {notes[0].what if notes else 'reg matters.'}")


def summarise(table: pd.DataFrame) -> pd.DataFrame:
    """Means over the splits (of reg_ the median), the largest gap, the standard error of the accuracy."""
    groups = table.groupby(["bank", "regularisation"], sort=False)
    summary = pd.DataFrame(
        {"fits": groups["fits"].max(), "reg_": groups["reg_"].median(), "gap": groups["gap"].max()}
    )
    summary["accuracy"] = groups["accuracy"].mean()
    summary["± s.e."] = groups["accuracy"].sem()
    return summary


def draw(summary: pd.DataFrame, path: Path) -> None:
    """Accuracy against the regularisation, and the wine data in discriminant coordinates."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    for colour, name in zip(("tab:blue", "tab:orange"), WIDTHS, strict=True):
        part = summary.loc[name]
        fixed = part.loc[[f"{reg:.0e}" for reg in FIXED]]
        left.errorbar(FIXED, fixed["accuracy"], fixed["± s.e."], color=colour, marker=".", label=name)
        left.axhline(part.loc["learned", "accuracy"], color=colour, linestyle=":", label=f"{name}, learned")
    left.set(xscale="log", xlabel="regularisation", ylabel="accuracy", title="Breast cancer")
    left.legend(fontsize="small")
    X, y = load_wine(return_X_y=True)
    known, unknown, y_known, y_unknown = train_test_split(X, y, random_state=0, stratify=y)
    model = KernelDiscriminantClassifier(reg="learn").fit(known, y_known)
    for points, labels, marker in ((known, y_known, "o"), (unknown, y_unknown, "^")):
        right.scatter(*model.transform(points).T, c=labels, marker=marker, cmap="viridis", alpha=0.7)
    right.set(xlabel="direction 1", ylabel="direction 2", title="Wine: learned from ●, new ▲")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
    plt.close(figure)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--splits", type=int, default=10, help="random splits (default 10)")
    parser.add_argument("--picture", type=Path, default=Path("run/regularisation.png"))
    options = parser.parse_args(arguments)
    if options.splits < 2:
        parser.error("--splits must be at least 2, for a standard error.")
    advise()
    summary = summarise(run(options.splits))
    formats = {"gap": "{:.0e}".format, "reg_": "{:.1e}".format}
    print(summary.to_string(float_format="{:.4f}".format, formatters=formats))
    draw(summary, options.picture)
    print(f"\nPicture: {options.picture}")


if __name__ == "__main__":
    main()

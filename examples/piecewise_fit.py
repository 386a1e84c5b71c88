"""Piecewise fit: which line drew where?
=====================================

A motorcycle hits a wall, and the head of the dummy is thrown about: 133 measurements of its acceleration
(Silverman, 1985), flat at first, then a fall, a swing back, and rest. Three copies of a linear kernel under a
gate that looks at the time fit it in three pieces, which the gate blends; a piece is the straight line that
its kernel would draw alone. A piece of a linear kernel has no bias of its own: all three lines meet in one
point (the mean time and the intercept), and the gate has to bend what they cannot. With the polynomial of
degree one each piece is a line of its own.

The table has the mean squared error over folds, beside Gaussian kernels and one weight for each kernel, for
two values of C; epsilon and the widths are fixed, nothing is tuned. The standard errors are those of one set
of folds: they say that the gate is as good as the right Gaussian, not that it is better.

Where the data set "mcycle" is not at hand (see ``multikernel data list``), a made-up curve of pieces takes
its place, and the output says so.

Run it with ``python examples/piecewise_fit.py [--folds N] [--picture FILE]``.
"""

import argparse
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from sklearn.base import clone
from sklearn.model_selection import KFold, cross_val_predict

from multikernel import LocalizedMKLRegressor, MKLRegressor, View
from multikernel.datasets import list_datasets, load_dataset
from multikernel.kernels import Gaussian, Kernel, Linear, Polynomial

EPSILON = 5.0
PRICES = (100.0, 1000.0)
COLOURS = ("#0072B2", "#E69F00", "#009E73")  # distinguished by every eye
LINEAR, BIASED = "gate, three linear", "gate, three of degree one"


# --- data and contenders -----------------------------------------------------------------------------------


def load_curve() -> tuple[str, np.ndarray, np.ndarray]:
    """The motorcycle data, or a made-up curve of four straight pieces; times (n, 1) and values."""
    if "mcycle" not in list_datasets().index:
        rng = np.random.default_rng(0)
        times = np.sort(rng.uniform(2.0, 58.0, 133))
        values = np.interp(times, [0.0, 14.0, 21.0, 33.0, 60.0], [0.0, 0.0, -115.0, 35.0, -5.0])
        return "made-up curve ('mcycle' is not at hand)", times[:, None], values + rng.normal(0.0, 20.0, 133)
    data = load_dataset("mcycle")
    assert data.y is not None
    return "motorcycle data", data.X, data.y


def views(**kernels: Kernel) -> list[View]:
    return [View(name.replace("_", " "), kernel, normalize=None) for name, kernel in kernels.items()]


CONTENDERS: dict[str, Any] = {
    LINEAR: LocalizedMKLRegressor(
        views(first=Linear(), second=Linear(), third=Linear()), epsilon=EPSILON, gating_reg=0.0
    ),
    BIASED: LocalizedMKLRegressor(
        views(first=Polynomial(1), second=Polynomial(1), third=Polynomial(1)),
        epsilon=EPSILON,
        gating_reg=0.0,
    ),
    "gate, three of degree one, 3 starts": LocalizedMKLRegressor(
        views(first=Polynomial(1), second=Polynomial(1), third=Polynomial(1)),
        epsilon=EPSILON,
        gating_reg=0.0,
        n_init=3,
    ),
    "weights, degrees one to three": MKLRegressor(
        views(line=Polynomial(1), parabola=Polynomial(2), cubic=Polynomial(3)), epsilon=EPSILON
    ),
    "weights, four Gaussians": MKLRegressor(
        views(
            gamma_0_1=Gaussian(0.1), gamma_1=Gaussian(1.0), gamma_10=Gaussian(10.0), gamma_100=Gaussian(100.0)
        ),
        epsilon=EPSILON,
    ),
    "SVR, Gaussian, gamma = 1": MKLRegressor(views(gamma_1=Gaussian(1.0)), epsilon=EPSILON),
    "SVR, Gaussian, gamma = 10": MKLRegressor(views(gamma_10=Gaussian(10.0)), epsilon=EPSILON),
}


# --- the table ---------------------------------------------------------------------------------------------


def compare(X: np.ndarray, y: np.ndarray, n_folds: int) -> pd.DataFrame:
    """The squared errors over the folds: mean and standard error by contender and C."""
    folds = KFold(n_folds, shuffle=True, random_state=0)
    rows = []
    for name, model in CONTENDERS.items():
        for C in PRICES:
            predicted = cross_val_predict(clone(model).set_params(C=C), X, y, cv=folds)
            squares = pd.Series((predicted - y) ** 2)
            rows.append({"contender": name, "C": C, "mean": squares.mean(), "error": squares.sem()})
    return pd.DataFrame(rows).set_index(["contender", "C"])


def describe(name: str, y: np.ndarray, table: pd.DataFrame, n_folds: int) -> None:
    print(f"{name}: mean squared error over {n_folds} folds of {len(y)} points, epsilon = {EPSILON:g}\n")
    print(f"{'':<36} {'C = 100':>11} {'C = 1000':>12}")
    for contender in CONTENDERS:
        pairs = [table.loc[(contender, C)] for C in PRICES]
        print(f"{contender:<36}", *(f"{pair['mean']:6.0f} ± {pair['error']:3.0f}" for pair in pairs))
    print(f"{'variance of the values':<36} {y.var():6.0f}")


# --- the picture -------------------------------------------------------------------------------------------


def draw_fit(ax: Axes, bands: Axes, model: LocalizedMKLRegressor, X: np.ndarray, y: np.ndarray) -> None:
    """Above the curve and the line of each piece, below the gate as bands."""
    time = np.linspace(X.min(), X.max(), 400)[:, None]
    gate = model.sample_kernel_weights(time)
    lines = model.contributions(time) / gate + model.intercept_
    order = np.argsort(time[:, 0] @ gate / gate.sum(axis=0))  # from left to right
    ax.scatter(X[:, 0], y, s=12, c="0.55", linewidths=0)
    for colour, m in zip(COLOURS, order, strict=True):
        ax.plot(time, lines[:, m], color=colour, linewidth=1.0, linestyle="dotted")
        ax.plot(time, np.where(gate[:, m] > 0.5, lines[:, m], np.nan), color=colour, linewidth=3.0)
    ax.plot(time, model.predict(time), color="black", linewidth=1.6, label="fit")
    height = np.ptp(y)
    ax.set(ylim=(y.min() - 0.15 * height, y.max() + 0.15 * height), xlim=(X.min(), X.max()), xticklabels=[])
    bands.stackplot(time[:, 0], gate[:, order].T, colors=COLOURS, alpha=0.75, linewidth=0)
    bands.set(xlim=(X.min(), X.max()), ylim=(0.0, 1.0), xlabel="time in ms", yticks=[0.0, 0.5, 1.0])


def draw_errors(ax: Axes, table: pd.DataFrame) -> None:
    """The mean squared errors with their standard errors."""
    place = np.arange(len(CONTENDERS))
    for C, colour, marker, shift in zip(PRICES, COLOURS[:2], "os", (-0.12, 0.12), strict=True):
        part = table.xs(C, level="C").loc[list(CONTENDERS)]
        style: dict[str, Any] = {"fmt": marker, "color": colour, "markersize": 8, "label": f"C = {C:g}"}
        ax.errorbar(part["mean"], place + shift, xerr=part["error"], **style)
    ax.set_yticks(place, [name.replace(", ", ",\n", 1) for name in CONTENDERS])
    ax.invert_yaxis()
    ax.set(xlabel="mean squared error over folds", title="beside others", xlim=(0.0, None))
    ax.grid(axis="x", alpha=0.3)
    ax.legend(loc="lower right")


def draw_picture(path: Path, X: np.ndarray, y: np.ndarray, table: pd.DataFrame) -> None:
    figure, axes = plt.subplot_mosaic(
        "ABC;abC", figsize=(17, 6.4), layout="constrained", height_ratios=[3.2, 1.0], width_ratios=[1, 1, 0.8]
    )
    titles = {
        "A": (LINEAR, "three linear kernels: the lines meet in one point"),
        "B": ("gate, three of degree one, 3 starts", "three of degree one: each has its own bias"),
    }
    for place, (name, title) in titles.items():
        model = clone(CONTENDERS[name]).set_params(C=PRICES[-1]).fit(X, y)
        draw_fit(axes[place], axes[place.lower()], model, X, y)
        axes[place].set_title(title)
    axes["A"].plot([], [], color="0.3", linewidth=3.0, label="a piece where its gate is above ½")
    axes["A"].plot([], [], color="0.3", linewidth=1.0, linestyle="dotted", label="and elsewhere")
    axes["A"].legend(loc="lower right", fontsize=9)
    axes["A"].set_ylabel("acceleration in g")
    axes["a"].set_ylabel("gate")
    draw_errors(axes["C"], table)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--folds", type=int, default=10, help="folds of the cross-validation (default 10)")
    parser.add_argument(
        "--picture", type=Path, default=Path("run/piecewise_fit.png"), help="where the picture goes"
    )
    options = parser.parse_args(arguments)
    if options.folds < 2:
        parser.error("--folds must be at least 2.")
    name, X, y = load_curve()
    table = compare(X, y, options.folds)
    describe(name, y, table, options.folds)
    draw_picture(options.picture, X, y, table)
    print(f"\nWrote {options.picture}")


if __name__ == "__main__":
    main()

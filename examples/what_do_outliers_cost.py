"""What do outliers cost?
======================

Three clouds in the plane, and a few samples with the label of another cloud. A support vector machine has to
store every one of them, for it pays for each, and its boundaries lean towards them. With soft labels, the
probabilities of the classes among nine neighbours, such a sample is assigned to what its neighbours are: it
becomes no support vector, and the machine is nearly the one without outliers. The picture is that of Figure
1.5 of Gönen's thesis, for three classes, joint and for two.

It is no free lunch. Neighbours smooth, whatever the reason that labels differ: in stripes that are narrower
than the neighbourhood the truth is outvoted like an outlier. Gaussian windows as narrow as the distance to
the nearest sample do no harm there, but here they save some support vectors and no error. C is 10 for all and
nothing is tuned.

Run it with ``python examples/what_do_outliers_cost.py [--draws N] [--picture FILE]``.
"""

import argparse
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.lines import Line2D

from multikernel import MKLClassifier, View
from multikernel.kernels import Gaussian, Kernel, Polynomial
from multikernel.soft_labels import PosteriorSVC

C = 10.0
CENTRES = np.array([[-1.5, -1.0], [1.5, -1.0], [0.0, 1.6]])
SPREAD = 0.5
N_EACH = 50
OUTLIERS = (0, 2, 6, 15, 30)
STRIPE = 0.35
PLAIN, NEIGHBOURS, WINDOWS = "labels as given", "soft, 9 neighbours", "soft, windows"
BLUE, ORANGE, GREEN = "#0072B2", "#E69F00", "#009E73"  # distinguished by every eye
COLOURS, MARKERS = (BLUE, ORANGE, GREEN), "os^"


# --- data and contenders -----------------------------------------------------------------------------------


def make_clouds(rng: np.random.Generator, n_each: int) -> tuple[np.ndarray, np.ndarray]:
    X = np.repeat(CENTRES, n_each, axis=0) + SPREAD * rng.normal(size=(3 * n_each, 2))
    return X, np.repeat([0, 1, 2], n_each)


def mislabel(rng: np.random.Generator, y: np.ndarray, n_outliers: int) -> tuple[np.ndarray, np.ndarray]:
    """Other labels for some samples, and which."""
    rows = rng.choice(len(y), n_outliers, replace=False)
    wrong = y.copy()
    wrong[rows] = (y[rows] + rng.integers(1, 3, size=n_outliers)) % 3
    return wrong, rows


def make_stripes(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    X = rng.uniform(-1.5, 1.5, size=(n, 2))
    return X, np.floor(X[:, 0] / STRIPE).astype(int) % 2


def contenders(kernel: Kernel) -> dict[str, Any]:
    view = View("kernel", kernel, standardize=False, normalize=None)
    return {
        PLAIN: MKLClassifier([view], C=C, multiclass="joint"),
        NEIGHBOURS: PosteriorSVC([view], C=C),
        WINDOWS: PosteriorSVC([view], C=C, posterior="parzen"),
    }


# --- the table ---------------------------------------------------------------------------------------------


def compare(n_draws: int) -> pd.DataFrame:
    """One row for each number of outliers (−1: the stripes, without any), contender and draw."""
    rows: list[list[Any]] = []
    for draw in range(n_draws):
        rng = np.random.default_rng(draw)
        X, y = make_clouds(rng, N_EACH)
        new = make_clouds(rng, 2000)
        for n_outliers in OUTLIERS:
            given, outliers = mislabel(rng, y, n_outliers)
            for name, model in contenders(Polynomial(2)).items():
                rows.append([n_outliers, name, draw, *judge(model.fit(X, given), outliers, new)])
        X, y = make_stripes(rng, 250)
        new = make_stripes(rng, 4000)
        for name, model in contenders(Gaussian(gamma=8.0)).items():
            rows.append([-1, name, draw, *judge(model.fit(X, y), np.empty(0, int), new)])
    return pd.DataFrame(rows, columns=["outliers", "contender", "draw", "support", "stored", "right"])


def judge(model: Any, outliers: np.ndarray, new: tuple[np.ndarray, np.ndarray]) -> tuple[int, int, float]:
    """Support vectors, outliers among them, and percent right on samples without outliers."""
    stored = int(np.isin(outliers, model.support_).sum())
    return len(model.support_), stored, 100.0 * model.score(*new)


def describe(table: pd.DataFrame, n_draws: int) -> None:
    print(f"Three clouds of {N_EACH} samples, quadratic kernel, C = {C:g}, {n_draws} draws")
    print(f"{'outliers':>10}  {'contender':<20} {'support':>8} {'stored':>8} {'% right':>14}")
    for (n_outliers, name), part in table[table["outliers"] >= 0].groupby(
        ["outliers", "contender"], sort=False
    ):
        figures = f"{part['support'].mean():8.1f} {part['stored'].mean():8.1f}"
        print(
            f"{n_outliers:>10}  {name:<20} {figures} {part['right'].mean():8.2f} ± {part['right'].sem():.2f}"
        )
    print(f"\nStripes {STRIPE:g} wide in a square of width 3, 250 samples, no outlier, Gaussian kernel")
    for name, part in table[table["outliers"] < 0].groupby("contender", sort=False):
        print(
            f"{'':>10}  {name:<20} {part['support'].mean():8.1f} {'':>8} "
            f"{part['right'].mean():8.2f} ± {part['right'].sem():.2f}"
        )


# --- the picture -------------------------------------------------------------------------------------------


def pictured(n_classes: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Clouds, each but the last with one sample in the middle of the next; and which these are."""
    X, y = make_clouds(np.random.default_rng(4), N_EACH)
    outliers = N_EACH * np.arange(n_classes - 1)
    X[outliers] = CENTRES[1:n_classes] + [[0.1, 0.1]]
    return X[: n_classes * N_EACH], y[: n_classes * N_EACH], outliers


def draw_plane(ax: Axes, name: str, n_classes: int) -> None:
    """The classes of the plane, the samples by the label given, the support vectors ringed."""
    X, y, outliers = pictured(n_classes)
    model = contenders(Polynomial(2))[name].fit(X, y)
    x, z = np.meshgrid(np.linspace(-3.4, 3.4, 241), np.linspace(-3.0, 3.6, 233))
    regions = model.predict(np.column_stack([x.ravel(), z.ravel()])).reshape(x.shape)
    ax.contourf(x, z, regions, levels=np.arange(4) - 0.5, cmap=ListedColormap(COLOURS), alpha=0.18)
    ax.contour(x, z, regions, levels=[0.5, 1.5], colors="black", linewidths=1.0)
    sizes = np.full(len(y), 26.0)
    sizes[outliers] = 75.0
    for rows in (np.setdiff1d(np.arange(len(y)), outliers), outliers):  # outliers on top
        for label, (colour, marker) in enumerate(zip(COLOURS, MARKERS, strict=True)):
            own = rows[y[rows] == label]
            ax.scatter(X[own, 0], X[own, 1], s=sizes[own], c=colour, marker=marker, ec="white", lw=0.6)
    stored = X[model.support_]
    ax.scatter(stored[:, 0], stored[:, 1], s=190, facecolors="none", edgecolors="black", linewidths=1.4)
    ax.set(xticks=[], yticks=[], title=f"{name}: {len(model.support_)} support vectors")


def draw_curves(ax: Axes, table: pd.DataFrame, column: str, title: str) -> None:
    """Means and standard errors over the draws by the number of outliers."""
    clouds = table[table["outliers"] >= 0]
    for name, colour, marker in zip((PLAIN, NEIGHBOURS, WINDOWS), COLOURS, MARKERS, strict=True):
        by_number = clouds[clouds["contender"] == name].groupby("outliers")[column]
        ax.errorbar(
            list(OUTLIERS), by_number.mean(), yerr=by_number.sem(), fmt=f"{marker}-", color=colour, label=name
        )
    ax.set(xlabel=f"outliers among {3 * N_EACH} samples", title=title)
    ax.grid(alpha=0.3)


def draw_picture(path: Path, table: pd.DataFrame) -> None:
    figure, axes = plt.subplot_mosaic(
        "ABE;CDF", figsize=(17, 9), layout="constrained", width_ratios=[1, 1, 1.1]
    )
    for places, n_classes in (("AB", 3), ("CD", 2)):
        for place, name in zip(places, (PLAIN, NEIGHBOURS), strict=True):
            draw_plane(axes[place], name, n_classes)
    ring = Line2D([], [], marker="o", markersize=11, mfc="none", mec="black", ls="", label="support vector")
    axes["A"].legend(handles=[ring], loc="lower left")
    axes["A"].set_ylabel("three classes, two outliers")
    axes["C"].set_ylabel("two classes, one outlier")
    draw_curves(axes["E"], table, "support", "support vectors")
    draw_curves(axes["F"], table, "right", "% right on samples without outliers")
    axes["E"].legend()
    figure.suptitle("What do outliers cost? Three clouds, quadratic kernel")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--draws", type=int, default=10, help="training sets for the table (default 10)")
    parser.add_argument(
        "--picture", type=Path, default=Path("run/what_do_outliers_cost.png"), help="where the picture goes"
    )
    options = parser.parse_args(arguments)
    if options.draws < 2:
        parser.error("--draws must be at least 2, for a standard error.")
    table = compare(options.draws)
    describe(table, options.draws)
    draw_picture(options.picture, table)
    print(f"\nWrote {options.picture}")


if __name__ == "__main__":
    main()

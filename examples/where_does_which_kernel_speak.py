"""Where does which kernel speak?
==============================

Two problems. In the plane the boundary is a line on the left and a parabola on the right: a linear and a
quadratic kernel with one weight each for the whole plane cannot draw it, with weights that depend on the
point they can. The wines of scikit-learn have three groups of measurements as views, in scaled columns; there
the weights tell which view explains which wine, and the accuracy is that of one weight for each view, or of
their plain sum: nothing is tuned for any of the three models, and they learn from the same halves. It prints
the accuracies and the weights; the picture shows the decision surfaces, the map of the weights over the
plane, and the weights of every wine.

A weight is a posterior: the share that a kernel's component has in what its class says of a point. That a
view has a small one does not mean that the classes do not differ in it. And the boundary is where both
mixtures say the same, so that each of its pieces is made by two components: look at both maps.

Run it with ``python examples/where_does_which_kernel_speak.py [--splits N] [--picture FILE]``.
"""

import argparse
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from multikernel import MKLClassifier, View, stack_kernels
from multikernel.datasets.generators import make_piecewise, piecewise_curve
from multikernel.kernels import Gaussian, Linear, Polynomial
from multikernel.nonstationary import NonstationaryClassifier

PLAIN: dict[str, Any] = {"standardize": False, "normalize": None}  # kernels as they are
PIECES = [View("line", Linear(), **PLAIN), View("parabola", Polynomial(degree=2), **PLAIN)]
GROUPS = {
    "alcohol, acid, ash": [0, 1, 2, 3, 4],
    "phenols": [5, 6, 7, 8],
    "colour, proline": [9, 10, 11, 12],
}
VIEWS = [View(name, Gaussian(gamma=0.5 / len(columns)), columns, **PLAIN) for name, columns in GROUPS.items()]
HERE, EVERYWHERE, SUM = "weights that depend on the point", "one weight for each kernel", "plain sum"
BLUE, ORANGE, GREEN = "#0072B2", "#E69F00", "#009E73"  # distinguished by every eye
MARKERS = ("o", "^", "s")


# --- the plane ---------------------------------------------------------------------------------------------


def fit_plane() -> tuple[dict[str, Any], dict[str, float]]:
    """The two models on 200 points, and their accuracy on 1000 others."""
    X, y = make_piecewise(200, shift=0.2, random_state=0)
    X_new, y_new = make_piecewise(1000, shift=0.2, random_state=1)
    models = {EVERYWHERE: MKLClassifier(PIECES, C=1e4), HERE: NonstationaryClassifier(PIECES, C=1e4)}
    return models, {name: model.fit(X, y).score(X_new, y_new) for name, model in models.items()}


def draw_surface(ax: Axes, model: Any, title: str) -> None:
    """Where the model decides for which class, with the training points and the true boundary."""
    X, y = make_piecewise(200, shift=0.2, random_state=0)
    x, z, points = grid()
    scores = model.decision_function(points).reshape(x.shape)
    ax.contourf(x, z, scores, levels=[-np.inf, 0.0, np.inf], colors=[BLUE, ORANGE], alpha=0.25)
    ax.contour(x, z, scores, levels=[0.0], colors="black", linewidths=1.5)
    for label, colour, marker in ((1, ORANGE, "^"), (-1, BLUE, "o")):
        chosen = y == label
        ax.scatter(X[chosen, 0], X[chosen, 1], s=12, c=colour, marker=marker, linewidths=0)
    frame(ax, title)


def draw_weights(ax: Axes, model: NonstationaryClassifier, side: int, title: str) -> Any:
    """The weight of the quadratic kernel in one of the two mixtures."""
    x, z, points = grid()
    share = model.mixture_weights(points)[side][:, 1].reshape(x.shape)
    image = ax.pcolormesh(x, z, share, cmap="cividis", vmin=0.0, vmax=1.0, shading="auto", rasterized=True)
    frame(ax, title, colour="white")
    return image


def grid() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    x, z = np.meshgrid(np.linspace(-3.2, 3.2, 161), np.linspace(-3.0, 1.6, 116))
    return x, z, np.column_stack([x.ravel(), z.ravel()])


def frame(ax: Axes, title: str, colour: str = "black") -> None:
    x = np.linspace(-3.0, 3.0, 200)
    ax.plot(x, piecewise_curve(x), "--", color=colour, linewidth=1.0, label="true boundary")
    ax.set(title=title, xlabel="first feature", ylabel="second feature", xlim=(-3.2, 3.2), ylim=(-3.0, 1.6))


# --- the wines ---------------------------------------------------------------------------------------------


def plain_sum(X: np.ndarray, y: np.ndarray, X_new: np.ndarray, y_new: np.ndarray) -> float:
    """Accuracy of a support vector machine on the mean of the kernels."""
    kernels = [view.kernel for view in VIEWS], list(GROUPS.values())
    K, K_new = (
        stack_kernels([k(A[:, c], X[:, c]) for k, c in zip(*kernels, strict=True)]).mean(axis=2)
        for A in (X, X_new)
    )
    return float(SVC(C=10.0, kernel="precomputed").fit(K, y).score(K_new, y_new))


def compare_on_wine(n_splits: int) -> pd.DataFrame:
    """One row for each split: the accuracy of the three on the other half."""
    X, y = load_wine(return_X_y=True)
    rows = []
    for train, test in StratifiedShuffleSplit(n_splits, train_size=0.5, random_state=0).split(X, y):
        scaler = StandardScaler().fit(X[train])
        parts = scaler.transform(X[train]), y[train], scaler.transform(X[test]), y[test]
        here, everywhere = NonstationaryClassifier(VIEWS, C=10.0), MKLClassifier(VIEWS, C=10.0)
        scores = [model.fit(*parts[:2]).score(*parts[2:]) for model in (here, everywhere)]
        rows.append([*scores, plain_sum(*parts)])
    return pd.DataFrame(rows, columns=[HERE, EVERYWHERE, SUM])


def weights_of_wines() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """All wines in scaled columns, their classes, and the weights in the mixture of their own class."""
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    own, _ = NonstationaryClassifier(VIEWS, C=10.0).fit(X, y).mixture_weights(X)
    return X, y, own[np.arange(len(y)), y]


def draw_shares(ax: Axes, y: np.ndarray, shares: np.ndarray) -> None:
    """The weights of every wine, by class and by the largest, as stacked bars."""
    order = np.lexsort((-shares[:, 2], y))
    place = np.arange(y.size) + 4.0 * y[order]
    floor = np.zeros(y.size)
    for name, part, colour in zip(GROUPS, shares[order].T, (GREEN, ORANGE, BLUE), strict=True):
        ax.bar(place, part, width=1.0, bottom=floor, color=colour, label=name, linewidth=0)
        floor += part
    middles = [place[y[order] == k].mean() for k in range(3)]
    ax.set_xticks(middles, [f"cultivar {k + 1}" for k in range(3)])
    ax.set(title="wine: which view explains which bottle", ylabel="weight in its class's mixture")
    ax.set(ylim=(0.0, 1.0), xlim=(place[0] - 1, place[-1] + 1))
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.09), ncols=3, frameon=False)


def draw_wines(ax: Axes, X: np.ndarray, y: np.ndarray, shares: np.ndarray) -> Any:
    """The wines in their first two principal components, coloured by the weight of the last view."""
    Z = PCA(2, random_state=0).fit_transform(X)
    for k, marker in enumerate(MARKERS):
        chosen = y == k
        image = ax.scatter(
            Z[chosen, 0],
            Z[chosen, 1],
            c=shares[chosen, 2],
            cmap="cividis",
            vmin=0.0,
            vmax=1.0,
            marker=marker,
            s=34,
            edgecolors="black",
            linewidths=0.4,
        )
        ax.plot([], [], marker, color="black", markerfacecolor="white", label=f"cultivar {k + 1}")
    ax.legend(loc="lower left")
    ax.set(title=f"wine: where '{list(GROUPS)[2]}' speaks")
    ax.set(xlabel="first principal component", ylabel="second principal component")
    return image


# --- both --------------------------------------------------------------------------------------------------


def draw_picture(path: Path, models: dict[str, Any], accuracy: dict[str, float], wines: Any) -> None:
    figure, axes = plt.subplot_mosaic("ABCD;EEFF", figsize=(15.5, 8.2), layout="constrained")
    for place, (name, model) in zip("AB", models.items(), strict=True):
        draw_surface(axes[place], model, f"{name}:\n{100.0 * accuracy[name]:.0f} % right")
    axes["A"].legend(loc="lower left")
    draw_weights(axes["C"], models[HERE], 0, "weight of the parabola in the\nmixture of the upper class (▲)")
    image = draw_weights(
        axes["D"], models[HERE], 1, "weight of the parabola in the\nmixture of the lower class (●)"
    )
    figure.colorbar(image, ax=axes["D"], label="0: the line speaks, 1: the parabola")
    X, y, shares = wines
    draw_shares(axes["E"], y, shares)
    image = draw_wines(axes["F"], X, y, shares)
    figure.colorbar(image, ax=axes["F"], label="weight of the view")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def describe_wines(table: pd.DataFrame, y: np.ndarray, shares: np.ndarray) -> None:
    print(f"\nWine, scaled columns, {len(table)} splits into halves")
    for name in table:
        print(f"  {name:<34} {100.0 * table[name].mean():5.1f} ± {100.0 * table[name].sem():.1f} % right")
    gain = table[HERE] - table[EVERYWHERE]
    print(
        f"  difference of the first two        {100.0 * gain.mean():+5.1f} ± {100.0 * gain.sem():.1f} points"
    )
    print("\nMean weights of the views in the mixture of the wine's own class (all wines)")
    frame = pd.DataFrame(shares, columns=list(GROUPS)).groupby(y).mean()
    frame.index = pd.Index([f"cultivar {k + 1}" for k in frame.index], name="")
    print(frame.to_string(float_format="{:.2f}".format))


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--splits", type=int, default=5, help="random halves of the wines (default 5)")
    parser.add_argument(
        "--picture", type=Path, default=Path("run/nonstationary_kernels.png"), help="where the picture goes"
    )
    options = parser.parse_args(arguments)
    if options.splits < 2:
        parser.error("--splits must be at least 2, for a standard error.")
    models, accuracy = fit_plane()
    print("Line and parabola in the plane, 1000 new points")
    for name, value in accuracy.items():
        print(f"  {name:<34} {100.0 * value:5.1f} % right")
    wines = weights_of_wines()
    describe_wines(compare_on_wine(options.splits), *wines[1:])
    draw_picture(options.picture, models, accuracy, wines)
    print(f"\nWrote {options.picture}")


if __name__ == "__main__":
    main()

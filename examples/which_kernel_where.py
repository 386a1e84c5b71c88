"""Which kernel where?
===================

Four Gaussians in the plane take turns in class, so that the best boundary bends three times. A gate that
looks at the point decides which kernel counts there, and is learned together with the machine: a linear and a
quadratic kernel, or three copies of a linear one, follow the bends. The table sets them beside support vector
machines of one kernel and beside one weight for each kernel; the best rule of all is known, so that one sees
what is left to gain. C is 10 for all and nothing is tuned.

Whether the gate is needed is a matter of scaling. With kernels of unit diagonal, one weight for each kernel
is points behind where the columns are standardised, and nearly level where they are left as they are. A
Gaussian kernel needs no gate in either case; the gate has fewer support vectors, and says where which kernel
counts. The problem is not convex: three linear kernels end in a poor boundary on some draws, which a few more
starts mend, the lowest objective telling which to keep. Three polynomials of degree one, whose pieces have a
bias of their own, fall into that trap less often, but they do.

Run it with ``python examples/which_kernel_where.py [--draws N] [--points N] [--picture FILE]``.
"""

import argparse
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from multikernel import LocalizedMKLClassifier, MKLClassifier, View
from multikernel.datasets import gauss_log_odds, make_gauss
from multikernel.kernels import Gaussian, Kernel, Linear, Polynomial

C = 10.0
N_TRAIN = 400
BEST = 89.71  # percent that the best rule has right in the mean
PREPARATIONS: dict[str, dict[str, Any]] = {
    "standardised columns, unit diagonal": {"standardize": True, "transforms": "unit_diagonal"},
    "columns as they are, unit diagonal": {"standardize": False, "transforms": "unit_diagonal"},
    "standardised columns, kernels as they are": {"standardize": True, "normalize": None},
}
PICTURED = list(PREPARATIONS)[2]  # there the pieces of a linear kernel are straight
BLUE, ORANGE, GREEN = "#0072B2", "#E69F00", "#009E73"  # distinguished by every eye


# --- the contenders ----------------------------------------------------------------------------------------


def make_views(kernels: dict[str, Kernel], preparation: dict[str, Any]) -> list[View]:
    return [View(name, kernel, **preparation) for name, kernel in kernels.items()]


def everywhere(kernels: dict[str, Kernel], preparation: dict[str, Any]) -> MKLClassifier:
    """One weight for each kernel; with a single kernel the plain support vector machine."""
    return MKLClassifier(make_views(kernels, preparation), C=C)


def gated(kernels: dict[str, Kernel], preparation: dict[str, Any], n_init: int = 1) -> LocalizedMKLClassifier:
    """A gate over the kernels, the best of several starts by objective."""
    return LocalizedMKLClassifier(make_views(kernels, preparation), C=C, gating_reg=0.0, n_init=n_init)


BOTH: dict[str, Kernel] = {"linear": Linear(), "quadratic": Polynomial(2)}
LINES: dict[str, Kernel] = {f"linear {k}": Linear() for k in (1, 2, 3)}
BIASED: dict[str, Kernel] = {f"degree one {k}": Polynomial(1) for k in (1, 2, 3)}
CONTENDERS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "SVM, linear": partial(everywhere, {"linear": Linear()}),
    "SVM, quadratic": partial(everywhere, {"quadratic": Polynomial(2)}),
    "SVM, Gaussian": partial(everywhere, {"Gaussian": Gaussian(gamma=0.5)}),
    "weights, linear + quadratic": partial(everywhere, BOTH),
    "gate, linear + quadratic": partial(gated, BOTH),
    "gate, three linear": partial(gated, LINES),
    "gate, three linear, 4 starts": partial(gated, LINES, n_init=4),
    "gate, three of degree one": partial(gated, BIASED),
}
COMMON, LOCAL, COPIES = "weights, linear + quadratic", "gate, linear + quadratic", "gate, three linear"
ABOVE = ("SVM, Gaussian", COMMON, LOCAL)  # drawn for the first draw
BELOW = tuple(name for name in CONTENDERS if "three" in name)  # for the one on which `COPIES` did worst


# --- the table ---------------------------------------------------------------------------------------------


def expected_accuracy(predicted: np.ndarray, log_odds: np.ndarray) -> float:
    """Percent right in the mean over the labels that these points may have: their densities are known."""
    return float(100.0 * (1.0 / (1.0 + np.exp(-log_odds * predicted))).mean())


def compare(n_draws: int, n_test: int) -> pd.DataFrame:
    """One row for each preparation, contender and draw."""
    X_new, _ = make_gauss("GAUSS4", n_test, random_state=2010)
    log_odds = gauss_log_odds("GAUSS4", X_new)
    rows = []
    for preparation, choices in PREPARATIONS.items():
        for draw in range(n_draws):
            X, y = make_gauss("GAUSS4", N_TRAIN, random_state=draw)
            for name, build in CONTENDERS.items():
                model = build(choices).fit(X, y)
                rows.append(
                    {
                        "preparation": preparation,
                        "contender": name,
                        "draw": draw,
                        "right": expected_accuracy(model.predict(X_new), log_odds),
                        "support": 100.0 * len(model.support_) / N_TRAIN,
                        "active": count_active(model, X_new),
                    }
                )
    return pd.DataFrame(rows)


def count_active(model: Any, X: np.ndarray) -> float:
    """How many kernels a prediction needs in the mean."""
    if isinstance(model, LocalizedMKLClassifier):
        return float(model.active_kernels(X).sum(axis=1).mean())
    return float((model.kernel_weights_ > 0.0).sum())


def describe(table: pd.DataFrame, n_draws: int) -> None:
    print(f"GAUSS4: {N_TRAIN} points to learn from, {n_draws} draws, C = {C:g}. No rule is right on more")
    print(f"than {BEST} % of such points in the mean.")
    for preparation, part in table.groupby("preparation", sort=False):
        print(
            f"\n{preparation}\n  {'':<28} {'% right':>13} {'% support':>10} {'kernels':>8} {'worst draw':>11}"
        )
        for name, rows in part.groupby("contender", sort=False):
            right = rows["right"]
            figures = f"{right.mean():6.2f} ± {right.sem():.2f} {rows['support'].mean():10.0f}"
            print(f"  {name:<28} {figures} {rows['active'].mean():8.2f} {right.min():11.2f}")
        print(f"  the gate gains over weights: {describe_gain(part)}")


def describe_gain(part: pd.DataFrame) -> str:
    local, common = (part.loc[part["contender"] == name, "right"].to_numpy() for name in (LOCAL, COMMON))
    gain = pd.Series(local - common)
    return f"{gain.mean():+.2f} ± {gain.sem():.2f} points (linear + quadratic, draw by draw)"


# --- the picture -------------------------------------------------------------------------------------------


def grid() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    x, z = np.meshgrid(np.linspace(-6.0, 6.0, 161), np.linspace(-8.5, 5.0, 151))
    return x, z, np.column_stack([x.ravel(), z.ravel()])


def draw_plane(ax: Axes, name: str, draw: int) -> None:
    """The gate of each kernel as its colour, the learned and the best boundary, the training points."""
    X, y = make_gauss("GAUSS4", N_TRAIN, random_state=draw)
    model = CONTENDERS[name](PREPARATIONS[PICTURED]).fit(X, y)
    x, z, points = grid()
    local = isinstance(model, LocalizedMKLClassifier)
    everywhere = np.tile(model.kernel_weights_, (len(points), 1))
    shares = model.sample_kernel_weights(points) if local else everywhere
    colours = (BLUE, ORANGE, GREEN)[: shares.shape[1]]
    tints = 1.0 - 0.5 * (1.0 - np.array([to_rgb(colour) for colour in colours]))
    extent = (x.min(), x.max(), z.min(), z.max())
    ax.imshow((shares @ tints).reshape(*x.shape, 3).clip(0, 1), extent=extent, origin="lower", aspect="auto")
    for label, face in ((1, "black"), (-1, "white")):
        chosen = X[y == label]
        ax.scatter(chosen[:, 0], chosen[:, 1], s=13, c=face, edgecolors="black", linewidths=0.5, alpha=0.85)
    scores = model.decision_function(points).reshape(x.shape)
    ax.contour(x, z, scores, levels=[0.0], colors="black", linewidths=2.2)
    best = gauss_log_odds("GAUSS4", points).reshape(x.shape)
    ax.contour(x, z, best, levels=[0.0], colors="black", linewidths=1.3, linestyles="dashed")
    labels = zip(tints, model.view_names_, model.kernel_weights_, strict=True)
    handles = [Patch(color=tint, label=f"{view}: {weight:.2f}") for tint, view, weight in labels]
    title = "mean gate" if local else "weight"
    ax.legend(handles=handles, title=title, loc="lower left", fontsize=8, title_fontsize=8, framealpha=0.9)
    ax.set(xticks=[], yticks=[], xlim=extent[:2], ylim=extent[2:])


def draw_accuracies(ax: Axes, table: pd.DataFrame) -> None:
    """The accuracy of each contender by preparation, with the best rule as a line."""
    names = list(CONTENDERS)
    for k, (preparation, colour, marker) in enumerate(
        zip(PREPARATIONS, (BLUE, ORANGE, GREEN), "os^", strict=True)
    ):
        part = table[table["preparation"] == preparation].groupby("contender")["right"]
        means, errors = part.mean()[names], part.sem()[names]
        place = np.arange(len(names)) + 0.24 * (k - 1)
        style: dict[str, Any] = {
            "fmt": marker,
            "color": colour,
            "markersize": 8,
            "label": preparation.replace(", ", ",\n"),
        }
        ax.errorbar(means, place, xerr=errors, **style)
    ax.axvline(BEST, color="black", linestyle="dashed", linewidth=1.3)
    ax.annotate("best rule ", (BEST, len(names) - 0.45), ha="right", va="center", fontsize=9)
    ax.set_yticks(range(len(names)), [name.replace(", ", ",\n") for name in names])
    ax.set(ylim=(len(names) - 0.3, -0.6), xlabel="% right", title="Is the gate needed? It depends on scaling")
    ax.grid(axis="x", alpha=0.3)
    ax.legend(loc="lower left", bbox_to_anchor=(0.0, 0.03), fontsize=9, labelspacing=0.9)


def draw_picture(path: Path, table: pd.DataFrame) -> None:
    figure, axes = plt.subplot_mosaic(
        "ABCG;DEFG", figsize=(19, 8.6), layout="constrained", width_ratios=[1, 1, 1, 1.1]
    )
    pictured = table[table["preparation"] == PICTURED].set_index(["contender", "draw"])["right"]
    worst = int(pictured[COPIES].idxmin())
    for row, names, draw in (("ABC", ABOVE, 0), ("DEF", BELOW, worst)):
        for place, name in zip(row, names, strict=True):
            draw_plane(axes[place], name, draw)
            axes[place].set_title(f"{name}: {pictured[name, draw]:.1f} % right")
    axes["A"].set_ylabel("draw 0")
    axes["D"].set_ylabel(f"draw {worst}, the worst for three linear")
    draw_accuracies(axes["G"], table)
    lines = [
        Line2D([], [], color="black", linewidth=2.2, label="learned boundary"),
        Line2D([], [], color="black", linewidth=1.3, linestyle="dashed", label="best boundary"),
    ]
    of_kernels = axes["C"].get_legend()
    axes["C"].legend(handles=lines, loc="lower right", fontsize=8, framealpha=0.9)
    assert of_kernels is not None
    axes["C"].add_artist(of_kernels)  # a second legend takes the place of the first
    figure.suptitle(f"Which kernel where? The colours show the gate ({PICTURED})")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--draws", type=int, default=6, help="training sets for the table (default 6)")
    parser.add_argument("--points", type=int, default=10000, help="points to test on (default 10000)")
    parser.add_argument(
        "--picture", type=Path, default=Path("run/which_kernel_where.png"), help="where the picture goes"
    )
    options = parser.parse_args(arguments)
    if options.draws < 2:
        parser.error("--draws must be at least 2, for a standard error.")
    table = compare(options.draws, options.points)
    describe(table, options.draws)
    draw_picture(options.picture, table)
    print(f"\nWrote {options.picture}")


if __name__ == "__main__":
    main()

"""What do the neighbours say?
===========================

A network of proteins, and a table of what they express. Proteins work in modules, and those of a module have
the same function, so that the interaction partners of a protein predict its function; expression says
something too, and of other proteins: one in six was never tested for interactions and is not in the network.
A kernel on the network and one on the table are two views, and their weights are learned.

The names of the proteins are a column of the table, so that cross-validation takes the right nodes by itself.
A protein that is not in the network is similar to itself alone there: what is said of it comes from its
expression, and the network neither helps nor harms much. The counter-check is a network with the same degrees
whose edges lead anywhere: it must not help. It also shows that learning the weights is no insurance: it still
gets weight, since a protein that is hardly similar to any other is easily fitted. Held-out proteins tell the
difference, the weights do not. C is 1 for all. The data are made up, and so that both views matter: they show
how it is done, not how often it helps.

Run it with ``python examples/what_do_the_neighbours_say.py [--draws N] [--picture FILE]``.
"""

import argparse
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from multikernel import MKLClassifier, View
from multikernel.datasets import Proteins, make_proteins
from multikernel.kernels import Diffusion, Gaussian, Kernel, Network, RandomWalk

EXPRESSION, NEIGHBOURS, WALK = "expression", "neighbours: diffusion", "neighbours: random walk"
BOTH, REWIRED = "both", "both, rewired network"
CONTENDERS = (EXPRESSION, NEIGHBOURS, WALK, BOTH, REWIRED)
TIMES = (0.25, 1.0, 4.0, 16.0, 64.0)
BLUE, ORANGE = "#0072B2", "#E69F00"  # distinguished by every eye


# --- data and contenders -----------------------------------------------------------------------------------


def rewired(edges: np.ndarray, seed: int) -> Network:
    """As many edges at each protein, leading anywhere."""
    ends = np.random.default_rng(seed).permutation(edges.ravel())
    return Network(ends.reshape(-1, 2))


def of_nodes(kernel: Kernel) -> View:
    return View("network", kernel, "protein", "unit_diagonal")


def contenders(proteins: Proteins, seed: int) -> dict[str, list[View]]:
    network = Network(proteins.edges)
    heat = of_nodes(Diffusion(network, beta=2.0))
    conditions = list(proteins.X.columns.drop("protein"))
    table = View("expression", Gaussian(), conditions, "unit_diagonal", standardize=True)
    return {
        EXPRESSION: [table],
        NEIGHBOURS: [heat],
        WALK: [of_nodes(RandomWalk(network, restart=0.3))],
        BOTH: [table, heat],
        REWIRED: [table, of_nodes(Diffusion(rewired(proteins.edges, seed), beta=2.0))],
    }


# --- the table ---------------------------------------------------------------------------------------------


def right(views: list[View], proteins: Proteins) -> np.ndarray:
    """Which proteins are classified rightly while they are held out."""
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    found = cross_val_predict(MKLClassifier(views), proteins.X, proteins.y, cv=folds)
    return np.asarray(found == proteins.y)


def compare(n_draws: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """For each draw, the contenders; and diffusion alone for each time."""
    rows, by_time = [], []
    for draw in range(n_draws):
        proteins = make_proteins(random_state=draw)
        network = Network(proteins.edges)
        inside = np.array([name in network for name in proteins.X["protein"]])
        for name, views in contenders(proteins, draw).items():
            hits = right(views, proteins)
            weights = MKLClassifier(views).fit(proteins.X, proteins.y).weights_frame()["weight"]
            shares = 100.0 * hits[inside].mean(), 100.0 * hits[~inside].mean()
            rows.append([name, *shares, weights.get("network", 0.0) / weights.sum()])
        for beta in TIMES:
            hits = right([of_nodes(Diffusion(network, beta))], proteins)
            by_time.append([beta, 100.0 * hits[inside].mean()])
    table = pd.DataFrame(rows, columns=["contender", "inside", "outside", "weight"])
    return table, pd.DataFrame(by_time, columns=["beta", "inside"])


def describe(table: pd.DataFrame, n_draws: int) -> None:
    print(f"240 proteins, five folds, {n_draws} draws; % right ± standard error")
    print(f"{'':<26} {'in the network':>15} {'not in it':>15} {'weight of the network':>23}")
    for name, part in table.groupby("contender", sort=False):
        shares = [f"{part[c].mean():8.1f} ± {part[c].sem():.1f}" for c in ("inside", "outside")]
        print(f"{name:<26} {shares[0]:>15} {shares[1]:>15} {part['weight'].mean():>23.2f}")


# --- the picture -------------------------------------------------------------------------------------------


def draw_contenders(ax: Axes, table: pd.DataFrame) -> None:
    """One pair of bars for each contender."""
    places = np.arange(len(CONTENDERS))
    for shift, column, colour, label in (
        (-0.2, "inside", BLUE, "in the network"),
        (0.2, "outside", ORANGE, "not in it"),
    ):
        grouped = table.groupby("contender")[column]
        means, errors = (values.loc[list(CONTENDERS)] for values in (grouped.mean(), grouped.sem()))
        ax.barh(places + shift, means, 0.38, xerr=errors, color=colour, label=label)
    ax.axvline(50.0, color="black", linewidth=0.8, linestyle=":")
    ax.set(yticks=places, yticklabels=CONTENDERS, xlim=(40, 100), xlabel="% right", title="Held-out proteins")
    ax.invert_yaxis()
    ax.legend(loc="upper right")


def draw_times(ax: Axes, by_time: pd.DataFrame) -> None:
    grouped = by_time.groupby("beta")["inside"]
    ax.errorbar(list(TIMES), grouped.mean(), yerr=grouped.sem(), fmt="o-", color=BLUE)
    ax.set(xscale="log", xlabel="beta, the time of the diffusion", ylabel="% right, in the network")
    ax.set_title("How far to listen: diffusion alone")
    ax.grid(alpha=0.3)


def draw_picture(path: Path, table: pd.DataFrame, by_time: pd.DataFrame) -> None:
    figure, axes = plt.subplots(1, 2, figsize=(13, 5), layout="constrained", width_ratios=[1.4, 1])
    draw_contenders(axes[0], table)
    draw_times(axes[1], by_time)
    figure.suptitle("What do the neighbours say? Functions of proteins from a network and a table")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--draws", type=int, default=8, help="sets of proteins (default 8)")
    parser.add_argument(
        "--picture",
        type=Path,
        default=Path("run/what_do_the_neighbours_say.png"),
        help="where the picture goes",
    )
    options = parser.parse_args(arguments)
    if options.draws < 2:
        parser.error("--draws must be at least 2, for a standard error.")
    table, by_time = compare(options.draws)
    describe(table, options.draws)
    draw_picture(options.picture, table, by_time)
    print(f"\nWrote {options.picture}")


if __name__ == "__main__":
    main()

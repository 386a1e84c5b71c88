"""Where does it look?
===================

A face is cut into sixteen patches with a linear kernel for each, and a gate that sees only a coarse picture
decides which patches count: women and men among the Olivetti faces, after Gönen's thesis. The picture shows
faces that the machine has not seen, with the patches faded that the gate shuts.

The question is asked twice. Random folds, as in the thesis, have pictures of everybody on both sides, so that
the machine may know the person; folds by person test on people it has never met. There are four women only:
what looks like an answer in the first case is none in the second, whatever the kernels, and saying "man" to
everybody is right on nine pictures of ten. The gate shows where the machine looks, not that it understands.

Where the data set "olivetti" is not at hand (see ``multikernel data list``), the odd and even digits that
scikit-learn ships take its place, and the output says so.

Run it with ``python examples/where_does_it_look.py [--folds N] [--picture FILE]``.
"""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from multikernel import LocalizedMKLClassifier, MKLClassifier, View
from multikernel.datasets import list_datasets
from multikernel.datasets.faces import load_faces
from multikernel.kernels import Gaussian, Linear

N_CELLS = 4
C = 10.0
TOL = 1e-2  # separable pictures: the objective creeps towards zero, and nothing is gained by following it
SOFTMAX, SIGMOID = "patches, softmax gate", "patches, sigmoid gate"
RANDOM, BY_PERSON = "random folds", "folds by person"
BLUE, ORANGE = "#0072B2", "#E69F00"  # distinguished by every eye
NIGHT, DEEPEST = np.array([0.07, 0.16, 0.36]), 0.85  # what dims a patch, and by how much
N_SHOWN = 4  # pictures of each class


# --- data and contenders -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Pictures:
    """Images (n, side, side) in [0, 1], labels ±1 with one word for one and one for many, and who it is."""

    title: str
    images: np.ndarray
    y: np.ndarray
    words: dict[int, tuple[str, str]]
    person: np.ndarray | None
    coarse: int

    @property
    def table(self) -> np.ndarray:
        """The pixels patch by patch, then the coarse image that the gate sees."""
        patches = self._blocks(N_CELLS).swapaxes(2, 3)
        means = self._blocks(self.coarse).mean(axis=(2, 4))
        return np.hstack([patches.reshape(len(self.y), -1), means.reshape(len(self.y), -1)])

    def _blocks(self, n: int) -> np.ndarray:
        """The images cut into n by n blocks, (n_images, n, height / n, n, width / n)."""
        n_images, height, width = self.images.shape
        return self.images.reshape(n_images, n, height // n, n, width // n)


def load_pictures() -> Pictures:
    """The faces, or 500 digits where these are not at hand."""
    if "olivetti" not in list_datasets().index:
        digits = load_digits()
        images, y = 1.0 - digits.images[:500] / 16.0, np.where(digits.target[:500] % 2 == 1, 1, -1)
        title = "odd and even digits ('olivetti' is not at hand)"
        return Pictures(title, images, y, {1: ("odd", "odd"), -1: ("even", "even")}, None, 4)
    faces = load_faces()
    words = {1: ("woman", "women"), -1: ("man", "men")}
    return Pictures("Olivetti faces, women and men", faces.images, faces.y, words, faces.subject, 8)


def contenders(n_pixels: int) -> dict[str, Any]:
    """One kernel of the whole image, or sixteen of patches with common weights or a gate."""
    options: dict[str, Any] = {"transforms": "unit_diagonal", "standardize": True}
    size, seen = n_pixels // N_CELLS**2, slice(n_pixels, None)
    whole = slice(0, n_pixels)
    cells = [
        View(
            f"row {k // N_CELLS + 1}, column {k % N_CELLS + 1}",
            Linear(),
            slice(k * size, (k + 1) * size),
            **options,
        )
        for k in range(N_CELLS**2)
    ]
    gate: dict[str, Any] = {"C": C, "gating_features": seen, "gating_reg": 0.0, "tol": TOL}
    return {
        "whole image, linear": MKLClassifier([View("whole", Linear(), whole, **options)], C=C),
        "whole image, Gaussian": MKLClassifier([View("whole", Gaussian(), whole, normalize=None)], C=C),
        "patches, one weight each": MKLClassifier(cells, C=C),
        SOFTMAX: LocalizedMKLClassifier(cells, gating="softmax", **gate),
        SIGMOID: LocalizedMKLClassifier(cells, gating="sigmoid", **gate),
    }


def make_folds(data: Pictures, kind: str, n_folds: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    if kind == BY_PERSON:
        return StratifiedGroupKFold(n_folds, shuffle=True, random_state=0).split(data.y, data.y, data.person)
    return StratifiedKFold(n_folds, shuffle=True, random_state=0).split(data.y, data.y)


# --- the table ---------------------------------------------------------------------------------------------


def compare(data: Pictures, n_folds: int) -> pd.DataFrame:
    """One row for each kind of folds and contender, the figures over all folds together."""
    X, y, rows = data.table, data.y, []
    for kind in [RANDOM] if data.person is None else [RANDOM, BY_PERSON]:
        for name, model in contenders(data.images[0].size).items():
            right, support, active = np.zeros(len(y), bool), [], []
            for train, test in make_folds(data, kind, n_folds):
                fitted = clone(model).fit(X[train], y[train])
                right[test] = fitted.predict(X[test]) == y[test]
                support.append(100.0 * len(fitted.support_) / len(train))
                active.append(count_active(fitted, X[test]))
            shares = [100.0 * right[chosen].mean() for chosen in (y != 0, y == 1, y == -1)]
            rows.append([kind, name, *shares, np.mean(support), np.mean(active)])
    columns = ["folds", "contender", "right", "of +1", "of -1", "support", "active"]
    return pd.DataFrame(rows, columns=columns)


def count_active(model: Any, X: np.ndarray) -> float:
    """How many kernels a prediction needs in the mean."""
    if isinstance(model, LocalizedMKLClassifier):
        return float(model.active_kernels(X).sum(axis=1).mean())
    return float((model.kernel_weights_ > 0.0).sum())


def describe(data: Pictures, table: pd.DataFrame, n_folds: int) -> None:
    commoner = -1 if (data.y == -1).mean() >= 0.5 else 1
    print(f"{data.title}: {len(data.y)} pictures, {n_folds} folds, C = {C:g}")
    print(
        f"Saying '{data.words[commoner][0]}' to all is right on {100.0 * (data.y == commoner).mean():.1f} %."
    )
    for kind, part in table.groupby("folds", sort=False):
        heads = ["% right", f"of {data.words[1][1]}", f"of {data.words[-1][1]}", "% support", "kernels"]
        print(f"\n{kind:<26}", *(f"{head:>10}" for head in heads))
        for row in part.itertuples(index=False):
            print(f"  {row[1]:<24}", *(f"{value:10.1f}" for value in row[2:]))


# --- the picture -------------------------------------------------------------------------------------------


def dim(image: np.ndarray, gate: np.ndarray) -> np.ndarray:
    """The image (side, side, 3), grey where the gate is open and drowned in blue where it is shut."""
    side = image.shape[0] // N_CELLS
    share = np.kron((gate / gate.max()).reshape(N_CELLS, N_CELLS), np.ones((side, side)))
    veil = DEEPEST * (1.0 - share)[..., None]
    return np.asarray(veil * NIGHT + (1.0 - veil) * image[..., None])


def choose(data: Pictures, test: np.ndarray) -> np.ndarray:
    """Pictures to show of each class: of different people, or different digits in order."""
    chosen = []
    for label in (1, -1):
        rows = test[data.y[test] == label]
        people = rows if data.person is None else data.person[rows]
        first = np.sort(np.unique(people, return_index=True)[1])
        chosen.append(rows[first[np.linspace(0, len(first) - 1, N_SHOWN).astype(int)]])
    return np.concatenate(chosen)


def draw_faces(grid: np.ndarray, data: Pictures, shown: np.ndarray, models: dict[str, Any]) -> None:
    """One column for each picture: as it is, and as each gate sees it."""
    X = data.table[shown]
    for column, row in enumerate(shown):
        grid[0, column].imshow(data.images[row], cmap="gray", vmin=0.0, vmax=1.0)
        word = data.words[int(data.y[row])][0]
        grid[0, column].set_title(
            word if data.person is None else f"{word}, person {data.person[row]}", fontsize=10
        )
    for line, (name, model) in enumerate(models.items(), start=1):
        gates, predicted = model.sample_kernel_weights(X), model.predict(X)
        active = model.active_kernels(X).sum(axis=1)
        for column, row in enumerate(shown):
            ax = grid[line, column]
            ax.imshow(dim(data.images[row], gates[column]))
            verdict = "" if predicted[column] == data.y[row] else ", wrong"
            ax.set_xlabel(f"{active[column]} open{verdict}", fontsize=9)
        grid[line, 0].set_ylabel(name.removeprefix("patches, "))
    for ax in grid.flat:
        ax.set(xticks=[], yticks=[])


def draw_map(ax: Axes, gates: np.ndarray, title: str) -> Any:
    """The mean gate of the patches."""
    ax.set(xticks=[], yticks=[], title=title)
    return ax.imshow(gates.mean(axis=0).reshape(N_CELLS, N_CELLS), cmap="cividis", vmin=0.0)


def draw_shares(ax: Axes, data: Pictures, table: pd.DataFrame) -> None:
    """How many of the rarer class are found, by the kind of folds."""
    kinds = list(table["folds"].unique())
    for k, (kind, colour) in enumerate(zip(kinds, (BLUE, ORANGE), strict=False)):
        part = table[table["folds"] == kind]
        place = np.arange(len(part)) + 0.38 * (k - 0.5 * (len(kinds) - 1))
        bars = ax.barh(place, part["of +1"], height=0.36, color=colour, label=kind)
        ax.bar_label(bars, fmt="%.0f", padding=3, fontsize=9)
    names = table["contender"].unique()
    ax.set_yticks(range(len(names)), [name.replace(", ", ",\n") for name in names])
    ax.invert_yaxis()
    ax.set(xlim=(0.0, 112.0), xlabel="%", title=f"{data.words[1][1]} told rightly")
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.17), ncols=2, frameon=False)


def draw_picture(path: Path, data: Pictures, table: pd.DataFrame, n_folds: int) -> None:
    train, test = next(make_folds(data, RANDOM, n_folds))
    X, every = data.table, contenders(data.images[0].size)
    models = {name: every[name].fit(X[train], data.y[train]) for name in (SOFTMAX, SIGMOID)}
    figure = plt.figure(figsize=(18, 6.1), layout="constrained")
    parts: Any = figure.subfigures(1, 2, width_ratios=[2.4, 1.0])
    left, right = parts
    draw_faces(left.subplots(1 + len(models), 2 * N_SHOWN), data, choose(data, test), models)
    left.suptitle(f"{data.title}: new pictures, dimmed where the gate is shut ({RANDOM})")
    axes = right.subplot_mosaic("AB;CC", height_ratios=[1.0, 1.6])
    gates = models[SOFTMAX].sample_kernel_weights(X[test])
    for place, label in (("A", 1), ("B", -1)):
        image = draw_map(
            axes[place], gates[data.y[test] == label], f"mean softmax gate,\n{data.words[label][1]}"
        )
        right.colorbar(image, ax=axes[place], shrink=0.7)
    draw_shares(axes["C"], data, table)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--folds", type=int, default=4, help="2 to 4 folds, of a woman each at least (default 4)"
    )
    parser.add_argument(
        "--picture", type=Path, default=Path("run/where_does_it_look.png"), help="where the picture goes"
    )
    options = parser.parse_args(arguments)
    if not 2 <= options.folds <= 4:
        parser.error("--folds must be 2, 3 or 4: there are four women.")
    data = load_pictures()
    table = compare(data, options.folds)
    describe(data, table, options.folds)
    draw_picture(options.picture, data, table, options.folds)
    print(f"\nWrote {options.picture}")


if __name__ == "__main__":
    main()

"""Figure 1: three classes in the plane, and the first two kernel principal components of each kernel.

500 points: 100 in each of four groups, up and down (one class), left and right (another), and 100 in the
middle (the third). A tenth of each class is labelled.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from multikernel.kernels import center
from studies.compare import compare_each, comparison_row, group_results
from studies.study import Quantity, Result, Summary, Table, Unit
from studies.yeung2006.classifiers import leave_one_out_errors
from studies.yeung2006.kernels import KERNELS, VARIANTS, learned_kernels
from studies.yeung2006.setting import Split

SPREADS = (0.3, 0.5, 0.7)
PANELS = {"gaussian": "RBF", "conformal": "Xiong's", "separability": "Ours"}
_ROWS = {name: KERNELS[name] for name in PANELS} | {"separability_kept": VARIANTS["separability_kept"]}
_RADIUS = 2.0
_SEED = 2006
_DRAWN = 0.5
_COLOURS = (("#1f5f9e", "o"), ("#b5421a", "s"), ("#3c7d2b", "^"))

Array = np.ndarray


def draw_points(spread: float, split: int) -> Split:
    """Return the points of one draw, a tenth of each class first, which is labelled.

    Parameters
    ----------
    spread : float
        Standard deviation of a group; its centre is 2 from the middle.
    split : int
    """
    rng = np.random.default_rng([_SEED, split])
    centres = _RADIUS * np.array([[0, 1], [0, -1], [1, 0], [-1, 0], [0, 0]])
    X = np.repeat(centres, 100, axis=0) + spread * rng.normal(size=(500, 2))
    codes = np.repeat([0, 0, 1, 1, 2], 100)
    labelled = [rng.choice(np.flatnonzero(codes == c), np.sum(codes == c) // 10, False) for c in range(3)]
    first = np.concatenate(labelled)
    order = np.append(first, rng.permutation(np.setdiff1d(np.arange(500), first)))
    return Split(X[order] - X.mean(axis=0), codes[order], len(first))


def embed(points: Split, kernel: str) -> Array:
    """Return the first two kernel principal components (500, 2), σ² by leave-one-out of 1-NN.

    Parameters
    ----------
    points : Split
    kernel : str
    """
    limits, best = {"nn1": points.n_labelled + 1}, None
    for candidate in learned_kernels(kernel, points):
        for name, errors in leave_one_out_errors(candidate, points.labels, limits).items():
            best, limits = candidate, {name: errors}
    assert best is not None
    values, vectors = np.linalg.eigh(center(best.K))
    Z: Array = vectors[:, -2:] * np.sqrt(np.maximum(values[-2:], 0.0))
    return Z[:, ::-1]


def compute_embedding(spread: float, split: int, kernel: str) -> dict[str, Any]:
    """Return how far the classes of all points stand apart in the plane of two components.

    Parameters
    ----------
    spread : float
    split : int
    kernel : str

    Returns
    -------
    dict
        ``ratio`` is tr S_b / tr S_w of the 500 points, ``grouped`` the percentage of them that are nearer to
        the mean of their own class than to that of another.
    """
    points = draw_points(spread, split)
    Z = embed(points, kernel)
    means = np.array([Z[points.codes == c].mean(axis=0) for c in range(3)])
    within = ((Z - means[points.codes]) ** 2).sum()
    between = ((means[points.codes] - Z.mean(axis=0)) ** 2).sum()
    nearest = ((Z[:, None] - means) ** 2).sum(axis=2).argmin(axis=1)
    return {"ratio": float(between / within), "grouped": 100.0 * float(np.mean(nearest == points.codes))}


def _units(splits: int) -> list[Unit]:
    return [
        Unit(
            f"spread={spread:g}/split={split:02d}/{kernel}",
            compute_embedding,
            {"spread": spread, "split": split, "kernel": kernel},
        )
        for spread in SPREADS
        for split in range(splits)
        for kernel in _ROWS
    ]


def _rows(results: Sequence[tuple[Unit, Result]]) -> list[dict[str, Any]]:
    groups = group_results(results, itemgetter("spread", "kernel"))
    return [
        comparison_row(
            f"Groups of standard deviation {spread:g}", {"kernel": _ROWS[kernel]}, compare_each(group)
        )
        for (spread, kernel), group in groups.items()
    ]


def draw(summary: Summary, path: Path) -> None:
    """Draw the points and their embeddings by three kernels.

    Parameters
    ----------
    summary : dict
        Of which nothing is needed: the first draw is embedded again.
    path : Path
        Of the PNG file.
    """
    from matplotlib.figure import Figure

    points = draw_points(_DRAWN, 0)
    figure = Figure(figsize=(9.0, 8.4), layout="constrained")
    panels = figure.subplots(2, 2).ravel()
    names = [
        "(a) the points",
        *(f"({mark}) {name}" for mark, name in zip("bcd", PANELS.values(), strict=True)),
    ]
    tables = [points.X, *(embed(points, kernel) for kernel in PANELS)]
    for axes, name, Z in zip(panels, names, tables, strict=True):
        for c, (colour, marker) in enumerate(_COLOURS):
            axes.scatter(*Z[points.codes == c].T, s=14, c=colour, marker=marker, linewidths=0.0)
        axes.set_title(name)
    figure.savefig(path, dpi=110)


FIGURE = Table(
    name="1",
    title="Yeung et al. (2006), figure 1: a toy problem",
    version=1,
    splits=10,
    units=_units,
    rows=_rows,
    quantities=(
        Quantity("ratio", "tr S_b / tr S_w of all points", 2, difference=False),
        Quantity("grouped", "nearest to the mean of the own class, %", 1, difference=False),
    ),
    protocol=(
        "Paper: 500 points in the plane; two classes of 200 (up and down, left and right) and one of 100 "
        "in the middle; 10% of each class are labelled; kernel PCA of the kernel over all points.",
        "Ours, because the paper has a picture only: Gaussian groups around (0, ±2), (±2, 0) and (0, 0) of "
        "three standard deviations, ten draws of each; σ² by leave-one-out of the nearest neighbour.",
    ),
    notes=(
        "The picture has the first draw of standard deviation 0.5. What it shows is measured over all "
        "points, labelled or not, in the plane of the two components.",
    ),
    figure=draw,
    kind="figure",
)

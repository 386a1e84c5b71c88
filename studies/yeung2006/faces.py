"""Figures 2 and 3: faces, and how well KDDA recognises them with three kernels.

The 470 images of FERET (10 of each of 47 subjects) are not free; Olivetti faces (10 of each of 40 subjects)
stand in for them unless the user brings the file.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from multikernel.core.neighbors import neighbour_votes
from multikernel.spectral.solver.direct_discriminant import direct_discriminant
from studies.compare import compare_each, comparison_row, group_results
from studies.data import has_data, load_data
from studies.splits import draw_balanced_order
from studies.study import DataFile, Quantity, Result, Summary, Table, Unit
from studies.yeung2006.classifiers import DIRECT, leave_one_out_errors
from studies.yeung2006.kernels import KERNELS, VARIANTS, learned_kernels
from studies.yeung2006.setting import Split

REAL, OPEN = "feret", "olivetti"
SHAPES = {REAL: (56, 46), OPEN: (64, 64)}
DIRECTIONS = (1, 2, 5, 10, 20, 30, 39)
_ROWS = {name: KERNELS[name] for name in ("gaussian", "conformal", "separability")} | {
    "separability_kept": VARIANTS["separability_kept"]
}
_SEED = 2006
STAND_IN = (
    "Olivetti faces (400 images of 40 subjects, 64 × 64) stand in for the 470 images of 47 subjects of "
    "FERET, which are given out on application only."
)
FERET = DataFile(
    REAL,
    "The subset of FERET that the paper used: 470 images of 46 × 56 pixels, 10 of each of 47 subjects.",
    {"X": "(470, 2576), rows of images row by row, 0 to 255", "y": "(470,), the subject of each, 0 to 46"},
)

Array = np.ndarray


def faces() -> str:
    """The name of the data at hand."""
    return REAL if has_data(REAL) else OPEN


def draw_faces(dataset: str, split: int) -> Split:
    """Return a random split: five images of each subject are labelled; pixels from 0 to 1.

    Parameters
    ----------
    dataset : str
    split : int
    """
    data = load_data(dataset)
    X, codes = np.asarray(data.X, float), np.unique(np.asarray(data.y), return_inverse=True)[1]
    order, n_labelled = draw_balanced_order(codes, 0.5, np.random.default_rng([_SEED, split]))
    X = X[order] / 255.0 if X.max() > 1.0 else X[order]
    return Split(X - X.mean(axis=0), codes[order], n_labelled)


def compute_faces(dataset: str, split: int, kernel: str) -> dict[str, Any]:
    """Return the percentage of images recognised by the nearest neighbour among some directions of KDDA.

    Parameters
    ----------
    dataset : str
    split : int
    kernel : str

    Returns
    -------
    dict of str to float
        By number of directions.
    """
    points = draw_faces(dataset, split)
    n = points.n_labelled
    limits, best = {DIRECT: n + 1}, None
    for candidate in learned_kernels(kernel, points):
        for name, errors in leave_one_out_errors(candidate, points.labels, limits).items():
            best, limits = candidate, {name: errors}
    assert best is not None
    T = direct_discriminant(best.K[:n, :n], points.labels)
    Z, Z_new = best.K[:n, :n] @ T, best.K[n:, :n] @ T
    rates = {}
    for count in DIRECTIONS:
        votes = neighbour_votes(cdist(Z_new[:, :count], Z[:, :count]), points.labels, 1)
        rates[str(count)] = 100.0 * float(np.mean(votes.winners == points.codes[n:]))
    return rates


def _units(splits: int) -> list[Unit]:
    return [
        Unit(
            f"{faces()}/split={split:02d}/{kernel}",
            compute_faces,
            {"dataset": faces(), "split": split, "kernel": kernel},
            (faces(),),
        )
        for split in range(splits)
        for kernel in _ROWS
    ]


def _rows(results: Sequence[tuple[Unit, Result]]) -> list[dict[str, Any]]:
    groups = group_results(results, itemgetter("dataset", "kernel"))
    return [
        comparison_row(
            "Five images of each subject labelled",
            {"kernel": _ROWS[kernel]},
            compare_each(group),
            stand_in=STAND_IN if dataset == OPEN else "",
        )
        for (dataset, kernel), group in groups.items()
    ]


def draw_rates(summary: Summary, path: Path) -> None:
    """Draw the rates over the number of directions, with standard errors.

    Parameters
    ----------
    summary : dict
    path : Path
        Of the PNG file.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 4.6), layout="constrained")
    axes = figure.subplots()
    for row, marker in zip(summary["rows"], "os^v", strict=False):
        values = [row["values"][str(count)] for count in DIRECTIONS]
        errors = [value["se"] or 0.0 for value in values]
        means = [value["mean"] for value in values]
        axes.errorbar(DIRECTIONS, means, errors, label=row["labels"]["kernel"], marker=marker, capsize=2)
    axes.set_xlabel("directions of KDDA")
    axes.set_ylabel("recognised, %")
    axes.legend()
    figure.savefig(path, dpi=110)


def compute_facts(dataset: str) -> dict[str, Any]:
    """Return how many images and subjects there are.

    Parameters
    ----------
    dataset : str

    Returns
    -------
    dict of str to float
    """
    y = np.asarray(load_data(dataset).y)
    counts = np.unique(y, return_counts=True)[1]
    return {"images": float(len(y)), "subjects": float(len(counts)), "of each": float(counts.min())}


def _fact_units(splits: int) -> list[Unit]:
    return [Unit(faces(), compute_facts, {"dataset": faces()}, (faces(),))]


def _fact_rows(results: Sequence[tuple[Unit, Result]]) -> list[dict[str, Any]]:
    return [
        comparison_row(
            "Images",
            {"data": unit.arguments["dataset"]},
            compare_each([result]),
            stand_in=STAND_IN if unit.arguments["dataset"] == OPEN else "",
        )
        for unit, result in results
    ]


def draw_images(summary: Summary, path: Path) -> None:
    """Draw ten images of each of two subjects.

    Parameters
    ----------
    summary : dict
    path : Path
        Of the PNG file.
    """
    from matplotlib.figure import Figure

    name = summary["rows"][0]["labels"]["data"]
    data = load_data(name)
    X, y = np.asarray(data.X, float), np.asarray(data.y)
    figure = Figure(figsize=(9.0, 2.4), layout="constrained")
    for row, subject in zip(figure.subplots(2, 10), np.unique(y)[:2], strict=True):
        for axes, image in zip(row, X[y == subject][:10], strict=True):
            axes.imshow(image.reshape(SHAPES[name]), cmap="gray")
            axes.set_axis_off()
    figure.savefig(path, dpi=110)


FIGURES = (
    Table(
        name="2",
        title="Yeung et al. (2006), figure 2: twenty images of two subjects",
        version=1,
        splits=1,
        units=_fact_units,
        rows=_fact_rows,
        quantities=tuple(
            Quantity(key, label, 0, difference=False)
            for key, label in (("images", "images"), ("subjects", "subjects"), ("of each", "of each subject"))
        ),
        protocol=("Paper: 470 images, 10 of each of 47 subjects, 46 × 56 pixels of 256 levels.",),
        figure=draw_images,
        kind="figure",
    ),
    Table(
        name="3",
        title="Yeung et al. (2006), figure 3: faces recognised by KDDA",
        version=1,
        splits=10,
        units=_units,
        rows=_rows,
        quantities=tuple(
            Quantity(str(count), f"{count} direction{'s' * (count > 1)}, %", 2, difference=False)
            for count in DIRECTIONS
        ),
        protocol=(
            "Paper: five images of each subject at random are for training, 10 random trials, KDDA (Lu et "
            "al. 2003) with the Gaussian kernel, that of Xiong et al. and that of the paper.",
            "Ours, because the paper has a picture only: the rate over the number of directions; pixels "
            "from 0 to 1; σ² from the list of the tables by leave-one-out of KDDA with all directions; the "
            "nearest neighbour; reg = 1.",
        ),
        notes=("The picture of the paper is not in the text at hand and prints no numbers.",),
        figure=draw_rates,
        kind="figure",
    ),
)

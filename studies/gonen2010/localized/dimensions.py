"""Figures 5.19 to 5.22: classification after PCA and LFDA, with GPK and with LPK, by number of dimensions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from multikernel.datasets.faces import load_faces
from studies.compare import comparison_row
from studies.gonen2010.localized.faces import draw_faces
from studies.gonen2010.localized.projecting import (
    linear_machine,
    load_columns,
    projections,
    reduced_machine,
)
from studies.gonen2010.localized.rows import (
    PAIR_QUANTITIES,
    Results,
    Rows,
    by_method,
    make_units,
    pair_rows,
)
from studies.gonen2010.localized.setting import (
    ACCURACY,
    F_TESTS,
    SPLITS_SAID,
    SUPPORT,
    THIRDS,
    Fold,
    Method,
    Pair,
    Problem,
    Sample,
    Settings,
    draw_halves,
    run_method,
    score_values,
    settings_remark,
    side_by_side,
)
from studies.gonen2010.published_localized import NUMBERS, cells_of
from studies.study import Summary, Table, Unit

SPLITS = 1
N_POINTS = 1500
LABELS = {
    "pca": "PCA + SVM",
    "lfda": "LFDA + SVM",
    "gpk": "GPK",
    "lpk2": "LPK (P = 2)",
    "lpk3": "LPK (P = 3)",
}
_REGIONS = {"gpk": 1, "lpk2": 2, "lpk3": 3}
_STYLES = {
    "pca": ("C2", "^:"),
    "lfda": ("C1", "v:"),
    "gpk": ("C0", "s--"),
    "lpk2": ("C3", "o-"),
    "lpk3": ("C4", "D-"),
}
_BEFORE_LFDA = 100  # principal components of the faces
_SEED = 2010

Array = np.ndarray


@dataclass(frozen=True)
class Data:
    """The data of a figure: its set, which classes are +1, the dimensions tried, and how folds are drawn.

    Attributes
    ----------
    title, dataset : str
    positive : tuple of int
    reduced, learned : tuple of int
        The dimensions of PCA and LFDA, and of the projections.
    draw : callable
        See `Problem`.
    pairs : tuple of Pair
        What the text compares.
    """

    title: str
    dataset: str
    positive: tuple[int, ...]
    reduced: tuple[int, ...]
    learned: tuple[int, ...]
    draw: Callable[[Sample, int], list[Fold]] = draw_halves
    pairs: tuple[Pair, ...] = ()


# Section 5.4.3: with two or three dimensions more accurate, and fewer support vectors.
_WAVE_PAIRS = tuple(
    Pair(f"{local}-{size}", f"{rival}-{size}", quantity, said)
    for quantity, said in (("test", ">"), ("support", "<"))
    for local in ("lpk2", "lpk3")
    for size in (2, 3)
    for rival in ("pca", "lfda")
)

_MANY, _FEW = tuple(range(1, 16)), tuple(range(1, 6))
DATA = {
    "5.19": Data("WAVEFORM", "waveform", (0, 1), _MANY, _FEW, pairs=_WAVE_PAIRS),
    "5.20": Data("USPS-EO", "usps", (0, 2, 4, 6, 8), _MANY, _FEW),
    "5.21": Data("USPS-SL", "usps", (0, 1, 2, 3, 4), _MANY, (1, 3)),
    "5.22": Data("OLIVETTI", "olivetti", (), _FEW, _FEW, draw_faces),
}


@lru_cache(maxsize=2)
def load_part(figure: str) -> Sample:
    """Return the points of a figure: 1500 of the set, the same each time; of the faces all."""
    data = DATA[figure]
    if data.dataset == "olivetti":
        faces = load_faces()
        return side_by_side({"all": faces.images.reshape(len(faces.images), -1)}, faces.y)
    X, classes = load_columns(data.dataset)
    rows = np.random.default_rng(_SEED).permutation(len(classes))[:N_POINTS]
    return side_by_side({"all": X[rows]}, np.where(np.isin(classes[rows], data.positive), 1, -1))


def _plain(sample: Sample, settings: Settings) -> Any:
    return make_pipeline(StandardScaler(), linear_machine(settings["C"]))


def _reduced(kind: str, size: int, first: int | None, sample: Sample, settings: Settings) -> Any:
    return reduced_machine(kind, size, settings["C"], first)


def _projected(regions: int, size: int, sample: Sample, settings: Settings) -> Any:
    return projections(regions, size, settings["C"])


def _methods(data: Data) -> dict[str, Method]:
    methods = {"svm": Method("SVM", _plain)}
    first = _BEFORE_LFDA if data.dataset == "olivetti" else None
    for key, label in LABELS.items():
        for size in data.learned if key in _REGIONS else data.reduced:
            build = (
                partial(_projected, _REGIONS[key], size)
                if key in _REGIONS
                else partial(_reduced, key, size, first if key == "lfda" else None)
            )
            methods[f"{key}-{size}"] = Method(label, build)
    return methods


PROBLEMS = {name: Problem(partial(load_part, name), _methods(data), data.draw) for name, data in DATA.items()}


def compute_dimensions(figure: str, method: str, split: int) -> dict[str, Any]:
    """Return how a method does on a split of the data of a figure: see `run_method`."""
    return run_method(PROBLEMS[figure], method, split)


def _units(figure: str, splits: int) -> list[Unit]:
    methods = tuple(PROBLEMS[figure].methods)
    return make_units(compute_dimensions, methods, splits, (DATA[figure].dataset,), figure=figure)


def _rows(figure: str, results: Results) -> Rows:
    rows = []
    found = by_method(results)
    for method, group in found.items():
        size = method.partition("-")[2] or "all"
        printed = NUMBERS[f"figure{figure}"].get(method, {})
        values = score_values(group, printed, "accuracy")
        values.pop("active", None)
        labels = {"method": PROBLEMS[figure].methods[method].label, "dimensions": size}
        rows.append(comparison_row(DATA[figure].title, labels, values, settings_remark(group)))
    names = {
        key: f"{LABELS[kind]}, R = {size}" for key in found for kind, _, size in [key.partition("-")] if size
    }
    return rows + pair_rows("What the text compares", DATA[figure].pairs, names, found)


def draw_curves(summary: Summary, path: Path) -> None:
    """Draw accuracy and support vectors against the number of dimensions.

    Parameters
    ----------
    summary : dict
    path : Path
        Of the PNG file.
    """
    from matplotlib.figure import Figure

    rows = [row for row in summary["rows"] if "dimensions" in row["labels"]]
    (plain,) = [row for row in rows if row["labels"]["dimensions"] == "all"]
    figure = Figure(figsize=(11.0, 4.4), layout="constrained")
    for axes, key, label in zip(
        figure.subplots(1, 2),
        ("accuracy", "support"),
        ("test accuracy, %", "support vectors, %"),
        strict=True,
    ):
        axes.axhline(plain["values"][key]["mean"], color="black", linewidth=1.0, label="SVM, all columns")
        for method, name in LABELS.items():
            _draw_curve(axes, method, [row for row in rows if row["labels"]["method"] == name], key)
        axes.set(xlabel="dimensions R", ylabel=label)
        axes.xaxis.get_major_locator().set_params(integer=True)
        axes.grid(alpha=0.3)
    figure.axes[0].legend(fontsize="small")
    figure.savefig(path, dpi=110)


def _draw_curve(axes: Any, method: str, rows: Sequence[Mapping[str, Any]], key: str) -> None:
    if not rows:
        return
    sizes = [int(row["labels"]["dimensions"]) for row in rows]
    means, spreads = ([row["values"][name]["mean"] for row in rows] for name in (key, f"{key}_sd"))
    colour, style = _STYLES[method]
    axes.errorbar(
        sizes, means, spreads, fmt=style, color=colour, label=LABELS[method], capsize=2, markersize=4
    )


_GENERAL = (
    "SVM has the linear kernel on all standardised columns, on their first principal components (PCA), or on "
    "the directions of LFDA. GPK learns a projection together with a linear machine (P = 1); LPK has two or "
    "three regions with projections of their own and a softmax gate. A descent goes on from the best of ten "
    "random starts, and ends by τ = 0.001.",
    "C is one of 0.01, 0.1, 1, 10, 100 (section 5.3; 5.4 does not say).",
)
_NAMED = {"waveform": "three", "usps": "15 for PCA", "olivetti": "five"}
_NOTES: dict[str, tuple[str, ...]] = {
    "5.19": (
        "WAVEFORM: 1500 of the 5000 points, the first two classes in one (section 5.4.3).",
        "Printed in words: PCA and LFDA “around 89” per cent after two dimensions, GPK similar with one, LPK "
        "“92 using few dimensions”.",
    ),
    "5.20": (
        "USPS-EO: even against odd digits, 1500 of 9298 images of 16 × 16; the thesis's USPS has 11000 "
        "images (appendix B.2) and is another variant, so that its numbers are compared with a stand-in.",
        "Printed in words: LFDA “around 79”, GPK “more than 87”, LPK (P = 3) “more than 90”.",
    ),
    "5.21": (
        "USPS-SL: digits 0 to 4 against 5 to 9, 1500 of 9298 images of 16 × 16; the thesis's USPS has 11000 "
        "images (appendix B.2) and is another variant, so that its numbers are compared with a stand-in.",
        "Printed in words: PCA “more than 70” after 14 dimensions, LFDA “around 68”, GPK “more than 75”, LPK "
        "“more than 86”, 11 more than GPK, with 5 per cent of support vectors.",
    ),
    "5.22": (
        "OLIVETTI, men against women: the folds of table 5.21 (two pictures of each person test, eight folds "
        "of 280 and 40). Before LFDA come 100 principal components (section 5.4.3).",
        "Printed in words: PCA not above 96, LFDA around 98, GPK more than 98 with four and five dimensions, "
        "LPK more than 98 after two.",
    ),
}
_STANDS_IN = (
    "USPS of 9298 images (train and test parts of the zip codes) stands in for the USPS of 11000 "
    "images, 1100 "
    "of each digit, that the thesis used and that is not at hand."
)


def _said(learned: Sequence[int]) -> str:
    if tuple(learned) == _FEW:
        return f"1 to {learned[-1]}"
    return f"{' and '.join(map(str, learned))}, to save time"


def _figure(name: str) -> Table:
    data = DATA[name]
    folds = () if data.dataset == "olivetti" else (THIRDS,)
    return Table(
        name=name,
        title=f"Gönen (2010), figure {name}: {data.title} by the number of dimensions",
        version=2,
        splits=SPLITS,
        units=partial(_units, name),
        rows=partial(_rows, name),
        quantities=(*ACCURACY, *SUPPORT, *(PAIR_QUANTITIES if data.pairs else ())),
        protocol=(
            _NOTES[name][0],
            *folds,
            *_GENERAL,
            f"Dimensions of PCA and LFDA: 1 to {data.reduced[-1]}; of GPK and LPK: {_said(data.learned)}. "
            "The axis of the figure cannot be read in the text at hand, which names dimensions up to "
            f"{_NAMED[data.dataset]}.",
            SPLITS_SAID,
            *([F_TESTS] if data.pairs else []),
        ),
        notes=tuple(_NOTES[name][1:]),
        figure=draw_curves,
        kind="figure",
        stand_in=_STANDS_IN if data.dataset == "usps" else "",
        cells=cells_of(f"figure{name}"),
    )


FIGURES = tuple(map(_figure, DATA))

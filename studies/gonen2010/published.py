"""Every number that the thesis prints, as it is printed: `NUMBERS`.

Chapters 1 and 2 and sections 5.1 and 5.2 are in ``published_combining``, chapters 3 and 4 and sections 5.3
and 5.4 in ``published_localized``. The rounded figures below are of entries that do not use them yet.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec

from studies.published import Published

_PARTS = ("published_combining", "published_localized")


def _assembled() -> dict[str, dict[str, Published]]:
    names = [f"{__package__}.{part}" for part in _PARTS]
    parts = [import_module(name).NUMBERS for name in names if find_spec(name) is not None]
    return {stem: numbers for part in parts for stem, numbers in part.items()}


# Stem of a table or a figure (``"table5.6"``) to its numbers, by place.
NUMBERS = _assembled()


def cells_of(stem: str) -> tuple[Published, ...]:
    """Return every number of a table or a figure, e.g. ``"table5.6"``; none if it prints none."""
    return tuple(NUMBERS.get(stem, {}).values())


Figures = dict[str, tuple[float | None, ...]]

# Our random test thirds, and those of the thesis.
SPLITS, THIRDS = 5, 1

# Table 5.16, and the toy problem of chapter 3.
GAUSS4: Figures = {"mkl": (90.95, 38.0), "softmax": (91.83, 25.0), "copies": (91.78, 24.0)}
MULTIFEAT: Figures = {"mkl": (97.40, 33.0), "softmax": (97.69, 15.0), "sigmoid": (98.58, 15.0)}
# Table 5.22, mean squared errors.
CONCRETE: Figures = {
    "linear": (120.6, None),
    "degree2": (92.6, None),
    "degree3": (58.3, None),
    "degree4": (63.8, None),
    "degree5": (61.3, None),
    "softmax": (44.8, None),
    "sigmoid": (48.2, None),
    "copies": (53.1, None),
}
# The accuracies that figures 5.19 to 5.21 have on all columns, and about where their curves end.
WAVEFORM: Figures = {"svm": (88.3, None)}
USPS_EO: Figures = {"svm": (87.6, None)}
USPS_SL: Figures = {"svm": (76.4, None)}
CURVES: dict[str, str] = {
    "waveform": "about 89 for PCA and for the global projections and 92 for the local ones",
    "usps-eo": "about 90 for the local projections",
    "usps-sl": "about 86 for the local projections",
}

"""The numbers that Yeung et al. (2006) print: tables 1 to 5, and two accuracies in the text of section 3.3.

A table has one data set: mean accuracies in percent over 10 random trials, and "the standard deviation for
each average test accuracy". Figures 1 and 3 are pictures without printed numbers.
"""

from __future__ import annotations

from studies.published import Published

COLUMNS = ("nn1", "nn3", "svm100", "svm1000")
LABELS = {"nn1": "1-NN", "nn3": "3-NN", "svm100": "SVM, C = 100", "svm1000": "SVM, C = 1000"}
ROWS = {"gaussian": "RBF", "alignment": "Alignment", "conformal": "Xiong's", "separability": "Ours"}
NUMBERS = {"monks3": 1, "ionosphere": 2, "wdbc": 3, "wine": 4, "boston": 5}
PERCENTS = (20, 40)
TRIALS = 10

# Data set to kernel to the means and to the ± below them: four columns with 20% labelled, four with 40%.
_TABLES: dict[str, dict[str, tuple[str, str]]] = {
    "monks3": {
        "gaussian": (
            "76.29 78.14 92.55 93.04 78.26 82.17 91.78 92.28",
            "0.07 0.12 0.08 0.06 0.49 0.20 0.01 0.01",
        ),
        "alignment": (
            "84.35 83.86 89.88 90.75 88.84 88.77 89.22 89.77",
            "0.38 0.24 0.16 0.28 0.36 0.10 0.66 0.31",
        ),
        "conformal": (
            "87.65 89.25 93.94 92.71 88.17 89.68 93.87 94.25",
            "0.05 0.08 0.08 0.05 0.37 0.10 0.02 0.01",
        ),
        "separability": (
            "88.36 89.54 93.00 93.30 90.70 90.95 93.76 94.36",
            "0.08 0.04 0.13 0.12 0.53 0.11 0.05 0.06",
        ),
    },
    "ionosphere": {
        "gaussian": (
            "78.82 79.00 83.14 82.82 82.26 81.55 89.19 87.63",
            "0.07 0.08 0.06 0.19 0.25 0.15 0.28 0.15",
        ),
        "alignment": (
            "78.89 78.37 78.68 80.90 82.00 81.77 84.86 88.33",
            "0.26 0.57 0.37 0.11 0.10 0.28 0.51 0.31",
        ),
        "conformal": (
            "82.89 81.68 84.79 85.21 84.05 82.59 88.24 88.61",
            "0.20 0.12 0.08 0.21 0.37 0.20 0.25 0.10",
        ),
        "separability": (
            "85.36 84.68 85.07 85.15 89.62 88.76 90.95 89.11",
            "0.06 0.06 0.13 0.05 0.53 0.27 0.10 0.05",
        ),
    },
    "wdbc": {
        "gaussian": (
            "92.42 93.04 92.16 94.12 93.61 94.23 95.11 95.26",
            "0.07 0.10 0.08 0.11 0.13 0.14 0.26 0.24",
        ),
        "alignment": (
            "87.97 88.77 90.37 89.63 85.63 85.43 91.80 91.95",
            "1.27 1.87 0.15 0.15 0.47 0.59 0.27 0.40",
        ),
        "conformal": (
            "90.79 91.78 94.50 95.86 93.85 93.85 95.53 96.12",
            "0.12 0.17 0.16 0.09 0.17 0.24 0.13 0.32",
        ),
        "separability": (
            "94.19 94.48 96.06 96.77 94.23 94.94 97.11 97.61",
            "0.07 0.03 0.03 0.04 0.07 0.10 0.03 0.07",
        ),
    },
    "wine": {
        "gaussian": (
            "91.63 94.07 95.11 95.04 94.24 94.81 95.81 96.04",
            "0.16 0.27 0.38 0.39 0.56 0.25 0.37 0.81",
        ),
        "conformal": (
            "92.62 91.68 94.96 92.33 95.52 95.00 95.05 96.05",
            "0.19 1.28 0.47 1.10 0.59 0.40 0.26 0.55",
        ),
        "separability": (
            "95.70 95.63 96.10 95.26 95.38 95.48 97.38 98.57",
            "0.42 0.26 0.01 0.11 0.18 0.23 0.07 0.04",
        ),
    },
    "boston": {
        "gaussian": (
            "76.53 74.63 78.04 78.12 80.10 76.52 82.19 80.46",
            "0.02 0.06 0.11 0.22 0.51 0.47 0.27 0.64",
        ),
        "conformal": (
            "72.92 73.22 75.15 74.70 79.47 74.83 79.54 79.11",
            "0.06 0.07 0.03 0.09 0.39 0.49 0.34 0.40",
        ),
        "separability": (
            "74.70 73.87 79.34 79.38 80.40 77.14 82.51 83.84",
            "0.05 0.12 0.04 0.10 0.27 0.45 0.08 0.22",
        ),
    },
}


def _cells() -> dict[tuple[str, int, str, str], Published]:
    cells = {}
    places = [(percent, column) for percent in PERCENTS for column in COLUMNS]
    for dataset, kernels in _TABLES.items():
        for kernel, (means, spreads) in kernels.items():
            printed = zip(places, means.split(), spreads.split(), strict=True)
            for (percent, column), mean, spread in printed:
                place = f"table {NUMBERS[dataset]}, {percent}% labelled, {ROWS[kernel]}, {LABELS[column]}"
                cells[dataset, percent, kernel, column] = Published(mean, spread, place)
    return cells


ACCURACIES = _cells()
_NOT_LEFT_OUT = (
    "no leave-one-out over the 178 wines gives this mean, which is no multiple of 1/178, nor a ± (see the "
    "errata)"
)
LEAVE_ONE_OUT = {
    "nn3": Published("99.46", "1.13", "section 3.3, wine, leave-one-out, k-NN, k = 3", _NOT_LEFT_OUT),
    "svm1000": Published("99.68", "1.02", "section 3.3, wine, leave-one-out, SVM, C = 1000", _NOT_LEFT_OUT),
}


def published_accuracy(dataset: str, percent: int, kernel: str, column: str) -> Published | None:
    """Return the published mean accuracy in percent with its ±, or None where the table has no such row.

    Parameters
    ----------
    dataset : str
    percent : {20, 40}
        How many of the points are labelled.
    kernel : str
    column : {"nn1", "nn3", "svm100", "svm1000"}

    Returns
    -------
    Published or None

    Examples
    --------
    >>> str(published_accuracy("wine", 40, "separability", "svm1000"))
    '98.57 ± 0.04'
    >>> published_accuracy("boston", 20, "alignment", "nn1") is None
    True
    """
    return ACCURACIES.get((dataset, percent, kernel, column))

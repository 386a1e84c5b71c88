"""The printed numbers of Gönen's thesis on localized kernels and local projections.

They are of chapters 3 and 4 and of sections 5.3 and 5.4.

`NUMBERS` has the stem of a table or figure, then the row, then the quantity. Accuracies, support vectors and
mean squared errors are means over ten training halves (OLIVETTI: eight folds) of one test part, ± "one
standard deviation" over them (section 5.1). Weights and numbers of active kernels have no ±.

What the text says in words ("around 89 per cent", "more than 90 per cent") is no printed number; `claims`
judges it. Tables 5.18 and 5.26 and figure 5.7 describe data.
"""

from __future__ import annotations

from studies.published import Published

Rows = dict[str, dict[str, Published]]

FOLDS = 10
FACE_FOLDS = 8
REPRESENTATIONS = ("fac", "fou", "kar", "mor", "pix", "zer")
ADVERT_VIEWS = ("url", "origurl", "ancurl", "alt", "caption")
DEGREES = ("linear", "degree2", "degree3", "degree4", "degree5")
SIDES = (4, 8, 16, 32, 64)
GATE_SIDES = (4, 8, 16)

# Row to accuracy, its ±, support vectors, their ±, in percent.
_TABLE_5_16 = {
    "fac": "94.97 0.87 17.93 0.91",
    "fou": "90.54 1.11 28.90 1.69",
    "kar": "88.13 0.73 33.62 1.31",
    "mor": "69.61 0.14 61.90 0.49",
    "pix": "89.42 0.65 46.35 1.64",
    "zer": "89.12 0.63 26.27 1.67",
    "all": "97.69 0.44 23.36 1.15",
    "mkl": "97.40 0.37 32.59 0.82",
    "softmax": "97.69 0.44 15.06 1.03",
    "sigmoid": "98.58 0.41 15.27 0.92",
    "copies": "97.03 0.67 18.52 2.47",
}
_TABLE_5_19 = {
    "url": "94.67 0.24 83.32 1.89",
    "origurl": "92.04 0.26 96.16 0.51",
    "ancurl": "95.45 0.31 64.90 5.41",
    "alt": "89.64 0.38 87.73 1.17",
    "caption": "86.60 0.09 96.65 0.42",
    "all": "96.43 0.24 41.99 1.76",
    "mkl": "96.32 0.50 35.82 4.35",
    "softmax": "95.78 0.46 41.72 11.59",
    "sigmoid": "96.72 0.46 34.40 1.51",
    "copies": "95.66 0.29 10.87 1.07",
}
_TABLE_5_21 = {
    "svm-4": "93.28 0.65 21.70 0.93",
    "svm-8": "97.50 1.16 20.13 1.04",
    "svm-16": "97.03 0.93 19.91 1.01",
    "svm-32": "97.97 1.48 23.71 1.39",
    "svm-64": "97.66 1.41 25.94 1.01",
    "mkl": "99.06 0.88 22.19 1.00",
    "softmax-4": "97.19 2.81 16.65 3.34",
    "softmax-8": "97.19 2.48 22.54 4.56",
    "softmax-16": "99.22 1.33 16.38 1.50",
    "sigmoid-4": "99.22 0.93 22.72 1.83",
    "sigmoid-8": "99.84 0.44 26.88 2.24",
    "sigmoid-16": "99.38 1.34 21.65 1.44",
}
# Row to mean squared error, its ±, support vectors in percent, their ±.
_TABLE_5_22 = {
    "linear": "120.61 2.15 44.31 3.46",
    "degree2": "92.57 4.19 36.22 1.24",
    "degree3": "58.32 3.66 73.16 1.21",
    "degree4": "63.83 9.58 52.52 2.40",
    "degree5": "61.26 5.31 52.17 2.23",
    "softmax": "44.80 6.33 64.28 4.02",
    "sigmoid": "48.18 5.22 49.20 2.05",
    "copies": "53.14 6.42 34.93 8.45",
}
_TABLE_5_24 = {
    "linear": "0.59 0.00 66.83 0.57",
    "degree2": "0.54 0.01 66.22 0.67",
    "degree3": "0.54 0.00 66.14 1.13",
    "degree4": "0.52 0.01 66.55 1.03",
    "degree5": "0.52 0.01 66.27 1.24",
    "softmax": "0.52 0.01 18.66 13.41",
    "sigmoid": "0.51 0.00 38.29 2.34",
}
# Row to the average weights of the kernels and the number of active kernels.
_TABLE_5_17 = {
    "mkl": "0.2466 0.2968 0.0886 0.1464 0.1494 0.0722 6.00",
    "softmax": "0.1908 0.1333 0.1492 0.3335 0.1134 0.0797 2.43",
    "sigmoid": "0.5115 0.5192 0.5429 0.5566 0.5274 0.5132 5.36",
}
_TABLE_5_20 = {
    "mkl": "0.3073 0.1600 0.3497 0.1828 0.0003 4.10",
    "softmax": "0.3316 0.0160 0.6292 0.0172 0.0060 4.04",
    "sigmoid": "0.9918 0.9820 0.9900 0.9913 0.4027 4.96",
}
_TABLE_5_23 = {
    "softmax": "0.1495 0.0091 0.0117 0.0951 0.7346 4.52",
    "sigmoid": "0.6675 0.8176 0.9962 0.9721 0.9989 4.68",
}
_TABLE_5_25 = {
    "softmax": "0.2238 0.0302 0.1430 0.0296 0.5733 1.05",
    "sigmoid": "0.5956 0.9698 0.9978 0.9849 0.9929 4.58",
}
# The text beside figure 3.2 (section 3.3): accuracy and support vectors as above.
_FIGURE_3_2 = {
    "mkl": "90.95 0.61 38.23 2.34",
    "softmax": "91.83 0.24 25.13 0.91",
    "copies": "91.78 0.55 23.83 1.20",
}


def _scores(place: str, lines: dict[str, str], quantities: tuple[str, str]) -> Rows:
    """Row to its two quantities, each with the ± that follows it."""
    rows: Rows = {}
    for row, line in lines.items():
        first, first_pm, second, second_pm = line.split()
        rows[row] = {
            quantities[0]: Published(first, first_pm, f"{place}, {row}, {quantities[0]}"),
            quantities[1]: Published(second, second_pm, f"{place}, {row}, {quantities[1]}"),
        }
    return rows


def _weights(place: str, lines: dict[str, str], kernels: tuple[str, ...]) -> Rows:
    """Row to the weights by kernel, and the number of active kernels."""
    return {
        row: {
            key: Published(text, place=f"{place}, {row}, {key}")
            for key, text in zip((*kernels, "active"), line.split(), strict=True)
        }
        for row, line in lines.items()
    }


def _said(place: str, rows: dict[str, dict[str, str]]) -> Rows:
    """Numbers that stand in the text without ±."""
    return {
        row: {key: Published(text, place=f"{place}, {row}, {key}") for key, text in values.items()}
        for row, values in rows.items()
    }


def _figure_3_2() -> Rows:
    place = "figure 3.2 (section 3.3)"
    rows = _scores(place, _FIGURE_3_2, ("accuracy", "support"))
    said = _said(place, {"mkl": {"linear": "0.32", "quadratic": "0.68"}})
    return {row: values | said.get(row, {}) for row, values in rows.items()}


_PERCENT = ("accuracy", "support")
_ERROR = ("mse", "support")
NUMBERS: dict[str, Rows] = {
    "figure3.2": _figure_3_2(),
    "table5.16": _scores("table 5.16", _TABLE_5_16, _PERCENT),
    "table5.17": _weights("table 5.17", _TABLE_5_17, REPRESENTATIONS),
    "table5.19": _scores("table 5.19", _TABLE_5_19, _PERCENT),
    "table5.20": _weights("table 5.20", _TABLE_5_20, ADVERT_VIEWS),
    "table5.21": _scores("table 5.21", _TABLE_5_21, _PERCENT),
    "table5.22": _scores("table 5.22", _TABLE_5_22, _ERROR),
    "table5.23": _weights("table 5.23", _TABLE_5_23, DEGREES),
    "table5.24": _scores("table 5.24", _TABLE_5_24, _ERROR),
    "table5.25": _weights("table 5.25", _TABLE_5_25, DEGREES),
    "figure5.19": _said("figure 5.19 (section 5.4.3)", {"svm": {"accuracy": "88.34"}}),
    "figure5.20": _said(
        "figure 5.20 (section 5.4.3)", {"svm": {"accuracy": "87.58"}, "pca-15": {"accuracy": "86.10"}}
    ),
    "figure5.21": _said("figure 5.21 (section 5.4.3)", {"svm": {"accuracy": "76.36"}}),
    "figure5.22": _said(
        "figure 5.22 (section 5.4.3)", {"svm": {"accuracy": "99.06"}, "lpk2-4": {"accuracy": "99.69"}}
    ),
    "figure5.23": _said(
        "figure 5.23 (section 5.4.4)", {"0.01": {"iterations": "9"}, "0.001": {"iterations": "13"}}
    ),
}


def cells_of(stem: str) -> tuple[Published, ...]:
    """All printed numbers of a table or figure, row by row; none of most figures."""
    return tuple(cell for row in NUMBERS.get(stem, {}).values() for cell in row.values())

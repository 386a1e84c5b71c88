"""Every number that Lewis, Jebara and Noble (2006) print as a result, and the constants of their protocols.

Table 1 calls its ± "standard deviations" of fifteen accuracies. They are taken as standard errors of the mean
here: a classifier that says "the larger class" of the heart data (0.556, columns RBF and SDP) varies over
random thirds by exactly computable 0.043, and 0.043 / √15 = 0.011 is what is printed (0.01), not 0.043.

Table 2 prints no ±. Its caption gives the order of the standard errors, which is entered beside each cell:
0.02, but 0.04 for class 2 and 0.05 for class 9.

The text of both tables is undamaged.
"""

from __future__ import annotations

from studies.published import Published

REPEATS, FOLDS = 5, 3
SPLITS = REPEATS * FOLDS
HARD_MARGIN = 1e4  # c of table 1, section 4.2

# ------------------------------------------------------------------ table 1: accuracy
_COLUMNS_1 = {
    "quadratic": "quadratic",
    "rbf": "RBF",
    "linear": "linear",
    "mkl": "SDP",
    "likelihood": "ML",
    "qp": "NSKC",
}


def _row_of_table_1(row: str, *printed: tuple[str, str]) -> dict[str, Published]:
    return {
        key: Published(value, plus_minus, f"table 1, {row}, {column}", spread="se")
        for (key, column), (value, plus_minus) in zip(_COLUMNS_1.items(), printed, strict=True)
    }


ACCURACY: dict[str, dict[str, Published]] = {
    "breast": _row_of_table_1(
        "Breast",
        ("0.549", "0.091"),
        ("0.628", "0.019"),
        ("0.543", "0.087"),
        ("0.816", "0.015"),
        ("0.557", "0.03"),
        ("0.831", "0.014"),
    ),
    "sonar": _row_of_table_1(
        "Sonar",
        ("0.814", "0.01"),
        ("0.860", "0.009"),
        ("0.730", "0.01"),
        ("0.860", "0.009"),
        ("0.682", "0.022"),
        ("0.863", "0.008"),
    ),
    "heart": _row_of_table_1(
        "Heart",
        ("0.614", "0.032"),
        ("0.556", "0.01"),
        ("0.524", "0.02"),
        ("0.556", "0.01"),
        ("0.536", "0.024"),
        ("0.605", "0.016"),
    ),
}
BOLD_ACCURACY = {"breast": "qp", "sonar": "qp", "heart": "quadratic"}

# ------------------------------------------------------------------ table 2: area under the ROC curve
N_GENES, N_CLASSES, C_YEAST = 500, 12, 10.0  # section 4.3
AREA_COLUMNS = {"expression": "Exp", "domain": "Dom", "sequence": "Seq", "mkl": "SDP", "qp": "NSKC"}
_AREA = {
    1: ("0.630", "0.717", "0.750", "0.745", "0.747"),
    2: ("0.657", "0.664", "0.718", "0.751", "0.755"),
    3: ("0.668", "0.706", "0.729", "0.768", "0.774"),
    4: ("0.596", "0.756", "0.752", "0.766", "0.778"),
    5: ("0.810", "0.773", "0.789", "0.834", "0.836"),
    6: ("0.617", "0.690", "0.668", "0.698", "0.717"),
    7: ("0.554", "0.715", "0.740", "0.720", "0.738"),
    8: ("0.594", "0.636", "0.680", "0.697", "0.699"),
    9: ("0.535", "0.564", "0.603", "0.582", "0.576"),
    10: ("0.554", "0.616", "0.706", "0.697", "0.687"),
    11: ("0.506", "0.470", "0.480", "0.524", "0.526"),
    12: ("0.682", "0.896", "0.883", "0.916", "0.918"),
}
_CAPTION = {2: "0.04", 9: "0.05"}  # else 0.02

AREA: dict[int, dict[str, Published]] = {
    number: {
        key: Published(value, _CAPTION.get(number, "0.02"), f"table 2, class {number}, {column}", spread="se")
        for (key, column), value in zip(AREA_COLUMNS.items(), row, strict=True)
    }
    for number, row in _AREA.items()
}
BOLD_AREA = {number: "sequence" if number in (1, 7, 9, 10) else "qp" for number in range(1, N_CLASSES + 1)}

# ------------------------------------------------------------------ figures
FIGURE_1 = {
    "likelihood": Published("50", place="figure 1, caption, accuracy of maximum likelihood, %"),
    "latent": Published("100", place='figure 1, caption, latent MED: "perfect"'),
}
SPEED_SIZE = 500
SPEED_RATIO = Published("7.5", place="section 3.4, time of QUADPROG / time of SMO at 500 examples")
FIGURE_3 = {
    "qp": Published("100", place='figure 3 and section 4.1, NSKC: "perfect", the only one to separate')
}

TABLE_1_CELLS = tuple(cell for row in ACCURACY.values() for cell in row.values())
TABLE_2_CELLS = tuple(cell for row in AREA.values() for cell in row.values())

"""The printed numbers of Ye, Chen & Ji (2007): mean accuracies in percent, tables 1 and 2, 51 in all.

The publication prints no ±. Each mean is over 30 random partitions of the data (section 5). Of SDPkim on
Cancer it prints a dash, because of "several cases of numerical problem from the SDP solver". Figure 1 prints
bars without numbers.

The exponents of λ are damaged in the text at hand: "10™%" in the caption of table 1 and "1075" in that of
table 2. The captions are read as λ = 10⁻⁸ here.
"""

from __future__ import annotations

from studies.published import Published

SPLITS = 30
# The methods of each table in the order of its columns: our key, and the head of the column.
BINARY_METHODS = {
    "theta": "SDPθ",
    "theta_lambda": "SDPθ,λ",
    "kim": "SDPkim",
    "sm1": "SM1",
    "sm2": "SM2",
    "sm2_c": "SM2_C",
    "rkda_cv": "RKDA_CV",
    "svm_cv": "SVM_CV",
}
MULTICLASS_METHODS = {key: BINARY_METHODS[key] for key in ("theta", "theta_lambda", "rkda_cv", "svm_cv")}

_TABLE_1 = {
    "Sonar": "85.60 90.16 88.46 89.75 89.59 89.84 88.86 89.27",
    "Heart": "76.85 81.54 81.98 82.59 82.71 82.53 76.54 82.22",
    "Cancer": "96.05 96.00 - 97.08 97.15 97.01 95.30 96.62",
    "Ionosphere": "89.90 95.10 89.14 95.28 94.81 95.19 93.62 93.52",
}
_TABLE_2 = {
    "Wine (3)": "96.97 98.66 97.69 98.30",
    "USPS (3)": "94.41 99.41 99.13 99.33",
    "USPS (6)": "87.14 97.93 98.08 97.62",
    "USPS (8)": "78.35 96.93 96.03 95.96",
    "Waveform (3)": "81.95 83.08 83.05 83.41",
}


def _cells(
    table: str, lines: dict[str, str], methods: dict[str, str]
) -> dict[str, dict[str, Published | None]]:
    """Row of a table to key of a method to what is printed there; None for a dash."""
    return {
        row: {
            key: None if text == "-" else Published(text, place=f"table {table}, {row}, {methods[key]}")
            for key, text in zip(methods, line.split(), strict=True)
        }
        for row, line in lines.items()
    }


BINARY_ACCURACY = _cells("1", _TABLE_1, BINARY_METHODS)
MULTICLASS_ACCURACY = _cells("2", _TABLE_2, MULTICLASS_METHODS)


def cells_of(accuracies: dict[str, dict[str, Published | None]]) -> tuple[Published, ...]:
    """All printed numbers of a table, row by row."""
    return tuple(cell for row in accuracies.values() for cell in row.values() if cell is not None)

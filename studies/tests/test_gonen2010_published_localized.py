"""The printed numbers of Gönen (2010) on localized kernels: counted, added up, what must hold for them."""

from decimal import Decimal

import pytest

from studies.gonen2010.localized_entries import ENTRIES_LOCALIZED
from studies.gonen2010.published_localized import FACE_FOLDS, NUMBERS, cells_of
from studies.published import count_and_sum

# How many numbers the lines of the text have, the sum of their values and of their ±: made from the text by
# reading its tables, not from our copy of them.
SUMS = {
    "figure3.2": (8, "362.75", "5.85"),
    "table5.16": (22, "1329.95", "20.56"),
    "table5.17": (21, "18.9607", "0"),
    "table5.19": (20, "1532.87", "32.91"),
    "table5.20": (18, "19.4579", "0"),
    "table5.21": (24, "1434.94", "37.13"),
    "table5.22": (16, "949.50", "67.92"),
    "table5.23": (12, "14.6523", "0"),
    "table5.24": (14, "392.70", "20.43"),
    "table5.25": (12, "11.1709", "0"),
    "figure5.19": (1, "88.34", "0"),
    "figure5.20": (2, "173.68", "0"),
    "figure5.21": (1, "76.36", "0"),
    "figure5.22": (2, "198.75", "0"),
    "figure5.23": (2, "22", "0"),
}


def test_every_table_with_numbers_is_there():
    assert set(SUMS) == set(NUMBERS)
    with_cells = {entry.stem: len(entry.cells) for entry in ENTRIES_LOCALIZED if entry.cells}
    assert with_cells == {stem: count for stem, (count, _, _) in SUMS.items()}


@pytest.mark.parametrize("stem", SUMS)
def test_no_number_is_lost_or_changed(stem):
    count, total, spreads = SUMS[stem]
    assert count_and_sum(cells_of(stem)) == (count, Decimal(total), Decimal(spreads))


def test_the_tables_are_read_row_by_row():
    """One cell of each kind, looked up in the text by eye."""
    printed = {
        ("figure3.2", "softmax", "accuracy"): "91.83 ± 0.24",
        ("table5.16", "mkl", "support"): "32.59 ± 0.82",
        ("table5.17", "softmax", "mor"): "0.3335",
        ("table5.19", "softmax", "support"): "41.72 ± 11.59",
        ("table5.20", "sigmoid", "caption"): "0.4027",
        ("table5.21", "sigmoid-8", "accuracy"): "99.84 ± 0.44",
        ("table5.22", "degree4", "mse"): "63.83 ± 9.58",
        ("table5.23", "softmax", "degree5"): "0.7346",
        ("table5.24", "softmax", "support"): "18.66 ± 13.41",
        ("table5.25", "softmax", "active"): "1.05",
        ("figure5.20", "pca-15", "accuracy"): "86.10",
        ("figure5.22", "lpk2-4", "accuracy"): "99.69",
    }
    found = {key: str(NUMBERS[key[0]][key[1]][key[2]]) for key in printed}
    assert found == printed


@pytest.mark.parametrize("stem", ["table5.17", "table5.20", "table5.23", "table5.25"])
def test_weights_of_sum_one_add_up(stem):
    for row in ("mkl", "softmax"):
        cells = NUMBERS[stem].get(row)
        if cells is not None:
            total = sum(float(cell) for key, cell in cells.items() if key != "active")
            assert total == pytest.approx(1.0, abs=1.5e-4)


def test_accuracies_of_faces_are_means_of_eightieths():
    """80 test pictures and eight folds; and 280 training pictures, of which support vectors are a share."""
    for row in NUMBERS["table5.21"].values():
        for key, total in (("accuracy", 80 * FACE_FOLDS), ("support", 280 * FACE_FOLDS)):
            count = float(row[key]) * total / 100.0
            assert abs(count - round(count)) <= row[key].half_unit * total / 100.0 + 1e-9

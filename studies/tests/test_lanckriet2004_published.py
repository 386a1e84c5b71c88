"""The printed numbers of Lanckriet et al. (2004), counted and added up again from the text of the paper."""

from decimal import Decimal
from itertools import pairwise

import pytest

from studies import get_study
from studies.lanckriet2004.machine import CRITERIA
from studies.lanckriet2004.published import COLUMNS, FIGURE_1, FIGURE_2, TABLES, margin_cell, table_cells
from studies.published import count_and_sum

# How many numbers the rows of the text have, and their sum: made from the text, not from our copy of it.
COUNTS = {
    "heart_statlog": (102, "11802302.4827"),
    "sonar": (116, "2486.3325"),
    "breast_cancer_wisconsin": (99, "215702808.0384"),
    "ionosphere": (111, "2419.5059"),
    "twonorm": (113, "2369.3419"),
}
TABLE_4 = (40, Decimal("396250939.1386"), Decimal(0))


@pytest.mark.parametrize("dataset", COUNTS)
def test_every_number_of_tables_1_to_3_is_there(dataset):
    (table,) = (name for name, datasets in TABLES.items() if dataset in datasets)
    cells = [cell for cell in table_cells(table) if f", {dataset}, " in cell.place]
    number, total = COUNTS[dataset]
    assert count_and_sum(cells) == (number, Decimal(total), Decimal(0))  # no ± is printed


def test_the_tables_hold_these_data_sets_and_nothing_else():
    sizes = {table: len(table_cells(table)) for table in TABLES}
    assert sizes == {"1": 102 + 116, "2": 99 + 111, "3": 113}
    study = get_study("lanckriet2004")
    assert {name: len(table.cells) for name, table in study.tables.items()} == sizes | {"4": 40}
    assert count_and_sum(table_cells("4")) == TABLE_4


def test_the_tables_are_read_row_by_row():
    """One cell of each kind, looked up in the text by eye."""
    printed = {
        ("heart_statlog", "HM", "tuned", "TSA"): "77.7",
        ("heart_statlog", "SM2", "free", "mu3"): "0.54",
        ("sonar", "SM1", "K3", "omega"): "102.68",
        ("sonar", "SM2,C", "K1", "mu1"): "0.14",
        ("breast_cancer_wisconsin", "SM2,C", "nonnegative", "C"): "6.77e+7",
        ("ionosphere", "SM2,C", "nonnegative", "omega"): "13.5015",
        ("ionosphere", "HM", "free", "mu3"): "-0.26",
        ("twonorm", "SM2", "nonnegative", "omega"): "7.9808",
        ("twonorm", "SM2,C", "K2", "C"): "0.5000",
    }
    assert {cell: str(margin_cell(*cell)) for cell in printed} == printed
    assert margin_cell("ionosphere", "HM", "K3", "gamma") is None  # a dash
    assert margin_cell("ionosphere", "SM2,C", "free", "omega") is None  # blank
    assert [str(cell) for cell in (*FIGURE_1, *FIGURE_2)] == ["1.37", "0.63", "0.715", "0.854"]


def test_printed_weights_add_up_to_the_trace():
    """3 for HM, SM1 and SM2; with 1/C 4 for SM2,C, up to rounding and to the mean of C in place of 1/C."""
    for dataset in COUNTS:
        for criterion in CRITERIA:
            for column in COLUMNS[:-1]:
                cells = [margin_cell(dataset, criterion, column, f"mu{i}") for i in (1, 2, 3)]
                if None in cells:
                    continue
                total, expected, slack = sum(map(float, cells)), 3.0, 0.015
                if criterion == "SM2,C":
                    expected, slack = 4.0, 0.05
                    total += 1.0 / float(margin_cell(dataset, criterion, column, "C"))
                assert total == pytest.approx(expected, abs=slack), (dataset, criterion, column)


def test_printed_values_respect_what_must_hold_but_for_doubtful_ones():
    """A larger set of matrices has a smaller omega; what breaks this is marked as doubtful."""
    pairs = []
    for dataset in COUNTS:
        for criterion in CRITERIA:
            quantity = "gamma" if criterion == "HM" else "omega"
            chain = [
                margin_cell(dataset, criterion, column, quantity) for column in ("free", "nonnegative", "K2")
            ]
            pairs += pairwise(reversed(chain) if criterion == "HM" else chain)
        for column in ("free", "nonnegative"):  # the solution of SM2 is feasible for SM2,C
            pairs.append([margin_cell(dataset, criterion, column, "omega") for criterion in ("SM2,C", "SM2")])
    known = [pair for pair in pairs if None not in pair]
    # they are rounded, and solved to a tolerance
    broken = [(a, b) for a, b in known if float(a) > 1.001 * float(b)]
    assert len(broken) >= 2
    assert all(a.doubt or b.doubt for a, b in broken)

"""The printed numbers of the thesis, counted and added up again from its text, and what must hold of them."""

from decimal import Decimal

import pytest

from studies.gonen2010.published import NUMBERS, cells_of
from studies.gonen2010.published_combining import COSTLY, OUTCOMES, REGULARIZED, wilcoxon_verdicts
from studies.published import Published, count_and_sum

# How many numbers the text has, their sum and that of their ±: made from the text, not from our copy of it.
SUMS = {
    "table5.2": (6, "4.816", "0"),
    "table5.3": (47, "5.99", "0"),
    "table5.4": (65, "1398.85", "14.25"),
    "table5.6": (44, "498.60", "5.44"),
    "table5.8": (259, "4752.06", "58.04"),
    "table5.9": (298, "4451.14", "71.62"),
    "table5.10": (198, "5196.01", "174.12"),
    "table5.11": (30, "755.46", "4.10"),
    "table5.12": (42, "695.88", "5.77"),
    "table5.13": (40, "692.76", "21.42"),
    "table5.14": (226, "6298.91", "316.65"),
    "table5.15": (252, "5388.96", "174.55"),
    "figure1.5": (2, "11", "0"),
    "figure2.4": (10, "12.10", "0"),
    "figure5.1": (3, "64.84", "0"),
    "figure5.6": (7, "121", "0"),
}
COSTS = {
    "5.10": (1.0, 1.41, 2.0),
    "5.11": (1.0, 4.0),
    "5.12": (1.0, 1.0, 2.0, 4.0),
    "5.13": (1.41, 1.41, 1.41, 1.41, 1.0, 2.0, 1.0),
    "5.14": (1.41, 2.0, 2.0, 2.0, 1.0),
    "5.15": (1.41, 2.0, 2.0, 2.0, 1.0, 1.41),
}


def names_in(table):
    places = (place.split(", ")[1] for place in NUMBERS[f"table{table}"])
    return [name for name in dict.fromkeys(places) if name not in ("F test", "means")]


def vector(table, name, method, key):
    start = f"table {table}, {name}, {method}, {key}"
    return [float(cell) for place, cell in NUMBERS[f"table{table}"].items() if place.startswith(start)]


@pytest.mark.parametrize("stem", SUMS)
def test_every_number_is_there(stem):
    number, total, spread = SUMS[stem]
    assert count_and_sum(cells_of(stem)) == (number, Decimal(total), Decimal(spread))


def test_numbers_are_read_from_the_right_cells():
    """One of each kind, looked up in the text by eye."""
    printed = {
        "table 5.6, SL, RMKL, support": "27.58 ± 1.56",
        "table 5.6, SL, RMKL, d6": "2.14",
        "table 5.6, EO, MKL, eta4": "0.01",
        "table 5.8, Y13, RMKL, support": "9.74 ± 0.83",
        "table 5.9, Y8, RMKL, eta6": "4.10",
        "table 5.10, WDBC, own, cost": "3.85 ± 0.36",
        "table 5.10, F test, support, losses": "1",
        "table 5.12, PENDIGITS-5vs9, own, eta2": "0.36",
        "table 5.13, RIBOSOMAL, equal, eta4": "0.16",
        "table 5.14, means, accuracy, losses": "12",
        "table 5.3, TO*, BFA": "0.07",
        "figure 2.4, RMKL, d3": "1.46",
    }
    found = {place: cell for cells in NUMBERS.values() for place, cell in cells.items()}
    assert {place: str(found[place]) for place in printed} == printed
    assert wilcoxon_verdicts("5.14") == {"accuracy": "loss", "support": "loss", "cost": "win"}
    assert wilcoxon_verdicts("5.6") == {}


@pytest.mark.parametrize("table", REGULARIZED)
def test_printed_weights_fulfil_their_constraint(table):
    """The sum of d² eta is 1, up to the rounding of both."""
    for name in names_in(table):
        for method in ("MKL", "RMKL"):
            eta = vector(table, name, method, "eta")
            d = vector(table, name, method, "d") or [1.0] * len(eta)
            slack = sum(0.005 * b * b + 0.01 * a * b for a, b in zip(eta, d, strict=True))
            assert sum(a * b * b for a, b in zip(eta, d, strict=True)) == pytest.approx(1.0, abs=slack), name


@pytest.mark.parametrize("table", COSTLY)
def test_printed_costs_are_those_of_some_kernels(table):
    """At most that of all support vectors, at least that of the cheapest kernel; weights add up to 1."""
    costs = COSTS[table]
    for name in names_in(table):
        for method in ("equal", "own"):
            (support,), (cost,) = (vector(table, name, method, key) for key in ("support", "cost"))
            assert min(costs) / sum(costs) - 1e-3 <= cost / support <= 1.0 + 1e-3
            assert sum(vector(table, name, method, "eta")) == pytest.approx(1.0, abs=0.025)


@pytest.mark.parametrize("table", ["5.8", "5.9", "5.10", "5.14", "5.15"])
def test_direct_comparisons_follow_from_the_printed_means(table):
    cells = NUMBERS[f"table{table}"]
    before, after = ("MKL", "RMKL") if table in REGULARIZED else ("equal", "own")
    for key in wilcoxon_verdicts(table):
        sign = 1 if key == "accuracy" else -1
        gains = [
            sign
            * (
                cells[f"table {table}, {name}, {after}, {key}"].decimal
                - cells[f"table {table}, {name}, {before}, {key}"].decimal
            )
            for name in names_in(table)
        ]
        counts = [sum(gain > 0 for gain in gains), gains.count(0), sum(gain < 0 for gain in gains)]
        assert [int(cells[f"table {table}, means, {key}, {o}"].decimal) for o in OUTCOMES] == counts


def test_the_spread_of_folds_is_no_spread_of_test_sets():
    cell = NUMBERS["table5.6"]["table 5.6, EO, MKL, accuracy"]
    assert cell.spread == "within"
    assert cell.variance_of_mean(1) is None
    assert Published("98.31", "0.34", "a", spread="sd").variance_of_mean(10) == pytest.approx(0.34**2 / 10)

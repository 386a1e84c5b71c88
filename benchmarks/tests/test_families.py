"""The fits of every method: what is drawn, what counts as a fault, and the page."""

import numpy as np
import pytest

from benchmarks.stress import families
from benchmarks.stress.families import ATTACKED, drawn, measure, methods, page


def test_every_method_meets_every_category():
    every = methods()
    names = {method.name for method in every}
    assert names >= {
        "bayesian",
        "localized",
        "nonstationary",
        "column_boosting",
        "discriminant",
        "general_mkl",
    }
    met = set()
    for number in range(len(every) * len(ATTACKED)):
        turn, place = divmod(number, len(every))
        met.add((every[place].name, ATTACKED[(turn + place) % len(ATTACKED)]))
    assert len(met) == len(every) * len(ATTACKED)


def test_a_number_is_always_the_same_fit():
    for number in (0, 7, 60):
        (one, first), (two, second) = drawn(3, number, 40), drawn(3, number, 40)
        assert one.name == two.name and first.n <= 40
        np.testing.assert_array_equal(first.X, second.X)
        assert families.task_of(first) in one.tasks


class Model:
    """An estimator that does what its test says."""

    kernels = "auto"

    def __init__(self, outcome):
        self.outcome = outcome

    def fit(self, X, y=None):
        if isinstance(self.outcome, Exception):
            raise self.outcome
        self.status_ = self.outcome[0]

    def predict(self, X):
        return np.full(len(X), self.outcome[1])


@pytest.mark.parametrize(
    ("given", "outcome"),
    [
        (("optimal", 1.0), "fitted"),
        (("stalled", 1.0), "not optimal"),
        (("optimal", np.nan), "NaN"),
        (ZeroDivisionError("x"), "foreign"),
        (ValueError("not of the package"), "foreign"),
    ],
)
def test_what_counts_as_a_fault(given, outcome, monkeypatch):
    monkeypatch.setattr(families, "estimator", lambda method, problem: Model(given))
    found = measure(*drawn(0, 5, 30))
    assert found["outcome"] == outcome


@pytest.mark.filterwarnings("ignore")  # as the command does
def test_fits_are_made_and_shown():
    records = []
    for number in (9, 10):
        method, problem = drawn(0, number, 40)
        found = measure(method, problem)
        assert found["outcome"] in ("fitted", "not optimal", "refused"), found
        records.append({"number": number, "method": method.name, **families.describe(problem), **found})
    broken = records[0] | {"outcome": "foreign", "said": "KeyError: 3", "number": 77}
    text = page([*records, broken], "a test")
    assert f"| {records[0]['method']} | 2 | " in text and "- 77: " in text and "KeyError: 3" in text

"""The doctor on targets, and on columns that give them away."""

import math

import numpy as np
import pandas as pd
import pytest

from multikernel.doctor import diagnose
from multikernel.kernels import Gaussian, Linear
from tests.doctor.told import find, told

# --- target ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("y", "task", "level", "said"),
    [
        (["a"] * 60, "auto", "error", "one class, 'a'"),
        ([1.5] * 60, "auto", "error", "all 60 rows have the value 1.5"),
        ([*"ab" * 29, None, None], "auto", "error", "2 of 60 rows (3 %) have none, the first is row 58"),
        ([0.5, math.inf] * 30, "auto", "error", "30 values are infinite, the first in row 1"),
        ([1, "a"] * 30, "auto", "error", "several kinds (int, str)"),
        ([f"x{i}" for i in range(60)], "auto", "error", "60 different labels in 60 rows"),
        ([*map(str, range(59)), "?"], "auto", "warning", "numbers written as text, except '?'"),
        (["a", "b"] * 30, "regression", "error", "it must hold numbers for regression; it holds 'a'"),
        ([0.25, 0.5] * 30, "classification", "error", "fractions"),
        ([1, 2, 3] * 20, "regression", "warning", "3 different values only, 1 to 3: they look like classes"),
        ([3, 5, 8] * 20, "auto", "note", "3 whole numbers, 3 to 8, were read as classes"),
        (list(range(5, 65)), "auto", "note", "60 whole numbers, 5 to 64, look like values"),
        (list(range(60)), "auto", "note", "60 whole numbers, 0 to 59, look like values"),
        ([*np.linspace(0.5, 9.7, 60)], "auto", "warning", "rows are sorted by it"),
        (
            [0] * 57 + [1] * 3,
            "auto",
            "note",
            "57 rows of 0, 3 of 1; to guess the first always is right in 95 %",
        ),
        ([0, 1], "auto", "error", "one entry for each of the 60 rows; got shape (2,)"),
        (np.eye(60)[:, :3], "auto", "note", "there are 3 targets for each row"),
    ],
)
def test_targets(table, y, task, level, said):
    found = diagnose(table[0], y, [Linear()], task=task)
    hits = [f for f in found.findings if f.subject == "target" and said in f.what]
    assert [f.level for f in hits] == [level]


def test_rare_classes_are_counted_against_the_folds(table):
    X, _ = table
    y = np.array(["many"] * 30 + ["some"] * 26 + ["few"] * 4)
    finding = find(diagnose(X, y), "warning", "class 'few'")
    assert "fewer than 5 rows, the smallest 4" in finding.what
    assert "cv=4" in finding.remedy
    found = told(X, np.where(np.arange(60) == 0, "one", y))
    assert {("error", "class 'one'"), ("warning", "class 'few'")} <= found  # a fit of the command refuses one
    assert ("error", "target") in told(X[:3], ["a", "b", "c"])


@pytest.mark.parametrize("y", [[0, 1, 2] * 20, ["a", "b"] * 30, [True, False] * 30, [-1.0, 1.0] * 30])
def test_plain_targets_are_left_in_peace(table, y):
    assert told(table[0], y) == set()


# --- leakage -----------------------------------------------------------------------------------------------


def test_a_column_that_is_the_target_is_an_error(table):
    X, y = table
    X["late"] = np.where(y == "yes", 7.0, -1.0)
    assert "it is the target itself" in find(diagnose(X, y), "error", "column 'late'").what
    X["late"] = np.where(y == "yes", "paid", "open")
    found = diagnose(
        X, y, [("numbers", Gaussian(), ["a", "b", "c"]), ("late", lambda A, B: np.eye(len(A)), "late")]
    )
    assert find(found, "error", "column 'late'").remedy == "Leave it out: X = X.drop(columns=['late'])"


def test_an_indicator_of_one_of_several_classes_is_an_error():
    rng = np.random.default_rng(7)
    y = np.repeat(["a", "b", "c"], 30)
    X = pd.DataFrame({"x": rng.standard_normal(90), "is_b": (y == "b").astype(float)})
    assert "same for all rows of a class" in find(diagnose(X, y), "error", "column 'is_b'").what


def test_a_column_that_predicts_alone_is_a_warning(table):
    X, y = table
    X["late"] = np.where(y == "yes", 10.0, 0.0) + X["a"]
    found = diagnose(X, y)
    assert "100 % of what there is to be gained" in find(found, "warning", "column 'late'").what
    assert found.columns[3]["alone"] == 1.0
    assert found.columns[0]["alone"] < 0.9


def test_rows_in_the_order_of_the_classes_give_nothing_away():
    """Equal values stand side by side in the order of the rows; a neighbour by that order knows nothing."""
    rng = np.random.default_rng(4)
    X = pd.DataFrame({"count": rng.permutation(np.repeat(np.arange(60), 2)) + 0.5})
    found = diagnose(X, np.repeat([0, 1], 60))
    assert found.columns[0]["alone"] < 0.2
    assert found.ok


def test_gaps_that_give_the_target_away(table):
    X, y = table
    X["after"] = np.where(y == "yes", np.nan, 1.0)
    assert "in none of the others" in find(diagnose(X, y), "error", "column 'after'", "missing in all").what
    X.loc[0, "after"] = np.nan
    found = diagnose(X, np.random.default_rng(9).permutation(y))
    assert find(found, "error", "column 'after'").what.startswith("values are missing")
    rare = np.where(np.arange(60) < 4, "rare", y)
    X["after"] = X["a"].where(rare != "rare")  # four gaps may be where they are by chance
    assert "in none of the others" not in str(diagnose(X, rare))
    X["after"] = X["a"].where(y == "no")
    values = np.where(y == "no", 5.0, 0.0) + 0.1 * X["b"]
    assert "whether it is missing" in find(diagnose(X, values), "warning", "column 'after'").what


def test_columns_that_give_a_value_away():
    rng = np.random.default_rng(3)
    y = rng.standard_normal(80)
    X = pd.DataFrame({"noise": rng.standard_normal(80), "scaled": 3.0 * y - 1.0, "cube": y**3})
    found = told(X, y)
    assert ("error", "column 'scaled'") in found
    assert not any(subject == "column 'noise'" for _, subject in found)


def test_few_rows_are_never_called_a_leak():
    found = told(pd.DataFrame({"x": [0.0, 0.1, 1.0, 1.1]}), [0, 0, 1, 1])
    assert not any(subject == "column 'x'" for _, subject in found)
    assert ("note", "rows") in found

"""The doctor on tables: each finding on a made case, and none on a clean one."""

import json

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.datasets import load_diabetes, load_iris, load_wine
from sklearn.model_selection import LeaveOneOut, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

from multikernel.datasets import load_digits_views
from multikernel.doctor import Diagnosis, Finding, diagnose
from multikernel.doctor.columns import read_columns
from multikernel.doctor.diagnosis import Recipes
from multikernel.doctor.views import fill_gaps
from multikernel.kernels import FunctionKernel, Gaussian, Linear, Sigmoid, Spectrum
from multikernel.views import View
from multikernel.views import memory as views_memory
from multikernel.views.memory import estimate_factors, estimate_memory
from tests.doctor.told import find, told
from tests.raw import raw

# --- clean -------------------------------------------------------------------------------------------------


def test_clean_data_have_no_findings(table):
    found = diagnose(*table)
    assert found.findings == []
    assert found.ok
    assert (found.n_samples, found.n_columns, found.n_examined, found.task) == (60, 3, 60, "classification")
    assert "60 rows, 3 columns, 6 kernels: no error, no warning, no note" in str(found)
    linear = found.kernels[0]
    assert linear["name"] == "linear"
    assert linear["mean_diagonal"] == pytest.approx(1.0)
    assert linear["smallest_eigenvalue"] == pytest.approx(0.0, abs=1e-9)
    assert 1.0 <= linear["effective_rank"] <= 3.0
    assert 0.0 < linear["alignment"] < 1.0
    neighbours = KNeighborsClassifier(1)
    scores = cross_val_score(neighbours, StandardScaler().fit_transform(table[0]), table[1], cv=LeaveOneOut())
    assert found.kernels[3]["alone"] == pytest.approx(2.0 * scores.mean() - 1.0)  # a Gaussian keeps the order
    assert found.memory["stack"] == 6 * 60 * 60 * 8


@pytest.mark.parametrize("load", [load_iris, load_wine, load_diabetes])
def test_the_sets_of_scikit_learn_raise_no_alarm(load):
    X, y = load(return_X_y=True)
    assert all(f.level == "note" for f in diagnose(X, y).findings)


def test_widths_that_the_learner_may_choose_from_raise_no_alarm():
    """In sixty dimensions all distances are alike: the smallest width of kernels="auto" is an identity."""
    X = np.random.default_rng(8).standard_normal((60, 60))
    assert diagnose(X, np.repeat([0, 1], 30)).findings == []


def test_views_of_digits_raise_no_alarm():
    digits = load_digits_views(["row_profile", "orientations"])
    kernels = [(name, Gaussian(), columns) for name, columns in digits.views.items()]
    found = diagnose(digits.X, digits.y, kernels, max_samples=200)
    assert {f.level for f in found.findings} <= {"note"}
    assert find(found, "note", "rows").what.startswith("kernels were examined on 200 of the 1797 rows")
    assert found.memory["stack"] == 2 * 1797**2 * 8  # of all rows


def test_nothing_is_modified_and_the_same_comes_out_again(table):
    X, y = table
    X.loc[3, "a"] = np.nan
    before = X.copy()
    first, second = (diagnose(X, y).to_dict() | {"memory": None} for _ in range(2))
    pd.testing.assert_frame_equal(X, before)
    assert first == second


def test_the_dictionary_is_json_and_html_is_escaped(table):
    X, y = table
    X = X.rename(columns={"a": "<b>"})
    X.loc[[1, 2], "<b>"] = [np.nan, np.inf]
    found = diagnose(X, y)
    again = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert again["ok"] is False
    assert again["findings"][0]["subject"] == "column '<b>'"
    rows = [found.kernels[0] | {"name": "<b>"}]
    page = Diagnosis([Finding("note", "<b>", "<b>", "<b>")], 60, 3, 60, "classification", rows)._repr_html_()
    assert "<b>" not in page
    assert page.count("&lt;b&gt;") == 4


# --- columns -----------------------------------------------------------------------------------------------


def test_missing_values_name_columns_rows_and_views(table):
    X, y = table
    X.loc[:4, "a"] = np.nan
    X.loc[4:5, "b"] = np.nan
    found = diagnose(X, y, [("first", Linear(), ["a", "c"]), ("second", Linear(), ["b"])])
    finding = find(found, "error", "columns 'a', 'b'")
    assert "6 of 60 rows (10 %)" in finding.what
    assert "5 in 'a' alone" in finding.what
    assert "view 'first' lacks 5 rows, view 'second' lacks 2 rows" in finding.what
    assert len(found.kernels) == 2  # they are examined all the same
    X["c"] = np.where(np.arange(60) < 40, np.nan, X["c"])
    finding = find(diagnose(X[["c"]], y), "error", "column 'c'")
    assert "X.drop(columns=['c'])" in finding.remedy
    assert "lacks" not in finding.what  # all views read the same columns


def test_columns_that_no_view_reads_are_left_in_peace(table):
    X, y = table
    X["text"], X["gap"] = "words", np.nan
    assert told(X, y, [("first", Linear(), ["a", "b"])]) == set()


def test_infinite_constant_equal_and_counting_columns(table):
    X, y = table
    X["huge"] = np.where(np.arange(60) == 7, np.inf, X["a"] ** 2)
    X["same"], X["flat"], X["serial"] = X["a"], 2.0, np.random.default_rng(1).permutation(60) + 1000
    found = diagnose(X, y)
    assert [f.subject for f in found.errors] == ["column 'huge'"]  # once: what is infinite is not missing
    assert found.columns[3]["missing"] == 0
    told_of = {(f.level, f.subject) for f in found.findings}
    assert {("note", "column 'same'"), ("note", "column 'flat'"), ("warning", "column 'serial'")} <= told_of


def test_samples_that_lack_whole_views_are_told_of_missing_and_of_nothing_else():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(80, 2)), columns=["g1", "g2"])
    X.insert(0, "seq", ["".join(rng.choice(list("ACGT"), 12)) for _ in range(80)])
    X.loc[::5, "seq"] = None
    views = [View("s", Spectrum(2, "dna"), "seq"), View("g", Gaussian(), ["g1", "g2"])]
    (finding,) = diagnose(X, np.arange(80) % 2, views).errors
    assert "'seq'" in finding.subject and "missing in 16 of 80 rows" in finding.what
    assert 'missing="complete"' in finding.remedy and "Imputer" not in finding.remedy
    X.loc[3, "g1"] = np.nan  # a part of a view
    (finding,) = diagnose(X, np.arange(80) % 2, views).errors
    assert 'missing="complete"' not in finding.remedy


def test_a_copy_with_gaps_is_a_copy_and_the_fuller_one_stays(table):
    X, y = table
    X.insert(0, "copy", X["a"].where(np.arange(60) % 5 > 0))
    X["half"] = X["b"].where(np.arange(60) < 20)  # too little of it to say
    assert "'copy' to 'a'" in find(diagnose(X, y), "note", "column 'copy'").what
    assert not any("half" in subject for level, subject in told(X, y) if level == "note")


def test_one_entry_that_makes_all_others_alike(table):
    X, y = table
    X.loc[[7, 9], "b"] = -1e12
    finding = find(diagnose(X, y), "warning", "column 'b'")
    assert "-1e+12 in row 7 is more than 100 times as far out" in finding.what
    X["b"] = np.exp(2.0 * X["a"])  # a long tail is none
    X["rare"] = X["as rare"] = (np.arange(60) == 7).astype(float)  # equal by chance, perhaps
    X.loc[7:10, "c"] = 1e12  # nor are four of sixty one in twenty
    assert told(X, y) == set()


def test_whole_numbers_that_differ_by_nature_are_no_identifier(table):
    X, y = table
    X["price"] = np.random.default_rng(2).choice(10_000, 60, replace=False)
    assert told(X, y) == set()
    X = X.rename(columns={"price": "customer_id"})
    assert told(X, y) == {("warning", "column 'customer_id'")}
    X["customer_id"] = np.cumsum(X["customer_id"])  # in order, whatever it is called
    assert find(diagnose(X.rename(columns={"customer_id": "price"}), y), "warning", "column 'price'", "count")


def test_what_is_no_number_is_named_and_the_other_columns_are_examined(table):
    X, y = table
    X["new"] = np.array([[1], None] * 30, dtype=object)
    found = diagnose(X, y)
    assert find(found, "error", "column 'new'", "needs numbers").what.startswith(
        "it holds objects of 1 kinds"
    )
    assert len(found.kernels) == 6


def test_dates_are_no_numbers(table):
    X, y = table
    X["day"] = pd.date_range("2020-01-01", periods=60)
    assert "as days" in find(diagnose(X[["a", "day"]], y), "note", "column 'day'").what
    finding = find(diagnose(X[["a", "day"]], y, Gaussian()), "error", "column 'day'")
    assert "dates or times, such as '2020-01-01" in finding.what
    assert "dt.total_seconds()" in finding.remedy


def test_a_kernel_that_reads_text_is_left_in_peace(table):
    X, y = table
    X["word"] = ["red", "green", "blue"] * 20
    same = FunctionKernel(lambda A, B: np.equal.outer(np.asarray(A), np.asarray(B)).astype(float))
    assert told(X, y, [("word", same, "word"), ("rest", Gaussian(), ["a", "b", "c"])]) == set()


def test_one_column_that_drowns_the_others(table):
    X, y = table
    X["c"] *= 1000.0
    found = diagnose(X, y, [View("all", Gaussian(), standardize=False)])
    finding = find(found, "warning", "view 'all'")
    assert "column 'c' has over 99.99 % of the variance of its 3 columns" in finding.what
    assert "standardize=True" in finding.remedy
    assert told(X, y, [View("all", Gaussian())]) == set()


def test_repeated_rows_and_contradictions(table):
    X, y = table
    X.iloc[30] = X.iloc[0]
    X.iloc[1] = X.iloc[0]
    found = diagnose(X, y)
    contradiction, finding = (f for f in found.findings if f.subject == "rows")
    assert "2 of 60 (3 %) repeat an earlier one, for example rows 0 and 1" in finding.what
    assert contradiction.level == "warning"
    assert "3 rows equal another of a different target; no model can be right on 1" in contradiction.what
    assert told(X.iloc[:30], None) == {("note", "rows")}
    # measurements at the same place are no copies
    assert told(X, np.random.default_rng(5).standard_normal(60)) == set()


# --- views and kernels -------------------------------------------------------------------------------------


def test_bad_views_are_findings_and_the_others_are_examined(table):
    X, y = table

    def breaks(A, B):
        raise RuntimeError("no [licence]")

    views = [("typo", Linear(), ["aa"]), ("broken", breaks, ["a"]), ("good", Gaussian(), ["b"])]
    found = diagnose(X, y, views)
    assert "'aa'" in find(found, "error", "view 'typo'").what
    assert "no [licence]" in find(found, "error", "view 'broken'").what
    assert [kernel["name"] for kernel in found.kernels] == ["good"]


@pytest.mark.parametrize("kernels", ["wrong", 3, [], [("twice", Linear()), ("twice", Linear())]])
def test_what_is_no_set_of_kernels_is_a_finding(table, kernels):
    assert ("error", "kernels") in told(*table, kernels)


def test_the_same_view_twice_and_kernels_of_different_scale(table):
    X, y = table
    views = [("one", Gaussian()), ("again", Gaussian()), ("big", 1000.0 * Linear(), ["a"])]
    assert ("warning", "kernels") not in told(X, y, views)
    found = diagnose(X, y, raw(views))
    assert "same kernel on the same columns as view 'one'" in find(found, "warning", "view 'again'").what
    assert 'normalize="variance"' in find(found, "warning", "kernels").remedy


def test_widths_that_are_too_small_or_too_large(table):
    X, y = table
    views = [("narrow", Gaussian(gamma=1e6)), ("wide", Gaussian(gamma=1e-9)), ("good", Gaussian())]
    found = diagnose(X, y, raw(views))
    assert "nearly the identity" in find(found, "warning", "kernel 'narrow'").what
    assert "every sample is as like every other" in find(found, "warning", "kernel 'wide'").what
    assert "learns reg = 0" in find(found, "note", "kernel 'narrow'").what
    assert len(found.findings) == 3


@pytest.mark.parametrize(
    "X", [None, 3, np.empty((0, 3)), np.empty((5, 0)), [1.0, 2.0, 3.0], np.eye(30, 2) * 1j]
)
def test_what_is_no_table_is_a_finding(X):
    assert not diagnose(X).ok


def test_complex_numbers_are_refused(table):
    X, y = table
    assert told(X.assign(wave=X["a"] * 1j), y) == {("error", "X")}
    assert told(X, np.arange(60) * 1j) == {("error", "target")}


def test_sparse_tables_and_lists_of_objects_are_examined(table):
    X, y = table
    sparse = scipy.sparse.csr_matrix(np.where(X > 0.5, X, 0.0))
    assert {level for level, _ in told(sparse, y)} <= {"note"}
    sparse.data[0] = np.nan
    assert "error" in {level for level, _ in told(sparse, y)}
    words = [["ab", "abc", "b"][i % 3] + "c" * (i % 7) for i in range(60)]
    shared = FunctionKernel(lambda A, B: np.array([[len(set(a) & set(b)) for b in B] for a in A], float))
    found = diagnose(words, y, [("words", shared)])
    assert found.ok
    assert found.n_columns == 0


def test_what_all_kernels_share_is_told_once():
    found = diagnose(np.ones((40, 3)), np.repeat([0, 1], 20))
    assert [f.subject for f in found.errors] == ["X"]
    found = diagnose(np.ones(40), np.repeat([0, 1], 20), [Gaussian(), Linear()])
    assert [f.subject for f in found.errors] == ["view 'gaussian', view 'linear'"]


def test_huge_and_tiny_numbers_stop_nothing(table):
    X, y = table
    for factor in (1e300, 1e-310):
        assert diagnose(X * factor, y).ok
    diagnose(X * 1e300, y, [Gaussian(), Linear()])
    diagnose(X, np.random.default_rng(6).standard_normal(60) * 1e300)
    diagnose(X.assign(edge=np.where(y == "no", 1e308, -1e308)), y)


def test_many_kernels_for_few_rows(table):
    X, y = table
    kernels = [(f"k{i}", Gaussian(gamma=0.05 * 1.05**i)) for i in range(61)]
    assert "chance will choose" in find(diagnose(X, y, kernels), "note", "kernels").what


# --- memory ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("share", "level", "said"),
    [(0.7, "warning", 'dtype="float32"'), (1.2, "warning", "float32"), (0.01, "error", "Take")],
)
def test_memory(table, monkeypatch, share, level, said):
    needed = diagnose(*table).memory["total"]
    monkeypatch.setattr(views_memory, "available_memory", lambda: int(share * needed) + 1)
    finding = find(diagnose(*table), level, "memory")
    assert "6 kernels of 60 × 60" in finding.what
    assert said in finding.remedy


def test_what_may_stand_for_many_rows(monkeypatch):
    monkeypatch.setattr(views_memory, "available_memory", lambda: 2**36)
    X = np.random.default_rng(0).standard_normal((10_001, 2))
    found = diagnose(X, None, [Gaussian(), View("few", Linear(), rank=3)], max_samples=50)
    assert found.memory["chosen"] == "low_rank"
    finding = find(found, "note", "memory")
    assert 'gram="auto" of mkl learns on working sets' in finding.what
    assert "--gram dense, or --gram memmap --set dtype=float32" in finding.command
    n, choices = 10_001, {(each["gram"], each["dtype"]): each for each in found.memory["choices"]}
    assert choices["dense", "float64"]["memory"] == found.memory["total"]
    assert choices["memmap", "float32"]["disk"] == 2 * 4 * n * n
    assert (
        choices["memmap", "float32"]["memory"] == estimate_memory(n, 2, "float32", "memmap", lean=True).total
    )
    assert choices["low_rank", "float64"]["memory"] == estimate_factors(n, 203, 2).total
    sigmoid = diagnose(X[:60], None, [Sigmoid()]).memory
    assert {each["gram"] for each in sigmoid["choices"]} == {"dense", "memmap"}


# --- options -----------------------------------------------------------------------------------------------


def test_options_are_checked(table):
    with pytest.raises(ValueError, match="task must be one of"):
        diagnose(*table, task="guess")
    with pytest.raises(ValueError, match="max_samples"):
        diagnose(*table, max_samples=0)


@pytest.mark.parametrize("make", [pd.DataFrame, np.array, scipy.sparse.csr_matrix])
def test_gaps_are_filled_in_a_copy(make):
    X = make([[np.nan, 1.0], [2.0, 3.0]])
    columns = read_columns(X, np.random.default_rng(0), Recipes.for_table(X, None))
    filled = fill_gaps(X, columns)
    assert np.isnan(X.sum(axis=0) if scipy.sparse.issparse(X) else np.asarray(X)).any()
    assert np.isfinite(filled.sum()).all()

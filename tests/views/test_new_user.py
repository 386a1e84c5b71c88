"""What a new user does with several tables, and gets an answer to."""

import numpy as np
import pandas as pd
import pytest

from multikernel import KernelBank, MKLClassifier, MultiTable, join_views
from multikernel.inspection import evaluate
from multikernel.mkl import weight_path
from multikernel.views import KernelWarning, MissingViewsWarning

RNG = np.random.default_rng(0)
IDS = [f"s{i}" for i in range(40)]
A = pd.DataFrame(RNG.normal(size=(40, 3)), index=IDS).add_prefix("a")
B = pd.DataFrame(RNG.normal(size=(40, 2)), index=IDS).add_prefix("b")
Y = pd.Series(np.where(A["a0"] > 0, "p", "n"), index=IDS)
KERNELS = {"a": "linear", "b": "linear"}


def test_a_mask_is_read_by_its_ids_and_has_the_length_of_the_table():
    X = MultiTable({"a": A, "b": B})
    mask = (Y == "p").sample(frac=1.0, random_state=1)
    assert (Y[X[mask].ids] == "p").all() and len(X[mask]) == (Y == "p").sum()
    assert len(X[(Y == "p").to_numpy()]) == (Y == "p").sum()
    with pytest.raises(ValueError, match="one entry for each of the 40 samples; got 2"):
        X[np.array([True, False])]
    with pytest.raises(ValueError, match="must name each of the samples once"):
        X[mask.iloc[:5]]


def test_rows_are_positions():
    X = MultiTable({"a": A, "b": B})
    assert len(X[[]]) == 0 and "a" in X and "c" not in X and list(X[[-1]].ids) == ["s39"]
    with pytest.raises(TypeError, match=r"by their positions or by a boolean mask.*X.ids.get_indexer"):
        X[["s1"]]
    with pytest.raises(IndexError, match="row 1000 is out of bounds for 40 samples"):
        X[[1000]]


def test_slices_count_their_own_samples_and_keep_that_there_were_gaps():
    X, _ = join_views({"a": A, "b": B[:30]}, Y, how="outer")
    part = X[28:32]
    assert part.counts.loc["b"].tolist() == [30, 2, 2] and X.counts.loc["b"].tolist() == [30, 30, 10]
    assert X[:10].has_gaps and not X[:10].counts["lacks"].any()


def test_a_join_of_a_join_keeps_its_gaps():
    X, y = join_views({"a": A, "b": B[:30]}, Y, how="outer")
    again = join_views(X, how="outer")
    assert again.has_gaps and again.counts.loc["b"].tolist() == [30, 30, 10]
    assert len(join_views(X)) == 30 and y.index.equals(again.ids)


def test_tables_without_ids_are_not_joined_by_their_row_numbers():
    polars = pytest.importorskip("polars")
    a = polars.DataFrame({"sample": ["p1", "p2", "p3"], "g": [1.0, 2.0, 3.0]})
    b = polars.DataFrame({"sample": ["p3", "p1", "p2"], "m": [3.0, 1.0, 2.0]})
    with pytest.raises(ValueError, match=r"'a' has no ids.*on=.*all tables have: \['sample'\]"):
        join_views({"a": a, "b": b})
    X = join_views({"a": a, "b": b.rename({"sample": "id"})}, on={"a": "sample", "b": "id"})
    assert X["b"]["m"].tolist() == [1.0, 2.0, 3.0]
    with pytest.raises(TypeError, match="on must be the name of a column"):
        join_views({"a": a, "b": b}, on=3)


@pytest.mark.filterwarnings("ignore::multikernel.views.KernelWarning")
def test_dicts_of_tables_are_read_wherever_fit_reads_them():
    tables = {"a": A, "b": B}
    model = MKLClassifier(KERNELS).fit(tables, Y)
    assert len(weight_path(MKLClassifier(KERNELS), tables, Y, values=[0.1, 1.0]).table) > 0
    assert evaluate(model, tables, Y, parts=["embedding"])["embedding"]["points"]


def test_a_bank_checks_what_it_says_of_views():
    with pytest.raises(TypeError, match="standardize must be True, False, 'rank' or 'auto'; got 'x'"):
        MKLClassifier(KernelBank("auto", standardize="x")).fit(A, Y)


def test_warnings_are_in_one_place():
    assert issubclass(KernelWarning, UserWarning) and issubclass(MissingViewsWarning, UserWarning)


def test_row_counts_that_differ_are_misaligned():
    rows = {"a": A.reset_index(drop=True), "b": B.reset_index(drop=True)}
    assert MultiTable(rows).ids is None
    with pytest.raises(
        ValueError, match="'a' and 'b' have other samples in the same rows: row 0 is 0 in one"
    ):
        MultiTable({"a": rows["a"][:30], "b": rows["b"][1:31]})

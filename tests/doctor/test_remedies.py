"""The remedies of the doctor are run as they are printed, on the kind of table they were printed for."""

import sys

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline

from multikernel import KernelBank, MKLClassifier, View
from multikernel.doctor import diagnose
from multikernel.kernels import Gaussian, Linear, Mixed
from multikernel.views import memory as views_memory

N = 40
Y = np.repeat(["no", "yes"], N // 2)


def codes_of(finding):
    """The lines of code of a remedy: what follows the colon, in each of its alternatives."""
    return [part.partition(": ")[2] or part for part in finding.remedy.split(". Or ")]


def run(code, X, y=None, model=None):
    names = {"X": X, "y": y, "model": model, "np": np, "pd": pd}
    names |= {"make_pipeline": make_pipeline, "SimpleImputer": SimpleImputer, "KernelBank": KernelBank}
    exec(code, names)
    return names["X"], names["y"], names["model"]


def about(X, y, said, kernels=None, **options):
    """The one finding that says something, or None."""
    findings = diagnose(X, y, kernels or [Linear()], **options).findings
    hits = [finding for finding in findings if said in finding.what]
    assert len(hits) < 2
    return hits[0] if hits else None


def clean():
    return np.random.default_rng(0).standard_normal((N, 3)) + (Y == "yes")[:, None]


def as_kind(values, kind):
    if kind == "frame":
        return pd.DataFrame(values, columns=["a", "b", "c"], index=np.arange(N) + 7).infer_objects()
    if kind == "list":
        return values.tolist()
    return scipy.sparse.coo_matrix(values) if kind == "sparse" else values


def make_gap(values):
    values[3, 0] = np.nan


def make_infinite(values):
    values[3, 0] = np.inf


def make_extreme(values):
    values[3, 0] = 1e12


def make_copies(values):
    values[[3, 4]] = values[0]


def make_flat(values):
    values[:, 0] = 2.0


def make_leak(values):
    values[:, 0] = Y == "yes"


KINDS = ("frame", "array", "list", "sparse")
DEFECTS = {
    make_gap: "values are missing in 1 of 40 rows",
    make_infinite: "1 entries are infinite",
    make_extreme: "1e+12 in row 3 is more than 100 times as far out as 98 % of the entries",
    make_copies: "2 of 40 (5 %) repeat an earlier one, for example rows 0 and 3",
    make_flat: "one value only",
    make_leak: "it is the target itself",
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("spoil", DEFECTS)
def test_remedies_of_a_table_take_the_finding_away(spoil, kind):
    values = clean()
    spoil(values)
    X, said = as_kind(values, kind), DEFECTS[spoil]
    finding = about(X, Y.tolist(), said)
    codes = [code for code in codes_of(finding) if " = " in code]
    assert codes
    for code in codes:
        better, y, model = run(code, X, Y.tolist(), Gaussian())
        if model is not None and "make_pipeline" in code:
            better = model.steps[0][1].fit_transform(better)
        assert about(better, y, said) is None
        assert better.shape[0] == len(y) >= N - 2


def test_filled_gaps_keep_the_names_that_views_read():
    X = as_kind(clean(), "frame")
    X.iloc[[1, 30], 0] = np.nan
    views = [("first", Gaussian(), ["a"]), ("rest", Linear(), ["b", "c"])]
    finding = about(X, Y, "values are missing", views)
    as_they_are, fill, leave_out, mixed = codes_of(finding)
    _, _, model = run(as_they_are, X, Y, MKLClassifier(kernels=views))
    assert model.fit(X, Y).predict(X).shape == (N,)
    filled, y, model = run(fill, X, Y, MKLClassifier(kernels=views))
    assert model.fit(filled, y).predict(X).shape == (N,)
    fewer, y, _ = run(leave_out, X.assign(unread=np.nan), Y)
    assert len(fewer) == len(y) == N - 2  # a column that no view reads costs no row
    assert finding.command == (
        "Samples lack whole views: fit with --set missing=complete. Or fill them in the file or take these "
        "rows out, or --ignore a"
    )
    view = eval(mixed, {"View": View, "Mixed": Mixed, "name": "first", "columns": ["a"]})
    assert about(X, Y, "values are missing", [view, views[1]]) is None
    assert MKLClassifier([view, views[1]]).fit(X, Y).predict(X).shape == (N,)
    X["a"] = np.where(np.arange(N) < 30, np.nan, X["a"])
    finding = about(X, Y, "values are missing")
    assert "mostly empty" in finding.remedy
    assert list(run(codes_of(finding)[0], X)[0].columns) == ["b", "c"]


@pytest.mark.parametrize("kind", ["frame", "array"])
@pytest.mark.parametrize(
    ("column", "said", "command"),
    [
        ([*map(str, range(N - 1)), "?"], "numbers written as text, except '?'", "Correct it in the file"),
        (["red", "green"] * (N // 2), "text of 2 kinds ('red', 'green')", "--one-hot"),
        ([f"row {i}" for i in range(N)], "different in every row", "--ignore"),
        ([f"2020-01-{i % 28 + 1:02}" for i in range(N)], "dates or times, such as '2020-01-01'", "--ignore"),
        ([f"{i % 28 + 1}/02/2020 10:30" for i in range(N)], "dates or times", "--ignore"),
        (pd.date_range("2020-01-01", periods=N).to_numpy(), "dates or times", "--ignore"),
    ],
)
def test_text_becomes_numbers(kind, column, said, command):
    values = clean().astype(object)
    values[:, 0] = pd.Series(column).tolist()
    X = as_kind(values, kind)
    finding = about(X, Y, said)
    assert finding.command.startswith(command)
    better, _, _ = run(codes_of(finding)[-1], X)
    assert "kernel of view" not in str(diagnose(better, Y, [Linear()]))
    assert len(better) == N
    if "date" in said:
        assert pd.Series(np.asarray(better)[:, 0].astype(float)).nunique() > 20


@pytest.mark.parametrize(
    ("y", "said"),
    [
        ([*"ab" * 19, None, "a"], "1 of 40 rows (2 %) have none"),
        ([0.5, 0.7, 0.1, np.inf] * 10, "10 values are infinite"),
        ([1, "a"] * 20, "several kinds"),
        (["one", *["a", "b"] * 19, "a"], "one row: what is learned of it cannot be tested"),
        ([*map(str, range(39)), "?"], "numbers written as text"),
    ],
)
@pytest.mark.parametrize("kind", ["frame", "array"])
def test_remedies_of_a_target(y, said, kind):
    X = as_kind(clean(), kind)
    better, target, _ = run(codes_of(about(X, y, said))[-1], X, y)
    assert len(better) == len(target)
    assert about(better, target, said) is None


def test_fractions_can_be_cut():
    finding = about(clean(), [0.25, 0.5] * 20, "fractions", task="classification")
    _, y, _ = run(codes_of(finding)[-1], None, [0.25, 0.5] * 20)
    assert finding.command == "--task regression"
    assert set(y) == {False, True}


@pytest.mark.parametrize("kind", [*KINDS, "kernels", "matrices"])
def test_fewer_rows_for_the_memory(monkeypatch, kind):
    values = clean()
    K = values @ values.T
    X = {"kernels": np.stack([K], axis=2), "matrices": {"one": K}}.get(kind)
    X = as_kind(values, kind) if X is None else X
    kernels = "precomputed" if kind in ("kernels", "matrices") else [Linear()]
    needed = diagnose(X, Y, kernels).memory["total"]
    monkeypatch.setattr(views_memory, "available_memory", lambda: needed // 2)
    finding = about(X, Y, "a fit needs", kernels)
    fewer, y, _ = run(codes_of(finding)[-1], X, Y)
    assert len(y) == 20
    assert diagnose(fewer, y, kernels).n_samples == 20


def test_more_rows_than_can_be_examined_are_not_promised(monkeypatch):
    X = np.random.default_rng(1).standard_normal((300, 2))
    finding = about(X, None, "examined on 50 of the 300 rows", max_samples=50)
    assert (finding.remedy, finding.command) == (
        "max_samples=300 examines all.",
        "--max-samples 300 examines all.",
    )
    monkeypatch.setattr(sys.modules["multikernel.doctor.diagnose"], "_LARGEST_STACK", 10_000)
    assert about(X, None, "examined on 50", max_samples=50).remedy == "max_samples=100 examines more."
    finding = about(X, None, "examined on 100", max_samples=300)
    assert "max_samples" not in finding.remedy

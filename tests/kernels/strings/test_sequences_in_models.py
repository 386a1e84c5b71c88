"""Sequences beside a table, through views, models, searches, files and factors."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from multikernel import KernelBank, MKLClassifier, View
from multikernel.io.models import load_model, save_model
from multikernel.kernels import (
    Gappy,
    Gaussian,
    Kronecker,
    Linear,
    Mismatch,
    Pairwise,
    Spectrum,
    WeightedDegree,
)
from multikernel.views import LowRankBank


def make_table(n=60, seed=0):
    """A motif in the sequences of one class; a table that says nothing."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    rows = ["".join(rng.choice(list("ACGT"), size=24)) for _ in range(n)]
    rows = [row[:9] + "TATAAT" + row[15:] if label else row for row, label in zip(rows, y, strict=True)]
    return pd.DataFrame({"noise": rng.normal(size=n), "sequence": rows, "more": rng.normal(size=n)}), y


VIEWS = [
    View("table", Gaussian(), ["noise", "more"], standardize=True),
    View("spectrum", Spectrum(3), "sequence", transforms="unit_diagonal"),
    View("mismatch", Mismatch(4, 1), "sequence", transforms=("center", "unit_trace")),
    View("gappy", Gappy(2, 1, "dna"), ["sequence"], transforms="unit_diagonal"),
    View("places", WeightedDegree(4), "sequence", transforms="unit_diagonal"),
]


def test_a_model_finds_the_view_that_knows(tmp_path):
    X, y = make_table()
    model = MKLClassifier(VIEWS, C=10).fit(X[:40], y[:40])
    assert model.score(X[40:], y[40:]) == 1.0
    assert model.weights_frame()["weight"]["table"] < 0.2
    assert np.array_equal(clone(model).fit(X[:40], y[:40]).decision_function(X), model.decision_function(X))
    save_model(model, tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    assert np.array_equal(loaded.decision_function(X), model.decision_function(X))


@pytest.mark.parametrize("form", ["frame", "array", "list", "strings"])
def test_sequences_come_in_any_table(form, tmp_path):
    X, y = make_table()
    tables = {
        "frame": (X, 1),
        "array": (X.to_numpy(dtype=object), 1),
        "list": (X["sequence"].tolist(), None),
        "strings": (X[["sequence"]].to_numpy(dtype=str), 0),
    }
    table, column = tables[form]
    expected = KernelBank([View("s", Spectrum(3), "sequence")]).fit(X[:40]).transform(X[40:])
    view = View("s", Spectrum(3), column)
    bank = KernelBank([view]).fit(table[:40])
    assert np.array_equal(bank.transform(table[40:]), expected)
    model = MKLClassifier([view]).fit(table[:40], y[:40])
    assert model.score(table[40:], y[40:]) > 0.8
    save_model(model, tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    assert np.array_equal(loaded.decision_function(table), model.decision_function(table))


def test_the_row_is_named_in_the_whole_table_where_it_is_predicted_in_parts():
    X, y = make_table()
    model = MKLClassifier([Spectrum(3)]).fit(X["sequence"].tolist(), y)
    with pytest.raises(ValueError, match="empty string at row 3004"):
        model.predict(["ACGT"] * 3004 + [""])
    with pytest.raises(ValueError, match=r"needs one column of strings; .* has shape \(1, 2\)"):
        model.predict([["A", "C"]])


def test_a_search_takes_rows_of_the_table():
    X, y = make_table()
    grid = {"kernels": [[View("s", Spectrum(k, "dna"), "sequence")] for k in (1, 3)], "C": [0.1, 10.0]}
    search = GridSearchCV(MKLClassifier(), grid, cv=3).fit(X, y)
    assert search.best_params_["kernels"][0].kernel.k == 3


def test_pairs_of_sequences_and_of_a_sequence_with_numbers():
    X, _ = make_table()
    X = X.assign(other=X["sequence"].iloc[::-1].to_numpy())
    a, b = (Spectrum(2, "dna")(X[name]) for name in ("sequence", "other"))
    cross = Spectrum(2, "dna")(X["sequence"], X["other"])
    bank = KernelBank([View("both", Pairwise(Spectrum(2)), ["sequence", "other"])])
    np.testing.assert_allclose(bank.fit_transform(X)[:, :, 0], a * b + cross * cross.T)
    bank = KernelBank([View("both", Kronecker(Spectrum(2), Linear()), ["sequence", "noise"])])
    np.testing.assert_allclose(bank.fit_transform(X)[:, :, 0], a * Linear()(X[["noise"]]))


def test_errors_name_the_view_and_the_row():
    X, y = make_table()
    broken = X.copy()
    broken.loc[7, "sequence"] = None
    with pytest.raises(ValueError, match=r"view 'spectrum'.*missing value .* at row 7"):
        MKLClassifier(VIEWS[1:2]).fit(broken, y)
    model = MKLClassifier(VIEWS[1:2]).fit(X, y)
    with pytest.raises(ValueError, match=r"view 'spectrum' at prediction.*missing value .* at row 7"):
        model.predict(broken)
    with pytest.raises(ValueError, match=r"needs strings; view 'spectrum' holds -0.3\d+ at row 0"):
        MKLClassifier([("spectrum", Spectrum(3), "noise")]).fit(X, y)
    short = X.assign(sequence="ACGTACGTACG")
    places = MKLClassifier(VIEWS[4:]).fit(X, y)
    with pytest.raises(
        ValueError, match=r"view 'places' at prediction holds 11 letters instead of 24 at row 0"
    ):
        places.predict(short)


@pytest.mark.parametrize("approximation", ["nystroem", "cholesky"])
def test_factors_stand_for_sequences(approximation):
    X, y = make_table()
    plain = [view for view in VIEWS if view.name != "mismatch"]
    bank = LowRankBank(
        [View(v.name, v.kernel, v.columns, v.transforms, v.standardize, approximation, 60) for v in plain]
    ).fit(X)
    Ks = KernelBank(plain).fit_transform(X)
    for m, Z in bank.iter_factors(X):
        np.testing.assert_allclose(Z @ Z.T, Ks[:, :, m], atol=1e-6)
    model = MKLClassifier(KernelBank(plain[1:2], gram="low_rank", rank=30), C=10).fit(X[:40], y[:40])
    assert model.score(X[40:], y[40:]) > 0.8

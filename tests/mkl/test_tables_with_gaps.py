"""Models on tables with categories and missing values, from fit to file."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from multikernel import KernelBank, MKLClassifier, MKLRidge, View, load_model, save_model
from multikernel.doctor import diagnose
from multikernel.kernels import Gaussian, Hamming, Jaccard, Mixed, Tanimoto

CLINICAL, GENES = ["age", "sex", "stage", "smoker"], ["g0", "g1", "g2"]
VIEWS = [("clinical", Mixed(), CLINICAL), ("genes", Gaussian(), GENES)]


@pytest.fixture
def patients():
    """Sixty patients, a fifth of each clinical column missing, and whether they were ill."""
    rng = np.random.default_rng(0)
    ill = rng.integers(0, 2, 60)
    table = pd.DataFrame(rng.normal(size=(60, 3)), columns=GENES)
    table["age"] = rng.normal(60.0, 8.0, 60) + 12.0 * ill
    table["sex"] = rng.choice(["f", "m"], 60)
    table["stage"] = pd.Categorical(np.where(rng.random(60) < 0.8, ill, 2).astype(str))
    table["smoker"] = pd.array(rng.choice([True, False], 60), dtype="boolean")
    for name in CLINICAL:
        table[name] = table[name].mask(rng.random(60) < 0.2)
    table["mutations"] = [set(rng.choice(list("abcdef"), 3)) | ({"x"} if sick else set()) for sick in ill]
    return table, ill


def test_gaps_and_categories_go_through_fit_search_clone_and_file(patients, tmp_path):
    X, y = patients
    model = MKLClassifier(VIEWS).fit(X[:40], y[:40])
    assert model.score(X[40:], y[40:]) > 0.75
    assert model.weights_frame().loc["clinical", "weight"] > 0.5
    search = GridSearchCV(clone(model), {"C": [0.1, 1.0]}, cv=3, error_score="raise").fit(X, y)
    assert search.best_score_ > 0.75
    save_model(model, tmp_path / "model.skops")
    loaded = load_model(tmp_path / "model.skops")
    assert np.array_equal(loaded.decision_function(X), model.decision_function(X))


def test_a_row_that_is_all_gaps_is_the_mean_of_the_training_rows(patients):
    X, y = patients
    model = MKLRidge([VIEWS[0]], alpha=0.1).fit(X, y.astype(float))
    nothing = X[:1].assign(**{name: None for name in CLINICAL}).astype(X.dtypes)
    assert 0.2 < model.predict(nothing)[0] < 0.8


def test_numbers_with_gaps_go_in_as_arrays(patients):
    X, y = patients
    table = X[["age", *GENES]].to_numpy()
    views = [("age", Mixed(), [0]), ("genes", Gaussian(), slice(1, 4))]
    Ks = KernelBank(views).fit_transform(table)
    by_name = KernelBank([("age", Mixed(), ["age"]), VIEWS[1]]).fit_transform(X)
    np.testing.assert_allclose(Ks, by_name, rtol=1e-12)
    assert MKLClassifier(views).fit(table, y).score(table, y) > 0.75
    with pytest.raises(ValueError, match="view 'all' holds NaN at row"):
        MKLClassifier([("all", Gaussian())]).fit(table, y)
    with pytest.raises(ValueError, match="view 'all' holds NaN at row"):
        MKLClassifier([("all", Gaussian() + Mixed())]).fit(table, y)


def test_factors_of_tables_with_gaps(patients):
    X, y = patients
    dense = MKLClassifier(VIEWS).fit(X, y)
    factors = MKLClassifier(KernelBank(VIEWS, gram="low_rank", rank=60)).fit(X, y)
    assert np.mean(dense.predict(X) == factors.predict(X)) > 0.95


def test_sets_categories_and_fingerprints_stand_beside_numbers(patients):
    X, y = patients
    X["bits"] = (X["g0"] > 0.0).astype(int)
    views = [
        ("mutations", Jaccard(), "mutations"),
        ("sex", Hamming(), ["sex"]),
        ("bits", Tanimoto(), ["bits"]),
        View("genes", Gaussian(), GENES, standardize=True),
    ]
    X["sex"] = X["sex"].fillna("unknown")
    model = MKLClassifier(views).fit(X[:40], y[:40])
    assert model.score(X[40:], y[40:]) == 1.0
    assert model.weights_frame()["weight"].idxmax() == "mutations"
    for kernel in (Mixed(), Jaccard(), Hamming(), 2.0 * (Mixed() + Gaussian())):
        with pytest.raises(
            ValueError, match=r"standardize=True needs a kernel of numeric columns.*as they are"
        ):
            View("all", kernel, standardize=True)


def test_the_doctor_leaves_gaps_to_the_kernels_that_read_them(patients):
    X, y = patients
    assert diagnose(X, y, VIEWS).ok
    X.loc[3, "g1"] = np.nan
    found = diagnose(X, y, VIEWS)
    assert [finding.subject for finding in found.errors] == ["column 'g1'"]
    assert "View(name, Mixed(), columns)" in found.errors[0].remedy
    both = diagnose(X, y, [*VIEWS, ("again", Gaussian(), ["age", *GENES])])
    assert [finding.subject for finding in both.errors] == ["columns 'age', 'g1'"]
    text = diagnose(X, y, [("sex", Gaussian(), ["sex"])])
    assert "View(name, Mixed(), columns)" in text.errors[-1].remedy

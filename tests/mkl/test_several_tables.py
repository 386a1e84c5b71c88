"""Models on several tables: fit, predict, cross-validation, search, files; samples that lack tables."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline

from multikernel import KernelBank, MKLClassifier, MKLRegressor, load_model, save_model
from multikernel.kernels import Gaussian, Linear
from multikernel.mkl import MissingViewsWarning
from multikernel.views import MultiTable, View, join_views

RNG = np.random.default_rng(0)
N = 60
Y = np.arange(N) % 2
IDS = [f"p{i}" for i in range(N)]
GENES = pd.DataFrame(RNG.normal(size=(N, 4)) + Y[:, None], columns=[f"g{i}" for i in range(4)], index=IDS)
CLINIC = pd.DataFrame({"age": RNG.normal(size=N) - Y, "noise": RNG.normal(size=N)}, index=IDS)
TABLES = {"genes": GENES, "clinic": CLINIC}
WIDE = pd.concat([GENES, CLINIC], axis=1)
KERNELS = {"genes": Gaussian(gamma=0.2), "clinic": Linear()}
VIEWS = [("genes", Gaussian(gamma=0.2), list(GENES)), ("clinic", Linear(), list(CLINIC))]


def test_tables_are_the_views_of_one_wide_table():
    apart = MKLClassifier(KERNELS, tol=1e-6).fit(TABLES, Y)
    wide = MKLClassifier(VIEWS, tol=1e-6).fit(WIDE, Y)
    assert apart.view_names_ == wide.view_names_ == ["genes", "clinic"]
    np.testing.assert_allclose(apart.kernel_weights_, wide.kernel_weights_, atol=1e-5)
    np.testing.assert_allclose(apart.decision_function(TABLES), wide.decision_function(WIDE), atol=1e-4)
    assert list(apart.weights_frame().index) == ["genes", "clinic"] and apart.n_features_in_ == 6


@pytest.mark.parametrize(
    "X",
    [
        TABLES,
        MultiTable(TABLES),
        join_views(TABLES),
        {name: pl.from_pandas(table) for name, table in TABLES.items()},
        {"clinic": CLINIC[["noise", "age"]].assign(more=1.0), "genes": GENES, "other": GENES},
    ],
    ids=["dict", "MultiTable", "joined", "polars", "reordered"],
)
def test_tables_come_in_any_form(X):
    model = MKLClassifier(KERNELS).fit(TABLES, Y)
    np.testing.assert_array_equal(model.decision_function(X), model.decision_function(TABLES))
    assert model.contributions(X).shape == (N, 2)


def test_a_list_of_tables_and_automatic_kernels():
    model = MKLClassifier().fit([GENES, CLINIC], Y)
    assert {name.split("-")[0] + "-" + name.split("-")[1] for name in model.view_names_} == {
        "table-0",
        "table-1",
    }
    assert model.score([GENES, CLINIC], Y) > 0.8
    assert MKLClassifier("rbf").fit(TABLES, Y).view_names_ == ["genes", "clinic"]


def test_scikit_learn_splits_and_searches_them():
    X = join_views(TABLES)
    scores = cross_val_score(MKLClassifier(KERNELS), X, Y, cv=3)
    by_hand = cross_val_score(MKLClassifier(VIEWS), WIDE, Y, cv=3)
    np.testing.assert_array_equal(scores, by_hand)
    grid = {"kernels__genes__gamma": [0.01, 0.2], "kernels__clinic__kernel": ["linear", "rbf"], "C": [1.0]}
    search = GridSearchCV(make_pipeline("passthrough", MKLClassifier(KERNELS)), _named(grid), cv=3).fit(X, Y)
    assert len(search.cv_results_["params"]) == 4 and search.best_estimator_.predict(X).shape == (N,)
    assert {"genes": Gaussian(gamma=0.2), "clinic": Linear()} == KERNELS


def _named(grid):
    return {f"mklclassifier__{path}": values for path, values in grid.items()}


@pytest.mark.thorough
def test_processes_get_them_whole():
    X = join_views(TABLES)
    grid = {"kernels__genes__gamma": [0.01, 0.2]}
    alone = GridSearchCV(MKLClassifier(KERNELS), grid, cv=3).fit(X, Y)
    together = GridSearchCV(MKLClassifier(KERNELS), grid, cv=3, n_jobs=2).fit(X, Y)
    np.testing.assert_array_equal(
        alone.cv_results_["mean_test_score"], together.cv_results_["mean_test_score"]
    )


def test_equal_rows_are_one_sample_with_twice_the_weight():
    repeated = {name: table.iloc[[*range(N), 0, 1]] for name, table in TABLES.items()}
    weights = np.ones(N)
    weights[:2] = 2.0
    twice = MKLClassifier(KERNELS, tol=1e-6).fit(repeated, np.append(Y, Y[:2]))
    weighted = MKLClassifier(KERNELS, tol=1e-6).fit(TABLES, Y, weights)
    np.testing.assert_allclose(twice.decision_function(TABLES), weighted.decision_function(TABLES), atol=1e-9)


def test_an_outer_join_is_renormalized_and_says_so_once():
    X, y = join_views({"genes": GENES.iloc[:50], "clinic": CLINIC.iloc[5:]}, pd.Series(Y, IDS), how="outer")
    with pytest.warns(MissingViewsWarning, match="some samples lack a table after the outer join") as said:
        model = MKLClassifier(KERNELS).fit(X, y)
    assert len(said) == 1 and model.missing_ == "renormalize"
    told = MKLClassifier(KernelBank(KERNELS, missing="renormalize")).fit(X, y)
    np.testing.assert_array_equal(model.decision_function(X), told.decision_function(X))
    one = model.decision_function({"clinic": CLINIC})  # a whole table is absent
    assert roc_auc_score(Y, one) > roc_auc_score(Y, -CLINIC["age"]) - 0.05  # what it holds by itself
    with pytest.raises(ValueError, match="NaN"):
        MKLClassifier(KernelBank(KERNELS, missing="error")).fit(X, y)


def test_what_is_wrong_with_the_tables_is_named():
    model = MKLClassifier(KERNELS).fit(TABLES, Y)
    with pytest.raises(ValueError, match="fitted with the table 'clinic', which is not there at prediction"):
        model.predict({"genes": GENES})
    with pytest.raises(ValueError, match="table 'genes' lacks 1 columns that MKLClassifier was fitted on"):
        model.predict({"genes": GENES.drop(columns="g1"), "clinic": CLINIC})
    with pytest.raises(ValueError, match=r"view 'rna' reads the table 'rna', which X does not have"):
        MKLClassifier({"rna": "rbf"}).fit(TABLES, Y)
    with pytest.raises(ValueError, match="asks for columns that none of the tables"):
        MKLClassifier([View("v", Linear(), ["g0", "age"])]).fit(TABLES, Y)
    with pytest.raises(ValueError, match=r"'clinic' has 50 rows. Align them with join_views"):
        MKLClassifier(KERNELS).fit({"genes": GENES, "clinic": CLINIC[:50]}, Y)


def test_models_of_tables_are_saved(tmp_path):
    model = MKLRegressor(KERNELS).fit(TABLES, GENES["g0"] + CLINIC["age"])
    again = load_model(save_model(model, tmp_path / "model"))
    np.testing.assert_array_equal(again.predict(TABLES), model.predict(TABLES))
    with pytest.raises(ValueError, match="which is not there at prediction"):
        again.predict({"genes": GENES})
    assert clone(again).get_params()["kernels__genes__gamma"] == 0.2

"""Gates that see what no kernel of the machine reads: tables, kernels of their own, a kernel of a stack."""

import numpy as np
import pandas as pd
import pytest

from multikernel import View
from multikernel.core.inputs import distinct_samples
from multikernel.io import load_model, save_model
from multikernel.kernels import Gaussian, Linear
from multikernel.views import MultiTable
from tests.localized.localized_reference import gate_of, gated, gated_regressor
from tests.test_bad_input import refuses

RNG = np.random.default_rng(0)
TABLES = {name: RNG.normal(size=(80, width)) for name, width in (("where", 2), ("a", 3), ("b", 3))}
Y = np.where(TABLES["where"][:, 0] > 0, TABLES["a"][:, 0], TABLES["b"][:, 0]) > 0
VIEWS = [View("a", Gaussian(), table="a"), View("b", Gaussian(), table="b")]
X = np.hstack(list(TABLES.values()))
COLUMNS = [("a", Gaussian(), [2, 3, 4]), ("b", Gaussian(), [5, 6, 7])]


def standardised(Z, training):
    return (Z - training.mean(axis=0)) / training.std(axis=0)


def test_a_table_that_no_kernel_reads():
    model = gated(VIEWS, C=10.0, gating_features="where").fit(TABLES, Y)
    new = {name: RNG.normal(size=(7, table.shape[1])) for name, table in TABLES.items()}
    expected = gate_of("softmax", model.gating_[0], standardised(new["where"], TABLES["where"]))
    np.testing.assert_allclose(model.sample_kernel_weights(new), expected, rtol=1e-9)
    plain = gated(COLUMNS, C=10.0, gating_features=[0, 1]).fit(X, Y)
    np.testing.assert_allclose(  # solved with its rows in another order
        model.decision_function(new), plain.decision_function(np.hstack(list(new.values()))), atol=1e-2
    )
    del new["where"]
    with refuses("was fitted with the table 'where'"):
        model.predict(new)


def test_a_kernel_that_only_the_gate_has():
    own = View("place", Gaussian(gamma=0.5), [0, 1], standardize=False, normalize=None)
    model = gated(COLUMNS, C=10.0, gating_features=own).fit(X, Y)
    new = RNG.normal(size=(7, 8))
    rows = X[distinct_samples(X, Y[:, None], np.ones(80)).rows, :2]
    training = np.exp(-0.5 * ((rows[:, None] - rows[None]) ** 2).sum(axis=2))
    similar = np.exp(-0.5 * ((new[:, None, :2] - rows[None]) ** 2).sum(axis=2))
    expected = gate_of("softmax", model.gating_[0], standardised(similar, training))
    np.testing.assert_allclose(model.sample_kernel_weights(new), expected, rtol=1e-6)
    assert model.view_names_ == ["a", "b"] and model.kernel_weights_.shape == (2,)


def test_a_bare_kernel_reads_all_columns():
    model = gated(COLUMNS, gating_features=Linear()).fit(X, Y)
    named = gated(COLUMNS, gating_features=View("all", Linear())).fit(X, Y)
    np.testing.assert_array_equal(model.decision_function(X), named.decision_function(X))
    assert model.gating_[0].shape == (2, 81)


def test_a_view_of_a_table():
    own = View("place", Linear(), table="where", standardize=False, normalize=None)
    model = gated(VIEWS, gating_features=own).fit(TABLES, Y)
    rows = TABLES["where"][distinct_samples(MultiTable(TABLES), Y[:, None], np.ones(80)).rows]
    new = {name: RNG.normal(size=(7, table.shape[1])) for name, table in TABLES.items()}
    expected = gate_of("softmax", model.gating_[0], standardised(new["where"] @ rows.T, rows @ rows.T))
    np.testing.assert_allclose(model.sample_kernel_weights(new), expected, rtol=1e-6)


def test_a_view_of_a_frame_needs_its_columns():
    frame = pd.DataFrame(X, columns=list("stabcdef"))
    views = [("a", Gaussian(), ["a", "b", "c"]), ("b", Gaussian(), ["d", "e", "f"])]
    model = gated(views, gating_features=View("place", Gaussian(), ["s"])).fit(frame, Y)
    np.testing.assert_array_equal(model.predict(frame[list("fedcbas")]), model.predict(frame))
    with refuses("'s'"):
        model.predict(frame.drop(columns="s"))


class TestGateOnly:
    def test_a_named_view_is_no_kernel_of_the_machine(self):
        model = gated([("where", Linear(), [0, 1]), *COLUMNS], gating_features="where", gate_only=True)
        plain = gated(COLUMNS, gating_features=[0, 1])
        new = RNG.normal(size=(7, 8))
        first, second = model.fit(X, Y), plain.fit(X, Y)
        np.testing.assert_allclose(first.decision_function(new), second.decision_function(new), rtol=1e-9)
        assert first.view_names_ == ["a", "b"]
        np.testing.assert_allclose(first.contributions(new), second.contributions(new), rtol=1e-9, atol=1e-12)

    def test_a_kernel_of_a_stack(self):
        grams = {"a": [2, 3, 4], "where": [0, 1], "b": [5, 6, 7]}
        Ks = {name: Gaussian(gamma=0.5)(X[:, c], X[:, c]) for name, c in grams.items()}
        model = gated("precomputed", C=10.0, gating_features="where", gate_only=True).fit(Ks, Y)
        expected = gate_of("softmax", model.gating_[0], standardised(Ks["where"], Ks["where"]))
        np.testing.assert_allclose(model.sample_kernel_weights(Ks), expected, rtol=1e-6)
        K = np.einsum("nm,mni,im->ni", expected, np.stack([Ks["a"], Ks["b"]]), expected)[:, model.support_]
        np.testing.assert_allclose(
            model.decision_function(Ks), K @ model.dual_coef_[0] + model.intercept_[0], atol=1e-9
        )

    def test_with_copies_and_costs(self):
        views = [("where", Gaussian(), [0]), ("same", Gaussian(), [0]), *COLUMNS]
        model = gated(views, gating_features="where", gate_only=True, costs=[1.0, 2.0, 3.0]).fit(X, Y)
        assert model.view_names_ == ["same", "a", "b"]
        assert model.sample_costs(X).shape == (80,)

    def test_regression_and_saving(self, tmp_path):
        views = [("where", Linear(), [0, 1]), *COLUMNS]
        values = np.where(X[:, 0] > 0, X[:, 2], X[:, 5])
        model = gated_regressor(views, gating_features="where", gate_only=True).fit(X, values)
        save_model(model, tmp_path / "model.skops")
        again = load_model(tmp_path / "model.skops")
        np.testing.assert_array_equal(again.predict(X), model.predict(X))

    @pytest.mark.parametrize("wanted", [None, [0], "kernel", View("own", Linear())])
    def test_it_needs_a_name(self, wanted):
        with refuses("gate_only=True needs gating_features to be the name of one of several kernels"):
            gated(COLUMNS, gating_features=wanted, gate_only=True).fit(X, Y)

    def test_a_kernel_must_be_left(self):
        with refuses("gate_only=True needs"):
            gated(COLUMNS[:1], gating_features="a", gate_only=True).fit(X, Y)


def test_matrices_have_no_columns_for_a_kernel():
    Ks = np.stack([Gaussian(gamma=0.5)(X[:, c], X[:, c]) for c in ([0], [1])], axis=2)
    with refuses("gating_features must be the name of a kernel", "gate_only=True"):
        gated("precomputed", gating_features=Gaussian()).fit(Ks, Y)


def test_an_own_kernel_is_saved(tmp_path):
    model = gated(COLUMNS, gating_features=View("place", Gaussian(), [0, 1])).fit(X, Y)
    save_model(model, tmp_path / "model.skops")
    np.testing.assert_array_equal(load_model(tmp_path / "model.skops").predict(X), model.predict(X))


def test_names_of_tables_that_are_not_there():
    with refuses("the tables ['where', 'a', 'b']"):
        gated(VIEWS, gating_features="nowhere").fit(TABLES, Y)

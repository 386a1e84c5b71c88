"""Costs of kernels under a gate: the penalty, what samples cost, pruning and its bound, the path."""

import numpy as np
import pandas as pd
import pytest

from multikernel import LocalizedMKLClassifier, LocalizedMKLRegressor, stack_kernels
from multikernel.core.fitted import efficient_points
from multikernel.kernels import Gaussian
from multikernel.localized import gate_cost_path
from multikernel.viz import cost
from tests.localized.localized_reference import gated, gated_regressor
from tests.localized.solver.gated_problems import GATES
from tests.mkl.data import VIEWS, make_binary, make_table, make_three

RNG = np.random.default_rng(0)
X = RNG.normal(size=(150, 3))
Y = np.where(X[:, 0] > 0, X[:, 1] > 0, X[:, 0] > -1)  # the dear column counts on one side
CHEAP_DEAR = [("cheap", Gaussian(), [0]), ("dear", Gaussian(), [0, 1])]
NEW = np.random.default_rng(1).normal(size=(60, 3))


def cheap_gate(**parameters):
    return gated(CHEAP_DEAR, **{"C": 10.0, "gating_features": [0], "costs": {"dear": 10.0}, **parameters})


class TestPenalty:
    @pytest.mark.parametrize("gating", GATES)
    def test_the_objective_has_the_costs(self, gating):
        """J of the machine, recomputed from its duals, and the cost of the gate at the training samples."""
        model = cheap_gate(gating=gating, cost_reg=0.3).fit(X, Y)
        eta = model.sample_kernel_weights(X)
        penalty = 10.0 * 0.3 * (eta @ np.array([0.1, 1.0])).sum()
        duals = model.dual_coef_[0]
        norm = duals @ (model.decision_function(X) - model.intercept_)[model.support_]
        machine = np.abs(duals).sum() - 0.5 * norm
        assert model.objective_ == pytest.approx(machine + penalty, rel=1e-6)

    @pytest.mark.parametrize("gating", GATES)
    def test_dear_gates_close(self, gating):
        """The mean cost of the gate falls as it counts more."""
        means = [
            (
                cheap_gate(gating=gating, cost_reg=reg, tol=1e-4, max_iter=500).fit(X, Y).kernel_weights_
                @ [0.1, 1.0]
            )
            for reg in (0.0, 0.1, 1.0)
        ]
        assert means[0] > means[1] > means[2]

    def test_only_proportions_count(self):
        first, second = (cheap_gate(costs=costs).fit(X, Y) for costs in ([1.0, 4.0], [3.0, 12.0]))
        np.testing.assert_array_equal(first.decision_function(NEW), second.decision_function(NEW))

    def test_no_weight_on_costs_is_no_cost(self):
        free, plain = cheap_gate(cost_reg=0.0).fit(X, Y), cheap_gate(costs=None).fit(X, Y)
        np.testing.assert_array_equal(free.decision_function(NEW), plain.decision_function(NEW))

    def test_weights_of_samples_multiply_the_costs(self):
        weights = np.random.default_rng(0).integers(1, 3, 150)
        weighted = cheap_gate(cost_reg=0.3).fit(X, Y, weights)
        repeated = cheap_gate(cost_reg=0.3).fit(np.repeat(X, weights, axis=0), np.repeat(Y, weights))
        assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-9)

    def test_a_regressor_does_not_depend_on_the_unit(self):
        values = np.where(X[:, 0] > 0, X[:, 1], 0.0)
        given = {"costs": {"dear": 4.0}, "cost_reg": 0.2, "gating_features": [0]}
        small = gated_regressor(CHEAP_DEAR, C=1.0, epsilon=0.1, **given).fit(X, values)
        large = gated_regressor(CHEAP_DEAR, C=1024.0, epsilon=102.4, **given).fit(X, 1024.0 * values)
        np.testing.assert_allclose(large.kernel_weights_, small.kernel_weights_, rtol=1e-4)

    def test_the_choice_of_the_ridge_counts_the_costs(self):
        model = LocalizedMKLClassifier(CHEAP_DEAR, C=10.0, costs={"dear": 4.0}, cost_reg=0.5).fit(X, Y)
        free = LocalizedMKLClassifier(CHEAP_DEAR, C=10.0, costs={"dear": 4.0}, cost_reg=0.0).fit(X, Y)
        assert np.isfinite(model.gating_scores_.index.to_numpy()).all()
        assert (model.gating_scores_["loss"] > free.gating_scores_["loss"] + 0.05).all()

    def test_a_constant_gate_has_no_costs(self):
        with pytest.raises(ValueError, match="costs need a gate that depends on the sample"):
            cheap_gate(gating_reg=np.inf).fit(X, Y)

    @pytest.mark.parametrize(
        ("given", "words"),
        [
            ({"costs": [1.0]}, "costs must hold one number for each"),
            ({"costs": {"gold": 1.0}}, "unknown views"),
            ({"costs": [1.0, 0.0]}, "costs must be positive"),
            ({"cost_reg": -1.0}, "cost_reg must be at least 0"),
        ],
    )
    def test_costs_that_are_none(self, given, words):
        with pytest.raises(ValueError, match=words):
            cheap_gate(**given).fit(X, Y)


class TestPruning:
    @pytest.mark.parametrize("prune", [True, 0.0, 0.05, 0.5])
    @pytest.mark.parametrize("gating", GATES)
    def test_the_bound_holds(self, gating, prune):
        model = cheap_gate(gating=gating).fit(X, Y)
        exact = model.decision_function(NEW)
        pruned = model.set_params(prune=prune).decision_function(NEW)
        bound = model.pruning_bound(NEW)
        assert bound.shape == (60, 1)
        assert (np.abs(pruned - exact) <= bound[:, 0] + 1e-12).all()
        if prune == 0.0:
            np.testing.assert_allclose(pruned, exact, rtol=1e-12)

    @pytest.mark.parametrize("prune", [True, 0.2])
    @pytest.mark.parametrize("multiclass", ["ovr", "ovo", "joint"])
    def test_terms_are_left_out_where_either_gate_is_closed(self, multiclass, prune):
        """Scores written down from what the model publishes."""
        table, labels = make_three(90)
        new = make_table(20, seed=9)
        model = gated(VIEWS, multiclass=multiclass, prune=prune).fit(table, labels)
        threshold = 1e-3 if prune is True else prune
        here, there = model.sample_machine_weights(new), model.sample_machine_weights(table[model.support_])
        here, there = (np.where(eta > threshold, eta, 0.0) for eta in (here, there))
        from tests.mkl.data import plain_kernels

        K = plain_kernels(new, table[model.support_])
        parts = np.einsum("nkm,nim,ikm,ki->nkm", here, K, there, model.dual_coef_)
        np.testing.assert_allclose(model.contributions(new), parts, atol=1e-9)
        open_terms = (here[:, None] > 0) & (there[None] > 0) & (model.dual_coef_.T != 0)[None, :, :, None]
        np.testing.assert_array_equal(model.kernel_evaluations(new), open_terms.any(axis=2).sum(axis=1))

    def test_values_that_are_not_needed_are_not_computed(self):
        seen = []

        def watched(a, b):
            seen.append(len(a) * len(b))
            return np.exp(-0.5 * ((a[:, None] - b[None]) ** 2).sum(axis=2))

        views = [("cheap", watched, [0]), ("dear", Gaussian(), [0, 1])]
        model = gated(views, C=10.0, gating_features=[0], gating="gaussian", prune=0.2).fit(X, Y)
        seen.clear()
        model.decision_function(NEW)
        counts = model.kernel_evaluations(NEW)[:, 0]
        assert 0 < counts.sum() <= sum(seen)
        rows = (model.sample_kernel_weights(NEW)[:, 0] > 0.2).sum()
        columns = (model.sample_kernel_weights(X[model.support_])[:, 0] > 0.2).sum()
        assert sum(seen) == rows * columns < 60 * model.support_.size

    def test_a_cost_counts_values(self):
        model = cheap_gate(prune=True).fit(X, Y)
        counts = model.kernel_evaluations(NEW)
        np.testing.assert_allclose(model.sample_costs(NEW), counts @ np.array([1.0, 10.0]) / 11.0)
        assert counts.max() <= model.support_.size
        dense = model.set_params(prune=0.0).kernel_evaluations(NEW)
        assert (dense >= counts).all()

    def test_copies_share_values(self):
        views = [("a", Gaussian(), [0]), ("b", Gaussian(), [0])]
        model = gated(views, gating_features=[0], init_scale=0.1, prune=0.0).fit(X, Y)
        counts = model.kernel_evaluations(NEW)
        assert (counts[:, 1] == 0).all() and counts[:, 0].max() <= model.support_.size

    def test_precomputed_kernels(self):
        Ks = np.stack([Gaussian(gamma=1.0)(X[:, c], X[:, c]) for c in ([0], [0, 1])], axis=2)
        model = gated("precomputed", C=10.0, prune=0.1).fit(Ks, Y)
        pruned = model.decision_function(Ks)
        eta = np.where(model.sample_kernel_weights(Ks) > 0.1, model.sample_kernel_weights(Ks), 0.0)
        K = np.einsum("nm,nim,im->ni", eta, Ks, eta)[:, model.support_]
        np.testing.assert_allclose(pruned, K @ model.dual_coef_[0] + model.intercept_[0], atol=1e-9)
        with pytest.raises(ValueError, match="pruning_bound needs"):
            model.pruning_bound(Ks)

    def test_named_matrices(self):
        grams = {name: Gaussian(gamma=1.0)(X[:, c], X[:, c]) for name, c in (("a", [0]), ("b", [0, 1]))}
        model = gated("precomputed", prune=0.2).fit(stack_kernels(grams), Y)
        assert model.decision_function(stack_kernels(grams)).shape == (150,)

    @pytest.mark.parametrize("prune", [-0.1, 1.0, "yes", None])
    def test_thresholds_that_are_none(self, prune):
        with pytest.raises((TypeError, ValueError), match="prune must be"):
            gated(CHEAP_DEAR, prune=prune).fit(X, Y)


class TestPath:
    path = None

    def make_path(self):
        if TestPath.path is None:
            TestPath.path = gate_cost_path(cheap_gate(), X, Y, cost_regs=[0.0, 0.1, 2.0], cv=3)
        return TestPath.path

    def test_the_table_is_that_of_fits_on_the_folds(self):
        table = self.make_path().table
        assert list(table.index) == [0.0, 0.1, 2.0]
        from sklearn.model_selection import StratifiedKFold

        folds = StratifiedKFold(3).split(X, Y)
        model = cheap_gate(cost_reg=0.1, prune=True)
        scores, costs = [], []
        for train, test in folds:
            model.fit(X[train], Y[train])
            scores.append(model.score(X[test], Y[test]))
            costs.append(model.sample_costs(X[test]).mean())
        np.testing.assert_allclose(self.make_path().scores.loc[0.1], scores)
        assert table.loc[0.1, "score"] == pytest.approx(np.mean(scores))
        assert table.loc[0.1, "score_sd"] == pytest.approx(np.std(scores, ddof=1))
        assert table.loc[0.1, "cost"] == pytest.approx(np.mean(costs))
        np.testing.assert_array_equal(table["efficient"], efficient_points(table["cost"], table["score"]))
        assert table["gate_cost"].is_monotonic_decreasing

    def test_the_cheapest_of_the_good_ones(self):
        path = self.make_path()
        assert path.cheapest(within=0.0) in path.table.index[path.table["score"] == path.table["score"].max()]
        assert path.table["cost"].idxmin() == path.cheapest(within=1.0)

    def test_a_picture(self):
        axes = self.make_path().plot()
        assert "cost" in axes.get_xlabel()
        assert len(cost(self.make_path().table).get_lines()) == len(axes.get_lines())

    def test_representation(self):
        assert repr(self.make_path()).startswith("GateCostPath of 3 values")

    def test_regression(self):
        model = LocalizedMKLRegressor(CHEAP_DEAR, gating_reg=0.0, costs=[1.0, 2.0])
        path = gate_cost_path(model, X, X[:, 0] * X[:, 1], cost_regs=[0.0], cv=2, verbose=0)
        assert isinstance(path.table, pd.DataFrame)

    def test_progress(self, capsys):
        gate_cost_path(cheap_gate(max_iter=3, tol=0.5), X, Y, cost_regs=[0.0], cv=2, verbose=1)
        assert "cost_reg 0:" in capsys.readouterr().err

    @pytest.mark.parametrize(
        ("given", "error", "words"),
        [
            ({"estimator": gated(CHEAP_DEAR)}, ValueError, "estimator must have costs"),
            ({"estimator": Gaussian()}, TypeError, "estimator must be a LocalizedMKLClassifier"),
            ({"cost_regs": 1.0}, TypeError, "cost_regs must be a list"),
            ({"cost_regs": []}, ValueError, "at least one value"),
            ({"cost_regs": [1.0, 1.0]}, ValueError, "all of them different"),
            ({"cost_regs": [-1.0]}, ValueError, "cost_regs must be at least 0"),
        ],
    )
    def test_bad_calls(self, given, error, words):
        with pytest.raises(error, match=words):
            gate_cost_path(**{"estimator": cheap_gate(), "X": X, "y": Y, **given})


def test_binary_data_of_the_other_tests_too():
    table, labels = make_binary(60)
    model = gated(VIEWS, costs=[1.0, 2.0, 3.0]).fit(table, labels)
    assert model.sample_costs(table).shape == (60,)

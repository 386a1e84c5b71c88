"""Localized classifiers: starts, tolerances, interruptions, warnings; and pruning, counted row by row."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from multikernel import View
from multikernel.core.optim.loop import Status
from multikernel.datasets import make_gauss
from multikernel.kernels import Linear, Polynomial
from multikernel.localized.solver import machines
from tests.localized.localized_reference import classifier_values, gated, gated_regressor
from tests.localized.solver.gated_problems import largest_gap
from tests.localized.test_localized import localized
from tests.mkl.data import VIEWS, make_binary, make_table, make_three, plain_kernels
from tests.raw import raw


class TestSearch:
    X, y = make_binary(70)

    def test_the_best_of_several_starts(self):
        few, more = (localized(n_init=k, random_state=1).fit(self.X, self.y) for k in (2, 5))
        [first], [all_] = few.start_objectives_, more.start_objectives_
        assert first.shape == (2,)
        np.testing.assert_array_equal(all_[:2], first)
        assert more.objective_ == all_.min()
        assert {entry["start"] for entry in more.history_} == {int(all_.argmin())}
        assert more.n_solves_ > few.n_solves_

    def test_no_seed_is_always_the_same_and_another_one_is_not(self):
        one, two, other = (localized(random_state=seed).fit(self.X, self.y) for seed in (None, None, 8))
        np.testing.assert_array_equal(one.gating_[0], two.gating_[0])
        assert (one.gating_[0] != other.gating_[0]).any()

    def test_limited_memory(self):
        model = localized(solver="lbfgs").fit(self.X, self.y)
        values = [entry["objective"] for entry in model.history_]
        assert (np.diff(values) < 0).all()
        assert max(entry["step"] for entry in model.history_) <= 1.0 + 1e-12
        assert values[-1] < 0.7 * values[0]
        assert values[-1] != localized().fit(self.X, self.y).objective_
        [(dual, _)] = classifier_values(model, self.X, self.y, np.full(70, 2.0))
        assert model.objective_ == pytest.approx(dual, rel=1e-9)

    def test_the_ridge_is_part_of_the_objective_and_holds_the_gate(self):
        free, held = (localized(gating_reg=ridge).fit(self.X, self.y) for ridge in (0.0, 50.0))
        sizes = [np.linalg.norm(model.gating_[0][:, :-1]) for model in (free, held)]
        assert sizes[1] < 0.5 * sizes[0]
        [(dual, _)] = classifier_values(held, self.X, self.y, np.full(70, 2.0))
        assert held.objective_ == pytest.approx(dual + 25.0 * sizes[1] ** 2, rel=1e-9)

    def test_a_cut_off_descent_warns(self):
        with pytest.warns(
            ConvergenceWarning, match=r"did not settle to tol=0\.001 in 2 steps.*Raise max_iter"
        ):
            model = localized(max_iter=2).fit(self.X, self.y)
        assert model.status_ == "max_iter"
        assert model.n_iter_ == 2

    def test_a_callback_interrupts_and_the_model_is_that_of_the_last_step(self):
        model = localized(callback=lambda entry: entry["iteration"] == 3).fit(self.X, self.y)
        assert model.status_ == "interrupted"
        assert model.n_iter_ == 3
        assert set(model.history_[0]) >= {"start", "step", "gradient_norm"}
        [(dual, _)] = classifier_values(model, self.X, self.y, np.full(70, 2.0))
        assert model.objective_ == pytest.approx(dual, rel=1e-9)

    def test_exhausted_machines_warn(self, monkeypatch):
        monkeypatch.setattr(machines, "most_steps", lambda n: 5)
        with pytest.warns(ConvergenceWarning, match=r"used all the steps.*duality gap.*raise tol"):
            model = localized(max_iter=300).fit(self.X, self.y)
        assert model.dual_gap_ > 1e-4 and model.status_ == "stalled"
        pairs = classifier_values(model, self.X, self.y, np.full(70, 2.0))
        assert model.dual_gap_ == pytest.approx(largest_gap(pairs), rel=1e-6)

    def test_a_saturated_start_warns_and_the_gates_are_named(self):
        with pytest.warns(UserWarning, match=r"nearly all gate values were 0 or 1.*Lower init_scale"):
            model = localized(init_scale=1e5).fit(self.X, self.y)
        assert model.saturated_ == ["signal", "line", "noise"]
        assert model.status_ in list(Status)
        small = localized(max_iter=300).fit(self.X, self.y)
        assert small.status_ == "optimal"
        assert small.saturated_ == []

    def test_a_shut_gate_is_named_without_a_warning(self):
        """Sigmoid gates that ended at 0 or 1 are told, one by one."""
        views = raw([VIEWS[0], ("speck", lambda A, B: 1e-3 * A[:, [3]] @ B[:, [3]].T)])
        model = gated(views, gating="sigmoid", gating_features=3, tol=1e-4)
        model.fit(self.X, self.y)
        ends = model.sample_kernel_weights(self.X)
        assert (((ends <= 1e-3) | (ends >= 1 - 1e-3)).mean(axis=0) > 0.95).tolist() == [True, False]
        assert model.saturated_ == ["signal"] and model.status_ == "optimal"


def kept_parts(model, fresh, X, Ks):
    """Contributions (n, n_machines, n_kernels) of the terms whose gates are open at both ends."""
    here, there = (model.sample_machine_weights(rows) for rows in (fresh, X))
    here, there = (np.where(eta > 1e-3, eta, 0.0) for eta in (here, there[model.support_]))
    return np.einsum("nkm,nim,ikm,ki->nkm", here, Ks, there, model.dual_coef_)


class TestPruning:
    X, y = make_binary(90)
    fresh = make_table(60, seed=9)

    def make(self, prune, calls):
        """Views whose kernels count the rows they are asked for; a gate that closes."""

        def counted(name, width):
            def kernel(A, B):
                calls.append((name, len(A)))
                return np.exp(-width * ((A[:, None] - B[None]) ** 2).sum(axis=2))

            return (name, kernel)

        views = [counted("wide", 0.1), counted("narrow", 2.0), counted("middle", 0.5)]
        model = gated(views, C=50.0, prune=prune, init_scale=2.0, tol=1e-4, max_iter=1000, random_state=2)
        return model.fit(self.X, self.y)

    def test_only_open_kernels_are_computed(self):
        calls = []
        model = self.make(True, calls)
        is_open = model.active_kernels(self.fresh)
        assert 0.1 < is_open.mean() < 0.9
        calls.clear()
        pruned = model.decision_function(self.fresh)
        counts = {name: sum(n for called, n in calls if called == name) for name in model.view_names_}
        assert list(counts.values()) == is_open.sum(axis=0).tolist()
        exact = self.make(False, calls)
        calls.clear()
        full = exact.decision_function(self.fresh)
        assert sum(n for _, n in calls) == 180
        assert (np.abs(pruned - full) <= model.pruning_bound(self.fresh)[:, 0]).all()
        np.testing.assert_allclose(pruned, full, atol=0.05)
        assert (pruned != full).any()

    @pytest.mark.parametrize("precomputed", [False, True])
    def test_several_gates_and_copies(self, precomputed):
        """A kernel is computed where one of the gates that read it is open; precomputed stacks too."""
        if precomputed:
            X, fresh, y = plain_kernels(self.X, self.X), plain_kernels(self.fresh, self.X), self.y
            model = gated("precomputed", C=50.0, init_scale=0.5)
        else:
            (X, y), fresh = make_three(90), self.fresh
            views = [*VIEWS, replace(VIEWS[0], name="again")]
            model = gated(views, C=50.0, init_scale=5.0, tol=1e-4, max_iter=1000, multiclass="ovo")
        exact, pruned = (clone(model).set_params(prune=prune).fit(X, y) for prune in (False, True))
        is_open = exact.sample_machine_weights(fresh) > 1e-3
        assert is_open.shape == ((60, 1, 3) if precomputed else (60, 3, 4)) and not is_open.all()
        Ks = (fresh if precomputed else plain_kernels(fresh, X)[:, :, [0, 1, 2, 0]])[:, exact.support_]
        expected = kept_parts(exact, fresh, X, Ks)
        expected = expected[:, 0] if precomputed else expected
        np.testing.assert_allclose(pruned.contributions(fresh), expected, rtol=1e-9, atol=1e-9)


def test_copies_whose_gates_stay_alike_are_told():
    """Where there is nothing to learn a gate has one kernel, however many copies were given."""
    X, y = make_gauss("GAUSS4", n_samples=300, random_state=0)
    copies = [View(f"line {k}", Linear(), transforms="unit_diagonal", standardize=True) for k in range(3)]
    idle = gated_regressor(copies, C=10.0)
    with pytest.warns(UserWarning, match="gates of the copies 'line 0', 'line 1', 'line 2' are nearly alike"):
        idle.fit(X, np.ones(300))
    assert np.ptp(idle.sample_kernel_weights(X), axis=1).max() < 0.2
    patient = gated(copies, C=10.0).fit(X, y)  # and no warning
    assert np.ptp(patient.sample_kernel_weights(X), axis=1).max() > 0.5


@pytest.mark.parametrize("C", [1.0, 10.0])
def test_sigmoid_gates_of_copies_part_from_the_first_start(C):
    X, y = make_gauss("GAUSS4", n_samples=400, random_state=0)
    new, truth = make_gauss("GAUSS4", n_samples=4000, random_state=1)
    copies = [View(f"line {k}", Linear(), transforms="unit_diagonal", standardize=True) for k in range(3)]
    model = gated(copies, C=C, gating="sigmoid").fit(X, y)  # and no warning
    assert np.ptp(model.sample_kernel_weights(X), axis=1).max() > 0.9
    assert model.score(new, truth) > 0.88


@pytest.mark.parametrize("kernels", ["3 lines", "20 lines", "line and parabola"])
def test_more_kernels_than_pieces_do_no_harm(kernels):
    """The boundary of GAUSS4 has three pieces; the best rule is right on 89.7 % of its points."""
    X, y = make_gauss("GAUSS4", n_samples=400, random_state=0)
    new, truth = make_gauss("GAUSS4", n_samples=4000, random_state=1)
    line = View("line", Linear(), transforms="unit_diagonal", standardize=True)
    if kernels == "line and parabola":
        copies = [line, replace(line, name="parabola", kernel=Polynomial(2))]
    else:
        copies = [replace(line, name=f"line {k}") for k in range(int(kernels.split()[0]))]
    assert gated([line], C=10.0).fit(X, y).score(new, truth) < 0.87
    assert gated(copies, C=10.0).fit(X, y).score(new, truth) > 0.88

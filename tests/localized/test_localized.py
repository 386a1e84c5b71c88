"""Localized classifiers: everything they publish, recomputed from the formulas."""

import threading
import time

import numpy as np
import pytest
from sklearn.svm import SVC
from threadpoolctl import threadpool_info, threadpool_limits

from multikernel import KernelBank
from multikernel.kernels import Linear
from multikernel.localized import base
from multikernel.localized.solver.learn import GatedObjective
from tests.localized.localized_reference import classifier_values, gated, plain_contributions, plain_gate
from tests.localized.solver.gated_problems import GATES, largest_gap
from tests.mkl.data import VIEWS, make_binary, make_table, make_three, plain_kernels
from tests.raw import raw

# strategy, whether the gate is shared, machines, gates (three classes)
STRATEGIES = [("ovr", False, 3), ("ovr", True, 1), ("ovo", False, 3), ("ovo", True, 1), ("joint", False, 1)]


def localized(**parameters):
    return gated(VIEWS, **{"C": 2.0, "max_iter": 300, **parameters})


def blas_threads():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


class TestBinary:
    X, y = make_binary(90)
    fresh = make_table(25, seed=9)

    @pytest.mark.parametrize("gating", GATES)
    def test_everything_published_is_what_it_says(self, gating):
        model = localized(gating=gating).fit(self.X, self.y)
        assert model.classes_.tolist() == ["no", "yes"]
        assert model.view_names_ == ["signal", "line", "noise"]
        assert model.dual_coef_.shape == (1, model.support_.size)
        assert model.intercept_.shape == (1,)
        assert [V.shape for V in model.gating_] == [(3, 5)]
        gate = plain_gate(gating, model.gating_[0], self.fresh, self.X)
        np.testing.assert_allclose(model.sample_kernel_weights(self.fresh), gate, rtol=1e-9)
        np.testing.assert_array_equal(model.active_kernels(self.fresh), gate > 1e-3)
        mean = plain_gate(gating, model.gating_[0], self.X, self.X).mean(axis=0)
        np.testing.assert_allclose(model.kernel_weights_, mean, rtol=1e-9)
        np.testing.assert_allclose(model.machine_weights_, [mean], rtol=1e-9)
        parts = plain_contributions(model, self.fresh, self.X)[:, 0]
        np.testing.assert_allclose(model.contributions(self.fresh), parts, rtol=1e-9, atol=1e-9)
        scores = parts.sum(axis=1) + model.intercept_[0]
        np.testing.assert_allclose(model.decision_function(self.fresh), scores, rtol=1e-9, atol=1e-9)
        np.testing.assert_array_equal(model.predict(self.fresh), np.where(scores > 0, "yes", "no"))
        [(dual, primal)] = pairs = classifier_values(model, self.X, self.y, np.full(90, 2.0))
        assert model.objective_ == pytest.approx(dual, rel=1e-9)
        assert model.dual_gap_ == pytest.approx(largest_gap(pairs), abs=1e-9)
        assert 0.0 <= model.dual_gap_ <= 1e-4  # a tenth of tol
        assert primal == pytest.approx(dual, rel=1e-4)
        assert model.status_ == "optimal"
        signed = model.dual_coef_[0] * np.where(self.y[model.support_] == "yes", 1.0, -1.0)
        assert 0.0 < signed.min() <= signed.max() <= 2.0 * (1 + 1e-12)
        assert abs(model.dual_coef_.sum()) < 1e-9

    def test_history_starts_at_the_even_gate_and_never_rises(self):
        model = localized().fit(self.X, self.y)
        values = [entry["objective"] for entry in model.history_]
        assert (np.diff(values) < 0).all()
        assert values[-1] == model.objective_
        last = model.history_[-1]["gradient_norm"]
        assert model.gradient_norm_ == pytest.approx(last / model.objective_, rel=1e-12)
        assert [entry["iteration"] for entry in model.history_] == list(range(model.n_iter_ + 1))
        assert {entry["machine"] for entry in model.history_} == {0}
        assert model.n_solves_ > model.n_iter_
        even = SVC(C=2.0, kernel="precomputed", tol=1e-8)
        K = plain_kernels(self.X, self.X).sum(axis=2) / 9.0
        beta = np.zeros(90)
        even.fit(K, self.y)
        beta[even.support_] = even.dual_coef_[0]
        assert values[0] == pytest.approx(np.abs(beta).sum() - 0.5 * beta @ K @ beta, rel=0.02)

    def test_the_certificate_holds_at_loose_and_tight_tolerances(self):
        for tol in (1e-1, 1e-2, 1e-5):
            model = localized(tol=tol).fit(self.X, self.y)
            assert model.dual_gap_ <= 0.1 * tol
            pairs = classifier_values(model, self.X, self.y, np.full(90, 2.0))
            assert largest_gap(pairs) <= 0.1 * tol

    def test_a_tighter_tolerance_and_patience_never_end_higher(self):
        loose, tight, patient = (
            localized(**options).fit(self.X, self.y).objective_
            for options in ({"tol": 0.03}, {"tol": 1e-4}, {"tol": 0.03, "patience": 4})
        )
        assert tight < loose
        assert patient < loose

    def test_one_competing_kernel_is_a_plain_machine(self):
        K = plain_kernels(self.X, self.X)[:, :, 0]
        peer = SVC(C=2.0, kernel="precomputed", tol=1e-8).fit(K, self.y)
        for gating in ("softmax", "gaussian"):
            model = gated([VIEWS[0]], C=2.0, gating=gating, tol=1e-6).fit(self.X, self.y)
            assert model.n_solves_ == 1
            np.testing.assert_array_equal(model.sample_kernel_weights(self.fresh), 1.0)
            np.testing.assert_allclose(model.decision_function(self.X), peer.decision_function(K), atol=1e-3)


class TestSeveralClasses:
    X, y = make_three(90)
    fresh = make_table(25, seed=9)

    @pytest.mark.parametrize(("multiclass", "shared", "n_gates"), STRATEGIES)
    def test_everything_published_is_what_it_says(self, multiclass, shared, n_gates):
        model = localized(multiclass=multiclass, shared_gate=shared).fit(self.X, self.y)
        pairs = {"ovr": "a b c", "joint": "a b c", "ovo": "a vs b,a vs c,b vs c"}[multiclass]
        assert model.machine_names_ == (pairs.split(",") if multiclass == "ovo" else pairs.split())
        assert model.dual_coef_.shape == (3, model.support_.size)
        assert model.intercept_.shape == (3,)
        assert len(model.gating_) == n_gates
        etas = np.stack([plain_gate("softmax", V, self.fresh, self.X) for V in model.gating_], axis=1)
        np.testing.assert_allclose(model.sample_kernel_weights(self.fresh), etas.mean(axis=1), rtol=1e-9)
        by_machine = etas if n_gates > 1 else np.repeat(etas, 3, axis=1)
        np.testing.assert_allclose(model.sample_machine_weights(self.fresh), by_machine, rtol=1e-9)
        np.testing.assert_array_equal(model.active_kernels(self.fresh), (etas > 1e-3).any(axis=1))
        means = [plain_gate("softmax", V, self.X, self.X).mean(axis=0) for V in model.gating_]
        np.testing.assert_allclose(model.kernel_weights_, np.mean(means, axis=0), rtol=1e-9)
        each = np.array(means if n_gates > 1 else means * 3)
        np.testing.assert_allclose(model.machine_weights_, each, rtol=1e-9)
        parts = plain_contributions(model, self.fresh, self.X)
        np.testing.assert_allclose(model.contributions(self.fresh), parts, rtol=1e-8, atol=1e-8)
        scores = parts.sum(axis=2) + model.intercept_
        found = model.decision_function(self.fresh)
        if multiclass == "ovo":
            wins = np.zeros((25, 3))
            for k, (a, b) in enumerate([(0, 1), (0, 2), (1, 2)]):
                wins[np.arange(25), np.where(scores[:, k] >= 0, a, b)] += 1
            np.testing.assert_array_equal(np.round(found), wins)
        else:
            np.testing.assert_allclose(found, scores, rtol=1e-8, atol=1e-8)
        np.testing.assert_array_equal(model.predict(self.fresh), model.classes_[found.argmax(axis=1)])
        pairs = classifier_values(model, self.X, self.y, np.full(90, 2.0))
        assert model.objective_ == pytest.approx(sum(dual for dual, _ in pairs), rel=1e-9)
        assert model.dual_gap_ == pytest.approx(largest_gap(pairs), abs=1e-9)
        assert model.dual_gap_ <= 1e-4
        assert model.score(self.X, self.y) > 0.9

    def test_separate_gates_are_learned_and_told_one_by_one(self):
        model = localized().fit(self.X, self.y)
        assert len({V.tobytes() for V in model.gating_}) == 3
        assert {entry["machine"] for entry in model.history_} == {0, 1, 2}
        assert model.objective_ == pytest.approx(
            sum([e["objective"] for e in model.history_ if e["machine"] == k][-1] for k in range(3)),
            rel=1e-12,
        )
        assert len(model.start_objectives_) == 3

    @pytest.mark.parametrize("interrupted", [0, 2])
    def test_the_status_is_the_worst_of_the_gates(self, interrupted):
        begun = []

        def callback(entry):
            begun.extend([entry] if entry["iteration"] == 0 else [])
            return len(begun) == interrupted + 1

        model = localized(tol=0.05, callback=callback).fit(self.X, self.y)
        assert model.status_ == "interrupted"
        assert len(begun) == 3
        steps = [max(e["iteration"] for e in model.history_ if e["machine"] == k) for k in range(3)]
        assert steps[interrupted] == 0
        assert sorted(steps)[1] > 0

    def test_solves_are_counted_machine_by_machine(self, monkeypatch):
        """Every value of the objective takes one machine for each class or pair; the joint one is one."""
        asked = []
        value = GatedObjective.value

        def counted(objective, theta, ceiling=np.inf):
            asked.append(getattr(objective.machines, "losses", [None]))
            return value(objective, theta, ceiling)

        monkeypatch.setattr(GatedObjective, "value", counted)
        localized().fit(self.X, self.y)  # compiles on a tiny problem, which is not counted
        for multiclass, shared, _ in STRATEGIES:
            asked.clear()
            model = localized(multiclass=multiclass, shared_gate=shared, tol=0.05).fit(self.X, self.y)
            assert model.n_solves_ == sum(map(len, asked))

    def test_threads_change_nothing(self):
        one, two = (localized(n_jobs=jobs).fit(self.X, self.y) for jobs in (None, 2))
        np.testing.assert_array_equal(one.dual_coef_, two.dual_coef_)
        assert one.history_ == two.history_

    def test_gates_learned_at_the_same_time_leave_the_linear_algebra_as_it_was(self, monkeypatch):
        """One thread while they learn, whichever ends first, and what was set before thereafter."""
        learn, barrier, seen = base.learn_gates, threading.Barrier(3), []

        def staggered(*arguments):
            place = barrier.wait()
            result = learn(*arguments)
            time.sleep(0.05 * place)
            seen.append(blas_threads())
            return result

        monkeypatch.setattr(base, "learn_gates", staggered)
        with threadpool_limits(limits=2):
            before = blas_threads()
            localized(n_jobs=3, tol=0.1).fit(self.X, self.y)
            assert blas_threads() == before
        assert seen == [[1] * len(before)] * 3

    def test_two_classes_are_one_machine_whatever_the_strategy(self):
        X, y = make_binary(60)
        models = [localized(multiclass=m).fit(X, y) for m in ("ovr", "ovo", "joint")]
        for model in models:
            np.testing.assert_array_equal(model.dual_coef_, models[0].dual_coef_)
            assert model.machine_names_ == ["yes"]


class TestCopies:
    X, y = make_binary(70)
    fresh = make_table(20, seed=9)

    def test_a_bank_of_distinct_views_and_of_copies_are_the_same_model(self):
        """Copies that storage cannot tell: a function kernel beside the class, equal in value."""

        def line(A, B):
            if np.array_equal(A, B):  # the same bits: descents from kernels that differ by rounding part
                return KernelBank(raw([Linear()])).fit_stack(A)[0]
            return Linear()(A, B)

        shared = gated(raw([Linear(), Linear(), Linear()]), C=5.0).fit(self.X, self.y)
        apart = gated(raw([Linear(), line, Linear()]), C=5.0).fit(self.X, self.y)
        assert shared.view_names_ == ["linear", "linear-2", "linear-3"]
        np.testing.assert_allclose(shared.gating_[0], apart.gating_[0], rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(
            shared.decision_function(self.fresh), apart.decision_function(self.fresh), rtol=1e-6, atol=1e-8
        )
        assert shared.objective_ == pytest.approx(apart.objective_, rel=1e-9)

    def test_copies_are_computed_once(self):
        calls = []

        def line(A, B):
            calls.append(len(A))
            return A @ B.T

        gated([("a", line)], C=5.0).fit(self.X, self.y)
        alone = sum(calls)
        calls.clear()
        model = gated([("a", line), ("b", line), ("c", line)], C=5.0).fit(self.X, self.y)
        assert sum(calls) == alone > 0
        calls.clear()
        model.decision_function(self.fresh)
        assert sum(calls) == 20


def test_progress_is_written_to_standard_error(capsys):
    X, y = make_three(60)
    localized(verbose=1, tol=0.1).fit(X, y)
    out, err = capsys.readouterr()
    assert out == ""
    for name in ("a", "b", "c"):
        assert f"[multikernel] {name}: iteration   0  objective" in err

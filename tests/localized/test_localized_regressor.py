"""Localized regression and novelty detection: everything they publish, recomputed from the formulas."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import OneClassSVM

from multikernel.kernels import Gaussian, Linear, Polynomial
from multikernel.localized import LocalizedMKLOneClass
from multikernel.views import KernelWarning
from tests.localized.localized_reference import (
    full_duals,
    gated_regressor,
    plain_contributions,
    plain_gate,
    plain_scores,
)
from tests.localized.solver.gated_problems import GATES, largest_gap, one_class_values, svr_values
from tests.mkl.data import VIEWS, make_regression, make_table
from tests.raw import raw


class TestRegressor:
    X, y = make_regression(80)
    fresh = make_table(25, seed=9)

    def fit(self, **parameters):
        return gated_regressor(VIEWS, **{"C": 3.0, "epsilon": 0.05, **parameters}).fit(self.X, self.y)

    @pytest.mark.parametrize(("gating", "weighted"), [*((name, False) for name in GATES), ("softmax", True)])
    def test_everything_published_is_what_it_says(self, gating, weighted):
        weights = np.random.default_rng(0).uniform(0.2, 3.0, size=80) if weighted else np.ones(80)
        model = gated_regressor(VIEWS, C=3.0, epsilon=0.05, gating=gating)
        model.fit(self.X, self.y, weights)
        assert model.machine_names_ == ["y"]
        assert model.dual_coef_.shape == (1, model.support_.size)
        np.testing.assert_allclose(
            model.sample_kernel_weights(self.fresh),
            plain_gate(gating, model.gating_[0], self.fresh, self.X),
            rtol=1e-9,
        )
        gate = plain_gate(gating, model.gating_[0], self.X, self.X)
        np.testing.assert_allclose(model.kernel_weights_, np.average(gate, axis=0, weights=weights))
        predicted = model.predict(self.fresh)
        assert predicted.shape == (25,)
        np.testing.assert_allclose(predicted, plain_scores(model, self.fresh, self.X)[:, 0], rtol=1e-9)
        np.testing.assert_allclose(model.contributions(self.fresh).sum(axis=1) + model.intercept_, predicted)
        # Dual and primal value, from the public attributes.
        beta = full_duals(model, 80)[0]
        part = plain_contributions(model, self.X, self.X).sum(axis=2)[:, 0]
        f = part + model.intercept_[0]
        dual, primal = svr_values(self.y, 3.0 * weights, 0.05, beta, f, 0.5 * beta @ part)
        assert model.objective_ == pytest.approx(dual, rel=1e-8)
        assert model.dual_gap_ == pytest.approx((primal - dual) / primal, abs=1e-8)
        assert 0.0 <= model.dual_gap_ <= 1e-4
        assert (np.abs(beta) <= 3.0 * weights * (1 + 1e-12)).all()
        assert abs(beta.sum()) < 1e-9
        assert model.score(self.X, self.y) > 0.9

    def test_a_shift_of_the_targets_is_a_shift_of_the_intercept(self):
        tight = {"tol": 1e-6, "callback": lambda entry: entry["iteration"] == 5}
        plain = self.fit(**tight)
        far = gated_regressor(VIEWS, C=3.0, epsilon=0.05, **tight).fit(self.X, self.y + 1e6)
        np.testing.assert_allclose(far.predict(self.fresh) - 1e6, plain.predict(self.fresh), atol=1e-4)
        assert far.objective_ == pytest.approx(plain.objective_, rel=1e-5)

    @pytest.mark.parametrize("size", [1e-7, 1e-3, 1e3, 1e7])
    def test_the_units_of_the_targets_do_not_matter(self, size):
        """C, ε and y in other units: the same steps, and predictions in these units."""
        tight = {"tol": 1e-6, "callback": lambda entry: entry["iteration"] == 5}
        plain = self.fit(**tight)
        other = gated_regressor(VIEWS, C=3.0 * size, epsilon=0.05 * size, **tight)
        other.fit(self.X, self.y * size)
        assert other.n_iter_ == 5
        assert other.objective_ == pytest.approx(plain.objective_ * size**2, rel=1e-4)
        np.testing.assert_allclose(
            other.sample_kernel_weights(self.fresh), plain.sample_kernel_weights(self.fresh), atol=1e-3
        )
        np.testing.assert_allclose(other.predict(self.fresh) / size, plain.predict(self.fresh), atol=1e-2)

    def test_piecewise_lines(self):
        """|x| by two lines with a bias each. Steepest descent would end this valley in hundreds of steps."""
        X = np.linspace(-3, 3, 120)[:, None]
        y = np.abs(X[:, 0])
        one = gated_regressor([Polynomial(1)], C=10.0, epsilon=0.02).fit(X, y)
        two = gated_regressor([Polynomial(1)] * 2, C=10.0, epsilon=0.02, solver="lbfgs").fit(X, y)
        assert one.score(X, y) < 0.2
        assert two.score(X, y) > 0.98
        assert two.view_names_ == ["polynomial", "polynomial-2"]
        left, right = two.sample_kernel_weights([[-2.0], [2.0]])
        assert left.argmax() != right.argmax()

    def test_targets_too_small_for_floating_point_are_told(self):
        """Sizes of 1e-14: rounding of the scores is as large as they are."""
        size = 1e-14
        model = gated_regressor(VIEWS, C=3.0 * size, epsilon=0.05 * size)
        with pytest.warns(ConvergenceWarning, match=r"duality gap.*floating point.*size of 1"):
            model.fit(self.X, (self.y - 10.0) * size)
        assert model.dual_gap_ > 1e-3

    def test_targets_within_epsilon_are_an_intercept(self):
        """No support samples: the model is its intercept, with a gate all the same."""
        y = 5.0 + 0.01 * np.sin(np.arange(80))
        model = gated_regressor(VIEWS, epsilon=0.1).fit(self.X, y)
        assert model.support_.size == 0
        assert model.dual_coef_.shape == (1, 0)
        np.testing.assert_allclose(model.predict(self.fresh), 5.0, atol=0.1)
        assert model.objective_ == 0.0
        assert model.status_ == "optimal"
        assert model.sample_kernel_weights(self.fresh).shape == (25, 3)


class TestOneClass:
    X = make_table(100)
    fresh = make_table(30, seed=9)
    views = raw([("x", Gaussian(gamma=0.5), [0]), ("y", Gaussian(gamma=0.5), [1])])

    def fit(self, **parameters):
        return LocalizedMKLOneClass(list(self.views), **{"nu": 0.2, "tol": 0.05, **parameters}).fit(self.X)

    @staticmethod
    def kernels(A, B):
        return np.stack([np.exp(-0.5 * (A[:, [d]] - B[:, d]) ** 2) for d in (0, 1)], axis=2)

    @pytest.mark.filterwarnings("ignore:the gate is open:UserWarning")
    @pytest.mark.parametrize("gating", GATES)
    def test_everything_published_is_what_it_says(self, gating):
        model = self.fit(gating=gating, callback=lambda entry: entry["iteration"] == 2)
        assert model.n_iter_ == 2
        options = {"gating_columns": [0, 1], "kernels": self.kernels}
        scores = plain_scores(model, self.fresh, self.X, **options)[:, 0]
        np.testing.assert_allclose(model.decision_function(self.fresh), scores, rtol=1e-9, atol=1e-12)
        np.testing.assert_array_equal(model.predict(self.fresh), np.where(scores >= 0, 1, -1))
        np.testing.assert_allclose(model.score_samples(self.fresh) - model.offset_, scores, atol=1e-12)
        beta = full_duals(model, 100)[0]
        assert beta.sum() == pytest.approx(1.0, rel=1e-12)
        assert 0.0 <= beta.min() <= beta.max() <= (1 + 1e-12) / 20.0
        part = plain_contributions(model, self.X, self.X, **options).sum(axis=2)[:, 0]
        bounds, f = np.full(100, 1.0 / 20.0), part - model.offset_
        dual, primal = one_class_values(bounds, -model.offset_, f, 0.5 * beta @ part)
        assert model.objective_ == pytest.approx(dual, rel=1e-9)
        assert model.dual_gap_ == pytest.approx(largest_gap([(dual, primal)]), abs=1e-8)
        assert 0.0 <= model.dual_gap_ <= 5e-3

    def test_the_share_of_outliers(self):
        for nu in (0.1, 0.5):
            model = self.fit(nu=nu, tol=1e-2, gating_reg=0.5)
            outside = np.mean(model.predict(self.X) == -1)
            assert outside <= nu + 0.03
            assert model.support_.size / 100 >= nu
        assert model.fit_predict(self.X).shape == (100,)

    def test_only_the_proportions_of_weights_count(self):
        """A power of two, by which proportions are the same to the last bit, and so is the descent."""
        weights = np.random.default_rng(0).uniform(0.2, 3.0, size=100)
        one, eight = (
            LocalizedMKLOneClass(list(self.views), nu=0.2, tol=0.2).fit(
                self.X, sample_weight=factor * weights
            )
            for factor in (1.0, 8.0)
        )
        np.testing.assert_array_equal(one.dual_coef_, eight.dual_coef_)
        share = one.dual_coef_[0] / (weights[one.support_] / (0.2 * weights.sum()))
        assert share.max() == pytest.approx(1.0, rel=1e-9)

    def test_one_competing_kernel_is_the_plain_machine(self):
        K = self.kernels(self.X, self.X)[:, :, 0]
        peer = OneClassSVM(nu=0.2, kernel="precomputed", tol=1e-9).fit(K)
        model = LocalizedMKLOneClass([self.views[0]], nu=0.2, tol=1e-7).fit(self.X)
        np.testing.assert_allclose(
            20.0 * model.decision_function(self.X), peer.decision_function(K), atol=1e-4
        )

    def test_a_collapse_is_told(self):
        views = raw([("narrow", Gaussian(gamma=5.0), [0, 1]), ("wide", Gaussian(gamma=0.01), [0, 1])])
        with pytest.warns(UserWarning, match=r"open for view 'wide' nearly everywhere.*collapsed") as told:
            model = LocalizedMKLOneClass(views, nu=0.2).fit(self.X)
        assert model.kernel_weights_[1] > 0.99
        assert "sum of the kernels" not in str(told[0].message)
        # One kernel has nothing to collapse on to.
        LocalizedMKLOneClass([views[1]], nu=0.2).fit(self.X)

    def test_gates_that_are_all_open_are_told_as_the_sum_of_the_kernels(self):
        with pytest.warns(UserWarning, match=r"all gates are open.*the plain sum of the kernels") as told:
            model = self.fit(gating="sigmoid", tol=1e-4, max_iter=300)
        assert len(told) == 1
        assert "alike in size" not in str(told[0].message)
        assert model.kernel_weights_.min() > 0.99
        K = self.kernels(self.X, self.X).sum(axis=2)
        peer = OneClassSVM(nu=0.2, kernel="precomputed", tol=1e-9).fit(K)
        np.testing.assert_allclose(
            20.0 * model.decision_function(self.X), peer.decision_function(K), atol=0.1
        )

    def test_sigmoid_gates_name_the_views_they_are_open_for(self):
        views = raw([*self.views, ("faint", Gaussian(gamma=0.5) * 1e-6, [0, 1])])
        with pytest.warns(UserWarning, match="open for views? '|of different scale") as told:
            model = LocalizedMKLOneClass(views, nu=0.2, gating="sigmoid", tol=1e-4).fit(self.X)
        [scales, gates] = told
        assert scales.category is KernelWarning
        assert "open for view" in str(gates.message)
        for name, weight in zip(model.view_names_, model.kernel_weights_, strict=True):
            assert (repr(name) in str(gates.message)) == (weight > 0.99)
        assert model.kernel_weights_.min() < 0.99

    def test_samples_on_all_sides_of_the_origin_are_no_class(self):
        """A linear kernel without bias cannot keep them from the origin: J = 0, and no certificate."""
        with pytest.warns(ConvergenceWarning, match=r"duality gap.*away from the origin"):
            model = LocalizedMKLOneClass(raw([Linear()]), nu=0.2).fit(self.X)
        assert abs(model.objective_) < 1e-12
        LocalizedMKLOneClass(raw([Linear()]), nu=0.2).fit(self.X + 5.0)

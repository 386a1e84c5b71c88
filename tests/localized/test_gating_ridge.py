"""The ridge on the gate, chosen by folds: what is chosen, by which figures, and the constant gate."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

from multikernel import LocalizedMKLClassifier, LocalizedMKLRegressor, MKLClassifier, MKLRegressor, View
from multikernel.datasets import make_gauss, make_piecewise
from multikernel.kernels import Linear, Polynomial
from multikernel.localized import LocalizedMKLOneClass, base
from multikernel.localized.ridge import RIDGES, compare_losses
from tests.mkl.data import VIEWS, make_binary, make_regression, make_table, make_three

X, Y = make_binary(90)
NEW = make_table(25, seed=9)
STRATEGIES = [("ovr", False), ("ovr", True), ("ovo", False), ("ovo", True), ("joint", False)]


class TestConstantGate:
    @pytest.mark.parametrize("gating", ["softmax", "sigmoid", "gaussian"])
    def test_it_is_multiple_kernel_learning(self, gating):
        gated = LocalizedMKLClassifier(VIEWS, C=2.0, gating=gating, gating_reg=np.inf, tol=1e-7).fit(X, Y)
        plain = MKLClassifier(VIEWS, C=2.0, tol=1e-7).fit(X, Y)
        np.testing.assert_allclose(gated.decision_function(NEW), plain.decision_function(NEW), atol=1e-3)
        np.testing.assert_allclose(gated.kernel_weights_**2, plain.kernel_weights_, atol=1e-3)
        assert gated.objective_ == pytest.approx(plain.objective_, rel=1e-6)
        assert np.ptp(gated.sample_kernel_weights(NEW), axis=0).max() == 0.0
        assert gated.gating_reg_ == np.inf and gated.gating_scores_ is None and gated.gradient_norm_ == 0.0

    def test_in_regression_too(self):
        table, targets = make_regression(80)
        gated = LocalizedMKLRegressor(VIEWS, C=3.0, epsilon=0.1, gating_reg=np.inf, tol=1e-7)
        plain = MKLRegressor(VIEWS, C=3.0, epsilon=0.1, tol=1e-7).fit(table, targets)
        found = gated.fit(table, targets).predict(NEW)
        np.testing.assert_allclose(found, plain.predict(NEW), atol=1e-3)

    @pytest.mark.parametrize(("multiclass", "shared"), STRATEGIES)
    def test_with_several_classes(self, multiclass, shared):
        table, labels = make_three(90)
        gated = LocalizedMKLClassifier(
            VIEWS, multiclass=multiclass, shared_gate=shared, gating_reg=np.inf, tol=1e-6
        ).fit(table, labels)
        assert gated.dual_gap_ <= 1e-6
        if shared and multiclass == "ovo":  # which MKLClassifier does not have
            return
        plain = MKLClassifier(VIEWS, multiclass="shared" if shared else multiclass, tol=1e-6)
        expected = plain.fit(table, labels).decision_function(NEW)
        np.testing.assert_allclose(gated.decision_function(NEW), expected, atol=1e-2)

    def test_machines_on_pairs_that_share_weights(self):
        """The mean gate of any weights nearby is no better: they are a minimum of the sum over the pairs."""
        table, labels = make_three(60)
        given = {"multiclass": "ovo", "shared_gate": True, "gating_reg": np.inf, "tol": 1e-6}
        best = LocalizedMKLClassifier(VIEWS, **given).fit(table, labels).objective_
        sizes = np.random.default_rng(0).dirichlet(np.ones(3), 8)
        for size in sizes:
            views = [
                View(name, kernel, columns, standardize=False, normalize=None)
                for name, kernel, columns in [("sum", _Weighted(size), None)]
            ]
            single = LocalizedMKLClassifier(views, **given).fit(table, labels)
            assert single.objective_ >= best * (1.0 - 1e-5)

    def test_copies_share_a_weight(self):
        views = [View("a", Linear()), View("b", Linear()), View("c", Polynomial(2))]
        gated = LocalizedMKLClassifier(views, gating_reg=np.inf).fit(X, Y)
        one, two, _ = gated.kernel_weights_
        assert one == two
        plain = MKLClassifier(views[1:]).fit(X, Y)
        assert gated.objective_ == pytest.approx(plain.objective_, rel=1e-3)


class _Weighted:
    """The kernels of VIEWS with fixed weights."""

    def __new__(cls, weights):
        from multikernel.kernels import as_kernel
        from tests.mkl.data import plain_kernels

        return as_kernel(lambda a, b: plain_kernels(a, b) @ weights)


class TestChoice:
    def test_losses_are_those_of_fits_on_the_folds(self):
        """Precomputed kernels: folds of the stack are then plain folds."""
        from tests.mkl.data import plain_kernels

        Ks = plain_kernels(X, X)
        model = LocalizedMKLClassifier("precomputed", C=2.0, gating="sigmoid").fit(Ks, Y)
        assert list(model.gating_scores_.index) == [2.0 * r for r in RIDGES]
        folds = list(StratifiedKFold(5, shuffle=True, random_state=0).split(X, Y))
        plain = clone(model).set_params(gating_reg=np.inf)
        wrong = np.concatenate(
            [
                plain.fit(Ks[np.ix_(train, train)], Y[train]).predict(Ks[np.ix_(test, train)]) != Y[test]
                for train, test in folds
            ]
        )
        assert model.gating_scores_.loc[np.inf, "loss"] == pytest.approx(wrong.mean())

    def test_the_largest_ridge_within_one_standard_error_is_taken(self):
        scores = LocalizedMKLClassifier(VIEWS, C=2.0).fit(X, Y).gating_scores_
        close = scores["loss"] - scores["loss"].min() <= scores["se"]
        model = LocalizedMKLClassifier(VIEWS, C=2.0).fit(X, Y)
        assert model.gating_reg_ == close[close].index[0]

    @pytest.mark.parametrize("kind", [LocalizedMKLClassifier, LocalizedMKLRegressor])
    def test_the_last_model_is_that_of_the_ridge(self, kind):
        values = Y if kind is LocalizedMKLClassifier else X[:, 0] * (X[:, 1] > 0)
        chosen = kind(VIEWS, random_state=3).fit(X, values)
        given = kind(VIEWS, random_state=3, gating_reg=chosen.gating_reg_).fit(X, values)
        np.testing.assert_array_equal(chosen.predict(NEW), given.predict(NEW))
        assert chosen.objective_ == given.objective_

    def test_location_that_matters_is_found(self):
        lines = [View(f"line {k}", Linear(), transforms="unit_diagonal", standardize=True) for k in range(3)]
        points, labels = make_gauss("GAUSS4", 400, random_state=0)
        new, truth = make_gauss("GAUSS4", 4000, random_state=1)
        gated = LocalizedMKLClassifier(lines, C=10.0).fit(points, labels)
        plain = MKLClassifier(lines, C=10.0).fit(points, labels)
        assert np.isfinite(gated.gating_reg_)
        assert gated.score(new, truth) > plain.score(new, truth) + 0.02

    def test_location_that_does_not_matter_is_left_alone(self):
        rng = np.random.default_rng(0)
        table = rng.normal(size=(120, 6))
        labels = table[:, 0] + 0.5 * rng.normal(size=120) > 0
        assert LocalizedMKLClassifier().fit(table, labels).gating_reg_ == np.inf

    def test_in_regression(self):
        table, targets = make_piecewise(150, random_state=0)
        lines = [Polynomial(1)] * 2
        gated = LocalizedMKLRegressor(lines, C=10.0).fit(table, targets)
        assert np.isfinite(gated.gating_reg_)
        assert gated.score(table, targets) > MKLRegressor(lines, C=10.0).fit(table, targets).score(
            table, targets
        )

    def test_weights_are_repetitions(self):
        weights = np.random.default_rng(0).integers(0, 3, 90)
        weighted = LocalizedMKLClassifier(VIEWS).fit(X, Y, weights)
        repeated = LocalizedMKLClassifier(VIEWS).fit(np.repeat(X, weights, axis=0), np.repeat(Y, weights))
        np.testing.assert_array_equal(weighted.gating_scores_, repeated.gating_scores_)
        assert weighted.gating_reg_ == repeated.gating_reg_

    def test_a_class_of_one_sample_has_no_folds(self):
        labels = np.where(np.arange(90) == 5, "alone", "many")
        model = LocalizedMKLClassifier(VIEWS).fit(X, labels)
        assert model.gating_reg_ == np.inf and model.gating_scores_ is None

    def test_one_competing_kernel_has_nothing_to_choose(self):
        model = LocalizedMKLClassifier([VIEWS[0]]).fit(X, Y)
        assert model.gating_reg_ == 0.0 and model.n_solves_ == 1

    def test_constant_targets(self):
        model = LocalizedMKLRegressor(VIEWS).fit(X, np.full(90, 3.0))
        np.testing.assert_allclose(model.predict(NEW), 3.0)

    def test_a_fit_without_time_for_the_search(self, monkeypatch):
        monkeypatch.setattr(base, "_SEARCH_SHARE", 0.0)
        with pytest.warns(UserWarning):
            model = LocalizedMKLClassifier(VIEWS, max_time=1e-9).fit(X, Y)
        assert model.gating_reg_ == np.inf and model.gating_scores_["loss"].isna().all()

    def test_threads_change_nothing(self):
        one, two = (LocalizedMKLClassifier(VIEWS, n_jobs=jobs).fit(X, Y) for jobs in (1, 2))
        np.testing.assert_array_equal(one.gating_scores_, two.gating_scores_)


def test_standard_errors_of_differences():
    losses = np.random.default_rng(0).integers(0, 2, size=(3, 50)).astype(float)
    means, errors = compare_losses(losses, np.full(50, 7.0))
    best = int(np.argmin(means))
    np.testing.assert_allclose(means, losses.mean(axis=1))
    np.testing.assert_allclose(errors, (losses - losses[best]).std(axis=1) / np.sqrt(50))
    assert errors[best] == 0.0


@pytest.mark.parametrize("kind", [LocalizedMKLClassifier, LocalizedMKLRegressor, LocalizedMKLOneClass])
@pytest.mark.parametrize("ridge", ["none", -1.0, np.nan, True, None])
def test_ridges_that_are_none(kind, ridge):
    values = Y if kind is LocalizedMKLClassifier else X[:, 0]
    with pytest.raises((TypeError, ValueError), match="gating_reg must be"):
        kind(VIEWS, gating_reg=ridge).fit(X, values)


@pytest.mark.parametrize("ridge", ["auto", np.inf])
def test_a_novelty_detector_has_no_error_to_choose_by(ridge):
    with pytest.raises((TypeError, ValueError), match="gating_reg must be"):
        LocalizedMKLOneClass(VIEWS, gating_reg=ridge).fit(X)

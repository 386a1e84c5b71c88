"""Localized models and their input: what the gate reads, weights, and what is refused with a remedy."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from multikernel import LocalizedMKLClassifier, LocalizedMKLRegressor, stack_kernels
from multikernel.core.inputs import distinct_samples
from multikernel.kernels import Gaussian, Linear
from multikernel.localized import LocalizedMKLOneClass
from tests.localized.localized_reference import classifier_values, gated, plain_gate, plain_scores
from tests.mkl.data import VIEWS, make_binary, make_table, plain_kernels
from tests.raw import raw
from tests.test_bad_input import refuses

X, LABELS = make_binary(60)
FRESH = make_table(20, seed=9)
FRAME = pd.DataFrame(X, columns=["red", "green", "blue", "noise"])
FRAME_VIEWS = raw([("signal", Gaussian(gamma=0.5), ["red", "green"]), ("line", Linear(), ["blue"])])
# Rounding parts two descents in the end: the same are their first steps, with machines solved to six digits.
FIRST_STEPS = {"tol": 1e-6, "callback": lambda entry: entry["iteration"] == 3}


class TestGatingFeatures:
    @pytest.mark.parametrize(
        ("wanted", "columns"),
        [
            (None, [0, 1, 2, 3]),
            ([0, 2], [0, 2]),
            ((3, 1), [3, 1]),
            (1, [1]),
            (-1, [3]),
            (slice(1, 3), [1, 2]),
            (np.array([True, False, False, True]), [0, 3]),
            ([False, True, False, False], [1]),
            (lambda table: [2], [2]),
            ("signal", [0, 1]),
            ("line", [2]),
        ],
    )
    def test_columns_of_an_array(self, wanted, columns):
        model = gated(VIEWS, gating_features=wanted).fit(X, LABELS)
        [V] = model.gating_
        assert V.shape == (3, len(columns) + 1)
        expected = plain_gate("softmax", V, FRESH[:, columns], X[:, columns])
        np.testing.assert_allclose(model.sample_kernel_weights(FRESH), expected, rtol=1e-9)
        scores = plain_scores(model, FRESH, X, gating_columns=columns)[:, 0]
        np.testing.assert_allclose(model.decision_function(FRESH), scores, rtol=1e-8, atol=1e-9)

    @pytest.mark.parametrize(
        ("wanted", "columns"),
        [
            (None, ["red", "green", "blue"]),  # the noise is read by no kernel
            ("noise", ["noise"]),
            (["noise", "red"], ["noise", "red"]),
            (slice("green", "noise"), ["green", "blue", "noise"]),
            ("line", ["blue"]),
            (3, ["noise"]),
        ],
    )
    def test_columns_of_a_frame(self, wanted, columns):
        model = gated(FRAME_VIEWS, gating_features=wanted).fit(FRAME, LABELS)
        [V] = model.gating_
        fresh = pd.DataFrame(FRESH, columns=FRAME.columns)
        expected = plain_gate("softmax", V, fresh[columns].to_numpy(), FRAME[columns].to_numpy())
        np.testing.assert_allclose(model.sample_kernel_weights(fresh), expected, rtol=1e-9)

    def test_columns_that_several_kernels_read_count_once_in_the_order_of_the_table(self):
        views = raw([("back", Gaussian(gamma=0.5), [3, 1]), ("front", Linear(), [0, 1])])
        models = (gated(views, gating_features=w).fit(X, LABELS) for w in (None, [0, 1, 3]))
        np.testing.assert_array_equal(*(model.gating_[0] for model in models))

    def test_the_name_of_a_copy_stands_for_its_view(self):
        views = [*VIEWS, replace(VIEWS[1], name="again")]
        model = gated(views, gating_features="again").fit(X, LABELS)
        assert model.gating_[0].shape == (4, 2)
        expected = plain_gate("softmax", model.gating_[0], FRESH[:, [2]], X[:, [2]])
        np.testing.assert_allclose(model.sample_kernel_weights(FRESH), expected, rtol=1e-9)

    @staticmethod
    def mean_kernel(A):
        Ks = plain_kernels(A, X)
        own = np.einsum("iim->im", plain_kernels(X, X)).mean(axis=0)
        return (Ks / own).mean(axis=2)

    def test_the_empirical_kernel_map(self):
        """The similarities to all training samples, support samples or not."""
        model = gated(VIEWS, gating_features="kernel").fit(X, LABELS)
        [V] = model.gating_
        assert V.shape == (3, 61)
        order = distinct_samples(X, (LABELS == "yes")[:, None].astype(float), np.ones(60)).rows
        expected = plain_gate("softmax", V, self.mean_kernel(FRESH)[:, order], self.mean_kernel(X)[:, order])
        np.testing.assert_allclose(model.sample_kernel_weights(FRESH), expected, rtol=1e-8)
        assert model.support_.size < 60

    @pytest.mark.parametrize("wanted", [None, "kernel", "kernel-0"])
    def test_ready_made_kernels(self, wanted):
        Ks, K_fresh = plain_kernels(X, X), plain_kernels(FRESH, X)
        if wanted == "kernel-0":
            wanted = gated("precomputed").fit(Ks, LABELS).view_names_[1]
            train, fresh = Ks[:, :, 1], K_fresh[:, :, 1]
        else:
            train, fresh = self.mean_kernel(X), self.mean_kernel(FRESH)
        model = gated("precomputed", gating_features=wanted).fit(Ks, LABELS)
        expected = plain_gate("softmax", model.gating_[0], fresh, train)
        np.testing.assert_allclose(model.sample_kernel_weights(K_fresh), expected, rtol=1e-8)

    def test_samples_without_weight_are_not_looked_at(self):
        weights = np.ones(60)
        weights[[3, 17, 41]] = 0.0
        kept = weights > 0
        for parameters in ({}, {"gating_features": "kernel"}):
            with_zeros = gated(VIEWS, **parameters).fit(X, LABELS, weights)
            without = gated(VIEWS, **parameters).fit(X[kept], LABELS[kept])
            np.testing.assert_array_equal(
                with_zeros.sample_kernel_weights(FRESH), without.sample_kernel_weights(FRESH)
            )
        Ks = plain_kernels(X, X)
        with_zeros = gated("precomputed").fit(Ks, LABELS, weights)
        without = gated("precomputed").fit(Ks[np.ix_(kept, kept)], LABELS[kept])
        K_fresh = plain_kernels(FRESH, X)
        np.testing.assert_array_equal(
            with_zeros.sample_kernel_weights(K_fresh), without.sample_kernel_weights(K_fresh[:, kept])
        )

    def test_units_do_not_matter(self):
        """Standardised: metres or millimetres, with or without an offset."""
        views = raw([("signal", Gaussian(gamma=0.5), [0, 1]), ("line", Linear(), [1])])
        parameters = {"gating_features": [2, 3], **FIRST_STEPS}
        plain = gated(views, **parameters).fit(X, LABELS)
        factor, offset = np.array([1.0, 1.0, 1e3, 1e-5]), np.array([0.0, 0.0, 50.0, -3.0])
        other = gated(views, **parameters).fit(X * factor + offset, LABELS)
        moved = FRESH * factor + offset
        np.testing.assert_allclose(
            plain._gated.features.of(FRESH), other._gated.features.of(moved), atol=1e-9
        )
        np.testing.assert_allclose(
            plain.sample_kernel_weights(FRESH), other.sample_kernel_weights(moved), atol=1e-3
        )

    def test_a_constant_column_is_harmless(self):
        table = np.column_stack([X, np.full(60, 7.0)])
        model = gated(VIEWS, gating_features=[0, 4]).fit(table, LABELS)
        plain = gated(VIEWS, gating_features=[0]).fit(table, LABELS)
        assert np.isfinite(model.gating_[0]).all()
        assert model.objective_ == pytest.approx(plain.objective_, rel=0.05)

    @pytest.mark.parametrize("gating", ["softmax", "gaussian"])
    @pytest.mark.parametrize("wanted", [[1, 2, 3], "kernel"])
    def test_a_sparse_table_is_the_same_model(self, gating, wanted):
        """Small whole numbers, whose products are exact: the kernels do not differ. Both are centred."""
        table = np.where(np.abs(X) > 0.5, np.round(3.0 * X), 0.0)
        table[:, 1] += 5.0
        models = {}
        for make in (np.asarray, scipy.sparse.csr_matrix):
            views = raw([("front", Linear(), [0, 1]), ("back", Linear(), [2, 3])])
            model = gated(views, gating=gating, gating_features=wanted, tol=1e-2)
            models[make] = model.fit(make(table), LABELS)
        dense, sparse = models.values()
        np.testing.assert_array_equal(sparse.support_, dense.support_)
        np.testing.assert_allclose(
            sparse.sample_kernel_weights(scipy.sparse.csr_matrix(table)),
            dense.sample_kernel_weights(table),
            rtol=0,
            atol=1e-12,
        )


class TestWeights:
    def test_weights_are_bounds(self):
        weights = np.random.default_rng(0).uniform(0.2, 3.0, size=60)
        model = gated(VIEWS, C=0.5).fit(X, LABELS, weights)
        share = np.abs(model.dual_coef_[0]) / (0.5 * weights[model.support_])
        assert share.max() <= 1.0 + 1e-12
        assert (share == 1.0).any()
        [(dual, primal)] = classifier_values(model, X, LABELS, 0.5 * weights)
        assert model.objective_ == pytest.approx(dual, rel=1e-9)
        assert (primal - dual) / primal <= 1e-4
        mean = np.average(model.sample_kernel_weights(X), axis=0, weights=weights)
        np.testing.assert_allclose(model.kernel_weights_, mean, rtol=1e-9)

    def test_class_weights_are_sample_weights(self):
        weights = np.where(LABELS == "yes", 3.0, 0.5)
        by_class = gated(VIEWS, class_weight={"yes": 3.0, "no": 0.5}).fit(X, LABELS)
        by_sample = gated(VIEWS).fit(X, LABELS, weights)
        np.testing.assert_array_equal(by_class.dual_coef_, by_sample.dual_coef_)
        balanced = gated(VIEWS, class_weight="balanced").fit(X, LABELS)
        share = np.mean(LABELS == "yes")
        weights = np.where(LABELS == "yes", 0.5 / share, 0.5 / (1.0 - share))
        by_sample = gated(VIEWS).fit(X, LABELS, weights)
        np.testing.assert_allclose(balanced.dual_coef_, by_sample.dual_coef_, rtol=1e-9)


class TestOtherSettings:
    def test_probabilities(self):
        model = gated(VIEWS, probability=True, tol=1e-2).fit(X, LABELS)
        P = model.predict_proba(FRESH)
        assert P.shape == (20, 2)
        np.testing.assert_allclose(P.sum(axis=1), 1.0)
        scores = model.decision_function(FRESH)
        assert (np.argsort(P[:, 1], kind="stable") == np.argsort(scores, kind="stable")).all()

    def test_single_precision_stacks(self):
        Ks = plain_kernels(X, X)
        stack = stack_kernels([Ks[:, :, m].astype(np.float32) for m in range(3)])
        single = gated("precomputed").fit(stack, LABELS)
        double = gated("precomputed").fit(Ks, LABELS)
        assert single.objective_ == pytest.approx(double.objective_, rel=1e-2)

    def test_many_rows_are_predicted_in_batches(self):
        model = gated(VIEWS).fit(X, LABELS)
        many = make_table(5000, seed=4)
        np.testing.assert_allclose(model.decision_function(many)[-7:], model.decision_function(many[-7:]))
        assert model.sample_kernel_weights(many).shape == (5000, 3)


# --- what is refused ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [LocalizedMKLClassifier, LocalizedMKLRegressor, LocalizedMKLOneClass])
@pytest.mark.parametrize(
    ("wanted", "words", "error"),
    [
        ("sound", ["'sound'"], ValueError),
        ([0, 9], ["9", "4 columns"], ValueError),
        ([], ["no column"], ValueError),
        (1.5, ["1.5"], TypeError),
    ],
)
def test_gating_features_that_are_none(kind, wanted, words, error):
    with refuses("gating_features", *words, error=error):
        kind(VIEWS, gating_features=wanted).fit(X, X[:, 0] if kind is LocalizedMKLRegressor else LABELS)


def test_a_gating_column_that_no_kernel_reads_must_be_finite_too():
    frame = FRAME.copy()
    frame.loc[5, "noise"] = np.nan
    gated(FRAME_VIEWS).fit(frame, LABELS)
    with refuses("gating_features", "NaN"):
        gated(FRAME_VIEWS, gating_features="noise").fit(frame, LABELS)


def test_text_is_no_gating_feature():
    frame = FRAME.assign(place=["left", "right"] * 30)
    with refuses("gating_features must be numeric", "'place'", 'gating_features="kernel"'):
        gated(FRAME_VIEWS, gating_features=["place"]).fit(frame, LABELS)
    # Text that neither kernels nor gate read does no harm.
    assert gated(FRAME_VIEWS).fit(frame, LABELS).score(frame, LABELS) > 0.8


def test_kernels_of_text_gate_by_similarity():
    words = np.array(["aa", "ab", "ba", "bb"] * 15, dtype=object)

    def shared(A, B):
        first, second = np.asarray(A, object).ravel(), np.asarray(B, object).ravel()
        return np.array([[1.0 * (a[0] == b[0]) + (a == b) for b in second] for a in first])

    frame = FRAME.assign(word=words)
    labels = np.where(np.char.startswith(words.astype(str), "a"), LABELS, "no")
    views = [("word", shared, ["word"]), FRAME_VIEWS[0]]
    with refuses("gating_features", "'word'", 'gating_features="kernel"'):
        gated(views).fit(frame, labels)
    model = gated(views, gating_features="kernel", C=10.0).fit(frame, labels)
    assert model.score(frame, labels) > 0.9


def test_ready_made_kernels_have_no_columns():
    Ks = plain_kernels(X, X)
    with refuses("gating_features must be", '"kernel"', "precomputed", "[0, 1]"):
        gated("precomputed", gating_features=[0, 1]).fit(Ks, LABELS)
    with refuses("gating_features must be", "'sound'", "The kernels are"):
        gated("precomputed", gating_features="sound").fit(Ks, LABELS)

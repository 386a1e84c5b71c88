"""The learned kernel is the one of the model's own scores, and pictures show that kernel."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from multikernel import CombinedKernelClassifier, LocalizedMKLClassifier, MKLClassifier, MKLOneClass
from multikernel.discriminant import KernelDiscriminantClassifier
from multikernel.hyperkernels import HyperkernelRegressor
from multikernel.inspection import NoLearnedKernel, evaluate, learned_kernel
from multikernel.inspection.learned import choose_rows
from multikernel.kernels import Gaussian, Linear
from multikernel.parametric import InfiniteMKLRegressor
from multikernel.rules import InstanceWeights
from multikernel.spectral import KernelKNNClassifier
from tests.raw import raw


@pytest.fixture(scope="module")
def localized(stack, table):
    return LocalizedMKLClassifier("precomputed", C=2.0, gating_reg=0.0, max_iter=20, tol=0.01).fit(
        stack, table[1]
    )


def _scores(model, K):
    return K[:, model.support_] @ model.dual_coef_[0] + model.intercept_[0]


def test_the_learned_kernel_gives_the_scores(classifier, table, views):
    X, label, _ = table  # two equal samples, which the machine has made one
    assert np.allclose(_scores(classifier, learned_kernel(classifier, X)), classifier.decision_function(X))
    novelty = MKLOneClass(views, nu=0.3).fit(X)
    assert np.allclose(_scores(novelty, learned_kernel(novelty, X)), novelty.decision_function(X))
    discriminant = KernelDiscriminantClassifier(views).fit(X, label)
    discriminant.support_ = np.arange(48)
    K = learned_kernel(discriminant, X)
    assert np.allclose(_scores(discriminant, K), discriminant.decision_function(X))


def test_a_gate_is_part_of_the_kernel(localized, stack):
    K = learned_kernel(localized, stack)
    assert np.allclose(_scores(localized, K), localized.decision_function(stack))
    eta = localized.sample_kernel_weights(stack)
    by_hand = sum(np.outer(eta[:, m], eta[:, m]) * stack[:, :, m] for m in range(2))
    assert np.allclose(K, by_hand)


def test_a_combined_kernel_is_what_its_machine_sees(table, views):
    X, label, _ = table
    model = CombinedKernelClassifier(kernels=views).fit(X, label)
    K = learned_kernel(model, X)
    assert np.allclose(model.machine_.decision_function(K), model.decision_function(X))


def test_of_some_rows_and_in_a_pipeline(classifier, table):
    X, label, _ = table
    rows = np.array([5, 3, 40])
    whole = learned_kernel(classifier, X)
    assert np.allclose(learned_kernel(classifier, X, rows), whole[np.ix_(rows, rows)])
    model = make_pipeline(StandardScaler(), MKLClassifier(raw([Linear()]))).fit(X, label)
    scaled = StandardScaler().fit_transform(X)
    assert np.allclose(learned_kernel(model, X), scaled @ scaled.T)


def test_models_without_one_kernel_say_so(table):
    X, label, _ = table
    with pytest.raises(NoLearnedKernel, match="KernelKNNClassifier learns no kernel"):
        learned_kernel(KernelKNNClassifier().fit(X, label), X)


def test_other_samples_than_those_of_fit_are_refused(classifier, table):
    with pytest.raises(ValueError, match="the 47 samples that the model was fitted to; got 40"):
        learned_kernel(classifier, table[0][:40])


# ------------------------------------------------------------------ pictures
def test_the_embedding_has_the_geometry_of_the_kernel(table):
    X, label, _ = table
    model = MKLClassifier(raw([("plane", Linear(), ["a", "b"])])).fit(X, label)
    found = evaluate(model, X, label, parts=["embedding"])["embedding"]
    points = np.array([[point["x"], point["y"]] for point in found["points"]])
    plane = X[["a", "b"]].to_numpy()
    apart = plane[:, None] - plane
    assert np.allclose(((points[:, None] - points) ** 2).sum(2), (apart**2).sum(2))
    assert sum(found["explained"]) == pytest.approx(1.0) and found["explained"][0] >= found["explained"][1]


def test_heat_maps_are_block_means_in_order(classifier, table, of_classifier):
    X, label, _ = table
    found = evaluate(classifier, X, label, parts=["heat_maps"])["heat_maps"]
    order = np.argsort(label, kind="stable")
    K = learned_kernel(classifier, X)[np.ix_(order, order)]
    first = found["maps"][0]
    shown = first["low"] + (first["high"] - first["low"]) * np.array(first["values"])
    assert first["name"] == "learned kernel" and np.allclose(shown, K, atol=1e-4 * np.ptp(K))
    assert [each["name"] for each in found["maps"][1:]] == ["a", "b", "noise"]
    n_yes = int((label == "<yes>").sum())
    assert found["groups"] == [
        {"label": "<yes>", "start": 0, "stop": n_yes},
        {"label": "no", "start": n_yes, "stop": 48},
    ]


def test_blocks_do_not_cross_classes(views):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 2))
    label = np.repeat(["x", "y"], [140, 10])
    X[label == "y"] += 10.0
    model = MKLClassifier(raw([Linear()])).fit(X, label)
    found = evaluate(model, X, label, parts=["heat_maps"])["heat_maps"]
    values = np.array(found["maps"][0]["values"])
    assert values.shape == (60, 60) and found["groups"][1]["stop"] == 60
    start = found["groups"][1]["start"]
    scale = found["maps"][0]["high"] - found["maps"][0]["low"]
    block = found["maps"][0]["low"] + scale * values[start:, start:]
    sizes = np.diff(np.linspace(0, 10, 61 - start).round())
    K = X[140:] @ X[140:].T
    assert np.average(block, weights=np.outer(sizes, sizes)) == pytest.approx(K.mean(), rel=1e-3)


def test_the_gate_of_each_sample(localized, stack, table):
    found = evaluate(localized, stack, table[1], parts=["gate", "embedding"], max_points=20)
    gate = found["gate"]
    eta = localized.sample_kernel_weights(stack)
    assert gate["views"] == ["kernel-0", "kernel-1"] and len(gate["rows"]) == 20
    for row in gate["rows"]:
        assert row["weights"] == pytest.approx(eta[row["row"]]) and row["label"] == table[1][row["row"]]
    assert [row["row"] for row in gate["rows"]] == [point["row"] for point in found["embedding"]["points"]]


def test_weights_of_samples_that_a_learner_found(stack, table):
    learner = InstanceWeights(max_iter=200, tol=0.1)
    model = CombinedKernelClassifier("precomputed", learner).fit(stack, table[1])
    rows = evaluate(model, stack, table[1], parts=["gate"])["gate"]["rows"]
    assert np.allclose([row["weights"] for row in rows], model.learner_._training_weights)


def test_rows_are_drawn_in_proportion():
    label = np.repeat(["a", "b", "c"], [880, 100, 20])
    rows = choose_rows(label, "classification", 50, 0, 1000)
    assert np.unique(label[rows], return_counts=True)[1].tolist() == [44, 5, 1]
    assert (rows == choose_rows(label, "classification", 50, 0, 1000)).all() and len(set(rows)) == 50
    values = np.arange(1000.0)
    drawn = choose_rows(values, "regression", 10, 0, 1000)
    assert (values[drawn] // 100).tolist() == list(range(10))


def test_kernels_of_learned_widths_and_powers():
    X = np.random.default_rng(0).normal(size=(30, 4))
    views = [("a", Gaussian(), [0, 1]), ("b", Gaussian(), [2, 3])]
    model = InfiniteMKLRegressor(views).fit(X, X[:, 0])
    K = learned_kernel(model, X)
    expected = K[:, model.support_] @ model.dual_coef_[0] + model.intercept_[0]
    np.testing.assert_allclose(model.predict(X), expected, atol=1e-9)
    with pytest.raises(NoLearnedKernel, match="sum of powers of kernels"):
        learned_kernel(HyperkernelRegressor(views).fit(X, X[:, 0]), X)

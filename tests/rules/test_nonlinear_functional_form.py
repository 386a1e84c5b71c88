"""Functional forms of two kernels, entry by entry and under machines."""

import numpy as np
import pytest
from sklearn.svm import SVC

from multikernel.rules import FunctionalForm


def make(seed=0, n=20, n_new=6, classes=2):
    """Two kernels of n training and some new samples, each training kernel of mean diagonal 1."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n + n_new, 3))
    stack = [X @ X.T, np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2))]
    stack = [K / np.diagonal(K)[:n].mean() for K in stack]
    y = np.digitize(X[:n, 0], np.quantile(X[:n, 0], np.arange(1, classes) / classes))
    return [K[:n, :n] for K in stack], [K[n:, :n] for K in stack], y


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("form", ["difference", "absolute"])
def test_forms_that_know_the_classes(form, classes):
    Ks, new, y = make(classes=classes)
    tau = 3.0
    learner = FunctionalForm(form, tau)
    K = learner.fit_combine(Ks, y)
    expected = np.empty_like(K)
    for i in range(len(y)):
        for j in range(len(y)):
            sign = 1.0 if y[i] == y[j] else -1.0 / (classes - 1)
            d = Ks[0][i, j] - Ks[1][i, j]
            expected[i, j] = 0.5 * (Ks[0] + Ks[1])[i, j] + tau * sign * (abs(d) if form == "absolute" else d)
    lowest = np.linalg.eigvalsh(expected)[0]
    assert learner.shift_ == pytest.approx(max(0.0, -lowest), abs=1e-10)
    assert lowest < 0  # there was something to raise
    np.testing.assert_allclose(K, expected + learner.shift_ * np.eye(len(y)), atol=1e-12)
    np.testing.assert_allclose(learner.combine(np.stack(new, axis=2)), 0.5 * (new[0] + new[1]), atol=1e-14)


def test_product():
    Ks, new, y = make()
    learner = FunctionalForm("product", 0.7)
    D = Ks[0] - Ks[1]
    np.testing.assert_allclose(
        learner.fit_combine(Ks, y), 0.5 * (Ks[0] + Ks[1]) + 0.7 * D @ D / len(y), atol=1e-12
    )
    assert learner.shift_ == 0.0
    expected = 0.5 * (new[0] + new[1]) + 0.7 * (new[0] - new[1]) @ D / len(y)
    np.testing.assert_allclose(learner.combine(np.stack(new, axis=2)), expected, atol=1e-12)


@pytest.mark.parametrize("form", ["difference", "absolute"])
def test_the_mean_kernel_tells_the_class_that_is_decided_with_more_confidence(form):
    Ks, new, y = make(3, n=40, n_new=30)
    signs = np.where(y == 1, 1.0, -1.0)
    learner = FunctionalForm(form, 0.8)
    machine = SVC(kernel="precomputed", C=3.0).fit(learner.fit_combine(Ks, y), y)
    d = new[0] - new[1]
    d = np.abs(d) if form == "absolute" else d
    mean = 0.5 * (new[0] + new[1])
    scores = {s: machine.decision_function(mean + 0.8 * s * signs * d) for s in (1, -1)}
    most_confident = np.where(scores[1] >= -scores[-1], 1, 0)
    assert 0 < most_confident.sum() < most_confident.size
    np.testing.assert_array_equal(machine.predict(learner.combine(np.stack(new, axis=2))), most_confident)


def test_bad_input():
    Ks, _, y = make()
    with pytest.raises(ValueError, match=r"combines two kernels; got 3\. Choose two"):
        FunctionalForm().fit([*Ks, Ks[0]], y)

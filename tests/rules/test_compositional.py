"""The compositional classifier: its matrix, its rows, and its scores."""

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC

from multikernel import stack_kernels
from multikernel.kernels import Gaussian, Linear, Polynomial
from multikernel.rules import CompositionalKernelClassifier
from multikernel.rules.compositional import SquareRootCross, gaussian_cross
from multikernel.spectral import KernelKNNClassifier
from tests.raw import raw


class Recorder(SVC):
    """An SVM that keeps the kernel it was given."""

    def fit(self, X, y):
        self.seen_ = X.copy()
        return super().fit(X, y)


class Pairs(Recorder):
    """An SVM whose scores are of pairs, whatever its parameters."""

    def decision_function(self, X):
        scores = super().decision_function(X)
        return np.hstack([scores, scores])


OVO = {"kernel": "precomputed", "decision_function_shape": "ovo"}


def make(seed=0, n=24):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, np.where(X[:, 0] + X[:, 1] ** 2 > 0.7, "yes", "no")


def fitted_matrix(kernels, cross, X, y):
    machine = Recorder(kernel="precomputed")
    model = CompositionalKernelClassifier(kernels, machine=machine, cross=cross).fit(X, y)
    return model, model.machine_.seen_


def test_square_roots():
    X, y = make()
    kernels = raw([Linear(), Gaussian(gamma=0.3), Polynomial(2, gamma=1.0, coef0=1.0)])
    model, K = fitted_matrix(kernels, "sqrt", X, y)
    n = len(X)
    grams = [v.kernel(X) / np.diagonal(v.kernel(X)).mean() for v in kernels]
    for m, gram in enumerate(grams):
        np.testing.assert_allclose(K[m * n : (m + 1) * n, m * n : (m + 1) * n], gram, atol=1e-8)
    np.testing.assert_allclose(K, K.T, atol=1e-12)
    assert np.linalg.eigvalsh(K)[0] > -1e-10 * len(K)
    block = K[:n, n : 2 * n]
    np.testing.assert_allclose(block @ block.T, _root(grams[0]) @ grams[1] @ _root(grams[0]), atol=1e-6)
    np.testing.assert_allclose(np.vstack(model._copies(X)), K, atol=1e-6)


def _root(K):
    values, V = np.linalg.eigh(K)
    return (V * np.sqrt(np.maximum(values, 0.0))) @ V.T


def test_rows_of_new_samples_are_those_of_the_joint_problem():
    """In a span of full rank, a new sample's row is as if its kernel values were a combination of others'."""
    rng = np.random.default_rng(1)
    A, B = rng.normal(size=(2, 6, 6))
    Ks = np.stack([A @ A.T, B @ B.T])
    cross = SquareRootCross(Ks)
    v = rng.normal(size=(2, 6))
    rows = cross.rows(0, v @ Ks[0])  # Σ_i v_i φ(x_i)
    np.testing.assert_allclose(rows, v @ cross.matrix()[:6], atol=1e-9)


def test_gaussians():
    X, y = make(2)
    gammas = [0.1, 0.7, 3.0]
    _, K = fitted_matrix(raw([Gaussian(gamma=g) for g in gammas]), "gaussian", X, y)
    n = len(X)
    for m, gamma in enumerate(gammas):
        expected = np.exp(-gamma * ((X[:, None] - X) ** 2).sum(axis=2))
        np.testing.assert_allclose(K[m * n : (m + 1) * n, m * n : (m + 1) * n], expected, atol=1e-12)
    assert np.linalg.eigvalsh(K)[0] > -1e-10
    np.testing.assert_allclose(K, K.T)


def test_the_cross_kernel_is_the_inner_product_of_bumps():
    u = np.linspace(-40.0, 40.0, 200_001)
    x, z, gammas = 0.4, -1.1, (0.2, 2.5)
    bumps = [
        (4 * g / np.pi) ** 0.25 * np.exp(-2 * g * (at - u) ** 2) for g, at in zip(gammas, (x, z), strict=True)
    ]
    integral = float(np.sum(bumps[0] * bumps[1]) * (u[1] - u[0]))
    factor, width = gaussian_cross(*gammas, 1)
    assert factor * np.exp(-width * (x - z) ** 2) == pytest.approx(integral, rel=1e-10)
    factor_of_three, same_width = gaussian_cross(*gammas, 3)
    assert (factor_of_three, same_width) == (pytest.approx(factor**3), width)


@pytest.mark.parametrize("cross", ["sqrt", "gaussian"])
@pytest.mark.parametrize("classes", [2, 3])
def test_scores_are_means_over_the_copies(cross, classes):
    X, y = make(3, n=45)
    y = y if classes == 2 else np.digitize(X[:, 0], [-0.5, 0.5])
    kernels = raw([Gaussian(gamma=0.2), Gaussian(gamma=1.5)])
    model = CompositionalKernelClassifier(kernels, machine=SVC(C=2.0), cross=cross).fit(X[:30], y[:30])
    copies = model._copies(X[30:])
    assert [copy.shape for copy in copies] == [(15, 60), (15, 60)]
    scores = sum(model.machine_.decision_function(copy) for copy in copies) / 2
    np.testing.assert_allclose(model.decision_function(X[30:]), scores)
    expected = scores.argmax(axis=1) if classes == 3 else (scores > 0).astype(int)
    np.testing.assert_array_equal(model.predict(X[30:]), model.classes_[expected])
    assert model.score(X[30:], y[30:]) > 0.7
    if cross == "gaussian":  # any new sample alone: factor × Gaussian to every training sample
        factor, width = gaussian_cross(0.2, 1.5, 3)
        expected = factor * np.exp(-width * ((X[30:, None] - X[:30]) ** 2).sum(axis=2))
        np.testing.assert_allclose(copies[0][:, 30:], expected, atol=1e-12)


@pytest.mark.parametrize("classes", [3, 5])
def test_pairwise_scores_are_asked_for_by_class(classes):
    X, _ = make(5, n=60)
    y = np.digitize(X[:, 0], np.linspace(-0.8, 0.8, classes - 1))
    kernels = raw([Gaussian(gamma=0.2), Linear()])
    machines = [SVC(), SVC(decision_function_shape="ovo"), GridSearchCV(SVC(**OVO), {"C": [1.0]}, cv=2)]
    scores = [
        CompositionalKernelClassifier(kernels, machine=m).fit(X, y).decision_function(X) for m in machines
    ]
    np.testing.assert_allclose(scores[1:], [scores[0]] * 2)
    assert machines[1].decision_function_shape == "ovo"  # the caller's own stays
    if classes == 5:
        with pytest.raises(ValueError, match=r"one row \(1, 5\).*gives \(1, 10\).*OneVsRest"):
            CompositionalKernelClassifier(kernels, machine=Pairs()).fit(X, y)


def test_precomputed_kernels_of_any_scale():
    X, y = make(4, n=40)
    Ks = [Gaussian(gamma=0.5)(X), X @ X.T]
    plain = stack_kernels(Ks)
    scaled = stack_kernels([1e6 * Ks[0], 1e-6 * Ks[1]])
    models = [CompositionalKernelClassifier("precomputed").fit(S[:30, :30], y[:30]) for S in (plain, scaled)]
    scores = [m.decision_function(S[30:, :30]) for m, S in zip(models, (plain, scaled), strict=True)]
    np.testing.assert_allclose(scores[0], scores[1], atol=1e-6)


def test_bad_input():
    X, y = make()
    for parameters, message in [
        ({"cross": "gaussian"}, r"needs a list of Gaussian kernels; got kernels='auto'"),
        ({"kernels": [Linear()], "cross": "gaussian"}, r"view 'linear' is .* Use cross='sqrt'"),
        (
            {"kernels": [("a", Gaussian(), [0]), ("b", Gaussian(), [1])], "cross": "gaussian"},
            "needs kernels on the same columns",
        ),
    ]:
        with pytest.raises(ValueError, match=message):
            CompositionalKernelClassifier(**parameters).fit(X, y)
    with pytest.raises(TypeError, match="must have a decision_function"):
        CompositionalKernelClassifier(machine=KernelKNNClassifier()).fit(X, y)

"""Kernel principal components of a combined kernel: scikit-learn's, new samples, targets, the picture."""

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA, KernelPCA

from multikernel import CombinedKernelPCA
from multikernel.kernels import Gaussian, Linear
from multikernel.rules import CenteredAlignment, MeanRule, ProductRule, SumRule
from multikernel.rules.pca import kernel_components
from multikernel.rules.ridge import RidgeBall
from tests.raw import raw

mpl.use("Agg")
X, Y = load_iris(return_X_y=True)
X, NEW, Y = X[::3], X[1::3], Y[::3]


@pytest.mark.parametrize("learner", [None, CenteredAlignment(), ProductRule()])
@pytest.mark.parametrize("normalise", [True, False])
def test_the_components_are_those_of_scikit_learn(learner, normalise):
    ours = CombinedKernelPCA(raw([Linear(), Gaussian()]), learner, n_components=4, normalize=normalise).fit(
        X, Y
    )
    K, K_new = ours.combined_kernel(X), ours.combined_kernel(NEW)
    theirs = KernelPCA(4, kernel="precomputed", eigen_solver="dense").fit(K)
    np.testing.assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-8)
    signs = np.sign((ours.embedding_ * theirs.transform(K)).sum(axis=0))
    np.testing.assert_allclose(ours.embedding_, signs * theirs.transform(K), atol=1e-7)
    np.testing.assert_allclose(ours.transform(NEW), signs * theirs.transform(K_new), atol=1e-7)
    np.testing.assert_allclose(ours.transform(X), ours.embedding_, atol=1e-8)


def test_a_linear_kernel_is_plain_pca():
    ours = CombinedKernelPCA(raw(Linear()), SumRule(), n_components=3, normalize=False).fit(X)
    theirs = PCA(3).fit(X)
    np.testing.assert_allclose(ours.explained_variance_ratio_, theirs.explained_variance_ratio_)
    np.testing.assert_allclose(np.abs(ours.transform(NEW)), np.abs(theirs.transform(NEW)), atol=1e-8)
    every = CombinedKernelPCA(n_components=50, kernels=raw(Linear())).fit(X)
    assert every.explained_variance_ratio_.sum() == pytest.approx(1.0)
    assert (every.eigenvalues_[4:] == 0.0).all() and np.isfinite(every.transform(NEW)).all()
    assert (np.diff(every.eigenvalues_) <= 0.0).all()


def test_signs_do_not_depend_on_the_solver():
    scores = kernel_components(np.diag([3.0, 2.0, 1.0]), 3).scores
    largest = scores[np.abs(scores).argmax(axis=0), np.arange(3)]
    assert (largest[:2] > 0.0).all()


def test_equal_eigenvalues_have_as_many_vectors():
    for K, value in ((np.eye(100), 1.0), (0.9 * np.eye(100) + 0.1, 0.9)):  # some LAPACKs lose them
        found = kernel_components(K, 2)
        np.testing.assert_allclose(found.eigenvalues, value)
        np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(2), atol=1e-12)
        np.testing.assert_allclose(found.project(K), found.scores, atol=1e-12)


def test_targets_as_the_learner_asks():
    kernels = raw([Linear(), Gaussian()])
    aligned = CombinedKernelPCA(kernels, CenteredAlignment()).fit(X, Y)
    stack = [Linear()(X), Gaussian().fit(X)(X)]
    expected = CenteredAlignment().fit(stack, Y)
    np.testing.assert_allclose(aligned.kernel_weights_, expected.kernel_weights_)
    values = CombinedKernelPCA(kernels, RidgeBall()).fit(X, X[:, :2])
    as_values = CombinedKernelPCA(kernels, RidgeBall(), task="regression").fit(X, Y)
    as_classes = CombinedKernelPCA(kernels, RidgeBall()).fit(X, Y)
    assert len({model.kernel_weights_.tobytes() for model in (values, as_values, as_classes)}) == 3
    default = CombinedKernelPCA(kernels=kernels).fit(X, ["anything"])
    np.testing.assert_array_equal(default.kernel_weights_, MeanRule().fit(stack).kernel_weights_)
    with pytest.raises(ValueError, match="CenteredAlignment is for classification or regression; got no y"):
        CombinedKernelPCA(learner=CenteredAlignment()).fit(X)


def test_names_of_the_components_and_of_the_kernels():
    model = CombinedKernelPCA(n_components=3, kernels=raw([Linear(), Gaussian()]))
    np.testing.assert_array_equal(model.fit_transform(X), model.embedding_)
    assert model.get_feature_names_out().tolist() == [f"combinedkernelpca{i}" for i in range(3)]
    assert model.weights_frame().index.tolist() == ["linear", "gaussian"]


def test_the_picture():
    model = CombinedKernelPCA(kernels=Gaussian()).fit(X)
    names = np.array(["setosa", "versicolor", "virginica"])[Y]
    ax = model.plot(labels=names)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["setosa", "versicolor", "virginica"]
    assert sum(len(line.get_xdata()) for line in ax.lines) == len(X)
    np.testing.assert_allclose(ax.lines[0].get_xdata(), model.embedding_[Y == 0, 0])
    assert "% of the variance" in ax.get_xlabel()
    again = model.plot(ax.figure.add_axes((0, 0, 1, 1)))
    assert again.get_legend() is None and len(again.lines) == 1
    mpl.pyplot.close(ax.figure)
    with pytest.raises(ValueError, match="one label for each of the 50 training samples"):
        model.plot(labels=[1, 2])
    with pytest.raises(ValueError, match="a picture needs two components"):
        CombinedKernelPCA(n_components=1).fit(X).plot()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_components": 51}, "n_components=51 components need as many samples.*n_samples=50"),
        ({"learner": MeanRule(), "task": "labels"}, "task must be one of"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        CombinedKernelPCA(**parameters).fit(X, Y)

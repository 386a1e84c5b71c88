"""What the estimators on one kernel share: every kind of kernel and table, and what they refuse."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from multikernel import KernelBank
from multikernel.core.estimator import base as _estimator
from multikernel.kernels import Gaussian, Linear
from multikernel.spectral import ConformalKernel, KDDAClassifier, KernelKNNClassifier
from multikernel.views import View
from tests.mkl.data import make_three
from tests.test_bad_input import refuses

KINDS = [KernelKNNClassifier, KDDAClassifier, ConformalKernel]
everyone = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
X, Y = make_three(70)
X_NEW = make_three(25, seed=9)[0]


def gram(A, B, gamma=0.4):
    return np.exp(-gamma * ((A[:, None] - B[None]) ** 2).sum(axis=2))


def outputs(model, X):
    """All that a fitted model says of X."""
    methods = [name for name in ("predict", "transform") if hasattr(model, name)]
    return [getattr(model, name)(X) for name in methods]


def assert_same(model, X_of_model, other, X_of_other):
    for mine, theirs in zip(outputs(model, X_of_model), outputs(other, X_of_other), strict=True):
        if mine.dtype.kind == "f":
            np.testing.assert_allclose(mine, theirs, atol=1e-7)
        else:
            np.testing.assert_array_equal(mine, theirs)


# With tables they are checked beside all other estimators, in tests/test_common.py. Ready-made matrices are
# repaired here, because some of those that scikit-learn passes are indefinite.
@parametrize_with_checks(
    [
        KernelKNNClassifier(KernelBank("precomputed", psd="clip"), n_neighbors=3),
        KDDAClassifier(KernelBank("precomputed", psd="clip"), n_components=1, n_neighbors=4),
        ConformalKernel(KernelBank("precomputed", psd="clip"), solver="eig"),
    ]
)
@pytest.mark.filterwarnings("default")
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


# ---------------------------------------------------------------------- kernels and tables
@everyone
def test_a_ready_made_matrix_is_the_kernel_it_was_made_of(kind):
    table = kind(Gaussian(gamma=0.4)).fit(X, Y)
    ready = kind("precomputed").fit(gram(X, X), Y)
    assert_same(table, X_NEW, ready, gram(X_NEW, X))
    assert ready.n_features_in_ == 70 and ready.base_kernel_ is None
    assert table.n_features_in_ == 4 and table.base_kernel_ == Gaussian(gamma=0.4)
    wide = np.array(gram(X_NEW, X), dtype=np.float32)
    assert [out.shape[0] for out in outputs(ready, wide)] == [25] * len(outputs(ready, wide))


@everyone
def test_functions_views_and_composed_kernels(kind):
    plain = kind("precomputed").fit(X[:, :2] @ X[:, :2].T, Y)
    K_new = X_NEW[:, :2] @ X[:, :2].T
    for kernel in (View("two", Linear(), [0, 1]), lambda A, B: np.asarray(A)[:, :2] @ np.asarray(B)[:, :2].T):
        assert_same(kind(kernel).fit(X, Y), X_NEW, plain, K_new)
    squares = ((X[:, None] - X[None]) ** 2).sum(axis=2)[np.triu_indices(70, 1)]
    assert kind().fit(X, Y).base_kernel_.gamma == pytest.approx(1.0 / np.median(squares))  # the default
    both = kind(Linear() + Gaussian(gamma=0.4)).fit(X, Y)
    ready = kind("precomputed").fit(X @ X.T + gram(X, X), Y)
    assert_same(both, X_NEW, ready, X_NEW @ X.T + gram(X_NEW, X))


@everyone
def test_many_rows_are_predicted_in_batches(kind, monkeypatch):
    model = kind().fit(X, Y)
    whole = outputs(model, X_NEW)
    monkeypatch.setattr(_estimator, "_BATCH_ROWS", 7)
    for table in (X_NEW, pd.DataFrame(X_NEW).to_numpy(), scipy.sparse.csr_matrix(X_NEW)):
        for once, pieces in zip(whole, outputs(model, table), strict=True):
            assert once.shape == pieces.shape
            if once.dtype.kind == "f":
                np.testing.assert_allclose(pieces, once, atol=1e-12)
            else:
                np.testing.assert_array_equal(pieces, once)


# ---------------------------------------------------------------------- choosing parameters
@pytest.mark.parametrize("kind", [KernelKNNClassifier, KDDAClassifier])
def test_grid_search_slices_a_ready_made_matrix_as_it_does_a_table(kind):
    grid = {"n_neighbors": [1, 4, 9]}
    table = GridSearchCV(kind(Gaussian(gamma=0.4)), grid, cv=4).fit(X, Y)
    ready = GridSearchCV(kind("precomputed"), grid, cv=4).fit(gram(X, X), Y)
    np.testing.assert_allclose(
        table.cv_results_["mean_test_score"], ready.cv_results_["mean_test_score"], atol=1e-12
    )
    assert len(set(table.cv_results_["mean_test_score"])) > 1
    np.testing.assert_array_equal(table.predict(X_NEW), ready.predict(gram(X_NEW, X)))
    with refuses("at most the number of labelled samples", "n_neighbors=71", "70 sample"):
        kind(n_neighbors=71).fit(X, Y)


def test_a_pipeline_hands_the_learned_kernel_to_a_machine():
    machine = make_pipeline(ConformalKernel(Gaussian(gamma=0.4), random_state=0), SVC(kernel="precomputed"))
    ready = make_pipeline(ConformalKernel("precomputed", random_state=0), SVC(kernel="precomputed"))
    np.testing.assert_allclose(
        cross_val_score(machine, X, Y, cv=3), cross_val_score(ready, gram(X, X), Y, cv=3), atol=1e-12
    )


# ---------------------------------------------------------------------- what is refused
@everyone
def test_an_indefinite_kernel_is_refused_or_repaired(kind):
    K = gram(X, X) - 0.5 * np.eye(70)
    K.flags.writeable = False
    lowest = np.linalg.eigvalsh(K)[0]
    with refuses("positive semidefinite", "'precomputed'", f"{lowest:.3g}", 'psd="clip"'):
        kind("precomputed").fit(K, Y)
    shifted = kind(KernelBank("precomputed", psd="shift")).fit(K, Y)
    plain = kind("precomputed").fit(K - lowest * np.eye(70), Y)
    assert_same(shifted, gram(X_NEW, X), plain, gram(X_NEW, X))
    values, vectors = np.linalg.eigh(K)
    kept = vectors[:, values > 0.0]
    clipped = kind(KernelBank("precomputed", psd="clip")).fit(K, Y)
    plain = kind("precomputed").fit(kept * values[values > 0.0] @ kept.T, Y)
    assert_same(clipped, gram(X_NEW, X), plain, gram(X_NEW, X) @ kept @ kept.T)
    with refuses("psd must be one of 'error', 'clip', 'shift'"):
        kind(KernelBank(psd="fix")).fit(X, Y)


@everyone
def test_matrices_of_a_wrong_shape_or_not_finite_or_symmetric_or_that_tell_nothing_apart_are_refused(kind):
    with refuses("precomputed kernel must be square at fit", "(n, n)", "(70, 4)"):
        kind("precomputed").fit(X, Y)
    with pytest.raises(ValueError, match="dim 3"):
        kind("precomputed").fit(gram(X, X)[:, :, None], Y)
    K = gram(X, X)
    K[3, 5] = np.nan
    with refuses("finite", "precomputed kernel", "NaN at (3, 5)"):
        kind("precomputed").fit(K, Y)
    model = kind("precomputed").fit(gram(X, X), Y)
    with refuses("X has 4 features", "expecting 70"):
        outputs(model, X_NEW)
    with refuses("finite", "precomputed kernel", "NaN at (3, 5)"):
        outputs(model, K)
    K[3, 5] = K[5, 3] + 0.1
    with refuses("symmetric", "'precomputed'", "Symmetrise"):
        kind("precomputed").fit(K, Y)
    with refuses("constant on the training rows"):
        kind("precomputed").fit(np.ones((70, 70)), Y)
    with refuses("'gaussian'", "constant on the training rows"):
        kind().fit(np.ones((70, 2)), Y)


@everyone
def test_what_is_no_kernel_is_refused(kind):
    with refuses("unknown kernel 'rfb'", "The kernels are chi2"):
        kind("rfb").fit(X, Y)
    with refuses(kind.__name__, "one kernel", "list", "a + b", error=TypeError):
        kind([Linear(), Gaussian()]).fit(X, Y)
    with refuses("a kernel, a function f(X, Z)", "got NoneType", error=TypeError):
        kind(None).fit(X, Y)
    with refuses("must be an instance", "Write Gaussian()", error=TypeError):
        kind(Gaussian).fit(X, Y)

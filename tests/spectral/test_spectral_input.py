"""The spectral kernel classifier: what it takes, warns of and refuses."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn import config_context
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from multikernel.kernels import Gaussian, Linear, Polynomial
from multikernel.spectral import SpectralKernelClassifier
from multikernel.spectral.solver.kernel import spectrum_of
from multikernel.views import View
from tests.spectral import wine
from tests.spectral.wine import SQUARE, fitted
from tests.test_bad_input import refuses


@pytest.fixture(scope="module")
def data():
    """Wine as it comes, labelled points first: X, y, X_unlabeled, their classes."""
    return wine.raw()


# --- input -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("criterion", ["separability", "alignment", "conformal"])
@pytest.mark.parametrize("center", [False, True])
def test_precomputed_rows_carry_all_points(data, criterion, center):
    y, K = data[1], wine.problem()[0]
    before = K.copy()
    mine = SpectralKernelClassifier("precomputed", method=criterion, center=center)
    mine.fit(K[:36], y, K[36:])
    np.testing.assert_array_equal(K, before)
    model = fitted(method=criterion, center=center)
    np.testing.assert_allclose(mine.kernel_, model.kernel_, atol=1e-8)
    np.testing.assert_array_equal(mine.predict(K[36:]), model.transduction_)
    assert mine.base_kernel_ is None and mine.n_features_in_ == 178
    assert np.shares_memory(mine.kernel_, K) is False


def test_frames_and_sparse_tables(data):
    X, y, X_new, _ = data
    names = [f"column {j}" for j in range(13)]
    frame, frame_new = pd.DataFrame(X, columns=names), pd.DataFrame(X_new, columns=names)
    model = SpectralKernelClassifier().fit(X, y, X_new)
    framed = SpectralKernelClassifier().fit(frame, y, frame_new)
    np.testing.assert_allclose(framed.kernel_, model.kernel_, atol=1e-9)
    np.testing.assert_array_equal(framed.predict(frame_new), model.transduction_)
    sparse = SpectralKernelClassifier().fit(scipy.sparse.csr_matrix(X), y, scipy.sparse.csr_matrix(X_new))
    np.testing.assert_allclose(sparse.kernel_, model.kernel_, atol=1e-6)  # wine has no zeros
    assert sparse.gamma_ == pytest.approx(model.gamma_)
    table = np.concatenate([X, X_new])[:, :2]
    for standardize, seen in ((False, table), (True, StandardScaler().fit_transform(table))):
        two = View("two", Gaussian(gamma=0.1), names[:2])
        on_some = SpectralKernelClassifier(two, standardize=standardize).fit(frame, y, frame_new)
        spectrum = spectrum_of(wine.gaussian(seen, seen, 10.0)).above(0.01)
        np.testing.assert_allclose(on_some.eigenvalues_, spectrum.values, rtol=1e-9)


def test_kernels_that_are_given_see_the_columns_as_they_are(data):
    X, y, X_new, _ = data
    points = np.concatenate([X, X_new])
    model = SpectralKernelClassifier(Polynomial(degree=2), center=True).fit(X, y, X_new)
    np.testing.assert_allclose(
        model.eigenvalues_,
        spectrum_of((points @ points.T + 1.0) ** 2, center=True).above(0.1).values,
        rtol=1e-9,
    )
    raw = SpectralKernelClassifier(standardize=False).fit(X, y, X_new)
    squares = ((points[:, None] - points) ** 2).sum(axis=2)
    assert 1.0 / raw.loo_scores_["gamma"][0] == pytest.approx(squares.sum() / (178 * 177))


def test_searches_and_pipelines(data):
    X, y, X_new, y_new = data
    model = SpectralKernelClassifier(reg=("relative", 1.5), classifier=SVC(kernel="precomputed"))
    grid = {"reg": [1e4, ("relative", 2.0)], "classifier__C": [1.0, 100.0]}
    search = GridSearchCV(model, grid, cv=3).fit(X, y)
    assert search.score(X_new, y_new) > 0.9 and len(search.cv_results_["params"]) == 4
    with config_context(enable_metadata_routing=True):
        asking = SpectralKernelClassifier(SQUARE).set_fit_request(X_unlabeled=True)
        pipeline = make_pipeline(StandardScaler(), asking, transform_input=["X_unlabeled"])
        pipeline.fit(X, y, X_unlabeled=X_new)
    scaled = SpectralKernelClassifier(SQUARE)
    scaler = StandardScaler().fit(X)
    scaled.fit(scaler.transform(X), y, scaler.transform(X_new))
    np.testing.assert_array_equal(pipeline[-1].transduction_, scaled.transduction_)


# --- warnings and refusals ---------------------------------------------------------------------------------


def test_one_label_for_each_class_works_and_warns(data):
    X, y, X_new, _ = data
    three = [0, 15, 30]
    rest = np.concatenate([np.delete(X, three, axis=0), X_new])
    with pytest.warns(UserWarning, match=r"22 of 22 .* \(the least is inf\), and all have equal weights"):
        model = SpectralKernelClassifier(SQUARE, standardize=True).fit(X[three], y[three], rest)
    assert np.ptp(model.spectral_weights_) < 1e-12


def test_an_eigenvector_without_scatter_inside_the_classes_warns():
    model = SpectralKernelClassifier("precomputed", reg=5.0)
    with pytest.warns(UserWarning, match=r"1 of 3 eigenvectors barely vary .* held at 1000 times") as caught:
        model.fit(block_kernel(), np.repeat([0, 1], 6))
    assert caught[0].filename == __file__
    first, *others = sorted(model.spectral_weights_, reverse=True)
    assert first == pytest.approx(1000.0 * max(others))


def block_kernel():
    """Two groups whose points agree but for one direction across the groups."""
    rng = np.random.default_rng(0)
    inside = rng.normal(size=(12, 2))
    inside -= np.repeat([inside[:6].mean(axis=0), inside[6:].mean(axis=0)], 6, axis=0)
    across = np.repeat([1.0, -1.0], 6)
    return np.outer(across, across) + inside @ inside.T


def test_a_reg_below_the_least_is_refused(data):
    X, y, X_new, _ = data
    with refuses("reg must be above 6.50485", "got 3", "relative"):
        fitted(reg=3.0)
    with pytest.warns(UserWarning, match="too small for .* of the 10 kernels") as caught:
        chosen = SpectralKernelClassifier(reg=5.0).fit(X, y, X_new)  # enough for some widths
    assert f"for {chosen.loo_scores_['score'].isna().sum()} of" in str(caught[0].message)
    assert chosen.loo_scores_["score"].isna().any() and chosen.reg_star_ < 5.0
    with refuses("reg must be above"):
        SpectralKernelClassifier(reg=1e-3).fit(X, y, X_new)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"reg": ("relative", 1.0)}, "kappa .* must be greater than 1"),
        ({"reg": ("relative", "best")}, "kappa .* must be one of 'loo'"),
        ({"reg": ("absolute", 2.0)}, r'reg must be a positive number, "loo", "cv" or \("relative", kappa\)'),
        ({"reg": ("relative",)}, r'reg must be a positive number, "loo", "cv" or \("relative", kappa\)'),
        ({"eig_tol": 1.0}, r"eig_tol=1 times the largest eigenvalue \d"),
        ({"solver": "eig", "method": "alignment"}, "solver .* must be one of 'closed', 'nnls'"),
        ({"center": 1}, "center must be True or False"),
        ({"standardize": "yes"}, 'standardize, where it is not "auto", must be True or False'),
        ({"n_neighbors": 37}, "n_neighbors must be at most the number of labelled samples"),
        ({"classifier": SVC}, "classifier must be one of .* or a scikit-learn classifier"),
        ({"classifier": SVC()}, r"classifier must take a precomputed kernel; SVC\(\) would read its rows"),
        ({"classifier": KNeighborsClassifier(metric="precomputed")}, 'takes distances.*classifier="knn"'),
        ({"kernels": "rfb"}, "unknown kernel 'rfb'"),
        ({"kernels": [Linear()], "method": "conformal", "standardize": 2}, "standardize"),
        (
            {"kernels": [Linear(), Gaussian()], "method": "conformal"},
            "rescales one kernel matrix; got 2 kernels",
        ),
        ({"kernels": [Linear(), Gaussian()], "method": "alignment", "solver": "closed"}, "several kernels"),
        ({"order": "rising"}, "order must be one of 'decreasing', 'improved'"),
        ({"reg": "best"}, "reg, where it is not a number, must be one of 'loo', 'cv'"),
        ({"reg": "cv", "cv": 1}, "cv must be at least 2"),
    ],
)
def test_wrong_parameters_are_refused(data, parameters, message):
    X, y, X_new, _ = data
    model = SpectralKernelClassifier(**parameters)
    with pytest.raises((ValueError, TypeError), match=message):
        model.fit(X, y, X_new)
    assert hasattr(model, "predict")


def test_wrong_tables_are_refused(data):
    X, y, X_new, _ = data
    model = SpectralKernelClassifier()
    with refuses("X_unlabeled does not go with X"):
        model.fit(X, y, X_new[:, :3])
    bad = X_new.copy()
    bad[4, 2] = np.nan
    with refuses("NaN at row 40, column 2", "Rows from 36 on are those of X_unlabeled"):
        model.fit(X, y, bad)
    with refuses("constant"):
        model.fit(np.ones((36, 3)), y)
    large = np.full((36, 3), 1e200) * np.arange(36)[:, None]
    assert model.fit(large, y).gamma_ > 0.0
    with refuses("overflow", "standardize=True"):
        SpectralKernelClassifier(standardize=False).fit(large, y)


def test_wrong_matrices_are_refused(data):
    _, y, _, _ = data
    K = wine.problem()[0]
    model = SpectralKernelClassifier("precomputed")
    with refuses("square at fit", "(36, 178)"):
        model.fit(K[:36], y)
    with refuses("X of shape (36, 178) and X_unlabeled of shape (142, 178)", "(36, 36)"):
        model.fit(K[:36, :36], y, K[36:, :36])
    with refuses("standardize=True needs the columns of a table"):
        SpectralKernelClassifier("precomputed", standardize=True).fit(K[:36], y, K[36:])
    with refuses("178"):
        model.fit(K[:36], y, K[36:]).predict(K[36:, :36])


def test_rounding_does_not_make_a_learned_kernel_indefinite():
    X = np.column_stack([np.ones(7), 1e-6 * np.random.default_rng(3).normal(size=(7, 2))])
    model = SpectralKernelClassifier(Polynomial(degree=2), method="conformal", solver="eig", center=True)
    codes = np.array([0, 0, 1, 1, 2, 0, 2])
    for classifier in ("knn", "kdda"):
        assert model.set_params(classifier=classifier).fit(X, codes).predict(X).shape == (7,)

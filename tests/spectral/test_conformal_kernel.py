"""The conformal kernel as a transformer: what is learned, new points, and the choice of cores."""

from functools import partial

import numpy as np
import pytest
from sklearn.svm import SVC

from multikernel import KernelBank, load_model, save_model
from multikernel.kernels import Gaussian
from multikernel.spectral import ConformalKernel
from multikernel.spectral.conformal import choose_cores
from tests.mkl.data import make_three
from tests.spectral import wine
from tests.test_bad_input import refuses


def test_the_numbers_of_wine():
    X, y = (part[:36] for part in wine.load())
    model = ConformalKernel(wine.SQUARE, cores=np.arange(0, 36, 3)).fit(X, y)
    assert model.history_[0]["objective"] == pytest.approx(0.56693741, abs=5e-9)
    assert model.history_[199]["objective"] == pytest.approx(0.58219288, abs=5e-9)
    assert model.objective_ == model.history_[-1]["objective"]
    assert model.n_iter_ == 200 and len(model.history_) == 201
    best = ConformalKernel(wine.SQUARE, cores=np.arange(0, 36, 3), solver="eig").fit(X, y)
    assert best.objective_ == pytest.approx(1.47716525, abs=5e-8) and best.n_iter_ == 1


@pytest.mark.parametrize("method", ["gradient", "eig"])
def test_the_kernel_is_rescaled_by_its_factor_at_fitted_and_at_new_points(method):
    X, y = wine.load()
    X, y, X_new = X[:36], y[:36], X[36:]
    model = ConformalKernel(wine.SQUARE, cores=7, solver=method, random_state=3).fit(X, y)
    a, plain = model.coefficients_, partial(wine.gaussian, square=1.0 / wine.SQUARE.gamma)

    def q(A):
        return a[0] + plain(A, X[model.cores_]) @ a[1:]

    assert a.shape == (8,) and model.cores_.shape == (7,)
    np.testing.assert_allclose(model.factors_, q(X), atol=1e-10)
    np.testing.assert_allclose(model.kernel_, q(X)[:, None] * plain(X, X) * q(X)[None], atol=1e-10)
    np.testing.assert_allclose(
        model.transform(X_new), q(X_new)[:, None] * plain(X_new, X) * q(X)[None], atol=1e-10
    )
    np.testing.assert_allclose(model.transform(X), model.kernel_, atol=1e-10)
    np.testing.assert_array_equal(model.kernel_, model.kernel_.T)
    assert np.linalg.eigvalsh(model.kernel_)[0] > -1e-10
    np.testing.assert_array_equal(model.fit_transform(X, y), model.kernel_)


def test_a_repaired_matrix_is_handed_on_at_fit():
    X, y = make_three(40)
    K = X @ X.T - np.eye(40)
    model = ConformalKernel(KernelBank("precomputed", psd="shift"))
    learned = model.fit_transform(K, y)
    assert np.linalg.eigvalsh(learned)[0] > -1e-9
    SVC(kernel="precomputed").fit(learned, y)
    assert np.linalg.eigvalsh(0.5 * (model.transform(K) + model.transform(K).T))[0] < -1e-3


# ---------------------------------------------------------------------- cores
def test_cores_are_a_share_a_number_or_positions():
    assert choose_cores(1 / 3, 36, 0).size == 12 and choose_cores(1 / 3, 8, 0).size == 3
    assert choose_cores(1.0, 9, 0).tolist() == list(range(9))
    assert choose_cores(0.01, 9, 0).size == 1
    assert choose_cores(4, 9, 0).size == 4 == np.unique(choose_cores(4, 9, 0)).size
    assert choose_cores([5, 2], 9, 0).tolist() == [2, 5]
    drawn = [tuple(choose_cores(3, 30, seed)) for seed in range(10)]
    assert len(set(drawn)) > 5 and drawn[4] == tuple(choose_cores(3, 30, 4))
    assert max(max(cores) for cores in drawn) > 20  # from all over the points


def test_the_draw_of_the_cores_can_be_repeated():
    X, y = make_three(40)
    first, again = ConformalKernel().fit(X, y), ConformalKernel().fit(X, y)
    np.testing.assert_array_equal(first.kernel_, again.kernel_)
    assert first.cores_.size == 13
    other = ConformalKernel(random_state=1).fit(X, y)
    assert first.cores_.tolist() != other.cores_.tolist()
    same = ConformalKernel(random_state=np.random.RandomState(1)).fit(X, y)
    np.testing.assert_array_equal(same.cores_, other.cores_)


@pytest.mark.parametrize(
    ("cores", "error", "words"),
    [
        (0.0, ValueError, ["share", "above 0 and at most 1", "0.0"]),
        (1.5, ValueError, ["share", "above 0 and at most 1", "1.5"]),
        (31, ValueError, ["at most the 30 training points", "31"]),
        (True, TypeError, ["cores", "positive integer", "True"]),
        ([0, 30], ValueError, ["positions of training points, 0 to 29", "0 to 30"]),
        ([-1, 3], ValueError, ["0 to 29", "-1 to 3"]),
        ([2, 2], ValueError, ["distinct"]),
        ([], TypeError, ["integers in a 1-D array", "(0,)"]),
        ([0.5, 1.0], TypeError, ["integers in a 1-D array", "float64"]),
        (np.ones(30, bool), TypeError, ["integers", "bool", "numpy.flatnonzero"]),
    ],
)
def test_what_are_no_cores_is_refused(cores, error, words):
    X, y = make_three(30)
    with refuses(*words, error=error):
        ConformalKernel(cores=cores).fit(X, y)


# --- a kernel of its own for the factor --------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["gradient", "eig"])
def test_the_factor_may_have_a_kernel_of_its_own(solver, tmp_path):
    X, y = make_three(60)
    X_new = make_three(20, seed=3)[0]
    wide, narrow = Gaussian(gamma=0.01), Gaussian(gamma=0.5)
    model = ConformalKernel(wide, factor_kernel=narrow, solver=solver).fit(X, y)
    K0, K1 = wide(X), narrow(X)[:, model.cores_]
    factors = model.coefficients_[0] + K1 @ model.coefficients_[1:]
    np.testing.assert_allclose(model.factors_, factors)
    np.testing.assert_allclose(model.kernel_, K0 * np.outer(factors, factors))
    new = model.coefficients_[0] + narrow(X_new, X[model.cores_]) @ model.coefficients_[1:]
    np.testing.assert_allclose(model.transform(X_new), wide(X_new, X) * np.outer(new, factors))
    codes = np.unique(y, return_inverse=True)[1]
    same = (codes[:, None] == codes) / np.bincount(codes)[codes]
    rescaled = model.kernel_
    between, within = (
        np.sum(rescaled * same) - rescaled.sum() / 60,
        np.trace(rescaled) - np.sum(rescaled * same),
    )
    assert model.objective_ == pytest.approx(between / within, rel=1e-5)
    alone = ConformalKernel(wide, solver=solver).fit(X, y)
    if solver == "gradient":  # a flat factor can hardly move
        assert model.objective_ > alone.objective_
    save_model(model, tmp_path / "model.mkl")
    np.testing.assert_array_equal(load_model(tmp_path / "model.mkl").transform(X_new), model.transform(X_new))


def test_the_factor_of_the_kernel_itself_is_the_default():
    X, y = make_three(50)
    plain = ConformalKernel(Gaussian(gamma=0.3)).fit(X, y)
    named = ConformalKernel(Gaussian(gamma=0.3), factor_kernel=Gaussian(gamma=0.3)).fit(X, y)
    np.testing.assert_allclose(named.kernel_, plain.kernel_)
    with refuses("factor_kernel needs the rows", "precomputed"):
        ConformalKernel("precomputed", factor_kernel=Gaussian()).fit(np.eye(50) + 1.0, y)

"""MKLRidgeClassifierCV: many labels, classes, the squared hinge."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.svm import LinearSVC

from multikernel import MKLRidgeCV, load_model, save_model
from multikernel.kernels import Linear
from multikernel.mkl import MKLRidgeClassifierCV

RNG = np.random.default_rng(0)
N = 60
X = RNG.normal(size=(N, 6))
SCORES = X[:, [0, 2, 4, 1]] + 0.4 * RNG.normal(size=(N, 4))
Y = (SCORES > 0).astype(int)
VIEWS = [("a", Linear(), [0, 1]), ("b", Linear(), [2, 3]), ("c", Linear(), [4, 5])]
ALPHAS = (0.1, 1.0, 10.0)


def make(**settings):
    return MKLRidgeClassifierCV(VIEWS, **({"alphas": ALPHAS, "candidates": 12} | settings))


def test_labels_are_regressions_on_their_signs():
    model = make().fit(X, Y)
    ridge = MKLRidgeCV(VIEWS, targets="each", alphas=ALPHAS, candidates=12).fit(X, 2.0 * Y - 1.0)
    np.testing.assert_allclose(model.decision_function(X), ridge.predict(X), atol=1e-12)
    np.testing.assert_array_equal(model.alpha_, ridge.alpha_)
    np.testing.assert_array_equal(model.predict(X), (ridge.predict(X) > 0).astype(int))
    assert model.machine_weights_.argmax(axis=1).tolist() == [0, 1, 2, 0]
    assert model.classes_.tolist() == [0, 1, 2, 3] and model.score(X, Y) > 0.5
    assert model.contributions(X).shape == (N, 4, 3)


def test_the_squared_hinge_is_that_of_the_learned_kernel():
    stack = np.stack([X[:, 2 * m : 2 * m + 2] @ X[:, 2 * m : 2 * m + 2].T for m in range(3)], axis=2)
    settings = {"alphas": ALPHAS, "candidates": 12}
    model = MKLRidgeClassifierCV("precomputed", loss="squared_hinge", tol=1e-6, **settings).fit(stack, Y)
    ridge = MKLRidgeClassifierCV("precomputed", **settings).fit(stack, Y)
    np.testing.assert_array_equal(model.alpha_, ridge.alpha_)
    np.testing.assert_allclose(model.machine_weights_, ridge.machine_weights_)
    for k in range(4):
        K = stack @ model.machine_weights_[k]
        values, vectors = np.linalg.eigh(K)
        Z = vectors * np.sqrt(np.maximum(values, 0.0))
        # an intercept that is hardly penalized, as LinearSVC has none that is not
        machine = LinearSVC(
            C=1.0 / (2.0 * model.alpha_[k]), intercept_scaling=1e3, tol=1e-10, max_iter=10**6, dual=False
        ).fit(Z, Y[:, k])
        np.testing.assert_allclose(
            model.decision_function(stack)[:, k], machine.decision_function(Z), atol=5e-3
        )
    assert model.dual_gap_ <= 1e-6


@pytest.mark.parametrize("loss", ["squared", "squared_hinge"])
def test_classes_are_labels_against_each_other(loss):
    classes = np.array(["x", "y", "z"])[SCORES[:, :3].argmax(axis=1)]
    model = make(loss=loss).fit(X, classes)
    assert model.decision_function(X).shape == (N, 3)
    assert model.target_names_ == model.classes_.tolist() == ["x", "y", "z"]
    assert model.score(X, classes) > 0.7
    two = make(loss=loss).fit(X, classes == "x")
    assert two.decision_function(X).shape == (N,) and two.predict(X).dtype == bool


def test_indicators_in_every_form():
    frame = pd.DataFrame(Y, columns=list("pqrs"))
    plain = make().fit(X, Y)
    for given in (frame, scipy.sparse.csr_matrix(Y), Y.astype(bool), Y.tolist()):
        np.testing.assert_array_equal(make().fit(X, given).predict(X), plain.predict(X))
    assert make().fit(X, frame).target_names_ == list("pqrs")
    gaps = frame.astype(float)
    gaps.iloc[:10, 1] = np.nan
    known = make().fit(X, gaps)
    assert not known.dual_coef_[1, :10].any() and known.predict(X).shape == (N, 4)


def test_bad_labels_are_named():
    frame = pd.DataFrame(Y, columns=list("pqrs"))
    with pytest.raises(ValueError, match="label 'q' holds for no sample"):
        make().fit(X, frame.assign(q=0))
    with pytest.raises(ValueError, match="label 's' holds for every sample"):
        make().fit(X, frame.assign(s=1))
    with pytest.raises(ValueError, match="same number of samples; got 60 and 59"):
        make().fit(X, Y[1:])
    with pytest.raises(ValueError, match=r"indicator matrix of 0 and 1.* shape \(60, 4\)"):
        make().fit(X, Y + 1)
    with pytest.raises(ValueError, match=r"lists of different lengths\. Use sklearn.preprocessing"):
        make().fit(X, [["p"], ["p", "q"]] * 30)
    with pytest.raises(ValueError, match="loss must be one of"):
        make(loss="hinge").fit(X, Y)


def test_conventions(tmp_path):
    model = make(loss="squared_hinge").fit(X, Y)
    save_model(model, tmp_path / "model.mk")
    np.testing.assert_array_equal(
        load_model(tmp_path / "model.mk").decision_function(X), model.decision_function(X)
    )
    assert cross_val_predict(make(), X, Y, cv=3).shape == (N, 4)
    grid = GridSearchCV(make(), {"loss": ["squared", "squared_hinge"]}, cv=3).fit(X, Y)
    assert grid.predict(X).shape == (N, 4)
    folds = clone(model).set_params(cv=4, refine=True, loss="squared").fit(X, Y)
    assert folds.n_splits_ == 4 and folds.out_of_fold_.shape == (N, 4)

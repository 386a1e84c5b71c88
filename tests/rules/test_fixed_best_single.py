"""The best single kernel: the one of the best cross-validated score, as scikit-learn computes it."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics import accuracy_score, f1_score, make_scorer, r2_score
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_predict, cross_val_score
from sklearn.svm import SVC, SVR

from multikernel import CombinedKernelClassifier, CombinedKernelRegressor, KernelKNNClassifier
from multikernel.rules import BestSingle


def kernels(X):
    """One for each column, of very different scales."""
    return [10.0 ** (3 * j - 4) * np.exp(-((X[:, [j]] - X[:, j]) ** 2)) for j in range(X.shape[1])]


@pytest.fixture(scope="module")
def flowers():
    X, y = load_iris(return_X_y=True)
    return kernels(X[::3]), y[::3]


def unit(K):
    return K / np.diagonal(K).mean()


@pytest.mark.parametrize("machine", [None, SVC(C=0.1), KernelKNNClassifier(n_neighbors=3)])
def test_scores_are_those_of_held_out_predictions(flowers, machine):
    Ks, y = flowers
    learner = BestSingle(machine, cv=3).fit(Ks, y)
    used = SVC() if machine is None else machine
    used = used.set_params(**{"kernels" if "kernels" in used.get_params() else "kernel": "precomputed"})
    folds = StratifiedKFold(3)
    scores = [accuracy_score(y, cross_val_predict(used, unit(K), y, cv=folds)) for K in Ks]
    np.testing.assert_allclose(learner.scores_, scores)
    assert learner.kernel_weights_.tolist() == np.eye(len(Ks))[int(np.argmax(scores))].tolist()
    assert learner.objective_ == max(scores) and learner.status_ == "optimal"


@pytest.mark.parametrize("outputs", [1, 2])
def test_values_are_scored_by_r2_and_their_mean_is_taken_away(outputs):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    Ks, Y = kernels(X), 50.0 + np.sin(X[:, 1:2] + 0.4 * np.arange(outputs))
    learner = BestSingle(cv=4).fit(Ks, Y[:, 0] if outputs == 1 else Y, task="values")
    scores = []
    for K in Ks:
        predicted = np.empty_like(Y)
        for train, test in KFold(4, shuffle=True, random_state=0).split(X):
            ridge, mean = KernelRidge(kernel="precomputed"), Y[train].mean(axis=0)
            ridge.fit(unit(K)[np.ix_(train, train)], Y[train] - mean)
            predicted[test] = ridge.predict(unit(K)[np.ix_(test, train)]) + mean
        scores.append(r2_score(Y, predicted))
    np.testing.assert_allclose(learner.scores_, scores, rtol=1e-9)
    assert learner.kernel_weights_.tolist() == [0.0, 1.0, 0.0]


def test_of_equals_the_first_is_taken_and_scale_does_not_matter(flowers):
    Ks, y = flowers
    best = int(np.argmax(BestSingle().fit(Ks, y).scores_))
    twice = BestSingle().fit([1e6 * Ks[best], 1e-6 * Ks[best], Ks[best]], y)
    assert twice.kernel_weights_.tolist() == [1.0, 0.0, 0.0]
    np.testing.assert_allclose(twice.scores_, twice.scores_[0])


@pytest.mark.parametrize("scoring", ["roc_auc", make_scorer(f1_score, pos_label="rare", zero_division=0.0)])
def test_by_a_scorer_it_is_the_mean_over_the_folds_of_imbalanced_classes(scoring):
    rng = np.random.default_rng(0)
    y = np.where(np.arange(40) % 5 == 0, "rare", "usual")
    X = rng.normal(size=(40, 3)) + np.outer(y == "rare", [0.0, 3.0, 1.0])
    Ks = [np.outer(x, x) for x in X.T]
    machine = SVC(kernel="precomputed", class_weight={"rare": 4.0, "usual": 1.0})
    learner = BestSingle(machine, cv=4, scoring=scoring).fit([*Ks, Ks[1]], y)
    scores = [cross_val_score(machine, unit(K), y, cv=4, scoring=scoring).mean() for K in Ks]
    np.testing.assert_allclose(learner.scores_, [*scores, scores[1]])
    assert learner.kernel_weights_.tolist() == [0.0, 1.0, 0.0, 0.0]
    assert learner.objective_ == max(learner.scores_)


@pytest.mark.parametrize("outputs", [1, 2])
def test_scorers_of_values_see_them_with_their_mean(outputs):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(30, 2))
    Y = 50.0 + X[:, [1]] * np.ones(outputs)
    Ks = [np.outer(x, x) for x in X.T]
    scored = [
        BestSingle(cv=[(np.arange(20), np.arange(20, 30))], scoring=scoring).fit(Ks, Y, task="values").scores_
        for scoring in (None, "r2", "neg_mean_squared_error")
    ]
    np.testing.assert_allclose(scored[0], scored[1])
    assert scored[2][1] > -0.1


def test_under_its_estimators_it_is_the_machine_on_that_kernel(flowers):
    Ks, y = flowers
    stack = np.stack(Ks, axis=2)
    model = CombinedKernelClassifier(BestSingle(), kernels="precomputed").fit(stack, y)
    best = int(np.argmax(model.kernel_weights_))
    alone = SVC(kernel="precomputed").fit(unit(Ks[best]), y)
    assert (model.predict(stack) == alone.predict(unit(Ks[best]))).all()
    values = np.cos(np.arange(len(y)) + 0.1 * y)
    model = CombinedKernelRegressor(BestSingle(SVR()), SVR(), "precomputed").fit(stack, values)
    assert model.kernel_weights_.sum() == 1.0


def test_small_classes_have_fewer_folds_and_one_sample_is_too_few(flowers):
    Ks, y = flowers
    rows = np.r_[0:3, 17:25]
    few = [K[np.ix_(rows, rows)] for K in Ks]
    assert BestSingle(cv=10).fit(few, y[rows]).scores_.max() > 0.5
    rows = np.r_[0:1, 17:25]
    with pytest.raises(ValueError, match="each class"):
        BestSingle().fit([K[np.ix_(rows, rows)] for K in Ks], y[rows])


@pytest.mark.parametrize(
    ("learner", "error", "message"),
    [
        (BestSingle(cv=1), ValueError, "cv must be"),
        (BestSingle(cv=2.5), (TypeError, ValueError), "cv"),
        (BestSingle(SVC(kernel="linear")), ValueError, "machine must take"),
        (BestSingle(scoring=["accuracy"]), TypeError, "scoring must be the name of one score"),
        (BestSingle(scoring="neg_log_loss"), ValueError, "cannot score machine=SVC.*predict_proba"),
        (BestSingle(scoring=lambda machine, K, y: np.nan), ValueError, "finite on every fold"),
    ],
)
def test_bad_parameters_are_refused(flowers, learner, error, message):
    with pytest.raises(error, match=message):
        learner.fit(*flowers)


def test_it_needs_targets(flowers):
    with pytest.raises(ValueError, match=r"y must be given|learns from classes or values"):
        BestSingle().fit(flowers[0])

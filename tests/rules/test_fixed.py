"""Fixed rules: the formulas, any task, what has no scale; the best kernel as scikit-learn scores it."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics import accuracy_score, f1_score, make_scorer, r2_score
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_predict, cross_val_score
from sklearn.svm import SVC

from multikernel.kernels import center
from multikernel.rules import BestSingle, MeanRule, ProductRule, SumRule
from multikernel.rules.targets import no_targets
from multikernel.spectral import KernelKNNClassifier
from tests.rules.similarity_problems import problem

RULES = (SumRule(), MeanRule(), MeanRule("variance"), MeanRule("none"), ProductRule())


def test_the_sum_and_the_product():
    kernels, y = problem(0)
    np.testing.assert_allclose(SumRule().fit_combine(kernels), np.sum(kernels, axis=0))
    np.testing.assert_allclose(ProductRule().fit_combine(kernels), np.prod(kernels, axis=0))
    for rule in (SumRule(), ProductRule()):
        assert rule.fit(kernels, y).kernel_weights_.tolist() == [1.0] * len(kernels)
        new = [K[:3] for K in kernels]
        np.testing.assert_allclose(rule.combine(new), rule.fit_combine(kernels)[:3])


@pytest.mark.parametrize(
    "normalise, size",
    [
        ("trace", lambda K: np.trace(K) / len(K)),
        ("variance", lambda K: np.trace(center(K)) / len(K)),
        ("none", lambda K: 1.0),
    ],
)
def test_the_mean_of_kernels_at_one_scale(normalise, size):
    kernels, _ = problem(1)
    expected = np.mean([K / size(K) for K in kernels], axis=0)
    np.testing.assert_allclose(MeanRule(normalise).fit_combine(kernels), expected, rtol=1e-9)
    np.testing.assert_allclose(MeanRule().fit(kernels).kernel_shares_, 1.0 / len(kernels))


@pytest.mark.parametrize("rule", RULES, ids=str)
@pytest.mark.parametrize("task", ["two", "three", "regression", "outputs", None])
def test_targets_are_not_looked_at(rule, task):
    kernels, y = problem(2, task or "two")
    weights = rule.fit(kernels, None if task is None else y).kernel_weights_
    np.testing.assert_array_equal(weights, rule.fit(kernels, task="unsupervised").kernel_weights_)
    assert np.isnan(rule.objective_) and rule.status_ == "optimal" and rule.dual_gap_ == 0.0


@pytest.mark.parametrize("level", [0.1, 1.0, 3e7])
def test_a_constant_kernel_has_no_variance(level):
    constant = np.full((1, 30, 30), level)
    with pytest.raises(ValueError, match="kernel 'kernel-0' is the same for all samples"):
        MeanRule("variance").fit_stack(constant, no_targets(30))
    assert MeanRule().fit_stack(constant, no_targets(30)).kernel_weights_[0] == pytest.approx(1.0 / level)


def test_a_kernel_of_zeros_has_no_trace():
    with pytest.raises(ValueError, match="kernel 'b' cannot be scaled to trace n: its mean diagonal is 0"):
        MeanRule().fit_stack(np.stack([np.eye(3), np.zeros((3, 3))]), no_targets(3), ["a", "b"])


def test_a_product_that_overflows_is_refused():
    with pytest.raises(ValueError, match=r"product of the kernels overflows.*normalize=.diagonal"):
        ProductRule().fit_combine([1e200 * (1.0 + np.eye(3)), 1e200 * np.eye(3)])


def columns(X):
    """One for each column, of very different scales."""
    return [10.0 ** (3 * j - 4) * np.exp(-((X[:, [j]] - X[:, j]) ** 2)) for j in range(X.shape[1])]


@pytest.fixture(scope="module")
def flowers():
    X, y = load_iris(return_X_y=True)
    return columns(X[::3]), y[::3]


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
    Ks, Y = columns(X), 50.0 + np.sin(X[:, 1:2] + 0.4 * np.arange(outputs))
    learner = BestSingle(cv=4).fit(Ks, Y[:, 0] if outputs == 1 else Y, task="regression")
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
        BestSingle(cv=[(np.arange(20), np.arange(20, 30))], scoring=scoring)
        .fit(Ks, Y, task="regression")
        .scores_
        for scoring in (None, "r2", "neg_mean_squared_error")
    ]
    np.testing.assert_allclose(scored[0], scored[1])
    assert scored[2][1] > -0.1


@pytest.mark.parametrize(
    ("learner", "error", "message"),
    [
        (BestSingle(scoring=["accuracy"]), TypeError, "scoring must be the name of one score"),
        (BestSingle(scoring="neg_log_loss"), ValueError, "cannot score machine=SVC.*predict_proba"),
        (BestSingle(scoring=lambda machine, K, y: np.nan), ValueError, "finite on every fold"),
    ],
)
def test_bad_parameters_are_refused(flowers, learner, error, message):
    with pytest.raises(error, match=message):
        learner.fit(*flowers)

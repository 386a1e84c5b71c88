"""Rules of one figure for each kernel: against scikit-learn's cross-validation and the formulas."""

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    PredefinedSplit,
    ShuffleSplit,
    StratifiedKFold,
    cross_val_predict,
)
from sklearn.svm import SVC, SVR

from multikernel.rules import AccuracyRule, AlignmentRule, MSERule, PearsonRule, alignment
from tests.rules.similarity_problems import ideal, normalised, problem, sizes


def ridge_predictions(K, y, folds, machine=None):
    """Out of fold, with the mean of each training part taken away."""
    found = np.empty_like(y)
    for train, test in folds.split(K):
        model = machine or KernelRidge(kernel="precomputed")
        middle = y[train].mean(axis=0)
        found[test] = model.fit(K[np.ix_(train, train)], y[train] - middle).predict(K[np.ix_(test, train)])
        found[test] += middle
    return found


# --- accuracy ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("task", ["two", "three"])
@pytest.mark.parametrize("cv", [5, 3, StratifiedKFold(4, shuffle=True, random_state=1)])
def test_accuracies_are_those_of_cross_validation(task, cv):
    kernels, y = problem(1, task, n=45)
    learner = AccuracyRule(threshold=0.1, cv=cv).fit(kernels, y)
    machine = SVC(kernel="precomputed")
    expected = [np.mean(cross_val_predict(machine, K, y, cv=cv) == y) for K in normalised(kernels)]
    np.testing.assert_allclose(learner.accuracies_, expected)
    shares = (learner.accuracies_ - 0.1) / (learner.accuracies_ - 0.1).sum()
    np.testing.assert_allclose(learner.kernel_weights_, shares / sizes(kernels))
    raw = AccuracyRule(threshold=0.1, cv=cv, normalize=False).fit(kernels, y)
    np.testing.assert_allclose(raw.kernel_weights_, shares)
    assert raw.kernel_weights_.sum() == pytest.approx(1.0)


def test_the_threshold_is_what_a_guess_achieves():
    kernels, y = problem(2, n=40)
    learner = AccuracyRule().fit(kernels, y)
    level = np.bincount(y).max() / y.size
    assert learner.threshold_ == level
    above = np.maximum(learner.accuracies_ - level, 0.0)
    np.testing.assert_allclose(learner.kernel_weights_ * sizes(kernels), above / above.sum())
    assert np.isnan(learner.objective_) and learner.dual_gap_ == 0.0

    level = float(np.median(learner.accuracies_))
    weights = AccuracyRule(threshold=level).fit(kernels, y).kernel_weights_
    np.testing.assert_array_equal(weights > 0.0, learner.accuracies_ > level)
    with pytest.warns(UserWarning, match="no kernel by itself is right more often than 0.99"):
        learner = AccuracyRule(threshold=0.99).fit(kernels, y)
    np.testing.assert_allclose(learner.kernel_shares_, 1.0 / len(kernels))


def test_any_classifier_on_a_kernel():
    kernels, y = problem(4, n=40)
    learner = AccuracyRule(machine=SVC(C=100.0), threshold=0.0).fit(kernels, y)  # its kernel is set
    machine = SVC(kernel="precomputed", C=100.0)
    expected = [np.mean(cross_val_predict(machine, K, y, cv=5) == y) for K in normalised(kernels)]
    np.testing.assert_allclose(learner.accuracies_, expected)
    for rule, given, kind in ((AccuracyRule, SVR(), "classifier"), (MSERule, SVC(), "regressor")):
        with pytest.raises(TypeError, match=f"machine must be a {kind} on a precomputed kernel"):
            rule(machine=given).fit(kernels, y if rule is AccuracyRule else y + 0.5)


# --- correlation and squared error -------------------------------------------------------------------------

FOLDS = KFold(5, shuffle=True, random_state=0)


@pytest.mark.parametrize("task", ["regression", "outputs"])
def test_correlations_and_errors_are_those_of_cross_validation(task):
    kernels, y = problem(5, task, n=40)
    columns = y.reshape(len(y), -1)
    found = [ridge_predictions(K, columns, FOLDS) for K in normalised(kernels)]
    R = [np.mean([np.corrcoef(p, t)[0, 1] for p, t in zip(P.T, columns.T, strict=True)]) for P in found]
    M = [np.mean(np.mean((P - columns) ** 2, axis=0) / columns.var(axis=0)) for P in found]
    pearson, mse = PearsonRule().fit(kernels, y), MSERule().fit(kernels, y)
    np.testing.assert_allclose(pearson.correlations_, R, rtol=1e-9)
    np.testing.assert_allclose(mse.errors_, M, rtol=1e-9)
    shares = np.maximum(R, 0.0) / np.maximum(R, 0.0).sum()
    np.testing.assert_allclose(pearson.kernel_weights_ * sizes(kernels), shares, rtol=1e-9)
    shares = (np.sum(M) - M) / ((len(M) - 1) * np.sum(M))
    assert shares.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(mse.kernel_weights_ * sizes(kernels), shares, rtol=1e-9)
    raw = MSERule(normalize=False).fit(kernels, y).kernel_weights_
    np.testing.assert_allclose(raw, shares, rtol=1e-9)


@pytest.mark.parametrize("rule", [PearsonRule, MSERule])
def test_any_regressor_and_splits(rule):
    kernels, y = problem(6, "regression", n=40)
    splits = list(KFold(4).split(y))
    learner = rule(machine=SVR(kernel="precomputed"), cv=splits).fit(kernels, y)
    found = [ridge_predictions(K, y, KFold(4), SVR(kernel="precomputed")) for K in normalised(kernels)]
    if rule is PearsonRule:
        np.testing.assert_allclose(learner.correlations_, [np.corrcoef(p, y)[0, 1] for p in found], rtol=1e-9)
    else:
        np.testing.assert_allclose(
            learner.errors_, [np.mean((p - y) ** 2) / y.var() for p in found], rtol=1e-9
        )
    masks = [(np.isin(np.arange(len(y)), a), np.isin(np.arange(len(y)), b)) for a, b in splits]
    same = rule(machine=SVR(kernel="precomputed"), cv=masks).fit(kernels, y)
    np.testing.assert_array_equal(same.kernel_weights_, learner.kernel_weights_)


def test_values_that_are_all_the_same():
    kernels, y = problem(8, "regression")
    constant = np.full(len(y), 2.5)
    learner = MSERule().fit(kernels, constant)
    np.testing.assert_allclose(learner.kernel_shares_, 1.0 / len(kernels))
    with pytest.warns(UserWarning, match="no kernel by itself predicts values that rise"):
        learner = PearsonRule().fit(kernels, constant)
    np.testing.assert_allclose(learner.kernel_shares_, 1.0 / len(kernels))


def test_a_kernel_that_predicts_the_opposite_gets_nothing():
    x = np.linspace(-1.0, 1.0, 30)
    learner = PearsonRule().fit([np.outer(x, x), np.eye(30)], x)  # of the second only the mean is left
    assert learner.correlations_[0] > 0.9 and learner.correlations_[1] < 0.0
    assert learner.kernel_shares_.tolist() == [1.0, 0.0]


# --- alignment ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("task", ["two", "three", "regression", "outputs"])
@pytest.mark.parametrize("centered", [False, True])
def test_alignments(task, centered):
    kernels, y = problem(9, task)
    learner = AlignmentRule(centered).fit(kernels, y)
    expected = np.array([alignment(K, ideal(y, task), centered=centered) for K in kernels])
    np.testing.assert_allclose(learner.alignments_, expected, rtol=1e-9)
    np.testing.assert_allclose(learner.kernel_weights_ * sizes(kernels), expected / expected.sum(), rtol=1e-9)
    raw = AlignmentRule(centered, normalize=False).fit(kernels, y).kernel_weights_
    np.testing.assert_allclose(raw, expected / expected.sum(), rtol=1e-9)


def test_no_alignment_at_all():
    x, y = np.array([1.0, 1.0, -1.0, -1.0]), np.array([1, 0, 1, 0])
    with pytest.warns(UserWarning, match="no kernel by itself is aligned with the targets"):
        learner = AlignmentRule().fit([np.outer(x, x), 2.0 * np.outer(x, x)], y)
    np.testing.assert_allclose(learner.kernel_shares_, [0.5, 0.5])


# --- refusals ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "rule, error, words",
    [
        (AccuracyRule(threshold=1.0), ValueError, "threshold must be below 1"),
        (AccuracyRule(cv=1), ValueError, "cv must be at least 2 folds; got 1"),
        (AccuracyRule(cv=True), TypeError, "cv must be a positive integer"),
        (AccuracyRule(cv=GroupKFold(2)), ValueError, "needs the groups of the samples"),
        (AccuracyRule(cv=[]), ValueError, "cv must hold at least one split"),
        (AccuracyRule(cv=[1, 2]), ValueError, r"pairs of training and validation rows; got \[1, 2\]"),
        (
            AccuracyRule(cv=[(np.arange(5), np.array([], int))]),
            ValueError,
            "the validation part of fold 0 has none",
        ),
        (AccuracyRule(cv=PredefinedSplit([0] * 12 + [1] * 12)), ValueError, "holds one class only"),
    ],
    ids=str,
)
def test_bad_parameters(rule, error, words):
    kernels, y = problem(14)
    order = np.argsort(y, kind="stable")
    kernels = [K[np.ix_(order, order)] for K in kernels]
    y = np.repeat([0, 1], 12)
    with pytest.raises(error, match=words):
        rule.fit(kernels, y)


def test_small_classes():
    kernels, _ = problem(16, n=9)
    few = np.array([0, 0, 0, 0, 0, 0, 1, 1, 1])
    learner = AccuracyRule(threshold=0.0).fit(kernels, few)  # three folds, as there are three of a class
    same = AccuracyRule(threshold=0.0, cv=3).fit(kernels, few)
    np.testing.assert_array_equal(learner.accuracies_, same.accuracies_)
    with pytest.raises(ValueError, match="at least 2 samples of each class; class 1 has 1"):
        AccuracyRule().fit(kernels, np.array([0] * 8 + [1]))


def test_samples_may_be_held_out_many_times_or_never():
    kernels, y = problem(17, "regression")
    learner = MSERule(cv=ShuffleSplit(6, test_size=5, random_state=0)).fit(kernels, y)
    assert learner.kernel_shares_.sum() == pytest.approx(1.0)
    few = MSERule(cv=9).fit([K[:4, :4] for K in kernels], y[:4])  # at most half as many folds as samples
    assert np.isfinite(few.errors_).all()

"""A learner under a machine: the same as the two by hand, whatever the learner, the machine and the input."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC, SVR, OneClassSVM

from multikernel import (
    CombinedKernelClassifier,
    CombinedKernelOneClass,
    CombinedKernelRegressor,
    KernelBank,
    MKLClassifier,
)
from multikernel.discriminant import KernelDiscriminantClassifier
from multikernel.kernels import Gaussian, Linear, Polynomial
from multikernel.report import render_html, render_markdown, summarize
from multikernel.rules import CenteredAlignment, Learned, MeanRule, ProductRule, SumRule, WeightLearner
from multikernel.spectral import KernelKNNClassifier
from tests.raw import raw

VIEWS = raw([("length", Linear(), [0]), ("petals", Gaussian(gamma=0.3), [2, 3]), ("all", Polynomial(2))])
X, y = load_iris(return_X_y=True)
TRAIN, TEST = np.arange(150) % 3 != 0, np.arange(150) % 3 == 0
diabetes = load_diabetes(return_X_y=True)


def stacks(views=VIEWS, data=X, rows=TRAIN, new=TEST):
    bank = KernelBank(views).fit(data[rows])
    return bank.fit_transform(data[rows]), bank.transform(data[new])


def by_hand(learner, train, test, target):
    K = learner.fit_combine(train, target)
    scale = 1.0 / np.diagonal(K).mean()
    return K * scale, learner.combine(test) * scale


MACHINES = {
    "svm": SVC(kernel="precomputed", C=3.0),
    "neighbours": KernelKNNClassifier("precomputed", n_neighbors=3),
    "discriminant": KernelDiscriminantClassifier("precomputed"),
    "mkl": MKLClassifier("precomputed"),
    "search": GridSearchCV(SVC(kernel="precomputed"), {"C": [0.1, 10.0]}, cv=2),
}


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(
    "learner", [SumRule(), MeanRule(), ProductRule(), CenteredAlignment()], ids=lambda r: type(r).__name__
)
def test_a_classifier_is_the_learner_then_the_machine(learner, machine):
    train, test = stacks()
    K, K_test = by_hand(learner, train, test, y[TRAIN])
    expected = MACHINES[machine].fit(K, y[TRAIN]).predict(K_test)
    model = CombinedKernelClassifier(VIEWS, learner, MACHINES[machine]).fit(X[TRAIN], y[TRAIN])
    np.testing.assert_array_equal(model.predict(X[TEST]), expected)
    np.testing.assert_allclose(model.combined_kernel(X[TEST]), K_test, rtol=1e-12)


@pytest.mark.parametrize("machine", [KernelRidge(kernel="precomputed"), SVR(kernel="precomputed", C=50.0)])
def test_a_regressor_is_the_learner_then_the_machine(machine):
    data, target = diabetes[0][:90], diabetes[1][:90]
    rows, new = np.arange(90) < 60, np.arange(90) >= 60
    train, test = stacks(raw([Linear(), Gaussian()]), data, rows, new)
    K, K_test = by_hand(CenteredAlignment(), train, test, target[rows] + 0.5)
    middle = target[rows].mean()
    expected = machine.fit(K, target[rows] - middle).predict(K_test) + middle
    model = CombinedKernelRegressor(raw([Linear(), Gaussian()]), None, machine).fit(data[rows], target[rows])
    np.testing.assert_allclose(model.predict(data[new]), expected, rtol=1e-9)


def test_whole_numbers_are_values_for_a_regressor():
    data, target = diabetes[0][:60], np.round(diabetes[1][:60])
    halves = [
        CombinedKernelRegressor(kernels=raw([Linear(), Gaussian()])).fit(data, target + shift).kernel_weights_
        for shift in (0.0, 0.5)
    ]
    np.testing.assert_allclose(*halves, rtol=1e-9)


def test_several_outputs_go_to_a_machine_that_takes_them():
    data, target = diabetes[0][:60], np.column_stack([diabetes[1][:60], diabetes[0][:60, 2] * 1e3])
    model = CombinedKernelRegressor(kernels=raw([Linear(), Gaussian()])).fit(data, target)
    assert model.predict(data[:5]).shape == (5, 2) and model.score(data, target) > 0.4
    with pytest.raises(ValueError, match="1d array"):
        CombinedKernelRegressor(machine=SVR(kernel="precomputed")).fit(data, target)


def test_one_class_is_the_learner_then_the_machine():
    train, test = stacks()
    K, K_test = by_hand(MeanRule(), train, test, None)
    machine = OneClassSVM(kernel="precomputed", nu=0.3).fit(K)
    model = CombinedKernelOneClass(VIEWS, None, OneClassSVM(kernel="precomputed", nu=0.3)).fit(X[TRAIN])
    np.testing.assert_allclose(model.score_samples(X[TEST]), machine.score_samples(K_test), rtol=1e-9)
    np.testing.assert_allclose(
        model.decision_function(X[TEST]), machine.decision_function(K_test), rtol=1e-9, atol=1e-9
    )
    np.testing.assert_array_equal(model.predict(X[TEST]), machine.predict(K_test))


def test_the_learner_and_the_machine_given_stay_as_they_were():
    learner, machine = MeanRule(), SVC()
    CombinedKernelClassifier(VIEWS, learner, machine).fit(X, y)
    assert machine.kernel == "rbf" and not hasattr(machine, "classes_")
    assert not hasattr(learner, "kernel_weights_")


def test_a_kernel_left_at_its_default_becomes_precomputed_and_another_is_refused():
    model = CombinedKernelClassifier(VIEWS, MeanRule(), KernelKNNClassifier()).fit(X, y)
    assert model.machine_.kernels == "precomputed"
    stored = KernelKNNClassifier(KernelBank("gaussian", psd="clip"))
    model = CombinedKernelClassifier(VIEWS, MeanRule(), stored).fit(X, y)
    assert model.machine_.kernels.get_params(deep=False)["kernels"] == "precomputed"
    assert model.machine_.kernels.psd == "clip" and stored.kernels.kernels == "gaussian"
    search = GridSearchCV(SVC(), {"C": [0.1, 10.0]}, cv=2)
    model = CombinedKernelClassifier(VIEWS, MeanRule(), search).fit(X, y)
    assert model.machine_.best_estimator_.kernel == "precomputed" and search.estimator.kernel == "rbf"
    assert model.score(X, y) > 0.9
    for machine in (SVC(kernel="poly"), LogisticRegression(), GridSearchCV(SVC(kernel="poly"), {})):
        with pytest.raises(
            ValueError, match=r"machine must take the combined kernel.*SVC\(kernel='precomputed'\)"
        ):
            CombinedKernelClassifier(VIEWS, MeanRule(), machine).fit(X, y)


@pytest.mark.parametrize("machine", ["svm", SVC, SVR, SVC(), SVR(), OneClassSVM()], ids=str)
@pytest.mark.parametrize(
    "estimator, kind, example",
    [
        (CombinedKernelClassifier, SVC, "a classifier .*SVC"),
        (CombinedKernelRegressor, SVR, "a regressor .*KernelRidge"),
        (CombinedKernelOneClass, OneClassSVM, "an outlier detector .*OneClassSVM"),
    ],
)
def test_machines_of_another_kind_are_refused(estimator, kind, example, machine):
    model = estimator(VIEWS, MeanRule(), machine)
    if isinstance(machine, kind):
        model.fit(X, y).predict(X[:2])
        return
    with pytest.raises(TypeError, match=rf"machine must be {example}\(kernel='precomputed'\); got") as caught:
        model.fit(X, y)
    assert str(caught.value).endswith("Call the class.") == isinstance(machine, type)


@pytest.mark.parametrize("learner", ["mean", SVC(), MeanRule], ids=["a name", "a machine", "a class"])
def test_what_is_no_learner_is_refused(learner):
    remedy = "Call the class" if learner is MeanRule else ""
    with pytest.raises(TypeError, match=f"learner must be a weight learner.*{remedy}"):
        CombinedKernelClassifier(learner=learner).fit(X, y)


@pytest.mark.parametrize("factor", [1e-6, 1e6])
def test_the_scale_makes_the_mean_of_the_diagonal_one(factor):
    train, test = stacks()
    model = CombinedKernelClassifier("precomputed", SumRule()).fit(train * factor, y[TRAIN])
    assert np.isclose(np.einsum("iim->i", train).mean() * factor * model.scale_, 1.0)
    reference = CombinedKernelClassifier("precomputed", SumRule()).fit(train, y[TRAIN])
    np.testing.assert_allclose(model.combined_kernel(test * factor), reference.combined_kernel(test))
    raw = CombinedKernelClassifier("precomputed", SumRule(), normalize=False).fit(train, y[TRAIN])
    assert raw.scale_ == 1.0
    np.testing.assert_allclose(raw.combined_kernel(test), test.sum(axis=2))


def test_methods_follow_the_machine():
    assert hasattr(CombinedKernelClassifier(), "decision_function")
    assert not hasattr(CombinedKernelClassifier(), "predict_proba")
    assert not hasattr(CombinedKernelClassifier(machine=KernelKNNClassifier()), "decision_function")
    model = CombinedKernelClassifier(VIEWS, MeanRule(), MKLClassifier(probability=True)).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X[:4]).sum(axis=1), 1.0)


class First(WeightLearner):
    def _learn(self, Ks, targets):
        return Learned(np.eye(len(Ks))[0])


def test_only_kernels_with_weight_are_computed_for_new_rows():
    calls = []

    def noted(A, B):
        calls.append(A.shape)
        return np.asarray(A) @ np.asarray(B).T

    kernels = [("used", Linear(), [2, 3]), ("not used", noted, [0])]
    model = CombinedKernelClassifier(kernels, First()).fit(X, y)
    assert calls
    calls.clear()
    model.predict(X)
    assert not calls


def test_a_rule_that_solves_nothing_is_reported():
    rule = summarize(CombinedKernelClassifier(VIEWS, MeanRule()).fit(X, y))
    assert rule["convergence"]["dual_gap"] is None and rule["convergence"]["objective"] is None
    assert "petals" in render_html(rule) and "petals" in render_markdown(rule)

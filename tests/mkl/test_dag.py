"""One-versus-one machines that decide by a walk through the graph of pairs (Platt et al. 2000)."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.svm import SVC

from multikernel import KernelBank, MKLClassifier, MKLClassifierCV, load_model, save_model
from multikernel.kernels import Gaussian, Linear
from multikernel.mkl import RegularizedMKLClassifier
from tests.mkl.data import VIEWS, make_binary, make_table, make_three

NEW = make_table(25, seed=99)


def walk(classes, prefers):
    """The class that is left; ``prefers(a, b)`` is the one of the two that a machine says."""
    left = list(classes)
    while len(left) > 1:
        first, last = left[0], left[-1]
        left.remove(last if prefers(first, last) == first else first)
    return left[0]


@pytest.mark.parametrize(
    "kernels", [VIEWS, KernelBank(VIEWS, gram="low_rank", rank=40)], ids=["stack", "factors"]
)
def test_predictions_are_those_of_a_walk_over_binary_models(kernels):
    X, y = make_three(60)
    model = MKLClassifier(kernels, multiclass="dag", tol=1e-6).fit(X, y)
    plain = {}
    for a, b in ((0, 1), (0, 2), (1, 2)):
        a, b = model.classes_[[a, b]]
        rows = (y == a) | (y == b)
        plain[a, b] = MKLClassifier(VIEWS, tol=1e-6).fit(X[rows], y[rows])
    said = {pair: machine.predict(NEW) for pair, machine in plain.items()}
    expected = [walk(model.classes_, lambda a, b, i=i: said[a, b][i]) for i in range(len(NEW))]
    np.testing.assert_array_equal(model.predict(NEW), expected)
    np.testing.assert_array_equal(model.classes_[model.decision_function(NEW).argmax(axis=1)], expected)
    assert model.decision_function(NEW).shape == (25, 3)


def test_ten_digits_by_the_machines_of_scikit_learn():
    X, y = load_digits(return_X_y=True)
    X, y, new = X[:600] / 16.0, y[:600], X[600:900] / 16.0
    svc = SVC(C=10.0, gamma=1 / 16, decision_function_shape="ovo", break_ties=False).fit(X, y)
    pairs = [(a, b) for a in range(10) for b in range(a + 1, 10)]
    scores = svc.decision_function(new)
    views = KernelBank(Gaussian(1 / 16), standardize=False, normalize=None)
    model = MKLClassifier(views, C=10.0, multiclass="dag", tol=1e-5).fit(X, y)
    for row, found in zip(scores, model.predict(new), strict=True):
        says = dict(zip(pairs, row, strict=True))
        assert found == walk(range(10), lambda a, b, says=says: a if says[a, b] >= 0 else b)


def test_the_machines_are_those_of_ovo():
    X, y = make_three(60)
    dag, ovo = (MKLClassifier(VIEWS, multiclass=m).fit(X, y) for m in ("dag", "ovo"))
    np.testing.assert_array_equal(dag.dual_coef_, ovo.dual_coef_)
    assert dag.machine_names_ == ovo.machine_names_
    X, y = make_binary(40)
    dag, ovr = (MKLClassifier(VIEWS, multiclass=m).fit(X, y) for m in ("dag", "ovr"))
    np.testing.assert_array_equal(dag.decision_function(NEW), ovr.decision_function(NEW))


def test_searches_probabilities_and_files_know_the_walk(tmp_path):
    X, y = make_three(60)
    tuned = MKLClassifierCV(VIEWS, Cs=[1.0], norms=[1.0], cv=3, multiclass="dag", tol=1e-5).fit(X, y)
    plain = MKLClassifier(VIEWS, multiclass="dag", tol=1e-5, probability=True).fit(X, y)
    np.testing.assert_array_equal(tuned.predict(NEW), plain.predict(NEW))
    assert plain.predict_proba(NEW).shape == (25, 3)
    costs = RegularizedMKLClassifier(
        [("line", Linear()), ("wave", Gaussian())], cv=2, max_steps=0, multiclass="dag"
    )
    again = MKLClassifier(costs.kernels, costs=costs.fit(X, y).costs_, multiclass="dag").fit(X, y)
    np.testing.assert_array_equal(costs.predict(NEW), again.predict(NEW))
    save_model(plain, tmp_path / "model.skops")
    np.testing.assert_array_equal(
        load_model(tmp_path / "model.skops").decision_function(NEW), plain.decision_function(NEW)
    )

"""Estimators that select variables and interactions: what they find, predict and refuse."""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LassoCV
from sklearn.metrics.pairwise import rbf_kernel

from multikernel import Gaussian, KernelBank, Linear, View
from multikernel.parametric import HierarchicalMKLClassifier, HierarchicalMKLRegressor
from multikernel.parametric.solver import hierarchy

TRUTH = ["x0", "x1", "x1 × x2", "x2"]


def make_data(seed, n=200, n_columns=8):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_columns))
    return X, np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.2 * rng.normal(size=n)


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(s, marks=pytest.mark.thorough) for s in range(2, 10))])
def test_the_right_variables_and_the_right_interaction_are_found(seed):
    X, y = make_data(seed)
    model = HierarchicalMKLRegressor(degree=2).fit(X, y)
    assert model.status_ == "optimal" and model.dual_gap_ <= 1e-3
    assert sorted(model.weights_frame()["weight"].nlargest(4).index) == TRUTH
    coefficients = abs(LassoCV().fit(X, y).coef_)
    assert coefficients[1:3].max() < 0.5 * coefficients[0] + 0.1  # linear selection does not see a product
    labels = y > np.median(y)
    heaviest = HierarchicalMKLClassifier(degree=2).fit(X, labels).weights_frame()["weight"].nlargest(3)
    assert set(heaviest.index) == {"x0", "x1", "x2"}


def test_a_smaller_penalty_on_errors_selects_less():
    X, y = make_data(0)
    counts = [len(HierarchicalMKLRegressor(degree=2, C=C).fit(X, y).products_) for C in (0.02, 1.0)]
    assert counts[0] < counts[1]


def test_predictions_are_sums_of_products():
    X, y = make_data(3, n=60, n_columns=3)
    new = make_data(4, n=15, n_columns=3)[0]
    bank = KernelBank(
        [View(f"v{k}", Gaussian(gamma=0.5), [k]) for k in range(3)], standardize=False, normalize=None
    )
    model = HierarchicalMKLRegressor(bank, C=5.0).fit(X, y)
    grams = {f"v{k}": rbf_kernel(new[:, [k]], X[model.support_][:, [k]], gamma=0.5) for k in range(3)}
    K = sum(
        weight * np.prod([grams[name] for name in names], axis=0)
        for names, weight in zip(model.products_, model.kernel_weights_, strict=True)
    )
    expected = K @ model.dual_coef_[0] + model.intercept_[0]
    np.testing.assert_allclose(model.predict(new), expected, rtol=1e-9, atol=1e-9)
    parts = model.contributions(new)
    assert parts.shape == (15, len(model.products_))
    np.testing.assert_allclose(parts.sum(axis=1) + model.intercept_[0], expected, atol=1e-9)


def test_columns_of_a_frame_and_one_kernel_for_each():
    X, y = make_data(0, n=80, n_columns=3)
    frame = pd.DataFrame(X, columns=["age", "dose", "size"])
    model = HierarchicalMKLRegressor(Linear(), degree=2).fit(frame, y)
    assert model.variables_ == ["age", "dose", "size"]
    assert set(model.products_) <= {
        ("age",),
        ("dose",),
        ("size",),
        ("age", "dose"),
        ("age", "size"),
        ("dose", "size"),
    }
    assert model.weights_frame()["degree"].max() <= 2


def test_several_classes_share_what_is_selected():
    X, y = make_data(0, n=120, n_columns=4)
    model = HierarchicalMKLClassifier(degree=2, loss="squared_hinge").fit(X, np.digitize(y, [-0.7, 0.7]))
    assert model.decision_function(X).shape == (120, 3)
    assert model.machine_weights_.shape == (3, len(model.products_))


@pytest.mark.parametrize(
    ("params", "words"),
    [({"degree": 0}, "degree"), ({"growth": 0.0}, "growth"), ({"C": -1.0}, "C"), ({"loss": "hinge"}, "loss")],
)
def test_what_is_refused(params, words):
    X, y = make_data(0, n=30, n_columns=3)
    with pytest.raises(ValueError, match=words):
        HierarchicalMKLRegressor(**params).fit(X, y)


def test_several_tables_need_views():
    X, y = make_data(0, n=30, n_columns=4)
    tables = {"left": X[:, :2], "right": X[:, 2:]}
    with pytest.raises(ValueError, match="Give a list of views"):
        HierarchicalMKLRegressor().fit(tables, y)
    views = [View("left", Gaussian()), View("right", Gaussian())]
    assert HierarchicalMKLRegressor(views).fit(tables, y).variables_ == ["left", "right"]


def test_the_end_of_memory_is_told(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 8)), rng.normal(size=30)
    monkeypatch.setattr(hierarchy, "available_memory", lambda: 15 * 8 * 30 * 30)
    with pytest.warns(ConvergenceWarning, match="no memory for more interactions: lower C or degree"):
        model = HierarchicalMKLRegressor(C=1000.0, growth=1.0).fit(X, y)
    assert model.status_ == "max_columns" and model.predict(X).shape == (30,)

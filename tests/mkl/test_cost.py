"""The cost of a prediction, recomputed from public attributes, and what costs do to the weights."""

from types import MappingProxyType

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.base import clone

from multikernel import MKLClassifier, MKLOneClass, MKLRegressor, MKLRidge, stack_kernels
from multikernel.core.fitted import prediction_cost
from tests.mkl.data import VIEWS, make_binary, make_regression, make_three

COSTS = np.array([4.0, 1.0, 2.5])


def recount(model, costs):
    """Every pair (kernel, support sample) that a prediction needs, one by one."""
    needed = set()
    for weights, duals in zip(model.machine_weights_, model.dual_coef_, strict=True):
        for m, weight in enumerate(weights):
            if weight / sum(weights) > 0.01:
                needed |= {(m, i) for i, dual in zip(model.support_, duals, strict=True) if dual != 0.0}
    return sum(costs[m] for m, _ in needed) / sum(costs)


# ---------------------------------------------------------------------- the count
@pytest.mark.parametrize(
    ("estimator", "make"),
    [
        (MKLClassifier(VIEWS, C=2.0), make_binary),
        (MKLClassifier(VIEWS, multiclass="ovr"), make_three),
        (MKLClassifier(VIEWS, multiclass="ovo", C=20.0), make_three),
        (MKLClassifier(VIEWS, multiclass="shared", norm=2.0), make_three),
        (MKLClassifier(VIEWS, loss="squared_hinge", C="learn"), make_binary),
        (MKLRegressor(VIEWS, C=2.0), make_regression),
        (MKLRidge(VIEWS), make_regression),
        (MKLOneClass(VIEWS, nu=0.3), make_regression),
    ],
    ids=["binary", "ovr", "ovo", "shared", "learned C", "regressor", "ridge", "one class"],
)
@pytest.mark.parametrize("costs", [None, COSTS, {"signal": 30.0}], ids=["none", "array", "dict"])
def test_the_cost_is_what_a_recount_says(estimator, make, costs):
    X, y = make()
    model = clone(estimator).set_params(costs=costs).fit(X, y)
    plain = np.array([30.0, 1.0, 1.0]) if isinstance(costs, dict) else np.ones(3) if costs is None else costs
    assert isinstance(model.total_cost_, float)
    np.testing.assert_allclose(model.total_cost_, recount(model, plain), rtol=1e-12)
    assert 0.0 < model.total_cost_ <= model.support_.size * (1.0 + 1e-12)


@pytest.mark.parametrize(
    "costs",
    [
        pd.Series({"noise": 3.0, "signal": 8.0, "line": 2.0}),
        MappingProxyType({"noise": 3.0, "signal": 8.0, "line": 2.0}),
        pd.Series([8.0, 2.0, 3.0]),
    ],
    ids=["series by name", "mapping", "series without names"],
)
def test_costs_with_names_are_taken_by_name(costs):
    X, y = make_binary()
    model = MKLClassifier(VIEWS, costs=costs).fit(X, y)
    assert model.weights_frame()["cost"].tolist() == [8.0, 2.0, 3.0]


@pytest.mark.parametrize(
    ("costs", "words"),
    [
        (pd.Series({"sound": 2.0}), r"unknown views \['sound'\]"),
        (pd.Series([1.0, 2.0, 3.0], index=[2, 1, 0]), r"unknown views \[0, 1, 2\]"),
        (pd.Series([1.0, 2.0], index=["line", "line"]), "costs names view 'line' twice"),
        (pd.Series([1.0, 2.0]), r"each of the 3 kernels; got shape \(2,\)"),
    ],
)
def test_series_of_costs_that_do_not_fit_the_views_are_refused(costs, words):
    X, y = make_binary()
    with pytest.raises(ValueError, match=words):
        MKLClassifier(VIEWS, costs=costs).fit(X, y)


def test_a_kernel_value_that_two_machines_need_is_counted_once():
    weights = np.array([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]])
    duals = np.array([[1.0, -1.0, 0.0, 0.0], [0.0, 2.0, -2.0, 0.0], [0.0, 0.0, 1.0, 0.0]])
    assert prediction_cost(weights, duals, np.array([3.0, 1.0])) == (3 * 3.0 + 2 * 1.0) / 4.0
    # and a kernel with a hundredth of the weight is not needed
    assert prediction_cost(np.array([[99.0, 1.0]]), np.ones((1, 8)), np.ones(2)) == 4.0
    assert prediction_cost(np.array([[98.9, 1.0]]), np.ones((1, 8)), np.ones(2)) == 8.0


def test_repeated_rows_count_as_the_caller_numbers_them():
    X, y = make_binary(40)
    once = MKLClassifier(VIEWS, C=2.0, tol=1e-6).fit(X, y)
    twice = MKLClassifier(VIEWS, C=1.0, tol=1e-6).fit(np.vstack([X, X]), np.concatenate([y, y]))
    np.testing.assert_allclose(twice.total_cost_, 2.0 * once.total_cost_)


@given(
    weights=arrays(float, (3, 4), elements=st.floats(0.0, 1.0)),
    duals=arrays(float, (3, 5), elements=st.sampled_from([-1.0, 0.0, 0.5])),
    costs=arrays(float, 4, elements=st.floats(0.1, 10.0)),
    factor=st.sampled_from([2.0**-20, 8.0, 2.0**1020]),
)
def test_only_the_proportions_of_the_costs_count(weights, duals, costs, factor):
    cost = prediction_cost(weights, duals, costs)
    np.testing.assert_allclose(prediction_cost(weights, duals, factor * costs), cost)
    machines = [prediction_cost(w[None], d[None], costs) for w, d in zip(weights, duals, strict=True)]
    assert max(machines) <= cost * (1 + 1e-12)
    assert cost <= sum(machines) * (1 + 1e-12)


# ---------------------------------------------------------------------- what costs do
def test_values_of_the_specification():
    """Unit-diagonal linear and quadratic kernel on twelve points, C=1, with and without a cost of √2."""
    i = np.arange(1, 13)
    X = np.column_stack([np.sin(i), np.cos(2 * i)])
    y = np.array([1, 1, -1, 1, -1, -1, 1, -1, 1, -1, 1, -1])
    grams = [X @ X.T, (X @ X.T + 1.0) ** 2]
    stack = stack_kernels([K / np.sqrt(np.outer(np.diag(K), np.diag(K))) for K in grams])
    for costs, objective, weights in (
        (None, 7.918840, [0.338352, 0.661648]),
        ([1.0, np.sqrt(2.0)], 8.191930, [0.877478, 0.061261]),
    ):
        model = MKLClassifier("precomputed", costs=costs, tol=1e-10, max_iter=1000).fit(stack, y)
        np.testing.assert_allclose(model.objective_, objective, atol=5e-7)
        np.testing.assert_allclose(model.kernel_weights_, weights, atol=2e-5)
        np.testing.assert_allclose(model.total_cost_, model.support_.size)

"""What weights are learned from, in each form that a learner asks for."""

import numpy as np
import pandas as pd
import pytest

from multikernel.core.svm.losses import EpsilonInsensitive, Hinge, OneClass
from multikernel.rules.targets import as_targets, class_targets, no_targets, value_targets


@pytest.mark.parametrize(
    "y, task",
    [
        ([0, 1, 1], "classification"),
        (["a", "b", "a"], "classification"),
        ([True, False, True], "classification"),
        ([2.0, 1.0, 2.0], "classification"),
        (pd.Series(["x", "y", "x"]), "classification"),
        ([0.5, 1.0, 2.0], "regression"),
        ([[1], [2], [3]], "regression"),
        (np.ones((3, 2)), "regression"),
        (None, "unsupervised"),
    ],
)
def test_what_y_is_taken_for(y, task):
    targets = as_targets(y, 3)
    assert targets.task == task and targets.n == 3


def test_what_y_is_said_to_be():
    assert as_targets([0, 1, 1], 3, "regression").values.tolist() == [[0.0], [1.0], [1.0]]
    assert as_targets([0.5, 1.0, 0.5], 3, "classification").codes.tolist() == [0, 1, 0]
    assert as_targets([0, 1, 1], 3, "unsupervised").task == "unsupervised"
    assert as_targets([0, 1, 1], 3, allowed=("regression",)).task == "regression"
    assert as_targets([0, 1, 1], 3, allowed=("unsupervised",)).task == "unsupervised"
    assert (
        as_targets([0.5, 1.0, 0.2], 3, allowed=("classification",)).task == "regression"
    )  # for the learner to refuse
    with pytest.raises(ValueError, match=r"shape \(3,\); got shape \(3, 1\). Use y.ravel\(\)"):
        as_targets([[0], [1], [0]], 3, allowed=("classification",))


def test_signs():
    two = as_targets(["no", "yes", "no"], 3)
    assert [s.tolist() for s in two.signs] == [[-1.0, 1.0, -1.0]] and two.n_classes == 2
    three = as_targets([5, 7, 9, 7], 4)
    expected = [[1, -1, -1, -1], [-1, 1, -1, 1], [-1, -1, 1, -1]]
    assert [s.tolist() for s in three.signs] == expected and three.n_classes == 3
    assert value_targets(np.ones((3, 1))).n_classes == 0


@pytest.mark.parametrize("k", [2, 3, 5])
def test_the_ideal_kernel_of_classes(k):
    codes = np.arange(11) % k
    T = class_targets(codes).ideal
    expected = np.where(np.equal.outer(codes, codes), 1.0, -1.0 / (k - 1))
    np.testing.assert_allclose(T @ T.T, expected, atol=1e-14)


def test_the_ideal_kernel_of_values():
    values = np.array([[1.0, 0.0], [2.0, 5.0], [6.0, 1.0]])
    T = value_targets(values).ideal
    np.testing.assert_allclose(T, values - values.mean(axis=0))
    assert values[0, 0] == 1.0


def test_losses():
    (hinge,) = as_targets([0, 1, 1], 3).losses(2.0)
    assert isinstance(hinge, Hinge)
    assert len(as_targets([0, 1, 2], 3).losses(2.0)) == 3
    tubes = value_targets(np.array([[1.0, 4.0], [2.0, 5.0]])).losses(2.0, epsilon=0.3)
    assert [type(loss) for loss in tubes] == [EpsilonInsensitive] * 2
    (single,) = no_targets(4).losses(1.0, nu=0.5)
    assert isinstance(single, OneClass)


@pytest.mark.parametrize(
    "y, task, words",
    [
        ([0, 1], "auto", "y must hold one label for each of the 3 samples; got 2"),
        ([0.5, 1.5], "auto", "y must hold one value for each of the 3 samples; got 2"),
        ([1, 1, 1], "auto", r"y must hold two classes or more; got one: \[1\]"),
        (["a", None, "b"], "classification", "y must not hold missing labels; entry 1 is None"),
        ([[0], [1], [0]], "classification", r"labels, shape \(3,\); got shape \(3, 1\). Use y.ravel"),
        (np.array(["a", 1, "a"], object), "auto", "y must hold labels of one kind, all numbers or all text"),
        (np.array(["a", None, "b"], object), "auto", "y must not hold missing labels; entry 1 is None"),
        (pd.Series(["a", pd.NA, "b"], dtype=object), "auto", "missing labels; entry 1 is <NA>"),
        ([1.0, np.nan, 2.0], "auto", "y must not hold missing labels; entry 1 is nan"),
        (["a", "b", "a"], "regression", "y must hold numbers for regression; could not convert"),
        ([0.1, np.nan, 2.0], "regression", "y contains NaN"),
        (None, "classification", "classification needs targets: y must be given; got None"),
        (
            [0, 1, 0],
            "names",
            "task must be one of 'auto', 'classification', 'regression', 'unsupervised'; got 'names'",
        ),
    ],
)
def test_what_is_refused(y, task, words):
    with pytest.raises(ValueError, match=words):
        as_targets(y, 3, task)

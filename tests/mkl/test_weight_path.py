"""The weights of the views along a parameter."""

import copy

import numpy as np
import pandas as pd
import polars
import pytest
from matplotlib import pyplot
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from multikernel import KernelBank, MKLClassifier, MKLOneClass, MKLRidge, stack_kernels
from multikernel.kernels import Gaussian
from multikernel.mkl import RegularizedMKLClassifier, weight_path
from multikernel.mkl.weight_path import VALUES, WeightPath
from multikernel.views import KernelWarning
from multikernel.views.tables import MultiTable
from tests.mkl.data import VIEWS, make_binary, make_regression, make_three, plain_kernels

NAMES = ["signal", "line", "noise"]


@pytest.fixture(scope="module")
def binary():
    return make_binary()


def refitted(estimator, X, y, parameter, values):
    """Weights of models that are each fitted from the table."""
    fits = [clone(estimator).set_params(**{parameter: value}).fit(X, y) for value in values]
    return np.column_stack([model.kernel_weights_ for model in fits])


@pytest.fixture
def counted(monkeypatch):
    """How many stacks of Gram matrices banks of views have made."""
    made = []
    original = KernelBank.fit_stack

    def fit_stack(self, X, y=None):
        made.append(len(X))
        return original(self, X, y)

    monkeypatch.setattr(KernelBank, "fit_stack", fit_stack)
    return made


# ---------------------------------------------------------------------- weights
@pytest.mark.parametrize(
    ("estimator", "make", "parameter", "values"),
    [
        (MKLClassifier(VIEWS, tol=1e-7), make_binary, "C", [0.1, 1.0, 10.0]),
        (MKLClassifier(VIEWS, tol=1e-7, costs={"line": 3.0}), make_binary, "norm", [1.0, 2.0, np.inf]),
        (MKLClassifier(VIEWS, tol=1e-7, multiclass="shared"), make_three, "C", [1.0, 5.0]),
        (MKLRidge(VIEWS, tol=1e-7), make_regression, "alpha", [0.01, 1.0]),
    ],
)
def test_the_weights_are_those_of_single_fits(counted, estimator, make, parameter, values):
    X, y = make()
    path = weight_path(estimator, X, y, parameter=parameter, values=values)
    assert len(counted) == 1  # for all values
    assert path.weights.index.tolist() == NAMES
    assert path.weights.columns.tolist() == values
    assert path.weights.columns.name == path.parameter == parameter
    np.testing.assert_allclose(path.weights, refitted(estimator, X, y, parameter, values), atol=1e-4)
    assert np.ptp(path.weights.to_numpy(), axis=1).max() > 0.01  # the parameter has an effect
    assert not hasattr(estimator, "kernel_weights_")


@pytest.mark.parametrize(
    "estimator",
    [
        MKLClassifier(KernelBank(VIEWS, gram="memmap")),
        MKLClassifier(KernelBank(VIEWS, rank=5)),
        MKLClassifier(KernelBank(VIEWS, psd="clip")),
        MKLClassifier(KernelBank(VIEWS, missing="absent")),
        make_pipeline(StandardScaler(), MKLClassifier(VIEWS)),
    ],
    ids=["memmap", "rank", "psd", "missing", "pipeline"],
)
def test_other_estimators_make_their_own_kernels(binary, estimator):
    X, y = binary
    path = weight_path(estimator, X, y, values=[0.1, 1.0])
    name = "mklclassifier__C" if hasattr(estimator, "steps") else "C"
    last = clone(estimator).set_params(**{name: 1.0}).fit(X, y)
    weights = (last[-1] if hasattr(estimator, "steps") else last).kernel_weights_
    np.testing.assert_array_equal(path.weights[1.0], weights)


def test_repeated_rows_count_once_as_in_a_fit(counted, binary):
    X, y = (np.concatenate([part, part[:30]]) for part in binary)
    views = [("a", Gaussian(), [0, 1]), ("b", Gaussian(), [2, 3])]  # with a width from the samples
    path = weight_path(MKLClassifier(views), X, y, values=[1.0, 3.0])
    assert counted == [80, 80]
    np.testing.assert_array_equal(path.weights, refitted(MKLClassifier(views), X, y, "C", [1.0, 3.0]))


def test_frames_of_any_library(counted, binary):
    X, y = binary
    views = [("a", Gaussian(), ["p", "q"]), ("b", Gaussian(), ["r", "s"])]
    frame = pd.DataFrame(X, columns=list("pqrs"))
    path = weight_path(MKLClassifier(views), frame, y, values=[1.0])
    other = weight_path(MKLClassifier(views), polars.DataFrame(X, schema=list("pqrs")), y, values=[1.0])
    assert len(counted) == 2
    pd.testing.assert_frame_equal(path.weights, other.weights)


def test_precomputed_kernels(binary):
    X, y = binary
    stack = stack_kernels(list(np.moveaxis(plain_kernels(X, X), 2, 0)))
    model = MKLClassifier("precomputed", tol=1e-7)
    path = weight_path(model, stack, y, values=[0.1, 1.0])
    assert path.weights.index.tolist() == ["kernel-0", "kernel-1", "kernel-2"]
    expected = weight_path(MKLClassifier(VIEWS, tol=1e-7), X, y, values=[0.1, 1.0])
    np.testing.assert_allclose(path.weights, expected.weights, atol=1e-4)
    dear = weight_path(clone(model).set_params(costs=[9, 1, 1]), stack, y, parameter="costs", values=[0, 1])
    assert dear.weights.loc["kernel-0", 1.0] < 0.5 * dear.weights.loc["kernel-0", 0.0]


def test_exponents_of_costs(binary):
    X, y = binary
    model = MKLClassifier(VIEWS, tol=1e-7, costs={"signal": 6.0, "line": 2.0, "noise": 2.0})
    path = weight_path(model, X, y, parameter="costs", values=[0.0, 1.0, 2.0])
    expected = [
        MKLClassifier(VIEWS, tol=1e-7, costs=[3.0**e, 1.0, 1.0]).fit(X, y).kernel_weights_ for e in (0, 1, 2)
    ]
    np.testing.assert_allclose(path.weights, np.transpose(expected), atol=1e-4)
    in_steps = make_pipeline("passthrough", model)
    np.testing.assert_allclose(
        weight_path(in_steps, X, y, parameter="costs", values=[1.0]).weights[1.0], expected[1], atol=1e-4
    )


def test_models_without_targets(binary):
    path = weight_path(MKLOneClass(VIEWS), binary[0], parameter="norm", values=[1, 2])
    assert path.table["n_nonzero"].tolist()[1] == 3


def test_models_that_choose_their_own_costs_are_left_alone(binary):
    X, y = binary
    path = weight_path(RegularizedMKLClassifier(VIEWS, cv=2), X, y, values=[1.0])
    expected = RegularizedMKLClassifier(VIEWS, cv=2, C=1.0).fit(X, y)
    np.testing.assert_array_equal(path.weights[1.0], expected.kernel_weights_)


# ---------------------------------------------------------------------- table and scores
def test_certificates_and_scores(binary):
    X, y = binary
    cv = StratifiedKFold(3, shuffle=True, random_state=0)
    model = MKLClassifier(VIEWS)
    path = weight_path(model, X, y, values=[0.01, 1.0], cv=cv, scoring="roc_auc")
    last = clone(model).fit(X, y)
    row = path.table.loc[1.0]
    assert row["status"] == "optimal"
    assert 0.0 <= row["dual_gap"] <= 1e-3
    assert row["objective"] == pytest.approx(last.objective_, rel=2e-3)
    assert row["n_nonzero"] == np.count_nonzero(path.weights[1.0])
    expected = cross_val_score(model, X, y, cv=cv, scoring="roc_auc")
    np.testing.assert_array_equal(path.scores.loc[1.0], expected)
    assert row["score"] == pytest.approx(expected.mean())
    assert row["score_sd"] == pytest.approx(expected.std(ddof=1))
    assert weight_path(model, X, y, values=[1.0]).scores is None
    assert weight_path(model, X, y, values=[1.0], cv=2).scores.shape == (1, 2)


def test_the_frame_is_a_copy_and_shares_sum_to_one(binary):
    path = weight_path(MKLClassifier(VIEWS), *binary, parameter="norm", values=[1, 2])
    frame = path.to_frame()
    pd.testing.assert_frame_equal(frame, path.weights)
    frame.iloc[0, 0] = 7.0
    assert path.weights.iloc[0, 0] != 7.0
    assert path.weights[2.0].sum() > 1.1
    shares = path.to_frame(shares=True)
    np.testing.assert_allclose(shares.sum(), 1.0)
    np.testing.assert_allclose(shares[2.0], path.weights[2.0] / path.weights[2.0].sum())
    assert repr(path).startswith("WeightPath of 3 views along 2 values of norm:\n")


def test_values_of_its_own(binary):
    assert weight_path(MKLClassifier(VIEWS), *binary).weights.columns.tolist() == list(VALUES["C"])


def test_progress(binary, capsys):
    weight_path(MKLClassifier(VIEWS), *binary, values=[0.5, 1.0], verbose=1)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2
    assert lines[0].startswith("[multikernel] C 0.5:  ")


def test_a_path_draws_itself(binary):
    path = weight_path(MKLClassifier(VIEWS), *binary, values=[0.1, 1.0])
    ax = path.plot(top=2)
    assert len(ax.get_yticks()) == 2
    np.testing.assert_allclose(
        ax.images[0].get_array().filled(0.0), path.to_frame(shares=True).loc[_names(ax)]
    )
    pyplot.close(ax.figure)


def _names(ax):
    return [tick.get_text() for tick in ax.get_yticklabels()]


# ---------------------------------------------------------------------- refused
@pytest.mark.parametrize(
    ("estimator", "arguments", "error", "message"),
    [
        (MKLClassifier(VIEWS), {"parameter": "c"}, ValueError, r"such as \['C', 'norm', 'costs'\]; got 'c'"),
        (MKLClassifier(VIEWS), {"parameter": "tol"}, ValueError, "values must be given for parameter='tol'"),
        (MKLClassifier(VIEWS), {"parameter": "costs"}, ValueError, "needs costs of the views.*set_params"),
        (MKLClassifier(VIEWS), {"values": []}, ValueError, "one at least"),
        (MKLClassifier(VIEWS), {"values": ["x"]}, TypeError, r"list of numbers; got \['x'\]"),
        (MKLClassifier(VIEWS), {"values": [1, 1]}, ValueError, "differ from each other"),
        (MKLClassifier(VIEWS), {"values": [1, np.nan]}, ValueError, "list of numbers"),
        (MKLClassifier(VIEWS), {"values": [-1.0]}, ValueError, "C must be"),
        (SVC(), {"values": [1]}, TypeError, "SVC has no kernel_weights_ after fit"),
        ("MKLClassifier", {"values": [1]}, TypeError, "learns kernel weights.*got str"),
    ],
)
def test_what_is_no_path(binary, estimator, arguments, error, message):
    with pytest.raises(error, match=message):
        weight_path(estimator, *binary, **arguments)


def test_nothing_is_changed(binary):
    X, y = copy.deepcopy(binary)
    model, values = MKLClassifier(VIEWS, costs={"line": 2.0}), [1.0, 0.5]
    before = copy.deepcopy(model.get_params())
    assert isinstance(weight_path(model, X, y, values=values, cv=2), WeightPath)
    assert model.get_params() == before
    assert values == [1.0, 0.5]
    np.testing.assert_array_equal(X, binary[0])
    np.testing.assert_array_equal(y, binary[1])


def test_several_tables_are_not_put_into_one_stack(counted, binary):
    class Stop(Exception):
        pass

    class Asks(MKLClassifier):
        def fit(self, X, y):
            raise Stop(type(X).__name__)

    X = MultiTable({"a": binary[0], "b": binary[0]})
    with pytest.raises(Stop, match="MultiTable"):
        weight_path(Asks(VIEWS), X, binary[1], values=[1.0])
    assert counted == []


def test_warnings_name_the_views(binary):
    X, y = binary
    noise = np.random.default_rng(0).permutation(y)
    views = [("narrow", Gaussian(gamma=50.0)), ("line", Gaussian(gamma=60.0))]
    with pytest.warns(KernelWarning, match="'narrow'|'line'"):
        weight_path(MKLClassifier(views), X, noise, values=[100.0])


def test_costs_of_automatic_kernels_of_several_tables(binary):
    X, y = binary
    tables = MultiTable({"left": X[:, :1], "right": X[:, 1:]})
    model = MKLClassifier(costs={"left-linear": 4.0})
    path = weight_path(model, tables, y, parameter="costs", values=[0, 1])
    assert path.to_frame().index[0] == "left-linear" and path.to_frame().shape == (12, 2)

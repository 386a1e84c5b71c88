"""Small data, and evaluations that several tests look at."""

import numpy as np
import pandas as pd
import pytest

from multikernel import MKLClassifier, MKLOneClass, MKLRidge, View, stack_kernels
from multikernel.inspection import evaluate
from multikernel.inspection.rivals import columns
from multikernel.kernels import Gaussian, Linear
from tests.inspection import toys


@pytest.fixture(autouse=True)
def fresh_toys(monkeypatch):
    """Every test begins with toys that were never fitted."""
    monkeypatch.setattr(toys, "FITS", [])
    monkeypatch.setattr(toys, "STOP_AT", [])


@pytest.fixture(scope="session")
def table():
    """48 samples with a repeated one: labels hang on the columns a and b, values on a; noise is noise."""
    rng = np.random.default_rng(3)
    X = pd.DataFrame(rng.normal(size=(48, 3)), columns=["a", "b", "noise"])
    X.loc[7] = X.loc[3]
    label = np.where(X["a"] + X["b"] + 0.5 * rng.normal(size=48) > 0, "<yes>", "no")
    label[7] = label[3]
    return X, label, 2.0 * X["a"].to_numpy() + 0.3 * rng.normal(size=48)


@pytest.fixture(scope="session")
def views():
    return [
        View("a", Linear(), ["a"], standardize=True),
        View("b", Gaussian(), ["b"], standardize=True),
        View("noise", Gaussian(), ["noise"], standardize=True),
    ]


@pytest.fixture(scope="session")
def stack(table):
    X = table[0].to_numpy()
    return stack_kernels([np.outer(X[:, 0], X[:, 0]), np.exp(-(np.subtract.outer(X[:, 1], X[:, 1]) ** 2))])


@pytest.fixture(scope="session")
def small_search():
    """The RBF machine searches among two values only."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(columns, "_PRICES", (1.0, 10.0))
        patch.setattr(columns, "_WIDTHS", (1.0,))
        yield


@pytest.fixture(scope="session")
def classifier(table, views):
    X, label, _ = table
    return MKLClassifier(views, C=2.0, random_state=0).fit(X, label)


@pytest.fixture(scope="session")
def of_classifier(classifier, table, small_search):
    return evaluate(classifier, table[0], table[1], max_points=30)


@pytest.fixture(scope="session")
def of_regressor(table, views, small_search):
    X, _, value = table
    return evaluate(MKLRidge(views[:2], random_state=0).fit(X, value), X, value, max_points=30)


@pytest.fixture(scope="session")
def of_one_class(table, views):
    return evaluate(MKLOneClass(views, nu=0.3).fit(table[0]), table[0])

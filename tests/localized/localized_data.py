"""One small problem for every localized estimator, and the wording of refusals."""

import re

import pandas as pd
import pytest

from multikernel import LocalizedMKLClassifier, LocalizedMKLOneClass, LocalizedMKLRegressor
from multikernel.kernels import Gaussian, Linear
from tests.mkl.data import VIEWS, make_binary, make_regression, make_table

EVERYONE = (LocalizedMKLClassifier, LocalizedMKLRegressor, LocalizedMKLOneClass)
everyone = pytest.mark.parametrize("kind", EVERYONE, ids=lambda kind: kind.__name__)

X, LABELS = make_binary(60)
FRESH = make_table(20, seed=9)
NUMBERS = make_regression(60)[1]
FRAME = pd.DataFrame(X, columns=["red", "green", "blue", "noise"])
FRAME_VIEWS = [("signal", Gaussian(gamma=0.5), ["red", "green"]), ("line", Linear(), ["blue"])]


def target(kind):
    return {LocalizedMKLClassifier: LABELS, LocalizedMKLRegressor: NUMBERS}.get(kind)


def easy(kind, kernels=VIEWS, **parameters):
    """A model that fits fast; the one-class gate is held, so that it does not collapse."""
    if kind is LocalizedMKLOneClass:
        parameters = {"nu": 0.3, "tol": 0.3, **parameters}
    return kind(kernels, **parameters)


def refuses(*parts, error=ValueError):
    """The message holds these parts in this order."""
    return pytest.raises(error, match="(?s)" + ".*".join(re.escape(part) for part in parts))

"""What a gate looks at: columns that cannot be read are refused with a remedy that fits."""

import numpy as np
import pandas as pd
import pytest

from multikernel.kernels import Linear
from multikernel.views import KernelBank, fit_gating_features

X = np.random.default_rng(0).normal(size=(6, 3))
REMEDY = 'gating_features="kernel"'


def fit(wanted, table, columns=(0,)):
    bank = KernelBank([("line", Linear(), list(columns))])
    Ks = bank.fit_stack(table)
    return fit_gating_features(wanted, table, bank, ["line"], Ks, np.arange(len(table)))


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_an_entry_that_is_not_finite_needs_no_other_columns(value):
    table = X.copy()
    table[4, 2] = value
    with pytest.raises(
        ValueError, match=r"gating_features holds (NaN|infinity) at row 4, column 1\."
    ) as info:
        fit([0, 2], table)
    assert REMEDY not in str(info.value)
    features, _ = fit([0, 2], X)
    with pytest.raises(ValueError, match="row 4, column 1") as info:
        features.of(table)
    assert REMEDY not in str(info.value)


def test_columns_that_are_not_numbers_name_what_a_gate_can_read():
    frame = pd.DataFrame({"size": X[:, 0], "colour": list("rgbrgb")})
    with pytest.raises(ValueError, match=r"must be numeric.*'colour'.*A gate reads numeric columns") as info:
        fit(["colour"], frame)
    assert REMEDY in str(info.value)


def test_a_column_that_is_missing_at_prediction_is_only_missing():
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    features, _ = fit(["a", "c"], frame)
    with pytest.raises(ValueError, match="unknown column 'c'") as info:
        features.of(frame[["a", "b"]])
    assert REMEDY not in str(info.value)

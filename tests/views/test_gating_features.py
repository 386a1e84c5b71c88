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


def test_the_kernel_map_and_a_column_of_its_name_are_told_apart():
    frame = pd.DataFrame(X, columns=["a", "kernel", "c"])
    with pytest.raises(ValueError, match=r'"kernel" means the similarities.*\["kernel"\] for the column'):
        fit("kernel", frame)
    features, values = fit(["kernel"], frame)
    np.testing.assert_allclose(values[:, 0], (X[:, 1] - X[:, 1].mean()) / X[:, 1].std())
    assert values.shape == features.of(frame).shape == (6, 1)
    assert fit("kernel", frame[["a", "c"]])[1].shape == (6, 6)
    assert fit("kernel", X)[1].shape == (6, 6)


def test_a_view_named_kernel_is_the_view():
    frame = pd.DataFrame(X, columns=["a", "kernel", "c"])
    bank = KernelBank([("kernel", Linear(), ["c"])])
    Ks = bank.fit_stack(frame)
    _, values = fit_gating_features("kernel", frame, bank, ["kernel"], Ks, np.arange(6))
    np.testing.assert_allclose(values[:, 0], (X[:, 2] - X[:, 2].mean()) / X[:, 2].std())

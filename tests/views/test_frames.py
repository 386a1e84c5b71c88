"""Frames of other libraries, read at the boundary."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from multikernel.views.frames import as_pandas

COLUMNS = {
    "number": [1.5, None, 3.0],
    "whole": [1, 2, 3],
    "text": ["a", None, "c"],
    "truth": [True, False, True],
}


@pytest.mark.parametrize("make", [pl.DataFrame, pa.table], ids=["polars", "pyarrow"])
def test_columns_keep_names_order_and_values(make):
    given = make(COLUMNS)
    frame = as_pandas(given)
    assert list(frame.columns) == list(COLUMNS)
    np.testing.assert_array_equal(frame["number"], [1.5, np.nan, 3.0])
    np.testing.assert_array_equal(frame["whole"], [1, 2, 3])
    assert frame["text"].tolist()[::2] == ["a", "c"] and pd.isna(frame["text"][1])
    assert frame["truth"].tolist() == [True, False, True]
    assert given.shape == (3, 4)


def test_categories_stay_categories():
    frame = as_pandas(
        pl.DataFrame({"grade": pl.Series(["low", "high", None], dtype=pl.Enum(["low", "high"]))})
    )
    assert list(frame["grade"].cat.categories) == ["low", "high"]
    assert frame["grade"].tolist()[:2] == ["low", "high"] and frame["grade"].isna().tolist() == [
        False,
        False,
        True,
    ]


def test_numbers_are_one_block():
    values = np.arange(6.0).reshape(3, 2)
    frame = as_pandas(pl.DataFrame(values, schema=["a", "b"]))
    np.testing.assert_array_equal(frame.to_numpy(), values)
    assert (frame.dtypes == np.float64).all()


@pytest.mark.parametrize("other", [np.eye(2), [[1, 2]], "text", None, 3, {"a": [1]}], ids=repr)
def test_what_is_no_frame_is_left_alone(other):
    assert as_pandas(other) is other
    pandas = pd.DataFrame({"a": [1]})
    assert as_pandas(pandas) is pandas


def test_lazy_frames_are_refused():
    with pytest.raises(TypeError, match=r"got a lazy frame of polars. Call collect\(\) on it first"):
        as_pandas(pl.DataFrame(COLUMNS).lazy())

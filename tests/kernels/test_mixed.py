"""The kernel of tables with gaps: against its definition in plain Python, and positive semidefinite."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from hypothesis import given as draw
from hypothesis import strategies as st

from multikernel.kernels import Gaussian, Mixed, smallest_eigenvalue
from multikernel.kernels.expressions import parse_kernel
from tests.kernels.laws import check_laws, check_value
from tests.refusals import refused

seeds = st.integers(0, 2**32 - 1)


def frame_of(seed, given=None):
    """A table of numbers, texts, logical values and codes, each with gaps; with given columns if asked."""
    rng = np.random.default_rng(seed)
    n, share = int(rng.integers(1, 9)), rng.choice([0.0, 0.2, 0.6])
    columns = {
        "number": pd.Series(rng.choice([0.0, 1.0, *rng.normal(0.0, 4.0, 4)], n)),
        "text": pd.Series(rng.choice(list("abc") if given is None else list("bcd"), n), dtype=object),
        "flag": pd.Series(rng.choice([True, False], n), dtype="boolean"),
        "code": pd.Series(rng.integers(0, 4, n), dtype="Int64"),
    }
    names = [name for name in columns if rng.random() < 0.7] or ["number"]
    names = names if given is None else given
    return pd.DataFrame({name: columns[name].mask(rng.random(n) < share) for name in names})


def is_gap(value):
    return value is None or value is pd.NA or value != value


def plain_column(train, scale):
    """κ of a column by its definition: of values, and of gaps by means over the training values."""
    known = [value for value in train if not is_gap(value)]

    def of_values(x, z):
        if isinstance(scale, bool):
            return float(x == z)
        width = (max(known) - min(known)) if scale == "range" else np.std(known)
        if width == 0.0:
            return float(x == z)
        gap = abs(x - z) / width
        return max(0.0, 1.0 - gap) if scale == "range" else math.exp(-gap * gap / 2.0)

    def mean(values):
        return sum(values) / len(known) if known else 0.0

    def kappa(x, z):
        if is_gap(x) and is_gap(z):
            return mean([mean([of_values(u, v) for v in known]) for u in known])
        if is_gap(x) or is_gap(z):
            return mean([of_values(u, z if is_gap(x) else x) for u in known])
        return of_values(x, z) if known or is_gap(x) else float(x == z)

    return kappa


def plain_mixed(train, left, right, scale, categorical=()):
    total = np.zeros((len(left), len(right)))
    for name in train.columns:
        is_category = name in ("text", "flag") or name in categorical
        kappa = plain_column(train[name].tolist(), True if is_category else scale)
        total += [[kappa(x, z) for z in right[name].tolist()] for x in left[name].tolist()]
    return total / len(train.columns)


@draw(seeds, st.sampled_from(["range", "std"]))
def test_values_are_those_of_the_definition(seed, scale):
    train = frame_of(seed)
    test = frame_of(seed + 1, train.columns)
    kernel = Mixed(scale).fit(train)
    np.testing.assert_allclose(kernel(train), plain_mixed(train, train, train, scale), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(
        kernel(test, train), plain_mixed(train, test, train, scale), rtol=1e-9, atol=1e-12
    )
    np.testing.assert_allclose(kernel.diag(test), kernel(test).diagonal(), rtol=1e-12)


@draw(seeds, st.sampled_from(["range", "std"]), st.booleans())
def test_any_pattern_of_gaps_gives_a_symmetric_and_positive_semidefinite_matrix(seed, scale, codes):
    train = frame_of(seed)
    test = frame_of(seed + 1, train.columns)
    kernel = Mixed(scale, categorical="code" if codes and "code" in train else None).fit(train)
    for rows in (train, pd.concat([train, test])):  # new values, new categories and new gaps as well
        K = check_laws(kernel, rows)
        assert K.min() >= 0.0 and K.max() <= 1.0 + 1e-12
    assert np.array_equal(kernel(train), kernel.fit(test)(train))  # fitted kernels stay what they are


def test_the_mean_over_shared_columns_would_not_do():
    """Why gaps are not simply left out of the mean: that matrix has an eigenvalue far below zero."""
    rows = pd.DataFrame({"a": ["x", "x", None], "b": [None, "x", "x"], "c": ["x", None, "y"]})
    known = rows.notna().to_numpy()
    same = np.array([[(rows.iloc[i] == rows.iloc[j]).sum() for j in range(3)] for i in range(3)])
    shared = np.array([[(known[i] & known[j]).sum() for j in range(3)] for i in range(3)])
    assert smallest_eigenvalue(same / shared) == pytest.approx(1.0 - math.sqrt(2.0))
    assert smallest_eigenvalue(Mixed().fit(rows)(rows)) >= -1e-12


def test_columns_with_many_numbers_stand_for_themselves_by_their_quantiles():
    rng = np.random.default_rng(0)
    train = pd.DataFrame({"x": rng.gamma(2.0, size=3000)})
    kernel = Mixed().fit(train)
    x, gap = train["x"].to_numpy(), pd.DataFrame({"x": [np.nan]})
    width = np.ptp(x)
    means = np.maximum(0.0, 1.0 - np.abs(x[:50, None] - x) / width).mean(axis=1)
    np.testing.assert_allclose(kernel(train[:50], gap)[:, 0], means, atol=2e-3)
    assert len(kernel._columns[0].atoms) == 128


def test_kinds_come_from_types_and_can_be_given():
    frame = pd.DataFrame({"code": [1, 2, 4], "word": ["1", "2", "4"]})
    by_type = Mixed().fit(frame)
    assert [column.kind for column in by_type._columns] == ["range", "category"]
    for codes in ("code", ["code"], 0, [-2]):
        assert [c.kind for c in Mixed(categorical=codes).fit(frame)._columns] == ["category"] * 2
    assert np.array_equal(Mixed(categorical="code").fit(frame)(frame), np.eye(3))
    objects = frame.astype(object).to_numpy()
    assert np.array_equal(Mixed().fit(objects)(objects), by_type(frame))
    table = np.array([[1.0, np.nan], [2.0, 0.0], [np.nan, 0.0]])
    K = Mixed().fit(table)(table)
    np.testing.assert_allclose(Mixed().fit(scipy.sparse.csr_matrix(table))(table), K)
    np.testing.assert_allclose(Mixed().fit(pd.DataFrame(table))(table), K)
    np.testing.assert_allclose(Mixed().fit(table.tolist())(table.tolist()), K)


def test_new_categories_and_numbers_out_of_range_are_fine():
    train = pd.DataFrame({"x": [0.0, 10.0], "c": ["a", "b"]})
    test = pd.DataFrame({"x": [25.0, 5.0, None], "c": ["new", "a", "new"]})
    kernel = Mixed().fit(train)
    np.testing.assert_allclose(kernel(test, train), [[0.0, 0.0], [0.75, 0.25], [0.25, 0.25]])
    np.testing.assert_allclose(kernel(test)[0], [1.0, 0.0, 0.5])


def test_it_is_immutable_comparable_and_copied():
    frame = pd.DataFrame({"x": [0.0, None], "c": ["a", "b"]})
    kernel = Mixed("std", categorical=["x"])
    fitted = kernel.fit(frame)
    assert not kernel.is_fitted and fitted.is_fitted and fitted == kernel.fit(frame) != kernel
    assert repr(fitted) == repr(kernel) == "Mixed(scale='std', categorical=('x',))"
    check_value(fitted)
    assert np.array_equal(pickle.loads(pickle.dumps(fitted))(frame), fitted(frame))
    with pytest.raises(ValueError, match=r"Mixed\(\) has parameters that depend on the data"):
        Mixed()(frame)
    assert parse_kernel("mixed(scale='std', categorical='x')") == kernel
    assert parse_kernel("mixed + 0.5 * mixed('std')")._accepts_missing
    assert not (Mixed() + Gaussian())._accepts_missing


ROWS = pd.DataFrame({"age": [40.0, 50.0], "sex": ["f", "m"]})
FITTED = Mixed().fit(ROWS)
DAYS = pd.DataFrame({"day": pd.date_range("2020-01-01", periods=2)})


test_what_cannot_be_read_is_named = refused(
    (lambda: FITTED(ROWS.assign(age=["old", None])), "'age' of X must hold numbers, as in"),
    (lambda: FITTED.diag(ROWS.assign(age=[1.0, np.inf])), "X holds infinity at row 1"),
    (lambda: FITTED(ROWS.assign(sex=[["f"], None])), "'sex' of X must .* categories.* row 0"),
    (lambda: FITTED(ROWS[["age"]]), "X has 1 columns, but the training table has 2"),
    (lambda: Mixed().fit(DAYS), "column 'day' of X holds dates or times"),
    (lambda: Mixed(categorical="agee").fit(ROWS), r"names 'agee'; X has \['age', 'sex'\]"),
    (lambda: Mixed(categorical=5).fit(ROWS.to_numpy()), "names 5; X has positions 0 to 1"),
    (lambda: Mixed(categorical=[0.5]), TypeError, "categorical must hold names or positions .* got 0.5"),
    (lambda: Mixed("iqr"), "Mixed scale must be one of 'range', 'std'; got 'iqr'"),
)  # fmt: skip

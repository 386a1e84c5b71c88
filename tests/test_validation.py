"""The checks of tables and Gram matrices, and their wording."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from multikernel._validation import (
    can_check_fully,
    check_choice,
    check_float_dtype,
    check_gram,
    check_numeric_table,
    check_square,
    is_indefinite,
    raise_indefinite,
    smallest_eigenvalue,
)
from tests.refusals import refused

RNG = np.random.default_rng(11)


def _gram(n, d=8, dtype=np.float64):
    rows = RNG.normal(size=(n, d))
    K = (rows @ rows.T).astype(dtype)
    return np.triu(K) + np.triu(K, 1).T


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n", [1, 2, 63, 64, 65, 200])
def test_a_sound_gram_passes(n, dtype):
    facts = check_gram(_gram(n, dtype=dtype), "kernel 'a'")
    assert facts.degenerate == "" and not facts.breaks_schwarz


@pytest.mark.parametrize("place", [(0, 1), (5, 130), (130, 5), (199, 64), (198, 199)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_asymmetry_is_found_wherever_it_is(place, dtype):
    K = _gram(200, dtype=dtype)
    K[place] += 0.5
    i, j = min(place), max(place)
    with pytest.raises(ValueError) as caught:
        check_gram(K, "kernel 'tap'")
    assert str(caught.value) == (
        f"kernels must be symmetric; kernel 'tap' differs from its transpose by 5.0e-01 at ({i}, {j}). "
        "Symmetrise it with (K + K.T) / 2."
    )


def test_asymmetry_is_relative_to_the_largest_entry():
    for dtype, small, large in [(np.float64, 1e-9, 1e-7), (np.float32, 1e-6, 1e-4)]:
        K = np.eye(90, dtype=dtype)
        K[3, 80] = small
        check_gram(1000 * K, "kernel 'a'")
        K[3, 80] = large
        with pytest.raises(ValueError, match="must be symmetric"):
            check_gram(1000 * K, "kernel 'a'")


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("place", [(0, 0), (2, 150), (150, 2), (199, 199)])
def test_what_is_not_finite_is_found_wherever_it_is(value, place):
    K = _gram(200)
    K[place] = value
    what = "NaN" if np.isnan(value) else "infinity"
    with pytest.raises(
        ValueError, match=rf"kernels must be finite; kernel 'b' holds {what} at \({place[0]}, {place[1]}\)"
    ):
        check_gram(K, "kernel 'b'")


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n", [751, 752, 753])  # rows are read four at a time, then what is left
def test_large_grams_are_read_to_the_last_row(n, dtype):
    sound = _gram(n, dtype=dtype)
    assert check_gram(sound, "k") == ("", False)
    for i, j in [(0, 1), (n // 2, 3), (n - 1, n - 2), (n - 2, 0), (n - 1, n - 1)]:
        bad = sound.copy()
        bad[i, j] = np.nan
        with pytest.raises(ValueError, match=rf"holds NaN at \({i}, {j}\)"):
            check_gram(bad, "k")
        if i != j:
            bad[i, j] = bad[j, i] = 1.1 * np.sqrt(sound[i, i] * sound[j, j])
            assert check_gram(bad, "k").breaks_schwarz
            bad[i, j] = sound[i, j] + 0.01 * sound.max()
            bad[j, i] = sound[j, i]
            with pytest.raises(ValueError, match="kernels must be symmetric"):
                check_gram(bad, "k")


def test_degenerate_grams_are_reported():
    assert check_gram(np.zeros((5, 5)), "k").degenerate == "all zero"
    assert check_gram(np.zeros((1, 1)), "k").degenerate == "all zero"
    assert check_gram(np.full((90, 90), 3.0), "k").degenerate == "constant"
    assert check_gram(np.full((90, 90), 0.1, dtype=np.float32), "k").degenerate == "constant"
    assert check_gram(np.ones((5, 5)) + 1e-15 * np.eye(5), "k").degenerate == "constant"
    assert check_gram(np.full((1, 1), 3.0), "k").degenerate == ""
    assert check_gram(np.ones((5, 5)) + 1e-9 * np.eye(5), "k").degenerate == ""


def test_a_necessary_condition_of_definiteness_is_reported():
    K = np.eye(150)
    K[3, 140] = K[140, 3] = 1.01
    assert check_gram(K, "k").breaks_schwarz
    K[3, 140] = K[140, 3] = 1.0
    assert not check_gram(K, "k").breaks_schwarz
    K[7, 7] = -0.1
    assert check_gram(K, "k").breaks_schwarz
    K[7, 7] = -1e-15
    assert not check_gram(K, "k").breaks_schwarz


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_condition_is_relative_to_the_diagonal_of_each_pair(dtype):
    sizes = np.logspace(-3, 3, 90)
    K = (_gram(90) * np.outer(sizes, sizes)).astype(dtype)
    K[5], K[:, 5] = 0.0, 0.0  # a sample without features is no proof of anything
    assert check_gram(K, "k") == ("", False)
    bad = K.copy()
    bad[5, 80] = bad[80, 5] = 1e-2 * bad[80, 80]
    assert check_gram(bad, "k").breaks_schwarz
    bad = K.copy()
    bad[60, 80] = bad[80, 60] = 1.01 * np.sqrt(bad[60, 60] * bad[80, 80])  # far below the largest entry
    assert check_gram(bad, "k").breaks_schwarz


@given(st.integers(-150, 150), st.integers(1, 80), st.sampled_from(["good", "nan", "asymmetric"]))
def test_the_verdict_does_not_depend_on_the_scale(exponent, n, kind):
    K = _gram(n) * 10.0 ** (2 * exponent)
    if kind == "nan":
        K[n - 1, 0] = np.nan
    if kind == "asymmetric" and n > 1:
        K[n - 1, 0] += 0.1 * np.abs(K).max()
    if kind == "good" or (kind == "asymmetric" and n == 1):
        assert check_gram(K, "k") == ("", False)
    else:
        with pytest.raises(ValueError, match=r"symmetric|finite"):
            check_gram(K, "k")


def test_smallest_eigenvalue_agrees_with_numpy():
    K = _gram(30) - 4.0 * np.eye(30)
    assert smallest_eigenvalue(K) == pytest.approx(np.linalg.eigvalsh(K)[0])
    assert smallest_eigenvalue(K.astype(np.float32)) == pytest.approx(np.linalg.eigvalsh(K)[0], rel=1e-5)


def test_indefiniteness_is_proved_on_the_whole_or_on_blocks():
    K = _gram(300, d=40)
    assert not is_indefinite(K, full=True) and not is_indefinite(K, full=False)
    assert not is_indefinite(K.astype(np.float32), full=True)
    bad = K - 20.0 * np.eye(300)
    assert is_indefinite(bad, full=True) and is_indefinite(bad, full=False)
    one_direction = K + 100.0 * np.eye(300)
    vector = RNG.normal(size=300)
    one_direction -= 150.0 * np.outer(vector, vector) / (vector @ vector)
    assert np.linalg.eigvalsh(one_direction)[0] < 0.0
    assert is_indefinite(one_direction, full=True)
    assert is_indefinite(np.array([[-1.0]]), full=True)
    assert not is_indefinite(np.zeros((2, 2)), full=True)
    assert not is_indefinite(K * 1e-300, full=True) and not is_indefinite(K * 1e300, full=False)


def test_full_checks_stop_where_they_get_expensive():
    assert can_check_fully(200, 20) and can_check_fully(500, 1)
    assert not can_check_fully(1000, 1) and not can_check_fully(400, 20)


def test_an_indefinite_gram_is_named_with_its_smallest_eigenvalue():
    with pytest.raises(ValueError) as caught:
        raise_indefinite(np.array([[1.0, 2.0], [2.0, 1.0]]), "kernel 'tap'")
    message = str(caught.value)
    assert message.startswith(
        "kernels must be positive semidefinite; kernel 'tap' has smallest eigenvalue -1. "
    )
    assert 'psd="clip"' in message and 'psd="shift"' in message
    large = _gram(1100, d=30)
    large -= 7.0 * np.eye(1100)
    with pytest.raises(ValueError, match=r"has smallest eigenvalue -7[. ]"):
        raise_indefinite(large, "kernel 'tap'")


test_bad_tables_are_named = refused(
    (np.ones(3), r"X must be a table of shape \(n_samples, n_features\); got shape \(3,\)"),
    (np.ones((0, 3)), r"at least one sample; got 0 sample\(s\) \(shape=\(0, 3\)\)"),
    (np.ones((3, 0)), r"at least one feature; got 0 feature\(s\) \(shape=\(3, 0\)\)"),
    (scipy.sparse.csr_matrix((0, 3)), "at least one sample"),
    (np.ones((2, 2, 2)), r"got shape \(2, 2, 2\)"),
    ([[1.0, 2.0], [1.0, np.nan]], "X holds NaN at row 1, column 1. Features must be finite"),
    ([[np.inf, 2.0]], "X holds infinity at row 0, column 0"),
    (scipy.sparse.csr_matrix([[0.0, 0.0], [0.0, np.nan]]), "X holds NaN at row 1, column 1"),
    (pd.DataFrame({"a": [1.0, 2.0], "b": [None, 1.0]}), r"X holds NaN at row 0, column 1 \('b'\)"),
    (pd.DataFrame({"a": pd.array([1, None], dtype="Int64")}), r"X holds NaN at row 1, column 0 \('a'\)"),
    (pd.DataFrame({"a": [1.0], "b": ["x"]}), r"X must be numeric, but column 1 \('b'\) is not"),
    (np.array([[1.0, "x"]], dtype=object), "X must be numeric, but column 1 is not"),
    (np.array([["a"]]), "X must be numeric; got dtype <U1"),
    (np.array([[1j]]), "X must be numeric; got dtype complex128"),
    (pd.DataFrame({"a": [1j]}), r"X must be numeric, but column 0 \('a'\) is not \(it is complex\)"),
    ([[1.0], [1.0, 2.0]], "X must be a table with rows of equal length"),
    (scipy.sparse.csr_matrix([[1j]]), "X must be a numeric 2-D sparse matrix"),
    by=check_numeric_table,
)


def test_good_tables_are_not_copied():
    table = RNG.normal(size=(4, 2))
    assert check_numeric_table(table) is table
    sparse = scipy.sparse.csr_matrix(table)
    assert np.shares_memory(check_numeric_table(sparse).data, sparse.data)
    assert check_numeric_table(table.astype(np.float32)).dtype == np.float64
    assert check_numeric_table([[True, 2]]).tolist() == [[1.0, 2.0]]
    frame = pd.DataFrame({"a": [1, 2], "b": [True, False], "c": pd.array([1, 2], dtype="Int64")})
    assert check_numeric_table(frame).tolist() == [[1.0, 1.0, 1.0], [2.0, 0.0, 2.0]]
    assert check_numeric_table(np.arange(3), one_column=True).shape == (3, 1)
    assert check_numeric_table(np.asfortranarray(table)).flags.c_contiguous


test_choices_types_and_shapes_are_listed = refused(
    (lambda: check_choice("psd", "fix", ("error", "clip")), "psd must be one of 'error', "),
    (lambda: check_float_dtype("float16"), "must be 'float64' or 'float32'; got 'float16'"),
    (lambda: check_float_dtype(np.int64), "dtype must be 'float64' or 'float32'"),
    (lambda: check_float_dtype(None), "dtype must be 'float64' or 'float32'"),
    (lambda: check_float_dtype("what"), TypeError, "dtype must be 'float64' or 'float32'; got 'what'"),
    (lambda: check_square(np.ones(3), "K"), "a square Gram matrix"),
    (lambda: check_square(np.ones((0, 0)), "K"), r"one sample; got shape \(0, 0\)"),
    (lambda: check_square([["a"]], "K"), "K must be a numeric array; got list"),
)  # fmt: skip


def test_an_eigenvalue_that_may_be_rounding_is_told_from_an_indefinite_kernel():
    for low, may_be in ((-1e-6, True), (-0.5, False)):
        with pytest.raises(ValueError, match=r"smallest eigenvalue") as caught:
            raise_indefinite(np.diag([1.0, 1.0, low]), "kernel 'k'")
        assert ("compute the kernel in float64" in str(caught.value)) is may_be

"""Alphabets, what columns of strings may be, and the words for what they may not."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from multikernel.kernels import Gappy, Mismatch, Spectrum, WeightedDegree
from multikernel.kernels.expressions import parse_kernel
from multikernel.views import View
from tests.kernels.laws import check_value
from tests.refusals import refused

ROWS = ["ACGT", "ACGA", "TTGA"]
K = Spectrum(2, "ACGT")(ROWS)


@pytest.mark.parametrize(
    "column",
    [
        tuple(ROWS),
        np.array(ROWS),
        np.array(ROWS, dtype=object),
        np.array(ROWS, dtype=object)[:, None],
        np.array(ROWS, dtype=bytes),
        pd.Series(ROWS, index=[3, 1, 2]),
        pd.Series(ROWS, dtype="string"),
        pd.Series(ROWS, dtype="category"),
        pd.DataFrame({"sequence": ROWS}),
        [[row] for row in ROWS],
    ],
    ids=lambda column: f"{type(column).__name__} {getattr(column, 'dtype', '')}",
)
def test_any_column_of_strings_will_do(column):
    assert np.array_equal(Spectrum(2, "ACGT")(column), K)
    assert np.array_equal(Spectrum(2).fit(column)(column), K)


def test_named_alphabets_read_small_letters_and_both_u_and_t():
    assert np.array_equal(Spectrum(2, "dna")(["acgu", "AcgA", "UTGA"]), K)
    assert np.array_equal(Spectrum(2, "rna")(["acgu", "AcgA", "UTGA"]), K)
    assert Spectrum(1, "protein")(["acdefghiklmnpqrstvwy"]) == 20.0
    assert Spectrum(1, "protein")(["BJOUXZ*-"]) == 0.0
    assert Spectrum(1, "ACGT")(["acgt"]) == 0.0  # letters that are given are taken as they are


def test_patterns_with_letters_outside_match_nothing_not_even_themselves():
    for kernel in (Spectrum(2, "dna"), Mismatch(2, 1, "dna"), Gappy(1, 1, "dna")):
        assert kernel(["ANNA"], ["ANNA"]) == 0.0
        assert kernel(["ACNAC"]) == kernel(["AC", "AC"]).sum()
    assert WeightedDegree(2, alphabet="dna")(["ANNA"]) == WeightedDegree(2, alphabet="dna")(["A"]) * 2


def test_letters_that_only_new_rows_have_match_nothing():
    fitted = Spectrum(1).fit(["abc", "abd"])
    assert fitted == Spectrum(1, "abcd") and not Spectrum(1).is_fitted
    assert fitted(["xyz", "axa"], ["abc"]).tolist() == [[0.0], [2.0]]
    assert fitted.diag(["xyz"]) == 0.0
    with pytest.raises(ValueError, match=r"Spectrum\(k=1\) has parameters that depend on the data"):
        Spectrum(1)(["abc"])


def test_letters_may_be_any():
    words = ["straße", "Große Straße", "日本語", "😀a😀"]
    fitted = Spectrum(2).fit(words)
    assert fitted(words)[0, 1] == 5.0  # tr, ra, aß, and ße, which the other holds twice
    assert fitted.diag(words).tolist() == [5.0, 13.0, 2.0, 2.0]


def test_sequences_that_are_too_short_are_similar_to_nothing():
    kernel = Spectrum(3).fit(["ACGT", "AC"])
    assert kernel(["ACGT", "AC"]).tolist() == [[2.0, 0.0], [0.0, 0.0]]
    for kernel in (Spectrum(3), Mismatch(3, 1), Gappy(2, 1), Spectrum(2, "dna")):
        with pytest.raises(ValueError, match=r"letters of its alphabet in a row; X holds none"):
            kernel.fit(["AC", "G"] if kernel._width == 3 else ["ANA", "C"])


@pytest.mark.parametrize(
    ("column", "said"),
    [
        (["AC", None], r"needs strings; X holds a missing value \(None\) at row 1. Drop the row"),
        (pd.Series(["AC", "G", np.nan]), r"a missing value \(nan\) at row 2"),
        (pd.Series(["AC", pd.NA], dtype="string"), r"a missing value \(<NA>\) at row 1"),
        (["AC", 3], "needs strings; X holds 3 at row 1. Give the column of the sequences"),
        (np.array([[1.0], [2.0]]), "needs strings; X holds 1.0 at row 0"),
        (["AC", ""], "at least one letter; X holds an empty string at row 1"),
        (np.array([["AC", "G"]]), r"one column of strings; X has shape \(1, 2\). Name the column"),
        ([], "at least one sequence"),
    ],
)  # fmt: skip
def test_what_is_no_column_of_strings_is_refused_with_its_row(column, said):
    for kernel in (Spectrum(1, "dna"), WeightedDegree(1, 1, "dna")):
        with pytest.raises(ValueError, match=said):
            kernel(column)
        with pytest.raises(ValueError, match=said):
            kernel.fit(column)


test_parameters_are_checked = refused(
    (lambda: Spectrum(0), "Spectrum k must be a positive integer; got 0"),
    (lambda: Spectrum(2.5), "Spectrum k must be a positive integer; got 2.5"),
    (lambda: Mismatch(3, 3), "mismatches must be less than k = 3, or every pattern .* got 3"),
    (lambda: Mismatch(3, -1), "mismatches must be a whole number of at least 0; got -1"),
    (lambda: Gappy(3, True), "gaps must be a whole number of at least 0; got True"),
    (lambda: Gappy(20, 20), "at most 10000 ways to choose k of k \\+ gaps"),
    (lambda: WeightedDegree(0), "degree must be a positive integer"),
    (lambda: WeightedDegree(3, -1), "shift must be a whole number of at least 0"),
    (lambda: Spectrum(3, "DNA"), "alphabet must be 'dna', 'rna', 'protein', .*Did you mean 'dna'"),
    (lambda: Spectrum(3, ""), "got an empty string"),
    (lambda: Spectrum(3, "ACGA"), "'ACGA', which holds a letter twice"),
    (lambda: Spectrum(3, 4), "alphabet must be .* got 4"),
    (lambda: Spectrum(15, "protein"), "k must be at most 14 with an alphabet of 20 letters"),
    (lambda: Spectrum(40).fit(["ACGT" * 20]), "k must be at most 31 with an alphabet of 4 letters"),
    (lambda: Spectrum(2, "dna").fit(["MLSPQW", "ACLLIV"]), r"83% of the letters of X .* \(ILMPQSVW\)"),
    (lambda: Spectrum(2, "xyz").fit(["abc"]), "100% of the letters"),
    (lambda: View("s", Spectrum(3), "s", standardize=True), "view 's': standardize=True needs"),
    (lambda: View("s", 2 * Spectrum(3) ** 2, "s", standardize=True), "standardize=True needs"),
    error=(TypeError, ValueError),
)  # fmt: skip


def test_kernels_are_plain_descriptions():
    kernels = [Spectrum(4), Mismatch(4, 2, "protein"), Gappy(2, 3, "AB"), WeightedDegree(7, 2, "dna")]
    for kernel in kernels:
        check_value(kernel)
        assert parse_kernel(repr(kernel)) == kernel
        assert kernel.is_psd and parse_kernel(f"0.5 * {kernel!r} ** 2 + {kernel!r}").is_psd
    assert repr(Mismatch(3, 2)) == "Mismatch(mismatches=2)"


def test_algebra_of_sequences():
    spectrum, mismatch = Spectrum(2, "dna"), Mismatch(2, 1)
    kernel = 0.5 * (spectrum + mismatch) ** 2 * spectrum
    expected = 0.5 * (spectrum(ROWS) + mismatch(ROWS)) ** 2 * spectrum(ROWS)
    np.testing.assert_allclose(kernel(ROWS), expected, rtol=1e-14)
    np.testing.assert_allclose(kernel.diag(ROWS), expected.diagonal(), rtol=1e-14)
    assert np.array_equal(kernel(ROWS), kernel(ROWS).T)
    fitted = (Spectrum(1) + WeightedDegree(2)).fit(ROWS)
    assert fitted.left == Spectrum(1, "ACGT") and fitted.right == WeightedDegree(2, alphabet="ACGT")

"""Kernels that count patterns, against their definitions written out: all patterns, all stretches."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from multikernel.kernels import Gappy, Mismatch, Spectrum
from multikernel.kernels._rows import Rows
from multikernel.kernels.strings import spectrum
from tests.kernels.laws import check_laws

sequences = st.lists(st.text("ACGN", min_size=1, max_size=12), min_size=1, max_size=6)


def stretches(text, width, letters):
    found = [text[i : i + width] for i in range(len(text) - width + 1)]
    return [stretch for stretch in found if set(stretch) <= set(letters)]


def spectrum_features(text, k, letters):
    return [stretches(text, k, letters).count("".join(a)) for a in product(letters, repeat=k)]


def mismatch_features(text, k, m, letters):
    return [
        sum(sum(p != q for p, q in zip(a, b, strict=True)) <= m for b in stretches(text, k, letters))
        for a in product(letters, repeat=k)
    ]


def gappy_features(text, k, gaps, letters):
    held = [set(combinations(stretch, k)) for stretch in stretches(text, k + gaps, letters)]
    return [sum(a in patterns for patterns in held) for a in product(letters, repeat=k)]


def gram(features, left, right):
    return np.array([features(x) for x in left], float) @ np.array([features(z) for z in right], float).T


def agrees(kernel, features, left, right):
    """The kernel, training and test, is exactly the product of the features."""
    check_laws(kernel, left, gram(features, left, left))
    assert np.array_equal(kernel(right, left), gram(features, right, left))


@given(sequences, sequences, st.integers(1, 4), st.booleans())
def test_the_spectrum_counts_every_pattern(left, right, k, dense):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spectrum, "_DENSE_SHARE", -1.0 if dense else 2.0)
        agrees(Spectrum(k, "ACG"), lambda x: spectrum_features(x, k, "ACG"), left, right)


@given(
    sequences, sequences, st.sampled_from([(1, 0), (2, 1), (3, 0), (3, 1), (3, 2), (4, 1), (4, 2), (4, 3)])
)
def test_mismatches_are_those_of_all_patterns(left, right, sizes):
    k, m = sizes
    agrees(Mismatch(k, m, "ACG"), lambda x: mismatch_features(x, k, m, "ACG"), left, right)


@pytest.mark.parametrize("letters", ["A", "AC", "ACGT"])
def test_mismatches_of_alphabets_of_any_size(letters):
    rng = np.random.default_rng(3)
    left = ["".join(rng.choice(list(letters), size=rng.integers(3, 15))) for _ in range(5)]
    agrees(Mismatch(3, 1, letters), lambda x: mismatch_features(x, 3, 1, letters), left, left[:2])


@given(sequences, sequences, st.sampled_from([(1, 0), (1, 2), (2, 1), (2, 3), (3, 0), (3, 2)]))
def test_gaps_are_those_of_all_stretches(left, right, sizes):
    k, gaps = sizes
    agrees(Gappy(k, gaps, "ACG"), lambda x: gappy_features(x, k, gaps, "ACG"), left, right)


def test_long_patterns_and_many_rows_take_the_other_ways_through():
    """Patterns without a table of all of them, several chunks of rows, several blocks of the matrix."""
    rng = np.random.default_rng(5)
    left = ["".join(rng.choice(list("ACDE"), size=30)) for _ in range(300)]
    protein = Spectrum(6, "protein")  # 20^6 patterns
    counted = [dict(zip(*np.unique(stretches(x, 6, "ACDE"), return_counts=True), strict=True)) for x in left]
    expected = np.array([[sum(n * b.get(p, 0) for p, n in a.items()) for b in counted] for a in counted])
    assert np.array_equal(protein(left), expected)
    assert np.array_equal(protein(left[:3], left), expected[:3])
    gappy = Gappy(2, 1, "protein")
    whole = gappy(left)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spectrum, "_CHUNK", 200)
        assert np.array_equal(gappy(left), whole)
    assert np.array_equal(whole[:2, :2], gram(lambda x: gappy_features(x, 2, 1, "ACDE"), left[:2], left[:2]))


def test_the_examples_of_shawe_taylor_and_cristianini():
    """Kernel Methods for Pattern Analysis, chapter 11."""
    words = ["bar", "bat", "car", "cat"]
    assert Spectrum(2).fit(words)(words).tolist() == [[2, 1, 1, 0], [1, 2, 0, 1], [1, 0, 2, 1], [0, 1, 1, 2]]
    words = ["statistics", "computation"]
    assert Spectrum(3).fit(words)(words)[0, 1] == 2.0  # tat and ati


def test_mismatches_of_none_and_gaps_of_none_are_the_spectrum():
    left = ["ACGTTGCA", "TTTT", "CAGCAG"]
    plain = Spectrum(3, "dna")(left)
    assert np.array_equal(Mismatch(3, 0)(left), plain) and np.array_equal(Gappy(3, 0, "dna")(left), plain)


def test_counts_that_were_kept_are_those_of_the_same_kernel_and_alphabet():
    rows = Rows(["ACGTAC", "GGACGU"])
    kernels = [Spectrum(2, "dna"), Spectrum(3, "dna"), Spectrum(2, "AC"), Mismatch(2, 1), Spectrum(2, "dna")]
    for kernel in kernels:
        assert np.array_equal(kernel(rows), kernel(list(rows.raw)))


def test_sequences_are_not_written_out():
    """5-letter patterns of proteins: 3.2 million columns, of which few are filled."""
    rng = np.random.default_rng(0)
    left = ["".join(rng.choice(list("ACDEFGHIKLMNPQRSTVWY"), size=200)) for _ in range(40)]
    kernel = Spectrum(5, "protein")
    (counts,) = kernel._all_counts(Rows(left))
    assert scipy.sparse.issparse(counts.table) and counts.table.shape[1] <= 40 * 196
    assert np.array_equal(kernel.diag(left), kernel(left).diagonal())

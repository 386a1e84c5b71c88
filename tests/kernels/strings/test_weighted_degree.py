"""The weighted degree kernel against its definition, place by place and stretch by stretch."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from multikernel.kernels import WeightedDegree
from tests.kernels.laws import check_laws

of_any_length = st.lists(st.text("ACGN", min_size=1, max_size=9), min_size=1, max_size=6)
of_one_length = st.integers(1, 9).flatmap(
    lambda n: st.lists(st.text("ACGN", min_size=n, max_size=n), min_size=2, max_size=8)
)


def same(x, z, i, j, d):
    """Whether the d letters of x from i on are those of z from j on, all of them in the alphabet."""
    a, b = x[i : i + d], z[j : j + d]
    return len(a) == len(b) == d and a == b and "N" not in a


def weighted_degree(x, z, degree, shift):
    total = 0.0
    for d in range(1, degree + 1):
        beta = 2.0 * (degree - d + 1) / (degree * (degree + 1))
        for s in range(shift + 1):
            matches = sum(
                same(x, z, i + s, i, d) + same(x, z, i, i + s, d) for i in range(max(len(x), len(z)))
            )
            total += beta / (2.0 * (s + 1.0)) * matches
    return total


def agrees(kernel, left, right):
    def formula(A, B):
        return np.array([[weighted_degree(x, z, kernel.degree, kernel.shift) for z in B] for x in A])

    check_laws(kernel, left, formula(left, left), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(kernel(right, left), formula(right, left), rtol=1e-12, atol=1e-12)
    assert np.array_equal(kernel(right, left), kernel(left, right).T)


@given(of_one_length, st.integers(1, 5))
def test_places_are_compared_one_by_one(rows, degree):
    agrees(WeightedDegree(degree, alphabet="ACG"), rows, rows[:1])


@given(of_any_length, of_any_length, st.integers(1, 4), st.integers(1, 12))
def test_a_signal_may_be_shifted_and_lengths_may_differ(left, right, degree, shift):
    agrees(WeightedDegree(degree, shift, "ACG"), left, right)


def test_many_rows_are_compared_block_by_block_and_in_single_precision():
    rng = np.random.default_rng(1)
    rows = ["".join(rng.choice(list("ACGT"), size=20)) for _ in range(400)]
    kernel = WeightedDegree(3, alphabet="dna")
    K = check_laws(kernel, rows)
    some = rng.integers(0, 400, size=(30, 2))
    expected = [weighted_degree(rows[i], rows[j], 3, 0) for i, j in some]
    np.testing.assert_allclose(K[some[:, 0], some[:, 1]], expected, rtol=1e-12)


@pytest.mark.parametrize("shift", [1, 2, 3, 7, 30, 200])
def test_the_weights_of_shifts_make_a_positive_semidefinite_kernel(shift):
    """Rogosinski and Szegő: 1/2 + Σ cos(s t) / (s + 1) ≥ 0; here it is 1 instead of 1/2."""
    t = np.linspace(0.0, np.pi, 5001)
    spectrum = sum(np.cos(s * t) / (s + 1.0) for s in range(1, shift + 1))
    assert spectrum.min() >= -0.5 - 1e-12


KERNEL = WeightedDegree(2, alphabet="dna")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: KERNEL(["ACGT", "ACGT", "ACG"]), "of one length; X holds 3 letters instead of 4 at row 2"),
        (lambda: KERNEL(["ACGTA"], ["ACGT"]), "X holds 5 letters instead of 4 at row 0. Align .* shift > 0"),
        (lambda: KERNEL.fit(["ACGT", "ACG"]), "at row 1"),
        (lambda: KERNEL.diag(["ACGT", "ACG"]), "at row 1"),
    ],
)
def test_lengths_must_agree_where_nothing_may_shift(call, message):
    with pytest.raises(ValueError, match=message):
        call()
    assert KERNEL(["ACG-"], ["ACGT"]) == KERNEL(["ACG"])  # filled up with a letter outside the alphabet

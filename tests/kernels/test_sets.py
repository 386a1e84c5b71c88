"""Kernels of sets and of categories, against their definitions in plain Python."""

from __future__ import annotations

import numpy as np
import pandas as pd
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from multikernel.kernels import Hamming, Jaccard, Tanimoto
from multikernel.kernels.expressions import parse_kernel
from tests.kernels.laws import check_laws
from tests.refusals import refused

seeds = st.integers(0, 2**32 - 1)


def min_max(x, z):
    whole = sum(max(a, b) for a, b in zip(x, z, strict=True))
    return sum(min(a, b) for a, b in zip(x, z, strict=True)) / whole if whole else 1.0


def overlap(a, b):
    return len(a & b) / len(a | b) if a | b else 1.0


def plain(similarity, left, right):
    return np.array([[similarity(x, z) for z in right] for x in left])


@given(seeds, st.booleans())
def test_tanimoto_is_min_over_max_and_a_kernel(seed, binary):
    rng = np.random.default_rng(seed)
    n, d = rng.integers(1, 9, 2)
    entries = [0.0, 1.0] if binary else [0.0, 0.0, 1.0, 2.0, 7.0, *rng.random(3)]
    table, other = rng.choice(entries, (n, d)), rng.choice([*entries, 2.5], (3, d))
    of_itself = plain(min_max, table.tolist(), table.tolist())
    K = check_laws(Tanimoto(), table, of_itself, rtol=1e-12, atol=1e-14)
    expected = plain(min_max, other.tolist(), table.tolist())
    for left in (other, scipy.sparse.csr_matrix(other)):
        for right in (table, scipy.sparse.csc_array(table)):
            np.testing.assert_allclose(Tanimoto()(left, right), expected, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(Tanimoto()(scipy.sparse.csr_matrix(table)), K, rtol=1e-12, atol=1e-14)


def test_tanimoto_of_fingerprints_is_exact_and_reads_frames():
    rng = np.random.default_rng(0)
    prints = (rng.random((150, 300)) < 0.1).astype(np.int8)
    frame = pd.DataFrame(prints).astype(bool)
    expected = plain(overlap, *[[set(np.flatnonzero(row)) for row in prints]] * 2)
    for table in (prints, frame, scipy.sparse.csr_matrix(prints)):
        check_laws(Tanimoto(), table, expected)  # quotients of the same whole numbers


@given(seeds)
def test_jaccard_is_the_share_of_tokens_in_common(seed):
    rng = np.random.default_rng(seed)
    tokens = ["a", "b", "c", 1, (2, 3)]
    sets, others = (
        [{token for token in tokens if rng.random() < 0.4} for _ in range(rng.integers(1, 9))] for _ in "ab"
    )
    check_laws(Jaccard(), sets, plain(overlap, sets, sets))
    assert np.array_equal(Jaccard()(others, sets), plain(overlap, others, sets))


def test_jaccard_reads_sets_lists_arrays_and_texts_alike():
    sets = [{"a", "b"}, set(), {"b", "c", "d"}, {"a"}]
    K = Jaccard()(sets)
    listed = [sorted(tokens) * 2 for tokens in sets]
    texts = [" ".join(tokens) for tokens in listed]
    for column in (listed, [np.array(tokens) for tokens in listed], texts, pd.Series(texts)):
        assert np.array_equal(Jaccard()(column), K)
    frame = pd.DataFrame({"go": ["; ".join(tokens) for tokens in listed]})
    assert np.array_equal(Jaccard(separator=";")(frame), K)
    assert np.array_equal(Jaccard(separator=";")(frame.to_numpy()), K)
    assert Jaccard(";") == parse_kernel("jaccard(separator=';')")


@given(seeds)
def test_hamming_is_the_share_of_equal_columns(seed):
    rng = np.random.default_rng(seed)
    n, d = rng.integers(1, 6, 2)
    seen, new = ["a", "b", 1, 2.5, True], ["a", "never seen", 2, 2.5]
    rows, others = ([[known[k] for k in rng.integers(0, 4, d)] for _ in range(n)] for known in (seen, new))

    def share(x, z):
        return sum(a == b for a, b in zip(x, z, strict=True)) / len(x)

    K = check_laws(Hamming(), rows, plain(share, rows, rows), atol=1e-15)
    np.testing.assert_allclose(Hamming()(others, rows), plain(share, others, rows), atol=1e-15)
    check_laws(Hamming(gamma=3.0), rows, np.exp(-3.0 * (1.0 - K)), rtol=1e-14)


def test_hamming_reads_every_kind_of_column():
    frame = pd.DataFrame({"s": ["u", "v", "u"], "i": [1, 1, 2], "b": [True, False, True]})
    frame["c"] = pd.Categorical(["x", "x", "y"])
    expected = np.array([[4, 2, 2], [2, 4, 0], [2, 0, 4]]) / 4.0
    assert np.array_equal(Hamming()(frame), expected)
    assert np.array_equal(Hamming()(frame.astype(object).to_numpy()), expected)
    assert np.array_equal(Hamming()(frame["s"]), np.array([[1, 0, 1], [0, 1, 0], [1, 0, 1]]))
    numbers = np.array([[0, 1], [2, 1], [0, 0]])
    assert np.array_equal(Hamming()(scipy.sparse.csr_matrix(numbers)), Hamming()(numbers))
    assert parse_kernel("hamming(gamma=2)") == Hamming(gamma=2.0)


test_what_cannot_be_compared_is_refused = refused(
    (lambda: Tanimoto()([[1.0], [-1.0]]), "Tanimoto needs non-.*X holds -1 at row 1"),
    (lambda: Tanimoto().diag([[np.nan]]), "X holds NaN at row 0"),
    (lambda: Tanimoto()([[1, 0]], [[1]]), "X has 2 columns, but Z has 1"),
    (lambda: Jaccard()([["a"], 3.0]), r"X holds 3.0 at row 1\. An empty set is \[\] or ''"),
    (lambda: Jaccard().diag(pd.Series([None, "a"], dtype=object)), "X holds None at row 0"),
    (lambda: Jaccard()([[["a"]]]), r"X holds \[\['a'\]\] at row 0"),
    (lambda: Jaccard()(pd.DataFrame([["x", "y"]])), "reads one column of objects; X has 2"),
    (lambda: Jaccard(separator=""), TypeError, "Jaccard separator must be a text"),
    (lambda: Hamming()([["a", 1.0], ["a", None]]), r"column 1 of X .* row 1\. Use Mixed\(\)"),
    (lambda: Hamming().diag(pd.DataFrame({"a": [["x"], "y"]})), "categories.* list at row 0"),
    (lambda: Hamming()([["a"]], [["a", "b"]]), "X has 1 columns, but Z has 2"),
    (lambda: Hamming(gamma=0.0), "Hamming gamma must be greater than 0"),
)  # fmt: skip

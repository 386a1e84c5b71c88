"""Local alignment against the plain recurrence of Smith, Waterman and Gotoh."""

from __future__ import annotations

import numpy as np
import parasail
import pytest
from hypothesis import given
from hypothesis import strategies as st

from multikernel import KernelBank, MKLClassifier
from multikernel.kernels import EmpiricalMap, LocalAlignment
from multikernel.kernels.expressions import parse_kernel
from tests.kernels.laws import check_laws, check_missing_library
from tests.raw import raw
from tests.refusals import refused

residues = st.text("ARNDCQEGHILKMFPSTWYVBZX", min_size=1, max_size=14)
proteins = st.lists(residues, min_size=1, max_size=4)


def smith_waterman(x, z, matrix, gap_open, gap_extend):
    """The best score of all alignments of parts, by tables of alignments that end in a gap or not."""
    table = getattr(parasail, matrix)
    H, E, F = (np.full((len(x) + 1, len(z) + 1), low) for low in (0.0, -np.inf, -np.inf))
    for i, a in enumerate(x, start=1):
        for j, b in enumerate(z, start=1):
            E[i, j] = max(H[i, j - 1] - gap_open, E[i, j - 1] - gap_extend)
            F[i, j] = max(H[i - 1, j] - gap_open, F[i - 1, j] - gap_extend)
            match = table.matrix[table.mapper[ord(a)], table.mapper[ord(b)]]
            H[i, j] = max(0.0, H[i - 1, j - 1] + match, E[i, j], F[i, j])
    return H.max()


@given(proteins, proteins, st.sampled_from([("blosum62", 11, 1), ("pam250", 3, 3), ("blosum45", 2, 1)]))
def test_scores_are_those_of_the_recurrence(left, right, setting):
    kernel = LocalAlignment(*setting)
    check_laws(kernel, left, np.array([[smith_waterman(x, z, *setting) for z in left] for x in left]))
    expected = np.array([[smith_waterman(x, z, *setting) for z in left] for x in right])
    assert np.array_equal(kernel(right, left), expected)


def test_scores_of_dna_and_of_long_sequences():
    kernel = LocalAlignment("dnafull", 10, 2)
    left = ["ACGTRYN", "ACGACGT", "GATTACA"]
    expected = [[smith_waterman(x, z, "dnafull", 10, 2) for z in left] for x in left]
    assert np.array_equal(kernel(left), expected)
    assert LocalAlignment()(["W" * 5000]) == 55000.0  # beyond 8 and 16 bits


def test_letters_that_no_matrix_knows_may_be_any():
    protein, dna = LocalAlignment(), LocalAlignment("dnafull", 5, 1)
    assert protein(["mkwUJO*é-"], ["MKWW"]) == protein(["MKWXXXXXX"], ["MKWW"])
    assert dna(["acguE-"], ["ACGT"]) == dna(["ACGTNN"], ["ACGT"]) == 20.0


test_parameters_and_rows_are_checked = refused(
    (lambda: LocalAlignment("blosum61"), "matrix must be 'blosum30' to 'blosum100' .* got 'blosum61'"),
    (lambda: LocalAlignment(gap_open=0), "gap_open must be a positive integer; got 0"),
    (lambda: LocalAlignment(gap_open=2.5), "gap_open must be a positive integer; got 2.5"),
    (lambda: LocalAlignment(gap_open=1, gap_extend=2), "at least gap_extend; got 1 and 2"),
    (lambda: LocalAlignment()(["MK", None]), r"missing value \(None\) at row 1"),
    error=(TypeError, ValueError),
)  # fmt: skip


def test_the_matrices_are_those_of_parasail():
    kernels = [f"blosum{n}" for n in range(30, 101)] + [f"pam{n}" for n in range(1, 520)]
    there = {name for name in (*kernels, "dnafull", "nuc44") if hasattr(parasail, name)}
    for name in (*kernels, "dnafull", "nuc44"):
        if name in there:
            assert LocalAlignment(name).matrix == name
        else:
            with pytest.raises(ValueError, match="matrix must be"):
                LocalAlignment(name)


def test_without_parasail_the_extra_is_named(monkeypatch):
    uses = (lambda: LocalAlignment().fit(["MK"]), lambda: LocalAlignment()(["MK"]))
    check_missing_library(monkeypatch, "parasail", "sequences", *uses)


def test_an_indefinite_similarity_is_refused_and_the_map_of_it_is_not():
    rows = ["GP", "WC", "GPGC", "GCCGW", "GWCWWWP", "GWWCW", "GPCWCPW", "CCGP"]
    K = LocalAlignment()(rows)
    assert np.linalg.eigvalsh(K)[0] < -1.7 and not LocalAlignment().is_psd
    with pytest.raises(ValueError, match=r"positive semidefinite; kernel 'align'"):
        KernelBank([("align", LocalAlignment())]).fit(rows)
    kernel = EmpiricalMap(LocalAlignment())
    np.testing.assert_allclose(KernelBank(raw([("align", kernel)])).fit_transform(rows)[:, :, 0], K @ K.T)
    y = np.array([row.startswith("G") for row in rows])
    model = MKLClassifier([("align", kernel, None, "unit_diagonal")], C=1e3).fit(rows, y)
    assert model.score(rows, y) == 1.0


def test_alignments_are_written_as_text():
    assert parse_kernel("localalignment") == LocalAlignment()
    kernel = EmpiricalMap(LocalAlignment("pam30", gap_open=9))
    assert parse_kernel(repr(kernel)) == kernel == parse_kernel("empiricalmap(localalignment('pam30', 9))")

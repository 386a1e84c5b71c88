"""Tables splice and location: what DNA and proteins do, from kernels of their sequences."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache, partial
from typing import Any

from multikernel.kernels import Gappy, Kernel, Mismatch, Spectrum, WeightedDegree
from studies.structured.protocol import Problem, Sample, compute_fold, load_rows, precomputed_sample
from studies.structured.tables import NO_FIGURES, make_table

MOST_SPLICES, MOST_PROTEINS = 1000, 1500
N_FIRST = 60

DNA: Mapping[str, Kernel] = {
    "spectrum, 3 letters": Spectrum(3, "dna"),
    "spectrum, 5 letters": Spectrum(5, "dna"),
    "5 letters, 1 mismatch": Mismatch(5, 1, "dna"),
    "3 letters, up to 2 gaps": Gappy(3, 2, "dna"),
    "weighted degree 3": WeightedDegree(3, 0, "dna"),
    "weighted degree 8": WeightedDegree(8, 0, "dna"),
    "weighted degree 5, shift 3": WeightedDegree(5, 3, "dna"),
}
WHOLE: Mapping[str, Kernel] = {
    "whole, 1 letter": Spectrum(1, "protein"),
    "whole, 2 letters": Spectrum(2, "protein"),
    "whole, 3 letters": Spectrum(3, "protein"),
    "whole, 4 letters": Spectrum(4, "protein"),
    "whole, 4 letters, 1 mismatch": Mismatch(4, 1, "protein"),
}
FIRST: Mapping[str, Kernel] = {
    f"first {N_FIRST}, 1 letter": Spectrum(1, "protein"),
    f"first {N_FIRST}, 2 letters": Spectrum(2, "protein"),
    f"first {N_FIRST}, 3 letters": Spectrum(3, "protein"),
}


@lru_cache(maxsize=1)
def load_dna(name: str, most: int) -> Sample:
    """Return sequences of DNA with the kernels of `DNA`; of more than `most`, so many.

    Parameters
    ----------
    name : str
    most : int

    Returns
    -------
    Sample
    """
    data, kept, y = load_rows(name, most)
    strings = data.arrays["sequences"][kept].tolist()
    return precomputed_sample({label: kernel(strings) for label, kernel in DNA.items()}, y)


@lru_cache(maxsize=1)
def load_proteins() -> Sample:
    """Return proteins with kernels of the whole sequences and of their first letters."""
    data, kept, y = load_rows("multiloc_sequences", MOST_PROTEINS)
    every = bytes(data.arrays["sequences_utf8"]).decode().split("\n")
    whole = [every[place] for place in kept]
    first = [string[:N_FIRST] for string in whole]
    matrices = {label: kernel(whole) for label, kernel in WHOLE.items()}
    return precomputed_sample(matrices | {label: kernel(first) for label, kernel in FIRST.items()}, y)


SPLICES = {
    "promoters": Problem(
        "promoters",
        "Whether DNA is a promoter, 106 sequences, 2 classes",
        partial(load_dna, "promoters", MOST_SPLICES),
        ("promoters",),
    ),
    "splice": Problem(
        "splice",
        f"Which splice junction DNA has, {MOST_SPLICES} of 3190 sequences, 3 classes",
        partial(load_dna, "splice", MOST_SPLICES),
        ("splice",),
    ),
}
LOCATIONS = {
    "location": Problem(
        "location",
        f"Where a protein is in the cell, {MOST_PROTEINS} of 5959 proteins, 11 classes",
        load_proteins,
        ("multiloc_sequences",),
    )
}
PROBLEMS = SPLICES | LOCATIONS


def compute_sequences(problem: str, repetition: int, fold: int) -> dict[str, Any]:
    """Return how every contender does on one fold of a problem of `PROBLEMS`: see `compute_fold`."""
    return compute_fold(PROBLEMS[problem], repetition, fold)


TABLES = (
    make_table(
        "splice",
        "promoters and splice junctions",
        SPLICES,
        compute_sequences,
        data=(
            "Sequences of DNA: 57 letters around promoters of E. coli or elsewhere, 60 letters around splice "
            "junctions of primates (exon to intron, intron to exon, none), of which "
            f"{MOST_SPLICES} were drawn once with the shares of the classes.",
            "Kernels that count patterns wherever they stand (spectrum, with mismatches, with gaps) and "
            "kernels that compare what stands at the same place (weighted degree), also if it is moved by a "
            "few letters (shift). A letter other than A, C, G and T matches nothing.",
        ),
        notes=(
            NO_FIGURES,
            "Of the 3190 sequences of splice junctions 185 are copies of others: a copy may be in the other "
            "half.",
            "At a splice junction it counts what stands where. Four of the seven kernels do not know the "
            "place, and the plain sum with them is worse than one good kernel; norm 1 leaves them out.",
        ),
    ),
    make_table(
        "location",
        "where a protein is in the cell",
        LOCATIONS,
        compute_sequences,
        data=(
            "Eukaryotic proteins of eleven places in the cell (MultiLoc), of which "
            f"{MOST_PROTEINS} were drawn once with the shares of the classes; kernels that count patterns of "
            f"several lengths, in whole sequences and in their first {N_FIRST} letters, where signals for "
            "the transport of a protein often are.",
        ),
        notes=(
            NO_FIGURES,
            "Proteins that are similar to each other were not removed, and may be in both halves: kernels of "
            "long patterns may gain by it.",
        ),
    ),
)

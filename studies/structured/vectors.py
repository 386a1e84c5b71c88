"""Tables fold, omics and text: several descriptions of the same things, each a table of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np

from multikernel.kernels import Gaussian
from multikernel.views import View
from studies.data import load_data
from studies.structured.protocol import (
    INNER_FOLDS,
    Problem,
    Sample,
    compute_fold,
    load_rows,
    precomputed_sample,
)
from studies.structured.tables import make_table

MOST_TEXTS = 1000
# Of TARA oceans, where a sample is from: these columns say the classes.
PLACES = ("phychem:Mean_Lat.", "phychem:Mean_Long.", "phychem:Mean_Depth")

Array = np.ndarray


@lru_cache(maxsize=1)
def load_linear(name: str, most: int | None = None) -> Sample:
    """Return a set with the inner products of its rows, one kernel for each view.

    Parameters
    ----------
    name : str
    most : int, default=None
        Of more points than that, so many are drawn.

    Returns
    -------
    Sample
    """
    data, kept, y = load_rows(name, most)
    tables = {view: np.asarray(table[kept], dtype=np.float64) for view, table in data.views.items()}
    return precomputed_sample({view: table @ table.T for view, table in tables.items()}, y)


def load_gaussian(name: str, target: str = "y", left_out: tuple[str, ...] = ()) -> Sample:
    """Return a set with a Gaussian kernel of standardised columns for each view, of the median width.

    Classes of so few points that a half cannot be cut into the inner folds are left out.

    Parameters
    ----------
    name : str
    target : str, default="y"
        The array that holds the classes.
    left_out : tuple of str, default=()
        Columns that say the class.

    Returns
    -------
    Sample
    """
    data = load_data(name)
    y = data.arrays[target]
    kept = np.flatnonzero(np.bincount(y)[y] >= 2 * INNER_FOLDS)
    views = [
        View(view, Gaussian("median"), columns, standardize=True)
        for view, columns in _columns(data, left_out)
    ]
    return Sample(data.X.iloc[kept], y[kept], views)


def _columns(data: Any, left_out: Sequence[str]) -> list[tuple[str, list[str]]]:
    """The columns of each view that are not left out, nor the same everywhere."""
    varies = {name: np.asarray(table).std(axis=0) > 0.0 for name, table in data.views.items()}
    return [
        (name, [c for c, kept in zip(columns, varies[name], strict=True) if kept and c not in left_out])
        for name, columns in data.view_columns.items()
    ]


def _linear(name: str, label: str, most: int | None = None) -> Problem:
    return Problem(name, label, partial(load_linear, name, most), (name,))


def _gaussian(key: str, label: str, name: str, target: str = "y", left_out: tuple[str, ...] = ()) -> Problem:
    return Problem(key, label, partial(load_gaussian, name, target, left_out), (name,))


FOLDS = {"fold": _linear("protein_fold_dd", "Fold of a protein, 694 proteins, 27 classes")}
OMICS = {
    "tcga_breast": _gaussian(
        "tcga_breast", "Subtype of a breast tumour, 150 samples, 3 classes", "tcga_breast"
    ),
    "prokaryotic": _linear("prokaryotic", "Phylum of a prokaryote, 551 species, 4 classes"),
    "ocean": _gaussian(
        "ocean", "Ocean of a sample of plankton, 135 samples, 7 classes", "tara_oceans", "y", PLACES
    ),
    "depth": _gaussian(
        "depth", "Depth of a sample of plankton, 135 samples, 3 classes", "tara_oceans", "y_depth", PLACES
    ),
    "genotype": _gaussian("genotype", "Genotype of a mouse, 40 mice, 2 classes", "nutrimouse"),
    "diet": _gaussian("diet", "Diet of a mouse, 40 mice, 5 classes", "nutrimouse", "y_diet"),
}
TEXTS = {
    "3sources": _linear("3sources", "3sources: stories told by three newspapers, 169 stories, 6 topics"),
    "bbc_4view": _linear("bbc_4view", "BBC: four segments of an article, 685 articles, 5 topics"),
    "bbcsport_2view": _linear(
        "bbcsport_2view", "BBC sport: two segments of an article, 544 articles, 5 sports"
    ),
    "newsgroups_ngs": _linear(
        "newsgroups_ngs", "Newsgroups: three ways to count words, 500 messages, 5 groups"
    ),
    "reuters": _linear(
        "reuters_multilingual_1200", "Reuters: the same text in five languages, 1200 texts, 6 topics"
    ),
    "webkb_course": _linear("webkb_course", "WebKB: pages and links to them, 1051 pages, 2 classes"),
    "citeseer": _linear(
        "citeseer_2view", f"CiteSeer: words and citations, {MOST_TEXTS} of 3312 papers, 6 topics", MOST_TEXTS
    ),
    "movies": _linear("movies_2view", "Movies: keywords and actors, 617 movies, 17 genres"),
}
PROBLEMS = FOLDS | OMICS | TEXTS


def compute_vectors(problem: str, repetition: int, fold: int) -> dict[str, Any]:
    """Return how every contender does on one fold of a problem of `PROBLEMS`: see `compute_fold`."""
    return compute_fold(PROBLEMS[problem], repetition, fold)


TABLES = (
    make_table(
        "fold",
        "the fold of a protein from twelve views",
        FOLDS,
        compute_vectors,
        data=(
            "694 proteins of 27 folds (Ding & Dubchak 2001), both parts of the published split together; "
            "twelve views, each the 27 leading principal components of a kernel of Damoulas & Girolami, "
            "whose names the data do not tell; the inner product of a view's rows is its kernel.",
        ),
        notes=(
            "There are no figures by this protocol to compare with: published ones are for the split into "
            "311 training and 383 test proteins, and for the whole kernels, of which here are 27 components.",
        ),
    ),
    make_table(
        "omics",
        "several measurements of the same samples",
        OMICS,
        compute_vectors,
        data=(
            "TCGA breast (messenger RNA, micro-RNA, proteins), TARA oceans (physics and chemistry, "
            "phylogeny, genes), nutrimouse (genes, lipids): a Gaussian kernel of standardised columns for "
            "each view, its width the median distance. Columns without variation and classes of fewer than "
            "six points are left out, and of TARA oceans latitude, longitude and depth, which say the class "
            "(a first run with them had shown it: one view alone had 87 % of the oceans right).",
            "Prokaryotes (gene repertoire, composition of the proteome, text): the columns look like "
            "principal components, so that their scales mean something; the inner product of rows is the "
            "kernel of a view.",
        ),
    ),
    make_table(
        "text",
        "texts in several views",
        TEXTS,
        compute_vectors,
        data=(
            "Eight sets of texts with two to five views. The kernel of a view is the inner product of its "
            "columns as they are distributed, which are counts, or weights made of counts before; the unit "
            "diagonal of the protocol makes it the cosine.",
            f"Of CiteSeer {MOST_TEXTS} papers, drawn once with the shares of the topics; of the citations of "
            "a paper all are seen, also those of papers that were not drawn.",
        ),
    ),
)

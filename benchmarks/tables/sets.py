"""The data sets of the study, the half that each belongs to, and its folds.

Sets are read by `multikernel.datasets.load_dataset`, from the folder that MULTIKERNEL_DATA names.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Any

import numpy as np
from sklearn.datasets import load_diabetes, make_friedman1, make_friedman2, make_friedman3
from sklearn.model_selection import KFold, StratifiedKFold

from multikernel import View
from multikernel.datasets import load_dataset
from multikernel.kernels import (
    Diffusion,
    Gaussian,
    Kernel,
    Linear,
    Network,
    Precomputed,
    repair_psd,
    unit_diagonal,
)

REPEATS, FOLDS = 5, 2
MAX_TRAIN = MAX_TEST = 2000
CLASSIFICATION, REGRESSION, VIEWS, NOISE = "classification", "regression", "views", "noise"
PARTS = (CLASSIFICATION, REGRESSION, VIEWS)
CHOOSING = ("image_segmentation", "spambase", "monks3", "sonar", "wpbc", "german_numeric")
N_WORDS = 1000  # of reuters_r8_top5
N_FRIEDMAN = 500
N_PROTEINS = 1000
MIN_CLASS = 6  # rows of a class: smaller ones are left out, since a half could not be cut into inner folds
# Of TARA oceans, where a sample is from: these columns say the class.
PLACES = ("Mean_Lat.", "Mean_Long.", "Mean_Depth")

Array = np.ndarray


@dataclass(frozen=True)
class DataSet:
    """A set as contestants see it.

    Attributes
    ----------
    name : str
    X : array (n, d), dict of name -> array (n, d_view), or array (n, 1) of positions in precomputed kernels
    y : array (n,)
    views : list of View
        The kernels of a multi-view set; empty for one table.
    groups : dict of name -> list of int
        The kernels of each view.
    standardize : bool
        Whether columns are standardized; those of texts are not.
    """

    name: str
    X: Any
    y: Array
    views: list[View] = field(default_factory=list)
    groups: dict[str, list[int]] = field(default_factory=dict)
    standardize: bool = True

    @property
    def is_precomputed(self) -> bool:
        """Whether there are kernels and no columns."""
        return bool(self.views) and not isinstance(self.X, dict)


@dataclass(frozen=True)
class Entry:
    """A set by name: which part it belongs to, how it is loaded, and how long it takes beside others."""

    name: str
    part: str
    load: Callable[[], DataSet] = field(compare=False)
    note: str = ""

    @property
    def half(self) -> str:
        """Whether the set may be looked at while defaults are designed."""
        return half_of(self.name, self.part)


def half_of(name: str, part: str = CLASSIFICATION) -> str:
    """The half of a set: by the first byte of the sha256 of its name."""
    if part == REGRESSION:
        return "confirming"
    even = hashlib.sha256(name.encode()).digest()[0] % 2 == 0
    return "choosing" if even or name in CHOOSING else "confirming"


# ---------------------------------------------------------------------- one table
def load_table(name: str) -> DataSet:
    """A set of numbers, as it is."""
    data = load_dataset(name)
    assert data.y is not None
    return DataSet(name, np.asarray(data.X, dtype=np.float64), data.y)


def load_letters(name: str) -> DataSet:
    """DNA: a column of 0 and 1 for each letter at each position."""
    data = load_dataset(name)
    assert data.y is not None
    letters = np.array([list(text.upper()) for text in data.arrays["sequences"]])
    columns = [letters == letter for letter in "ACGT"]
    return DataSet(name, np.concatenate(columns, axis=1).astype(np.float64), data.y)


def load_words(name: str) -> DataSet:
    """Texts: log(1 + count) of the words that are in most texts."""
    data = load_dataset(name)
    assert data.y is not None
    n_texts = np.asarray((data.X > 0).sum(axis=0)).ravel()
    kept = np.sort(np.argsort(-n_texts, kind="stable")[:N_WORDS])
    return DataSet(name, np.log1p(data.X[:, kept].toarray().astype(np.float64)), data.y)


TABLES = (
    "sonar", "heart_statlog", "breast_cancer_wisconsin", "ionosphere", "wine", "wdbc", "iris", "monks3",
    "new_thyroid", "ringnorm", "twonorm", "spambase", "waveform", "usps", "olivetti", "pendigits",
    "image_segmentation", "letter", "wpbc", "german_numeric", "yale", "jaffe", "expression_with_gene_symbols",
)  # fmt: skip


# ---------------------------------------------------------------------- regression
def load_values(name: str) -> DataSet:
    """A set with numbers to predict, of the folder, scikit-learn's own, or generated."""
    if name == "diabetes":
        return DataSet(name, *load_diabetes(return_X_y=True))
    makers: dict[str, Callable[..., Any]] = {
        "friedman1": partial(make_friedman1, noise=1.0),
        "friedman2": partial(make_friedman2, noise=125.0),
        "friedman3": partial(make_friedman3, noise=0.1),
    }
    if name in makers:
        return DataSet(name, *makers[name](N_FRIEDMAN, random_state=0))
    data = load_dataset(name)
    assert data.y is not None
    return DataSet(name, np.asarray(data.X, dtype=np.float64), data.y.astype(np.float64))


VALUES = ("boston", "concrete", "mcycle", "diabetes", "friedman1", "friedman2", "friedman3")


# ---------------------------------------------------------------------- several views
def make_views(
    tables: dict[str, Array], kernels: dict[str, Kernel], standardize: bool
) -> tuple[list[View], dict[str, list[int]]]:
    """Each kernel on each table, and the places of the kernels of each table."""
    views = [
        View(f"{table}, {name}", kernel, table=table, standardize=standardize)
        for table in tables
        for name, kernel in kernels.items()
    ]
    places = {table: [k for k, view in enumerate(views) if view.table == table] for table in tables}
    return views, places


def viewed(name: str, tables: dict[str, Array], y: Array, kernels: dict[str, Kernel], scale: bool) -> DataSet:
    """A set of several tables, without columns that are the same everywhere, nor classes of too few rows."""
    kept = np.flatnonzero(np.bincount(y)[y] >= MIN_CLASS)
    found = {
        view: table[kept][:, table[kept].std(axis=0) > 0.0].astype(np.float64)
        for view, table in tables.items()
    }
    return DataSet(name, found, y[kept], *make_views(found, kernels, scale), standardize=scale)


def load_numbers(name: str, linear_only: bool = False) -> DataSet:
    """Views of numbers: a linear and a Gaussian kernel of median width on standardized columns of each.

    The views of protein_fold_dd are coordinates of kernels: a linear kernel of columns as they are.
    """
    data = load_dataset(name)
    assert data.y is not None
    kernels: dict[str, Kernel] = {"linear": Linear()}
    if not linear_only:
        kernels["Gaussian"] = Gaussian("median")
    tables = dict(data.views)
    if name == "tara_oceans":
        names = data.arrays["names_phychem"].tolist()
        tables["phychem"] = tables["phychem"][:, [k for k, n in enumerate(names) if n not in PLACES]]
    return viewed(name, tables, data.y, kernels, not linear_only)


def load_texts(name: str) -> DataSet:
    """Views of words: log(1 + count), rows of length 1, a linear and a Gaussian kernel of median width."""
    data = load_dataset(name)
    assert data.y is not None
    tables = {view: unit_rows(np.log1p(table.astype(np.float64))) for view, table in data.views.items()}
    return viewed(name, tables, data.y, {"linear": Linear(), "Gaussian": Gaussian("median")}, False)


def unit_rows(table: Array) -> Array:
    """Rows of length 1; empty rows stay empty."""
    lengths = np.linalg.norm(table, axis=1, keepdims=True)
    return table / np.where(lengths > 0.0, lengths, 1.0)


def given_kernels(name: str, matrices: dict[str, dict[str, Array]], y: Array) -> DataSet:
    """A set of kernel matrices by view, each of unit variance where it is used."""
    views = [
        View(f"{view}, {kind}", Precomputed(K), normalize="variance")
        for view, kernels in matrices.items()
        for kind, K in kernels.items()
    ]
    names = [view for view, kernels in matrices.items() for _ in kernels]
    groups = {view: [k for k, other in enumerate(names) if other == view] for view in matrices}
    return DataSet(name, np.arange(len(y), dtype=np.float64)[:, None], y, views, groups)


def load_yeast() -> DataSet:
    """Whether a yeast protein is of metabolism, from two networks: diffusion kernels of two times each."""
    string, biogrid = (load_dataset(f"yeast_{name}").arrays for name in ("string", "biogrid"))
    proteins, rows, _ = np.intersect1d(string["protein_ids"], biogrid["protein_ids"], return_indices=True)
    drawn = np.sort(np.random.default_rng(0).permutation(len(proteins))[:N_PROTEINS])
    y = string["Y"][rows[drawn], string["label_names"].tolist().index("01")].astype(np.int64)
    matrices: dict[str, dict[str, Array]] = {}
    for name, table in (("STRING", string), ("BioGRID", biogrid)):
        network = Network(table["protein_ids"][table["edges"]], table["weights"], nodes=table["protein_ids"])
        kernels = {f"diffusion {beta:g}": Diffusion(network, beta=beta) for beta in (1.0, 3.0)}
        matrices[name] = {kind: unit_diagonal(kernel(proteins[drawn])) for kind, kernel in kernels.items()}
    return given_kernels("yeast_networks", matrices, y)


def load_drugs(name: str) -> DataSet:
    """Whether a drug binds the target that most drugs bind, from the nine kernels of drugs."""
    data = load_dataset(name.removesuffix("_drugs"))
    bindings = data.arrays["Y"]
    y = bindings[:, int(bindings.sum(axis=0).argmax())].astype(np.int64)
    matrices = {}
    for key, K in data.kernels.items():
        if key.startswith("drug_"):
            K = K.astype(np.float64)
            matrices[key.removeprefix("drug_")] = {"given": unit_diagonal(repair_psd((K + K.T) / 2.0))}
    return given_kernels(name, matrices, y)


NUMBERS = ("mfeat", "100leaves", "prokaryotic", "tcga_breast", "nutrimouse", "tara_oceans", "scene15")
TEXTS = (
    "3sources", "bbc_4view", "bbcsport_2view", "newsgroups_ngs", "webkb_course", "citeseer_2view",
    "movies_2view", "reuters_multilingual_1200",
)  # fmt: skip


# ---------------------------------------------------------------------- all of them
def _entries() -> Iterator[Entry]:
    for name in TABLES:
        yield Entry(name, CLASSIFICATION, partial(load_table, name))
    for name in ("promoters", "splice"):
        yield Entry(name, CLASSIFICATION, partial(load_letters, name), "one-hot letters")
    yield Entry("reuters_r8_top5", CLASSIFICATION, partial(load_words, "reuters_r8_top5"), "words")
    for name in VALUES:
        yield Entry(name, REGRESSION, partial(load_values, name))
    for name in NUMBERS:
        yield Entry(name, VIEWS, partial(load_numbers, name), "numbers")
    for name in TEXTS:
        yield Entry(name, VIEWS, partial(load_texts, name), "words")
    yield Entry("protein_fold_dd", VIEWS, partial(load_numbers, "protein_fold_dd", True), "linear kernels")
    yield Entry("yeast_networks", VIEWS, load_yeast, "precomputed kernels")
    for name in ("dti_ic_drugs", "dti_gpcr_drugs"):
        yield Entry(name, VIEWS, partial(load_drugs, name), "precomputed kernels")


ENTRIES = {entry.name: entry for entry in _entries()}


@lru_cache(maxsize=2)
def load(name: str) -> DataSet:
    """A set by name; the last two are kept."""
    return ENTRIES[name].load()


# ---------------------------------------------------------------------- folds
@dataclass(frozen=True)
class Fold:
    """Training and test rows of one fold of one repetition."""

    train: Array
    test: Array
    seed: int  # of models


def make_fold(data: DataSet, repetition: int, fold: int, regression: bool) -> Fold:
    """The rows of a fold, no more than the protocol allows."""
    kind = KFold if regression else StratifiedKFold
    splits = kind(FOLDS, shuffle=True, random_state=repetition).split(np.zeros(len(data.y)), data.y)
    train, test = list(splits)[fold]
    digest = hashlib.sha256(f"{data.name}/{repetition}/{fold}".encode()).digest()
    rng = np.random.default_rng(list(digest[:8]))
    return Fold(_at_most(train, MAX_TRAIN, rng), _at_most(test, MAX_TEST, rng), FOLDS * repetition + fold)


def _at_most(rows: Array, most: int, rng: np.random.Generator) -> Array:
    return rows if len(rows) <= most else np.sort(rng.permutation(rows)[:most])


def take(X: Any, rows: Array) -> Any:
    """Rows of a table, or of each of several."""
    return {name: table[rows] for name, table in X.items()} if isinstance(X, dict) else X[rows]

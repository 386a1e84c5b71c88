"""Words and latent concepts of Reuters' news, in the spirit of figure 1: each alone, their sum, and learned.

words      x·z of the documents' tf-idf vectors, scaled to length 1
concepts   the same after a projection on the leading singular vectors of the tf-idf table
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics import roc_auc_score

from multikernel.datasets import load_dataset
from multikernel.kernels import Linear, unit_diagonal
from studies.compare import compare, comparison_row
from studies.lanckriet2004.machine import Task, fit_model
from studies.study import Quantity, Result, Summary, Table, Unit

DATASET = "reuters_r8_top5"
SPLITS = 10
LABELLED = (25, 50, 100, 200, 400)
N_TEST = 200
N_CONCEPTS = 50
_SEED = 21578
METHODS = {
    "words": "words alone",
    "concepts": "concepts alone",
    "sum": "plain sum",
    "nonnegative": "learned, nonneg.",
    "free": "learned, free sign",
}
_ACCURACY, _AREA, _SHARE = "Accuracy among the five categories", "Area under the ROC curve", "Learned weights"


def compute_split(split: int, labelled: int) -> dict[str, Any]:
    """Return how well each method tells the categories of the test documents.

    Parameters
    ----------
    split : int
    labelled : int
        How many documents have a label, the same number of each category.

    Returns
    -------
    dict
        ``accuracy`` (percent, the category with the largest score), ``auc`` (mean of one against the rest)
        by method, and ``weights``, the mean weights of words and concepts that the learned ones give.
    """
    words, concepts, categories = _kernels(split, labelled)
    total = float(np.trace(words) + np.trace(concepts))
    banks = {"words": [words], "concepts": [concepts], "sum": [words + concepts]}
    banks |= {"nonnegative": [words, concepts], "free": [words, concepts]}
    found: dict[str, Any] = {"accuracy": {}, "auc": {}, "weights": {}}
    truth = categories[labelled:]
    for method, Ks in banks.items():
        weights = "free" if method == "free" else "nonnegative"
        model = fit_model(Task(Ks, categories, labelled, total), "SM1", weights)
        areas = [
            roc_auc_score(truth == name, scores)
            for name, scores in zip(model.classes_, model.transduction_scores_.T, strict=True)
        ]
        found["accuracy"][method] = 100.0 * float(np.mean(model.transduction_ == truth))
        found["auc"][method] = float(np.mean(areas))
        if len(Ks) > 1:
            found["weights"][method] = model.kernel_weights_.tolist()
    return found


def _kernels(split: int, labelled: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Both kernels over the labelled and the test documents of a split, and the categories of these.

    Idf and concepts come from all documents of the split, whose labels they do not need; the documents of a
    smaller labelled set are among those of a larger one, and the test documents are always the same.
    """
    data = load_dataset(DATASET)
    assert data.y is not None
    chosen = _draw(data.y, split)
    counts = scipy.sparse.csr_matrix(data.X[chosen], dtype=np.float64)
    tfidf = TfidfTransformer(sublinear_tf=True).fit_transform(counts)
    concepts = TruncatedSVD(N_CONCEPTS, algorithm="arpack", random_state=0).fit_transform(tfidf)
    used = np.r_[np.arange(labelled), np.arange(len(chosen) - N_TEST, len(chosen))]
    Ks = [unit_diagonal(Linear()(table[used])) for table in (tfidf, concepts)]
    return Ks[0], Ks[1], data.y[chosen[used]]


def _draw(categories: np.ndarray, split: int) -> np.ndarray:
    """The documents of a split, the categories taking turns, so that every beginning is balanced."""
    rng = np.random.default_rng([_SEED, split])
    names = np.unique(categories)
    each = (max(LABELLED) + N_TEST) // len(names)
    turns = [rng.permutation(np.flatnonzero(categories == name))[:each] for name in names]
    return np.stack(turns, axis=1).ravel()


def _units(splits: int) -> list[Unit]:
    return [
        Unit(
            f"split={split:02d}/labelled={labelled:03d}",
            compute_split,
            {"split": split, "labelled": labelled},
            (DATASET,),
        )
        for split in range(splits)
        for labelled in LABELLED
    ]


def _rows(results: Sequence[tuple[Unit, Result]]) -> list[dict[str, Any]]:
    groups = {
        labelled: [result for unit, result in results if unit.arguments["labelled"] == labelled]
        for labelled in LABELLED
    }
    rows = []
    for section, key in ((_ACCURACY, "accuracy"), (_AREA, "auc")):
        scale = 1.0 if key == "accuracy" else 100.0
        for labelled, group in groups.items():
            values = {
                method: compare([scale * result[key][method] for result in group]) for method in METHODS
            }
            gains = [scale * _gain(result[key]) for result in group]
            labels = {"labelled documents": str(labelled)}
            rows.append(comparison_row(section, labels, values | {"gain": compare(gains)}))
    for labelled, group in groups.items():
        weights = {
            f"weights_{method}": compare([result["weights"][method] for result in group])
            for method in ("nonnegative", "free")
        }
        rows.append(comparison_row(_SHARE, {"labelled documents": str(labelled)}, weights))
    return rows


def _gain(by_method: dict[str, float]) -> float:
    return by_method["nonnegative"] - max(by_method["words"], by_method["concepts"])


def draw_figure(summary: Summary, path: Path) -> None:
    """Draw both measures against the number of labelled documents.

    Parameters
    ----------
    summary : dict
    path : Path
        Of the PNG file.
    """
    # Imported here: it takes long, and the workers, who import this module too, draw nothing.
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.0, 3.8), layout="constrained")
    for axes, section in zip(figure.subplots(1, 2), (_ACCURACY, _AREA), strict=True):
        rows = [row for row in summary["rows"] if row["section"] == section]
        labelled = [int(row["labels"]["labelled documents"]) for row in rows]
        for method, label in METHODS.items():
            values = [row["values"][method] for row in rows]
            errors = [value["se"] or 0.0 for value in values]
            axes.errorbar(labelled, [value["mean"] for value in values], errors, label=label, capsize=2)
        axes.set(xscale="log", xlabel="labelled documents", ylabel="%", title=section)
        axes.set_xticks(labelled, [str(number) for number in labelled])
        axes.minorticks_off()
    axes.legend()
    figure.savefig(path, dpi=110)


TABLE = Table(
    name="reuters",
    title="Lanckriet et al. (2004), in the spirit of figure 1: words and concepts of Reuters' news",
    version=1,
    splits=SPLITS,
    units=_units,
    rows=_rows,
    quantities=(
        *(Quantity(method, label, 1, difference=False) for method, label in METHODS.items()),
        Quantity("gain", "learned (nonneg.) minus better kernel", 1, difference=False),
        Quantity("weights_nonnegative", "words / concepts, nonneg.", 2, difference=False),
        Quantity("weights_free", "words / concepts, free sign", 2, difference=False),
    ),
    protocol=(
        f"The five largest single-topic categories of Reuters-21578 (R8). For each of the random splits 120 "
        f"documents of each category: {N_TEST} test documents and up to {max(LABELLED)} labelled ones, both "
        "balanced. A sample of 600 of the 7208 documents, so that the experiment takes minutes.",
        f"Words: cosine of tf-idf vectors; concepts: cosine after projection on {N_CONCEPTS} leading "
        "singular vectors of the split's tf-idf table (latent semantic kernel; no label is used). The "
        "number of concepts was fixed beforehand.",
        "SM1 with C = 1, each category against the rest, transductive over labelled and test documents, "
        "trace 2n for every method. Accuracy: the category with the largest score. ROC area in percent, "
        "mean of the five categories.",
    ),
    notes=(
        "The publication's documents, categories and concept kernel are not at hand: the shape of the "
        "comparison can be judged, figures cannot be compared.",
        "The gain is against the better of the two kernels on each split's own test documents, which nobody "
        "could choose beforehand; its s.e. is that of the difference on the same splits.",
    ),
    figure=draw_figure,
)

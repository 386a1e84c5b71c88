"""Table 2: functions of yeast proteins from single kernels, from the SDP and from nonstationary combination.

The publication's kernels are not at hand. A user who has them gives them as a file (`FILE`); without it three
diffusion kernels on two interaction networks stand in, under the same protocol.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import KFold

from multikernel.mkl.classifier import MKLClassifier
from multikernel.nonstationary.classifier import NonstationaryClassifier
from studies.compare import compare, comparison_row, convergence_remark, group_results
from studies.data import load_data, user_file
from studies.fitting import convergence_reported
from studies.lewis2006.published import (
    AREA,
    AREA_COLUMNS,
    C_YEAST,
    FOLDS,
    N_CLASSES,
    N_GENES,
    REPEATS,
    SPLITS,
    TABLE_2_CELLS,
)
from studies.study import DataFile, Quantity, Result, Table, Unit
from studies.yeast import CLASSES, NETWORKS, kernels_and_labels

FILE = DataFile(
    "yeast_lewis2006",
    "The three kernels of the publication over the yeast genes and their functional classes, from "
    "noble.gs.washington.edu/proj/yeast (Lanckriet et al. 2004, Pacific Symposium on Biocomputing).",
    {
        "K_expression": "(n, n), kernel of gene expression",
        "K_domain": "(n, n), kernel of the content of protein domains",
        "K_sequence": "(n, n), kernel of sequence similarity",
        "Y": f"(n, {N_CLASSES}), 1 where a gene has a class and 0 elsewhere, in the order of the "
        "publication's classes 1 to 12; kernels and Y have the genes in the same order",
    },
)
KERNELS = ("expression", "domain", "sequence")
# What stands in: places of the kernels of studies.yeast, fixed beforehand.
STAND_IN_KERNELS = {"expression": ("STRING, beta = 1", 0), "domain": ("BioGRID, beta = 1", 2)} | {
    "sequence": ("BioGRID, beta = 3", 3)
}
STAND_IN_CLASSES = tuple(label for label in CLASSES if label != "16")  # "binding" is no class of 2004
STAND_IN = (
    "Diffusion kernels "
    + ", ".join(f"{name} (for {kernel})" for kernel, (name, _) in STAND_IN_KERNELS.items())
    + " on 2310 proteins of the STRING and BioGRID networks, and 12 classes of a later edition of the "
    "catalogue, stand in for the kernels and classes of the publication, which are not at hand: the classes "
    "of one row are not the same, and no area can be compared."
)
METHODS = {**{key: f"SVM, {key}" for key in KERNELS}, "mkl": "SDP (l1 MKL)", "qp": "NSKC"}
_SEED = 2006


def compute_area(number: int, split: int, method: str) -> dict[str, Any]:
    """Return the ROC area of one method for one functional class on one fold of one sample of genes.

    Parameters
    ----------
    number : int
        Of the class, from 1.
    split : int
        3 × repetition + fold.
    method : str
        A key of `METHODS`.

    Returns
    -------
    dict
        ``area`` (None where the test genes are of one class), ``status``, and where weights are learned
        ``weights``.
    """
    Ks, Y = load_kernels()
    y = np.where(Y[:, number - 1] > 0, 1, -1)
    training, test = draw_genes(len(y), split)
    stack = np.stack(Ks if method in ("mkl", "qp") else [Ks[KERNELS.index(method)]], axis=2)
    if method == "qp":
        model: Any = NonstationaryClassifier("precomputed", C=C_YEAST)
    else:
        model = MKLClassifier("precomputed", C=C_YEAST)
    with convergence_reported():
        model.fit(stack[np.ix_(training, training)], y[training])
    found: dict[str, Any] = {"area": None, "status": str(model.status_)}
    if abs(y[test].sum()) < test.size:
        found["area"] = float(roc_auc_score(y[test], model.decision_function(stack[np.ix_(test, training)])))
    if method in ("mkl", "qp"):
        found["weights"] = (model.kernel_weights_ / model.kernel_weights_.sum()).tolist()
    return found


def draw_genes(n: int, split: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the training and test genes: one random fold of a random sample, drawn anew by repetition."""
    repeat, fold = divmod(split, FOLDS)
    genes = np.random.default_rng([_SEED, repeat]).permutation(n)[:N_GENES]
    training, test = list(KFold(FOLDS).split(genes))[fold]  # the sample is in random order
    return genes[training], genes[test]


@lru_cache(maxsize=1)
def load_kernels() -> tuple[list[np.ndarray], np.ndarray]:
    """Return the three kernels, of unit diagonal, and the classes (n, 12): of the user, or what stands in."""
    if user_file(FILE.name) is None:
        Ks, labels = kernels_and_labels()
        chosen = [Ks[place] for _, place in STAND_IN_KERNELS.values()]
        return chosen, np.column_stack([labels[label] for label in STAND_IN_CLASSES])
    arrays = load_data(FILE.name).arrays
    missing = [name for name in FILE.arrays if name not in arrays]
    if missing:
        raise ValueError(f"{FILE.name}.npz must have the arrays {list(FILE.arrays)}; it lacks {missing}.")
    Y = np.asarray(arrays["Y"])
    kernels = [np.asarray(arrays[f"K_{key}"], dtype=np.float64) for key in KERNELS]
    for key, K in zip(KERNELS, kernels, strict=True):
        if K.shape != (len(Y), len(Y)) or Y.shape[1:] != (N_CLASSES,):
            raise ValueError(
                f"{FILE.name}.npz: K_{key} must be (n, n) and Y (n, {N_CLASSES}); got {K.shape} and "
                f"{Y.shape}."
            )
        if not (np.diagonal(K) > 0.0).all():
            raise ValueError(f"{FILE.name}.npz: K_{key} must have a positive diagonal.")
    scales = [1.0 / np.sqrt(np.diagonal(K)) for K in kernels]
    return [K * s[:, None] * s for K, s in zip(kernels, scales, strict=True)], Y


def _datasets() -> tuple[str, ...]:
    return NETWORKS if user_file(FILE.name) is None else (FILE.name,)


def _units(splits: int) -> list[Unit]:
    datasets = _datasets()
    return [
        Unit(
            f"class={number:02d}/split={split:02d}/{method}",
            compute_area,
            {"number": number, "split": split, "method": method},
            datasets,
        )
        for number in range(1, N_CLASSES + 1)
        for split in range(splits)
        for method in METHODS
    ]


def _rows(results: Sequence[tuple[Unit, Result]]) -> list[dict[str, Any]]:
    stands_in = any(unit.datasets == NETWORKS for unit, _ in results)
    groups = group_results(results, lambda given: (given["number"], given["method"]))
    numbers = list(dict.fromkeys(number for number, _ in groups))
    return [_row(number, {m: groups[number, m] for m in METHODS}, stands_in) for number in numbers]


def _row(number: int, groups: dict[str, Sequence[Result]], stands_in: bool) -> dict[str, Any]:
    values = {}
    for method, group in groups.items():
        areas = [result["area"] for result in group if result["area"] is not None]
        values[method] = compare(areas, AREA[number][method], SPLITS)
    for method in ("mkl", "qp"):
        values[f"weights_{method}"] = compare([result["weights"] for result in groups[method]])
    every = [result for group in groups.values() for result in group]
    remarks = [convergence_remark(every, "fits")] if convergence_remark(every) else []
    if empty := sum(result["area"] is None for result in groups["qp"]):
        remarks.append(f"{empty} test folds without a gene of the class")
    label = f"{number}" + (f" ({CLASSES[STAND_IN_CLASSES[number - 1]]})" if stands_in else "")
    stand_in = STAND_IN if stands_in else ""
    section = "Area under the ROC curve"
    return comparison_row(section, {"class": label}, values, "; ".join(remarks), stand_in=stand_in)


TABLE = Table(
    name="2",
    title="Lewis et al. (2006), table 2: functions of yeast proteins",
    version=2,
    splits=SPLITS,
    units=_units,
    rows=_rows,
    quantities=(
        *(Quantity(key, column, 3) for key, column in AREA_COLUMNS.items()),
        Quantity("weights_mkl", "weights of the SDP", 2, difference=False),
        Quantity("weights_qp", "weights of NSKC", 2, difference=False),
    ),
    protocol=(
        f"A random sample of {N_GENES} genes, {FOLDS}-fold cross-validation on it, all of it {REPEATS} "
        f"times; each of {N_CLASSES} classes against the rest; three kernels, of unit diagonal; c = "
        f"{C_YEAST:g} for all methods; nonstationary combination with one component for each kernel and "
        "class, from uniform posteriors, γ = 1 + ln 3 (the publication gives neither).",
        "A split of the command is one fold. ± of the publication is the order of magnitude in its caption.",
    ),
    notes=(
        "`python -m studies lewis2006 --table 2 --data DIR` computes the table from the publication's own "
        f"kernels, as DIR/{FILE.name}.npz; `--data help` has the format. Give `--out` and `--results` "
        "folders of your own, so that the pages here stay.",
        "Weights are means over the folds; those of nonstationary combination over genes and mixtures too.",
    ),
    cells=TABLE_2_CELLS,
)

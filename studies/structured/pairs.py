"""Table pairs: whether a drug binds a target, for new pairs, new drugs and new targets."""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Any

import numpy as np

from multikernel.kernels import Kronecker, Precomputed, repair_psd, unit_diagonal
from multikernel.pairs.sampling import PairSplit, sample_pairs
from studies.data import load_data
from studies.structured.protocol import (
    SEED,
    Folds,
    Problem,
    Sample,
    Split,
    compute_fold,
    each_kernel,
    sample_rows,
    stratified_folds,
)
from studies.structured.tables import make_table

MOST_PAIRS = 600
NEGATIVES = 3.0
SETS = {"dti_nr": "Nuclear receptors", "dti_gpcr": "G protein-coupled receptors", "dti_ic": "Ion channels"}

Array = np.ndarray


def new_objects(side: str, X: Array, y: Array, n_folds: int, seed: int) -> list[Split]:
    """Return folds whose test pairs have an object of one side that no training pair has.

    Parameters
    ----------
    side : {"left", "right"}
    X : ndarray of shape (n, 2)
        Positions of the two objects of each pair.
    y : ndarray of shape (n,)
    n_folds, seed : int

    Returns
    -------
    list of (ndarray, ndarray)
    """
    return list(PairSplit(n_folds, hold_out=side, random_state=seed).split(X))


SETTINGS: dict[str, tuple[str, Folds]] = {
    "pairs": ("new pairs", stratified_folds),
    "drugs": ("new drugs", partial(new_objects, "left")),
    "targets": ("new targets", partial(new_objects, "right")),
}


@lru_cache(maxsize=1)
def load_pairs(name: str) -> Sample:
    """Return pairs of a drug and a target, with one kernel for each kernel of drugs and of targets.

    Parameters
    ----------
    name : str

    Returns
    -------
    Sample
        A kernel of drugs is multiplied by the mean of the kernels of targets, and the other way round.
    """
    data = load_data(name)
    pairs, labels = sample_pairs(data.arrays["Y"], NEGATIVES, random_state=SEED)
    kept = sample_rows(labels, MOST_PAIRS)
    sides = {side: _object_kernels(data.kernels, side) for side in ("drug", "target")}
    drugs, targets = (Precomputed(np.mean(list(kernels.values()), axis=0)) for kernels in sides.values())
    kernels = {f"drug {key}": Kronecker(Precomputed(K), targets) for key, K in sides["drug"].items()}
    kernels |= {f"target {key}": Kronecker(drugs, Precomputed(K)) for key, K in sides["target"].items()}
    return Sample(pairs[kept].astype(np.float64), labels[kept], each_kernel(kernels))


def _object_kernels(kernels: dict[str, Array], side: str) -> dict[str, Array]:
    """The kernels of one side, made symmetric and positive semidefinite, of unit diagonal."""
    found = {
        name.removeprefix(f"{side}_"): K.astype(np.float64)
        for name, K in kernels.items()
        if name.startswith(side)
    }
    return {name: unit_diagonal(repair_psd((K + K.T) / 2.0)) for name, K in found.items()}


PROBLEMS = {
    f"{name}_{setting}": Problem(
        f"{name}_{setting}",
        f"{label}, {what}",
        partial(load_pairs, name),
        (name,),
        ("roc_auc", "average_precision"),
        halve=folds,
        cut=folds,
    )
    for name, label in SETS.items()
    for setting, (what, folds) in SETTINGS.items()
}


def compute_pairs(problem: str, repetition: int, fold: int) -> dict[str, Any]:
    """Return how every contender does on one fold of a problem of `PROBLEMS`: see `compute_fold`."""
    return compute_fold(PROBLEMS[problem], repetition, fold)


TABLE = make_table(
    "pairs",
    "whether a drug binds a target",
    PROBLEMS,
    compute_pairs,
    data=(
        "Interactions of drugs with nuclear receptors, G protein-coupled receptors and ion channels "
        "(Yamanishi et al. 2008), with nine kernels of drugs and nine of targets (Nascimento et al. 2016), "
        "each made symmetric, its negative eigenvalues dropped, and scaled to a unit diagonal.",
        "Points are pairs of a drug and a target: all that interact and three others for each, drawn at "
        f"random; of more than {MOST_PAIRS} so many, drawn once. A quarter of the pairs interact, which is "
        "the average precision of guessing. Pairs that are not known to interact count as negative.",
        "The kernel of a pair is a product. That of a row *drug* is the kernel of drugs times the mean of "
        "all kernels of targets, and that of a row *target* the kernel of targets times the mean of all "
        "kernels of drugs: so a single kernel is single on one side only, and the plain sum is twice the "
        "product of both means, up to scales. The kernels *lambda* and *spectrum* of drugs are the same as "
        "distributed.",
        "New pairs: halves of the pairs. New drugs: all pairs of a drug are in one half, also within the "
        "training half; new targets likewise. C and the best single kernel are chosen by the ROC area.",
    ),
    notes=(
        "p is of the ROC area.",
        "There are no figures by this protocol to compare with: publications score all pairs of the matrix, "
        "of which far fewer than a quarter interact, so that their average precision is another quantity.",
    ),
)

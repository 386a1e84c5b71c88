"""Table yeast: functions of yeast proteins from two networks, with what the networks cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from operator import itemgetter
from typing import Any

import numpy as np

from multikernel.kernels import Diffusion, Network, RandomWalk, RegularizedLaplacian
from multikernel.kernels.networks import NetworkKernel
from studies.compare import compare, comparison_row, group_results
from studies.structured.protocol import (
    COSTS,
    LEARNED,
    LEARNED_2,
    SEED,
    SINGLE,
    SUM,
    Problem,
    Sample,
    compute_fold,
    plain_folds,
    precomputed_sample,
)
from studies.structured.tables import (
    METHODS,
    NO_FIGURES,
    RIVALS,
    Rows,
    make_table,
    paired_p,
    scores_of,
)
from studies.study import Quantity, Result, Unit
from studies.yeast import CLASSES, NETWORKS, load_networks

N_PROTEINS = 1000
LABELS = {"yeast_string": "STRING", "yeast_biogrid": "BioGRID"}
KINDS: dict[str, Callable[[Network], NetworkKernel]] = {
    "diffusion 1": partial(Diffusion, beta=1.0),
    "diffusion 3": partial(Diffusion, beta=3.0),
    "Laplacian 1": partial(RegularizedLaplacian, alpha=1.0),
    "walk 0.1": partial(RandomWalk, restart=0.1),
}
KERNELS = [f"{LABELS[name]}, {kind}" for name in NETWORKS for kind in KINDS]
_AREA, _TESTS = "ROC area, %", "Learned against plain sum and best single, ROC area"
_WEIGHTS, _COST = "Learned weights, norm 1", "What a prediction costs, %"
_LEARNED = (LEARNED, LEARNED_2, COSTS)
_PRICED = (SUM, LEARNED, LEARNED_2, COSTS)

Array = np.ndarray
Areas = Mapping[str, Array]


@lru_cache(maxsize=1)
def kernels_of_sample() -> tuple[dict[str, Array], Array, dict[str, Array]]:
    """Return the kernels over the proteins that were drawn, their costs, and the labels of each class.

    Returns
    -------
    kernels : dict of str to ndarray of shape (n, n)
    costs : ndarray of shape (n_kernels,)
        The edges of a kernel's network, relative to the network of fewer edges.
    labels : dict of str to ndarray of shape (n,)
    """
    networks, common, labels = load_networks()
    drawn = np.sort(np.random.default_rng(SEED).permutation(len(common))[:N_PROTEINS])
    proteins = common[drawn]
    matrices = [make(network)(proteins) for network in networks for make in KINDS.values()]
    costs = np.repeat([float(len(network.pairs)) for network in networks], len(KINDS))
    kernels = dict(zip(KERNELS, matrices, strict=True))
    return kernels, costs / costs.min(), {key: y[drawn].astype(int) for key, y in labels.items()}


def load_class(key: str) -> Sample:
    """Return the proteins that were drawn, and which of them have a function."""
    kernels, costs, labels = kernels_of_sample()
    return precomputed_sample(kernels, labels[key], costs)


PROBLEMS = {
    key: Problem(key, f"{key} {name}", partial(load_class, key), NETWORKS, ("roc_auc",), plain_folds)
    for key, name in CLASSES.items()
}


def compute_yeast(problem: str, repetition: int, fold: int) -> dict[str, Any]:
    """Return how every contender does on one fold of a class of `PROBLEMS`: see `compute_fold`."""
    return compute_fold(PROBLEMS[problem], repetition, fold)


def _rows(results: Sequence[tuple[Unit, Result]]) -> Rows:
    groups = group_results(results, itemgetter("problem"))
    areas = {PROBLEMS[key].label: scores_of(group, "roc_auc") for key, group in groups.items()}
    first = next(iter(areas.values()))
    mean = {key: np.mean([scores[key] for scores in areas.values()], axis=0) for key in first}
    rows = []
    for label, scores in (areas | {"mean of the classes": mean}).items():
        rows.append(_row(_AREA, label, {f"area_{key}": scores[key] for key in scores}))
    for label, scores in (areas | {"mean of the classes": mean}).items():
        rows.append(comparison_row(_TESTS, {"class": label}, _test_values(scores)))
    for key, group in groups.items():
        weights = {"weights": [result["weights"][LEARNED] for result in group]}
        rows.append(_row(_WEIGHTS, PROBLEMS[key].label, weights))
    for key, group in groups.items():
        costs = {f"cost_{m}": [100.0 * result["cost"][m] for result in group] for m in _PRICED}
        rows.append(_row(_COST, PROBLEMS[key].label, costs))
    return rows


def _row(section: str, label: str, values: Mapping[str, Any]) -> dict[str, Any]:
    compared = {key: compare(np.asarray(value).tolist()) for key, value in values.items()}
    return comparison_row(section, {"class": label}, compared)


def _test_values(scores: Areas) -> dict[str, Any]:
    values = {}
    for method in _LEARNED:
        for rival in RIVALS:
            p = paired_p(scores[method], scores[rival])
            values[f"gain_{method}_{rival}"] = compare((scores[method] - scores[rival]).tolist())
            values[f"p_{method}_{rival}"] = compare([] if p is None else [p])
    return values


def _quantities() -> tuple[Quantity, ...]:
    singles = {f"{SINGLE}:{name}": name for name in KERNELS}
    pairs = [(method, rival) for method in _LEARNED for rival in RIVALS]
    columns = {f"area_{key}": (label, 1) for key, label in (singles | METHODS).items()}
    for method, rival in pairs:
        columns[f"gain_{method}_{rival}"] = (f"{METHODS[method]}, minus {RIVALS[rival]}", 1)
        columns[f"p_{method}_{rival}"] = ("p", 3)
    columns["weights"] = (" / ".join(KERNELS), 2)
    columns |= {f"cost_{method}": (METHODS[method], 1) for method in _PRICED}
    return tuple(Quantity(key, label, digits, difference=False) for key, (label, digits) in columns.items())


_TABLE = make_table(
    "yeast",
    "functions of yeast proteins from two networks",
    PROBLEMS,
    compute_yeast,
    data=(
        f"{N_PROTEINS} proteins, drawn once from the 2310 that both the STRING and the BioGRID network of "
        "yeast have; the 13 largest top-level classes of the functional catalogue among those 2310, each "
        "against the rest. The halves are the same for all classes.",
        "For each network, whole as it is: diffusion kernels exp(−βL) of the normalised Laplacian with β = 1 "
        "and 3, the regularised Laplacian kernel (I + L)⁻¹ and a random walk that returns with probability "
        "0.1, all fixed beforehand. A network knows the nodes that test, but none of their labels.",
        "With costs: a value of a kernel costs as much as its network has edges, relative to STRING, and the "
        "weights η of norm 1 obey Σ d²η = 1 with the costs d. Of every method the cost of predicting a "
        "protein is measured at these costs: support vectors times the share in Σ d of the kernels with more "
        "than 1% of the weight, in percent of the training points.",
    ),
    notes=(
        NO_FIGURES,
        "Thirteen classes are tested one by one, without a correction: a single small p says little. The "
        "mean of the classes is one test.",
    ),
)
# A row has all methods of a class, so that the classes stand below one another.
TABLE = replace(_TABLE, rows=_rows, quantities=_quantities())

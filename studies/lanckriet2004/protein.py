"""Functions of yeast proteins from two interaction networks: diffusion kernels alone, summed, and learned.

K = exp(−beta L), L the normalised Laplacian of a network, for two networks and two values of beta
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

from studies.compare import compare, comparison_row
from studies.lanckriet2004.machine import Task, fit_model
from studies.splits import draw_order
from studies.study import Quantity, Result, Table, Unit
from studies.yeast import CLASSES, NETWORKS, SINGLE, kernels_and_labels

SPLITS = 10
N_PROTEINS = 600
TRAIN_SHARE = 0.8
_SEED = 4096
_LEARNED = {"sm1": ("SM1", "learned, SM1"), "sm2": ("SM2", "learned, SM2")}
_AREA, _WEIGHTS = "Area under the ROC curve, %", "Learned weights, STRING (1, 3) and BioGRID (1, 3)"


def compute_class(label: str, split: int) -> dict[str, Any]:
    """Return the ROC area of each method for one functional class on one split.

    Parameters
    ----------
    label : str
        A key of `CLASSES`.
    split : int

    Returns
    -------
    dict
        ``auc`` by method, and ``weights`` by learned method.
    """
    Ks, labels = kernels_and_labels()
    y = np.where(labels[label] > 0, 1, -1)
    n_train = round(TRAIN_SHARE * N_PROTEINS)
    order = draw_order(y, n_train, np.random.default_rng([_SEED, split]), N_PROTEINS)
    bank = [np.ascontiguousarray(K[np.ix_(order, order)]) for K in Ks]
    total = sum(float(np.trace(K)) for K in bank)
    found: dict[str, Any] = {"auc": {}, "weights": {}}
    banks = {key: [K] for key, K in zip(SINGLE, bank, strict=True)} | {"sum": [np.sum(bank, axis=0)]}
    machines = {key: (kernels, "SM1") for key, kernels in banks.items()}
    machines |= {key: (bank, criterion) for key, (criterion, _) in _LEARNED.items()}
    for key, (kernels, criterion) in machines.items():
        model = fit_model(Task(kernels, y[order], n_train, total), criterion, "nonnegative")
        found["auc"][key] = float(roc_auc_score(y[order][n_train:], model.transduction_scores_))
        if key in _LEARNED:
            found["weights"][key] = np.asarray(model.kernel_weights_, dtype=np.float64).tolist()
    return found


def _units(splits: int) -> list[Unit]:
    return [
        Unit(f"class={label}/split={split:02d}", compute_class, {"label": label, "split": split}, NETWORKS)
        for label in CLASSES
        for split in range(splits)
    ]


def _rows(results: Sequence[tuple[Unit, Result]]) -> list[dict[str, Any]]:
    by_class = {
        label: [result for unit, result in results if unit.arguments["label"] == label] for label in CLASSES
    }
    areas, weights = [], []
    for label, group in by_class.items():
        labels = {"class": f"{label} {CLASSES[label]}"}
        areas.append(comparison_row(_AREA, labels, _area_values([result["auc"] for result in group])))
        values = {f"weights_{key}": compare([result["weights"][key] for result in group]) for key in _LEARNED}
        weights.append(comparison_row(_WEIGHTS, labels, values))
    means = [
        {key: float(np.mean([result["auc"][key] for result in at_split])) for key in at_split[0]["auc"]}
        for at_split in zip(*by_class.values(), strict=True)
    ]
    mean_row = comparison_row(_AREA, {"class": "mean of the classes"}, _area_values(means))
    return [*areas, mean_row, *weights]


def _area_values(areas: Sequence[dict[str, float]]) -> dict[str, dict[str, Any]]:
    values = {key: compare([100.0 * area[key] for area in areas]) for key in areas[0]}
    gains = [100.0 * (area["sm1"] - area["sum"]) for area in areas]
    return values | {"gain": compare(gains)}


TABLE = Table(
    name="protein",
    title="Lanckriet et al. (2004), in its spirit: functions of yeast proteins from two networks",
    version=1,
    splits=SPLITS,
    units=_units,
    rows=_rows,
    quantities=(
        *(Quantity(key, label, 1, difference=False) for key, label in SINGLE.items()),
        Quantity("sum", "plain sum", 1, difference=False),
        *(Quantity(key, label, 1, difference=False) for key, (_, label) in _LEARNED.items()),
        Quantity("gain", "learned, SM1, minus sum", 1, difference=False),
        *(Quantity(f"weights_{key}", label, 2, difference=False) for key, (_, label) in _LEARNED.items()),
    ),
    protocol=(
        "Proteins that both the STRING and the BioGRID network of yeast have (2310), with edges among them; "
        "the 13 largest top-level classes of the functional catalogue, each against the rest.",
        "Diffusion kernels exp(−beta L) of the normalised Laplacian, beta = 1 and 3 (fixed beforehand), over "
        "all 2310 proteins, scaled to a unit diagonal.",
        f"For each of the random splits {N_PROTEINS} of the proteins, 80% for training and 20% for the ROC "
        "area: a sample, so that the experiment takes minutes. Single kernels and their sum: SM1; learned: "
        "nonnegative weights by SM1 and SM2; C = 1 and trace 4n throughout.",
    ),
    notes=(
        "The publication's kernels (sequence, expression, interaction) and labels are not at hand: the shape "
        "of the comparison can be judged, figures cannot be compared.",
        "The s.e. are over splits; that of a gain is of the difference on the same splits. The splits of one "
        "class share proteins with one another, so their s.e. is somewhat small.",
    ),
)

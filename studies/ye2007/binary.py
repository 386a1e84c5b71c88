"""Table 1: two classes; kernel weights learned with a fixed λ and together with λ, beside three rivals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from studies.compare import group_results
from studies.study import Result, Table, Unit
from studies.ye2007.methods import (
    C_GRID,
    FIXED_REG,
    FOLDS,
    KIM_REG,
    REG_GRID,
    fit_kim,
    fit_learned,
    fit_single_kernel,
    fit_support_vectors,
    warm_up,
)
from studies.ye2007.published import BINARY_ACCURACY, SPLITS
from studies.ye2007.rows import QUANTITIES, method_row
from studies.ye2007.setting import Setting, draw_split

METHODS = {
    "theta": f"SDPθ, λ = {FIXED_REG:g}",
    "theta_lambda": "SDPθ,λ",
    "kim": f"Kim et al., λ = {KIM_REG:g}",
    "rkda_cv": "RKDA, σ and λ cross-validated",
    "rkda_width_cv": f"RKDA, σ cross-validated, λ = {FIXED_REG:g}",
    "svm_cv": "SVM, σ and C cross-validated",
}
SETTINGS = (
    Setting("sonar", "sonar"),
    Setting("heart", "heart_statlog"),
    Setting("breast cancer", "breast_cancer_wisconsin"),
    Setting("ionosphere", "ionosphere"),
    Setting("sonar, columns from 0 to 1", "sonar", scaling="unit"),
    Setting("heart, no kernel near the identity", "heart_statlog", scaling="narrow"),
    Setting("ionosphere, no kernel near the identity", "ionosphere", scaling="narrow"),
)


def compute_cell(setting: dict[str, Any], split: int, method: str) -> dict[str, Any]:
    """Return what a method learns on one split, and how well it classifies the test points.

    Parameters
    ----------
    setting : dict
        The arguments of a `Setting`.
    split : int
    method : str
        A key of `METHODS`.

    Returns
    -------
    dict
        What the method gave, see `methods`.
    """
    points = draw_split(Setting(**setting), split)
    if method == "svm_cv":
        return fit_support_vectors(points, split)
    stacks = points.stacks()
    warm_up()
    if method == "kim":
        return fit_kim(points, stacks)
    if method == "rkda_cv":
        return fit_single_kernel(points, stacks, split)
    if method == "rkda_width_cv":
        return fit_single_kernel(points, stacks, split, regs=(FIXED_REG,))
    return fit_learned(points, stacks, FIXED_REG if method == "theta" else "learn")


def _units(splits: int) -> list[Unit]:
    return [
        Unit(
            f"{setting.dataset}/{setting.scaling}/split={split:02d}/{method}",
            compute_cell,
            {"setting": setting.arguments(), "split": split, "method": method},
            (setting.dataset,),
        )
        for setting in SETTINGS
        for split in range(splits)
        for method in METHODS
    ]


def _rows(results: Sequence[tuple[Unit, Result]]) -> list[dict[str, Any]]:
    groups = group_results(results, lambda given: (Setting(**given["setting"]), given["method"]))
    return [
        method_row(setting.label, METHODS[key], group, BINARY_ACCURACY[setting.dataset].get(key), SPLITS)
        for (setting, key), group in groups.items()
    ]


NOTES = (
    "Figures of ours in these notes are those of 30 splits.",
    "Of the publication only accuracies are at hand, and no times; a dash stands for what is not given.",
    "The λ of the published SDPθ cannot be read with certainty (1e-4, 1e-5 or 1e-8); it is 1e-8 here. With "
    "standardized columns it does not matter: the narrow Gaussians are nearly the identity, have the "
    "centred trace n − 1, less than the n of I, and so are preferred to λI. The learned λ is zero, and SDPθ "
    "and SDPθ,λ are the same classifier. For new points such a kernel contributes nothing: it is the "
    "regularisation.",
    "Heart and ionosphere, SDPθ: the published gap between SDPθ and SDPθ,λ needs kernels none of which is "
    "near the identity. In the last two sections the columns are shrunk until the median distance is twice "
    "the smallest σ: SDPθ then falls from 82.9 to 78.6 (published 76.85) on heart and from 95.8 to 93.1 "
    "(89.90) on ionosphere, while SDPθ,λ, whose λ is no longer zero, stays at 82.9 (81.54) and 95.8 "
    "(95.10).",
    "Heart, breast cancer and ionosphere, RKDA: with σ alone cross-validated and λ held at 1e-8 it has 77.8, "
    "96.0 and 92.5, near the published 76.54, 95.30 and 93.62. The publication may well have cross-validated "
    "the kernel only; that is a guess.",
    "Sonar: all but SDPθ, and the SVM too, which knows nothing of learned kernels, are 3 to 4.5 points below "
    "the publication. So it is not the learning but the unknown scaling or splits: columns from 0 to 1 make "
    "up for 0.7 to 1.4 points of it. From split to split accuracies vary by 5 points here.",
    "Kim et al.: on ionosphere 6 points above the publication with either scaling; on heart it agrees with "
    "standardized columns, and without a kernel near the identity falls to 77.8 as SDPθ does, 4 below the "
    "publication. So no one scaling here gives all published figures of heart; the published protocol for "
    "Kim et al. is not at hand.",
    "Ionosphere, SVM: 1.7 points above the publication with standardized columns, 1.0 after shrinking.",
    "Breast cancer: discriminant analysis is 1.1 to 1.3 points above the publication and the SVM agrees; see "
    "RKDA above, and it is not certain that the data are the same.",
    "The s.e. of a difference takes the published mean of 30 splits to vary as ours does.",
)
TABLE = Table(
    name="1",
    title="Ye et al. (2007), table 1: two classes, kernel and regularisation learned together",
    version=1,
    splits=SPLITS,
    units=_units,
    rows=_rows,
    quantities=QUANTITIES,
    protocol=(
        "Sonar, heart (Statlog), breast cancer (Wisconsin, original: 683 points without missing values, 9 "
        "columns) and ionosphere. That the publication's cancer data are these is our reading.",
        "30 random splits into 80% training and 20% test points, both classes in each part. The share and "
        "plain random splits are our choice.",
        "Columns are scaled to mean 0 and variance 1 by the training points; ten Gaussian kernels "
        "exp(−‖x − z‖² / σ²) with σ evenly spaced in logarithm from 0.1 to 100. The publication's scaling of "
        "the columns is not at hand; three more sections, with its figures once more, show what it does.",
        "SDPθ learns the kernel weights θ with a given λ, SDPθ,λ both; a point belongs to the class whose "
        "projected mean is the nearer. The publication's rule is not at hand.",
        f"Kim et al. (2006): the kernel of largest Fisher ratio with λ = {KIM_REG:g}; the class whose mean "
        "is the nearer along its direction.",
        f"RKDA: discriminant analysis with one of the ten kernels, scaled to a centred trace of 1, and λ out "
        f"of 1, 0.1, ..., {REG_GRID[-1]:g}; SVM: one of the ten widths and C out of {C_GRID[0]:g}, 1, ..., "
        f"{C_GRID[-1]:g}; chosen by {FOLDS}-fold cross-validation on the training points, of equals the "
        "smoothest.",
        "Learning: seconds of one processor from the kernels of the training points to the machine, "
        "cross-validation included; the SVM computes its kernels itself, and of Kim et al. it is the solver "
        "alone.",
    ),
    notes=NOTES,
)

"""Table 1: two classes; kernel weights learned with a fixed λ and together with λ, beside six rivals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from studies.compare import group_results
from studies.study import Result, Table, Unit
from studies.ye2007.methods import (
    C_GRID,
    FIXED_REG,
    FOLDS,
    MARGINS,
    REG_GRID,
    fit_kim,
    fit_learned,
    fit_margin,
    fit_single_kernel,
    fit_support_vectors,
)
from studies.ye2007.published import BINARY_ACCURACY, BINARY_METHODS, SPLITS, cells_of
from studies.ye2007.rows import ACCURACY, SHARES, method_row
from studies.ye2007.setting import Setting, draw_split

SETTINGS = (
    Setting("Sonar", "sonar"),
    Setting("Heart", "heart_statlog"),
    Setting("Cancer", "breast_cancer_wisconsin"),
    Setting("Ionosphere", "ionosphere"),
)


def compute_cell(setting: dict[str, Any], split: int, method: str) -> dict[str, Any]:
    """Return what a method learns on one split, and how well it classifies the test points.

    Parameters
    ----------
    setting : dict
        The arguments of a `Setting`.
    split : int
    method : str
        A key of `BINARY_METHODS`.

    Returns
    -------
    dict
        What the method gave, see `methods`.
    """
    points = draw_split(Setting(**setting), split)
    if method in MARGINS:
        return fit_margin(points, method)
    stacks = points.stacks()
    if method == "kim":
        return fit_kim(points, stacks, FIXED_REG, weighted=True)
    if method == "svm_cv":
        return fit_support_vectors(points, stacks, split)
    if method == "rkda_cv":
        return fit_single_kernel(points, stacks, split)
    return fit_learned(points, stacks, FIXED_REG if method == "theta" else "learn")


def _units(splits: int) -> list[Unit]:
    return [
        Unit(
            f"{setting.dataset}/split={split:02d}/{method}",
            compute_cell,
            {"setting": setting.arguments(), "split": split, "method": method},
            (setting.dataset,),
        )
        for split in range(splits)
        for setting in SETTINGS
        for method in BINARY_METHODS
    ]


def _rows(results: Sequence[tuple[Unit, Result]]) -> list[dict[str, Any]]:
    groups = group_results(results, lambda given: (Setting(**given["setting"]), given["method"]))
    return [
        method_row(
            setting.label,
            BINARY_METHODS[method],
            groups[setting, method],
            published=BINARY_ACCURACY[setting.label][method],
            published_splits=SPLITS,
        )
        for setting in SETTINGS
        for method in BINARY_METHODS
    ]


TABLE = Table(
    name="1",
    title="Ye et al. (2007), table 1: eight algorithms on four data sets of two classes",
    version=2,
    splits=SPLITS,
    units=_units,
    rows=_rows,
    quantities=(ACCURACY, SHARES),
    cells=cells_of(BINARY_ACCURACY),
    protocol=(
        "As the paper states (section 5): 30 random partitions into training and test points of ratio 4:1; "
        "ten Gaussian kernels exp(−‖x − z‖² / σ²) with σ evenly spaced in logarithm from 0.1 to 100; the "
        "mean accuracy.",
        "Data as the paper names them: Sonar (208 points, 60 columns), Ionosphere (351, 34) and Breast "
        "Cancer of the UCI repository, Heart (270, 13) of Statlog. Two sets of the repository are called "
        "breast cancer; ours is the original one of Wisconsin, as in Lanckriet et al. (2004), from where "
        "the paper takes its choice: 683 points without missing values, 9 columns.",
        "The paper does not say how the columns are scaled. Ours have mean 0 and variance 1 over the "
        "training points: Heart as it is gives 62 to 63 % with SDPθ, SDPθ,λ and SDPkim, far below "
        "all printed figures (own experiment `scaling`).",
        "SDPθ: equation (16) with λ = 1e-8; SDPθ,λ: equation (40). The exponent of λ is damaged in the "
        "text at hand (“10™%”, in the caption). The own experiment `scaling` shows that 1e-4, 1e-5 and "
        "1e-8 give the same accuracies to a tenth of a point. The paper does not say how a projected "
        "point is classified; ours belongs to the class whose projected mean is the nearer.",
        "SDPkim: equations (3) and (10), covariances weighted by the sizes of the classes and weights of "
        "sum 1, with the same λ, as the caption says. In Kim et al. (2006) they are not weighted, as far "
        "as we know; the own experiment `scaling` has that too.",
        "SM1, SM2, SM2_C: the soft margins of Lanckriet et al. (2004) with C = 1, as the caption says, or "
        "with a learned C; convex combinations (nonnegative weights of sum 1, which makes the trace of the "
        "learned matrix the number of points; for SM2_C the identity is one of the kernels).",
        "RKDA_CV: one of the ten kernels, scaled to a centred trace of 1, and λ out of 1, 0.1, ..., "
        f"{REG_GRID[-1]:g}; SVM_CV: one of the ten widths and C out of {C_GRID[0]:g}, 1, ..., "
        f"{C_GRID[-1]:g}; chosen by {FOLDS}-fold cross-validation on the training points, of equals the "
        "smoothest. The paper says “double cross-validation” and gives neither grids nor folds.",
    ),
    notes=(
        "The paper prints no ±: the s.e. of a difference takes the published partitions to vary as ours do.",
        "SDPkim on Cancer is a dash in the paper, because its SDP solver had numerical problems; ours has "
        "none.",
        "SDPθ and SDPθ,λ are the same classifier here. The narrow Gaussians are nearly the identity, "
        "have the centred trace n − 1, less than the n of I, and so are preferred to λI: the learned λ "
        "is zero, and a fixed one that is small does not matter. For new points such a kernel "
        "contributes nothing: it is the regularisation. The published gap between both needs a bank "
        "without such a kernel; see the own experiment `scaling`, where it appears, and the claims on "
        "the page of the study.",
    ),
)

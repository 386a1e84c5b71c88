"""Our own: which kernels separate which data, by a linear program, for what section 4.2 says of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.optimize import linprog

from multikernel.mkl.classifier import MKLClassifier
from studies.compare import compare, comparison_row, convergence_remark, group_results
from studies.fitting import convergence_reported
from studies.lewis2006.published import HARD_MARGIN
from studies.lewis2006.setting import BREAST, HEART, KERNELS, SONAR, WDBC, WIDE_SONAR, Setting
from studies.points import load_two_classes, standardize, three_kernels
from studies.study import Quantity, Result, Table, Unit

SETTINGS = (BREAST, WDBC, SONAR, WIDE_SONAR, HEART)
CHOICES = {**KERNELS, "all": "the three together"}


def compute_separability(setting: dict[str, Any], kernel: str) -> dict[str, Any]:
    """Return whether a hyperplane in the feature space of a kernel separates all points of a data set.

    Parameters
    ----------
    setting : dict
        The arguments of a `Setting`.
    kernel : str
        A key of `CHOICES`.

    Returns
    -------
    dict
        ``separable``, 1.0 or 0.0; ``features``, how many the linear program had; ``errors``, the points that
        a support vector machine with c = 10,000 misclassifies, and its ``status``.
    """
    chosen = Setting(**setting)
    X, y = load_two_classes(chosen.dataset)
    keys = list(KERNELS) if kernel == "all" else [kernel]
    features = np.hstack([features_of(key, X, chosen.sigma) for key in keys])
    machine = MKLClassifier("precomputed", C=HARD_MARGIN)
    stack = np.sum([three_kernels(X, chosen.sigma)[list(KERNELS).index(key)] for key in keys], axis=0)[
        ..., None
    ]
    with convergence_reported():
        machine.fit(stack, y)
    return {
        "separable": float(is_separable(features, y)),
        "features": features.shape[1],
        "errors": int(np.sum(machine.predict(stack) != y)),
        "status": str(machine.status_),
    }


def features_of(kernel: str, X: np.ndarray, sigma: float) -> np.ndarray:
    """Return explicit features of a kernel of unit diagonal on the points themselves, (n, d).

    Of the quadratic and the linear kernel these are all their monomials, over the norm. A hyperplane in the
    space of the Gaussian kernel is, on n points, any combination of the columns of its matrix.
    """
    if kernel == "rbf":
        return np.asarray(three_kernels(X, sigma)[1])
    monomials = X
    if kernel == "quadratic":
        first, second = np.triu_indices(X.shape[1])
        factors = np.where(first == second, 1.0, np.sqrt(2.0))
        monomials = np.hstack([np.ones((len(X), 1)), np.sqrt(2.0) * X, factors * X[:, first] * X[:, second]])
    return np.asarray(monomials / np.linalg.norm(monomials, axis=1, keepdims=True))


def is_separable(features: np.ndarray, y: np.ndarray) -> bool:
    """Whether there are w and b with y (w·φ + b) > 0, by the least sum of what is missing to 1.

    Parameters
    ----------
    features : ndarray of shape (n, d)
        Their columns are standardized, which changes nothing but the numerics.
    y : ndarray of shape (n,)
        −1 and +1.
    """
    n = len(y)
    rows = y[:, None] * np.column_stack([standardize(features), np.ones(n)])
    d = rows.shape[1]
    found = linprog(
        np.r_[np.zeros(d), np.ones(n)],
        A_ub=-np.hstack([rows, np.eye(n)]),
        b_ub=-np.ones(n),
        bounds=[(None, None)] * d + [(0.0, None)] * n,
        method="highs",
    )
    if found.status != 0:
        raise RuntimeError(f"the linear program ended with status {found.status}: {found.message}")
    return bool((rows @ found.x[:d] > 0.0).all())


def _units(splits: int) -> list[Unit]:
    return [
        Unit(
            f"{setting.dataset}/{setting.sigma}/{kernel}",
            compute_separability,
            {"setting": setting.arguments(), "kernel": kernel},
            (setting.dataset,),
        )
        for setting in SETTINGS
        for kernel in CHOICES
    ]


def _rows(results: Sequence[tuple[Unit, Result]]) -> list[dict[str, Any]]:
    groups = group_results(results, lambda given: (given["setting"]["label"], given["kernel"]))
    return [
        comparison_row(
            label,
            {"kernel": CHOICES[kernel]},
            {key: compare([result[key] for result in group]) for key in ("separable", "features", "errors")},
            convergence_remark(group, "fits"),
        )
        for (label, kernel), group in groups.items()
    ]


EXPERIMENT = Table(
    name="separability",
    title="which kernels separate which data",
    version=3,
    splits=1,
    units=_units,
    rows=_rows,
    quantities=(
        Quantity("separable", "separable (1) or not (0)", 0, difference=False),
        Quantity("features", "features", 0, difference=False),
        Quantity("errors", "points that the SVM with c = 10,000 misclassifies", 0, difference=False),
    ),
    protocol=(
        "All points of the data sets of table 1, in the feature spaces of its kernels: all monomials of the "
        "quadratic and the linear one, the columns of the kernel matrix of the Gaussian one. A linear "
        "program (HiGHS) finds the hyperplane with the least sum of Σ max(0, 1 − y (w·φ(x) + b)), and a data "
        "set is separable if all its points are on their sides of it. Beside it the support vector machine "
        "with the penalty of the publication, which a margin that is small enough is not worth.",
    ),
    kind="own",
)

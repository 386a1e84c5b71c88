"""One transductive machine of the study, and what the tables want to know of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

from multikernel import estimators
from multikernel.views import stack_kernels

# The names of the publication, and what the estimator calls them.
CRITERIA: dict[str, dict[str, Any]] = {
    "HM": {"criterion": "hard"},
    "SM1": {"criterion": "soft1", "C": 1.0},
    "SM2": {"criterion": "soft2", "C": 1.0},
    "SM2,C": {"criterion": "soft2", "C": "learn"},
}


def fit_machine(
    Ks: Sequence[np.ndarray], y: np.ndarray, n_train: int, criterion: str, weights: str, trace: float
) -> dict[str, Any]:
    """Learn a combination of kernels on the first points and test it on the rest.

    Parameters
    ----------
    Ks : sequence of ndarray of shape (n, n)
        Over all points, training points first.
    y : ndarray of shape (n,)
    n_train : int
    criterion : str
        A key of `CRITERIA`.
    weights : {"free", "nonnegative"}
    trace : float
        c, the trace of the learned matrix.

    Returns
    -------
    dict
        ``separable``; if it is true ``value`` (the margin of HM, omega / 2 of the others), ``accuracy`` in
        percent, ``auc``, ``weights``, ``ridge`` (1 / C of SM2,C, else None), ``gap`` and ``status``.
    """
    stack = stack_kernels(list(Ks))
    model = estimators.TransductiveMKLClassifier(  # type: ignore[attr-defined]
        kernels="precomputed", weights=weights, trace=trace, **CRITERIA[criterion]
    )
    try:
        model.fit(stack[:n_train], y[:n_train], X_unlabeled=stack[n_train:])
    except ValueError as error:
        if criterion == "HM" and "separable" in str(error):
            return {"separable": False}
        raise
    omega = float(model.objective_)
    scores = model.kernel_[n_train:, :n_train] @ np.ravel(model.dual_coef_) + float(
        np.ravel(model.intercept_)[0]
    )
    return {
        "separable": True,
        "value": 1.0 / math.sqrt(omega) if criterion == "HM" else omega / 2.0,
        "accuracy": 100.0 * float(np.mean(model.transduction_ == y[n_train:])),
        "auc": float(roc_auc_score(y[n_train:], scores)),
        "weights": np.asarray(model.kernel_weights_, dtype=np.float64).tolist(),
        "ridge": 1.0 / float(model.C_) if criterion == "SM2,C" else None,
        "gap": float(model.dual_gap_),
        "status": str(model.status_),
    }

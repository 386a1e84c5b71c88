"""One transductive machine of the study, and what the tables want to know of it."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from multikernel.transductive.classifier import TransductiveMKLClassifier
from multikernel.views import stack_kernels
from studies.fitting import convergence_reported

# The names of the publication, and what the estimator calls them.
TOL = 1e-8  # relative duality gap
CRITERIA: dict[str, dict[str, Any]] = {
    "HM": {"method": "hard"},
    "SM1": {"method": "soft1", "C": 1.0},
    "SM2": {"method": "soft2", "C": 1.0},
    "SM2,C": {"method": "soft2", "C": "learn"},
}


@dataclass(frozen=True)
class Task:
    """Kernels over all points, training points first, and the labels of all of them.

    Attributes
    ----------
    Ks : sequence of ndarray of shape (n, n)
    y : ndarray of shape (n,)
        Those after the first `n_train` are used to judge only.
    n_train : int
    trace : float
        c, the trace of the learned matrix.
    """

    Ks: Sequence[np.ndarray]
    y: np.ndarray
    n_train: int
    trace: float


def fit_model(task: Task, criterion: str, weights: str) -> TransductiveMKLClassifier:
    """Return the machine learned on the training points.

    Parameters
    ----------
    task : Task
    criterion : str
        A key of `CRITERIA`.
    weights : {"free", "nonnegative"}

    Returns
    -------
    TransductiveMKLClassifier
    """
    stack = stack_kernels(list(task.Ks))
    n_train = task.n_train
    model = TransductiveMKLClassifier(
        kernels="precomputed", weight_set=weights, trace=task.trace, tol=TOL, **CRITERIA[criterion]
    )
    with convergence_reported():
        # Kernels that are the identity, and a 1/C that takes all, are part of the published tables.
        warnings.filterwarnings("ignore", message="kernels .* are linearly dependent")
        warnings.filterwarnings("ignore", message="no kernel has a weight")
        return model.fit(stack[:n_train], task.y[:n_train], X_unlabeled=stack[n_train:])


def fit_machine(task: Task, criterion: str, weights: str) -> dict[str, Any]:
    """Learn a combination of kernels on the training points and test it on the rest.

    Parameters
    ----------
    task : Task
    criterion : str
        A key of `CRITERIA`.
    weights : {"free", "nonnegative"}

    Returns
    -------
    dict
        ``separable``; if it is true ``value`` (the margin of HM, omega / 2 of the others), ``accuracy`` in
        percent, ``weights``, ``ridge`` (1 / C of SM2,C, else None), ``gap`` and ``status``.
    """
    try:
        model = fit_model(task, criterion, weights)
    except ValueError as error:
        if criterion == "HM" and "separable" in str(error):
            return {"separable": False}
        raise
    omega = float(model.objective_)
    return {
        "separable": True,
        "value": 1.0 / math.sqrt(omega) if criterion == "HM" else omega / 2.0,
        "accuracy": 100.0 * float(np.mean(model.transduction_ == task.y[task.n_train :])),
        "weights": np.asarray(model.kernel_weights_, dtype=np.float64).tolist(),
        "ridge": 1.0 / float(model.C_[0]) if criterion == "SM2,C" else None,
        "gap": float(model.dual_gap_),
        "status": str(model.status_),
    }

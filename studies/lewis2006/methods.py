"""The classifiers of table 1 on ready-made kernels: one kernel, learned weights, and mixtures."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from multikernel.mkl.classifier import MKLClassifier
from multikernel.nonstationary.classifier import NonstationaryClassifier
from studies.fitting import convergence_reported
from studies.lewis2006.likelihood import fit_likelihood_ratio
from studies.lewis2006.published import HARD_MARGIN as C
from studies.lewis2006.setting import KERNELS, Split

# What is given to the estimator; margins are γ without the ln 3 that mode "qp" adds.
NONSTATIONARY: dict[str, dict[str, Any]] = {
    "qp": {},
    "qp_small": {"margin": 1.5 - math.log(3.0)},
    "qp_large": {"margin": 4.0 - math.log(3.0)},
    "full": {"method": "full"},
    "hard": {"method": "hard"},
}


def fit_method(points: Split, method: str) -> dict[str, Any]:
    """Learn one classifier on the training points and test it on the others.

    Parameters
    ----------
    points : Split
    method : str
        A key of `KERNELS` (one kernel), ``"mean"`` (their mean), ``"mkl"``, ``"likelihood"``,
        ``"likelihood_priors"``, or a key of `NONSTATIONARY`.

    Returns
    -------
    dict
        ``accuracy``, ``status`` and, where kernels are weighed, ``weights``.
    """
    if method.startswith("likelihood"):
        return _fit_likelihood(points, priors=method == "likelihood_priors")
    with convergence_reported():
        if method in NONSTATIONARY:
            model: Any = NonstationaryClassifier("precomputed", C=C, **NONSTATIONARY[method])
            return _fit(model, points, points.fitted, points.predicted)
        return _fit(MKLClassifier("precomputed", C=C), points, *_chosen(points, method))


def _chosen(points: Split, method: str) -> tuple[np.ndarray, np.ndarray]:
    """The kernels that a machine with weights common to all samples is given, (n, n_train, n_kernels)."""
    if method == "mkl":
        return points.fitted, points.predicted
    if method == "mean":
        return points.fitted.mean(axis=2, keepdims=True), points.predicted.mean(axis=2, keepdims=True)
    m = list(KERNELS).index(method)
    return points.fitted[:, :, m : m + 1], points.predicted[:, :, m : m + 1]


def _fit(model: Any, points: Split, training: np.ndarray, test: np.ndarray) -> dict[str, Any]:
    model.fit(training, points.y[points.training])
    found = {
        "accuracy": float(model.score(test, points.y[points.test])),
        "status": str(model.status_),
    }
    if training.shape[2] > 1:
        weights = np.asarray(model.kernel_weights_, dtype=np.float64)
        found["weights"] = (weights / weights.sum()).tolist()
    return found


def _fit_likelihood(points: Split, *, priors: bool) -> dict[str, Any]:
    Ks = points.Ks[:, points.training[:, None], points.training]
    model = fit_likelihood_ratio(Ks, points.y[points.training])
    new = points.Ks[:, points.test[:, None], points.training]
    scores = model.decision_function(new, points.Ks[:, points.test, points.test], priors=priors)
    sizes = np.array([rows.size for rows in model.rows])
    shares = sizes @ np.stack([mixture.proportions for mixture in model.mixtures]) / sizes.sum()
    statuses = [mixture.status.value for mixture in model.mixtures]
    return {
        "accuracy": float(np.mean((scores > 0.0) == (points.y[points.test] > 0))),
        "status": next((status for status in statuses if status != "optimal"), "optimal"),
        "weights": shares.tolist(),
    }

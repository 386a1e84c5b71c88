"""Accuracy of weights for each target beside shared weights, the plain sum and the best single view.

Side effects: five folds of the drugs; side effects without two drugs on both sides in a training part are
predicted by their mean there. AUPR and AUC over all pairs of a fold, and the mean over the side effects that
vary in it. Brain-like responses: 400 samples for training and 400 held out, 500 responses, three draws;
held-out R², and whether the view with the largest part is the true one.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.metrics import average_precision_score, r2_score, roc_auc_score
from sklearn.model_selection import KFold

from multikernel import MKLRidgeCV

from .data import Array, brain, side_effects

ALPHAS = np.logspace(-3, 3, 10)
N_FOLDS, N_DRAWS = 5, 3


def _single(stack: Array, Y: Array) -> MKLRidgeCV:
    """The view whose leave-one-out error is least over all targets, with an alpha for each target."""
    m = stack.shape[2]
    fits = [
        MKLRidgeCV("precomputed", targets="each", alphas=ALPHAS, candidates=np.eye(m)[[k]]).fit(stack, Y)
        for k in range(m)
    ]
    return max(fits, key=lambda fitted: float(fitted.best_score_.mean()))


def contestants(m: int) -> dict[str, Callable[[Array, Array], MKLRidgeCV]]:
    """Functions of a stack and targets that fit a model."""

    def each(**settings: Any) -> Callable[[Array, Array], MKLRidgeCV]:
        common = {"targets": "each", "alphas": ALPHAS, "random_state": 0}
        return lambda stack, Y: MKLRidgeCV("precomputed", **(common | settings)).fit(stack, Y)

    def shared(norm: float) -> Callable[[Array, Array], MKLRidgeCV]:
        return lambda stack, Y: MKLRidgeCV("precomputed", alphas=ALPHAS, norms=[norm]).fit(stack, Y)

    return {
        "each": each(),
        "shared weights": shared(1.0),
        "plain sum": shared(np.inf),
        "plain sum, alpha of each": each(candidates=np.full((1, m), 1.0 / m)),
        "best single view": _single,
        "each, 5 folds": each(cv=5),
        "each, refined": each(refine=True),
    }


def _fitted(name: str, stack: Array, Y: Array) -> tuple[MKLRidgeCV, float]:
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = contestants(stack.shape[2])[name](stack, Y)
    return model, time.process_time() - began


def side_effects_fold(name: str, fold: int) -> dict[str, Any]:
    """One contestant on one fold of the drugs."""
    stack, _, Y = side_effects()
    train, test = list(KFold(N_FOLDS, shuffle=True, random_state=0).split(Y))[fold]
    counts = Y[train].sum(axis=0)
    kept = (counts >= 2) & (counts <= train.size - 2)
    model, seconds = _fitted(name, np.ascontiguousarray(stack[np.ix_(train, train)]), Y[np.ix_(train, kept)])
    found = np.tile(Y[train].mean(axis=0), (test.size, 1))
    found[:, kept] = model.predict(np.ascontiguousarray(stack[np.ix_(test, train)]))
    truth = Y[test]
    varied = np.flatnonzero(np.ptp(truth, axis=0) > 0)
    return {
        "name": name, "fold": fold, "seconds": seconds,
        "aupr": float(average_precision_score(truth.ravel(), found.ravel())),
        "auc": float(roc_auc_score(truth.ravel(), found.ravel())),
        "aupr_mean": float(np.mean([average_precision_score(truth[:, t], found[:, t]) for t in varied])),
        "auc_mean": float(np.mean([roc_auc_score(truth[:, t], found[:, t]) for t in varied])),
        "weights": np.asarray(model.kernel_weights_ / model.kernel_weights_.sum()).round(4).tolist(),
    }  # fmt: skip


def brain_draw(name: str, draw: int) -> dict[str, Any]:
    """One contestant on one draw of brain-like responses."""
    tables, Y, shares = brain(800, 500, draw)
    stack = np.stack([table @ table.T for table in tables], axis=2)
    train, test = np.arange(400), np.arange(400, 800)
    model, seconds = _fitted(name, np.ascontiguousarray(stack[np.ix_(train, train)]), Y[train])
    new = np.ascontiguousarray(stack[np.ix_(test, train)])
    r2 = r2_score(Y[test], model.predict(new), multioutput="raw_values")
    parts = model.score_by_view(new, Y[test]).iloc[:, : len(tables)].to_numpy()
    right = parts.argmax(axis=1) == shares.argmax(axis=1)
    known = parts.sum(axis=1) > 0.05
    relative = parts[known] / parts[known].sum(axis=1, keepdims=True)
    return {
        "name": name, "draw": draw, "seconds": seconds, "r2": float(r2.mean()),
        "dominant_view_found": float(right.mean()),
        "error_of_shares": float(np.abs(relative - shares[known]).mean()),
    }  # fmt: skip

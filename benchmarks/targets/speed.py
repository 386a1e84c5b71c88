"""CPU time of ``MKLRidgeCV(targets="each")`` beside himalaya's random search, same weights and alphas.

800 drugs for training and 32 held out, six kernels, every side effect with at least two drugs in both parts
of the training targets' values; 100 sets of weights, 10 alphas. himalaya has kernels and targets that are
centered beforehand (it has no intercept), five folds, and the best of several batch sizes. Both in one
process on one thread, in turn, input checks and the last model included.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.metrics import average_precision_score, r2_score

from benchmarks.measuring import check_threads
from multikernel import KernelBank, MKLRidgeCV

from .data import Array, side_effects

ALPHAS = np.logspace(-2, 3, 10)
N_TRAIN, N_CANDIDATES = 800, 100
BATCHES: tuple[dict[str, Any], ...] = (
    {},
    {"n_alphas_batch": 3},
    {"n_targets_batch": 400},
)


def _timed(fit: Callable[[], Any]) -> tuple[Any, float]:
    began = time.process_time()
    return fit(), time.process_time() - began


def _quality(truth: Array, found: Array) -> dict[str, float]:
    varied = np.ptp(truth, axis=0) > 0
    r2 = r2_score(truth[:, varied], found[:, varied], multioutput="raw_values")
    return {
        "r2": float(np.mean(r2)),
        "r2_all": float(1.0 - ((truth - found) ** 2).sum() / ((truth - truth.mean(axis=0)) ** 2).sum()),
        "aupr": float(average_precision_score(truth.ravel(), found.ravel())),
    }


def measure(split: int, dtype: str, n_candidates: int = N_CANDIDATES) -> dict[str, Any]:
    """Times and held-out quality of one split."""
    from himalaya.backend import set_backend

    set_backend("numpy")
    check_threads()
    stack, _, targets = side_effects()
    rows = np.random.default_rng(split).permutation(len(targets))
    train, test = rows[:N_TRAIN], rows[N_TRAIN:]
    counts = targets[train].sum(axis=0)
    targets = targets[:, (counts >= 2) & (counts <= N_TRAIN - 2)]
    rng = np.random.default_rng(split)
    m = stack.shape[2]
    candidates = np.vstack([rng.dirichlet(np.full(m, (1.0, 0.1)[k % 2])) for k in range(n_candidates)])
    inside = np.ascontiguousarray(stack[np.ix_(train, train)])
    across = np.ascontiguousarray(stack[np.ix_(test, train)])
    Y, truth = targets[train], targets[test]
    found: dict[str, Any] = {"n_targets": Y.shape[1], "dtype": dtype, "split": split}

    def ours(**settings: Any) -> Any:
        kernels = KernelBank("precomputed", dtype=dtype)
        return MKLRidgeCV(kernels, targets="each", candidates=candidates, alphas=ALPHAS, **settings).fit(
            inside, Y
        )

    for name, settings in {"ours": {}, "ours, exact": {"halving": False}, "ours, folds": {"cv": 5}}.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model, seconds = _timed(partial(ours, **settings))
        found[name] = {"seconds": seconds} | _quality(truth, model.predict(across))
    found["himalaya"] = _peer(inside, across, Y, truth, candidates, dtype)
    return found


def _peer(
    inside: Array, across: Array, Y: Array, truth: Array, candidates: Array, dtype: str
) -> dict[str, Any]:
    """himalaya with its quickest batches."""
    from himalaya.kernel_ridge import MultipleKernelRidgeCV

    means = inside.mean(axis=0)
    total = means.mean(axis=0)
    centered = inside - means[None] - inside.mean(axis=1)[:, None] + total
    new = across - means[None] - across.mean(axis=1)[:, None] + total
    Ks = np.ascontiguousarray(np.moveaxis(centered, 2, 0), dtype=dtype)
    K_new = np.ascontiguousarray(np.moveaxis(new, 2, 0), dtype=dtype)
    mean = Y.mean(axis=0)
    targets = (Y - mean).astype(dtype)
    best: dict[str, Any] = {"seconds": np.inf}
    seconds_by_batch = {}
    for batches in BATCHES:
        params = {
            "n_iter": candidates.astype(dtype), "alphas": ALPHAS.astype(dtype), "progress_bar": False,
        }  # fmt: skip
        peer = MultipleKernelRidgeCV(
            kernels="precomputed", solver="random_search", solver_params=params | batches, cv=5
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model, seconds = _timed(lambda peer=peer: peer.fit(Ks, targets))
            quality = _quality(truth, np.asarray(model.predict(K_new)) + mean)
        seconds_by_batch[str(batches or "none")] = seconds
        if seconds < best["seconds"]:
            best = {"seconds": seconds, "batches": str(batches or "none")} | quality
    return best | {"all_seconds": seconds_by_batch}
